//! Special functions of real numbers, one element at a time, in double precision.

// Coefficients are written as they were published.
#![allow(clippy::excessive_precision)]

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

use libm::erfc;

/// `c[0] + x * (c[1] + x * (...))`.
#[inline(always)]
pub(crate) fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    c.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

/// The inverse of the error function.
pub fn erfinv(x: f64) -> f64 {
    match x.abs() {
        1.0 => f64::INFINITY.copysign(x),
        size if size < 1.0 => quantile(0.5 * x, 0.5 * (1.0 - size)) * FRAC_1_SQRT_2,
        _ => f64::NAN,
    }
}

/// `exp(x * x) * erfc(x)`.
pub fn erfcx(x: f64) -> f64 {
    if x < 25.0 {
        let square = x * x;
        let rest = x.mul_add(x, -square);
        return square.exp() * (1.0 + if rest.is_finite() { rest } else { 0.0 }) * erfc(x);
    }
    let w = 0.5 / (x * x);
    let series = polynomial(w, [1.0, -1.0, 3.0, -15.0, 105.0, -945.0, 10395.0]);
    0.5 * FRAC_2_SQRT_PI * series / x
}

/// The distribution function of the standard normal distribution.
pub fn ndtr(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// The logarithm of [`ndtr`].
pub fn log_ndtr(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    if x < -1.0 { (0.5 * erfcx(-t)).ln() - 0.5 * x * x } else { (-0.5 * erfc(t)).ln_1p() }
}

/// The inverse of [`ndtr`].
pub fn ndtri(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return f64::INFINITY.copysign(p - 0.5);
    }
    quantile(p - 0.5, p.min(1.0 - p))
}

/// The quantile of the standard normal distribution that lies `centred` from its median and
/// leaves `tail` beyond: M. Wichura, "The Percentage Points of the Normal Distribution", algorithm
/// AS 241.
fn quantile(centred: f64, tail: f64) -> f64 {
    if centred.abs() <= 0.425 {
        let r = 0.180625 - centred * centred;
        let above = polynomial(
            r,
            [
                3.3871328727963666080e0,
                1.3314166789178437745e2,
                1.9715909503065514427e3,
                1.3731693765509461125e4,
                4.5921953931549871457e4,
                6.7265770927008700853e4,
                3.3430575583588128105e4,
                2.5090809287301226727e3,
            ],
        );
        let below = polynomial(
            r,
            [
                1.0,
                4.2313330701600911252e1,
                6.8718700749205790830e2,
                5.3941960214247511077e3,
                2.1213794301586595867e4,
                3.9307895800092710610e4,
                2.8729085735721942674e4,
                5.2264952788528545610e3,
            ],
        );
        return centred * above / below;
    }
    let r = (-tail.ln()).sqrt();
    let size = if r <= 5.0 {
        let above = polynomial(
            r - 1.6,
            [
                1.42343711074968357734e0,
                4.63033784615654529590e0,
                5.76949722146069140550e0,
                3.64784832476320460504e0,
                1.27045825245236838258e0,
                2.41780725177450611770e-1,
                2.27238449892691845833e-2,
                7.74545014278341407640e-4,
            ],
        );
        let below = polynomial(
            r - 1.6,
            [
                1.0,
                2.05319162663775882187e0,
                1.67638483018380384940e0,
                6.89767334985100004550e-1,
                1.48103976427480074590e-1,
                1.51986665636164571966e-2,
                5.47593808499534494600e-4,
                1.05075007164441684324e-9,
            ],
        );
        above / below
    } else {
        let above = polynomial(
            r - 5.0,
            [
                6.65790464350110377720e0,
                5.46378491116411436990e0,
                1.78482653991729133580e0,
                2.96560571828504891230e-1,
                2.65321895265761230930e-2,
                1.24266094738807843860e-3,
                2.71155556874348757815e-5,
                2.01033439929228813265e-7,
            ],
        );
        let below = polynomial(
            r - 5.0,
            [
                1.0,
                5.99832206555887937690e-1,
                1.36929880922735805310e-1,
                1.48753612908506148525e-2,
                7.86869131145613259100e-4,
                1.84631831751005468180e-5,
                1.42151175831644588870e-7,
                2.04426310338993978564e-15,
            ],
        );
        above / below
    };
    size.copysign(centred)
}

/// The logarithmic derivative of the gamma function.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.trunc() {
            return f64::NAN;
        }
        // The reflection formula, of the fraction only: the tangent's period is that of x.
        return digamma(1.0 - x) - PI / (PI * x.fract()).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    // Bernoulli numbers B(2k) / 2k.
    let series = polynomial(
        1.0 / (x * x),
        [
            0.0,
            1.0 / 12.0,
            -1.0 / 120.0,
            1.0 / 252.0,
            -1.0 / 240.0,
            1.0 / 132.0,
            -691.0 / 32760.0,
            1.0 / 12.0,
        ],
    );
    sum + x.ln() - 0.5 / x - series
}

/// The derivative of [`digamma`].
pub fn trigamma(x: f64) -> f64 {
    if x < 0.5 {
        let sine = (PI * (x - x.round())).sin();
        return PI * PI / (sine * sine) - trigamma(1.0 - x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    // Bernoulli numbers B(2k).
    let square = 1.0 / (x * x);
    let series = polynomial(
        square,
        [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0],
    );
    sum + 1.0 / x + 0.5 * square + series * square / x
}

/// Hurwitz's zeta function: the sum of `(q + k)^-x` over all `k`, by Euler and Maclaurin.
pub fn zeta(x: f64, q: f64) -> f64 {
    /// Bernoulli numbers `B(2k) / (2k)!`.
    const BERNOULLI: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30240.0,
        -1.0 / 1209600.0,
        1.0 / 47900160.0,
        -691.0 / 1307674368000.0,
        1.0 / 74724249600.0,
        -3617.0 / 10670622842880000.0,
    ];
    /// From here on the integral and its corrections take the place of the sum.
    const FAR: f64 = 12.0;
    match (x, q) {
        _ if x.is_nan() || q.is_nan() || x < 1.0 => return f64::NAN,
        _ if x == 1.0 || (q <= 0.0 && q == q.floor()) => return f64::INFINITY,
        // A negative base has no broken powers.
        _ if q < 0.0 && x != x.floor() => return f64::NAN,
        _ => {}
    }
    let (mut at, mut sum) = (q, 0.0);
    while at < FAR {
        let term = at.powf(-x);
        sum += term;
        at += 1.0;
        if at > 1.0 && term < f64::EPSILON / 4.0 * sum {
            return sum;
        }
    }
    let edge = at.powf(-x);
    // The derivatives' factors: x, x * (x + 1) * (x + 2) and so on, over powers of the edge.
    let mut derivative = x / at;
    let mut corrections = 0.5;
    for (k, bernoulli) in BERNOULLI.iter().enumerate() {
        corrections += bernoulli * derivative;
        let next = x + 2.0 * k as f64 + 1.0;
        derivative *= next * (next + 1.0) / (at * at);
    }
    sum + edge * (at / (x - 1.0) + corrections)
}

/// Where the modified Bessel functions' power series give way to the asymptotic ones.
const BESSEL_FAR: f64 = 20.0;

/// The power series of the modified Bessel function of order 0 or 1, without its leading power.
fn bessel_series(x: f64, order: f64) -> f64 {
    let quarter = 0.25 * x * x;
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > f64::EPSILON / 4.0 * sum {
        term *= quarter / (k * (k + order));
        sum += term;
        k += 1.0;
    }
    sum
}

/// The asymptotic series of the same, scaled by `exp(-x) * sqrt(2 * pi * x)`.
fn bessel_far(x: f64, order: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    loop {
        let odd = 2.0 * k - 1.0;
        let next: f64 = -term * (4.0 * order * order - odd * odd) / (8.0 * k * x);
        if !(next.abs() > f64::EPSILON / 4.0 && next.abs() < f64::abs(term)) {
            return sum;
        }
        sum += next;
        term = next;
        k += 1.0;
    }
}

/// `scaled * exp(x)`, in two steps, as the product may be finite where the exponential is not.
fn grown(scaled: f64, x: f64) -> f64 {
    let half = (0.5 * x).exp();
    if half.is_infinite() { half } else { half * scaled * half }
}

/// The modified Bessel function of the first kind of order 0.
pub fn i0(x: f64) -> f64 {
    let x = x.abs();
    if x <= BESSEL_FAR {
        return bessel_series(x, 0.0);
    }
    grown(bessel_far(x, 0.0) / (2.0 * PI * x).sqrt(), x)
}

/// `exp(-|x|) * i0(x)`.
pub fn i0e(x: f64) -> f64 {
    let x = x.abs();
    if x <= BESSEL_FAR {
        return (-x).exp() * bessel_series(x, 0.0);
    }
    bessel_far(x, 0.0) / (2.0 * PI * x).sqrt()
}

/// The modified Bessel function of the first kind of order 1.
pub fn i1(x: f64) -> f64 {
    let size = x.abs();
    if size <= BESSEL_FAR {
        return 0.5 * x * bessel_series(size, 1.0);
    }
    grown(bessel_far(size, 1.0) / (2.0 * PI * size).sqrt(), size).copysign(x)
}

/// `exp(-|x|) * i1(x)`.
pub fn i1e(x: f64) -> f64 {
    let size = x.abs();
    if size <= BESSEL_FAR {
        return 0.5 * x * (-size).exp() * bessel_series(size, 1.0);
    }
    (bessel_far(size, 1.0) / (2.0 * PI * size).sqrt()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with values computed to forty digits.
    fn check(f: fn(f64) -> f64, tolerance: f64, cases: &[(f64, f64)]) {
        for &(x, expected) in cases {
            let y = f(x);
            assert!((y - expected).abs() <= tolerance * expected.abs(), "{x}: {y} {expected}");
        }
    }

    #[test]
    fn error_function_and_its_relatives() {
        check(
            erfinv,
            4e-16,
            &[
                (1e-08, 8.86226925452758e-09),
                (0.1, 0.08885599049425769),
                (-0.5, -0.4769362762044699),
                (0.75, 0.8134198475976185),
                (0.999, 2.3267537655135246),
                (-0.9999999, -3.7665625816384707),
                (0.999999999999999, 5.675915739744713),
            ],
        );
        assert_eq!((erfinv(1.0), erfinv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(erfinv(1.1).is_nan());
        check(
            erfcx,
            6e-16,
            &[
                (-3.0, 16205.988853999586),
                (0.0, 1.0),
                (0.5, 0.6156903441929259),
                (2.0, 0.25539567631050575),
                (10.0, 0.05614099274382259),
                (24.9, 0.022639987776049506),
                (25.1, 0.02245987581758139),
                (60.0, 0.009401854275176388),
                (1e10, 5.641895835477563e-11),
            ],
        );
        assert_eq!((erfcx(f64::INFINITY), erfcx(f64::NEG_INFINITY)), (0.0, f64::INFINITY));
    }

    #[test]
    fn normal_distribution() {
        check(
            log_ndtr,
            4e-15,
            &[
                (-40.0, -804.6084420137538),
                (-5.0, -15.064998393988725),
                (-1.0, -1.8410216450092636),
                (0.0, -std::f64::consts::LN_2),
                (3.0, -0.0013508099647481938),
            ],
        );
        check(
            ndtri,
            1e-15,
            &[
                (1e-300, -37.0470962993612),
                (1e-20, -9.262340089798407),
                (1e-05, -4.264890793922825),
                (0.05, -1.6448536269514726),
                (0.3, -0.5244005127080408),
                (0.5, 0.0),
                (0.9, 1.2815515655446006),
                (0.999, 3.090232306167813),
            ],
        );
        assert_eq!((ndtri(0.0), ndtri(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(ndtri(-0.1).is_nan() && ndtri(f64::NAN).is_nan());
    }

    #[test]
    fn gamma_and_its_relatives() {
        check(
            digamma,
            2e-15,
            &[
                (-0.3, 2.113309779635399),
                (1e-05, -100000.57719921567),
                (0.2, -5.289039896592188),
                (1.0, -0.5772156649015329),
                (4.4, 1.3636854834260885),
                (10.0, 2.251752589066721),
                (150.0, 5.007298257075679),
            ],
        );
        // Close to its zeros only the absolute error is small.
        check(digamma, 1e-10, &[(-9.7, 0.04028686852183078), (1.4616, -3.110625123034165e-05)]);
        assert_eq!((digamma(0.0), digamma(-0.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(digamma(-2.0).is_nan());
        check(
            trigamma,
            1e-14,
            &[
                (-9.7, 14.981452751786648),
                (-0.3, 13.945160267805722),
                (0.2, 26.267377205423777),
                (1.0, 1.6449340668482264),
                (4.4, 0.2550362074744146),
                (10.0, 0.10516633568168575),
                (150.0, 0.006688938271165994),
            ],
        );
        let cases = [
            (2.0, 1.0, 1.6449340668482264),
            (1.5, 0.3, 8.237761671459724),
            (3.0, 10.5, 0.004987572123857585),
            (20.0, 2.0, 9.539620338727962e-07),
            (4.0, -1.5, 32.432379369864606),
            (1.001, 3.0, 999.0776349295164),
        ];
        for (x, q, expected) in cases {
            assert!((zeta(x, q) / expected - 1.0).abs() < 2e-15, "{x} {q}");
        }
        assert_eq!((zeta(1.0, 2.0), zeta(2.0, -3.0)), (f64::INFINITY, f64::INFINITY));
        assert!(zeta(0.5, 1.0).is_nan() && zeta(2.5, -1.5).is_nan());
    }

    #[test]
    fn modified_bessel_functions() {
        check(
            i0,
            2e-15,
            &[
                (0.0, 1.0),
                (0.5, 1.0634833707413236),
                (-3.0, 4.8807925858650245),
                (19.9, 39513376.52006682),
                (20.1, 48017874.1071365),
                (100.0, 1.0737517071310738e+42),
                (710.0, 3.345334558619656e+306),
            ],
        );
        check(
            i0e,
            2e-15,
            &[
                (-0.5, 0.6450352704491501),
                (3.0, 0.2430003541618254),
                (19.9, 0.0900085888643896),
                (20.1, 0.08955376362061344),
                (1000.0, 0.012617240455891257),
            ],
        );
        check(
            i1e,
            2e-15,
            &[
                (-0.5, -0.1564208031848717),
                (3.0, 0.19682671329730086),
                (19.9, 0.0877171021317061),
                (20.1, 0.08729685184320159),
                (1000.0, 0.012610930256928629),
            ],
        );
        check(i1, 2e-15, &[(-0.5, -0.25789430539089636)]);
        assert_eq!((i0(f64::INFINITY), i1(f64::NEG_INFINITY)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(i0(f64::NAN).is_nan() && i1(f64::NAN).is_nan());
    }
}
