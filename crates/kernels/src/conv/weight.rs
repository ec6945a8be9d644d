//! The gradient of a convolution with respect to its weights.
//!
//! Where a group has many channels, they are laid side by side, and each product of a gradient with
//! an element of the input goes to a vector of them (`outer`). Where it has few, vectors run along
//! the positions of a padded copy (`dots`).

use std::ops::Range;

use super::lanes::{MOST_LANES, Real, blocks};
use super::plan::{Pass, Plan};
use super::tiles::{Dots, Outer, SLACK};
use super::{Convolution, columns};
use crate::par;
use crate::window::{PART, Rows, Sight, for_rows};

/// Channels of a group from which on they are laid side by side.
const MANY: usize = 12;
/// Bytes of copies that are made at a time.
const MEMORY: usize = 64 << 20;
/// Multiplications that are worth a thread.
const GRAIN: usize = 128 * 1024;

/// See [`ConvElement::weight`](super::ConvElement::weight).
pub(super) fn weight<T: Real>(c: &Convolution, x: &[T], g: &[T]) -> Vec<T> {
    if c.weights() == 0 || c.outputs() == 0 {
        return vec![T::zero(); c.weights()];
    }
    if c.channels >= MANY {
        by_channels(c, x, g)
    } else if x.iter().all(|x| x.is_finite()) {
        by_positions(c, x, g)
    } else {
        // Between rows of results there are zeros, which must not meet infinities.
        columns::weight(c, x, g)
    }
}

fn by_channels<T: Real>(c: &Convolution, x: &[T], g: &[T]) -> Vec<T> {
    let (area, windows, taps) = (c.windows.area(), c.windows.windows(), c.windows.taps());
    let padded = c.channels.next_multiple_of(MOST_LANES);
    let step = c.windows.last_stride();
    let sight = Sight::of(&c.windows);
    let (blocks, planes) = (blocks(c.filters), c.groups * c.filters);
    // For each group and filter, for each tap a sum for every channel.
    let mut sums = vec![T::zero(); planes * taps * padded];
    let image = c.groups * area * padded;
    let images = (MEMORY / (image * size_of::<T>()).max(1)).clamp(1, c.batch);
    let mut turned = vec![T::zero(); images * image];
    // Small images are taken together, as sums are read and written each time.
    let together = (PART / windows).max(1);
    // Where blocks are fewer than threads, taps are divided too.
    let threads = par::num_threads();
    let shares = threads.div_ceil(c.groups * blocks.len()).min(taps);
    let share = taps.div_ceil(shares);
    for first in (0..c.batch).step_by(images) {
        let count = images.min(c.batch - first);
        let inputs = &x[first * c.groups * c.channels * area..];
        for_rows(&mut turned[..count * image], area * padded, area * padded, |at, out| {
            turn(&inputs[at * c.channels * area..][..c.channels * area], c.channels, padded, out);
        });
        let target = Rows::of(&mut sums);
        let items = c.groups * blocks.len() * shares;
        let grain = GRAIN.div_ceil((c.work() / items / c.batch * count).max(1));
        par::for_ranges(items, grain, |range| {
            for item in range {
                let (at, share_at) = (item / shares, item % shares);
                let (group, (row, height)) = (at / blocks.len(), blocks[at % blocks.len()]);
                let row = group * c.filters + row;
                for image in (0..count).step_by(together) {
                    let plane = (first + image) * planes + row;
                    let input = (image * c.groups + group) * area * padded;
                    for part in 0..sight.parts {
                        for tap in share_at * share..((share_at + 1) * share).min(taps) {
                            let job = Outer {
                                height,
                                grads: &g[plane * windows..],
                                plane: windows,
                                input: &turned[input..],
                                channels: padded,
                                step,
                                runs: sight.runs(part, tap),
                                images: together.min(count - image),
                                grads_step: planes * windows,
                                input_step: c.groups * area * padded,
                                // SAFETY: rows and taps of items do not overlap.
                                sums: unsafe { target.start().add((row * taps + tap) * padded) },
                                pitch: taps * padded,
                            };
                            // SAFETY: as above; runs lie within the grid and the windows.
                            unsafe { T::outer(&job) };
                        }
                    }
                }
            }
        });
    }
    let mut out = vec![T::zero(); c.weights()];
    for_rows(&mut out, c.channels * taps, c.channels * taps, |row, out| {
        let sums = &sums[row * taps * padded..][..taps * padded];
        for (channel, out) in out.chunks_exact_mut(taps).enumerate() {
            for (tap, slot) in out.iter_mut().enumerate() {
                *slot = sums[tap * padded + channel];
            }
        }
    });
    out
}

/// Lays the channels of each element side by side; `out` has zeros where there are none.
fn turn<T: Real>(planes: &[T], channels: usize, padded: usize, out: &mut [T]) {
    let area = planes.len() / channels;
    for first in (0..channels).step_by(MOST_LANES) {
        let count = MOST_LANES.min(channels - first);
        // Planes past the last repeat it, and are not written.
        let plane = |k: usize| &planes[(first + k.min(count - 1)) * area..][..area];
        let planes: [&[T]; MOST_LANES] = std::array::from_fn(plane);
        for (at, out) in out.chunks_exact_mut(padded).enumerate() {
            let values: [T; MOST_LANES] = std::array::from_fn(|k| planes[k][at]);
            out[first..][..count].copy_from_slice(&values[..count]);
        }
    }
}

fn by_positions<T: Real>(c: &Convolution, x: &[T], g: &[T]) -> Vec<T> {
    let plan = Plan::forward(&c.windows);
    let [pass] = &plan.passes[..] else { unreachable!("a convolution is one pass") };
    // Filters of a group go to several threads where groups are fewer.
    let shares = par::num_threads().div_ceil(c.groups).min(c.filters.div_ceil(3));
    let share = c.filters.div_ceil(shares).next_multiple_of(3);
    let mut out = vec![T::zero(); c.weights()];
    let target = Rows::of(&mut out);
    let items = c.groups * shares;
    par::for_ranges(items, GRAIN.div_ceil((c.work() / items).max(1)), |range| {
        let mut bench = Bench::new(c, &plan, share);
        for item in range {
            let group = item / shares;
            let first = item % shares * share;
            let rows = first..(first + share).min(c.filters);
            if rows.is_empty() {
                continue;
            }
            let depth = c.channels * c.windows.taps();
            let start = (group * c.filters + rows.start) * depth;
            // SAFETY: rows of items do not overlap.
            let out = unsafe { target.row(start, rows.len() * depth) };
            bench.run(pass, (x, g), group, rows, out);
        }
    });
    out
}

/// Where a thread works.
struct Bench<'a, T> {
    c: &'a Convolution,
    plan: &'a Plan,
    /// Images laid side by side.
    images: usize,
    offsets: Vec<usize>,
    source: Vec<T>,
    grads: Vec<T>,
    sums: Vec<T>,
}

impl<'a, T: Real> Bench<'a, T> {
    fn new(c: &'a Convolution, plan: &'a Plan, rows: usize) -> Self {
        let images = PART.div_ceil(plan.extent.max(1)).clamp(1, c.batch);
        let pitch = plan.pitch(images);
        let reads = &plan.passes[0].reads;
        let offset = |channel: usize| {
            reads
                .iter()
                .map(move |&(phase, shift)| channel * pitch + phase * images * plan.extent + shift)
        };
        Bench {
            c,
            plan,
            images,
            offsets: (0..c.channels).flat_map(offset).collect(),
            source: vec![T::zero(); c.channels * pitch + plan.past + SLACK],
            grads: vec![T::zero(); rows * (images * plan.extent).next_multiple_of(MOST_LANES)],
            sums: vec![T::zero(); rows * c.channels * reads.len() * MOST_LANES],
        }
    }

    fn run(
        &mut self,
        pass: &Pass,
        (x, g): (&[T], &[T]),
        group: usize,
        rows: Range<usize>,
        out: &mut [T],
    ) {
        let (c, plan, extent) = (self.c, self.plan, self.plan.extent);
        let pitch = (self.images * extent).next_multiple_of(MOST_LANES);
        let copied = plan.pitch(self.images);
        self.sums.fill(T::zero());
        for first in (0..c.batch).step_by(self.images) {
            let images = self.images.min(c.batch - first);
            if images < self.images {
                // What is left of earlier images must not count.
                self.grads.fill(T::zero());
            }
            for image in 0..images {
                let plane = (first + image) * c.groups + group;
                let planes = &x[plane * c.channels * plan.source..];
                for (channel, to) in
                    self.source.chunks_exact_mut(copied).take(c.channels).enumerate()
                {
                    let from = &planes[channel * plan.source..][..plan.source];
                    plan.copy(from, to, (image, self.images));
                }
                for (at, row) in rows.clone().enumerate() {
                    let from = &g[(plane * c.filters + row) * plan.plane..][..plan.plane];
                    let to = &mut self.grads[at * pitch + image * extent..][..extent];
                    for run in &pass.rows {
                        to[run.from..][..run.len].copy_from_slice(&from[run.to..][..run.len]);
                    }
                }
            }
            let job = Dots {
                rows: rows.len(),
                grads: &self.grads,
                grads_pitch: pitch,
                source: &self.source,
                offsets: &self.offsets,
                positions: ((images - 1) * extent + pass.positions()).next_multiple_of(MOST_LANES),
                sums: self.sums.as_mut_ptr(),
            };
            // SAFETY: the source has slack at its end, gradients are filled up with zeros.
            unsafe { T::dots(&job) };
        }
        for (sum, lanes) in out.iter_mut().zip(self.sums.chunks_exact(MOST_LANES)) {
            *sum = lanes.iter().fold(T::zero(), |sum, &lane| sum + lane);
        }
    }
}
