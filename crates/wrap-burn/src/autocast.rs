//! Autocast: ops choose the dtype they compute in.
//!
//! While it is on for a kind of device, the floats that an op takes are converted before it runs:
//! to the narrow dtype where the op is fast in it, to `f32` where it needs the precision, or to the
//! widest among them. One table says which, by the name of the op. It is looked at twice:
//! [`apply`](crate::apply) does so for every op, and functions that users call by name may do so
//! for themselves, with [`begin`]. What a function or an op does inside then computes in what it is
//! given. So do writes in place, and the walk back along the tape.
//!
//! Conversions are recorded as any op is, so gradients arrive in the dtype of what was converted.
//! The switch belongs to a thread, and costs one read of it while it is off.
//!
//! ```
//! use wrap_burn::autocast::{self, Kind};
//! use wrap_burn::{DType, Device, Tensor};
//! # fn main() -> wrap_burn::Result<()> {
//! let x = Tensor::ones(&[2, 2], DType::F32, Device::Cpu)?;
//! let before = autocast::set_enabled(Kind::Cpu, true);
//! let product = x.matmul(&x)?;
//! autocast::set_enabled(Kind::Cpu, before);
//! assert_eq!(product.dtype(), DType::BF16);
//! assert_eq!(x.matmul(&x)?.dtype(), DType::F32);
//! # Ok(())
//! # }
//! ```

mod policy;

use std::cell::{Cell, RefCell};

use policy::Policy;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::autograd::grad_enabled;
use crate::device::Device;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{DType, Result};

/// A kind of device, each of which has a switch and a narrow dtype of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The host.
    Cpu = 0,
    /// GPUs through wgpu.
    Wgpu = 1,
    /// NVIDIA's GPUs.
    Cuda = 2,
}

impl Kind {
    /// The kind a device is of; `meta` is of none.
    pub fn of(device: Device) -> Option<Kind> {
        match device {
            Device::Cpu => Some(Kind::Cpu),
            Device::Wgpu(_) => Some(Kind::Wgpu),
            Device::Cuda(_) => Some(Kind::Cuda),
            Device::Meta => None,
        }
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

thread_local! {
    /// One bit for each kind of device.
    static ENABLED: Cell<u32> = const { Cell::new(0) };
    static DTYPES: Cell<[DType; 3]> = const { Cell::new([DType::BF16, DType::F16, DType::F16]) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static CACHING: Cell<bool> = const { Cell::new(true) };
    static CACHE: RefCell<FxHashMap<usize, Narrowed>> = RefCell::default();
}

/// Whether autocast is on for any kind of device on this thread.
#[inline]
pub fn active() -> bool {
    ENABLED.get() != 0
}

/// Whether ops on a kind of device choose their dtypes on this thread.
pub fn enabled(kind: Kind) -> bool {
    ENABLED.get() & kind.bit() != 0
}

/// Switches a kind of device on this thread; gives what it was.
pub fn set_enabled(kind: Kind, enabled: bool) -> bool {
    let before = ENABLED.get();
    ENABLED.set(if enabled { before | kind.bit() } else { before & !kind.bit() });
    before & kind.bit() != 0
}

/// The narrow dtype of a kind of device on this thread.
pub fn dtype(kind: Kind) -> DType {
    DTYPES.get()[kind as usize]
}

/// Sets the narrow dtype of a kind of device on this thread; gives what it was.
pub fn set_dtype(kind: Kind, dtype: DType) -> DType {
    let mut dtypes = DTYPES.get();
    let before = std::mem::replace(&mut dtypes[kind as usize], dtype);
    DTYPES.set(dtypes);
    before
}

/// Whether a weight that several ops take is converted once.
pub fn caching() -> bool {
    CACHING.get()
}

/// Switches that; gives what it was.
pub fn set_caching(caching: bool) -> bool {
    CACHING.replace(caching)
}

/// Enters a region; gives how many this thread is in.
pub fn enter() -> u32 {
    DEPTH.set(DEPTH.get() + 1);
    DEPTH.get()
}

/// Leaves a region; gives how many this thread is still in. Converted weights are kept until it
/// leaves the outermost one.
pub fn leave() -> u32 {
    DEPTH.set(DEPTH.get().saturating_sub(1));
    if DEPTH.get() == 0 {
        clear_cache();
    }
    DEPTH.get()
}

/// Lets go of converted weights.
pub fn clear_cache() {
    // Dropped past the borrow: the last handle of a tensor may run anything.
    drop(CACHE.take());
}

/// Until this is dropped, ops compute in the dtypes they are given.
#[must_use = "autocast goes on when this is dropped"]
pub struct Paused(u32);

impl Paused {
    /// Pauses autocast on this thread; `None` where it is off.
    #[inline]
    pub fn new() -> Option<Paused> {
        if !active() {
            return None;
        }
        Some(Paused(ENABLED.replace(0)))
    }

    /// Goes on being paused; gives what [`resume`] takes to end it.
    pub fn keep(self) -> u32 {
        let before = self.0;
        std::mem::forget(self);
        before
    }
}

/// Ends what [`Paused::keep`] has kept.
pub fn resume(before: u32) {
    ENABLED.set(before);
}

impl Drop for Paused {
    fn drop(&mut self) {
        ENABLED.set(self.0);
    }
}

/// Begins a function of this name: if the table has a line for it, its tensors are converted, and
/// what it is made of computes in what it is given until the result is dropped. `None` where the
/// table leaves it to the ops that the function is made of.
pub fn begin(function: &str, tensors: &mut [&mut Tensor]) -> Result<Option<Paused>> {
    let Some(kind) = tensors.iter().find_map(|tensor| casting(tensor)) else { return Ok(None) };
    let Some(policy) = Policy::of(function, kind) else { return Ok(None) };
    let paused = Paused::new();
    if let Some(target) = target(policy, kind, tensors.iter().map(|tensor| &**tensor)) {
        for tensor in tensors {
            **tensor = converted(tensor, target)?;
        }
    }
    Ok(paused)
}

/// The inputs of the op of this name, converted; `None` where it takes them as they are.
pub(crate) fn inputs_of(op: &str, inputs: &[&Tensor]) -> Result<Option<SmallVec<[Tensor; 3]>>> {
    let Some(kind) = inputs.iter().find_map(|tensor| casting(tensor)) else { return Ok(None) };
    let Some(policy) = Policy::of(op, kind) else { return Ok(None) };
    let Some(target) = target(policy, kind, inputs.iter().copied()) else { return Ok(None) };
    if !inputs.iter().any(|tensor| changes(tensor, target)) {
        return Ok(None);
    }
    inputs.iter().map(|tensor| converted(tensor, target)).collect::<Result<_>>().map(Some)
}

/// The kind of device that a tensor is on, if autocast is on for it.
fn casting(tensor: &Tensor) -> Option<Kind> {
    Kind::of(tensor.device()).filter(|&kind| enabled(kind))
}

/// What a policy makes of these tensors' floats.
fn target<'a>(
    policy: Policy,
    kind: Kind,
    tensors: impl Iterator<Item = &'a Tensor>,
) -> Option<DType> {
    match policy {
        Policy::Narrow => Some(dtype(kind)),
        Policy::Wide => Some(DType::F32),
        Policy::Widest => {
            tensors.map(|tensor| tensor.dtype()).filter(takes_part).reduce(DType::promote)
        }
        Policy::Given => None,
    }
}

/// Floats up to `f32`: doubles are left alone, as in PyTorch.
fn takes_part(dtype: &DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32)
}

fn changes(tensor: &Tensor, target: DType) -> bool {
    let dtype = tensor.dtype();
    takes_part(&dtype) && dtype != target
}

/// A tensor in the dtype it is to have; of a weight, the one that was made before.
fn converted(tensor: &Tensor, target: DType) -> Result<Tensor> {
    if !changes(tensor, target) {
        return Ok(tensor.clone());
    }
    let is_weight = CACHING.get()
        && DEPTH.get() > 0
        && tensor.dtype() == DType::F32
        && tensor.requires_grad()
        && tensor.is_leaf();
    if !is_weight {
        return tensor.to_dtype(target);
    }
    let known = CACHE.with_borrow(|cache| {
        let found = cache.get(&tensor.address()).filter(|known| known.is_of(tensor, target));
        found.map(|known| known.narrow.clone())
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let (narrow, value) = (tensor.to_dtype(target)?, tensor.value());
    let version = value.version();
    let entry = Narrowed { weight: tensor.clone(), value, version, narrow: narrow.clone() };
    let replaced = CACHE.with_borrow_mut(|cache| cache.insert(tensor.address(), entry));
    drop(replaced);
    Ok(narrow)
}

/// A weight that was converted, and what it was then.
struct Narrowed {
    /// Keeps the address that it is found by.
    weight: Tensor,
    value: Value,
    version: u64,
    narrow: Tensor,
}

impl Narrowed {
    /// Whether this is what converting the weight would give now.
    fn is_of(&self, weight: &Tensor, dtype: DType) -> bool {
        let (now, then) = (weight.read(), &self.value);
        self.weight.is(weight)
            && self.narrow.dtype() == dtype
            && now.shares_storage(then)
            && now.version() == self.version
            && (&now.shape, &now.strides, now.offset) == (&then.shape, &then.strides, then.offset)
            // Made without recording, it would end the history of what is recorded now.
            && (self.narrow.requires_grad() || !grad_enabled())
    }
}

#[cfg(test)]
mod tests;
