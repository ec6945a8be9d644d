//! The regularised incomplete gamma functions.
//!
//! Four expansions share the quarter plane: the power series where `x` is below `a + 1`, the
//! continued fraction where it is above, a series of the upper function where both are small, and Temme's
//! uniform asymptotic expansion where both are large and close, the only one whose length does not
//! grow with them.

use std::f64::consts::PI;
use std::sync::LazyLock;

use libm::{erfc, lgamma};

use crate::special::polynomial;

/// Steps after which a series is taken as it is.
const LIMIT: usize = 5000;
/// Above this `a`, and close enough, the asymptotic expansion is exact.
const LARGE: f64 = 200.0;

/// One of the two functions; the other is its complement.
enum Half {
    Lower(f64),
    Upper(f64),
}

/// The regularised lower incomplete gamma function.
pub(crate) fn igamma(a: f64, x: f64) -> f64 {
    match either(a, x) {
        Half::Lower(p) => p,
        Half::Upper(q) => 1.0 - q,
    }
}

/// The regularised upper incomplete gamma function.
pub(crate) fn igammac(a: f64, x: f64) -> f64 {
    match either(a, x) {
        Half::Lower(p) => 1.0 - p,
        Half::Upper(q) => q,
    }
}

/// The smaller of the two functions, or one that is not close to one.
fn either(a: f64, x: f64) -> Half {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 || (a == 0.0 && x == 0.0) {
        return Half::Lower(f64::NAN);
    }
    if a.is_infinite() {
        return Half::Lower(if x.is_infinite() { f64::NAN } else { 0.0 });
    }
    if x == 0.0 {
        return Half::Lower(0.0);
    }
    if a == 0.0 || x.is_infinite() {
        return Half::Upper(0.0);
    }
    if a > LARGE && (x - a).abs() < 4.5 * a.sqrt() {
        return uniform(a, x);
    }
    match (a, x) {
        _ if x >= (a + 1.0).max(1.5) => Half::Upper(fraction(a, x)),
        // The lower function is about x^a, here not small.
        _ if a < 1.0 && a * x.ln() > -1.0 => Half::Upper(upper_series(a, x)),
        _ => Half::Lower(series(a, x)),
    }
}

/// `ln(1 + x) - x` without cancellation.
fn ln_1p_rest(x: f64) -> f64 {
    if x.abs() > 0.3 {
        return x.ln_1p() - x;
    }
    let (mut sum, mut power, mut k) = (0.0, x, 1.0);
    loop {
        power *= -x;
        k += 1.0;
        let term = power / k;
        sum += term;
        if term.abs() <= f64::EPSILON / 4.0 * f64::abs(sum) {
            return sum;
        }
    }
}

/// `x^a * exp(-x) / gamma(a + 1)`: the density both functions are made of.
fn density(a: f64, x: f64) -> f64 {
    if a < 10.0 {
        return (a * x.ln() - x - lgamma(a + 1.0)).exp();
    }
    // Stirling's series for the logarithm of the gamma function.
    let w = 1.0 / (a * a);
    let stirling = polynomial(
        w,
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360360.0],
    ) / a;
    // Far from `a` the ratio itself keeps the digits.
    let (mu, ratio) = ((x - a) / a, x / a);
    let rest = if mu.abs() < 0.3 { ln_1p_rest(mu) } else { ratio.ln() - (ratio - 1.0) };
    (a * rest - stirling).exp() / (2.0 * PI * a).sqrt()
}

/// The lower function by its power series.
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, a);
    for _ in 0..LIMIT {
        k += 1.0;
        term *= x / k;
        sum += term;
        if term <= f64::EPSILON / 2.0 * sum {
            break;
        }
    }
    density(a, x) * sum
}

/// The upper function by its continued fraction, evaluated from the front by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let not_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / not_zero(b);
    let mut h = d;
    for k in 1..LIMIT {
        let k = k as f64;
        let numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / not_zero(numerator * d + b);
        c = not_zero(b + numerator / c);
        let factor = c * d;
        h *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    density(a, x) * a * h
}

/// The upper function for small arguments: one minus `x^a / gamma(a + 1)` times the series of
/// `a * (-x)^n / (n! * (a + n))`, whose first term, one, is taken out against cancellation.
fn upper_series(a: f64, x: f64) -> f64 {
    let (mut rest, mut power, mut n) = (0.0, a, 0.0);
    loop {
        n += 1.0;
        power *= -x / n;
        let term = power / (a + n);
        rest += term;
        if term.abs() <= f64::EPSILON / 4.0 * f64::abs(rest) {
            break;
        }
    }
    let log = a * x.ln() - lgamma(1.0 + a);
    -log.exp_m1() - log.exp() * rest
}

/// Powers of `1 / a` and of `eta` that the uniform expansion takes.
const ORDERS: usize = 8;
const POWERS: usize = 20;

/// The coefficients of the uniform expansion, from their recurrences (DLMF 8.12.12).
static UNIFORM: LazyLock<[[f64; POWERS]; ORDERS]> = LazyLock::new(|| {
    const ALL: usize = POWERS + 2 * ORDERS + 2;
    // The coefficients of mu as a series in eta.
    let mut alpha = [0.0; ALL + 1];
    alpha[1] = 1.0;
    for n in 2..=ALL {
        let inner: f64 = (2..n).map(|j| j as f64 * alpha[j] * alpha[n - j + 1]).sum();
        alpha[n] = (alpha[n - 1] - inner) / (n + 1) as f64;
    }
    // Those of the scaled gamma function, as a series in 1 / a.
    const GAMMA: [f64; ORDERS] = [
        1.0,
        1.0 / 12.0,
        1.0 / 288.0,
        -139.0 / 51840.0,
        -571.0 / 2488320.0,
        163879.0 / 209018880.0,
        5246819.0 / 75246796800.0,
        -534703531.0 / 902961561600.0,
    ];
    let first = |n: usize| {
        if n == 0 { -1.0 / 3.0 } else { (n + 2) as f64 * alpha[n + 2] }
    };
    let mut row: [f64; ALL] = std::array::from_fn(|n| if n + 2 <= ALL { first(n) } else { 0.0 });
    std::array::from_fn(|k| {
        if k > 0 {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let last = row;
            row = std::array::from_fn(|n| {
                if n + 2 * (k + 1) <= ALL {
                    sign * GAMMA[k] * first(n) + (n + 2) as f64 * last[n + 2]
                } else {
                    0.0
                }
            });
        }
        std::array::from_fn(|n| row[n])
    })
});

/// Temme's expansion (DLMF 8.12), which is exact in the limit and uniform around `x = a`.
fn uniform(a: f64, x: f64) -> Half {
    let mu = (x - a) / a;
    let half_square = -ln_1p_rest(mu);
    let eta = (2.0 * half_square).sqrt().copysign(mu);
    let sum = UNIFORM.iter().rev().fold(0.0, |sum, row| sum / a + polynomial(eta, *row));
    let rest = (-a * half_square).exp() / (2.0 * PI * a).sqrt() * sum;
    let main = 0.5 * erfc(eta.abs() * (0.5 * a).sqrt());
    if mu < 0.0 { Half::Lower(main - rest) } else { Half::Upper(main + rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed to forty digits, from every expansion.
    #[test]
    fn both_halves() {
        let cases = [
            (0.5, 0.1, 0.345279153981423, 0.654720846018577),
            (0.5, 3.0, 0.9856941215645704, 0.01430587843542964),
            (0.001, 0.2, 0.9987774521605268, 0.0012225478394732089),
            (3.0, 0.5, 0.014387677966970687, 0.9856123220330293),
            (5.0, 5.0, 0.5595067149347875, 0.4404932850652124),
            (30.0, 10.0, 2.5099512015279076e-07, 0.9999997490048799),
            (30.0, 60.0, 0.9999931237350312, 6.876264968732097e-06),
            (150.0, 160.0, 0.7956261882343224, 0.20437381176567754),
            (250.0, 240.0, 0.2676500698540158, 0.7323499301459842),
            (250.0, 310.0, 0.999806166446119, 0.00019383355388099424),
            (10000.0, 10100.0, 0.8413487504471796, 0.15865124955282037),
            (0.2, 1.05, 0.9514524418402202, 0.04854755815977985),
            (2.0, 40.0, 0.9999999999999998, 1.7418252446695514e-16),
            (1000.0, 500.0, 3.2982727970671e-86, 1.0),
            (1000.0, 1500.0, 1.0, 2.204698611388996e-43),
        ];
        for (a, x, lower, upper) in cases {
            assert!((igamma(a, x) / lower - 1.0).abs() < 3e-13, "{a} {x} {}", igamma(a, x));
            assert!((igammac(a, x) / upper - 1.0).abs() < 3e-13, "{a} {x} {}", igammac(a, x));
        }
    }

    #[test]
    fn limits() {
        let inf = f64::INFINITY;
        assert_eq!((igamma(2.0, 0.0), igammac(2.0, 0.0)), (0.0, 1.0));
        assert_eq!((igamma(0.0, 2.0), igammac(0.0, 2.0)), (1.0, 0.0));
        assert_eq!((igamma(2.0, inf), igamma(inf, 2.0)), (1.0, 0.0));
        for (a, x) in [(0.0, 0.0), (-1.0, 1.0), (1.0, -1.0), (inf, inf), (f64::NAN, 1.0)] {
            assert!(igamma(a, x).is_nan() && igammac(a, x).is_nan());
        }
    }
}
