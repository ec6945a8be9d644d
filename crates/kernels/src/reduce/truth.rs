//! Reductions that ask which elements are non-zero. NaN is, minus zero is not.

use num_complex::Complex;

use super::fold::{extent, fold, parts};
use crate::{Element, Strided};

/// Elements that are true or false.
pub trait Truth: Element {
    /// Whether the element is not zero.
    fn truth(self) -> bool;
}

macro_rules! truth {
    ($($t:ty: $zero:expr),*) => {$(
        impl Truth for $t {
            #[inline(always)]
            fn truth(self) -> bool {
                self != $zero
            }
        }
    )*};
}
truth!(
    f32: 0.0, f64: 0.0, i32: 0, i64: 0, u8: 0,
    Complex<f32>: Complex::new(0.0, 0.0), Complex<f64>: Complex::new(0.0, 0.0)
);

/// Whether all elements are true; so it is of no elements.
pub fn all<T: Truth>(x: Strided<'_, T>, dims: &[usize]) -> Vec<u8> {
    let extent = extent(x.shape, dims) as i64;
    count_nonzero(x, dims).into_iter().map(|count| (count == extent) as u8).collect()
}

/// Whether any element is true; none of no elements is.
pub fn any<T: Truth>(x: Strided<'_, T>, dims: &[usize]) -> Vec<u8> {
    count_nonzero(x, dims).into_iter().map(|count| (count > 0) as u8).collect()
}

/// How many elements are true.
pub fn count_nonzero<T: Truth>(x: Strided<'_, T>, dims: &[usize]) -> Vec<i64> {
    fold(&parts(0, |(), x: T| x.truth() as i64, |a: i64, b| a + b), x, dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_true_and_minus_zero_is_false() {
        let data = [f32::NAN, 1.0, -0.0, 0.0];
        let x = Strided { data: &data, shape: &[2, 2], strides: &[2, 1], offset: 0 };
        assert_eq!(all(x, &[1]), [1, 0]);
        assert_eq!(any(x, &[1]), [1, 0]);
        assert_eq!(all(x, &[0]), [0, 0]);
        assert_eq!(any(x, &[0, 1]), [1]);
        assert_eq!(all(x, &[]), [1, 1, 0, 0]);
        assert_eq!(count_nonzero(x, &[0, 1]), [2]);
    }

    #[test]
    fn of_nothing() {
        let x = Strided::<i64> { data: &[], shape: &[0, 2], strides: &[2, 1], offset: 0 };
        assert_eq!((all(x, &[0]), any(x, &[0])), (vec![1, 1], vec![0, 0]));
        assert_eq!(count_nonzero(x, &[0, 1]), [0]);
    }
}
