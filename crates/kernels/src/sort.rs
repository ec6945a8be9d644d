//! Sorting along a dimension. Every sort is stable and puts NaN last, or first when descending.

use crate::lanes::{Fresh, Lanes, dense};
use crate::order::{Key, Ordered};
use crate::{Error, Result, Strided};

/// Lanes shorter than this are sorted by comparison.
const RADIX: usize = 256;
/// What sorting an element costs, in additions.
const COST: usize = 32;

/// Sorts along `dim`: the elements in order, and where each stood.
pub fn sort<T: Ordered>(x: Strided<'_, T>, dim: usize, descending: bool) -> (Vec<T>, Vec<i64>) {
    let data = dense(x);
    let lanes = Lanes::along(x.shape, dim);
    let (values, indices) = (Fresh::new(data.len()), Fresh::new(data.len()));
    lanes.for_each(&data, COST, &|number, lane: &[T]| {
        let start = lanes.start(number);
        for (k, index) in order(lane, descending).into_iter().enumerate() {
            let at = start + k * lanes.inner;
            // SAFETY: an element of this lane and of no other.
            unsafe {
                values.set(at, lane[index as usize]);
                indices.set(at, index);
            }
        }
    });
    // SAFETY: the lanes cover the buffer.
    unsafe { (values.finish(), indices.finish()) }
}

/// The `k` largest elements along `dim`, or the smallest, and where each stood; the earliest of
/// equal ones. In order where `sorted`, otherwise in no particular one.
pub fn topk<T: Ordered>(
    x: Strided<'_, T>,
    dim: usize,
    k: usize,
    largest: bool,
    sorted: bool,
) -> Result<(Vec<T>, Vec<i64>)> {
    let lanes = Lanes::along(x.shape, dim);
    if k > lanes.len {
        return Err(Error::Value("selected index k out of range".into()));
    }
    let data = dense(x);
    let chosen = Lanes { len: k, ..lanes };
    let (values, indices) = (Fresh::new(lanes.count() * k), Fresh::new(lanes.count() * k));
    if k > 0 {
        lanes.for_each(&data, 4, &|number, lane: &[T]| {
            let mut best = smallest(lane, k, largest);
            if sorted {
                best.sort_unstable();
            }
            let start = chosen.start(number);
            for (k, (_, index)) in best.into_iter().enumerate() {
                let at = start + k * chosen.inner;
                // SAFETY: an element of this lane and of no other.
                unsafe {
                    values.set(at, lane[index]);
                    indices.set(at, index as i64);
                }
            }
        });
    }
    // SAFETY: each lane has given all its `k` elements.
    Ok(unsafe { (values.finish(), indices.finish()) })
}

/// The `k` elements with the smallest keys, or the largest where `flip`, and their places.
///
/// Gathers candidates below a bar that drops each time there are twice too many.
fn smallest<T: Ordered>(lane: &[T], k: usize, flip: bool) -> Vec<(T::Key, usize)> {
    let room = k.saturating_mul(2).max(64);
    let mut best = Vec::with_capacity(room.min(lane.len()));
    let mut bar = None;
    for (index, item) in lane.iter().enumerate() {
        let key = if flip { !item.key() } else { item.key() };
        // What equals the bar comes later than the elements that set it.
        if bar.is_none_or(|bar| key < bar) {
            best.push((key, index));
            if best.len() == room {
                bar = Some(best.select_nth_unstable(k - 1).1.0);
                best.truncate(k);
            }
        }
    }
    if best.len() > k {
        best.select_nth_unstable(k - 1);
        best.truncate(k);
    }
    best
}

/// The places of a lane's elements in order.
pub(crate) fn order<T: Ordered>(lane: &[T], descending: bool) -> Vec<i64> {
    let key = |item: &T| if descending { !item.key() } else { item.key() };
    if lane.len() > u32::MAX as usize {
        let mut indices: Vec<i64> = (0..lane.len() as i64).collect();
        indices.sort_by_key(|&index| key(&lane[index as usize]));
        return indices;
    }
    let mut entries: Vec<(T::Key, u32)> = lane.iter().map(key).zip(0..).collect();
    if lane.len() < RADIX {
        entries.sort_unstable();
    } else {
        entries = radix(entries);
    }
    entries.into_iter().map(|(_, index)| index as i64).collect()
}

/// Sorts entries by their keys, byte by byte from the least significant; stable.
fn radix<K: Key>(mut entries: Vec<(K, u32)>) -> Vec<(K, u32)> {
    let mut counts = vec![[0u32; 256]; K::BYTES];
    for (key, _) in &entries {
        for (byte, counts) in counts.iter_mut().enumerate() {
            counts[key.byte(byte)] += 1;
        }
    }
    let mut other = entries.clone();
    for (byte, counts) in counts.iter().enumerate() {
        if counts[entries[0].0.byte(byte)] as usize == entries.len() {
            continue;
        }
        let mut next = [0usize; 256];
        for value in 1..256 {
            next[value] = next[value - 1] + counts[value - 1] as usize;
        }
        for &entry in &entries {
            let slot = &mut next[entry.0.byte(byte)];
            other[*slot] = entry;
            *slot += 1;
        }
        std::mem::swap(&mut entries, &mut other);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector's view: the length must outlive it.
    macro_rules! row {
        ($data:expr) => {
            Strided { data: &$data, shape: &[$data.len()], strides: &[1], offset: 0 }
        };
    }

    #[test]
    fn nan_is_the_greatest_and_zeros_are_equal() {
        let data = [f32::NAN, 1.0, 0.0, -0.0, -f32::NAN, f32::INFINITY];
        assert_eq!(sort(row!(data), 0, false).1, [2, 3, 1, 5, 0, 4]);
        assert_eq!(sort(row!(data), 0, true).1, [0, 4, 5, 1, 2, 3]);
        let (values, _) = sort(row!(data), 0, false);
        assert!(values[1].is_sign_negative() && values[4].is_nan());
    }

    #[test]
    fn long_lanes_agree_with_a_comparison_sort() {
        let noise = |i: usize| (i as u64).wrapping_mul(0x9e3779b97f4a7c15) >> 32;
        fn check<T: Ordered>(data: Vec<T>) {
            for descending in [false, true] {
                let mut expected: Vec<i64> = (0..data.len() as i64).collect();
                expected.sort_by(|&a, &b| {
                    let ordering = data[a as usize].key().cmp(&data[b as usize].key());
                    if descending { ordering.reverse() } else { ordering }
                });
                assert_eq!(sort(row!(data), 0, descending).1, expected);
            }
        }
        check((0..3000).map(|i| noise(i) as i64 - (1 << 31)).collect::<Vec<_>>());
        check((0..3000).map(|i| (noise(i) % 100) as i32 - 50).collect::<Vec<_>>());
        check((0..3000).map(|i| noise(i) as u8).collect::<Vec<_>>());
        check((0..3000).map(|i| f32::from_bits(noise(i) as u32)).collect::<Vec<_>>());
        check((0..3000).map(|i| noise(i) as f64 - 2e9).collect::<Vec<_>>());
    }

    #[test]
    fn columns() {
        let data = [3, 1, 2, 2, 1, 3];
        let x = Strided { data: &data, shape: &[3, 2], strides: &[2, 1], offset: 0 };
        assert_eq!(sort(x, 0, false), (vec![1, 1, 2, 2, 3, 3], vec![2, 0, 1, 1, 0, 2]));
        let turned = Strided { data: &data, shape: &[2, 3], strides: &[1, 2], offset: 0 };
        assert_eq!(sort(turned, 1, true).0, [3, 2, 1, 3, 2, 1]);
        let none = Strided { data: &data, shape: &[0, 2], strides: &[2, 1], offset: 0 };
        assert_eq!(sort(none, 0, false), (vec![], vec![]));
        assert_eq!(sort(none, 1, false), (vec![], vec![]));
    }

    #[test]
    fn topk_takes_the_earliest_of_equals() {
        let data = [f64::NAN, 1.0, 3.0, 2.0, 1.0];
        let (values, indices) = topk(row!(data), 0, 3, true, true).unwrap();
        assert!(values[0].is_nan() && values[1..] == [3.0, 2.0]);
        assert_eq!(indices, [0, 2, 3]);
        assert_eq!(topk(row!(data), 0, 2, false, true).unwrap(), (vec![1.0, 1.0], vec![1, 4]));
        assert_eq!(topk(row!(data), 0, 0, false, true).unwrap(), (vec![], vec![]));
        assert!(topk(row!(data), 0, 6, true, true).is_err());
    }

    #[test]
    fn topk_of_a_long_lane_is_the_head_of_its_sort() {
        let data: Vec<i32> = (0..5000).map(|i| (i * 7919) % 1009).collect();
        for (k, largest) in [(1, true), (40, true), (40, false), (3000, false), (5000, true)] {
            let (values, indices) = sort(row!(data), 0, largest);
            let top = topk(row!(data), 0, k, largest, true).unwrap();
            assert_eq!(top, (values[..k].to_vec(), indices[..k].to_vec()));
        }
    }
}
