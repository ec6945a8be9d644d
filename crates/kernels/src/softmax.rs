//! Exponentials that sum to one along a dimension, their logarithms and both gradients.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::lanes::{Fresh, Lanes, TILE, dense};
use crate::loss::LossElement;
use crate::simd::{self, Task};
use crate::{Strided, par};

/// How many partial results a sum is kept in, so that it vectorises.
const PARTS: usize = 64;
/// What an element costs, in additions.
const COST: usize = 8;
/// Lanes that interleave with fewer others are copied and worked on one by one.
const NARROW: usize = 16;

/// The sum or the largest of partial results.
#[inline(always)]
fn total<T: LossElement>(mut parts: [T; PARTS], step: impl Fn(T, T) -> T) -> T {
    let mut width = PARTS / 2;
    while width > 0 {
        for i in 0..width {
            parts[i] = step(parts[i], parts[i + width]);
        }
        width /= 2;
    }
    parts[0]
}

/// The larger of two numbers; a NaN is passed over and comes back in the sum.
#[inline(always)]
fn larger<T: LossElement>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

#[inline(always)]
fn plus<T: LossElement>(a: T, b: T) -> T {
    a + b
}

/// Folds a function of the elements of two rows, which may be one.
#[inline(always)]
fn fold<T: LossElement>(
    a: &[T],
    b: &[T],
    start: T,
    term: impl Fn(T, T) -> T,
    step: impl Fn(T, T) -> T,
) -> T {
    let mut parts = [start; PARTS];
    for (a, b) in a.chunks(PARTS).zip(b.chunks(PARTS)) {
        for (part, (&a, &b)) in parts.iter_mut().zip(a.iter().zip(b)) {
            *part = step(*part, term(a, b));
        }
    }
    total(parts, step)
}

/// What is written as if it had been before.
///
/// # Safety
/// It must be written completely before it is read.
#[inline(always)]
unsafe fn written<T>(out: &mut [MaybeUninit<T>]) -> &mut [T] {
    unsafe { &mut *(std::ptr::from_mut(out) as *mut [T]) }
}

/// The softmax of a row, or its logarithm.
#[inline(always)]
fn forward_row<T: LossElement>(x: &[T], out: &mut [T], log: bool) {
    let top = fold(x, x, T::neg_infinity(), |x, _| x, larger);
    if log {
        let sum = fold(x, x, T::zero(), |x, _| (x - top).e_to(), plus).log_of();
        for (y, &x) in out.iter_mut().zip(x) {
            *y = x - top - sum;
        }
        return;
    }
    let mut parts = [T::zero(); PARTS];
    for (out, x) in out.chunks_mut(PARTS).zip(x.chunks(PARTS)) {
        for (part, (y, &x)) in parts.iter_mut().zip(out.iter_mut().zip(x)) {
            *y = (x - top).e_to();
            *part = *part + *y;
        }
    }
    let scale = T::one() / total(parts, plus);
    out.iter_mut().for_each(|y| *y = *y * scale);
}

/// The gradient of a row.
#[inline(always)]
fn backward_row<T: LossElement>(grad: &[T], y: &[T], out: &mut [T], log: bool) {
    let pairs = out.iter_mut().zip(grad.iter().zip(y));
    if log {
        let sum = fold(grad, grad, T::zero(), |g, _| g, plus);
        pairs.for_each(|(out, (&g, &y))| *out = g - y.e_to() * sum);
    } else {
        let sum = fold(grad, y, T::zero(), |g, y| g * y, plus);
        pairs.for_each(|(out, (&g, &y))| *out = (g - sum) * y);
    }
}

/// The rows of lanes that lie side by side: a range of the buffer for each place along them.
#[inline(always)]
fn rows(lanes: &Lanes, tile: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let (start, inner, width) = (lanes.start(tile.start), lanes.inner, tile.len());
    (0..lanes.len).map(move |k| start + k * inner..start + k * inner + width)
}

/// Calls `f` for each lane with its elements of some buffers, copied where they are strided, and
/// what it writes.
#[inline(always)]
fn each_lane<T: LossElement, const N: usize>(
    data: [&[T]; N],
    lanes: &Lanes,
    range: Range<usize>,
    out: &Fresh<T>,
    f: impl Fn([&[T]; N], &mut [T]),
) {
    if lanes.inner == 1 {
        for lane in range {
            let place = lane * lanes.len..(lane + 1) * lanes.len;
            // SAFETY: every lane belongs to one range, and every range to one thread; `f` writes it.
            let own = unsafe { written(out.part(place.clone())) };
            f(data.map(|data| &data[place.clone()]), own);
        }
        return;
    }
    let mut copies = [(); N].map(|()| vec![T::zero(); lanes.len]);
    let mut result = vec![T::zero(); lanes.len];
    for lane in range {
        let start = lanes.start(lane);
        for (copy, data) in copies.iter_mut().zip(data) {
            for (k, slot) in copy.iter_mut().enumerate() {
                *slot = data[start + k * lanes.inner];
            }
        }
        f(std::array::from_fn(|which| &copies[which][..]), &mut result);
        for (k, &value) in result.iter().enumerate() {
            // SAFETY: as above.
            unsafe { out.set(start + k * lanes.inner, value) };
        }
    }
}

struct Forward<'a, T> {
    x: &'a [T],
    lanes: Lanes,
    range: Range<usize>,
    out: &'a Fresh<T>,
    log: bool,
}

impl<T: LossElement> Forward<'_, T> {
    /// Lanes that lie side by side.
    #[inline(always)]
    fn tile(&self, tile: &Range<usize>) {
        let mut tops = [T::neg_infinity(); TILE];
        for row in rows(&self.lanes, tile) {
            for (top, &x) in tops.iter_mut().zip(&self.x[row]) {
                *top = larger(*top, x);
            }
        }
        let mut sums = [T::zero(); TILE];
        for row in rows(&self.lanes, tile) {
            // SAFETY: every lane belongs to one range, and every range to one thread.
            let out = unsafe { self.out.part(row.clone()) };
            let lanes = sums.iter_mut().zip(&tops);
            for ((sum, &top), (y, &x)) in lanes.zip(out.iter_mut().zip(&self.x[row])) {
                let grown = (x - top).e_to();
                *sum = *sum + grown;
                y.write(grown);
            }
        }
        if self.log {
            sums.iter_mut().for_each(|sum| *sum = sum.log_of());
        } else {
            sums.iter_mut().for_each(|sum| *sum = T::one() / *sum);
        }
        for row in rows(&self.lanes, tile) {
            // SAFETY: as above, and it has just been written.
            let out = unsafe { written(self.out.part(row.clone())) };
            let lanes = sums.iter().zip(&tops);
            for ((&sum, &top), (y, &x)) in lanes.zip(out.iter_mut().zip(&self.x[row])) {
                *y = if self.log { x - top - sum } else { *y * sum };
            }
        }
    }
}

impl<T: LossElement> Task for Forward<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.lanes.inner >= NARROW {
            for tile in self.lanes.tiles(self.range.clone()) {
                self.tile(&tile);
            }
            return;
        }
        let log = self.log;
        each_lane([self.x], &self.lanes, self.range, self.out, |[x], out| forward_row(x, out, log));
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

impl<T: LossElement> Backward<'_, T> {
    /// Lanes that lie side by side.
    #[inline(always)]
    fn tile(&self, tile: &Range<usize>) {
        let mut sums = [T::zero(); TILE];
        for row in rows(&self.lanes, tile) {
            let pairs = self.grad[row.clone()].iter().zip(&self.y[row]);
            for (sum, (&g, &y)) in sums.iter_mut().zip(pairs) {
                *sum = *sum + if self.log { g } else { g * y };
            }
        }
        for row in rows(&self.lanes, tile) {
            // SAFETY: every lane belongs to one range, and every range to one thread.
            let out = unsafe { self.out.part(row.clone()) };
            let pairs = self.grad[row.clone()].iter().zip(&self.y[row]);
            for ((out, &sum), (&g, &y)) in out.iter_mut().zip(&sums).zip(pairs) {
                out.write(if self.log { g - y.e_to() * sum } else { (g - sum) * y });
            }
        }
    }
}

impl<T: LossElement> Task for Backward<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.lanes.inner >= NARROW {
            for tile in self.lanes.tiles(self.range.clone()) {
                self.tile(&tile);
            }
            return;
        }
        let log = self.log;
        each_lane([self.grad, self.y], &self.lanes, self.range, self.out, |[g, y], out| {
            backward_row(g, y, out, log)
        });
    }
}

/// `exp(x) / sum(exp(x))` along `dim`, or its logarithm, without overflow.
pub fn softmax<T: LossElement>(x: Strided<'_, T>, dim: usize, log: bool) -> Vec<T> {
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
pub fn softmax_backward<T: LossElement>(
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
        // Lanes that lie side by side, and lanes between others.
        for shape in [[37usize, 70], [70, 37], [5, 20]] {
            let data: Vec<f64> = (0..shape[0] * shape[1]).map(|i| (i % 13) as f64 / 3.0).collect();
            let strides = [shape[1] as isize, 1];
            for log in [false, true] {
                let across = softmax(view(&data, &shape, &strides), 0, log);
                let turned: Vec<f64> =
                    (0..data.len()).map(|i| data[i % shape[0] * shape[1] + i / shape[0]]).collect();
                let size = [shape[1], shape[0]];
                let along = softmax(view(&turned, &size, &[shape[0] as isize, 1]), 1, log);
                for (i, y) in across.iter().enumerate() {
                    assert!((y - along[i % shape[1] * shape[0] + i / shape[1]]).abs() < 1e-13);
                }
                let back = softmax_backward(
                    view(&data, &shape, &strides),
                    view(&across, &shape, &strides),
                    0,
                    log,
                );
                let wanted = softmax_backward(
                    view(&turned, &size, &[shape[0] as isize, 1]),
                    view(&along, &size, &[shape[0] as isize, 1]),
                    1,
                    log,
                );
                for (i, g) in back.iter().enumerate() {
                    assert!((g - wanted[i % shape[1] * shape[0] + i / shape[1]]).abs() < 1e-12);
                }
            }
        }
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
