//! Reductions: many elements become one.
//!
//! Every function takes the dimensions to reduce (sorted and distinct; none means element by
//! element) and gives its outputs row-major over the dimensions that stay.

mod fold;
mod moments;
mod norm;
mod truth;

pub use moments::{LogSumExp, Mean, VarMean, logsumexp, mean, var_mean};
pub use norm::{Norm, norm};
pub use truth::{Truth, all, any, count_nonzero};

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use crate::{Element, Error, Result, Strided};
use fold::{extent, fold, parts};

/// Reductions whose result has the type of the elements. Integers wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduce {
    Sum,
    Prod,
    /// The largest element, or NaN where there is one.
    Max,
    /// The smallest element, or NaN where there is one.
    Min,
    /// The sum of the elements that are not NaN.
    NanSum,
}

impl Reduce {
    /// The function's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Reduce::Sum => "sum",
            Reduce::Prod => "prod",
            Reduce::Max => "max",
            Reduce::Min => "min",
            Reduce::NanSum => "nansum",
        }
    }
}

/// Elements that [`reduce`] takes.
pub trait ReduceElement: Element {
    /// What [`reduce`] does for this type, but for the check of empty extents.
    #[doc(hidden)]
    fn reduce(kind: Reduce, x: Strided<'_, Self>, dims: &[usize]) -> Result<Vec<Self>>;
}

/// Reduces `x` over `dims`.
///
/// Over no elements a sum is zero and a product one; there is no largest or smallest.
pub fn reduce<T: ReduceElement>(kind: Reduce, x: Strided<'_, T>, dims: &[usize]) -> Result<Vec<T>> {
    if matches!(kind, Reduce::Max | Reduce::Min) {
        not_empty(kind.name(), x.shape, dims)?;
    }
    T::reduce(kind, x, dims)
}

/// Refuses to reduce over a dimension without elements, even where no output would show it.
fn not_empty(name: &str, shape: &[usize], dims: &[usize]) -> Result<()> {
    if extent(shape, dims) == 0 {
        return Err(Error::Value(format!("{name}: cannot reduce an empty dimension")));
    }
    Ok(())
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl ReduceElement for $t {
            fn reduce(kind: Reduce, x: Strided<'_, $t>, dims: &[usize]) -> Result<Vec<$t>> {
                let add = |a: $t, b: $t| a + b;
                Ok(match kind {
                    Reduce::Sum => fold(&parts(0.0, |(), x| x, add), x, dims),
                    Reduce::Prod => fold(&parts(1.0, |(), x| x, |a: $t, b| a * b), x, dims),
                    Reduce::Max => {
                        let larger = |a: $t, b: $t| if a > b || a.is_nan() { a } else { b };
                        fold(&parts($t::NEG_INFINITY, |(), x| x, larger), x, dims)
                    }
                    Reduce::Min => {
                        let smaller = |a: $t, b: $t| if a < b || a.is_nan() { a } else { b };
                        fold(&parts($t::INFINITY, |(), x| x, smaller), x, dims)
                    }
                    Reduce::NanSum => {
                        let present = |(), x: $t| if x.is_nan() { 0.0 } else { x };
                        fold(&parts(0.0, present, add), x, dims)
                    }
                })
            }
        }
    )*};
}
floats!(f32 f64);

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl ReduceElement for $t {
            fn reduce(kind: Reduce, x: Strided<'_, $t>, dims: &[usize]) -> Result<Vec<$t>> {
                Ok(match kind {
                    Reduce::Sum | Reduce::NanSum => {
                        fold(&parts(0, |(), x| x, $t::wrapping_add), x, dims)
                    }
                    Reduce::Prod => fold(&parts(1, |(), x| x, $t::wrapping_mul), x, dims),
                    Reduce::Max => fold(&parts($t::MIN, |(), x| x, |a: $t, b| a.max(b)), x, dims),
                    Reduce::Min => fold(&parts($t::MAX, |(), x| x, |a: $t, b| a.min(b)), x, dims),
                })
            }
        }
    )*};
}
integers!(i32 i64 u8);

macro_rules! complexes {
    ($($t:ident)*) => {$(
        impl ReduceElement for Complex<$t> {
            fn reduce(kind: Reduce, x: Strided<'_, Self>, dims: &[usize]) -> Result<Vec<Self>> {
                let real = |re: $t| Complex::new(re, 0.0);
                Ok(match kind {
                    Reduce::Sum => fold(&parts(real(0.0), |(), x| x, |a: Self, b| a + b), x, dims),
                    Reduce::Prod => fold(&parts(real(1.0), |(), x| x, |a: Self, b| a * b), x, dims),
                    Reduce::Max | Reduce::Min | Reduce::NanSum => {
                        let name = kind.name();
                        return Err(Error::Value(format!("{name}: not implemented for complex")));
                    }
                })
            }
        }
    )*};
}
complexes!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix<T>(data: &[T]) -> Strided<'_, T> {
        Strided { data, shape: &[2, 3], strides: &[3, 1], offset: 0 }
    }

    #[test]
    fn floats() {
        let data = [1.0f32, -2.0, 3.0, 4.0, f32::NAN, 0.5];
        let x = matrix(&data);
        let sums = reduce(Reduce::Sum, x, &[1]).unwrap();
        assert_eq!(sums[0], 2.0);
        assert!(sums[1].is_nan());
        assert_eq!(reduce(Reduce::NanSum, x, &[0]).unwrap(), [5.0, -2.0, 3.5]);
        for kind in [Reduce::Max, Reduce::Min] {
            let columns = reduce(kind, x, &[0]).unwrap();
            assert!(columns[1].is_nan() && !columns[0].is_nan() && !columns[2].is_nan());
            assert!(reduce(kind, x, &[0, 1]).unwrap()[0].is_nan());
        }
        assert_eq!(reduce(Reduce::Max, x, &[1]).unwrap()[0], 3.0);
        assert_eq!(reduce(Reduce::Min, x, &[1]).unwrap()[0], -2.0);
        assert_eq!(reduce(Reduce::Prod, x, &[1]).unwrap()[0], -6.0);
    }

    #[test]
    fn integers_wrap_around() {
        let x = [200u8, 100, 3, 16, 16, 1];
        assert_eq!(reduce(Reduce::Sum, matrix(&x), &[1]).unwrap(), [47, 33]);
        assert_eq!(reduce(Reduce::Prod, matrix(&x), &[1]).unwrap(), [96, 0]);
        assert_eq!(reduce(Reduce::Max, matrix(&x), &[0]).unwrap(), [200, 100, 3]);
        assert_eq!(reduce(Reduce::Min, matrix(&x), &[0]).unwrap(), [16, 16, 1]);
    }

    #[test]
    fn complex() {
        let i = Complex::new(0.0f64, 1.0);
        let data = [i, i, i, i + 1.0, i - 1.0, i];
        assert_eq!(reduce(Reduce::Prod, matrix(&data), &[1]).unwrap(), [-i, -2.0 * i]);
        assert_eq!(reduce(Reduce::Sum, matrix(&data), &[1]).unwrap(), [3.0 * i, 3.0 * i]);
        assert_eq!(
            reduce(Reduce::Max, matrix(&data), &[1]),
            Err(Error::Value("max: not implemented for complex".into()))
        );
    }

    #[test]
    fn empty_extents() {
        let x = Strided::<f64> { data: &[], shape: &[2, 0], strides: &[0, 1], offset: 0 };
        assert_eq!(reduce(Reduce::Sum, x, &[1]).unwrap(), [0.0, 0.0]);
        assert_eq!(reduce(Reduce::Prod, x, &[0, 1]).unwrap(), [1.0]);
        assert_eq!(reduce(Reduce::Sum, x, &[0]).unwrap(), [0.0; 0]);
        assert_eq!(reduce(Reduce::Max, x, &[0]).unwrap(), [0.0; 0]);
        assert_eq!(
            reduce(Reduce::Max, x, &[1]),
            Err(Error::Value("max: cannot reduce an empty dimension".into()))
        );
    }
}
