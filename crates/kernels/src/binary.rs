//! Elementwise operations with two operands.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::arithmetic::Ring;
use crate::kernel::{Kernel1, Kernel2, unsupported};
use crate::map::{map1, map2, update2};
use crate::par::GRAIN;
use crate::strided::{Strided, StridedMut, Strides};

/// What to do with two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, of floats and complex numbers.
    Div,
    /// The quotient rounded down.
    FloorDiv,
    /// The quotient rounded towards zero.
    TruncDiv,
    /// The remainder with the sign of the divisor, as Python's `%`.
    Remainder,
    /// The remainder with the sign of the dividend, as C's `fmod`.
    Fmod,
    /// `a` to the power of `b`.
    Pow,
    /// The larger; NaN if either is.
    Maximum,
    /// The smaller; NaN if either is.
    Minimum,
    /// The larger; NaN only if both are.
    Fmax,
    /// The smaller; NaN only if both are.
    Fmin,
    /// The angle of the point `(b, a)`.
    Atan2,
    /// The length of the vector `(a, b)`.
    Hypot,
    /// The size of `a` with the sign of `b`.
    Copysign,
    /// The next float after `a` in the direction of `b`.
    Nextafter,
    /// `log(exp(a) + exp(b))`.
    Logaddexp,
    /// `log2(2^a + 2^b)`.
    Logaddexp2,
    /// `a * log(b)`, zero where `a` is zero and `b` is not NaN.
    Xlogy,
    /// `a * log(1 + b)`, zero where `a` is zero and `b` is not NaN.
    Xlog1py,
    /// `b` where `a` is zero, else whether `a` is positive.
    Heaviside,
    /// `a & b`.
    BitAnd,
    /// `a | b`.
    BitOr,
    /// `a ^ b`.
    BitXor,
    /// `a << b`; zero where `b` is not a bit's index.
    ShiftLeft,
    /// `a >> b`; the sign throughout where `b` is not a bit's index.
    ShiftRight,
    /// The greatest common divisor.
    Gcd,
    /// The least common multiple.
    Lcm,
    /// Hurwitz's zeta function of `a` and `b`.
    Zeta,
    /// The regularised lower incomplete gamma function of `a` and `b`.
    Igamma,
    /// The regularised upper incomplete gamma function of `a` and `b`.
    Igammac,
}

impl Binary {
    /// How many elements are worth a thread.
    fn grain(self) -> usize {
        match self {
            Binary::Zeta | Binary::Igamma | Binary::Igammac => GRAIN / 64,
            Binary::Pow
            | Binary::Atan2
            | Binary::Hypot
            | Binary::Fmod
            | Binary::Remainder
            | Binary::FloorDiv
            | Binary::Logaddexp
            | Binary::Logaddexp2
            | Binary::Xlogy
            | Binary::Xlog1py
            | Binary::Gcd
            | Binary::Lcm => GRAIN / 8,
            _ => GRAIN,
        }
    }

    pub(crate) fn divides(self) -> bool {
        matches!(self, Binary::FloorDiv | Binary::TruncDiv | Binary::Remainder | Binary::Fmod)
    }
}

/// Types with elementwise operations of two operands.
pub trait BinaryElement: Ring {
    /// The loop of an operation, where it makes sense for this type.
    fn kernel(kind: Binary) -> Option<Kernel2<Self, Self, Self>>;

    /// The loop of a power with a constant exponent that has a shorter way.
    fn power(_exponent: Self) -> Option<Kernel1<Self, Self>> {
        None
    }

    /// What the divisor must satisfy.
    fn check(_kind: Binary, _b: Strided<Self>) -> Result<()> {
        Ok(())
    }

    /// What a constant right operand must satisfy.
    fn check_scalar(_kind: Binary, _b: Self) -> Result<()> {
        Ok(())
    }
}

/// Applies an operation to every pair of elements.
pub fn binary<T: BinaryElement>(kind: Binary, a: Strided<T>, b: Strided<T>) -> Result<Vec<T>> {
    let kernel = T::kernel(kind).ok_or_else(|| unsupported::<T>(kind))?;
    T::check(kind, b)?;
    Ok(map2(a, b, kind.grain(), &kernel))
}

/// As [`binary`], into memory that may be that of an operand.
pub fn binary_into<T: BinaryElement>(
    kind: Binary,
    out: StridedMut<T>,
    a: Strided<T>,
    b: Strided<T>,
) -> Result<()> {
    let kernel = T::kernel(kind).ok_or_else(|| unsupported::<T>(kind))?;
    T::check(kind, b)?;
    update2(out, a, b, kind.grain(), &kernel);
    Ok(())
}

/// As [`binary`], with one right operand for all elements.
pub fn binary_scalar<T: BinaryElement>(kind: Binary, a: Strided<T>, b: T) -> Result<Vec<T>> {
    T::check_scalar(kind, b)?;
    match shortcut(kind, b) {
        Some(kernel) => Ok(map1(a, GRAIN, &kernel)),
        None => binary(kind, a, repeated(&[b], a.shape, &zeros(a.shape))),
    }
}

/// As [`binary`], with one left operand for all elements.
pub fn scalar_binary<T: BinaryElement>(kind: Binary, a: T, b: Strided<T>) -> Result<Vec<T>> {
    binary(kind, repeated(&[a], b.shape, &zeros(b.shape)), b)
}

fn shortcut<T: BinaryElement>(kind: Binary, b: T) -> Option<Kernel1<T, T>> {
    (kind == Binary::Pow).then(|| T::power(b)).flatten()
}

fn zeros(shape: &[usize]) -> Strides {
    Strides::from_elem(0, shape.len())
}

fn repeated<'a, T>(value: &'a [T; 1], shape: &'a [usize], zeros: &'a [isize]) -> Strided<'a, T> {
    Strided { data: value, shape, strides: zeros, offset: 0 }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    fn row<T>(data: &[T]) -> Strided<'_, T> {
        let shape: &'static [usize] = Box::leak(Box::new([data.len()]));
        Strided { data, shape, strides: &[1], offset: 0 }
    }

    fn apply<T: BinaryElement>(kind: Binary, a: &[T], b: &[T]) -> Vec<T> {
        binary(kind, row(a), row(b)).unwrap()
    }

    #[test]
    fn integer_division_rounds_as_asked() {
        let (a, b) = ([7i64, -7, 7, -7, i64::MIN], [2i64, 2, -2, -2, -1]);
        assert_eq!(apply(Binary::FloorDiv, &a, &b), [3, -4, -4, 3, i64::MIN]);
        assert_eq!(apply(Binary::TruncDiv, &a, &b), [3, -3, -3, 3, i64::MIN]);
        assert_eq!(apply(Binary::Remainder, &a, &b), [1, 1, -1, -1, 0]);
        assert_eq!(apply(Binary::Fmod, &a, &b), [1, -1, 1, -1, 0]);
    }

    #[test]
    fn integer_division_by_zero_is_refused() {
        let error = binary(Binary::FloorDiv, row(&[1i32, 2]), row(&[1, 0])).unwrap_err();
        assert!(error.to_string().contains("division by zero"));
        assert!(binary_scalar(Binary::Remainder, row(&[1u8]), 0).is_err());
        assert!(binary_scalar(Binary::Remainder, row::<u8>(&[]), 0).is_ok());
    }

    #[test]
    fn float_division_is_pythons() {
        let (a, b) = ([1.0f64, -1.0, 1.0, -0.0, 5.0], [0.1f64, 0.1, 0.0, 1.0, f64::INFINITY]);
        let floor = apply(Binary::FloorDiv, &a, &b);
        assert_eq!(floor, [9.0, -10.0, f64::INFINITY, 0.0, 0.0]);
        assert!(floor[3].is_sign_negative());
        let rest = apply(Binary::Remainder, &a, &b);
        assert_eq!(rest[0], 0.09999999999999995);
        assert_eq!(rest[1], 5.551115123125783e-17);
        assert!(rest[2].is_nan());
        assert_eq!(apply(Binary::Remainder, &[5.5f32, -5.5], &[-2.0, 2.0]), [-0.5, 0.5]);
    }

    #[test]
    fn integer_powers() {
        let (a, b) = ([2i32, 3, -2, 0, 2], [10, 3, 3, 0, 32]);
        assert_eq!(apply(Binary::Pow, &a, &b), [1024, 27, -8, 1, 0]);
        assert_eq!(apply(Binary::Pow, &[1i64, -1, -1, 2], &[-3, -3, -4, -1]), [1, -1, 1, 0]);
        assert_eq!(binary_scalar(Binary::Pow, row(&[20u8]), 2).unwrap(), [144]);
        let error = binary_scalar(Binary::Pow, row(&[2i64]), -1).unwrap_err();
        assert_eq!(error.to_string(), "Integers to negative integer powers are not allowed.");
    }

    #[test]
    fn extremes_and_nan() {
        let (a, b) = ([1.0f32, f32::NAN, 2.0], [2.0f32, 1.0, f32::NAN]);
        let largest = apply(Binary::Maximum, &a, &b);
        assert!(largest[0] == 2.0 && largest[1].is_nan() && largest[2].is_nan());
        let smallest = apply(Binary::Minimum, &a, &b);
        assert!(smallest[0] == 1.0 && smallest[1].is_nan() && smallest[2].is_nan());
        assert_eq!(apply(Binary::Fmax, &a, &b), [2.0, 1.0, 2.0]);
        assert_eq!(apply(Binary::Fmin, &a, &b), [1.0, 1.0, 2.0]);
    }

    #[test]
    fn bits_and_shifts() {
        assert_eq!(apply(Binary::ShiftLeft, &[1i32, 1, 1], &[3, 32, -1]), [8, 0, 0]);
        assert_eq!(apply(Binary::ShiftRight, &[-8i32, -8, 8], &[1, 99, 99]), [-4, -1, 0]);
        assert_eq!(apply(Binary::ShiftRight, &[200u8, 200], &[3, 8]), [25, 0]);
        assert_eq!(apply(Binary::BitXor, &[6u8], &[3]), [5]);
        assert_eq!(apply(Binary::Gcd, &[-12i64, 0, 18], &[18, 0, 0]), [6, 0, 18]);
        assert_eq!(apply(Binary::Lcm, &[-4i16, 0, 6], &[6, 5, 9]), [12, 0, 18]);
    }

    #[test]
    fn logarithms_of_sums() {
        let inf = f64::INFINITY;
        let sums = apply(Binary::Logaddexp, &[0.0, inf, -inf, 1000.0], &[0.0, inf, -inf, 1000.0]);
        assert_eq!(sums, [2f64.ln(), inf, -inf, 1000.0 + 2f64.ln()]);
        assert_eq!(apply(Binary::Logaddexp2, &[3.0f64], &[3.0]), [4.0]);
        let products = apply(Binary::Xlogy, &[0.0f64, 0.0, 2.0], &[0.0, f64::NAN, 1.0]);
        assert!(products[0] == 0.0 && products[1].is_nan() && products[2] == 0.0);
        assert_eq!(apply(Binary::Xlog1py, &[2.0f32], &[0.0]), [0.0]);
    }

    #[test]
    fn odd_ones() {
        let step = apply(Binary::Heaviside, &[-1.0f32, 0.0, 2.0, f32::NAN], &[0.5; 4]);
        assert_eq!(step, [0.0, 0.5, 1.0, 0.0]);
        assert_eq!(apply(Binary::Nextafter, &[0.0f32], &[1.0]), [f32::from_bits(1)]);
        assert_eq!(apply(Binary::Copysign, &[3.0f64], &[-0.0]), [-3.0]);
        assert_eq!(apply(Binary::Hypot, &[3.0f64], &[4.0]), [5.0]);
        let error = binary(Binary::Gcd, row(&[1.0f32]), row(&[1.0])).unwrap_err();
        assert_eq!(error.to_string(), "gcd: not implemented for f32");
    }

    #[test]
    fn constant_operands_and_shortcuts() {
        let x = [4.0f32, 9.0];
        let power = |e: f32| binary_scalar(Binary::Pow, row(&x), e).unwrap();
        assert_eq!(power(0.5), [2.0, 3.0]);
        assert_eq!(power(-0.5), [0.5, 1.0 / 3.0]);
        assert_eq!(power(2.0), [16.0, 81.0]);
        assert_eq!(power(-2.0), [0.0625, 1.0 / 81.0]);
        assert_eq!(scalar_binary(Binary::Sub, 1.0, row(&x)).unwrap(), [-3.0, -8.0]);
        assert_eq!(scalar_binary(Binary::Pow, 2.0, row(&x)).unwrap(), [16.0, 512.0]);
    }

    #[test]
    fn complex_arithmetic() {
        let (i, one) = (Complex::new(0.0f64, 1.0), Complex::new(1.0, 0.0));
        assert_eq!(apply(Binary::Mul, &[i], &[i]), [-one]);
        assert_eq!(apply(Binary::Div, &[one], &[i]), [-i]);
        assert_eq!(binary_scalar(Binary::Pow, row(&[i]), one + one).unwrap(), [-one]);
        let power = apply(Binary::Pow, &[i], &[i])[0];
        assert!((power.re - (-std::f64::consts::FRAC_PI_2).exp()).abs() < 1e-15);
    }

    /// Long enough for several threads, chunks and rows of every kind.
    #[test]
    fn layouts_agree_with_dense_memory() {
        let data: Vec<f32> = (0..300_000).map(|i| (i % 1013) as f32).collect();
        let cases: &[(&[usize], &[isize], &[isize])] = &[
            (&[300, 500], &[500, 1], &[0, 1]),
            (&[300, 500], &[500, 1], &[1, 0]),
            (&[300, 500], &[1, 300], &[500, 1]),
            (&[50, 7, 13], &[91, 13, 1], &[0, 13, 1]),
            (&[50, 7, 13], &[1, 650, 50], &[0, 1, 0]),
            (&[20, 3, 4, 5, 6], &[0, 120, 30, 6, 1], &[1, 0, 20, 0, 400]),
            (&[100, 200], &[400, 2], &[0, 0]),
        ];
        for &(shape, sa, sb) in cases {
            let a = Strided { data: &data, shape, strides: sa, offset: 3 };
            let b = Strided { data: &data, shape, strides: sb, offset: 5 };
            let expected: Vec<f32> = crate::copy::contiguous(a)
                .iter()
                .zip(crate::copy::contiguous(b))
                .map(|(a, b)| a - b)
                .collect();
            assert_eq!(binary(Binary::Sub, a, b).unwrap(), expected, "{shape:?}");
            let mut memory = crate::copy::contiguous(a);
            let strides = crate::contiguous_strides(shape);
            let out = StridedMut {
                data: memory.as_mut_ptr(),
                shape,
                strides: &strides,
                offset: 0,
                lifetime: std::marker::PhantomData,
            };
            // SAFETY: the memory outlives the view; nothing else uses it meanwhile.
            let same = unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) };
            let same = Strided { data: same, shape, strides: &strides, offset: 0 };
            binary_into(Binary::Sub, out, same, b).unwrap();
            assert_eq!(memory, expected, "{shape:?}");
        }
    }
}
