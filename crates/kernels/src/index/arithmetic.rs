//! How elements that meet in one place combine.

use num_complex::Complex;

use crate::Element;

/// Numbers as index kernels combine them: integers wrap around, the least and the greatest of
/// anything and NaN are NaN.
pub trait Arithmetic: Element {
    /// What messages call the type.
    const NAME: &'static str;
    /// Whether the numbers have an order. Where not, [`Arithmetic::least`] and
    /// [`Arithmetic::greatest`] mean nothing and give the first.
    const ORDERED: bool;
    /// The number that changes nothing in a product.
    const ONE: Self;

    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
}

macro_rules! float {
    ($($type:ty, $name:literal;)*) => {$(
        impl Arithmetic for $type {
            const NAME: &'static str = $name;
            const ORDERED: bool = true;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn least(self, other: Self) -> Self {
                if self.is_nan() || self < other { self } else { other }
            }
            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                if self.is_nan() || self > other { self } else { other }
            }
        }
    )*};
}

macro_rules! integer {
    ($($type:ty, $name:literal;)*) => {$(
        impl Arithmetic for $type {
            const NAME: &'static str = $name;
            const ORDERED: bool = true;
            const ONE: Self = 1;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn least(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}

macro_rules! complex {
    ($($type:ty, $name:literal;)*) => {$(
        impl Arithmetic for Complex<$type> {
            const NAME: &'static str = $name;
            const ORDERED: bool = false;
            const ONE: Self = Complex::new(1.0, 0.0);

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn least(self, _: Self) -> Self {
                self
            }
            fn greatest(self, _: Self) -> Self {
                self
            }
        }
    )*};
}

float! { f32, "Float"; f64, "Double"; }
integer! { i64, "Long"; i32, "Int"; i16, "Short"; i8, "Char"; u8, "Byte"; }
complex! { f32, "ComplexFloat"; f64, "ComplexDouble"; }
