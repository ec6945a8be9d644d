//! Recurrent layers: all steps of one layer in one direction as one op.

mod unrolled;

pub use kernels::recurrent::Cell;
use kernels::recurrent::{Gated, Inputs, Kept, Steps, backward, forward};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::autograd::grad_enabled;
use crate::dtype::HostElement;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply};
use crate::ops::composed::vjp_composed;
use crate::ops::pick::integers;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// What a layer is, apart from its weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// What it computes in each step.
    pub cell: Cell,
    /// How many sequences reach each step; this never increases. The rows of all steps lie one
    /// after the other.
    pub batch_sizes: Vec<usize>,
    /// From the last step to the first.
    pub reverse: bool,
}

impl Layer {
    fn name(&self) -> &'static str {
        match self.cell {
            Cell::Tanh => "rnn_tanh",
            Cell::Relu => "rnn_relu",
            Cell::Lstm => "lstm",
            Cell::Gru => "gru",
        }
    }

    fn steps(&self) -> Steps {
        Steps::new(&self.batch_sizes, self.reverse)
    }

    fn sequences(&self) -> usize {
        self.batch_sizes.first().copied().unwrap_or(0)
    }

    fn has_cell_state(&self) -> bool {
        self.cell == Cell::Lstm
    }
}

/// A layer's parameters, with PyTorch's layout and names.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// `weight_ih`: `(gates * hidden, features)`.
    pub ih: &'a Tensor,
    /// `weight_hh`: `(gates * hidden, hidden or projection)`.
    pub hh: &'a Tensor,
    /// `bias_ih` and `bias_hh`.
    pub biases: Option<(&'a Tensor, &'a Tensor)>,
    /// `weight_hr` of an LSTM whose states are projected: `(projection, hidden)`.
    pub hr: Option<&'a Tensor>,
}

/// A value's elements, which lie without gaps.
fn slice<T: HostElement>(value: &Value) -> Result<&[T]> {
    debug_assert!(value.is_contiguous());
    Ok(match value.numel() {
        0 => &[],
        len => &value.buffer()?.as_slice()[value.offset..value.offset + len],
    })
}

fn dense(values: &[&Value]) -> Result<Vec<Value>> {
    values.iter().map(|value| value.contiguous()).collect()
}

/// All steps of a layer without projection. Inputs: the rows of all steps, the states that sequences
/// start with, both weights, the cell states of an LSTM, both biases if there are any. Outputs: the
/// states of all steps, the last states, the last cell states of an LSTM; with `keep` also what the
/// gradient reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecurrentOp {
    /// What the layer is.
    pub layer: Layer,
    /// Whether to keep what the gradient reads.
    pub keep: bool,
}

impl RecurrentOp {
    /// How many outputs come before what is kept.
    fn results(&self) -> usize {
        if self.layer.has_cell_state() { 3 } else { 2 }
    }

    fn first_bias(&self) -> usize {
        if self.layer.has_cell_state() { 5 } else { 4 }
    }
}

#[typetag::serde]
impl Primitive for RecurrentOp {
    fn name(&self) -> &'static str {
        self.layer.name()
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let name = self.name();
        let Layer { cell, batch_sizes, .. } = &self.layer;
        let [x, h, weight_x, weight_h, ..] = inputs else {
            bail!(Type, "{name}: expected at least 4 tensors, got {}", inputs.len());
        };
        let dtype = x.dtype;
        if !dtype.is_float() {
            bail!(Runtime, "{name}: not implemented for {dtype}; hint: use .float()");
        }
        if let Some(other) = inputs.iter().find(|value| value.dtype != dtype) {
            bail!(
                Runtime,
                "{name}: expected states and weights of the input's dtype {dtype}, got {}; hint: \
                 convert one with .to()",
                other.dtype
            );
        }
        if x.rank() != 2 || weight_x.rank() != 2 || weight_h.rank() != 2 {
            bail!(
                Runtime,
                "{name}: expected rows and weights with two dimensions, got shapes {:?}, {:?} and {:?}",
                x.shape,
                weight_x.shape,
                weight_h.shape
            );
        }
        if !batch_sizes.is_sorted_by(|before, after| before >= after) {
            bail!(Runtime, "{name}: expected batch sizes that never increase, got {batch_sizes:?}");
        }
        let (total, rows) = (batch_sizes.iter().sum(), self.layer.sequences());
        let (features, hidden) = (weight_x.shape[1], weight_h.shape[1]);
        let width = cell.gates() * hidden;
        let expect = |what: &str, value: &Value, shape: &[usize]| -> Result<()> {
            if value.shape.as_slice() != shape {
                bail!(Runtime, "{name}: expected {what} of shape {shape:?}, got {:?}", value.shape);
            }
            Ok(())
        };
        expect("rows", x, &[total, features])?;
        expect("states", h, &[rows, hidden])?;
        expect("weights of the input", weight_x, &[width, features])?;
        expect("weights of the state", weight_h, &[width, hidden])?;
        if self.layer.has_cell_state() {
            expect("cell states", inputs[4], &[rows, hidden])?;
        }
        for bias in &inputs[self.first_bias()..] {
            expect("a bias", bias, &[width])?;
        }
        let meta = |rows: usize, columns: usize| Meta::new([rows, columns].as_slice(), dtype);
        let mut metas: Metas = smallvec![meta(total, hidden), meta(rows, hidden)];
        if self.layer.has_cell_state() {
            metas.push(meta(rows, hidden));
        }
        if self.keep && self.layer.has_cell_state() {
            metas.push(meta(total, hidden));
        }
        if self.keep && cell.gates() > 1 {
            metas.push(meta(total, 4 * hidden));
        }
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let inputs = dense(inputs)?;
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => self.compute::<T>(&inputs, out))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        let kept = u32::MAX << self.results();
        Saves { inputs: u32::MAX, outputs: if self.keep { 1 | kept } else { 0 } }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        if grad_enabled() || !self.keep {
            return vjp_composed(ctx, |inputs| self.composed(inputs));
        }
        let layer = &self.layer;
        let [x, h, weight_x, weight_h, ..] = ctx.inputs else {
            unreachable!("`infer` has checked")
        };
        let mut read: Vec<&Tensor> = vec![h, weight_h];
        if layer.has_cell_state() {
            read.push(&ctx.inputs[4]);
        }
        read.push(&ctx.outputs[0]);
        read.extend(&ctx.outputs[self.results()..]);
        let grads = &ctx.grads[..self.results()];
        read.extend(grads.iter().flatten());
        let given = std::array::from_fn(|at| grads.get(at).is_some_and(Option::is_some));
        let op = RecurrentBackwardOp { layer: layer.clone(), given };
        let results = apply(&op, &read)?;
        let gru = layer.cell == Cell::Gru;
        let (d_x, d_sums) = (&results[0], &results[usize::from(gru)]);
        let d_h = &results[1 + usize::from(gru)];
        let mut out: Grads = smallvec![None; ctx.inputs.len()];
        if ctx.needs[0] {
            out[0] = Some(d_x.matmul(weight_x)?);
        }
        if ctx.needs[1] {
            out[1] = Some(d_h.clone());
        }
        if ctx.needs[2] {
            out[2] = Some(d_x.transpose(0, 1)?.matmul(x)?);
        }
        if ctx.needs[3] {
            let before = layer.states_before(h, &ctx.outputs[0])?;
            out[3] = Some(d_sums.transpose(0, 1)?.matmul(&before)?);
        }
        if layer.has_cell_state() && ctx.needs[4] {
            out[4] = Some(results[2].clone());
        }
        for (bias, sums) in (self.first_bias()..ctx.inputs.len()).zip([d_x, d_sums]) {
            if ctx.needs[bias] {
                out[bias] = Some(sums.sum_dims(&[0], false)?);
            }
        }
        Ok(out)
    }
}

impl RecurrentOp {
    fn compute<T: Gated + HostElement>(&self, inputs: &[Value], out: &[Meta]) -> Result<Values> {
        let bias = self.first_bias();
        let given = Inputs::<T> {
            x: slice(&inputs[0])?,
            h: slice(&inputs[1])?,
            c: if self.layer.has_cell_state() { slice(&inputs[4])? } else { &[] },
            weight_x: slice(&inputs[2])?,
            weight_h: slice(&inputs[3])?,
            biases: match inputs.get(bias..) {
                Some([of_x, of_h]) => Some((slice(of_x)?, slice(of_h)?)),
                _ => None,
            },
            features: inputs[2].shape[1],
            hidden: inputs[3].shape[1],
        };
        let found = forward(self.layer.cell, &self.layer.steps(), given, self.keep);
        let mut parts = vec![found.out, found.h];
        if self.layer.has_cell_state() {
            parts.push(found.c);
        }
        if self.keep && self.layer.has_cell_state() {
            parts.push(found.cells);
        }
        if self.keep && self.layer.cell.gates() > 1 {
            parts.push(found.gates);
        }
        let values = parts.into_iter().zip(out);
        Ok(values
            .map(|(data, meta)| Value::from_vec_as(data, meta.shape.clone(), meta.dtype))
            .collect())
    }

    /// The same results by tensor ops.
    fn composed(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let weights = Weights {
            ih: &inputs[2],
            hh: &inputs[3],
            biases: match &inputs[self.first_bias()..] {
                [of_x, of_h] => Some((of_x, of_h)),
                _ => None,
            },
            hr: None,
        };
        let c = self.layer.has_cell_state().then(|| &inputs[4]);
        let (out, h, c) = self.layer.unrolled(&inputs[0], &inputs[1], c, weights)?;
        Ok([Some(out), Some(h), c].into_iter().flatten().collect())
    }
}

impl Layer {
    /// The state that each row of `out`, the states of all steps, was computed from.
    fn states_before(&self, first: &Tensor, out: &Tensor) -> Result<Tensor> {
        let (total, rows) = (out.shape()[0] as i64, self.sequences() as i64);
        if self.batch_sizes.iter().all(|&size| size as i64 == rows) {
            let start = if self.reverse { rows } else { 0 };
            let later = out.narrow(0, start, total - rows)?;
            let parts = if self.reverse { [later, first.clone()] } else { [first.clone(), later] };
            return Tensor::cat(&parts, 0);
        }
        let steps = self.steps();
        let places = self.batch_sizes.iter().enumerate().flat_map(|(step, &size)| {
            let steps = &steps;
            (0..size)
                .map(move |row| steps.before(step, row).map_or(row as i64, |at| at as i64 + rows))
        });
        let places = integers(places.collect(), &[total as usize], out.device())?;
        Tensor::cat(&[first.clone(), out.clone()], 0)?.index_select(0, &places)
    }
}

/// The gradients of a layer's sums and first states. Inputs: the first states, the state's weights,
/// the first cell states of an LSTM, the states of all steps, what the layer kept, and the gradients
/// of its results that are given. Outputs: the gradients of the input's sums, of the state's sums of
/// a GRU, of the first states, of the first cell states of an LSTM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecurrentBackwardOp {
    /// What the layer is.
    pub layer: Layer,
    /// Which gradients are given: of the states of all steps, of the last states, of the last cell
    /// states.
    pub given: [bool; 3],
}

#[typetag::serde]
impl Primitive for RecurrentBackwardOp {
    fn name(&self) -> &'static str {
        match self.layer.cell {
            Cell::Tanh | Cell::Relu => "rnn_backward",
            Cell::Lstm => "lstm_backward",
            Cell::Gru => "gru_backward",
        }
    }

    /// Gradients of gradients go by way of the unrolled layer, so that this is never recorded.
    fn differentiable(&self) -> bool {
        false
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (dtype, hidden) = (inputs[0].dtype, inputs[0].shape[1]);
        let (total, rows) = (self.layer.batch_sizes.iter().sum(), self.layer.sequences());
        let meta = |rows: usize, columns: usize| Meta::new([rows, columns].as_slice(), dtype);
        let sums = self.layer.cell.gates() * hidden;
        let mut metas: Metas = smallvec![meta(total, sums)];
        if self.layer.cell == Cell::Gru {
            metas.push(meta(total, sums));
        }
        metas.push(meta(rows, hidden));
        if self.layer.has_cell_state() {
            metas.push(meta(rows, hidden));
        }
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let inputs = dense(inputs)?;
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => self.compute::<T>(&inputs, out))
    }
}

impl RecurrentBackwardOp {
    fn compute<T: Gated + HostElement>(&self, inputs: &[Value], out: &[Meta]) -> Result<Values> {
        let (lstm, gated) = (self.layer.has_cell_state(), self.layer.cell.gates() > 1);
        let mut rest = inputs.iter();
        let mut next = || -> Result<&[T]> {
            rest.next().map_or_else(
                || bail!(Runtime, "{}: expected more than {} tensors", self.name(), inputs.len()),
                slice,
            )
        };
        let kept = Kept::<'_, T> {
            hidden: inputs[0].shape[1],
            h: next()?,
            weight_h: next()?,
            c: if lstm { next()? } else { &[] },
            out: next()?,
            cells: if lstm { next()? } else { &[] },
            gates: if gated { next()? } else { &[] },
            d_out: if self.given[0] { Some(next()?) } else { None },
            d_h: if self.given[1] { Some(next()?) } else { None },
            d_c: if self.given[2] { Some(next()?) } else { None },
        };
        let found = backward(self.layer.cell, &self.layer.steps(), kept);
        let mut parts = vec![found.x];
        if self.layer.cell == Cell::Gru {
            parts.push(found.sums);
        }
        parts.push(found.h);
        if lstm {
            parts.push(found.c);
        }
        let values = parts.into_iter().zip(out);
        Ok(values
            .map(|(data, meta)| Value::from_vec_as(data, meta.shape.clone(), meta.dtype))
            .collect())
    }
}

impl Tensor {
    /// All steps of a recurrent layer over the rows of all steps, from the states `h`, and the cell
    /// states `c` of an LSTM: the states of all steps, the last states, the last cell states of an
    /// LSTM.
    pub fn recurrent(
        &self,
        layer: &Layer,
        h: &Tensor,
        c: Option<&Tensor>,
        weights: Weights<'_>,
    ) -> Result<(Tensor, Tensor, Option<Tensor>)> {
        let name = layer.name();
        if layer.has_cell_state() != c.is_some() {
            bail!(
                Runtime,
                "{name}: expected {} cell states",
                if layer.has_cell_state() { "initial" } else { "no" }
            );
        }
        if weights.hr.is_some() && !layer.has_cell_state() {
            bail!(Runtime, "{name}: only the states of an lstm can be projected");
        }
        if self.device().is_gpu() || weights.hr.is_some() {
            return layer.unrolled(self, h, c, weights);
        }
        let mut inputs = vec![self, h, weights.ih, weights.hh];
        inputs.extend(c);
        if let Some((of_x, of_h)) = weights.biases {
            inputs.extend([of_x, of_h]);
        }
        let keep = grad_enabled() && inputs.iter().any(|tensor| tensor.requires_grad());
        let mut results = apply(&RecurrentOp { layer: layer.clone(), keep }, &inputs)?.into_iter();
        let mut next = || results.next().expect("the op has this output");
        Ok((next(), next(), c.map(|_| next())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::ops::linalg::tests::{close, gradcheck, noise};

    const CELLS: [Cell; 4] = [Cell::Tanh, Cell::Relu, Cell::Lstm, Cell::Gru];

    /// Rows, first states, weights, the cell states of an LSTM, biases.
    fn inputs(layer: &Layer, features: usize, hidden: usize, dtype: DType) -> Vec<Tensor> {
        let (total, rows) = (layer.batch_sizes.iter().sum(), layer.sequences());
        let width = layer.cell.gates() * hidden;
        let mut shapes = vec![vec![total, features], vec![rows, hidden]];
        shapes.extend([vec![width, features], vec![width, hidden]]);
        if layer.has_cell_state() {
            shapes.push(vec![rows, hidden]);
        }
        shapes.extend([vec![width], vec![width]]);
        shapes.iter().zip(1..).map(|(shape, salt)| noise(shape, dtype, salt)).collect()
    }

    fn layers() -> Vec<Layer> {
        let sizes: [&[usize]; 3] = [&[3, 3, 2, 1], &[2, 2], &[9]];
        let layer =
            |cell, sizes: &[usize], reverse| Layer { cell, batch_sizes: sizes.to_vec(), reverse };
        let every = CELLS.iter().flat_map(|&cell| {
            sizes
                .iter()
                .flat_map(move |sizes| [layer(cell, sizes, false), layer(cell, sizes, true)])
        });
        every.collect()
    }

    fn run(layer: &Layer, x: &[Tensor]) -> Result<Vec<Tensor>> {
        let first_bias = if layer.has_cell_state() { 5 } else { 4 };
        let biases = x.get(first_bias + 1).map(|of_h| (&x[first_bias], of_h));
        let weights = Weights { ih: &x[2], hh: &x[3], biases, hr: None };
        let c = layer.has_cell_state().then(|| &x[4]);
        let (out, h, c) = x[0].recurrent(layer, &x[1], c, weights)?;
        Ok([Some(out), Some(h), c].into_iter().flatten().collect())
    }

    #[test]
    fn gradients_and_their_gradients() {
        for layer in layers() {
            let name = format!("{layer:?}");
            let inputs = inputs(&layer, 2, 3, DType::F64);
            gradcheck(&name, &inputs, true, &|x| run(&layer, x));
            let without_bias = &inputs[..inputs.len() - 2];
            gradcheck(&name, without_bias, false, &|x| run(&layer, x));
        }
    }

    #[test]
    fn the_unrolled_layer_is_the_same() {
        for layer in layers() {
            let inputs = inputs(&layer, 5, 18, DType::F64);
            let op = RecurrentOp { layer: layer.clone(), keep: false };
            for (fused, unrolled) in
                run(&layer, &inputs).unwrap().iter().zip(op.composed(&inputs).unwrap())
            {
                close(fused, &unrolled);
            }
        }
    }

    #[test]
    fn wrong_shapes_are_named() {
        let layer = Layer { cell: Cell::Gru, batch_sizes: vec![2, 2], reverse: false };
        let mut inputs = inputs(&layer, 2, 3, DType::F32);
        inputs[1] = noise(&[2, 4], DType::F32, 1);
        let fault = run(&layer, &inputs).unwrap_err();
        assert_eq!(fault.message(), "gru: expected states of shape [2, 3], got [2, 4]");
        inputs[1] = noise(&[2, 3], DType::F64, 1);
        assert!(run(&layer, &inputs).unwrap_err().message().contains("dtype float32, got float64"));
    }
}
