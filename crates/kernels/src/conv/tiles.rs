//! The inner loops: tiles of results that stay in registers while products are added up.
//!
//! Arrays of constant size stand for vectors; the compiler keeps them in registers.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::lanes::{MOST_LANES, Real, fused};
use crate::window::Run;

/// The most vectors side by side; with more than these the compiler puts them into memory.
const MOST_WIDTH: usize = 4;
/// How many elements past the last position may be read.
pub(super) const SLACK: usize = MOST_LANES * MOST_WIDTH;

/// Calls a function with the number of vectors to compute next: the most of the widths given, but
/// not so many that a single one remains.
macro_rules! with_width {
    ($left:expr, $most:literal $($less:literal)*, $N:ident => $call:expr) => {{
        let left: usize = $left;
        let balanced = if left == $most + 1 && $most > 1 { left.div_ceil(2) } else { left };
        if balanced >= $most {
            const $N: usize = $most;
            $call;
            $N
        } $(else if balanced >= $less {
            const $N: usize = $less;
            $call;
            $N
        })* else {
            unreachable!("the least width is one")
        }
    }};
}

/// Calls a function with a height, and the widths that fit the registers beside it.
macro_rules! with_height {
    ($height:expr, $left:expr, $M:ident, $N:ident => $call:expr) => {
        match $height {
            8 => {
                const $M: usize = 8;
                with_width!($left, 3 2 1, $N => $call)
            }
            4 => {
                const $M: usize = 4;
                with_width!($left, 3 2 1, $N => $call)
            }
            2 => {
                const $M: usize = 2;
                with_width!($left, 4 2 1, $N => $call)
            }
            _ => {
                const $M: usize = 1;
                with_width!($left, 4 2 1, $N => $call)
            }
        }
    };
}

/// A few rows of results, each a plane, over a range of positions.
pub(super) struct Strip<'a, T> {
    /// How many rows.
    pub(super) height: usize,
    /// The weights from the first row's on, and the steps to the next row and to the next channel.
    pub(super) weights: &'a [T],
    pub(super) row_step: usize,
    pub(super) channel_step: usize,
    /// What results start from, for each row.
    pub(super) bias: Option<&'a [T]>,
    /// The copy of the source, its channels so many elements apart.
    pub(super) source: &'a [T],
    pub(super) channels: usize,
    pub(super) pitch: usize,
    /// For each tap its weight's place, and where it reads, from a result's position.
    pub(super) taps: &'a [(usize, usize)],
    /// The positions to compute.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where results go, sorted by position.
    pub(super) rows: &'a [Row],
    /// The first plane of results, and the steps to the next plane and to the next result.
    pub(super) out: *mut T,
    pub(super) plane: usize,
    pub(super) step: usize,
    /// How many elements at the end of a plane belong to somebody else.
    pub(super) kept: usize,
}

/// Results at consecutive positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The first position.
    pub(super) from: usize,
    /// Where its result goes.
    pub(super) to: usize,
    /// How many.
    pub(super) len: usize,
    /// How many elements from there on may be written: what is written past the end of a row is
    /// written again by the rows after it.
    pub(super) room: usize,
}

/// Computes a strip.
///
/// # Safety
/// The source must reach to `SLACK` elements past what the last tap reads for the last position,
/// and nobody else may read or write the results.
#[inline(always)]
pub(super) unsafe fn strip<T: Real, const L: usize, const FUSED: bool>(job: &Strip<'_, T>) {
    let mut at = job.start;
    let mut row = job.rows.partition_point(|row| row.from + row.len <= at);
    while at < job.end {
        let left = (job.end - at).div_ceil(L);
        let width = with_height!(job.height, left, M, N => {
            // SAFETY: the caller's promise.
            unsafe {
                let sums = tile::<T, L, M, N, FUSED>(job, at);
                place::<T, L, M, N>(job, at, &mut row, &sums);
            }
        });
        at += width * L;
    }
}

/// The results at `N` vectors of positions.
#[inline(always)]
unsafe fn tile<T: Real, const L: usize, const M: usize, const N: usize, const FUSED: bool>(
    job: &Strip<'_, T>,
    at: usize,
) -> [[[T; L]; N]; M] {
    let mut sums = [[[T::zero(); L]; N]; M];
    let mut weights = job.weights.as_ptr();
    let mut channel = unsafe { job.source.as_ptr().add(at) };
    for _ in 0..job.channels {
        for &(tap, offset) in job.taps {
            // SAFETY: the source has slack past the last position, and weights for each tap.
            unsafe {
                let source = channel.add(offset);
                let weights = weights.add(tap);
                let mut values = [[T::zero(); L]; N];
                for j in 0..N {
                    for l in 0..L {
                        values[j][l] = *source.add(j * L + l);
                    }
                }
                for i in 0..M {
                    let weight = *weights.add(i * job.row_step);
                    for j in 0..N {
                        for l in 0..L {
                            sums[i][j][l] = fused::<T, FUSED>(values[j][l], weight, sums[i][j][l]);
                        }
                    }
                }
            }
        }
        weights = weights.wrapping_add(job.channel_step);
        channel = channel.wrapping_add(job.pitch);
    }
    // Last, so that sums begin in registers.
    if let Some(bias) = job.bias {
        for i in 0..M {
            for j in 0..N {
                for l in 0..L {
                    sums[i][j][l] = sums[i][j][l] + bias[i];
                }
            }
        }
    }
    sums
}

/// Writes the results of a tile where they belong; `row` is the first row with one.
#[inline(always)]
unsafe fn place<T: Real, const L: usize, const M: usize, const N: usize>(
    job: &Strip<'_, T>,
    at: usize,
    row: &mut usize,
    sums: &[[[T; L]; N]; M],
) {
    let end = (at + N * L).min(job.end);
    // With a vector to spare, which is read but means nothing.
    let mut lines = [const { MaybeUninit::<[[T; L]; MOST_WIDTH + 1]>::uninit() }; M];
    for (line, sums) in lines.iter_mut().zip(sums) {
        let line: *mut [T; L] = line.as_mut_ptr().cast();
        for j in 0..=N {
            // SAFETY: a line has a vector more than the widest tile.
            unsafe { line.add(j).write(if j < N { sums[j] } else { [T::zero(); L] }) };
        }
    }
    while let Some(run) = job.rows.get(*row).filter(|run| run.from < end) {
        let (low, high) = (run.from.max(at), (run.from + run.len).min(end));
        let skipped = low - run.from;
        let (to, count) = (run.to + skipped * job.step, high - low);
        let room = run.room.saturating_sub(skipped + job.kept);
        for (i, line) in lines.iter().enumerate() {
            // SAFETY: the results lie in the plane, and in the line; what is written past them is
            // written again later.
            unsafe {
                let line: *const T = line.as_ptr().cast::<T>().add(low - at);
                let target = job.out.add(i * job.plane + to);
                if job.step > 1 {
                    for k in 0..count {
                        *target.add(k * job.step) = *line.add(k);
                    }
                    continue;
                }
                let mut done = 0;
                while done < count && done + L <= room {
                    target
                        .add(done)
                        .cast::<[T; L]>()
                        .write_unaligned(line.add(done).cast::<[T; L]>().read_unaligned());
                    done += L;
                }
                while done < count {
                    *target.add(done) = *line.add(done);
                    done += 1;
                }
            }
        }
        if run.from + run.len > end {
            break;
        }
        *row += 1;
    }
}

/// Products of the gradients of a few rows of results with channels of the input that lie side by
/// side, for one tap.
pub(super) struct Outer<'a, T> {
    /// How many rows of results.
    pub(super) height: usize,
    /// Their gradients, each a plane.
    pub(super) grads: &'a [T],
    pub(super) plane: usize,
    /// The input, for each element its channels: so many, filled up to whole vectors.
    pub(super) input: &'a [T],
    pub(super) channels: usize,
    /// Steps between the input's elements for neighbouring results.
    pub(super) step: usize,
    /// Which elements meet: `from` in the input, `to` in the gradients.
    pub(super) runs: &'a [Run],
    /// The same in so many images; the steps to the next one's gradients and input.
    pub(super) images: usize,
    pub(super) grads_step: usize,
    pub(super) input_step: usize,
    /// What the products are added to: for each row its channels, rows so many elements apart.
    pub(super) sums: *mut T,
    pub(super) pitch: usize,
}

/// Adds the products up.
///
/// # Safety
/// Runs must lie within the planes and the input, and nobody else may touch the sums.
#[inline(always)]
pub(super) unsafe fn outer<T: Real, const L: usize, const FUSED: bool>(job: &Outer<'_, T>) {
    let mut channel = 0;
    while channel < job.channels {
        let left = (job.channels - channel) / L;
        let width = with_height!(job.height, left, M, N => {
            // SAFETY: the caller's promise.
            unsafe { outer_tile::<T, L, M, N, FUSED>(job, channel) }
        });
        channel += width * L;
    }
}

#[inline(always)]
unsafe fn outer_tile<T: Real, const L: usize, const M: usize, const N: usize, const FUSED: bool>(
    job: &Outer<'_, T>,
    channel: usize,
) {
    // SAFETY: the sums have `height` rows of `channels`.
    let place = |i: usize, j: usize| unsafe {
        job.sums.add(i * job.pitch + channel + j * L).cast::<[T; L]>()
    };
    let mut sums = [[[T::zero(); L]; N]; M];
    for i in 0..M {
        for j in 0..N {
            sums[i][j] = unsafe { place(i, j).read_unaligned() };
        }
    }
    for image in 0..job.images {
        for run in job.runs {
            // SAFETY: runs lie within the planes and the input.
            unsafe {
                let mut grads = job.grads.as_ptr().add(image * job.grads_step + run.to);
                let input = image * job.input_step + run.from * job.channels + channel;
                let mut input = job.input.as_ptr().add(input);
                for _ in 0..run.len {
                    let values: [[T; L]; N] = input.cast::<[[T; L]; N]>().read_unaligned();
                    for i in 0..M {
                        let grad = *grads.add(i * job.plane);
                        for j in 0..N {
                            for l in 0..L {
                                sums[i][j][l] =
                                    fused::<T, FUSED>(values[j][l], grad, sums[i][j][l]);
                            }
                        }
                    }
                    grads = grads.wrapping_add(1);
                    input = input.wrapping_add(job.step * job.channels);
                }
            }
        }
    }
    for i in 0..M {
        for j in 0..N {
            unsafe { place(i, j).write_unaligned(sums[i][j]) };
        }
    }
}

/// Sums over positions of the products of gradients with what the taps read.
pub(super) struct Dots<'a, T> {
    /// How many rows of results.
    pub(super) rows: usize,
    /// Their gradients at each position, zero without a result; rows lie so many elements apart.
    pub(super) grads: &'a [T],
    pub(super) grads_pitch: usize,
    /// The copy of the source.
    pub(super) source: &'a [T],
    /// Where each channel's taps read.
    pub(super) offsets: &'a [usize],
    /// How many positions, filled up to whole vectors.
    pub(super) positions: usize,
    /// For each row and offset a vector of sums that are added up at the end, [`MOST_LANES`] long.
    pub(super) sums: *mut T,
}

/// Positions after which sums are put aside, so that what is read stays in the nearest cache.
const DOTS_AT_ONCE: usize = 1024;

/// Adds the products up.
///
/// # Safety
/// Source and gradients must reach as far as positions and offsets say, and nobody else may touch
/// the sums.
#[inline(always)]
pub(super) unsafe fn dots<T: Real, const L: usize, const FUSED: bool>(job: &Dots<'_, T>) {
    // Three rows by nine offsets fill 32 registers, three by three 16.
    let wide = FUSED && L * size_of::<T>() == 64;
    let mut start = 0;
    while start < job.positions {
        let end = (start + DOTS_AT_ONCE).min(job.positions);
        let mut at = 0;
        while at < job.offsets.len() {
            let left = job.offsets.len() - at;
            let width = if wide && left >= 9 {
                9
            } else if left >= 3 {
                3
            } else {
                1
            };
            let mut row = 0;
            while row < job.rows {
                // SAFETY: the caller's promise.
                unsafe {
                    let high = job.rows - row >= 3;
                    match (high, width) {
                        (true, 9) => dots_tile::<T, L, 3, 9, FUSED>(job, row, at, start..end),
                        (true, 3) => dots_tile::<T, L, 3, 3, FUSED>(job, row, at, start..end),
                        (true, _) => dots_tile::<T, L, 3, 1, FUSED>(job, row, at, start..end),
                        (false, 9) => dots_tile::<T, L, 1, 9, FUSED>(job, row, at, start..end),
                        (false, 3) => dots_tile::<T, L, 1, 3, FUSED>(job, row, at, start..end),
                        (false, _) => dots_tile::<T, L, 1, 1, FUSED>(job, row, at, start..end),
                    }
                    row += if high { 3 } else { 1 };
                }
            }
            at += width;
        }
        start = end;
    }
}

#[inline(always)]
unsafe fn dots_tile<T: Real, const L: usize, const M: usize, const N: usize, const FUSED: bool>(
    job: &Dots<'_, T>,
    row: usize,
    offset: usize,
    positions: Range<usize>,
) {
    // SAFETY: there is a vector of sums for each row and offset.
    let place = |i: usize, j: usize| unsafe {
        let number = (row + i) * job.offsets.len() + offset + j;
        job.sums.add(number * MOST_LANES).cast::<[T; L]>()
    };
    let mut sums = [[[T::zero(); L]; N]; M];
    for i in 0..M {
        for j in 0..N {
            sums[i][j] = unsafe { place(i, j).read_unaligned() };
        }
    }
    let mut reads = [0; N];
    reads.copy_from_slice(&job.offsets[offset..][..N]);
    let mut at = positions.start;
    while at < positions.end {
        // SAFETY: the caller vouches for the reach of both.
        unsafe {
            let grads = job.grads.as_ptr().add(row * job.grads_pitch + at);
            let mut rows = [[T::zero(); L]; M];
            for i in 0..M {
                rows[i] = grads.add(i * job.grads_pitch).cast::<[T; L]>().read_unaligned();
            }
            for j in 0..N {
                let source = job.source.as_ptr().add(reads[j] + at);
                let values: [T; L] = source.cast::<[T; L]>().read_unaligned();
                for i in 0..M {
                    for l in 0..L {
                        sums[i][j][l] = fused::<T, FUSED>(rows[i][l], values[l], sums[i][j][l]);
                    }
                }
            }
        }
        at += L;
    }
    for i in 0..M {
        for j in 0..N {
            unsafe { place(i, j).write_unaligned(sums[i][j]) };
        }
    }
}
