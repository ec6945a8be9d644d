//! The tensor: one type for every rank, dtype and device.

use std::sync::{Arc, OnceLock, Weak};

use kernels::Dims;
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};

use crate::autograd::AutoState;
use crate::device::Device;
use crate::value::{Meta, Value};
use crate::{DType, Result, Scalar, bail};

/// A tensor: a value and, where gradients are wanted, its history. Cloning shares it.
#[derive(Clone)]
pub struct Tensor(Arc<Inner>);

pub(crate) struct Inner {
    value: RwLock<Value>,
    auto: OnceLock<Box<Mutex<AutoState>>>,
}

/// A tensor held without keeping it alive.
#[derive(Clone)]
pub(crate) struct WeakTensor(Weak<Inner>);

impl WeakTensor {
    pub(crate) fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor)
    }
}

impl Tensor {
    /// A tensor over a value, without a history.
    pub fn from_value(value: Value) -> Self {
        Tensor(Arc::new(Inner { value: RwLock::new(value), auto: OnceLock::new() }))
    }

    /// A CPU tensor over a vector, without a copy.
    pub fn from_vec<T: crate::dtype::HostElement>(data: Vec<T>, shape: &[usize]) -> Result<Self> {
        if crate::shape::numel(shape) != data.len() {
            bail!(
                Value,
                "from_vec: expected {} elements for shape {shape:?}, got {}",
                crate::shape::numel(shape),
                data.len()
            );
        }
        Ok(Self::from_value(Value::from_vec(data, shape)))
    }

    /// The value, for as long as the guard lives.
    pub fn read(&self) -> RwLockReadGuard<'_, Value> {
        self.0.value.read_recursive()
    }

    /// A copy of the value's description, sharing its storage.
    pub fn value(&self) -> Value {
        self.read().clone()
    }

    /// Puts another value in place of this one, leaving the history alone (`tensor.data = ...`).
    pub fn set_value(&self, value: Value) {
        *self.0.value.write() = value;
    }

    /// Size of each dimension.
    pub fn shape(&self) -> Dims {
        Dims::from_slice(&self.read().shape)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.read().rank()
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.read().numel()
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.read().dtype
    }

    /// The device it lives on.
    pub fn device(&self) -> Device {
        self.read().device()
    }

    /// Shape and dtype.
    pub fn meta(&self) -> Meta {
        self.read().to_meta()
    }

    /// The only element as a number.
    pub fn item(&self) -> Result<Scalar> {
        let value = self.value();
        value.item()
    }

    /// Whether two handles are the same tensor.
    pub fn is(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number that identifies this tensor while it lives.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// How many handles share this tensor.
    pub fn handles(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    pub(crate) fn downgrade(&self) -> WeakTensor {
        WeakTensor(Arc::downgrade(&self.0))
    }

    /// Autograd's state, where there is one.
    pub(crate) fn auto(&self) -> Option<MutexGuard<'_, AutoState>> {
        self.0.auto.get().map(|state| state.lock())
    }

    /// Autograd's state, made on demand.
    pub(crate) fn auto_mut(&self) -> MutexGuard<'_, AutoState> {
        self.0.auto.get_or_init(Default::default).lock()
    }

    /// The elements as a vector, in row-major order, converted to `T`'s dtype.
    pub fn to_vec<T: crate::dtype::HostElement>(&self) -> Result<Vec<T>> {
        let host = self.value().to_host()?;
        let host = crate::op::cast_host(&host, T::DTYPE)?.contiguous()?;
        let buffer = host.buffer()?;
        Ok(buffer.as_slice::<T>()[host.offset..host.offset + host.numel()].to_vec())
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.read();
        write!(
            f,
            "Tensor(shape={:?}, dtype={}, device={})",
            value.shape,
            value.dtype,
            value.device()
        )
    }
}
