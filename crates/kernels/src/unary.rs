//! Elementwise operations with one operand.

use num_complex::Complex;
use num_traits::{One, Zero};
use serde::{Deserialize, Serialize};

use crate::complex_math::{self, Part};
use crate::kernel::{Kernel1, scalar1, simd1, unsupported, wide1, wide1_except};
use crate::map::{map1, update1};
use crate::par::GRAIN;
use crate::strided::{Element, Strided, StridedMut};
use crate::{Result, special, vector_math};

/// What to do with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unary {
    /// `-x`.
    Neg,
    /// The absolute value.
    Abs,
    /// Minus one, zero or one.
    Sign,
    /// The sign; of a complex number, the one of size one in the same direction.
    Sgn,
    /// `x * x`.
    Square,
    /// `e^x`.
    Exp,
    /// `2^x`.
    Exp2,
    /// `e^x - 1`.
    Expm1,
    /// The natural logarithm.
    Log,
    /// The logarithm to base 2.
    Log2,
    /// The logarithm to base 10.
    Log10,
    /// `log(1 + x)`.
    Log1p,
    /// The square root.
    Sqrt,
    /// One over the square root.
    Rsqrt,
    /// One over `x`.
    Reciprocal,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The tangent.
    Tan,
    /// The inverse sine.
    Asin,
    /// The inverse cosine.
    Acos,
    /// The inverse tangent.
    Atan,
    /// The hyperbolic sine.
    Sinh,
    /// The hyperbolic cosine.
    Cosh,
    /// The hyperbolic tangent.
    Tanh,
    /// The inverse hyperbolic sine.
    Asinh,
    /// The inverse hyperbolic cosine.
    Acosh,
    /// The inverse hyperbolic tangent.
    Atanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// The logarithm of the sigmoid.
    LogSigmoid,
    /// The error function.
    Erf,
    /// One minus the error function.
    Erfc,
    /// The inverse of the error function.
    Erfinv,
    /// `e^(x * x) * erfc(x)`.
    Erfcx,
    /// The logarithm of the size of the gamma function.
    Lgamma,
    /// The derivative of the logarithm of the gamma function.
    Digamma,
    /// The derivative of the digamma function.
    Trigamma,
    /// The distribution function of the standard normal distribution.
    Ndtr,
    /// Its logarithm.
    LogNdtr,
    /// Its inverse.
    Ndtri,
    /// The modified Bessel function of order 0.
    I0,
    /// The same times `e^-|x|`.
    I0e,
    /// The modified Bessel function of order 1.
    I1,
    /// The same times `e^-|x|`.
    I1e,
    /// `sin(pi * x) / (pi * x)`.
    Sinc,
    /// The next integer below.
    Floor,
    /// The next integer above.
    Ceil,
    /// The nearest integer; halves go to the even one.
    Round,
    /// The next integer towards zero.
    Trunc,
    /// What truncation drops.
    Frac,
    /// `max(x, 0)`.
    Relu,
    /// `x * ndtr(x)`.
    Gelu,
    /// The same by an approximation with the hyperbolic tangent.
    GeluTanh,
    /// `x * sigmoid(x)`.
    Silu,
    /// `log(1 + e^x)`; `x` itself where that exceeds 20.
    Softplus,
    /// `x * tanh(log(1 + e^x))`.
    Mish,
    /// `x / (1 + |x|)`.
    Softsign,
    /// Degrees to radians.
    Deg2rad,
    /// Radians to degrees.
    Rad2deg,
    /// `!x`.
    BitwiseNot,
    /// The complex conjugate.
    Conj,
    /// The Bessel function of order 0.
    BesselJ0,
    /// The Bessel function of order 1.
    BesselJ1,
}

impl Unary {
    /// How many elements are worth a thread.
    fn grain(self) -> usize {
        match self {
            Unary::Neg
            | Unary::Abs
            | Unary::Sign
            | Unary::Sgn
            | Unary::Square
            | Unary::Sqrt
            | Unary::Reciprocal
            | Unary::Floor
            | Unary::Ceil
            | Unary::Round
            | Unary::Trunc
            | Unary::Frac
            | Unary::Relu
            | Unary::Softsign
            | Unary::Deg2rad
            | Unary::Rad2deg
            | Unary::BitwiseNot
            | Unary::Conj => GRAIN,
            _ => GRAIN / 8,
        }
    }
}

/// Types with elementwise operations of one operand.
pub trait UnaryElement: Element {
    /// The loop of an operation, where it makes sense for this type.
    fn kernel(kind: Unary) -> Option<Kernel1<Self, Self>>;

    /// Applies an operation to every element.
    fn apply(kind: Unary, x: Strided<Self>) -> Result<Vec<Self>> {
        let kernel = Self::kernel(kind).ok_or_else(|| unsupported::<Self>(kind))?;
        Ok(map1(x, kind.grain(), &kernel))
    }
}

/// Applies an operation to every element.
pub fn unary<T: UnaryElement>(kind: Unary, x: Strided<T>) -> Result<Vec<T>> {
    T::apply(kind, x)
}

/// As [`unary`], into memory that may be that of the operand.
pub fn unary_into<T: UnaryElement>(kind: Unary, out: StridedMut<T>, x: Strided<T>) -> Result<()> {
    let kernel = T::kernel(kind).ok_or_else(|| unsupported::<T>(kind))?;
    update1(out, x, kind.grain(), &kernel);
    Ok(())
}

macro_rules! integer {
    ($($type:ty, $abs:expr, $sign:expr);*) => {$(
        impl UnaryElement for $type {
            fn kernel(kind: Unary) -> Option<Kernel1<Self, Self>> {
                Some(match kind {
                    Unary::Neg => simd1(Self::wrapping_neg),
                    Unary::Abs => simd1($abs),
                    Unary::Sign | Unary::Sgn => simd1($sign),
                    Unary::Square => simd1(|x: Self| x.wrapping_mul(x)),
                    Unary::BitwiseNot => simd1(|x: Self| !x),
                    Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc | Unary::Conj => {
                        simd1(|x: Self| x)
                    }
                    Unary::Relu => simd1(|x: Self| x.max(0)),
                    _ => return None,
                })
            }
        }
    )*};
}

integer!(
    u8, |x: u8| x, |x: u8| (x > 0) as u8;
    i8, i8::wrapping_abs, i8::signum;
    i16, i16::wrapping_abs, i16::signum;
    i32, i32::wrapping_abs, i32::signum;
    i64, i64::wrapping_abs, i64::signum
);

/// The operations of `f32` and `f64` that are alike, given a table of the remaining ones.
macro_rules! float {
    ($type:ty, $table:path) => {
        impl UnaryElement for $type {
            fn kernel(kind: Unary) -> Option<Kernel1<Self, Self>> {
                if let Some(kernel) = $table(kind) {
                    return Some(kernel);
                }
                let in_f64 = |f: fn(f64) -> f64| scalar1(move |x: Self| f(x as f64) as Self);
                Some(match kind {
                    Unary::Neg => simd1(|x: Self| -x),
                    Unary::Abs => simd1(Self::abs),
                    Unary::Sign | Unary::Sgn => {
                        simd1(|x: Self| (x > 0.0) as u8 as Self - (x < 0.0) as u8 as Self)
                    }
                    Unary::Square => simd1(|x: Self| x * x),
                    Unary::Log10 => scalar1(Self::log10),
                    Unary::Sqrt => simd1(Self::sqrt),
                    Unary::Rsqrt => simd1(|x: Self| 1.0 / x.sqrt()),
                    Unary::Reciprocal => simd1(|x: Self| 1.0 / x),
                    Unary::Asin => scalar1(Self::asin),
                    Unary::Acos => scalar1(Self::acos),
                    Unary::Atan => scalar1(Self::atan),
                    Unary::Sinh => scalar1(Self::sinh),
                    Unary::Cosh => scalar1(Self::cosh),
                    Unary::Asinh => in_f64(libm::asinh),
                    Unary::Acosh => in_f64(|x| {
                        // The library's function expects its domain.
                        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
                    }),
                    Unary::Atanh => in_f64(f64::atanh),
                    Unary::Erfinv => in_f64(special::erfinv),
                    Unary::Erfcx => in_f64(special::erfcx),
                    Unary::Lgamma => in_f64(libm::lgamma),
                    Unary::Digamma => in_f64(special::digamma),
                    Unary::Trigamma => in_f64(special::trigamma),
                    Unary::LogNdtr => in_f64(special::log_ndtr),
                    Unary::Ndtri => in_f64(special::ndtri),
                    Unary::I0 => in_f64(special::i0),
                    Unary::I0e => in_f64(special::i0e),
                    Unary::I1 => in_f64(special::i1),
                    Unary::I1e => in_f64(special::i1e),
                    Unary::BesselJ0 => in_f64(libm::j0),
                    Unary::BesselJ1 => in_f64(libm::j1),
                    Unary::Sinc => scalar1(|x: Self| {
                        let angle = x * std::f64::consts::PI as Self;
                        if x == 0.0 { 1.0 } else { angle.sin() / angle }
                    }),
                    Unary::Floor => simd1(Self::floor),
                    Unary::Ceil => simd1(Self::ceil),
                    Unary::Round => simd1(Self::round_ties_even),
                    Unary::Trunc => simd1(Self::trunc),
                    Unary::Frac => simd1(|x: Self| x - x.trunc()),
                    Unary::Relu => simd1(|x: Self| if x < 0.0 { 0.0 } else { x }),
                    Unary::Softsign => simd1(|x: Self| x / (1.0 + x.abs())),
                    Unary::Deg2rad => simd1(|x: Self| x * (std::f64::consts::PI / 180.0) as Self),
                    Unary::Rad2deg => simd1(|x: Self| x * (180.0 / std::f64::consts::PI) as Self),
                    Unary::Conj => simd1(|x: Self| x),
                    _ => return None,
                })
            }
        }
    };
}

float!(f32, f32_table);
float!(f64, f64_table);

/// What has loops of its own in single precision.
fn f32_table(kind: Unary) -> Option<Kernel1<f32, f32>> {
    use vector_math as v;
    Some(match kind {
        Unary::Exp => wide1(v::exp),
        Unary::Exp2 => wide1(v::exp2),
        Unary::Expm1 => wide1(v::expm1),
        Unary::Log => wide1(v::ln),
        Unary::Log2 => wide1(v::log2),
        Unary::Sin => wide1_except(v::sin, v::is_far_angle, f32::sin),
        Unary::Cos => wide1_except(v::cos, v::is_far_angle, f32::cos),
        Unary::Tan => wide1_except(v::tan, v::is_far_angle, f32::tan),
        Unary::Tanh => wide1(v::tanh),
        Unary::Sigmoid => wide1(v::sigmoid),
        Unary::LogSigmoid => wide1(v::log_sigmoid),
        Unary::Log1p => wide1(v::ln_1p),
        Unary::Erf => wide1(v::erf),
        Unary::Erfc => wide1(v::erfc),
        Unary::Ndtr => wide1(v::ndtr),
        Unary::Gelu => wide1(v::gelu),
        Unary::GeluTanh => wide1(v::gelu_tanh),
        Unary::Silu => wide1(v::silu),
        Unary::Softplus => wide1(v::softplus),
        Unary::Mish => wide1(v::mish),
        _ => return None,
    })
}

/// What is computed otherwise in single precision.
fn f64_table(kind: Unary) -> Option<Kernel1<f64, f64>> {
    Some(match kind {
        Unary::Exp => scalar1(f64::exp),
        Unary::Exp2 => scalar1(f64::exp2),
        Unary::Expm1 => scalar1(f64::exp_m1),
        Unary::Log => scalar1(f64::ln),
        Unary::Log2 => scalar1(f64::log2),
        Unary::Log1p => scalar1(f64::ln_1p),
        Unary::Sin => scalar1(f64::sin),
        Unary::Cos => scalar1(f64::cos),
        Unary::Tan => scalar1(f64::tan),
        Unary::Tanh => scalar1(f64::tanh),
        Unary::Sigmoid => scalar1(|x: f64| 1.0 / (1.0 + (-x).exp())),
        Unary::LogSigmoid => scalar1(|x: f64| {
            // Not `min`, which would drop NaN.
            let below = if x > 0.0 { 0.0 } else { x };
            below - (-x.abs()).exp().ln_1p()
        }),
        Unary::Erf => scalar1(libm::erf),
        Unary::Erfc => scalar1(libm::erfc),
        Unary::Ndtr => scalar1(special::ndtr),
        Unary::Gelu => scalar1(|x: f64| x * special::ndtr(x)),
        Unary::GeluTanh => scalar1(|x: f64| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }),
        Unary::Silu => scalar1(|x: f64| x / (1.0 + (-x).exp())),
        Unary::Softplus => scalar1(|x: f64| if x > 20.0 { x } else { x.exp().ln_1p() }),
        Unary::Mish => scalar1(|x: f64| x * x.exp().ln_1p().tanh()),
        _ => return None,
    })
}

impl<T> UnaryElement for Complex<T>
where
    Complex<T>: Element,
    T: Part + num_traits::Float,
{
    fn kernel(kind: Unary) -> Option<Kernel1<Self, Self>> {
        use complex_math as m;
        let in_f64 =
            |f: fn(Complex<f64>) -> Complex<f64>| scalar1(move |z: Self| T::narrow(f(T::widen(z))));
        Some(match kind {
            Unary::Neg => simd1(|z: Self| Complex::new(-z.re, -z.im)),
            Unary::Conj => simd1(|z: Self| Complex::new(z.re, -z.im)),
            Unary::Square => {
                simd1(|z: Self| Complex::new(z.re * z.re - z.im * z.im, z.re * z.im + z.im * z.re))
            }
            Unary::Exp => in_f64(m::exp),
            Unary::Exp2 => in_f64(|z| m::exp(z.scale(std::f64::consts::LN_2))),
            Unary::Expm1 => in_f64(m::expm1),
            Unary::Log => in_f64(m::ln),
            Unary::Log2 => in_f64(m::log2),
            Unary::Log10 => in_f64(m::log10),
            Unary::Log1p => in_f64(m::ln_1p),
            Unary::Sqrt => in_f64(m::sqrt),
            Unary::Rsqrt => in_f64(m::rsqrt),
            Unary::Reciprocal => in_f64(m::reciprocal),
            Unary::Sin => in_f64(m::sin),
            Unary::Cos => in_f64(m::cos),
            Unary::Tan => in_f64(m::tan),
            Unary::Asin => in_f64(m::asin),
            Unary::Acos => in_f64(m::acos),
            Unary::Atan => in_f64(m::atan),
            Unary::Sinh => in_f64(m::sinh),
            Unary::Cosh => in_f64(m::cosh),
            Unary::Tanh => in_f64(m::tanh),
            Unary::Asinh => in_f64(m::asinh),
            Unary::Acosh => in_f64(m::acosh),
            Unary::Atanh => in_f64(m::atanh),
            Unary::Sigmoid => in_f64(m::sigmoid),
            Unary::Sinc => in_f64(|z| {
                let angle = z.scale(std::f64::consts::PI);
                if z.is_zero() { Complex::one() } else { m::sin(angle) * m::reciprocal(angle) }
            }),
            Unary::Sgn => in_f64(m::sign),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply<T: UnaryElement>(kind: Unary, x: &[T]) -> Vec<T> {
        unary(kind, Strided { data: x, shape: &[x.len()], strides: &[1], offset: 0 }).unwrap()
    }

    #[test]
    fn rounding() {
        let x = [-1.5f32, -0.5, 0.5, 1.5, 2.5];
        assert_eq!(apply(Unary::Round, &x), [-2.0, -0.0, 0.0, 2.0, 2.0]);
        assert_eq!(apply(Unary::Floor, &x), [-2.0, -1.0, 0.0, 1.0, 2.0]);
        assert_eq!(apply(Unary::Ceil, &x), [-1.0, -0.0, 1.0, 2.0, 3.0]);
        assert_eq!(apply(Unary::Trunc, &x), [-1.0, -0.0, 0.0, 1.0, 2.0]);
        assert_eq!(apply(Unary::Frac, &x), [-0.5, -0.5, 0.5, 0.5, 0.5]);
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(apply(Unary::Neg, &[1u8, 0]), [255, 0]);
        assert_eq!(apply(Unary::Abs, &[i64::MIN, -3]), [i64::MIN, 3]);
        assert_eq!(apply(Unary::Square, &[16u8, 3]), [0, 9]);
        assert_eq!(apply(Unary::BitwiseNot, &[0i32, -1]), [-1, 0]);
        assert_eq!(apply(Unary::Sign, &[-7i16, 0, 9]), [-1, 0, 1]);
        assert_eq!(apply(Unary::Relu, &[-7i8, 7]), [0, 7]);
    }

    #[test]
    fn nan_passes_except_where_it_has_no_sign() {
        let kinds = [Unary::Relu, Unary::Softplus, Unary::Gelu, Unary::Sigmoid, Unary::LogSigmoid];
        for kind in kinds {
            assert!(apply(kind, &[f32::NAN])[0].is_nan(), "{kind:?}");
            assert!(apply(kind, &[f64::NAN])[0].is_nan(), "{kind:?}");
        }
        assert_eq!(apply(Unary::Sign, &[f32::NAN, -0.0, -2.0]), [0.0, 0.0, -1.0]);
    }

    #[test]
    fn far_angles_in_the_midst_of_near_ones() {
        let x: Vec<f32> = (0..2000).map(|i| if i % 700 == 3 { 1e6 } else { i as f32 }).collect();
        let expected: Vec<f32> = x.iter().map(|x| (*x as f64).sin() as f32).collect();
        for (y, expected) in apply(Unary::Sin, &x).iter().zip(expected) {
            assert!((y - expected).abs() < 2e-7);
        }
        assert!(apply(Unary::Cos, &[f32::INFINITY])[0].is_nan());
    }

    #[test]
    fn both_precisions_agree() {
        use Unary::*;
        let kinds = [
            Neg, Abs, Sign, Sgn, Square, Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sqrt, Rsqrt,
            Reciprocal, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh,
            Sigmoid, LogSigmoid, Erf, Erfc, Erfinv, Erfcx, Lgamma, Digamma, Trigamma, Ndtr,
            LogNdtr, Ndtri, I0, I0e, I1, I1e, Sinc, Floor, Ceil, Round, Trunc, Frac, Relu, Gelu,
            GeluTanh, Silu, Softplus, Mish, Softsign, Deg2rad, Rad2deg, Conj, BesselJ0, BesselJ1,
        ];
        let x = [-2.75f32, -0.625, -0.0, 0.375, 0.75, 1.25, 3.5, 30.5];
        for kind in kinds {
            let wide = apply(kind, &x.map(f64::from));
            for (&narrow, wide) in apply(kind, &x).iter().zip(wide) {
                let same = (narrow as f64 - wide).abs() <= 1e-6 * wide.abs().max(0.3);
                assert!(
                    same || narrow == wide as f32 || narrow.is_nan() && wide.is_nan(),
                    "{kind:?} {narrow} {wide}"
                );
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let x = [1.0f32];
        let x = Strided { data: &x, shape: &[1], strides: &[1], offset: 0 };
        let error = unary(Unary::BitwiseNot, x).unwrap_err();
        assert_eq!(error.to_string(), "bitwise_not: not implemented for f32");
    }

    #[test]
    fn complex_squares_and_signs() {
        let z = [Complex::new(3.0f32, 4.0), Complex::new(0.0, 0.0)];
        assert_eq!(apply(Unary::Square, &z)[0], Complex::new(-7.0, 24.0));
        assert_eq!(apply(Unary::Sgn, &z), [Complex::new(0.6, 0.8), z[1]]);
        assert_eq!(apply(Unary::Conj, &z)[0], Complex::new(3.0, -4.0));
    }
}
