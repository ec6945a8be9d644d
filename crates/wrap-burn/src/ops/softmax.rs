//! Exponentials that sum to one, and their logarithms.

use burn_backend::ops::{ActivationOps, FloatTensorOps};
use burn_dispatch::Dispatch;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::unary::Unary;
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

fn name(log: bool) -> &'static str {
    if log { "log_softmax" } else { "softmax" }
}

/// `exp(x) / sum(exp(x))` along a dimension, or its logarithm.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SoftmaxOp {
    /// Along which dimension.
    pub dim: usize,
    /// The logarithm.
    pub log: bool,
}

#[typetag::serde]
impl Primitive for SoftmaxOp {
    fn name(&self) -> &'static str {
        name(self.log)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let dtype = inputs[0].dtype;
        if !dtype.is_float() {
            bail!(
                Runtime,
                "{}: not implemented for {dtype}; hint: use .float() or dtype=",
                self.name()
            );
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!(self.name(), inputs[0].dtype, floats, T => single(Value::from_vec_as(
            kernels::softmax::softmax(inputs[0].view::<T>()?, self.dim, self.log),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if inputs[0].rank() == 0 || inputs[0].numel() == 0 {
            return Ok(None);
        }
        let x = to_burn(inputs[0])?;
        let prim = if self.log {
            Dispatch::log_softmax(x, self.dim)
        } else {
            Dispatch::softmax(x, self.dim)
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::OUTPUT
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let op = SoftmaxBackwardOp { dim: self.dim, log: self.log };
        Ok(smallvec![Some(apply1(&op, &[ctx.grad()?, &ctx.outputs[0]])?)])
    }
}

/// The gradient of [`SoftmaxOp`] from that of its result, the second input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SoftmaxBackwardOp {
    /// Along which dimension.
    pub dim: usize,
    /// The logarithm's.
    pub log: bool,
}

#[typetag::serde]
impl Primitive for SoftmaxBackwardOp {
    fn name(&self) -> &'static str {
        if self.log { "log_softmax_backward" } else { "softmax_backward" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (g, y) = (inputs[0].to_meta(), inputs[1].to_meta());
        if g != y {
            bail!(
                Runtime,
                "{}: expected a gradient of shape {:?} and dtype {}, got {:?} and {}",
                self.name(),
                y.shape,
                y.dtype,
                g.shape,
                g.dtype
            );
        }
        one(y)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => single(Value::from_vec_as(
            kernels::softmax::softmax_backward(inputs[0].view::<T>()?, inputs[1].view::<T>()?, self.dim, self.log),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        if inputs[1].rank() == 0 || inputs[1].numel() == 0 {
            return Ok(None);
        }
        let (g, y) = (to_burn(inputs[0])?, to_burn(inputs[1])?);
        let prim = if self.log {
            let sum = D::float_sum_dim(g.clone(), self.dim);
            D::float_sub(g, D::float_mul(D::float_exp(y), sum))
        } else {
            let sum = D::float_sum_dim(D::float_mul(g.clone(), y.clone()), self.dim);
            D::float_mul(y, D::float_sub(g, sum))
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (h, g, y) = (ctx.grad()?, &ctx.inputs[0], &ctx.inputs[1]);
        if y.rank() == 0 {
            return Ok(smallvec![Some(h.mul_scalar(0.0)?), Some(h.mul_scalar(0.0)?)]);
        }
        let sum = |x: &Tensor| x.sum_dims(&[self.dim], true);
        let (from_g, from_y) = if self.log {
            let share = y.unary(Unary::Exp)?;
            let from_g = h.sub(&sum(&h.mul(&share)?)?)?;
            (from_g, h.mul(&share)?.mul(&sum(g)?)?.neg()?)
        } else {
            let through = sum(&h.mul(y)?)?;
            let from_g = y.mul(&h.sub(&through)?)?;
            (from_g, h.mul(&g.sub(&sum(&g.mul(y)?)?)?)?.sub(&g.mul(&through)?)?)
        };
        Ok(smallvec![Some(from_g), Some(from_y)])
    }
}

impl Tensor {
    fn softmax_of(&self, dim: i64, dtype: Option<DType>, log: bool) -> Result<Tensor> {
        let dim = wrap_dim(name(log), dim, self.rank())?;
        let x = match dtype {
            Some(dtype) => self.to_dtype(dtype)?,
            None => self.clone(),
        };
        apply1(&SoftmaxOp { dim, log }, &[&x])
    }

    /// `exp(x) / sum(exp(x))` along a dimension, computed in `dtype` if one is given.
    pub fn softmax(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        self.softmax_of(dim, dtype, false)
    }

    /// The logarithm of [`softmax`](Tensor::softmax), without loss of digits.
    pub fn log_softmax(&self, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        self.softmax_of(dim, dtype, true)
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::linalg::tests::{gradcheck, noise};
    use crate::{DType, Tensor};

    #[test]
    fn gradients() {
        let x = noise(&[3, 4, 2], DType::F64, 1);
        for dim in 0..3 {
            gradcheck("softmax", std::slice::from_ref(&x), true, &|x| {
                Ok(vec![x[0].softmax(dim, None)?])
            });
            gradcheck("log_softmax", std::slice::from_ref(&x), true, &|x| {
                Ok(vec![x[0].log_softmax(dim, None)?])
            });
        }
        let scalar = noise(&[], DType::F64, 2);
        gradcheck("softmax of a scalar", &[scalar], true, &|x| Ok(vec![x[0].softmax(0, None)?]));
    }

    #[test]
    fn rows_sum_to_one_and_so_do_halves() {
        let x = Tensor::from_vec((0..12).map(|i| i as f32 / 3.0).collect(), &[3, 4]).unwrap();
        for dim in [0, -1] {
            let sums = x.softmax(dim, None).unwrap().sum(Some(&[dim]), false).unwrap();
            assert!(sums.to_vec::<f64>().unwrap().iter().all(|sum| (sum - 1.0).abs() < 1e-6));
        }
        let half = x.to_dtype(DType::BF16).unwrap().softmax(1, None).unwrap();
        assert_eq!(half.dtype(), DType::BF16);
        let whole = Tensor::from_vec(vec![1i64, 2], &[2]).unwrap();
        assert!(whole.softmax(0, None).is_err());
        assert_eq!(whole.log_softmax(0, Some(DType::F64)).unwrap().dtype(), DType::F64);
    }
}
