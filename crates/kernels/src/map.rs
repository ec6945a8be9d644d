//! How elementwise kernels walk their operands.
//!
//! The output is cut into segments. Over a segment an operand is a run of memory, one repeated
//! value, or — strided any other way — gathered into a small buffer first. So the arithmetic of an
//! operation is a loop over plain slices (a [`Kernel1`], [`Kernel2`] or [`Kernel3`]), compiled once
//! per operation and type, and everything about strides is compiled once per type.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::par;
use crate::simd::{self, Task};
use crate::strided::{Dims, Element, Strided, StridedMut, Strides, collapse};

/// Elements of a segment that goes through a buffer.
const CHUNK: usize = 512;
/// Rows shorter than this are not worth a segment each: segments then span rows.
const SHORT_ROW: usize = 64;

/// An operand over one segment.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a, T> {
    /// One element for each element of the output.
    Run(&'a [T]),
    /// The same element throughout.
    One(T),
}

/// The part of an output that a kernel writes, completely.
pub type Out<'a, T> = &'a mut [MaybeUninit<T>];
/// The arithmetic of an operation with one operand.
pub type Kernel1<A, O> = Box<dyn Fn(Out<O>, Arg<A>) + Sync>;
/// The arithmetic of an operation with two operands.
pub type Kernel2<A, B, O> = Box<dyn Fn(Out<O>, Arg<A>, Arg<B>) + Sync>;
/// The arithmetic of an operation with three operands.
pub type Kernel3<A, B, C, O> = Box<dyn Fn(Out<O>, Arg<A>, Arg<B>, Arg<C>) + Sync>;

struct Loop1<'a, A, O, F>(&'a F, Out<'a, O>, Arg<'a, A>);

impl<A: Copy, O: Copy, F: Fn(A) -> O> Task for Loop1<'_, A, O, F> {
    #[inline(always)]
    fn run(self) {
        let Loop1(f, out, a) = self;
        match a {
            Arg::Run(a) => out.iter_mut().zip(a).for_each(|(slot, &a)| {
                slot.write(f(a));
            }),
            Arg::One(a) => out.fill(MaybeUninit::new(f(a))),
        }
    }
}

struct Loop2<'a, A, B, O, F>(&'a F, Out<'a, O>, Arg<'a, A>, Arg<'a, B>);

impl<A: Copy, B: Copy, O: Copy, F: Fn(A, B) -> O> Task for Loop2<'_, A, B, O, F> {
    #[inline(always)]
    fn run(self) {
        let Loop2(f, out, a, b) = self;
        match (a, b) {
            (Arg::Run(a), Arg::Run(b)) => {
                for ((slot, &a), &b) in out.iter_mut().zip(a).zip(b) {
                    slot.write(f(a, b));
                }
            }
            (Arg::Run(a), Arg::One(b)) => {
                for (slot, &a) in out.iter_mut().zip(a) {
                    slot.write(f(a, b));
                }
            }
            (Arg::One(a), Arg::Run(b)) => {
                for (slot, &b) in out.iter_mut().zip(b) {
                    slot.write(f(a, b));
                }
            }
            (Arg::One(a), Arg::One(b)) => out.fill(MaybeUninit::new(f(a, b))),
        }
    }
}

struct Loop3<'a, A, B, C, O, F>(&'a F, Out<'a, O>, Arg<'a, A>, Arg<'a, B>, Arg<'a, C>);

impl<A: Copy, B: Copy, C: Copy, O: Copy, F: Fn(A, B, C) -> O> Task for Loop3<'_, A, B, C, O, F> {
    #[inline(always)]
    fn run(self) {
        let Loop3(f, out, a, b, c) = self;
        match (a, b, c) {
            (Arg::Run(a), Arg::Run(b), Arg::Run(c)) => {
                for (((slot, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::Run(a), Arg::Run(b), Arg::One(c)) => {
                for ((slot, &a), &b) in out.iter_mut().zip(a).zip(b) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::Run(a), Arg::One(b), Arg::Run(c)) => {
                for ((slot, &a), &c) in out.iter_mut().zip(a).zip(c) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::Run(a), Arg::One(b), Arg::One(c)) => {
                for (slot, &a) in out.iter_mut().zip(a) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::One(a), Arg::Run(b), Arg::Run(c)) => {
                for ((slot, &b), &c) in out.iter_mut().zip(b).zip(c) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::One(a), Arg::Run(b), Arg::One(c)) => {
                for (slot, &b) in out.iter_mut().zip(b) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::One(a), Arg::One(b), Arg::Run(c)) => {
                for (slot, &c) in out.iter_mut().zip(c) {
                    slot.write(f(a, b, c));
                }
            }
            (Arg::One(a), Arg::One(b), Arg::One(c)) => out.fill(MaybeUninit::new(f(a, b, c))),
        }
    }
}

/// A kernel of a function the compiler cannot vectorise, such as one of the C library.
pub fn scalar1<A: Element, O: Element>(f: impl Fn(A) -> O + Sync + 'static) -> Kernel1<A, O> {
    Box::new(move |out, a| Loop1(&f, out, a).run())
}

/// A kernel of few instructions per element.
pub fn simd1<A: Element, O: Element>(f: impl Fn(A) -> O + Sync + 'static) -> Kernel1<A, O> {
    Box::new(move |out, a| simd::run(Loop1(&f, out, a)))
}

/// A kernel of many vector instructions per element; `f` is best a function marked
/// `#[inline(always)]`.
pub fn wide1<A: Element, O: Element>(f: impl Fn(A) -> O + Sync + 'static) -> Kernel1<A, O> {
    Box::new(move |out, a| simd::run_wide(Loop1(&f, out, a)))
}

/// A kernel of many vector instructions per element, except for `rare` arguments, which `slow`
/// takes, one by one.
pub fn wide1_except<A: Element, O: Element>(
    f: impl Fn(A) -> O + Sync + 'static,
    rare: impl Fn(A) -> bool + Sync + 'static,
    slow: impl Fn(A) -> O + Sync + 'static,
) -> Kernel1<A, O> {
    Box::new(move |out, a| match a {
        Arg::Run(a) => {
            for (out, a) in out.chunks_mut(CHUNK).zip(a.chunks(CHUNK)) {
                simd::run_wide(Loop1(&f, &mut *out, Arg::Run(a)));
                if a.iter().fold(false, |any, &a| any | rare(a)) {
                    for (slot, &a) in out.iter_mut().zip(a).filter(|(_, a)| rare(**a)) {
                        slot.write(slow(a));
                    }
                }
            }
        }
        Arg::One(a) => {
            out.fill(MaybeUninit::new(if rare(a) { slow(a) } else { f(a) }));
        }
    })
}

/// As [`scalar1`], of two operands.
pub fn scalar2<A: Element, B: Element, O: Element>(
    f: impl Fn(A, B) -> O + Sync + 'static,
) -> Kernel2<A, B, O> {
    Box::new(move |out, a, b| Loop2(&f, out, a, b).run())
}

/// As [`simd1`], of two operands.
pub fn simd2<A: Element, B: Element, O: Element>(
    f: impl Fn(A, B) -> O + Sync + 'static,
) -> Kernel2<A, B, O> {
    Box::new(move |out, a, b| simd::run(Loop2(&f, out, a, b)))
}

/// As [`simd1`], of three operands.
pub fn simd3<A: Element, B: Element, C: Element, O: Element>(
    f: impl Fn(A, B, C) -> O + Sync + 'static,
) -> Kernel3<A, B, C, O> {
    Box::new(move |out, a, b, c| simd::run(Loop3(&f, out, a, b, c)))
}

/// An operand after its dimensions were merged with those of the others.
struct Operand<T> {
    data: *const T,
    strides: Strides,
    /// All elements are one run, or one value, whatever the dimensions.
    whole: Option<isize>,
}

// SAFETY: an operand is only read.
unsafe impl<T: Sync> Sync for Operand<T> {}

impl<T: Element> Operand<T> {
    fn new(view: &Strided<T>, dims: &[usize], strides: Strides) -> Self {
        let whole = [0isize, 1].into_iter().find(|&inner| {
            let mut expected = inner;
            dims.iter().zip(&strides).rev().all(|(&size, &stride)| {
                let fits = stride == expected || size == 1;
                expected *= size as isize;
                fits
            })
        });
        Operand {
            data: view.data.as_ptr().wrapping_add(view.offset),
            strides,
            whole,
        }
    }

    /// The elements of a segment.
    ///
    /// # Safety
    /// The segment lies within `dims`, the dimensions of the view this was made of.
    #[inline(always)]
    unsafe fn load<'a>(
        &'a self,
        dims: &[usize],
        segment: &Segment,
        buffer: &'a mut [MaybeUninit<T>; CHUNK],
    ) -> Arg<'a, T> {
        let len = segment.len;
        // SAFETY: positions of the view lie within its data, whose lifetime the caller holds.
        let run = |at: isize| unsafe { std::slice::from_raw_parts(self.data.offset(at), len) };
        // SAFETY: as above.
        let one = |at: isize| unsafe { *self.data.offset(at) };
        match self.whole {
            Some(0) => return Arg::One(one(0)),
            Some(_) => return Arg::Run(run(segment.start as isize)),
            None => {}
        }
        let last = dims.len() - 1;
        let in_row = segment.index.inner() + len <= dims[last];
        match self.strides[last] {
            1 if in_row => Arg::Run(run(segment.index.position(&self.strides))),
            0 if in_row => Arg::One(one(segment.index.position(&self.strides))),
            _ => {
                let buffer = &mut buffer[..len];
                // SAFETY: the caller vouches for the segment.
                unsafe { self.gather(dims, segment.index.clone(), buffer) };
                // SAFETY: the buffer has just been written.
                Arg::Run(unsafe { &*(buffer as *const [MaybeUninit<T>] as *const [T]) })
            }
        }
    }

    /// Copies the elements from `index` on into `out`.
    ///
    /// # Safety
    /// As many elements as `out` takes lie within `dims`.
    unsafe fn gather(&self, dims: &[usize], mut index: Index, out: &mut [MaybeUninit<T>]) {
        let inner = dims[dims.len() - 1];
        let stride = self.strides[dims.len() - 1];
        let mut done = 0;
        while done < out.len() {
            let take = (inner - index.inner()).min(out.len() - done);
            let at = index.position(&self.strides);
            for (i, slot) in out[done..done + take].iter_mut().enumerate() {
                // SAFETY: the caller vouches for the elements.
                slot.write(unsafe { *self.data.offset(at + i as isize * stride) });
            }
            done += take;
            index.advance(dims, take);
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
        self.0
            .iter()
            .zip(strides)
            .map(|(&index, &stride)| index as isize * stride)
            .sum()
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

/// Cuts `range` into segments of at most `limit` elements where all operands are `plain` (runs or
/// single values throughout), else into rows or, where rows are short, pieces of several.
#[inline(always)]
fn segments(
    dims: &[usize],
    range: Range<usize>,
    plain: bool,
    limit: usize,
    mut f: impl FnMut(&Segment),
) {
    let inner = dims[dims.len() - 1];
    let limit = if plain { limit } else { CHUNK };
    let by_rows = inner >= SHORT_ROW;
    let mut segment = Segment {
        start: range.start,
        len: 0,
        index: Index::new(dims, range.start),
    };
    while segment.start < range.end {
        segment.len = (range.end - segment.start).min(limit);
        if !plain && by_rows {
            segment.len = segment.len.min(inner - segment.index.inner());
        }
        f(&segment);
        segment.start += segment.len;
        if !plain {
            if by_rows {
                segment.index.advance(dims, segment.len);
            } else {
                segment.index = Index::new(dims, segment.start);
            }
        }
    }
}

fn buffer<T: Copy>() -> [MaybeUninit<T>; CHUNK] {
    [MaybeUninit::uninit(); CHUNK]
}

/// Applies a kernel to every element.
pub fn map1<A: Element, O: Element>(
    a: Strided<A>,
    grain: usize,
    kernel: &(dyn Fn(Out<O>, Arg<A>) + Sync),
) -> Vec<O> {
    let (dims, [sa]) = collapse(a.shape, [a.strides]);
    let len = a.len();
    if len == 0 {
        return Vec::new();
    }
    let a = Operand::new(&a, &dims, sa);
    let plain = a.whole.is_some();
    par::fill(len, grain, |range, out| {
        let first = range.start;
        let mut from_a = buffer();
        segments(&dims, range, plain, usize::MAX, |segment| {
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
    kernel: &(dyn Fn(Out<O>, Arg<A>, Arg<B>) + Sync),
) -> Vec<O> {
    assert_eq!(a.shape, b.shape, "operands are broadcast by the caller");
    let (dims, [sa, sb]) = collapse(a.shape, [a.strides, b.strides]);
    let len = a.len();
    if len == 0 {
        return Vec::new();
    }
    let (a, b) = (Operand::new(&a, &dims, sa), Operand::new(&b, &dims, sb));
    let plain = a.whole.is_some() && b.whole.is_some();
    par::fill(len, grain, |range, out| {
        let first = range.start;
        let (mut from_a, mut from_b) = (buffer(), buffer());
        segments(&dims, range, plain, usize::MAX, |segment| {
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
    kernel: &(dyn Fn(Out<O>, Arg<A>, Arg<B>, Arg<C>) + Sync),
) -> Vec<O> {
    assert_eq!(a.shape, b.shape, "operands are broadcast by the caller");
    assert_eq!(a.shape, c.shape, "operands are broadcast by the caller");
    let (dims, [sa, sb, sc]) = collapse(a.shape, [a.strides, b.strides, c.strides]);
    let len = a.len();
    if len == 0 {
        return Vec::new();
    }
    let a = Operand::new(&a, &dims, sa);
    let b = Operand::new(&b, &dims, sb);
    let c = Operand::new(&c, &dims, sc);
    let plain = a.whole.is_some() && b.whole.is_some() && c.whole.is_some();
    par::fill(len, grain, |range, out| {
        let first = range.start;
        let (mut from_a, mut from_b, mut from_c) = (buffer(), buffer(), buffer());
        segments(&dims, range, plain, usize::MAX, |segment| {
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
    kernel: &(dyn Fn(Out<O>, Arg<A>) + Sync),
) {
    assert_eq!(a.shape, out.shape, "operands are broadcast by the caller");
    let (dims, [so, sa]) = collapse(a.shape, [out.strides, a.strides]);
    let len = a.len();
    if len == 0 {
        return;
    }
    // SAFETY: the offset lies within the target's memory.
    let out = Target {
        data: unsafe { out.data.add(out.offset) },
        strides: so,
    };
    let a = Operand::new(&a, &dims, sa);
    let plain = a.whole.is_some();
    par::for_ranges(len, grain, |range| {
        let (mut results, mut from_a) = (buffer(), buffer());
        segments(&dims, range, plain, CHUNK, |segment| {
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
    kernel: &(dyn Fn(Out<O>, Arg<A>, Arg<B>) + Sync),
) {
    assert_eq!(a.shape, out.shape, "operands are broadcast by the caller");
    assert_eq!(a.shape, b.shape, "operands are broadcast by the caller");
    let (dims, [so, sa, sb]) = collapse(a.shape, [out.strides, a.strides, b.strides]);
    let len = a.len();
    if len == 0 {
        return;
    }
    // SAFETY: the offset lies within the target's memory.
    let out = Target {
        data: unsafe { out.data.add(out.offset) },
        strides: so,
    };
    let (a, b) = (Operand::new(&a, &dims, sa), Operand::new(&b, &dims, sb));
    let plain = a.whole.is_some() && b.whole.is_some();
    par::for_ranges(len, grain, |range| {
        let (mut results, mut from_a, mut from_b) = (buffer(), buffer(), buffer());
        segments(&dims, range, plain, CHUNK, |segment| {
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

/// The fault of an operation that makes no sense for a type.
pub(crate) fn unsupported<T>(kind: impl std::fmt::Debug) -> crate::Error {
    let mut name = String::new();
    for c in format!("{kind:?}").chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    let path = std::any::type_name::<T>();
    let element = path.rsplit("::").next().unwrap_or(path);
    crate::Error::Value(format!("{name}: not implemented for {element}"))
}
