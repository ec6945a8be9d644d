//! LAMB: Adam's direction, scaled to the size of the weights.

use kernels::binary::Binary;
use kernels::optim::LambDirection;
use kernels::unary::Unary;

use super::{Slots, Whole, step};
use crate::autograd::ModeGuard;
use crate::ops::binary::Operand;
use crate::tensor::Tensor;
use crate::{DType, Result};

/// Hyperparameters of LAMB.
#[derive(Clone, Debug)]
pub struct Lamb {
    /// The length of a step, relative to the weights' size.
    pub lr: Whole,
    /// How the direction is found.
    pub direction: LambDirection<Whole>,
}

/// LAMB. State: averages of the gradient and of its square.
pub fn lamb(slots: &Slots, rule: &Lamb) -> Result<()> {
    slots.refuse_recording()?;
    let _silent = ModeGuard::grad(false);
    let lr = rule.lr.number()?;
    let mut slots = slots.clone();
    slots.names.push("direction".into());
    for slot in &mut slots.slots {
        let param = slot.param.read();
        let place = Tensor::zeros(&param.shape, param.dtype, param.device())?;
        drop(param);
        slot.state.push(place);
    }
    step(&slots, &rule.direction)?;
    for slot in &slots.slots {
        let direction = slot.state.last().expect("it was put there");
        let ratio = trust(&slot.param, direction)?.mul_scalar(lr)?;
        let step = direction.mul(&ratio.to_dtype(direction.dtype())?)?;
        slot.param.with_(Binary::Sub, &Operand::Tensor(step))?;
    }
    Ok(())
}

/// The weights' size by that of the direction, or one where either is nothing.
fn trust(param: &Tensor, direction: &Tensor) -> Result<Tensor> {
    let (weights, update) = (size(param)?, size(direction)?);
    let one = Tensor::ones(&[], weights.dtype(), weights.device())?;
    let both = weights.gt_scalar(0.0)?.logical_and(&update.gt_scalar(0.0)?)?;
    both.where_(&weights.div(&update)?, &one)
}

/// The Euclidean norm, in a type that holds it.
pub(super) fn size(tensor: &Tensor) -> Result<Tensor> {
    let wide = match tensor.dtype() {
        DType::F16 | DType::BF16 => tensor.to_dtype(DType::F32)?,
        dtype if dtype.is_complex() => tensor.complex_abs()?,
        _ => tensor.clone(),
    };
    wide.square()?.sum(None, false)?.unary(Unary::Sqrt)
}
