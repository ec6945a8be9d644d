//! Steps of optimizers: the group's parameters are looked up, the engine updates them.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use wrap_burn::optim::{
    self, Adadelta, Adafactor, Adagrad, Adam, Adamax, Adan, Asgd, Lamb, LambDirection,
    LearningRate, Lion, Muon, NAdam, RmsProp, Rprop, Sgd, Slot, Slots, Whole,
};
use wrap_burn::{Tensor, bail};

use crate::args::{Number, T};
use crate::boundary::to_py;

/// The parameters of a group that have gradients, with their state.
#[pyclass(name = "Slots", module = "pyburn._core", frozen)]
pub(super) struct PySlots(Arc<Slots>);

/// The argument of every step.
pub(super) struct Group(Arc<Slots>);

impl<'a, 'py> FromPyObject<'a, 'py> for Group {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Group(object.cast::<PySlots>()?.get().0.clone()))
    }
}

/// A hyperparameter: a number, or a tensor of one element.
pub(super) struct Hyper(Whole);

impl<'a, 'py> FromPyObject<'a, 'py> for Hyper {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Hyper(match object.extract::<T>() {
            Ok(T(tensor)) if tensor.rank() == 0 => Whole::Tensor(tensor),
            Ok(T(tensor)) => Whole::Tensor(tensor.reshape(&[]).map_err(to_py)?),
            Err(_) => Whole::Number(object.extract::<Number>()?.0.to_f64()),
        }))
    }
}

impl Hyper {
    fn get(&self) -> Whole {
        self.0.clone()
    }
}

/// Looks up what a step needs: of each parameter that has a gradient, the state that `state` keeps
/// of it under the names in `scalars` and `states`. Where there is none, `create(param)` makes it.
/// State follows a parameter that was moved to another device.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "all of an optimizer's group")]
pub(super) fn optim_slots(
    op: String,
    params: &Bound<'_, PyList>,
    state: &Bound<'_, PyDict>,
    scalars: &Bound<'_, PyTuple>,
    states: &Bound<'_, PyTuple>,
    create: &Bound<'_, PyAny>,
    differentiable: bool,
) -> PyResult<PySlots> {
    let names = scalars.iter().chain(states).map(|name| name.extract()).collect::<PyResult<_>>()?;
    let mut slots = Slots { op, names, slots: Vec::with_capacity(params.len()), differentiable };
    for (at, object) in params.iter().enumerate() {
        let param = object.extract::<T>()?.0;
        let Some(grad) = param.grad() else { continue };
        let mut slot = Slot {
            param,
            grad,
            scalars: Default::default(),
            state: Default::default(),
            fresh: false,
        };
        if !slots.names.is_empty() {
            let known = Known::of(&object, state, scalars, states, create)?;
            slot.fresh = known.fresh;
            let find = |name: &Bound<'_, PyAny>| known.find(&slots.op, at, name);
            for name in scalars {
                slot.scalars.push(find(&name)?);
            }
            for name in states {
                let tensor = find(&name)?;
                slot.state.push(known.followed(&name, tensor, &slot.param)?);
            }
        }
        slots.slots.push(slot);
    }
    Ok(PySlots(Arc::new(slots)))
}

/// What an optimizer remembers of one parameter.
struct Known<'py> {
    entry: Bound<'py, PyDict>,
    fresh: bool,
}

impl<'py> Known<'py> {
    /// The entry of a parameter, made if there is nothing in it.
    fn of(
        param: &Bound<'py, PyAny>,
        state: &Bound<'py, PyDict>,
        scalars: &Bound<'py, PyTuple>,
        states: &Bound<'py, PyTuple>,
        create: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let entry = match state.get_item(param)? {
            Some(entry) => entry.cast_into::<PyDict>()?,
            None => {
                let entry = PyDict::new(param.py());
                state.set_item(param, &entry)?;
                entry
            }
        };
        // Checkpoints of PyTorch may hold None where there is nothing yet.
        let mut fresh = true;
        for name in scalars.iter().chain(states) {
            fresh = entry.get_item(name)?.is_none_or(|value| value.is_none());
            if !fresh {
                break;
            }
        }
        if fresh {
            entry.update(create.call1((param,))?.cast::<PyDict>()?.as_mapping())?;
        }
        Ok(Known { entry, fresh })
    }

    fn find(&self, op: &str, at: usize, name: &Bound<'py, PyAny>) -> PyResult<Tensor> {
        let Some(value) = self.entry.get_item(name)? else {
            return Err(PyKeyError::new_err(format!(
                "{op}: the state of parameter {at} has no '{name}'; hint: an option that needs it \
                 was changed after the first step"
            )));
        };
        match value.extract::<T>() {
            Ok(T(tensor)) => Ok(tensor),
            Err(_) => Err(PyTypeError::new_err(format!(
                "{op}: expected a tensor as '{name}' of parameter {at}, got {}; hint: \
                 load_state_dict converts numbers",
                value.get_type().name()?
            ))),
        }
    }

    /// State on the parameter's device.
    fn followed(
        &self,
        name: &Bound<'py, PyAny>,
        tensor: Tensor,
        param: &Tensor,
    ) -> PyResult<Tensor> {
        let device = param.device();
        if tensor.device() == device {
            return Ok(tensor);
        }
        let moved = tensor.detach().to_device(device).map_err(to_py)?;
        self.entry.set_item(name, crate::tensor::PyTensor(moved.clone()))?;
        Ok(moved)
    }
}

fn adjustment(name: Option<&str>) -> wrap_burn::Result<LearningRate> {
    Ok(match name {
        None | Some("original") => LearningRate::Original,
        Some("match_rms_adamw") => LearningRate::MatchRmsAdamW,
        Some("spectral_unclamped") => LearningRate::SpectralUnclamped,
        Some(other) => bail!(Value, "Adjust learning rate function {other} is not supported"),
    })
}

/// A rule from arguments of the same names: hyperparameters, then flags.
macro_rules! rule {
    ($name:ident { $($number:ident),*; $($flag:ident),* }) => {
        $name { $($number: $number.get(),)* $($flag,)* }
    };
}

native_free! {
    fn optim_sgd(slots: Group, lr: Hyper, momentum: Hyper, dampening: Hyper, weight_decay: Hyper, nesterov: bool, maximize: bool) -> () =>
        optim::sgd(&slots.0, rule!(Sgd { lr, momentum, dampening, weight_decay; nesterov, maximize }));
    fn optim_adam(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, eps: Hyper, weight_decay: Hyper, decoupled: bool, amsgrad: bool, maximize: bool) -> () =>
        optim::adam(&slots.0, rule!(Adam { lr, beta1, beta2, eps, weight_decay; decoupled, maximize }), amsgrad);
    fn optim_radam(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, eps: Hyper, weight_decay: Hyper, decoupled: bool, maximize: bool) -> () =>
        optim::radam(&slots.0, rule!(Adam { lr, beta1, beta2, eps, weight_decay; decoupled, maximize }));
    fn optim_nadam(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, eps: Hyper, weight_decay: Hyper, momentum_decay: Hyper, decoupled: bool, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(NAdam { lr, beta1, beta2, eps, weight_decay, momentum_decay; decoupled, maximize }));
    fn optim_adamax(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, eps: Hyper, weight_decay: Hyper, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Adamax { lr, beta1, beta2, eps, weight_decay; maximize }));
    fn optim_adan(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, beta3: Hyper, eps: Hyper, weight_decay: Hyper, shrinks_first: bool, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Adan { lr, beta1, beta2, beta3, eps, weight_decay; shrinks_first, maximize }));
    fn optim_adadelta(slots: Group, lr: Hyper, rho: Hyper, eps: Hyper, weight_decay: Hyper, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Adadelta { lr, rho, eps, weight_decay; maximize }));
    fn optim_adagrad(slots: Group, lr: Hyper, lr_decay: Hyper, eps: Hyper, weight_decay: Hyper, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Adagrad { lr, lr_decay, eps, weight_decay; maximize }));
    fn optim_rmsprop(slots: Group, lr: Hyper, alpha: Hyper, eps: Hyper, weight_decay: Hyper, momentum: Hyper, centered: bool, maximize: bool) -> () =>
        optim::rmsprop(&slots.0, rule!(RmsProp { lr, alpha, eps, weight_decay, momentum; maximize }), centered);
    fn optim_rprop(slots: Group, eta_minus: Hyper, eta_plus: Hyper, shortest: Hyper, longest: Hyper, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Rprop { eta_minus, eta_plus, shortest, longest; maximize }));
    fn optim_asgd(slots: Group, lr: Hyper, lambd: Hyper, alpha: Hyper, t0: Hyper, weight_decay: Hyper, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Asgd { lr, lambd, alpha, t0, weight_decay; maximize }));
    fn optim_lion(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, weight_decay: Hyper, maximize: bool) -> () =>
        optim::step(&slots.0, &rule!(Lion { lr, beta1, beta2, weight_decay; maximize }));
    fn optim_lamb(slots: Group, lr: Hyper, beta1: Hyper, beta2: Hyper, eps: Hyper, weight_decay: Hyper, maximize: bool) -> () =>
        optim::lamb(&slots.0, &Lamb {
            lr: lr.get(),
            direction: rule!(LambDirection { beta1, beta2, eps, weight_decay; maximize }),
        });
    fn optim_adafactor(slots: Group, lr: Hyper, beta2_decay: f64, eps1: Option<f64>, eps2: f64, d: f64, weight_decay: f64, maximize: bool) -> () =>
        optim::adafactor(&slots.0, &rule!(Adafactor { lr; beta2_decay, eps1, eps2, d, weight_decay, maximize }));
    fn optim_muon(slots: Group, lr: Hyper, weight_decay: f64, momentum: f64, nesterov: bool, coefficients: [f64; 3], eps: f64, steps: usize, adjust_lr_fn: Option<String>) -> () => {
        let adjustment = adjustment(adjust_lr_fn.as_deref())?;
        optim::muon(&slots.0, &rule!(Muon { lr; weight_decay, momentum, nesterov, coefficients, eps, steps, adjustment }))
    };
}
