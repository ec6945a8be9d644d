//! Process-wide defaults, and a thread's own device for a while.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::RwLock;

use crate::device::Device;
use crate::{DType, Result, bail};

static FLOAT: AtomicU8 = AtomicU8::new(DType::F32 as u8);
static DEVICE: RwLock<Device> = RwLock::new(Device::Cpu);

/// The dtype that Python floats and real functions of integers get.
pub fn float() -> DType {
    let stored = FLOAT.load(Ordering::Relaxed);
    DType::ALL.into_iter().find(|&dtype| dtype as u8 == stored).unwrap_or(DType::F32)
}

/// Sets the default float.
pub fn set_float(dtype: DType) -> Result<()> {
    if !dtype.is_float() {
        bail!(
            Type,
            "set_default_dtype: only floating-point types are supported as the default type, got {dtype}"
        );
    }
    FLOAT.store(dtype as u8, Ordering::Relaxed);
    Ok(())
}

thread_local! {
    static SCOPES: RefCell<Vec<Device>> = const { RefCell::new(Vec::new()) };
}

/// The device that new tensors go to when none is named.
pub fn device() -> Device {
    SCOPES.with_borrow(|scopes| scopes.last().copied()).unwrap_or_else(|| *DEVICE.read())
}

/// Makes this the default device of the thread until [`leave_device`].
pub fn enter_device(device: Device) {
    SCOPES.with_borrow_mut(|scopes| scopes.push(device));
}

/// Undoes the latest [`enter_device`] of the thread.
pub fn leave_device() {
    SCOPES.with_borrow_mut(Vec::pop);
}

/// Sets the default device.
pub fn set_device(device: Device) {
    *DEVICE.write() = device;
}
