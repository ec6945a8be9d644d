//! The loss of recurrent neural network transducers: a walk over frames and labels, each step of
//! which says the next label or moves to the next frame.

use std::ops::Range;

use crate::lanes::{Fresh, dense};
use crate::norm::{narrow, widen};
use crate::{Real, Strided, par};

/// What a place of the walk costs, in additions.
const COST: usize = 64;

/// The labels of a batch, and how much of it counts.
#[derive(Clone, Copy, Debug)]
pub struct Transcripts<'a> {
    /// The labels, as many for each sample as the longest has.
    pub labels: &'a [i64],
    /// How many labels each sample has.
    pub counts: &'a [usize],
    /// How many frames each sample has; at least one.
    pub frames: &'a [usize],
    /// The class that moves to the next frame.
    pub blank: usize,
}

/// One sample's walk: frames by labels said so far, by classes.
struct Walk<'a, T> {
    log_probs: &'a [T],
    labels: &'a [i64],
    frames: usize,
    /// How many places a frame has in memory, and a place classes.
    width: usize,
    classes: usize,
    blank: usize,
}

impl<T: Real> Walk<'_, T> {
    fn index(&self, frame: usize, said: usize, class: usize) -> usize {
        (frame * self.width + said) * self.classes + class
    }

    fn log_blank(&self, frame: usize, said: usize) -> f64 {
        widen(self.log_probs[self.index(frame, said, self.blank)])
    }

    fn log_label(&self, frame: usize, said: usize) -> f64 {
        widen(self.log_probs[self.index(frame, said, self.labels[said] as usize)])
    }

    /// The logarithms of the probabilities of passing each place.
    fn forward(&self) -> Vec<f64> {
        let places = self.labels.len() + 1;
        let mut alphas = vec![f64::NEG_INFINITY; self.frames * places];
        alphas[0] = 0.0;
        for frame in 0..self.frames {
            for said in 0..places {
                let mut alpha = alphas[frame * places + said];
                if frame > 0 {
                    let before = alphas[(frame - 1) * places + said];
                    alpha = log_sum(alpha, before + self.log_blank(frame - 1, said));
                }
                if said > 0 {
                    let before = alphas[frame * places + said - 1];
                    alpha = log_sum(alpha, before + self.log_label(frame, said - 1));
                }
                alphas[frame * places + said] = alpha;
            }
        }
        alphas
    }

    /// The loss, given what [`forward`](Walk::forward) found.
    fn loss(&self, alphas: &[f64]) -> f64 {
        let last = alphas.last().expect("there is a frame");
        -(last + self.log_blank(self.frames - 1, self.labels.len()))
    }

    /// Adds the gradient of the loss, times `grad`.
    fn backward(&self, grad: f64, out: &mut [T]) {
        let alphas = self.forward();
        let log_total = -self.loss(&alphas);
        let places = self.labels.len() + 1;
        // What each place of the next frame leads to, and of this one.
        let mut after = vec![f64::NEG_INFINITY; places];
        for frame in (0..self.frames).rev() {
            let mut beta = f64::NEG_INFINITY;
            for said in (0..places).rev() {
                let alpha = alphas[frame * places + said] - log_total;
                let ends = frame + 1 == self.frames && said + 1 == places;
                let moved = self.log_blank(frame, said) + if ends { 0.0 } else { after[said] };
                let mut step = |class: usize, log: f64| {
                    let at = self.index(frame, said, class);
                    out[at] = narrow(widen(out[at]) - grad * (alpha + log).exp());
                };
                step(self.blank, moved);
                let mut leads = moved;
                if said + 1 < places {
                    let spoken = self.log_label(frame, said) + beta;
                    step(self.labels[said] as usize, spoken);
                    leads = log_sum(moved, spoken);
                }
                beta = leads;
                after[said] = leads;
            }
        }
    }
}

/// `log(e^a + e^b)`.
fn log_sum(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The walks of some samples.
struct Batch<'a, T> {
    log_probs: &'a [T],
    transcripts: Transcripts<'a>,
    shape: [usize; 4],
}

impl<T: Real> Batch<'_, T> {
    fn elements_of(&self, sample: usize) -> Range<usize> {
        let size: usize = self.shape[1..].iter().product();
        sample * size..(sample + 1) * size
    }

    fn walk(&self, sample: usize) -> Walk<'_, T> {
        let [_, _, width, classes] = self.shape;
        let transcripts = &self.transcripts;
        let labels = &transcripts.labels[sample * (width - 1)..][..transcripts.counts[sample]];
        Walk {
            log_probs: &self.log_probs[self.elements_of(sample)],
            labels,
            frames: transcripts.frames[sample],
            width,
            classes,
            blank: transcripts.blank,
        }
    }

    fn grain(&self) -> usize {
        (par::GRAIN / COST / (self.shape[1] * self.shape[2]).max(1)).max(1)
    }
}

fn shape_of(shape: &[usize]) -> [usize; 4] {
    shape.try_into().expect("samples by frames by places by classes")
}

/// The loss of each sample: minus the logarithm of the probability of its labels. `log_probs` are
/// samples by frames by labels said so far (one more than labels) by classes; labels must be
/// classes, and counts fit.
pub fn rnnt<T: Real>(log_probs: Strided<'_, T>, transcripts: Transcripts<'_>) -> Vec<T> {
    let shape = shape_of(log_probs.shape);
    let log_probs = dense(log_probs);
    let batch = Batch { log_probs: &log_probs, transcripts, shape };
    let losses = Fresh::new(shape[0]);
    par::for_ranges(shape[0], batch.grain(), |samples| {
        for sample in samples {
            let walk = batch.walk(sample);
            // SAFETY: every sample belongs to one thread.
            unsafe { losses.set(sample, narrow(walk.loss(&walk.forward()))) };
        }
    });
    // SAFETY: the samples cover the buffer.
    unsafe { losses.finish() }
}

/// The gradient of [`rnnt`] from those of the losses.
pub fn rnnt_backward<T: Real>(
    grad: Strided<'_, T>,
    log_probs: Strided<'_, T>,
    transcripts: Transcripts<'_>,
) -> Vec<T> {
    let shape = shape_of(log_probs.shape);
    let (grad, log_probs) = (dense(grad), dense(log_probs));
    let batch = Batch { log_probs: &log_probs, transcripts, shape };
    let out = Fresh::new(log_probs.len());
    par::for_ranges(shape[0], batch.grain(), |samples| {
        for sample in samples {
            // SAFETY: every sample belongs to one thread.
            let out = unsafe { out.zeroed(batch.elements_of(sample)) };
            batch.walk(sample).backward(widen(grad[sample]), out);
        }
    });
    // SAFETY: the samples cover the buffer.
    unsafe { out.finish() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: [usize; 4] = [3, 3, 3, 4];
    const STRIDES: [isize; 4] = [36, 12, 4, 1];
    const TRANSCRIPTS: Transcripts<'_> = Transcripts {
        labels: &[1, 3, 2, 2, 3, 9],
        counts: &[2, 2, 1],
        frames: &[3, 2, 1],
        blank: 0,
    };

    fn log_probs() -> Vec<f64> {
        (0..108).map(|i| -(((i * 7919) % 101) as f64) / 30.0 - 0.1).collect()
    }

    fn view<'a>(data: &'a [f64]) -> Strided<'a, f64> {
        Strided { data, shape: &SHAPE, strides: &STRIDES, offset: 0 }
    }

    /// The sum over every order of labels and frames; the last step ends the last frame.
    fn by_enumeration(sample: usize) -> f64 {
        let (data, t) = (log_probs(), TRANSCRIPTS);
        let (labels, frames) = (&t.labels[sample * 2..][..t.counts[sample]], t.frames[sample]);
        let at = |frame: usize, said: usize, class: i64| {
            data[((sample * 3 + frame) * 3 + said) * 4 + class as usize]
        };
        let steps = labels.len() + frames - 1;
        let mut total = 0.0;
        for order in 0..1usize << steps {
            if order.count_ones() as usize != labels.len() {
                continue;
            }
            let (mut frame, mut said, mut log) = (0, 0, 0.0);
            for step in 0..steps {
                if order >> step & 1 == 1 {
                    log += at(frame, said, labels[said]);
                    said += 1;
                } else {
                    log += at(frame, said, 0);
                    frame += 1;
                }
            }
            total += (log + at(frame, said, 0)).exp();
        }
        -total.ln()
    }

    #[test]
    fn every_order_counts() {
        for (sample, loss) in rnnt(view(&log_probs()), TRANSCRIPTS).into_iter().enumerate() {
            assert!((loss - by_enumeration(sample)).abs() < 1e-12);
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let (x, grad) = (log_probs(), [1.0, -2.0, 0.5]);
        let loss = |x: &[f64]| -> f64 {
            rnnt(view(x), TRANSCRIPTS).iter().zip(grad).map(|(l, g)| l * g).sum()
        };
        let grads = Strided { data: &grad, shape: &[3], strides: &[1], offset: 0 };
        let found = rnnt_backward(grads, view(&x), TRANSCRIPTS);
        for at in 0..x.len() {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[at] += by;
                loss(&x)
            };
            let rise = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((found[at] - rise).abs() < 1e-8, "{at}: {} {rise}", found[at]);
        }
    }
}
