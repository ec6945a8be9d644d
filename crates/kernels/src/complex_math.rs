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
    if z.re.is_infinite() && !z.im.is_finite() {
        return if z.re < 0.0 {
            C::new(0.0, 0.0)
        } else {
            C::new(z.re, f64::NAN)
        };
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
    C::new(
        z.re.exp_m1() * z.im.cos() - 2.0 * half * half,
        z.re.exp() * z.im.sin(),
    )
}

/// The principal logarithm; the imaginary part lies within `-pi..=pi`.
pub(crate) fn ln(z: C) -> C {
    let size = z.re.hypot(z.im);
    let angle = z.im.atan2(z.re);
    if (0.5..=2.0).contains(&size) {
        let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
        return C::new(
            0.5 * ((large - 1.0) * (large + 1.0) + small * small).ln_1p(),
            angle,
        );
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
        if b.re > 0.0 {
            C::new(0.0, 0.0)
        } else {
            C::new(f64::NAN, f64::NAN)
        }
    } else {
        exp(b * ln(a))
    })
}

pub(crate) fn sinh(z: C) -> C {
    let (sin, cos) = z.im.sin_cos();
    let imaginary = if z.im == 0.0 { z.im } else { z.re.cosh() * sin };
    let real = if z.re == 0.0 {
        0f64.copysign(z.re * cos)
    } else {
        z.re.sinh() * cos
    };
    C::new(real, imaginary)
}

pub(crate) fn cosh(z: C) -> C {
    let (sin, cos) = z.im.sin_cos();
    let zero = z.re == 0.0 || z.im == 0.0;
    let imaginary = if zero {
        0.0 * z.re.signum() * sin.signum()
    } else {
        z.re.sinh() * sin
    };
    C::new(z.re.cosh() * cos, imaginary)
}

pub(crate) fn tanh(z: C) -> C {
    if z.re.abs() > 22.0 {
        let (sin, cos) = z.im.sin_cos();
        let rest = if z.im.is_finite() {
            4.0 * sin * cos * (-2.0 * z.re.abs()).exp()
        } else {
            0.0
        };
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
    (
        sqrt(C::new(1.0 - z.re, -z.im)),
        sqrt(C::new(1.0 + z.re, z.im)),
    )
}

pub(crate) fn asin(z: C) -> C {
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
    if is_infinite(z) {
        return C::new(z.im.abs().atan2(z.re), -f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = roots(z);
    C::new(
        2.0 * minus.re.atan2(plus.re),
        (plus.re * minus.im - plus.im * minus.re).asinh(),
    )
}

pub(crate) fn atanh(z: C) -> C {
    if is_infinite(z) {
        return C::new(0f64.copysign(z.re), FRAC_PI_2.copysign(z.im));
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
    if size == 0.0 {
        C::new(0.0, 0.0)
    } else {
        z / size
    }
}
