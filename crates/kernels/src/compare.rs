//! Comparisons and logic, giving bytes of zero and one.

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::cast::CastElement;
use crate::kernel::{Kernel2, simd2, unsupported};
use crate::map::map2;
use crate::par::GRAIN;
use crate::strided::{Element, Strided, Strides};

/// How to compare two elements. NaN differs from everything and is not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
}

/// How to join two truth values; an element is true unless it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Logical {
    /// Both.
    And,
    /// Either.
    Or,
    /// One but not the other.
    Xor,
}

/// Types whose elements compare.
pub trait CompareElement: Element {
    /// The loop of a comparison, where it makes sense for this type.
    fn kernel(kind: Compare) -> Option<Kernel2<Self, Self, u8>>;
}

macro_rules! ordered {
    ($($type:ty),*) => {$(
        impl CompareElement for $type {
            fn kernel(kind: Compare) -> Option<Kernel2<Self, Self, u8>> {
                Some(match kind {
                    Compare::Eq => simd2(|a: Self, b: Self| (a == b) as u8),
                    Compare::Ne => simd2(|a: Self, b: Self| (a != b) as u8),
                    Compare::Lt => simd2(|a: Self, b: Self| (a < b) as u8),
                    Compare::Le => simd2(|a: Self, b: Self| (a <= b) as u8),
                    Compare::Gt => simd2(|a: Self, b: Self| (a > b) as u8),
                    Compare::Ge => simd2(|a: Self, b: Self| (a >= b) as u8),
                })
            }
        }
    )*};
}

ordered!(u8, i8, i16, i32, i64, f32, f64);

macro_rules! unordered {
    ($($type:ty),*) => {$(
        impl CompareElement for $type {
            fn kernel(kind: Compare) -> Option<Kernel2<Self, Self, u8>> {
                match kind {
                    Compare::Eq => Some(simd2(|a: Self, b: Self| {
                        ((a.re == b.re) & (a.im == b.im)) as u8
                    })),
                    Compare::Ne => Some(simd2(|a: Self, b: Self| {
                        ((a.re != b.re) | (a.im != b.im)) as u8
                    })),
                    _ => None,
                }
            }
        }
    )*};
}

unordered!(Complex<f32>, Complex<f64>);

/// Compares every pair of elements.
pub fn compare<T: CompareElement>(kind: Compare, a: Strided<T>, b: Strided<T>) -> Result<Vec<u8>> {
    let kernel = T::kernel(kind).ok_or_else(|| unsupported::<T>(kind))?;
    Ok(map2(a, b, GRAIN, &kernel))
}

/// Compares every element with one value.
pub fn compare_scalar<T: CompareElement>(kind: Compare, a: Strided<T>, b: T) -> Result<Vec<u8>> {
    let strides = Strides::from_elem(0, a.shape.len());
    compare(kind, a, Strided { data: &[b], shape: a.shape, strides: &strides, offset: 0 })
}

/// Joins the truth of every pair of elements.
pub fn logical<A: CastElement, B: CastElement>(
    kind: Logical,
    a: Strided<A>,
    b: Strided<B>,
) -> Vec<u8> {
    let kernel: Kernel2<A, B, u8> = match kind {
        Logical::And => simd2(|a: A, b: B| (a.to_bool() & b.to_bool()) as u8),
        Logical::Or => simd2(|a: A, b: B| (a.to_bool() | b.to_bool()) as u8),
        Logical::Xor => simd2(|a: A, b: B| (a.to_bool() ^ b.to_bool()) as u8),
    };
    map2(a, b, GRAIN, &kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<T>(data: &[T; 4]) -> Strided<'_, T> {
        Strided { data, shape: &[4], strides: &[1], offset: 0 }
    }

    #[test]
    fn nan_is_not_ordered() {
        let a = [1.0f32, f32::NAN, -0.0, 2.0];
        let b = [1.0f32, f32::NAN, 0.0, 1.0];
        let result = |kind| compare(kind, row(&a), row(&b)).unwrap();
        assert_eq!(result(Compare::Eq), [1, 0, 1, 0]);
        assert_eq!(result(Compare::Ne), [0, 1, 0, 1]);
        assert_eq!(result(Compare::Lt), [0, 0, 0, 0]);
        assert_eq!(result(Compare::Le), [1, 0, 1, 0]);
        assert_eq!(result(Compare::Gt), [0, 0, 0, 1]);
        assert_eq!(result(Compare::Ge), [1, 0, 1, 1]);
        assert_eq!(compare_scalar(Compare::Lt, row(&a), 1.5).unwrap(), [1, 0, 1, 0]);
    }

    #[test]
    fn complex_numbers_have_no_order() {
        let z = [Complex::new(1.0f64, 2.0); 4];
        assert_eq!(compare(Compare::Eq, row(&z), row(&z)).unwrap(), [1; 4]);
        let error = compare(Compare::Lt, row(&z), row(&z)).unwrap_err();
        assert_eq!(error.to_string(), "lt: not implemented for Complex<f64>");
    }

    #[test]
    fn truth_joins_across_types() {
        let (a, b) = ([0i64, 0, 3, -1], [0.0f32, f32::NAN, 0.0, 2.0]);
        assert_eq!(logical(Logical::And, row(&a), row(&b)), [0, 0, 0, 1]);
        assert_eq!(logical(Logical::Or, row(&a), row(&b)), [0, 1, 1, 1]);
        assert_eq!(logical(Logical::Xor, row(&a), row(&b)), [0, 1, 1, 0]);
    }
}
