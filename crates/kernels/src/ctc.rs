//! Connectionist temporal classification: the probability that a sequence of frames, each of which
//! says one class or nothing (the blank), says given labels, over all the ways to say them.

use std::ops::Range;

use crate::lanes::{Fresh, dense};
use crate::loss::LossElement;
use crate::simd::{self, Task};
use crate::{Strided, par};

/// What an element costs, in additions.
const COST: usize = 64;

/// The labels of a batch, and how much of it counts.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// The labels of all samples.
    pub labels: &'a [i64],
    /// Where each sample's labels begin.
    pub starts: &'a [usize],
    /// How many labels each sample has.
    pub counts: &'a [usize],
    /// How many frames each sample has.
    pub frames: &'a [usize],
    /// The class that says nothing.
    pub blank: usize,
}

impl Labels<'_> {
    /// How many places the longest sample has: its labels, with blanks around and between them.
    pub fn width(&self) -> usize {
        2 * self.counts.iter().copied().max().unwrap_or(0) + 1
    }
}

/// A sample: the class of each place, and whether a place can follow the last but one.
struct Places {
    classes: Vec<usize>,
    skips: Vec<bool>,
}

impl Places {
    fn of(labels: &Labels<'_>, sample: usize) -> Self {
        let own = &labels.labels[labels.starts[sample]..][..labels.counts[sample]];
        let count = 2 * own.len() + 1;
        let class = |place: usize| {
            if place.is_multiple_of(2) { labels.blank } else { own[place / 2] as usize }
        };
        let classes: Vec<usize> = (0..count).map(class).collect();
        let skips =
            (0..count).map(|place| place >= 2 && classes[place] != classes[place - 2]).collect();
        Places { classes, skips }
    }
}

/// `log(e^a + e^b + e^c)`.
#[inline(always)]
fn log_sum<T: LossElement>(a: T, b: T, c: T) -> T {
    let top = if b > a { b } else { a };
    let top = if c > top { c } else { top };
    let top = if top == T::neg_infinity() { T::zero() } else { top };
    ((a - top).e_to() + (b - top).e_to() + (c - top).e_to()).log_of() + top
}

/// A row of logarithms of probabilities with two impossible places before the first.
fn padded<T: LossElement>(count: usize) -> Vec<T> {
    vec![T::neg_infinity(); count + 2]
}

struct Forward<'a, T> {
    log_probs: &'a [T],
    labels: Labels<'a>,
    batch: usize,
    classes: usize,
    steps: usize,
    samples: Range<usize>,
    losses: &'a Fresh<T>,
    alphas: &'a Fresh<T>,
}

impl<T: LossElement> Forward<'_, T> {
    /// Walks through a sample's frames and gives its loss.
    #[inline(always)]
    fn sample(&self, sample: usize, alphas: &mut [T]) -> T {
        let (width, frames) = (self.labels.width(), self.labels.frames[sample]);
        let Places { classes, skips } = Places::of(&self.labels, sample);
        let count = classes.len();
        alphas.fill(T::neg_infinity());
        if frames == 0 {
            return if count == 1 { T::zero() } else { T::infinity() };
        }
        // What the second predecessor adds: nothing, or that it cannot be one.
        let skips: Vec<T> =
            skips.iter().map(|&skips| if skips { T::zero() } else { T::neg_infinity() }).collect();
        let (mut before, mut now) = (padded::<T>(count), padded::<T>(count));
        let mut said = vec![T::zero(); count];
        for frame in 0..frames {
            let row =
                &self.log_probs[(frame * self.batch + sample) * self.classes..][..self.classes];
            for (slot, &class) in said.iter_mut().zip(&classes) {
                *slot = row[class];
            }
            if frame == 0 {
                let first = count.min(2);
                now[2..][..first].copy_from_slice(&said[..first]);
            } else {
                let steps = before[2..].iter().zip(&before[1..]).zip(before.iter().zip(&skips));
                for ((slot, &said), ((&stay, &step), (&skip, &can))) in
                    now[2..].iter_mut().zip(&said).zip(steps)
                {
                    *slot = log_sum(stay, step, skip + can) + said;
                }
            }
            alphas[frame * width..][..count].copy_from_slice(&now[2..]);
            std::mem::swap(&mut before, &mut now);
        }
        let last = if count > 1 { before[count] } else { T::neg_infinity() };
        -log_sum(before[count + 1], last, T::neg_infinity())
    }
}

impl<T: LossElement> Task for Forward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let size = self.steps * self.labels.width();
        for sample in self.samples.clone() {
            // SAFETY: every sample belongs to one thread.
            unsafe {
                let alphas = self.alphas.zeroed(sample * size..(sample + 1) * size);
                self.losses.set(sample, self.sample(sample, alphas));
            }
        }
    }
}

/// How many samples are worth a thread.
fn grain(steps: usize, width: usize) -> usize {
    (par::GRAIN / COST / (steps * width).max(1)).max(1)
}

/// The loss of each sample, minus the logarithm of the probability of its labels, and the logarithms
/// of the probabilities of having said so much of them after each frame (samples by frames by
/// places). `log_probs` are frames by samples by classes; labels must be classes, and counts fit.
pub fn ctc<T: LossElement>(log_probs: Strided<'_, T>, labels: Labels<'_>) -> (Vec<T>, Vec<T>) {
    let &[steps, batch, classes] = log_probs.shape else { panic!("expected three dimensions") };
    let log_probs = dense(log_probs);
    let width = labels.width();
    let (losses, alphas) = (Fresh::new(batch), Fresh::new(batch * steps * width));
    par::for_ranges(batch, grain(steps, width), |samples| {
        simd::run_wide(Forward {
            log_probs: &log_probs,
            labels,
            batch,
            classes,
            steps,
            samples,
            losses: &losses,
            alphas: &alphas,
        });
    });
    // SAFETY: the samples cover the buffers.
    unsafe { (losses.finish(), alphas.finish()) }
}

struct Backward<'a, T> {
    grad: &'a [T],
    log_probs: &'a [T],
    alphas: &'a [T],
    labels: Labels<'a>,
    batch: usize,
    classes: usize,
    steps: usize,
    zero_infinity: bool,
    samples: Range<usize>,
    out: &'a Fresh<T>,
}

impl<T: LossElement> Backward<'_, T> {
    #[inline(always)]
    fn sample(&self, sample: usize) {
        let (width, frames) = (self.labels.width(), self.labels.frames[sample]);
        let Places { classes, skips } = Places::of(&self.labels, sample);
        let count = classes.len();
        let row_of = |frame: usize| {
            let start = (frame * self.batch + sample) * self.classes;
            start..start + self.classes
        };
        let alphas = &self.alphas[sample * self.steps * width..][..self.steps * width];
        let mut log_total = T::neg_infinity();
        if frames > 0 {
            let end = &alphas[(frames - 1) * width..][..count];
            let last = if count > 1 { end[count - 2] } else { T::neg_infinity() };
            log_total = log_sum(end[count - 1], last, T::neg_infinity());
        }
        let hopeless = self.zero_infinity && log_total == T::neg_infinity();
        for frame in (if hopeless { 0 } else { frames })..self.steps {
            // SAFETY: every sample belongs to one thread.
            unsafe { self.out.zeroed(row_of(frame)) };
        }
        if hopeless {
            return;
        }
        // The same walk from the end, over reversed places: what a place leads to.
        let can_skip: Vec<T> = (0..count)
            .rev()
            .map(|place| place + 2 < count && skips[place + 2])
            .map(|skips| if skips { T::zero() } else { T::neg_infinity() })
            .collect();
        let (mut after, mut now) = (padded::<T>(count), padded::<T>(count));
        let mut shares = vec![T::zero(); count];
        let grad = self.grad[sample];
        for frame in (0..frames).rev() {
            let row = &self.log_probs[row_of(frame)];
            if frame == frames - 1 {
                for place in 0..count.min(2) {
                    now[place + 2] = T::zero();
                }
            } else {
                let steps = after[2..].iter().zip(&after[1..]).zip(after.iter().zip(&can_skip));
                for (slot, ((&stay, &step), (&skip, &can))) in now[2..].iter_mut().zip(steps) {
                    *slot = log_sum(stay, step, skip + can);
                }
            }
            let alphas = &alphas[frame * width..][..count];
            let rest = now[2..].iter().rev();
            for ((share, &alpha), &rest) in shares.iter_mut().zip(alphas).zip(rest) {
                *share = (alpha + rest - log_total).e_to();
            }
            // SAFETY: every sample belongs to one thread.
            let out = unsafe { self.out.part(row_of(frame)) };
            for (slot, &log_prob) in out.iter_mut().zip(row) {
                slot.write(log_prob.e_to());
            }
            // SAFETY: all of it has just been written.
            let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [T]) };
            for (&class, &share) in classes.iter().zip(&shares) {
                out[class] = out[class] - share;
            }
            for slot in out.iter_mut() {
                *slot = *slot * grad;
            }
            // With what the frame itself says, it is what earlier frames lead to.
            for (slot, &class) in now[2..].iter_mut().zip(classes.iter().rev()) {
                *slot = *slot + row[class];
            }
            std::mem::swap(&mut after, &mut now);
        }
    }
}

impl<T: LossElement> Task for Backward<'_, T> {
    #[inline(always)]
    fn run(self) {
        for sample in self.samples.clone() {
            self.sample(sample);
        }
    }
}

/// The gradient of [`ctc`] from those of the losses; `alphas` are what it gave. It takes for granted
/// that the classes' probabilities sum to one: it is that by logits whose softmax they are, which
/// is the same for whatever leads to such logits. With `zero_infinity` labels that no frames can say
/// have a gradient of zero.
pub fn ctc_backward<T: LossElement>(
    grad: Strided<'_, T>,
    log_probs: Strided<'_, T>,
    alphas: Strided<'_, T>,
    labels: Labels<'_>,
    zero_infinity: bool,
) -> Vec<T> {
    let &[steps, batch, classes] = log_probs.shape else { panic!("expected three dimensions") };
    let (grad, log_probs, alphas) = (dense(grad), dense(log_probs), dense(alphas));
    let out = Fresh::new(log_probs.len());
    par::for_ranges(batch, grain(steps, labels.width()), |samples| {
        simd::run_wide(Backward {
            grad: &grad,
            log_probs: &log_probs,
            alphas: &alphas,
            labels,
            batch,
            classes,
            steps,
            zero_infinity,
            samples,
            out: &out,
        });
    });
    // SAFETY: the samples cover the buffer.
    unsafe { out.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: usize = 4;
    const CLASSES: usize = 3;

    fn view<'a>(data: &'a [f64], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, f64> {
        Strided { data, shape, strides, offset: 0 }
    }

    /// Logarithms of probabilities made of any numbers, frame by frame.
    fn normalised(logits: &[f64]) -> Vec<f64> {
        logits
            .chunks(CLASSES)
            .flat_map(|row| {
                let sum = row.iter().map(|x| x.exp()).sum::<f64>().ln();
                row.iter().map(move |x| x - sum)
            })
            .collect()
    }

    fn logits(batch: usize) -> Vec<f64> {
        (0..STEPS * batch * CLASSES).map(|i| ((i * 7919) % 101) as f64 / 40.0).collect()
    }

    fn run(log_probs: &[f64], labels: Labels<'_>) -> (Vec<f64>, Vec<f64>) {
        let batch = labels.counts.len();
        let strides = [(batch * CLASSES) as isize, CLASSES as isize, 1];
        ctc(view(log_probs, &[STEPS, batch, CLASSES], &strides), labels)
    }

    fn gradient(log_probs: &[f64], labels: Labels<'_>, grad: &[f64], zero: bool) -> Vec<f64> {
        let batch = labels.counts.len();
        let (_, alphas) = run(log_probs, labels);
        let strides = [(batch * CLASSES) as isize, CLASSES as isize, 1];
        ctc_backward(
            view(grad, &[batch], &[1]),
            view(log_probs, &[STEPS, batch, CLASSES], &strides),
            view(&alphas, &[alphas.len()], &[1]),
            labels,
            zero,
        )
    }

    /// The sum over every way to say the labels.
    fn by_enumeration(log_probs: &[f64], labels: &[i64], frames: usize) -> f64 {
        let mut total = 0.0;
        for path in 0..CLASSES.pow(frames as u32) {
            let said: Vec<usize> =
                (0..frames).map(|t| path / CLASSES.pow(t as u32) % CLASSES).collect();
            let mut merged = said.clone();
            merged.dedup();
            merged.retain(|&class| class != 0);
            if merged.iter().map(|&class| class as i64).eq(labels.iter().copied()) {
                let log: f64 =
                    said.iter().enumerate().map(|(t, c)| log_probs[t * CLASSES + c]).sum();
                total += log.exp();
            }
        }
        -total.ln()
    }

    #[test]
    fn every_way_to_say_the_labels_counts() {
        let log_probs = normalised(&logits(1));
        for labels in [&[1i64, 2][..], &[1, 1], &[2], &[], &[1, 2, 1], &[2, 2, 1, 1]] {
            for frames in 1..=STEPS {
                let batch = Labels {
                    labels,
                    starts: &[0],
                    counts: &[labels.len()],
                    frames: &[frames],
                    blank: 0,
                };
                let wanted = by_enumeration(&log_probs, labels, frames);
                let found = run(&log_probs, batch).0[0];
                assert!((found - wanted).abs() < 1e-12 || found == wanted, "{found} {wanted}");
            }
        }
    }

    #[test]
    fn gradients_through_logits_are_those_of_differences() {
        let labels = Labels {
            labels: &[1, 2, 2, 2, 1, 0],
            starts: &[0, 2, 4, 0],
            counts: &[2, 2, 1, 0],
            frames: &[4, 4, 3, 2],
            blank: 0,
        };
        let (x, grad) = (logits(4), [1.0, -2.0, 0.5, 3.0]);
        let loss = |x: &[f64]| -> f64 {
            run(&normalised(x), labels).0.iter().zip(grad).map(|(l, g)| l * g).sum()
        };
        let found = gradient(&normalised(&x), labels, &grad, false);
        for at in 0..x.len() {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[at] += by;
                loss(&x)
            };
            let rise = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((found[at] - rise).abs() < 1e-7, "{at}: {} {rise}", found[at]);
        }
    }

    #[test]
    fn what_cannot_be_said() {
        let labels = Labels {
            labels: &[1, 1, 1, 1],
            starts: &[0, 0],
            counts: &[4, 1],
            frames: &[4, 0],
            blank: 0,
        };
        let log_probs = normalised(&logits(2));
        assert_eq!(run(&log_probs, labels).0, [f64::INFINITY; 2]);
        let grads = gradient(&log_probs, labels, &[1.0, 1.0], true);
        assert!(grads.iter().all(|&g| g == 0.0));
        let grads = gradient(&log_probs, labels, &[1.0, 1.0], false);
        assert!(grads[0].is_nan() && grads[CLASSES] == 0.0);
    }
}
