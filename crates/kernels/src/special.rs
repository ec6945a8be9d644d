//! Special functions of real numbers, one element at a time, in double precision.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

use libm::{erf, erfc};

/// `c[0] + x * (c[1] + x * (...))`.
#[inline(always)]
pub(crate) fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    c.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

/// `exp(-x * x)`, with the rounding of the square made good.
fn gauss(x: f64) -> f64 {
    let square = x * x;
    let rest = x.mul_add(x, -square);
    (-square).exp() * (1.0 - rest)
}

/// The inverse of the error function.
pub fn erfinv(x: f64) -> f64 {
    let size = x.abs();
    if size >= 1.0 || x.is_nan() {
        return if size == 1.0 {
            f64::INFINITY.copysign(x)
        } else {
            f64::NAN
        };
    }
    // M. Giles, "Approximating the erfinv function": single precision, which two steps of Halley's
    // method on the error function make double.
    let w = -((1.0 - size) * (1.0 + size)).ln();
    let mut y = size
        * if w < 5.0 {
            polynomial(
                w - 2.5,
                [
                    1.50140941,
                    0.246640727,
                    -0.00417768164,
                    -0.00125372503,
                    0.00021858087,
                    -4.39150654e-06,
                    -3.5233877e-06,
                    3.43273939e-07,
                    2.81022636e-08,
                ],
            )
        } else {
            polynomial(
                w.sqrt() - 3.0,
                [
                    2.83297682,
                    1.00167406,
                    0.00943887047,
                    -0.0076224613,
                    0.00573950773,
                    -0.00367342844,
                    0.00134934322,
                    0.000100950558,
                    -0.000200214257,
                ],
            )
        };
    for _ in 0..2 {
        // Far out the complement keeps the digits.
        let error = if size > 0.5 {
            (1.0 - size) - erfc(y)
        } else {
            erf(y) - size
        };
        let step = error / (FRAC_2_SQRT_PI * gauss(y));
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// `exp(x * x) * erfc(x)`.
pub fn erfcx(x: f64) -> f64 {
    if x < 25.0 {
        let square = x * x;
        let rest = x.mul_add(x, -square);
        return square.exp() * (1.0 + if rest.is_finite() { rest } else { 0.0 }) * erfc(x);
    }
    let w = 0.5 / (x * x);
    let series = polynomial(w, [1.0, -1.0, 3.0, -15.0, 105.0, -945.0]);
    0.5 * FRAC_2_SQRT_PI * series / x
}

/// The distribution function of the standard normal distribution.
pub fn ndtr(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// The logarithm of [`ndtr`].
pub fn log_ndtr(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    if x < -1.0 {
        (0.5 * erfcx(-t)).ln() - 0.5 * x * x
    } else {
        (-0.5 * erfc(t)).ln_1p()
    }
}

/// The inverse of [`ndtr`]: M. Wichura, "The Percentage Points of the Normal Distribution",
/// algorithm AS 241.
pub fn ndtri(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return f64::INFINITY.copysign(p - 0.5);
    }
    let centred = p - 0.5;
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
    let tail = if centred < 0.0 { p } else { 1.0 - p };
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
        [
            1.0 / 6.0,
            -1.0 / 30.0,
            1.0 / 42.0,
            -1.0 / 30.0,
            5.0 / 66.0,
            -691.0 / 2730.0,
            7.0 / 6.0,
        ],
    );
    sum + 1.0 / x + 0.5 * square + series * square / x
}

/// Hurwitz's zeta function: the sum of `(q + k)^-x`, by Euler and Maclaurin.
pub fn zeta(x: f64, q: f64) -> f64 {
    /// `(2k)! / B(2k)`.
    const WEIGHTS: [f64; 12] = [
        12.0,
        -720.0,
        30240.0,
        -1209600.0,
        47900160.0,
        -1307674368000.0 / 691.0,
        74724249600.0,
        -10670622842880000.0 / 3617.0,
        5109094217170944000.0 / 43867.0,
        -802857662698291200000.0 / 174611.0,
        15511210043330985984000000.0 / 77683.0 / 11.0,
        -1693824136731743669452800000.0 / 236364091.0,
    ];
    if x.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if x <= 1.0 {
        return if x == 1.0 { f64::INFINITY } else { f64::NAN };
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    let mut sum = q.powf(-x);
    let (mut at, mut term, mut steps) = (q, 0.0f64, 0);
    while steps < 9 || at <= 9.0 {
        steps += 1;
        at += 1.0;
        term = at.powf(-x);
        sum += term;
        if term.abs() < f64::EPSILON / 2.0 * sum.abs() {
            return sum;
        }
    }
    sum += term * at / (x - 1.0) - 0.5 * term;
    let mut factor = 1.0;
    let mut power = term;
    for (k, weight) in WEIGHTS.iter().enumerate() {
        let k = 2.0 * k as f64;
        factor *= x + k;
        power /= at;
        let correction = factor * power / weight;
        sum += correction;
        if correction.abs() < f64::EPSILON / 2.0 * sum.abs() {
            break;
        }
        factor *= x + k + 1.0;
        power /= at;
    }
    sum
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

/// The modified Bessel function of the first kind of order 0.
pub fn i0(x: f64) -> f64 {
    let x = x.abs();
    if x <= BESSEL_FAR {
        return bessel_series(x, 0.0);
    }
    let half = (0.5 * x).exp();
    half * (bessel_far(x, 0.0) / (2.0 * PI * x).sqrt()) * half
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
    let half = (0.5 * size).exp();
    (half * (bessel_far(size, 1.0) / (2.0 * PI * size).sqrt()) * half).copysign(x)
}

/// `exp(-|x|) * i1(x)`.
pub fn i1e(x: f64) -> f64 {
    let size = x.abs();
    if size <= BESSEL_FAR {
        return 0.5 * x * (-size).exp() * bessel_series(size, 1.0);
    }
    (bessel_far(size, 1.0) / (2.0 * PI * size).sqrt()).copysign(x)
}
