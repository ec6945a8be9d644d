//! Thread-local switches: are gradients recorded?

use std::cell::Cell;

thread_local! {
    static GRAD: Cell<bool> = const { Cell::new(true) };
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
    static ANOMALY: Cell<bool> = const { Cell::new(false) };
}

/// Whether ops on tensors that require gradients are recorded on this thread.
pub fn grad_enabled() -> bool {
    GRAD.get()
}

/// Switches recording on this thread; gives what it was.
pub fn set_grad(enabled: bool) -> bool {
    GRAD.replace(enabled)
}

/// Whether tensors made now may never take part in autograd.
pub fn inference_enabled() -> bool {
    INFERENCE.get()
}

/// Switches inference mode on this thread; gives what it was.
pub fn set_inference(enabled: bool) -> bool {
    INFERENCE.replace(enabled)
}

/// Whether backward looks for NaN and names the forward op that caused it.
pub fn anomaly_enabled() -> bool {
    ANOMALY.get()
}

/// Switches anomaly mode on this thread; gives what it was.
pub fn set_anomaly(enabled: bool) -> bool {
    ANOMALY.replace(enabled)
}

/// Recording on or off until the guard drops.
pub struct ModeGuard(bool);

impl ModeGuard {
    /// Sets recording for a scope.
    pub fn grad(enabled: bool) -> Self {
        Self(set_grad(enabled))
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        set_grad(self.0);
    }
}

static ORIGIN: std::sync::OnceLock<fn() -> String> = std::sync::OnceLock::new();

/// Sets how anomaly mode describes the place an op was applied at, for example by a traceback.
pub fn set_origin_source(describe: fn() -> String) {
    // Set once at start-up; a second host in one process keeps the first description.
    let _ = ORIGIN.set(describe);
}

/// Where the current op is being applied.
pub(crate) fn origin() -> String {
    ORIGIN.get().map(|describe| describe()).unwrap_or_default()
}
