//! Factorisation of symmetric and Hermitian matrices that need not be definite.

use num_traits::{Float, NumCast, Zero};

use super::LinalgElement;
use super::batch::{Matrices, Out, each_alone};
use super::scale::Scale;
use crate::Strided;

/// What [`ldl_factor`] gives, as LAPACK packs it.
#[derive(Clone, Debug)]
pub struct LdlFactors<T> {
    /// The unit lower triangular factor below the blocks of the block diagonal one; zero above.
    pub ld: Vec<T>,
    /// For every column the row it was exchanged with, counted from one; negative for both columns
    /// of a block of two, of which the second was exchanged.
    pub pivots: Vec<i32>,
    /// Zero for every matrix, or its first column, counted from one, whose block is zero.
    pub info: Vec<i32>,
}

/// The factors of `a = L D L^T`, or `L D L^H` of Hermitian matrices, where `D` has blocks of one
/// and two (Bunch and Kaufman's choice). Only the lower triangle of `a` is read.
pub fn ldl_factor<T: LinalgElement>(a: Strided<T>, hermitian: bool) -> LdlFactors<T> {
    let a = Matrices::new(a);
    let n = a.rows;
    let mut ld = vec![T::zero(); a.count * n * n];
    let mut pivots = vec![0; a.count * n];
    let mut info = vec![0; a.count];
    let (ld_out, pivots_out) = (Out::new(&mut ld, n * n), Out::new(&mut pivots, n));
    let outputs = (ld_out, pivots_out, Out::new(&mut info, 1));
    let done =
        each_alone(a.count, n * n * n / 3, outputs, |range, (mut ld, mut pivots, mut info)| {
            for (i, batch) in range.enumerate() {
                let data = ld.of(i);
                a.copy_rows(batch, data);
                for row in 0..n {
                    data[row * n + row + 1..(row + 1) * n].fill(T::zero());
                }
                let scale = Scale::lift(data);
                let pivots = pivots.of(i);
                info.of(i)[0] = Square { data: &mut *data, n, hermitian }.factor(pivots) as i32;
                let mut first = true;
                for (at, &pivot) in pivots.iter().enumerate() {
                    scale.undo(&mut data[at * n + at..][..1]);
                    // The off-diagonal element of a block of two stands in its second row.
                    if pivot < 0 && !first {
                        scale.undo(&mut data[at * n + at - 1..][..1]);
                    }
                    first = pivot > 0 || !first;
                }
            }
            Ok(())
        });
    debug_assert!(done.is_ok());
    LdlFactors { ld, pivots, info }
}

/// The conjugate of a number where the matrix is Hermitian.
fn turned<T: LinalgElement>(value: T, hermitian: bool) -> T {
    if hermitian { value.conjugate() } else { value }
}

/// A row-major matrix of which the lower triangle counts.
struct Square<'a, T> {
    data: &'a mut [T],
    n: usize,
    hermitian: bool,
}

impl<T: LinalgElement> Square<'_, T> {
    fn at(&self, row: usize, column: usize) -> T {
        self.data[row * self.n + column]
    }

    fn set(&mut self, row: usize, column: usize, value: T) {
        self.data[row * self.n + column] = value;
    }

    fn swap(&mut self, one: (usize, usize), two: (usize, usize)) {
        self.data.swap(one.0 * self.n + one.1, two.0 * self.n + two.1);
    }

    fn turned(&self, value: T) -> T {
        turned(value, self.hermitian)
    }

    /// Takes the imaginary part off a diagonal that must not have one.
    fn make_real(&mut self, at: usize) {
        if self.hermitian {
            self.set(at, at, T::from_re(self.at(at, at).re()));
        }
    }

    fn size(&self, row: usize, column: usize) -> T::Real {
        let value = self.at(row, column);
        if self.hermitian && row == column { value.re().abs() } else { value.modulus1() }
    }

    /// The largest size of some elements, and the row it is in.
    fn largest(&self, places: impl Iterator<Item = (usize, usize)>) -> (T::Real, usize) {
        let mut best = (T::Real::zero(), 0);
        for (row, column) in places {
            let size = self.size(row, column);
            if size > best.0 {
                best = (size, row);
            }
        }
        best
    }

    /// The row to exchange with for the block that starts at column `k`, and the block's size:
    /// `own` is the size of the diagonal element, `below` the largest one below it, in `row`.
    fn pivot(&self, k: usize, own: T::Real, below: T::Real, row: usize) -> (usize, usize) {
        // The factor that bounds the growth of elements best.
        let alpha = <T::Real as NumCast>::from((1.0 + 17f64.sqrt()) / 8.0)
            .expect("every float type holds it");
        if own >= alpha * below {
            return (k, 1);
        }
        let left = (k..row).map(|column| (row, column));
        let (across, _) = self.largest(left.chain((row + 1..self.n).map(|i| (i, row))));
        if own >= alpha * below * (below / across) {
            (k, 1)
        } else if self.size(row, row) >= alpha * across {
            (row, 1)
        } else {
            (row, 2)
        }
    }

    /// Factors in place; gives the first column, counted from one, whose block is zero.
    fn factor(mut self, pivots: &mut [i32]) -> usize {
        let n = self.n;
        let (mut k, mut info) = (0, 0);
        while k < n {
            let own = self.size(k, k);
            let (below, row) = self.largest((k + 1..n).map(|i| (i, k)));
            if own.max(below) == T::Real::zero() || own.is_nan() {
                if info == 0 {
                    info = k + 1;
                }
                self.make_real(k);
                pivots[k] = k as i32 + 1;
                k += 1;
                continue;
            }
            let (other, step) = self.pivot(k, own, below, row);
            self.exchange(k, k + step - 1, other);
            if step == 1 {
                self.eliminate_one(k);
                pivots[k] = other as i32 + 1;
            } else {
                self.eliminate_two(k);
                pivots[k..k + 2].fill(-(other as i32 + 1));
            }
            k += step;
        }
        info
    }

    /// Exchanges rows and columns `own` and `other` of what is left from column `k` on.
    fn exchange(&mut self, k: usize, own: usize, other: usize) {
        if other != own {
            for i in other + 1..self.n {
                self.swap((i, own), (i, other));
            }
            for j in own + 1..other {
                let (one, two) = (self.turned(self.at(j, own)), self.turned(self.at(other, j)));
                self.set(j, own, two);
                self.set(other, j, one);
            }
            self.set(other, own, self.turned(self.at(other, own)));
            self.swap((own, own), (other, other));
            if own > k {
                self.swap((own, k), (other, k));
            }
        }
        [k, own, other].into_iter().for_each(|at| self.make_real(at));
    }

    fn eliminate_one(&mut self, k: usize) {
        let reciprocal = T::one().over(self.at(k, k));
        for j in k + 1..self.n {
            let factor = self.turned(self.at(j, k)) * reciprocal;
            for i in j..self.n {
                let value = self.at(i, j) - self.at(i, k) * factor;
                self.set(i, j, value);
            }
            self.make_real(j);
        }
        for i in k + 1..self.n {
            let value = self.at(i, k) * reciprocal;
            self.set(i, k, value);
        }
    }

    fn eliminate_two(&mut self, k: usize) {
        // The block is scaled by its off-diagonal element, so that its inverse cannot overflow.
        let off = self.at(k + 1, k);
        let scale = if self.hermitian { T::from_re(off.modulus()) } else { off };
        let phase = off.over(scale);
        let (first, second) = (self.at(k + 1, k + 1).over(scale), self.at(k, k).over(scale));
        let factor = T::one().over(first * second - T::one()).over(scale);
        for j in k + 2..self.n {
            let (a, b) = (self.at(j, k), self.at(j, k + 1));
            let one = factor * (first * a - phase * b);
            let two = factor * (second * b - self.turned(phase) * a);
            let (left, right) = (self.turned(one), self.turned(two));
            for i in j..self.n {
                let value = self.at(i, j) - self.at(i, k) * left - self.at(i, k + 1) * right;
                self.set(i, j, value);
            }
            self.set(j, k, one);
            self.set(j, k + 1, two);
            self.make_real(j);
        }
    }
}

/// The solution `x` of `a x = b` for every pair of `b` `(*batch, n, k)` and the factors of `a`,
/// `(*batch, n, n)`, with their pivots, `n` for each.
pub fn ldl_solve<T: LinalgElement>(
    ld: Strided<T>,
    pivots: &[i32],
    b: Strided<T>,
    hermitian: bool,
) -> Vec<T> {
    let (ld, b) = (Matrices::new(ld), Matrices::new(b));
    let (n, k) = (ld.rows, b.cols);
    let mut out = vec![T::zero(); ld.count * n * k];
    if k == 0 {
        return out;
    }
    let done = each_alone(ld.count, 2 * n * n * k, Out::new(&mut out, n * k), |range, mut out| {
        let mut factors = vec![T::zero(); n * n];
        for (i, batch) in range.enumerate() {
            ld.copy_rows(batch, &mut factors);
            b.copy_rows(batch, out.of(i));
            let pivots = &pivots[batch * n..][..n];
            System { factors: &factors, pivots, n, hermitian }.solve(out.of(i), k);
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
    out
}

/// Factors and pivots of one matrix.
struct System<'a, T> {
    factors: &'a [T],
    pivots: &'a [i32],
    n: usize,
    hermitian: bool,
}

impl<T: LinalgElement> System<'_, T> {
    fn at(&self, row: usize, column: usize) -> T {
        self.factors[row * self.n + column]
    }

    /// The size of the block that a column belongs to, and the row its last column went to.
    fn block(&self, column: usize) -> (usize, usize) {
        let pivot = self.pivots[column];
        (if pivot > 0 { 1 } else { 2 }, pivot.unsigned_abs() as usize - 1)
    }

    /// Replaces the rows of `x`, `k` numbers each, by those of the solution.
    fn solve(&self, x: &mut [T], k: usize) {
        let mut at = 0;
        while at < self.n {
            let (step, other) = self.block(at);
            swap_rows(x, k, at + step - 1, other);
            for column in at..at + step {
                for row in at + step..self.n {
                    subtract(x, k, row, column, self.at(row, column));
                }
            }
            self.divide(x, k, at, step);
            at += step;
        }
        while at > 0 {
            let (step, other) = self.block(at - 1);
            for column in at - step..at {
                for row in at..self.n {
                    subtract(x, k, column, row, turned(self.at(row, column), self.hermitian));
                }
            }
            swap_rows(x, k, at - 1, other);
            at -= step;
        }
    }

    /// Divides the rows of a block of the block diagonal factor by that block.
    fn divide(&self, x: &mut [T], k: usize, at: usize, step: usize) {
        let first = self.at(at, at);
        if step == 1 {
            x[at * k..][..k].iter_mut().for_each(|value| *value = value.over(first));
            return;
        }
        let off = self.at(at + 1, at);
        let other = turned(off, self.hermitian);
        let (first, second) = (first.over(other), self.at(at + 1, at + 1).over(off));
        let scale = first * second - T::one();
        for column in 0..k {
            let (a, b) = (x[at * k + column].over(other), x[(at + 1) * k + column].over(off));
            x[at * k + column] = (second * a - b).over(scale);
            x[(at + 1) * k + column] = (first * b - a).over(scale);
        }
    }
}

fn swap_rows<T>(x: &mut [T], k: usize, one: usize, two: usize) {
    if one != two {
        (0..k).for_each(|column| x.swap(one * k + column, two * k + column));
    }
}

/// `x[row] -= factor * x[other]`.
fn subtract<T: LinalgElement>(x: &mut [T], k: usize, row: usize, other: usize, factor: T) {
    for column in 0..k {
        let value = factor * x[other * k + column];
        x[row * k + column] -= value;
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::super::test_support::*;
    use super::*;

    fn solves<T: LinalgElement>(n: usize, hermitian: bool) {
        let mut data = Vec::new();
        for part in noise::<T>(2 * n * n).chunks(n * n) {
            // Zeros on the diagonal ask for blocks of two.
            data.extend(fill(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => turned(part[j * n + i], hermitian),
                std::cmp::Ordering::Equal if i % 3 == 0 => T::from_re(part[i * n + i].re()),
                std::cmp::Ordering::Equal => T::zero(),
                std::cmp::Ordering::Greater => part[i * n + j],
            }));
        }
        let (shape, tall) = ([2, n, n], [2, n, 3]);
        let factors = ldl_factor(matrix(&data, &shape), hermitian);
        assert_eq!(factors.info, [0, 0]);
        assert!(n < 8 || factors.pivots.iter().any(|&pivot| pivot < 0));
        let (ld, b) = (matrix(&factors.ld, &shape), noise::<T>(2 * n * 3));
        let x = ldl_solve(ld, &factors.pivots, matrix(&b, &tall), hermitian);
        for i in 0..2 {
            let part = |v: &[T], size: usize| v[i * size..][..size].to_vec();
            let product = product(&part(&data, n * n), &part(&x, n * 3), n, n, 3);
            assert_close(&product, &part(&b, n * 3));
        }
    }

    #[test]
    fn every_size_and_type() {
        for n in [1, 2, 3, 8, 30] {
            solves::<f64>(n, false);
            solves::<Complex<f64>>(n, false);
            solves::<Complex<f64>>(n, true);
        }
    }

    #[test]
    fn huge_and_tiny_numbers() {
        type C = Complex<f32>;
        let n = 9;
        let half = noise::<C>(n * n);
        let data = fill(n, n, |i, j| half[i * n + j] + half[j * n + i].conj());
        // Blocks of both sizes.
        let data = fill(n, n, |i, j| if i == j && i % 3 > 0 { C::zero() } else { data[i * n + j] });
        for exponent in [110, 70, -70, -110] {
            let scaled: Vec<C> = data.iter().map(|v| v * 2f32.powi(exponent)).collect();
            let scaled = matrix(&scaled, &[9, 9]);
            let factors = ldl_factor(scaled, true);
            assert!(factors.pivots.iter().any(|&pivot| pivot < 0));
            let x = ldl_solve(matrix(&factors.ld, &[9, 9]), &factors.pivots, scaled, true);
            assert_close(&x, &eye(n));
        }
    }

    #[test]
    fn known_values() {
        // A block of one, and a column of zeros.
        let factors = ldl_factor(matrix(&[2.0, 9.0, 1.0, 0.5], &[2, 2]), false);
        assert_close(&factors.ld, &[2.0, 0.0, 0.5, 0.0]);
        assert_eq!((factors.pivots, factors.info), (vec![1, 2], vec![2]));
        // A block of two.
        let factors = ldl_factor(matrix(&[0.0, 9.0, 1.0, 0.0], &[2, 2]), false);
        assert_close(&factors.ld, &[0.0, 0.0, 1.0, 0.0]);
        assert_eq!(factors.pivots, [-2, -2]);
    }
}
