//! Adafactor: averages of squares kept by rows and columns only.

use kernels::binary::Binary;
use kernels::unary::Unary;

use super::{Slot, Slots, Whole, overwrite, scalars};
use crate::autograd::ModeGuard;
use crate::ops::binary::Operand;
use crate::tensor::Tensor;
use crate::{DType, Result, Scalar, bail};

/// Hyperparameters of Adafactor.
#[derive(Clone, Debug)]
pub struct Adafactor {
    /// The longest step, relative to the weights' size.
    pub lr: Whole,
    /// The power by which the share of new squares in the averages falls.
    pub beta2_decay: f64,
    /// The smallest denominator; the dtype's precision if none is given.
    pub eps1: Option<f64>,
    /// The smallest size that weights are taken to have.
    pub eps2: f64,
    /// The largest size of a step, relative to its length.
    pub d: f64,
    /// How fast weights shrink.
    pub weight_decay: f64,
    /// Go up instead of down.
    pub maximize: bool,
}

/// Adafactor. Scalars: steps. State of a matrix (or more dimensions): the average of squares of its
/// rows, then of its columns; of a vector: the average of squares.
pub fn adafactor(slots: &Slots, rule: &Adafactor) -> Result<()> {
    slots.refuse_recording()?;
    for (at, slot) in slots.slots.iter().enumerate() {
        if slot.param.dtype().is_complex() {
            bail!(Runtime, "{} does not support complex parameters", slots.op);
        }
        slots.check_grad(at, slot)?;
        check_state(slots, at, slot)?;
    }
    let _silent = ModeGuard::grad(false);
    let lr = rule.lr.number()?;
    slots.slots.iter().try_for_each(|slot| rule.update(slot, lr))
}

/// Refuses averages of another shape than the parameter's rows and columns.
fn check_state(slots: &Slots, at: usize, slot: &Slot) -> Result<()> {
    let shape = slot.param.shape();
    let expected = match shape.len() {
        0 | 1 => vec![shape],
        rank => [rank - 1, rank - 2]
            .map(|dim| {
                let mut shape = shape.clone();
                shape[dim] = 1;
                shape
            })
            .to_vec(),
    };
    let got: Vec<_> = slot.state.iter().map(Tensor::shape).collect();
    if got != expected || slot.scalars.len() != 1 {
        bail!(
            Runtime,
            "{}: expected averages of shapes {expected:?} for parameter {at}, got {got:?}; hint: a \
             parameter of another shape needs a new optimizer",
            slots.op
        );
    }
    Ok(())
}

/// The mean of squares, in a type that holds them.
fn mean_square(tensor: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let wide = match tensor.dtype() {
        DType::F16 | DType::BF16 => tensor.to_dtype(DType::F32)?,
        _ => tensor.clone(),
    };
    wide.square()?.mean(dim.as_ref().map(std::slice::from_ref), dim.is_some())
}

fn at_least(tensor: &Tensor, bound: f64) -> Result<Tensor> {
    tensor.with_scalar(Binary::Maximum, Scalar::Float(bound), false)
}

/// The distance from one to the next larger number.
fn precision(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => f32::EPSILON as f64,
        _ => f64::EPSILON,
    }
}

impl Adafactor {
    fn update(&self, slot: &Slot, lr: f64) -> Result<()> {
        let Slot { param, state, .. } = slot;
        let dtype = param.dtype();
        let grad = if self.maximize { slot.grad.neg()? } else { slot.grad.clone() };
        let [step] = scalars::read(&slot.scalars)?.map(|step: f64| step + 1.0);
        let eps1 = self.eps1.unwrap_or_else(|| precision(dtype));
        let share = step.powf(self.beta2_decay);
        let size = at_least(&mean_square(param, None)?.unary(Unary::Sqrt)?, self.eps2)?;
        let length = size.mul_scalar(lr.min(1.0 / step.sqrt()))?;
        if self.weight_decay != 0.0 {
            param.with_(Binary::Mul, &Operand::from(1.0 - lr * self.weight_decay))?;
        }
        let average = |state: &Tensor, new: &Tensor| -> Result<()> {
            overwrite(state, &state.lerp(&new.to_dtype(dtype)?, &Operand::from(share))?)
        };
        let variance = match state.as_slice() {
            [rows, columns] => {
                average(rows, &mean_square(&grad, Some(-1))?)?;
                average(columns, &mean_square(&grad, Some(-2))?)?;
                let mean = at_least(&rows.mean(Some(&[-2]), true)?, eps1)?;
                rows.mul(columns)?.div(&mean)?
            }
            _ => {
                average(&state[0], &grad.square()?)?;
                state[0].clone()
            }
        };
        let update = at_least(&variance, eps1 * eps1)?.unary(Unary::Rsqrt)?.mul(&grad)?;
        let spread = mean_square(&update, None)?.unary(Unary::Sqrt)?.mul_scalar(1.0 / self.d)?;
        let rate = length.div(&at_least(&spread, 1.0)?)?.to_dtype(dtype)?;
        param.with_(Binary::Sub, &Operand::Tensor(update.mul(&rate)?))?;
        scalars::write(&slot.scalars, [step])
    }
}
