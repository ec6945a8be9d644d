//! How a convolution is laid out so that its inner loop reads memory in one direction.
//!
//! What the weights slide over, the source, is copied with its border. A stride of two or more
//! deals it out to several phases, as one deals cards, so that within a phase neighbouring results
//! are neighbouring elements. Then the result at position `p`, counted over rows as wide as those
//! of the copy, is the sum over channels and taps of `weight * copy[tap's offset + p]`. Positions
//! past the end of a row of results are computed along and dropped.
//!
//! The gradient with respect to the input is laid out the same way: the gradient of the result is
//! the source, and the results fall apart into one pass for each residue of the stride, each with
//! the taps that reach it.

use crate::Dims;
use crate::window::{Run, Windows, split};

/// A layout.
#[derive(Debug)]
pub(super) struct Plan {
    /// For each phase, the runs that are copied from a plane of the source.
    pub(super) fill: Vec<Vec<Run>>,
    /// Steps between the elements read for the copy.
    pub(super) fill_step: usize,
    /// Elements of a plane of the copy, for each phase.
    pub(super) extent: usize,
    /// How many zeros are read past the end of the copy.
    pub(super) past: usize,
    /// Elements of a plane of the source.
    pub(super) source: usize,
    /// What is computed.
    pub(super) passes: Vec<Pass>,
    /// Elements of a plane of results.
    pub(super) plane: usize,
    /// Steps between the results of neighbouring positions.
    pub(super) step: usize,
}

/// Results that are computed alike.
#[derive(Debug)]
pub(super) struct Pass {
    /// The numbers of the taps that contribute.
    pub(super) taps: Vec<usize>,
    /// The phase that each reads, and how far from the result's position.
    pub(super) reads: Vec<(usize, usize)>,
    /// The rows of results: `from` is the first position, `to` its place in the plane of results.
    pub(super) rows: Vec<Run>,
}

impl Pass {
    /// Positions of an image.
    pub(super) fn positions(&self) -> usize {
        self.rows.last().map_or(0, |row| row.from + row.len)
    }
}

/// One dimension of the copy: element `u` of a phase is element `u * step + start` of the source.
struct Axis {
    size: usize,
    step: usize,
    starts: Vec<isize>,
    /// Elements that are read.
    extent: usize,
}

impl Axis {
    /// The first and the end of what lies inside the source.
    fn inside(&self, phase: usize) -> (usize, usize) {
        let bound = |at: usize| {
            let elements = (at as isize - self.starts[phase]).max(0) as usize;
            elements.div_ceil(self.step).min(self.extent)
        };
        (bound(0), bound(self.size))
    }

    /// Elements between neighbouring rows of so many positions: the border at the end of a row is
    /// the one at the start of the next, as both are zero.
    fn pitch(&self, positions: usize) -> usize {
        let inside = || (0..self.starts.len()).map(|phase| self.inside(phase));
        let first = inside().map(|(first, _)| first).min().unwrap_or(0);
        let end = inside().map(|(_, end)| end).max().unwrap_or(0);
        end.max(self.extent - first).max(positions)
    }
}

/// One dimension of a pass.
#[derive(Clone)]
struct Side {
    /// Taps that contribute, the phase each reads, and how far from the position.
    taps: Vec<(usize, usize, usize)>,
    /// Number of results.
    len: usize,
    /// The first one's place, and the steps to the next.
    first: usize,
    step: usize,
}

impl Plan {
    /// The layout of the convolution itself.
    pub(super) fn forward(w: &Windows) -> Plan {
        let rank = w.rank();
        let mut axes = Vec::with_capacity(rank);
        let mut sides = Vec::with_capacity(rank);
        for dim in 0..rank {
            let (stride, dilation) = (w.stride[dim], w.dilation[dim]);
            let ats = || (0..w.kernel[dim]).map(|tap| tap * dilation);
            let mut phases: Vec<usize> = ats().map(|at| at % stride).collect();
            phases.sort_unstable();
            phases.dedup();
            let phase =
                |at: usize| phases.binary_search(&(at % stride)).expect("it is one of them");
            let taps = ats().enumerate().map(|(tap, at)| (tap, phase(at), at / stride)).collect();
            let reach = (w.kernel[dim].max(1) - 1) * dilation / stride;
            axes.push(Axis {
                size: w.size[dim],
                step: stride,
                starts: phases.iter().map(|&at| at as isize - w.padding[dim] as isize).collect(),
                extent: w.count[dim] + reach,
            });
            sides.push(vec![Side { taps, len: w.count[dim], first: 0, step: 1 }]);
        }
        Plan::new(w, &axes, &sides, &w.count)
    }

    /// The layout of the gradient with respect to the input.
    pub(super) fn input(w: &Windows) -> Plan {
        let rank = w.rank();
        let mut axes = Vec::with_capacity(rank);
        let mut sides = Vec::with_capacity(rank);
        for dim in 0..rank {
            let (stride, dilation) = (w.stride[dim], w.dilation[dim]);
            let (size, padding) = (w.size[dim], w.padding[dim]);
            let reach = (w.kernel[dim].max(1) - 1) * dilation / stride;
            // Input `i` lies at `i + padding = q * stride + residue`, and takes from result
            // `q - tap * dilation / stride` by the taps with the same residue.
            let bounds = |residue: usize| {
                let first = padding.saturating_sub(residue).div_ceil(stride);
                let end = (padding + size).saturating_sub(residue).div_ceil(stride);
                (first.min(end), end)
            };
            let lowest = (0..stride).map(|residue| bounds(residue).0).min().unwrap_or(0);
            let highest = (0..stride).map(|residue| bounds(residue).1).max().unwrap_or(0);
            axes.push(Axis {
                size: w.count[dim],
                step: 1,
                starts: vec![lowest as isize - reach as isize],
                extent: highest - lowest + reach,
            });
            let side = |residue: usize| {
                let (first, end) = bounds(residue);
                let taps = (0..w.kernel[dim])
                    .map(|tap| (tap, tap * dilation))
                    .filter(|&(_, at)| at % stride == residue)
                    .map(|(tap, at)| (tap, 0, first - lowest + reach - at / stride));
                Side {
                    taps: taps.collect(),
                    len: end - first,
                    first: (first * stride + residue).saturating_sub(padding),
                    step: stride,
                }
            };
            sides.push((0..stride).map(side).filter(|side| side.len > 0).collect());
        }
        Plan::new(w, &axes, &sides, &w.size)
    }

    fn new(w: &Windows, axes: &[Axis], sides: &[Vec<Side>], plane: &[usize]) -> Plan {
        let phases: Dims = axes.iter().map(|axis| axis.starts.len()).collect();
        let positions = |sides: &[Side]| sides.iter().map(|side| side.len).max().unwrap_or(0);
        let pitches = axes.iter().zip(sides).map(|(axis, sides)| axis.pitch(positions(sides)));
        let pitches: Dims = pitches.collect();
        // What the last row reads past its end.
        let past: usize = axes
            .iter()
            .zip(&pitches)
            .fold(0, |past, (axis, pitch)| past * pitch + axis.extent.saturating_sub(*pitch));
        let choices: Dims = sides.iter().map(|sides| sides.len()).collect();
        let chosen = |at: usize| -> Vec<&Side> {
            split(at, &choices).iter().zip(sides).map(|(&at, sides)| &sides[at]).collect()
        };
        Plan {
            fill: (0..phases.iter().product())
                .map(|at| fill(axes, &pitches, &split(at, &phases)))
                .collect(),
            fill_step: axes[axes.len() - 1].step,
            extent: pitches.iter().product(),
            past,
            source: axes.iter().map(|axis| axis.size).product(),
            passes: (0..choices.iter().product())
                .map(|at| pass(&chosen(at), w, &phases, &pitches, plane))
                .collect(),
            plane: plane.iter().product(),
            step: sides[sides.len() - 1].first().map_or(1, |side| side.step),
        }
    }
}

impl Plan {
    /// Elements of a channel of the copy, of so many images.
    pub(super) fn pitch(&self, images: usize) -> usize {
        self.fill.len() * images * self.extent
    }

    /// Copies a plane of the source to its channel of the copy, as image number `image` of
    /// `images`. What lies outside the source is left alone: it is zero from the start.
    pub(super) fn copy<T: Copy>(
        &self,
        plane: &[T],
        channel: &mut [T],
        (image, images): (usize, usize),
    ) {
        for (phase, runs) in self.fill.iter().enumerate() {
            let to = &mut channel[(phase * images + image) * self.extent..][..self.extent];
            for run in runs {
                let to = &mut to[run.to..][..run.len];
                if self.fill_step == 1 {
                    to.copy_from_slice(&plane[run.from..][..run.len]);
                } else {
                    let from = plane[run.from..].iter().step_by(self.fill_step);
                    to.iter_mut().zip(from).for_each(|(slot, &value)| *slot = value);
                }
            }
        }
    }
}

/// What is copied to one phase.
fn fill(axes: &[Axis], pitches: &[usize], phase: &[usize]) -> Vec<Run> {
    let last = axes.len() - 1;
    let rows = &pitches[..last];
    let axis = &axes[last];
    let (first, end) = axis.inside(phase[last]);
    let start = axis.starts[phase[last]];
    if first == end {
        return Vec::new();
    }
    let row = |row: usize| {
        let from = split(row, rows).iter().zip(axes).zip(phase).try_fold(
            0,
            |from, ((&at, axis), &phase)| {
                let at = usize::try_from((at * axis.step) as isize + axis.starts[phase]).ok()?;
                (at < axis.size).then_some(from * axis.size + at)
            },
        )?;
        let inner = ((first * axis.step) as isize + start) as usize;
        Some(Run {
            from: from * axis.size + inner,
            to: row * pitches[last] + first,
            len: end - first,
        })
    };
    (0..rows.iter().product()).filter_map(row).collect()
}

fn pass(
    sides: &[&Side],
    w: &Windows,
    phases: &[usize],
    pitches: &[usize],
    plane: &[usize],
) -> Pass {
    let counts: Dims = sides.iter().map(|side| side.taps.len()).collect();
    let tap = |at: usize| {
        let (mut number, mut phase, mut shift) = (0, 0, 0);
        for (dim, at) in split(at, &counts).into_iter().enumerate() {
            let (own_number, own_phase, own_shift) = sides[dim].taps[at];
            number = number * w.kernel[dim] + own_number;
            phase = phase * phases[dim] + own_phase;
            shift = shift * pitches[dim] + own_shift;
        }
        (number, (phase, shift))
    };
    let (taps, reads) = (0..counts.iter().product()).map(tap).unzip();
    let last = sides.len() - 1;
    let rows: Dims = sides[..last].iter().map(|side| side.len).collect();
    let row = |row: usize| {
        let (mut from, mut to) = (0, 0);
        for (dim, at) in split(row, &rows).into_iter().enumerate() {
            from = from * pitches[dim] + at;
            to = to * plane[dim] + sides[dim].first + at * sides[dim].step;
        }
        Run {
            from: from * pitches[last],
            to: to * plane[last] + sides[last].first,
            len: sides[last].len,
        }
    };
    let rows = (0..rows.iter().product()).map(row).filter(|row| row.len > 0).collect();
    Pass { taps, reads, rows }
}
