//! Walking over the matrices of a batch.

use std::ops::Range;

use faer::Par;

use crate::{Dims, Element, Result, Strided, Strides, collapse, par, positions};

/// From this many operations a single matrix is worth several threads.
const LARGE: usize = 1 << 22;

/// The matrices of a view of shape `(*batch, rows, columns)`.
#[derive(Debug)]
pub(crate) struct Matrices<'a, T> {
    x: Strided<'a, T>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// How many there are.
    pub(crate) count: usize,
    dims: Dims,
    strides: [Strides; 1],
}

impl<'a, T: Element> Matrices<'a, T> {
    pub(crate) fn new(x: Strided<'a, T>) -> Self {
        let outer = x.shape.len() - 2;
        let (dims, strides) = collapse(&x.shape[..outer], [&x.strides[..outer]]);
        let count = x.shape[..outer].iter().product();
        Self { x, rows: x.shape[outer], cols: x.shape[outer + 1], count, dims, strides }
    }

    /// The distance between rows and between columns.
    pub(crate) fn steps(&self) -> (isize, isize) {
        let outer = self.x.shape.len() - 2;
        (self.x.strides[outer], self.x.strides[outer + 1])
    }

    /// Where the batch element `matrix` starts in the storage.
    pub(crate) fn start(&self, matrix: usize) -> isize {
        let [at] = positions(matrix, &self.dims, &self.strides);
        self.x.offset as isize + at
    }

    /// Copies one matrix, row after row.
    pub(crate) fn copy_rows(&self, matrix: usize, to: &mut [T]) {
        let (row, col) = self.steps();
        copy(self.x.data, self.start(matrix), (self.rows, self.cols), (row, col), to);
    }

    /// Copies one matrix, column after column.
    pub(crate) fn copy_cols(&self, matrix: usize, to: &mut [T]) {
        let (row, col) = self.steps();
        copy(self.x.data, self.start(matrix), (self.cols, self.rows), (col, row), to);
    }
}

/// Writes the transpose of the row-major matrix `from` of shape `(rows, cols)`.
pub(crate) fn transpose<T: Element>(from: &[T], rows: usize, cols: usize, to: &mut [T]) {
    copy(from, 0, (cols, rows), (1, cols as isize), to);
}

/// Row-major `to[i, j] = from[start + i steps.0 + j steps.1]`.
fn copy<T: Element>(
    from: &[T],
    start: isize,
    (rows, cols): (usize, usize),
    (row, col): (isize, isize),
    to: &mut [T],
) {
    /// Edge of the squares in which a transpose is done: two of them fit the first cache.
    const EDGE: usize = 16;
    if rows == 0 || cols == 0 {
        return;
    }
    let at = |i: usize, j: usize| (start + i as isize * row + j as isize * col) as usize;
    if col == 1 {
        for (i, to) in to.chunks_exact_mut(cols).enumerate() {
            to.copy_from_slice(&from[at(i, 0)..][..cols]);
        }
    } else if rows <= EDGE {
        for (i, to) in to.chunks_exact_mut(cols).enumerate() {
            for (j, to) in to.iter_mut().enumerate() {
                *to = from[at(i, j)];
            }
        }
    } else {
        for first in (0..cols).step_by(EDGE) {
            let columns = first..(first + EDGE).min(cols);
            for (i, to) in to.chunks_exact_mut(cols).enumerate() {
                for j in columns.clone() {
                    to[j] = from[at(i, j)];
                }
            }
        }
    }
}

/// Outputs that can be cut between two matrices.
pub(crate) trait Cut: Send + Sized {
    fn cut(self, matrices: usize) -> (Self, Self);
}

/// One output: `size` elements for every matrix.
#[derive(Debug)]
pub(crate) struct Out<'a, T> {
    data: &'a mut [T],
    size: usize,
}

impl<'a, T> Out<'a, T> {
    pub(crate) fn new(data: &'a mut [T], size: usize) -> Self {
        Self { data, size }
    }

    /// What belongs to the `index`th matrix of this part.
    pub(crate) fn of(&mut self, index: usize) -> &mut [T] {
        &mut self.data[index * self.size..][..self.size]
    }
}

impl<T: Send> Cut for Out<'_, T> {
    fn cut(self, matrices: usize) -> (Self, Self) {
        let (head, tail) = self.data.split_at_mut(matrices * self.size);
        (Self { data: head, size: self.size }, Self { data: tail, size: self.size })
    }
}

impl<A: Cut, B: Cut> Cut for (A, B) {
    fn cut(self, matrices: usize) -> (Self, Self) {
        let (a, b) = (self.0.cut(matrices), self.1.cut(matrices));
        ((a.0, b.0), (a.1, b.1))
    }
}

impl<A: Cut, B: Cut, C: Cut> Cut for (A, B, C) {
    fn cut(self, matrices: usize) -> (Self, Self) {
        let (a, b, c) = (self.0.cut(matrices), self.1.cut(matrices), self.2.cut(matrices));
        ((a.0, b.0, c.0), (a.1, b.1, c.1))
    }
}

/// Calls `work(matrices, outputs, threads)` on ranges that cover `0..count`, with the part of the
/// outputs that belongs to each and with the parallelism it may use inside. `cost` is the number
/// of operations per matrix. Of several errors the one of the first matrix is returned.
pub(crate) fn each<O: Cut>(
    count: usize,
    cost: usize,
    outputs: O,
    work: impl Fn(Range<usize>, O, Par) -> Result<()> + Sync,
) -> Result<()> {
    let threads = par::num_threads();
    if threads > 1 && count < threads && cost >= LARGE {
        return work(0..count, outputs, Par::rayon(threads));
    }
    each_alone(count, cost, outputs, |range, outputs| work(range, outputs, Par::Seq))
}

/// As [`each`], for work that always does one matrix on one thread.
pub(crate) fn each_alone<O: Cut>(
    count: usize,
    cost: usize,
    outputs: O,
    work: impl Fn(Range<usize>, O) -> Result<()> + Sync,
) -> Result<()> {
    fn go<O: Cut>(
        range: Range<usize>,
        parts: usize,
        outputs: O,
        work: &(impl Fn(Range<usize>, O) -> Result<()> + Sync),
    ) -> Result<()> {
        if parts <= 1 {
            return work(range, outputs);
        }
        let left_parts = parts / 2;
        let count = range.len() * left_parts / parts;
        let middle = range.start + count;
        let (head, tail) = outputs.cut(count);
        let (head, tail) = rayon::join(
            || go(range.start..middle, left_parts, head, work),
            || go(middle..range.end, parts - left_parts, tail, work),
        );
        head.and(tail)
    }
    let worthwhile = count.saturating_mul(cost) / par::GRAIN;
    let parts = par::num_threads().min(count).min(worthwhile);
    go(0..count, parts, outputs, &work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn copies_rows_and_columns_of_any_view() {
        let data: Vec<i64> = (0..40 * 50).collect();
        // The transpose of the 40 x 50 matrix without its first row, as a batch of one.
        let (shape, strides) = ([1, 50, 39], [7, 1, 50]);
        let x =
            Matrices::new(Strided { data: &data, shape: &shape, strides: &strides, offset: 50 });
        let mut rows = vec![0; 50 * 39];
        let mut cols = rows.clone();
        x.copy_rows(0, &mut rows);
        x.copy_cols(0, &mut cols);
        assert_eq!(cols, data[50..]);
        assert!((0..50 * 39).all(|i| rows[i] == data[50 + (i % 39) * 50 + i / 39]));
        let mut back = vec![0; 50 * 39];
        transpose(&rows, 50, 39, &mut back);
        assert_eq!(back, cols);
    }

    #[test]
    fn the_error_of_the_first_matrix_wins() {
        let mut out = vec![0usize; 100];
        let result = each(100, par::GRAIN, Out::new(&mut out, 1), |range, mut out, _| {
            for (i, matrix) in range.enumerate() {
                out.of(i)[0] = matrix;
                if matrix % 40 == 39 {
                    return Err(Error::Singular { batch: matrix, pivot: 1 });
                }
            }
            Ok(())
        });
        assert_eq!(result, Err(Error::Singular { batch: 39, pivot: 1 }));
        assert!(out[..40].iter().copied().eq(0..40));
    }
}
