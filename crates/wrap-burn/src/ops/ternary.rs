//! Choice and interpolation: functions of three tensors.

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{self, from_burn, to_burn};
use crate::by_kind;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::{result_type, same_device};
use crate::shape::{broadcast, broadcast_strides};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// `a` where the condition holds, `b` elsewhere.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WhereOp;

#[typetag::serde]
impl Primitive for WhereOp {
    fn name(&self) -> &'static str {
        "where"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (condition, a, b) = (inputs[0], inputs[1], inputs[2]);
        if condition.dtype != DType::Bool {
            bail!(
                Runtime,
                "where: expected condition to be a boolean tensor, but got a tensor with dtype {}",
                condition.dtype
            );
        }
        if a.dtype != b.dtype {
            bail!(
                Runtime,
                "where: expected both sides to have one dtype, got {} and {}",
                a.dtype,
                b.dtype
            );
        }
        let sides = broadcast("where", &a.shape, &b.shape)?;
        one(Meta { shape: broadcast("where", &condition.shape, &sides)?, dtype: a.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let shape = &out[0].shape;
        let strides: SmallVec<[_; 3]> =
            inputs.iter().map(|v| broadcast_strides(&v.shape, &v.strides, shape)).collect();
        let condition = inputs[0].view_as::<u8>(shape, &strides[0])?;
        crate::with_width!(out[0].dtype, T => {
            let a = inputs[1].view_as::<T>(shape, &strides[1])?;
            let b = inputs[2].view_as::<T>(shape, &strides[2])?;
            single(Value::from_vec_as(kernels::ternary::select(condition, a, b), shape.clone(), out[0].dtype))
        })
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let dtype = out[0].dtype;
        let shape = &out[0].shape;
        let condition = bridge::expand(to_burn(inputs[0])?, DType::Bool, shape);
        let a = bridge::expand(to_burn(inputs[1])?, dtype, shape);
        let b = bridge::expand(to_burn(inputs[2])?, dtype, shape);
        let prim =
            by_kind!(dtype, float_mask_where / int_mask_where / bool_mask_where(b, condition, a));
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let condition = &ctx.inputs[0];
        let zero = Tensor::full(&[], 0.0, g.dtype(), g.device())?;
        let side = |at: usize| -> Result<Option<Tensor>> {
            if !ctx.needs[at] {
                return Ok(None);
            }
            let grad =
                if at == 1 { condition.where_(g, &zero)? } else { condition.where_(&zero, g)? };
            Ok(Some(grad.sum_to(&ctx.inputs[at].shape())?))
        };
        Ok(smallvec![None, side(1)?, side(2)?])
    }
}

/// Elements held between bounds given as tensors. Inputs: `x`, then the bounds that exist.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ClampOp {
    /// Whether a lower bound is given.
    pub low: bool,
    /// Whether an upper bound is given.
    pub high: bool,
    /// Whether the bounds are numbers: where an element equals one, no gradient flows. Of a bound
    /// that is a tensor each of the two then gets half.
    pub numbers: bool,
}

#[typetag::serde]
impl Primitive for ClampOp {
    fn name(&self) -> &'static str {
        "clamp"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let dtype = inputs[0].dtype;
        if dtype.is_complex() || dtype == DType::Bool {
            bail!(Runtime, "clamp: not implemented for {dtype}");
        }
        let mut shape = inputs[0].shape.clone();
        for bound in &inputs[1..] {
            if bound.dtype != dtype {
                bail!(Runtime, "clamp: expected bounds of dtype {dtype}, got {}", bound.dtype);
            }
            shape = broadcast("clamp", &shape, &bound.shape)?;
        }
        one(Meta { shape, dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let shape = &out[0].shape;
        let strides: SmallVec<[_; 3]> =
            inputs.iter().map(|v| broadcast_strides(&v.shape, &v.strides, shape)).collect();
        crate::with_dtype!("clamp", inputs[0].dtype, reals, T => {
            let views: SmallVec<[_; 3]> = inputs
                .iter()
                .zip(&strides)
                .map(|(value, strides)| value.view_as::<T>(shape, strides))
                .collect::<Result<_>>()?;
            let low = self.low.then(|| views[1]);
            let high = self.high.then(|| views[1 + self.low as usize]);
            single(Value::from_vec_as(kernels::ternary::clamp(views[0], low, high), shape.clone(), out[0].dtype))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        use crate::ops::binary::{Binary, BinaryOp};
        if inputs[0].dtype.category() != Category::Float {
            return Ok(None);
        }
        let mut value = inputs[0].clone();
        let mut bound = 1;
        for (given, kind) in [(self.low, Binary::Maximum), (self.high, Binary::Minimum)] {
            if given {
                let meta = Meta {
                    shape: broadcast("clamp", &value.shape, &inputs[bound].shape)?,
                    dtype: out[0].dtype,
                };
                let op = BinaryOp { kind };
                let Some(mut values) = op.run_gpu(&[&value, inputs[bound]], &[meta], device)?
                else {
                    return Ok(None);
                };
                value = values.remove(0);
                bound += 1;
            }
        }
        let prim = bridge::expand(to_burn(&value)?, value.dtype, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let x = &ctx.inputs[0];
        let low = self.low.then(|| &ctx.inputs[1]);
        let high = self.high.then(|| &ctx.inputs[1 + self.low as usize]);
        let mut grads: Grads = SmallVec::new();
        // How much of a gradient the larger of two gets.
        let above = |a: &Tensor, b: &Tensor| -> Result<Tensor> {
            let wins = a.gt(b)?.to_dtype(g.dtype())?;
            if self.numbers {
                return Ok(wins);
            }
            wins.add(&a.eq(b)?.to_dtype(g.dtype())?.mul_scalar(0.5)?)
        };
        // The result is the smaller of `high` and `raised`, which is the larger of `x` and `low`.
        let raised = match low {
            Some(low) => x.binary(crate::ops::binary::Binary::Maximum, low)?,
            None => x.clone(),
        };
        let inner = match high {
            Some(high) => g.mul(&above(high, &raised)?)?,
            None => g.clone(),
        };
        let own = match low {
            Some(low) => inner.mul(&above(x, low)?)?,
            None => inner.clone(),
        };
        grads.push(Some(own.sum_to(&x.shape())?));
        if let Some(low) = low {
            grads.push(Some(inner.mul(&above(low, x)?)?.sum_to(&low.shape())?));
        }
        if let Some(high) = high {
            grads.push(Some(g.mul(&above(&raised, high)?)?.sum_to(&high.shape())?));
        }
        Ok(grads)
    }
}

impl Tensor {
    /// `a` where this bool tensor holds, `b` elsewhere; both promoted to one dtype.
    pub fn where_(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let (a, b) = same_device("where", a, b)?;
        let dtype = if a.dtype() == b.dtype() { a.dtype() } else { result_type(&a, &b) };
        let (condition, _) = same_device("where", self, &a)?;
        apply1(&WhereOp, &[&condition, &a.to_dtype(dtype)?, &b.to_dtype(dtype)?])
    }

    /// Elements held between bounds.
    pub fn clamp(&self, low: Option<&Tensor>, high: Option<&Tensor>) -> Result<Tensor> {
        self.clamp_between(low, high, false)
    }

    /// [`clamp`](Tensor::clamp), where the bounds may stand for numbers (see [`ClampOp`]).
    pub(crate) fn clamp_between(
        &self,
        low: Option<&Tensor>,
        high: Option<&Tensor>,
        numbers: bool,
    ) -> Result<Tensor> {
        if low.is_none() && high.is_none() {
            bail!(Runtime, "clamp: at least one of 'min' or 'max' must not be None");
        }
        let mut dtype = self.dtype();
        for bound in [low, high].into_iter().flatten() {
            let zero = bound.rank() == 0;
            dtype = crate::ops::binary::promoted(dtype, self.rank() == 0, bound.dtype(), zero);
        }
        let mut inputs: SmallVec<[Tensor; 3]> = smallvec![self.to_dtype(dtype)?];
        for bound in [low, high].into_iter().flatten() {
            inputs.push(same_device("clamp", self, bound)?.1.to_dtype(dtype)?);
        }
        let inputs: SmallVec<[&Tensor; 3]> = inputs.iter().collect();
        apply1(&ClampOp { low: low.is_some(), high: high.is_some(), numbers }, &inputs)
    }

    /// A copy with `value` (0-d) where the mask holds.
    pub fn masked_fill(&self, mask: &Tensor, value: &Tensor) -> Result<Tensor> {
        if mask.dtype() != DType::Bool {
            bail!(
                Runtime,
                "masked_fill: only supports boolean masks, but got mask with dtype {}",
                mask.dtype()
            );
        }
        if value.rank() != 0 {
            bail!(
                Runtime,
                "masked_fill: only supports a 0-dimensional value tensor, but got tensor with {} \
                 dimension(s)",
                value.rank()
            );
        }
        let dtype = self.dtype();
        if value.dtype().category() > dtype.category() {
            bail!(
                Runtime,
                "masked_fill: value of dtype {} cannot be converted to {dtype} without overflow",
                value.dtype()
            );
        }
        let value = value.to_dtype(dtype)?.to_device(self.device())?;
        apply1(&WhereOp, &[mask, &value, self])
    }
}
