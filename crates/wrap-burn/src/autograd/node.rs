//! Nodes of the tape.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::hooks::Hooks;
use super::state::Tracking;
use crate::device::Device;
use crate::op::{Grads, Primitive, Saves, Tensors, Values, Vjp};
use crate::tensor::{Tensor, WeakTensor};
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// One output of one node: where a gradient flows next.
#[derive(Clone)]
pub struct Edge {
    /// The node whose output it is.
    pub node: Arc<Node>,
    /// Which output.
    pub output: usize,
}

/// A step of the tape.
pub struct Node {
    /// Later steps have higher numbers; accumulators have zero and run last.
    pub(crate) sequence: u64,
    pub(crate) kind: Kind,
    /// Where each input came from; `None` for constants.
    pub(crate) next: Mutex<SmallVec<[Option<Edge>; 2]>>,
    pub(crate) outputs: SmallVec<[(Meta, Device); 1]>,
    pub(crate) hooks: Mutex<SmallVec<[(usize, Hooks); 0]>>,
    /// Where the op was applied, kept in anomaly mode.
    pub(crate) origin: Option<String>,
}

pub(crate) enum Kind {
    /// An op and what its gradient reads.
    Op { op: Arc<dyn Primitive>, saved: Mutex<Option<Saved>> },
    /// A gradient rule from outside the engine.
    Custom(Box<dyn Backward>),
    /// A leaf, whose gradient is kept.
    Accumulate(Tensor),
}

/// A gradient rule written outside the engine, for example in Python.
pub trait Backward: Send + Sync {
    /// The name graphs and errors show.
    fn name(&self) -> String;
    /// The inputs' gradients from the outputs' (zeros are filled in by the rule if it wants them).
    fn apply(&self, node: &Arc<Node>, grads: &[Option<Tensor>], needs: &[bool]) -> Result<Grads>;
    /// Lets go of saved tensors once the graph is no longer needed.
    fn release(&self);
}

/// What an op's gradient reads, as it was when the op ran.
pub(crate) struct Saved {
    inputs: SmallVec<[Recorded; 2]>,
    outputs: SmallVec<[Recorded; 1]>,
}

/// A tensor as it was when it was saved: its value, how often that had been written, and where it
/// came from.
pub struct Recorded {
    value: Value,
    version: u64,
    origin: Option<Origin>,
}

enum Origin {
    Edge(Edge),
    /// An output of the very node that saved it; a strong link would be a cycle.
    Own(usize),
}

impl Recorded {
    /// Saves a tensor from before the op.
    pub fn input(tensor: &Tensor) -> Self {
        let value = tensor.value();
        let version = value.version();
        Self { value, version, origin: tensor.edge().map(Origin::Edge) }
    }

    /// Saves an output of the node that does the saving.
    pub fn own(tensor: &Tensor, output: usize) -> Self {
        let value = tensor.value();
        let version = value.version();
        Self { value, version, origin: Some(Origin::Own(output)) }
    }

    /// Shape and dtype of a tensor whose elements no gradient reads.
    fn shape_of(tensor: &Tensor) -> Self {
        let value = tensor.read();
        Self { value: Value::meta(value.to_meta(), value.device()), version: 0, origin: None }
    }

    fn kept_if(self, bits: u32, at: usize) -> Self {
        if wanted(bits, at) {
            return self;
        }
        let value = Value::meta(self.value.to_meta(), self.value.device());
        Self { value, version: 0, origin: None }
    }

    /// The tensor again, with its history if gradients of gradients are wanted.
    pub fn restore(&self, owner: &Arc<Node>) -> Result<Tensor> {
        if self.value.has_data() && self.value.version() != self.version {
            bail!(
                Runtime,
                "{}: one of the variables needed for gradient computation has been modified by an \
                 inplace operation: a tensor of shape {:?} is at version {}, expected version {}; \
                 hint: clone it before writing to it",
                owner.name(),
                self.value.shape,
                self.value.version(),
                self.version
            );
        }
        let tensor = Tensor::from_value(self.value.clone());
        if super::grad_enabled()
            && let Some(origin) = &self.origin
        {
            let edge = match origin {
                Origin::Edge(edge) => edge.clone(),
                Origin::Own(output) => Edge { node: owner.clone(), output: *output },
            };
            tensor.auto_mut().attach(edge);
        }
        Ok(tensor)
    }
}

impl Node {
    pub(crate) fn new(
        kind: Kind,
        next: SmallVec<[Option<Edge>; 2]>,
        outputs: SmallVec<[(Meta, Device); 1]>,
    ) -> Self {
        static SEQUENCE: AtomicU64 = AtomicU64::new(1);
        let sequence = match kind {
            Kind::Accumulate(_) => 0,
            _ => SEQUENCE.fetch_add(1, Ordering::Relaxed),
        };
        Self {
            sequence,
            kind,
            next: Mutex::new(next),
            outputs,
            hooks: Mutex::default(),
            origin: super::anomaly_enabled().then(super::mode::origin),
        }
    }

    /// A step whose rule reads shapes only.
    pub(crate) fn light(
        op: Arc<dyn Primitive>,
        input: Edge,
        input_meta: Value,
        output: Value,
    ) -> Arc<Self> {
        let shape = |value: Value| Recorded {
            value: Value::meta(value.to_meta(), value.device()),
            version: 0,
            origin: None,
        };
        let outputs = smallvec::smallvec![(output.to_meta(), output.device())];
        let saved = Saved {
            inputs: smallvec::smallvec![shape(input_meta)],
            outputs: smallvec::smallvec![shape(output)],
        };
        let kind = Kind::Op { op, saved: Mutex::new(Some(saved)) };
        Arc::new(Node::new(kind, smallvec::smallvec![Some(input)], outputs))
    }

    /// The op's name, as graphs show it.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Op { op, .. } => {
                let mut camel: String = op
                    .name()
                    .split('_')
                    .map(|part| {
                        part[..1.min(part.len())].to_uppercase() + &part[1.min(part.len())..]
                    })
                    .collect();
                camel.push_str("Backward0");
                camel
            }
            Kind::Custom(rule) => rule.name(),
            Kind::Accumulate(_) => "AccumulateGrad".into(),
        }
    }

    /// Where each input came from.
    pub fn next_edges(&self) -> Vec<Option<Edge>> {
        self.next.lock().to_vec()
    }

    /// The leaf whose gradient this node keeps.
    pub fn variable(&self) -> Option<&Tensor> {
        match &self.kind {
            Kind::Accumulate(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// How many outputs the step has.
    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// Registers a hook on the gradient of one output.
    pub(crate) fn add_hook(&self, output: usize, hook: super::Hook) -> super::HookId {
        let mut hooks = self.hooks.lock();
        match hooks.iter_mut().find(|(known, _)| *known == output) {
            Some((_, list)) => list.add(hook),
            None => {
                let mut list = Hooks::default();
                let id = list.add(hook);
                hooks.push((output, list));
                id
            }
        }
    }

    /// Removes a hook, if it is here.
    pub(crate) fn remove_hook(&self, id: super::HookId) {
        for (_, hooks) in self.hooks.lock().iter_mut() {
            hooks.remove(id);
        }
    }

    /// The inputs' gradients from the outputs'.
    pub(crate) fn run(
        self: &Arc<Self>,
        grads: &[Option<Tensor>],
        needs: &[bool],
        keep: bool,
    ) -> Result<Grads> {
        match &self.kind {
            Kind::Op { op, saved } => {
                let (inputs, outputs) = {
                    let mut slot = saved.lock();
                    let Some(saved) = slot.as_ref() else {
                        bail!(
                            Runtime,
                            "backward: trying to backward through the graph a second time (saved \
                             tensors of {} have been freed); hint: specify retain_graph=True when \
                             calling backward the first time",
                            self.name()
                        );
                    };
                    let restore = |list: &[Recorded]| -> Result<SmallVec<[Tensor; 3]>> {
                        list.iter().map(|recorded| recorded.restore(self)).collect()
                    };
                    let both = (restore(&saved.inputs)?, restore(&saved.outputs)?);
                    if !keep {
                        *slot = None;
                    }
                    both
                };
                let ctx = Vjp { inputs: &inputs, outputs: &outputs, grads, needs };
                op.vjp(&ctx).map_err(|fault| fault.within(self.name()))
            }
            Kind::Custom(rule) => {
                let grads = rule.apply(self, grads, needs)?;
                if !keep {
                    rule.release();
                }
                Ok(grads)
            }
            Kind::Accumulate(_) => bail!(Runtime, "backward: a leaf has no gradient rule"),
        }
    }
}

impl Drop for Node {
    /// Frees long chains without recursion: each node would otherwise drop the next one from
    /// within its own drop, and deep graphs would run out of stack.
    fn drop(&mut self) {
        let mut pending: Vec<Arc<Node>> =
            self.next.get_mut().drain(..).flatten().map(|edge| edge.node).collect();
        if let Kind::Op { saved, .. } = &mut self.kind {
            collect_origins(saved.get_mut(), &mut pending);
        }
        while let Some(node) = pending.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                pending.extend(node.next.get_mut().drain(..).flatten().map(|edge| edge.node));
                if let Kind::Op { saved, .. } = &mut node.kind {
                    collect_origins(saved.get_mut(), &mut pending);
                }
            }
        }
    }
}

fn collect_origins(saved: &mut Option<Saved>, pending: &mut Vec<Arc<Node>>) {
    let Some(saved) = saved else { return };
    for recorded in saved.inputs.iter_mut().chain(saved.outputs.iter_mut()) {
        if let Some(Origin::Edge(edge)) = recorded.origin.take() {
            pending.push(edge.node);
        }
    }
}

/// Records an op that ran and gives its results their history.
pub(crate) fn record(
    op: Arc<dyn Primitive>,
    inputs: &[&Tensor],
    values: Values,
    tracking: Tracking,
) -> Result<Tensors> {
    let saves = op.saves(&tracking.needs);
    let outputs: Tensors = values.into_iter().map(Tensor::from_value).collect();
    let node = node_with(op, save_inputs(inputs, saves), &outputs, tracking, saves);
    attach_outputs(&node, &outputs);
    Ok(outputs)
}

/// Records a view, whose rule reads shapes only.
pub(crate) fn record_view(
    op: Arc<dyn Primitive>,
    input: &Tensor,
    output: &Tensor,
    tracking: Tracking,
) {
    let before = save_inputs(&[input], Saves::NONE);
    let node = node_with(op, before, std::slice::from_ref(output), tracking, Saves::NONE);
    attach_outputs(&node, std::slice::from_ref(output));
}

/// The node of an op that ran; `before` was saved before it did.
pub(crate) fn node_with(
    op: Arc<dyn Primitive>,
    before: SmallVec<[Recorded; 2]>,
    outputs: &[Tensor],
    tracking: Tracking,
    saves: Saves,
) -> Arc<Node> {
    let outputs_saved = outputs
        .iter()
        .enumerate()
        .map(|(at, tensor)| Recorded::own(tensor, at).kept_if(saves.outputs, at))
        .collect();
    let metas = outputs.iter().map(|tensor| (tensor.meta(), tensor.device())).collect();
    let saved = Saved { inputs: before, outputs: outputs_saved };
    Arc::new(Node::new(Kind::Op { op, saved: Mutex::new(Some(saved)) }, tracking.edges, metas))
}

/// Saves the inputs an op's gradient reads; of the others, shape and dtype.
pub(crate) fn save_inputs(inputs: &[&Tensor], saves: Saves) -> SmallVec<[Recorded; 2]> {
    inputs
        .iter()
        .enumerate()
        .map(|(at, tensor)| {
            if wanted(saves.inputs, at) {
                Recorded::input(tensor)
            } else {
                Recorded::shape_of(tensor)
            }
        })
        .collect()
}

/// [`save_inputs`] for an op that writes over its first input, of which a copy is kept.
pub(crate) fn save_overwritten(
    inputs: &[&Tensor],
    saves: Saves,
) -> Result<SmallVec<[Recorded; 2]>> {
    let mut saved = save_inputs(inputs, saves);
    if wanted(saves.inputs, 0) {
        let copy = saved[0].value.copied()?;
        saved[0].version = copy.version();
        saved[0].value = copy;
    }
    Ok(saved)
}

fn wanted(bits: u32, at: usize) -> bool {
    bits & (1u32 << at.min(31)) != 0
}

pub(crate) fn attach_outputs(node: &Arc<Node>, outputs: &[Tensor]) {
    for (output, tensor) in outputs.iter().enumerate() {
        if tensor.dtype().is_differentiable() {
            tensor.auto_mut().attach(Edge { node: node.clone(), output });
        }
    }
}

/// Records a rule from outside the engine over outputs that exist already. `differentiable` says
/// which outputs gradients flow from.
pub fn record_custom(
    rule: Box<dyn Backward>,
    inputs: &[&Tensor],
    outputs: &[Tensor],
    differentiable: &[bool],
) -> Option<Arc<Node>> {
    let tracking = Tracking::of(inputs)?;
    let metas = outputs.iter().map(|tensor| (tensor.meta(), tensor.device())).collect();
    let node = Arc::new(Node::new(Kind::Custom(rule), tracking.edges, metas));
    for (output, (tensor, &wanted)) in outputs.iter().zip(differentiable).enumerate() {
        if wanted && tensor.dtype().is_differentiable() {
            tensor.auto_mut().attach(Edge { node: node.clone(), output });
        }
    }
    Some(node)
}

/// The accumulator of a leaf.
pub(crate) fn accumulator(leaf: &Tensor) -> Arc<Node> {
    let outputs = smallvec::smallvec![(leaf.meta(), leaf.device())];
    Arc::new(Node::new(Kind::Accumulate(leaf.clone()), SmallVec::new(), outputs))
}

/// Keeps [`WeakTensor`] next to its use in retained gradients.
pub(crate) fn retain_hook(target: WeakTensor) -> super::Hook {
    Arc::new(move |grad| {
        if let Some(tensor) = target.upgrade() {
            tensor.auto_mut().grad = Some(grad.clone());
        }
        Ok(None)
    })
}
