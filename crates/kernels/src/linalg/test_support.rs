//! What the tests of this module share.

use num_traits::{Float, NumCast, One};

use super::LinalgElement;
use crate::{Element, Strided, contiguous_strides};

/// A row-major view.
pub(super) fn matrix<'a, T: Element>(data: &'a [T], shape: &'a [usize]) -> Strided<'a, T> {
    let strides = contiguous_strides(shape).to_vec().leak();
    Strided { data, shape, strides, offset: 0 }
}

/// A row-major matrix by its formula.
pub(super) fn fill<T>(m: usize, n: usize, f: impl Fn(usize, usize) -> T) -> Vec<T> {
    (0..m * n).map(|i| f(i / n, i % n)).collect()
}

/// Reproducible numbers between minus a half and a half.
pub(super) fn noise<T: LinalgElement>(len: usize) -> Vec<T> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        real::<T>((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
    };
    (0..len).map(|_| T::from_parts(next(), next())).collect()
}

/// A real number of the element's precision.
pub(super) fn real<T: LinalgElement>(value: f64) -> T::Real {
    NumCast::from(value).expect("a float")
}

/// What rounding may do to matrices of moderate size.
pub(super) fn tolerance<T: LinalgElement>() -> T::Real {
    T::Real::epsilon() * real::<T>(4096.0)
}

/// The product of two row-major matrices.
pub(super) fn product<T: LinalgElement>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    fill(m, n, |i, j| (0..k).fold(T::zero(), |sum, p| sum + a[i * k + p] * b[p * n + j]))
}

/// The conjugate transpose of a row-major `m x n` matrix.
pub(super) fn adjoint<T: LinalgElement>(a: &[T], m: usize, n: usize) -> Vec<T> {
    fill(n, m, |i, j| a[j * n + i].conjugate())
}

/// The identity.
pub(super) fn eye<T: LinalgElement>(n: usize) -> Vec<T> {
    fill(n, n, |i, j| if i == j { T::one() } else { T::zero() })
}

/// Whether the columns of a row-major `m x n` matrix are orthonormal.
pub(super) fn assert_orthonormal<T: LinalgElement>(a: &[T], m: usize, n: usize) {
    assert_close(&product(&adjoint(a, m, n), a, n, m, n), &eye(n));
}

/// Whether all elements agree up to rounding.
pub(super) fn assert_close<T: LinalgElement>(a: &[T], b: &[T]) {
    assert_eq!(a.len(), b.len());
    for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
        let scale = b.modulus().max(T::Real::one());
        assert!((a - b).modulus() <= tolerance::<T>() * scale, "{i}: {a:?} {b:?}");
    }
}
