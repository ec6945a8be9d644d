//! Writing through a view: into zeros, which is its gradient, and into a copy.

use kernels::{Dims, Strides};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{Item, ViewOp};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Values, Vjp, apply1, one, single};
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// The gradient of a view: zeros in the viewed shape, with the incoming gradient added where the
/// view looks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewBackward {
    /// The view.
    pub op: ViewOp,
    /// The shape it looked at.
    pub shape: Dims,
}

#[typetag::serde]
impl Primitive for ViewBackward {
    fn name(&self) -> &'static str {
        "view_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(Meta { shape: self.shape.clone(), dtype: inputs[0].dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let grad = inputs[0];
        let base = crate::ops::create::zeros_host(&out[0])?;
        if !self.op.overlaps() {
            self.op.view(&base)?.assign(grad)?;
            return single(base);
        }
        // Several positions may add to one element: add them one by one, by storage position.
        let view = self.op.view(&base)?;
        let strides = [view.strides.clone()];
        let at: Vec<i64> = (0..view.numel())
            .map(|i| kernels::positions(i, &view.shape, &strides)[0] as i64 + view.offset as i64)
            .collect();
        let count = at.len();
        let at = Value::from_vec(at, smallvec![count] as Dims);
        let flat = base.reshaped(&[base.numel()]).expect("fresh memory is contiguous");
        let grad = grad.contiguous()?;
        let grad = grad.reshaped(&[count]).expect("contiguous");
        crate::ops::index::add_at(&flat, &at, &grad)?;
        single(base)
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if self.op.overlaps() {
            return Ok(None);
        }
        let base = crate::ops::create::full_value(&out[0], 0.0.into(), device)?;
        self.op.view(&base)?.assign(inputs[0])?;
        single(base).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let grad = ctx.grad()?.contiguous()?;
        Ok(smallvec![Some(grad.view_op(self.op.clone())?)])
    }
}

/// A copy of the first input in which the part a chain of views looks at is the second input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewScatter {
    /// The views, outermost first; none means everything.
    pub chain: Vec<ViewOp>,
}

impl ViewScatter {
    fn look(&self, value: &Value) -> Result<Value> {
        self.chain.iter().try_fold(value.clone(), |value, op| op.view(&value))
    }
}

#[typetag::serde]
impl Primitive for ViewScatter {
    fn name(&self) -> &'static str {
        "copy_slices"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let part = self.look(inputs[0])?;
        if part.shape != inputs[1].shape || part.dtype != inputs[1].dtype {
            bail!(
                Runtime,
                "scatter: expected a source of shape {:?} and dtype {}, got shape {:?} and dtype {}",
                part.shape,
                part.dtype,
                inputs[1].shape,
                inputs[1].dtype
            );
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        let base = inputs[0].copied()?;
        self.look(&base)?.assign(inputs[1])?;
        single(base)
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], _device: Device) -> Result<Option<Values>> {
        self.run(inputs, out).map(Some)
    }

    fn widens(&self) -> bool {
        false
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        // A view of the whole storage wants a gradient that fills one.
        let grad = &ctx.grad()?.contiguous()?;
        let source = &ctx.inputs[1];
        let base = if ctx.needs[0] {
            let zeros = Tensor::zeros(&source.shape(), source.dtype(), source.device())?;
            Some(apply1(self, &[grad, &zeros.to_dtype(grad.dtype())?])?)
        } else {
            None
        };
        let part = if ctx.needs[1] {
            let mut part = grad.clone();
            for op in &self.chain {
                part = part.view_op(op.clone())?;
            }
            Some(part)
        } else {
            None
        };
        Ok(smallvec![base, part])
    }
}

impl Tensor {
    /// A copy of this tensor in which what a view shows is `source`.
    fn view_scatter(&self, source: &Tensor, view: ViewOp) -> Result<Tensor> {
        let source = source.to_dtype(self.dtype())?;
        apply1(&ViewScatter { chain: vec![view] }, &[self, &source])
    }

    /// A copy in which any geometry over its memory shows `source`.
    pub fn as_strided_scatter(
        &self,
        source: &Tensor,
        size: &[usize],
        stride: &[isize],
        offset: Option<usize>,
    ) -> Result<Tensor> {
        let view = ViewOp::AsStrided {
            size: Dims::from_slice(size),
            stride: Strides::from_slice(stride),
            offset: offset.unwrap_or_else(|| self.value().offset),
        };
        self.contiguous()?.view_scatter(source, view)
    }

    /// A copy in which one position of a dimension is replaced.
    pub fn select_scatter(&self, source: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        let shape = self.shape();
        let dim = wrap_dim("select_scatter", dim, shape.len())?;
        let size = shape.get(dim).copied().unwrap_or(0) as i64;
        if index < -size || index >= size {
            bail!(
                Index,
                "select_scatter: index {index} is out of bounds for dimension {dim} with size {size}"
            );
        }
        let at = if index < 0 { index + size } else { index } as usize;
        let mut items: Vec<Item> =
            shape[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Select(at));
        self.view_scatter(source, ViewOp::Index { items })
    }

    /// A copy in which `len` positions of a dimension, `step` apart from `start`, are replaced.
    pub fn slice_scatter(
        &self,
        source: &Tensor,
        dim: i64,
        start: i64,
        len: i64,
        step: i64,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let dim = wrap_dim("slice_scatter", dim, shape.len())?;
        let size = shape.get(dim).copied().unwrap_or(0) as i64;
        let last = start.saturating_add((len.saturating_sub(1)).saturating_mul(step));
        let inside = start >= 0
            && len >= 0
            && step > 0
            && if len == 0 { start <= size } else { last < size };
        if !inside {
            bail!(
                Index,
                "slice_scatter: {len} positions from {start}, {step} apart, do not fit dimension \
                 {dim} with size {size}"
            );
        }
        let mut items: Vec<Item> =
            shape[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Slice { start: start as usize, len: len as usize, step: step as usize });
        self.view_scatter(source, ViewOp::Index { items })
    }

    /// A copy in which a diagonal is replaced.
    pub fn diagonal_scatter(
        &self,
        source: &Tensor,
        offset: i64,
        dim1: i64,
        dim2: i64,
    ) -> Result<Tensor> {
        let rank = self.rank();
        let dim1 = wrap_dim("diagonal_scatter", dim1, rank)?;
        let dim2 = wrap_dim("diagonal_scatter", dim2, rank)?;
        if dim1 == dim2 || rank < 2 {
            bail!(Runtime, "diagonal_scatter: dimensions cannot be identical {dim1}, {dim2}");
        }
        self.view_scatter(source, ViewOp::Diagonal { offset, dim1, dim2 })
    }
}
