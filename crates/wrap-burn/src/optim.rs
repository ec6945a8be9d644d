//! Optimizers: one call updates all parameters of a group.
//!
//! What happens to one element is written once, in [`kernels::optim`]. On the CPU [`step`] runs it
//! over the memory of all parameters in one pass. On other devices, and where the update itself is
//! to be differentiated, the same [rule](Rule) computes with whole tensors.
//!
//! ```
//! use wrap_burn::Tensor;
//! use wrap_burn::optim::{self, Sgd, Slot, Slots, Whole};
//!
//! # fn main() -> wrap_burn::Result<()> {
//! let param = Tensor::from_vec(vec![1.0f32, 2.0], &[2])?;
//! let grad = Tensor::from_vec(vec![2.0f32, -4.0], &[2])?;
//! let slots = Slots {
//!     op: "SGD".into(),
//!     names: Vec::new(),
//!     slots: vec![Slot {
//!         param: param.clone(),
//!         grad,
//!         scalars: Default::default(),
//!         state: Default::default(),
//!         fresh: true,
//!     }],
//!     differentiable: false,
//! };
//! let rule = Sgd {
//!     lr: Whole::Number(0.5),
//!     momentum: Whole::Number(0.0),
//!     dampening: Whole::Number(0.0),
//!     weight_decay: Whole::Number(0.0),
//!     nesterov: false,
//!     maximize: false,
//! };
//! optim::sgd(&slots, rule)?;
//! assert_eq!(param.to_vec::<f32>()?, [0.0, 4.0]);
//! # Ok(())
//! # }
//! ```

mod adafactor;
mod fused;
mod lamb;
mod muon;
mod scalars;
mod whole;

use kernels::optim::{
    Amsgrad, Centered, CenteredMomentum, Hyper, Momentum, RAdam, RmsMomentum, Rule,
};
use smallvec::SmallVec;

pub use kernels::optim::{
    Adadelta, Adagrad, Adam, Adamax, Adan, Asgd, LambDirection, Lion, NAdam, RmsProp, Rprop, Sgd,
};

pub use self::adafactor::{Adafactor, adafactor};
pub use self::lamb::{Lamb, lamb};
pub use self::muon::{LearningRate, Muon, muon};
pub use self::whole::Whole;
use crate::autograd::{self, ModeGuard};
use crate::device::Device;
use crate::ops::view::ViewOp;
use crate::tensor::Tensor;
use crate::{Result, bail};

/// A parameter that has a gradient, and what its optimizer remembers of it.
#[derive(Clone, Debug)]
pub struct Slot {
    /// What is to be updated.
    pub param: Tensor,
    /// Its gradient.
    pub grad: Tensor,
    /// Numbers kept for the parameter as a whole, such as the count of steps.
    pub scalars: SmallVec<[Tensor; 3]>,
    /// Tensors kept for its elements.
    pub state: SmallVec<[Tensor; 4]>,
    /// The state was made for this very step.
    pub fresh: bool,
}

/// The parameters of a group that have gradients.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The optimizer's name, for errors.
    pub op: String,
    /// What the scalars and then the states are called, for errors.
    pub names: Vec<String>,
    /// The parameters.
    pub slots: Vec<Slot>,
    /// The update is recorded, so that gradients flow through it.
    pub differentiable: bool,
}

impl Slots {
    /// Refuses to record an update that was not written to be.
    fn refuse_recording(&self) -> Result<()> {
        if self.differentiable {
            bail!(Unsupported, "{}: differentiable=True is not available", self.op);
        }
        Ok(())
    }

    /// Refuses what a rule with so many states cannot update. States have the parameter's shape.
    fn check(&self, scalars: usize, states: usize) -> Result<()> {
        for (at, slot) in self.slots.iter().enumerate() {
            self.check_grad(at, slot)?;
            if (slot.scalars.len(), slot.state.len()) != (scalars, states) {
                bail!(
                    Value,
                    "{}: expected {scalars} numbers and {states} tensors per parameter, got {} and {}",
                    self.op,
                    slot.scalars.len(),
                    slot.state.len()
                );
            }
            let param = slot.param.read();
            for (state, name) in slot.state.iter().zip(&self.names[scalars..]) {
                let state = state.read();
                if state.shape != param.shape || state.dtype != param.dtype {
                    bail!(
                        Runtime,
                        "{}: expected '{name}' of parameter {at} with shape {:?} and dtype {}, as the \
                         parameter, got {:?} and {}; hint: load_state_dict converts, and a parameter \
                         of another shape needs a new optimizer",
                        self.op,
                        param.shape,
                        param.dtype,
                        state.shape,
                        state.dtype
                    );
                }
                crate::op::common_device(&self.op, &[&param, &state])?;
            }
        }
        Ok(())
    }

    /// Refuses a parameter and a gradient that do not belong together.
    fn check_grad(&self, at: usize, slot: &Slot) -> Result<()> {
        let op = &self.op;
        let (param, grad) = (slot.param.read(), slot.grad.read());
        if !param.dtype.is_differentiable() {
            bail!(
                Runtime,
                "{op}: expected parameters of floating point or complex dtype, parameter {at} is {}",
                param.dtype
            );
        }
        if param.shape != grad.shape || param.dtype != grad.dtype {
            bail!(
                Runtime,
                "{op}: expected a gradient of shape {:?} and dtype {} for parameter {at}, got {:?} \
                 and {}; hint: zero_grad() after a parameter was converted",
                param.shape,
                param.dtype,
                grad.shape,
                grad.dtype
            );
        }
        let repeats = param.shape.iter().zip(&param.strides).any(|(&n, &step)| n > 1 && step == 0);
        if repeats {
            bail!(
                Runtime,
                "{op}: unsupported operation: more than one element of parameter {at} refers to a \
                 single memory location; hint: clone() it"
            );
        }
        crate::op::common_device(op, &[&param, &grad])?;
        for (scalar, name) in slot.scalars.iter().zip(&self.names) {
            if scalar.numel() != 1 {
                bail!(
                    Runtime,
                    "{op}: expected '{name}' of parameter {at} to be one number, got shape {:?}",
                    scalar.shape()
                );
            }
        }
        Ok(())
    }
}

/// Updates parameters by a rule for one element.
pub fn step<R, F, const C: usize, const S: usize, const K: usize>(
    slots: &Slots,
    rule: &R,
) -> Result<()>
where
    R: Hyper<Whole, With<f64> = F, With<Whole> = R> + Rule<Whole, C, S, K>,
    F: Rule<f64, C, S, K> + Sync,
{
    slots.check(K, S)?;
    if slots.differentiable {
        let rule = rule.convert(Whole::if_differentiable)?;
        let _recording = ModeGuard::grad(true);
        return slots.slots.iter().try_for_each(|slot| composed(&rule, slot, true));
    }
    let numbers = rule.convert(Whole::number)?;
    let (here, elsewhere): (Vec<&Slot>, Vec<&Slot>) =
        slots.slots.iter().partition(|slot| is_in_memory(&slot.param));
    fused::step(&numbers, &here)?;
    if !elsewhere.is_empty() {
        let rule = rule.convert(|number| number.number().map(Whole::Number))?;
        let _silent = ModeGuard::grad(false);
        elsewhere.iter().try_for_each(|slot| composed(&rule, slot, false))?;
    }
    Ok(())
}

fn is_in_memory(tensor: &Tensor) -> bool {
    let value = tensor.read();
    value.device() == Device::Cpu && value.has_data()
}

/// A rule computed with whole tensors: one op after the other, on any device.
fn composed<R, const C: usize, const S: usize, const K: usize>(
    rule: &R,
    slot: &Slot,
    differentiable: bool,
) -> Result<()>
where
    R: Rule<Whole, C, S, K>,
{
    let (coefficients, scalars) = rule.coefficients(scalars::read(&slot.scalars)?, slot.fresh);
    // Complex numbers are pairs of independent ones.
    let real = |tensor: &Tensor| match tensor.dtype().is_complex() {
        true => tensor.view_op(ViewOp::AsReal),
        false => Ok(tensor.clone()),
    };
    // What the update's gradient remembers must outlast the writing below.
    let kept =
        |tensor: &Tensor| if differentiable { tensor.deep_copy() } else { Ok(tensor.clone()) };
    let param = real(&slot.param)?;
    let states: Vec<Tensor> = slot.state.iter().map(real).collect::<Result<_>>()?;
    let mut old = Vec::with_capacity(S);
    for state in &states {
        old.push(Whole::Tensor(kept(state)?));
    }
    let mut old = old.into_iter();
    let old = std::array::from_fn(|_| old.next().expect("states have been counted"));
    let (grad, element) = (real(&slot.grad)?, kept(&param)?);
    let (element, new) =
        rule.update(&coefficients, Whole::Tensor(element), Whole::Tensor(grad), old);
    element.write_over(&param)?;
    for (new, state) in new.into_iter().zip(&states) {
        new.write_over(state)?;
    }
    scalars::write(&slot.scalars, scalars)
}

/// SGD, with momentum where there is some: then the state is the direction.
pub fn sgd(slots: &Slots, rule: Sgd<Whole>) -> Result<()> {
    match rule.momentum.number()? == 0.0 {
        true => step(slots, &rule),
        false => step(slots, &Momentum(rule)),
    }
}

/// Adam and AdamW; with `amsgrad` the third state is the largest average of squares.
pub fn adam(slots: &Slots, rule: Adam<Whole>, amsgrad: bool) -> Result<()> {
    match amsgrad {
        true => step(slots, &Amsgrad(rule)),
        false => step(slots, &rule),
    }
}

/// RAdam.
pub fn radam(slots: &Slots, rule: Adam<Whole>) -> Result<()> {
    step(slots, &RAdam(rule))
}

/// RMSprop. State: the average of squares, with momentum the direction, centred the average of
/// gradients.
pub fn rmsprop(slots: &Slots, rule: RmsProp<Whole>, centered: bool) -> Result<()> {
    match (rule.momentum.number()? > 0.0, centered) {
        (false, false) => step(slots, &rule),
        (true, false) => step(slots, &RmsMomentum(rule)),
        (false, true) => step(slots, &Centered(rule)),
        (true, true) => step(slots, &CenteredMomentum(rule)),
    }
}

/// Writes a result over a tensor, recorded or not as the mode says.
fn overwrite(target: &Tensor, result: &Tensor) -> Result<()> {
    if target.is(result) {
        return Ok(());
    }
    autograd::assign(target, result)
}
