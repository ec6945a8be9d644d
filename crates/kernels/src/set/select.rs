//! The elements that satisfy a condition.

use crate::lanes::{Fresh, dense};
use crate::reduce::Truth;
use crate::{Ordered, Strided, par};

/// Elements that one task looks at.
const SEGMENT: usize = 16 * 1024;

/// The index of every non-zero element, one row each, and how many there are.
pub fn nonzero<T: Truth>(x: Strided<'_, T>) -> (Vec<i64>, usize) {
    let data = dense(x);
    let segments: Vec<&[T]> = data.chunks(SEGMENT).collect();
    let counts = par::fill(segments.len(), 1, |range, out| {
        for (segment, slot) in segments[range].iter().zip(out) {
            slot.write(segment.iter().filter(|item| item.truth()).count());
        }
    });
    let starts: Vec<usize> = counts
        .iter()
        .scan(0, |total, count| {
            *total += count;
            Some(*total - count)
        })
        .collect();
    let total: usize = counts.iter().sum();
    let rank = x.shape.len();
    if rank == 0 {
        return (Vec::new(), total);
    }
    let width = x.shape[rank - 1];
    let out = Fresh::new(total * rank);
    par::for_ranges(segments.len(), 1, |range| {
        for segment in range {
            let mut at = starts[segment] * rank;
            let mut index = vec![0i64; rank];
            let mut row = usize::MAX;
            for (i, item) in segments[segment].iter().enumerate() {
                if !item.truth() {
                    continue;
                }
                let linear = segment * SEGMENT + i;
                if linear / width != row {
                    row = linear / width;
                    let mut left = row;
                    for d in (0..rank - 1).rev() {
                        index[d] = (left % x.shape[d]) as i64;
                        left /= x.shape[d];
                    }
                }
                index[rank - 1] = (linear - row * width) as i64;
                for &coordinate in &index {
                    // SAFETY: the counts have left exactly this segment's rows to it.
                    unsafe { out.set(at, coordinate) };
                    at += 1;
                }
            }
        }
    });
    // SAFETY: the segments write as many rows as they counted.
    (unsafe { out.finish() }, total)
}

/// Whether each of `elements` is among `tests`. No NaN is.
pub fn isin<T: Ordered>(elements: Strided<'_, T>, tests: Strided<'_, T>) -> Vec<u8> {
    let (elements, tests) = (dense(elements), dense(tests));
    let present = tests.iter().filter(|item| !item.is_nan());
    let mut keys: Vec<T::Key> = present.map(|item| item.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    par::fill(elements.len(), par::GRAIN / 32, |range, out| {
        for (item, slot) in elements[range].iter().zip(out) {
            slot.write(keys.binary_search(&item.key()).is_ok() as u8);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_what_is_not_zero() {
        let data = [f32::NAN, 0.0, -0.0, 1.0, 0.0, 2.0];
        let x = Strided { data: &data, shape: &[2, 3], strides: &[3, 1], offset: 0 };
        assert_eq!(nonzero(x), (vec![0, 0, 1, 0, 1, 2], 3));
        let turned = Strided { data: &data, shape: &[3, 2], strides: &[1, 3], offset: 0 };
        assert_eq!(nonzero(turned), (vec![0, 0, 0, 1, 2, 1], 3));
        let scalar = Strided { data: &data, shape: &[], strides: &[], offset: 3 };
        assert_eq!(nonzero(scalar), (vec![], 1));
        let none = Strided { data: &data, shape: &[0, 3], strides: &[3, 1], offset: 0 };
        assert_eq!(nonzero(none), (vec![], 0));
    }

    #[test]
    fn many_segments() {
        let data: Vec<u8> = (0..120_000).map(|i| (i % 7 == 0) as u8).collect();
        let x = Strided { data: &data, shape: &[40, 30, 100], strides: &[3000, 100, 1], offset: 0 };
        let (indices, count) = nonzero(x);
        assert_eq!(count, 120_000usize.div_ceil(7));
        for (k, index) in indices.chunks(3).enumerate() {
            assert_eq!(index[0] * 3000 + index[1] * 100 + index[2], 7 * k as i64);
        }
    }

    #[test]
    fn membership() {
        let data = [1.0f64, f64::NAN, 3.0, 0.0];
        let x = Strided { data: &data, shape: &[4], strides: &[1], offset: 0 };
        let tests = [3.0, f64::NAN, -0.0];
        let tests = Strided { data: &tests, shape: &[3], strides: &[1], offset: 0 };
        assert_eq!(isin(x, tests), [0, 0, 1, 1]);
    }
}
