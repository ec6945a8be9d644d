//! The convolution and its gradient with respect to the input, by tiles over a padded copy.

use std::ops::Range;

use super::Convolution;
use super::lanes::{MOST_LANES, Real, blocks};
use super::plan::{Pass, Plan};
use super::tiles::{Row, SLACK, Strip};
use crate::par;
use crate::window::Rows;

/// Positions that are computed at least, where images are small: several are laid side by side.
const POSITIONS: usize = 256;
/// Bytes of the copy that are worked on at a time, so that they stay in near caches.
const CACHE: usize = 64 * 1024;
/// Multiplications that are worth a thread.
const GRAIN: usize = 128 * 1024;

/// See [`ConvElement::forward`](super::ConvElement::forward).
pub(super) fn forward<T: Real>(
    c: &Convolution,
    x: &[T],
    weight: &[T],
    bias: Option<&[T]>,
) -> Vec<T> {
    let taps = c.windows.taps();
    let sides = Sides {
        batch: c.batch,
        groups: c.groups,
        channels: c.channels,
        rows: c.filters,
        channel_step: taps,
        row_step: c.channels * taps,
        group_step: c.filters * c.channels * taps,
        work: c.work(),
    };
    sides.run(&Plan::forward(&c.windows), x, weight, bias)
}

/// See [`ConvElement::input`](super::ConvElement::input).
pub(super) fn input<T: Real>(c: &Convolution, g: &[T], weight: &[T], bias: Option<&[T]>) -> Vec<T> {
    let taps = c.windows.taps();
    let sides = Sides {
        batch: c.batch,
        groups: c.groups,
        channels: c.filters,
        rows: c.channels,
        channel_step: c.channels * taps,
        row_step: taps,
        group_step: c.filters * c.channels * taps,
        work: c.work(),
    };
    sides.run(&Plan::input(&c.windows), g, weight, bias)
}

/// What is summed over, what is computed, and where its weights lie.
struct Sides {
    batch: usize,
    groups: usize,
    /// Planes of the source that each result of a group is a sum over.
    channels: usize,
    /// Planes of results of a group.
    rows: usize,
    channel_step: usize,
    row_step: usize,
    group_step: usize,
    work: usize,
}

/// A pass laid out for several images side by side.
struct Laid {
    /// For each tap its weight's place, and where it reads, from a result's position.
    taps: Vec<(usize, usize)>,
    /// Positions of an image.
    positions: usize,
    rows: Vec<Row>,
}

/// Positions of a pass that are computed together.
struct Piece {
    pass: usize,
    start: usize,
    end: usize,
    /// Elements at the end of the plane that belong to later pieces.
    kept: usize,
}

/// A convolution on its way: everything that threads share.
struct Work<'a, T> {
    sides: &'a Sides,
    plan: &'a Plan,
    source: &'a [T],
    weights: &'a [T],
    bias: Option<&'a [T]>,
    /// Images that are laid side by side.
    images: usize,
    blocks: Vec<(usize, usize)>,
    laid: Vec<Laid>,
    pieces: Vec<Piece>,
    out: Rows<T>,
}

impl Sides {
    fn run<T: Real>(&self, plan: &Plan, source: &[T], weights: &[T], bias: Option<&[T]>) -> Vec<T> {
        let len = self.batch * self.groups * self.rows * plan.plane;
        let mut out = Vec::with_capacity(len);
        if len == 0 {
            return out;
        }
        let positions = plan.passes.iter().map(Pass::positions).max().unwrap_or(0).max(1);
        let images = POSITIONS.div_ceil(positions).clamp(1, self.batch);
        let blocks = blocks(self.rows);
        let laid: Vec<_> = plan.passes.iter().map(|pass| self.lay(plan, pass, images)).collect();
        let units = self.batch.div_ceil(images) * self.groups;
        let alone = units < par::num_threads() && self.work > GRAIN;
        let work = Work {
            sides: self,
            plan,
            source,
            weights,
            bias,
            images,
            pieces: self.pieces(plan, &laid, images, alone, size_of::<T>()),
            blocks,
            laid,
            // SAFETY: only written to, as far as its length will be.
            out: Rows::of(unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr(), len) }),
        };
        if alone {
            let mut copy = work.copy();
            for unit in 0..units {
                work.run_together(unit, &mut copy);
            }
        } else {
            let grain = GRAIN.div_ceil((self.work / units).max(1));
            par::for_ranges(units, grain, |range| {
                let mut copy = work.copy();
                for unit in range {
                    work.fill(unit, 0..self.channels, &Rows::of(&mut copy));
                    for piece in &work.pieces {
                        for block in 0..work.blocks.len() {
                            // SAFETY: a unit belongs to one range, and a range to one thread.
                            unsafe { work.strip(unit, piece, block, &copy) };
                        }
                    }
                }
            });
        }
        drop(work);
        // SAFETY: rows of results cover their planes, and all planes were computed.
        unsafe { out.set_len(len) };
        out
    }

    fn lay(&self, plan: &Plan, pass: &Pass, images: usize) -> Laid {
        let image = self.groups * self.rows * plan.plane;
        // With several passes, what lies between rows belongs to another one.
        let room = |to: usize| if plan.passes.len() == 1 { plan.plane - to } else { 0 };
        let place = |number: usize| {
            pass.rows.iter().map(move |run| Row {
                from: number * plan.extent + run.from,
                to: number * image + run.to,
                len: run.len,
                room: room(run.to),
            })
        };
        Laid {
            taps: pass
                .taps
                .iter()
                .zip(&pass.reads)
                .map(|(&tap, &(phase, shift))| (tap, phase * images * plan.extent + shift))
                .collect(),
            positions: pass.positions(),
            rows: (0..images).flat_map(place).collect(),
        }
    }

    /// Cuts positions into pieces whose part of the copy stays in the cache.
    fn pieces(
        &self,
        plan: &Plan,
        laid: &[Laid],
        images: usize,
        alone: bool,
        size: usize,
    ) -> Vec<Piece> {
        let line = (self.channels * plan.fill.len() * size).max(1);
        let length = (CACHE / line).max(POSITIONS).next_multiple_of(3 * MOST_LANES);
        let mut pieces = Vec::new();
        for (pass, laid) in laid.iter().enumerate() {
            let end = match laid.positions {
                0 => 0,
                positions => (images - 1) * plan.extent + positions,
            };
            // Rows of several images overlap where they end, so one thread takes them in order.
            let length = if alone && images > 1 { end.max(1) } else { length };
            for start in (0..end).step_by(length) {
                let stop = (start + length).min(end);
                let next = laid.rows.partition_point(|row| row.from + row.len <= stop);
                let kept = match laid.rows.get(next) {
                    Some(row) if alone => row.room.saturating_sub(stop.saturating_sub(row.from)),
                    _ => 0,
                };
                pieces.push(Piece { pass, start, end: stop, kept });
            }
        }
        pieces
    }
}

impl<T: Real> Work<'_, T> {
    /// Room for the copy; its border stays zero.
    fn copy(&self) -> Vec<T> {
        vec![T::zero(); self.sides.channels * self.plan.pitch(self.images) + self.plan.past + SLACK]
    }

    /// The first image of a unit, how many there are, and the group.
    fn unit(&self, unit: usize) -> (usize, usize, usize) {
        let first = unit / self.sides.groups * self.images;
        (first, self.images.min(self.sides.batch - first), unit % self.sides.groups)
    }

    /// Copies channels of a unit. Every channel must belong to one thread.
    fn fill(&self, unit: usize, channels: Range<usize>, copy: &Rows<T>) {
        let (first, images, group) = self.unit(unit);
        let pitch = self.plan.pitch(self.images);
        for channel in channels {
            // SAFETY: every channel is filled by one thread.
            let to = unsafe { copy.row(channel * pitch, pitch) };
            for image in 0..images {
                let plane = (first + image) * self.sides.groups + group;
                let from = (plane * self.sides.channels + channel) * self.plan.source;
                let from = &self.source[from..][..self.plan.source];
                self.plan.copy(from, to, (image, self.images));
            }
        }
    }

    /// Computes a unit on several threads.
    fn run_together(&self, unit: usize, copy: &mut [T]) {
        let target = Rows::of(copy);
        let grain = par::GRAIN.div_ceil(self.plan.pitch(self.images).max(1));
        par::for_ranges(self.sides.channels, grain, |channels| self.fill(unit, channels, &target));
        let blocks = self.blocks.len();
        par::for_ranges(self.pieces.len() * blocks, 1, |range| {
            for at in range {
                // SAFETY: every strip belongs to one range, and every range to one thread.
                unsafe { self.strip(unit, &self.pieces[at / blocks], at % blocks, copy) };
            }
        });
    }

    /// Computes a block of rows of one piece of a unit.
    ///
    /// # Safety
    /// Nobody else may compute it at the same time.
    unsafe fn strip(&self, unit: usize, piece: &Piece, block: usize, copy: &[T]) {
        let (first, images, group) = self.unit(unit);
        let (laid, (row, height)) = (&self.laid[piece.pass], self.blocks[block]);
        let weights = group * self.sides.group_step + row * self.sides.row_step;
        let row = group * self.sides.rows + row;
        let plane = first * self.sides.groups * self.sides.rows + row;
        let job = Strip {
            height,
            weights: &self.weights[weights..],
            row_step: self.sides.row_step,
            channel_step: self.sides.channel_step,
            bias: self.bias.map(|bias| &bias[row..][..height]),
            source: copy,
            channels: self.sides.channels,
            pitch: self.plan.pitch(self.images),
            taps: &laid.taps,
            start: piece.start,
            end: piece.end.min((images - 1) * self.plan.extent + laid.positions),
            rows: &laid.rows,
            // SAFETY: the plane lies in the results.
            out: unsafe { self.out.start().add(plane * self.plan.plane) },
            plane: self.plan.plane,
            step: self.plan.step,
            kept: piece.kept,
        };
        // SAFETY: the copy has slack at its end, and the caller vouches for the results.
        unsafe { T::strip(&job) }
    }
}
