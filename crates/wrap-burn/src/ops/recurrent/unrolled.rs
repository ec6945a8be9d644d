//! A layer step by step, of tensor ops: for GPUs, for projected states, and for gradients of
//! gradients.

use kernels::recurrent::Cell;

use super::{Layer, Weights};
use crate::Result;
use crate::ops::unary::Unary;
use crate::tensor::Tensor;

/// One part of a row of gates.
fn gate(sums: &Tensor, at: i64, hidden: i64) -> Result<Tensor> {
    sums.narrow(1, at * hidden, hidden)
}

impl Layer {
    /// What [`Tensor::recurrent`] gives.
    pub(super) fn unrolled(
        &self,
        x: &Tensor,
        h: &Tensor,
        c: Option<&Tensor>,
        weights: Weights<'_>,
    ) -> Result<(Tensor, Tensor, Option<Tensor>)> {
        // A GRU multiplies the state's bias by a gate; elsewhere only the sum of both counts.
        let (of_x, of_h) = match (weights.biases, self.cell) {
            (None, _) => (None, None),
            (Some((of_x, of_h)), Cell::Gru) => (Some(of_x.clone()), Some(of_h)),
            (Some((of_x, of_h)), _) => (Some(of_x.add(of_h)?), None),
        };
        let x = x.linear(weights.ih, of_x.as_ref())?;
        let mut offset = 0;
        let mut steps: Vec<(i64, i64)> = Vec::with_capacity(self.batch_sizes.len());
        for &size in &self.batch_sizes {
            steps.push((offset, size as i64));
            offset += size as i64;
        }
        if self.reverse {
            steps.reverse();
        }
        let rows = self.sequences() as i64;
        let first = |state: &Tensor, size: i64| {
            if size == rows { Ok(state.clone()) } else { state.narrow(0, 0, size) }
        };
        // Sequences that a step does not reach keep their state.
        let joined = |new: Tensor, old: &Tensor, size: i64| {
            if size == rows {
                return Ok(new);
            }
            Tensor::cat(&[new, old.narrow(0, size, rows - size)?], 0)
        };
        let (mut h, mut c) = (h.clone(), c.cloned());
        let mut out = Vec::with_capacity(steps.len());
        for (offset, size) in steps {
            let x = x.narrow(0, offset, size)?;
            let s = first(&h, size)?.linear(weights.hh, of_h)?;
            let hidden = s.shape()[1] as i64 / self.cell.gates() as i64;
            let state = match self.cell {
                Cell::Tanh => x.add(&s)?.unary(Unary::Tanh)?,
                Cell::Relu => x.add(&s)?.unary(Unary::Relu)?,
                Cell::Gru => {
                    let gates = gate2(&x, 0, hidden)?.add(&gate2(&s, 0, hidden)?)?;
                    let gates = gates.unary(Unary::Sigmoid)?;
                    let (r, z) = (gate(&gates, 0, hidden)?, gate(&gates, 1, hidden)?);
                    let n = gate(&x, 2, hidden)?.add(&r.mul(&gate(&s, 2, hidden)?)?)?;
                    let n = n.unary(Unary::Tanh)?;
                    n.add(&z.mul(&first(&h, size)?.sub(&n)?)?)?
                }
                Cell::Lstm => {
                    let sums = x.add(&s)?;
                    let sigmoid = |at| gate(&sums, at, hidden)?.unary(Unary::Sigmoid);
                    let (i, f, o) = (sigmoid(0)?, sigmoid(1)?, sigmoid(3)?);
                    let g = gate(&sums, 2, hidden)?.unary(Unary::Tanh)?;
                    let old = c.take().expect("an LSTM has cell states");
                    let new = f.mul(&first(&old, size)?)?.add(&i.mul(&g)?)?;
                    let shown = o.mul(&new.unary(Unary::Tanh)?)?;
                    c = Some(joined(new, &old, size)?);
                    match weights.hr {
                        Some(hr) => shown.linear(hr, None)?,
                        None => shown,
                    }
                }
            };
            out.push(state.clone());
            h = joined(state, &h, size)?;
        }
        if self.reverse {
            out.reverse();
        }
        Ok((Tensor::cat(&out, 0)?, h, c))
    }
}

/// Two neighbouring parts of a row of gates.
fn gate2(sums: &Tensor, at: i64, hidden: i64) -> Result<Tensor> {
    sums.narrow(1, at * hidden, 2 * hidden)
}
