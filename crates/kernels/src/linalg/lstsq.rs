//! Least squares by singular values.

use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_traits::{Float, NumCast, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each_alone, transpose};
use super::scale::Scale;
use super::svd::load;
use crate::{Error, Result, Strided};

/// The shortest of the solutions `x` that minimise `|a x - b|`, for every pair of matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Lstsq<T: LinalgElement> {
    /// `(*batch, n, k)`.
    pub solution: Vec<T>,
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
            let scale = load("linalg.lstsq", &a, batch, &mut work)?;
            if size == 0 {
                continue;
            }
            let matrix = MatRef::from_column_major_slice(&work, m, n);
            let u_out = MatMut::from_column_major_slice_mut(&mut u, m, size);
            let v_out = MatMut::from_column_major_slice_mut(&mut v, n, size);
            if !T::svd(matrix, &mut values, Some(u_out), Some(v_out)) {
                return Err(Error::NoConvergence { what: "linalg.lstsq", batch });
            }
            let smallest = rcond * values[0].re();
            let counting = values.iter().map(|value| value.re()).take_while(|&s| s > smallest);
            let inverses: Vec<_> = counting.map(|s| s.recip()).collect();
            let counted = inverses.len();
            scale.undo(&mut values);
            for (s, value) in singular.of(i).iter_mut().zip(&values) {
                *s = value.re();
            }
            rank.of(i)[0] = counted as i64;
            if counted == 0 || k == 0 {
                continue;
            }
            // x = V diag(1 / s) U^H b
            b.copy_cols(batch, &mut right);
            let columns = right.chunks_exact_mut(m);
            let scales: Vec<_> = columns.map(|b| Scale::bring(b).over(scale)).collect();
            let u = MatRef::from_column_major_slice(&u[..m * counted], m, counted);
            let v = MatRef::from_column_major_slice(&v[..n * counted], n, counted);
            let right = MatRef::from_column_major_slice(&right, m, k);
            let along = &mut along[..counted * k];
            let along_out = MatMut::from_column_major_slice_mut(&mut *along, counted, k);
            let adjoint = (u.transpose(), Conj::Yes);
            T::gemm(along_out, Accum::Replace, adjoint, (right, Conj::No), T::one(), Par::Seq);
            for column in along.chunks_exact_mut(counted) {
                for (value, &inverse) in column.iter_mut().zip(&inverses) {
                    *value = value.scaled(inverse);
                }
            }
            let along = MatRef::from_column_major_slice(&*along, counted, k);
            let out = MatMut::from_column_major_slice_mut(&mut found, n, k);
            T::gemm(out, Accum::Replace, (v, Conj::No), (along, Conj::No), T::one(), Par::Seq);
            for (x, scale) in found.chunks_exact_mut(n).zip(&scales) {
                scale.undo(x);
            }
            transpose(&found, k, n, solution.of(i));
        }
        Ok(())
    })?;
    Ok(Lstsq { solution, rank, singular_values })
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
        assert_eq!(fit.rank, [2]);
        // The roots of the eigenvalues of [[14, 6], [6, 4]].
        let want = [(9.0 + 61f64.sqrt()).sqrt(), (9.0 - 61f64.sqrt()).sqrt()];
        assert_close(&fit.singular_values, &want);
    }

    #[test]
    fn the_shortest_solution_where_there_are_many() {
        let fit = lstsq(matrix(&[1.0, 1.0], &[1, 2]), matrix(&[2.0], &[1, 1]), None).unwrap();
        assert_close(&fit.solution, &[1.0, 1.0]);
        let singular = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let b = [1.0, 2.0, 3.0];
        let fit = lstsq(matrix(&singular, &[3, 2]), matrix(&b, &[3, 1]), None).unwrap();
        assert_close(&fit.solution, &[1.0, 1.0]);
        assert_eq!(fit.rank, [1]);
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
        }
    }

    #[test]
    fn huge_and_tiny_numbers() {
        let (a, b) = (noise::<f32>(40), noise::<f32>(16));
        let fit =
            |a: &[f32], b: &[f32]| lstsq(matrix(a, &[8, 5]), matrix(b, &[8, 2]), None).unwrap();
        let by =
            |v: &[f32], exponent| v.iter().map(|v| v * 2f32.powi(exponent)).collect::<Vec<_>>();
        let want = fit(&a, &b);
        for (left, right) in [(120, 120), (-120, -120), (60, -60), (-50, 60)] {
            let found = fit(&by(&a, left), &by(&b, right));
            assert_close(&by(&found.solution, left - right), &want.solution);
            assert_close(&by(&found.singular_values, -left), &want.singular_values);
            assert_eq!(found.rank, [5]);
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
