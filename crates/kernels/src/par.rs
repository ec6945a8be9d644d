//! When to use more than one thread.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Below this many cheap element operations a second thread costs more than it saves.
pub const GRAIN: usize = 32 * 1024;

static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// How many threads kernels may use at once.
pub fn num_threads() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => rayon::current_num_threads(),
        limit => limit.min(rayon::current_num_threads()),
    }
}

/// Lowers the number of threads kernels may use; zero lifts the limit.
pub fn set_num_threads(limit: usize) {
    LIMIT.store(limit, Ordering::Relaxed);
}

/// Calls `f` on ranges that cover `0..len`, on several threads where each gets at least `grain`
/// items. Results must not depend on how the range is cut.
pub fn for_ranges(len: usize, grain: usize, f: impl Fn(Range<usize>) + Sync) {
    let parts = num_threads().min(len / grain.max(1)).max(1);
    if parts == 1 {
        if len > 0 {
            f(0..len);
        }
        return;
    }
    let step = len.div_ceil(parts);
    (0..parts).into_par_iter().for_each(|part| {
        let start = part * step;
        let end = (start + step).min(len);
        if start < end {
            f(start..end);
        }
    });
}

/// Fills a fresh row-major buffer of `len` elements: `f(range, out)` writes `out`, the
/// uninitialised part of the buffer that belongs to `range`, completely.
pub fn fill<T: crate::Element>(
    len: usize,
    grain: usize,
    f: impl Fn(Range<usize>, &mut [std::mem::MaybeUninit<T>]) + Sync,
) -> Vec<T> {
    struct Target<T>(*mut T);
    unsafe impl<T> Sync for Target<T> {}
    impl<T> Target<T> {
        /// # Safety
        /// Ranges handed to different threads must not overlap and must lie within the buffer.
        #[allow(clippy::mut_from_ref)]
        unsafe fn part(&self, range: &Range<usize>) -> &mut [std::mem::MaybeUninit<T>] {
            unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start).cast(), range.len()) }
        }
    }
    let mut buffer = Vec::<T>::with_capacity(len);
    let target = Target(buffer.as_mut_ptr());
    // SAFETY: `for_ranges` hands out disjoint ranges within `0..len`.
    for_ranges(len, grain, |range| f(range.clone(), unsafe { target.part(&range) }));
    // SAFETY: the ranges cover `0..len` and `f` writes each part completely.
    unsafe { buffer.set_len(len) };
    buffer
}

#[cfg(test)]
mod tests {
    #[test]
    fn ranges_cover_everything_once() {
        let out = super::fill(100_001, 1000, |range, out| {
            for (i, slot) in range.zip(out) {
                slot.write(i as i64);
            }
        });
        assert!(out.iter().enumerate().all(|(i, &v)| v == i as i64));
    }
}
