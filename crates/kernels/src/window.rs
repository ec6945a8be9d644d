//! Windows that slide over the last dimensions of a row-major tensor: cut out as columns, and
//! columns added back.

use crate::arithmetic::Ring;
use crate::{Dims, Element, par};

/// Windows that slide over a grid of any number of dimensions. All lists have one entry for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Size of the grid.
    pub size: Dims,
    /// Size of a window, in taps.
    pub kernel: Dims,
    /// Steps between windows.
    pub stride: Dims,
    /// Steps between the taps of a window.
    pub dilation: Dims,
    /// How far the first window starts before the grid.
    pub padding: Dims,
    /// Number of windows.
    pub count: Dims,
}

/// Elements that are copied from a row to a row; one of the two may be strided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Where they are read.
    pub(crate) from: usize,
    /// Where they are written.
    pub(crate) to: usize,
    /// How many.
    pub(crate) len: usize,
}

impl Windows {
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.size.len()
    }

    /// Elements of the grid.
    pub fn area(&self) -> usize {
        self.size.iter().product()
    }

    /// Taps of a window.
    pub fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Number of windows over all dimensions.
    pub fn windows(&self) -> usize {
        self.count.iter().product()
    }

    /// Steps between windows along the last dimension.
    pub(crate) fn last_stride(&self) -> usize {
        self.stride[self.rank() - 1]
    }

    /// The windows of a dimension that have their tap `tap` inside the grid: first and end.
    fn inside(&self, dim: usize, tap: usize) -> (usize, usize) {
        let (stride, at, padding) = (self.stride[dim], tap * self.dilation[dim], self.padding[dim]);
        let first = padding.saturating_sub(at).div_ceil(stride);
        let end = (self.size[dim] + padding).saturating_sub(at).div_ceil(stride);
        let end = end.min(self.count[dim]);
        (first.min(end), end)
    }

    /// What one tap sees of the grid: runs of windows along the last dimension, `from` being a
    /// place in the grid (the next one lies a stride further) and `to` the number of the window.
    /// Windows that have the tap outside the grid are in no run.
    pub(crate) fn runs(&self, tap: usize) -> Vec<Run> {
        let last = self.rank() - 1;
        let taps = split(tap, &self.kernel);
        let (first, end) = self.inside(last, taps[last]);
        let rows: usize = self.count[..last].iter().product();
        if first == end {
            return Vec::new();
        }
        let inside = |row: usize| {
            let windows = split(row, &self.count[..last]);
            let place = (0..last).try_fold(0, |place, dim| {
                let at = windows[dim] * self.stride[dim] + taps[dim] * self.dilation[dim];
                let at = at.checked_sub(self.padding[dim]).filter(|&at| at < self.size[dim])?;
                Some(place * self.size[dim] + at)
            })?;
            let at = first * self.stride[last] + taps[last] * self.dilation[last];
            Some(Run {
                from: place * self.size[last] + at - self.padding[last],
                to: row * self.count[last] + first,
                len: end - first,
            })
        };
        (0..rows).filter_map(inside).collect()
    }
}

/// What the taps of windows see of a grid, cut into parts so that what a part reads and writes
/// stays in the nearest caches.
pub(crate) struct Sight {
    /// For each tap, its runs.
    taps: Vec<(Vec<Run>, Vec<usize>)>,
    /// Number of parts.
    pub(crate) parts: usize,
}

/// Windows of a part.
pub(crate) const PART: usize = 1024;

impl Sight {
    /// What is seen by all taps.
    pub(crate) fn of(windows: &Windows) -> Sight {
        let parts = windows.windows().div_ceil(PART);
        let step = windows.last_stride();
        let cut = |tap: usize| {
            let (mut cut, mut starts) = (Vec::new(), vec![0]);
            let mut runs = windows.runs(tap).into_iter();
            let mut next = runs.next();
            for end in (1..=parts).map(|part| part * PART) {
                while let Some(run) = next.filter(|run| run.to < end) {
                    let len = run.len.min(end - run.to);
                    cut.push(Run { len, ..run });
                    next = if len < run.len {
                        let (from, to) = (run.from + len * step, run.to + len);
                        Some(Run { from, to, len: run.len - len })
                    } else {
                        runs.next()
                    };
                }
                starts.push(cut.len());
            }
            (cut, starts)
        };
        Sight { taps: (0..windows.taps()).map(cut).collect(), parts }
    }

    /// Number of taps.
    pub(crate) fn taps(&self) -> usize {
        self.taps.len()
    }

    /// What a tap sees in a part.
    pub(crate) fn runs(&self, part: usize, tap: usize) -> &[Run] {
        let (runs, starts) = &self.taps[tap];
        &runs[starts[part]..starts[part + 1]]
    }
}

/// Splits a row-major counter over a shape.
pub(crate) fn split(mut linear: usize, shape: &[usize]) -> Dims {
    let mut at = Dims::from_elem(0, shape.len());
    for (at, &size) in at.iter_mut().zip(shape).rev() {
        *at = linear % size;
        linear /= size;
    }
    at
}

/// A buffer whose rows several threads write.
pub(crate) struct Rows<T>(*mut T);

// SAFETY: threads only get disjoint rows of it, as `row` requires.
unsafe impl<T: Send> Sync for Rows<T> {}

impl<T: Element> Rows<T> {
    /// The rows of a buffer, which must outlive this.
    pub(crate) fn of(buffer: &mut [T]) -> Self {
        Rows(buffer.as_mut_ptr())
    }

    /// `len` elements from `start` on.
    ///
    /// # Safety
    /// They must lie within the buffer, and nobody else may hold any of them.
    #[allow(clippy::mut_from_ref, reason = "disjoint parts of one buffer go to different threads")]
    #[inline(always)]
    pub(crate) unsafe fn row(&self, start: usize, len: usize) -> &mut [T] {
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
    }

    /// Where the buffer starts.
    #[inline(always)]
    pub(crate) fn start(&self) -> *mut T {
        self.0
    }
}

/// Calls `f` on each row of a buffer, on several threads where rows of `cost` additions are worth
/// it.
pub(crate) fn for_rows<T: Element>(
    buffer: &mut [T],
    len: usize,
    cost: usize,
    f: impl Fn(usize, &mut [T]) + Sync,
) {
    let count = buffer.len().checked_div(len).unwrap_or(0);
    let rows = Rows::of(buffer);
    par::for_ranges(count, par::GRAIN.div_ceil(cost.max(1)), |range| {
        for row in range {
            // SAFETY: each row belongs to one range, and every range to one thread.
            f(row, unsafe { rows.row(row * len, len) });
        }
    });
}

/// The windows over each plane of `x` `(planes, *size)` as columns: `(planes, taps, windows)`. Taps
/// outside the grid are zero.
pub fn unfold<T: Element>(x: &[T], planes: usize, windows: &Windows) -> Vec<T> {
    let (area, taps, count) = (windows.area(), windows.taps(), windows.windows());
    let runs: Vec<Vec<Run>> = (0..taps).map(|tap| windows.runs(tap)).collect();
    let step = windows.last_stride();
    let mut out = vec![T::zeroed(); planes * taps * count];
    // A row is what one tap sees of one plane.
    for_rows(&mut out, count, count, |row, out| {
        let plane = &x[row / taps * area..][..area];
        for run in &runs[row % taps] {
            let out = &mut out[run.to..][..run.len];
            if step == 1 {
                out.copy_from_slice(&plane[run.from..][..run.len]);
            } else {
                for (slot, &value) in out.iter_mut().zip(plane[run.from..].iter().step_by(step)) {
                    *slot = value;
                }
            }
        }
    });
    out
}

/// The reverse of [`unfold`]: columns `(planes, taps, windows)` added up on `(planes, *size)`.
pub fn fold<T: Ring>(columns: &[T], planes: usize, windows: &Windows) -> Vec<T> {
    let (area, taps, count) = (windows.area(), windows.taps(), windows.windows());
    let runs: Vec<Vec<Run>> = (0..taps).map(|tap| windows.runs(tap)).collect();
    let step = windows.last_stride();
    let mut out = vec![T::zeroed(); planes * area];
    for_rows(&mut out, area, taps * count, |plane, out| {
        for (tap, runs) in runs.iter().enumerate() {
            let row = &columns[(plane * taps + tap) * count..][..count];
            for run in runs {
                let values = &row[run.to..][..run.len];
                for (slot, &value) in out[run.from..].iter_mut().step_by(step).zip(values) {
                    *slot = slot.plus(value);
                }
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(size: &[usize], kernel: &[usize], stride: usize, padding: usize) -> Windows {
        let count =
            size.iter().zip(kernel).map(|(n, k)| (n + 2 * padding - 2 * (k - 1) - 1) / stride + 1);
        Windows {
            size: Dims::from_slice(size),
            kernel: Dims::from_slice(kernel),
            stride: Dims::from_elem(stride, size.len()),
            dilation: Dims::from_elem(2, size.len()),
            padding: Dims::from_elem(padding, size.len()),
            count: count.collect(),
        }
    }

    #[test]
    fn columns_are_what_taps_see() {
        let windows = windows(&[5, 7], &[2, 3], 2, 3);
        let x: Vec<i64> = (1..=2 * 35).collect();
        let columns = unfold(&x, 2, &windows);
        let mut at = 0;
        for plane in 0..2 {
            for tap in 0..6 {
                for window in 0..windows.windows() {
                    let (t, w) = (split(tap, &windows.kernel), split(window, &windows.count));
                    let place = |d: usize| (w[d] * 2 + t[d] * 2).wrapping_sub(3);
                    let inside = place(0) < 5 && place(1) < 7;
                    let want = if inside { x[plane * 35 + place(0) * 7 + place(1)] } else { 0 };
                    assert_eq!(columns[at], want);
                    at += 1;
                }
            }
        }
        assert_eq!(at, columns.len());
    }

    #[test]
    fn folding_is_the_transpose_of_unfolding() {
        for windows in [
            windows(&[9], &[3], 1, 0),
            windows(&[6, 5], &[2, 2], 3, 1),
            windows(&[4, 5, 4], &[1, 2, 2], 2, 2),
        ] {
            let (area, width) = (windows.area(), windows.taps() * windows.windows());
            let x: Vec<i64> = (0..area as i64).map(|i| i * i % 17 - 8).collect();
            let y: Vec<i64> = (0..width as i64).map(|i| i * 7 % 23 - 11).collect();
            let dot = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
            assert_eq!(dot(&unfold(&x, 1, &windows), &y), dot(&x, &fold(&y, 1, &windows)));
        }
    }
}
