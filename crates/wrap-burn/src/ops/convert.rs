//! Changing dtype, device and layout.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Values, Vjp, apply1, cast_host, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result};

/// The same numbers in another dtype.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CastOp {
    /// The dtype wanted.
    pub dtype: DType,
}

#[typetag::serde]
impl Primitive for CastOp {
    fn name(&self) -> &'static str {
        "to"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        crate::device::check_dtype("to", inputs[0].device(), self.dtype)?;
        one(Meta { shape: inputs[0].shape.clone(), dtype: self.dtype })
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(cast_host(inputs[0], self.dtype)?)
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let prim = bridge::to_burn(inputs[0])?;
        let prim = bridge::cast(prim, inputs[0].dtype, self.dtype, device)?;
        single(bridge::from_burn(prim, &out[0], device)?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (grad, dtype) = (ctx.grad()?, ctx.inputs[0].dtype());
        if grad.dtype().is_complex() && !dtype.is_complex() {
            return Ok(smallvec![Some(grad.real()?.to_dtype(dtype)?)]);
        }
        Ok(smallvec![Some(grad.to_dtype(dtype)?)])
    }

    fn differentiable(&self) -> bool {
        self.dtype.is_differentiable()
    }
}

/// The same elements on another device.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct MoveOp {
    /// The device wanted.
    pub device: Device,
}

impl MoveOp {
    fn moved(&self, value: &Value) -> Result<Value> {
        value.to_device(self.device)
    }
}

#[typetag::serde]
impl Primitive for MoveOp {
    fn name(&self) -> &'static str {
        "to_copy"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(self.moved(inputs[0])?)
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], _out: &[Meta], _device: Device) -> Result<Option<Values>> {
        single(self.moved(inputs[0])?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(ctx.grad()?.to_device(ctx.inputs[0].device())?)])
    }
}

/// A row-major copy in fresh memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CloneOp;

#[typetag::serde]
impl Primitive for CloneOp {
    fn name(&self) -> &'static str {
        "clone"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(inputs[0].copied()?)
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], _out: &[Meta], _device: Device) -> Result<Option<Values>> {
        single(inputs[0].copied()?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(ctx.grad()?.clone())])
    }
}

impl Tensor {
    /// The same numbers in another dtype; itself where it has that dtype.
    pub fn to_dtype(&self, dtype: DType) -> Result<Tensor> {
        if self.dtype() == dtype {
            return Ok(self.clone());
        }
        apply1(&CastOp { dtype }, &[self])
    }

    /// The same elements on another device; itself where it is there.
    pub fn to_device(&self, device: Device) -> Result<Tensor> {
        if self.device() == device {
            return Ok(self.clone());
        }
        crate::device::require(device)?;
        apply1(&MoveOp { device }, &[self])
    }

    /// A row-major tensor: itself where it is one.
    pub fn contiguous(&self) -> Result<Tensor> {
        if self.read().is_contiguous() {
            return Ok(self.clone());
        }
        self.deep_copy()
    }

    /// A row-major copy in fresh memory (`clone()` in Python).
    pub fn deep_copy(&self) -> Result<Tensor> {
        apply1(&CloneOp, &[self])
    }

    /// Writes `source`, converted and broadcast, over this tensor's elements.
    pub fn copy_from(&self, source: &Tensor) -> Result<()> {
        crate::autograd::copy(self, source)
    }
}
