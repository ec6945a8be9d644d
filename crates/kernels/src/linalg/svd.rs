//! Singular value decomposition.

use faer::{MatMut, MatRef};
use num_traits::Zero;

use super::LinalgElement;
use super::batch::{Matrices, Out, each_alone, transpose};
use super::scale::Scale;
use crate::{Error, Result, Strided};

/// `a = U diag(S) Vh` of every matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Svd<T: LinalgElement> {
    /// `(*batch, m, min(m, n))`, or `(*batch, m, m)` when full: left singular vectors as columns.
    pub u: Vec<T>,
    /// `(*batch, min(m, n))`: singular values, descending.
    pub s: Vec<T::Real>,
    /// `(*batch, min(m, n), n)`, or `(*batch, n, n)` when full: conjugated right singular vectors
    /// as rows.
    pub vh: Vec<T>,
}

/// Decomposes every matrix, with as many singular vectors as singular values or, `full`, with
/// complete bases.
pub fn svd<T: LinalgElement>(a: Strided<T>, full: bool) -> Result<Svd<T>> {
    let a = Matrices::new(a);
    let (m, n) = (a.rows, a.cols);
    let size = m.min(n);
    let (left, right) = if full { (m, n) } else { (size, size) };
    let mut u = vec![T::zero(); a.count * m * left];
    let mut s = vec![T::Real::zero(); a.count * size];
    let mut vh = vec![T::zero(); a.count * right * n];
    let outputs =
        (Out::new(&mut u, m * left), Out::new(&mut s, size), Out::new(&mut vh, right * n));
    each_alone(a.count, 16 * m * n * size, outputs, |range, (mut u, mut s, mut vh)| {
        let mut work = vec![T::zero(); m * n];
        let mut values = vec![T::zero(); size];
        let mut columns = vec![T::zero(); m * left];
        for (i, batch) in range.enumerate() {
            let (s, vh) = (s.of(i), vh.of(i));
            let scale = load("linalg.svd", &a, batch, &mut work)?;
            columns.fill(T::zero());
            if size == 0 {
                (0..left).for_each(|j| columns[j * m + j] = T::one());
                (0..right).for_each(|j| vh[j * n + j] = T::one());
            } else {
                let matrix = MatRef::from_column_major_slice(&work, m, n);
                let u = MatMut::from_column_major_slice_mut(&mut columns, m, left);
                let v = MatMut::from_column_major_slice_mut(&mut *vh, n, right);
                if !T::svd(matrix, &mut values, Some(u), Some(v)) {
                    return Err(Error::NoConvergence { what: "linalg.svd", batch });
                }
                // Columns of V one after the other are rows of its transpose.
                vh.iter_mut().for_each(|value| *value = value.conjugate());
            }
            scale.undo(&mut values);
            for (s, value) in s.iter_mut().zip(&values) {
                *s = value.re();
            }
            transpose(&columns, left, m, u.of(i));
        }
        Ok(())
    })?;
    Ok(Svd { u, s, vh })
}

/// The singular values of every matrix, descending: `(*batch, min(m, n))`.
pub fn svdvals<T: LinalgElement>(a: Strided<T>) -> Result<Vec<T::Real>> {
    let a = Matrices::new(a);
    let (m, n) = (a.rows, a.cols);
    let size = m.min(n);
    let mut s = vec![T::Real::zero(); a.count * size];
    each_alone(a.count, 4 * m * n * size, Out::new(&mut s, size), |range, mut s| {
        let mut work = vec![T::zero(); m * n];
        let mut values = vec![T::zero(); size];
        for (i, batch) in range.enumerate() {
            let scale = load("linalg.svdvals", &a, batch, &mut work)?;
            let matrix = MatRef::from_column_major_slice(&work, m, n);
            if size > 0 && !T::svd(matrix, &mut values, None, None) {
                return Err(Error::NoConvergence { what: "linalg.svdvals", batch });
            }
            scale.undo(&mut values);
            for (s, value) in s.of(i).iter_mut().zip(&values) {
                *s = value.re();
            }
        }
        Ok(())
    })?;
    Ok(s)
}

/// Copies one matrix, column after column, and brings it near one; it must be finite.
pub(super) fn load<T: LinalgElement>(
    op: &str,
    a: &Matrices<'_, T>,
    batch: usize,
    to: &mut [T],
) -> Result<Scale> {
    a.copy_cols(batch, to);
    if to.iter().all(|value| value.finite()) {
        return Ok(Scale::bring(to));
    }
    Err(Error::Value(format!(
        "{op}: (Batch element {batch}): The algorithm failed to converge because the input \
         matrix contained non-finite values."
    )))
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    fn decomposes<T: LinalgElement>(m: usize, n: usize) {
        let data = noise::<T>(2 * m * n);
        let shape = [2, m, n];
        let strides = [(m * n) as isize, 1, m as isize];
        let x = Strided { data: &data, shape: &shape, strides: &strides, offset: 0 };
        let size = m.min(n);
        let values = svdvals(x).unwrap();
        for full in [false, true] {
            let (left, right) = if full { (m, n) } else { (size, size) };
            let Svd { u, s, vh } = svd(x, full).unwrap();
            let as_element = |s: &[T::Real]| s.iter().map(|&v| T::from_re(v)).collect::<Vec<T>>();
            assert_close(&as_element(&s), &as_element(&values));
            for i in 0..2 {
                let u = &u[i * m * left..][..m * left];
                let vh = &vh[i * right * n..][..right * n];
                let s = &s[i * size..][..size];
                assert!(s.is_sorted_by(|a, b| a >= b));
                assert_orthonormal(u, m, left);
                assert_orthonormal(&adjoint(vh, right, n), n, right);
                let scaled = fill(m, size, |row, col| u[row * left + col].scaled(s[col]));
                let want = fill(m, n, |row, col| data[i * m * n + col * m + row]);
                assert_close(&product(&scaled, &vh[..size * n], m, size, n), &want);
            }
        }
    }

    #[test]
    fn decomposes_every_shape_and_type() {
        for (m, n) in [(1, 1), (2, 2), (5, 3), (3, 5), (40, 12), (12, 40), (70, 70), (1, 6), (6, 1)]
        {
            decomposes::<f64>(m, n);
            decomposes::<Complex<f64>>(m, n);
        }
        decomposes::<f32>(20, 30);
        decomposes::<Complex<f32>>(30, 20);
    }

    #[test]
    fn known_values() {
        let data = [3.0, 0.0, 4.0, 5.0];
        let want = [45f64.sqrt(), 5f64.sqrt()];
        assert_close(&svdvals(matrix(&data, &[2, 2])).unwrap(), &want);
        assert_eq!(svdvals(matrix(&[0.0; 6], &[2, 3])), Ok(vec![0.0, 0.0]));
        assert_eq!(svdvals(matrix(&[-2.0], &[1, 1])), Ok(vec![2.0]));
        let zero = svd(matrix(&[0.0; 6], &[2, 3]), true).unwrap();
        assert_orthonormal(&zero.u, 2, 2);
        assert_orthonormal(&zero.vh, 3, 3);
    }

    #[test]
    fn huge_and_tiny_numbers() {
        let data = noise::<f32>(24);
        let want = svdvals(matrix(&data, &[6, 4])).unwrap();
        for exponent in [125, 70, -70, -120] {
            let scaled: Vec<f32> = data.iter().map(|v| v * 2f32.powi(exponent)).collect();
            let back = |s: &[f32]| s.iter().map(|v| v * 2f32.powi(-exponent)).collect::<Vec<_>>();
            let parts = svd(matrix(&scaled, &[6, 4]), false).unwrap();
            assert_close(&back(&parts.s), &want);
            assert_close(&back(&svdvals(matrix(&scaled, &[6, 4])).unwrap()), &want);
            assert_orthonormal(&parts.u, 6, 4);
            assert_orthonormal(&parts.vh, 4, 4);
        }
        // The smallest number there is, and a value that no number holds.
        assert_eq!(svdvals(matrix(&[5e-324], &[1, 1])), Ok(vec![5e-324]));
        assert_eq!(svdvals(matrix(&[f64::MAX; 2], &[1, 2])), Ok(vec![f64::INFINITY]));
        let complex = Complex::new(0.0, f64::MAX);
        assert_close(&svdvals(matrix(&[complex], &[1, 1])).unwrap(), &[f64::MAX]);
    }

    #[test]
    fn nothing_and_nan() {
        let full = svd(matrix::<f64>(&[], &[1, 2, 0]), true).unwrap();
        assert_eq!((full.u, full.s, full.vh), (eye(2), vec![], vec![]));
        assert_eq!(svdvals(matrix::<f64>(&[], &[0, 2, 2])), Ok(vec![]));
        assert!(matches!(svdvals(matrix(&[f64::NAN], &[1, 1])), Err(Error::Value(_))));
        assert!(matches!(svd(matrix(&[f64::INFINITY], &[1, 1]), false), Err(Error::Value(_))));
    }
}
