//! The one loop behind every reduction.
//!
//! The dimensions split into those kept, which number the outputs, and those reduced, which may be
//! visited in any fixed order. Elements are merged along a balanced tree whose shape depends on the
//! sizes alone: rounding errors grow with the logarithm of the extent, and the number of threads
//! never shows in the result.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use bytemuck::Zeroable;
use smallvec::SmallVec;

use crate::{Dims, Element, Strided, Strides, collapse, par, positions};

/// Independent accumulators of a contiguous run; enough to hide the latency of an addition.
const LANES: usize = 16;
/// Elements folded into one leaf of the tree: sixteen to a lane.
const BLOCK: usize = 256;
/// Elements folded by one task; longer extents are cut into tasks of this size.
const SEGMENT: usize = 32 * 1024;
/// Neighbouring outputs accumulated side by side when the reduced dimensions lie further out.
const TILE: usize = 512;
/// Rows folded into one leaf of the tree of a tile.
const ROWS: usize = 16;
/// Fewer neighbours than this do not fill a vector.
const NARROW: usize = 8;
/// Runs and extents shorter than this do not pay for a loop of their own.
const SHORT: usize = 32;
/// Levels of a tree; more leaves than `2^LEVELS` do not exist.
const LEVELS: usize = 40;

/// How elements become one value: each is lifted into an accumulator, and accumulators merge.
///
/// `merge` is taken to be associative and commutative up to rounding.
pub(super) trait Fold: Sync {
    type Item: Element;
    type Acc: Element;
    /// What one output knows beforehand and each of its elements is lifted with, such as a mean.
    type Context: Copy + Sync;

    /// The accumulator of no elements.
    fn identity(&self) -> Self::Acc;
    /// The accumulator of one element.
    fn lift(&self, context: Self::Context, item: Self::Item) -> Self::Acc;
    /// The accumulator of two sets of elements.
    fn merge(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// A [`Fold`] made of its three parts.
pub(super) struct Parts<T, C, A, L, M> {
    identity: A,
    lift: L,
    merge: M,
    takes: PhantomData<fn(C, T)>,
}

/// The [`Fold`] that lifts with `lift` and merges with `merge`, starting from `identity`.
pub(super) fn parts<T, C, A, L, M>(identity: A, lift: L, merge: M) -> Parts<T, C, A, L, M>
where
    L: Fn(C, T) -> A + Sync,
    M: Fn(A, A) -> A + Sync,
{
    Parts { identity, lift, merge, takes: PhantomData }
}

impl<T, C, A, L, M> Fold for Parts<T, C, A, L, M>
where
    T: Element,
    C: Copy + Sync,
    A: Element,
    L: Fn(C, T) -> A + Sync,
    M: Fn(A, A) -> A + Sync,
{
    type Item = T;
    type Acc = A;
    type Context = C;

    #[inline(always)]
    fn identity(&self) -> A {
        self.identity
    }

    #[inline(always)]
    fn lift(&self, context: C, item: T) -> A {
        (self.lift)(context, item)
    }

    #[inline(always)]
    fn merge(&self, a: A, b: A) -> A {
        (self.merge)(a, b)
    }
}

/// How many outputs a reduction over `dims` has.
pub(super) fn outputs(shape: &[usize], dims: &[usize]) -> usize {
    (0..shape.len()).filter(|d| !dims.contains(d)).map(|d| shape[d]).product()
}

/// How many elements become one output.
pub(super) fn extent(shape: &[usize], dims: &[usize]) -> usize {
    dims.iter().map(|&d| shape[d]).product()
}

/// Folds `x` over `dims`; row-major over the dimensions that stay.
pub(super) fn fold<F: Fold<Context = ()>>(
    op: &F,
    x: Strided<'_, F::Item>,
    dims: &[usize],
) -> Vec<F::Acc> {
    fold_with(op, x, dims, &vec![(); outputs(x.shape, dims)])
}

/// [`fold`] where each output has a context of its own.
pub(super) fn fold_with<F: Fold>(
    op: &F,
    x: Strided<'_, F::Item>,
    dims: &[usize],
    contexts: &[F::Context],
) -> Vec<F::Acc> {
    if contexts.is_empty() {
        return Vec::new();
    }
    if extent(x.shape, dims) == 0 {
        return vec![op.identity(); contexts.len()];
    }
    let plan = Plan::new(op, x, dims, contexts);
    let partials = if plan.by_columns() { plan.columns() } else { plan.runs() };
    plan.join(partials)
}

/// A reduction with its dimensions sorted out.
struct Plan<'a, F: Fold> {
    op: &'a F,
    x: Strided<'a, F::Item>,
    contexts: &'a [F::Context],
    kept: Dims,
    kept_strides: [Strides; 1],
    reduced: Dims,
    reduced_strides: [Strides; 1],
    extent: usize,
}

impl<'a, F: Fold> Plan<'a, F> {
    fn new(op: &'a F, x: Strided<'a, F::Item>, dims: &[usize], contexts: &'a [F::Context]) -> Self {
        let pick = |dims: &[usize]| -> (Dims, [Strides; 1]) {
            let shape: Dims = dims.iter().map(|&d| x.shape[d]).collect();
            let strides: Strides = dims.iter().map(|&d| x.strides[d]).collect();
            collapse(&shape, [&strides])
        };
        let kept: Dims = (0..x.shape.len()).filter(|d| !dims.contains(d)).collect();
        let mut inward: Dims = dims.iter().copied().collect();
        // Broadcast dimensions go outermost: the runs inside them are what is worth a tight loop.
        inward.sort_by_key(|&d| match x.strides[d].unsigned_abs() {
            0 => 0,
            stride => usize::MAX - stride,
        });
        let (kept, kept_strides) = pick(&kept);
        let (reduced, reduced_strides) = pick(&inward);
        let extent = reduced.iter().product();
        Plan { op, x, contexts, kept, kept_strides, reduced, reduced_strides, extent }
    }

    /// Whether to walk neighbouring outputs in the innermost loop rather than one output's elements.
    fn by_columns(&self) -> bool {
        let (width, stride) = (self.kept[self.kept.len() - 1], last(&self.kept_strides[0]));
        let inner = last(&self.reduced_strides[0]).unsigned_abs();
        let nearer = stride != 0 && (inner == 0 || stride.unsigned_abs() < inner);
        width >= NARROW && (nearer || self.extent < SHORT)
    }

    /// One accumulator per (segment, output), each from its own elements.
    fn runs(&self) -> Vec<F::Acc> {
        let outputs = self.contexts.len();
        let segments = self.extent.div_ceil(SEGMENT);
        let grain = (par::GRAIN / self.extent.min(SEGMENT)).max(1);
        fill(segments * outputs, grain, &|range, out| {
            for (task, slot) in range.zip(out) {
                let (segment, output) = (task / outputs, task % outputs);
                let start = segment * SEGMENT;
                let end = (start + SEGMENT).min(self.extent);
                slot.write(self.run(output, start..end));
            }
        })
    }

    /// Folds the elements `span` of one output.
    fn run(&self, output: usize, mut span: Range<usize>) -> F::Acc {
        let context = self.contexts[output];
        let [at] = positions(output, &self.kept, &self.kept_strides);
        let base = self.x.offset as isize + at;
        let (length, stride) =
            (self.reduced[self.reduced.len() - 1], last(&self.reduced_strides[0]));
        let mut tree = Tree::new(self.op);
        if stride == 1 && length >= SHORT {
            while !span.is_empty() {
                let [at] = positions(span.start, &self.reduced, &self.reduced_strides);
                let count = (length - span.start % length).min(span.len());
                let start = (base + at) as usize;
                let items = &self.x.data[start..start + count];
                if count == self.extent && count <= BLOCK {
                    return leaf(self.op, context, items);
                }
                for block in items.chunks(BLOCK) {
                    tree.push(leaf(self.op, context, block));
                }
                span.start += count;
            }
        } else {
            let mut buffer = [F::Item::zeroed(); BLOCK];
            let mut walk = Walk::new(&self.reduced, &self.reduced_strides, span.start);
            while !span.is_empty() {
                let count = BLOCK.min(span.len());
                for slot in &mut buffer[..count] {
                    // SAFETY: both parts of the position come from the view's own dimensions.
                    *slot = unsafe { self.x.at(base + walk.position) };
                    walk.step();
                }
                tree.push(leaf(self.op, context, &buffer[..count]));
                span.start += count;
            }
        }
        tree.root()
    }

    /// One accumulator per (segment, output), neighbouring outputs side by side.
    fn columns(&self) -> Vec<F::Acc> {
        let outputs = self.contexts.len();
        let width = self.kept[self.kept.len() - 1];
        let rows = (SEGMENT / width.min(TILE)).min(self.extent);
        let segments = self.extent.div_ceil(rows);
        let grain = (par::GRAIN / rows).max(1);
        fill(segments * outputs, grain, &|mut range, mut out| {
            while !range.is_empty() {
                let (segment, output) = (range.start / outputs, range.start % outputs);
                let count = range.len().min(width - output % width).min(TILE);
                let (tile, rest) = out.split_at_mut(count);
                let start = segment * rows;
                self.tile(output, start..(start + rows).min(self.extent), tile);
                range.start += count;
                out = rest;
            }
        })
    }

    /// Folds the elements `span` of the outputs from `output` on, all in one innermost run.
    fn tile(&self, output: usize, mut span: Range<usize>, out: &mut [MaybeUninit<F::Acc>]) {
        let op = self.op;
        let contexts = &self.contexts[output..output + out.len()];
        let [at] = positions(output, &self.kept, &self.kept_strides);
        let base = self.x.offset as isize + at;
        let stride = last(&self.kept_strides[0]);
        let mut walk = Walk::new(&self.reduced, &self.reduced_strides, span.start);
        let mut tree = TileTree::new(op, out.len());
        while !span.is_empty() {
            let rows = ROWS.min(span.len());
            let leaf = tree.leaf();
            let mut left = rows;
            while left >= 4 && stride == 1 {
                let items: [&[F::Item]; 4] = std::array::from_fn(|_| {
                    let start = (base + walk.position) as usize;
                    walk.step();
                    &self.x.data[start..start + leaf.len()]
                });
                let [a, b, c, d] = items;
                let ab = a.iter().zip(b);
                let cd = c.iter().zip(d);
                for ((acc, &context), ((&a, &b), (&c, &d))) in
                    leaf.iter_mut().zip(contexts).zip(ab.zip(cd))
                {
                    let ab = op.merge(op.lift(context, a), op.lift(context, b));
                    let cd = op.merge(op.lift(context, c), op.lift(context, d));
                    *acc = op.merge(*acc, op.merge(ab, cd));
                }
                left -= 4;
            }
            for _ in 0..left {
                let mut position = base + walk.position;
                for (acc, &context) in leaf.iter_mut().zip(contexts) {
                    // SAFETY: both parts of the position come from the view's own dimensions.
                    *acc = op.merge(*acc, op.lift(context, unsafe { self.x.at(position) }));
                    position += stride;
                }
                walk.step();
            }
            tree.push();
            span.start += rows;
        }
        for (slot, &acc) in out.iter_mut().zip(tree.root()) {
            slot.write(acc);
        }
    }

    /// Merges what the segments of each output came to.
    fn join(&self, partials: Vec<F::Acc>) -> Vec<F::Acc> {
        let outputs = self.contexts.len();
        if partials.len() == outputs {
            return partials;
        }
        let segments = partials.len() / outputs;
        fill(outputs, (par::GRAIN / segments).max(1), &|range, out| {
            for (output, slot) in range.zip(out) {
                let mut tree = Tree::new(self.op);
                for &partial in partials[output..].iter().step_by(outputs) {
                    tree.push(partial);
                }
                slot.write(tree.root());
            }
        })
    }
}

fn last(strides: &Strides) -> isize {
    strides[strides.len() - 1]
}

/// Writes the accumulators that belong to a range of tasks.
type Work<'a, A> = dyn Fn(Range<usize>, &mut [MaybeUninit<A>]) + Sync + 'a;

/// [`par::fill`] compiled once per type of accumulator rather than once per reduction.
fn fill<A: Element>(len: usize, grain: usize, work: &Work<'_, A>) -> Vec<A> {
    par::fill(len, grain, work)
}

/// Folds a contiguous run, lane by lane.
#[inline(never)]
fn leaf<F: Fold>(op: &F, context: F::Context, items: &[F::Item]) -> F::Acc {
    let mut lanes = [op.identity(); LANES];
    let (chunks, rest) = items.as_chunks::<LANES>();
    for chunk in chunks {
        for (acc, &item) in lanes.iter_mut().zip(chunk) {
            *acc = op.merge(*acc, op.lift(context, item));
        }
    }
    for (acc, &item) in lanes.iter_mut().zip(rest) {
        *acc = op.merge(*acc, op.lift(context, item));
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = op.merge(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Merges a stream of accumulators pairwise: slot `i` holds the merger of `2^i` leaves, as in a
/// binary counter.
struct Tree<'a, F: Fold> {
    op: &'a F,
    slots: SmallVec<[F::Acc; LEVELS]>,
    count: usize,
}

impl<'a, F: Fold> Tree<'a, F> {
    fn new(op: &'a F) -> Self {
        Tree { op, slots: SmallVec::new(), count: 0 }
    }

    fn push(&mut self, mut acc: F::Acc) {
        let level = self.count.trailing_ones() as usize;
        for &slot in &self.slots[..level] {
            acc = self.op.merge(slot, acc);
        }
        if level == self.slots.len() {
            self.slots.push(acc);
        } else {
            self.slots[level] = acc;
        }
        self.count += 1;
    }

    fn root(&self) -> F::Acc {
        let mut filled = (0..self.slots.len()).filter(|level| self.count >> level & 1 == 1);
        let Some(first) = filled.next() else {
            return self.op.identity();
        };
        filled.fold(self.slots[first], |acc, level| self.op.merge(self.slots[level], acc))
    }
}

/// [`Tree`] for a whole tile at a time: row `i` of `slots` is level `i`.
struct TileTree<'a, F: Fold> {
    op: &'a F,
    width: usize,
    slots: Vec<F::Acc>,
    leaf: Vec<F::Acc>,
    count: usize,
}

impl<'a, F: Fold> TileTree<'a, F> {
    fn new(op: &'a F, width: usize) -> Self {
        TileTree { op, width, slots: Vec::new(), leaf: vec![op.identity(); width], count: 0 }
    }

    /// The leaf to accumulate into.
    fn leaf(&mut self) -> &mut [F::Acc] {
        &mut self.leaf
    }

    /// Puts the leaf into the tree and starts a new one.
    fn push(&mut self) {
        let level = self.count.trailing_ones() as usize;
        for row in self.slots.chunks_exact(self.width).take(level) {
            merge_rows(self.op, &mut self.leaf, row);
        }
        let start = level * self.width;
        if start == self.slots.len() {
            self.slots.extend_from_slice(&self.leaf);
        } else {
            self.slots[start..start + self.width].copy_from_slice(&self.leaf);
        }
        self.leaf.fill(self.op.identity());
        self.count += 1;
    }

    /// Merges all levels.
    fn root(&mut self) -> &[F::Acc] {
        for (level, row) in self.slots.chunks_exact(self.width).enumerate() {
            if self.count >> level & 1 == 1 {
                merge_rows(self.op, &mut self.leaf, row);
            }
        }
        &self.leaf
    }
}

fn merge_rows<F: Fold>(op: &F, into: &mut [F::Acc], row: &[F::Acc]) {
    for (acc, &other) in into.iter_mut().zip(row) {
        *acc = op.merge(other, *acc);
    }
}

/// Visits the positions of a strided box in row-major order.
struct Walk<'a> {
    shape: &'a [usize],
    strides: &'a [isize],
    index: Dims,
    position: isize,
}

impl<'a> Walk<'a> {
    fn new(shape: &'a [usize], strides: &'a [Strides; 1], start: usize) -> Self {
        let [position] = positions(start, shape, strides);
        let mut index: Dims = SmallVec::from_elem(0, shape.len());
        let mut left = start;
        for d in (0..shape.len()).rev() {
            index[d] = left % shape[d];
            left /= shape[d];
        }
        Walk { shape, strides: &strides[0], index, position }
    }

    #[inline]
    fn step(&mut self) {
        for d in (0..self.shape.len()).rev() {
            self.index[d] += 1;
            self.position += self.strides[d];
            if self.index[d] < self.shape[d] {
                return;
            }
            self.position -= self.strides[d] * self.shape[d] as isize;
            self.index[d] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contiguous_strides;

    fn sum(x: Strided<'_, f32>, dims: &[usize]) -> Vec<f32> {
        fold(&parts(0.0, |(), x| x, |a: f32, b| a + b), x, dims)
    }

    /// Sums of whole numbers are exact, so the order of summation cannot show.
    fn naive(x: Strided<'_, f32>, dims: &[usize]) -> Vec<f32> {
        let mut out = vec![0.0; outputs(x.shape, dims)];
        let strides = [x.strides.iter().copied().collect::<Strides>()];
        for linear in 0..x.len() {
            let [at] = positions(linear, x.shape, &strides);
            let (mut left, mut output, mut scale) = (linear, 0, 1);
            for d in (0..x.shape.len()).rev() {
                if !dims.contains(&d) {
                    output += left % x.shape[d] * scale;
                    scale *= x.shape[d];
                }
                left /= x.shape[d];
            }
            out[output] += x.data[(x.offset as isize + at) as usize];
        }
        out
    }

    #[test]
    fn every_layout_and_choice_of_dimensions_agrees_with_the_definition() {
        let data: Vec<f32> = (0..60_000).map(|i| (i % 7) as f32 - 3.0).collect();
        let shapes: [&[usize]; 5] =
            [&[60_000], &[40, 1500], &[1500, 40], &[20_000, 3], &[10, 20, 6, 50]];
        for shape in shapes {
            let rank = shape.len();
            let strides = contiguous_strides(shape);
            for flip in [false, true] {
                let (mut shape, mut strides) = (shape.to_vec(), strides.to_vec());
                if flip {
                    shape.reverse();
                    strides.reverse();
                }
                let x = Strided { data: &data, shape: &shape, strides: &strides, offset: 0 };
                for mask in 0..1usize << rank {
                    let dims: Vec<usize> = (0..rank).filter(|d| mask >> d & 1 == 1).collect();
                    assert_eq!(sum(x, &dims), naive(x, &dims), "{shape:?} over {dims:?}");
                }
            }
        }
    }

    #[test]
    fn broadcast_and_flipped_dimensions() {
        let data: Vec<f32> = (0..50).map(|i| i as f32).collect();
        let x = Strided { data: &data, shape: &[30, 50, 9], strides: &[0, -1, 0], offset: 49 };
        for dims in [&[0usize][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2], &[]] {
            assert_eq!(sum(x, dims), naive(x, dims), "{dims:?}");
        }
    }

    #[test]
    fn long_sums_stay_accurate() {
        let data = vec![0.1f32; 1 << 22];
        let exact = 0.1f32 as f64 * data.len() as f64;
        let close = |sum: f32| ((sum as f64 - exact) / exact).abs() < 1e-6;
        let row = Strided { data: &data, shape: &[1 << 22], strides: &[1], offset: 0 };
        assert!(close(sum(row, &[0])[0]));
        let column =
            Strided { data: &data[..16], shape: &[1 << 22, 16], strides: &[0, 1], offset: 0 };
        assert!(sum(column, &[0]).into_iter().all(close));
    }
}
