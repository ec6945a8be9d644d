use super::FftNorm;
use super::stft::Frames;
use crate::ops::linalg::tests::{close, gradcheck, noise};
use crate::ops::pad::PadMode;
use crate::{DType, Device, Tensor};

const NORMS: [FftNorm; 3] = [FftNorm::Forward, FftNorm::Backward, FftNorm::Ortho];

#[test]
fn every_transform_has_its_inverse_and_gradient() {
    let real = noise(&[3, 5], DType::F64, 1);
    let complex = noise(&[3, 5], DType::C128, 2);
    for norm in NORMS {
        close(&complex.fft(None, 0, norm).unwrap().ifft(None, 0, norm).unwrap(), &complex);
        close(&complex.fftn(None, None, norm).unwrap().ifftn(None, None, norm).unwrap(), &complex);
        close(&real.rfft(None, 1, norm).unwrap().irfft(Some(5), 1, norm).unwrap(), &real);
        close(&real.ihfft(None, 1, norm).unwrap().hfft(Some(5), 1, norm).unwrap(), &real);
        let there = real.rfft2(None, &[-2, -1], norm).unwrap();
        close(&there.irfft2(Some(&[3, 5]), &[-2, -1], norm).unwrap(), &real);
        for n in [4, 5, 8] {
            gradcheck("fft", std::slice::from_ref(&real), true, &|x| {
                Ok(vec![x[0].fft(Some(n), 1, norm)?])
            });
            gradcheck("ifft", std::slice::from_ref(&complex), false, &|x| {
                Ok(vec![x[0].ifft(Some(n), 0, norm)?])
            });
            gradcheck("rfft", std::slice::from_ref(&real), true, &|x| {
                Ok(vec![x[0].rfft(Some(n), 0, norm)?])
            });
            gradcheck("irfft", std::slice::from_ref(&complex), true, &|x| {
                Ok(vec![x[0].irfft(Some(n), 1, norm)?])
            });
            gradcheck("hfft", std::slice::from_ref(&complex), false, &|x| {
                Ok(vec![x[0].hfft(Some(n), 1, norm)?])
            });
            gradcheck("ihfft", std::slice::from_ref(&real), false, &|x| {
                Ok(vec![x[0].ihfft(Some(n), 1, norm)?])
            });
        }
        gradcheck("rfftn", std::slice::from_ref(&real), false, &|x| {
            Ok(vec![x[0].rfftn(None, None, norm)?])
        });
        gradcheck("irfftn", std::slice::from_ref(&complex), false, &|x| {
            Ok(vec![x[0].irfftn(Some(&[4, 6]), None, norm)?])
        });
        gradcheck("hfftn", std::slice::from_ref(&complex), false, &|x| {
            Ok(vec![x[0].hfftn(None, None, norm)?])
        });
    }
}

#[test]
fn frequencies_and_shifts() {
    let of = |n| Tensor::fftfreq(n, 0.5, DType::F64, Device::Cpu).unwrap();
    assert_eq!(of(4).to_vec::<f64>().unwrap(), [0.0, 0.5, -1.0, -0.5]);
    assert_eq!(of(5).to_vec::<f64>().unwrap(), [0.0, 0.4, 0.8, -0.8, -0.4]);
    for n in [4, 5] {
        let shifted = of(n).fftshift(None).unwrap();
        let sorted = shifted.to_vec::<f64>().unwrap();
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
        close(&shifted.ifftshift(None).unwrap(), &of(n));
    }
    assert_eq!(
        Tensor::rfftfreq(4, 1.0, DType::F64, Device::Cpu).unwrap().to_vec::<f64>().unwrap(),
        [0.0, 0.25, 0.5]
    );
}

#[test]
fn windows() {
    let near = |x: Tensor, expected: &[f64]| {
        close(&x, &Tensor::from_vec(expected.to_vec(), &[expected.len()]).unwrap());
    };
    let (dtype, cpu) = (DType::F64, Device::Cpu);
    near(Tensor::hann_window(4, true, dtype, cpu).unwrap(), &[0.0, 0.5, 1.0, 0.5]);
    near(Tensor::hann_window(3, false, dtype, cpu).unwrap(), &[0.0, 1.0, 0.0]);
    near(Tensor::hamming_window(2, true, 0.54, 0.46, dtype, cpu).unwrap(), &[0.08, 1.0]);
    near(Tensor::bartlett_window(4, true, dtype, cpu).unwrap(), &[0.0, 0.5, 1.0, 0.5]);
    near(Tensor::blackman_window(2, true, dtype, cpu).unwrap(), &[0.0, 1.0]);
    near(Tensor::kaiser_window(1, true, 12.0, dtype, cpu).unwrap(), &[1.0]);
    let middle =
        Tensor::kaiser_window(5, false, 12.0, dtype, cpu).unwrap().to_vec::<f64>().unwrap();
    assert!((middle[2] - 1.0).abs() < 1e-12 && middle[0] < 1e-4 && middle[0] == middle[4]);
    assert_eq!(Tensor::hann_window(0, true, dtype, cpu).unwrap().numel(), 0);
}

#[test]
fn a_signal_survives_its_spectra() {
    let signal = noise(&[2, 37], DType::F64, 3);
    let window = Tensor::hann_window(8, true, DType::F64, Device::Cpu).unwrap();
    for (normalized, onesided) in [(false, None), (true, Some(false))] {
        let frames = Frames {
            n_fft: 10,
            hop_length: Some(3),
            win_length: Some(8),
            window: Some(&window),
            center: true,
            normalized,
            onesided,
        };
        let spectra = signal.stft(&frames, PadMode::Reflect, Some(true)).unwrap();
        let bins = if onesided.is_some() { 10 } else { 6 };
        assert_eq!(spectra.shape().as_slice(), [2, bins, 13]);
        let back = spectra.istft(&frames, Some(37), false).unwrap();
        close(&back, &signal);
        gradcheck("stft", std::slice::from_ref(&signal), false, &|x| {
            Ok(vec![x[0].stft(&frames, PadMode::Reflect, Some(false))?])
        });
        gradcheck("istft", &[spectra], false, &|x| {
            Ok(vec![x[0].istft(&frames, Some(40), false)?])
        });
    }
}

#[test]
fn faults() {
    let x = noise(&[3], DType::C128, 1);
    assert!(
        x.rfft(None, 0, FftNorm::Backward).unwrap_err().message().contains("expects a real input")
    );
    assert!(
        x.fft(Some(0), 0, FftNorm::Backward)
            .unwrap_err()
            .message()
            .contains("Invalid number of data points (0)")
    );
    assert!(x.fft(Some(-1), 0, FftNorm::Backward).is_err());
    assert!(
        FftNorm::named(Some("x")).unwrap_err().message().contains("Invalid normalization mode")
    );
    assert!(
        x.fftn(None, Some(&[0, 0]), FftNorm::Backward).unwrap_err().message().contains("unique")
    );
    assert!(x.fftn(Some(&[2, 2]), None, FftNorm::Backward).is_err());
}
