//! Elementary functions of `f32`, written without branches so that loops over them vectorise.
//!
//! Each follows one plan: reduce the argument by arithmetic on its bits, evaluate a polynomial on a
//! short interval, undo the reduction. Infinities, NaN, subnormal numbers and overflow come out
//! right. The polynomials are minimax fits. Errors are within two and a half units in the last place
//! for the exponential, the logarithms, the trigonometric and hyperbolic functions and the sigmoid,
//! and within a relative 1e-6 for the error function and its relatives.

// Coefficients are written as they were found; their last digits show which float was meant.
#![allow(clippy::excessive_precision)]

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_PI, LN_2, LOG2_E};

/// `c[0] + x * (c[1] + x * (...))`, fused.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, c: [f32; N]) -> f32 {
    let mut sum = c[N - 1];
    let mut k = N - 1;
    while k > 0 {
        k -= 1;
        sum = sum.mul_add(x, c[k]);
    }
    sum
}

/// Adding this to a small float and subtracting it again rounds to an integer; in between, the low
/// bits hold it.
const ROUNDER: f32 = 12582912.0;

/// The nearest integer, as a float and as an integer.
#[inline(always)]
fn nearest(shifted: f32) -> (f32, i32) {
    (shifted - ROUNDER, (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32))
}

/// `p * 2^n`, in two factors, as `2^n` may lie outside the range where the product does not.
#[inline(always)]
fn scale(p: f32, n: i32) -> f32 {
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    let half = n >> 1;
    p * power(half) * power(n.wrapping_sub(half))
}

/// `e^r` for `r` within half a `ln 2`.
#[inline(always)]
fn exp_reduced(r: f32) -> f32 {
    polynomial(r, [1.0, 1.0, 0.499999851, 0.166664720, 4.16695364e-2, 8.37312452e-3, 1.37805939e-3])
}

/// The larger of `x` and a bound, or NaN.
#[inline(always)]
fn at_least(x: f32, low: f32) -> f32 {
    if x < low { low } else { x }
}

/// The smaller of `x` and a bound, or NaN.
#[inline(always)]
fn at_most(x: f32, high: f32) -> f32 {
    if x > high { high } else { x }
}

/// `e^(x + rest)` for a `rest` much smaller than one.
#[inline(always)]
fn exp_sum(x: f32, rest: f32) -> f32 {
    // Of two parts, so that products of the first with small integers are exact.
    const LN_2_HIGH: f32 = 0.693145752;
    const LN_2_LOW: f32 = 1.42860677e-6;
    // Beyond these bounds the result is zero or infinite anyway.
    let x = at_least(at_most(x, 90.0), -105.0);
    let (n, exponent) = nearest(x.mul_add(LOG2_E, ROUNDER));
    let r = (-n).mul_add(LN_2_LOW, (-n).mul_add(LN_2_HIGH, x)) + rest;
    scale(exp_reduced(r), exponent)
}

/// `e^x`.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    exp_sum(x, 0.0)
}

/// `2^x`.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let x = at_least(at_most(x, 130.0), -152.0);
    let (n, exponent) = nearest(x + ROUNDER);
    scale(exp_reduced((x - n) * LN_2), exponent)
}

/// `e^x - 1` without cancellation.
#[inline(always)]
pub(crate) fn expm1(x: f32) -> f32 {
    let p = polynomial(
        x,
        [
            0.5,
            0.16666670143604279,
            0.04166664928197861,
            0.008332755416631699,
            0.0013889472465962172,
            0.00020078047236893326,
            2.4879971533664502e-05,
        ],
    );
    let near = (x * x).mul_add(p, x);
    let result = if x.abs() < 0.7 { near } else { exp(x) - 1.0 };
    result.copysign(x)
}

/// Splits a positive float into `2^n` and the logarithm of what lies between 2/3 and 4/3.
#[inline(always)]
fn ln_parts(x: f32) -> (f32, f32) {
    const TWO_THIRDS: i32 = 0x3f2a_aaab;
    let subnormal = x < f32::MIN_POSITIVE;
    let normal = if subnormal { x * 8388608.0 } else { x };
    let bits = normal.to_bits() as i32;
    let exponent = bits.wrapping_sub(TWO_THIRDS) & 0xff80_0000u32 as i32;
    let f = f32::from_bits(bits.wrapping_sub(exponent) as u32) - 1.0;
    let n = (exponent >> 23) as f32 - if subnormal { 23.0 } else { 0.0 };
    let s = f * f;
    let p = polynomial(
        f,
        [
            -0.5,
            0.333331972,
            -0.249996200,
            0.200120345,
            -0.166846126,
            0.139814854,
            -0.121483512,
            0.140869141,
            -0.130310059,
        ],
    );
    (n, p.mul_add(s, f))
}

/// What a logarithm is outside the positive finite numbers, else `inside`.
#[inline(always)]
fn ln_limits(x: f32, inside: f32) -> f32 {
    let upper = if x < f32::INFINITY { inside } else { x };
    let lower = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    if x > 0.0 { upper } else { lower }
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    let (n, rest) = ln_parts(x);
    ln_limits(x, n.mul_add(LN_2, rest))
}

/// The logarithm to base 2.
#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    let (n, rest) = ln_parts(x);
    ln_limits(x, rest.mul_add(LOG2_E, n))
}

/// `ln(1 + x)`, where the sum's rounding is made good.
#[inline(always)]
pub(crate) fn ln_1p(x: f32) -> f32 {
    let sum = 1.0 + x;
    let lost = (x - (sum - 1.0)) / sum;
    let lost = if (sum > 0.0) & (sum < f32::INFINITY) { lost } else { 0.0 };
    if sum == 1.0 { x } else { ln(sum) + lost }
}

/// Whether an angle is too large, or no number at all, for [`sin`] and [`cos`].
#[inline(always)]
pub(crate) fn is_far_angle(x: f32) -> bool {
    let near = x.abs() <= 1e4;
    !near
}

/// The sine and the cosine of what is left of an angle after whole right angles, and their number.
#[inline(always)]
fn sin_cos_reduced(x: f32) -> (f32, f32, i32) {
    // A right angle in three parts; fused, the first two leave no rounding behind.
    const RIGHT: [f32; 3] = [1.5707963705062866, -4.371138828673793e-08, -1.7151245100059013e-15];
    let (n, quadrant) = nearest(x.mul_add(FRAC_2_PI, ROUNDER));
    let r = (-n).mul_add(RIGHT[0], x);
    let r = (-n).mul_add(RIGHT[1], r);
    let r = (-n).mul_add(RIGHT[2], r);
    let s = r * r;
    let sin = (r * s)
        .mul_add(polynomial(s, [-0.166666672, 8.33338592e-3, -1.98559923e-4, 2.86567956e-6]), r);
    let cos = polynomial(s, [1.0, -0.5, 4.16666567e-2, -1.38877297e-3, 2.44677067e-5]);
    (sin, cos, quadrant)
}

/// The sine of `x` plus some right angles.
#[inline(always)]
fn sin_from(x: f32, turns: i32) -> f32 {
    let (sin, cos, quadrant) = sin_cos_reduced(x);
    let quadrant = quadrant.wrapping_add(turns);
    let size = if quadrant & 1 == 0 { sin } else { cos };
    f32::from_bits(size.to_bits() ^ ((quadrant as u32 & 2) << 30))
}

/// The sine, of angles that are not far.
#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    // The reduction loses the sign of zero.
    if x == 0.0 { x } else { sin_from(x, 0) }
}

/// The cosine, of angles that are not far.
#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    sin_from(x, 1)
}

/// The tangent, of angles that are not far.
#[inline(always)]
pub(crate) fn tan(x: f32) -> f32 {
    let (sin, cos, quadrant) = sin_cos_reduced(x);
    let odd = quadrant & 1 != 0;
    let (above, below) = if odd { (-cos, sin) } else { (sin, cos) };
    // The reduction loses the sign of zero.
    if x == 0.0 { x } else { above / below }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let s = x * x;
    let near = (x * s).mul_add(
        polynomial(
            s,
            [
                -0.3333333432674408,
                0.1333332508802414,
                -0.053964823484420776,
                0.021819373592734337,
                -0.008529390208423138,
                0.0025300669949501753,
            ],
        ),
        x,
    );
    let far = 1.0 - 2.0 / (exp(size + size) + 1.0);
    let result = if size < 0.55 { near } else { far };
    result.copysign(x)
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The logarithm of the sigmoid.
#[inline(always)]
pub(crate) fn log_sigmoid(x: f32) -> f32 {
    at_most(x, 0.0) - ln_1p(exp(-x.abs()))
}

/// `x / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// `ln(1 + e^x)`, or `x` where that is the same.
#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    if x > 20.0 { x } else { ln_1p(exp(x)) }
}

/// `x * tanh(softplus(x))`, which is a fraction in `e^x`.
#[inline(always)]
pub(crate) fn mish(x: f32) -> f32 {
    let w = exp(x);
    let n = w * (w + 2.0);
    if x > 20.0 { x } else { x * (n / (n + 2.0)) }
}

/// `e^(t * t) * erfc(t)` for `t` from 0 to 10.5.
#[inline(always)]
fn erfcx(t: f32) -> f32 {
    let q = (t - 4.0) / (t + 4.0);
    let p = polynomial(
        q,
        [
            1.2329951524734497,
            -0.13962101936340332,
            0.015377327799797058,
            0.06809142231941223,
            -0.10099292546510696,
            0.09383990615606308,
            -0.06659337878227234,
            0.036387067288160324,
            -0.01606089621782303,
            0.0068613993935287,
            0.0008334959275089204,
        ],
    );
    p / (1.0 + 2.0 * t)
}

/// `erfc(|x|)`.
#[inline(always)]
fn erfc_size(x: f32) -> f32 {
    let t = at_most(x.abs(), 10.5);
    let square = t * t;
    let rest = t.mul_add(t, -square);
    erfcx(t) * exp_sum(-square, -rest)
}

/// The error function.
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let near = x * polynomial(
        x * x,
        [
            1.128379225730896,
            -0.37612637877464294,
            0.11283766478300095,
            -0.026863837614655495,
            0.005213504657149315,
            -0.0008304043440148234,
            9.152873826678842e-05,
        ],
    );
    let far = (1.0 - erfc_size(x)).copysign(x);
    if x.abs() < 0.8 { near } else { far }
}

/// One minus the error function.
#[inline(always)]
pub(crate) fn erfc(x: f32) -> f32 {
    let size = erfc_size(x);
    if x < 0.0 { 2.0 - size } else { size }
}

/// The distribution function of the standard normal distribution.
#[inline(always)]
pub(crate) fn ndtr(x: f32) -> f32 {
    // The exponent is taken from x itself: it would magnify the rounding of x / sqrt(2).
    let size = at_most(x.abs(), 14.8);
    let square = size * size;
    let rest = size.mul_add(size, -square);
    let tail = 0.5 * erfcx(size * FRAC_1_SQRT_2) * exp_sum(-0.5 * square, -0.5 * rest);
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// `x * ndtr(x)`.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    x * ndtr(x)
}

/// `x / 2 * (1 + tanh(u))` with a cubic `u`, which is `x * sigmoid(2 * u)`.
#[inline(always)]
pub(crate) fn gelu_tanh(x: f32) -> f32 {
    /// Twice the square root of `2 / pi`.
    const SCALE: f32 = 1.5957691216057308;
    let u = x * SCALE * (x * x).mul_add(0.044715, 1.0);
    x / (1.0 + exp(-u))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest relative error over floats of all sizes up to `limit`, where the result is
    /// normal; limits and NaN must agree exactly.
    fn error(f: fn(f32) -> f32, expected: fn(f64) -> f64, limit: f32) -> f64 {
        let mut worst = 0f64;
        for bits in (0..=u32::MAX).step_by(10_007) {
            let x = f32::from_bits(bits);
            if x.abs() > limit {
                continue;
            }
            let (y, exact) = (f(x), expected(x as f64));
            let rounded = exact as f32;
            if rounded.is_finite() && exact.abs() > f32::MIN_POSITIVE as f64 {
                worst = worst.max(((y as f64 - exact) / exact).abs());
            } else if rounded.is_finite() {
                assert!((y as f64 - exact).abs() < 1e-43, "{x:e}");
            } else {
                assert!(y == rounded || y.is_nan() && rounded.is_nan(), "{x:e}");
            }
        }
        worst
    }

    #[test]
    fn within_few_units_in_the_last_place() {
        const TWO: f64 = 2.5 * f32::EPSILON as f64 / 2.0;
        let all = f32::INFINITY;
        assert!(error(exp, f64::exp, all) < TWO);
        assert!(error(exp2, f64::exp2, all) < TWO);
        assert!(error(expm1, f64::exp_m1, all) < TWO);
        assert!(error(ln, f64::ln, all) < TWO);
        assert!(error(log2, f64::log2, all) < TWO);
        assert!(error(ln_1p, f64::ln_1p, all) < TWO);
        assert!(error(sin, f64::sin, 1e4) < TWO);
        assert!(error(cos, f64::cos, 1e4) < TWO);
        assert!(error(tan, f64::tan, 1e4) < 1.5 * TWO);
        assert!(error(tanh, f64::tanh, all) < TWO);
        assert!(error(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 87.0) < TWO);
    }

    #[test]
    fn within_a_millionth() {
        let all = f32::INFINITY;
        assert!(error(erf, libm::erf, all) < 1e-6);
        assert!(error(erfc, libm::erfc, all) < 1e-6);
        assert!(error(ndtr, crate::special::ndtr, all) < 1e-6);
        assert!(error(gelu, |x| x * crate::special::ndtr(x), all) < 1e-6);
        assert!(error(silu, |x| x / (1.0 + (-x).exp()), 87.0) < 1e-6);
        assert!(error(mish, |x| x * x.exp().ln_1p().tanh(), 80.0) < 1e-6);
        let softplus_exact = |x: f64| if x > 20.0 { x } else { x.exp().ln_1p() };
        assert!(error(softplus, softplus_exact, all) < 1e-6);
    }

    #[test]
    fn limits() {
        assert_eq!((exp(f32::NEG_INFINITY), exp(f32::INFINITY)), (0.0, f32::INFINITY));
        assert_eq!(exp(-103.0), f32::from_bits(1));
        assert_eq!((ln(0.0), ln(f32::INFINITY)), (f32::NEG_INFINITY, f32::INFINITY));
        assert!(ln(-1.0).is_nan() && exp(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
        assert_eq!((tanh(40.0), tanh(f32::NEG_INFINITY)), (1.0, -1.0));
        assert_eq!((sigmoid(f32::NEG_INFINITY), sigmoid(f32::INFINITY)), (0.0, 1.0));
        assert_eq!((erf(f32::INFINITY), erfc(f32::NEG_INFINITY)), (1.0, 2.0));
        for f in [sin, tan, tanh, erf, expm1, ln_1p, gelu, silu] {
            assert_eq!(f(-0.0).to_bits(), (-0f32).to_bits());
        }
    }
}
