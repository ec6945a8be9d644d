//! Where values belong: sorted sequences and bins.

mod histogram;

pub use histogram::{bincount, bincount_weighted, histc, histogram, histogram_uniform};

use crate::lanes::dense;
use crate::{Error, Ordered, Result, Strided, par};

/// Where each of `values` would go into `sorted` to keep it in order: before what equals it, or
/// after where `right`.
///
/// `sorted` ascends along its last dimension; it is either one sequence for all values, or has the
/// leading dimensions of `values` and one sequence for each row of them. With a `sorter` (of the
/// same shape) the sequence is `sorted[sorter]`.
pub fn searchsorted<T: Ordered>(
    sorted: Strided<'_, T>,
    values: Strided<'_, T>,
    right: bool,
    sorter: Option<Strided<'_, i64>>,
) -> Result<Vec<i64>> {
    let len = sorted.shape.last().copied().unwrap_or(1);
    let width = match (sorted.shape.len(), values.shape.last()) {
        (2.., Some(&width)) => width,
        _ => values.len(),
    };
    let sequences = dense(sorted);
    let items = dense(values);
    let places = sorter.map(dense);
    if let Some(places) = &places
        && places.iter().any(|&place| place < 0 || place as usize >= len)
    {
        return Err(Error::Value("torch.searchsorted(): sorter index out of range".into()));
    }
    let steps = len.checked_ilog2().unwrap_or(0) as usize + 1;
    Ok(par::fill(items.len(), par::GRAIN / (4 * steps), |range, out| {
        for (i, slot) in range.zip(out) {
            let value = items[i];
            let start = i / width * len;
            let sequence = &sequences[start..start + len];
            let found = match &places {
                None => bisect(len, right, value, |k| sequence[k]),
                Some(places) => {
                    let places = &places[start..start + len];
                    bisect(len, right, value, |k| sequence[places[k] as usize])
                }
            };
            slot.write(found as i64);
        }
    }))
}

/// The first of `len` elements that does not come before `value`. NaN is greater than anything,
/// and anything else comes before any NaN.
#[inline(always)]
fn bisect<T: Ordered>(len: usize, right: bool, value: T, at: impl Fn(usize) -> T) -> usize {
    let (mut start, mut end) = (0, len);
    while start < end {
        let middle = start + (end - start) / 2;
        let item = at(middle);
        let stop = if right { item > value } else { item >= value };
        if stop {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! row {
        ($data:expr) => {
            Strided { data: &$data, shape: &[$data.len()], strides: &[1], offset: 0 }
        };
    }

    #[test]
    fn either_side_of_equals() {
        let sorted = [1i32, 3, 3, 5];
        let values = [0, 1, 3, 4, 5, 6];
        let left = searchsorted(row!(sorted), row!(values), false, None).unwrap();
        assert_eq!(left, [0, 0, 1, 3, 3, 4]);
        assert_eq!(
            searchsorted(row!(sorted), row!(values), true, None).unwrap(),
            [0, 1, 3, 3, 4, 4]
        );
        let none: [i32; 0] = [];
        assert_eq!(searchsorted(row!(none), row!(values), true, None).unwrap(), [0; 6]);
    }

    #[test]
    fn rows_of_their_own_and_a_sorter() {
        let sorted = [5.0f32, 1.0, 3.0, 2.0, 6.0, 4.0];
        let sorter = [1i64, 2, 0, 0, 2, 1];
        let values = [3.0, 2.0, 3.0, 7.0];
        let shape = [2, 3];
        let sequences = Strided { data: &sorted, shape: &shape, strides: &[3, 1], offset: 0 };
        let order = Strided { data: &sorter, shape: &shape, strides: &[3, 1], offset: 0 };
        let values = Strided { data: &values, shape: &[2, 2], strides: &[2, 1], offset: 0 };
        assert_eq!(searchsorted(sequences, values, false, Some(order)).unwrap(), [1, 1, 1, 3]);
        let wrong = Strided { data: &[3i64], shape: &shape, strides: &[0, 0], offset: 0 };
        assert!(searchsorted(sequences, values, false, Some(wrong)).is_err());
    }

    #[test]
    fn nan_goes_last() {
        let nan = f64::NAN;
        let sorted = [1.0, 2.0, nan];
        assert_eq!(searchsorted(row!(sorted), row!([nan, 1.0]), false, None).unwrap(), [3, 0]);
        let found = searchsorted(row!(sorted), row!([nan, 1.0]), true, None).unwrap();
        assert_eq!(found, [3, 1]);
    }
}
