//! The exponential of a matrix: Pade approximants with scaling and squaring (Higham 2005).

use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_traits::{Float, NumCast, ToPrimitive, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each, transpose};
use super::lu::{factor, solve_factored};
use crate::Strided;

/// An approximant and the norm up to which it is exact to working precision.
struct Pade {
    up_to: f64,
    coefficients: &'static [f64],
}

/// Approximants for double precision, of degrees 3, 5, 7, 9 and 13.
const DOUBLE: [Pade; 5] = [
    Pade { up_to: 1.495585217958292e-2, coefficients: &[120.0, 60.0, 12.0, 1.0] },
    Pade {
        up_to: 2.53939833006323e-1,
        coefficients: &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0],
    },
    Pade {
        up_to: 9.504178996162932e-1,
        coefficients: &[17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0],
    },
    Pade {
        up_to: 2.097847961257068,
        coefficients: &[
            17643225600.0,
            8821612800.0,
            2075673600.0,
            302702400.0,
            30270240.0,
            2162160.0,
            110880.0,
            3960.0,
            90.0,
            1.0,
        ],
    },
    Pade {
        up_to: 5.371920351148152,
        coefficients: &[
            64764752532480000.0,
            32382376266240000.0,
            7771770303897600.0,
            1187353796428800.0,
            129060195264000.0,
            10559470521600.0,
            670442572800.0,
            33522128640.0,
            1323241920.0,
            40840800.0,
            960960.0,
            16380.0,
            182.0,
            1.0,
        ],
    },
];

/// Approximants for single precision, of degrees 3, 5 and 7.
const SINGLE: [Pade; 3] = [
    Pade { up_to: 4.258730016922831e-1, coefficients: DOUBLE[0].coefficients },
    Pade { up_to: 1.880152677804762, coefficients: DOUBLE[1].coefficients },
    Pade { up_to: 3.92572478313866, coefficients: DOUBLE[2].coefficients },
];

/// The exponential of every square matrix. A matrix that is not finite gives NaN everywhere.
pub fn matrix_exp<T: LinalgElement>(a: Strided<T>) -> Vec<T> {
    let a = Matrices::new(a);
    let n = a.rows;
    let mut out = vec![T::zero(); a.count * n * n];
    let done = each(a.count, 20 * n * n * n, Out::new(&mut out, n * n), |range, mut out, par| {
        for (i, batch) in range.enumerate() {
            let out = out.of(i);
            a.copy_rows(batch, out);
            if n == 1 {
                out[0] = out[0].exponential();
            } else if n > 1 {
                exponential(out, n, par);
            }
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
    out
}

/// Replaces a row-major matrix by its exponential.
fn exponential<T: LinalgElement>(a: &mut [T], n: usize, par: Par) {
    let column = |j: usize| (0..n).fold(T::Real::zero(), |sum, i| sum + a[i * n + j].modulus());
    // `f64::max` would drop a NaN.
    let norm = (0..n)
        .map(column)
        .fold(T::Real::zero(), |most, sum| if sum.is_nan() || sum > most { sum } else { most });
    if !norm.is_finite() {
        return a.fill(T::from_parts(T::Real::nan(), T::Real::nan()));
    }
    let norm = norm.to_f64().expect("a float");
    let single = size_of::<T::Real>() == size_of::<f32>();
    let approximants: &[Pade] = if single { &SINGLE } else { &DOUBLE };
    let best = approximants.last().expect("not empty");
    let pade = approximants.iter().find(|pade| norm <= pade.up_to).unwrap_or(best);
    // Halved so often the norm keeps within the bound; every halving is a squaring afterwards.
    let squarings = (norm / best.up_to).log2().ceil().max(0.0) as i32;
    if squarings > 0 {
        let scale = real::<T>((-squarings as f64).exp2());
        a.iter_mut().for_each(|value| *value = value.scaled(scale));
    }
    approximate(a, n, pade.coefficients, par);
    let mut square = vec![T::zero(); if squarings > 0 { n * n } else { 0 }];
    for _ in 0..squarings {
        multiply(a, a, &mut square, n, par);
        a.copy_from_slice(&square);
    }
}

/// Replaces `a` by `(v - u)^-1 (v + u)`, where `u` holds the odd and `v` the even powers.
fn approximate<T: LinalgElement>(a: &mut [T], n: usize, coefficients: &[f64], par: Par) {
    let size = n * n;
    let zeros = || vec![T::zero(); size];
    let (mut squared, mut next) = (zeros(), zeros());
    multiply(a, a, &mut squared, n, par);
    let (mut odd, mut v) = (zeros(), zeros());
    for i in 0..n {
        odd[i * n + i] = T::from_re(real::<T>(coefficients[1]));
        v[i * n + i] = T::from_re(real::<T>(coefficients[0]));
    }
    let mut power = squared.clone();
    for (step, pair) in coefficients[2..].chunks_exact(2).enumerate() {
        if step > 0 {
            multiply(&power, &squared, &mut next, n, par);
            std::mem::swap(&mut power, &mut next);
        }
        let (even_factor, odd_factor) = (real::<T>(pair[0]), real::<T>(pair[1]));
        for ((v, odd), &power) in v.iter_mut().zip(&mut odd).zip(&power) {
            *v += power.scaled(even_factor);
            *odd += power.scaled(odd_factor);
        }
    }
    let u = &mut next;
    multiply(a, &odd, u, n, par);
    for ((a, odd), (&u, &v)) in a.iter_mut().zip(&mut odd).zip(u.iter().zip(&v)) {
        *a = v + u;
        *odd = v - u;
    }
    // The factorisation wants columns.
    let mut denominator = power;
    transpose(&odd, n, n, &mut denominator);
    let mut pivots = vec![0; n];
    factor(&mut denominator, n, n, n, &mut pivots, par);
    solve_factored(&denominator, n, &pivots, a, n, par);
}

fn real<T: LinalgElement>(value: f64) -> T::Real {
    <T::Real as NumCast>::from(value).expect("a float")
}

/// `out = a b` for row-major square matrices.
fn multiply<T: LinalgElement>(a: &[T], b: &[T], out: &mut [T], n: usize, par: Par) {
    let a = (MatRef::from_row_major_slice(a, n, n), Conj::No);
    let b = (MatRef::from_row_major_slice(b, n, n), Conj::No);
    let out = MatMut::from_row_major_slice_mut(out, n, n);
    T::gemm(out, Accum::Replace, a, b, T::one(), par);
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    #[test]
    fn rotations_for_every_approximant() {
        for angle in [0.01, 0.2, 0.9, 2.0, 3.0, 50.0] {
            let a = [0.0, -angle, angle, 0.0];
            let (sin, cos) = f64::sin_cos(angle);
            assert_close(&matrix_exp(matrix(&a, &[2, 2])), &[cos, -sin, sin, cos]);
            let angle = angle as f32;
            let a = [0.0, -angle, angle, 0.0];
            let (sin, cos) = angle.sin_cos();
            assert_close(&matrix_exp(matrix(&a, &[2, 2])), &[cos, -sin, sin, cos]);
        }
    }

    #[test]
    fn the_inverse_is_the_exponential_of_the_negative() {
        type C = Complex<f64>;
        let n = 30;
        let a: Vec<C> = noise(n * n);
        let negative: Vec<C> = a.iter().map(|&v| -v).collect();
        let (up, down) = (matrix_exp(matrix(&a, &[n, n])), matrix_exp(matrix(&negative, &[n, n])));
        assert_close(&product(&up, &down, n, n, n), &eye(n));
    }

    #[test]
    fn known_values_and_batches() {
        // Nilpotent, diagonal, and one by one.
        let data = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, -700.0];
        let want = [1.0, 1.0, 0.0, 1.0, 1f64.exp(), 0.0, 0.0, (-700f64).exp()];
        assert_close(&matrix_exp(matrix(&data, &[2, 2, 2])), &want);
        assert_eq!(matrix_exp(matrix(&[1.0, f64::NEG_INFINITY], &[2, 1, 1])), [1f64.exp(), 0.0]);
        assert!(matrix_exp(matrix::<f64>(&[], &[3, 0, 0])).is_empty());
        let nan = matrix_exp(matrix(&[f64::NAN, 0.0, 0.0, 0.0], &[2, 2]));
        assert!(nan.iter().all(|v| v.is_nan()));
    }
}
