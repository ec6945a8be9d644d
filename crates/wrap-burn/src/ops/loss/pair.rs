//! Losses of single elements, each of which has a target.

use burn_backend::ops::{ActivationOps, FloatTensorOps};
use burn_dispatch::Dispatch;
pub use kernels::loss_pair::PairLoss;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, Prim, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::{promoted, same_device};
use crate::ops::unary::Unary;
use crate::shape::broadcast;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail, error};

/// The least product of a probability and its complement that slopes are divided by.
const LEAST: f64 = 1e-12;

fn loss_name(kind: PairLoss) -> &'static str {
    match kind {
        PairLoss::Square => "mse_loss",
        PairLoss::Absolute => "l1_loss",
        PairLoss::SmoothL1 { .. } => "smooth_l1_loss",
        PairLoss::Huber { .. } => "huber_loss",
        PairLoss::BinaryCrossEntropy => "binary_cross_entropy",
        PairLoss::BinaryCrossEntropyOfLogits => "binary_cross_entropy_with_logits",
    }
}

/// Refuses tensors that differ in shape or dtype from the first.
fn check_alike(op: &str, inputs: &[&Value]) -> Result<()> {
    let first = inputs[0];
    if !first.dtype.is_float() {
        bail!(Runtime, "{op}: not implemented for {}; hint: .float() first", first.dtype);
    }
    for other in &inputs[1..] {
        if other.shape != first.shape || other.dtype != first.dtype {
            bail!(
                Runtime,
                "{op}: expected tensors of one shape and dtype, got {:?} of {} and {:?} of {}",
                first.shape,
                first.dtype,
                other.shape,
                other.dtype
            );
        }
    }
    Ok(())
}

/// The loss of each element of the first input, whose targets are the second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PairLossOp {
    /// Which.
    pub kind: PairLoss,
}

#[typetag::serde]
impl Primitive for PairLossOp {
    fn name(&self) -> &'static str {
        loss_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_alike(self.name(), inputs)?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => {
            let (x, target) = (inputs[0].view::<T>()?, inputs[1].view::<T>()?);
            let losses = kernels::loss_pair::pair_loss(self.kind, x, target)
                .map_err(|fault| error!(Runtime, "{}: {fault}", self.name()))?;
            single(Value::from_vec_as(losses, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let (x, t) = (to_burn(inputs[0])?, to_burn(inputs[1])?);
        let plus = |x: Prim, number: f64| D::float_add_scalar(x, number.into());
        let times = |x: Prim, number: f64| D::float_mul_scalar(x, number.into());
        let far = || D::float_abs(D::float_sub(x.clone(), t.clone()));
        let prim = match self.kind {
            PairLoss::Square => {
                let far = far();
                D::float_mul(far.clone(), far)
            }
            PairLoss::Absolute => far(),
            PairLoss::SmoothL1 { beta } => {
                let far = far();
                let near = D::float_lower_elem(far.clone(), beta.into(), store);
                let bent = times(D::float_mul(far.clone(), far.clone()), 0.5 / beta);
                D::float_mask_where(plus(far, -0.5 * beta), near, bent)
            }
            PairLoss::Huber { delta } => {
                let far = far();
                let near = D::float_lower_equal_elem(far.clone(), delta.into(), store);
                let bent = times(D::float_mul(far.clone(), far.clone()), 0.5);
                D::float_mask_where(times(plus(far, -0.5 * delta), delta), near, bent)
            }
            PairLoss::BinaryCrossEntropy => {
                let least = -100.0;
                let other = D::float_log1p(D::float_neg(x.clone()));
                let other = D::float_clamp_min(other, least.into());
                let own = D::float_clamp_min(D::float_log(x), least.into());
                let left = D::float_mul(plus(t.clone(), -1.0), other);
                D::float_sub(left, D::float_mul(t, own))
            }
            PairLoss::BinaryCrossEntropyOfLogits => {
                let complement = plus(D::float_neg(t), 1.0);
                D::float_sub(D::float_mul(complement, x.clone()), D::log_sigmoid(x))
            }
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, x, t) = (ctx.grad()?, &ctx.inputs[0], &ctx.inputs[1]);
        let op = PairSlopeOp { kind: self.kind };
        let symmetric = !matches!(
            self.kind,
            PairLoss::BinaryCrossEntropy | PairLoss::BinaryCrossEntropyOfLogits
        );
        let wants_slope = ctx.needs[0] || (ctx.needs[1] && symmetric);
        let slope = if wants_slope { Some(apply1(&op, &[g, x, t])?) } else { None };
        let by_target = match (ctx.needs[1], self.kind) {
            (false, _) => None,
            (true, PairLoss::BinaryCrossEntropy) => {
                let other = x.neg()?.unary(Unary::Log1p)?;
                Some(g.mul(&other.sub(&x.unary(Unary::Log)?)?)?)
            }
            (true, PairLoss::BinaryCrossEntropyOfLogits) => Some(g.mul(x)?.neg()?),
            (true, _) => slope.as_ref().map(|slope| slope.neg()).transpose()?,
        };
        Ok(smallvec![slope, by_target])
    }
}

/// A gradient times the slope of [`PairLossOp`] by its first input. Inputs: the gradient, then those
/// of the loss.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PairSlopeOp {
    /// Of which loss.
    pub kind: PairLoss,
}

#[typetag::serde]
impl Primitive for PairSlopeOp {
    fn name(&self) -> &'static str {
        "pair_loss_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_alike(self.name(), inputs)?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => single(Value::from_vec_as(
            kernels::loss_pair::pair_slope(
                self.kind,
                inputs[0].view::<T>()?,
                inputs[1].view::<T>()?,
                inputs[2].view::<T>()?,
            ),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let (g, x, t) = (to_burn(inputs[0])?, to_burn(inputs[1])?, to_burn(inputs[2])?);
        let far = D::float_sub(x.clone(), t.clone());
        let times = |x: Prim, number: f64| D::float_mul_scalar(x, number.into());
        let prim = match self.kind {
            PairLoss::Square => times(D::float_mul(far, g), 2.0),
            PairLoss::Absolute => D::float_mul(D::float_sign(far), g),
            PairLoss::SmoothL1 { beta } => {
                let held = D::float_clamp(far, (-beta).into(), beta.into());
                times(D::float_mul(held, g), 1.0 / beta)
            }
            PairLoss::Huber { delta } => {
                D::float_mul(D::float_clamp(far, (-delta).into(), delta.into()), g)
            }
            PairLoss::BinaryCrossEntropy => {
                let complement = D::float_add_scalar(D::float_neg(x.clone()), 1.0.into());
                let spread = D::float_clamp_min(D::float_mul(complement, x), LEAST.into());
                D::float_div(D::float_mul(g, far), spread)
            }
            PairLoss::BinaryCrossEntropyOfLogits => D::float_mul(g, D::float_sub(D::sigmoid(x), t)),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (h, [g, x, t]) = (ctx.grad()?, [&ctx.inputs[0], &ctx.inputs[1], &ctx.inputs[2]]);
        let by_grad = if ctx.needs[0] { Some(apply1(self, &[h, x, t])?) } else { None };
        if !ctx.needs[1] && !ctx.needs[2] {
            return Ok(smallvec![by_grad, None, None]);
        }
        let (by_x, by_t) = self.curvatures(x, t)?;
        let hg = h.mul(g)?;
        Ok(smallvec![by_grad, Some(hg.mul(&by_x)?), Some(hg.mul(&by_t)?)])
    }
}

impl PairSlopeOp {
    /// How fast the slope rises with the element, and with its target.
    fn curvatures(&self, x: &Tensor, t: &Tensor) -> Result<(Tensor, Tensor)> {
        let full = |number: f64| Tensor::full(&x.shape(), number, x.dtype(), x.device());
        let within = |limit: f64, number: f64| {
            let near = x.sub(t)?.unary(Unary::Abs)?.lt_scalar(limit)?;
            near.to_dtype(x.dtype())?.mul_scalar(number)
        };
        let by_x = match self.kind {
            PairLoss::Square => full(2.0)?,
            PairLoss::Absolute => full(0.0)?,
            PairLoss::SmoothL1 { beta } => within(beta, 1.0 / beta)?,
            PairLoss::Huber { delta } => within(delta, 1.0)?,
            PairLoss::BinaryCrossEntropy => {
                let spread = x.neg()?.add_scalar(1.0)?.mul(x)?;
                let spread = spread.clamp_scalar(Some(LEAST.into()), None)?;
                let top = x.square()?.sub(&x.mul(t)?.mul_scalar(2.0)?)?.add(t)?;
                let by_t = spread.unary(Unary::Reciprocal)?.neg()?;
                return Ok((top.div(&spread.square()?)?, by_t));
            }
            PairLoss::BinaryCrossEntropyOfLogits => {
                let share = x.unary(Unary::Sigmoid)?;
                return Ok((share.mul(&share.neg()?.add_scalar(1.0)?)?, full(-1.0)?));
            }
        };
        let by_t = by_x.neg()?;
        Ok((by_x, by_t))
    }
}

impl Tensor {
    /// The loss of each element, with targets that it is broadcast together with.
    pub fn pair_loss(&self, kind: PairLoss, target: &Tensor) -> Result<Tensor> {
        let op = PairLossOp { kind };
        let (x, t) = same_device(op.name(), self, target)?;
        let dtype = promoted(x.dtype(), x.rank() == 0, t.dtype(), t.rank() == 0);
        let shape = broadcast(op.name(), &x.shape(), &t.shape())?;
        let spread = |x: &Tensor| x.to_dtype(dtype)?.expand_to(op.name(), &shape);
        apply1(&op, &[&spread(&x)?, &spread(&t)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    const KINDS: [PairLoss; 6] = [
        PairLoss::Square,
        PairLoss::Absolute,
        PairLoss::SmoothL1 { beta: 0.3 },
        PairLoss::Huber { delta: 0.3 },
        PairLoss::BinaryCrossEntropy,
        PairLoss::BinaryCrossEntropyOfLogits,
    ];

    /// Numbers between zero and one.
    fn shares(salt: u64, dtype: DType) -> Tensor {
        noise(&[3, 4], dtype, salt).mul_scalar(0.45).unwrap().add_scalar(0.5).unwrap()
    }

    #[test]
    fn gradients_of_first_and_second_order() {
        for kind in KINDS {
            let inputs = [shares(1, DType::F64), shares(2, DType::F64)];
            gradcheck(loss_name(kind), &inputs, true, &|x| Ok(vec![x[0].pair_loss(kind, &x[1])?]));
        }
    }

    #[test]
    fn burn_computes_the_same() {
        let values = [1, 2, 3].map(|salt| shares(salt, DType::F32).value());
        for kind in KINDS {
            let check = |op: &dyn Primitive, inputs: &[&Value]| {
                let metas = op.infer(inputs).unwrap();
                let ours = op.run(inputs, &metas).unwrap().remove(0);
                let burns = op.run_gpu(inputs, &metas, Device::Cpu).unwrap().unwrap().remove(0);
                let ours = Tensor::from_value(ours).to_vec::<f64>().unwrap();
                let burns = Tensor::from_value(burns).to_vec::<f64>().unwrap();
                for (a, b) in ours.iter().zip(burns) {
                    assert!((a - b).abs() < 1e-5 * b.abs().max(1.0), "{kind:?} {a} {b}");
                }
            };
            check(&PairLossOp { kind }, &[&values[0], &values[1]]);
            check(&PairSlopeOp { kind }, &[&values[2], &values[0], &values[1]]);
        }
    }

    #[test]
    fn shapes_and_types_meet() {
        let x = noise(&[3, 1], DType::F32, 1);
        let loss = x.pair_loss(PairLoss::Square, &noise(&[4], DType::F64, 2)).unwrap();
        assert_eq!((loss.shape()[..].to_vec(), loss.dtype()), (vec![3, 4], DType::F64));
        let whole = Tensor::from_vec(vec![1i64], &[1]).unwrap();
        assert!(whole.pair_loss(PairLoss::Square, &whole).is_err());
        assert!(x.pair_loss(PairLoss::Square, &noise(&[2, 4], DType::F32, 1)).is_err());
        let fault = x.mul_scalar(9.0).unwrap().pair_loss(PairLoss::BinaryCrossEntropy, &x);
        assert!(fault.unwrap_err().to_string().contains("binary_cross_entropy: all elements"));
    }
}
