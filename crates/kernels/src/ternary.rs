//! Elementwise operations with three operands.

use num_complex::Complex;

use crate::arithmetic::{Field, Ring};
use crate::kernel::{simd2, simd3};
use crate::map::{map2, map3};
use crate::par::GRAIN;
use crate::strided::{Element, Strided};

/// `a` where the condition is not zero, else `b`.
pub fn select<T: Element>(condition: Strided<u8>, a: Strided<T>, b: Strided<T>) -> Vec<T> {
    map3(condition, a, b, GRAIN, &simd3(|c: u8, a: T, b: T| if c != 0 { a } else { b }))
}

/// Types with a lower and an upper bound to keep to.
pub trait Bounded: Element {
    /// The larger of an element and its lower bound; NaN if either is.
    fn at_least(self, low: Self) -> Self;
    /// The smaller of an element and its upper bound; NaN if either is.
    fn at_most(self, high: Self) -> Self;
}

macro_rules! bounded {
    ($($type:ty),*) => {$(
        impl Bounded for $type {
            #[inline(always)]
            #[allow(clippy::eq_op)] // NaN is not itself
            fn at_least(self, low: Self) -> Self {
                if (self < low) | (low != low) & (self == self) { low } else { self }
            }
            #[inline(always)]
            #[allow(clippy::eq_op)] // NaN is not itself
            fn at_most(self, high: Self) -> Self {
                if (self > high) | (high != high) & (self == self) { high } else { self }
            }
        }
    )*};
}

bounded!(u8, i8, i16, i32, i64, f32, f64);

/// Keeps elements within bounds; NaN in an element or a bound gives NaN, and where the bounds
/// cross, the upper one wins.
pub fn clamp<T: Bounded>(
    x: Strided<T>,
    low: Option<Strided<T>>,
    high: Option<Strided<T>>,
) -> Vec<T> {
    match (low, high) {
        (Some(low), Some(high)) => {
            map3(x, low, high, GRAIN, &simd3(|x: T, low: T, high: T| x.at_least(low).at_most(high)))
        }
        (Some(low), None) => map2(x, low, GRAIN, &simd2(T::at_least)),
        (None, Some(high)) => map2(x, high, GRAIN, &simd2(T::at_most)),
        (None, None) => crate::copy::contiguous(x),
    }
}

/// Types to interpolate in.
pub trait Weight: Field {
    /// One.
    const ONE: Self;
    /// Whether a weight is smaller than a half, so that the start is the nearer end.
    fn is_small(self) -> bool;
}

macro_rules! weight {
    ($($type:ty),*) => {$(
        impl Weight for $type {
            const ONE: Self = 1.0;
            #[inline(always)]
            fn is_small(self) -> bool {
                self.abs() < 0.5
            }
        }

        impl Weight for Complex<$type> {
            const ONE: Self = Complex::new(1.0, 0.0);
            #[inline(always)]
            fn is_small(self) -> bool {
                self.re * self.re + self.im * self.im < 0.25
            }
        }
    )*};
}

weight!(f32, f64);

/// `a + weight * (b - a)`, computed from the nearer end so that both ends are met exactly.
pub fn lerp<T: Weight>(a: Strided<T>, b: Strided<T>, weight: Strided<T>) -> Vec<T> {
    let kernel = simd3(|a: T, b: T, weight: T| {
        let span = b.minus(a);
        if weight.is_small() {
            a.plus(weight.times(span))
        } else {
            b.minus(span.times(T::ONE.minus(weight)))
        }
    });
    map3(a, b, weight, GRAIN, &kernel)
}

/// `a + value * b * c`.
pub fn addcmul<T: Ring>(a: Strided<T>, b: Strided<T>, c: Strided<T>, value: T) -> Vec<T> {
    map3(a, b, c, GRAIN, &simd3(move |a: T, b: T, c: T| a.plus(value.times(b).times(c))))
}

/// `a + value * b / c`.
pub fn addcdiv<T: Field>(a: Strided<T>, b: Strided<T>, c: Strided<T>, value: T) -> Vec<T> {
    map3(a, b, c, GRAIN, &simd3(move |a: T, b: T, c: T| a.plus(value.times(b).over(c))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<const N: usize, T>(data: &[T; N]) -> Strided<'_, T> {
        Strided { data, shape: const { &[N] }, strides: &[1], offset: 0 }
    }

    fn all<'a, const N: usize, T>(value: &'a [T; 1]) -> Strided<'a, T> {
        Strided { data: value, shape: const { &[N] }, strides: &[0], offset: 0 }
    }

    #[test]
    fn selects() {
        let (a, b) = ([1i16, 2, 3], [-1i16, -2, -3]);
        assert_eq!(select(row(&[1, 0, 255]), row(&a), row(&b)), [1, -2, 3]);
        assert_eq!(select(row(&[0, 1, 0]), all::<3, _>(&[7]), row(&b)), [-1, 7, -3]);
    }

    #[test]
    fn clamps() {
        let x = [-5.0f32, 0.5, 5.0, f32::NAN];
        let (low, high) = ([-1.0], [2.0]);
        let bits = |v: Vec<f32>| v.iter().map(|x| x.to_string()).collect::<Vec<_>>();
        let result = clamp(row(&x), Some(all::<4, _>(&low)), Some(all::<4, _>(&high)));
        assert_eq!(bits(result), ["-1", "0.5", "2", "NaN"]);
        let result = clamp(row(&x), Some(all::<4, _>(&[f32::NAN])), Some(all::<4, _>(&high)));
        assert!(result.iter().all(|x| x.is_nan()));
        let crossed = clamp(row(&[1i64, 9]), Some(all::<2, _>(&[5])), Some(all::<2, _>(&[3])));
        assert_eq!(crossed, [3, 3]);
        assert_eq!(clamp(row(&[1u8, 9]), None, Some(all::<2, _>(&[3]))), [1, 3]);
    }

    #[test]
    fn interpolation_meets_both_ends() {
        let (a, b) = ([1e8f32, 0.0, 2.0], [1.0f32, 10.0, 4.0]);
        assert_eq!(lerp(row(&a), row(&b), row(&[1.0, 0.25, 0.0])), [1.0, 2.5, 2.0]);
        let (a, b) = ([Complex::new(0.0f64, 2.0)], [Complex::new(4.0, 0.0)]);
        let half = [Complex::new(0.5, 0.0)];
        assert_eq!(lerp(row(&a), row(&b), row(&half)), [Complex::new(2.0, 1.0)]);
    }

    #[test]
    fn adds_products_and_quotients() {
        let (a, b, c) = ([1.0f64, 2.0], [3.0, 4.0], [5.0, 8.0]);
        assert_eq!(addcmul(row(&a), row(&b), row(&c), 2.0), [31.0, 66.0]);
        assert_eq!(addcdiv(row(&a), row(&b), row(&c), 10.0), [7.0, 7.0]);
        assert_eq!(addcmul(row(&[250u8]), row(&[2]), row(&[2]), 2), [2]);
    }
}
