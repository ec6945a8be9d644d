//! Exponentials that sum to one along a dimension, their logarithms and both gradients.

use std::ops::Range;

use crate::lanes::{Fresh, Lanes, dense};
use crate::simd::{self, Task};
use crate::{Element, Strided, par, vector_math};

/// How many partial results a sum is kept in, so that it vectorises.
const PARTS: usize = 16;
/// What an element costs, in additions.
const COST: usize = 8;

/// Elements that have a softmax: `f32` and `f64`.
pub trait SoftmaxElement: Element + PartialOrd {
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const LOWEST: Self;
    #[doc(hidden)]
    fn exp(self) -> Self;
    #[doc(hidden)]
    fn ln(self) -> Self;
    #[doc(hidden)]
    fn add(self, other: Self) -> Self;
    #[doc(hidden)]
    fn sub(self, other: Self) -> Self;
    #[doc(hidden)]
    fn mul(self, other: Self) -> Self;
    #[doc(hidden)]
    fn div(self, other: Self) -> Self;
}

macro_rules! elements {
    ($($t:ident $exp:path),*) => {$(
        impl SoftmaxElement for $t {
            const ZERO: $t = 0.0;
            const LOWEST: $t = $t::NEG_INFINITY;

            #[inline(always)]
            fn exp(self) -> $t {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> $t {
                $t::ln(self)
            }
            #[inline(always)]
            fn add(self, other: $t) -> $t {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: $t) -> $t {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: $t) -> $t {
                self * other
            }
            #[inline(always)]
            fn div(self, other: $t) -> $t {
                self / other
            }
        }
    )*};
}
elements!(f32 vector_math::exp, f64 f64::exp);

/// Folds a row in [`PARTS`] parts.
#[inline(always)]
fn fold<T: SoftmaxElement>(row: &[T], start: T, step: impl Fn(T, T) -> T) -> T {
    let mut parts = [start; PARTS];
    let chunks = row.chunks_exact(PARTS);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (part, &value) in parts.iter_mut().zip(chunk) {
            *part = step(*part, value);
        }
    }
    let tail = rest.iter().fold(start, |part, &value| step(part, value));
    parts.iter().fold(tail, |part, &value| step(part, value))
}

/// Reads a lane into a row.
#[inline(always)]
fn gather<T: Element>(data: &[T], lanes: &Lanes, start: usize, row: &mut [T]) {
    if lanes.inner == 1 {
        row.copy_from_slice(&data[start..start + row.len()]);
        return;
    }
    for (k, slot) in row.iter_mut().enumerate() {
        *slot = data[start + k * lanes.inner];
    }
}

/// Writes a row as a lane.
///
/// # Safety
/// The lane must belong to this thread alone.
#[inline(always)]
unsafe fn scatter<T: Element>(out: &Fresh<T>, lanes: &Lanes, start: usize, row: &[T]) {
    for (k, &value) in row.iter().enumerate() {
        // SAFETY: the lane lies within the buffer, and the caller vouches for it.
        unsafe { out.set(start + k * lanes.inner, value) };
    }
}

struct Forward<'a, T> {
    x: &'a [T],
    lanes: Lanes,
    range: Range<usize>,
    out: &'a Fresh<T>,
    log: bool,
}

impl<T: SoftmaxElement> Task for Forward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let mut row = vec![T::ZERO; self.lanes.len];
        for lane in self.range {
            let start = self.lanes.start(lane);
            gather(self.x, &self.lanes, start, &mut row);
            // A NaN is passed over here and comes back in the sum.
            let top = fold(&row, T::LOWEST, |a, b| if b > a { b } else { a });
            row.iter_mut().for_each(|value| *value = value.sub(top));
            if self.log {
                let mut total = [T::ZERO; PARTS];
                for chunk in row.chunks(PARTS) {
                    for (part, &value) in total.iter_mut().zip(chunk) {
                        *part = part.add(value.exp());
                    }
                }
                let log = fold(&total, T::ZERO, T::add).ln();
                row.iter_mut().for_each(|value| *value = value.sub(log));
            } else {
                row.iter_mut().for_each(|value| *value = value.exp());
                let sum = fold(&row, T::ZERO, T::add);
                row.iter_mut().for_each(|value| *value = value.div(sum));
            }
            // SAFETY: every lane belongs to one range, and every range to one thread.
            unsafe { scatter(self.out, &self.lanes, start, &row) };
        }
    }
}

struct Backward<'a, T> {
    grad: &'a [T],
    y: &'a [T],
    lanes: Lanes,
    range: Range<usize>,
    out: &'a Fresh<T>,
    log: bool,
}

impl<T: SoftmaxElement> Task for Backward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let mut grad = vec![T::ZERO; self.lanes.len];
        let mut y = grad.clone();
        let mut products = grad.clone();
        for lane in self.range {
            let start = self.lanes.start(lane);
            gather(self.grad, &self.lanes, start, &mut grad);
            gather(self.y, &self.lanes, start, &mut y);
            if self.log {
                let sum = fold(&grad, T::ZERO, T::add);
                for (g, &y) in grad.iter_mut().zip(&y) {
                    *g = g.sub(y.exp().mul(sum));
                }
            } else {
                for ((product, &g), &y) in products.iter_mut().zip(&grad).zip(&y) {
                    *product = g.mul(y);
                }
                let sum = fold(&products, T::ZERO, T::add);
                for (g, &y) in grad.iter_mut().zip(&y) {
                    *g = g.sub(sum).mul(y);
                }
            }
            // SAFETY: every lane belongs to one range, and every range to one thread.
            unsafe { scatter(self.out, &self.lanes, start, &grad) };
        }
    }
}

/// `exp(x) / sum(exp(x))` along `dim`, or its logarithm, without overflow.
pub fn softmax<T: SoftmaxElement>(x: Strided<'_, T>, dim: usize, log: bool) -> Vec<T> {
    let lanes = Lanes::along(x.shape, dim);
    let data = dense(x);
    let out = Fresh::new(data.len());
    if !data.is_empty() {
        par::for_ranges(lanes.count(), lanes.grain(COST), |range| {
            simd::run_wide(Forward { x: &data, lanes, range, out: &out, log });
        });
    }
    // SAFETY: the lanes cover the buffer.
    unsafe { out.finish() }
}

/// The gradient of [`softmax`] from that of its result `y`: `y (g - sum(g y))`, or for the logarithm
/// `g - exp(y) sum(g)`.
pub fn softmax_backward<T: SoftmaxElement>(
    grad: Strided<'_, T>,
    y: Strided<'_, T>,
    dim: usize,
    log: bool,
) -> Vec<T> {
    let lanes = Lanes::along(y.shape, dim);
    let (grad, y) = (dense(grad), dense(y));
    let out = Fresh::new(y.len());
    if !y.is_empty() {
        par::for_ranges(lanes.count(), lanes.grain(COST), |range| {
            simd::run_wide(Backward { grad: &grad, y: &y, lanes, range, out: &out, log });
        });
    }
    // SAFETY: the lanes cover the buffer.
    unsafe { out.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view<'a>(data: &'a [f64], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, f64> {
        Strided { data, shape, strides, offset: 0 }
    }

    #[test]
    fn rows_and_columns_agree_with_the_definition() {
        let data: Vec<f64> = (0..3 * 37).map(|i| ((i * 7919) % 101) as f64 / 10.0).collect();
        let rows = softmax(view(&data, &[3, 37], &[37, 1]), 1, false);
        for (row, x) in rows.chunks(37).zip(data.chunks(37)) {
            let sum: f64 = x.iter().map(|v| v.exp()).sum();
            assert!(row.iter().zip(x).all(|(y, x)| (y - x.exp() / sum).abs() < 1e-12));
        }
        // The same lanes, lying across.
        let columns = softmax(view(&data, &[37, 3], &[1, 37]), 0, false);
        assert!((0..37 * 3).all(|i| (columns[i] - rows[i % 3 * 37 + i / 3]).abs() < 1e-15));
        let logs = softmax(view(&data, &[3, 37], &[37, 1]), 1, true);
        assert!(logs.iter().zip(&rows).all(|(log, y)| (log - y.ln()).abs() < 1e-12));
    }

    #[test]
    fn large_small_and_missing_numbers() {
        let y = softmax(view(&[1e300, 1e300, f64::NEG_INFINITY], &[3], &[1]), 0, false);
        assert_eq!(y, [0.5, 0.5, 0.0]);
        let y = softmax(view(&[1.0, f64::NAN, 0.0], &[3], &[1]), 0, true);
        assert!(y.iter().all(|v| v.is_nan()));
        assert!(softmax(view(&[], &[0, 4], &[4, 1]), 1, false).is_empty());
        assert_eq!(softmax(view(&[3.0], &[], &[]), 0, false), [1.0]);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let x = [0.3f64, -1.0, 2.0, 0.7];
        let g = [1.0f64, -0.5, 0.25, 2.0];
        for log in [false, true] {
            let of = |x: &[f64]| softmax(view(x, &[4], &[1]), 0, log);
            let grad = softmax_backward(view(&g, &[4], &[1]), view(&of(&x), &[4], &[1]), 0, log);
            for k in 0..4 {
                let mut shifted = x;
                shifted[k] += 1e-6;
                let change: f64 =
                    of(&shifted).iter().zip(of(&x)).zip(g).map(|((a, b), g)| (a - b) * g).sum();
                assert!((grad[k] - change / 1e-6).abs() < 1e-5);
            }
        }
    }
}
