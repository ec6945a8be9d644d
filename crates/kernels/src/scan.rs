//! Running results along a dimension.

use num_complex::Complex;

use crate::lanes::{Fresh, Lanes, TILE, dense};
use crate::{Element, Ordered, Strided, par};

/// Elements that add up and multiply. Integers wrap around.
pub trait Accumulate: Element {
    /// What running results are kept in: twice as wide for single precision.
    type Wide: Element;
    #[doc(hidden)]
    const ZERO: Self::Wide;
    #[doc(hidden)]
    const ONE: Self::Wide;
    #[doc(hidden)]
    fn add(sum: Self::Wide, x: Self) -> Self::Wide;
    #[doc(hidden)]
    fn mul(product: Self::Wide, x: Self) -> Self::Wide;
    #[doc(hidden)]
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Accumulate for $t {
            type Wide = $t;
            const ZERO: $t = 0;
            const ONE: $t = 1;

            #[inline(always)]
            fn add(sum: $t, x: $t) -> $t {
                sum.wrapping_add(x)
            }

            #[inline(always)]
            fn mul(product: $t, x: $t) -> $t {
                product.wrapping_mul(x)
            }

            #[inline(always)]
            fn narrow(wide: $t) -> $t {
                wide
            }
        }
    )*};
}
integers!(i32 i64 u8);

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Accumulate for $t {
            type Wide = f64;
            const ZERO: f64 = 0.0;
            const ONE: f64 = 1.0;

            #[inline(always)]
            fn add(sum: f64, x: $t) -> f64 {
                sum + x as f64
            }

            #[inline(always)]
            fn mul(product: f64, x: $t) -> f64 {
                product * x as f64
            }

            #[inline(always)]
            fn narrow(wide: f64) -> $t {
                wide as $t
            }
        }

        impl Accumulate for Complex<$t> {
            type Wide = Complex<f64>;
            const ZERO: Complex<f64> = Complex::new(0.0, 0.0);
            const ONE: Complex<f64> = Complex::new(1.0, 0.0);

            #[inline(always)]
            fn add(sum: Complex<f64>, x: Self) -> Complex<f64> {
                sum + Complex::new(x.re as f64, x.im as f64)
            }

            #[inline(always)]
            fn mul(product: Complex<f64>, x: Self) -> Complex<f64> {
                product * Complex::new(x.re as f64, x.im as f64)
            }

            #[inline(always)]
            fn narrow(wide: Complex<f64>) -> Self {
                Complex::new(wide.re as $t, wide.im as $t)
            }
        }
    )*};
}
floats!(f32 f64);

/// The sum of each element and those before it.
pub fn cumsum<T: Accumulate>(x: Strided<'_, T>, dim: usize) -> Vec<T> {
    running(x, dim, 1, T::ZERO, T::add, T::narrow)
}

/// The product of each element and those before it.
pub fn cumprod<T: Accumulate>(x: Strided<'_, T>, dim: usize) -> Vec<T> {
    running(x, dim, 1, T::ONE, T::mul, T::narrow)
}

/// `log(cumsum(exp(x)))` without overflow; for floats.
pub fn logcumsumexp<T: Accumulate<Wide = f64> + Into<f64>>(
    x: Strided<'_, T>,
    dim: usize,
) -> Vec<T> {
    let step = |sum: f64, x: T| log_add_exp(sum, x.into());
    running(x, dim, 16, f64::NEG_INFINITY, step, T::narrow)
}

fn log_add_exp(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (min, max) = (a.min(b), a.max(b));
    // Two equal infinities have no difference.
    if min == max && max.is_infinite() { max } else { (min - max).exp().ln_1p() + max }
}

/// The largest of each element and those before it, and where the last such stands. A NaN stays.
pub fn cummax<T: Ordered>(x: Strided<'_, T>, dim: usize) -> (Vec<T>, Vec<i64>) {
    leader(x, dim, |item, best| item >= best)
}

/// The smallest of each element and those before it, and where the last such stands. A NaN stays.
pub fn cummin<T: Ordered>(x: Strided<'_, T>, dim: usize) -> (Vec<T>, Vec<i64>) {
    leader(x, dim, |item, best| item <= best)
}

/// Carries an accumulator along each lane; interleaved lanes run side by side.
fn running<T: Element, A: Element>(
    x: Strided<'_, T>,
    dim: usize,
    cost: usize,
    start: A,
    step: impl Fn(A, T) -> A + Sync,
    finish: impl Fn(A) -> T + Sync,
) -> Vec<T> {
    let data = dense(x);
    let lanes = Lanes::along(x.shape, dim);
    let out = Fresh::new(data.len());
    par::for_ranges(lanes.count(), lanes.grain(cost), |range| {
        for tile in lanes.tiles(range) {
            let mut carried = [start; TILE];
            let carried = &mut carried[..tile.len()];
            let mut at = lanes.start(tile.start);
            for _ in 0..lanes.len {
                let row = &data[at..at + carried.len()];
                for (i, (acc, &item)) in carried.iter_mut().zip(row).enumerate() {
                    *acc = step(*acc, item);
                    // SAFETY: an element of this tile and of no other.
                    unsafe { out.set(at + i, finish(*acc)) };
                }
                at += lanes.inner;
            }
        }
    });
    // SAFETY: the lanes cover the buffer.
    unsafe { out.finish() }
}

/// Carries the best element and its place along each lane.
fn leader<T: Ordered>(
    x: Strided<'_, T>,
    dim: usize,
    wins: impl Fn(T, T) -> bool + Sync,
) -> (Vec<T>, Vec<i64>) {
    let data = dense(x);
    let lanes = Lanes::along(x.shape, dim);
    let (values, indices) = (Fresh::new(data.len()), Fresh::new(data.len()));
    par::for_ranges(lanes.count(), lanes.grain(2), |range| {
        for tile in lanes.tiles(range) {
            let start = lanes.start(tile.start);
            let mut best = [T::zeroed(); TILE];
            let best = &mut best[..tile.len()];
            let mut places = [0i64; TILE];
            for k in 0..lanes.len {
                let at = start + k * lanes.inner;
                let row = &data[at..at + best.len()];
                if k == 0 {
                    best.copy_from_slice(row);
                }
                for (i, ((best, place), &item)) in
                    best.iter_mut().zip(&mut places).zip(row).enumerate()
                {
                    if item.is_nan() || !best.is_nan() && wins(item, *best) {
                        *best = item;
                        *place = k as i64;
                    }
                    // SAFETY: an element of this tile and of no other.
                    unsafe {
                        values.set(at + i, *best);
                        indices.set(at + i, *place);
                    }
                }
            }
        }
    });
    // SAFETY: the lanes cover the buffer.
    unsafe { (values.finish(), indices.finish()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn along_rows_and_columns() {
        let data = [1i64, 2, 3, 4, 5, 6];
        let x = Strided { data: &data, shape: &[2, 3], strides: &[3, 1], offset: 0 };
        assert_eq!(cumsum(x, 0), [1, 2, 3, 5, 7, 9]);
        assert_eq!(cumsum(x, 1), [1, 3, 6, 4, 9, 15]);
        assert_eq!(cumprod(x, 1), [1, 2, 6, 4, 20, 120]);
        let turned = Strided { data: &data, shape: &[3, 2], strides: &[1, 3], offset: 0 };
        assert_eq!(cumsum(turned, 0), [1, 4, 3, 9, 6, 15]);
        let scalar = Strided { data: &data, shape: &[], strides: &[], offset: 4 };
        assert_eq!(cumsum(scalar, 0), [5]);
        let none = Strided { data: &data, shape: &[2, 0], strides: &[0, 1], offset: 0 };
        assert_eq!(cumsum(none, 0), [0i64; 0]);
        assert_eq!(cumsum(none, 1), [0i64; 0]);
    }

    #[test]
    fn integers_wrap_and_complex_numbers_turn() {
        let x = Strided { data: &[200u8, 100, 2], shape: &[3], strides: &[1], offset: 0 };
        assert_eq!(cumsum(x, 0), [200, 44, 46]);
        assert_eq!(cumprod(x, 0), [200, 32, 64]);
        let i = Complex::new(0.0f32, 1.0);
        let x = Strided { data: &[i], shape: &[4], strides: &[0], offset: 0 };
        assert_eq!(cumprod(x, 0), [i, i * i, -i, Complex::new(1.0, 0.0)]);
    }

    #[test]
    fn single_precision_is_summed_in_double() {
        let x = Strided { data: &[0.1f32], shape: &[1 << 20], strides: &[0], offset: 0 };
        assert_eq!(cumsum(x, 0)[(1 << 20) - 1], (0.1f32 as f64 * (1 << 20) as f64) as f32);
    }

    #[test]
    fn leaders_take_the_last_of_equals_and_every_nan() {
        let nan = f32::NAN;
        let data = [3.0, 3.0, 1.0, nan, 0.0, nan];
        let x = Strided { data: &data, shape: &[6], strides: &[1], offset: 0 };
        let (values, indices) = cummin(x, 0);
        assert_eq!(indices, [0, 1, 2, 3, 3, 5]);
        assert!(values[..3] == [3.0, 3.0, 1.0] && values[3..].iter().all(|v| v.is_nan()));
        assert_eq!(cummax(x, 0).1, [0, 1, 1, 3, 3, 5]);
    }

    #[test]
    fn logcumsumexp_of_extremes() {
        let inf = f32::INFINITY;
        let data = [-inf, -inf, 0.0, 1000.0, inf, -inf, f32::NAN];
        let x = Strided { data: &data, shape: &[7], strides: &[1], offset: 0 };
        let out = logcumsumexp(x, 0);
        assert_eq!(out[..6], [-inf, -inf, 0.0, 1000.0, inf, inf]);
        assert!(out[6].is_nan());
        let x = Strided { data: &[0.0f64], shape: &[3], strides: &[0], offset: 0 };
        let out = logcumsumexp(x, 0);
        assert!((out[2] - 3f64.ln()).abs() < 1e-15);
    }
}
