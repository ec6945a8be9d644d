//! Process-wide defaults.

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

/// The device that new tensors go to when none is named.
pub fn device() -> Device {
    *DEVICE.read()
}

/// Sets the default device.
pub fn set_device(device: Device) {
    *DEVICE.write() = device;
}
