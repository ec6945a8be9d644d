//! Lanes: the runs along one dimension of a row-major buffer.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::{Element, Strided, collapse, is_contiguous, par, positions};

/// How many neighbouring lanes are worked on side by side where they interleave.
pub(crate) const TILE: usize = 64;

/// A row-major buffer seen along one of its dimensions: `outer` blocks of `len` rows of `inner`
/// elements. Lane `outer * inner + i` starts at `outer * len * inner + i` and steps by `inner`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    pub(crate) outer: usize,
    pub(crate) len: usize,
    pub(crate) inner: usize,
}

impl Lanes {
    /// The lanes along `dim`; a scalar is one lane of one element.
    pub(crate) fn along(shape: &[usize], dim: usize) -> Self {
        if shape.is_empty() {
            return Lanes { outer: 1, len: 1, inner: 1 };
        }
        Lanes {
            outer: shape[..dim].iter().product(),
            len: shape[dim],
            inner: shape[dim + 1..].iter().product(),
        }
    }

    /// How many lanes there are.
    pub(crate) fn count(&self) -> usize {
        self.outer * self.inner
    }

    /// Where a lane starts.
    pub(crate) fn start(&self, lane: usize) -> usize {
        lane / self.inner * self.len * self.inner + lane % self.inner
    }

    /// How many lanes one thread should take on at least, where an element costs `cost` times
    /// what an addition does.
    pub(crate) fn grain(&self, cost: usize) -> usize {
        (par::GRAIN / cost / self.len.max(1)).max(1)
    }

    /// Cuts a range of lanes into tiles: up to [`TILE`] lanes that start at consecutive elements.
    pub(crate) fn tiles(&self, lanes: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let (inner, mut next) = (self.inner, lanes.start);
        std::iter::from_fn(move || {
            let width = (lanes.end - next).min(inner - next % inner.max(1)).min(TILE);
            next += width;
            (width > 0).then(|| next - width..next)
        })
    }

    /// Calls `f` with each lane of `data` and its number, gathered where it is strided; several
    /// lanes at once, on several threads.
    pub(crate) fn for_each<T: Element>(
        &self,
        data: &[T],
        cost: usize,
        f: &(dyn Fn(usize, &[T]) + Sync),
    ) {
        par::for_ranges(self.count(), self.grain(cost), |lanes| {
            if self.inner == 1 {
                for lane in lanes {
                    f(lane, &data[lane * self.len..][..self.len]);
                }
                return;
            }
            let mut buffer = Vec::new();
            for tile in self.tiles(lanes) {
                let start = self.start(tile.start);
                buffer.resize(tile.len() * self.len, T::zeroed());
                for k in 0..self.len {
                    let row = &data[start + k * self.inner..][..tile.len()];
                    for (i, &item) in row.iter().enumerate() {
                        buffer[i * self.len + k] = item;
                    }
                }
                for (i, lane) in tile.enumerate() {
                    f(lane, &buffer[i * self.len..][..self.len]);
                }
            }
        });
    }
}

/// The elements of a view in row-major order: as they lie, or else copied.
pub(crate) fn dense<T: Element>(x: Strided<'_, T>) -> Cow<'_, [T]> {
    dense_as(x.data, x.shape, x.strides, x.offset)
}

/// [`dense`] for a view whose shape does not live as long as its elements.
pub(crate) fn dense_as<'a, T: Element>(
    data: &'a [T],
    shape: &[usize],
    strides: &[isize],
    offset: usize,
) -> Cow<'a, [T]> {
    let x = Strided { data, shape, strides, offset };
    if x.is_empty() {
        return Cow::Borrowed(&[]);
    }
    if is_contiguous(shape, strides) {
        return Cow::Borrowed(&data[offset..offset + x.len()]);
    }
    let (shape, strides) = collapse(x.shape, [x.strides]);
    let (width, stride) = (shape[shape.len() - 1], strides[0][shape.len() - 1]);
    Cow::Owned(par::fill(x.len(), par::GRAIN, |mut range, mut out| {
        while !range.is_empty() {
            let [at] = positions(range.start, &shape, &strides);
            let mut position = x.offset as isize + at;
            let count = range.len().min(width - range.start % width);
            let (run, rest) = out.split_at_mut(count);
            for slot in run {
                // SAFETY: the position comes from the view's own dimensions.
                slot.write(unsafe { x.at(position) });
                position += stride;
            }
            range.start += count;
            out = rest;
        }
    }))
}

/// A fresh buffer whose parts several threads write.
pub(crate) struct Fresh<T> {
    buffer: Vec<T>,
    start: *mut MaybeUninit<T>,
    len: usize,
}

// SAFETY: threads only write through it, to places that `set` requires to be disjoint.
unsafe impl<T: Send> Sync for Fresh<T> {}

impl<T: Element> Fresh<T> {
    /// Room for `len` elements.
    pub(crate) fn new(len: usize) -> Self {
        let mut buffer = Vec::with_capacity(len);
        let start = buffer.as_mut_ptr() as *mut MaybeUninit<T>;
        Fresh { buffer, start, len }
    }

    /// Writes one element.
    ///
    /// # Safety
    /// `at` must lie within the length, and no other thread may write there.
    #[inline(always)]
    pub(crate) unsafe fn set(&self, at: usize, value: T) {
        debug_assert!(at < self.len);
        unsafe { (*self.start.add(at)).write(value) };
    }

    /// Some of the elements, to be written.
    ///
    /// # Safety
    /// The range must lie within the length, and no other thread may hold a part of it.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "threads hold parts that do not overlap")]
    pub(crate) unsafe fn part(&self, range: Range<usize>) -> &mut [MaybeUninit<T>] {
        debug_assert!(range.end <= self.len);
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// Some of the elements, set to zero.
    ///
    /// # Safety
    /// As for [`part`](Fresh::part).
    #[allow(clippy::mut_from_ref, reason = "threads hold parts that do not overlap")]
    pub(crate) unsafe fn zeroed(&self, range: Range<usize>) -> &mut [T] {
        let part = unsafe { self.part(range) };
        part.fill(MaybeUninit::zeroed());
        // SAFETY: plain data of zero bytes is valid.
        unsafe { &mut *(std::ptr::from_mut(part) as *mut [T]) }
    }

    /// The elements.
    ///
    /// # Safety
    /// Each must have been written.
    pub(crate) unsafe fn finish(mut self) -> Vec<T> {
        unsafe { self.buffer.set_len(self.len) };
        self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_every_dimension() {
        let data: Vec<i32> = (0..24).collect();
        let lanes = Lanes::along(&[2, 3, 4], 1);
        assert_eq!((lanes.count(), lanes.start(5)), (8, 13));
        assert_eq!(lanes.tiles(1..8).collect::<Vec<_>>(), [1..4, 4..8]);
        for dim in 0..3 {
            let lanes = Lanes::along(&[2, 3, 4], dim);
            lanes.for_each(&data, 1, &|number, lane| {
                let start = lanes.start(number) as i32;
                let expected = (0..lanes.len as i32).map(|k| start + k * lanes.inner as i32);
                assert_eq!(lane, expected.collect::<Vec<_>>());
            });
        }
    }

    #[test]
    fn dense_copies_what_is_strided() {
        let data: Vec<i32> = (0..6).collect();
        let x = Strided { data: &data, shape: &[3, 2], strides: &[1, 3], offset: 0 };
        assert_eq!(*dense(x), [0, 3, 1, 4, 2, 5]);
        let x = Strided { data: &data, shape: &[6], strides: &[-1], offset: 5 };
        assert_eq!(*dense(x), [5, 4, 3, 2, 1, 0]);
    }
}
