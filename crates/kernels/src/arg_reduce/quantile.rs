//! Quantiles.

use serde::{Deserialize, Serialize};

use super::not_empty;
use crate::lanes::{Fresh, Lanes, dense};
use crate::{Error, Ordered, Real, Result, Strided};

/// What a quantile is that falls between two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// In proportion to the distance from either.
    Linear,
    /// The smaller element.
    Lower,
    /// The larger element.
    Higher,
    /// The mean of both.
    Midpoint,
    /// The nearer element; the one of even rank halfway between.
    Nearest,
}

/// The quantiles `q` along the last dimension: one row of results for each of `q`.
///
/// A lane with a NaN has none other, unless `ignore_nan`.
pub fn quantile<T: Real>(
    x: Strided<'_, T>,
    q: &[f64],
    interpolation: Interpolation,
    ignore_nan: bool,
) -> Result<Vec<T>> {
    if !q.iter().all(|q| (0.0..=1.0).contains(q)) {
        return Err(Error::Value("quantile() q values must be in the range [0, 1]".into()));
    }
    let lanes = Lanes::along(x.shape, x.shape.len().saturating_sub(1));
    not_empty("quantile", &lanes)?;
    let data = dense(x);
    let rows = lanes.count();
    let out = Fresh::new(q.len() * rows);
    lanes.for_each(&data, 32, &|row, lane: &[T]| {
        let mut sorted = lane.to_vec();
        sorted.sort_unstable_by_key(|item| item.key());
        let present = sorted.partition_point(|item| !Ordered::is_nan(*item));
        for (k, &q) in q.iter().enumerate() {
            let value = if present == 0 || present < lane.len() && !ignore_nan {
                T::nan()
            } else {
                between(&sorted[..present], q, interpolation)
            };
            // SAFETY: every row has a place of its own for each quantile.
            unsafe { out.set(k * rows + row, value) };
        }
    });
    // SAFETY: every row has been visited, and has given all its quantiles.
    Ok(unsafe { out.finish() })
}

/// The quantile `q` of sorted elements; the rank is as exact as their type.
fn between<T: Real>(sorted: &[T], q: f64, interpolation: Interpolation) -> T {
    let number = |v: f64| T::from(v).expect("floats convert");
    let rank = number(q) * number((sorted.len() - 1) as f64);
    let at = |rank: T| sorted[rank.to_usize().unwrap_or(0).min(sorted.len() - 1)];
    let weight = match interpolation {
        Interpolation::Lower => return at(rank.floor()),
        Interpolation::Higher => return at(rank.ceil()),
        Interpolation::Nearest => {
            let (floor, half) = (rank.floor(), number(0.5));
            let even = (floor * half).fract() == T::zero();
            let down = rank - floor < half || rank - floor == half && even;
            return at(if down { floor } else { floor + T::one() });
        }
        Interpolation::Midpoint => number(0.5),
        Interpolation::Linear => rank - rank.floor(),
    };
    let (below, above) = (at(rank.floor()), at(rank.ceil()));
    if weight < number(0.5) {
        below + weight * (above - below)
    } else {
        above - (above - below) * (T::one() - weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Interpolation::*;

    #[test]
    fn every_interpolation() {
        let data = [4.0f64, 1.0, 2.0, 8.0];
        let x = Strided { data: &data, shape: &[4], strides: &[1], offset: 0 };
        let of = |q, kind| quantile(x, &[q], kind, false).unwrap()[0];
        assert_eq!(of(0.5, Linear), 3.0);
        assert_eq!(of(0.25, Linear), 1.75);
        assert_eq!(of(1.0, Linear), 8.0);
        assert_eq!(of(0.4, Lower), 2.0);
        assert_eq!(of(0.4, Higher), 4.0);
        assert_eq!(of(0.4, Midpoint), 3.0);
        assert_eq!(of(0.4, Nearest), 2.0);
        assert_eq!(of(0.5, Nearest), 4.0);
        assert!(quantile(x, &[1.5], Linear, false).is_err());
    }

    #[test]
    fn nan_and_several_rows() {
        let nan = f32::NAN;
        let data = [1.0, 2.0, 4.0, nan, 1.0, 1.0, 3.0, 3.0, nan, nan, nan, nan];
        let x = Strided { data: &data, shape: &[3, 4], strides: &[4, 1], offset: 0 };
        let out = quantile(x, &[0.0, 0.5], Linear, true).unwrap();
        assert_eq!(out[..2], [1.0, 1.0]);
        assert_eq!(out[3..5], [2.0, 2.0]);
        assert!(out[2].is_nan() && out[5].is_nan());
        let out = quantile(x, &[0.5], Linear, false).unwrap();
        assert!(out[0].is_nan() && out[1] == 2.0);
    }
}
