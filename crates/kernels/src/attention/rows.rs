//! The arithmetic of attention between the products: exponentials of scores, and their gradient.

use crate::panels::Factor;
use crate::simd::Task;
use crate::vector_math;

/// How many partial results a row is folded in, so that it vectorises.
const PARTS: usize = 16;

/// Elements of attention: `f32` and `f64`.
pub trait Weighed: Factor {
    #[doc(hidden)]
    fn power(self) -> Self;
}

impl Weighed for f32 {
    #[inline(always)]
    fn power(self) -> f32 {
        vector_math::exp(self)
    }
}

impl Weighed for f64 {
    #[inline(always)]
    fn power(self) -> f64 {
        self.exp()
    }
}

/// Folds a row in [`PARTS`] parts.
#[inline(always)]
fn fold<T: Factor>(row: &[T], start: T, step: impl Fn(T, T) -> T) -> T {
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

/// Turns rows of scores into weights relative to the largest score met so far, and corrects what
/// was summed relative to the largest before.
pub(super) struct Weigh<'a, T> {
    /// Rows of scores, `step` apart; `width` of each count.
    pub(super) scores: &'a mut [T],
    pub(super) step: usize,
    pub(super) width: usize,
    /// The largest score of each row.
    pub(super) largest: &'a mut [T],
    /// The sum of each row's weights.
    pub(super) total: &'a mut [T],
    /// The weighted sums of each row.
    pub(super) out: &'a mut [T],
}

impl<T: Weighed> Task for Weigh<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Weigh { scores, step, width, largest, total, out } = self;
        let columns = out.len() / largest.len();
        let state = largest.iter_mut().zip(total.iter_mut());
        for (i, (scores, (largest, total))) in scores.chunks_mut(step).zip(state).enumerate() {
            let row = &mut scores[..width];
            // A NaN is passed over here and comes back in the sum.
            let top = fold(row, *largest, |a, b| if b > a { b } else { a });
            // Where all scores so far are masked, weights are zero rather than undefined.
            let base = if top == T::neg_infinity() { T::zero() } else { top };
            let correction = (*largest - base).power();
            row.iter_mut().for_each(|score| *score = (*score - base).power());
            *total = *total * correction + fold(row, T::zero(), |a, b| a + b);
            if correction != T::one() {
                let out = &mut out[i * columns..][..columns];
                out.iter_mut().for_each(|sum| *sum = *sum * correction);
            }
            *largest = top;
        }
    }
}

/// Turns rows of scores into weights, and the weights' gradients into the scores'.
pub(super) struct Unweigh<'a, T> {
    /// Rows of scores, `step` apart; `width` of each count.
    pub(super) scores: &'a mut [T],
    /// The gradients of the weights, laid out like the scores.
    pub(super) gradients: &'a mut [T],
    pub(super) step: usize,
    pub(super) width: usize,
    /// The logarithm of each row's sum of exponentials.
    pub(super) log_total: &'a [T],
    /// What all weights of a row have in common in their gradients.
    pub(super) common: &'a [T],
    /// What scores were multiplied by.
    pub(super) scale: T,
}

impl<T: Weighed> Task for Unweigh<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Unweigh { scores, gradients, step, width, log_total, common, scale } = self;
        let rows = scores.chunks_mut(step).zip(gradients.chunks_mut(step));
        for ((scores, gradients), (&log_total, &common)) in rows.zip(log_total.iter().zip(common)) {
            for (score, gradient) in scores[..width].iter_mut().zip(&mut gradients[..width]) {
                let weight = (*score - log_total).power();
                *score = weight;
                *gradient = weight * (*gradient - common) * scale;
            }
        }
    }
}
