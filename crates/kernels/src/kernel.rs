//! The arithmetic of elementwise operations: loops over plain slices, compiled once per operation
//! and type.

use std::mem::MaybeUninit;

use crate::simd::{self, Task};
use crate::strided::Element;

/// Elements that go through a buffer at a time; few enough for the first-level cache.
pub(crate) const CHUNK: usize = 512;

/// The part of an output that a kernel writes, completely.
pub type Out<'a, T> = &'a mut [MaybeUninit<T>];
/// The arithmetic of an operation with one operand.
pub type Kernel1<A, O> = Box<dyn Fn(Out<O>, &[A]) + Sync>;
/// The arithmetic of an operation with two operands.
pub type Kernel2<A, B, O> = Box<dyn Fn(Out<O>, &[A], &[B]) + Sync>;
/// The arithmetic of an operation with three operands.
pub type Kernel3<A, B, C, O> = Box<dyn Fn(Out<O>, &[A], &[B], &[C]) + Sync>;

struct Loop1<'a, A, O, F>(&'a F, Out<'a, O>, &'a [A]);

impl<A: Copy, O: Copy, F: Fn(A) -> O> Task for Loop1<'_, A, O, F> {
    #[inline(always)]
    fn run(self) {
        let Loop1(f, out, a) = self;
        for (slot, &a) in out.iter_mut().zip(a) {
            slot.write(f(a));
        }
    }
}

struct Loop2<'a, A, B, O, F>(&'a F, Out<'a, O>, &'a [A], &'a [B]);

impl<A: Copy, B: Copy, O: Copy, F: Fn(A, B) -> O> Task for Loop2<'_, A, B, O, F> {
    #[inline(always)]
    fn run(self) {
        let Loop2(f, out, a, b) = self;
        for ((slot, &a), &b) in out.iter_mut().zip(a).zip(b) {
            slot.write(f(a, b));
        }
    }
}

struct Loop3<'a, A, B, C, O, F>(&'a F, Out<'a, O>, &'a [A], &'a [B], &'a [C]);

impl<A: Copy, B: Copy, C: Copy, O: Copy, F: Fn(A, B, C) -> O> Task for Loop3<'_, A, B, C, O, F> {
    #[inline(always)]
    fn run(self) {
        let Loop3(f, out, a, b, c) = self;
        for (((slot, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            slot.write(f(a, b, c));
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
    Box::new(move |out, a| {
        for (out, a) in out.chunks_mut(CHUNK).zip(a.chunks(CHUNK)) {
            simd::run_wide(Loop1(&f, &mut *out, a));
            if a.iter().fold(false, |any, &a| any | rare(a)) {
                for (slot, &a) in out.iter_mut().zip(a).filter(|(_, a)| rare(**a)) {
                    slot.write(slow(a));
                }
            }
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

/// As [`wide1`], of two operands.
pub fn wide2<A: Element, B: Element, O: Element>(
    f: impl Fn(A, B) -> O + Sync + 'static,
) -> Kernel2<A, B, O> {
    Box::new(move |out, a, b| simd::run_wide(Loop2(&f, out, a, b)))
}

/// As [`simd1`], of three operands.
pub fn simd3<A: Element, B: Element, C: Element, O: Element>(
    f: impl Fn(A, B, C) -> O + Sync + 'static,
) -> Kernel3<A, B, C, O> {
    Box::new(move |out, a, b, c| simd::run(Loop3(&f, out, a, b, c)))
}

/// As [`wide1`], of three operands.
pub fn wide3<A: Element, B: Element, C: Element, O: Element>(
    f: impl Fn(A, B, C) -> O + Sync + 'static,
) -> Kernel3<A, B, C, O> {
    Box::new(move |out, a, b, c| simd::run_wide(Loop3(&f, out, a, b, c)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_elements_go_the_slow_way() {
        let data: Vec<i64> = (0..3000).collect();
        let kernel = wide1_except(|v: i64| v, |v| v % 1000 == 5, |v| -v);
        let expected: Vec<i64> = data.iter().map(|&v| if v % 1000 == 5 { -v } else { v }).collect();
        let mut out = [MaybeUninit::uninit(); 3000];
        kernel(&mut out, &data);
        // SAFETY: the kernel has written every element.
        assert_eq!(out.map(|v| unsafe { v.assume_init() }).as_slice(), expected);
    }

    #[test]
    fn faults_are_named_like_the_operation() {
        #[derive(Debug)]
        struct LogNdtr;
        let fault = unsupported::<num_complex::Complex<f32>>(LogNdtr).to_string();
        assert_eq!(fault, "log_ndtr: not implemented for Complex<f32>");
    }
}
