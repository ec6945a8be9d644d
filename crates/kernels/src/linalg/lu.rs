//! LU factorisation with partial pivoting, and determinants.

use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_traits::{Float, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each, transpose};
use super::engine::Triangle;
use super::scale::Scale;
use crate::Strided;

/// Panels of at most this many columns are factored column by column.
const PANEL: usize = 16;

/// `P A = L U` of every matrix, packed as LAPACK's `getrf` does.
#[derive(Clone, Debug, PartialEq)]
pub struct LuFactors<T> {
    /// `(*batch, m, n)`: U on and above the diagonal, L below it, without its unit diagonal.
    pub lu: Vec<T>,
    /// `(*batch, min(m, n))`: row `i` was swapped with row `pivots[i] - 1`, in this order.
    pub pivots: Vec<i32>,
    /// The sign of each permutation, plus or minus one.
    pub signs: Vec<i8>,
    /// For each matrix zero, or the first zero on the diagonal of U, counted from one.
    pub info: Vec<i32>,
}

/// Factors every matrix. A singular one is factored all the same and shows in `info`.
pub fn lu_factor<T: LinalgElement>(a: Strided<T>) -> LuFactors<T> {
    let a = Matrices::new(a);
    let (m, n, count) = (a.rows, a.cols, a.count);
    let size = m.min(n);
    let mut lu = vec![T::zero(); count * m * n];
    let mut pivots = vec![0; count * size];
    let outputs = (Out::new(&mut lu, m * n), Out::new(&mut pivots, size));
    let done = each(count, m * n * size, outputs, |range, (mut lu, mut pivots), par| {
        let mut work = vec![T::zero(); m * n];
        for (i, matrix) in range.enumerate() {
            a.copy_cols(matrix, &mut work);
            let scale = Scale::lift(&mut work);
            factor(&mut work, m, m, n, pivots.of(i), par);
            for (j, column) in work.chunks_exact_mut(m.max(1)).enumerate() {
                scale.undo(&mut column[..m.min(j + 1)]);
            }
            transpose(&work, n, m, lu.of(i));
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
    let signs = (0..count).map(|i| sign_of(&pivots[i * size..][..size])).collect();
    let zero_at = |i: usize| {
        let lu = &lu[i * m * n..][..m * n];
        (0..size).find(|&j| lu[j * n + j].is_zero()).map_or(0, |j| j as i32 + 1)
    };
    let info = (0..count).map(zero_at).collect();
    LuFactors { lu, pivots, signs, info }
}

/// The determinant of every matrix.
pub fn det<T: LinalgElement>(a: Strided<T>) -> Vec<T> {
    let mut det = vec![T::zero(); Matrices::new(a).count];
    let out = Out::new(&mut det, 1);
    diagonals(a, out, |out, i, diagonal, sign, scale| {
        let start = if sign < 0 { -T::one() } else { T::one() };
        let (product, count) =
            diagonal.fold((start, 0), |(product, count), value| (product * value, count + 1));
        out.of(i)[0] = product;
        scale.power(count).undo(out.of(i));
    });
    det
}

/// The sign (or phase) and the logarithm of the absolute value of every determinant: `(0, -inf)`
/// for singular matrices.
pub fn slogdet<T: LinalgElement>(a: Strided<T>) -> (Vec<T>, Vec<T::Real>) {
    let count = Matrices::new(a).count;
    let mut signs = vec![T::zero(); count];
    let mut logs = vec![T::Real::zero(); count];
    let outputs = (Out::new(&mut signs, 1), Out::new(&mut logs, 1));
    diagonals(a, outputs, |(signs, logs), i, diagonal, sign, scale| {
        let start = if sign < 0 { -T::one() } else { T::one() };
        let (mut sign, mut log) = (start, T::Real::zero());
        let unit = scale.ln::<T::Real>();
        for value in diagonal {
            let modulus = value.modulus();
            sign *= if modulus.is_zero() { T::zero() } else { value.scaled(modulus.recip()) };
            log += modulus.ln() - unit;
        }
        if sign.is_zero() {
            log = T::Real::neg_infinity();
        }
        signs.of(i)[0] = sign;
        logs.of(i)[0] = log;
    });
    (signs, logs)
}

/// Factors every square matrix and hands out the diagonal of U, the sign of the permutation and the
/// scale of that diagonal.
fn diagonals<T: LinalgElement, O: super::batch::Cut>(
    a: Strided<T>,
    outputs: O,
    take: impl Fn(&mut O, usize, &mut dyn Iterator<Item = T>, i8, Scale) + Sync,
) {
    let a = Matrices::new(a);
    let n = a.rows;
    let done = each(a.count, n * n * n, outputs, |range, mut outputs, par| {
        let mut work = vec![T::zero(); n * n];
        let mut pivots = vec![0; n];
        for (i, matrix) in range.enumerate() {
            a.copy_cols(matrix, &mut work);
            let scale = Scale::lift(&mut work);
            factor(&mut work, n, n, n, &mut pivots, par);
            let sign = sign_of(&pivots);
            take(&mut outputs, i, &mut (0..n).map(|j| work[j * n + j]), sign, scale);
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
}

fn sign_of(pivots: &[i32]) -> i8 {
    let swaps = pivots.iter().enumerate().filter(|&(i, &pivot)| pivot != i as i32 + 1).count();
    if swaps % 2 == 0 { 1 } else { -1 }
}

/// Factors the column-major `m x n` matrix whose columns start `stride` elements apart, in place.
/// Halves the columns until they are a narrow panel, so that nearly all work is matrix products.
pub(super) fn factor<T: LinalgElement>(
    a: &mut [T],
    stride: usize,
    m: usize,
    n: usize,
    pivots: &mut [i32],
    par: Par,
) {
    debug_assert_eq!(pivots.len(), m.min(n));
    if n <= PANEL || m == 0 {
        return factor_panel(a, stride, m, n, pivots);
    }
    let half = m.min(n / 2);
    let (left, right) = a.split_at_mut(half * stride);
    let (pivots, more_pivots) = pivots.split_at_mut(half);
    factor(left, stride, m, half, pivots, par);
    swap_rows(right, stride, n - half, pivots);

    let factors = MatRef::from_column_major_slice_with_stride(&*left, m, half, stride);
    let (triangle, below) = factors.split_at_row(half);
    let rest = MatMut::from_column_major_slice_with_stride_mut(&mut *right, m, n - half, stride);
    let (mut top, bottom) = rest.split_at_row_mut(half);
    let unit_lower = Triangle { upper: false, unit: true };
    T::solve_triangle(triangle, unit_lower, top.as_mut(), par);
    if m == half {
        return;
    }
    let (below, top) = ((below, Conj::No), (top.as_ref(), Conj::No));
    T::gemm(bottom, Accum::Add, below, top, -T::one(), par);

    factor(&mut right[half..], stride, m - half, n - half, more_pivots, par);
    swap_rows(&mut left[half..], stride, half, more_pivots);
    for pivot in more_pivots {
        *pivot += half as i32;
    }
}

/// One column after the other, each followed by its update of the columns to its right.
fn factor_panel<T: LinalgElement>(
    a: &mut [T],
    stride: usize,
    m: usize,
    n: usize,
    pivots: &mut [i32],
) {
    for j in 0..m.min(n) {
        let column = &a[j * stride..][..m];
        let (mut pivot, mut largest) = (j, column[j].modulus1());
        for (i, value) in column.iter().enumerate().skip(j + 1) {
            let modulus = value.modulus1();
            if modulus > largest {
                (pivot, largest) = (i, modulus);
            }
        }
        pivots[j] = pivot as i32 + 1;
        if largest.is_zero() {
            continue;
        }
        if pivot != j {
            for column in a.chunks_mut(stride).take(n) {
                column.swap(j, pivot);
            }
        }
        let (head, tail) = a.split_at_mut(((j + 1) * stride).min(a.len()));
        let column = &mut head[j * stride..][j..m];
        let (pivot, column) = column.split_first_mut().expect("j < m");
        // The reciprocal of a tiny pivot would overflow.
        if largest >= T::Real::min_positive_value() {
            let reciprocal = T::one().over(*pivot);
            column.iter_mut().for_each(|value| *value *= reciprocal);
        } else {
            column.iter_mut().for_each(|value| *value = value.over(*pivot));
        }
        for other in tail.chunks_mut(stride).take(n - j - 1) {
            let (factor, other) = other[j..m].split_first_mut().expect("j < m");
            for (value, &below) in other.iter_mut().zip(&*column) {
                *value -= below * *factor;
            }
        }
    }
}

/// Applies the swaps to the rows of a column-major matrix.
fn swap_rows<T: LinalgElement>(a: &mut [T], stride: usize, n: usize, pivots: &[i32]) {
    for column in a.chunks_mut(stride).take(n) {
        for (i, &pivot) in pivots.iter().enumerate() {
            column.swap(i, pivot as usize - 1);
        }
    }
}

/// Factors a square matrix in place, or gives the first zero on the diagonal of U, from one. Numbers
/// should be near one.
pub(super) fn factor_regular<T: LinalgElement>(
    a: &mut [T],
    n: usize,
    pivots: &mut [i32],
    par: Par,
) -> std::result::Result<(), usize> {
    factor(a, n, n, n, pivots, par);
    match (0..n).find(|&j| a[j * n + j].is_zero()) {
        None => Ok(()),
        Some(j) => Err(j + 1),
    }
}

/// Replaces the row-major `b` of shape `(n, k)` by the solution of `a x = b`, where `lu` and
/// `pivots` come from [`factor_regular`].
pub(super) fn solve_factored<T: LinalgElement>(
    lu: &[T],
    n: usize,
    pivots: &[i32],
    b: &mut [T],
    k: usize,
    par: Par,
) {
    for (i, &pivot) in pivots.iter().enumerate() {
        let pivot = pivot as usize - 1;
        if pivot != i {
            let (head, tail) = b.split_at_mut(pivot * k);
            head[i * k..][..k].swap_with_slice(&mut tail[..k]);
        }
    }
    let lu = MatRef::from_column_major_slice(lu, n, n);
    super::solve::substitute(lu, Triangle { upper: false, unit: true }, b, k, par);
    super::solve::substitute(lu, Triangle { upper: true, unit: false }, b, k, par);
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    fn reconstructs<T: LinalgElement>(m: usize, n: usize) {
        let data = noise::<T>(m * n);
        let shape = [m, n];
        let strides = [1, m as isize];
        let x = Strided { data: &data, shape: &shape, strides: &strides, offset: 0 };
        let f = lu_factor(x);
        let size = m.min(n);
        let lower: Vec<T> = fill(m, size, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => T::zero(),
            std::cmp::Ordering::Equal => T::one(),
            std::cmp::Ordering::Greater => f.lu[i * n + j],
        });
        let upper = fill(size, n, |i, j| if i <= j { f.lu[i * n + j] } else { T::zero() });
        let mut want = fill(m, n, |i, j| data[j * m + i]);
        for (i, &p) in f.pivots.iter().enumerate() {
            for j in 0..n {
                want.swap(i * n + j, (p as usize - 1) * n + j);
            }
        }
        assert_close(&product(&lower, &upper, m, size, n), &want);
        assert_eq!(f.info, [0]);
    }

    #[test]
    fn reconstructs_every_shape_and_type() {
        for (m, n) in [(1, 1), (3, 3), (2, 7), (7, 2), (40, 40), (20, 90), (90, 20), (100, 100)] {
            reconstructs::<f64>(m, n);
            reconstructs::<Complex<f64>>(m, n);
        }
        reconstructs::<f32>(40, 33);
        reconstructs::<Complex<f32>>(33, 40);
    }

    #[test]
    fn pivots_as_lapack_does() {
        // Column one: 6 wins; below it 8 - 2/6 * 0 ... leaves rows in this order.
        let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0];
        let f = lu_factor(matrix(&data, &[3, 3]));
        assert_eq!(f.pivots, [3, 3, 3]);
        assert_eq!(f.signs, [1]);
        assert_close(&f.lu[..3], &[7.0, 8.0, 10.0]);
        assert_close(&det(matrix(&data, &[3, 3])), &[-3.0]);
    }

    #[test]
    fn determinants_of_batches() {
        let data = [1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 1.0, 0.0, 1.0, 2.0, 2.0, 4.0];
        let x = matrix(&data, &[3, 2, 2]);
        assert_close(&det(x), &[-2.0, -1.0, 0.0]);
        let (signs, logs) = slogdet(x);
        assert_eq!(signs, [-1.0, -1.0, 0.0]);
        assert_close(&logs[..2], &[2f64.ln(), 0.0]);
        assert_eq!(logs[2], f64::NEG_INFINITY);
        assert_eq!(lu_factor(x).info, [0, 0, 2]);
        let i = Complex::new(0.0, 1.0);
        let data = [i, Complex::new(0.0, 0.0), Complex::new(0.0, 0.0), i.scale(2.0)];
        assert_eq!(det(matrix(&data, &[2, 2])), [Complex::new(-2.0, 0.0)]);
        let (sign, log) = slogdet(matrix(&data, &[2, 2]));
        assert_eq!((sign[0], log[0]), (Complex::new(-1.0, 0.0), 2f64.ln()));
    }

    #[test]
    fn huge_and_tiny_numbers() {
        type C = Complex<f32>;
        let data = noise::<C>(20 * 20);
        let want = lu_factor(matrix(&data, &[20, 20]));
        let (sign, log) = slogdet(matrix(&data, &[20, 20]));
        for exponent in [120, 70, -70, -120] {
            let by = |v: &[C], exponent| v.iter().map(|v| v.scaled(2f32.powi(exponent))).collect();
            let scaled: Vec<C> = by(&data, exponent);
            let found = lu_factor(matrix(&scaled, &[20, 20]));
            assert_eq!(found.pivots, want.pivots);
            let upper =
                |lu: &[C]| fill(20, 20, |i, j| if i <= j { lu[i * 20 + j] } else { C::zero() });
            let lower =
                |lu: &[C]| fill(20, 20, |i, j| if i > j { lu[i * 20 + j] } else { C::zero() });
            assert_close(&by(&upper(&found.lu), -exponent), &upper(&want.lu));
            assert_close(&lower(&found.lu), &lower(&want.lu));
            let (signs, logs) = slogdet(matrix(&scaled, &[20, 20]));
            assert_close(&signs, &sign);
            assert_close(&logs, &[log[0] + 20.0 * exponent as f32 * 2f32.ln()]);
        }
        assert_eq!(det(matrix(&[1e200, 0.0, 0.0, 1e-200], &[2, 2])), [1.0]);
        assert_eq!(det(matrix(&[1e200, 0.0, 0.0, 1e200], &[2, 2])), [f64::INFINITY]);
        assert_eq!(det(matrix(&[1e-200, 0.0, 0.0, -1e-200], &[2, 2])), [0.0]);
    }

    #[test]
    fn nothing_and_nan() {
        assert_eq!(det(matrix::<f64>(&[], &[2, 0, 0])), [1.0, 1.0]);
        assert_eq!(slogdet(matrix::<f64>(&[], &[1, 0, 0])), (vec![1.0], vec![0.0]));
        assert!(det(matrix::<f64>(&[], &[0, 3, 3])).is_empty());
        assert_eq!(lu_factor(matrix::<f64>(&[], &[1, 0, 20])).info, [0]);
        let data: Vec<f64> = (0..400).map(|i| if i == 200 { f64::NAN } else { i as f64 }).collect();
        assert!(det(matrix(&data, &[20, 20]))[0].is_nan());
        // A zero column keeps the determinant zero.
        let data = fill(40, 40, |i, j| if j == 3 { 0.0 } else { ((i * 7 + j * 11) % 13) as f64 });
        assert_eq!(det(matrix(&data, &[40, 40])), [0.0]);
    }
}
