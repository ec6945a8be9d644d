//! Recurrent layers: all steps of one layer in one direction, and their gradient.
//!
//! Rows are sequences that run side by side. They may end at different steps, the longest first: a
//! step has as many rows as sequences reach it, and all rows of all steps lie one after the other
//! (a packed sequence). The weights are packed once for all steps, and every thread carries its
//! rows through all of them without waiting for the others.

mod cells;

use std::borrow::Cow;
use std::ops::Range;

pub use cells::Gated;
use cells::{GruBack, GruStep, LstmBack, LstmStep, PlainBack, PlainStep};

use serde::{Deserialize, Serialize};

use crate::panels::{Matrix, Panels, Shared, WORK, add_dots, add_product};
use crate::{par, simd};

/// So few rows meet weights one by one.
const FEW: usize = 4;
/// So few rows in all steps meet weights as they lie.
const SOME: usize = 64;
/// So few steps do in the gradient, whose products read weights by rows.
const STEPS: usize = 2;
/// Elements that are turned together.
const RUN: usize = 16;
/// With so many sequences, the input's products are formed step by step.
const MANY: usize = 16;
/// Fewer rows than this leave arithmetic units idle, so threads do not share them.
const ROWS: usize = 4;

/// What a layer computes in each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// `tanh(x + w h)`.
    Tanh,
    /// `relu(x + w h)`.
    Relu,
    /// Gates `i f g o`, a cell state.
    Lstm,
    /// Gates `r z n`.
    Gru,
}

impl Cell {
    /// How many times the hidden size the sums of a step are.
    pub fn gates(self) -> usize {
        match self {
            Cell::Tanh | Cell::Relu => 1,
            Cell::Lstm => 4,
            Cell::Gru => 3,
        }
    }
}

/// The steps of sequences that run side by side.
#[derive(Clone, Debug)]
pub struct Steps {
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    reverse: bool,
}

impl Steps {
    /// From how many sequences reach each step, which never increases; `reverse` runs backwards.
    pub fn new(sizes: &[usize], reverse: bool) -> Self {
        debug_assert!(sizes.is_sorted_by(|before, after| before >= after));
        let offsets = sizes.iter().scan(0, |end, &size| {
            let start = *end;
            *end += size;
            Some(start)
        });
        Steps { offsets: offsets.collect(), sizes: sizes.to_vec(), reverse }
    }

    /// How many sequences there are.
    pub fn rows(&self) -> usize {
        self.sizes.first().copied().unwrap_or(0)
    }

    /// How many rows all steps have.
    pub fn total(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// The steps in the order they are computed in.
    fn order(&self) -> Box<dyn DoubleEndedIterator<Item = usize>> {
        let steps = 0..self.sizes.len();
        if self.reverse { Box::new(steps.rev()) } else { Box::new(steps) }
    }

    /// Which of the sequences `rows` reach a step, as places among all rows of all steps.
    fn reached(&self, step: usize, rows: &Range<usize>) -> Range<usize> {
        let active = self.sizes[step].min(rows.end).saturating_sub(rows.start);
        let start = self.offsets[step] + rows.start;
        start..start + active
    }

    /// Where the state lies that a sequence brings to a step; `None` for the one it starts with.
    pub fn before(&self, step: usize, row: usize) -> Option<usize> {
        let step = if self.reverse { step + 1 } else { step.checked_sub(1)? };
        let reached = self.sizes.get(step).is_some_and(|&size| row < size);
        reached.then(|| self.offsets[step] + row)
    }
}

/// What a layer reads: row-major matrices without gaps.
#[derive(Clone, Copy)]
pub struct Inputs<'a, T> {
    /// The inputs of all steps: `(total, features)`.
    pub x: &'a [T],
    /// The states that sequences start with: `(rows, hidden)`.
    pub h: &'a [T],
    /// The cell states that sequences start with, of an LSTM.
    pub c: &'a [T],
    /// The weights of the input: `(gates * hidden, features)`.
    pub weight_x: &'a [T],
    /// The weights of the state: `(gates * hidden, hidden)`.
    pub weight_h: &'a [T],
    /// Biases of the input's and of the state's sums, or nothing.
    pub biases: Option<(&'a [T], &'a [T])>,
    /// The size of an input.
    pub features: usize,
    /// The size of a state.
    pub hidden: usize,
}

/// What a layer computes.
pub struct Outputs<T> {
    /// The states of all steps: `(total, hidden)`.
    pub out: Vec<T>,
    /// The states that sequences end with.
    pub h: Vec<T>,
    /// The cell states that sequences end with, of an LSTM.
    pub c: Vec<T>,
    /// The cell states of all steps of an LSTM, if they are kept for the gradient.
    pub cells: Vec<T>,
    /// Of all steps of a gated layer the activated gates, and for a GRU the state's part of the
    /// third, `(total, 4 * hidden)`; if they are kept for the gradient.
    pub gates: Vec<T>,
}

/// Gradients of what reaches a layer.
pub struct Gradients<T> {
    /// Of the input's sums.
    pub x: Vec<T>,
    /// Of the state's sums, where they are others: of a GRU.
    pub sums: Vec<T>,
    /// Of the states that sequences start with.
    pub h: Vec<T>,
    /// Of their cell states, of an LSTM.
    pub c: Vec<T>,
}

/// Weights `(outputs, inputs)` as the products of a layer need them.
enum Weights<'a, T: Clone + 'static> {
    Packed(Panels<'static, T>),
    /// As they lie, for so few rows that packing would cost more than it gives.
    Given(&'a [T], usize),
}

impl<'a, T: Gated> Weights<'a, T> {
    /// Weights that meet so many rows.
    fn new(weight: &'a [T], inputs: usize, outputs: usize, rows: usize) -> Self {
        if rows <= SOME {
            return Weights::Given(weight, inputs);
        }
        let turned = Matrix::rows(weight, inputs).transposed();
        Weights::Packed(Panels::pack(turned, inputs, outputs))
    }

    /// Adds to the rows of `sums`, `step` apart, what the rows `left` bring.
    fn add(&self, left: &[T], rows: usize, sums: &mut [T], step: usize) {
        match *self {
            Weights::Packed(ref panels) => {
                add_product(Matrix::rows(left, left.len() / rows), rows, panels, sums, step);
            }
            Weights::Given(_, 0) => {}
            Weights::Given(weight, inputs) if rows <= FEW => {
                let outputs = weight.len() / inputs;
                for (left, sums) in left.chunks_exact(inputs).zip(sums.chunks_mut(step)) {
                    add_dots(left, weight, inputs, &mut sums[..outputs]);
                }
            }
            Weights::Given(weight, inputs) => {
                // The other way round: the rows are packed, and the weights come from the left.
                let outputs = weight.len() / inputs;
                let panels = Panels::pack(Matrix::rows(left, inputs).transposed(), inputs, rows);
                let mut turned = vec![T::zero(); outputs * rows];
                add_product(Matrix::rows(weight, inputs), outputs, &panels, &mut turned, rows);
                // In runs of outputs: rows of sums may lie where caches keep only few of them.
                for (part, turned) in turned.chunks(RUN * rows).enumerate() {
                    for row in 0..rows {
                        let sums = &mut sums[row * step + part * RUN..];
                        for (sum, turned) in sums.iter_mut().zip(turned.chunks_exact(rows)) {
                            *sum = *sum + turned[row];
                        }
                    }
                }
            }
        }
    }
}

/// How many rows one thread should work on at least, where each has so many multiplications.
fn grain(multiplications: usize) -> usize {
    (WORK / multiplications.max(1)).max(ROWS)
}

/// All steps of a layer; with `keep` also what its gradient reads.
pub fn forward<T: Gated>(
    cell: Cell,
    steps: &Steps,
    inputs: Inputs<'_, T>,
    keep: bool,
) -> Outputs<T> {
    let (total, rows, hidden) = (steps.total(), steps.rows(), inputs.hidden);
    let width = cell.gates() * hidden;
    let (lstm, gated) = (cell == Cell::Lstm, cell.gates() > 1);
    // Where a step has many rows, the input's sums are formed step by step, as long as they are in
    // the cache, and only what the gradient reads is written out. Few rows would leave arithmetic
    // units idle, so that those of all steps are taken together.
    let by_step = rows >= MANY;
    let zeros = |wanted: bool, len: usize| vec![T::zero(); if wanted { len } else { 0 }];
    let mut outputs = Outputs {
        out: zeros(true, total * hidden),
        h: inputs.h.to_vec(),
        c: inputs.c.to_vec(),
        cells: zeros(keep && lstm, total * hidden),
        gates: zeros(gated && (keep || !by_step), total * 4 * hidden),
    };
    if total * hidden == 0 {
        return outputs;
    }
    let of_x = Weights::new(inputs.weight_x, inputs.features, width, total);
    let of_h = Weights::new(inputs.weight_h, hidden, width, total);
    // A GRU multiplies the state's bias by a gate; elsewhere only the sum of both counts.
    let bias: Option<Cow<'_, [T]>> = inputs.biases.map(|(of_x, of_h)| match cell {
        Cell::Gru => Cow::Borrowed(of_x),
        _ => of_x.iter().zip(of_h).map(|(&x, &h)| x + h).collect(),
    });
    let (out, last_h, last_c, cells, gates) = (
        Shared::new(&mut outputs.out),
        Shared::new(&mut outputs.h),
        Shared::new(&mut outputs.c),
        Shared::new(&mut outputs.cells),
        Shared::new(&mut outputs.gates),
    );
    // The input's sums are formed where the gates, or the states, will be.
    let stride = if gated { 4 * hidden } else { hidden };
    let start = |sums: &mut [T], places: Range<usize>| {
        start_rows(sums, bias.as_deref(), width, stride);
        let x = &inputs.x[places.start * inputs.features..places.end * inputs.features];
        of_x.add(x, places.len(), sums, stride);
    };
    if !by_step {
        let target = if gated { &gates } else { &out };
        par::for_ranges(total, grain(width * inputs.features), |places| {
            // SAFETY: the places are cut into disjoint ranges.
            start(unsafe { target.rows(places.clone(), stride) }, places);
        });
    }
    par::for_ranges(rows, grain(steps.sizes.len() * width * hidden), |rows| {
        // SAFETY: sequences are cut into disjoint ranges, and every row belongs to one sequence.
        let (h, c) = unsafe {
            let c = if lstm { last_c.rows(rows.clone(), hidden) } else { &mut [] };
            (last_h.rows(rows.clone(), hidden), c)
        };
        let mut of_step = zeros(gated && by_step && !keep, rows.len() * stride);
        let mut of_state = zeros(cell == Cell::Gru, rows.len() * width);
        for step in steps.order() {
            let places = steps.reached(step, &rows);
            let active = places.len();
            if active == 0 {
                continue;
            }
            let h = &mut h[..active * hidden];
            // SAFETY: as above.
            let out = unsafe { out.rows(places.clone(), hidden) };
            let sums: &mut [T] = if !gated {
                &mut *out
            } else if of_step.is_empty() {
                // SAFETY: as above.
                unsafe { gates.rows(places.clone(), stride) }
            } else {
                &mut of_step[..active * stride]
            };
            if by_step {
                start(sums, places.clone());
            }
            match cell {
                Cell::Tanh | Cell::Relu => {
                    of_h.add(h, active, sums, stride);
                    simd::run_wide(PlainStep { h: &mut *sums, relu: cell == Cell::Relu });
                    h.copy_from_slice(sums);
                    continue;
                }
                Cell::Lstm => {
                    let c = &mut c[..active * hidden];
                    of_h.add(h, active, sums, stride);
                    simd::run_wide(LstmStep { gates: sums, c: &mut *c, h: &mut *h, hidden });
                    if keep {
                        // SAFETY: as above.
                        unsafe { cells.rows(places, hidden) }.copy_from_slice(c);
                    }
                }
                Cell::Gru => {
                    let s = &mut of_state[..active * width];
                    start_rows(s, inputs.biases.map(|(_, of_h)| of_h), width, width);
                    of_h.add(h, active, s, width);
                    simd::run_wide(GruStep { gates: sums, s, h: &mut *h, hidden });
                }
            }
            out.copy_from_slice(h);
        }
    });
    outputs
}

/// Fills the first `width` columns of rows with what their sums start from.
fn start_rows<T: Gated>(sums: &mut [T], bias: Option<&[T]>, width: usize, stride: usize) {
    match bias {
        Some(bias) => {
            sums.chunks_exact_mut(stride).for_each(|row| row[..width].copy_from_slice(bias));
        }
        None => sums.fill(T::zero()),
    }
}

/// What the gradient of a layer reads.
#[derive(Clone, Copy)]
pub struct Kept<'a, T> {
    /// [`Inputs::h`].
    pub h: &'a [T],
    /// [`Inputs::c`].
    pub c: &'a [T],
    /// [`Inputs::weight_h`].
    pub weight_h: &'a [T],
    /// The size of a state.
    pub hidden: usize,
    /// [`Outputs::out`].
    pub out: &'a [T],
    /// [`Outputs::cells`].
    pub cells: &'a [T],
    /// [`Outputs::gates`].
    pub gates: &'a [T],
    /// The gradient of the states of all steps.
    pub d_out: Option<&'a [T]>,
    /// The gradient of the states that sequences end with.
    pub d_h: Option<&'a [T]>,
    /// The gradient of the cell states that sequences end with.
    pub d_c: Option<&'a [T]>,
}

/// One row of a matrix of `width` columns.
fn row_of<T>(matrix: &[T], width: usize, row: usize) -> &[T] {
    &matrix[row * width..][..width]
}

/// The gradients of a layer's sums and of the states it starts with; those of its weights and biases
/// are products and sums over them.
pub fn backward<T: Gated>(cell: Cell, steps: &Steps, kept: Kept<'_, T>) -> Gradients<T> {
    let (total, rows, hidden) = (steps.total(), steps.rows(), kept.hidden);
    let width = cell.gates() * hidden;
    let lstm = cell == Cell::Lstm;
    let start = |given: Option<&[T]>, wanted: bool| match given {
        Some(given) => given.to_vec(),
        None => vec![T::zero(); if wanted { rows * hidden } else { 0 }],
    };
    let mut gradients = Gradients {
        x: vec![T::zero(); total * width],
        sums: vec![T::zero(); if cell == Cell::Gru { total * width } else { 0 }],
        h: start(kept.d_h, true),
        c: start(kept.d_c, lstm),
    };
    if total * hidden == 0 {
        return gradients;
    }
    let panels = if steps.sizes.len() > STEPS {
        Panels::pack(Matrix::rows(kept.weight_h, hidden), width, hidden)
    } else {
        Panels::borrow(kept.weight_h, hidden, width, hidden)
    };
    let (d_x, d_sums, d_h, d_c) = (
        Shared::new(&mut gradients.x),
        Shared::new(&mut gradients.sums),
        Shared::new(&mut gradients.h),
        Shared::new(&mut gradients.c),
    );
    let carry = |rows: Range<usize>| {
        // SAFETY: sequences are cut into disjoint ranges, and every row belongs to one sequence.
        let (d_h, d_c) = unsafe {
            let d_c = if lstm { d_c.rows(rows.clone(), hidden) } else { &mut [] };
            (d_h.rows(rows.clone(), hidden), d_c)
        };
        for step in steps.order().rev() {
            let places = steps.reached(step, &rows);
            let active = places.len();
            if active == 0 {
                continue;
            }
            let d_h = &mut d_h[..active * hidden];
            if let Some(d_out) = kept.d_out {
                let d_out = &d_out[places.start * hidden..places.end * hidden];
                d_h.iter_mut().zip(d_out).for_each(|(d, &more)| *d = *d + more);
            }
            // SAFETY: as above.
            let d_x = unsafe { d_x.rows(places.clone(), width) };
            let d_sums = match cell {
                // SAFETY: as above.
                Cell::Gru => unsafe { d_sums.rows(places.clone(), width) },
                _ => &mut [],
            };
            // Where a row's sequence has the state it brings to this step; if it is its first one,
            // among those it starts with.
            let first = rows.start;
            let before = |row: usize| steps.before(step, first + row);
            match cell {
                Cell::Tanh | Cell::Relu => {
                    let h = &kept.out[places.start * hidden..places.end * hidden];
                    simd::run_wide(PlainBack { h, dh: d_h, dx: d_x, relu: cell == Cell::Relu });
                }
                Cell::Lstm => {
                    let states = d_h.chunks_exact(hidden).zip(d_c.chunks_exact_mut(hidden));
                    let rows = states.zip(d_x.chunks_exact_mut(width)).enumerate();
                    for (row, ((dh, dc), dx)) in rows {
                        let c_before = match before(row) {
                            Some(place) => row_of(kept.cells, hidden, place),
                            None => row_of(kept.c, hidden, first + row),
                        };
                        let place = places.start + row;
                        let (gates, c) = (
                            row_of(kept.gates, 4 * hidden, place),
                            row_of(kept.cells, hidden, place),
                        );
                        simd::run_wide(LstmBack { gates, c, c_before, dh, dc, dx });
                    }
                }
                Cell::Gru => {
                    let sums = d_x.chunks_exact_mut(width).zip(d_sums.chunks_exact_mut(width));
                    for (row, (dh, (dx, ds))) in d_h.chunks_exact_mut(hidden).zip(sums).enumerate()
                    {
                        let h_before = match before(row) {
                            Some(place) => row_of(kept.out, hidden, place),
                            None => row_of(kept.h, hidden, first + row),
                        };
                        let kept = row_of(kept.gates, 4 * hidden, places.start + row);
                        simd::run_wide(GruBack { kept, h_before, dh, dx, ds });
                    }
                }
            }
            let left: &[T] = if cell == Cell::Gru {
                d_sums
            } else {
                d_h.fill(T::zero());
                d_x
            };
            add_product(Matrix::rows(left, width), active, &panels, d_h, hidden);
        }
    };
    par::for_ranges(rows, grain(steps.sizes.len() * width * hidden), carry);
    gradients
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: usize = 19;
    const FEATURES: usize = 21;
    const CELLS: [Cell; 4] = [Cell::Tanh, Cell::Relu, Cell::Lstm, Cell::Gru];

    fn noise(len: usize, salt: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 7919 + salt * 104729) % 1009) as f64 / 504.5 - 1.0).collect()
    }

    struct Layer {
        x: Vec<f64>,
        h: Vec<f64>,
        c: Vec<f64>,
        weights: (Vec<f64>, Vec<f64>),
        biases: (Vec<f64>, Vec<f64>),
    }

    impl Layer {
        fn new(cell: Cell, steps: &Steps) -> Self {
            let (width, states) = (cell.gates() * HIDDEN, steps.rows() * HIDDEN);
            let weight =
                |len: usize, salt: usize| noise(len, salt).iter().map(|w| w / 4.0).collect();
            Layer {
                x: noise(steps.total() * FEATURES, 1),
                h: noise(states, 2),
                c: noise(states, 3),
                weights: (weight(width * FEATURES, 4), weight(width * HIDDEN, 5)),
                biases: (noise(width, 6), noise(width, 7)),
            }
        }

        fn inputs(&self) -> Inputs<'_, f64> {
            Inputs {
                x: &self.x,
                h: &self.h,
                c: &self.c,
                weight_x: &self.weights.0,
                weight_h: &self.weights.1,
                biases: Some((&self.biases.0, &self.biases.1)),
                features: FEATURES,
                hidden: HIDDEN,
            }
        }
    }

    /// One sequence, step by step from the definition: the states of its steps.
    fn slow(cell: Cell, steps: &Steps, layer: &Layer, row: usize) -> Vec<(usize, Vec<f64>)> {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let mut h = layer.h[row * HIDDEN..][..HIDDEN].to_vec();
        let mut c = layer.c[row * HIDDEN..][..HIDDEN].to_vec();
        let mut states = Vec::new();
        for step in steps.order().filter(|&step| row < steps.sizes[step]) {
            let place = steps.offsets[step] + row;
            let sums = |weights: &[f64], bias: &[f64], left: &[f64]| -> Vec<f64> {
                let rows = weights.chunks_exact(left.len()).zip(bias);
                rows.map(|(row, b)| b + row.iter().zip(left).map(|(w, v)| w * v).sum::<f64>())
                    .collect()
            };
            let input = &layer.x[place * FEATURES..][..FEATURES];
            let x = sums(&layer.weights.0, &layer.biases.0, input);
            let s = sums(&layer.weights.1, &layer.biases.1, &h);
            h = (0..HIDDEN)
                .map(|k| {
                    let sum = |gate: usize| x[gate * HIDDEN + k] + s[gate * HIDDEN + k];
                    match cell {
                        Cell::Tanh => sum(0).tanh(),
                        Cell::Relu => sum(0).max(0.0),
                        Cell::Lstm => {
                            c[k] = sigmoid(sum(1)) * c[k] + sigmoid(sum(0)) * sum(2).tanh();
                            sigmoid(sum(3)) * c[k].tanh()
                        }
                        Cell::Gru => {
                            let at = 2 * HIDDEN + k;
                            let (r, z) = (sigmoid(sum(0)), sigmoid(sum(1)));
                            let n = (x[at] + r * s[at]).tanh();
                            (1.0 - z) * n + z * h[k]
                        }
                    }
                })
                .collect();
            states.push((place, h.clone()));
        }
        states
    }

    /// Sequences of several lengths, all of one length, one alone, few rows, and not many.
    fn cases() -> impl Iterator<Item = (Cell, Steps)> {
        let sizes: [&[usize]; 6] =
            [&[40, 40, 23, 2, 1, 1], &[5; 14], &[1; 70], &[2, 2, 1], &[19, 6, 6], &[9, 4]];
        sizes.into_iter().flat_map(|sizes| {
            CELLS.into_iter().flat_map(move |cell| {
                [false, true].map(|reverse| (cell, Steps::new(sizes, reverse)))
            })
        })
    }

    #[test]
    fn states_are_those_of_the_definition() {
        for (cell, steps) in cases() {
            let layer = Layer::new(cell, &steps);
            let found = forward(cell, &steps, layer.inputs(), false);
            for row in 0..steps.rows() {
                let states = slow(cell, &steps, &layer, row);
                for (place, state) in &states {
                    let out = &found.out[place * HIDDEN..][..HIDDEN];
                    assert!(out.iter().zip(state).all(|(a, b)| (a - b).abs() < 1e-12), "{cell:?}");
                }
                let (_, last) = states.last().unwrap();
                let h = &found.h[row * HIDDEN..][..HIDDEN];
                assert!(h.iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-12), "{cell:?}");
            }
            let kept = forward(cell, &steps, layer.inputs(), true);
            assert_eq!((kept.out, kept.h, kept.c), (found.out, found.h, found.c));
            let bare = Inputs { biases: None, ..layer.inputs() };
            let zeros = vec![0.0; cell.gates() * HIDDEN];
            let zero = Inputs { biases: Some((&zeros, &zeros)), ..bare };
            for keep in [false, true] {
                let without = forward(cell, &steps, bare, keep).out;
                assert_eq!(without, forward(cell, &steps, zero, keep).out);
            }
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for (cell, steps) in cases() {
            let mut layer = Layer::new(cell, &steps);
            let found = forward(cell, &steps, layer.inputs(), true);
            let d_out = noise(found.out.len(), 7);
            let (d_h, d_c) = (noise(found.h.len(), 8), noise(found.c.len(), 9));
            let kept = Kept {
                h: &layer.h,
                c: &layer.c,
                weight_h: &layer.weights.1,
                hidden: HIDDEN,
                out: &found.out,
                cells: &found.cells,
                gates: &found.gates,
                d_out: Some(&d_out),
                d_h: Some(&d_h),
                d_c: Some(&d_c),
            };
            let gradients = backward(cell, &steps, kept);
            let loss = |layer: &Layer| -> f64 {
                let found = forward(cell, &steps, layer.inputs(), false);
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let cells = if cell == Cell::Lstm { dot(&found.c, &d_c) } else { 0.0 };
                dot(&found.out, &d_out) + dot(&found.h, &d_h) + cells
            };
            let width = cell.gates() * HIDDEN;
            let over_steps = |sums: &[f64]| -> Vec<f64> {
                (0..width).map(|k| sums.iter().skip(k).step_by(width).sum()).collect()
            };
            let d_x: Vec<f64> = (0..layer.x.len())
                .map(|at| {
                    let sums = &gradients.x[at / FEATURES * width..][..width];
                    let weights = layer.weights.0.iter().skip(at % FEATURES).step_by(FEATURES);
                    sums.iter().zip(weights).map(|(d, w)| d * w).sum()
                })
                .collect();
            let mut check = |pick: fn(&mut Layer) -> &mut Vec<f64>, gradient: &[f64]| {
                for at in (0..pick(&mut layer).len()).step_by(41) {
                    let value = pick(&mut layer)[at];
                    let mut side = |shift: f64| {
                        pick(&mut layer)[at] = value + shift;
                        loss(&layer)
                    };
                    let slope = (side(1e-6) - side(-1e-6)) / 2e-6;
                    pick(&mut layer)[at] = value;
                    assert!((slope - gradient[at]).abs() < 1e-6, "{cell:?} {steps:?} {at}");
                }
            };
            // A bias meets each of its sums once.
            check(|layer| &mut layer.biases.0, &over_steps(&gradients.x));
            let sums = if cell == Cell::Gru { &gradients.sums } else { &gradients.x };
            check(|layer| &mut layer.biases.1, &over_steps(sums));
            check(|layer| &mut layer.x, &d_x);
            check(|layer| &mut layer.h, &gradients.h);
            if cell == Cell::Lstm {
                check(|layer| &mut layer.c, &gradients.c);
            }
        }
    }
}
