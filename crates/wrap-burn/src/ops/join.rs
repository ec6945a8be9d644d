//! Tensors put together or turned round: results with memory of their own.

use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{from_burn, to_burn};
use crate::by_kind;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Values, Vjp, apply1, one, single};
use crate::shape::{wrap_dim, wrap_dims};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// Tensors one after the other along a dimension.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CatOp {
    /// Along which dimension.
    pub dim: usize,
}

#[typetag::serde]
impl Primitive for CatOp {
    fn name(&self) -> &'static str {
        "cat"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let first = inputs[0];
        let mut shape = first.shape.clone();
        for (at, value) in inputs.iter().enumerate().skip(1) {
            if value.dtype != first.dtype {
                bail!(
                    Runtime,
                    "cat: expected tensors of one dtype, got {} and {}",
                    first.dtype,
                    value.dtype
                );
            }
            let fits = value.rank() == shape.len()
                && (0..shape.len()).all(|d| d == self.dim || value.shape[d] == first.shape[d]);
            if !fits {
                bail!(
                    Runtime,
                    "cat: sizes of tensors must match except in dimension {}: expected {:?} but got \
                     {:?} for tensor number {at} in the list",
                    self.dim,
                    first.shape,
                    value.shape
                );
            }
            shape[self.dim] += value.shape[self.dim];
        }
        one(Meta { shape, dtype: first.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_width!(out[0].dtype, T => {
            let parts: Vec<_> = inputs.iter().map(|value| value.view::<T>()).collect::<Result<_>>()?;
            single(Value::from_vec_as(
                kernels::copy::cat(&parts, self.dim),
                out[0].shape.clone(),
                out[0].dtype,
            ))
        })
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let parts: Vec<_> = inputs
            .iter()
            .filter(|value| value.numel() > 0)
            .map(|value| to_burn(value))
            .collect::<Result<_>>()?;
        if parts.is_empty() {
            return Ok(None);
        }
        let prim = by_kind!(out[0].dtype, float_cat / int_cat / bool_cat(parts, self.dim));
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let mut start = 0;
        ctx.inputs
            .iter()
            .zip(ctx.needs)
            .map(|(input, &need)| {
                let len = input.shape()[self.dim];
                start += len;
                need.then(|| g.slice(self.dim, start - len, len, 1)).transpose()
            })
            .collect()
    }
}

/// Dimensions read backwards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlipOp {
    /// Which dimensions.
    pub dims: Dims,
}

#[typetag::serde]
impl Primitive for FlipOp {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_width!(out[0].dtype, T => single(Value::from_vec_as(
            kernels::copy::flip(inputs[0].view::<T>()?, &self.dims),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let prim = to_burn(inputs[0])?;
        let prim = by_kind!(out[0].dtype, float_flip / int_flip / bool_flip(prim, &self.dims));
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(apply1(self, &[ctx.grad()?])?)])
    }
}

/// A triangle of each matrix, zeros elsewhere.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct TriangleOp {
    /// The upper triangle rather than the lower.
    pub upper: bool,
    /// Which diagonal bounds it.
    pub diagonal: i64,
}

#[typetag::serde]
impl Primitive for TriangleOp {
    fn name(&self) -> &'static str {
        if self.upper { "triu" } else { "tril" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        if inputs[0].rank() < 2 {
            bail!(
                Runtime,
                "{}: input tensor must have at least 2 dimensions, got shape {:?}",
                self.name(),
                inputs[0].shape
            );
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_width!(out[0].dtype, T => {
            let view = inputs[0].view::<T>()?;
            let data = if self.upper {
                kernels::copy::triu(view, self.diagonal)
            } else {
                kernels::copy::tril(view, self.diagonal)
            };
            single(Value::from_vec_as(data, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn widens(&self) -> bool {
        false
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(apply1(self, &[ctx.grad()?])?)])
    }
}

impl Tensor {
    /// Tensors one after the other along a dimension, promoted to one dtype.
    pub fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let Some(first) = tensors.first() else {
            bail!(Value, "cat: expected a non-empty list of Tensors");
        };
        if let Some(at) = tensors.iter().position(|tensor| tensor.rank() == 0) {
            bail!(
                Runtime,
                "cat: zero-dimensional tensor (at position {at}) cannot be concatenated"
            );
        }
        let mut dtype = first.dtype();
        for tensor in &tensors[1..] {
            dtype = dtype.promote(tensor.dtype());
        }
        // An empty 1-d tensor fits anything, as in PyTorch.
        let shaped = |tensor: &&Tensor| tensor.shape().as_slice() != [0];
        let rank = tensors.iter().find(shaped).map_or(1, |tensor| tensor.rank());
        let dim = wrap_dim("cat", dim, rank)?;
        let parts: SmallVec<[Tensor; 4]> = tensors
            .iter()
            .filter(|tensor| rank == 1 || shaped(tensor))
            .map(|tensor| tensor.to_dtype(dtype))
            .collect::<Result<_>>()?;
        let parts: SmallVec<[&Tensor; 4]> = parts.iter().collect();
        apply1(&CatOp { dim }, &parts)
    }

    /// Tensors of one shape along a new dimension.
    pub fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let Some(first) = tensors.first() else {
            bail!(Runtime, "stack: expected a non-empty TensorList");
        };
        let shape = first.shape();
        let dim = wrap_dim("stack", dim, shape.len() + 1)? as i64;
        let mut parts = Vec::with_capacity(tensors.len());
        for (at, tensor) in tensors.iter().enumerate() {
            if tensor.shape() != shape {
                bail!(
                    Runtime,
                    "stack: expects each tensor to be equal size, but got {shape:?} at entry 0 and \
                     {:?} at entry {at}",
                    tensor.shape()
                );
            }
            parts.push(tensor.unsqueeze(dim)?);
        }
        Tensor::cat(&parts, dim)
    }

    /// Dimensions read backwards.
    pub fn flip(&self, dims: &[i64]) -> Result<Tensor> {
        let rank = self.rank();
        let mut dims = wrap_dims("flip", dims, rank)?;
        dims.retain(|d| *d < rank);
        apply1(&FlipOp { dims }, &[self])
    }

    /// The lower triangle of each matrix.
    pub fn tril(&self, diagonal: i64) -> Result<Tensor> {
        apply1(&TriangleOp { upper: false, diagonal }, &[self])
    }

    /// The upper triangle of each matrix.
    pub fn triu(&self, diagonal: i64) -> Result<Tensor> {
        apply1(&TriangleOp { upper: true, diagonal }, &[self])
    }
}
