//! The walk back along the tape.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::mode::{ModeGuard, anomaly_enabled};
use super::node::{Edge, Kind, Node};
use crate::autocast::Paused;
use crate::interrupt::Pulse;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

type Key = *const Node;
type Slots = SmallVec<[Option<Tensor>; 1]>;

/// Accumulates gradients of `roots` into the leaves' `grad` (only into `inputs`, where given).
pub fn backward(
    roots: &[Tensor],
    seeds: &[Option<Tensor>],
    retain_graph: bool,
    create_graph: bool,
    inputs: Option<&[Tensor]>,
) -> Result<()> {
    let targets = match inputs {
        Some([]) => bail!(Runtime, "backward: inputs cannot be empty"),
        Some(inputs) => Some(target_edges("backward", inputs)?),
        None => None,
    };
    let captured = run("backward", roots, seeds, retain_graph, create_graph, targets.as_deref())?;
    for (tensor, grad) in inputs.unwrap_or_default().iter().zip(captured) {
        if let Some(grad) = grad {
            accumulate(tensor, grad, create_graph)?;
        }
    }
    Ok(())
}

/// The gradients of `outputs` with respect to `inputs`; `None` where none depends on one.
pub fn grad(
    outputs: &[Tensor],
    inputs: &[Tensor],
    seeds: &[Option<Tensor>],
    retain_graph: bool,
    create_graph: bool,
) -> Result<Vec<Option<Tensor>>> {
    let targets = target_edges("grad", inputs)?;
    run("grad", outputs, seeds, retain_graph, create_graph, Some(&targets))
}

fn target_edges(op: &str, inputs: &[Tensor]) -> Result<Vec<Edge>> {
    inputs
        .iter()
        .map(|tensor| match tensor.edge() {
            Some(edge) => Ok(edge),
            None => bail!(
                Runtime,
                "{op}: one of the differentiated tensors does not require grad (shape {:?})",
                tensor.shape()
            ),
        })
        .collect()
}

/// The gradient a walk starts with.
fn seed(op: &str, root: &Tensor, given: Option<&Tensor>) -> Result<Tensor> {
    let Meta { shape, dtype } = root.meta();
    match given {
        Some(given) => {
            if given.shape() != shape {
                bail!(
                    Runtime,
                    "{op}: mismatch in shape: the gradient has shape {:?} and the output has shape \
                     {shape:?}",
                    given.shape()
                );
            }
            if given.dtype().is_complex() != dtype.is_complex() {
                bail!(
                    Runtime,
                    "{op}: for a {dtype} output, got a gradient of dtype {}",
                    given.dtype()
                );
            }
            given.to_dtype(dtype)
        }
        None => {
            if root.numel() != 1 {
                bail!(
                    Runtime,
                    "{op}: grad can be implicitly created only for scalar outputs, got shape \
                     {shape:?}; hint: pass gradient= of that shape, or call .sum() first"
                );
            }
            if dtype.is_complex() {
                bail!(
                    Runtime,
                    "{op}: grad can be implicitly created only for real scalar outputs but got {dtype}"
                );
            }
            Tensor::full(&shape, 1.0, dtype, root.device())
        }
    }
}

struct Waiting(Arc<Node>);

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.sequence, Arc::as_ptr(&self.0)).cmp(&(other.0.sequence, Arc::as_ptr(&other.0)))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Waiting {}

/// Which nodes lie between the roots and the targets.
fn needed(roots: &[Edge], targets: &[Edge]) -> FxHashSet<Key> {
    let mut order: Vec<Arc<Node>> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<Arc<Node>> = roots.iter().map(|edge| edge.node.clone()).collect();
    while let Some(node) = stack.pop() {
        if seen.insert(Arc::as_ptr(&node)) {
            stack.extend(node.next.lock().iter().flatten().map(|edge| edge.node.clone()));
            order.push(node);
        }
    }
    // Earlier steps have lower numbers, so one pass decides.
    order.sort_by_key(|node| node.sequence);
    let mut found: FxHashSet<Key> = targets.iter().map(|edge| Arc::as_ptr(&edge.node)).collect();
    for node in &order {
        let leads =
            node.next.lock().iter().flatten().any(|edge| found.contains(&Arc::as_ptr(&edge.node)));
        if leads {
            found.insert(Arc::as_ptr(node));
        }
    }
    found
}

fn run(
    op: &str,
    roots: &[Tensor],
    seeds: &[Option<Tensor>],
    retain_graph: bool,
    create_graph: bool,
    targets: Option<&[Edge]>,
) -> Result<Vec<Option<Tensor>>> {
    let _mode = ModeGuard::grad(create_graph);
    // Gradients have the dtypes that the forward ops computed in.
    let _given = Paused::new();
    let mut slots: FxHashMap<Key, Slots> = FxHashMap::default();
    let mut queue: BinaryHeap<Waiting> = BinaryHeap::new();
    let mut edges = Vec::with_capacity(roots.len());
    for (at, root) in roots.iter().enumerate() {
        let Some(edge) = root.edge() else {
            bail!(
                Runtime,
                "{op}: element {at} of tensors does not require grad and does not have a grad_fn"
            );
        };
        let seed = seed(op, root, seeds.get(at).and_then(Option::as_ref))?;
        deliver(&mut slots, &mut queue, &edge, seed)?;
        edges.push(edge);
    }
    let needed = targets.map(|targets| needed(&edges, targets));
    drop(edges);
    let mut captured: Vec<Option<Tensor>> = vec![None; targets.map_or(0, <[Edge]>::len)];
    let mut pulse = Pulse::new();

    while let Some(Waiting(node)) = queue.pop() {
        let Some(mut grads) = slots.remove(&Arc::as_ptr(&node)) else { continue };
        pulse.before(grads.iter().flatten().map(Tensor::numel).sum())?;
        run_hooks(&node, &mut grads)?;
        if let Some(targets) = targets {
            for (slot, target) in captured.iter_mut().zip(targets) {
                if Arc::ptr_eq(&target.node, &node) {
                    *slot = grads[target.output].clone();
                }
            }
        }
        if let Kind::Accumulate(leaf) = &node.kind {
            if targets.is_none()
                && let Some(grad) = grads[0].take()
            {
                accumulate(leaf, grad, create_graph)?;
            }
            continue;
        }
        let next: SmallVec<[Option<Edge>; 2]> = node.next.lock().clone();
        let wanted =
            |edge: &Edge| needed.as_ref().is_none_or(|set| set.contains(&Arc::as_ptr(&edge.node)));
        let needs: SmallVec<[bool; 3]> =
            next.iter().map(|edge| edge.as_ref().is_some_and(wanted)).collect();
        if !needs.contains(&true) {
            continue;
        }
        let results = node.run(&grads, &needs, retain_graph)?;
        if anomaly_enabled() {
            check_anomaly(&node, &results)?;
        }
        for ((edge, grad), need) in next.iter().zip(results).zip(needs) {
            if let (Some(edge), Some(grad), true) = (edge, grad, need) {
                let grad = fitted(&node, grad, &edge.node.outputs[edge.output].0)?;
                deliver(&mut slots, &mut queue, edge, grad)?;
            }
        }
    }
    Ok(captured)
}

/// A gradient in its tensor's dtype; a rule that returned another shape is at fault.
fn fitted(node: &Arc<Node>, grad: Tensor, meta: &Meta) -> Result<Tensor> {
    if grad.shape() != meta.shape {
        let grad_shape = grad.shape();
        if crate::shape::broadcast("", &meta.shape, &grad_shape)
            .is_ok_and(|both| both == grad_shape)
        {
            return grad.sum_to(&meta.shape)?.to_dtype(meta.dtype);
        }
        bail!(
            Runtime,
            "{}: returned an invalid gradient: got shape {grad_shape:?} but expected shape \
             compatible with {:?}",
            node.name(),
            meta.shape
        );
    }
    // A real input of a complex computation takes the real part.
    if grad.dtype().is_complex() && !meta.dtype.is_complex() {
        return grad.real()?.to_dtype(meta.dtype);
    }
    grad.to_dtype(meta.dtype)
}

fn deliver(
    slots: &mut FxHashMap<Key, Slots>,
    queue: &mut BinaryHeap<Waiting>,
    edge: &Edge,
    grad: Tensor,
) -> Result<()> {
    let grads = slots.entry(Arc::as_ptr(&edge.node)).or_insert_with(|| {
        queue.push(Waiting(edge.node.clone()));
        smallvec::smallvec![None; edge.node.outputs.len()]
    });
    let slot = &mut grads[edge.output];
    *slot = Some(match slot.take() {
        None => grad,
        Some(sum) => sum.add(&grad)?,
    });
    Ok(())
}

fn run_hooks(node: &Arc<Node>, grads: &mut Slots) -> Result<()> {
    let lists: SmallVec<[(usize, Vec<super::Hook>); 1]> = match &node.kind {
        Kind::Accumulate(leaf) => {
            let hooks = leaf.auto().map(|state| state.hooks.snapshot()).unwrap_or_default();
            smallvec::smallvec![(0, hooks)]
        }
        _ => node.hooks.lock().iter().map(|(output, hooks)| (*output, hooks.snapshot())).collect(),
    };
    for (output, hooks) in lists {
        for hook in hooks {
            let Some(grad) = &grads[output] else { break };
            if let Some(other) = hook(grad)? {
                if other.shape() != grad.shape() {
                    bail!(
                        Runtime,
                        "hook: has changed the size of the gradient, expected {:?}, got {:?}",
                        grad.shape(),
                        other.shape()
                    );
                }
                grads[output] = Some(other);
            }
        }
    }
    Ok(())
}

fn check_anomaly(node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<()> {
    for (at, grad) in grads.iter().enumerate() {
        if let Some(grad) = grad
            && grad.has_nan()?
        {
            let origin = match node.origin.as_deref() {
                Some(origin) if !origin.is_empty() => format!("; the forward call was\n{origin}"),
                _ => "; hint: the forward pass ran outside detect_anomaly()".into(),
            };
            bail!(Runtime, "{}: returned nan values in its {at}th output{origin}", node.name());
        }
    }
    Ok(())
}

/// Adds to a leaf's kept gradient.
fn accumulate(leaf: &Tensor, grad: Tensor, create_graph: bool) -> Result<()> {
    let plus = |kept: Tensor, grad: &Tensor| match create_graph {
        true => kept.add(grad),
        false => kept.add_(grad).map(|()| kept),
    };
    let kept = leaf.auto_mut().grad.take();
    let mut sum = match kept {
        Some(kept) => plus(kept, &grad)?,
        None if create_graph => grad,
        // Taken over if nobody else holds it, copied otherwise: later additions are in place.
        None if grad.handles() == 1 && owns_storage(&grad) => grad,
        None => Tensor::from_value(grad.value().copied()?),
    };
    // Walks of other threads may reach this leaf meanwhile: what they have put there counts too.
    let hooks = loop {
        let other = {
            let mut state = leaf.auto_mut();
            match state.grad.take() {
                Some(other) => other,
                None => {
                    state.grad = Some(sum);
                    break state.accumulated.snapshot();
                }
            }
        };
        sum = plus(sum, &other)?;
    };
    for hook in hooks {
        hook(leaf)?;
    }
    Ok(())
}

fn owns_storage(tensor: &Tensor) -> bool {
    let value: &Value = &tensor.read();
    let unique = match &value.storage {
        crate::value::Storage::Host(buffer) => Arc::strong_count(buffer) == 1,
        crate::value::Storage::Device(memory) => Arc::strong_count(memory) == 1,
        crate::value::Storage::Meta(_) => true,
    };
    unique && value.is_contiguous()
}
