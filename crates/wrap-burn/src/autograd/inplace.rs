//! Writing into a tensor's memory while keeping every history that sees it right.

use std::sync::Arc;

use smallvec::SmallVec;

use super::node::{self, Edge};
use super::state::Tracking;
use crate::autocast::Paused;
use crate::op::{self, Primitive, Saves};
use crate::ops::view::ViewScatter;
use crate::tensor::Tensor;
use crate::{Result, bail};

/// Refuses writes that gradients could not follow.
fn check_writable(op: &str, target: &Tensor) -> Result<()> {
    let value = target.read();
    let overlaps =
        value.shape.iter().zip(&value.strides).any(|(&size, &stride)| size > 1 && stride == 0);
    if overlaps {
        bail!(
            Runtime,
            "{op}: unsupported operation: more than one element of the written-to tensor refers \
             to a single memory location; hint: clone() it before writing"
        );
    }
    drop(value);
    check_history(op, target)
}

/// Refuses to change a leaf's history, and one that the base no longer has.
fn check_history(op: &str, target: &Tensor) -> Result<()> {
    if !super::grad_enabled() {
        return Ok(());
    }
    if target.requires_grad() && target.is_leaf() {
        bail!(
            Runtime,
            "{op}: a leaf variable that requires grad is being used in an in-place operation; \
             hint: do it under no_grad() or on a clone"
        );
    }
    let Some(base) = target.base() else { return Ok(()) };
    if base.is_leaf() && base.requires_grad() {
        bail!(
            Runtime,
            "{op}: a view of a leaf variable that requires grad is being used in an in-place \
             operation; hint: do it under no_grad() or on a clone"
        );
    }
    Ok(())
}

/// Applies an op whose only output replaces its first input's elements.
pub fn apply_into(op: &dyn Primitive, inputs: &[&Tensor]) -> Result<()> {
    let target = inputs[0];
    // A write in place has the target's dtype.
    let _given = Paused::new();
    check_writable(op.name(), target)?;
    let tracking = if op.differentiable() { Tracking::of(inputs) } else { None };
    let guards: SmallVec<[_; 3]> = inputs.iter().map(|tensor| tensor.read()).collect();
    let values: SmallVec<[&crate::value::Value; 3]> = guards.iter().map(|guard| &**guard).collect();
    let device = op::common_device(op.name(), &values)?;
    let metas = op.infer(&values)?;
    let own = values[0];
    if metas[0].shape != own.shape {
        bail!(
            Runtime,
            "{}: output with shape {:?} doesn't match the broadcast shape {:?}",
            op.name(),
            own.shape,
            metas[0].shape
        );
    }
    if metas[0].dtype != own.dtype {
        drop(values);
        drop(guards);
        return assign(target, &op::apply1(op, inputs)?);
    }
    // What the gradient reads is noted as it is before the write.
    let saves = tracking.as_ref().map(|tracking| op.saves(&tracking.needs)).unwrap_or_default();
    let own = own.clone();
    let before = match &tracking {
        Some(_) => Some(node::save_inputs(inputs, saves, Some(&own))?),
        None => None,
    };
    let direct = device == crate::Device::Cpu
        && own.dtype == own.dtype.widened()
        && !values[1..].iter().any(|value| value.shares_storage(&own))
        && op.run_into(&own, &values)?;
    if !direct {
        let result = op::execute(op, &values, &metas, device)?;
        own.assign(&result[0])?;
    }
    drop(values);
    drop(guards);
    own.bump_version();
    let edge = match (tracking, before) {
        (Some(tracking), Some(before)) => {
            let node =
                node::node_with(op.to_arc(), before, std::slice::from_ref(target), tracking, saves);
            Some(Edge { node, output: 0 })
        }
        _ => None,
    };
    rebase(target, edge, false)
}

/// Writes `result` over `target`'s elements, converted to its dtype and broadcast to its shape.
pub fn assign(target: &Tensor, result: &Tensor) -> Result<()> {
    check_writable("copy_", target)?;
    let (own, other) = (target.dtype(), result.dtype());
    if other.category() > own.category() {
        bail!(
            Runtime,
            "result type {other} can't be cast to the desired output type {own}; hint: use the \
             out-of-place form"
        );
    }
    overwrite(target, result, false)
}

/// Writes `source` over `target`'s elements whatever its dtype, as `copy_` does.
pub(crate) fn copy(target: &Tensor, source: &Tensor) -> Result<()> {
    overwrite(target, source, true)
}

fn overwrite(target: &Tensor, source: &Tensor, foreign: bool) -> Result<()> {
    check_writable("copy_", target)?;
    let shape = target.shape();
    let source = source.to_device(target.device())?.to_dtype(target.dtype())?;
    let source =
        if source.shape() == shape { source } else { source.expand_to("copy_", &shape)? };
    let edge = if super::grad_enabled() { source.edge() } else { None };
    let value = target.value();
    value.assign(&source.value())?;
    value.bump_version();
    rebase(target, edge, foreign)
}

/// Lets a tensor look at its own memory as `turn` looks at it: what `t_`, `squeeze_` and their like
/// do. Its history follows; from then on it is a view of what it was.
pub fn look(op: &str, target: &Tensor, turn: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
    check_history(op, target)?;
    let before = Tensor::from_value(target.value());
    let has_history = target.requires_grad() && !target.is_leaf();
    if has_history || !target.requires_grad() {
        let state = target.auto_mut();
        before.auto_mut().inherit(&state);
    }
    let view = {
        let _on = super::ModeGuard::grad(has_history);
        turn(&before)?
    };
    if view.is(&before) {
        return Ok(());
    }
    target.set_value(view.value());
    if before.auto().is_some()
        && let Some(state) = view.auto()
    {
        target.auto_mut().inherit(&state);
    }
    Ok(())
}

/// Gives a written tensor its new history: its own, or, for a view, its base's. A `foreign` one does
/// not come from the tensor's own, which then gets a gradient of zero.
fn rebase(target: &Tensor, edge: Option<Edge>, foreign: bool) -> Result<()> {
    if !super::grad_enabled() {
        return Ok(());
    }
    let view = target.auto().and_then(|state| state.view.clone());
    let (base, chain) = match view {
        Some(view) => (view.root(), view.chain.into_vec()),
        None => {
            if edge.is_some() && !(foreign && target.requires_grad()) {
                target.auto_mut().rebase(edge);
                return Ok(());
            }
            // Overwritten by a constant: what was there before gets a gradient of zero.
            (target.clone(), Vec::new())
        }
    };
    let from = base.edge();
    if edge.is_none() && from.is_none() {
        return Ok(());
    }
    let tracking = Tracking {
        needs: smallvec::smallvec![from.is_some(), edge.is_some()],
        edges: smallvec::smallvec![from, edge],
    };
    let before = node::save_inputs(&[&base, target], Saves::NONE, None)?;
    let scatter = Arc::new(ViewScatter { chain });
    let node = node::node_with(scatter, before, std::slice::from_ref(&base), tracking, Saves::NONE);
    base.auto_mut().rebase(Some(Edge { node, output: 0 }));
    Ok(())
}
