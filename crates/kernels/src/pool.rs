//! Pooling: the largest element of each window, or the mean.

use crate::simd::{self, Task};
use crate::window::{Rows, Run, Sight, Windows, for_rows};
use crate::{Element, par};

/// Elements that can be compared and averaged.
pub trait PoolElement: Element + PartialOrd {
    /// The smallest value, below everything but itself.
    const LOWEST: Self;
    /// Nothing.
    const ZERO: Self;
    /// `self + other`; integers wrap around.
    fn plus(self, other: Self) -> Self;
    /// `self / count`, towards zero for integers.
    fn shared(self, count: i64) -> Self;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl PoolElement for $t {
            const LOWEST: $t = <$t>::NEG_INFINITY;
            const ZERO: $t = 0.0;

            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self + other
            }

            #[inline(always)]
            fn shared(self, count: i64) -> $t {
                self / count as $t
            }
        }
    )*};
}
floats!(f32, f64);

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl PoolElement for $t {
            const LOWEST: $t = <$t>::MIN;
            const ZERO: $t = 0;

            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn shared(self, count: i64) -> $t {
                (self as i64).wrapping_div(count) as $t
            }
        }
    )*};
}
integers!(u8, i8, i16, i32, i64);

/// Windows of any place and size: for each dimension, the first element and the number of elements
/// of each. There are three dimensions; those that are missing have a single window of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spans {
    size: [usize; 3],
    dims: [Vec<(usize, usize)>; 3],
}

impl Spans {
    /// One to three dimensions: the size of each, and its windows.
    pub fn new(dims: Vec<(usize, Vec<(usize, usize)>)>) -> Self {
        let mut spans = Spans { size: [1; 3], dims: std::array::from_fn(|_| vec![(0, 1)]) };
        let missing = 3 - dims.len();
        for (at, (size, windows)) in dims.into_iter().enumerate() {
            spans.size[missing + at] = size;
            spans.dims[missing + at] = windows;
        }
        spans
    }

    /// The windows that divide `size` elements into `count` parts as equal as possible.
    pub fn parts(size: usize, count: usize) -> Vec<(usize, usize)> {
        (0..count)
            .map(|at| {
                let start = at * size / count;
                (start, ((at + 1) * size).div_ceil(count) - start)
            })
            .collect()
    }

    fn area(&self) -> usize {
        self.size.iter().product()
    }

    fn windows(&self) -> usize {
        self.dims.iter().map(Vec::len).product()
    }

    /// The windows, in row-major order.
    fn cells(&self) -> impl Iterator<Item = Cell> {
        let [depths, rows, columns] = &self.dims;
        depths.iter().flat_map(move |&depth| {
            rows.iter()
                .flat_map(move |&row| columns.iter().map(move |&column| Cell([depth, row, column])))
        })
    }

    /// The rows of a window: the first place in the plane and the length of each.
    fn rows(&self, cell: Cell) -> impl Iterator<Item = (usize, usize)> {
        let [_, height, width] = self.size;
        let [(depth, depths), (row, rows), (column, columns)] = cell.0;
        (depth..depth + depths).flat_map(move |z| {
            (row..row + rows).map(move |y| ((z * height + y) * width + column, columns))
        })
    }
}

/// One window: the first element and the number of elements in each dimension.
#[derive(Clone, Copy)]
struct Cell([(usize, usize); 3]);

impl Cell {
    fn len(self) -> usize {
        self.0.iter().map(|(_, len)| len).product()
    }
}

/// What is pooled.
pub enum Places<'a> {
    /// Windows of one size at equal distances.
    Sliding(&'a Windows),
    /// The same windows on every plane.
    Spans(&'a Spans),
    /// Windows of their own on each plane.
    EachPlane(&'a [Spans]),
}

impl Places<'_> {
    fn area(&self) -> usize {
        match self {
            Places::Sliding(windows) => windows.area(),
            Places::Spans(spans) => spans.area(),
            Places::EachPlane(spans) => spans.first().map_or(0, Spans::area),
        }
    }

    fn windows(&self) -> usize {
        match self {
            Places::Sliding(windows) => windows.windows(),
            Places::Spans(spans) => spans.windows(),
            Places::EachPlane(spans) => spans.first().map_or(0, Spans::windows),
        }
    }

    fn spans(&self, plane: usize) -> &Spans {
        match self {
            Places::Sliding(_) => unreachable!("they are visited tap by tap"),
            Places::Spans(spans) => spans,
            Places::EachPlane(spans) => &spans[plane],
        }
    }
}

/// The place of an element in its plane, in as many bits as planes need: elements and places are
/// compared side by side, which is faster where both are equally wide.
trait Place: Element {
    fn of(place: usize) -> Self;
    fn to_i64(self) -> i64;
}

macro_rules! places {
    ($($t:ty),*) => {$(
        impl Place for $t {
            #[inline(always)]
            fn of(place: usize) -> Self {
                place as $t
            }

            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
        }
    )*};
}
places!(u32, u64);

#[inline(always)]
fn is_nan<T: PartialEq>(value: T) -> bool {
    #[allow(clippy::eq_op, reason = "NaN alone differs from itself; T need not be a float")]
    {
        value != value
    }
}

/// Comparisons of what a tap sees with the best of each window so far.
struct Compare<'a, T, P> {
    x: &'a [T],
    runs: &'a [Run],
    step: usize,
    best: &'a mut [T],
    places: &'a mut [P],
}

impl<T: PoolElement, P: Place> Task for Compare<'_, T, P> {
    #[inline(always)]
    fn run(self) {
        // Loads at a constant distance vectorise.
        match self.step {
            1 => self.by_step(1),
            2 => self.by_step(2),
            3 => self.by_step(3),
            step => self.by_step(step),
        }
    }
}

impl<T: PoolElement, P: Place> Compare<'_, T, P> {
    #[inline(always)]
    fn by_step(self, step: usize) {
        let mut line = [T::ZERO; LINE];
        for run in self.runs {
            let mut done = 0;
            while done < run.len {
                let len = LINE.min(run.len - done);
                let (from, to) = (run.from + done * step, run.to + done);
                let x = &self.x[from..][..(len - 1) * step + 1];
                for (k, slot) in line[..len].iter_mut().enumerate() {
                    *slot = x[k * step];
                }
                let (best, places) = (&mut self.best[to..][..len], &mut self.places[to..][..len]);
                take_better(&line[..len], best, places, (from, step));
                done += len;
            }
        }
    }
}

/// Elements that are compared at a time.
const LINE: usize = 64;

/// Takes elements that are larger. Its arguments are known not to overlap, so that it vectorises.
#[inline(always)]
fn take_better<T: PoolElement, P: Place>(
    line: &[T],
    best: &mut [T],
    places: &mut [P],
    (first, step): (usize, usize),
) {
    for (k, ((&value, best), place)) in line.iter().zip(best).zip(places).enumerate() {
        // Not a condition that ends early: a jump for each element would cost more.
        let better = (value > *best) | is_nan(value);
        *best = if better { value } else { *best };
        *place = if better { P::of(first + k * step) } else { *place };
    }
}

/// The largest element of each window on each plane of `x` `(planes, *size)`, and its place in the
/// plane. The first of equal ones counts; a NaN is larger than everything.
pub fn max_pool<T: PoolElement>(x: &[T], planes: usize, places: &Places<'_>) -> (Vec<T>, Vec<i64>) {
    match places {
        Places::Sliding(windows) if windows.area() < u32::MAX as usize => {
            max_sliding::<T, u32>(x, planes, windows)
        }
        Places::Sliding(windows) => max_sliding::<T, u64>(x, planes, windows),
        _ => max_spans(x, planes, places),
    }
}

fn max_sliding<T: PoolElement, P: Place>(
    x: &[T],
    planes: usize,
    windows: &Windows,
) -> (Vec<T>, Vec<i64>) {
    let (area, count) = (windows.area(), windows.windows());
    let mut best = vec![T::LOWEST; planes * count];
    let mut found = vec![0; planes * count];
    let (best_rows, found_rows) = (Rows::of(&mut best), Rows::of(&mut found));
    let (sight, step) = (Sight::of(windows), windows.last_stride());
    // Where nothing is larger than the lowest value, the first element counts.
    let mut first = vec![P::of(0); count];
    for tap in (0..sight.taps()).rev() {
        for run in (0..sight.parts).flat_map(|part| sight.runs(part, tap)) {
            for (k, place) in first[run.to..][..run.len].iter_mut().enumerate() {
                *place = P::of(run.from + k * step);
            }
        }
    }
    par::for_ranges(planes, par::GRAIN.div_ceil(sight.taps() * count.max(1)), |range| {
        let mut at = first.clone();
        for plane in range {
            let x = &x[plane * area..][..area];
            // SAFETY: every plane belongs to one range, and every range to one thread.
            let (best, found) = unsafe {
                (best_rows.row(plane * count, count), found_rows.row(plane * count, count))
            };
            at.copy_from_slice(&first);
            for part in 0..sight.parts {
                for tap in 0..sight.taps() {
                    let runs = sight.runs(part, tap);
                    simd::run(Compare { x, runs, step, best: &mut *best, places: &mut at });
                }
            }
            for (slot, &at) in found.iter_mut().zip(&at) {
                *slot = at.to_i64();
            }
        }
    });
    (best, found)
}

fn max_spans<T: PoolElement>(x: &[T], planes: usize, places: &Places<'_>) -> (Vec<T>, Vec<i64>) {
    let (area, count) = (places.area(), places.windows());
    let mut best = vec![T::LOWEST; planes * count];
    let mut found = vec![0; planes * count];
    let (best_rows, found_rows) = (Rows::of(&mut best), Rows::of(&mut found));
    par::for_ranges(planes, par::GRAIN.div_ceil(area.max(1)), |range| {
        for plane in range {
            let x = &x[plane * area..][..area];
            let spans = places.spans(plane);
            // SAFETY: every plane belongs to one range, and every range to one thread.
            let (best, found) = unsafe {
                (best_rows.row(plane * count, count), found_rows.row(plane * count, count))
            };
            for ((cell, best), found) in spans.cells().zip(best).zip(found) {
                let mut top = None;
                for (start, len) in spans.rows(cell) {
                    for (k, &value) in x[start..start + len].iter().enumerate() {
                        if is_nan(value) || top.is_none_or(|(top, _)| value > top) {
                            top = Some((value, start + k));
                        }
                    }
                }
                if let Some((value, place)) = top {
                    (*best, *found) = (value, place as i64);
                }
            }
        }
    });
    (best, found)
}

/// Sums of what taps see.
struct Add<'a, T> {
    runs: &'a [Run],
    step: usize,
    grid: &'a [T],
    windows: &'a mut [T],
}

impl<T: PoolElement> Task for Add<'_, T> {
    #[inline(always)]
    fn run(self) {
        match self.step {
            1 => self.by_step(1),
            2 => self.by_step(2),
            3 => self.by_step(3),
            step => self.by_step(step),
        }
    }
}

impl<T: PoolElement> Add<'_, T> {
    #[inline(always)]
    fn by_step(self, step: usize) {
        for run in self.runs {
            let sums = &mut self.windows[run.to..][..run.len];
            let x = &self.grid[run.from..][..(run.len - 1) * step + 1];
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = sum.plus(x[k * step]);
            }
        }
    }
}

/// The sum of a row, in a few sums side by side that lose fewer digits than one.
fn sum<T: PoolElement>(row: &[T]) -> T {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut sums = [T::ZERO; 8];
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum = sum.plus(value);
        }
    }
    sums.iter().chain(rest).fold(T::ZERO, |sum, &value| sum.plus(value))
}

/// The sum over each window on each plane of `x` `(planes, *size)`, divided by its divisor.
pub fn average_pool<T: PoolElement>(
    x: &[T],
    planes: usize,
    places: &Places<'_>,
    divisors: &[i64],
) -> Vec<T> {
    let (area, count) = (places.area(), places.windows());
    let sight = match places {
        Places::Sliding(windows) => Some((Sight::of(windows), windows.last_stride())),
        _ => None,
    };
    let mut out = vec![T::ZERO; planes * count];
    let cost = sight.as_ref().map_or(area, |(sight, _)| sight.taps() * count);
    for_rows(&mut out, count, cost, |plane, out| {
        let x = &x[plane * area..][..area];
        match &sight {
            Some((sight, step)) => {
                for part in 0..sight.parts {
                    for tap in 0..sight.taps() {
                        let runs = sight.runs(part, tap);
                        simd::run(Add { runs, step: *step, grid: x, windows: &mut *out });
                    }
                }
            }
            None => {
                let spans = places.spans(plane);
                for (cell, slot) in spans.cells().zip(out.iter_mut()) {
                    for (start, len) in spans.rows(cell) {
                        *slot = slot.plus(sum(&x[start..start + len]));
                    }
                }
            }
        }
        for (slot, &divisor) in out.iter_mut().zip(divisors) {
            *slot = slot.shared(divisor);
        }
    });
    out
}

/// The gradient of [`average_pool`] from that of its result, `g`: each window's share, added to all
/// of its elements.
pub fn average_pool_backward<T: PoolElement>(
    g: &[T],
    planes: usize,
    places: &Places<'_>,
    divisors: &[i64],
) -> Vec<T> {
    let (area, count) = (places.area(), places.windows());
    let sight = match places {
        Places::Sliding(windows) => Some((Sight::of(windows), windows.last_stride())),
        _ => None,
    };
    let mut out = vec![T::ZERO; planes * area];
    let cost = sight.as_ref().map_or(area, |(sight, _)| sight.taps() * count);
    for_rows(&mut out, area, cost, |plane, out| {
        let g = &g[plane * count..][..count];
        match &sight {
            Some((sight, step)) => {
                let shares: Vec<T> = g.iter().zip(divisors).map(|(g, &n)| g.shared(n)).collect();
                for part in 0..sight.parts {
                    for run in (0..sight.taps()).flat_map(|tap| sight.runs(part, tap)) {
                        let shares = &shares[run.to..][..run.len];
                        let slots = out[run.from..].iter_mut().step_by(*step);
                        for (slot, &share) in slots.zip(shares) {
                            *slot = slot.plus(share);
                        }
                    }
                }
            }
            None => {
                let spans = places.spans(plane);
                for ((cell, g), &divisor) in spans.cells().zip(g).zip(divisors) {
                    let share = g.shared(divisor);
                    for (start, len) in spans.rows(cell) {
                        for slot in &mut out[start..start + len] {
                            *slot = slot.plus(share);
                        }
                    }
                }
            }
        }
    });
    out
}

/// How many elements each window has, in row-major order.
pub fn window_sizes(spans: &Spans) -> Vec<i64> {
    spans.cells().map(|cell| cell.len() as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dims;

    fn windows(size: &[usize], kernel: usize, stride: usize, padding: usize) -> Windows {
        let dims = |value: usize| Dims::from_elem(value, size.len());
        Windows {
            size: Dims::from_slice(size),
            kernel: dims(kernel),
            stride: dims(stride),
            dilation: dims(1),
            padding: dims(padding),
            count: size.iter().map(|n| (n + 2 * padding - kernel) / stride + 1).collect(),
        }
    }

    #[test]
    fn the_first_of_the_largest_and_nan_over_all() {
        let x = [1.0, 3.0, 3.0, f64::NAN, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
        let (best, at) = max_pool(&x, 1, &Places::Sliding(&windows(&[7], 2, 1, 1)));
        assert_eq!(at, [0, 1, 1, 3, 3, 4, 5, 6]);
        assert_eq!(best[..3], [1.0, 3.0, 3.0]);
        assert!(best[3].is_nan() && best[4].is_nan());
        assert_eq!(best[5..], [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
        let spans = Spans::new(vec![(7, vec![(1, 2), (2, 3), (5, 2)])]);
        let (best, at) = max_pool(&x, 1, &Places::Spans(&spans));
        assert_eq!(at, [1, 3, 5]);
        assert!(best[0] == 3.0 && best[1].is_nan());
        let (best, at) =
            max_pool(&[3i64, i64::MIN, i64::MIN], 1, &Places::Sliding(&windows(&[3], 2, 1, 0)));
        assert_eq!((best, at), (vec![3, i64::MIN], vec![0, 1]));
    }

    #[test]
    fn sliding_and_spans_agree() {
        for size in [&[9][..], &[8, 6], &[4, 6, 8]] {
            let sliding = windows(size, 2, 2, 0);
            let area = sliding.area();
            let x: Vec<f32> = (0..3 * area).map(|i| ((i * 7919) % 101) as f32).collect();
            let dims = size.iter().map(|&n| (n, (0..n / 2).map(|at| (2 * at, 2)).collect()));
            let spans = Spans::new(dims.collect());
            let two = [Places::Sliding(&sliding), Places::Spans(&spans)];
            let [a, b] = [0, 1].map(|k| max_pool(&x, 3, &two[k]));
            assert_eq!(a, b);
            let divisors = window_sizes(&spans);
            let [a, b] = [0, 1].map(|k| average_pool(&x, 3, &two[k], &divisors));
            assert_eq!(a, b);
            let [c, d] = [0, 1].map(|k| average_pool_backward(&a, 3, &two[k], &divisors));
            assert_eq!(c, d);
        }
    }

    #[test]
    fn the_gradient_is_the_transpose() {
        let w = windows(&[5, 6], 3, 2, 1);
        let (area, count) = (w.area(), w.windows());
        let divisors: Vec<i64> = (0..count as i64).map(|k| 1 << (k % 4)).collect();
        let x: Vec<f64> = (0..2 * area).map(|i| (i * i % 17) as f64).collect();
        let g: Vec<f64> = (0..2 * count).map(|i| (i * 5 % 11) as f64).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let places = Places::Sliding(&w);
        let y = average_pool(&x, 2, &places, &divisors);
        let back = average_pool_backward(&g, 2, &places, &divisors);
        assert_eq!(dot(&y, &g), dot(&x, &back));
    }

    #[test]
    fn parts_are_as_equal_as_possible() {
        assert_eq!(Spans::parts(7, 3), [(0, 3), (2, 3), (4, 3)]);
        assert_eq!(Spans::parts(2, 4), [(0, 1), (0, 1), (1, 1), (1, 1)]);
    }
}
