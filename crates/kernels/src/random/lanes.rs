//! Making elements from a few blocks side by side, in the widest vectors the processor has.

use super::philox::{LANES, philox_lanes};
use crate::Element;

/// The elements of [`LANES`] blocks from `counter` on, of which the first makes `element`. The same
/// code whatever the processor: no value depends on it.
#[inline(always)]
pub(super) fn make<T: Element, const PER: usize>(
    seed: u64,
    counter: u64,
    element: usize,
    make: &impl Fn(usize, u64, [u32; 4]) -> [T; PER],
) -> [[T; PER]; LANES] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just been asked.
        return unsafe { make_avx2(seed, counter, element, make) };
    }
    make_from(philox_lanes(seed, counter), counter, element, make)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn make_avx2<T: Element, const PER: usize>(
    seed: u64,
    counter: u64,
    element: usize,
    make: &impl Fn(usize, u64, [u32; 4]) -> [T; PER],
) -> [[T; PER]; LANES] {
    make_from(philox_lanes_avx2(seed, counter), counter, element, make)
}

/// Apart from what uses the words: seeing both, the compiler regroups the lanes and loses more than
/// the call costs.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn philox_lanes_avx2(seed: u64, counter: u64) -> [[u32; LANES]; 4] {
    philox_lanes(seed, counter)
}

#[inline(always)]
fn make_from<T: Element, const PER: usize>(
    [a, b, c, d]: [[u32; LANES]; 4],
    counter: u64,
    element: usize,
    make: &impl Fn(usize, u64, [u32; 4]) -> [T; PER],
) -> [[T; PER]; LANES] {
    let mut made = [[T::zeroed(); PER]; LANES];
    for (lane, made) in made.iter_mut().enumerate() {
        let counter = counter.wrapping_add(lane as u64);
        *made = make(element + lane * PER, counter, [a[lane], b[lane], c[lane], d[lane]]);
    }
    made
}
