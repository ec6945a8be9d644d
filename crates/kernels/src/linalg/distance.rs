//! Distances of all pairs of rows of two matrices.

use num_traits::Float;
use rayon::prelude::*;

use super::LinalgElement;
use super::batch::Matrices;
use crate::simd::{Task, run_wide};
use crate::{Strided, par};

/// The `order`-norms of the differences of every row of `a` `(*batch, m, k)` and every row of `b`
/// `(*batch, n, k)`: `(*batch, m, n)`.
pub fn cdist<T: LinalgElement<Real = T> + Float>(
    a: Strided<T>,
    b: Strided<T>,
    order: f64,
) -> Vec<T> {
    let (a, b) = (Matrices::new(a), Matrices::new(b));
    let (m, n, k) = (a.rows, b.rows, a.cols);
    let mut left = vec![T::zero(); a.count * m * k];
    // By columns, so that the rows of one matrix lie side by side.
    let mut right = vec![T::zero(); b.count * k * n];
    for batch in 0..a.count {
        a.copy_rows(batch, &mut left[batch * m * k..][..m * k]);
        b.copy_cols(batch, &mut right[batch * k * n..][..k * n]);
    }
    let rows = a.count * m;
    let mut out = vec![T::zero(); rows * n];
    if out.is_empty() {
        return out;
    }
    let grain = (par::GRAIN / (n * k).max(1)).max(rows.div_ceil(par::num_threads())).max(1);
    out.par_chunks_mut(grain * n).enumerate().for_each(|(part, out)| {
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            let row = part * grain + row;
            let a = &left[row * k..][..k];
            run_wide(Row { a, b: &right[row / m * k * n..][..k * n], out, order });
        }
    });
    out
}

/// The distances of one row.
struct Row<'a, T> {
    a: &'a [T],
    /// The other matrix, by columns.
    b: &'a [T],
    out: &'a mut [T],
    order: f64,
}

impl<T: LinalgElement<Real = T> + Float> Row<'_, T> {
    #[inline(always)]
    fn fold(&mut self, step: impl Fn(T, T) -> T) {
        let n = self.out.len();
        for (&a, b) in self.a.iter().zip(self.b.chunks_exact(n)) {
            for (out, &b) in self.out.iter_mut().zip(b) {
                *out = step(*out, a - b);
            }
        }
    }

    #[inline(always)]
    fn finish(&mut self, last: impl Fn(T) -> T) {
        self.out.iter_mut().for_each(|out| *out = last(*out));
    }
}

impl<T: LinalgElement<Real = T> + Float> Task for Row<'_, T> {
    #[inline(always)]
    fn run(mut self) {
        let zero = T::zero();
        if self.order == 1.0 {
            self.fold(|sum, x| sum + x.abs());
        } else if self.order == 2.0 {
            self.fold(|sum, x| sum + x * x);
            self.finish(|sum| sum.sqrt());
        } else if self.order == 0.0 {
            self.fold(|sum, x| if x == zero { sum } else { sum + T::one() });
        } else if self.order == f64::INFINITY {
            // A NaN, once met, stays.
            self.fold(|most, x| if x.abs() > most || x.is_nan() { x.abs() } else { most });
        } else {
            let order = T::from(self.order).expect("floats hold a norm's order");
            self.fold(|sum, x| sum + x.abs().powf(order));
            self.finish(|sum| sum.powf(order.recip()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::*;
    use super::*;

    #[test]
    fn every_order() {
        let (m, n, k) = (5, 70, 9);
        let mut x = noise::<f64>(2 * (m + n) * k);
        let y = x.split_off(2 * m * k);
        for order in [0.0, 0.5, 1.0, 2.0, 3.0, f64::INFINITY] {
            let found = cdist(matrix(&x, &[2, m, k]), matrix(&y, &[2, n, k]), order);
            let expected: Vec<f64> = (0..2 * m * n)
                .map(|at| {
                    let (batch, row, column) = (at / (m * n), at / n % m, at % n);
                    let apart = (0..k).map(|i| {
                        (x[(batch * m + row) * k + i] - y[(batch * n + column) * k + i]).abs()
                    });
                    match order {
                        0.0 => k as f64,
                        f64::INFINITY => apart.fold(0.0, f64::max),
                        _ => apart.map(|d| d.powf(order)).sum::<f64>().powf(order.recip()),
                    }
                })
                .collect();
            assert_close(&found, &expected);
        }
    }

    #[test]
    fn nan_and_nothing() {
        let one = matrix(&[f64::NAN, 1.0], &[1, 2]);
        let zero = matrix(&[0.0, 3.0], &[1, 2]);
        for order in [1.0, 2.0, 3.0, f64::INFINITY] {
            assert!(cdist(one, zero, order)[0].is_nan());
            let nothing = cdist(matrix::<f64>(&[], &[2, 0]), matrix(&[], &[1, 0]), order);
            assert_eq!(nothing, [0.0, 0.0]);
        }
    }
}
