//! The arithmetic that integers, floats and complex numbers share.

use num_complex::Complex;

use crate::strided::Element;

/// Addition, subtraction, multiplication; integers wrap around.
pub trait Ring: Element {
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self - other`.
    fn minus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
}

/// What divides without a remainder: floats and complex numbers.
pub trait Field: Ring {
    /// `self / other`.
    fn over(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Ring for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

integer!(u8, i8, i16, i32, i64);

macro_rules! float {
    ($($type:ty),*) => {$(
        impl Ring for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }

        impl Field for $type {
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
        }

        impl Ring for Complex<$type> {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Complex::new(self.re + other.re, self.im + other.im)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                Complex::new(self.re - other.re, self.im - other.im)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Complex::new(
                    self.re * other.re - self.im * other.im,
                    self.re * other.im + self.im * other.re,
                )
            }
        }

        impl Field for Complex<$type> {
            /// Smith's method, which neither overflows nor underflows where the quotient does not;
            /// division by zero gives infinities or NaN as it does for each part alone.
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                let (a, b, c, d) = (self.re, self.im, other.re, other.im);
                let (c_size, d_size) = (c.abs(), d.abs());
                if c_size >= d_size {
                    if c_size == 0.0 && d_size == 0.0 {
                        return Complex::new(a / c_size, b / d_size);
                    }
                    let ratio = d / c;
                    let scale = 1.0 / (c + d * ratio);
                    Complex::new((a + b * ratio) * scale, (b - a * ratio) * scale)
                } else {
                    let ratio = c / d;
                    let scale = 1.0 / (d + c * ratio);
                    Complex::new((a * ratio + b) * scale, (b * ratio - a) * scale)
                }
            }
        }
    )*};
}

float!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap() {
        assert_eq!(250u8.plus(10), 4);
        assert_eq!(i64::MIN.minus(1), i64::MAX);
        assert_eq!(i32::MIN.times(-1), i32::MIN);
    }

    #[test]
    fn complex_division_neither_overflows_nor_loses_zero() {
        let z = Complex::new(1e300f64, 1e300).over(Complex::new(2e300, 2e300));
        assert_eq!(z, Complex::new(0.5, 0.0));
        assert_eq!(Complex::new(1.0f32, 2.0).over(Complex::new(0.0, 1.0)), Complex::new(2.0, -1.0));
        let z = Complex::new(1.0f32, 0.0).over(Complex::new(0.0, 0.0));
        assert!(z.re.is_infinite() && z.im.is_nan());
    }
}
