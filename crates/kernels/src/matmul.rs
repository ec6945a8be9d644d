//! Batched matrix products of any element type.

use faer::{Accum, Conj, MatMut, MatRef, Par};
use num_complex::Complex;
use num_traits::{One, WrappingAdd, Zero};
use rayon::prelude::*;

use crate::linalg::Engine;
use crate::{Element, Strided, collapse, par, positions, simd};

/// Products of at most this many multiplications run a plain loop.
const SMALL: usize = 4096;
/// From this many multiplications a single product is worth several threads.
const LARGE: usize = 1 << 20;
/// So few rows gain nothing from blocks.
const FEW: usize = 4;
/// Sums of one element that are formed side by side.
const LANES: usize = 16;
/// Elements of a row that are formed side by side.
const COLUMNS: usize = 4;
/// Rows of the output that are computed together, so that each row of `b` is loaded once for all.
const ROWS: usize = 4;
/// Bytes of the output rows that are computed together: `ROWS` times as many sums stay in registers.
const WIDTH: usize = 64;
/// How much of the inner dimension is packed at a time: `DEPTH x WIDTH` stays in the first cache.
const DEPTH: usize = 256;

/// Elements that matrices can be multiplied over: floats, complex floats and integers, which wrap
/// around. Sealed.
pub trait MatmulElement: sealed::Multiply {}
impl<T: sealed::Multiply> MatmulElement for T {}

mod sealed {
    use super::*;

    /// The arithmetic of one element type.
    pub trait Multiply: Element + Zero + One {
        /// `sum + a * b`.
        fn multiply_add(sum: Self, a: Self, b: Self) -> Self;

        /// Writes the product of one pair of matrices that is not small into `out`, which is zero.
        fn large(a: View<'_, Self>, b: View<'_, Self>, out: &mut [Self], parallel: bool);
    }
}
use sealed::Multiply;

/// One matrix: `data` is the whole storage.
#[derive(Clone, Copy)]
pub struct View<'a, T> {
    data: &'a [T],
    start: isize,
    rows: usize,
    cols: usize,
    steps: (isize, isize),
}

impl<T: Element> View<'_, T> {
    #[inline(always)]
    fn at(&self, row: usize, col: usize) -> T {
        self.data[(self.start + row as isize * self.steps.0 + col as isize * self.steps.1) as usize]
    }

    /// The elements row after row.
    fn to_rows(self) -> Vec<T> {
        (0..self.rows).flat_map(|i| (0..self.cols).map(move |j| self.at(i, j))).collect()
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Multiply for $int {
            #[inline(always)]
            fn multiply_add(sum: Self, a: Self, b: Self) -> Self {
                sum.wrapping_add(a.wrapping_mul(b))
            }

            fn large(a: View<'_, Self>, b: View<'_, Self>, out: &mut [Self], parallel: bool) {
                let rows = if parallel { a.rows.div_ceil(par::num_threads()) } else { a.rows };
                let rows = rows.next_multiple_of(ROWS);
                let block = |(i, out): (usize, &mut [Self])| {
                    let start = a.start + (i * rows) as isize * a.steps.0;
                    let part = View { start, rows: out.len() / b.cols, ..a };
                    const COLS: usize = WIDTH / size_of::<$int>();
                    #[cfg(target_arch = "x86_64")]
                    {
                        #[target_feature(enable = "avx512dq,avx512bw,avx512vl")]
                        fn newest(a: View<'_, $int>, b: View<'_, $int>, out: &mut [$int]) {
                            by_blocks::<$int, COLS>(a, b, out);
                        }
                        #[target_feature(enable = "avx2")]
                        fn newer(a: View<'_, $int>, b: View<'_, $int>, out: &mut [$int]) {
                            by_blocks::<$int, COLS>(a, b, out);
                        }
                        use std::arch::is_x86_feature_detected as has;
                        if has!("avx512dq") && has!("avx512bw") && has!("avx512vl") {
                            // SAFETY: the processor has these features.
                            return unsafe { newest(part, b, out) };
                        }
                        if has!("avx2") {
                            // SAFETY: the processor has this feature.
                            return unsafe { newer(part, b, out) };
                        }
                    }
                    by_blocks::<$int, COLS>(part, b, out);
                };
                if parallel {
                    out.par_chunks_mut(rows * b.cols).enumerate().for_each(block);
                } else {
                    block((0, out));
                }
            }
        }
    )*};
}
integers!(u8, i8, i16, i32, i64);

macro_rules! floats {
    ($($float:ty),*) => {$(
        impl Multiply for $float {
            #[inline(always)]
            fn multiply_add(sum: Self, a: Self, b: Self) -> Self {
                sum + a * b
            }

            fn large(a: View<'_, Self>, b: View<'_, Self>, out: &mut [Self], parallel: bool) {
                let threads = if parallel { Par::rayon(par::num_threads()) } else { Par::Seq };
                let (a_rows, b_rows);
                let a_view = match plain(a) {
                    Some(view) => view,
                    None => {
                        a_rows = a.to_rows();
                        MatRef::from_row_major_slice(&a_rows, a.rows, a.cols)
                    }
                };
                let b_view = match plain(b) {
                    Some(view) => view,
                    None => {
                        b_rows = b.to_rows();
                        MatRef::from_row_major_slice(&b_rows, b.rows, b.cols)
                    }
                };
                let (one, no) = (Self::one(), Conj::No);
                let out = MatMut::from_row_major_slice_mut(out, a.rows, b.cols);
                Engine::gemm(out, Accum::Replace, (a_view, no), (b_view, no), one, threads);
            }
        }
    )*};
}
floats!(f32, f64, Complex<f32>, Complex<f64>);

/// The matrix as faer sees it, where its rows or its columns are contiguous and do not overlap.
fn plain<T>(x: View<'_, T>) -> Option<MatRef<'_, T>> {
    let data = x.data.get(x.start as usize..)?;
    let apart = |step: isize, len: usize| usize::try_from(step).ok().filter(|&step| step >= len);
    if x.steps.1 == 1 {
        let step = apart(x.steps.0, x.cols)?;
        Some(MatRef::from_row_major_slice_with_stride(data, x.rows, x.cols, step))
    } else if x.steps.0 == 1 {
        let step = apart(x.steps.1, x.rows)?;
        Some(MatRef::from_column_major_slice_with_stride(data, x.rows, x.cols, step))
    } else {
        None
    }
}

/// Adds the product to `out` in blocks whose sums stay in registers.
#[inline(always)]
fn by_blocks<T: Multiply + WrappingAdd, const COLS: usize>(
    a: View<'_, T>,
    b: View<'_, T>,
    out: &mut [T],
) {
    let n = b.cols;
    let mut packed = [[T::zero(); COLS]; DEPTH];
    for depth in (0..a.cols).step_by(DEPTH) {
        let depths = depth..(depth + DEPTH).min(a.cols);
        for col in (0..n).step_by(COLS) {
            let width = COLS.min(n - col);
            // Columns past the end keep old values, whose sums are not written out.
            for (packed, p) in packed.iter_mut().zip(depths.clone()) {
                for (j, value) in packed[..width].iter_mut().enumerate() {
                    *value = b.at(p, col + j);
                }
            }
            for row in (0..a.rows).step_by(ROWS) {
                let height = ROWS.min(a.rows - row);
                let mut sums = [[T::zero(); COLS]; ROWS];
                for (packed, p) in packed.iter().zip(depths.clone()) {
                    // Rows past the end repeat the last one, and are not written out either.
                    let factors: [T; ROWS] =
                        std::array::from_fn(|i| a.at(row + i.min(height - 1), p));
                    for (sums, factor) in sums.iter_mut().zip(factors) {
                        for (sum, &value) in sums.iter_mut().zip(packed) {
                            *sum = T::multiply_add(*sum, factor, value);
                        }
                    }
                }
                for (i, sums) in sums[..height].iter().enumerate() {
                    let out = &mut out[(row + i) * n + col..][..width];
                    for (out, &sum) in out.iter_mut().zip(sums) {
                        *out = out.wrapping_add(&sum);
                    }
                }
            }
        }
    }
}

/// The product of every pair of `a` `(*batch, m, k)` and `b` `(*batch, k, n)`. Batch dimensions are
/// equal, broadcast ones come with zero strides. Without an inner dimension everything is zero.
pub fn matmul<T: MatmulElement>(a: Strided<T>, b: Strided<T>) -> Vec<T> {
    let outer = a.shape.len() - 2;
    let (m, k, n) = (a.shape[outer], a.shape[outer + 1], b.shape[outer + 1]);
    let count: usize = a.shape[..outer].iter().product();
    let mut out = vec![T::zero(); count * m * n];
    if out.is_empty() || k == 0 {
        return out;
    }
    // One `b` for all: the batch of `a` is one tall matrix, if it lies so in memory.
    if count > 1 && b.strides[..outer].iter().all(|&stride| stride == 0) {
        let (dims, [rows]) = collapse(&a.shape[..outer + 1], [&a.strides[..outer + 1]]);
        if dims.len() == 1 {
            let a = View {
                data: a.data,
                start: a.offset as isize,
                rows: count * m,
                cols: k,
                steps: (rows[0], a.strides[outer + 1]),
            };
            let b = View {
                data: b.data,
                start: b.offset as isize,
                rows: k,
                cols: n,
                steps: (b.strides[outer], b.strides[outer + 1]),
            };
            one(a, b, &mut out, par::num_threads() > 1);
            return out;
        }
    }
    let (dims, strides) = collapse(&a.shape[..outer], [&a.strides[..outer], &b.strides[..outer]]);
    let pair = |index: usize| {
        let [a_at, b_at] = positions(index, &dims, &strides);
        let a = View {
            data: a.data,
            start: a.offset as isize + a_at,
            rows: m,
            cols: k,
            steps: (a.strides[outer], a.strides[outer + 1]),
        };
        let b = View {
            data: b.data,
            start: b.offset as isize + b_at,
            rows: k,
            cols: n,
            steps: (b.strides[outer], b.strides[outer + 1]),
        };
        (a, b)
    };
    let (threads, work) = (par::num_threads(), m * n * k);
    if threads == 1 || count * work <= par::GRAIN || (count < threads && work >= LARGE) {
        for (index, out) in out.chunks_exact_mut(m * n).enumerate() {
            let (a, b) = pair(index);
            one(a, b, out, threads > 1);
        }
    } else {
        let matrices = count.div_ceil(threads).max(par::GRAIN.div_ceil(work));
        out.par_chunks_mut(matrices * m * n).enumerate().for_each(|(part, out)| {
            for (index, out) in out.chunks_exact_mut(m * n).enumerate() {
                let (a, b) = pair(part * matrices + index);
                one(a, b, out, false);
            }
        });
    }
    out
}

/// The product of few rows and a matrix whose columns are runs of memory, as a linear layer has it:
/// every element is the sum over two runs.
struct Dots<'a, T> {
    a: View<'a, T>,
    b: View<'a, T>,
    out: &'a mut [T],
}

impl<T: Multiply> simd::Task for Dots<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Dots { a, b, out } = self;
        let len = a.cols;
        let column = |j: usize| &b.data[(b.start + j as isize * b.steps.1) as usize..][..len];
        for (i, out) in out.chunks_exact_mut(b.cols).enumerate() {
            let row = &a.data[(a.start + i as isize * a.steps.0) as usize..][..len];
            let (blocks, rest) = out.as_chunks_mut::<COLUMNS>();
            let done = blocks.len() * COLUMNS;
            for (block, out) in blocks.iter_mut().enumerate() {
                *out = dots(row, std::array::from_fn(|j| column(block * COLUMNS + j)));
            }
            for (j, out) in rest.iter_mut().enumerate() {
                [*out] = dots(row, [column(done + j)]);
            }
        }
    }
}

/// The sums of the products of one run with several, all of one length. Each is formed in `LANES`
/// sums that do not wait for each other, and in the same order however many there are.
#[inline(always)]
fn dots<T: Multiply, const N: usize>(x: &[T], ys: [&[T]; N]) -> [T; N] {
    let ys = ys.map(|y| &y[..x.len()]);
    let mut sums = [[T::zero(); LANES]; N];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for (i, x) in chunks.iter().enumerate() {
        for j in 0..N {
            let y = &ys[j][i * LANES..][..LANES];
            for lane in 0..LANES {
                sums[j][lane] = T::multiply_add(sums[j][lane], x[lane], y[lane]);
            }
        }
    }
    // Turned round, sums of lanes are sums of vectors.
    let mut lanes: [[T; N]; LANES] = std::array::from_fn(|i| std::array::from_fn(|j| sums[j][i]));
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            for j in 0..N {
                lanes[i][j] = T::multiply_add(lanes[i][j], lanes[i + width][j], T::one());
            }
        }
    }
    let mut out = lanes[0];
    for (i, &x) in rest.iter().enumerate() {
        for j in 0..N {
            out[j] = T::multiply_add(out[j], x, ys[j][chunks.len() * LANES + i]);
        }
    }
    out
}

/// One product, written into `out`, which is zero. How the sums are formed does not depend on
/// whether several threads may be used.
fn one<T: Multiply>(a: View<'_, T>, b: View<'_, T>, out: &mut [T], parallel: bool) {
    let work = a.rows * a.cols * b.cols;
    if a.rows <= FEW && a.steps.1 == 1 && b.steps.0 == 1 && a.cols >= LANES {
        return simd::run_wide(Dots { a, b, out });
    }
    if work > SMALL {
        return T::large(a, b, out, parallel && work >= LARGE);
    }
    let copy;
    let (rows, step) = if b.steps.1 == 1 && b.steps.0 >= 0 {
        (&b.data[b.start as usize..], b.steps.0 as usize)
    } else {
        copy = b.to_rows();
        (&copy[..], b.cols)
    };
    for (i, out) in out.chunks_exact_mut(b.cols).enumerate() {
        for p in 0..a.cols {
            let factor = a.at(i, p);
            for (out, &value) in out.iter_mut().zip(&rows[p * step..][..b.cols]) {
                *out = T::multiply_add(*out, factor, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contiguous_strides;

    fn slow<T: Multiply>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
        (0..m * n)
            .map(|i| {
                (0..k)
                    .fold(T::zero(), |s, p| T::multiply_add(s, a[i / n * k + p], b[p * n + i % n]))
            })
            .collect()
    }

    /// Row-major, both transposed, and `a` flipped, against the definition.
    fn check<T: MatmulElement + PartialEq + std::fmt::Debug>(make: impl Fn(usize) -> T) {
        let sizes = [
            (1, 1, 1),
            (3, 5, 2),
            (17, 9, 33),
            (1, 300, 40),
            (70, 600, 1),
            (130, 257, 67),
            (5, 0, 3),
        ];
        for (m, k, n) in sizes {
            let a: Vec<T> = (0..m * k).map(&make).collect();
            let b: Vec<T> = (0..k * n).map(|i| make(i * 7 + 3)).collect();
            let want = slow(&a, &b, m, k, n);
            let (sa, sb) = (contiguous_strides(&[m, k]), contiguous_strides(&[k, n]));
            let a_view = Strided { data: &a, shape: &[m, k], strides: &sa, offset: 0 };
            let b_view = Strided { data: &b, shape: &[k, n], strides: &sb, offset: 0 };
            assert_eq!(matmul(a_view, b_view), want, "{m} {k} {n}");
            let at: Vec<T> = (0..m * k).map(|i| a[i % m * k + i / m]).collect();
            let bt: Vec<T> = (0..k * n).map(|i| b[i % k * n + i / k]).collect();
            let (ta, tb) = ([1, m as isize], [1, k as isize]);
            let a_view = Strided { data: &at, shape: &[m, k], strides: &ta, offset: 0 };
            let b_view = Strided { data: &bt, shape: &[k, n], strides: &tb, offset: 0 };
            assert_eq!(matmul(a_view, b_view), want, "{m} {k} {n}");
            if k > 0 {
                let flipped: Vec<T> = a.iter().rev().copied().collect();
                let (strides, offset) = ([-(k as isize), -1], m * k - 1);
                let a_view = Strided { data: &flipped, shape: &[m, k], strides: &strides, offset };
                assert_eq!(matmul(a_view, b_view), want, "{m} {k} {n}");
            }
        }
    }

    #[test]
    fn agrees_with_the_definition() {
        check(|i| (i as i64).wrapping_mul(0x1E37_79B9_7F4A_7C15));
        check(|i| (i as i32).wrapping_mul(0x9E37_79B1_u32 as i32));
        check(|i| i as u8);
        check(|i| i as i8);
        check(|i| (i * 251) as i16);
        // Small whole numbers, so that sums are exact in every order.
        check(|i| (i % 11) as f64 - 5.0);
        check(|i| (i % 7) as f32 - 3.0);
        check(|i| Complex::new((i % 7) as f64 - 3.0, (i % 5) as f64));
        check(|i| Complex::new((i % 5) as f32, (i % 3) as f32 - 1.0));
    }

    #[test]
    fn broadcast_batches() {
        let a: Vec<i64> = (0..3 * 40 * 8).collect();
        let b: Vec<i64> = (0..8 * 30).map(|i| i % 13).collect();
        let a_view = Strided { data: &a, shape: &[3, 40, 8], strides: &[320, 8, 1], offset: 0 };
        let b_view = Strided { data: &b, shape: &[3, 8, 30], strides: &[0, 30, 1], offset: 0 };
        assert_eq!(matmul(a_view, b_view), slow(&a, &b, 120, 8, 30));
        // The batch of `a` turned around: it is no longer one matrix.
        let a_view = Strided { strides: &[-320, 8, 1], offset: 640, ..a_view };
        let want: Vec<i64> =
            (0..3).rev().flat_map(|i| slow(&a[i * 320..], &b, 40, 8, 30)).collect();
        assert_eq!(matmul(a_view, b_view), want);
        let one = Strided { data: &[2i64], shape: &[3, 1, 1], strides: &[0, 0, 0], offset: 0 };
        assert_eq!(matmul(one, one), [4, 4, 4]);
    }

    #[test]
    fn nan_and_infinity_reach_the_sums() {
        let a = [f64::INFINITY, 1.0];
        let b = [0.0, 1.0];
        let a = Strided { data: &a, shape: &[1, 2], strides: &[2, 1], offset: 0 };
        let b = Strided { data: &b, shape: &[2, 1], strides: &[1, 1], offset: 0 };
        assert!(matmul(a, b)[0].is_nan());
    }
}
