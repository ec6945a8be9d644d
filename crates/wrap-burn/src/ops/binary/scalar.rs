//! Arithmetic of a tensor and a number.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::gradient::partial;
use super::{Binary, BinaryOp, binary_name, check_dtype, on_bools};
use crate::bridge::{from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, Scalar};

/// A function of a tensor and a number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScalarOp {
    /// Which.
    pub kind: Binary,
    /// The number.
    pub scalar: Scalar,
    /// Whether the number is the left operand.
    pub reversed: bool,
}

impl ScalarOp {
    /// The number as a tensor, for gradients that need it as one.
    fn number(&self, like: &Tensor) -> Result<Tensor> {
        Tensor::full(&[], self.scalar, like.dtype(), like.device())
    }
}

#[typetag::serde]
impl Primitive for ScalarOp {
    fn name(&self) -> &'static str {
        binary_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_dtype(self.kind, inputs[0].dtype)?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        let kind = if x.dtype == DType::Bool { on_bools(self.kind) } else { self.kind };
        dispatch_binary!(kind, x.dtype, T => {
            let number = scalar_as::<T>(self.scalar, x.dtype);
            let data = if self.reversed {
                kernels::binary::scalar_binary(kind, number, x.view::<T>()?)?
            } else {
                kernels::binary::binary_scalar(kind, x.view::<T>()?, number)?
            };
            single(Value::from_vec_as(data, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        if self.reversed || target.dtype == DType::Bool {
            return Ok(false);
        }
        let zeros = kernels::Strides::from_elem(0, target.rank());
        dispatch_binary!(self.kind, target.dtype, T => {
            let number = [scalar_as::<T>(self.scalar, target.dtype)];
            let right = kernels::Strided { data: &number[..], shape: &target.shape, strides: &zeros, offset: 0 };
            kernels::binary::binary_into(self.kind, target.view_mut::<T>()?, inputs[0].view::<T>()?, right)?;
            Ok(true)
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        use Binary::*;
        type D = Dispatch;
        let x = inputs[0];
        let dtype = x.dtype;
        let prim = match (dtype.category(), self.kind, self.reversed) {
            (Category::Float, kind, false) => {
                let s = burn_std::Scalar::Float(self.scalar.to_f64());
                match kind {
                    Add => D::float_add_scalar(to_burn(x)?, s),
                    Sub => D::float_sub_scalar(to_burn(x)?, s),
                    Mul => D::float_mul_scalar(to_burn(x)?, s),
                    Div => D::float_div_scalar(to_burn(x)?, s),
                    Pow => D::float_powf_scalar(to_burn(x)?, s),
                    Remainder => D::float_remainder_scalar(to_burn(x)?, s),
                    FloorDiv => D::float_floor(D::float_div_scalar(to_burn(x)?, s)),
                    _ => return self.with_number(inputs, out, device),
                }
            }
            (Category::Int, Add | Sub | Mul, false) => {
                let s = burn_std::Scalar::Int(self.scalar.to_i64());
                match self.kind {
                    Add => D::int_add_scalar(to_burn(x)?, s),
                    Sub => D::int_sub_scalar(to_burn(x)?, s),
                    _ => D::int_mul_scalar(to_burn(x)?, s),
                }
            }
            (Category::Float, Sub, true) => {
                let s = burn_std::Scalar::Float(self.scalar.to_f64());
                D::float_add_scalar(D::float_neg(to_burn(x)?), s)
            }
            (Category::Float, Div, true) => {
                let s = burn_std::Scalar::Float(self.scalar.to_f64());
                D::float_mul_scalar(D::float_recip(to_burn(x)?), s)
            }
            (Category::Float, Add | Mul, true) => {
                return Self { reversed: false, ..*self }.run_gpu(inputs, out, device);
            }
            _ => return self.with_number(inputs, out, device),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        BinaryOp { kind: self.kind }.differentiable()
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        use Binary::*;
        match self.kind {
            Add | Sub | Mul | FloorDiv | TruncDiv => Saves::NONE,
            Div if !self.reversed => Saves::NONE,
            Remainder | Fmod if !self.reversed => Saves::NONE,
            _ => Saves { inputs: 1, outputs: 1 },
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        use Binary::*;
        let g = ctx.grad()?;
        let (x, y) = (&ctx.inputs[0], &ctx.outputs[0]);
        let scaled = |by: Scalar| g.with_scalar(Mul, by, false);
        let conj = match self.scalar {
            Scalar::Complex(re, im) => Scalar::Complex(re, -im),
            real => real,
        };
        let grad = match (self.kind, self.reversed) {
            (Add, _) | (Sub, false) | (Remainder | Fmod, false) => g.clone(),
            (Sub, true) => g.neg()?,
            (Mul, _) => scaled(conj)?,
            (Div, false) => g.with_scalar(Div, conj, false)?,
            (Pow, false) if self.scalar.to_f64() == 2.0 && !x.dtype().is_complex() => {
                g.mul(&x.mul_scalar(2.0)?)?
            }
            (Pow, false) if !x.dtype().is_complex() => match self.scalar.to_f64() {
                0.0 => g.mul_scalar(0.0)?,
                power => g.mul(&x.pow_scalar(power - 1.0)?.mul_scalar(power)?)?,
            },
            _ => {
                let number = self.number(x)?;
                if self.reversed {
                    partial(self.kind, 1, g, &number, x, y)?
                } else {
                    partial(self.kind, 0, g, x, &number, y)?
                }
            }
        };
        Ok(smallvec![Some(grad)])
    }
}

impl ScalarOp {
    /// On a GPU, by way of a tensor of one element.
    fn with_number(
        &self,
        inputs: &[&Value],
        out: &[Meta],
        device: Device,
    ) -> Result<Option<Values>> {
        let meta = Meta { shape: Default::default(), dtype: inputs[0].dtype };
        let number = crate::ops::create::full_value(&meta, self.scalar, device)?;
        let sides = if self.reversed { [&number, inputs[0]] } else { [inputs[0], &number] };
        BinaryOp { kind: self.kind }.run_gpu(&sides, out, device)
    }
}

fn scalar_as<T: crate::dtype::FromScalar>(scalar: Scalar, dtype: DType) -> T {
    if dtype == DType::Bool {
        T::from_scalar(Scalar::Bool(scalar.to_bool()))
    } else {
        T::from_scalar(scalar)
    }
}
