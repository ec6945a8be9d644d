//! The cross entropy of logits and classes, straight from the logits, and its gradient.

use std::ops::Range;

use crate::lanes::{Fresh, Lanes, TILE, dense};
use crate::norm::sums::sum;
use crate::norm::{narrow, widen};
use crate::simd::{self, Task};
use crate::{Error, Real, Result, Strided, par, vector_math};

/// What an element costs, in additions.
const COST: usize = 8;

/// Elements with an exponential and a logarithm that loops are vectorised with.
pub trait LossElement: Real {
    #[doc(hidden)]
    fn e_to(self) -> Self;
    #[doc(hidden)]
    fn log_of(self) -> Self;
}

impl LossElement for f32 {
    #[inline(always)]
    fn e_to(self) -> f32 {
        vector_math::exp(self)
    }
    #[inline(always)]
    fn log_of(self) -> f32 {
        vector_math::ln(self)
    }
}

impl LossElement for f64 {
    #[inline(always)]
    fn e_to(self) -> f64 {
        self.exp()
    }
    #[inline(always)]
    fn log_of(self) -> f64 {
        self.ln()
    }
}

/// Which class each lane of logits should be, and how much classes count.
#[derive(Clone, Copy, Debug)]
pub struct Classes<'a, T> {
    /// The class of each lane.
    pub targets: &'a [i64],
    /// The weight of each class; one where there is none.
    pub weight: Option<&'a [T]>,
    /// Lanes of this class do not count.
    pub ignored: i64,
    /// How much of each lane is shared among all classes.
    pub smoothing: f64,
}

/// What cross entropy gives for each lane.
#[derive(Debug)]
pub struct CrossEntropy<T> {
    /// The loss.
    pub losses: Vec<T>,
    /// The logarithm of the sum of the exponentials.
    pub normalisers: Vec<T>,
    /// The weight of its class; zero where it is ignored.
    pub weights: Vec<T>,
}

/// [`Classes`] as the loops read them: the share of the smoothing that each class gets, with its
/// weight, and all of it.
struct Shares<'a, T> {
    classes: Classes<'a, T>,
    /// What the target itself gets.
    own: T,
    each: T,
    all: T,
}

impl<'a, T: LossElement> Shares<'a, T> {
    fn new(classes: Classes<'a, T>, count: usize) -> Self {
        let each = classes.smoothing / count.max(1) as f64;
        let weights = classes.weight.map_or(count as f64, |weight| sum(weight, |w| w));
        Shares {
            classes,
            own: narrow(1.0 - classes.smoothing),
            each: narrow(each),
            all: narrow(each * weights),
        }
    }

    fn is_smooth(&self) -> bool {
        self.classes.smoothing != 0.0
    }

    /// The class of a lane, unless it is ignored.
    #[inline(always)]
    fn target(&self, lane: usize) -> Option<usize> {
        let target = self.classes.targets[lane];
        (target != self.classes.ignored).then_some(target as usize)
    }

    #[inline(always)]
    fn weight(&self, class: usize) -> T {
        self.classes.weight.map_or(T::one(), |weight| weight[class])
    }
}

struct Forward<'a, T> {
    x: &'a [T],
    lanes: Lanes,
    shares: &'a Shares<'a, T>,
    range: Range<usize>,
    losses: &'a Fresh<T>,
    normalisers: &'a Fresh<T>,
    weights: &'a Fresh<T>,
}

impl<T: LossElement> Forward<'_, T> {
    /// Notes a lane's results, where `spread` is the weighted sum of its distances from `log_sum`.
    #[inline(always)]
    fn note(&self, lane: usize, log_sum: T, spread: T) {
        let (mut loss, mut weight) = (T::zero(), T::zero());
        if let Some(target) = self.shares.target(lane) {
            weight = self.shares.weight(target);
            let x = self.x[self.lanes.start(lane) + target * self.lanes.inner];
            loss = self.shares.own * weight * (log_sum - x);
            if self.shares.is_smooth() {
                loss = loss + self.shares.each * spread;
            }
        }
        // SAFETY: every lane belongs to one range, and every range to one thread.
        unsafe {
            self.losses.set(lane, loss);
            self.normalisers.set(lane, log_sum);
            self.weights.set(lane, weight);
        }
    }

    #[inline(always)]
    fn rows(&self) {
        for lane in self.range.clone() {
            let row = &self.x[self.lanes.start(lane)..][..self.lanes.len];
            let mut tops = [T::neg_infinity(); TILE];
            for chunk in row.chunks(TILE) {
                // A NaN is passed over here and comes back in the sum.
                for (top, &x) in tops.iter_mut().zip(chunk) {
                    *top = if x > *top { x } else { *top };
                }
            }
            let top = tops.iter().fold(T::neg_infinity(), |a, &b| if b > a { b } else { a });
            let total = sum(row, |x| (x - top).e_to());
            let log_sum = narrow(widen(top) + total.ln());
            let mut spread = T::zero();
            if self.shares.is_smooth() {
                spread = match self.shares.classes.weight {
                    None => narrow(sum(row, |x| log_sum - x)),
                    Some(weight) => row
                        .iter()
                        .zip(weight)
                        .fold(T::zero(), |sum, (&x, &weight)| sum + weight * (log_sum - x)),
                };
            }
            self.note(lane, log_sum, spread);
        }
    }

    /// Lanes that interleave, side by side.
    #[inline(always)]
    fn tiles(&self) {
        let inner = self.lanes.inner;
        for tile in self.lanes.tiles(self.range.clone()) {
            let start = self.lanes.start(tile.start);
            let row = |class: usize| &self.x[start + class * inner..][..tile.len()];
            let mut tops = [T::neg_infinity(); TILE];
            for class in 0..self.lanes.len {
                for (top, &x) in tops.iter_mut().zip(row(class)) {
                    *top = if x > *top { x } else { *top };
                }
            }
            let mut totals = [T::zero(); TILE];
            for class in 0..self.lanes.len {
                for ((total, &top), &x) in totals.iter_mut().zip(&tops).zip(row(class)) {
                    *total = *total + (x - top).e_to();
                }
            }
            for (total, &top) in totals.iter_mut().zip(&tops) {
                *total = top + total.log_of();
            }
            let mut spreads = [T::zero(); TILE];
            if self.shares.is_smooth() {
                for class in 0..self.lanes.len {
                    let weight = self.shares.weight(class);
                    for ((spread, &log_sum), &x) in spreads.iter_mut().zip(&totals).zip(row(class))
                    {
                        *spread = *spread + weight * (log_sum - x);
                    }
                }
            }
            for ((lane, &log_sum), &spread) in tile.clone().zip(&totals).zip(&spreads) {
                self.note(lane, log_sum, spread);
            }
        }
    }
}

impl<T: LossElement> Task for Forward<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.lanes.inner == 1 { self.rows() } else { self.tiles() }
    }
}

/// Refuses targets that are no class.
fn check<T>(classes: &Classes<'_, T>, dim: usize, size: usize) -> Result<()> {
    let fits = |&target: &i64| {
        target == classes.ignored || usize::try_from(target).is_ok_and(|target| target < size)
    };
    match classes.targets.iter().find(|target| !fits(target)) {
        None => Ok(()),
        Some(&index) => Err(Error::Index { index, dim, size }),
    }
}

/// The cross entropy of lanes of logits along `dim` with classes: for a lane `x` of class `t`, of
/// `n` classes with weights `w` and a smoothing `s`,
/// `(1 - s) w[t] (log(sum(exp(x))) - x[t]) + s / n sum(w (log(sum(exp(x))) - x))`.
pub fn cross_entropy<T: LossElement>(
    x: Strided<'_, T>,
    dim: usize,
    classes: Classes<'_, T>,
) -> Result<CrossEntropy<T>> {
    let lanes = Lanes::along(x.shape, dim);
    check(&classes, dim, lanes.len)?;
    let x = dense(x);
    let shares = Shares::new(classes, lanes.len);
    let fresh = || Fresh::new(lanes.count());
    let (losses, normalisers, weights) = (fresh(), fresh(), fresh());
    par::for_ranges(lanes.count(), lanes.grain(COST), |range| {
        simd::run_wide(Forward {
            x: &x,
            lanes,
            shares: &shares,
            range,
            losses: &losses,
            normalisers: &normalisers,
            weights: &weights,
        });
    });
    // SAFETY: the lanes cover the buffers.
    Ok(unsafe {
        CrossEntropy {
            losses: losses.finish(),
            normalisers: normalisers.finish(),
            weights: weights.finish(),
        }
    })
}

struct Backward<'a, T> {
    grad: &'a [T],
    x: &'a [T],
    normalisers: &'a [T],
    lanes: Lanes,
    shares: &'a Shares<'a, T>,
    range: Range<usize>,
    out: &'a Fresh<T>,
}

impl<T: LossElement> Backward<'_, T> {
    /// What a lane's softmax is multiplied by, and what its target gets besides.
    #[inline(always)]
    fn factors(&self, lane: usize) -> Option<(usize, T, T)> {
        let target = self.shares.target(lane)?;
        let own = self.shares.own * self.shares.weight(target);
        Some((target, self.grad[lane] * (own + self.shares.all), self.grad[lane] * own))
    }

    #[inline(always)]
    fn rows(&self) {
        for lane in self.range.clone() {
            let start = self.lanes.start(lane);
            // SAFETY: every lane belongs to one range, and every range to one thread.
            let out = unsafe { self.out.part(start..start + self.lanes.len) };
            let Some((target, factor, own)) = self.factors(lane) else {
                out.fill(std::mem::MaybeUninit::zeroed());
                continue;
            };
            let row = &self.x[start..][..self.lanes.len];
            let log_sum = self.normalisers[lane];
            if self.shares.is_smooth() {
                let each = self.grad[lane] * self.shares.each;
                for (class, (slot, &x)) in out.iter_mut().zip(row).enumerate() {
                    slot.write((x - log_sum).e_to() * factor - each * self.shares.weight(class));
                }
            } else {
                for (slot, &x) in out.iter_mut().zip(row) {
                    slot.write((x - log_sum).e_to() * factor);
                }
            }
            // SAFETY: it has just been written.
            let slot = unsafe { out[target].assume_init_mut() };
            *slot = *slot - own;
        }
    }

    #[inline(always)]
    fn tiles(&self) {
        let inner = self.lanes.inner;
        for tile in self.lanes.tiles(self.range.clone()) {
            let start = self.lanes.start(tile.start);
            let mut factors = [T::zero(); TILE];
            let mut log_sums = [T::infinity(); TILE];
            let mut eaches = [T::zero(); TILE];
            for (at, lane) in tile.clone().enumerate() {
                if let Some((_, factor, _)) = self.factors(lane) {
                    factors[at] = factor;
                    log_sums[at] = self.normalisers[lane];
                    eaches[at] = self.grad[lane] * self.shares.each;
                }
            }
            for class in 0..self.lanes.len {
                let begin = start + class * inner;
                let row = &self.x[begin..][..tile.len()];
                // SAFETY: every lane belongs to one range, and every range to one thread.
                let out = unsafe { self.out.part(begin..begin + tile.len()) };
                let weight = self.shares.weight(class);
                let sides = factors.iter().zip(&log_sums).zip(&eaches);
                for ((slot, &x), ((&factor, &log_sum), &each)) in out.iter_mut().zip(row).zip(sides)
                {
                    // An ignored lane's infinite sum makes this zero, whatever it holds.
                    let share = (x - log_sum).e_to();
                    let share = if factor == T::zero() { T::zero() } else { share * factor };
                    slot.write(share - each * weight);
                }
            }
            for (at, lane) in tile.clone().enumerate() {
                if let Some((target, _, own)) = self.factors(lane) {
                    let place = start + target * inner + at;
                    // SAFETY: as above, and it has just been written.
                    unsafe {
                        let slot = self.out.part(place..place + 1)[0].assume_init_mut();
                        *slot = *slot - own;
                    }
                }
            }
        }
    }
}

impl<T: LossElement> Task for Backward<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.lanes.inner == 1 { self.rows() } else { self.tiles() }
    }
}

/// The gradient of [`cross_entropy`] by the logits, from those of the losses; `normalisers` are what
/// it gave.
pub fn cross_entropy_backward<T: LossElement>(
    grad: Strided<'_, T>,
    x: Strided<'_, T>,
    normalisers: Strided<'_, T>,
    dim: usize,
    classes: Classes<'_, T>,
) -> Vec<T> {
    let lanes = Lanes::along(x.shape, dim);
    let (grad, x, normalisers) = (dense(grad), dense(x), dense(normalisers));
    let shares = Shares::new(classes, lanes.len);
    let out = Fresh::new(x.len());
    par::for_ranges(lanes.count(), lanes.grain(COST), |range| {
        simd::run_wide(Backward {
            grad: &grad,
            x: &x,
            normalisers: &normalisers,
            lanes,
            shares: &shares,
            range,
            out: &out,
        });
    });
    // SAFETY: the lanes cover the buffer.
    unsafe { out.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [[usize; 3]; 3] = [[5, 7, 1], [2, 4, 70], [3, 70, 3]];

    fn noise(count: usize, salt: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + salt * 104_729) % 1009) as f64 / 200.0 - 2.0).collect()
    }

    fn view<'a, T>(data: &'a [T], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, T> {
        Strided { data, shape, strides, offset: 0 }
    }

    fn cases(shape: [usize; 3], f: impl Fn(&[f64], Classes<'_, f64>, &[isize])) {
        let [outer, count, inner] = shape;
        let x = noise(outer * count * inner, 1);
        let targets: Vec<i64> = (0..outer * inner)
            .map(|i| if i % 5 == 3 { -1 } else { (i * 3 % count) as i64 })
            .collect();
        let weight: Vec<f64> = (0..count).map(|i| 0.5 + i as f64).collect();
        let strides = [(count * inner) as isize, inner as isize, 1];
        for weight in [None, Some(&weight[..])] {
            for smoothing in [0.0, 0.3] {
                f(&x, Classes { targets: &targets, weight, ignored: -1, smoothing }, &strides);
            }
        }
    }

    #[test]
    fn losses_are_as_defined() {
        for shape in SHAPES {
            cases(shape, |x, classes, strides| {
                let [_, count, inner] = shape;
                let found = cross_entropy(view(x, &shape, strides), 1, classes).unwrap();
                for (lane, &target) in classes.targets.iter().enumerate() {
                    let start = lane / inner * count * inner + lane % inner;
                    let at = |class: usize| x[start + class * inner];
                    let log_sum = (0..count).map(|c| at(c).exp()).sum::<f64>().ln();
                    let weight = |class: usize| classes.weight.map_or(1.0, |w| w[class]);
                    let mut wanted = (0.0, 0.0);
                    if target >= 0 {
                        let smooth: f64 = (0..count).map(|c| weight(c) * (log_sum - at(c))).sum();
                        let target = target as usize;
                        wanted.0 =
                            (1.0 - classes.smoothing) * weight(target) * (log_sum - at(target))
                                + classes.smoothing / count as f64 * smooth;
                        wanted.1 = weight(target);
                    }
                    assert!((found.losses[lane] - wanted.0).abs() < 1e-11);
                    assert!((found.normalisers[lane] - log_sum).abs() < 1e-12);
                    assert_eq!(found.weights[lane], wanted.1);
                }
            });
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for shape in SHAPES {
            cases(shape, |x, classes, strides| {
                let lanes = [classes.targets.len()];
                let grad = noise(lanes[0], 2);
                let forward =
                    |x: &[f64]| cross_entropy(view(x, &shape, strides), 1, classes).unwrap();
                let normalisers = forward(x).normalisers;
                let found = cross_entropy_backward(
                    view(&grad, &lanes, &[1]),
                    view(x, &shape, strides),
                    view(&normalisers, &lanes, &[1]),
                    1,
                    classes,
                );
                let loss = |x: &[f64]| -> f64 {
                    forward(x).losses.iter().zip(&grad).map(|(l, g)| l * g).sum()
                };
                for at in (0..x.len()).step_by(1 + x.len() / 30) {
                    let moved = |by: f64| {
                        let mut x = x.to_vec();
                        x[at] += by;
                        loss(&x)
                    };
                    let rise = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    assert!((found[at] - rise).abs() < 1e-6 * rise.abs().max(1.0));
                }
            });
        }
    }

    #[test]
    fn wrong_targets_and_extreme_logits() {
        fn classes(targets: &[i64]) -> Classes<'_, f32> {
            Classes { targets, weight: None, ignored: -100, smoothing: 0.0 }
        }
        let x = [1e4f32, -1e4, f32::NEG_INFINITY];
        let run = |target: i64| cross_entropy(view(&x, &[1, 3], &[3, 1]), 1, classes(&[target]));
        assert_eq!(run(0).unwrap().losses, [0.0]);
        assert_eq!(run(1).unwrap().losses, [2e4]);
        assert_eq!(run(-100).unwrap().losses, [0.0]);
        for wrong in [3, -1] {
            assert_eq!(run(wrong).unwrap_err(), Error::Index { index: wrong, dim: 1, size: 3 });
        }
        // An ignored lane gets no gradient, whatever it holds.
        let x = [f32::NAN; 4];
        let grads = cross_entropy_backward(
            view(&[f32::NAN, f32::NAN], &[2], &[1]),
            view(&x, &[1, 2, 2], &[4, 2, 1]),
            view(&[f32::NAN, f32::NAN], &[2], &[1]),
            1,
            classes(&[-100, -100]),
        );
        assert_eq!(grads, [0.0; 4]);
    }
}
