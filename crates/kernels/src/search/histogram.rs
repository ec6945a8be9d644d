//! Counts per value and per bin.

use std::ops::AddAssign;

use num_traits::Zero;

use crate::lanes::dense;
use crate::reduce::{Reduce, ReduceElement, reduce};
use crate::{Element, Error, Real, Result, Strided};

/// How often each of `0, 1, 2, ...` occurs, up to the largest element or `minlength`.
pub fn bincount(x: Strided<'_, i64>, minlength: usize) -> Result<Vec<i64>> {
    let one =
        Strided { data: &[1i64], shape: x.shape, strides: &vec![0; x.shape.len()], offset: 0 };
    bincount_weighted(x, one, minlength)
}

/// The sum of the weights of each of `0, 1, 2, ...`, up to the largest element or `minlength`.
pub fn bincount_weighted<W: Element + Zero + AddAssign>(
    x: Strided<'_, i64>,
    weights: Strided<'_, W>,
    minlength: usize,
) -> Result<Vec<W>> {
    let (data, weights) = (dense(x), dense(weights));
    if data.iter().any(|&value| value < 0) {
        let message = "bincount only supports 1-d non-negative integral inputs.";
        return Err(Error::Value(message.into()));
    }
    let len = data.iter().max().map_or(0, |&top| top as usize + 1).max(minlength);
    let mut out = Vec::new();
    if out.try_reserve_exact(len).is_err() {
        return Err(Error::Value(format!("bincount: no memory for {len} bins")));
    }
    out.resize(len, W::zero());
    for (&value, &weight) in data.iter().zip(weights.iter()) {
        out[value as usize] += weight;
    }
    Ok(out)
}

/// How many elements fall into each of `bins` equal bins from `min` to `max`, both included; from
/// the smallest element to the largest where `min` equals `max`.
pub fn histc<T: Real + ReduceElement>(
    x: Strided<'_, T>,
    bins: usize,
    min: f64,
    max: f64,
) -> Result<Vec<T>> {
    let (mut min, mut max) = (number::<T>(min), number::<T>(max));
    if min == max && !x.is_empty() {
        (min, max) = extremes(x)?;
    }
    if min == max {
        (min, max) = (min - T::one(), max + T::one());
    }
    finite("torch.histc: ", min, max)?;
    if min > max {
        return Err(Error::Value("torch.histc: max must be larger than min".into()));
    }
    let edges = linspace(min, max, bins)?;
    Ok(fill(x, None, &edges, |item| linear(&edges, item)))
}

/// How many elements fall into each bin between `edges`, which ascend, the last one included; or the
/// sum of their weights; divided by the total and the width of the bin where `density`.
pub fn histogram<T: Real>(
    x: Strided<'_, T>,
    edges: &[T],
    weights: Option<Strided<'_, T>>,
    density: bool,
) -> Vec<T> {
    let bin = |item| edges.partition_point(|&edge| edge <= item).saturating_sub(1);
    let mut out = fill(x, weights, edges, bin);
    if density {
        normalise(&mut out, edges);
    }
    out
}

/// [`histogram`] over `bins` equal bins of `range`, or from the smallest element to the largest;
/// also gives the edges.
pub fn histogram_uniform<T: Real + ReduceElement>(
    x: Strided<'_, T>,
    bins: usize,
    range: Option<(f64, f64)>,
    weights: Option<Strided<'_, T>>,
    density: bool,
) -> Result<(Vec<T>, Vec<T>)> {
    let (mut min, mut max) = match range {
        Some((min, max)) => (number(min), number(max)),
        None if x.is_empty() => (T::zero(), T::one()),
        None => extremes(x)?,
    };
    finite("torch.histogramdd: dimension 0's ", min, max)?;
    if min > max {
        let message = "torch.histogramdd: min should not exceed max, but got";
        return Err(Error::Value(format!("{message} min {min:?} max {max:?} for dimension 0")));
    }
    if min == max {
        let half = number(0.5);
        (min, max) = (min - half, max + half);
    }
    let edges = linspace(min, max, bins)?;
    // A rounded quotient may miss by one bin; the edges decide.
    let bin = |item| {
        let near = linear(&edges, item);
        let low = near.saturating_sub(1);
        let window = &edges[low..(near + 2).min(edges.len())];
        (low + window.partition_point(|&edge| edge <= item)).saturating_sub(1)
    };
    let mut out = fill(x, weights, &edges, bin);
    if density {
        normalise(&mut out, &edges);
    }
    Ok((out, edges))
}

fn number<T: Real>(value: f64) -> T {
    T::from(value).expect("floats convert")
}

fn extremes<T: Real + ReduceElement>(x: Strided<'_, T>) -> Result<(T, T)> {
    let dims: Vec<usize> = (0..x.shape.len()).collect();
    Ok((reduce(Reduce::Min, x, &dims)?[0], reduce(Reduce::Max, x, &dims)?[0]))
}

fn finite<T: Real>(whose: &str, min: T, max: T) -> Result<()> {
    if min.is_finite() && max.is_finite() {
        return Ok(());
    }
    Err(Error::Value(format!("{whose}range of [{min:?}, {max:?}] is not finite")))
}

/// The edges of equal bins, counted from either end so that both are exact.
fn linspace<T: Real>(min: T, max: T, bins: usize) -> Result<Vec<T>> {
    if bins == 0 {
        let message = "torch.histogram(): bins must be > 0, but got 0 for dimension 0";
        return Err(Error::Value(message.into()));
    }
    let step = (max - min) / number(bins as f64);
    let edge = |i: usize| {
        if i < bins.div_ceil(2) {
            min + step * number(i as f64)
        } else {
            max - step * number((bins - i) as f64)
        }
    };
    Ok((0..=bins).map(edge).collect())
}

/// The bin of an element among equal ones, by its distance from the first edge.
#[inline(always)]
fn linear<T: Real>(edges: &[T], item: T) -> usize {
    let bins = edges.len() - 1;
    let place = (item - edges[0]) * number(bins as f64) / (edges[bins] - edges[0]);
    place.to_usize().unwrap_or(0)
}

/// Adds up the weights per bin, or counts; what lies outside the edges, and NaN, is left out.
fn fill<T: Real>(
    x: Strided<'_, T>,
    weights: Option<Strided<'_, T>>,
    edges: &[T],
    bin: impl Fn(T) -> usize,
) -> Vec<T> {
    let bins = edges.len().saturating_sub(1);
    let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else {
        return Vec::new();
    };
    let data = dense(x);
    let inside = |item: T| item >= first && item <= last && bins > 0;
    match weights.map(dense) {
        None => {
            // Counted in integers: floats would stop at their last exact one.
            let mut counts = vec![0u64; bins];
            for &item in data.iter().filter(|&&item| inside(item)) {
                counts[bin(item).min(bins - 1)] += 1;
            }
            counts.into_iter().map(|count| number(count as f64)).collect()
        }
        Some(weights) => {
            let mut sums = vec![T::zero(); bins];
            for (&item, &weight) in data.iter().zip(weights.iter()) {
                if inside(item) {
                    let sum = &mut sums[bin(item).min(bins - 1)];
                    *sum = *sum + weight;
                }
            }
            sums
        }
    }
}

fn normalise<T: Real>(counts: &mut [T], edges: &[T]) {
    let total = counts.iter().fold(T::zero(), |sum, &count| sum + count);
    for (count, edge) in counts.iter_mut().zip(edges.windows(2)) {
        *count = *count / (edge[1] - edge[0]) / total;
    }
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
    fn bincounts() {
        let x = [1i64, 3, 1];
        assert_eq!(bincount(row!(x), 0).unwrap(), [0, 2, 0, 1]);
        assert_eq!(bincount(row!(x), 6).unwrap(), [0, 2, 0, 1, 0, 0]);
        let weights = [0.5f64, 2.0, 0.25];
        let sums = bincount_weighted(row!(x), row!(weights), 0).unwrap();
        assert_eq!(sums, [0.0, 0.75, 0.0, 2.0]);
        assert_eq!(bincount(row!([0i64; 0]), 2).unwrap(), [0, 0]);
        assert!(bincount(row!([-1i64]), 0).is_err());
        assert!(bincount(row!([i64::MAX]), 0).is_err());
    }

    #[test]
    fn histc_finds_its_range() {
        assert_eq!(histc(row!([1.0f32, 2.0, 1.5, 3.0]), 4, 0.0, 0.0).unwrap(), [1.0; 4]);
        assert_eq!(histc(row!([2.0f64, 2.0]), 4, 0.0, 0.0).unwrap(), [0.0, 0.0, 2.0, 0.0]);
        assert_eq!(histc(row!([0.0f64; 0]), 2, 0.0, 0.0).unwrap(), [0.0, 0.0]);
        let data = [-1.0, 0.0, f64::NAN, 2.0, 3.0];
        assert_eq!(histc(row!(data), 2, 0.0, 2.0).unwrap(), [1.0, 1.0]);
        assert!(histc(row!([1.0, f64::INFINITY]), 4, 0.0, 0.0).is_err());
        assert!(histc(row!([1.0]), 4, 2.0, 1.0).is_err());
        assert!(histc(row!([1.0]), 0, 0.0, 1.0).is_err());
    }

    #[test]
    fn histograms() {
        let x = [1.0f64, 2.0, 5.0];
        let weights = [1.0, 2.0, 4.0];
        let edges = [0.0, 1.0, 2.0, 5.0];
        assert_eq!(histogram(row!(x), &edges, None, false), [0.0, 1.0, 2.0]);
        assert_eq!(histogram(row!(x), &edges, Some(row!(weights)), false), [0.0, 1.0, 6.0]);
        let (density, edges) = histogram_uniform(row!(x), 4, None, None, true).unwrap();
        assert_eq!(edges, [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(density, [1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0]);
        let (counts, edges) = histogram_uniform(row!([2.0f32, 2.0]), 4, None, None, false).unwrap();
        assert_eq!(counts, [0.0, 0.0, 2.0, 0.0]);
        assert_eq!(edges, [1.5, 1.75, 2.0, 2.25, 2.5]);
        let (_, edges) = histogram_uniform(row!([0.0f64; 0]), 2, None, None, false).unwrap();
        assert_eq!(edges, [0.0, 0.5, 1.0]);
        assert!(histogram_uniform(row!([f64::NAN]), 2, None, None, false).is_err());
    }

    #[test]
    fn every_edge_opens_its_bin() {
        let edges: Vec<f32> = linspace(0.0, 0.7, 7).unwrap();
        let (counts, _) = histogram_uniform(row!(edges), 7, None, None, false).unwrap();
        assert_eq!(counts, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    }
}
