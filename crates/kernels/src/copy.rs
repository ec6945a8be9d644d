//! Moving elements: making views dense, copying between views, filling, flipping, joining.

use std::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::par;
use crate::strided::{Dims, Element, Strided, StridedMut, Strides, collapse, contiguous_strides};

/// Edge of the square blocks a transposition goes by: both sides of one fit the first-level cache.
const BLOCK: usize = 32;

/// The elements of a view in row-major order.
pub fn contiguous<T: Element>(x: Strided<T>) -> Vec<T> {
    fresh(x.shape, |out| copy_into(out, x))
}

/// Copies a view into another of the same shape; the two may not overlap, unless they are the same.
pub fn copy_into<T: Element>(dst: StridedMut<T>, src: Strided<T>) {
    assert_eq!(dst.shape, src.shape, "operands are broadcast by the caller");
    if src.is_empty() {
        return;
    }
    let (dims, [to, from]) = descending(dst.shape, dst.strides, src.strides);
    let plan = Plan {
        // SAFETY: the offset lies within the memory the view was made for.
        to: unsafe { dst.data.add(dst.offset) },
        from: src.data.as_ptr().wrapping_add(src.offset),
        dims,
        to_strides: to,
        from_strides: from,
    };
    // SAFETY: both views lie within their memory, and whoever made `dst` vouches that it is
    // nobody else's meanwhile.
    unsafe { plan.run() };
}

/// Sets every element of a view.
pub fn fill<T: Element>(dst: StridedMut<T>, value: T) {
    let value = [value];
    let strides: Strides = SmallVec::from_elem(0, dst.shape.len());
    copy_into(dst, Strided { data: &value, shape: dst.shape, strides: &strides, offset: 0 });
}

/// The elements with the order along some dimensions reversed.
pub fn flip<T: Element>(x: Strided<T>, dims: &[usize]) -> Vec<T> {
    if x.is_empty() {
        return Vec::new();
    }
    let mut strides = Strides::from_slice(x.strides);
    let mut offset = x.offset as isize;
    for &dim in dims {
        offset += strides[dim] * (x.shape[dim] as isize - 1);
        strides[dim] = -strides[dim];
    }
    contiguous(Strided { strides: &strides, offset: offset as usize, ..x })
}

/// Joins views along a dimension; their shapes agree everywhere else.
pub fn cat<T: Element>(parts: &[Strided<T>], dim: usize) -> Vec<T> {
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let mut shape = Dims::from_slice(first.shape);
    shape[dim] = parts.iter().map(|part| part.shape[dim]).sum();
    fresh(&shape, |out| {
        let step = out.strides[dim] as usize;
        let mut offset = 0;
        for part in parts {
            copy_into(StridedMut { shape: part.shape, offset, ..out }, *part);
            offset += part.shape[dim] * step;
        }
    })
}

/// The lower triangle of each matrix: zero where `column - row > diagonal`.
pub fn tril<T: Element>(x: Strided<T>, diagonal: i64) -> Vec<T> {
    triangle(x, diagonal, |row, cut| row[cut..].fill(T::zeroed()))
}

/// The upper triangle of each matrix: zero where `column - row < diagonal`.
pub fn triu<T: Element>(x: Strided<T>, diagonal: i64) -> Vec<T> {
    triangle(x, diagonal.saturating_sub(1), |row, cut| row[..cut].fill(T::zeroed()))
}

/// Calls `erase` on each row with how many of its columns satisfy `column - row <= diagonal`.
fn triangle<T: Element>(x: Strided<T>, diagonal: i64, erase: impl Fn(&mut [T], usize)) -> Vec<T> {
    let mut out = contiguous(x);
    let [.., rows, columns] = *x.shape else {
        panic!("a matrix has two dimensions");
    };
    if columns > 0 {
        for (i, row) in out.chunks_exact_mut(columns).enumerate() {
            let cut = ((i % rows) as i64).saturating_add(diagonal).saturating_add(1);
            erase(row, cut.clamp(0, columns as i64) as usize);
        }
    }
    out
}

/// A new row-major buffer, which `write` fills completely.
fn fresh<T: Element>(shape: &[usize], write: impl FnOnce(StridedMut<T>)) -> Vec<T> {
    let len = shape.iter().product();
    let mut out = Vec::with_capacity(len);
    if len > 0 {
        write(StridedMut {
            data: out.as_mut_ptr(),
            shape,
            strides: &contiguous_strides(shape),
            offset: 0,
            lifetime: std::marker::PhantomData,
        });
    }
    // SAFETY: `write` has filled the buffer.
    unsafe { out.set_len(len) };
    out
}

/// Merged dimensions, ordered from the largest step of the destination to the smallest.
fn descending(shape: &[usize], to: &[isize], from: &[isize]) -> (Dims, [Strides; 2]) {
    let mut order: Dims = (0..shape.len()).collect();
    order.sort_by_key(|&d| std::cmp::Reverse(to[d].unsigned_abs()));
    let shape: Dims = order.iter().map(|&d| shape[d]).collect();
    let to: Strides = order.iter().map(|&d| to[d]).collect();
    let from: Strides = order.iter().map(|&d| from[d]).collect();
    collapse(&shape, [&to, &from])
}

/// A copy between two strided regions.
struct Plan<T> {
    to: *mut T,
    from: *const T,
    dims: Dims,
    to_strides: Strides,
    from_strides: Strides,
}

// SAFETY: threads write disjoint elements and only read the source.
unsafe impl<T: Sync + Send> Sync for Plan<T> {}

impl<T: Element> Plan<T> {
    /// # Safety
    /// Both regions must be valid, and the destination nobody else's.
    unsafe fn run(&self) {
        let last = self.dims.len() - 1;
        match self.transposed() {
            // SAFETY: the caller's.
            Some(dim) => unsafe { self.by_blocks(dim) },
            None => {
                let inner = self.dims[last];
                let rows = self.dims[..last].iter().product::<usize>();
                if rows == 1 {
                    let (to, from) = (self.to_strides[last], self.from_strides[last]);
                    par::for_ranges(inner, par::GRAIN, |range| {
                        let start = range.start as isize;
                        // SAFETY: the caller's; ranges are disjoint.
                        unsafe { self.row(start * to, start * from, range.len()) };
                    });
                } else {
                    par::for_ranges(rows, par::GRAIN.div_ceil(inner), |range| {
                        for row in range {
                            let (to, from) = self.positions(row, |d| d < last);
                            // SAFETY: the caller's; rows are disjoint.
                            unsafe { self.row(to, from, inner) };
                        }
                    });
                }
            }
        }
    }

    /// The dimension along which the source is densest, where that is not the last one.
    fn transposed(&self) -> Option<usize> {
        let last = self.dims.len() - 1;
        let step = |d: usize| self.from_strides[d].unsigned_abs();
        let dense =
            (0..last).filter(|&d| step(d) > 0 && self.dims[d] >= 4).min_by_key(|&d| step(d))?;
        (step(last) > step(dense) && self.dims[last] >= 4).then_some(dense)
    }

    /// Where the `linear`-th combination of the chosen dimensions lies in both regions.
    fn positions(&self, mut linear: usize, chosen: impl Fn(usize) -> bool) -> (isize, isize) {
        let (mut to, mut from) = (0, 0);
        for d in (0..self.dims.len()).rev().filter(|&d| chosen(d)) {
            let index = (linear % self.dims[d]) as isize;
            linear /= self.dims[d];
            to += index * self.to_strides[d];
            from += index * self.from_strides[d];
        }
        (to, from)
    }

    /// Copies `len` elements along the last dimension.
    ///
    /// # Safety
    /// They must lie within both regions.
    #[inline]
    unsafe fn row(&self, to: isize, from: isize, len: usize) {
        let last = self.dims.len() - 1;
        let (to_step, from_step) = (self.to_strides[last], self.from_strides[last]);
        // SAFETY: the caller's.
        unsafe {
            let (to, from) = (self.to.offset(to), self.from.offset(from));
            match (to_step, from_step) {
                (1, 1) => std::ptr::copy(from, to, len),
                (1, 0) => {
                    std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), len)
                        .fill(MaybeUninit::new(*from));
                }
                (1, _) => {
                    for i in 0..len as isize {
                        *to.offset(i) = *from.offset(i * from_step);
                    }
                }
                _ => {
                    for i in 0..len as isize {
                        *to.offset(i * to_step) = *from.offset(i * from_step);
                    }
                }
            }
        }
    }

    /// Copies square blocks over the last dimension and the source's densest one, so that neither
    /// side touches a cache line more often than it must.
    ///
    /// # Safety
    /// Both regions must be valid, and the destination nobody else's.
    unsafe fn by_blocks(&self, dense: usize) {
        let last = self.dims.len() - 1;
        let (rows, columns) = (self.dims[dense], self.dims[last]);
        let outer: usize = self.dims[..last].iter().product::<usize>() / rows;
        let strips = rows.div_ceil(BLOCK);
        par::for_ranges(outer * strips, par::GRAIN.div_ceil(BLOCK * columns), |range| {
            for strip in range {
                let (to, from) = self.positions(strip / strips, |d| d != dense && d != last);
                let top = strip % strips * BLOCK;
                for left in (0..columns).step_by(BLOCK) {
                    let width = BLOCK.min(columns - left);
                    for row in top..(top + BLOCK).min(rows) {
                        let at = |strides: &[isize]| {
                            row as isize * strides[dense] + left as isize * strides[last]
                        };
                        let to = to + at(&self.to_strides);
                        let from = from + at(&self.from_strides);
                        // SAFETY: the caller's; strips are disjoint.
                        unsafe { self.row(to, from, width) };
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view<'a, T>(
        data: &'a [T],
        shape: &'a [usize],
        strides: &'a [isize],
        offset: usize,
    ) -> Strided<'a, T> {
        Strided { data, shape, strides, offset }
    }

    fn iota(len: usize) -> Vec<i32> {
        (0..len as i32).collect()
    }

    /// Element by element, the obvious way.
    fn reference(x: Strided<i32>) -> Vec<i32> {
        let strides = [Strides::from_slice(x.strides)];
        (0..x.len())
            .map(|i| {
                let [at] = crate::positions(i, x.shape, &strides);
                x.data[(x.offset as isize + at) as usize]
            })
            .collect()
    }

    #[test]
    fn every_layout_becomes_dense() {
        let data = iota(400_000);
        let cases: &[(&[usize], &[isize], usize)] = &[
            (&[], &[], 7),
            (&[5], &[3], 2),
            (&[5], &[-3], 20),
            (&[0, 4], &[4, 1], 0),
            (&[300, 500], &[500, 1], 0),
            (&[300, 500], &[1, 300], 0),
            (&[300, 500], &[1, -300], 300 * 499),
            (&[3, 70, 90], &[70 * 90, 1, 70], 0),
            (&[70, 3, 90], &[1, 70 * 90, 70], 5),
            (&[2, 3, 4, 5], &[1, 2, 6, 24], 0),
            (&[6, 1, 7], &[0, 9, 1], 1),
            (&[6, 7], &[1, 0], 1),
        ];
        for &(shape, strides, offset) in cases {
            let x = view(&data, shape, strides, offset);
            assert_eq!(contiguous(x), reference(x), "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn copies_into_any_layout() {
        let src = iota(35 * 40);
        let mut dst = vec![-1; 35 * 40 * 2];
        let out = StridedMut {
            data: dst.as_mut_ptr(),
            shape: &[35, 40],
            strides: &[2, 70],
            offset: 1,
            lifetime: std::marker::PhantomData,
        };
        copy_into(out, view(&src, &[35, 40], &[40, 1], 0));
        for i in 0..35 {
            for j in 0..40 {
                assert_eq!(dst[1 + 2 * i + 70 * j], src[40 * i + j]);
                assert_eq!(dst[2 * i + 70 * j], -1);
            }
        }
        fill(out, 9);
        assert!(dst.chunks(2).all(|pair| pair == [-1, 9]));
    }

    #[test]
    fn flips() {
        let data = iota(6);
        let x = view(&data, &[2, 3], &[3, 1], 0);
        assert_eq!(flip(x, &[0]), [3, 4, 5, 0, 1, 2]);
        assert_eq!(flip(x, &[0, 1]), [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn joins() {
        let (a, b) = (iota(4), iota(6));
        let joined = cat(&[view(&a, &[2, 2], &[1, 2], 0), view(&b, &[2, 3], &[3, 1], 0)], 1);
        assert_eq!(joined, [0, 2, 0, 1, 2, 1, 3, 3, 4, 5]);
        assert_eq!(cat(&[view(&a, &[0, 4], &[4, 1], 0), view(&a, &[1, 4], &[4, 1], 0)], 0), a);
    }

    #[test]
    fn triangles() {
        let data: Vec<i32> = (1..=12).collect();
        let x = view(&data, &[2, 2, 3], &[6, 3, 1], 0);
        assert_eq!(tril(x, 0), [1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0]);
        assert_eq!(triu(x, 1), [0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12]);
        assert_eq!(triu(x, -1), data);
        assert_eq!(tril(x, i64::MIN), [0; 12]);
        assert_eq!(triu(x, i64::MIN), data);
        assert_eq!(tril(x, i64::MAX), data);
        assert!(triu(x, i64::MAX).iter().all(|&v| v == 0));
    }
}
