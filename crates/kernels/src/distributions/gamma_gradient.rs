//! How a gamma number moves with its shape parameter when its quantile stays (implicit
//! reparametrisation).
//!
//! With the distribution function `P(a, x)` and the density `p = dP/dx`, the derivative is
//! `-(dP/da) / p`. From below, `P / p` is the integral over `u` in `(0, x)` of
//! `(1 - u/x)^(a-1) e^u`, from above, `(1 - P) / p` that over `u > 0` of `(1 + u/x)^(a-1) e^-u`.
//! Differentiated, their integrands gain the factors `digamma(a) - ln(x - u)` and
//! `ln(x + u) - digamma(a)`, which keep one sign below and above the mean: nothing cancels.

use std::sync::OnceLock;

use crate::index::row_major;
use crate::random::Real;
use crate::special::digamma;
use crate::{Strided, par};

/// How many elements are worth a thread.
const GRAIN: usize = par::GRAIN / 128;
/// `e` to the minus this does not count.
const NEGLIGIBLE: f64 = 40.0;
/// Above this shape the sum from below takes more terms than the integral has nodes.
const MANY: f64 = 100.0;
/// Up to here the sum serves whatever the shape is.
const NEAR_ZERO: f64 = 4.0;
/// Where the range of an integral is divided; the integrand is steepest at its start.
const PANELS: [f64; 6] = [0.0, 0.04, 0.12, 0.3, 0.6, 1.0];
const NODES: usize = 16;

/// For each shape parameter and number drawn by it, the derivative of the number by the shape. The
/// two views have one shape.
pub fn gamma_gradient<T: Real>(alpha: &Strided<T>, sample: &Strided<T>) -> Vec<T> {
    let (alpha, sample) = (row_major(alpha), row_major(sample));
    par::fill(alpha.len(), GRAIN, |range, out| {
        for (i, slot) in range.zip(out) {
            let slope = derivative(alpha[i].to_f64_exact(), sample[i].to_f64_exact());
            slot.write(T::from_f64(slope));
        }
    })
}

fn derivative(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || a == 0.0 {
        return 0.0;
    }
    if a.is_infinite() || x.is_infinite() {
        return 1.0;
    }
    if x <= NEAR_ZERO || (x <= a && (a <= MANY || x <= 0.7 * a)) {
        return sum(a, x);
    }
    let psi = digamma(a);
    if x <= a {
        let bend = (80.0 / (a - 1.0)).sqrt() + 4.0 / a;
        let end = zero_left_of((0.9999 * x).min(x * bend), |u| {
            let rest = 1.0 - u / x;
            (-(a - 1.0) * (-u / x).ln_1p() - u - NEGLIGIBLE, (a - 1.0) / (x * rest) - 1.0)
        });
        let log = |u: f64| (a - 1.0) * (-u / x).ln_1p() + u;
        integral(end, |u| log(u).exp() * (psi - (x - u).ln()))
    } else {
        let end = if a <= 1.0 {
            NEGLIGIBLE
        } else {
            zero_left_of(2.0 * NEGLIGIBLE + (8.0 * NEGLIGIBLE * a).sqrt(), |u| {
                (u - (a - 1.0) * (u / x).ln_1p() - NEGLIGIBLE, 1.0 - (a - 1.0) / (x + u))
            })
        };
        let log = |u: f64| (a - 1.0) * (u / x).ln_1p() - u;
        integral(end, |u| log(u).exp() * ((x + u).ln() - psi))
    }
}

/// The integral from below as a power series: the `n`-th term is
/// `x^(n+1) / (a (a+1) ... (a+n)) * (digamma(a+n+1) - ln x)`.
fn sum(a: f64, x: f64) -> f64 {
    let ln_x = x.ln();
    let mut denominator = a;
    let mut term = x / a;
    let mut psi = digamma(a + 1.0);
    let mut total = 0.0;
    loop {
        let part = term * (psi - ln_x);
        total += part;
        denominator += 1.0;
        term *= x / denominator;
        psi += 1.0 / denominator;
        // The terms fall from here on faster than a geometric series of this ratio.
        if x < denominator && (term * (psi - ln_x)).abs() <= 1e-17 * total.abs() {
            return total;
        }
        if term == 0.0 {
            return total;
        }
    }
}

/// Newton's method from the right of the zero of a convex increasing function, which it never
/// passes: a few steps give a bound that is near enough.
fn zero_left_of(start: f64, value_and_slope: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut u = start;
    for _ in 0..6 {
        let (value, slope) = value_and_slope(u);
        if value <= 0.0 || slope <= 0.0 {
            break;
        }
        u -= value / slope;
    }
    u
}

fn integral(end: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rule = legendre();
    PANELS
        .windows(2)
        .map(|panel| {
            let (middle, half) =
                (end * (panel[0] + panel[1]) / 2.0, end * (panel[1] - panel[0]) / 2.0);
            half * rule.iter().map(|(node, weight)| weight * f(middle + half * node)).sum::<f64>()
        })
        .sum()
}

/// Nodes and weights of the Gauss-Legendre rule on `(-1, 1)`.
fn legendre() -> &'static [(f64, f64); NODES] {
    static RULE: OnceLock<[(f64, f64); NODES]> = OnceLock::new();
    RULE.get_or_init(|| {
        let n = NODES as f64;
        std::array::from_fn(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 0.0;
            for _ in 0..20 {
                let (mut before, mut value) = (1.0, x);
                for k in 2..=NODES {
                    let k = k as f64;
                    (before, value) =
                        (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
                }
                slope = n * (x * value - before) / (x * x - 1.0);
                let step = value / slope;
                x -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(a: f64, x: f64, expected: f64, tolerance: f64) {
        let got = derivative(a, x);
        assert!((got / expected - 1.0).abs() < tolerance, "{a}, {x}: {got} is not {expected}");
    }

    #[test]
    fn both_sides_agree_with_the_sum() {
        for a in [2.0, 10.0, 60.0, 99.0] {
            for ratio in [0.9, 1.0, 1.01, 1.5] {
                let x = a * ratio;
                near(a, x, sum(a, x), 1e-9);
            }
        }
        for a in [101.0, 300.0, 5000.0] {
            for ratio in [0.71, 0.8, 0.95, 0.999, 1.0, 1.001, 1.05] {
                near(a, a * ratio, sum(a, a * ratio), 1e-9);
            }
        }
    }

    #[test]
    fn far_from_the_middle() {
        // By mpmath, with 60 digits: the sum cancels here.
        near(10.0, 30.0, 1.6746941162593883, 1e-12);
        near(60.0, 180.0, 1.652329937607174, 1e-12);
        near(99.0, 297.0, 1.6505895747968812, 1e-12);
    }

    #[test]
    fn a_small_shape_moves_the_logarithm() {
        // Near zero P is x^a / gamma(a + 1), so the quantile's logarithm falls as 1/a.
        let (a, x) = (0.01, 1e-30);
        near(a, x, x / a * (digamma(1.0 + a) - x.ln()), 1e-12);
    }

    #[test]
    fn a_large_shape_moves_the_number_along() {
        near(1e10, 1e10, 1.0, 1e-5);
        near(1e6, 1.002e6, 1.001, 1e-4);
    }

    #[test]
    fn edges() {
        assert_eq!(derivative(0.0, 1.0), 0.0);
        assert!(derivative(-1.0, 1.0).is_nan() && derivative(1.0, f64::NAN).is_nan());
        assert!(derivative(1e-30, f64::MIN_POSITIVE).is_finite());
        assert!(derivative(0.5, 700.0).is_finite());
    }
}
