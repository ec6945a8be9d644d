//! Products with one matrix that many others meet: it is packed once, and what follows runs at the
//! speed of the arithmetic units. Recurrent layers and attention are made of such products.
//!
//! Every element of a product is one chain of fused multiplications in the order of the inner
//! dimension, whatever the processor and however rows are grouped.

use std::borrow::Cow;
use std::ops::Range;

use num_traits::{Float, One, Zero};

use crate::simd::{self, Level};
use crate::{Element, par};

/// Bytes of a strip: the columns that one vector register of the widest kind holds.
const STRIP_BYTES: usize = 64;
/// Strips of a panel: with [`ROWS`] rows, so many sums stay in registers.
const STRIPS: usize = 4;
/// Rows of a product that are formed together.
const ROWS: usize = 4;

/// So many multiplications are worth another thread.
pub(crate) const WORK: usize = 1 << 20;

/// Elements of packed products: `f32` and `f64`.
pub trait Factor: Element + Float {
    /// Columns of a strip.
    #[doc(hidden)]
    const STRIP: usize = STRIP_BYTES / size_of::<Self>();

    #[doc(hidden)]
    fn add_tiles(product: Product<'_, Self>);

    #[doc(hidden)]
    fn add_dots(dots: Dots<'_, Self>);
}

/// A matrix whose element `(row, column)` is `data[row * steps.0 + column * steps.1]`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) steps: (usize, usize),
}

impl<'a, T: Element> Matrix<'a, T> {
    /// Rows that lie `step` apart.
    pub(crate) fn rows(data: &'a [T], step: usize) -> Self {
        Matrix { data, steps: (step, 1) }
    }

    /// The same matrix, its rows read as columns.
    pub(crate) fn transposed(self) -> Self {
        Matrix { data: self.data, steps: (self.steps.1, self.steps.0) }
    }

    /// The matrix from a row on.
    pub(crate) fn below(self, row: usize) -> Self {
        Matrix { data: self.data.get(row * self.steps.0..).unwrap_or_default(), ..self }
    }

    /// Whether an element of each row up to `rows` and each column up to `columns` exists.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        let last = |count: usize, step: usize| (count - 1) * step;
        rows == 0
            || columns == 0
            || last(rows, self.steps.0) + last(columns, self.steps.1) < self.data.len()
    }
}

/// A buffer whose rows several threads write.
pub(crate) struct Shared<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: threads only write through it, to rows that `rows` requires to be theirs.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn new(buffer: &mut [T]) -> Self {
        Shared { start: buffer.as_mut_ptr(), len: buffer.len() }
    }

    /// Some rows of `width` elements.
    ///
    /// # Safety
    /// The rows must belong to this thread alone, and no other slice of them may live.
    #[allow(clippy::mut_from_ref, reason = "the caller vouches that nobody else has these rows")]
    pub(crate) unsafe fn rows(&self, rows: Range<usize>, width: usize) -> &mut [T] {
        assert!(rows.end * width <= self.len, "rows within the buffer");
        // SAFETY: within the buffer, and the caller's alone.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.add(rows.start * width), rows.len() * width)
        }
    }
}

/// The right-hand side of products: `depth` rows, cut into panels of neighbouring columns.
pub(crate) struct Panels<'a, T: Clone> {
    depth: usize,
    columns: usize,
    /// Whole panels one after the other, or the matrix as it lies.
    whole: Cow<'a, [T]>,
    /// From a row of a panel to the next.
    step: usize,
    /// What remains of the columns, packed and filled up to strips.
    rest: Vec<T>,
}

impl<'a, T: Factor> Panels<'a, T> {
    fn panel() -> usize {
        STRIPS * T::STRIP
    }

    /// Packs a matrix.
    pub(crate) fn pack(b: Matrix<'_, T>, depth: usize, columns: usize) -> Panels<'static, T> {
        assert!(b.holds(depth, columns), "a matrix of {depth} x {columns} elements");
        let panel = Self::panel();
        let whole = columns / panel;
        let mut packed = vec![T::zero(); whole * depth * panel];
        let shared = Shared::new(&mut packed);
        par::for_ranges(whole, 4 * par::GRAIN / (depth * panel).max(1), |range| {
            for at in range {
                // SAFETY: threads have disjoint ranges of panels.
                let out = unsafe { shared.rows(at..at + 1, depth * panel) };
                pack_columns(b, at * panel..(at + 1) * panel, panel, out);
            }
        });
        let rest = pack_rest(b, depth, whole * panel..columns);
        Panels { depth, columns, whole: Cow::Owned(packed), step: panel, rest }
    }

    /// Takes a matrix of contiguous rows, `step` apart, as it lies: for so few rows on the left that
    /// packing would cost more than it gives.
    pub(crate) fn borrow(b: &'a [T], step: usize, depth: usize, columns: usize) -> Self {
        let matrix = Matrix::rows(b, step);
        assert!(matrix.holds(depth, columns), "a matrix of {depth} x {columns} elements");
        let whole = columns - columns % Self::panel();
        let rest = pack_rest(matrix, depth, whole..columns);
        Panels { depth, columns, whole: Cow::Borrowed(b), step, rest }
    }

    /// Where the panel of a column starts, and the step between its rows.
    fn at(&self, column: usize) -> (&[T], usize) {
        let whole = self.columns - self.columns % Self::panel();
        if column >= whole {
            return (&self.rest, (self.columns - whole).next_multiple_of(T::STRIP));
        }
        match &self.whole {
            Cow::Owned(packed) => (&packed[column * self.depth..], self.step),
            Cow::Borrowed(matrix) => (&matrix[column.min(matrix.len())..], self.step),
        }
    }
}

/// Copies some columns to the rows of `out`, which are `width` wide.
fn pack_columns<T: Element>(b: Matrix<'_, T>, columns: Range<usize>, width: usize, out: &mut [T]) {
    /// Rows that are filled together where columns are what lies in one run.
    const RUN: usize = 16;
    let (down, along) = b.steps;
    for (part, out) in out.chunks_mut(RUN * width).enumerate() {
        let (row, rows) = (part * RUN, out.len() / width);
        for (slot, column) in columns.clone().enumerate() {
            let start = row * down + column * along;
            for i in 0..rows {
                out[i * width + slot] = b.data[start + i * down];
            }
        }
    }
}

/// The last columns, filled up with zeros.
fn pack_rest<T: Factor>(b: Matrix<'_, T>, depth: usize, columns: Range<usize>) -> Vec<T> {
    let width = columns.len().next_multiple_of(T::STRIP);
    let mut rest = vec![T::zero(); depth * width];
    if width > 0 {
        pack_columns(b, columns, width, &mut rest);
    }
    rest
}

/// The arguments of [`add_product`].
#[doc(hidden)]
pub struct Product<'a, T: Clone> {
    a: Matrix<'a, T>,
    rows: usize,
    b: &'a Panels<'a, T>,
    out: &'a mut [T],
    out_step: usize,
}

/// Adds `a b` to the `rows` rows of `out`, which lie `out_step` apart.
pub(crate) fn add_product<T: Factor>(
    a: Matrix<'_, T>,
    rows: usize,
    b: &Panels<'_, T>,
    out: &mut [T],
    out_step: usize,
) {
    if rows == 0 || b.columns == 0 || b.depth == 0 {
        return;
    }
    assert!(a.holds(rows, b.depth), "a left-hand side of {rows} x {}", b.depth);
    assert!(out_step >= b.columns && (rows - 1) * out_step + b.columns <= out.len(), "room");
    T::add_tiles(Product { a, rows, b, out, out_step });
}

/// The arguments of [`add_dots`].
#[doc(hidden)]
pub struct Dots<'a, T> {
    row: &'a [T],
    b: &'a [T],
    step: usize,
    out: &'a mut [T],
}

/// Adds to each element of `out` the sum of the products of `row` and a row of `b`, whose rows lie
/// `step` apart: a product with few rows on the left, and with a matrix that lies across.
pub(crate) fn add_dots<T: Factor>(row: &[T], b: &[T], step: usize, out: &mut [T]) {
    if !row.is_empty() && !out.is_empty() {
        assert!((out.len() - 1) * step + row.len() <= b.len(), "a row for each result");
        T::add_dots(Dots { row, b, step, out });
    }
}

/// Numbers side by side, as many as a register holds.
trait Lanes: Copy {
    type Number: Factor;
    /// How many.
    const COUNT: usize;

    /// # Safety
    /// `COUNT` numbers must lie there; this holds for `store` too. The processor must have the
    /// instructions.
    unsafe fn load(from: *const Self::Number) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn store(self, to: *mut Self::Number);
    /// # Safety
    /// The processor must have the instructions.
    unsafe fn splat(number: Self::Number) -> Self;
    /// `self + a * b`, rounded once.
    ///
    /// # Safety
    /// The processor must have the instructions.
    unsafe fn add_product(self, a: Self, b: Self) -> Self;
}

/// Numbers side by side for every processor; the compiler uses what vectors there are.
#[derive(Clone, Copy)]
struct Plain<T, const N: usize>([T; N]);

impl<T: Factor, const N: usize> Lanes for Plain<T, N> {
    type Number = T;
    const COUNT: usize = N;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        Plain(unsafe { from.cast::<[T; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        unsafe { to.cast::<[T; N]>().write_unaligned(self.0) };
    }
    #[inline(always)]
    unsafe fn splat(number: T) -> Self {
        Plain([number; N])
    }
    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        Plain(std::array::from_fn(|lane| a.0[lane].mul_add(b.0[lane], self.0[lane])))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Lanes;

    macro_rules! registers {
        ($($register:ty, $number:ty, $load:ident $store:ident $splat:ident $fused:ident;)*) => {$(
            impl Lanes for $register {
                type Number = $number;
                const COUNT: usize = size_of::<$register>() / size_of::<$number>();

                #[inline(always)]
                unsafe fn load(from: *const $number) -> Self {
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $number) {
                    unsafe { $store(to, self) };
                }
                #[inline(always)]
                unsafe fn splat(number: $number) -> Self {
                    unsafe { $splat(number) }
                }
                #[inline(always)]
                unsafe fn add_product(self, a: Self, b: Self) -> Self {
                    unsafe { $fused(a, b, self) }
                }
            }
        )*};
    }
    registers! {
        __m256, f32, _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_fmadd_ps;
        __m256d, f64, _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_fmadd_pd;
        __m512, f32, _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_fmadd_ps;
        __m512d, f64, _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_fmadd_pd;
    }
}

/// Adds the product of `R` rows and `C` registers' worth of columns, all sums kept in registers.
///
/// # Safety
/// The pointers must reach `R` rows of `depth` numbers, `depth` rows of the columns, and `R` rows of
/// the columns; the processor must have the instructions.
#[inline(always)]
unsafe fn tile<V: Lanes, const R: usize, const C: usize>(
    (mut a, a_steps): (*const V::Number, (usize, usize)),
    (mut b, b_step): (*const V::Number, usize),
    depth: usize,
    (out, out_step): (*mut V::Number, usize),
) {
    // SAFETY: as the caller promises.
    unsafe {
        let mut sums = [[V::splat(V::Number::zero()); C]; R];
        for (i, sums) in sums.iter_mut().enumerate() {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(out.add(i * out_step + j * V::COUNT));
            }
        }
        for _ in 0..depth {
            let columns: [V; C] = std::array::from_fn(|j| V::load(b.add(j * V::COUNT)));
            for (i, sums) in sums.iter_mut().enumerate() {
                let factor = V::splat(*a.add(i * a_steps.0));
                for (sum, column) in sums.iter_mut().zip(columns) {
                    *sum = sum.add_product(factor, column);
                }
            }
            a = a.wrapping_add(a_steps.1);
            b = b.wrapping_add(b_step);
        }
        for (i, sums) in sums.iter().enumerate() {
            for (j, sum) in sums.iter().enumerate() {
                sum.store(out.add(i * out_step + j * V::COUNT));
            }
        }
    }
}

/// [`tile`] over any number of rows.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn rows<V: Lanes, const C: usize>(
    (a, a_steps): (*const V::Number, (usize, usize)),
    count: usize,
    b: (*const V::Number, usize),
    depth: usize,
    (out, out_step): (*mut V::Number, usize),
) {
    let mut row = 0;
    while row < count {
        let left = (a.wrapping_add(row * a_steps.0), a_steps);
        let target = (out.wrapping_add(row * out_step), out_step);
        // SAFETY: as the caller promises, for these rows of the whole.
        unsafe {
            row += match count - row {
                1 => {
                    tile::<V, 1, C>(left, b, depth, target);
                    1
                }
                2 | 3 => {
                    tile::<V, 2, C>(left, b, depth, target);
                    2
                }
                _ => {
                    tile::<V, ROWS, C>(left, b, depth, target);
                    ROWS
                }
            };
        }
    }
}

/// The whole product. `C` registers make a strip, `TWO` two of them, `ALL` a panel; where those are
/// no more than `C`, the processor has too few registers to form several strips at once.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn add_tiles<V: Lanes, const C: usize, const TWO: usize, const ALL: usize>(
    product: Product<'_, V::Number>,
) {
    let Product { a, rows: count, b, out, out_step } = product;
    let strip = V::Number::STRIP;
    let left = (a.data.as_ptr(), a.steps);
    let mut column = 0;
    while column < b.columns {
        let (panel, step) = b.at(column);
        let end = (column + Panels::<V::Number>::panel()).min(b.columns);
        let start = column;
        while column < end {
            let right = (panel[column - start..].as_ptr(), step);
            // SAFETY: `add_product` has checked what `a` and `out` reach, panels are filled up to
            // whole strips, and columns past the end go through a buffer.
            unsafe {
                let target = (out.as_mut_ptr().add(column), out_step);
                if end - column >= STRIPS * strip && ALL > C {
                    rows::<V, ALL>(left, count, right, b.depth, target);
                    column += STRIPS * strip;
                } else if end - column >= 2 * strip && TWO > C {
                    rows::<V, TWO>(left, count, right, b.depth, target);
                    column += 2 * strip;
                } else if end - column >= strip {
                    rows::<V, C>(left, count, right, b.depth, target);
                    column += strip;
                } else {
                    let width = end - column;
                    let mut buffer = [V::Number::zero(); STRIP_BYTES / 4 * ROWS];
                    let mut row = 0;
                    while row < count {
                        let some = (count - row).min(ROWS);
                        for (i, slots) in buffer.chunks_exact_mut(strip).take(some).enumerate() {
                            let from = &out[(row + i) * out_step + column..][..width];
                            slots[..width].copy_from_slice(from);
                        }
                        let left = (left.0.add(row * left.1.0), left.1);
                        let target = (buffer.as_mut_ptr(), strip);
                        rows::<V, C>(left, some, right, b.depth, target);
                        for (i, slots) in buffer.chunks_exact(strip).take(some).enumerate() {
                            let to = &mut out[(row + i) * out_step + column..][..width];
                            to.copy_from_slice(&slots[..width]);
                        }
                        row += some;
                    }
                    column = end;
                }
            }
        }
    }
}

/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn dots<V: Lanes, const C: usize>(task: Dots<'_, V::Number>) {
    let Dots { row, b, step, out } = task;
    for (at, out) in out.iter_mut().enumerate() {
        // SAFETY: the processor has the instructions.
        *out = *out + unsafe { dot::<V, C>(row, &b[at * step..][..row.len()]) };
    }
}

/// The sum of products, in `C` registers that do not wait for each other. Each element has its lane
/// among all of theirs, and lanes are summed in halves, so that the result does not depend on how
/// wide registers are.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn dot<V: Lanes, const C: usize>(x: &[V::Number], y: &[V::Number]) -> V::Number {
    let (count, step) = (V::COUNT, C * V::COUNT);
    let whole = x.len() - x.len() % step;
    let filled = (x.len() - whole) / count;
    let tail = whole + filled * count;
    // SAFETY: all places lie within both slices, which are equally long; `lanes` holds `C` registers.
    unsafe {
        let product = |sum: V, at: usize| {
            sum.add_product(V::load(x.as_ptr().add(at)), V::load(y.as_ptr().add(at)))
        };
        let mut sums = [V::splat(V::Number::zero()); C];
        for at in (0..whole).step_by(step) {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = product(*sum, at + j * count);
            }
        }
        for (j, sum) in sums.iter_mut().enumerate().take(filled) {
            *sum = product(*sum, whole + j * count);
        }
        let mut lanes = [V::Number::zero(); STRIP_BYTES * STRIPS / 4];
        if tail < x.len() {
            for (j, sum) in sums.iter().enumerate() {
                sum.store(lanes.as_mut_ptr().add(j * count));
            }
            let rest = x[tail..].iter().zip(&y[tail..]);
            for (lane, (&x, &y)) in lanes[tail - whole..].iter_mut().zip(rest) {
                *lane = x.mul_add(y, *lane);
            }
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(lanes.as_ptr().add(j * count));
            }
        }
        let one = V::splat(V::Number::one());
        let mut width = C;
        while width > 1 {
            width /= 2;
            for j in 0..width {
                // Exact but for the sum's own rounding.
                sums[j] = sums[j].add_product(sums[j + width], one);
            }
        }
        sums[0].store(lanes.as_mut_ptr());
        let mut width = count;
        while width > 1 {
            width /= 2;
            for lane in 0..width {
                lanes[lane] = lanes[lane] + lanes[lane + width];
            }
        }
        lanes[0]
    }
}

macro_rules! factors {
    ($($number:ident, $count:literal, $half:ident, $full:ident;)*) => {$(
        impl Factor for $number {
            fn add_tiles(product: Product<'_, $number>) {
                #[cfg(target_arch = "x86_64")]
                {
                    use std::arch::x86_64::*;

                    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                    fn full(product: Product<'_, $number>) {
                        // SAFETY: this function has the instructions.
                        unsafe { add_tiles::<$full, 1, 2, STRIPS>(product) }
                    }
                    #[target_feature(enable = "avx2,fma")]
                    fn half(product: Product<'_, $number>) {
                        // SAFETY: this function has the instructions.
                        unsafe { add_tiles::<$half, 2, 2, 2>(product) }
                    }
                    match simd::level() {
                        // SAFETY: the processor has been asked.
                        Level::Avx512 => return unsafe { full(product) },
                        // SAFETY: as above.
                        Level::Avx2 => return unsafe { half(product) },
                        Level::Baseline => {}
                    }
                }
                // SAFETY: every processor has what plain arrays need.
                unsafe { add_tiles::<Plain<$number, $count>, 1, 1, 1>(product) }
            }

            fn add_dots(task: Dots<'_, $number>) {
                // The sums are formed in as many lanes at every level, so they are the same.
                #[cfg(target_arch = "x86_64")]
                {
                    use std::arch::x86_64::*;

                    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                    fn full(task: Dots<'_, $number>) {
                        // SAFETY: this function has the instructions.
                        unsafe { dots::<$full, 4>(task) }
                    }
                    #[target_feature(enable = "avx2,fma")]
                    fn half(task: Dots<'_, $number>) {
                        // SAFETY: this function has the instructions.
                        unsafe { dots::<$half, 8>(task) }
                    }
                    match simd::level() {
                        // SAFETY: the processor has been asked.
                        Level::Avx512 => return unsafe { full(task) },
                        // SAFETY: as above.
                        Level::Avx2 => return unsafe { half(task) },
                        Level::Baseline => {}
                    }
                }
                // SAFETY: every processor has what plain arrays need.
                unsafe { dots::<Plain<$number, $count>, 4>(task) }
            }
        }
    )*};
}
factors! {
    f32, 16, __m256, __m512;
    f64, 8, __m256d, __m512d;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<T: Factor>(count: usize) -> Vec<T> {
        (0..count).map(|i| T::from((i * 7919 % 23) as f64 - 11.0).unwrap()).collect()
    }

    fn check<T: Factor + std::fmt::Debug>() {
        let sizes = [(1, 1, 1), (3, 5, 64), (7, 16, 70), (9, 33, 200), (4, 0, 8), (6, 3, 129)];
        for (m, k, n) in sizes {
            let (a, b) = (numbers::<T>(m * k), numbers::<T>(k * n));
            let expected = |i: usize, j: usize| {
                (0..k).fold(T::one(), |sum, p| a[i * k + p].mul_add(b[p * n + j], sum))
            };
            let step = n + 3;
            let run = |a: Matrix<'_, T>, b: &Panels<'_, T>| {
                let mut out = vec![T::one(); m * step];
                add_product(a, m, b, &mut out, step);
                for i in 0..m {
                    assert!((0..n).all(|j| out[i * step + j] == expected(i, j)), "{m} {k} {n}");
                    assert!(out[i * step + n..][..3].iter().all(|&gap| gap == T::one()));
                }
            };
            run(Matrix::rows(&a, k), &Panels::pack(Matrix::rows(&b, n), k, n));
            run(Matrix::rows(&a, k), &Panels::borrow(&b, n, k, n));
            let turned_a: Vec<T> = (0..m * k).map(|i| a[i % m * k + i / m]).collect();
            let turned_b: Vec<T> = (0..k * n).map(|i| b[i % k * n + i / k]).collect();
            let left = Matrix::rows(&turned_a, m).transposed();
            run(left, &Panels::pack(Matrix::rows(&turned_b, k).transposed(), k, n));
            for i in 0..m {
                let mut out = vec![T::one(); n];
                add_dots(&a[i * k..][..k], &turned_b, k, &mut out);
                assert!((0..n).all(|j| out[j] == expected(i, j)), "{m} {k} {n}");
            }
        }
    }

    #[test]
    fn products_are_those_of_the_definition() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    #[should_panic(expected = "a left-hand side")]
    fn a_short_left_hand_side_is_refused() {
        let b = Panels::pack(Matrix::rows(&[1.0f32; 6], 2), 3, 2);
        add_product(Matrix::rows(&[1.0f32; 5], 3), 2, &b, &mut [0.0; 4], 2);
    }
}
