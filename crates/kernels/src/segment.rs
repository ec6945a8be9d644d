//! Reducing consecutive rows, segment by segment.

use serde::{Deserialize, Serialize};

use crate::index::{row_major, runs};
use crate::random::Real;
use crate::{Error, Result, Strided, par};

/// How the rows of a segment are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentReduce {
    Sum,
    /// NaN where a segment is empty and nothing is there initially.
    Mean,
    /// NaN where any row is.
    Max,
    /// NaN where any row is.
    Min,
    Prod,
}

/// Where segments end and begin.
#[derive(Clone, Copy, Debug)]
pub enum Segments<'a> {
    /// How many rows each has; together they are all rows.
    Lengths(&'a [i64]),
    /// Where each begins, and where the last one ends.
    Offsets(&'a [i64]),
}

impl Segments<'_> {
    /// Where each begins and the last one ends, in increasing order and within `rows`.
    fn bounds(&self, rows: usize) -> Result<Vec<usize>> {
        let fault = |what: &str| Err(Error::Value(what.into()));
        match self {
            Segments::Lengths(lengths) => {
                let mut end = 0usize;
                let mut bounds = vec![0];
                for &length in *lengths {
                    let Ok(length) = usize::try_from(length) else {
                        return fault("lengths contains negative value!");
                    };
                    end = end.saturating_add(length);
                    bounds.push(end);
                }
                if end != rows {
                    return fault(
                        "Expected all rows of lengths along axis to sum to data.size(axis)",
                    );
                }
                Ok(bounds)
            }
            Segments::Offsets(offsets) => {
                let bounds: Option<Vec<usize>> =
                    offsets.iter().map(|&offset| usize::try_from(offset).ok()).collect();
                match bounds {
                    Some(bounds)
                        if bounds.is_sorted() && bounds.last().is_some_and(|&end| end <= rows) =>
                    {
                        Ok(bounds)
                    }
                    _ => fault("Expected offsets to increase from zero to at most data.size(axis)"),
                }
            }
        }
    }
}

/// Reduces each segment of the rows of `x`: the result has one row for each segment. A reduction
/// starts from `initial`, which an empty segment gives alone; without it from what changes nothing
/// (zero, one, or an infinity).
pub fn segment_reduce<T: Real>(
    x: &Strided<T>,
    segments: Segments,
    kind: SegmentReduce,
    initial: Option<T>,
) -> Result<Vec<T>> {
    let (&rows, _) = x.shape.split_first().expect("segments are along the first dimension");
    let bounds = segments.bounds(rows)?;
    Ok(match kind {
        SegmentReduce::Sum => reduce(x, &bounds, initial.unwrap_or(T::zero()), |a, b| a + b),
        SegmentReduce::Prod => reduce(x, &bounds, initial.unwrap_or(T::one()), |a, b| a * b),
        SegmentReduce::Max => reduce(x, &bounds, initial.unwrap_or(T::neg_infinity()), |a, b| {
            if a.is_nan() || a > b { a } else { b }
        }),
        SegmentReduce::Min => reduce(x, &bounds, initial.unwrap_or(T::infinity()), |a, b| {
            if a.is_nan() || a < b { a } else { b }
        }),
        SegmentReduce::Mean => mean(x, &bounds, initial),
    })
}

fn mean<T: Real>(x: &Strided<T>, bounds: &[usize], initial: Option<T>) -> Vec<T> {
    let mut out = reduce(x, bounds, initial.unwrap_or(T::zero()), |a, b| a + b);
    let width: usize = x.shape[1..].iter().product();
    if width == 0 {
        return out;
    }
    for (row, bound) in out.chunks_exact_mut(width).zip(bounds.windows(2)) {
        let count = bound[1] - bound[0];
        match (count, initial) {
            (0, None) => row.fill(T::nan()),
            (0, Some(_)) => {}
            _ => {
                let count = T::from_f64(count as f64);
                row.iter_mut().for_each(|value| *value = *value / count);
            }
        }
    }
    out
}

/// Folds each segment's rows in their order.
fn reduce<T: Real>(
    x: &Strided<T>,
    bounds: &[usize],
    initial: T,
    combine: impl Fn(T, T) -> T + Sync,
) -> Vec<T> {
    let segments = bounds.len() - 1;
    let width: usize = x.shape[1..].iter().product();
    let data = row_major(x);
    let shape = [segments, width];
    let per_segment = (data.len() / (segments * width).max(1)).max(1);
    par::fill(segments * width, par::GRAIN.div_ceil(per_segment), |range, out| {
        let start = range.start;
        runs(&shape, [&[1, 0], &[0, 1]], range, |linear, [segment, column], len| {
            let out = &mut out[linear - start..][..len];
            for slot in out.iter_mut() {
                slot.write(initial);
            }
            // SAFETY: all of it has just been written.
            let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [T]) };
            let (segment, column) = (segment as usize, column as usize);
            for row in bounds[segment]..bounds[segment + 1] {
                let row = &data[row * width + column..][..len];
                for (sum, &value) in out.iter_mut().zip(row) {
                    *sum = combine(*sum, value);
                }
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view<'a>(data: &'a [f64], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, f64> {
        Strided { data, shape, strides, offset: 0 }
    }

    const X: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

    #[test]
    fn reduces_rows_and_gives_the_identity_for_none() {
        let x = view(&X, &[4, 2], &[2, 1]);
        let run = |kind| segment_reduce(&x, Segments::Lengths(&[3, 0, 1]), kind, None).unwrap();
        let inf = f64::INFINITY;
        assert_eq!(run(SegmentReduce::Sum), [9.0, 12.0, 0.0, 0.0, 7.0, 8.0]);
        assert_eq!(run(SegmentReduce::Prod), [15.0, 48.0, 1.0, 1.0, 7.0, 8.0]);
        assert_eq!(run(SegmentReduce::Max), [5.0, 6.0, -inf, -inf, 7.0, 8.0]);
        assert_eq!(run(SegmentReduce::Min), [1.0, 2.0, inf, inf, 7.0, 8.0]);
        let mean = run(SegmentReduce::Mean);
        assert_eq!((mean[..2].to_vec(), mean[4..].to_vec()), (vec![3.0, 4.0], vec![7.0, 8.0]));
        assert!(mean[2].is_nan() && mean[3].is_nan());
    }

    #[test]
    fn starts_from_what_is_given() {
        let x = view(&X, &[8], &[1]);
        let run = |kind| segment_reduce(&x, Segments::Offsets(&[0, 2, 2, 8]), kind, Some(3.0));
        assert_eq!(run(SegmentReduce::Sum).unwrap(), [6.0, 3.0, 36.0]);
        assert_eq!(run(SegmentReduce::Mean).unwrap(), [3.0, 3.0, 6.0]);
        assert_eq!(run(SegmentReduce::Max).unwrap(), [3.0, 3.0, 8.0]);
        assert_eq!(run(SegmentReduce::Min).unwrap(), [1.0, 3.0, 3.0]);
    }

    #[test]
    fn reads_any_layout_and_keeps_nan() {
        // Columns 1 2 3 4 and 5 6 7 8.
        let x = view(&X, &[4, 2], &[1, 4]);
        let sums = segment_reduce(&x, Segments::Lengths(&[2, 2]), SegmentReduce::Sum, None);
        assert_eq!(sums.unwrap(), [3.0, 11.0, 7.0, 15.0]);
        for data in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            for kind in [SegmentReduce::Max, SegmentReduce::Min] {
                let x = view(&data, &[2], &[1]);
                let out = segment_reduce(&x, Segments::Lengths(&[2]), kind, None).unwrap();
                assert!(out[0].is_nan());
            }
        }
    }

    #[test]
    fn segments_must_fit() {
        let x = view(&X, &[8], &[1]);
        let run = |segments| segment_reduce(&x, segments, SegmentReduce::Sum, None);
        assert!(run(Segments::Lengths(&[9, -1])).is_err());
        assert!(run(Segments::Lengths(&[4, 3])).is_err());
        assert!(run(Segments::Offsets(&[0, 9])).is_err());
        assert!(run(Segments::Offsets(&[4, 2])).is_err());
        assert!(run(Segments::Offsets(&[])).is_err());
        assert_eq!(run(Segments::Offsets(&[3])).unwrap(), []);
    }
}
