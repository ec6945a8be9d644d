//! Fused sums of three tensors: interpolation, and a product or quotient added.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::{Operand, promoted, same_device};
use crate::shape::{broadcast, broadcast_strides};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, FromScalar, Result, Scalar, bail};

/// The shape three tensors of one dtype broadcast to.
fn blended(op: &str, inputs: &[&Value]) -> Result<Meta> {
    let dtype = inputs[0].dtype;
    let mut shape = inputs[0].shape.clone();
    for input in &inputs[1..] {
        if input.dtype != dtype {
            bail!(Runtime, "{op}: expected dtype {dtype}, but got dtype {}", input.dtype);
        }
        shape = broadcast(op, &shape, &input.shape)?;
    }
    Ok(Meta { shape, dtype })
}

/// Three host values as the kernels read them, in the shape of the result.
macro_rules! on_views {
    ($inputs:expr, $out:expr, $T:ty, |$a:ident, $b:ident, $c:ident| $body:expr) => {{
        let shape = &$out.shape;
        let strides: SmallVec<[_; 3]> = $inputs
            .iter()
            .map(|value| broadcast_strides(&value.shape, &value.strides, shape))
            .collect();
        let $a = $inputs[0].view_as::<$T>(shape, &strides[0])?;
        let $b = $inputs[1].view_as::<$T>(shape, &strides[1])?;
        let $c = $inputs[2].view_as::<$T>(shape, &strides[2])?;
        Ok(Value::from_vec_as($body, shape.clone(), $out.dtype))
    }};
}

/// Three values in burn's hands, in the shape of the result.
fn expanded(inputs: &[&Value], out: &Meta) -> Result<[bridge::Prim; 3]> {
    let side = |at: usize| -> Result<bridge::Prim> {
        Ok(bridge::expand(to_burn(inputs[at])?, out.dtype, &out.shape))
    };
    Ok([side(0)?, side(1)?, side(2)?])
}

/// The way from the first tensor to the second, the third saying how far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LerpOp;

#[typetag::serde]
impl Primitive for LerpOp {
    fn name(&self) -> &'static str {
        "lerp"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        if !inputs[0].dtype.is_differentiable() {
            bail!(Runtime, "lerp: not implemented for {}; hint: .float() first", inputs[0].dtype);
        }
        one(blended("lerp", inputs)?)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let out = &out[0];
        single(match out.dtype.category() {
            Category::Complex => crate::with_dtype!("lerp", out.dtype, complexes, T => {
                on_views!(inputs, out, T, |a, b, weight| kernels::ternary::lerp(a, b, weight))
            })?,
            _ => crate::with_dtype!("lerp", out.dtype, floats, T => {
                on_views!(inputs, out, T, |a, b, weight| kernels::ternary::lerp(a, b, weight))
            })?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        if !out[0].dtype.is_float() {
            return Ok(None);
        }
        let [a, b, weight] = expanded(inputs, &out[0])?;
        // From the nearer end, so that both ends are met exactly.
        let span = D::float_sub(b.clone(), a.clone());
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let is_near = D::float_lower_elem(D::float_abs(weight.clone()), 0.5f64.into(), store);
        let near = D::float_add(a, D::float_mul(weight.clone(), span.clone()));
        let left = D::float_add_scalar(D::float_neg(weight), 1.0f64.into());
        let far = D::float_sub(b, D::float_mul(span, left));
        single(from_burn(D::float_mask_where(far, is_near, near), &out[0], device)?).map(Some)
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        // The ends' gradients read the weight only, the weight's reads the ends.
        Saves::inputs(if needs[2] { 7 } else { 4 })
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let [a, b, weight] = [&ctx.inputs[0], &ctx.inputs[1], &ctx.inputs[2]];
        let grad = |at: usize| -> Result<Option<Tensor>> {
            if !ctx.needs[at] {
                return Ok(None);
            }
            let slope = match at {
                0 => weight.neg()?.add_scalar(1.0)?,
                1 => weight.clone(),
                _ => b.sub(a)?,
            };
            Ok(Some(g.mul(&slope.conj()?)?.sum_to(&ctx.inputs[at].shape())?))
        };
        Ok(smallvec![grad(0)?, grad(1)?, grad(2)?])
    }
}

/// `a + value * b * c`, or `a + value * b / c`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AddProductOp {
    /// A quotient rather than a product.
    pub divide: bool,
    /// What it is multiplied by.
    pub value: Scalar,
}

#[typetag::serde]
impl Primitive for AddProductOp {
    fn name(&self) -> &'static str {
        if self.divide { "addcdiv" } else { "addcmul" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (name, dtype) = (self.name(), inputs[0].dtype);
        if dtype == DType::Bool || (self.divide && dtype.is_int()) {
            bail!(
                Runtime,
                "{name}: not implemented for {dtype}; hint: use input + value * tensor1 / tensor2, or \
                 .float() first"
            );
        }
        if self.value.category() > dtype.category() {
            bail!(
                Runtime,
                "{name}: for {dtype} tensors, argument value must not be {:?}",
                self.value
            );
        }
        one(blended(name, inputs)?)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (name, out) = (self.name(), &out[0]);
        macro_rules! fused {
            ($T:ty, $kernel:ident) => {{
                let value = <$T>::from_scalar(self.value);
                on_views!(inputs, out, $T, |a, b, c| kernels::ternary::$kernel(a, b, c, value))
            }};
        }
        single(match (out.dtype.category(), self.divide) {
            (Category::Complex, false) => {
                crate::with_dtype!(name, out.dtype, complexes, T => fused!(T, addcmul))?
            }
            (Category::Complex, true) => {
                crate::with_dtype!(name, out.dtype, complexes, T => fused!(T, addcdiv))?
            }
            (_, false) => crate::with_dtype!(name, out.dtype, reals, T => fused!(T, addcmul))?,
            (_, true) => crate::with_dtype!(name, out.dtype, floats, T => fused!(T, addcdiv))?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        if !out[0].dtype.is_float() {
            return Ok(None);
        }
        let [a, b, c] = expanded(inputs, &out[0])?;
        let b = D::float_mul_scalar(b, self.value.to_f64().into());
        let term = if self.divide { D::float_div(b, c) } else { D::float_mul(b, c) };
        single(from_burn(D::float_add(a, term), &out[0], device)?).map(Some)
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        // The numerator's gradient reads the divisor only; a divisor's reads both.
        let (b, c) = (needs[1] as u32, needs[2] as u32);
        let divisor = if self.divide { b | c } else { b };
        Saves::inputs((c << 1) | (divisor << 2))
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let [b, c] = [&ctx.inputs[1], &ctx.inputs[2]];
        let grad = |at: usize| -> Result<Option<Tensor>> {
            if !ctx.needs[at] {
                return Ok(None);
            }
            let slope = match (at, self.divide) {
                (0, _) => return Ok(Some(g.sum_to(&ctx.inputs[0].shape())?)),
                (1, false) => c.mul_scalar(self.value)?,
                (1, true) => c.with_scalar(crate::ops::binary::Binary::Div, self.value, true)?,
                (_, false) => b.mul_scalar(self.value)?,
                (_, true) => b.div(&c.square()?)?.mul_scalar(self.value)?.neg()?,
            };
            Ok(Some(g.mul(&slope.conj()?)?.sum_to(&ctx.inputs[at].shape())?))
        };
        Ok(smallvec![grad(0)?, grad(1)?, grad(2)?])
    }
}

/// Three tensors promoted to one dtype on one device.
fn matched(op: &str, tensors: [&Tensor; 3]) -> Result<[Tensor; 3]> {
    let [a, b, c] = tensors;
    let mut dtype = a.dtype();
    let mut zero = a.rank() == 0;
    for other in [b, c] {
        dtype = promoted(dtype, zero, other.dtype(), other.rank() == 0);
        zero &= other.rank() == 0;
    }
    let (a, b) = same_device(op, a, b)?;
    let (a, c) = same_device(op, &a, c)?;
    let (b, c) = same_device(op, &b, &c)?;
    Ok([a.to_dtype(dtype)?, b.to_dtype(dtype)?, c.to_dtype(dtype)?])
}

impl Tensor {
    /// How far from `self` to `end`, as a tensor of the same dtype and device.
    fn lerp_weight(&self, end: &Tensor, weight: &Operand) -> Result<Tensor> {
        if end.dtype() != self.dtype() {
            bail!(
                Runtime,
                "lerp: expected dtype {} for `end` but got dtype {}",
                self.dtype(),
                end.dtype()
            );
        }
        match weight {
            Operand::Tensor(weight) if weight.dtype() != self.dtype() => bail!(
                Runtime,
                "lerp: expected dtype {} for `weight` but got dtype {}",
                self.dtype(),
                weight.dtype()
            ),
            Operand::Tensor(weight) => Ok(same_device("lerp", weight, self)?.0),
            Operand::Scalar(weight) => {
                if weight.category() > self.dtype().category().max(Category::Float) {
                    bail!(
                        Runtime,
                        "lerp: value cannot be converted to type {} without overflow",
                        self.dtype()
                    );
                }
                Tensor::full(&[], *weight, self.dtype(), self.device())
            }
        }
    }

    /// `self + weight * (end - self)`.
    pub fn lerp(&self, end: &Tensor, weight: &Operand) -> Result<Tensor> {
        apply1(&LerpOp, &[self, end, &self.lerp_weight(end, weight)?])
    }

    /// [`lerp`](Tensor::lerp) in place.
    pub fn lerp_(&self, end: &Tensor, weight: &Operand) -> Result<()> {
        crate::autograd::apply_into(&LerpOp, &[self, end, &self.lerp_weight(end, weight)?])
    }

    /// `self + value * b * c`.
    pub fn addcmul(&self, b: &Tensor, c: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        let [a, b, c] = matched("addcmul", [self, b, c])?;
        apply1(&AddProductOp { divide: false, value: value.into() }, &[&a, &b, &c])
    }

    /// `self + value * b / c`.
    pub fn addcdiv(&self, b: &Tensor, c: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        let [a, b, c] = matched("addcdiv", [self, b, c])?;
        apply1(&AddProductOp { divide: true, value: value.into() }, &[&a, &b, &c])
    }

    /// [`addcmul`](Tensor::addcmul) in place.
    pub fn addcmul_(&self, b: &Tensor, c: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        self.add_product_(AddProductOp { divide: false, value: value.into() }, b, c)
    }

    /// [`addcdiv`](Tensor::addcdiv) in place.
    pub fn addcdiv_(&self, b: &Tensor, c: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        self.add_product_(AddProductOp { divide: true, value: value.into() }, b, c)
    }

    fn add_product_(&self, op: AddProductOp, b: &Tensor, c: &Tensor) -> Result<()> {
        let [a, b, c] = matched(op.name(), [self, b, c])?;
        if a.is(self) {
            return crate::autograd::apply_into(&op, &[self, &b, &c]);
        }
        crate::autograd::assign(self, &apply1(&op, &[&a, &b, &c])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(data: &[f64]) -> Tensor {
        Tensor::from_vec(data.to_vec(), &[data.len()]).unwrap()
    }

    fn grads(of: &Tensor, inputs: &[Tensor]) -> Vec<Vec<f64>> {
        let sum = of.sum(None, false).unwrap();
        crate::autograd::grad(&[sum], inputs, &[None], false, false)
            .unwrap()
            .into_iter()
            .map(|grad| grad.unwrap().to_vec().unwrap())
            .collect()
    }

    #[test]
    fn interpolates() {
        let inputs = [row(&[0.0, 1.0]), row(&[4.0, 5.0]), row(&[0.25])];
        inputs.iter().for_each(|input| input.set_requires_grad(true).unwrap());
        let [a, b, weight] = &inputs;
        let y = a.lerp(b, &Operand::Tensor(weight.clone())).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [1.0, 2.0]);
        assert_eq!(grads(&y, &inputs), [vec![0.75, 0.75], vec![0.25, 0.25], vec![8.0]]);
        assert_eq!(a.lerp(b, &1.0.into()).unwrap().to_vec::<f64>().unwrap(), [4.0, 5.0]);
        assert!(a.lerp(&b.to_dtype(DType::F32).unwrap(), &1.0.into()).is_err());
    }

    #[test]
    fn adds_products_and_quotients() {
        let inputs = [row(&[1.0, 1.0]), row(&[2.0, 6.0]), row(&[4.0])];
        inputs.iter().for_each(|input| input.set_requires_grad(true).unwrap());
        let [a, b, c] = &inputs;
        let y = a.addcmul(b, c, 0.5).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [5.0, 13.0]);
        assert_eq!(grads(&y, &inputs), [vec![1.0, 1.0], vec![2.0, 2.0], vec![4.0]]);
        let y = a.addcdiv(b, c, 2.0).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [2.0, 4.0]);
        assert_eq!(grads(&y, &inputs), [vec![1.0, 1.0], vec![0.5, 0.5], vec![-1.0]]);
        let ints = Tensor::from_vec(vec![1i64, 2], &[2]).unwrap();
        assert!(ints.addcdiv(&ints, &ints, 1i64).is_err());
        assert_eq!(ints.addcmul(&ints, &ints, 2i64).unwrap().to_vec::<i64>().unwrap(), [3, 10]);
        ints.addcmul_(&ints.deep_copy().unwrap(), &ints.deep_copy().unwrap(), 1i64).unwrap();
        assert_eq!(ints.to_vec::<i64>().unwrap(), [2, 6]);
    }
}
