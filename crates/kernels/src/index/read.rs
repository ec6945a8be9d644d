//! The reading loop.

use super::runs;
use crate::{Element, Strided, collapse, par};

/// What an index is in memory: an index tensor's element, or an offset worked out from several.
pub(crate) trait Offset: Element {
    /// As a distance in units of the step.
    fn distance(self) -> isize;
}

impl Offset for i64 {
    #[inline(always)]
    fn distance(self) -> isize {
        self as isize
    }
}

impl Offset for isize {
    #[inline(always)]
    fn distance(self) -> isize {
        self
    }
}

/// For each place of the index, the element `step * index` away from where `base` puts that place in
/// the source. `base` are the source's strides over the index's shape.
///
/// # Safety
/// Every position so made must lie in the source.
pub(crate) unsafe fn read<T: Element, I: Offset>(
    source: &[T],
    offset: usize,
    base: &[isize],
    step: isize,
    index: &Strided<I>,
) -> Vec<T> {
    let (shape, [base, along]) = collapse(index.shape, [base, index.strides]);
    let last = shape.len() - 1;
    let (base_step, index_step) = (base[last], along[last]);
    let element = |position: isize| {
        debug_assert!(position >= 0 && (position as usize) < source.len());
        // SAFETY: the caller's promise.
        unsafe { *source.get_unchecked(position as usize) }
    };
    let distance = |position: isize| {
        // SAFETY: the position comes from the index's own shape and strides.
        unsafe { index.at(index.offset as isize + position) }.distance() * step
    };
    par::fill(index.len(), par::GRAIN, |range, out| {
        let start = range.start;
        runs(&shape, [&base, &along], range, |linear, [at, index_at], len| {
            let out = &mut out[linear - start..][..len];
            let from = offset as isize + at;
            if index_step == 0 {
                let from = from + distance(index_at);
                if base_step == 1 {
                    debug_assert!(from >= 0 && from as usize + len <= source.len());
                    // SAFETY: the caller's promise for the first and the last element.
                    out.write_copy_of_slice(unsafe {
                        source.get_unchecked(from as usize..from as usize + len)
                    });
                } else {
                    for (i, slot) in out.iter_mut().enumerate() {
                        slot.write(element(from + i as isize * base_step));
                    }
                }
            } else {
                for (i, slot) in out.iter_mut().enumerate() {
                    let i = i as isize;
                    slot.write(element(from + i * base_step + distance(index_at + i * index_step)));
                }
            }
        });
    })
}
