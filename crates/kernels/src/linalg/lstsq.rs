//! Least squares by singular values.

use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_traits::{Float, NumCast, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each, each_alone, transpose};
use super::svd::load;
use crate::{Error, Result, Strided};

/// The shortest of the solutions `x` that minimise `|a x - b|`, for every pair of matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Lstsq<T: LinalgElement> {
    /// `(*batch, n, k)`.
    pub solution: Vec<T>,
    /// `(*batch, k)`: the squared distance of every column, where `m > n` and every `a` has full
    /// rank.
    pub residuals: Option<Vec<T::Real>>,
    /// `(*batch)`: how many singular values of `a` count.
    pub rank: Vec<i64>,
    /// `(*batch, min(m, n))`: the singular values of `a`, descending.
    pub singular_values: Vec<T::Real>,
}

/// Solves `a x = b` for `a` `(*batch, m, n)` and `b` `(*batch, m, k)`. Singular values up to `rcond`
/// times the largest count as zero; by default `rcond` is the precision times `max(m, n)`.
pub fn lstsq<T: LinalgElement>(
    a: Strided<T>,
    b: Strided<T>,
    rcond: Option<T::Real>,
) -> Result<Lstsq<T>> {
    let (a, b) = (Matrices::new(a), Matrices::new(b));
    let (m, n, k, count) = (a.rows, a.cols, b.cols, a.count);
    let size = m.min(n);
    let rcond = rcond.unwrap_or_else(|| {
        let larger = <T::Real as NumCast>::from(m.max(n)).expect("a size fits a float");
        T::Real::epsilon() * larger
    });
    let mut solution = vec![T::zero(); count * n * k];
    let mut singular_values = vec![T::Real::zero(); count * size];
    let mut rank = vec![0; count];
    let outputs = (
        Out::new(&mut solution, n * k),
        Out::new(&mut singular_values, size),
        Out::new(&mut rank, 1),
    );
    let cost = 16 * m * n * size + (m + n) * size * k;
    each_alone(count, cost, outputs, |range, (mut solution, mut singular, mut rank)| {
        let mut work = vec![T::zero(); m * n];
        let mut values = vec![T::zero(); size];
        let (mut u, mut v) = (vec![T::zero(); m * size], vec![T::zero(); n * size]);
        let mut right = vec![T::zero(); m * k];
        let mut along = vec![T::zero(); size * k];
        let mut found = vec![T::zero(); n * k];
        for (i, batch) in range.enumerate() {
            load(&a, batch, &mut work)?;
            if size == 0 {
                continue;
            }
            let matrix = MatRef::from_column_major_slice(&work, m, n);
            let u_out = MatMut::from_column_major_slice_mut(&mut u, m, size);
            let v_out = MatMut::from_column_major_slice_mut(&mut v, n, size);
            if !T::svd(matrix, &mut values, Some(u_out), Some(v_out)) {
                return Err(Error::NoConvergence { what: "linalg.lstsq", batch });
            }
            let singular = singular.of(i);
            for (s, value) in singular.iter_mut().zip(&values) {
                *s = value.re();
            }
            let smallest = rcond * singular[0];
            let counted = singular.iter().take_while(|&&s| s > smallest).count();
            rank.of(i)[0] = counted as i64;
            if counted == 0 || k == 0 {
                continue;
            }
            // x = V diag(1 / s) U^H b
            b.copy_cols(batch, &mut right);
            let u = MatRef::from_column_major_slice(&u[..m * counted], m, counted);
            let v = MatRef::from_column_major_slice(&v[..n * counted], n, counted);
            let right = MatRef::from_column_major_slice(&right, m, k);
            let along = &mut along[..counted * k];
            let along_out = MatMut::from_column_major_slice_mut(&mut *along, counted, k);
            let adjoint = (u.transpose(), Conj::Yes);
            T::gemm(along_out, Accum::Replace, adjoint, (right, Conj::No), T::one(), Par::Seq);
            for column in along.chunks_exact_mut(counted) {
                for (value, s) in column.iter_mut().zip(&*singular) {
                    *value = value.scaled(s.recip());
                }
            }
            let along = MatRef::from_column_major_slice(&*along, counted, k);
            let out = MatMut::from_column_major_slice_mut(&mut found, n, k);
            T::gemm(out, Accum::Replace, (v, Conj::No), (along, Conj::No), T::one(), Par::Seq);
            transpose(&found, k, n, solution.of(i));
        }
        Ok(())
    })?;
    let full_rank = rank.iter().all(|&rank| rank as usize == n);
    let residuals = (m > n && full_rank).then(|| distances(&a, &b, &solution));
    Ok(Lstsq { solution, residuals, rank, singular_values })
}

/// `|b - a x|^2` of every column.
fn distances<T: LinalgElement>(a: &Matrices<'_, T>, b: &Matrices<'_, T>, x: &[T]) -> Vec<T::Real> {
    let (m, n, k) = (a.rows, a.cols, b.cols);
    let mut out = vec![T::Real::zero(); a.count * k];
    let done = each(a.count, m * n * k, Out::new(&mut out, k), |range, mut out, par| {
        let mut left = vec![T::zero(); m * n];
        let mut rest = vec![T::zero(); m * k];
        for (i, batch) in range.enumerate() {
            a.copy_cols(batch, &mut left);
            b.copy_rows(batch, &mut rest);
            if n > 0 && k > 0 {
                let left = MatRef::from_column_major_slice(&left, m, n);
                let x = MatRef::from_row_major_slice(&x[batch * n * k..][..n * k], n, k);
                let rest = MatMut::from_row_major_slice_mut(&mut rest, m, k);
                T::gemm(rest, Accum::Add, (left, Conj::No), (x, Conj::No), -T::one(), par);
            }
            let out = out.of(i);
            for row in rest.chunks_exact(k.max(1)) {
                for (sum, value) in out.iter_mut().zip(row) {
                    *sum += value.modulus_squared();
                }
            }
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

    #[test]
    fn a_line_through_points() {
        // y = m x + c through (0, -1), (1, 0.2), (2, 0.9), (3, 2.1): m = 1, c = -0.95.
        let a = [0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0, 1.0];
        let b = [-1.0, 0.2, 0.9, 2.1];
        let fit = lstsq(matrix(&a, &[4, 2]), matrix(&b, &[4, 1]), None).unwrap();
        assert_close(&fit.solution, &[1.0, -0.95]);
        assert_close(&fit.residuals.unwrap(), &[0.05]);
        assert_eq!(fit.rank, [2]);
        // The roots of the eigenvalues of [[14, 6], [6, 4]].
        let want = [(9.0 + 61f64.sqrt()).sqrt(), (9.0 - 61f64.sqrt()).sqrt()];
        assert_close(&fit.singular_values, &want);
    }

    #[test]
    fn the_shortest_solution_where_there_are_many() {
        let fit = lstsq(matrix(&[1.0, 1.0], &[1, 2]), matrix(&[2.0], &[1, 1]), None).unwrap();
        assert_close(&fit.solution, &[1.0, 1.0]);
        assert_eq!(fit.residuals, None);
        let singular = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let b = [1.0, 2.0, 3.0];
        let fit = lstsq(matrix(&singular, &[3, 2]), matrix(&b, &[3, 1]), None).unwrap();
        assert_close(&fit.solution, &[1.0, 1.0]);
        assert_eq!((fit.rank, fit.residuals), (vec![1], None));
    }

    #[test]
    fn normal_equations_hold_for_complex_batches() {
        type C = Complex<f64>;
        let (m, n, k) = (30, 12, 3);
        let (a, b) = (noise::<C>(2 * m * n), noise::<C>(2 * m * k));
        let fit = lstsq(matrix(&a, &[2, m, n]), matrix(&b, &[2, m, k]), None).unwrap();
        for i in 0..2 {
            let (a, b) = (&a[i * m * n..][..m * n], &b[i * m * k..][..m * k]);
            let image = product(a, &fit.solution[i * n * k..][..n * k], m, n, k);
            let adjoint = adjoint(a, m, n);
            assert_close(&product(&adjoint, &image, n, m, k), &product(&adjoint, b, n, m, k));
            for column in 0..k {
                let row = |r: usize| (image[r * k + column] - b[r * k + column]).norm_sqr();
                let want: f64 = (0..m).map(row).sum();
                let got = fit.residuals.as_ref().unwrap()[i * k + column];
                assert!((want - got).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn nothing_and_the_cut() {
        let fit = lstsq(matrix::<f64>(&[], &[1, 0, 2]), matrix(&[], &[1, 0, 1]), None).unwrap();
        assert_eq!((fit.solution, fit.rank), (vec![0.0, 0.0], vec![0]));
        let a = [1.0, 0.0, 0.0, 1e-3];
        let b = [1.0, 1.0];
        let fit = lstsq(matrix(&a, &[2, 2]), matrix(&b, &[2, 1]), Some(1e-2)).unwrap();
        assert_close(&fit.solution, &[1.0, 0.0]);
        assert_eq!(fit.rank, [1]);
    }
}
