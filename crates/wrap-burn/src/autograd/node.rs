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
    inputs: SavedInputs,
    /// Of the outputs that are not read the node knows shape and dtype anyway.
    outputs: SmallVec<[Option<Recorded>; 1]>,
}

pub(crate) type SavedInputs = SmallVec<[Kept; 2]>;

/// What is kept of an input.
pub(crate) enum Kept {
    Shape(Meta, Device),
    Elements(Recorded),
}

/// A tensor as it was when it was saved: its value, how often that had been written, and where it
/// came from.
pub struct Recorded(Box<Record>);

struct Record {
    value: Value,
    version: u64,
    origin: Option<Origin>,
}

enum Origin {
    Edge(Edge),
    /// Where the saving node's input at this place came from.
    Input(usize),
    /// An output of the very node that saved it; a strong link would be a cycle.
    Own(usize),
}

impl Recorded {
    /// Saves a tensor from before the op.
    pub fn input(tensor: &Tensor) -> Self {
        Self::new(tensor.value(), tensor.edge().map(Origin::Edge))
    }

    /// Saves an output of the node that does the saving.
    pub fn own(tensor: &Tensor, output: usize) -> Self {
        Self::new(tensor.value(), Some(Origin::Own(output)))
    }

    fn new(value: Value, origin: Option<Origin>) -> Self {
        let version = value.version();
        Self(Box::new(Record { value, version, origin }))
    }

    /// The tensor again, with its history if that is wanted.
    pub fn restore(&self, owner: &Arc<Node>, history: bool) -> Result<Tensor> {
        let Self(record) = self;
        if record.value.has_data() && record.value.version() != record.version {
            bail!(
                Runtime,
                "{}: one of the variables needed for gradient computation has been modified by an \
                 inplace operation: a tensor of shape {:?} is at version {}, expected version {}; \
                 hint: clone it before writing to it",
                owner.name(),
                record.value.shape,
                record.value.version(),
                record.version
            );
        }
        let tensor = Tensor::from_value(record.value.clone());
        if history && let Some(origin) = &record.origin {
            let edge = match origin {
                Origin::Edge(edge) => Some(edge.clone()),
                Origin::Input(at) => owner.next.lock()[*at].clone(),
                Origin::Own(output) => Some(Edge { node: owner.clone(), output: *output }),
            };
            if let Some(edge) = edge {
                tensor.auto_mut().attach(edge);
            }
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
        let outputs = smallvec::smallvec![(output.to_meta(), output.device())];
        let shape = Kept::Shape(input_meta.to_meta(), input_meta.device());
        let saved =
            Saved { inputs: smallvec::smallvec![shape], outputs: smallvec::smallvec![None] };
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
                    let shape = |meta: &Meta, device: Device| {
                        Ok(Tensor::from_value(Value::meta(meta.clone(), device)))
                    };
                    let history = super::grad_enabled();
                    let inputs = saved.inputs.iter().map(|kept| match kept {
                        Kept::Shape(meta, device) => shape(meta, *device),
                        Kept::Elements(recorded) => recorded.restore(self, history),
                    });
                    let outputs = saved.outputs.iter().zip(&self.outputs);
                    let outputs = outputs.map(|(kept, (meta, device))| match kept {
                        None => shape(meta, *device),
                        Some(recorded) => recorded.restore(self, history),
                    });
                    let both = (
                        inputs.collect::<Result<SmallVec<[Tensor; 3]>>>()?,
                        outputs.collect::<Result<SmallVec<[Tensor; 1]>>>()?,
                    );
                    // Shapes are kept, so that steps which need no more can run again.
                    let elements = saved.outputs.iter().any(Option::is_some)
                        || saved.inputs.iter().any(|kept| matches!(kept, Kept::Elements(_)));
                    if !keep && elements {
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
        let mut pending: SmallVec<[Arc<Node>; 4]> = SmallVec::new();
        self.cut(&mut pending);
        while let Some(node) = pending.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                node.cut(&mut pending);
            }
        }
    }
}

impl Node {
    /// Moves the links to earlier nodes out of this one.
    fn cut(&mut self, pending: &mut SmallVec<[Arc<Node>; 4]>) {
        if let Kind::Custom(rule) = &self.kind {
            // What it saved may link to the same nodes, which must not end in here.
            rule.release();
        }
        pending.extend(self.next.get_mut().drain(..).flatten().map(|edge| edge.node));
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
    let node = node_with(op, save_inputs(inputs, saves, None)?, &outputs, tracking, saves);
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
    let before = smallvec::smallvec![Kept::Shape(input.meta(), input.device())];
    let node = node_with(op, before, std::slice::from_ref(output), tracking, Saves::NONE);
    attach_outputs(&node, std::slice::from_ref(output));
}

/// The node of an op that ran; `before` was saved before it did.
pub(crate) fn node_with(
    op: Arc<dyn Primitive>,
    before: SavedInputs,
    outputs: &[Tensor],
    tracking: Tracking,
    saves: Saves,
) -> Arc<Node> {
    let outputs_saved = outputs
        .iter()
        .enumerate()
        .map(|(at, tensor)| wanted(saves.outputs, at).then(|| Recorded::own(tensor, at)))
        .collect();
    let metas = outputs.iter().map(|tensor| (tensor.meta(), tensor.device())).collect();
    let saved = Saved { inputs: before, outputs: outputs_saved };
    Arc::new(Node::new(Kind::Op { op, saved: Mutex::new(Some(saved)) }, tracking.edges, metas))
}

/// Saves the inputs an op's gradient reads; of the others, shape and dtype. What lies in the memory
/// `overwritten`, which the op is about to write, is copied.
pub(crate) fn save_inputs(
    inputs: &[&Tensor],
    saves: Saves,
    overwritten: Option<&Value>,
) -> Result<SavedInputs> {
    let mut kept = SavedInputs::new();
    for (at, tensor) in inputs.iter().enumerate() {
        let value = tensor.read();
        kept.push(if !wanted(saves.inputs, at) {
            Kept::Shape(value.to_meta(), value.device())
        } else if overwritten.is_some_and(|target| target.shares_storage(&value)) {
            Kept::Elements(Recorded::new(value.copied()?, Some(Origin::Input(at))))
        } else {
            Kept::Elements(Recorded::new(value.clone(), Some(Origin::Input(at))))
        });
    }
    Ok(kept)
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
