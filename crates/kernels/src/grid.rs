//! Sampling a grid of two or three dimensions at any points between its elements.

use std::ops::Range;

use num_traits::Float;
use serde::{Deserialize, Serialize};

use crate::window::{Rows, for_rows};
use crate::{Element, par};

/// How elements near a point are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sampling {
    /// The two nearest of each dimension, by distance.
    Linear,
    /// The nearest.
    Nearest,
    /// The four nearest of each dimension, by a cubic polynomial.
    Cubic,
}

/// What is outside the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outside {
    /// Zeros.
    Zeros,
    /// The outermost elements.
    Border,
    /// The grid mirrored, again and again.
    Reflection,
}

/// What coordinates mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coordinates {
    /// -1 and 1 are the centres of the outermost elements.
    Centres,
    /// -1 and 1 are the outer edges of the outermost elements.
    Edges,
    /// Whole numbers are the centres of elements, counted from zero.
    Elements,
}

/// How a grid is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampler {
    /// How elements are put together.
    pub sampling: Sampling,
    /// What is outside.
    pub outside: Outside,
    /// What coordinates mean.
    pub coordinates: Coordinates,
}

/// Elements of grids: `f32` and `f64`.
pub trait GridElement: Element + Float {
    #[doc(hidden)]
    fn of(value: f64) -> Self;
}

impl GridElement for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
}

impl GridElement for f64 {
    fn of(value: f64) -> f64 {
        value
    }
}

/// An element that a point takes from: which one, if it lies inside; its weight; how the weight
/// changes with the coordinate.
#[derive(Clone, Copy)]
struct Tap<T> {
    place: Option<usize>,
    weight: T,
    slope: T,
}

/// The taps of a point along one dimension.
struct Line<T> {
    taps: [Tap<T>; 4],
    count: usize,
}

impl Sampler {
    /// A coordinate in elements, and how fast that changes with the coordinate.
    fn scaled<T: GridElement>(&self, at: T, size: usize) -> (T, T) {
        let (one, two, size) = (T::one(), T::of(2.0), T::of(size as f64));
        match self.coordinates {
            Coordinates::Elements => (at, one),
            Coordinates::Centres => ((at + one) / two * (size - one), (size - one) / two),
            Coordinates::Edges => (((at + one) * size - one) / two, size / two),
        }
    }

    /// A place brought inside the grid, as the border demands, and how fast it changes.
    fn inside<T: GridElement>(&self, at: T, size: usize) -> (T, T) {
        let (zero, one) = (T::zero(), T::one());
        let last = T::of(size as f64) - one;
        let clipped = |at: T| {
            if at <= zero {
                (zero, zero)
            } else if at >= last {
                (last, zero)
            } else if at.is_nan() {
                (zero, zero)
            } else {
                (at, one)
            }
        };
        match self.outside {
            Outside::Zeros => (at, one),
            Outside::Border => clipped(at),
            Outside::Reflection => {
                // Mirrored at the centres of the outermost elements, or at their outer edges.
                let half = T::of(0.5);
                let (low, span) = match self.coordinates {
                    Coordinates::Edges => (-half, last + one),
                    _ => (zero, last),
                };
                if span <= zero {
                    return (zero, zero);
                }
                let (away, sign) = if at < low { (low - at, -one) } else { (at - low, one) };
                let (extra, flips) = (away % span, (away / span).floor());
                let (at, slope) = if flips % T::of(2.0) == zero {
                    (low + extra, sign)
                } else {
                    (low + span - extra, -sign)
                };
                let (at, kept) = clipped(at);
                (at, slope * kept)
            }
        }
    }

    /// The element with a number, if there is one.
    fn element<T: GridElement>(at: T, size: usize) -> Option<usize> {
        // False for NaN.
        let inside = at >= T::zero() && at < T::of(size as f64);
        inside.then(|| at.to_usize()).flatten().filter(|&at| at < size)
    }

    /// What a coordinate takes from a dimension of `size` elements.
    fn line<T: GridElement>(&self, at: T, size: usize) -> Line<T> {
        let (zero, one) = (T::zero(), T::one());
        let mut line = Line { taps: [Tap { place: None, weight: zero, slope: zero }; 4], count: 0 };
        let mut add = |place: Option<usize>, weight: T, slope: T| {
            line.taps[line.count] = Tap { place, weight, slope };
            line.count += 1;
        };
        let (at, scale) = self.scaled(at, size);
        match self.sampling {
            Sampling::Nearest => {
                let (at, _) = self.inside(at, size);
                add(Self::element(round_to_even(at), size), one, zero);
            }
            Sampling::Linear => {
                let (at, slope) = self.inside(at, size);
                let slope = slope * scale;
                let low = at.floor();
                let part = at - low;
                add(Self::element(low, size), one - part, -slope);
                add(Self::element(low + one, size), part, slope);
            }
            Sampling::Cubic => {
                let low = at.floor();
                let weights = cubic(at - low);
                for (k, (weight, slope)) in weights.into_iter().enumerate() {
                    let (place, _) = self.inside(low + T::of(k as f64 - 1.0), size);
                    add(Self::element(place, size), weight, slope * scale);
                }
            }
        }
        line
    }
}

fn round_to_even<T: GridElement>(x: T) -> T {
    let floor = x.floor();
    let (half, two) = (T::of(0.5), T::of(2.0));
    let up = x - floor > half || (x - floor == half && floor % two != T::zero());
    if up { floor + T::one() } else { floor }
}

/// The weights of four neighbours of a point `t` after the second one, and their derivatives.
fn cubic<T: GridElement>(t: T) -> [(T, T); 4] {
    let a = T::of(-0.75);
    let (one, two, three) = (T::one(), T::of(2.0), T::of(3.0));
    // By the distance: within one element, and between one and two.
    let near = |x: T| {
        (
            ((a + two) * x - (a + three)) * x * x + one,
            (three * (a + two) * x - two * (a + three)) * x,
        )
    };
    let far = |x: T| {
        let (b, c) = (T::of(5.0) * a, T::of(8.0) * a);
        (((a * x - b) * x + c) * x - T::of(4.0) * a, (three * a * x - two * b) * x + c)
    };
    let turned = |(weight, slope): (T, T)| (weight, -slope);
    [far(t + one), near(t), turned(near(one - t)), turned(far(two - t))]
}

/// What points take from a grid: for each point its elements, with their weights and how these
/// change with each coordinate.
struct Takes<T> {
    starts: Vec<usize>,
    places: Vec<usize>,
    weights: Vec<T>,
    /// In the order of the coordinates, three for each element.
    slopes: Vec<[T; 3]>,
}

/// Points on grids `(batch, channels, *size)`: coordinates `(batch, points, size.len())`, the last
/// dimension of the grid first.
pub struct Points<'a, T> {
    /// How to sample.
    pub sampler: Sampler,
    /// Size of a grid, of two or three dimensions.
    pub size: &'a [usize],
    /// Number of images.
    pub batch: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Points of an image.
    pub points: usize,
    /// The coordinates.
    pub coordinates: &'a [T],
}

impl<T: GridElement> Points<'_, T> {
    fn area(&self) -> usize {
        self.size.iter().product()
    }

    fn takes(&self, image: usize, points: Range<usize>, slopes: bool) -> Takes<T> {
        let rank = self.size.len();
        let (zero, one) = (T::zero(), T::one());
        let mut takes =
            Takes { starts: vec![0], places: Vec::new(), weights: Vec::new(), slopes: Vec::new() };
        for point in points {
            let at = &self.coordinates[(image * self.points + point) * rank..][..rank];
            // In the order of the dimensions; one that is missing has a single element.
            let mut lines: [Line<T>; 3] = std::array::from_fn(|_| Line {
                taps: [Tap { place: Some(0), weight: one, slope: zero }; 4],
                count: 1,
            });
            for (dim, &size) in self.size.iter().enumerate() {
                lines[3 - rank + dim] = self.sampler.line(at[rank - 1 - dim], size);
            }
            let [depth, height, width] = &lines;
            let (rows, columns) = (self.size[rank - 2], self.size[rank - 1]);
            for z in &depth.taps[..depth.count] {
                for y in &height.taps[..height.count] {
                    for x in &width.taps[..width.count] {
                        let (Some(front), Some(row), Some(column)) = (z.place, y.place, x.place)
                        else {
                            continue;
                        };
                        takes.places.push((front * rows + row) * columns + column);
                        takes.weights.push(z.weight * y.weight * x.weight);
                        if slopes {
                            takes.slopes.push([
                                z.weight * y.weight * x.slope,
                                z.weight * y.slope * x.weight,
                                z.slope * y.weight * x.weight,
                            ]);
                        }
                    }
                }
            }
            takes.starts.push(takes.places.len());
        }
        takes
    }

    /// Elements that a point takes from, at most.
    fn width(&self) -> usize {
        let taps: usize = match self.sampler.sampling {
            Sampling::Nearest => 1,
            Sampling::Linear => 2,
            Sampling::Cubic => 4,
        };
        taps.pow(self.size.len() as u32)
    }
}

/// Points whose elements are found at a time.
const BLOCK: usize = 256;

/// The grids' values at the points: `(batch, channels, points)`.
pub fn sample<T: GridElement>(x: &[T], p: &Points<'_, T>) -> Vec<T> {
    let area = p.area();
    let mut out = vec![T::zero(); p.batch * p.channels * p.points];
    let rows = Rows::of(&mut out);
    let blocks = p.points.div_ceil(BLOCK);
    let cost = BLOCK * p.width() * (p.channels + 8);
    par::for_ranges(p.batch * blocks, par::GRAIN.div_ceil(cost), |range| {
        for at in range {
            let (image, first) = (at / blocks, at % blocks * BLOCK);
            let points = first..(first + BLOCK).min(p.points);
            let takes = p.takes(image, points.clone(), false);
            for plane in image * p.channels..(image + 1) * p.channels {
                let x = &x[plane * area..][..area];
                // SAFETY: every block belongs to one range, and every range to one thread.
                let out = unsafe { rows.row(plane * p.points + first, points.len()) };
                for (slot, pair) in out.iter_mut().zip(takes.starts.windows(2)) {
                    let own = pair[0]..pair[1];
                    *slot = takes.places[own.clone()]
                        .iter()
                        .zip(&takes.weights[own])
                        .fold(T::zero(), |sum, (&place, &weight)| sum + x[place] * weight);
                }
            }
        }
    });
    out
}

/// The gradients of [`sample`] with respect to the grids and to the coordinates, from that of its
/// result, `g`; those that are not wanted are empty.
pub fn sample_backward<T: GridElement>(
    x: &[T],
    p: &Points<'_, T>,
    g: &[T],
    wanted: [bool; 2],
) -> (Vec<T>, Vec<T>) {
    let (area, rank) = (p.area(), p.size.len());
    let grids = if wanted[0] { p.batch * p.channels * area } else { 0 };
    let mut to_x = vec![T::zero(); grids];
    let mut to_points = vec![T::zero(); if wanted[1] { p.coordinates.len() } else { 0 }];
    for image in 0..p.batch {
        let takes = p.takes(image, 0..p.points, wanted[1]);
        let planes = image * p.channels..(image + 1) * p.channels;
        if wanted[0] {
            let own = &mut to_x[planes.start * area..planes.end * area];
            for_rows(own, area, p.points * p.width(), |channel, out| {
                let g = &g[(planes.start + channel) * p.points..][..p.points];
                for (&g, pair) in g.iter().zip(takes.starts.windows(2)) {
                    for at in pair[0]..pair[1] {
                        let slot = &mut out[takes.places[at]];
                        *slot = *slot + g * takes.weights[at];
                    }
                }
            });
        }
        if wanted[1] {
            let own = &mut to_points[image * p.points * rank..][..p.points * rank];
            for_rows(own, rank, p.channels * p.width(), |point, out| {
                for at in takes.starts[point]..takes.starts[point + 1] {
                    let terms = planes.clone().map(|plane| {
                        g[plane * p.points + point] * x[plane * area + takes.places[at]]
                    });
                    let sum = terms.fold(T::zero(), |sum, term| sum + term);
                    for (slot, &slope) in out.iter_mut().zip(&takes.slopes[at]) {
                        *slot = *slot + sum * slope;
                    }
                }
            });
        }
    }
    (to_x, to_points)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: [(Sampling, Outside, Coordinates); 10] = [
        (Sampling::Linear, Outside::Zeros, Coordinates::Centres),
        (Sampling::Linear, Outside::Border, Coordinates::Edges),
        (Sampling::Linear, Outside::Reflection, Coordinates::Edges),
        (Sampling::Linear, Outside::Reflection, Coordinates::Centres),
        (Sampling::Linear, Outside::Zeros, Coordinates::Elements),
        (Sampling::Nearest, Outside::Zeros, Coordinates::Edges),
        (Sampling::Nearest, Outside::Border, Coordinates::Centres),
        (Sampling::Cubic, Outside::Zeros, Coordinates::Edges),
        (Sampling::Cubic, Outside::Border, Coordinates::Centres),
        (Sampling::Cubic, Outside::Reflection, Coordinates::Edges),
    ];

    fn points<'a>(
        (sampling, outside, coordinates): (Sampling, Outside, Coordinates),
        size: &'a [usize],
        coordinates_of: &'a [f64],
    ) -> Points<'a, f64> {
        Points {
            sampler: Sampler { sampling, outside, coordinates },
            size,
            batch: 2,
            channels: 3,
            points: coordinates_of.len() / size.len() / 2,
            coordinates: coordinates_of,
        }
    }

    #[test]
    fn elements_themselves() {
        let x: Vec<f64> = (0..2 * 3 * 12).map(|i| i as f64).collect();
        let at: Vec<f64> =
            (0..2).flat_map(|_| (0..12).flat_map(|i| [(i % 4) as f64, (i / 4) as f64])).collect();
        for sampling in [Sampling::Linear, Sampling::Nearest, Sampling::Cubic] {
            let spec = (sampling, Outside::Zeros, Coordinates::Elements);
            assert_eq!(sample(&x, &points(spec, &[3, 4], &at)), x);
        }
    }

    #[test]
    fn outside() {
        let x = [1.0f64, 2.0, 3.0, 4.0].repeat(6);
        let at = [-0.5, 0.0, 0.0, 5.0].repeat(2);
        let of = |outside| {
            let p = points((Sampling::Linear, outside, Coordinates::Elements), &[2, 2], &at);
            sample(&x, &p)[..2].to_vec()
        };
        assert_eq!(of(Outside::Zeros), [0.5, 0.0]);
        assert_eq!(of(Outside::Border), [1.0, 3.0]);
        assert_eq!(of(Outside::Reflection), [1.5, 3.0]);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for size in [&[3, 4][..], &[2, 3, 3]] {
            let (area, rank) = (size.iter().product::<usize>(), size.len());
            let x: Vec<f64> = (0..2 * 3 * area).map(|i| ((i * 7919) % 101) as f64 / 25.0).collect();
            let at: Vec<f64> =
                (0..2 * 5 * rank).map(|i| ((i * 6007) % 97) as f64 / 41.3 - 1.2003).collect();
            let g: Vec<f64> = (0..2 * 3 * 5).map(|i| ((i * 31) % 13) as f64 / 7.0).collect();
            let dot = |y: &[f64]| y.iter().zip(&g).map(|(y, g)| y * g).sum::<f64>();
            for spec in EVERY {
                if size.len() == 3 && spec.0 == Sampling::Cubic {
                    continue;
                }
                let p = points(spec, size, &at);
                let (to_x, to_points) = sample_backward(&x, &p, &g, [true, true]);
                let linear: f64 = to_x.iter().zip(&x).map(|(a, b)| a * b).sum();
                assert!((linear - dot(&sample(&x, &p))).abs() < 1e-9, "{spec:?}");
                for k in 0..at.len() {
                    let moved = |by: f64| {
                        let mut at = at.clone();
                        at[k] += by;
                        dot(&sample(&x, &points(spec, size, &at)))
                    };
                    let change = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    assert!((to_points[k] - change).abs() < 1e-5, "{spec:?} {k}");
                }
            }
        }
    }
}
