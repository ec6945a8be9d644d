//! What autograd knows of one tensor.

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use super::hooks::{Hook, HookId, Hooks};
use super::node::{self, Edge, Node};
use crate::ops::view::ViewOp;
use crate::tensor::Tensor;
use crate::{Result, bail};

/// Autograd's state of a tensor.
#[derive(Default)]
pub(crate) struct AutoState {
    /// Set by the user on a leaf.
    pub(crate) requires_grad: bool,
    /// The gradient kept by `backward`.
    pub(crate) grad: Option<Tensor>,
    /// Where a computed tensor came from.
    history: Option<Edge>,
    /// A leaf's accumulator, while some graph uses it.
    accumulator: Weak<Node>,
    /// Hooks of a leaf; those of computed tensors hang on their node.
    pub(crate) hooks: Hooks,
    /// Run after a leaf's gradient was accumulated.
    pub(crate) accumulated: Hooks,
    /// The hook that keeps a computed tensor's gradient.
    retained: Option<HookId>,
    /// Whose memory this tensor looks at.
    pub(crate) view: Option<Box<View>>,
    /// Counts in-place changes of the history, so that views notice.
    generation: u64,
}

/// A view: its base, how it looks at it, and the base's history it was made under.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) base: Tensor,
    pub(crate) chain: SmallVec<[ViewOp; 1]>,
    pub(crate) seen: u64,
}

impl View {
    /// The tensor whose memory it is. A base that was turned in place has become a view itself: of
    /// what it was when this view was made.
    pub(crate) fn root(&self) -> Tensor {
        let turned = self.base.auto().and_then(|state| Some(state.view.as_ref()?.base.clone()));
        turned.unwrap_or_else(|| self.base.clone())
    }
}

impl AutoState {
    /// Gives a fresh result its history.
    pub(crate) fn attach(&mut self, edge: Edge) {
        self.history = Some(edge);
    }

    /// Replaces the history after an in-place write.
    pub(crate) fn rebase(&mut self, edge: Option<Edge>) {
        self.history = edge;
        self.generation += 1;
    }

    /// Takes over where another tensor came from and whose memory it looks at.
    pub(crate) fn inherit(&mut self, other: &AutoState) {
        self.history = other.history.clone();
        self.view = other.view.clone();
        self.generation = other.generation;
    }

    pub(crate) fn clear_history(&mut self) {
        self.history = None;
        self.generation += 1;
    }
}

/// Which inputs of an op want gradients, and where they came from.
pub(crate) struct Tracking {
    pub(crate) needs: SmallVec<[bool; 3]>,
    pub(crate) edges: SmallVec<[Option<Edge>; 2]>,
}

impl Tracking {
    /// `None` if nothing has to be recorded.
    pub(crate) fn of(inputs: &[&Tensor]) -> Option<Self> {
        if !super::grad_enabled() {
            return None;
        }
        let edges: SmallVec<[Option<Edge>; 2]> =
            inputs.iter().map(|tensor| tensor.edge()).collect();
        if edges.iter().all(Option::is_none) {
            return None;
        }
        Some(Self { needs: edges.iter().map(Option::is_some).collect(), edges })
    }
}

impl Tensor {
    /// Whether gradients flow to this tensor.
    pub fn requires_grad(&self) -> bool {
        self.refresh_view();
        self.auto().is_some_and(|state| state.requires_grad || state.history.is_some())
    }

    /// Made by the user rather than by a recorded op.
    pub fn is_leaf(&self) -> bool {
        self.refresh_view();
        self.auto().is_none_or(|state| state.history.is_none())
    }

    /// Marks a leaf as wanting a gradient, or not.
    pub fn set_requires_grad(&self, wanted: bool) -> Result<()> {
        if wanted && !self.dtype().is_differentiable() {
            bail!(
                Runtime,
                "requires_grad: only tensors of floating point and complex dtype can require \
                 gradients, got {}",
                self.dtype()
            );
        }
        if !self.is_leaf() {
            if wanted {
                return Ok(());
            }
            bail!(
                Runtime,
                "requires_grad: you can only change requires_grad flags of leaf variables; hint: \
                 use .detach() to get a tensor that does not require a gradient"
            );
        }
        if wanted || self.auto().is_some() {
            self.auto_mut().requires_grad = wanted;
        }
        Ok(())
    }

    /// The node this tensor came out of.
    pub fn grad_fn(&self) -> Option<Arc<Node>> {
        self.refresh_view();
        self.auto()?.history.as_ref().map(|edge| edge.node.clone())
    }

    /// Which output of its node this tensor is.
    pub fn output_number(&self) -> usize {
        self.auto().and_then(|state| state.history.as_ref().map(|edge| edge.output)).unwrap_or(0)
    }

    /// Where a gradient of this tensor flows: its node, or a leaf's accumulator.
    pub fn edge(&self) -> Option<Edge> {
        self.refresh_view();
        let mut state = self.auto()?;
        if let Some(edge) = &state.history {
            return Some(edge.clone());
        }
        if !state.requires_grad {
            return None;
        }
        let node = match state.accumulator.upgrade() {
            Some(node) => node,
            None => {
                let node = node::accumulator(self);
                state.accumulator = Arc::downgrade(&node);
                node
            }
        };
        Some(Edge { node, output: 0 })
    }

    /// The gradient kept by `backward`.
    pub fn grad(&self) -> Option<Tensor> {
        self.auto()?.grad.clone()
    }

    /// Replaces or clears the kept gradient.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        if let Some(grad) = &grad {
            let (own, other) = (self.meta(), grad.meta());
            if own != other || self.device() != grad.device() {
                bail!(
                    Runtime,
                    "grad: expected shape {:?}, dtype {} on {}, got shape {:?}, dtype {} on {}",
                    own.shape,
                    own.dtype,
                    self.device(),
                    other.shape,
                    other.dtype,
                    grad.device()
                );
            }
        }
        if grad.is_some() || self.auto().is_some() {
            self.auto_mut().grad = grad;
        }
        Ok(())
    }

    /// Asks for the gradient of a computed tensor to be kept too.
    pub fn retain_grad(&self) -> Result<()> {
        if !self.requires_grad() {
            bail!(
                Runtime,
                "retain_grad: can't retain_grad on a tensor that has requires_grad=False"
            );
        }
        if self.is_leaf() || self.retains_grad() {
            return Ok(());
        }
        let id = self.register_hook(node::retain_hook(self.downgrade()))?;
        self.auto_mut().retained = Some(id);
        Ok(())
    }

    /// Whether a computed tensor's gradient is kept.
    pub fn retains_grad(&self) -> bool {
        self.auto().is_some_and(|state| state.retained.is_some())
    }

    /// Registers a function that sees, and may replace, this tensor's gradient.
    pub fn register_hook(&self, hook: Hook) -> Result<HookId> {
        if !self.requires_grad() {
            bail!(
                Runtime,
                "register_hook: cannot register a hook on a tensor that doesn't require gradient"
            );
        }
        let mut state = self.auto_mut();
        match state.history.clone() {
            Some(edge) => {
                drop(state);
                Ok(edge.node.add_hook(edge.output, hook))
            }
            None => Ok(state.hooks.add(hook)),
        }
    }

    /// Registers a function that runs after this leaf's gradient was accumulated.
    pub fn register_accumulated(&self, hook: Hook) -> Result<HookId> {
        if !self.requires_grad() || !self.is_leaf() {
            bail!(
                Runtime,
                "register_post_accumulate_grad_hook: only leaf tensors that require a gradient \
                 accumulate one"
            );
        }
        Ok(self.auto_mut().accumulated.add(hook))
    }

    /// Removes a hook.
    pub fn remove_hook(&self, id: HookId) {
        let Some(mut state) = self.auto() else { return };
        state.hooks.remove(id);
        state.accumulated.remove(id);
        if let Some(edge) = &state.history {
            edge.node.remove_hook(id);
        }
    }

    /// The same memory without a history.
    pub fn detach(&self) -> Tensor {
        Tensor::from_value(self.value())
    }

    /// Cuts this tensor off its history in place.
    pub fn detach_(&self) -> Result<()> {
        if let Some(mut state) = self.auto() {
            if state.view.is_some() && state.history.is_some() {
                bail!(Runtime, "detach_: can't detach a view in-place; hint: use detach() instead");
            }
            state.clear_history();
            state.requires_grad = false;
        }
        Ok(())
    }

    /// The tensor whose memory this one looks at.
    pub fn base(&self) -> Option<Tensor> {
        self.auto()?.view.as_ref().map(|view| view.root())
    }

    /// Forgets that this tensor is a view.
    pub(crate) fn stand_alone(&self) {
        if let Some(mut state) = self.auto() {
            state.view = None;
        }
    }

    /// Remembers that this tensor is a view, and of what.
    pub(crate) fn mark_view(&self, parent: &Tensor, op: &ViewOp) {
        let above = parent.auto().and_then(|state| state.view.clone());
        let (base, mut chain) = match above {
            Some(view) => (view.root(), view.chain),
            None => (parent.clone(), SmallVec::new()),
        };
        chain.push(op.clone());
        let seen = base.auto().map_or(0, |state| state.generation);
        self.auto_mut().view = Some(Box::new(View { base, chain, seen }));
    }

    /// Rebuilds a view's history after its base, or a sibling view, was written in place.
    fn refresh_view(&self) {
        let Some(state) = self.auto() else { return };
        let Some(view) = &state.view else { return };
        let base = view.root();
        let now = base.auto().map_or(0, |state| state.generation);
        if now == view.seen {
            return;
        }
        let chain = view.chain.clone();
        drop(state);
        let mut edge = base.edge();
        let mut value = base.value();
        for op in &chain {
            let Ok(next) = op.view(&value) else { break };
            if let Some(from) = edge {
                let node = Node::light(op.to_primitive(), from, value, next.clone());
                edge = Some(Edge { node, output: 0 });
            }
            value = next;
        }
        let mut state = self.auto_mut();
        state.history = edge;
        if let Some(view) = &mut state.view {
            view.seen = now;
        }
    }
}
