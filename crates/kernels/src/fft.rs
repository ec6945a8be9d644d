//! Discrete Fourier transforms along one dimension.
//!
//! The transforms are unnormalised sums times a factor the caller chooses. Lines are gathered into
//! a tile that stays in cache, transformed there and written out; neighbouring lines share a tile,
//! so that transforms along an outer dimension still read and write whole cache lines.

use std::collections::HashMap;
use std::ops::Mul;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use num_complex::Complex;
use num_traits::Zero;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};

use crate::{Element, Strided, collapse, par, positions};

/// Lines of fewer elements than this are transformed several at a time.
const TILE: usize = 2048;
/// Lines that are not contiguous are taken at least this many at a time: a cache line's worth.
const MIN_STRIDED_LINES: usize = 8;
/// How many plans are kept before the cache starts afresh.
const MAX_PLANS: usize = 512;

/// Real numbers that transforms are made of: `f32` and `f64`.
pub trait FftReal: sealed::Planned + Element + FftNum {}
impl FftReal for f32 {}
impl FftReal for f64 {}

mod sealed {
    use super::*;

    /// A real type with its own cache of plans.
    pub trait Planned: FftNum {
        #[doc(hidden)]
        fn plans() -> &'static Mutex<Plans<Self>>;
    }

    macro_rules! planned {
        ($($real:ty),*) => {$(
            impl Planned for $real {
                fn plans() -> &'static Mutex<Plans<Self>> {
                    static PLANS: LazyLock<Mutex<Plans<$real>>> = LazyLock::new(Default::default);
                    &PLANS
                }
            }
        )*};
    }
    planned!(f32, f64);

    /// Plans by length. Planners keep every plan they ever made; these forget when there are many.
    #[derive(Default)]
    pub struct Plans<T: FftNum> {
        pub(super) forward: HashMap<usize, Arc<dyn Fft<T>>>,
        pub(super) inverse: HashMap<usize, Arc<dyn Fft<T>>>,
        pub(super) to_complex: HashMap<usize, Arc<dyn RealToComplex<T>>>,
        pub(super) to_real: HashMap<usize, Arc<dyn ComplexToReal<T>>>,
    }

    impl<T: FftNum> Plans<T> {
        pub(super) fn forget_if_many(&mut self) {
            let kept = self.forward.len()
                + self.inverse.len()
                + self.to_complex.len()
                + self.to_real.len();
            if kept > MAX_PLANS {
                *self = Self {
                    forward: HashMap::new(),
                    inverse: HashMap::new(),
                    to_complex: HashMap::new(),
                    to_real: HashMap::new(),
                };
            }
        }
    }
}

/// Looks a plan up or makes it. The lock is not held while lines are transformed.
fn plan<T: FftReal, P: ?Sized>(
    n: usize,
    of: impl FnOnce(&mut sealed::Plans<T>) -> &mut HashMap<usize, Arc<P>>,
    make: impl FnOnce() -> Arc<P>,
) -> Arc<P> {
    let mut plans = T::plans().lock().unwrap_or_else(PoisonError::into_inner);
    plans.forget_if_many();
    of(&mut plans).entry(n).or_insert_with(make).clone()
}

/// Complex to complex along `dim`: `out[k] = scale * sum_j x[j] exp(-+ 2 pi i j k / n)`, minus
/// forward and plus `inverse`.
pub fn c2c<T: FftReal>(
    x: Strided<Complex<T>>,
    dim: usize,
    inverse: bool,
    scale: T,
) -> Vec<Complex<T>> {
    let n = x.shape[dim];
    if x.is_empty() {
        return Vec::new();
    }
    let fft = if inverse {
        plan(n, |p| &mut p.inverse, || FftPlanner::new().plan_fft_inverse(n))
    } else {
        plan(n, |p| &mut p.forward, || FftPlanner::new().plan_fft_forward(n))
    };
    along(x, dim, n, n, scale, || {
        let mut scratch = vec![Complex::zero(); fft.get_outofplace_scratch_len()];
        let fft = &fft;
        move |from: &mut [Complex<T>], to: &mut [Complex<T>]| {
            fft.process_outofplace_with_scratch(from, to, &mut scratch);
        }
    })
}

/// Real to complex along `dim`, forward: the first `n / 2 + 1` of the `n` values; the others are
/// their conjugates.
pub fn r2c<T: FftReal>(x: Strided<T>, dim: usize, scale: T) -> Vec<Complex<T>> {
    let n = x.shape[dim];
    if x.is_empty() {
        return Vec::new();
    }
    let half = n / 2 + 1;
    let fft = plan(n, |p| &mut p.to_complex, || RealFftPlanner::new().plan_fft_forward(n));
    along(x, dim, n, half, scale, || {
        let mut scratch = fft.make_scratch_vec();
        let fft = &fft;
        move |from: &mut [T], to: &mut [Complex<T>]| {
            for (from, to) in from.chunks_exact_mut(n).zip(to.chunks_exact_mut(half)) {
                fft.process_with_scratch(from, to, &mut scratch)
                    .expect("buffers have the lengths of the plan");
            }
        }
    })
}

/// Complex to real along `dim`, inverse: the first `n / 2 + 1` values of a Hermitian sequence give
/// `n` real ones. Values beyond that are not read, missing ones count as zero, and the imaginary
/// parts of the first value and, for even `n`, of the last are ignored.
pub fn c2r<T: FftReal>(x: Strided<Complex<T>>, dim: usize, n: usize, scale: T) -> Vec<T> {
    let half = n / 2 + 1;
    let lines: usize =
        x.shape.iter().enumerate().filter(|&(d, _)| d != dim).map(|(_, &s)| s).product();
    if n == 0 || lines == 0 {
        return Vec::new();
    }
    let fft = plan(n, |p| &mut p.to_real, || RealFftPlanner::new().plan_fft_inverse(n));
    along(x, dim, half, n, scale, || {
        let mut scratch = fft.make_scratch_vec();
        let fft = &fft;
        move |from: &mut [Complex<T>], to: &mut [T]| {
            for (from, to) in from.chunks_exact_mut(half).zip(to.chunks_exact_mut(n)) {
                from[0].im = T::zero();
                if n.is_multiple_of(2) {
                    from[half - 1].im = T::zero();
                }
                fft.process_with_scratch(from, to, &mut scratch)
                    .expect("buffers have the lengths of the plan");
            }
        }
    })
}

/// Applies a transform of `n_in` to `n_out` elements to every line of `x` along `dim`. `make` gives
/// each thread its own function, which gets any number of whole lines, one after the other.
/// There must be at least one line.
fn along<T, I, O, F>(
    x: Strided<I>,
    dim: usize,
    n_in: usize,
    n_out: usize,
    scale: T,
    make: impl Fn() -> F + Sync,
) -> Vec<O>
where
    T: FftReal,
    I: Element + Zero,
    O: Element + Zero + Mul<T, Output = O>,
    F: FnMut(&mut [I], &mut [O]),
{
    struct Target<O>(*mut O);
    // SAFETY: threads write disjoint elements, see below.
    unsafe impl<O: Send> Sync for Target<O> {}
    impl<O> Target<O> {
        /// # Safety
        /// `index` must lie within the buffer and belong to no other thread.
        #[inline(always)]
        unsafe fn write(&self, index: usize, value: O) {
            unsafe { self.0.add(index).write(value) }
        }
    }

    let available = x.shape[dim].min(n_in);
    let step = x.strides[dim];
    let inner: usize = x.shape[dim + 1..].iter().product();
    let without_dim = |d: usize| if d < dim { d } else { d + 1 };
    let others: crate::Dims = (0..x.shape.len() - 1).map(|d| x.shape[without_dim(d)]).collect();
    let strides: crate::Strides =
        (0..x.shape.len() - 1).map(|d| x.strides[without_dim(d)]).collect();
    let lines: usize = others.iter().product();
    let (others, strides) = collapse(&others, [&strides]);

    let at_once = TILE / n_in.max(n_out);
    let at_once = if inner == 1 { at_once.max(1) } else { at_once.max(MIN_STRIDED_LINES) };
    let cost = n_out * (n_out.ilog2() as usize + 1);
    let mut buffer = Vec::<O>::with_capacity(lines * n_out);
    let target = Target(buffer.as_mut_ptr());

    par::for_ranges(lines, par::GRAIN.div_ceil(cost), |range| {
        let at_once = at_once.min(range.len());
        let mut transform = make();
        let mut from = vec![I::zero(); at_once * n_in];
        let mut to = vec![O::zero(); at_once * n_out];
        let mut bases = Vec::with_capacity(at_once);
        for first in range.clone().step_by(at_once) {
            let count = at_once.min(range.end - first);
            bases.clear();
            bases.extend((first..first + count).map(|line| {
                let [at] = positions(line, &others, &strides);
                x.offset as isize + at
            }));
            if step == 1 {
                for (line, &base) in from.chunks_exact_mut(n_in).zip(&bases) {
                    let base = base as usize;
                    line[..available].copy_from_slice(&x.data[base..base + available]);
                }
            } else {
                for j in 0..available {
                    let shift = j as isize * step;
                    for (b, &base) in bases.iter().enumerate() {
                        // SAFETY: `j` lies within the dimension and `base` within the others.
                        from[b * n_in + j] = unsafe { x.at(base + shift) };
                    }
                }
            }
            if available < n_in {
                // The transform may have used its input as scratch space.
                for line in from.chunks_exact_mut(n_in) {
                    line[available..].fill(I::zero());
                }
            }
            transform(&mut from[..count * n_in], &mut to[..count * n_out]);
            if inner == 1 {
                for (i, &value) in to[..count * n_out].iter().enumerate() {
                    // SAFETY: lines lie one after the other, and this thread owns these.
                    unsafe { target.write(first * n_out + i, value * scale) };
                }
            } else {
                for j in 0..n_out {
                    for b in 0..count {
                        let line = first + b;
                        let base = line / inner * (n_out * inner) + line % inner;
                        let value = to[b * n_out + j] * scale;
                        // SAFETY: `base + j * inner` runs through the line that starts at `base`,
                        // and every line belongs to one thread.
                        unsafe { target.write(base + j * inner, value) };
                    }
                }
            }
        }
    });
    // SAFETY: the lines cover the buffer, and every line has been written completely.
    unsafe { buffer.set_len(lines * n_out) };
    buffer
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::contiguous_strides;

    fn noise(len: usize) -> Vec<f64> {
        let mut state = 1u64;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            })
            .collect()
    }

    fn complex_noise(len: usize) -> Vec<Complex<f64>> {
        noise(2 * len).chunks(2).map(|p| Complex::new(p[0], p[1])).collect()
    }

    /// The definition, one line.
    fn slow(x: &[Complex<f64>], inverse: bool) -> Vec<Complex<f64>> {
        let n = x.len();
        let sign = if inverse { 1.0 } else { -1.0 };
        (0..n)
            .map(|k| {
                (0..n)
                    .map(|j| {
                        x[j] * Complex::from_polar(
                            1.0,
                            sign * TAU * ((j * k) % n) as f64 / n as f64,
                        )
                    })
                    .sum()
            })
            .collect()
    }

    fn close(a: &[Complex<f64>], b: &[Complex<f64>]) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).norm() < 1e-10, "{a} {b}");
        }
    }

    #[test]
    fn follows_the_definition_for_every_kind_of_length() {
        for n in [1, 2, 3, 4, 7, 12, 16, 31, 97, 128, 251] {
            let data = complex_noise(n);
            let x = Strided { data: &data, shape: &[n], strides: &[1], offset: 0 };
            close(&c2c(x, 0, false, 1.0), &slow(&data, false));
            let half: Vec<_> = slow(&data, true).iter().map(|v| v * 0.5).collect();
            close(&c2c(x, 0, true, 0.5), &half);
        }
    }

    #[test]
    fn transforms_along_any_dimension_of_any_view() {
        let data = complex_noise(5 * 6 * 7);
        // A view of shape (7, 5, 6) whose first two dimensions are swapped and whose last is flipped.
        let (shape, strides) = ([7, 5, 6], [1isize, 42, -7]);
        let x = Strided { data: &data, shape: &shape, strides: &strides, offset: 35 };
        let at = |i: usize, j: usize, k: usize| data[35 + i + 42 * j - 7 * k];
        for dim in 0..3 {
            let out = c2c(x, dim, false, 1.0);
            for a in 0..shape[(dim + 1) % 3] {
                for b in 0..shape[(dim + 2) % 3] {
                    let index = |v: usize| {
                        let mut index = [0; 3];
                        (index[dim], index[(dim + 1) % 3], index[(dim + 2) % 3]) = (v, a, b);
                        index
                    };
                    let line: Vec<_> = (0..shape[dim])
                        .map(|v| {
                            let [i, j, k] = index(v);
                            at(i, j, k)
                        })
                        .collect();
                    let got: Vec<_> = (0..shape[dim])
                        .map(|v| {
                            let [i, j, k] = index(v);
                            out[(i * 5 + j) * 6 + k]
                        })
                        .collect();
                    close(&got, &slow(&line, false));
                }
            }
        }
    }

    #[test]
    fn real_transforms_agree_with_complex_ones() {
        for n in [1usize, 2, 5, 8, 15, 64, 101] {
            let half = n / 2 + 1;
            let data = noise(3 * n);
            // Lines along dimension zero.
            let x = Strided { data: &data, shape: &[n, 3], strides: &[3, 1], offset: 0 };
            let out = r2c(x, 0, 2.0);
            for column in 0..3 {
                let line: Vec<_> =
                    (0..n).map(|j| Complex::new(2.0 * data[3 * j + column], 0.0)).collect();
                let got: Vec<_> = (0..half).map(|j| out[3 * j + column]).collect();
                close(&got, &slow(&line, false)[..half]);
            }
            let strides = contiguous_strides(&[half, 3]);
            let spectrum = Strided { data: &out, shape: &[half, 3], strides: &strides, offset: 0 };
            let back = c2r(spectrum, 0, n, 0.5 / n as f64);
            for (a, b) in back.iter().zip(&data) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn imaginary_parts_of_the_ends_are_ignored() {
        let data = [Complex::new(4.0, 9.0), Complex::new(0.0, 0.0), Complex::new(2.0, -3.0)];
        let x = Strided { data: &data, shape: &[3], strides: &[1], offset: 0 };
        // (4 + 2 (-1)^k) / 4
        assert_eq!(c2r(x, 0, 4, 0.25), [1.5, 0.5, 1.5, 0.5]);
        // Missing values count as zero.
        assert_eq!(c2r(Strided { shape: &[1], ..x }, 0, 4, 0.25), [1.0; 4]);
    }

    #[test]
    fn many_lines_and_empty_input() {
        let data: Vec<f32> = (0..1000 * 64).map(|i| (i % 64) as f32).collect();
        let x = Strided { data: &data, shape: &[1000, 64], strides: &[64, 1], offset: 0 };
        let out = r2c(x, 1, 1.0);
        assert_eq!(out.len(), 1000 * 33);
        for line in out.chunks(33) {
            assert_eq!(line[0], Complex::new(2016.0, 0.0));
            assert_eq!(line, &out[..33]);
        }
        let none = Strided { data: &data, shape: &[0, 64], strides: &[64, 1], offset: 0 };
        assert!(r2c(none, 1, 1.0).is_empty());
    }
}
