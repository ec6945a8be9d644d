//! Eigenvalues and eigenvectors.

use faer::{MatMut, MatRef};
use num_complex::Complex;
use num_traits::{Float, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each_alone, transpose};
use super::scale::Scale;
use crate::{Error, Result, Strided};

/// Eigenvalues, ascending, `(*batch, n)`, and orthonormal eigenvectors as columns, `(*batch, n, n)`,
/// of Hermitian matrices. Only the lower triangle is read, or the upper one without `lower`, and of
/// the diagonal only the real parts.
pub fn eigh<T: LinalgElement>(a: Strided<T>, lower: bool) -> Result<(Vec<T::Real>, Vec<T>)> {
    let n = a.shape[a.shape.len() - 1];
    let mut v = vec![T::zero(); Matrices::new(a).count * n * n];
    let w = hermitian(a, lower, Some(&mut v))?;
    Ok((w, v))
}

/// The eigenvalues alone, see [`eigh`].
pub fn eigvalsh<T: LinalgElement>(a: Strided<T>, lower: bool) -> Result<Vec<T::Real>> {
    hermitian(a, lower, None)
}

fn hermitian<T: LinalgElement>(
    a: Strided<T>,
    lower: bool,
    vectors: Option<&mut [T]>,
) -> Result<Vec<T::Real>> {
    let a = Matrices::new(a);
    let n = a.rows;
    let wanted = vectors.is_some();
    let mut w = vec![T::Real::zero(); a.count * n];
    let size = if wanted { n * n } else { 0 };
    let outputs = (Out::new(&mut w, n), Out::new(vectors.unwrap_or_default(), size));
    each_alone(a.count, 8 * n * n * n, outputs, |range, (mut w, mut v)| {
        let mut work = vec![T::zero(); n * n];
        let mut values = vec![T::zero(); n];
        let mut columns = vec![T::zero(); size];
        for (i, batch) in range.enumerate() {
            // Column-major with the triangle of interest in the lower half: the columns of `a`, or
            // its conjugated rows.
            if lower {
                a.copy_cols(batch, &mut work);
            } else {
                a.copy_rows(batch, &mut work);
                work.iter_mut().for_each(|value| *value = value.conjugate());
            }
            for j in 0..n {
                work[j * n + j] = T::from_re(work[j * n + j].re());
            }
            let triangle = || (0..n).flat_map(|j| &work[j * n + j..(j + 1) * n]);
            if !triangle().all(|value| value.finite()) {
                return Err(not_finite("linalg.eigh", batch));
            }
            let scale = Scale::of(triangle());
            scale.apply(&mut work);
            let matrix = MatRef::from_column_major_slice(&work, n, n);
            let v_out = wanted.then(|| MatMut::from_column_major_slice_mut(&mut columns, n, n));
            if n > 0 && !T::eigh(matrix, &mut values, v_out) {
                return Err(Error::NoConvergence { what: "linalg.eigh", batch });
            }
            scale.undo(&mut values);
            for (w, value) in w.of(i).iter_mut().zip(&values) {
                *w = value.re();
            }
            if wanted {
                transpose(&columns, n, n, v.of(i));
            }
        }
        Ok(())
    })?;
    Ok(w)
}

/// Eigenvalues, `(*batch, n)`, and eigenvectors as columns, `(*batch, n, n)`, of any square
/// matrices. Vectors have unit length, and their largest component is real.
#[expect(clippy::type_complexity, reason = "the pair is plain, only its complex elements are long")]
pub fn eig<T: LinalgElement>(
    a: Strided<T>,
) -> Result<(Vec<Complex<T::Real>>, Vec<Complex<T::Real>>)> {
    let n = a.shape[a.shape.len() - 1];
    let zero = Complex::new(T::Real::zero(), T::Real::zero());
    let mut v = vec![zero; Matrices::new(a).count * n * n];
    let w = general(a, Some(&mut v))?;
    Ok((w, v))
}

/// The eigenvalues alone, see [`eig`].
pub fn eigvals<T: LinalgElement>(a: Strided<T>) -> Result<Vec<Complex<T::Real>>> {
    general(a, None)
}

fn general<T: LinalgElement>(
    a: Strided<T>,
    vectors: Option<&mut [Complex<T::Real>]>,
) -> Result<Vec<Complex<T::Real>>> {
    let a = Matrices::new(a);
    let n = a.rows;
    let wanted = vectors.is_some();
    let zero = Complex::new(T::Real::zero(), T::Real::zero());
    let mut w = vec![zero; a.count * n];
    let size = if wanted { n * n } else { 0 };
    let outputs = (Out::new(&mut w, n), Out::new(vectors.unwrap_or_default(), size));
    each_alone(a.count, 25 * n * n * n, outputs, |range, (mut w, mut v)| {
        let mut work = vec![T::zero(); n * n];
        let mut columns = vec![zero; size];
        for (i, batch) in range.enumerate() {
            a.copy_cols(batch, &mut work);
            if !work.iter().all(|value| value.finite()) {
                return Err(not_finite("linalg.eig", batch));
            }
            let scale = Scale::bring(&mut work);
            let matrix = MatRef::from_column_major_slice(&work, n, n);
            let v_out = wanted.then(|| MatMut::from_column_major_slice_mut(&mut columns, n, n));
            if n > 0 && !T::eig(matrix, w.of(i), v_out) {
                return Err(Error::NoConvergence { what: "linalg.eig", batch });
            }
            for factor in scale.inverse().factors() {
                w.of(i).iter_mut().for_each(|value| *value = value.scale(factor));
            }
            if wanted && n > 0 {
                columns.chunks_exact_mut(n).for_each(normalise);
                transpose(&columns, n, n, v.of(i));
            }
        }
        Ok(())
    })?;
    Ok(w)
}

/// Scales a vector to unit length and turns it so that its largest component is real; a real vector
/// keeps its sign.
fn normalise<R: Float + num_traits::NumAssign>(v: &mut [Complex<R>]) {
    let largest = v.iter().fold(R::zero(), |largest, value| largest.max(value.norm()));
    if largest.is_zero() || !largest.is_finite() {
        return;
    }
    let scaled = |value: &Complex<R>| value.unscale(largest).norm_sqr();
    let length = v.iter().fold(R::zero(), |sum, value| sum + scaled(value)).sqrt() * largest;
    let real = v.iter().all(|value| value.im.is_zero());
    let pivot = v.iter().position(|value| value.norm() == largest).expect("there is a largest");
    let turn =
        if real { Complex::new(R::one(), R::zero()) } else { v[pivot].conj().unscale(largest) };
    for value in &mut *v {
        *value *= turn.unscale(length);
    }
    v[pivot].im = R::zero();
}

fn not_finite(what: &str, batch: usize) -> Error {
    Error::Value(format!(
        "{what}: (Batch element {batch}): The algorithm failed to converge because the input \
         matrix contained non-finite values."
    ))
}

#[cfg(test)]
mod tests {
    use num_traits::One;

    use super::super::test_support::*;
    use super::*;

    fn hermitian_works<T: LinalgElement>(n: usize) {
        let noise = noise::<T>(2 * n * n);
        let at = |i: usize, r: usize, c: usize| noise[i * n * n + r * n + c];
        let full = |i: usize| fill(n, n, |r, c| at(i, r, c) + at(i, c, r).conjugate());
        // Poison the triangle that must not be read.
        let nan = T::from_re(T::Real::nan());
        for lower in [true, false] {
            let data: Vec<T> = (0..2)
                .flat_map(|i| {
                    let full = full(i);
                    let read = |r, c| if lower { c <= r } else { r <= c };
                    fill(n, n, |r, c| if read(r, c) { full[r * n + c] } else { nan })
                })
                .collect();
            let shape = [2, n, n];
            let (w, v) = eigh(matrix(&data, &shape), lower).unwrap();
            let values = eigvalsh(matrix(&data, &shape), lower).unwrap();
            let lift = |w: &[T::Real]| w.iter().map(|&w| T::from_re(w)).collect::<Vec<T>>();
            assert_close(&lift(&w), &lift(&values));
            for i in 0..2 {
                let (w, v) = (&w[i * n..][..n], &v[i * n * n..][..n * n]);
                assert!(w.is_sorted());
                assert_orthonormal(v, n, n);
                let scaled = fill(n, n, |r, c| v[r * n + c].scaled(w[c]));
                assert_close(&product(&scaled, &adjoint(v, n, n), n, n, n), &full(i));
            }
        }
    }

    #[test]
    fn hermitian_matrices_of_every_size_and_type() {
        for n in [1, 2, 3, 8, 33, 80] {
            hermitian_works::<f64>(n);
            hermitian_works::<Complex<f64>>(n);
        }
        hermitian_works::<f32>(20);
        hermitian_works::<Complex<f32>>(20);
    }

    fn general_works<T: LinalgElement>(n: usize)
    where
        Complex<T::Real>: LinalgElement<Real = T::Real>,
    {
        let data = noise::<T>(n * n);
        let shape = [n, n];
        let (w, v) = eig(matrix(&data, &shape)).unwrap();
        let a: Vec<_> = data.iter().map(|x| Complex::new(x.re(), x.im())).collect();
        let want = fill(n, n, |r, c| v[r * n + c] * w[c]);
        assert_close(&product(&a, &v, n, n, n), &want);
        for c in 0..n {
            let length = (0..n).fold(T::Real::zero(), |sum, r| sum + v[r * n + c].norm_sqr());
            assert!((length - T::Real::one()).abs() < tolerance::<T>());
        }
        let sorted = |mut w: Vec<Complex<T::Real>>| {
            w.sort_by(|a, b| (a.re, a.im).partial_cmp(&(b.re, b.im)).unwrap());
            w
        };
        let sum = |w: &[Complex<T::Real>]| w.iter().fold(Complex::zero(), |s, &w| s + w);
        let values = eigvals(matrix(&data, &shape)).unwrap();
        let trace = (0..n).fold(Complex::zero(), |s, i| s + a[i * n + i]);
        assert_close(&[sum(&values), sum(&w)], &[trace, trace]);
        if n <= 3 {
            assert_close(&sorted(values), &sorted(w));
        }
    }

    #[test]
    fn general_matrices_of_every_size_and_type() {
        for n in [1, 2, 3, 8, 30, 80, 130] {
            general_works::<f64>(n);
            general_works::<Complex<f64>>(n);
        }
        general_works::<f32>(20);
        general_works::<Complex<f32>>(20);
    }

    #[test]
    fn known_values() {
        let w = eigvalsh(matrix(&[2.0, 1.0, 1.0, 2.0], &[2, 2]), true).unwrap();
        assert_close(&w, &[1.0, 3.0]);
        let (w, v) = eig(matrix(&[0f64, -1.0, 1.0, 0.0], &[2, 2])).unwrap();
        assert!((w[0] - w[1].conj()).norm() < 1e-15 && (w[0].im.abs() - 1.0).abs() < 1e-15);
        assert!(v.iter().all(|v| (v.norm() - 0.5f64.sqrt()).abs() < 1e-15));
        // A defective one.
        let w = eigvals(matrix(&[1.0, 1.0, 0.0, 1.0], &[2, 2])).unwrap();
        assert_eq!(w, [Complex::new(1.0, 0.0); 2]);
        let zero = eigh(matrix(&[0.0; 9], &[3, 3]), true).unwrap();
        assert_eq!(zero.0, [0.0; 3]);
        assert_orthonormal(&zero.1, 3, 3);
        assert_eq!(eigvals(matrix(&[0.0; 9], &[3, 3])).unwrap(), [Complex::new(0.0, 0.0); 3]);
    }

    #[test]
    fn huge_and_tiny_numbers() {
        for exponent in [1020, 600, -600, -1060] {
            let scale = 2f64.powi(exponent / 2);
            let data = [2.0, 1.0, 1.0, 2.0].map(|v: f64| v * scale * scale);
            let back = |w: f64| w / scale / scale;
            let (w, v) = eigh(matrix(&data, &[2, 2]), true).unwrap();
            assert_close(&w.into_iter().map(back).collect::<Vec<_>>(), &[1.0, 3.0]);
            assert_orthonormal(&v, 2, 2);
            let (w, v) = eig(matrix(&data, &[2, 2])).unwrap();
            let mut w: Vec<f64> = w.iter().map(|w| back(w.re)).collect();
            w.sort_by(f64::total_cmp);
            assert_close(&w, &[1.0, 3.0]);
            assert!(v.iter().all(|v| (v.norm() - 0.5f64.sqrt()).abs() < 1e-15));
        }
        // What is not read may be anything.
        let data = [1e300, f64::INFINITY, 0.0, 2e300];
        assert_eq!(eigvalsh(matrix(&data, &[2, 2]), true), Ok(vec![1e300, 2e300]));
    }

    #[test]
    fn nothing_and_nan() {
        assert_eq!(eigvalsh(matrix::<f64>(&[], &[2, 0, 0]), true), Ok(vec![]));
        assert_eq!(eigvals(matrix::<f64>(&[], &[2, 0, 0])), Ok(vec![]));
        assert!(matches!(eigvalsh(matrix(&[f64::NAN], &[1, 1]), true), Err(Error::Value(_))));
        assert!(matches!(eig(matrix(&[f64::INFINITY], &[1, 1])), Err(Error::Value(_))));
    }
}
