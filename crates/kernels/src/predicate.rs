//! Questions about single elements, answered by bytes of zero and one.

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::kernel::{Kernel1, simd1, unsupported};
use crate::map::map1;
use crate::par::GRAIN;
use crate::strided::{Element, Strided};

/// What to ask of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// Whether it is NaN; of a complex number, whether either part is.
    IsNan,
    /// Whether it is infinite; of a complex number, whether either part is.
    IsInf,
    /// Whether it is neither; of a complex number, whether no part is.
    IsFinite,
    /// Whether it is positive infinity.
    IsPosInf,
    /// Whether it is negative infinity.
    IsNegInf,
    /// Whether it carries a minus sign, as negative zero does.
    SignBit,
    /// Whether it is zero.
    LogicalNot,
    /// Whether it is not zero.
    NonZero,
    /// Whether its imaginary part is zero.
    IsReal,
}

/// Types whose elements answer.
pub trait PredicateElement: Element {
    /// The loop of a question, where it makes sense for this type.
    fn kernel(kind: Predicate) -> Option<Kernel1<Self, u8>>;
}

/// Asks every element.
pub fn predicate<T: PredicateElement>(kind: Predicate, x: Strided<T>) -> Result<Vec<u8>> {
    let kernel = T::kernel(kind).ok_or_else(|| unsupported::<T>(kind))?;
    Ok(map1(x, GRAIN, &kernel))
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl PredicateElement for $type {
            #[allow(unused_comparisons)]
            fn kernel(kind: Predicate) -> Option<Kernel1<Self, u8>> {
                Some(match kind {
                    Predicate::IsNan
                    | Predicate::IsInf
                    | Predicate::IsPosInf
                    | Predicate::IsNegInf => simd1(|_: Self| 0),
                    Predicate::IsFinite | Predicate::IsReal => simd1(|_: Self| 1),
                    Predicate::SignBit => simd1(|x: Self| (x < 0) as u8),
                    Predicate::LogicalNot => simd1(|x: Self| (x == 0) as u8),
                    Predicate::NonZero => simd1(|x: Self| (x != 0) as u8),
                })
            }
        }
    )*};
}

integer!(u8, i8, i16, i32, i64);

macro_rules! float {
    ($($type:ty),*) => {$(
        impl PredicateElement for $type {
            fn kernel(kind: Predicate) -> Option<Kernel1<Self, u8>> {
                Some(match kind {
                    Predicate::IsNan => simd1(|x: Self| x.is_nan() as u8),
                    Predicate::IsInf => simd1(|x: Self| x.is_infinite() as u8),
                    Predicate::IsFinite => simd1(|x: Self| x.is_finite() as u8),
                    Predicate::IsPosInf => simd1(|x: Self| (x == Self::INFINITY) as u8),
                    Predicate::IsNegInf => simd1(|x: Self| (x == Self::NEG_INFINITY) as u8),
                    Predicate::SignBit => simd1(|x: Self| x.is_sign_negative() as u8),
                    Predicate::LogicalNot => simd1(|x: Self| (x == 0.0) as u8),
                    Predicate::NonZero => simd1(|x: Self| (x != 0.0) as u8),
                    Predicate::IsReal => simd1(|_: Self| 1),
                })
            }
        }

        impl PredicateElement for Complex<$type> {
            fn kernel(kind: Predicate) -> Option<Kernel1<Self, u8>> {
                Some(match kind {
                    Predicate::IsNan => simd1(|z: Self| (z.re.is_nan() | z.im.is_nan()) as u8),
                    Predicate::IsInf => {
                        simd1(|z: Self| (z.re.is_infinite() | z.im.is_infinite()) as u8)
                    }
                    Predicate::IsFinite => {
                        simd1(|z: Self| (z.re.is_finite() & z.im.is_finite()) as u8)
                    }
                    Predicate::LogicalNot => {
                        simd1(|z: Self| ((z.re == 0.0) & (z.im == 0.0)) as u8)
                    }
                    Predicate::NonZero => simd1(|z: Self| ((z.re != 0.0) | (z.im != 0.0)) as u8),
                    Predicate::IsReal => simd1(|z: Self| (z.im == 0.0) as u8),
                    _ => return None,
                })
            }
        }
    )*};
}

float!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn ask<T: PredicateElement>(kind: Predicate, x: &[T]) -> Vec<u8> {
        predicate(kind, Strided { data: x, shape: &[x.len()], strides: &[1], offset: 0 }).unwrap()
    }

    #[test]
    fn floats() {
        let inf = f32::INFINITY;
        let x = [f32::NAN, inf, -inf, -0.0, 2.0];
        assert_eq!(ask(Predicate::IsNan, &x), [1, 0, 0, 0, 0]);
        assert_eq!(ask(Predicate::IsInf, &x), [0, 1, 1, 0, 0]);
        assert_eq!(ask(Predicate::IsFinite, &x), [0, 0, 0, 1, 1]);
        assert_eq!(ask(Predicate::IsPosInf, &x), [0, 1, 0, 0, 0]);
        assert_eq!(ask(Predicate::IsNegInf, &x), [0, 0, 1, 0, 0]);
        assert_eq!(ask(Predicate::SignBit, &x[1..]), [0, 1, 1, 0]);
        assert_eq!(ask(Predicate::LogicalNot, &x), [0, 0, 0, 1, 0]);
        assert_eq!(ask(Predicate::NonZero, &x), [1, 1, 1, 0, 1]);
    }

    #[test]
    fn integers_and_complex_numbers() {
        assert_eq!(ask(Predicate::SignBit, &[-1i64, 0]), [1, 0]);
        assert_eq!(ask(Predicate::SignBit, &[255u8]), [0]);
        assert_eq!(ask(Predicate::IsFinite, &[1i32]), [1]);
        let z = [Complex::new(1.0f64, 0.0), Complex::new(0.0, f64::NAN)];
        assert_eq!(ask(Predicate::IsReal, &z), [1, 0]);
        assert_eq!(ask(Predicate::IsNan, &z), [0, 1]);
        assert_eq!(ask(Predicate::NonZero, &z), [1, 1]);
    }
}
