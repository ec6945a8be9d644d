//! QR decomposition by Householder reflections, with LAPACK's signs.
//!
//! A reflection is `H = I - tau v v^H` with `v[0] = 1`, and `Q = H_0 H_1 ..`. Blocks of them are
//! applied at once as `I - V T V^H` with an upper triangular `T`.

use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_traits::{Float, One, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each, transpose};
use super::scale::Scale;
use crate::{Result, Strided};

/// How many reflections make a block.
const BLOCK: usize = 32;

/// `Q` and `R` of every matrix, with `a = Q R`: of shapes `(*batch, m, min(m, n))` and
/// `(*batch, min(m, n), n)`, or with `complete` `(*batch, m, m)` and `(*batch, m, n)`.
pub fn qr<T: LinalgElement>(a: Strided<T>, complete: bool) -> (Vec<T>, Vec<T>) {
    let a = Matrices::new(a);
    let (m, n) = (a.rows, a.cols);
    let size = m.min(n);
    let inner = if complete { m } else { size };
    let mut q = vec![T::zero(); a.count * m * inner];
    let mut r = vec![T::zero(); a.count * inner * n];
    let outputs = (Out::new(&mut q, m * inner), Out::new(&mut r, inner * n));
    infallible(each(
        a.count,
        4 * m * n * size + m * inner,
        outputs,
        |range, (mut q, mut r), par| {
            let mut work = vec![T::zero(); m * n];
            let mut columns = vec![T::zero(); m * inner];
            let mut taus = vec![T::zero(); size];
            for (i, batch) in range.enumerate() {
                a.copy_cols(batch, &mut work);
                let scale = Scale::lift(&mut work);
                factor(&mut work, m, n, &mut taus, par);
                let r = r.of(i);
                for row in 0..size {
                    for col in row..n {
                        r[row * n + col] = work[col * m + row];
                    }
                }
                scale.undo(r);
                generate(&work, m, &taus, &mut columns, inner, par);
                transpose(&columns, inner, m, q.of(i));
            }
            Ok(())
        },
    ));
    (q, r)
}

/// The reflections themselves, packed as LAPACK's `geqrf` does: `R` on and above the diagonal of
/// `(*batch, m, n)`, the vectors below it without their leading ones, and the factors `tau`,
/// `(*batch, min(m, n))`.
pub fn geqrf<T: LinalgElement>(a: Strided<T>) -> (Vec<T>, Vec<T>) {
    let a = Matrices::new(a);
    let (m, n) = (a.rows, a.cols);
    let size = m.min(n);
    let mut packed = vec![T::zero(); a.count * m * n];
    let mut taus = vec![T::zero(); a.count * size];
    let outputs = (Out::new(&mut packed, m * n), Out::new(&mut taus, size));
    infallible(each(a.count, 2 * m * n * size, outputs, |range, (mut packed, mut taus), par| {
        let mut work = vec![T::zero(); m * n];
        for (i, batch) in range.enumerate() {
            a.copy_cols(batch, &mut work);
            let scale = Scale::lift(&mut work);
            factor(&mut work, m, n, taus.of(i), par);
            for (j, column) in work.chunks_exact_mut(m.max(1)).enumerate() {
                scale.undo(&mut column[..m.min(j + 1)]);
            }
            transpose(&work, n, m, packed.of(i));
        }
        Ok(())
    }));
    (packed, taus)
}

/// The first `n` columns of the product of the reflections with the vectors below the diagonal of
/// `v`, `(*batch, m, n)` with `m >= n`, and the factors `tau`, `(*batch, k)` with `k <= n`.
pub fn householder_product<T: LinalgElement>(v: Strided<T>, tau: Strided<T>) -> Vec<T> {
    let count = tau.shape[tau.shape.len() - 1];
    // One row for every batch element.
    let split = tau.shape.len() - 1;
    let mut shape = crate::Dims::from_slice(tau.shape);
    let mut strides = crate::Strides::from_slice(tau.strides);
    shape.insert(split, 1);
    strides.insert(split, 0);
    let tau = Matrices::new(Strided { data: tau.data, shape: &shape, strides: &strides, ..tau });
    let v = Matrices::new(v);
    let (m, n) = (v.rows, v.cols);
    let mut out = vec![T::zero(); v.count * m * n];
    infallible(each(
        v.count,
        4 * m * n * count,
        Out::new(&mut out, m * n),
        |range, mut out, par| {
            let mut work = vec![T::zero(); m * n];
            let mut columns = work.clone();
            let mut taus = vec![T::zero(); count];
            for (i, batch) in range.enumerate() {
                v.copy_cols(batch, &mut work);
                tau.copy_rows(batch, &mut taus);
                generate(&work, m, &taus, &mut columns, n, par);
                transpose(&columns, n, m, out.of(i));
            }
            Ok(())
        },
    ));
    out
}

fn infallible(result: Result<()>) {
    debug_assert!(result.is_ok());
}

/// Replaces a column-major matrix by its packed reflections.
fn factor<T: LinalgElement>(a: &mut [T], m: usize, n: usize, taus: &mut [T], par: Par) {
    let size = m.min(n);
    let mut block = Block::new();
    for first in (0..size).step_by(BLOCK) {
        let width = BLOCK.min(size - first);
        let (panel, rest) = a[first * m..].split_at_mut(width * m);
        for j in 0..width {
            let (column, right) = panel[j * m..].split_at_mut(m);
            let column = &mut column[first + j..];
            let tau = reflect(column);
            taus[first + j] = tau;
            for other in right.chunks_exact_mut(m) {
                apply(column, tau.conjugate(), &mut other[first + j..]);
            }
        }
        if !rest.is_empty() {
            block.load(panel, m, first, &taus[first..][..width]);
            let columns = rest.len() / m;
            let rest = MatMut::from_column_major_slice_mut(rest, m, columns);
            block.apply(rest.split_at_row_mut(first).1, true, par);
        }
    }
}

/// Writes the first `n` columns of the product of packed reflections into the column-major `q`.
fn generate<T: LinalgElement>(packed: &[T], m: usize, taus: &[T], q: &mut [T], n: usize, par: Par) {
    q.fill(T::zero());
    for j in 0..n.min(m) {
        q[j * m + j] = T::one();
    }
    let mut block = Block::new();
    // From the last to the first, so that columns before a reflection's own are untouched by it.
    for first in (0..taus.len()).step_by(BLOCK).rev() {
        let width = BLOCK.min(taus.len() - first);
        let panel = &packed[first * m..][..width * m];
        let columns = &mut q[first * m..];
        if n - first <= BLOCK {
            for j in (0..width).rev() {
                let vector = &panel[j * m + first + j..(j + 1) * m];
                for column in columns[j * m..].chunks_exact_mut(m) {
                    apply(vector, taus[first + j], &mut column[first + j..]);
                }
            }
        } else {
            block.load(panel, m, first, &taus[first..][..width]);
            let columns = MatMut::from_column_major_slice_mut(columns, m, n - first);
            block.apply(columns.split_at_row_mut(first).1, false, par);
        }
    }
}

/// Makes the reflection that takes `x` to `(beta, 0, ..)`: stores `beta` and the rest of its vector
/// in `x` and returns `tau`. `beta` is real and its sign opposite to that of `re(x[0])`; a vector
/// that needs no change gives `tau = 0`.
fn reflect<T: LinalgElement>(x: &mut [T]) -> T {
    let (alpha, tail) = x.split_first_mut().expect("at least the diagonal");
    let norm = norm(tail);
    if norm.is_zero() && alpha.im().is_zero() {
        return T::zero();
    }
    let beta = -alpha.modulus().hypot(norm).copysign(alpha.re());
    let tau = T::from_parts((beta - alpha.re()) / beta, -alpha.im() / beta);
    let scale = T::one().over(*alpha - T::from_re(beta));
    tail.iter_mut().for_each(|value| *value *= scale);
    *alpha = T::from_re(beta);
    tau
}

/// The Euclidean norm, safe from overflow and underflow.
fn norm<T: LinalgElement>(x: &[T]) -> T::Real {
    let sum = |scale: T::Real| {
        let mut sums = [T::Real::zero(); LANES];
        let (chunks, rest) = x.as_chunks::<LANES>();
        for chunk in chunks {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value.scaled(scale).modulus_squared();
            }
        }
        let rest = rest.iter().map(|value| value.scaled(scale).modulus_squared());
        sums.into_iter().chain(rest).fold(T::Real::zero(), |sum, part| sum + part)
    };
    let plain = sum(T::Real::one());
    let safe = T::Real::min_positive_value() / T::Real::epsilon();
    if plain.is_nan() || (plain.is_finite() && plain > safe) {
        return plain.sqrt();
    }
    let largest = x.iter().fold(T::Real::zero(), |largest, value| largest.max(value.modulus1()));
    if largest.is_zero() || largest.is_infinite() {
        return largest;
    }
    sum(largest.recip()).sqrt() * largest
}

/// How many sums run side by side: one alone would wait for itself at every addition.
const LANES: usize = 16;

/// The sum of the products of the conjugates of `a` and of `b`.
fn dot<T: LinalgElement>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::zero(); LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a.conjugate() * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| a.conjugate() * b);
    sums.into_iter().chain(rest).fold(T::zero(), |sum, part| sum + part)
}

/// `y -= tau v (v^H y)` with `v[0]` read as one.
fn apply<T: LinalgElement>(v: &[T], tau: T, y: &mut [T]) {
    if tau.is_zero() {
        return;
    }
    let (first, rest) = y.split_first_mut().expect("as long as the vector");
    let factor = tau * (*first + dot(&v[1..], rest));
    *first -= factor;
    for (y, &v) in rest.iter_mut().zip(&v[1..]) {
        *y -= v * factor;
    }
}

/// Several reflections, `I - V T V^H`.
struct Block<T> {
    /// `rows x width`, column-major, with its ones and zeros.
    v: Vec<T>,
    /// `width x width`, column-major, upper triangular.
    t: Vec<T>,
    rows: usize,
    width: usize,
}

impl<T: LinalgElement> Block<T> {
    fn new() -> Self {
        Self { v: Vec::new(), t: Vec::new(), rows: 0, width: 0 }
    }

    /// Takes the packed reflections of `panel`, whose first diagonal element is in row `first`.
    fn load(&mut self, panel: &[T], m: usize, first: usize, taus: &[T]) {
        let (rows, width) = (m - first, taus.len());
        (self.rows, self.width) = (rows, width);
        self.v.clear();
        for (j, column) in panel.chunks_exact(m).enumerate() {
            self.v.resize(j * rows + j, T::zero());
            self.v.push(T::one());
            self.v.extend_from_slice(&column[first + j + 1..]);
        }
        self.t.clear();
        self.t.resize(width * width, T::zero());
        for (j, &tau) in taus.iter().enumerate() {
            let (done, column) = self.t.split_at_mut(j * width);
            // T[..j, j] = -tau T[..j, ..j] (V[:, ..j]^H v_j)
            let vector = &self.v[j * rows..][..rows];
            for (i, other) in self.v.chunks_exact(rows).take(j).enumerate() {
                let along = dot(&other[j..], &vector[j..]);
                for (value, &t) in column.iter_mut().zip(&done[i * width..][..=i]) {
                    *value -= tau * t * along;
                }
            }
            column[j] = tau;
        }
    }

    /// Multiplies `c` from the left by the block, or by its adjoint.
    fn apply(&self, c: MatMut<'_, T>, adjoint: bool, par: Par) {
        let (width, columns) = (self.width, c.ncols());
        let v = MatRef::from_column_major_slice(&self.v, self.rows, width);
        let t = MatRef::from_column_major_slice(&self.t, width, width);
        let mut along = vec![T::zero(); width * columns];
        let mut turned = along.clone();
        let mut along = MatMut::from_column_major_slice_mut(&mut along, width, columns);
        let mut turned = MatMut::from_column_major_slice_mut(&mut turned, width, columns);
        let t = if adjoint { (t.transpose(), Conj::Yes) } else { (t, Conj::No) };
        let (mut c, one) = (c, T::one());
        let conjugated = (v.transpose(), Conj::Yes);
        T::gemm(along.as_mut(), Accum::Replace, conjugated, (c.as_ref(), Conj::No), one, par);
        T::gemm(turned.as_mut(), Accum::Replace, t, (along.as_ref(), Conj::No), one, par);
        T::gemm(c.as_mut(), Accum::Add, (v, Conj::No), (turned.as_ref(), Conj::No), -one, par);
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    fn decomposes<T: LinalgElement>(m: usize, n: usize) {
        let data = noise::<T>(2 * m * n);
        let shape = [2, m, n];
        // Columns are contiguous.
        let strides = [(m * n) as isize, 1, m as isize];
        let x = Strided { data: &data, shape: &shape, strides: &strides, offset: 0 };
        for complete in [false, true] {
            let inner = if complete { m } else { m.min(n) };
            let (q, r) = qr(x, complete);
            for i in 0..2 {
                let (q, r) = (&q[i * m * inner..][..m * inner], &r[i * inner * n..][..inner * n]);
                assert_orthonormal(q, m, inner);
                let want = fill(m, n, |row, col| data[i * m * n + col * m + row]);
                assert_close(&product(q, r, m, inner, n), &want);
                for row in 0..inner {
                    assert!((0..row.min(n)).all(|col| r[row * n + col].is_zero()));
                    assert!(row >= n || r[row * n + row].im().is_zero());
                }
            }
        }
        let (packed, taus) = geqrf(x);
        if m >= n {
            let packed = matrix(&packed, &shape);
            let tau_shape = [2, n];
            let q = householder_product(packed, matrix(&taus, &tau_shape));
            assert_close(&q, &qr(x, false).0);
        }
    }

    #[test]
    fn decomposes_every_shape_and_type() {
        for (m, n) in
            [(1, 1), (3, 3), (5, 2), (2, 5), (33, 33), (80, 40), (40, 80), (100, 100), (90, 3)]
        {
            decomposes::<f64>(m, n);
            decomposes::<Complex<f64>>(m, n);
        }
        decomposes::<f32>(50, 40);
        decomposes::<Complex<f32>>(40, 50);
    }

    #[test]
    fn signs_are_lapacks() {
        // The last reflection of a square matrix changes nothing, so -35 keeps its sign.
        let data = [12.0, -51.0, 4.0, 6.0, 167.0, -68.0, -4.0, 24.0, -41.0];
        let (q, r) = qr(matrix(&data, &[3, 3]), false);
        assert_close(&r, &[-14.0, -21.0, 14.0, 0.0, -175.0, 70.0, 0.0, 0.0, -35.0]);
        assert_close(&q[..3], &[-6.0 / 7.0, 69.0 / 175.0, 58.0 / 175.0]);
        // A column that is already done keeps its sign.
        let (q, r) = qr(matrix(&[3.0, 1.0, 0.0, 2.0], &[2, 2]), false);
        assert_eq!((q, r), (vec![1.0, 0.0, 0.0, 1.0], vec![3.0, 1.0, 0.0, 2.0]));
    }

    #[test]
    fn huge_and_tiny_numbers() {
        for scale in [1e200, 1e-200] {
            let (_, r) = qr(matrix(&[3.0 * scale, 4.0 * scale], &[2, 1]), false);
            assert!((r[0] / scale + 5.0).abs() < 1e-12);
        }
        type C = Complex<f32>;
        let by = |v: &[C], exponent| v.iter().map(|v| v * 2f32.powi(exponent)).collect::<Vec<C>>();
        let data = noise::<C>(12);
        let (q, r) = qr(matrix(&data, &[4, 3]), false);
        for exponent in [120, 70, -70, -120] {
            let scaled = by(&data, exponent);
            let scaled = matrix(&scaled, &[4, 3]);
            let (scaled_q, scaled_r) = qr(scaled, false);
            assert_close(&scaled_q, &q);
            assert_close(&by(&scaled_r, -exponent), &r);
            let (packed, taus) = geqrf(scaled);
            assert_close(&by(&packed[..3], -exponent), &r[..3]);
            let vectors = householder_product(matrix(&packed, &[4, 3]), matrix(&taus, &[3]));
            assert_close(&vectors, &q);
        }
        // The smallest number there is.
        assert_eq!(qr(matrix(&[0.0, 5e-324], &[2, 1]), false).1, [-5e-324]);
    }

    #[test]
    fn nothing_and_nan() {
        let (q, r) = qr(matrix::<f64>(&[], &[1, 3, 0]), true);
        assert_eq!((q, r), (eye(3), vec![]));
        let (q, r) = qr(matrix::<f64>(&[], &[1, 0, 3]), false);
        assert_eq!((q, r), (vec![], vec![]));
        let data = [f64::NAN, 1.0, 2.0, 3.0];
        assert!(qr(matrix(&data, &[2, 2]), false).1[0].is_nan());
    }
}
