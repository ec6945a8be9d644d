//! Functions that see, and may replace, a gradient on its way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Result;
use crate::tensor::Tensor;

/// Sees a gradient; gives another to put in its place, or `None`.
pub type Hook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;

/// Names a registered hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HookId(u64);

impl HookId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        HookId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Hooks in the order they were registered.
#[derive(Default)]
pub(crate) struct Hooks(Vec<(HookId, Hook)>);

impl Hooks {
    pub(crate) fn add(&mut self, hook: Hook) -> HookId {
        let id = HookId::next();
        self.0.push((id, hook));
        id
    }

    pub(crate) fn remove(&mut self, id: HookId) {
        self.0.retain(|(known, _)| *known != id);
    }

    /// The hooks themselves, so that they run without the list being locked.
    pub(crate) fn snapshot(&self) -> Vec<Hook> {
        self.0.iter().map(|(_, hook)| hook.clone()).collect()
    }
}
