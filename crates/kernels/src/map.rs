//! How elementwise kernels walk their operands.
//!
//! The output is cut into segments. Over a segment an operand is a run of memory or is gathered into
//! a small buffer first. So the arithmetic of an operation is a loop over plain slices (see
//! [`kernel`](crate::kernel)), and everything about strides is compiled once per type.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::kernel::{CHUNK, Kernel1, Kernel2, Kernel3, Out};
use crate::strided::{
    Dims, Element, Strided, StridedMut, Strides, collapse, contiguous_strides, is_contiguous,
};
use crate::{copy, par};

/// Rows shorter than this are not worth a segment each: segments then span rows.
const SHORT_ROW: usize = 64;

/// Where elements are gathered that do not lie in one run.
struct Buffer<T> {
    elements: [MaybeUninit<T>; CHUNK],
    /// The buffer holds the one value of an operand that has no other.
    repeats: bool,
}

impl<T: Element> Buffer<T> {
    fn new() -> Self {
        Buffer { elements: [MaybeUninit::uninit(); CHUNK], repeats: false }
    }
}

/// How an operand's elements follow each other over all dimensions.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// One run.
    Run,
    /// One value.
    Repeated,
    /// Any other way.
    Strided,
}

/// An operand after its dimensions were merged with those of the others.
struct Operand<T> {
    data: *const T,
    strides: Strides,
    layout: Layout,
}

// SAFETY: an operand is only read.
unsafe impl<T: Sync> Sync for Operand<T> {}

impl<T: Element> Operand<T> {
    fn new(view: &Strided<T>, dims: &[usize], strides: Strides) -> Self {
        let layout = if is_contiguous(dims, &strides) {
            Layout::Run
        } else if strides.iter().all(|&stride| stride == 0) {
            Layout::Repeated
        } else {
            Layout::Strided
        };
        Operand { data: view.data.as_ptr().wrapping_add(view.offset), strides, layout }
    }

    /// The elements of a segment.
    ///
    /// # Safety
    /// The segment lies within `dims`, the dimensions of the view this was made of, and is no
    /// longer than [`CHUNK`] unless the operand is a run.
    #[inline(always)]
    unsafe fn load<'a>(
        &'a self,
        dims: &[usize],
        segment: &Segment,
        buffer: &'a mut Buffer<T>,
    ) -> &'a [T] {
        let len = segment.len;
        // SAFETY: positions of the view lie within its data, whose lifetime the caller holds.
        let run = |at: isize| unsafe { std::slice::from_raw_parts(self.data.offset(at), len) };
        if self.layout == Layout::Run {
            return run(segment.start as isize);
        }
        if self.layout == Layout::Repeated {
            if !buffer.repeats {
                // SAFETY: the view is not empty.
                buffer.elements.fill(MaybeUninit::new(unsafe { *self.data }));
                buffer.repeats = true;
            }
        } else {
            let last = dims.len() - 1;
            let in_row = segment.index.inner() + len <= dims[last];
            if in_row && self.strides[last] == 1 {
                return run(segment.index.position(&self.strides));
            }
            // SAFETY: the caller vouches for the segment.
            unsafe { self.gather(dims, segment.index.clone(), &mut buffer.elements[..len]) };
        }
        let elements: *const [MaybeUninit<T>] = &buffer.elements[..len];
        // SAFETY: they have just been written, or were for an earlier segment.
        unsafe { &*(elements as *const [T]) }
    }

    /// Copies the elements from `index` on into `out`.
    ///
    /// # Safety
    /// As many elements as `out` takes lie within `dims`.
    unsafe fn gather(&self, dims: &[usize], mut index: Index, mut out: Out<T>) {
        let last = dims.len() - 1;
        let (inner, stride) = (dims[last], self.strides[last]);
        while !out.is_empty() {
            // Down one column of rows without a new look at the outer dimensions.
            let mut at = index.position(&self.strides);
            let (rows, down) = match last.checked_sub(1) {
                Some(d) => (dims[d] - index.0[d], self.strides[d]),
                None => (1, 0),
            };
            for _ in 0..rows {
                let from = index.inner();
                let (row, rest) = out.split_at_mut((inner - from).min(out.len()));
                // SAFETY: the caller vouches for the elements.
                let element = |i: usize| unsafe { *self.data.offset(at + i as isize * stride) };
                if stride == 0 {
                    row.fill(MaybeUninit::new(element(0)));
                } else {
                    for (i, slot) in row.iter_mut().enumerate() {
                        slot.write(element(i));
                    }
                }
                at += down - from as isize * stride;
                index.advance(dims, row.len());
                out = rest;
                if out.is_empty() {
                    return;
                }
            }
        }
    }
}

/// A multi-index that moves forward within and across rows.
#[derive(Clone)]
struct Index(Dims);

impl Index {
    fn new(dims: &[usize], mut linear: usize) -> Self {
        let mut at: Dims = Dims::from_elem(0, dims.len());
        for (index, &size) in at.iter_mut().zip(dims).rev() {
            *index = linear % size;
            linear /= size;
        }
        Index(at)
    }

    fn inner(&self) -> usize {
        self.0[self.0.len() - 1]
    }

    fn position(&self, strides: &[isize]) -> isize {
        self.0.iter().zip(strides).map(|(&index, &stride)| index as isize * stride).sum()
    }

    /// Moves `by` elements on, at most to the start of the next row.
    fn advance(&mut self, dims: &[usize], by: usize) {
        let last = dims.len() - 1;
        self.0[last] += by;
        for d in (1..dims.len()).rev() {
            if self.0[d] < dims[d] {
                return;
            }
            self.0[d] = 0;
            self.0[d - 1] += 1;
        }
    }
}

/// A piece of the row-major output.
struct Segment {
    start: usize,
    len: usize,
    /// Of the first element; kept up to date only where an operand needs it.
    index: Index,
}

/// How to cut an output into segments.
struct Cut {
    /// Their largest length.
    longest: usize,
    /// No operand cares where a row ends.
    flat: bool,
}

impl Cut {
    /// The longest segments that operands of these layouts allow.
    fn new(layouts: &[Layout]) -> Self {
        let runs = layouts.iter().all(|&layout| layout == Layout::Run);
        let flat = layouts.iter().all(|&layout| layout != Layout::Strided);
        Cut { longest: if runs { usize::MAX } else { CHUNK }, flat }
    }

    /// The same, for results that go through a buffer too.
    fn buffered(layouts: &[Layout]) -> Self {
        Cut { longest: CHUNK, ..Cut::new(layouts) }
    }

    /// Calls `f` on the segments of `range`: rows where it matters and they are long, else pieces
    /// that may span rows.
    #[inline(always)]
    fn each(&self, dims: &[usize], range: Range<usize>, mut f: impl FnMut(&Segment)) {
        let inner = dims[dims.len() - 1];
        let by_rows = !self.flat && inner >= SHORT_ROW;
        let index = Index::new(dims, range.start);
        let mut segment = Segment { start: range.start, len: 0, index };
        while segment.start < range.end {
            segment.len = (range.end - segment.start).min(self.longest);
            if by_rows {
                segment.len = segment.len.min(inner - segment.index.inner());
            }
            f(&segment);
            segment.start += segment.len;
            if by_rows {
                segment.index.advance(dims, segment.len);
            } else if !self.flat {
                segment.index = Index::new(dims, segment.start);
            }
        }
    }
}

/// Makes a view dense first where its rows run across the direction in which its memory is dense:
/// copying by blocks is faster than walking so. `memory` keeps the copy.
fn untangled<'a, T: Element>(
    view: Strided<'a, T>,
    memory: &'a mut (Vec<T>, Strides),
) -> Strided<'a, T> {
    let mut steps = view
        .shape
        .iter()
        .zip(view.strides)
        .filter(|(size, _)| **size != 1)
        .map(|(_, stride)| stride.unsigned_abs())
        .rev();
    let inner = steps.next().unwrap_or(0);
    let tangled = inner > 1 && steps.clone().any(|s| s < inner) && steps.all(|s| s != 0);
    if !tangled || view.len() < 8 * CHUNK {
        return view;
    }
    *memory = (copy::contiguous(view), contiguous_strides(view.shape));
    Strided { data: &memory.0, shape: view.shape, strides: &memory.1, offset: 0 }
}

/// Applies a kernel to every element.
pub fn map1<A: Element, O: Element>(a: Strided<A>, grain: usize, kernel: &Kernel1<A, O>) -> Vec<O> {
    if let Some(a) = a.as_slice() {
        return par::fill(a.len(), grain, |range, out| kernel(out, &a[range]));
    }
    let mut memory_a = Default::default();
    let a = untangled(a, &mut memory_a);
    let (dims, [sa]) = collapse(a.shape, [a.strides]);
    let len = a.len();
    if len == 0 {
        return Vec::new();
    }
    let a = Operand::new(&a, &dims, sa);
    let cut = Cut::new(&[a.layout]);
    par::fill(len, grain, |range, out| {
        let first = range.start;
        let mut from_a = Buffer::new();
        cut.each(&dims, range, |segment| {
            // SAFETY: segments lie within the range.
            let a = unsafe { a.load(&dims, segment, &mut from_a) };
            kernel(&mut out[segment.start - first..][..segment.len], a);
        });
    })
}

/// Applies a kernel to every pair of elements of two views of one shape.
pub fn map2<A: Element, B: Element, O: Element>(
    a: Strided<A>,
    b: Strided<B>,
    grain: usize,
    kernel: &Kernel2<A, B, O>,
) -> Vec<O> {
    assert_eq!(a.shape, b.shape, "operands are broadcast by the caller");
    if let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) {
        return par::fill(a.len(), grain, |range, out| kernel(out, &a[range.clone()], &b[range]));
    }
    let mut memory_a = Default::default();
    let a = untangled(a, &mut memory_a);
    let mut memory_b = Default::default();
    let b = untangled(b, &mut memory_b);
    let (dims, [sa, sb]) = collapse(a.shape, [a.strides, b.strides]);
    let len = a.len();
    if len == 0 {
        return Vec::new();
    }
    let (a, b) = (Operand::new(&a, &dims, sa), Operand::new(&b, &dims, sb));
    let cut = Cut::new(&[a.layout, b.layout]);
    par::fill(len, grain, |range, out| {
        let first = range.start;
        let (mut from_a, mut from_b) = (Buffer::new(), Buffer::new());
        cut.each(&dims, range, |segment| {
            // SAFETY: segments lie within the range.
            let a = unsafe { a.load(&dims, segment, &mut from_a) };
            // SAFETY: as above.
            let b = unsafe { b.load(&dims, segment, &mut from_b) };
            kernel(&mut out[segment.start - first..][..segment.len], a, b);
        });
    })
}

/// Applies a kernel to every triple of elements of three views of one shape.
pub fn map3<A: Element, B: Element, C: Element, O: Element>(
    a: Strided<A>,
    b: Strided<B>,
    c: Strided<C>,
    grain: usize,
    kernel: &Kernel3<A, B, C, O>,
) -> Vec<O> {
    assert_eq!(a.shape, b.shape, "operands are broadcast by the caller");
    assert_eq!(a.shape, c.shape, "operands are broadcast by the caller");
    let mut memory_a = Default::default();
    let a = untangled(a, &mut memory_a);
    let mut memory_b = Default::default();
    let b = untangled(b, &mut memory_b);
    let mut memory_c = Default::default();
    let c = untangled(c, &mut memory_c);
    let (dims, [sa, sb, sc]) = collapse(a.shape, [a.strides, b.strides, c.strides]);
    let len = a.len();
    if len == 0 {
        return Vec::new();
    }
    let a = Operand::new(&a, &dims, sa);
    let b = Operand::new(&b, &dims, sb);
    let c = Operand::new(&c, &dims, sc);
    let cut = Cut::new(&[a.layout, b.layout, c.layout]);
    par::fill(len, grain, |range, out| {
        let first = range.start;
        let (mut from_a, mut from_b, mut from_c) = (Buffer::new(), Buffer::new(), Buffer::new());
        cut.each(&dims, range, |segment| {
            // SAFETY: segments lie within the range.
            let a = unsafe { a.load(&dims, segment, &mut from_a) };
            // SAFETY: as above.
            let b = unsafe { b.load(&dims, segment, &mut from_b) };
            // SAFETY: as above.
            let c = unsafe { c.load(&dims, segment, &mut from_c) };
            kernel(&mut out[segment.start - first..][..segment.len], a, b, c);
        });
    })
}

/// A strided target after its dimensions were merged with those of the operands.
struct Target<T> {
    data: *mut T,
    strides: Strides,
}

// SAFETY: threads write disjoint segments.
unsafe impl<T: Send> Sync for Target<T> {}

impl<T: Element> Target<T> {
    /// Writes the elements of a segment.
    ///
    /// # Safety
    /// The segment lies within `dims`, and `values` is initialised.
    unsafe fn store(&self, dims: &[usize], start: usize, values: &[MaybeUninit<T>]) {
        let inner = dims[dims.len() - 1];
        let stride = self.strides[dims.len() - 1];
        let mut index = Index::new(dims, start);
        let mut done = 0;
        while done < values.len() {
            let take = (inner - index.inner()).min(values.len() - done);
            let row = &values[done..done + take];
            // SAFETY: the caller vouches for the segment; whoever made the view, for its memory.
            unsafe {
                let to = self.data.offset(index.position(&self.strides));
                if stride == 1 {
                    std::ptr::copy_nonoverlapping(row.as_ptr().cast(), to, take);
                } else {
                    for (i, value) in row.iter().enumerate() {
                        *to.offset(i as isize * stride) = value.assume_init();
                    }
                }
            }
            done += take;
            index.advance(dims, take);
        }
    }
}

/// As [`map1`], into memory that may be that of the operand itself, element by element.
pub fn update1<A: Element, O: Element>(
    out: StridedMut<O>,
    a: Strided<A>,
    grain: usize,
    kernel: &Kernel1<A, O>,
) {
    assert_eq!(a.shape, out.shape, "operands are broadcast by the caller");
    let mut memory_a = Default::default();
    let a = untangled(a, &mut memory_a);
    let (dims, [so, sa]) = collapse(a.shape, [out.strides, a.strides]);
    let len = a.len();
    if len == 0 {
        return;
    }
    // SAFETY: the offset lies within the target's memory.
    let out = Target { data: unsafe { out.data.add(out.offset) }, strides: so };
    let a = Operand::new(&a, &dims, sa);
    let cut = Cut::buffered(&[a.layout]);
    par::for_ranges(len, grain, |range| {
        let mut results = [MaybeUninit::uninit(); CHUNK];
        let mut from_a = Buffer::new();
        cut.each(&dims, range, |segment| {
            // SAFETY: segments lie within the range.
            let a = unsafe { a.load(&dims, segment, &mut from_a) };
            kernel(&mut results[..segment.len], a);
            // SAFETY: the kernel wrote the results.
            unsafe { out.store(&dims, segment.start, &results[..segment.len]) };
        });
    });
}

/// As [`map2`], into memory that may be that of an operand, element by element.
pub fn update2<A: Element, B: Element, O: Element>(
    out: StridedMut<O>,
    a: Strided<A>,
    b: Strided<B>,
    grain: usize,
    kernel: &Kernel2<A, B, O>,
) {
    assert_eq!(a.shape, out.shape, "operands are broadcast by the caller");
    assert_eq!(a.shape, b.shape, "operands are broadcast by the caller");
    let mut memory_a = Default::default();
    let a = untangled(a, &mut memory_a);
    let mut memory_b = Default::default();
    let b = untangled(b, &mut memory_b);
    let (dims, [so, sa, sb]) = collapse(a.shape, [out.strides, a.strides, b.strides]);
    let len = a.len();
    if len == 0 {
        return;
    }
    // SAFETY: the offset lies within the target's memory.
    let out = Target { data: unsafe { out.data.add(out.offset) }, strides: so };
    let (a, b) = (Operand::new(&a, &dims, sa), Operand::new(&b, &dims, sb));
    let cut = Cut::buffered(&[a.layout, b.layout]);
    par::for_ranges(len, grain, |range| {
        let mut results = [MaybeUninit::uninit(); CHUNK];
        let (mut from_a, mut from_b) = (Buffer::new(), Buffer::new());
        cut.each(&dims, range, |segment| {
            // SAFETY: segments lie within the range.
            let a = unsafe { a.load(&dims, segment, &mut from_a) };
            // SAFETY: as above.
            let b = unsafe { b.load(&dims, segment, &mut from_b) };
            kernel(&mut results[..segment.len], a, b);
            // SAFETY: the kernel wrote the results.
            unsafe { out.store(&dims, segment.start, &results[..segment.len]) };
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{simd1, simd3, wide1};

    #[test]
    fn segments_of_every_kind_cover_the_output() {
        let data: Vec<i64> = (0..200_000).collect();
        let shapes: &[(&[usize], &[isize])] = &[
            (&[200_000], &[1]),
            (&[90_000], &[2]),
            (&[400, 500], &[1, 400]),
            (&[70, 100, 3], &[1, 70, 7000]),
            (&[1000, 7, 3], &[21, 3, 1]),
            (&[1000, 7, 3], &[0, 1, 7]),
            (&[300, 65], &[1, 0]),
            (&[60, 20, 100], &[100, 0, 1]),
        ];
        for &(shape, strides) in shapes {
            let x = Strided { data: &data, shape, strides, offset: 0 };
            let expected: Vec<i64> = copy::contiguous(x).iter().map(|v| v * 2 + 1).collect();
            for kernel in [simd1(|v: i64| v * 2 + 1), wide1(|v: i64| v * 2 + 1)] {
                assert_eq!(map1(x, 1000, &kernel), expected, "{shape:?} {strides:?}");
            }
            let sum = map3(x, x, x, 1000, &simd3(|a: i64, b: i64, c: i64| a + b - c + c + 1));
            assert_eq!(sum, expected);
        }
    }
}
