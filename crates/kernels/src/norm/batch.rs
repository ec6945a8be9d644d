//! Normalisation of channels over all samples.

use std::ops::Range;

use super::sums::{sum, sums};
use super::{NormGrads, Normalised, narrow, widen};
use crate::lanes::{Fresh, dense};
use crate::simd::{self, Task};
use crate::{Real, Strided, par};

/// What an element costs, in additions.
const COST: usize = 4;
/// Channels with shorter runs are walked across: neighbouring channels side by side.
const SHORT: usize = 16;
/// How many neighbouring columns are walked side by side.
const WIDTH: usize = 64;
/// How many rows of columns are summed in the elements' own precision.
const ROWS: usize = 128;

/// A buffer of samples, each of which has a run of `inner` elements for each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes {
    /// How many samples there are.
    pub samples: usize,
    /// How many channels a sample has.
    pub channels: usize,
    /// How many elements a channel has in a sample.
    pub inner: usize,
}

impl Planes {
    /// How many elements a channel has.
    fn count(&self) -> f64 {
        (self.samples * self.inner) as f64
    }

    /// The elements of a channel in a sample.
    #[inline(always)]
    fn run(&self, sample: usize, channel: usize) -> Range<usize> {
        let start = (sample * self.channels + channel) * self.inner;
        start..start + self.inner
    }

    /// Calls `f` with ranges of channels on several threads: runs of `inner` elements where they
    /// are long, else strips of channels whose columns fit side by side.
    fn each(&self, f: impl Fn(Range<usize>) + Sync) {
        let cost = COST * self.samples.max(1) * self.inner.max(1);
        let wide = if self.is_short() { WIDTH / self.inner } else { 1 };
        let strips = self.channels.div_ceil(wide);
        par::for_ranges(strips, (par::GRAIN / (cost * wide)).max(1), |range| {
            for strip in range {
                f(strip * wide..((strip + 1) * wide).min(self.channels));
            }
        });
    }

    fn is_short(&self) -> bool {
        (1..SHORT).contains(&self.inner)
    }

    /// The elements of some neighbouring channels in a sample.
    #[inline(always)]
    fn strip(&self, sample: usize, channels: &Range<usize>) -> Range<usize> {
        let start = (sample * self.channels + channels.start) * self.inner;
        start..start + channels.len() * self.inner
    }

    /// Numbers of channels as numbers of the columns they have.
    #[inline(always)]
    fn columns<T: Real>(&self, of: impl Fn(usize) -> T, channels: &Range<usize>) -> [T; WIDTH] {
        let mut columns = [T::zero(); WIDTH];
        for (slot, channel) in columns.chunks_mut(self.inner).zip(channels.clone()) {
            slot.fill(of(channel));
        }
        columns
    }

    /// The sums of two functions of the columns of neighbouring channels, added up by channel.
    #[inline(always)]
    fn column_sums<T: Real>(
        &self,
        channels: &Range<usize>,
        at: &[T; WIDTH],
        pair: impl Fn(Range<usize>) -> (Range<usize>, Range<usize>),
        data: (&[T], &[T]),
        term: impl Fn(T, T, T) -> (T, T),
    ) -> [(f64, f64); WIDTH] {
        let mut totals = [(0.0, 0.0); WIDTH];
        let mut block = 0;
        while block < self.samples {
            let end = (block + ROWS).min(self.samples);
            let mut parts = ([T::zero(); WIDTH], [T::zero(); WIDTH]);
            for sample in block..end {
                let (a, b) = pair(self.strip(sample, channels));
                let (a, b) = (&data.0[a], &data.1[b]);
                let slots = parts.0.iter_mut().zip(parts.1.iter_mut()).zip(at);
                for (((one, two), &at), (&a, &b)) in slots.zip(a.iter().zip(b)) {
                    let (x, y) = term(a, b, at);
                    *one = *one + x;
                    *two = *two + y;
                }
            }
            for (column, (&one, &two)) in parts.0.iter().zip(&parts.1).enumerate() {
                if column < channels.len() * self.inner {
                    let total = &mut totals[column / self.inner];
                    total.0 += widen(one);
                    total.1 += widen(two);
                }
            }
            block = end;
        }
        totals
    }
}

struct Forward<'a, T> {
    x: &'a [T],
    planes: Planes,
    weight: &'a [T],
    bias: &'a [T],
    /// Means and variances, unless they are those of the elements.
    given: Option<(&'a [T], &'a [T])>,
    eps: f64,
    channels: Range<usize>,
    y: &'a Fresh<T>,
    mean: &'a Fresh<T>,
    variance: &'a Fresh<T>,
}

impl<T: Real> Forward<'_, T> {
    /// Notes a channel's mean and variance, and gives its scale.
    #[inline(always)]
    fn note(&self, channel: usize, mean: T, variance: T) -> T {
        // SAFETY: every channel belongs to one thread.
        unsafe {
            self.mean.set(channel, mean);
            self.variance.set(channel, variance);
        }
        let scale = widen(self.weight[channel]) / (widen(variance) + self.eps).sqrt();
        narrow(scale)
    }

    /// The mean of a function of a channel's elements.
    #[inline(always)]
    fn average(&self, channel: usize, term: impl Fn(T) -> T) -> T {
        let mut total = 0.0;
        for sample in 0..self.planes.samples {
            total += sum(&self.x[self.planes.run(sample, channel)], &term);
        }
        narrow(total / self.planes.count())
    }

    #[inline(always)]
    fn long(self) {
        let planes = self.planes;
        for channel in self.channels.clone() {
            let (mean, variance) = match self.given {
                Some((mean, variance)) => (mean[channel], variance[channel]),
                None => {
                    let mean = self.average(channel, |x| x);
                    (mean, self.average(channel, |x| (x - mean) * (x - mean)))
                }
            };
            let (scale, bias) = (self.note(channel, mean, variance), self.bias[channel]);
            for sample in 0..planes.samples {
                let run = planes.run(sample, channel);
                // SAFETY: every channel belongs to one thread.
                let y = unsafe { self.y.part(run.clone()) };
                for (y, &x) in y.iter_mut().zip(&self.x[run]) {
                    y.write((x - mean) * scale + bias);
                }
            }
        }
    }

    #[inline(always)]
    fn short(self) {
        let (planes, channels) = (self.planes, self.channels.clone());
        let first = channels.start;
        let mut stats = [(T::zero(), T::zero()); WIDTH];
        let chosen = &mut stats[..channels.len()];
        match self.given {
            Some((mean, variance)) => {
                for (slot, channel) in chosen.iter_mut().zip(channels.clone()) {
                    *slot = (mean[channel], variance[channel]);
                }
            }
            None => {
                let same = |range: Range<usize>| (range.clone(), range);
                let data = (self.x, self.x);
                let zero = [T::zero(); WIDTH];
                let plain = |x, _, _| (x, T::zero());
                let totals = planes.column_sums(&channels, &zero, same, data, plain);
                for (slot, total) in chosen.iter_mut().zip(totals) {
                    slot.0 = narrow(total.0 / planes.count());
                }
                let means = planes.columns(|channel| chosen[channel - first].0, &channels);
                let square = |x: T, _, mean: T| ((x - mean) * (x - mean), T::zero());
                let totals = planes.column_sums(&channels, &means, same, data, square);
                for (slot, total) in chosen.iter_mut().zip(totals) {
                    slot.1 = narrow(total.0 / planes.count());
                }
            }
        }
        let means = planes.columns(|channel| stats[channel - first].0, &channels);
        let scales = planes.columns(
            |channel| {
                let (mean, variance) = stats[channel - first];
                self.note(channel, mean, variance)
            },
            &channels,
        );
        let biases = planes.columns(|channel| self.bias[channel], &channels);
        for sample in 0..planes.samples {
            let strip = planes.strip(sample, &channels);
            // SAFETY: every channel belongs to one thread.
            let y = unsafe { self.y.part(strip.clone()) };
            let columns = means.iter().zip(&scales).zip(&biases);
            for ((y, &x), ((&mean, &scale), &bias)) in y.iter_mut().zip(&self.x[strip]).zip(columns)
            {
                y.write((x - mean) * scale + bias);
            }
        }
    }
}

impl<T: Real> Task for Forward<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.planes.is_short() { self.short() } else { self.long() }
    }
}

/// Each channel less its mean, over the root of its variance plus `eps`, times a weight, plus a
/// bias. Mean and (biased) variance are those of the elements unless they are given.
pub fn batch_norm<T: Real>(
    x: Strided<'_, T>,
    planes: Planes,
    weight: Option<Strided<'_, T>>,
    bias: Option<Strided<'_, T>>,
    given: Option<(Strided<'_, T>, Strided<'_, T>)>,
    eps: f64,
) -> Normalised<T> {
    let x = dense(x);
    let weight = weight.map_or_else(|| vec![T::one(); planes.channels].into(), dense);
    let bias = bias.map_or_else(|| vec![T::zero(); planes.channels].into(), dense);
    let given = given.map(|(mean, variance)| (dense(mean), dense(variance)));
    let given = given.as_ref().map(|(mean, variance)| (&**mean, &**variance));
    let y = Fresh::new(x.len());
    let (mean, variance) = (Fresh::new(planes.channels), Fresh::new(planes.channels));
    planes.each(|channels| {
        simd::run_wide(Forward {
            x: &x,
            planes,
            weight: &weight,
            bias: &bias,
            given,
            eps,
            channels,
            y: &y,
            mean: &mean,
            variance: &variance,
        });
    });
    // SAFETY: the channels cover the buffers.
    unsafe { Normalised { y: y.finish(), mean: mean.finish(), spread: variance.finish() } }
}

struct Backward<'a, T> {
    grad: &'a [T],
    x: &'a [T],
    planes: Planes,
    mean: &'a [T],
    variance: &'a [T],
    weight: &'a [T],
    eps: f64,
    /// Whether mean and variance were those of the elements.
    own: bool,
    channels: Range<usize>,
    out: Option<&'a Fresh<T>>,
    weights: &'a Fresh<T>,
    biases: &'a Fresh<T>,
}

/// What a channel's gradients are made of: `g scale - level - (x - mean) tilt`.
#[derive(Clone, Copy)]
struct Coefficients<T> {
    scale: T,
    level: T,
    tilt: T,
}

impl<T: Real> Backward<'_, T> {
    /// Notes a channel's sums of `g` and of `g (x - mean)`.
    #[inline(always)]
    fn note(&self, channel: usize, (plain, along): (f64, f64)) -> Coefficients<T> {
        let spread = 1.0 / (widen(self.variance[channel]) + self.eps).sqrt();
        // No elements have no variance, but gradients of zero.
        let spread = if self.planes.count() == 0.0 { 0.0 } else { spread };
        // SAFETY: every channel belongs to one thread.
        unsafe {
            self.weights.set(channel, narrow(along * spread));
            self.biases.set(channel, narrow(plain));
        }
        let scale = widen(self.weight[channel]) * spread;
        let share = if self.own { scale / self.planes.count() } else { 0.0 };
        Coefficients {
            scale: narrow(scale),
            level: narrow(plain * share),
            tilt: narrow(along * share * spread * spread),
        }
    }

    #[inline(always)]
    fn long(self) {
        let planes = self.planes;
        for channel in self.channels.clone() {
            let mean = self.mean[channel];
            let (mut plain, mut along) = (0.0, 0.0);
            for sample in 0..planes.samples {
                let run = planes.run(sample, channel);
                let found = sums(&self.grad[run.clone()], &self.x[run], |g, x| (g, g * (x - mean)));
                plain += found.0;
                along += found.1;
            }
            let Coefficients { scale, level, tilt } = self.note(channel, (plain, along));
            let Some(out) = self.out else { continue };
            for sample in 0..planes.samples {
                let run = planes.run(sample, channel);
                // SAFETY: every channel belongs to one thread.
                let out = unsafe { out.part(run.clone()) };
                let pairs = self.x[run.clone()].iter().zip(&self.grad[run]);
                for (out, (&x, &g)) in out.iter_mut().zip(pairs) {
                    out.write(g * scale - level - (x - mean) * tilt);
                }
            }
        }
    }

    #[inline(always)]
    fn short(self) {
        let (planes, channels) = (self.planes, self.channels.clone());
        let first = channels.start;
        let means = planes.columns(|channel| self.mean[channel], &channels);
        let totals = planes.column_sums(
            &channels,
            &means,
            |range| (range.clone(), range),
            (self.grad, self.x),
            |g, x, mean| (g, g * (x - mean)),
        );
        let zero = Coefficients { scale: T::zero(), level: T::zero(), tilt: T::zero() };
        let mut parts = [zero; WIDTH];
        for (slot, channel) in parts.iter_mut().zip(channels.clone()) {
            *slot = self.note(channel, totals[channel - first]);
        }
        let Some(out) = self.out else { return };
        let scales = planes.columns(|channel| parts[channel - first].scale, &channels);
        let levels = planes.columns(|channel| parts[channel - first].level, &channels);
        let tilts = planes.columns(|channel| parts[channel - first].tilt, &channels);
        for sample in 0..planes.samples {
            let strip = planes.strip(sample, &channels);
            // SAFETY: every channel belongs to one thread.
            let out = unsafe { out.part(strip.clone()) };
            let pairs = self.x[strip.clone()].iter().zip(&self.grad[strip]);
            let columns = means.iter().zip(&scales).zip(levels.iter().zip(&tilts));
            for ((out, (&x, &g)), ((&mean, &scale), (&level, &tilt))) in
                out.iter_mut().zip(pairs).zip(columns)
            {
                out.write(g * scale - level - (x - mean) * tilt);
            }
        }
    }
}

impl<T: Real> Task for Backward<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.planes.is_short() { self.short() } else { self.long() }
    }
}

/// The gradients of [`batch_norm`] from that of its result; `own` says that mean and variance were
/// those of the elements. Those by elements are empty where they are not wanted.
#[allow(clippy::too_many_arguments)]
pub fn batch_norm_backward<T: Real>(
    grad: Strided<'_, T>,
    x: Strided<'_, T>,
    mean: Strided<'_, T>,
    variance: Strided<'_, T>,
    weight: Option<Strided<'_, T>>,
    planes: Planes,
    eps: f64,
    own: bool,
    wants_x: bool,
) -> NormGrads<T> {
    let (grad, x, mean, variance) = (dense(grad), dense(x), dense(mean), dense(variance));
    let weight = weight.map_or_else(|| vec![T::one(); planes.channels].into(), dense);
    let out = wants_x.then(|| Fresh::new(x.len()));
    let (weights, biases) = (Fresh::new(planes.channels), Fresh::new(planes.channels));
    planes.each(|channels| {
        simd::run_wide(Backward {
            grad: &grad,
            x: &x,
            planes,
            mean: &mean,
            variance: &variance,
            weight: &weight,
            eps,
            own,
            channels,
            out: out.as_ref(),
            weights: &weights,
            biases: &biases,
        });
    });
    // SAFETY: the channels cover the buffers.
    unsafe {
        NormGrads {
            x: out.map_or_else(Vec::new, |out| out.finish()),
            weight: weights.finish(),
            bias: biases.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [Planes; 6] = [
        Planes { samples: 4, channels: 3, inner: 20 },
        Planes { samples: 300, channels: 70, inner: 1 },
        Planes { samples: 5, channels: 9, inner: 7 },
        Planes { samples: 2, channels: 1, inner: 2000 },
        Planes { samples: 3, channels: 2, inner: 15 },
        Planes { samples: 3, channels: 2, inner: 16 },
    ];

    fn noise(count: usize, salt: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + salt * 104_729) % 1009) as f64 / 400.0 - 1.0).collect()
    }

    fn view<'a, T>(data: &'a [T], shape: &'a [usize; 1]) -> Strided<'a, T> {
        Strided { data, shape, strides: &[1], offset: 0 }
    }

    fn len(planes: Planes) -> usize {
        planes.samples * planes.channels * planes.inner
    }

    fn channel_of(planes: Planes, at: usize) -> usize {
        at / planes.inner % planes.channels
    }

    #[test]
    fn channels_are_normalised_as_defined() {
        for planes in CASES {
            let x = noise(len(planes), 1);
            let (w, b) = (noise(planes.channels, 2), noise(planes.channels, 3));
            let (shape, count) = ([x.len()], [planes.channels]);
            let affine = (Some(view(&w, &count)), Some(view(&b, &count)));
            let found = batch_norm(view(&x, &shape), planes, affine.0, affine.1, None, 1e-3);
            for channel in 0..planes.channels {
                let of = |at: &usize| channel_of(planes, *at) == channel;
                let own: Vec<usize> = (0..x.len()).filter(of).collect();
                let mean = own.iter().map(|&at| x[at]).sum::<f64>() / own.len() as f64;
                let variance = own.iter().map(|&at| (x[at] - mean).powi(2)).sum::<f64>();
                let variance = variance / own.len() as f64;
                assert!((found.mean[channel] - mean).abs() < 1e-12, "{planes:?}");
                assert!((found.spread[channel] - variance).abs() < 1e-12, "{planes:?}");
                for at in own {
                    let wanted =
                        (x[at] - mean) / (variance + 1e-3).sqrt() * w[channel] + b[channel];
                    assert!((found.y[at] - wanted).abs() < 1e-12, "{planes:?}");
                }
            }
            // The same numbers, given.
            let given = Some((view(&found.mean, &count), view(&found.spread, &count)));
            let again = batch_norm(view(&x, &shape), planes, affine.0, affine.1, given, 1e-3);
            assert_eq!(again.y, found.y);
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for planes in CASES {
            for own in [true, false] {
                let (x, g) = (noise(len(planes), 4), noise(len(planes), 5));
                let (w, b) = (noise(planes.channels, 6), noise(planes.channels, 7));
                let (shape, count) = ([x.len()], [planes.channels]);
                let fixed = (noise(planes.channels, 8), vec![1.5; planes.channels]);
                let forward = |x: &[f64], w: &[f64], b: &[f64]| {
                    let given = (view(&fixed.0, &count), view(&fixed.1, &count));
                    let (w, b) = (Some(view(w, &count)), Some(view(b, &count)));
                    batch_norm(view(x, &shape), planes, w, b, (!own).then_some(given), 1e-3)
                };
                let found = forward(&x, &w, &b);
                let grads = batch_norm_backward(
                    view(&g, &shape),
                    view(&x, &shape),
                    view(&found.mean, &count),
                    view(&found.spread, &count),
                    Some(view(&w, &count)),
                    planes,
                    1e-3,
                    own,
                    true,
                );
                let loss = |x: &[f64], w: &[f64], b: &[f64]| -> f64 {
                    forward(x, w, b).y.iter().zip(&g).map(|(y, g)| y * g).sum()
                };
                let check = |grad: f64, data: &[f64], at: usize, f: &dyn Fn(&[f64]) -> f64| {
                    let moved = |by: f64| {
                        let mut data = data.to_vec();
                        data[at] += by;
                        f(&data)
                    };
                    let rise = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let room = 2e-5 * rise.abs().max(1.0);
                    assert!((grad - rise).abs() < room, "{planes:?} {own} {grad} {rise}");
                };
                for at in (0..x.len()).step_by(1 + x.len() / 10) {
                    check(grads.x[at], &x, at, &|x| loss(x, &w, &b));
                }
                for at in (0..w.len()).step_by(1 + w.len() / 5) {
                    check(grads.weight[at], &w, at, &|w| loss(&x, w, &b));
                    check(grads.bias[at], &b, at, &|b| loss(&x, &w, b));
                }
            }
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        for planes in [
            Planes { samples: 0, channels: 3, inner: 4 },
            Planes { samples: 2, channels: 3, inner: 0 },
            Planes { samples: 2, channels: 0, inner: 30 },
        ] {
            let empty = || view::<f64>(&[], &[0]);
            let stats = vec![f64::NAN; planes.channels];
            let count = [planes.channels];
            let stat = || view(&stats, &count);
            assert!(batch_norm(empty(), planes, None, None, None, 0.1).y.is_empty());
            let grads = batch_norm_backward(
                empty(),
                empty(),
                stat(),
                stat(),
                None,
                planes,
                0.1,
                true,
                true,
            );
            assert_eq!(grads.weight, vec![0.0; planes.channels]);
        }
    }
}
