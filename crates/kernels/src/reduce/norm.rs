//! Vector norms.

use num_complex::Complex;

use super::fold::{fold, parts};
use super::{count_nonzero, not_empty};
use crate::{Element, Result, Strided};

/// Elements that have a norm.
pub trait Norm: Element {
    /// The type of an absolute value.
    type Real: Element;
    /// What [`norm`] does for this type, but for the check of empty extents.
    #[doc(hidden)]
    fn norm(x: Strided<'_, Self>, dims: &[usize], p: f64) -> Vec<Self::Real>;
}

/// The `p`-norm: `sum(|x|^p)^(1/p)`, where infinity is the largest absolute value, minus infinity
/// the smallest, and zero the number of non-zero elements.
///
/// Over no elements it is zero; for infinite and negative `p` there is none.
pub fn norm<T: Norm>(x: Strided<'_, T>, dims: &[usize], p: f64) -> Result<Vec<T::Real>> {
    if p < 0.0 || p == f64::INFINITY {
        not_empty("norm", x.shape, dims)?;
    }
    Ok(T::norm(x, dims, p))
}

/// `$abs` is the absolute value of an element and `$square` the square of it.
macro_rules! norms {
    ($t:ty, $real:ident, $abs:expr, $square:expr) => {
        impl Norm for $t {
            type Real = $real;

            fn norm(x: Strided<'_, $t>, dims: &[usize], p: f64) -> Vec<$real> {
                let add = |a: $real, b: $real| a + b;
                if p == f64::INFINITY {
                    let larger = |a: $real, b: $real| if a > b || a.is_nan() { a } else { b };
                    fold(&parts(0.0, |(), x| ($abs)(x), larger), x, dims)
                } else if p == f64::NEG_INFINITY {
                    let smaller = |a: $real, b: $real| if a < b || a.is_nan() { a } else { b };
                    fold(&parts($real::INFINITY, |(), x| ($abs)(x), smaller), x, dims)
                } else if p == 0.0 {
                    count_nonzero(x, dims).into_iter().map(|count| count as $real).collect()
                } else if p == 1.0 {
                    fold(&parts(0.0, |(), x| ($abs)(x), add), x, dims)
                } else if p == 2.0 {
                    let mut out = fold(&parts(0.0, |(), x| ($square)(x), add), x, dims);
                    out.iter_mut().for_each(|v| *v = v.sqrt());
                    out
                } else {
                    let (p, root) = (p as $real, (1.0 / p) as $real);
                    let mut out = fold(&parts(0.0, |(), x| ($abs)(x).powf(p), add), x, dims);
                    out.iter_mut().for_each(|v| *v = v.powf(root));
                    out
                }
            }
        }
    };
}
norms!(f32, f32, |x: f32| x.abs(), |x: f32| x * x);
norms!(f64, f64, |x: f64| x.abs(), |x: f64| x * x);
norms!(Complex<f32>, f32, |x: Complex<f32>| x.norm(), |x: Complex<f32>| x.norm_sqr());
norms!(Complex<f64>, f64, |x: Complex<f64>| x.norm(), |x: Complex<f64>| x.norm_sqr());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order() {
        let data = [3.0f64, -4.0, 0.0];
        let x = Strided { data: &data, shape: &[3], strides: &[1], offset: 0 };
        let of = |p| norm(x, &[0], p).unwrap()[0];
        assert_eq!(of(2.0), 5.0);
        assert_eq!(of(1.0), 7.0);
        assert_eq!(of(0.0), 2.0);
        assert_eq!(of(f64::INFINITY), 4.0);
        assert_eq!(of(f64::NEG_INFINITY), 0.0);
        assert!((of(3.0) - 91f64.cbrt()).abs() < 1e-14);
        assert_eq!(of(-1.0), 0.0);
    }

    #[test]
    fn complex_numbers_have_real_norms() {
        let data = [Complex::new(3.0f32, 4.0), Complex::new(0.0, 12.0)];
        let x = Strided { data: &data, shape: &[2], strides: &[1], offset: 0 };
        assert_eq!(norm(x, &[0], 2.0).unwrap(), [13.0]);
        assert_eq!(norm(x, &[0], 1.0).unwrap(), [17.0]);
        assert_eq!(norm(x, &[], f64::INFINITY).unwrap(), [5.0, 12.0]);
    }

    #[test]
    fn nan_and_nothing() {
        let data = [1.0f32, f32::NAN, 2.0];
        let x = Strided { data: &data, shape: &[3], strides: &[1], offset: 0 };
        assert!(norm(x, &[0], f64::INFINITY).unwrap()[0].is_nan());
        assert!(norm(x, &[0], f64::NEG_INFINITY).unwrap()[0].is_nan());
        assert_eq!(norm(x, &[0], 0.0).unwrap(), [3.0]);
        let none = Strided { data: &data, shape: &[0], strides: &[1], offset: 0 };
        assert_eq!(norm(none, &[0], 2.0).unwrap(), [0.0]);
        assert!(norm(none, &[0], f64::INFINITY).is_err());
    }
}
