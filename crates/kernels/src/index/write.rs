//! The writing loop.

use super::read::Offset;
use super::runs;
use crate::{Dims, Element, Strided, StridedMut, Strides, collapse, par};

/// Combines each element of `source` into the target element `step * index` away from where `base`
/// puts its place: `combine(old, new)`. `base` are the target's strides over the common shape of
/// source and index, zero along what is indexed.
///
/// Threads share the work along a dimension that is not indexed, where no two places meet, so that
/// every target element sees its sources in row-major order.
///
/// # Safety
/// Every position so made must lie in the target's storage.
pub(crate) unsafe fn write<T: Element, I: Offset>(
    target: &StridedMut<T>,
    base: &[isize],
    step: isize,
    index: &Strided<I>,
    source: &Strided<T>,
    combine: impl Fn(T, T) -> T + Sync,
) {
    let (shape, strides) = collapse(index.shape, [base, index.strides, source.strides]);
    let len: usize = shape.iter().product();
    if len == 0 {
        return;
    }
    let threads = par::num_threads();
    let free = (0..shape.len()).find(|&d| strides[0][d] != 0 && shape[d] >= threads);
    let part = |shape: &Dims, first: [isize; 3]| {
        // SAFETY: the caller's promise; a part of the shape has only positions of the whole.
        unsafe { write_part(target, step, index, source, shape, &strides, first, &combine) }
    };
    let Some(free) = free else {
        part(&shape, [0; 3]);
        return;
    };
    let grain = par::GRAIN.div_ceil(len / shape[free]);
    par::for_ranges(shape[free], grain, |range| {
        let mut shape = shape.clone();
        shape[free] = range.len();
        part(&shape, [0, 1, 2].map(|k| range.start as isize * strides[k][free]));
    });
}

/// One thread's part of [`write`]: `shape` of it, from the positions `first` on.
///
/// # Safety
/// As for [`write`]; and no other thread may touch the same elements.
#[allow(clippy::too_many_arguments)]
unsafe fn write_part<T: Element, I: Offset>(
    target: &StridedMut<T>,
    step: isize,
    index: &Strided<I>,
    source: &Strided<T>,
    shape: &Dims,
    strides: &[Strides; 3],
    first: [isize; 3],
    combine: &impl Fn(T, T) -> T,
) {
    let [base, along, from] = strides;
    let last = shape.len() - 1;
    let (base_step, index_step, source_step) = (base[last], along[last], from[last]);
    let distance = |position: isize| {
        // SAFETY: the position comes from the index's own shape and strides.
        unsafe { index.at(index.offset as isize + position) }.distance() * step
    };
    runs(shape, [base, along, from], 0..shape.iter().product(), |_, at, len| {
        let [to, index_at, source_at]: [isize; 3] = std::array::from_fn(|k| at[k] + first[k]);
        let to = target.offset as isize + to;
        let source_at = source.offset as isize + source_at;
        // SAFETY, here and below: the caller's promise for the target; the source's positions come
        // from its own shape and strides.
        if index_step == 0 {
            let to = to + distance(index_at);
            if base_step == 1 && source_step == 1 {
                let target = unsafe { std::slice::from_raw_parts_mut(target.data.offset(to), len) };
                let source = &source.data[source_at as usize..][..len];
                for (old, &new) in target.iter_mut().zip(source) {
                    *old = combine(*old, new);
                }
                return;
            }
            for i in 0..len as isize {
                unsafe {
                    let place = target.data.offset(to + i * base_step);
                    *place = combine(*place, source.at(source_at + i * source_step));
                }
            }
        } else {
            for i in 0..len as isize {
                unsafe {
                    let to = to + i * base_step + distance(index_at + i * index_step);
                    let place = target.data.offset(to);
                    *place = combine(*place, source.at(source_at + i * source_step));
                }
            }
        }
    });
}
