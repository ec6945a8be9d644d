//! Reductions that tell where the chosen element stands.

mod quantile;
mod rank;

pub use quantile::{Interpolation, quantile};
pub use rank::{kthvalue, median, mode, nanmedian};

use crate::lanes::{Lanes, TILE, dense};
use crate::{Error, Ordered, Result, Strided, par};

/// Elements of a lane looked at before asking whether the best one was among them.
const BLOCK: usize = 256;
/// Elements of a single long lane that one task looks at.
const SEGMENT: usize = 32 * 1024;

/// Where the largest element along `dim` stands, or in the flattened tensor: the first of equals,
/// and the first NaN where there is one.
pub fn argmax<T: Ordered>(x: Strided<'_, T>, dim: Option<usize>) -> Result<Vec<i64>> {
    places::<T, true>("argmax", x, dim)
}

/// Where the smallest element along `dim` stands, or in the flattened tensor: the first of equals,
/// and the first NaN where there is one.
pub fn argmin<T: Ordered>(x: Strided<'_, T>, dim: Option<usize>) -> Result<Vec<i64>> {
    places::<T, false>("argmin", x, dim)
}

/// The largest element along `dim` and where it stands, as [`argmax`] has it.
pub fn max_with_index<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Result<(Vec<T>, Vec<i64>)> {
    let indices = places::<T, true>("max", x, Some(dim))?;
    Ok((take(x, dim, &indices), indices))
}

/// The smallest element along `dim` and where it stands, as [`argmin`] has it.
pub fn min_with_index<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Result<(Vec<T>, Vec<i64>)> {
    let indices = places::<T, false>("min", x, Some(dim))?;
    Ok((take(x, dim, &indices), indices))
}

/// Refuses lanes without elements.
fn not_empty(name: &str, lanes: &Lanes) -> Result<()> {
    if lanes.len == 0 {
        return Err(Error::Value(format!("{name}: cannot reduce an empty dimension")));
    }
    Ok(())
}

/// The element of each lane at its index.
fn take<T: Ordered>(x: Strided<'_, T>, dim: usize, indices: &[i64]) -> Vec<T> {
    let data = dense(x);
    let lanes = Lanes::along(x.shape, dim);
    let at = |(lane, &index): (usize, &i64)| data[lanes.start(lane) + index as usize * lanes.inner];
    indices.iter().enumerate().map(at).collect()
}

/// Whether `a` beats `b`.
#[inline(always)]
fn beats<T: Ordered, const MAX: bool>(a: T, b: T) -> bool {
    let better = if MAX { a > b } else { a < b };
    better || a.is_nan() && !b.is_nan()
}

fn places<T: Ordered, const MAX: bool>(
    name: &str,
    x: Strided<'_, T>,
    dim: Option<usize>,
) -> Result<Vec<i64>> {
    let lanes = match dim {
        Some(dim) => Lanes::along(x.shape, dim),
        None => Lanes { outer: 1, len: x.len(), inner: 1 },
    };
    not_empty(name, &lanes)?;
    let data = dense(x);
    if lanes.count() == 1 {
        let segments: Vec<&[T]> = data.chunks(SEGMENT).collect();
        let found = par::fill(segments.len(), 1, |range, out| {
            for (segment, slot) in range.zip(out) {
                slot.write(segment * SEGMENT + place::<T, MAX>(segments[segment]));
            }
        });
        let better = |a: usize, b: usize| {
            if beats::<T, MAX>(data[b], data[a]) { b } else { a }
        };
        return Ok(found.into_iter().reduce(better).into_iter().map(|at| at as i64).collect());
    }
    Ok(par::fill(lanes.count(), lanes.grain(1), |range, out| {
        let mut out = out.iter_mut();
        for tile in lanes.tiles(range) {
            if lanes.inner == 1 {
                let lane = &data[tile.start * lanes.len..][..lanes.len];
                out.next().expect("a slot per lane").write(place::<T, MAX>(lane) as i64);
                continue;
            }
            let start = lanes.start(tile.start);
            let mut best = [T::zeroed(); TILE];
            let mut found = [0i64; TILE];
            best[..tile.len()].copy_from_slice(&data[start..start + tile.len()]);
            for k in 1..lanes.len {
                let row = &data[start + k * lanes.inner..][..tile.len()];
                for ((best, found), &item) in best.iter_mut().zip(&mut found).zip(row) {
                    let beats = beats::<T, MAX>(item, *best);
                    *best = if beats { item } else { *best };
                    *found = if beats { k as i64 } else { *found };
                }
            }
            // The slots come second: a zip takes from its first side once too often.
            for (&index, slot) in found[..tile.len()].iter().zip(out.by_ref()) {
                slot.write(index);
            }
        }
    }))
}

/// Where the best element of a run stands: block by block for its value, then within the block.
fn place<T: Ordered, const MAX: bool>(lane: &[T]) -> usize {
    let better = |a: T, b: T| if beats::<T, MAX>(b, a) { b } else { a };
    let (mut best, mut block) = (lane[0], 0);
    for (number, items) in lane.chunks(BLOCK).enumerate() {
        let mut accs = [items[0]; 16];
        let (chunks, rest) = items.as_chunks::<16>();
        for chunk in chunks {
            for (acc, &item) in accs.iter_mut().zip(chunk) {
                *acc = better(*acc, item);
            }
        }
        let top = accs.iter().chain(rest).copied().fold(items[0], better);
        if beats::<T, MAX>(top, best) {
            (best, block) = (top, number);
        }
    }
    let is_best = |&item: &T| item == best || item.is_nan() && best.is_nan();
    let start = block * BLOCK;
    start + lane[start..].iter().position(is_best).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_of_equals_along_each_dimension() {
        let data = [1i32, 5, 5, 5, 2, 1];
        let x = Strided { data: &data, shape: &[2, 3], strides: &[3, 1], offset: 0 };
        assert_eq!(argmax(x, None).unwrap(), [1]);
        assert_eq!(argmax(x, Some(0)).unwrap(), [1, 0, 0]);
        assert_eq!(argmax(x, Some(1)).unwrap(), [1, 0]);
        assert_eq!(argmin(x, None).unwrap(), [0]);
        assert_eq!(min_with_index(x, 0).unwrap(), (vec![1, 2, 1], vec![0, 1, 1]));
        assert_eq!(max_with_index(x, 1).unwrap(), (vec![5, 5], vec![1, 0]));
        let turned = Strided { data: &data, shape: &[3, 2], strides: &[1, 3], offset: 0 };
        assert_eq!(argmax(turned, None).unwrap(), [1]);
        assert_eq!(argmax(turned, Some(0)).unwrap(), [1, 0]);
    }

    #[test]
    fn nan_wins() {
        let nan = f32::NAN;
        let data = [1.0, nan, f32::INFINITY, nan];
        let x = Strided { data: &data, shape: &[4], strides: &[1], offset: 0 };
        assert_eq!((argmax(x, None).unwrap(), argmin(x, Some(0)).unwrap()), (vec![1], vec![1]));
        let x = Strided { data: &data, shape: &[2, 2], strides: &[2, 1], offset: 0 };
        assert_eq!(argmin(x, Some(0)).unwrap(), [0, 0]);
        assert_eq!(argmax(x, Some(1)).unwrap(), [1, 1]);
    }

    #[test]
    fn long_lanes() {
        let mut data: Vec<f32> = (0..200_000).map(|i| (i % 1000) as f32).collect();
        let x = Strided { data: &data, shape: &[200_000], strides: &[1], offset: 0 };
        assert_eq!(argmax(x, None).unwrap(), [999]);
        assert_eq!(argmin(x, None).unwrap(), [0]);
        data[150_007] = -1.0;
        data[150_301] = f32::NAN;
        let x = Strided { data: &data, shape: &[2, 100_000], strides: &[100_000, 1], offset: 0 };
        assert_eq!(argmin(x, None).unwrap(), [150_301]);
        assert_eq!(argmax(x, Some(1)).unwrap(), [999, 50_301]);
    }

    #[test]
    fn all_the_worst() {
        let data = vec![f64::NEG_INFINITY; 1000];
        let x = Strided { data: &data, shape: &[1000], strides: &[1], offset: 0 };
        assert_eq!(argmax(x, None).unwrap(), [0]);
        let none = Strided { data: &data, shape: &[0, 3], strides: &[3, 1], offset: 0 };
        assert_eq!(argmax(none, Some(1)).unwrap(), [0i64; 0]);
        assert!(argmax(none, Some(0)).is_err() && argmax(none, None).is_err());
    }
}
