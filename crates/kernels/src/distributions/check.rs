//! Statistical tests, for the tests of everything random. Seeds are fixed, so they pass or fail once
//! and for all; thresholds are those a correct generator fails once in a thousand.

use crate::random::Real;

/// Fails unless `value` is within `tolerance` of `expected`.
#[track_caller]
pub(crate) fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

/// Mean and variance.
pub(crate) fn moments<T: Real>(values: &[T]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v.to_f64_exact()).sum::<f64>() / n;
    let variance = values.iter().map(|v| (v.to_f64_exact() - mean).powi(2)).sum::<f64>() / n;
    (mean, variance)
}

/// Kolmogorov's test against a continuous distribution function.
#[track_caller]
pub(crate) fn kolmogorov<T: Real>(values: &[T], cdf: impl Fn(f64) -> f64) {
    let mut sorted: Vec<f64> = values.iter().map(|v| v.to_f64_exact()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distance = (sorted.iter().enumerate())
        .map(|(i, &x)| {
            let p = cdf(x);
            (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
        })
        .fold(0.0, f64::max);
    assert!(distance < 1.95 / n.sqrt(), "distance {distance} of {n} values");
}

/// Pearson's test of counts against the probabilities of 0, 1, ..., `bins - 1` and of all above.
#[track_caller]
pub(crate) fn pearson<T: Real>(values: &[T], bins: usize, probability: impl Fn(usize) -> f64) {
    let n = values.len() as f64;
    let mut counts = vec![0.0; bins + 1];
    for value in values {
        counts[(value.to_f64_exact() as usize).min(bins)] += 1.0;
    }
    let mut expected: Vec<f64> = (0..bins).map(|k| probability(k) * n).collect();
    expected.push(n - expected.iter().sum::<f64>());
    // Bins nobody expects anything in go together with the next.
    let (mut chi2, mut freedom, mut seen, mut due) = (0.0, -1.0, 0.0, 0.0);
    for (count, expect) in counts.iter().zip(&expected) {
        seen += count;
        due += expect;
        if due >= 5.0 {
            chi2 += (seen - due) * (seen - due) / due;
            freedom += 1.0;
            (seen, due) = (0.0, 0.0);
        }
    }
    // Wilson and Hilferty: the cube root is all but normal.
    let spread = 2.0 / (9.0 * freedom);
    let score = ((chi2 / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(score < 3.1, "chi2 {chi2} with {freedom} degrees of freedom");
}

/// The distribution function of the standard normal.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}
