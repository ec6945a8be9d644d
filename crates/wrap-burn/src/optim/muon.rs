//! Muon: momentum made orthogonal.

use kernels::binary::Binary;

use super::{Slot, Slots, Whole, lamb, overwrite};
use crate::autograd::ModeGuard;
use crate::ops::binary::Operand;
use crate::tensor::Tensor;
use crate::{DType, Device, Result, Scalar, bail};

/// How the learning rate follows a matrix's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningRate {
    /// With the root of height by width, where that is above one.
    Original,
    /// So that steps are of the size that AdamW's have.
    MatchRmsAdamW,
    /// With the root of height by width.
    SpectralUnclamped,
}

/// Hyperparameters of Muon.
#[derive(Clone, Debug)]
pub struct Muon {
    /// The length of a step.
    pub lr: Whole,
    /// How fast weights shrink.
    pub weight_decay: f64,
    /// How much of the average of gradients is kept.
    pub momentum: f64,
    /// Look ahead in the direction of the momentum.
    pub nesterov: bool,
    /// The polynomial that drives singular values towards one.
    pub coefficients: [f64; 3],
    /// Keeps the denominator from zero.
    pub eps: f64,
    /// How often the polynomial is applied.
    pub steps: usize,
    /// How the learning rate follows the shape.
    pub adjustment: LearningRate,
}

/// Muon. State: the average of gradients.
pub fn muon(slots: &Slots, rule: &Muon) -> Result<()> {
    slots.refuse_recording()?;
    slots.check(0, 1)?;
    for slot in &slots.slots {
        if slot.param.dtype().is_complex() {
            bail!(Runtime, "{} does not support complex parameters", slots.op);
        }
        if slot.param.rank() != 2 {
            bail!(
                Value,
                "{} only supports 2D parameters whereas we found a parameter with size: {:?}",
                slots.op,
                slot.param.shape()
            );
        }
    }
    if rule.steps >= 100 {
        bail!(Value, "Number of steps must be less than 100 for computational efficiency");
    }
    let _silent = ModeGuard::grad(false);
    let lr = rule.lr.number()?;
    slots.slots.iter().try_for_each(|slot| rule.update(slot, lr))
}

impl Muon {
    fn update(&self, slot: &Slot, lr: f64) -> Result<()> {
        let Slot { param, grad, state, .. } = slot;
        let average = &state[0];
        overwrite(average, &average.lerp(grad, &Operand::from(1.0 - self.momentum))?)?;
        let direction = match self.nesterov {
            true => grad.lerp(average, &Operand::from(self.momentum))?,
            false => average.clone(),
        };
        let step = self.orthogonal(&direction)?.to_dtype(param.dtype())?;
        param.with_(Binary::Mul, &Operand::from(1.0 - lr * self.weight_decay))?;
        let rate = lr * self.adjusted(&param.shape());
        param.with_(Binary::Sub, &Operand::Tensor(step.mul_scalar(rate)?))
    }

    fn adjusted(&self, shape: &[usize]) -> f64 {
        let [height, width] = [shape[0] as f64, shape[1] as f64];
        match self.adjustment {
            LearningRate::Original => (height / width).max(1.0).sqrt(),
            LearningRate::MatchRmsAdamW => 0.2 * height.max(width).sqrt(),
            LearningRate::SpectralUnclamped => (height / width).sqrt(),
        }
    }

    /// Nearly the closest matrix with orthogonal rows or columns, by Newton's and Schulz's
    /// iteration.
    fn orthogonal(&self, matrix: &Tensor) -> Result<Tensor> {
        let [a, b, c] = self.coefficients;
        let tall = matrix.shape()[0] > matrix.shape()[1];
        let wide = if tall { matrix.transpose(0, 1)? } else { matrix.clone() };
        let mut x = narrow(&wide)?;
        let size = narrow(&lamb::size(&x)?)?;
        let size = size.with_scalar(Binary::Maximum, Scalar::Float(self.eps), false)?;
        x = narrow(&x.div(&size)?)?;
        for _ in 0..self.steps {
            let gram = narrow(&x.matmul(&x.transpose(0, 1)?)?)?;
            let change = gram.matmul(&gram)?.mul_scalar(c)?.add(&gram.mul_scalar(b)?)?;
            x = narrow(&narrow(&change)?.matmul(&x)?.add(&x.mul_scalar(a)?)?)?;
        }
        if tall { x.transpose(0, 1) } else { Ok(x) }
    }
}

/// The matrix as accurate as bfloat16 is: all that the iteration needs. A GPU computes in that type
/// where it has it; the CPU does not gain by it and only rounds.
fn narrow(tensor: &Tensor) -> Result<Tensor> {
    match tensor.device() {
        Device::Cpu => tensor.to_dtype(DType::BF16)?.to_dtype(DType::F32),
        device => tensor.to_dtype(device.narrow(DType::BF16)),
    }
}
