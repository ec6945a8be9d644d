//! Normalisation within rows of memory: of layers, of groups of channels, of single channels.

use std::ops::Range;

use super::sums::{sum, sums};
use super::{NormGrads, Normalised, narrow, widen};
use crate::lanes::{Fresh, dense};
use crate::simd::{self, Task};
use crate::{Real, Strided, par};

/// What an element costs, in additions.
const COST: usize = 4;
/// How many samples' gradients of weights are summed in the elements' own precision, at most.
const SAMPLES: usize = 128;
/// How many sums of samples there are, where there are as many samples.
const SHARES: usize = 16;

/// A buffer of samples. Each has `groups` rows, which are normalised by themselves; each row has
/// `channels` runs of `inner` elements. The weight and the bias have an element for each run of a
/// sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// How many samples there are.
    pub samples: usize,
    /// How many rows a sample has.
    pub groups: usize,
    /// How many runs a row has.
    pub channels: usize,
    /// How many elements a run has.
    pub inner: usize,
}

impl Groups {
    fn rows(&self) -> usize {
        self.samples * self.groups
    }

    fn row_len(&self) -> usize {
        self.channels * self.inner
    }

    /// How many weights there are.
    pub fn weights(&self) -> usize {
        self.groups * self.channels
    }

    /// Whether each element has a weight of its own; so have all where there are none.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.inner <= 1
    }

    /// How many rows are worth a thread.
    fn grain(&self) -> usize {
        (par::GRAIN / COST / self.row_len().max(1)).max(1)
    }

    /// Which weights belong to a row.
    #[inline(always)]
    fn channels_of(&self, row: usize) -> Range<usize> {
        let first = row % self.groups * self.channels;
        first..first + self.channels
    }

    /// Which elements belong to a row.
    #[inline(always)]
    fn elements_of(&self, row: usize) -> Range<usize> {
        row * self.row_len()..(row + 1) * self.row_len()
    }
}

struct Forward<'a, T> {
    x: &'a [T],
    groups: Groups,
    weight: &'a [T],
    bias: &'a [T],
    centre: bool,
    eps: f64,
    rows: Range<usize>,
    y: &'a Fresh<T>,
    mean: &'a Fresh<T>,
    spread: &'a Fresh<T>,
}

impl<T: Real> Task for Forward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let groups = self.groups;
        let count = groups.row_len() as f64;
        for row in self.rows {
            let x = &self.x[groups.elements_of(row)];
            let mean = if self.centre { narrow(sum(x, |x| x) / count) } else { T::zero() };
            let variance = sum(x, |x| (x - mean) * (x - mean)) / count;
            let spread: T = narrow(1.0 / (variance + self.eps).sqrt());
            let channels = groups.channels_of(row);
            let (weight, bias) = (&self.weight[channels.clone()], &self.bias[channels]);
            // SAFETY: every row belongs to one thread.
            let y = unsafe { self.y.part(groups.elements_of(row)) };
            if groups.is_plain() {
                for (((y, &x), &weight), &bias) in y.iter_mut().zip(x).zip(weight).zip(bias) {
                    y.write((x - mean) * spread * weight + bias);
                }
            } else {
                let runs = y.chunks_mut(groups.inner).zip(x.chunks(groups.inner));
                for ((y, x), (&weight, &bias)) in runs.zip(weight.iter().zip(bias)) {
                    let scale = spread * weight;
                    for (y, &x) in y.iter_mut().zip(x) {
                        y.write((x - mean) * scale + bias);
                    }
                }
            }
            // SAFETY: as above.
            unsafe {
                self.mean.set(row, mean);
                self.spread.set(row, spread);
            }
        }
    }
}

/// Each row less its mean, unless it is not to be centred, times one over its standard deviation
/// (the root of `eps` more than its mean square), times a weight, plus a bias. Weights and biases
/// are as many as [`Groups::weights`] says.
pub fn norm<T: Real>(
    x: Strided<'_, T>,
    groups: Groups,
    weight: Option<Strided<'_, T>>,
    bias: Option<Strided<'_, T>>,
    centre: bool,
    eps: f64,
) -> Normalised<T> {
    let x = dense(x);
    let weight = weight.map_or_else(|| vec![T::one(); groups.weights()].into(), dense);
    let bias = bias.map_or_else(|| vec![T::zero(); groups.weights()].into(), dense);
    let y = Fresh::new(x.len());
    let (mean, spread) = (Fresh::new(groups.rows()), Fresh::new(groups.rows()));
    par::for_ranges(groups.rows(), groups.grain(), |rows| {
        simd::run_wide(Forward {
            x: &x,
            groups,
            weight: &weight,
            bias: &bias,
            centre,
            eps,
            rows,
            y: &y,
            mean: &mean,
            spread: &spread,
        });
    });
    // SAFETY: the rows cover the buffers.
    unsafe { Normalised { y: y.finish(), mean: mean.finish(), spread: spread.finish() } }
}

struct Backward<'a, T> {
    grad: &'a [T],
    x: &'a [T],
    mean: &'a [T],
    spread: &'a [T],
    weight: &'a [T],
    groups: Groups,
    centre: bool,
    /// Where the elements' gradients go, if anybody wants them.
    out: Option<&'a Fresh<T>>,
}

impl<T: Real> Backward<'_, T> {
    /// Writes the gradients of a row's elements: `g weight spread - level - (x - mean) tilt`, where
    /// the sums over the row of `g weight` and of `g weight (x - mean)` say level and tilt.
    #[inline(always)]
    fn elements(&self, row: usize, plain: f64, along: f64) {
        let Some(out) = self.out else { return };
        let groups = self.groups;
        let count = groups.row_len() as f64;
        let (mean, spread) = (self.mean[row], self.spread[row]);
        let wide = widen(spread);
        let level: T = if self.centre { narrow(plain / count * wide) } else { T::zero() };
        let tilt: T = narrow(along / count * wide * wide * wide);
        let (x, grad) = (&self.x[groups.elements_of(row)], &self.grad[groups.elements_of(row)]);
        let weight = &self.weight[groups.channels_of(row)];
        // SAFETY: every row belongs to one thread.
        let out = unsafe { out.part(groups.elements_of(row)) };
        if groups.is_plain() {
            for (((out, &x), &g), &weight) in out.iter_mut().zip(x).zip(grad).zip(weight) {
                out.write(g * weight * spread - level - (x - mean) * tilt);
            }
            return;
        }
        let runs = out.chunks_mut(groups.inner).zip(x.chunks(groups.inner));
        for ((out, x), (grad, &weight)) in runs.zip(grad.chunks(groups.inner).zip(weight)) {
            let scale = weight * spread;
            for ((out, &x), &g) in out.iter_mut().zip(x).zip(grad) {
                out.write(g * scale - level - (x - mean) * tilt);
            }
        }
    }
}

/// A share of the samples, where runs have one element: the weights' gradients are summed on the
/// way.
struct BackwardSamples<'a, T> {
    rule: &'a Backward<'a, T>,
    samples: Range<usize>,
    /// Sums by weight and by bias.
    sums: Option<(&'a mut [T], &'a mut [T])>,
}

impl<T: Real> Task for BackwardSamples<'_, T> {
    #[inline(always)]
    fn run(self) {
        let rule = self.rule;
        let groups = rule.groups;
        let mut sums_of = self.sums;
        for row in self.samples.start * groups.groups..self.samples.end * groups.groups {
            let x = &rule.x[groups.elements_of(row)];
            let grad = &rule.grad[groups.elements_of(row)];
            let channels = groups.channels_of(row);
            let (mean, spread) = (rule.mean[row], rule.spread[row]);
            if let Some((weights, biases)) = &mut sums_of {
                let (weights, biases) =
                    (&mut weights[channels.clone()], &mut biases[channels.clone()]);
                for (((weight, bias), &x), &g) in weights.iter_mut().zip(biases).zip(x).zip(grad) {
                    *weight = *weight + g * ((x - mean) * spread);
                    *bias = *bias + g;
                }
            }
            if rule.out.is_some() {
                let weight = &rule.weight[channels];
                let (mut plain, mut along) = (0.0, 0.0);
                // Blocks of a length that the products fit into.
                const BLOCK: usize = 1024;
                let mut products = [T::zero(); BLOCK];
                for ((x, grad), weight) in
                    x.chunks(BLOCK).zip(grad.chunks(BLOCK)).zip(weight.chunks(BLOCK))
                {
                    let products = &mut products[..x.len()];
                    for ((product, &g), &weight) in products.iter_mut().zip(grad).zip(weight) {
                        *product = g * weight;
                    }
                    let found = sums(products, x, |g, x| (g, g * (x - mean)));
                    plain += found.0;
                    along += found.1;
                }
                rule.elements(row, plain, along);
            }
        }
    }
}

/// Rows whose runs have several elements: each run's two sums are also the gradients of its weight
/// and bias.
struct BackwardRows<'a, T> {
    rule: &'a Backward<'a, T>,
    rows: Range<usize>,
    weights: &'a Fresh<f64>,
    biases: &'a Fresh<f64>,
}

impl<T: Real> Task for BackwardRows<'_, T> {
    #[inline(always)]
    fn run(self) {
        let rule = self.rule;
        let groups = rule.groups;
        for row in self.rows {
            let x = &rule.x[groups.elements_of(row)];
            let grad = &rule.grad[groups.elements_of(row)];
            let weight = &rule.weight[groups.channels_of(row)];
            let (mean, spread) = (rule.mean[row], widen(rule.spread[row]));
            let (mut plain, mut along) = (0.0, 0.0);
            let runs = x.chunks(groups.inner).zip(grad.chunks(groups.inner));
            for (at, ((x, grad), &weight)) in runs.zip(weight).enumerate() {
                let (of_g, of_gx) = sums(grad, x, |g, x| (g, g * (x - mean)));
                plain += widen(weight) * of_g;
                along += widen(weight) * of_gx;
                let place = row * groups.channels + at;
                // SAFETY: every row belongs to one thread.
                unsafe {
                    self.weights.set(place, of_gx * spread);
                    self.biases.set(place, of_g);
                }
            }
            rule.elements(row, plain, along);
        }
    }
}

/// The gradients of [`norm`] from that of its result. Those by elements, and those by weight and
/// bias, are empty where they are not wanted.
#[allow(clippy::too_many_arguments)]
pub fn norm_backward<T: Real>(
    grad: Strided<'_, T>,
    x: Strided<'_, T>,
    mean: Option<Strided<'_, T>>,
    spread: Strided<'_, T>,
    weight: Option<Strided<'_, T>>,
    groups: Groups,
    wants_x: bool,
    wants_weight: bool,
) -> NormGrads<T> {
    let (grad, x, spread) = (dense(grad), dense(x), dense(spread));
    let centre = mean.is_some();
    let mean = mean.map_or_else(|| vec![T::zero(); groups.rows()].into(), dense);
    let weight = weight.map_or_else(|| vec![T::one(); groups.weights()].into(), dense);
    let out = wants_x.then(|| Fresh::new(x.len()));
    let rule = Backward {
        grad: &grad,
        x: &x,
        mean: &mean,
        spread: &spread,
        weight: &weight,
        groups,
        centre,
        out: out.as_ref(),
    };
    let (mut weights, mut biases) = (Vec::new(), Vec::new());
    if groups.is_plain() {
        let per_share = (groups.samples / SHARES).clamp(1, SAMPLES);
        let shares = groups.samples.div_ceil(per_share);
        let share_of =
            |share: usize| share * per_share..((share + 1) * per_share).min(groups.samples);
        let count = if wants_weight { groups.weights() } else { 0 };
        let (by_weight, by_bias) = (Fresh::new(shares * count), Fresh::new(shares * count));
        let grain = groups.grain().div_ceil(per_share * groups.groups.max(1));
        par::for_ranges(shares, grain, |range| {
            for share in range {
                let sums = wants_weight.then(|| {
                    // SAFETY: every share belongs to one thread.
                    unsafe {
                        let range = share * count..(share + 1) * count;
                        (by_weight.zeroed(range.clone()), by_bias.zeroed(range))
                    }
                });
                simd::run_wide(BackwardSamples { rule: &rule, samples: share_of(share), sums });
            }
        });
        if wants_weight {
            // SAFETY: the shares cover the buffers.
            let (by_weight, by_bias) = unsafe { (by_weight.finish(), by_bias.finish()) };
            weights = added_up(&by_weight, count);
            biases = added_up(&by_bias, count);
        }
    } else {
        let count = groups.rows() * groups.channels;
        let (by_weight, by_bias) = (Fresh::new(count), Fresh::new(count));
        par::for_ranges(groups.rows(), groups.grain(), |rows| {
            simd::run_wide(BackwardRows {
                rule: &rule,
                rows,
                weights: &by_weight,
                biases: &by_bias,
            });
        });
        if wants_weight {
            // SAFETY: the rows cover the buffers.
            let (by_weight, by_bias) = unsafe { (by_weight.finish(), by_bias.finish()) };
            weights = added_up(&by_weight, groups.weights());
            biases = added_up(&by_bias, groups.weights());
        }
    }
    // SAFETY: the rows cover the buffer.
    let x = out.map_or_else(Vec::new, |out| unsafe { out.finish() });
    NormGrads { x, weight: weights, bias: biases }
}

/// The sum of rows of `width` numbers.
fn added_up<S: Real, T: Real>(rows: &[S], width: usize) -> Vec<T> {
    let mut sums = vec![0f64; width];
    for row in rows.chunks_exact(width.max(1)) {
        for (sum, &x) in sums.iter_mut().zip(row) {
            *sum += widen(x);
        }
    }
    sums.into_iter().map(narrow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [Groups; 6] = [
        Groups { samples: 3, groups: 1, channels: 37, inner: 1 },
        Groups { samples: 2, groups: 2, channels: 3, inner: 5 },
        Groups { samples: 2, groups: 4, channels: 1, inner: 40 },
        Groups { samples: 300, groups: 1, channels: 2, inner: 1 },
        Groups { samples: 5, groups: 2, channels: 4, inner: 1 },
        Groups { samples: 1, groups: 1, channels: 2500, inner: 1 },
    ];

    fn noise(count: usize, salt: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + salt * 104_729) % 1009) as f64 / 400.0 - 1.0).collect()
    }

    fn view<'a, T>(data: &'a [T], shape: &'a [usize; 1]) -> Strided<'a, T> {
        Strided { data, shape, strides: &[1], offset: 0 }
    }

    fn forward(groups: Groups, x: &[f64], w: &[f64], b: &[f64], centre: bool) -> Normalised<f64> {
        let (len, count) = ([x.len()], [w.len()]);
        norm(view(x, &len), groups, Some(view(w, &count)), Some(view(b, &count)), centre, 1e-3)
    }

    #[test]
    fn rows_are_normalised_as_defined() {
        for groups in CASES {
            for centre in [true, false] {
                let row_len = groups.row_len();
                let x = noise(groups.rows() * row_len, 1);
                let (w, b) = (noise(groups.weights(), 2), noise(groups.weights(), 3));
                let found = forward(groups, &x, &w, &b, centre);
                for (at, y) in found.y.iter().enumerate() {
                    let row = at / row_len;
                    let of = &x[groups.elements_of(row)];
                    let mean = of.iter().sum::<f64>() / row_len as f64 * centre as u8 as f64;
                    let spread = of.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
                    let spread = 1.0 / (spread / row_len as f64 + 1e-3).sqrt();
                    let channel =
                        row % groups.groups * groups.channels + at % row_len / groups.inner;
                    let wanted = (x[at] - mean) * spread * w[channel] + b[channel];
                    assert!((y - wanted).abs() < 1e-12, "{groups:?}");
                    assert!((found.spread[row] - spread).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for groups in CASES {
            for centre in [true, false] {
                let x = noise(groups.rows() * groups.row_len(), 4);
                let (w, b) = (noise(groups.weights(), 5), noise(groups.weights(), 6));
                let g = noise(x.len(), 7);
                let found = forward(groups, &x, &w, &b, centre);
                let (len, rows, count) = ([x.len()], [groups.rows()], [w.len()]);
                let grads = norm_backward(
                    view(&g, &len),
                    view(&x, &len),
                    centre.then_some(view(&found.mean, &rows)),
                    view(&found.spread, &rows),
                    Some(view(&w, &count)),
                    groups,
                    true,
                    true,
                );
                let loss = |x: &[f64], w: &[f64], b: &[f64]| -> f64 {
                    forward(groups, x, w, b, centre).y.iter().zip(&g).map(|(y, g)| y * g).sum()
                };
                let check = |grad: f64, data: &[f64], at: usize, f: &dyn Fn(&[f64]) -> f64| {
                    let moved = |by: f64| {
                        let mut data = data.to_vec();
                        data[at] += by;
                        f(&data)
                    };
                    let rise = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    assert!(
                        (grad - rise).abs() < 1e-5 * rise.abs().max(1.0),
                        "{groups:?} {grad} {rise}"
                    );
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
    fn what_is_not_wanted_is_empty_and_nothing_gives_nothing() {
        let groups = CASES[1];
        let x = noise(groups.rows() * groups.row_len(), 1);
        let (len, rows) = ([x.len()], [groups.rows()]);
        let found = norm(view(&x, &len), groups, None, None, true, 0.0);
        let spread = view(&found.spread, &rows);
        let mean = Some(view(&found.mean, &rows));
        let grads =
            norm_backward(view(&x, &len), view(&x, &len), mean, spread, None, groups, false, true);
        assert!(grads.x.is_empty() && grads.weight.len() == 6);
        let grads =
            norm_backward(view(&x, &len), view(&x, &len), mean, spread, None, groups, true, false);
        assert!(grads.x.len() == x.len() && grads.weight.is_empty());
        let empty = || view::<f64>(&[], &[0]);
        for none in [Groups { samples: 0, ..groups }, Groups { inner: 0, ..groups }] {
            let found = norm(empty(), none, None, None, true, 0.0);
            assert!(found.y.is_empty());
            let rows = [none.rows()];
            let spread = view(&found.spread, &rows);
            let grads = norm_backward(empty(), empty(), None, spread, None, none, true, true);
            assert_eq!(grads.weight, [0.0; 6]);
        }
    }

    #[test]
    fn single_precision_is_near_double() {
        let groups = Groups { samples: 2, groups: 1, channels: 5000, inner: 1 };
        let x: Vec<f64> = noise(10_000, 1).iter().map(|x| x + 50.0).collect();
        let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let len = [x.len()];
        let wide = norm(view(&x, &len), groups, None, None, true, 1e-5);
        let found = norm(view(&narrow, &len), groups, None, None, true, 1e-5);
        for (y, wide) in found.y.iter().zip(wide.y) {
            assert!((*y as f64 - wide).abs() < 2e-5, "{y} {wide}");
        }
    }
}
