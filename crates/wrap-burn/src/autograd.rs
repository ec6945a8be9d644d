//! The tape: which op made a tensor from which, and the walk back.
//!
//! A tracked result points to a [`Node`], a node to the nodes its inputs came from. Nothing else
//! holds a graph: dropping the last result frees it at once. `backward` walks nodes by descending
//! sequence number, so each runs after everything that used its results.

mod engine;
mod hooks;
mod inplace;
mod mode;
mod node;
mod state;

pub use engine::{backward, grad};
pub use hooks::{Hook, HookId};
pub(crate) use inplace::copy;
pub use inplace::{apply_into, assign, look};
pub use mode::{
    ModeGuard, anomaly_enabled, grad_enabled, inference_enabled, set_anomaly, set_grad,
    set_inference, set_origin_source,
};
pub use node::{Backward, Edge, Node, Recorded, record_custom};
pub(crate) use node::{record, record_view};
pub(crate) use state::{AutoState, Tracking};
