//! Counts: Poisson and binomial.

use super::STREAM_GRAIN;
use crate::index::row_major;
use crate::random::{Generator, Real, Stream, require};
use crate::{Result, Strided};

/// The mean from which on transformed rejection beats counting.
const LARGE: f64 = 10.0;

impl Generator {
    /// Counts of events that happen at the given rates.
    pub fn poisson<T: Real>(&mut self, rates: &Strided<T>) -> Result<Vec<T>> {
        let rates = row_major(rates);
        require(rates.iter().all(|&rate| rate >= T::zero()), || {
            "invalid Poisson rate, expected rate to be non-negative".into()
        })?;
        Ok(self.fill_streams(rates.len(), STREAM_GRAIN, |i, stream| {
            T::from_f64(poisson(rates[i].to_f64_exact(), stream))
        }))
    }

    /// Counts of successes in `count` trials of probability `prob`, of one shape. Probabilities
    /// below zero and above one count as those, and NaN gives NaN.
    pub fn binomial<T: Real>(&mut self, count: &Strided<T>, prob: &Strided<T>) -> Vec<T> {
        assert_eq!(count.shape, prob.shape, "binomial: parameters are not broadcast");
        let (count, prob) = (row_major(count), row_major(prob));
        self.fill_streams(count.len(), STREAM_GRAIN, |i, stream| {
            T::from_f64(binomial(count[i].to_f64_exact(), prob[i].to_f64_exact(), stream))
        })
    }
}

fn poisson(rate: f64, stream: &mut Stream) -> f64 {
    if rate >= LARGE {
        return if rate.is_finite() { poisson_by_rejection(rate, stream) } else { rate };
    }
    // Events until the product of uniform numbers falls below the chance of none (Knuth).
    let none = (-rate).exp();
    let mut events = 0.0;
    let mut product = stream.unit();
    while product > none {
        events += 1.0;
        product *= stream.unit();
    }
    events
}

/// Hörmann's PTRS ("The transformed rejection method for generating Poisson random variables",
/// 1993).
fn poisson_by_rejection(rate: f64, stream: &mut Stream) -> f64 {
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let certain = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = stream.unit() - 0.5;
        let v = stream.unit();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if us >= 0.07 && v <= certain {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        if (v * inverse_alpha / (a / (us * us) + b)).ln() <= ln_poisson(k, rate) {
            return k;
        }
    }
}

/// The logarithm of the probability of `k` events: `k ln rate - rate - ln k!`, arranged so that for
/// large rates no large terms cancel.
fn ln_poisson(k: f64, rate: f64) -> f64 {
    let excess = k + 1.0 - rate;
    let ln_root = 0.5 * (std::f64::consts::TAU * (k + 1.0)).ln();
    excess - k * (excess / rate).ln_1p() - ln_root - stirling_tail(k)
}

fn binomial(count: f64, prob: f64, stream: &mut Stream) -> f64 {
    if count.is_nan() || prob.is_nan() {
        f64::NAN
    } else if count <= 0.0 || prob <= 0.0 {
        0.0
    } else if prob >= 1.0 || count.is_infinite() {
        count
    } else if prob <= 0.5 {
        rare_binomial(count, prob, stream)
    } else {
        count - rare_binomial(count, 1.0 - prob, stream)
    }
}

/// For probabilities up to one half.
fn rare_binomial(count: f64, prob: f64, stream: &mut Stream) -> f64 {
    if count * prob >= LARGE {
        return binomial_by_rejection(count, prob, stream);
    }
    // Successes until the waiting times between them exceed the trials.
    let ln_failure = (-prob).ln_1p();
    let mut successes = 0.0;
    let mut trials = 0.0;
    loop {
        trials += (stream.unit().ln() / ln_failure).ceil();
        if trials > count {
            return successes;
        }
        successes += 1.0;
    }
}

/// Hörmann's BTRS ("The generation of binomial random variates", 1993).
fn binomial_by_rejection(count: f64, prob: f64, stream: &mut Stream) -> f64 {
    let std = (count * prob * (1.0 - prob)).sqrt();
    let b = 1.15 + 2.53 * std;
    let a = -0.0873 + 0.0248 * b + 0.01 * prob;
    let c = count * prob + 0.5;
    let certain = 0.92 - 4.2 / b;
    let odds = prob / (1.0 - prob);
    let alpha = (2.83 + 5.1 / b) * std;
    let mode = ((count + 1.0) * prob).floor();
    loop {
        let u = stream.unit() - 0.5;
        let v = stream.unit();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + c).floor();
        if k < 0.0 || k > count {
            continue;
        }
        if us >= 0.07 && v <= certain {
            return k;
        }
        let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (count - mode + 1.0))).ln()
            + (count + 1.0) * ((count - mode + 1.0) / (count - k + 1.0)).ln()
            + (k + 0.5) * (odds * (count - k + 1.0) / (k + 1.0)).ln()
            + stirling_tail(mode)
            + stirling_tail(count - mode)
            - stirling_tail(k)
            - stirling_tail(count - k);
        if (v * alpha / (a / (us * us) + b)).ln() <= bound {
            return k;
        }
    }
}

/// What Stirling's formula lacks: `ln k! - (k + 1/2) ln(k + 1) + (k + 1) - ln(2π)/2`.
fn stirling_tail(k: f64) -> f64 {
    const SMALL: [f64; 10] = [
        0.081_061_466_795_327_2,
        0.041_340_695_955_409_2,
        0.027_677_925_684_998_3,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_1,
        0.013_876_128_823_070_7,
        0.011_896_709_945_891_7,
        0.010_411_265_261_972_0,
        0.009_255_462_182_712_73,
        0.008_330_563_433_362_87,
    ];
    if let Some(&tail) = SMALL.get(k as usize) {
        return tail;
    }
    let n = k + 1.0;
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / n
}

#[cfg(test)]
mod tests {
    use super::super::check::{close, moments, pearson};
    use super::*;

    const N: usize = 100_000;

    fn repeated<'a, T>(value: &'a [T; 1]) -> Strided<'a, T> {
        Strided { data: value, shape: &[N], strides: &[0], offset: 0 }
    }

    #[test]
    fn the_tail_of_stirling_is_what_the_factorial_lacks() {
        for k in 0..40 {
            let k = f64::from(k);
            let stirling =
                (k + 0.5) * (k + 1.0).ln() - (k + 1.0) + 0.5 * std::f64::consts::TAU.ln();
            close(stirling_tail(k), libm::lgamma(k + 1.0) - stirling, 1e-10);
        }
    }

    #[test]
    fn events_are_poisson_at_small_and_large_rates() {
        let mut generator = Generator::new(21);
        for rate in [0.7f64, 9.0, 10.0, 40.0, 1000.0] {
            let values = generator.poisson(&repeated(&[rate])).unwrap();
            let (mean, variance) = moments(&values);
            close(mean, rate, 4.0 * (rate / N as f64).sqrt());
            close(variance, rate, 4.0 * rate * (2.5 / N as f64).sqrt().max(0.01));
            let probability = |k: usize| {
                let k = k as f64;
                (k * rate.ln() - rate - libm::lgamma(k + 1.0)).exp()
            };
            pearson(&values, (rate + 5.0 * rate.sqrt()) as usize + 2, probability);
        }
        let mut edge = |rate: f32| {
            let rate = [rate];
            let rate = Strided { data: &rate, shape: &[], strides: &[], offset: 0 };
            generator.poisson(&rate).map(|v| v[0])
        };
        assert_eq!(edge(0.0), Ok(0.0));
        assert_eq!(edge(f32::INFINITY), Ok(f32::INFINITY));
        assert!(edge(-1.0).is_err() && edge(f32::NAN).is_err());
        // A mean of 10^15 has a spread of 3 10^7.
        let huge = generator.poisson(&repeated(&[1e15f64])).unwrap();
        let (mean, variance) = moments(&huge);
        close(mean - 1e15, 0.0, 4e5);
        close(variance / 1e15, 1.0, 0.02);
    }

    #[test]
    fn successes_are_binomial() {
        let mut generator = Generator::new(22);
        for (count, prob) in [(7.0f64, 0.3), (100.0, 0.05), (50.0, 0.4), (400.0, 0.9), (30.0, 0.5)]
        {
            let values = generator.binomial(&repeated(&[count]), &repeated(&[prob]));
            let (mean, variance) = moments(&values);
            let expected = count * prob * (1.0 - prob);
            close(mean, count * prob, 4.0 * (expected / N as f64).sqrt());
            close(variance, expected, 0.02 * expected);
            let probability = |k: usize| {
                let k = k as f64;
                let ways = libm::lgamma(count + 1.0)
                    - libm::lgamma(k + 1.0)
                    - libm::lgamma(count - k + 1.0);
                (ways + k * prob.ln() + (count - k) * (1.0 - prob).ln()).exp()
            };
            pearson(&values, count as usize + 1, probability);
        }
    }

    #[test]
    fn binomial_edges_are_certain() {
        let count = [5.0f32, 5.0, 0.0, f32::NAN, 5.0];
        let prob = [0.0f32, 1.0, 0.5, 0.5, f32::NAN];
        let view = |data| Strided { data, shape: &[5], strides: &[1], offset: 0 };
        let got = Generator::new(23).binomial(&view(&count[..]), &view(&prob[..]));
        assert_eq!(got[..3], [0.0, 5.0, 0.0]);
        assert!(got[3].is_nan() && got[4].is_nan());
    }
}
