//! The numbers matrices are made of.

use std::fmt::Debug;
use std::ops::Neg;

use num_complex::Complex;
use num_traits::{Float, NumAssign, Zero};

use super::engine::Engine;
use crate::Element;

/// Real or complex floats: `f32`, `f64` and their complex counterparts. Sealed.
pub trait LinalgElement:
    Engine<RealPart = Self::Real> + Element + Debug + NumAssign + Neg<Output = Self>
{
    /// The type of absolute values; the type itself where it is real.
    type Real: Float + Debug + NumAssign + Element;

    /// A number from its parts; the imaginary one is ignored where the type is real.
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;
    /// The real part.
    fn re(self) -> Self::Real;
    /// The imaginary part.
    fn im(self) -> Self::Real;
    /// The complex conjugate.
    fn conjugate(self) -> Self;
    /// The absolute value.
    fn modulus(self) -> Self::Real;
    /// The square of the absolute value.
    fn modulus_squared(self) -> Self::Real;
    /// The product with a real number.
    fn scaled(self, by: Self::Real) -> Self;
    /// The quotient, which overflows and vanishes only where no number holds it.
    fn over(self, by: Self) -> Self;
    /// `exp(self)`.
    fn exponential(self) -> Self;

    /// A real number.
    #[inline(always)]
    fn from_re(re: Self::Real) -> Self {
        Self::from_parts(re, Self::Real::zero())
    }

    /// Whether both parts are finite.
    fn finite(self) -> bool {
        self.re().is_finite() && self.im().is_finite()
    }

    /// `|re| + |im|`, by which LAPACK compares pivots.
    fn modulus1(self) -> Self::Real {
        self.re().abs() + self.im().abs()
    }
}

macro_rules! elements {
    ($($real:ty),*) => {$(
        impl LinalgElement for $real {
            type Real = $real;

            #[inline(always)]
            fn from_parts(re: $real, _: $real) -> Self {
                re
            }
            #[inline(always)]
            fn re(self) -> $real {
                self
            }
            #[inline(always)]
            fn im(self) -> $real {
                0.0
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                self
            }
            #[inline(always)]
            fn modulus(self) -> $real {
                self.abs()
            }
            #[inline(always)]
            fn modulus_squared(self) -> $real {
                self * self
            }
            #[inline(always)]
            fn scaled(self, by: $real) -> Self {
                self * by
            }
            #[inline(always)]
            fn over(self, by: Self) -> Self {
                self / by
            }
            fn exponential(self) -> Self {
                self.exp()
            }
        }

        impl LinalgElement for Complex<$real> {
            type Real = $real;

            #[inline(always)]
            fn from_parts(re: $real, im: $real) -> Self {
                Complex::new(re, im)
            }
            #[inline(always)]
            fn re(self) -> $real {
                self.re
            }
            #[inline(always)]
            fn im(self) -> $real {
                self.im
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                self.conj()
            }
            #[inline(always)]
            fn modulus(self) -> $real {
                self.norm()
            }
            #[inline(always)]
            fn modulus_squared(self) -> $real {
                self.norm_sqr()
            }
            #[inline(always)]
            fn scaled(self, by: $real) -> Self {
                Complex::new(self.re * by, self.im * by)
            }
            // The operator divides by the sum of squares; this is Smith's way.
            #[inline]
            fn over(self, by: Self) -> Self {
                if by.re.abs() >= by.im.abs() {
                    let ratio = if by.im == 0.0 { 0.0 } else { by.im / by.re };
                    let size = by.re + by.im * ratio;
                    let (re, im) = (self.re + self.im * ratio, self.im - self.re * ratio);
                    Complex::new(re / size, im / size)
                } else {
                    let ratio = by.re / by.im;
                    let size = by.re * ratio + by.im;
                    let (re, im) = (self.re * ratio + self.im, self.im * ratio - self.re);
                    Complex::new(re / size, im / size)
                }
            }
            fn exponential(self) -> Self {
                self.exp()
            }
        }
    )*};
}
elements!(f32, f64);
