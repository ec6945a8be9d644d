//! Cholesky factorisation of Hermitian positive definite matrices.

use faer::{MatMut, MatRef, Par};
use num_traits::{Float, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each};
use super::engine::Triangle;
use super::solve::substitute;
use crate::{Error, Result, Strided};

/// Matrices of at most this size are factored by plain loops.
const SMALL: usize = 16;

/// The factor of every matrix: lower triangular `L` with `L L^H = a`, or with `upper` the upper
/// triangular `U` with `U^H U = a`. Only that triangle of `a` is read; the other one of the result
/// is zero.
pub fn cholesky<T: LinalgElement>(a: Strided<T>, upper: bool) -> Result<Vec<T>> {
    let (factors, info) = cholesky_ex(a, upper);
    match info.iter().position(|&minor| minor > 0) {
        Some(batch) => Err(Error::NotPositiveDefinite { batch, minor: info[batch] as usize }),
        None => Ok(factors),
    }
}

/// As [`cholesky`], with zero for every matrix or the order of its first leading minor that is not
/// positive definite, at which its factor is not complete.
pub fn cholesky_ex<T: LinalgElement>(a: Strided<T>, upper: bool) -> (Vec<T>, Vec<i32>) {
    let a = Matrices::new(a);
    let n = a.rows;
    let mut out = vec![T::zero(); a.count * n * n];
    let mut info = vec![0; a.count];
    let outputs = (Out::new(&mut out, n * n), Out::new(&mut info, 1));
    let done = each(a.count, n * n * n / 3, outputs, |range, (mut out, mut info), par| {
        let mut work = vec![T::zero(); n * n];
        for (i, batch) in range.enumerate() {
            // Column-major with the triangle of interest in the lower half: the columns of `a`, or
            // its conjugated rows.
            if upper {
                a.copy_rows(batch, &mut work);
                work.iter_mut().for_each(|value| *value = value.conjugate());
            } else {
                a.copy_cols(batch, &mut work);
            }
            if let Err(pivot) = factor(&mut work, n, par) {
                info.of(i)[0] = pivot as i32 + 1;
            }
            let out = out.of(i);
            for row in 0..n {
                for col in row..n {
                    let value = work[row * n + col];
                    if upper {
                        out[row * n + col] = value.conjugate();
                    } else {
                        out[col * n + row] = value;
                    }
                }
            }
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
    (out, info)
}

/// Replaces the lower triangle of a column-major matrix by its factor, or gives the pivot that is
/// not positive.
fn factor<T: LinalgElement>(a: &mut [T], n: usize, par: Par) -> std::result::Result<(), usize> {
    if n > SMALL {
        return T::cholesky(MatMut::from_column_major_slice_mut(a, n, n), par);
    }
    for j in 0..n {
        let (done, rest) = a.split_at_mut(j * n);
        let column = &mut rest[j..n];
        for left in done.chunks_exact(n) {
            let factor = left[j].conjugate();
            for (value, &left) in column.iter_mut().zip(&left[j..]) {
                *value -= left * factor;
            }
        }
        let pivot = column[0].re();
        if pivot.is_nan() || pivot <= T::Real::zero() {
            return Err(j);
        }
        let root = pivot.sqrt();
        column[0] = T::from_re(root);
        let reciprocal = root.recip();
        column[1..].iter_mut().for_each(|value| *value = value.scaled(reciprocal));
    }
    Ok(())
}

/// The solution `x` of `a x = b` for every pair of `b` `(*batch, n, k)` and the Cholesky factor of
/// `a`, `(*batch, n, n)`, lower or `upper`.
pub fn cholesky_solve<T: LinalgElement>(b: Strided<T>, factor: Strided<T>, upper: bool) -> Vec<T> {
    let (factor, b) = (Matrices::new(factor), Matrices::new(b));
    let (n, k) = (factor.rows, b.cols);
    let mut out = vec![T::zero(); factor.count * n * k];
    let done =
        each(factor.count, 2 * n * n * k, Out::new(&mut out, n * k), |range, mut out, par| {
            let mut work = vec![T::zero(); n * n];
            let mut conjugate = work.clone();
            for (i, batch) in range.enumerate() {
                b.copy_rows(batch, out.of(i));
                // The lower factor, by columns; its conjugate by rows is the conjugate transpose.
                if upper {
                    factor.copy_rows(batch, &mut conjugate);
                    for (to, from) in work.iter_mut().zip(&conjugate) {
                        *to = from.conjugate();
                    }
                } else {
                    factor.copy_cols(batch, &mut work);
                    for (to, from) in conjugate.iter_mut().zip(&work) {
                        *to = from.conjugate();
                    }
                }
                let lower = MatRef::from_column_major_slice(&work, n, n);
                let adjoint = MatRef::from_row_major_slice(&conjugate, n, n);
                substitute(lower, Triangle { upper: false, unit: false }, out.of(i), k, par);
                substitute(adjoint, Triangle { upper: true, unit: false }, out.of(i), k, par);
            }
            Ok(())
        });
    debug_assert!(done.is_ok());
    out
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    fn factors<T: LinalgElement>(n: usize) {
        let half = noise::<T>(2 * n * n);
        let mut data = Vec::new();
        for half in half.chunks(n * n) {
            let mut square = product(half, &adjoint(half, n, n), n, n, n);
            (0..n).for_each(|i| square[i * n + i] += T::one());
            data.extend(square);
        }
        let shape = [2, n, n];
        let x = matrix(&data, &shape);
        let (lower, upper) = (cholesky(x, false).unwrap(), cholesky(x, true).unwrap());
        let b = noise::<T>(2 * n * 3);
        let tall = [2, n, 3];
        let b_view = matrix(&b, &tall);
        let by_lower = cholesky_solve(b_view, matrix(&lower, &shape), false);
        let by_upper = cholesky_solve(b_view, matrix(&upper, &shape), true);
        for i in 0..2 {
            let part = |v: &[T], size: usize| v[i * size..][..size].to_vec();
            let (l, u, a) = (part(&lower, n * n), part(&upper, n * n), part(&data, n * n));
            assert!((0..n * n).all(|p| p % n <= p / n || l[p].is_zero()));
            assert_close(&product(&l, &adjoint(&l, n, n), n, n, n), &a);
            assert_close(&adjoint(&l, n, n), &u);
            for x in [part(&by_lower, n * 3), part(&by_upper, n * 3)] {
                assert_close(&product(&a, &x, n, n, 3), &part(&b, n * 3));
            }
        }
    }

    #[test]
    fn factors_every_size_and_type() {
        for n in [1, 2, 5, 16, 17, 60] {
            factors::<f64>(n);
            factors::<Complex<f64>>(n);
        }
        factors::<f32>(20);
        factors::<Complex<f32>>(20);
    }

    #[test]
    fn known_values_and_only_one_triangle_is_read() {
        let nan = f64::NAN;
        let data = [4.0, nan, nan, 12.0, 37.0, nan, -16.0, -43.0, 98.0];
        let want = [2.0, 0.0, 0.0, 6.0, 1.0, 0.0, -8.0, 5.0, 3.0];
        assert_close(&cholesky(matrix(&data, &[3, 3]), false).unwrap(), &want);
        let turned = Strided { data: &data, shape: &[3, 3], strides: &[1, 3], offset: 0 };
        let want: Vec<f64> = adjoint(&want, 3, 3);
        assert_close(&cholesky(turned, true).unwrap(), &want);
    }

    #[test]
    fn failures_name_matrix_and_minor() {
        let data = [1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0];
        let failed = Err(Error::NotPositiveDefinite { batch: 1, minor: 2 });
        assert_eq!(cholesky(matrix(&data, &[2, 2, 2]), false), failed);
        let n = 50;
        let data = fill(n, n, |i, j| {
            if i != j {
                0.0
            } else if i == 40 {
                -1.0
            } else {
                1.0
            }
        });
        let failed = Err(Error::NotPositiveDefinite { batch: 0, minor: 41 });
        assert_eq!(cholesky(matrix(&data, &[n, n]), false), failed);
        let failed = Err(Error::NotPositiveDefinite { batch: 0, minor: 1 });
        assert_eq!(cholesky(matrix(&[f64::NAN], &[1, 1]), false), failed);
        assert_eq!(cholesky(matrix::<f64>(&[], &[2, 0, 0]), false), Ok(vec![]));
    }
}
