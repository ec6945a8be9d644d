//! Fourier transforms, spectrograms, windows.

use wrap_burn::Tensor;
use wrap_burn::ops::fft::FftNorm;
use wrap_burn::ops::fft::stft::Frames;

use super::arrange::pad_mode;
use crate::args::{Ints, T};
use crate::dtype::{DTypeArg, DeviceArg};

fn dims(ints: &Option<Ints>) -> Option<&[i64]> {
    ints.as_ref().map(|ints| ints.0.as_slice())
}

/// Lines for transforms along one dimension, over several, and over two.
macro_rules! transforms {
    ($($one:ident $many:ident $two:ident),* $(,)?) => {
        native! {
            $(
                fn $one(input, n: Option<i64>, dim: i64, norm: Option<String>) =>
                    input.$one(n, dim, FftNorm::named(norm.as_deref())?);
                fn $many(input, s: Option<Ints>, dim: Option<Ints>, norm: Option<String>) =>
                    input.$many(dims(&s), dims(&dim), FftNorm::named(norm.as_deref())?);
                fn $two(input, s: Option<Ints>, dim: Ints, norm: Option<String>) =>
                    input.$two(dims(&s), &dim.0, FftNorm::named(norm.as_deref())?);
            )*
            fn fftshift(input, dim: Option<Ints>) => input.fftshift(dims(&dim));
            fn ifftshift(input, dim: Option<Ints>) => input.ifftshift(dims(&dim));
            fn stft(
                input, n_fft: usize, hop_length: Option<usize>, win_length: Option<usize>, window: Option<T>,
                center: bool, mode: &str, normalized: bool, onesided: Option<bool>, return_complex: Option<bool>
            ) => {
                let window = window.as_ref().map(|t| &t.0);
                let frames = Frames { n_fft, hop_length, win_length, window, center, normalized, onesided };
                input.stft(&frames, pad_mode(mode, None)?, return_complex)
            };
            fn istft(
                input, n_fft: usize, hop_length: Option<usize>, win_length: Option<usize>, window: Option<T>,
                center: bool, normalized: bool, onesided: Option<bool>, length: Option<usize>, return_complex: bool
            ) => {
                let window = window.as_ref().map(|t| &t.0);
                let frames = Frames { n_fft, hop_length, win_length, window, center, normalized, onesided };
                input.istft(&frames, length, return_complex)
            };
        }
    };
}

transforms! {
    fft fftn fft2,
    ifft ifftn ifft2,
    rfft rfftn rfft2,
    irfft irfftn irfft2,
    hfft hfftn hfft2,
    ihfft ihfftn ihfft2,
}

native_free! {
    fn _fftfreq(n: usize, d: f64, dtype: DTypeArg, device: DeviceArg) => Tensor::fftfreq(n, d, dtype.0, device.0);
    fn _rfftfreq(n: usize, d: f64, dtype: DTypeArg, device: DeviceArg) => Tensor::rfftfreq(n, d, dtype.0, device.0);
    fn _hann_window(n: usize, periodic: bool, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::hann_window(n, periodic, dtype.0, device.0);
    fn _hamming_window(n: usize, periodic: bool, alpha: f64, beta: f64, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::hamming_window(n, periodic, alpha, beta, dtype.0, device.0);
    fn _blackman_window(n: usize, periodic: bool, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::blackman_window(n, periodic, dtype.0, device.0);
    fn _bartlett_window(n: usize, periodic: bool, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::bartlett_window(n, periodic, dtype.0, device.0);
    fn _kaiser_window(n: usize, periodic: bool, beta: f64, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::kaiser_window(n, periodic, beta, dtype.0, device.0);
}
