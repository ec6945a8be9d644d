//! Inverses and linear systems.

use faer::{MatMut, MatRef, Par};

use super::LinalgElement;
use super::batch::{Matrices, Out, each};
use super::engine::Triangle;
use super::lu::{factor_regular, solve_factored};
use super::scale::Scale;
use crate::{Error, Result, Strided};

/// Systems of at most this many unknowns are solved by plain loops.
const SMALL: usize = 16;

/// The inverse of every square matrix.
pub fn inv<T: LinalgElement>(a: Strided<T>) -> Result<Vec<T>> {
    let a = Matrices::new(a);
    let n = a.rows;
    let mut out = vec![T::zero(); a.count * n * n];
    each(a.count, 2 * n * n * n, Out::new(&mut out, n * n), |range, mut out, par| {
        let mut work = vec![T::zero(); n * n];
        let mut pivots = vec![0; n];
        for (i, batch) in range.enumerate() {
            a.copy_cols(batch, &mut work);
            let scale = Scale::lift(&mut work);
            factor_regular(&mut work, n, &mut pivots, par)
                .map_err(|pivot| Error::Singular { batch, pivot })?;
            let out = out.of(i);
            for j in 0..n {
                out[j * n + j] = T::one();
            }
            solve_factored(&work, n, &pivots, out, n, par);
            scale.apply(out);
        }
        Ok(())
    })?;
    Ok(out)
}

/// The solution `x` of `a x = b` for every pair of `a` `(*batch, n, n)` and `b` `(*batch, n, k)`.
pub fn solve<T: LinalgElement>(a: Strided<T>, b: Strided<T>) -> Result<Vec<T>> {
    let (a, b) = (Matrices::new(a), Matrices::new(b));
    let (n, k) = (a.rows, b.cols);
    let mut out = vec![T::zero(); a.count * n * k];
    each(a.count, n * n * (n + k), Out::new(&mut out, n * k), |range, mut out, par| {
        let mut work = vec![T::zero(); n * n];
        let mut pivots = vec![0; n];
        for (i, batch) in range.enumerate() {
            a.copy_cols(batch, &mut work);
            let scale = Scale::lift(&mut work);
            factor_regular(&mut work, n, &mut pivots, par)
                .map_err(|pivot| Error::Singular { batch, pivot })?;
            let out = out.of(i);
            b.copy_rows(batch, out);
            let scale = Scale::lift(out).over(scale);
            solve_factored(&work, n, &pivots, out, k, par);
            scale.undo(out);
        }
        Ok(())
    })?;
    Ok(out)
}

/// The solution `x` of `a x = b` for every pair of a triangular `a` `(*batch, n, n)` and `b`
/// `(*batch, n, k)`. Only the triangle is read, and with `unit` not its diagonal. A zero on the
/// diagonal gives infinities.
pub fn solve_triangular<T: LinalgElement>(
    a: Strided<T>,
    b: Strided<T>,
    upper: bool,
    unit: bool,
) -> Vec<T> {
    let kind = Triangle { upper, unit };
    let (a, b) = (Matrices::new(a), Matrices::new(b));
    let (n, k) = (a.rows, b.cols);
    let mut out = vec![T::zero(); a.count * n * k];
    let done = each(a.count, n * n * k, Out::new(&mut out, n * k), |range, mut out, par| {
        let mut work = vec![T::zero(); n * n];
        for (i, batch) in range.enumerate() {
            a.copy_cols(batch, &mut work);
            let out = out.of(i);
            b.copy_rows(batch, out);
            // Ones on the diagonal leave no freedom, and what is not read says nothing.
            let triangle = (0..n).flat_map(|j| {
                let column = &work[j * n..][..n];
                if upper { &column[..=j] } else { &column[j..] }
            });
            let scale = if unit { Scale::none() } else { Scale::up(triangle) };
            scale.apply(&mut work);
            let scale = Scale::lift(out).over(scale);
            substitute(MatRef::from_column_major_slice(&work, n, n), kind, out, k, par);
            scale.undo(out);
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
    out
}

/// Replaces the row-major `b` of shape `(n, k)` by the solution of `a x = b` for triangular `a`.
pub(super) fn substitute<T: LinalgElement>(
    a: MatRef<'_, T>,
    kind: Triangle,
    b: &mut [T],
    k: usize,
    par: Par,
) {
    let n = a.nrows();
    if n == 0 || k == 0 {
        return;
    }
    if n > SMALL {
        let b = MatMut::from_row_major_slice_mut(b, n, k);
        return T::solve_triangle(a, kind, b, par);
    }
    for step in 0..n {
        let i = if kind.upper { n - 1 - step } else { step };
        let (head, tail) = b.split_at_mut(i * k);
        let (row, below) = tail.split_at_mut(k);
        let (known, first) = if kind.upper { (&*below, i + 1) } else { (&*head, 0) };
        for (j, known) in known.chunks_exact(k).enumerate() {
            let factor = a[(i, first + j)];
            for (value, &known) in row.iter_mut().zip(known) {
                *value -= factor * known;
            }
        }
        if !kind.unit {
            let diagonal = a[(i, i)];
            row.iter_mut().for_each(|value| *value = value.over(diagonal));
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    fn inverts<T: LinalgElement>(n: usize) {
        let mut data = noise::<T>(2 * n * n);
        for i in 0..2 * n {
            data[i * n + i % n] += T::one() + T::one();
        }
        let (square, tall) = ([2, n, n], [2, n, 3]);
        let inverse = inv(matrix(&data, &square)).unwrap();
        let eye = fill(n, n, |i, j| if i == j { T::one() } else { T::zero() });
        for (a, b) in data.chunks(n * n).zip(inverse.chunks(n * n)) {
            assert_close(&product(a, b, n, n, n), &eye);
        }
        let b = noise::<T>(2 * n * 3);
        let solution = solve(matrix(&data, &square), matrix(&b, &tall)).unwrap();
        for ((a, s), b) in data.chunks(n * n).zip(solution.chunks(n * 3)).zip(b.chunks(n * 3)) {
            assert_close(&product(a, s, n, n, 3), b);
        }
    }

    #[test]
    fn inverts_and_solves_every_size_and_type() {
        for n in [1, 2, 3, 8, 16, 17, 50, 120] {
            inverts::<f64>(n);
            inverts::<Complex<f64>>(n);
        }
        inverts::<f32>(20);
        inverts::<Complex<f32>>(20);
    }

    #[test]
    fn known_values_and_transposed_input() {
        let data = [4.0, 7.0, 2.0, 6.0];
        assert_close(&inv(matrix(&data, &[2, 2])).unwrap(), &[0.6, -0.7, -0.2, 0.4]);
        let t = Strided { data: &data, shape: &[2, 2], strides: &[1, 2], offset: 0 };
        assert_close(&inv(t).unwrap(), &[0.6, -0.2, -0.7, 0.4]);
    }

    #[test]
    fn huge_and_tiny_numbers() {
        type C = Complex<f64>;
        let (data, b) = (noise::<C>(400), noise::<C>(20));
        let (square, column) = ([20, 20], [20, 1]);
        let by = |v: &[C], exponent| v.iter().map(|v| v * 2f64.powi(exponent)).collect::<Vec<C>>();
        let inverse = inv(matrix(&data, &square)).unwrap();
        let plain = solve(matrix(&data, &square), matrix(&b, &column)).unwrap();
        let triangle = |a, b| solve_triangular(a, b, false, false);
        let by_triangle = triangle(matrix(&data, &square), matrix(&b, &column));
        for exponent in [1000, 600, -600, -1000] {
            let (huge, right) = (by(&data, exponent), by(&b, exponent));
            let (huge, right) = (matrix(huge.leak(), &square), matrix(right.leak(), &column));
            assert_close(&by(&inv(huge).unwrap(), exponent), &inverse);
            assert_close(&solve(huge, right).unwrap(), &plain);
            assert_close(&triangle(huge, right), &by_triangle);
        }
    }

    #[test]
    fn singular_matrices_are_named() {
        let data = [1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 4.0];
        let x = matrix(&data, &[2, 2, 2]);
        assert_eq!(inv(x), Err(Error::Singular { batch: 1, pivot: 2 }));
        assert_eq!(solve(x, x), Err(Error::Singular { batch: 1, pivot: 2 }));
    }

    #[test]
    fn triangles_of_every_kind() {
        for n in [1, 5, 40] {
            let a =
                fill(n, n, |i, j| if i == j { 3.0 } else { ((i * 5 + j * 3) % 7) as f64 / 20.0 });
            let b = noise::<f64>(n * 2);
            for upper in [false, true] {
                for unit in [false, true] {
                    let x = solve_triangular(matrix(&a, &[n, n]), matrix(&b, &[n, 2]), upper, unit);
                    let triangle = fill(n, n, |i, j| match (i == j, (i < j) == upper) {
                        (true, _) if unit => 1.0,
                        (true, _) | (_, true) => a[i * n + j],
                        _ => 0.0,
                    });
                    assert_close(&product(&triangle, &x, n, n, 2), &b);
                }
            }
        }
        let zero = solve_triangular(matrix(&[0.0], &[1, 1]), matrix(&[2.0], &[1, 1]), true, false);
        assert_eq!(zero, [f64::INFINITY]);
    }

    #[test]
    fn nothing() {
        assert_eq!(inv(matrix::<f64>(&[], &[3, 0, 0])), Ok(vec![]));
        assert_eq!(inv(matrix::<f64>(&[], &[0, 4, 4])), Ok(vec![]));
        let eye = matrix(&[1.0, 0.0, 0.0, 1.0], &[2, 2]);
        assert_eq!(solve(eye, matrix::<f64>(&[], &[2, 0])), Ok(vec![]));
    }
}
