//! Consecutive rows reduced segment by segment, and elements repeated.

pub use kernels::segment::SegmentReduce;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::Operand;
use crate::ops::create::check_size;
use crate::ops::index::{ScatterOp, ScatterReduce};
use crate::ops::pick::integers;
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, FromScalar, Result, Scalar, bail};

/// Each segment of the rows of the first input reduced to one row. The second input says where
/// segments begin and where the last one ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SegmentOp {
    /// How.
    pub kind: SegmentReduce,
    /// What a reduction starts from, and an empty segment gives.
    pub initial: Option<f64>,
}

impl SegmentOp {
    /// What a reduction starts from when nothing is given.
    fn start(&self) -> f64 {
        self.initial.unwrap_or(match self.kind {
            SegmentReduce::Sum | SegmentReduce::Mean => 0.0,
            SegmentReduce::Prod => 1.0,
            SegmentReduce::Max => f64::NEG_INFINITY,
            SegmentReduce::Min => f64::INFINITY,
        })
    }
}

#[typetag::serde]
impl Primitive for SegmentOp {
    fn name(&self) -> &'static str {
        "segment_reduce"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, offsets) = (inputs[0], inputs[1]);
        if !x.dtype.is_float() {
            bail!(
                Runtime,
                "segment_reduce: expected a floating point data tensor, got {}",
                x.dtype
            );
        }
        if x.rank() == 0 {
            bail!(
                Runtime,
                "segment_reduce: expected data with at least one dimension, got shape {:?}",
                x.shape
            );
        }
        if offsets.rank() != 1
            || offsets.numel() == 0
            || !matches!(offsets.dtype, DType::I64 | DType::I32)
        {
            bail!(
                Runtime,
                "segment_reduce: expected non-empty 1-d offsets of dtype int64, got shape {:?} and dtype {}",
                offsets.shape,
                offsets.dtype
            );
        }
        let mut shape = x.shape.clone();
        shape[0] = offsets.numel() - 1;
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let offsets = crate::ops::index::index_i64(inputs[1])?.contiguous()?;
        let bounds = &offsets.buffer()?.as_slice::<i64>()[offsets.offset..][..offsets.numel()];
        let segments = kernels::segment::Segments::Offsets(bounds);
        crate::with_dtype!("segment_reduce", inputs[0].dtype, floats, T => {
            let initial = self.initial.map(|initial| T::from_scalar(Scalar::Float(initial)));
            let rows = kernels::segment::segment_reduce(&inputs[0].view::<T>()?, segments, self.kind, initial)?;
            single(Value::from_vec_as(rows, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        match self.kind {
            SegmentReduce::Sum | SegmentReduce::Mean => Saves::inputs(2),
            _ => Saves { inputs: 3, outputs: 1 },
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, x) = (ctx.grad()?, &ctx.inputs[0]);
        let (shape, device) = (x.shape(), g.device());
        let offsets = ctx.inputs[1].to_vec::<i64>()?;
        let lengths: Vec<i64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let places = repeated(self.name(), &lengths)?;
        let (start, covered) = (offsets[0] as usize, places.len());
        let places = integers(places, &[covered], device)?;
        let inside = match self.kind {
            SegmentReduce::Sum => g.index_select(0, &places)?,
            SegmentReduce::Mean => {
                let mut column = vec![1; shape.len()];
                column[0] = lengths.len();
                let lengths = integers(lengths, &column, device)?.to_dtype(g.dtype())?;
                g.div(&lengths)?.index_select(0, &places)?
            }
            _ => {
                // The same as scattering the rows into the segments, whose gradient knows of zeros
                // and of equal extremes.
                let reduce = match self.kind {
                    SegmentReduce::Prod => ScatterReduce::Mul,
                    SegmentReduce::Max => ScatterReduce::Max,
                    _ => ScatterReduce::Min,
                };
                let y = &ctx.outputs[0];
                let initial = Tensor::full(&y.shape(), self.start(), x.dtype(), device)?;
                let rows = x.slice(0, start, covered, 1)?;
                let mut column = vec![1; shape.len()];
                column[0] = covered;
                let index =
                    places.reshape_to(&column)?.expand_to("segment_reduce", &rows.shape())?;
                let scatter = ScatterOp { dim: 0, reduce: Some(reduce) };
                let ctx = Vjp {
                    inputs: &[initial, index, rows.clone()],
                    outputs: ctx.outputs,
                    grads: ctx.grads,
                    needs: &[false, false, true],
                };
                match scatter.vjp(&ctx)?.pop().flatten() {
                    Some(inside) => inside,
                    None => Tensor::zeros(&rows.shape(), g.dtype(), device)?,
                }
            }
        };
        // Rows before the first segment and after the last count for nothing.
        let border = |rows: usize| -> Result<Tensor> {
            let mut shape = shape.clone();
            shape[0] = rows;
            Tensor::zeros(&shape, g.dtype(), device)
        };
        let parts = [border(start)?, inside, border(shape[0] - start - covered)?];
        Ok(smallvec![
            Some(if covered == shape[0] { parts[1].clone() } else { Tensor::cat(&parts, 0)? }),
            None
        ])
    }
}

/// The number of each place, as many times as it says.
fn repeated(op: &str, times: &[i64]) -> Result<Vec<i64>> {
    let count = times.iter().fold(0usize, |sum, &times| sum.saturating_add(times as usize));
    check_size(op, &[count], DType::I64)?;
    let mut places = Vec::with_capacity(count);
    for (place, &times) in times.iter().enumerate() {
        places.extend(std::iter::repeat_n(place as i64, times as usize));
    }
    Ok(places)
}

/// How rows are divided into segments.
#[derive(Clone, Debug)]
pub enum Segments {
    /// How many rows each has.
    Lengths(Tensor),
    /// Where each begins, and where the last one ends.
    Offsets(Tensor),
    /// For each row, which it belongs to; ascending.
    Indices(Tensor),
}

impl Segments {
    /// Where each begins and the last one ends, for so many rows.
    fn offsets(&self, rows: usize) -> Result<Vec<i64>> {
        let listed = |what: &str, tensor: &Tensor| -> Result<Vec<i64>> {
            if tensor.rank() != 1 || !matches!(tensor.dtype(), DType::I64 | DType::I32) {
                bail!(
                    Runtime,
                    "segment_reduce: expected 1-d {what} of dtype int64, got shape {:?} and dtype {}",
                    tensor.shape(),
                    tensor.dtype()
                );
            }
            tensor.to_vec::<i64>()
        };
        let lengths = match self {
            Segments::Offsets(offsets) => return listed("offsets", offsets),
            Segments::Lengths(lengths) => listed("lengths", lengths)?,
            Segments::Indices(indices) => {
                let indices = listed("indices", indices)?;
                if indices.len() != rows
                    || !indices.is_sorted()
                    || indices.first().is_some_and(|&first| first < 0)
                {
                    bail!(
                        Runtime,
                        "segment_reduce: expected {rows} ascending, non-negative indices, one for each \
                         row, got {}",
                        indices.len()
                    );
                }
                let segments = indices.last().map_or(0, |&last| (last as usize).saturating_add(1));
                check_size("segment_reduce", &[segments], DType::I64)?;
                let mut lengths = vec![0; segments];
                for at in indices {
                    lengths[at as usize] += 1;
                }
                lengths
            }
        };
        if lengths.iter().any(|&length| length < 0) {
            bail!(Runtime, "segment_reduce: lengths contains negative value!");
        }
        let mut end = 0i64;
        let offsets: Vec<i64> = std::iter::once(0)
            .chain(lengths.iter().map(|&length| {
                end = end.saturating_add(length);
                end
            }))
            .collect();
        if end != rows as i64 {
            bail!(
                Runtime,
                "segment_reduce: expected all rows of lengths along axis to sum to data.size(0) = {rows}, got {end}"
            );
        }
        Ok(offsets)
    }
}

impl Tensor {
    /// Each segment of consecutive rows reduced to one row; `initial` is what a reduction starts
    /// from, and an empty segment gives.
    pub fn segment_reduce(
        &self,
        kind: SegmentReduce,
        segments: &Segments,
        initial: Option<f64>,
    ) -> Result<Tensor> {
        let offsets = segments.offsets(self.shape().first().copied().unwrap_or(0))?;
        let count = offsets.len();
        let offsets = integers(offsets, &[count], self.device())?;
        apply1(&SegmentOp { kind, initial }, &[self, &offsets])
    }

    /// The number of each place of this tensor of counts, as many times as it says.
    pub fn repeated_places(&self) -> Result<Tensor> {
        if self.rank() > 1 || !matches!(self.dtype(), DType::I64 | DType::I32) {
            bail!(
                Runtime,
                "repeat_interleave: repeats must be a 0-dim or 1-dim tensor of dtype int64 or int32, \
                 got shape {:?} and dtype {}",
                self.shape(),
                self.dtype()
            );
        }
        let times = self.to_vec::<i64>()?;
        check_repeats(&times)?;
        let places = repeated("repeat_interleave", &times)?;
        let count = places.len();
        integers(places, &[count], self.device())
    }

    /// Each element repeated in place along a dimension, or in the flattened tensor: all as often,
    /// or each as a tensor of counts says.
    pub fn repeat_interleave(&self, repeats: &Operand, dim: Option<i64>) -> Result<Tensor> {
        let Some(dim) = dim else {
            return self.reshape(&[-1])?.repeat_interleave(repeats, Some(0));
        };
        let along = wrap_dim("repeat_interleave", dim, self.rank())?;
        if self.rank() == 0 {
            return self.reshape_to(&[1])?.repeat_interleave(repeats, Some(0));
        }
        let mut shape = self.shape();
        let times = match repeats {
            Operand::Scalar(times) => times.to_i64(),
            Operand::Tensor(times) if times.numel() == 1 && times.rank() <= 1 => {
                times.to_vec::<i64>()?[0]
            }
            Operand::Tensor(times) => {
                if times.rank() == 1 && times.numel() != shape[along] {
                    bail!(
                        Runtime,
                        "repeat_interleave: repeats must have the same size as input along dim, but got \
                         repeats.size(0) = {} and input.size({along}) = {}",
                        times.numel(),
                        shape[along]
                    );
                }
                let places = times.repeated_places()?.to_device(self.device())?;
                return self.index_select(along as i64, &places);
            }
        };
        check_repeats(&[times])?;
        // A new dimension, broadcast and merged: the gradient is a sum.
        let x = self.unsqueeze(along as i64 + 1)?;
        shape.insert(along + 1, times as usize);
        check_size("repeat_interleave", &shape, self.dtype())?;
        let x = x.expand_to("repeat_interleave", &shape)?;
        shape[along] *= times as usize;
        shape.remove(along + 1);
        x.reshape_to(&shape)
    }
}

fn check_repeats(times: &[i64]) -> Result<()> {
    match times.iter().find(|&&times| times < 0) {
        Some(wrong) => {
            bail!(Runtime, "repeat_interleave: repeats can not be negative, got {wrong}")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
