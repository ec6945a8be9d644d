//! Resampling along one dimension: every result is a weighted sum of a few elements.

use crate::Element;
use crate::window::for_rows;

/// For each result, the elements it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Taps {
    /// Number of elements.
    pub len: usize,
    /// Where each result's taps start, and where the last one's end.
    pub starts: Vec<usize>,
    /// Which elements they are.
    pub places: Vec<usize>,
    /// Their weights.
    pub weights: Vec<f64>,
}

/// Elements that can be resampled: `f32` and `f64`.
pub trait ResampleElement: Element + num_traits::Float {
    #[doc(hidden)]
    fn of(weight: f64) -> Self;
}

impl ResampleElement for f32 {
    fn of(weight: f64) -> f32 {
        weight as f32
    }
}

impl ResampleElement for f64 {
    fn of(weight: f64) -> f64 {
        weight
    }
}

impl Taps {
    /// Number of results.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many elements each result is made of, if all are made of as many.
    fn width(&self) -> Option<usize> {
        let width = self.starts.get(1)? - self.starts[0];
        self.starts.windows(2).all(|pair| pair[1] - pair[0] == width).then_some(width)
    }

    /// Elements per result, about.
    fn cost(&self) -> usize {
        self.places.len().div_ceil(self.count().max(1))
    }

    fn weights<T: ResampleElement>(&self) -> Vec<T> {
        self.weights.iter().map(|&weight| T::of(weight)).collect()
    }

    /// The elements and weights of a result.
    fn of<'a, T>(&'a self, weights: &'a [T], result: usize) -> (&'a [usize], &'a [T]) {
        let range = self.starts[result]..self.starts[result + 1];
        (&self.places[range.clone()], &weights[range])
    }
}

/// Resamples `x` `(outer, taps.len, inner)` to `(outer, taps.count(), inner)`.
pub fn resample<T: ResampleElement>(x: &[T], outer: usize, inner: usize, taps: &Taps) -> Vec<T> {
    let (count, weights) = (taps.count(), taps.weights::<T>());
    let mut out = vec![T::zero(); outer * count * inner];
    if inner > 1 {
        // A row of results is a sum of rows.
        for_rows(&mut out, inner, inner * taps.cost(), |row, out| {
            let x = &x[row / count * taps.len * inner..][..taps.len * inner];
            let (places, weights) = taps.of(&weights, row % count);
            for (&place, &weight) in places.iter().zip(weights) {
                for (slot, &value) in out.iter_mut().zip(&x[place * inner..][..inner]) {
                    *slot = *slot + weight * value;
                }
            }
        });
        return out;
    }
    let width = taps.width();
    for_rows(&mut out, count, taps.places.len(), |row, out| {
        let x = &x[row * taps.len..][..taps.len];
        match width {
            Some(1) => by_width::<T, 1>(x, taps, &weights, out),
            Some(2) => by_width::<T, 2>(x, taps, &weights, out),
            Some(4) => by_width::<T, 4>(x, taps, &weights, out),
            _ => {
                for (at, slot) in out.iter_mut().enumerate() {
                    let (places, weights) = taps.of(&weights, at);
                    let terms = places.iter().zip(weights).map(|(&place, &w)| w * x[place]);
                    *slot = terms.fold(T::zero(), |sum, term| sum + term);
                }
            }
        }
    });
    out
}

fn by_width<T: ResampleElement, const N: usize>(
    x: &[T],
    taps: &Taps,
    weights: &[T],
    out: &mut [T],
) {
    let places = taps.places.as_chunks::<N>().0;
    let weights = weights.as_chunks::<N>().0;
    for ((slot, places), weights) in out.iter_mut().zip(places).zip(weights) {
        *slot = (0..N).fold(T::zero(), |sum, k| sum + weights[k] * x[places[k]]);
    }
}

/// The gradient of [`resample`] from that of its result, `g` `(outer, taps.count(), inner)`.
pub fn resample_backward<T: ResampleElement>(
    g: &[T],
    outer: usize,
    inner: usize,
    taps: &Taps,
) -> Vec<T> {
    let (count, weights) = (taps.count(), taps.weights::<T>());
    let block = taps.len * inner;
    let mut out = vec![T::zero(); outer * block];
    for_rows(&mut out, block, taps.places.len() * inner, |row, out| {
        let g = &g[row * count * inner..][..count * inner];
        for at in 0..count {
            let (places, weights) = taps.of(&weights, at);
            let g = &g[at * inner..][..inner];
            for (&place, &weight) in places.iter().zip(weights) {
                let slots = &mut out[place * inner..][..inner];
                for (slot, &value) in slots.iter_mut().zip(g) {
                    *slot = *slot + weight * value;
                }
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taps() -> Taps {
        Taps {
            len: 3,
            starts: vec![0, 2, 4, 6, 8],
            places: vec![0, 0, 0, 1, 1, 2, 2, 1],
            weights: vec![1.0, 0.0, 0.5, 0.5, 0.25, 0.75, 2.0, -1.0],
        }
    }

    #[test]
    fn rows_and_columns_agree() {
        let x = [1.0f64, 2.0, 4.0];
        assert_eq!(resample(&x, 1, 1, &taps()), [1.0, 1.5, 3.5, 6.0]);
        let columns = [1.0f64, 10.0, 2.0, 20.0, 4.0, 40.0];
        assert_eq!(resample(&columns, 1, 2, &taps()), [1.0, 10.0, 1.5, 15.0, 3.5, 35.0, 6.0, 60.0]);
    }

    #[test]
    fn the_gradient_is_the_transpose() {
        let taps = taps();
        for inner in [1, 3] {
            let x: Vec<f64> = (0..2 * 3 * inner).map(|i| (i * i % 7) as f64).collect();
            let g: Vec<f64> = (0..2 * 4 * inner).map(|i| (i * 3 % 5) as f64).collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let y = resample(&x, 2, inner, &taps);
            assert_eq!(dot(&y, &g), dot(&x, &resample_backward(&g, 2, inner, &taps)));
        }
    }
}
