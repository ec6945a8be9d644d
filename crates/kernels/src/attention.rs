//! Scaled dot-product attention and its gradient, tile by tile: the matrix of all scores never
//! exists as a whole.
//!
//! Every query goes through the keys once, block by block, and carries the largest score, the sum of
//! weights and the weighted values along. The gradient computes the scores once more, from the
//! logarithm of each query's sum. What is computed does not depend on how work is shared out among
//! threads.

mod rows;

use std::ops::Range;

pub use rows::Weighed;
use rows::{Unweigh, Weigh};

use crate::panels::{Matrix, Panels, Shared, WORK, add_dots, add_product};
use crate::{Dims, Strided, Strides, collapse, par, positions, simd};

/// Queries that go through the keys together.
const QUERIES: usize = 32;
/// Keys of a block.
const KEYS: usize = 128;
/// So few queries meet keys and values as they lie.
const FEW: usize = 4;

/// Which scores count, or what is added to them; in the scores' shape.
#[derive(Clone, Copy)]
pub enum Mask<'a, T> {
    /// All count as they are.
    None,
    /// Those that are not zero.
    Allowed(Strided<'a, u8>),
    /// All, with this added.
    Added(Strided<'a, T>),
}

/// What attention reads. Dimensions before the last two are the same everywhere; rows are
/// contiguous, and no step between them is negative.
#[derive(Clone, Copy)]
pub struct Inputs<'a, T> {
    /// `(.., queries, features)`.
    pub query: Strided<'a, T>,
    /// `(.., keys, features)`.
    pub key: Strided<'a, T>,
    /// `(.., keys, columns)`.
    pub value: Strided<'a, T>,
    /// `(.., queries, keys)`.
    pub mask: Mask<'a, T>,
    /// What scores are multiplied by before the mask.
    pub scale: T,
    /// Whether a query meets only keys up to its own place.
    pub causal: bool,
}

/// The sizes of one head.
#[derive(Clone, Copy)]
struct Sizes {
    heads: usize,
    queries: usize,
    keys: usize,
    features: usize,
    columns: usize,
}

/// The heads of a problem: the same sizes everywhere, each at its own place.
struct Heads<'a, T> {
    inputs: Inputs<'a, T>,
    sizes: Sizes,
    dims: Dims,
    strides: [Strides; 4],
}

/// One head.
struct Head<'a, T> {
    query: Matrix<'a, T>,
    key: Matrix<'a, T>,
    value: Matrix<'a, T>,
    /// Where the mask of this head starts.
    mask: isize,
}

/// The last dimension but one of a view, as steps between rows.
fn row_step<T>(x: &Strided<'_, T>) -> usize {
    let rank = x.shape.len();
    debug_assert!(x.shape[rank - 1] <= 1 || x.strides[rank - 1] == 1, "contiguous rows");
    usize::try_from(x.strides[rank - 2]).expect("no step is negative")
}

impl<'a, T: Weighed> Heads<'a, T> {
    fn new(inputs: Inputs<'a, T>) -> Self {
        let outer = inputs.query.shape.len() - 2;
        let lead = &inputs.query.shape[..outer];
        let still = vec![0; outer];
        let of_mask = match &inputs.mask {
            Mask::None => &still[..],
            Mask::Allowed(mask) => &mask.strides[..outer],
            Mask::Added(mask) => &mask.strides[..outer],
        };
        let (dims, strides) = collapse(
            lead,
            [
                &inputs.query.strides[..outer],
                &inputs.key.strides[..outer],
                &inputs.value.strides[..outer],
                of_mask,
            ],
        );
        let sizes = Sizes {
            heads: lead.iter().product(),
            queries: inputs.query.shape[outer],
            keys: inputs.key.shape[outer],
            features: inputs.query.shape[outer + 1],
            columns: inputs.value.shape[outer + 1],
        };
        Heads { inputs, sizes, dims, strides }
    }

    fn head(&self, index: usize) -> Head<'a, T> {
        let [query, key, value, mask] = positions(index, &self.dims, &self.strides);
        let matrix = |x: &Strided<'a, T>, at: isize| {
            // What has no elements may start anywhere.
            let start = if x.is_empty() { 0 } else { x.offset.wrapping_add_signed(at) };
            Matrix::rows(&x.data[start..], row_step(x))
        };
        Head {
            query: matrix(&self.inputs.query, query),
            key: matrix(&self.inputs.key, key),
            value: matrix(&self.inputs.value, value),
            mask,
        }
    }

    /// How many of the keys the queries up to `end` meet.
    fn met(&self, end: usize) -> usize {
        if self.inputs.causal { end.min(self.sizes.keys) } else { self.sizes.keys }
    }

    /// Masks rows of scores, `KEYS` apart, of some queries and some keys.
    fn mask(
        &self,
        head: &Head<'_, T>,
        queries: &Range<usize>,
        keys: &Range<usize>,
        scores: &mut [T],
    ) {
        let rows = || 0..queries.len();
        match &self.inputs.mask {
            Mask::None => {}
            Mask::Allowed(mask) => {
                for i in rows() {
                    let row = &mut scores[i * KEYS..][..keys.len()];
                    let (at, step) = mask_row(mask, head.mask, queries.start + i, keys.start);
                    for (j, score) in row.iter_mut().enumerate() {
                        // SAFETY: the position comes from the view's own dimensions.
                        if unsafe { mask.at(at + j as isize * step) } == 0 {
                            *score = T::neg_infinity();
                        }
                    }
                }
            }
            Mask::Added(mask) => {
                for i in rows() {
                    let row = &mut scores[i * KEYS..][..keys.len()];
                    let (at, step) = mask_row(mask, head.mask, queries.start + i, keys.start);
                    for (j, score) in row.iter_mut().enumerate() {
                        // SAFETY: as above.
                        *score = *score + unsafe { mask.at(at + j as isize * step) };
                    }
                }
            }
        }
        if self.inputs.causal && keys.end > queries.start + 1 {
            for i in rows() {
                let met = (queries.start + i + 1).saturating_sub(keys.start).min(keys.len());
                scores[i * KEYS + met..i * KEYS + keys.len()].fill(T::neg_infinity());
            }
        }
    }

    /// The masked scores of some queries, given scaled, and a block of keys: rows `KEYS` apart.
    fn scores(
        &self,
        head: &Head<'_, T>,
        queries: &Range<usize>,
        block: &Block<'_, T>,
        scaled: &[T],
        scores: &mut [T],
    ) {
        let (features, width) = (self.sizes.features, block.range.len());
        scores.chunks_exact_mut(KEYS).for_each(|row| row[..width].fill(T::zero()));
        match &block.keys {
            Some(keys) => {
                add_product(Matrix::rows(scaled, features), queries.len(), keys, scores, KEYS);
            }
            None => {
                let keys = head.key.below(block.range.start);
                let rows = scaled.chunks_exact(features.max(1)).zip(scores.chunks_exact_mut(KEYS));
                for (row, scores) in rows.take(queries.len()) {
                    add_dots(row, keys.data, keys.steps.0, &mut scores[..width]);
                }
            }
        }
        self.mask(head, queries, &block.range, scores);
    }

    /// The queries of a block, scaled, without gaps.
    fn scaled(&self, head: &Head<'_, T>, queries: &Range<usize>, out: &mut [T]) {
        let features = self.sizes.features;
        for (query, out) in queries.clone().zip(out.chunks_exact_mut(features.max(1))) {
            for (out, &x) in out.iter_mut().zip(&head.query.data[query * head.query.steps.0..]) {
                *out = x * self.inputs.scale;
            }
        }
    }
}

/// Where the mask of a query starts at a key, and the step between keys.
fn mask_row<T>(mask: &Strided<'_, T>, head: isize, query: usize, key: usize) -> (isize, isize) {
    let outer = mask.shape.len() - 2;
    let (down, along) = (mask.strides[outer], mask.strides[outer + 1]);
    (mask.offset as isize + head + query as isize * down + key as isize * along, along)
}

/// The blocks a range is cut into.
fn blocks(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(size).map(move |start| start..(start + size).min(end))
}

/// A block of keys and values, ready to meet queries.
struct Block<'a, T: Clone + 'static> {
    range: Range<usize>,
    /// The keys as columns; `None` where they are met as they lie.
    keys: Option<Panels<'static, T>>,
    values: Panels<'a, T>,
}

impl<'a, T: Weighed> Block<'a, T> {
    fn new(head: &Head<'a, T>, sizes: &Sizes, range: Range<usize>) -> Self {
        let few = sizes.queries <= FEW;
        let key = head.key.below(range.start);
        let value = head.value.below(range.start);
        let keys = (!few).then(|| Panels::pack(key.transposed(), sizes.features, range.len()));
        let values = if few {
            Panels::borrow(value.data, value.steps.0, range.len(), sizes.columns)
        } else {
            Panels::pack(value, range.len(), sizes.columns)
        };
        Block { range, keys, values }
    }
}

/// What attention gives: `(.., queries, columns)`, and the logarithm of each query's sum of
/// exponentials, infinite where no score counts, so that all its weights are zero.
pub struct Outputs<T> {
    /// The weighted sums of values; zero where no score counts.
    pub out: Vec<T>,
    /// The logarithm of the sum of exponentials of scores.
    pub log_total: Vec<T>,
}

/// Attention of every query over its keys.
pub fn forward<T: Weighed>(inputs: Inputs<'_, T>) -> Outputs<T> {
    let heads = Heads::new(inputs);
    let sizes = heads.sizes;
    let (count, columns) = (sizes.heads * sizes.queries, sizes.columns);
    let mut out = vec![T::zero(); count * columns];
    let mut log_total = vec![T::infinity(); count];
    let shared = (Shared::new(&mut out), Shared::new(&mut log_total));
    let parts = sizes.queries.div_ceil(QUERIES);
    let work = QUERIES.min(sizes.queries) * sizes.keys * (sizes.features + columns + 16);
    par::for_ranges(sizes.heads * parts, WORK / work.max(1), |range| {
        let mut scores = vec![T::zero(); QUERIES * KEYS];
        let mut scaled = vec![T::zero(); QUERIES * sizes.features];
        for index in range.start / parts..range.end.div_ceil(parts) {
            let head = heads.head(index);
            // This thread's part of the head.
            let first = range.start.saturating_sub(index * parts);
            let last = (range.end - index * parts).min(parts);
            let queries = first * QUERIES..(last * QUERIES).min(sizes.queries);
            let met = 0..heads.met(queries.end);
            let ready: Vec<_> =
                blocks(met, KEYS).map(|keys| Block::new(&head, &sizes, keys)).collect();
            for queries in blocks(queries, QUERIES) {
                let rows =
                    index * sizes.queries + queries.start..index * sizes.queries + queries.end;
                // SAFETY: threads have disjoint ranges of queries.
                let (out, log_total) =
                    unsafe { (shared.0.rows(rows.clone(), columns), shared.1.rows(rows, 1)) };
                heads.scaled(&head, &queries, &mut scaled);
                let mut largest = [T::neg_infinity(); QUERIES];
                let mut total = [T::zero(); QUERIES];
                let largest = &mut largest[..queries.len()];
                let total = &mut total[..queries.len()];
                for block in ready.iter().take_while(|b| b.range.start < heads.met(queries.end)) {
                    heads.scores(&head, &queries, block, &scaled, &mut scores);
                    let width = block.range.len();
                    simd::run_wide(Weigh {
                        scores: &mut scores[..queries.len() * KEYS],
                        step: KEYS,
                        width,
                        largest: &mut *largest,
                        total: &mut *total,
                        out: &mut *out,
                    });
                    let weights = Matrix::rows(&scores, KEYS);
                    add_product(weights, queries.len(), &block.values, out, columns);
                }
                for (i, (&largest, &total)) in largest.iter().zip(&*total).enumerate() {
                    if total == T::zero() {
                        continue;
                    }
                    let share = T::one() / total;
                    out[i * columns..][..columns].iter_mut().for_each(|sum| *sum = *sum * share);
                    log_total[i] = largest + total.ln();
                }
            }
        }
    });
    Outputs { out, log_total }
}

/// Gradients of queries, keys and values, in shapes without gaps.
pub struct Gradients<T> {
    /// `(.., queries, features)`.
    pub query: Vec<T>,
    /// `(.., keys, features)`.
    pub key: Vec<T>,
    /// `(.., keys, columns)`.
    pub value: Vec<T>,
}

/// The gradient of [`forward`] from that of its result and from what it gave, all without gaps.
pub fn backward<T: Weighed>(
    inputs: Inputs<'_, T>,
    outputs: (&[T], &[T]),
    gradient: &[T],
) -> Gradients<T> {
    let heads = Heads::new(inputs);
    let sizes = heads.sizes;
    let zeros = |rows: usize, columns: usize| vec![T::zero(); sizes.heads * rows * columns];
    let mut found = Gradients {
        query: zeros(sizes.queries, sizes.features),
        key: zeros(sizes.keys, sizes.features),
        value: zeros(sizes.keys, sizes.columns),
    };
    if gradient.is_empty() || sizes.keys == 0 {
        return found;
    }
    let (out, log_total) = outputs;
    // The part of the weights' gradients that all weights of a query share.
    let common = par::fill(log_total.len(), par::GRAIN / sizes.columns, |range, common| {
        for (query, slot) in range.zip(common) {
            let row = query * sizes.columns..(query + 1) * sizes.columns;
            let products = out[row.clone()].iter().zip(&gradient[row]);
            slot.write(products.fold(T::zero(), |sum, (&out, &d)| out.mul_add(d, sum)));
        }
    });
    let task = Backward {
        heads: &heads,
        log_total,
        common: &common,
        gradient,
        query: Shared::new(&mut found.query),
        key: Shared::new(&mut found.key),
        value: Shared::new(&mut found.value),
    };
    let all = (0..sizes.queries, 0..sizes.keys);
    if sizes.heads >= par::num_threads() {
        let work = sizes.queries * sizes.keys * (sizes.features + sizes.columns);
        par::for_ranges(sizes.heads, WORK / work, |range| {
            for index in range {
                task.part(index, all.0.clone(), all.1.clone(), Wanted { query: true, rest: true });
            }
        });
        return found;
    }
    // Few heads: every thread takes some of the keys, and then some of the queries.
    for wanted in [Wanted { query: false, rest: true }, Wanted { query: true, rest: false }] {
        let (len, size) = if wanted.query { (sizes.queries, QUERIES) } else { (sizes.keys, KEYS) };
        let parts = len.div_ceil(size);
        let work = sizes.queries * sizes.keys * (sizes.features + sizes.columns) / parts;
        par::for_ranges(sizes.heads * parts, WORK / work.max(1), |range| {
            for at in range {
                let part = at % parts * size..(at % parts * size + size).min(len);
                let (queries, keys) = match wanted.query {
                    true => (part, all.1.clone()),
                    false => (all.0.clone(), part),
                };
                task.part(at / parts, queries, keys, wanted);
            }
        });
    }
    found
}

/// Which gradients to compute.
#[derive(Clone, Copy)]
struct Wanted {
    query: bool,
    /// Of the keys and values.
    rest: bool,
}

struct Backward<'a, T> {
    heads: &'a Heads<'a, T>,
    log_total: &'a [T],
    common: &'a [T],
    gradient: &'a [T],
    query: Shared<T>,
    key: Shared<T>,
    value: Shared<T>,
}

impl<T: Weighed> Backward<'_, T> {
    /// What some queries and some keys of one head bring; the gradients wanted must belong to this
    /// thread alone.
    fn part(&self, index: usize, queries: Range<usize>, keys: Range<usize>, wanted: Wanted) {
        let Backward { heads, .. } = self;
        let Sizes { features, columns, .. } = heads.sizes;
        let head = heads.head(index);
        let (first_query, first_key) = (index * heads.sizes.queries, index * heads.sizes.keys);
        let ready: Vec<_> =
            blocks(keys.start..heads.met(queries.end).min(keys.end).max(keys.start), KEYS)
                .map(|keys| {
                    let value = head.value.below(keys.start).transposed();
                    let across = Panels::pack(value, columns, keys.len());
                    let key = head.key.below(keys.start);
                    let down = Panels::borrow(key.data, key.steps.0, keys.len(), features);
                    (Block::new(&head, &heads.sizes, keys), across, down)
                })
                .collect();
        let mut scores = vec![T::zero(); QUERIES * KEYS];
        let mut gradients = scores.clone();
        let mut scaled = vec![T::zero(); QUERIES * features];
        for queries in blocks(queries, QUERIES) {
            let rows = first_query + queries.start..first_query + queries.end;
            let gradient = &self.gradient[rows.start * columns..rows.end * columns];
            let of_out = Panels::borrow(gradient, columns, queries.len(), columns);
            let query = head.query.below(queries.start);
            let of_query = Panels::borrow(query.data, query.steps.0, queries.len(), features);
            heads.scaled(&head, &queries, &mut scaled);
            let d_query: &mut [T] = match wanted.query {
                // SAFETY: as the caller promises.
                true => unsafe { self.query.rows(rows.clone(), features) },
                false => &mut [],
            };
            let met = heads.met(queries.end);
            for (block, value_across, key_down) in
                ready.iter().take_while(|(block, ..)| block.range.start < met)
            {
                let width = block.range.len();
                heads.scores(&head, &queries, block, &scaled, &mut scores);
                gradients.fill(T::zero());
                let left = Matrix::rows(gradient, columns);
                add_product(left, queries.len(), value_across, &mut gradients, KEYS);
                simd::run_wide(Unweigh {
                    scores: &mut scores[..queries.len() * KEYS],
                    gradients: &mut gradients[..queries.len() * KEYS],
                    step: KEYS,
                    width,
                    log_total: &self.log_total[rows.clone()],
                    common: &self.common[rows.clone()],
                    scale: heads.inputs.scale,
                });
                if wanted.query {
                    let left = Matrix::rows(&gradients, KEYS);
                    add_product(left, queries.len(), key_down, d_query, features);
                }
                if wanted.rest {
                    let rows = first_key + block.range.start..first_key + block.range.end;
                    // SAFETY: as the caller promises.
                    let (d_key, d_value) = unsafe {
                        (self.key.rows(rows.clone(), features), self.value.rows(rows, columns))
                    };
                    let left = Matrix::rows(&scores, KEYS).transposed();
                    add_product(left, width, &of_out, d_value, columns);
                    let left = Matrix::rows(&gradients, KEYS).transposed();
                    add_product(left, width, &of_query, d_key, features);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contiguous_strides;

    fn noise(len: usize, salt: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 7919 + salt * 104729) % 1009) as f64 / 504.5 - 1.0).collect()
    }

    struct Problem {
        sizes: Sizes,
        query: Vec<f64>,
        key: Vec<f64>,
        value: Vec<f64>,
        allowed: Option<Vec<u8>>,
        added: Option<Vec<f64>>,
        causal: bool,
    }

    impl Problem {
        fn new(queries: usize, keys: usize, features: usize, columns: usize) -> Self {
            let heads = 3;
            Problem {
                sizes: Sizes { heads, queries, keys, features, columns },
                query: noise(heads * queries * features, 1),
                key: noise(heads * keys * features, 2),
                value: noise(heads * keys * columns, 3),
                allowed: None,
                added: None,
                causal: false,
            }
        }

        /// Calls `f` with the problem as views.
        fn with<R>(&self, f: impl FnOnce(Inputs<'_, f64>) -> R) -> R {
            let Sizes { heads, queries, keys, features, columns } = self.sizes;
            let shapes =
                [[heads, queries, features], [heads, keys, features], [heads, keys, columns]];
            let strides = shapes.map(|shape| contiguous_strides(&shape));
            let view = |data, at: usize| Strided {
                data,
                shape: &shapes[at],
                strides: &strides[at],
                offset: 0,
            };
            let scores = [heads, queries, keys];
            // One mask for all heads.
            let step = [0, keys as isize, 1];
            let mask = match (&self.allowed, &self.added) {
                (Some(data), _) => {
                    Mask::Allowed(Strided { data, shape: &scores, strides: &step, offset: 0 })
                }
                (_, Some(data)) => {
                    Mask::Added(Strided { data, shape: &scores, strides: &step, offset: 0 })
                }
                _ => Mask::None,
            };
            f(Inputs {
                query: view(&self.query, 0),
                key: view(&self.key, 1),
                value: view(&self.value, 2),
                mask,
                scale: 0.3,
                causal: self.causal,
            })
        }

        fn slow(&self) -> Vec<f64> {
            let Sizes { heads, queries, keys, features, columns } = self.sizes;
            let mut out = Vec::new();
            for (head, i) in (0..heads).flat_map(|head| (0..queries).map(move |i| (head, i))) {
                let score = |j: usize| {
                    let counts = (!self.causal || j <= i)
                        && self.allowed.as_ref().is_none_or(|mask| mask[i * keys + j] != 0);
                    let query = &self.query[(head * queries + i) * features..][..features];
                    let key = &self.key[(head * keys + j) * features..][..features];
                    let product: f64 = query.iter().zip(key).map(|(q, k)| q * k).sum();
                    let added = self.added.as_ref().map_or(0.0, |mask| mask[i * keys + j]);
                    if counts { (0.3 * product + added).exp() } else { 0.0 }
                };
                let weights: Vec<f64> = (0..keys).map(score).collect();
                let total: f64 = weights.iter().sum();
                out.extend((0..columns).map(|c| {
                    let sum: f64 = (0..keys)
                        .map(|j| weights[j] * self.value[(head * keys + j) * columns + c])
                        .sum();
                    if total > 0.0 { sum / total } else { 0.0 }
                }));
            }
            out
        }
    }

    /// Few and many queries and keys, with every mask; some queries meet no key at all.
    fn problems() -> Vec<Problem> {
        let mut all = Vec::new();
        for (queries, keys, features, columns) in
            [(1, 5, 3, 2), (3, 150, 7, 9), (70, 40, 16, 8), (33, 300, 5, 20), (40, 129, 64, 64)]
        {
            for kind in 0..5 {
                let mut problem = Problem::new(queries, keys, features, columns);
                let count = queries * keys;
                match kind {
                    1 => problem.causal = true,
                    2 => {
                        let mut mask: Vec<u8> =
                            (0..count).map(|i| (i * 31 % 7 > 2) as u8).collect();
                        mask[(queries - 1) * keys..].fill(0);
                        problem.allowed = Some(mask);
                    }
                    3 => problem.added = Some(noise(count, 4)),
                    4 => problem.added = Some(vec![f64::NEG_INFINITY; count]),
                    _ => {}
                }
                all.push(problem);
            }
        }
        all
    }

    #[test]
    fn results_are_those_of_the_definition() {
        for problem in problems() {
            let found = problem.with(forward).out;
            let expected = problem.slow();
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for mut problem in problems() {
            let found = problem.with(forward);
            let weights = noise(found.out.len(), 5);
            let gradients =
                problem.with(|inputs| backward(inputs, (&found.out, &found.log_total), &weights));
            let loss = |problem: &Problem| -> f64 {
                problem.with(forward).out.iter().zip(&weights).map(|(a, b)| a * b).sum()
            };
            type Pick = fn(&mut Problem) -> &mut Vec<f64>;
            let parts: [(Pick, &[f64]); 3] = [
                (|problem| &mut problem.query, &gradients.query),
                (|problem| &mut problem.key, &gradients.key),
                (|problem| &mut problem.value, &gradients.value),
            ];
            for (pick, gradient) in parts {
                for at in (0..gradient.len()).step_by(1 + gradient.len() / 7) {
                    let value = pick(&mut problem)[at];
                    let mut side = |shift: f64| {
                        pick(&mut problem)[at] = value + shift;
                        loss(&problem)
                    };
                    let slope = (side(1e-5) - side(-1e-5)) / 2e-5;
                    pick(&mut problem)[at] = value;
                    assert!((slope - gradient[at]).abs() < 1e-6, "{slope} {}", gradient[at]);
                }
            }
        }
    }

    #[test]
    fn keys_and_queries_shared_out_give_the_same_gradients() {
        for problem in problems() {
            let found = problem.with(forward);
            let d_out = noise(found.out.len(), 5);
            let gradients =
                problem.with(|inputs| backward(inputs, (&found.out, &found.log_total), &d_out));
            let Sizes { heads, queries, keys, features, columns } = problem.sizes;
            let mut parts = [
                vec![0.0; heads * queries * features],
                vec![0.0; heads * keys * features],
                vec![0.0; heads * keys * columns],
            ];
            problem.with(|inputs| {
                let heads = Heads::new(inputs);
                let row = |at: usize| at * columns..(at + 1) * columns;
                let common: Vec<f64> = (0..found.log_total.len())
                    .map(|at| {
                        let pairs = found.out[row(at)].iter().zip(&d_out[row(at)]);
                        pairs.fold(0.0, |sum: f64, (&out, &d)| out.mul_add(d, sum))
                    })
                    .collect();
                let [query, key, value] = &mut parts;
                let task = Backward {
                    heads: &heads,
                    log_total: &found.log_total,
                    common: &common,
                    gradient: &d_out,
                    query: Shared::new(query),
                    key: Shared::new(key),
                    value: Shared::new(value),
                };
                for head in 0..heads.sizes.heads {
                    for part in blocks(0..keys, KEYS) {
                        task.part(head, 0..queries, part, Wanted { query: false, rest: true });
                    }
                    for part in blocks(0..queries, QUERIES) {
                        task.part(head, part, 0..keys, Wanted { query: true, rest: false });
                    }
                }
            });
            assert_eq!(parts, [gradients.query, gradients.key, gradients.value]);
        }
    }

    #[test]
    fn a_missing_number_is_not_hidden() {
        let mut problem = Problem::new(3, 4, 2, 2);
        problem.key[3] = f64::NAN;
        assert!(problem.with(forward).out[..6].iter().all(|value| value.is_nan()));
        assert!(problem.with(forward).out[6..].iter().all(|value| !value.is_nan()));
    }
}
