//! Means, variances and the logarithm of a sum of exponentials.

use num_complex::Complex;

use super::fold::{extent, fold_with, outputs, parts};
use super::{Reduce, ReduceElement, reduce};
use crate::{Result, Strided};

/// Elements that have a mean.
pub trait Mean: ReduceElement {
    /// Divides by a count.
    #[doc(hidden)]
    fn over(self, count: usize) -> Self;
}

macro_rules! means {
    ($($t:ty: $real:ident),*) => {$(
        impl Mean for $t {
            #[inline(always)]
            fn over(self, count: usize) -> $t {
                self / count as $real
            }
        }
    )*};
}
means!(f32: f32, f64: f64, Complex<f32>: f32, Complex<f64>: f64);

/// The mean; NaN over no elements.
pub fn mean<T: Mean>(x: Strided<'_, T>, dims: &[usize]) -> Result<Vec<T>> {
    let count = extent(x.shape, dims);
    let mut out = reduce(Reduce::Sum, x, dims)?;
    out.iter_mut().for_each(|v| *v = v.over(count));
    Ok(out)
}

/// Elements that have a variance.
pub trait VarMean: Mean {
    /// What [`var_mean`] does for this type.
    #[doc(hidden)]
    fn var(x: Strided<'_, Self>, dims: &[usize], means: &[Self], freedom: f64) -> Vec<Self>;
}

/// The variance and the mean, in two passes: the mean first, then the squared distances from it,
/// divided by the number of elements less `correction`.
///
/// Where that leaves no degree of freedom the variance is infinite, or NaN where all elements agree.
pub fn var_mean<T: VarMean>(
    x: Strided<'_, T>,
    dims: &[usize],
    correction: f64,
) -> Result<(Vec<T>, Vec<T>)> {
    let means = mean(x, dims)?;
    let freedom = (extent(x.shape, dims) as f64 - correction).max(0.0);
    Ok((T::var(x, dims, &means, freedom), means))
}

/// Elements that have a logarithm and an exponential.
pub trait LogSumExp: ReduceElement {
    /// What [`logsumexp`] does for this type.
    #[doc(hidden)]
    fn logsumexp(x: Strided<'_, Self>, dims: &[usize]) -> Result<Vec<Self>>;
}

/// `log(sum(exp(x)))` without overflow; minus infinity over no elements.
pub fn logsumexp<T: LogSumExp>(x: Strided<'_, T>, dims: &[usize]) -> Result<Vec<T>> {
    T::logsumexp(x, dims)
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl VarMean for $t {
            fn var(x: Strided<'_, $t>, dims: &[usize], means: &[$t], freedom: f64) -> Vec<$t> {
                let square = |mean: $t, x: $t| (x - mean) * (x - mean);
                let mut out = fold_with(&parts(0.0, square, |a: $t, b| a + b), x, dims, means);
                out.iter_mut().for_each(|v| *v /= freedom as $t);
                out
            }
        }

        impl LogSumExp for $t {
            fn logsumexp(x: Strided<'_, $t>, dims: &[usize]) -> Result<Vec<$t>> {
                if extent(x.shape, dims) == 0 {
                    return Ok(vec![$t::NEG_INFINITY; outputs(x.shape, dims)]);
                }
                let mut shifts = reduce(Reduce::Max, x, dims)?;
                // An infinite largest element would make the differences NaN.
                for shift in &mut shifts {
                    if shift.is_infinite() {
                        *shift = 0.0;
                    }
                }
                let term = |shift: $t, x: $t| (x - shift).exp();
                let mut out = fold_with(&parts(0.0, term, |a: $t, b| a + b), x, dims, &shifts);
                for (v, shift) in out.iter_mut().zip(shifts) {
                    *v = v.ln() + shift;
                }
                Ok(out)
            }
        }
    )*};
}
floats!(f32 f64);

macro_rules! complexes {
    ($($t:ident)*) => {$(
        /// The variance of a complex number is the sum of those of its parts, a real number.
        impl VarMean for Complex<$t> {
            fn var(x: Strided<'_, Self>, dims: &[usize], means: &[Self], freedom: f64) -> Vec<Self> {
                let square = |mean: Self, x: Self| (x - mean).norm_sqr();
                let sums = fold_with(&parts(0.0, square, |a: $t, b| a + b), x, dims, means);
                sums.into_iter().map(|v| Complex::new(v / freedom as $t, 0.0)).collect()
            }
        }
    )*};
}
complexes!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let data = [2.0f64, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let x = Strided { data: &data, shape: &[8], strides: &[1], offset: 0 };
        assert_eq!(mean(x, &[0]).unwrap(), [5.0]);
        assert_eq!(var_mean(x, &[0], 0.0).unwrap(), (vec![4.0], vec![5.0]));
        assert_eq!(var_mean(x, &[0], 1.0).unwrap().0, [32.0 / 7.0]);
        assert_eq!(var_mean(x, &[0], 9.0).unwrap().0, [f64::INFINITY]);
    }

    #[test]
    fn columns_have_their_own_means() {
        let data: Vec<f32> = (0..40).map(|i| (i / 10) as f32 * 2.0 + (i % 10) as f32).collect();
        let x = Strided { data: &data, shape: &[4, 10], strides: &[10, 1], offset: 0 };
        let (var, mean) = var_mean(x, &[0], 0.0).unwrap();
        assert_eq!(mean, (0..10).map(|i| 3.0 + i as f32).collect::<Vec<_>>());
        assert_eq!(var, [5.0; 10]);
    }

    #[test]
    fn without_freedom() {
        let x = Strided { data: &[3.0f32], shape: &[1], strides: &[1], offset: 0 };
        let (var, mean) = var_mean(x, &[0], 1.0).unwrap();
        assert!(var[0].is_nan() && mean[0] == 3.0);
        let none = Strided { data: &[3.0f32], shape: &[0], strides: &[1], offset: 0 };
        let (var, mean) = var_mean(none, &[0], 1.0).unwrap();
        assert!(var[0].is_nan() && mean[0].is_nan());
    }

    #[test]
    fn complex_variance_is_real() {
        let data = [Complex::new(1.0f64, 1.0), Complex::new(3.0, -1.0)];
        let x = Strided { data: &data, shape: &[2], strides: &[1], offset: 0 };
        let (var, mean) = var_mean(x, &[0], 0.0).unwrap();
        assert_eq!((var[0].re, mean[0]), (2.0, Complex::new(2.0, 0.0)));
    }

    #[test]
    fn logsumexp_of_extremes() {
        let inf = f64::INFINITY;
        let data = [1000.0, 1000.0, -inf, -inf, inf, -inf, inf, 0.0, f64::NAN, 1.0];
        let x = Strided { data: &data, shape: &[5, 2], strides: &[2, 1], offset: 0 };
        let out = logsumexp(x, &[1]).unwrap();
        assert_eq!(out[0], 1000.0 + std::f64::consts::LN_2);
        assert_eq!(out[1..4], [-inf, inf, inf]);
        assert!(out[4].is_nan());
        let none = Strided { data: &data, shape: &[2, 0], strides: &[0, 1], offset: 0 };
        assert_eq!(logsumexp(none, &[1]).unwrap(), [-inf, -inf]);
    }
}
