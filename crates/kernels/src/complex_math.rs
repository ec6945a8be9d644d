//! Elementary functions of complex numbers, with the branch cuts and limits of the C standard.
//!
//! The formulas are those of W. Kahan, "Branch Cuts for Complex Elementary Functions". Everything
//! is computed in `f64`; [`Part`] rounds to the type at hand.

use std::f64::consts::{FRAC_PI_2, LN_2, LN_10};

use num_complex::Complex;

use crate::arithmetic::Field;

type C = Complex<f64>;

/// A complex number's part: what computes in `f64`.
pub(crate) trait Part: Copy {
    fn widen(z: Complex<Self>) -> C;
    fn narrow(z: C) -> Complex<Self>;
}

impl Part for f32 {
    #[inline(always)]
    fn widen(z: Complex<f32>) -> C {
        C::new(z.re as f64, z.im as f64)
    }
    #[inline(always)]
    fn narrow(z: C) -> Complex<f32> {
        Complex::new(z.re as f32, z.im as f32)
    }
}

impl Part for f64 {
    #[inline(always)]
    fn widen(z: C) -> C {
        z
    }
    #[inline(always)]
    fn narrow(z: C) -> C {
        z
    }
}

const ONE: C = C::new(1.0, 0.0);

/// `i * z`.
fn times_i(z: C) -> C {
    C::new(-z.im, z.re)
}

/// `-i * z`.
fn over_i(z: C) -> C {
    C::new(z.im, -z.re)
}

fn is_infinite(z: C) -> bool {
    z.re.is_infinite() || z.im.is_infinite()
}

/// The exponential; where it would overflow, in two steps, as its parts may be smaller.
pub(crate) fn exp(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.exp(), z.im);
    }
    if is_lost(z) {
        return if z.re < 0.0 { C::new(0.0, 0.0) } else { C::new(z.re, f64::NAN) };
    }
    let (sin, cos) = z.im.sin_cos();
    if z.re > 709.0 && z.re.is_finite() {
        let half = (z.re / 2.0).exp();
        return C::new(half * cos * half, half * sin * half);
    }
    let size = z.re.exp();
    C::new(size * cos, size * sin)
}

/// `exp(z) - 1` without cancellation.
pub(crate) fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.exp_m1(), z.im);
    }
    if !z.is_finite() || z.re > 1.0 {
        return exp(z) - ONE;
    }
    let half = (z.im / 2.0).sin();
    C::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, z.re.exp() * z.im.sin())
}

/// The principal logarithm; the imaginary part lies within `-pi..=pi`.
pub(crate) fn ln(z: C) -> C {
    let size = z.re.hypot(z.im);
    let angle = z.im.atan2(z.re);
    if (0.5..=2.0).contains(&size) {
        let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
        return C::new(0.5 * ((large - 1.0) * (large + 1.0) + small * small).ln_1p(), angle);
    }
    C::new(size.ln(), angle)
}

/// The principal logarithm to base 2.
pub(crate) fn log2(z: C) -> C {
    ln(z) / LN_2
}

/// The principal logarithm to base 10.
pub(crate) fn log10(z: C) -> C {
    ln(z) / LN_10
}

/// `ln(1 + z)` without cancellation.
pub(crate) fn ln_1p(z: C) -> C {
    if z.re.abs() < 0.5 && z.im.abs() < 0.5 {
        let real = 0.5 * (z.re * (z.re + 2.0) + z.im * z.im).ln_1p();
        return C::new(real, z.im.atan2(1.0 + z.re));
    }
    ln(C::new(1.0 + z.re, z.im))
}

/// The square root with a real part that is not negative.
pub(crate) fn sqrt(z: C) -> C {
    let (a, b) = (z.re, z.im);
    if a == 0.0 && b == 0.0 {
        return C::new(0.0, b);
    }
    if b.is_infinite() {
        return C::new(f64::INFINITY, b);
    }
    if a.is_infinite() {
        let rest = if b.is_nan() { b } else { 0.0 };
        return if a > 0.0 {
            C::new(a, if b.is_nan() { b } else { f64::copysign(0.0, b) })
        } else {
            C::new(rest, f64::copysign(f64::INFINITY, b))
        };
    }
    // Powers of four pass through a square root exactly.
    let largest = a.abs().max(b.abs());
    let (down, up) = match largest {
        size if size > 1e300 => (0.0625, 4.0),
        size if size < 1e-290 => (2f64.powi(108), 2f64.powi(-54)),
        _ => (1.0, 1.0),
    };
    let (a, b) = (a * down, b * down);
    let root = (0.5 * (a.abs() + a.hypot(b))).sqrt();
    let other = b / (2.0 * root);
    if a >= 0.0 {
        C::new(root * up, other * up)
    } else {
        C::new(other.abs() * up, f64::copysign(root, b) * up)
    }
}

/// `a` to the power of `b`.
pub(crate) fn pow<T: Part>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let (a, b) = (T::widen(a), T::widen(b));
    T::narrow(if b.re == 0.0 && b.im == 0.0 {
        ONE
    } else if a.re == 0.0 && a.im == 0.0 {
        if b.re > 0.0 { C::new(0.0, 0.0) } else { C::new(f64::NAN, f64::NAN) }
    } else {
        exp(b * ln(a))
    })
}

/// Whether the size is infinite and the direction is not known.
fn is_lost(z: C) -> bool {
    z.re.is_infinite() && !z.im.is_finite()
}

pub(crate) fn sinh(z: C) -> C {
    if is_lost(z) {
        return C::new(z.re, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    let imaginary = if z.im == 0.0 { z.im } else { z.re.cosh() * sin };
    let real = if z.re == 0.0 { 0f64.copysign(z.re * cos) } else { z.re.sinh() * cos };
    C::new(real, imaginary)
}

pub(crate) fn cosh(z: C) -> C {
    if is_lost(z) {
        return C::new(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    let zero = z.re == 0.0 || z.im == 0.0;
    let sign = z.re.signum() * sin.signum();
    let imaginary = if zero { 0f64.copysign(sign) } else { z.re.sinh() * sin };
    C::new(z.re.cosh() * cos, imaginary)
}

pub(crate) fn tanh(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.tanh(), z.im);
    }
    if !z.im.is_finite() && z.re.is_finite() {
        return C::new(if z.re == 0.0 { z.re } else { f64::NAN }, f64::NAN);
    }
    if z.re.abs() > 22.0 {
        let (sin, cos) = z.im.sin_cos();
        let rest = if z.im.is_finite() { 4.0 * sin * cos * (-2.0 * z.re.abs()).exp() } else { 0.0 };
        return C::new(1f64.copysign(z.re), rest);
    }
    let tan = z.im.tan();
    let beta = 1.0 + tan * tan;
    let sinh = z.re.sinh();
    let cosh = (1.0 + sinh * sinh).sqrt();
    let scale = 1.0 / (1.0 + beta * sinh * sinh);
    C::new(beta * cosh * sinh * scale, tan * scale)
}

pub(crate) fn sin(z: C) -> C {
    over_i(sinh(times_i(z)))
}

pub(crate) fn cos(z: C) -> C {
    cosh(times_i(z))
}

pub(crate) fn tan(z: C) -> C {
    over_i(tanh(times_i(z)))
}

/// The square roots of `1 - z` and `1 + z`, on the side of the cut that the sign of a zero
/// imaginary part tells.
fn roots(z: C) -> (C, C) {
    (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)))
}

/// Whether the one part is zero and the other unknown.
fn is_imaginary_nan(z: C) -> bool {
    z.re == 0.0 && z.im.is_nan()
}

pub(crate) fn asin(z: C) -> C {
    if is_imaginary_nan(z) {
        return z;
    }
    if is_infinite(z) {
        let angle = z.re.abs().atan2(z.im.abs()).copysign(z.re);
        return C::new(angle, f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = roots(z);
    C::new(
        z.re.atan2(minus.re * plus.re - minus.im * plus.im),
        (minus.re * plus.im - minus.im * plus.re).asinh(),
    )
}

pub(crate) fn acos(z: C) -> C {
    if is_imaginary_nan(z) {
        return C::new(FRAC_PI_2, f64::NAN);
    }
    if is_infinite(z) {
        return C::new(z.im.abs().atan2(z.re), -f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = roots(z);
    C::new(2.0 * minus.re.atan2(plus.re), (plus.re * minus.im - plus.im * minus.re).asinh())
}

pub(crate) fn atanh(z: C) -> C {
    if is_imaginary_nan(z) {
        return z;
    }
    if is_infinite(z) {
        let angle = if z.im.is_nan() { z.im } else { FRAC_PI_2.copysign(z.im) };
        return C::new(0f64.copysign(z.re), angle);
    }
    let (x, y) = (z.re.abs(), z.im);
    let real = 0.25 * (4.0 * x / ((1.0 - x) * (1.0 - x) + y * y)).ln_1p();
    let angle = 0.5 * (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y);
    C::new(real.copysign(z.re), angle)
}

pub(crate) fn asinh(z: C) -> C {
    times_i(asin(over_i(z)))
}

pub(crate) fn acosh(z: C) -> C {
    let w = acos(z);
    C::new(w.im.abs(), w.re.copysign(z.im))
}

pub(crate) fn atan(z: C) -> C {
    over_i(atanh(times_i(z)))
}

pub(crate) fn sigmoid(z: C) -> C {
    ONE.over(ONE + exp(-z))
}

pub(crate) fn reciprocal(z: C) -> C {
    ONE.over(z)
}

pub(crate) fn rsqrt(z: C) -> C {
    ONE.over(sqrt(z))
}

/// The number of size one in the same direction; zero stays zero.
pub(crate) fn sign(z: C) -> C {
    let size = z.re.hypot(z.im);
    if size == 0.0 { C::new(0.0, 0.0) } else { z / size }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [(f64, f64); 10] = [
        (0.3, 0.4),
        (-2.5, 1.5),
        (3.0, -0.0),
        (3.0, 0.0),
        (-3.0, 0.0),
        (-3.0, -0.0),
        (0.0, 2.0),
        (-0.0, -2.0),
        (1e-9, 1e-9),
        (30.0, 20.0),
    ];

    /// Values of the C library, both sides of every branch cut among them.
    #[test]
    #[allow(clippy::approx_constant, clippy::type_complexity)]
    fn values_and_branch_cuts() {
        let cases: [(fn(C) -> C, &str, [(f64, f64); 10]); 15] = [
            (
                exp,
                "exp",
                [
                    (1.2433022950695027, 0.5256597791969788),
                    (0.005806463101551845, 0.08187937460273977),
                    (20.085536923187668, -0.0),
                    (20.085536923187668, 0.0),
                    (0.049787068367863944, 0.0),
                    (0.049787068367863944, -0.0),
                    (-0.4161468365471424, 0.9092974268256817),
                    (-0.4161468365471424, -0.9092974268256817),
                    (1.000000001, 1.0000000010000002e-09),
                    (4360958580744.9077, 9756166216224.271),
                ],
            ),
            (
                ln,
                "log",
                [
                    (-0.6931471805599453, 0.9272952180016123),
                    (1.0700330817481354, 2.601173153319209),
                    (1.0986122886681098, -0.0),
                    (1.0986122886681098, 0.0),
                    (1.0986122886681098, 3.141592653589793),
                    (1.0986122886681098, -3.141592653589793),
                    (0.6931471805599453, 1.5707963267948966),
                    (0.6931471805599453, -1.5707963267948966),
                    (-20.376692246666437, 0.7853981633974483),
                    (3.585059771724814, 0.5880026035475675),
                ],
            ),
            (
                sqrt,
                "sqrt",
                [
                    (0.6324555320336759, 0.31622776601683794),
                    (0.45578281419040484, 1.645520578331163),
                    (1.7320508075688772, -0.0),
                    (1.7320508075688772, 0.0),
                    (0.0, 1.7320508075688772),
                    (0.0, -1.7320508075688772),
                    (1.0, 1.0),
                    (1.0, -1.0),
                    (3.4743442276011566e-05, 1.4391204994250743e-05),
                    (5.7469780213012776, 1.740044935431251),
                ],
            ),
            (
                sin,
                "sin",
                [
                    (0.31947873074156474, 0.3924066848326388),
                    (-1.4078516262453897, -1.7058586411644667),
                    (0.1411200080598672, 0.0),
                    (0.1411200080598672, -0.0),
                    (-0.1411200080598672, -0.0),
                    (-0.1411200080598672, 0.0),
                    (0.0, 3.626860407847019),
                    (-0.0, -3.626860407847019),
                    (1e-09, 1e-09),
                    (-239679277.9870329, 37418717.413476594),
                ],
            ),
            (
                cos,
                "cos",
                [
                    (1.0327878842028413, -0.12138561220787392),
                    (-1.8846179444033462, 1.2743144408870997),
                    (-0.9899924966004454, 0.0),
                    (-0.9899924966004454, -0.0),
                    (-0.9899924966004454, 0.0),
                    (-0.9899924966004454, -0.0),
                    (3.7621956910836314, -0.0),
                    (3.7621956910836314, -0.0),
                    (1.0, -1e-18),
                    (37418717.413476594, 239679277.9870329),
                ],
            ),
            (
                tan,
                "tan",
                [
                    (0.261073681841663, 0.41063347084255636),
                    (0.0926378362684199, 0.967786802152774),
                    (-0.1425465430742778, -0.0),
                    (-0.1425465430742778, 0.0),
                    (0.1425465430742778, 0.0),
                    (0.1425465430742778, -0.0),
                    (0.0, 0.9640275800758169),
                    (-0.0, -0.9640275800758169),
                    (1e-09, 1e-09),
                    (-2.5898869984353493e-18, 1.0),
                ],
            ),
            (
                asin,
                "asin",
                [
                    (0.28062956229180586, 0.4051123371780309),
                    (-1.0033627117332509, 1.7501487613175148),
                    (1.5707963267948966, -1.762747174039086),
                    (1.5707963267948966, 1.762747174039086),
                    (-1.5707963267948966, 1.762747174039086),
                    (-1.5707963267948966, -1.762747174039086),
                    (0.0, 1.4436354751788103),
                    (-0.0, -1.4436354751788103),
                    (1e-09, 1e-09),
                    (0.9826161690739991, 4.278133026870809),
                ],
            ),
            (
                acos,
                "acos",
                [
                    (1.2901667645030908, -0.4051123371780309),
                    (2.574159038528147, -1.7501487613175148),
                    (0.0, 1.762747174039086),
                    (0.0, -1.762747174039086),
                    (3.141592653589793, -1.762747174039086),
                    (3.141592653589793, 1.762747174039086),
                    (1.5707963267948966, -1.4436354751788103),
                    (1.5707963267948966, 1.4436354751788103),
                    (1.5707963257948965, -1e-09),
                    (0.5881801577208977, -4.278133026870809),
                ],
            ),
            (
                atan,
                "atan",
                [
                    (0.3373704711117763, 0.37908687234202215),
                    (-1.2767950250211129, 0.163481616851666),
                    (1.2490457723982544, -0.0),
                    (1.2490457723982544, 0.0),
                    (-1.2490457723982544, 0.0),
                    (-1.2490457723982544, -0.0),
                    (1.5707963267948966, 0.5493061443340549),
                    (-1.5707963267948966, -0.5493061443340549),
                    (1e-09, 9.999999999999999e-10),
                    (1.5477180414343423, 0.015377636829189741),
                ],
            ),
            (
                sinh,
                "sinh",
                [
                    (0.2804817641764754, 0.4070739913234487),
                    (-0.42797453450615125, 6.116928012369312),
                    (10.017874927409903, -0.0),
                    (10.017874927409903, 0.0),
                    (-10.017874927409903, 0.0),
                    (-10.017874927409903, -0.0),
                    (-0.0, 0.9092974268256817),
                    (0.0, -0.9092974268256817),
                    (1e-09, 1e-09),
                    (2180479290372.4539, 4878083108112.136),
                ],
            ),
            (
                cosh,
                "cosh",
                [
                    (0.9628205308930272, 0.11858578787353008),
                    (0.43378099760770306, -6.035048637766573),
                    (10.067661995777765, -0.0),
                    (10.067661995777765, 0.0),
                    (10.067661995777765, -0.0),
                    (10.067661995777765, 0.0),
                    (-0.4161468365471424, 0.0),
                    (-0.4161468365471424, 0.0),
                    (1.0, 1e-18),
                    (2180479290372.4539, 4878083108112.136),
                ],
            ),
            (
                tanh,
                "tanh",
                [
                    (0.3382547432654715, 0.38113207427244283),
                    (-1.0134287782038935, 0.001927343523745636),
                    (0.9950547536867305, -0.0),
                    (0.9950547536867305, 0.0),
                    (-0.9950547536867305, 0.0),
                    (-0.9950547536867305, -0.0),
                    (0.0, -2.185039863261519),
                    (-0.0, 2.185039863261519),
                    (1e-09, 1e-09),
                    (1.0, 1.3049182818328473e-26),
                ],
            ),
            (
                asinh,
                "asinh",
                [
                    (0.3189624333048183, 0.3903162045220237),
                    (-1.777662377506645, 0.5155484357349067),
                    (1.8184464592320668, -0.0),
                    (1.8184464592320668, 0.0),
                    (-1.8184464592320668, 0.0),
                    (-1.8184464592320668, -0.0),
                    (1.3169578969248166, 1.5707963267948966),
                    (-1.3169578969248166, -1.5707963267948966),
                    (1e-09, 1e-09),
                    (4.278280955820975, 0.5878251281529677),
                ],
            ),
            (
                acosh,
                "acosh",
                [
                    (0.4051123371780309, 1.2901667645030908),
                    (1.7501487613175148, 2.574159038528147),
                    (1.762747174039086, -0.0),
                    (1.762747174039086, 0.0),
                    (1.762747174039086, 3.141592653589793),
                    (1.762747174039086, -3.141592653589793),
                    (1.4436354751788103, 1.5707963267948966),
                    (1.4436354751788103, -1.5707963267948966),
                    (1e-09, 1.5707963257948965),
                    (4.278133026870809, 0.5881801577208977),
                ],
            ),
            (
                atanh,
                "atanh",
                [
                    (0.2614921387956719, 0.4088225229163512),
                    (-0.29251781316256364, 1.380543138238714),
                    (0.34657359027997264, -1.5707963267948966),
                    (0.34657359027997264, 1.5707963267948966),
                    (-0.34657359027997264, 1.5707963267948966),
                    (-0.34657359027997264, -1.5707963267948966),
                    (0.0, 1.1071487177940904),
                    (-0.0, -1.1071487177940904),
                    (9.999999999999999e-10, 1e-09),
                    (0.023075554361714715, 1.5554047315405315),
                ],
            ),
        ];
        for (f, name, expected) in cases {
            for (point, expected) in POINTS.into_iter().zip(expected) {
                let (w, e) = (f(C::new(point.0, point.1)), C::new(expected.0, expected.1));
                let close = |a: f64, b: f64| {
                    (a - b).abs() <= 4e-15 * b.abs().max(1e-3 * e.norm())
                        && (b != 0.0 || a.is_sign_negative() == b.is_sign_negative())
                };
                assert!(close(w.re, e.re) && close(w.im, e.im), "{name} {point:?}: {w} {e}");
            }
        }
    }

    #[test]
    fn infinities() {
        let inf = f64::INFINITY;
        assert_eq!(sqrt(C::new(-inf, 1.0)), C::new(0.0, inf));
        assert_eq!(exp(C::new(-inf, inf)), C::new(0.0, 0.0));
        assert_eq!(acos(C::new(-inf, 1.0)), C::new(std::f64::consts::PI, -inf));
        assert_eq!(atanh(C::new(1.0, inf)), C::new(0.0, FRAC_PI_2));
        assert_eq!(tanh(C::new(-inf, inf)), C::new(-1.0, 0.0));
        assert!(exp(C::new(1000.0, 1.0)).re.is_infinite());
        assert!(exp(C::new(710.0, 1.5)).re.is_finite());
        assert!((sqrt(C::new(1e308, 1e308)).re / 1.09868411346781e154 - 1.0).abs() < 1e-14);
    }

    /// What is known stays known: the cases of the C standard's annex G with a NaN in the result.
    #[test]
    fn one_part_unknown() {
        let (inf, nan, zero) = (f64::INFINITY, f64::NAN, 0.0);
        // `None` is a zero of either sign.
        type Case = (fn(C) -> C, (f64, f64), (Option<f64>, Option<f64>));
        let cases: [Case; 20] = [
            (cosh, (zero, inf), (Some(nan), None)),
            (cosh, (zero, nan), (Some(nan), None)),
            (cosh, (nan, zero), (Some(nan), None)),
            (cosh, (2.0, inf), (Some(nan), Some(nan))),
            (cosh, (inf, inf), (Some(inf), Some(nan))),
            (cosh, (-inf, nan), (Some(inf), Some(nan))),
            (sinh, (zero, inf), (None, Some(nan))),
            (sinh, (-inf, inf), (Some(-inf), Some(nan))),
            (sinh, (inf, nan), (Some(inf), Some(nan))),
            (tanh, (-0.0, inf), (Some(-0.0), Some(nan))),
            (tanh, (zero, nan), (Some(zero), Some(nan))),
            (tanh, (30.0, inf), (Some(nan), Some(nan))),
            (tanh, (nan, -0.0), (Some(nan), Some(-0.0))),
            (asin, (-0.0, nan), (Some(-0.0), Some(nan))),
            (asinh, (nan, zero), (Some(nan), Some(zero))),
            (acos, (zero, nan), (Some(FRAC_PI_2), Some(nan))),
            (acosh, (zero, nan), (Some(nan), Some(FRAC_PI_2))),
            (atanh, (zero, nan), (Some(zero), Some(nan))),
            (atanh, (-inf, nan), (Some(-0.0), Some(nan))),
            (atan, (nan, zero), (Some(nan), Some(zero))),
        ];
        for (f, (re, im), (real, imaginary)) in cases {
            let w = f(C::new(re, im));
            let is = |got: f64, wanted: Option<f64>| match wanted {
                None => got == 0.0,
                Some(wanted) if wanted.is_nan() => got.is_nan(),
                // The angle of `acosh` takes its sign from a NaN.
                Some(wanted) if wanted == FRAC_PI_2 => got.abs() == wanted,
                Some(wanted) => got.to_bits() == wanted.to_bits(),
            };
            assert!(is(w.re, real) && is(w.im, imaginary), "f({re}, {im}) = {w}");
        }
    }

    #[test]
    fn no_cancellation_near_the_trivial_points() {
        let z = C::new(1e-10, 2e-10);
        assert!((expm1(z) - z).norm() < 1e-19);
        assert!((ln_1p(z) - z).norm() < 1e-19);
        assert!((ln(C::new(1.0, 1e-9)).re - 5e-19).abs() < 1e-27);
        assert_eq!(pow(C::new(0.0, 0.0), C::new(2.0, 0.0)), C::new(0.0, 0.0));
        assert_eq!(pow(C::new(0.0, 0.0), C::new(0.0, 0.0)), ONE);
    }
}
