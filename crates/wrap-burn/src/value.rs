//! A value: typed, strided memory on some device, without a history.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kernels::{Dims, Strided, StridedMut, Strides, contiguous_strides};

use crate::buffer::Buffer;
use crate::device::{Device, DeviceMemory};
use crate::dtype::HostElement;
use crate::{DType, Result, bail, shape};

/// Shape and dtype: what is known of a tensor without its data.
#[derive(Debug, PartialEq, Eq)]
pub struct Meta {
    /// Size of each dimension; empty for a 0-d tensor.
    pub shape: Dims,
    /// Element type.
    pub dtype: DType,
}

impl Meta {
    /// Shape and dtype put together.
    pub fn new(shape: impl Into<Dims>, dtype: DType) -> Self {
        Self { shape: shape.into(), dtype }
    }
}

/// Where a value's elements lie.
#[derive(Clone, Debug)]
pub enum Storage {
    /// In host memory.
    Host(Arc<Buffer>),
    /// On a GPU, held by burn.
    Device(Arc<DeviceMemory>),
    /// Nowhere: shape and dtype only, as if on the named device.
    Meta(Device),
}

/// Elements of one dtype seen through a shape, strides and an offset (both in elements).
#[derive(Debug)]
pub struct Value {
    /// Element type.
    pub dtype: DType,
    /// Size of each dimension.
    pub shape: Dims,
    /// Steps between neighbours, in elements.
    pub strides: Strides,
    /// The first element's place in the storage.
    pub offset: usize,
    /// Where the elements lie.
    pub storage: Storage,
}

// Small vectors clone element by element; a slice is copied at once, and clones are what small
// tensors spend their time in.
impl Clone for Meta {
    fn clone(&self) -> Self {
        Self { shape: Dims::from_slice(&self.shape), dtype: self.dtype }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.with_geometry(
            Dims::from_slice(&self.shape),
            Strides::from_slice(&self.strides),
            self.offset,
        )
    }
}

impl Value {
    /// A row-major value over fresh host memory.
    pub fn from_vec<T: HostElement>(data: Vec<T>, shape: impl Into<Dims>) -> Self {
        Self::from_vec_as(data, shape, T::DTYPE)
    }

    /// Like [`Value::from_vec`] where bytes stand for another type of the same size (bool as u8).
    pub fn from_vec_as<T: kernels::Element>(
        data: Vec<T>,
        shape: impl Into<Dims>,
        dtype: DType,
    ) -> Self {
        let shape = shape.into();
        debug_assert_eq!(size_of::<T>(), dtype.size());
        debug_assert_eq!(shape::numel(&shape), data.len());
        let strides = contiguous_strides(&shape);
        let storage = Storage::Host(Arc::new(Buffer::from_vec(data)));
        Self { dtype, shape, strides, offset: 0, storage }
    }

    /// Shape and dtype alone, as if on `device`.
    pub fn meta(meta: Meta, device: Device) -> Self {
        let strides = contiguous_strides(&meta.shape);
        Self {
            dtype: meta.dtype,
            shape: meta.shape,
            strides,
            offset: 0,
            storage: Storage::Meta(device),
        }
    }

    /// The device the elements lie on.
    pub fn device(&self) -> Device {
        match &self.storage {
            Storage::Host(_) => Device::Cpu,
            Storage::Device(memory) => memory.device(),
            Storage::Meta(device) => *device,
        }
    }

    /// Whether elements exist at all.
    pub fn has_data(&self) -> bool {
        !matches!(self.storage, Storage::Meta(_))
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        shape::numel(&self.shape)
    }

    /// Shape and dtype.
    pub fn to_meta(&self) -> Meta {
        Meta { shape: Dims::from_slice(&self.shape), dtype: self.dtype }
    }

    /// Row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        kernels::is_contiguous(&self.shape, &self.strides)
    }

    /// The same memory under another geometry.
    pub fn with_geometry(&self, shape: Dims, strides: Strides, offset: usize) -> Self {
        Self { dtype: self.dtype, shape, strides, offset, storage: self.storage.clone() }
    }

    /// The same memory in another shape, where strides allow it.
    pub fn reshaped(&self, to: &[usize]) -> Option<Self> {
        let strides = shape::reshape_strides(&self.shape, &self.strides, to)?;
        Some(self.with_geometry(Dims::from_slice(to), strides, self.offset))
    }

    /// The same memory seen in a wider shape, which this one must broadcast to.
    pub fn expanded(&self, to: &[usize]) -> Self {
        let strides = shape::broadcast_strides(&self.shape, &self.strides, to);
        self.with_geometry(Dims::from_slice(to), strides, self.offset)
    }

    /// Counts in-place writes to the storage.
    pub fn version(&self) -> u64 {
        self.version_counter().map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// Notes an in-place write.
    pub fn bump_version(&self) {
        if let Some(counter) = self.version_counter() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn version_counter(&self) -> Option<&AtomicU64> {
        match &self.storage {
            Storage::Host(buffer) => Some(buffer.version()),
            Storage::Device(memory) => Some(memory.version()),
            Storage::Meta(_) => None,
        }
    }

    /// Whether two values look at the same storage.
    pub fn shares_storage(&self, other: &Value) -> bool {
        match (&self.storage, &other.storage) {
            (Storage::Host(a), Storage::Host(b)) => Arc::ptr_eq(a, b),
            (Storage::Device(a), Storage::Device(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The host memory behind this value.
    pub fn buffer(&self) -> Result<&Arc<Buffer>> {
        match &self.storage {
            Storage::Host(buffer) => Ok(buffer),
            Storage::Device(memory) => bail!(
                Type,
                "expected a tensor on the CPU, got one on {}; use .cpu() first",
                memory.device()
            ),
            Storage::Meta(_) => {
                bail!(Runtime, "a meta tensor has no data; make it with a real device instead")
            }
        }
    }

    /// A typed look at host memory; `T` must have the dtype's size.
    pub fn view<T: kernels::Element>(&self) -> Result<Strided<'_, T>> {
        debug_assert_eq!(size_of::<T>(), self.dtype.size());
        Ok(Strided {
            data: self.buffer()?.as_slice(),
            shape: &self.shape,
            strides: &self.strides,
            offset: self.offset,
        })
    }

    /// A typed look at host memory in a wider shape.
    pub fn view_as<'a, T: kernels::Element>(
        &'a self,
        shape: &'a [usize],
        strides: &'a Strides,
    ) -> Result<Strided<'a, T>> {
        debug_assert_eq!(size_of::<T>(), self.dtype.size());
        Ok(Strided { data: self.buffer()?.as_slice(), shape, strides, offset: self.offset })
    }

    /// A typed, writable look at host memory. Nobody may read the region meanwhile.
    pub fn view_mut<T: kernels::Element>(&self) -> Result<StridedMut<'_, T>> {
        debug_assert_eq!(size_of::<T>(), self.dtype.size());
        Ok(StridedMut {
            data: self.buffer()?.pointer().cast(),
            shape: &self.shape,
            strides: &self.strides,
            offset: self.offset,
            lifetime: std::marker::PhantomData,
        })
    }

    /// A row-major value with the same elements: itself where it already is one.
    pub fn contiguous(&self) -> Result<Value> {
        // An empty view may start outside what is stored.
        let inside = self.offset == 0 || self.numel() > 0;
        if self.is_contiguous() && inside { Ok(self.clone()) } else { self.copied() }
    }

    /// A row-major copy in fresh memory.
    pub fn copied(&self) -> Result<Value> {
        if self.has_data() {
            crate::ops::create::check_fits("copy", &self.to_meta())?;
        }
        match &self.storage {
            Storage::Host(_) => crate::with_width!(self.dtype, T => Ok(Value::from_vec_as(
                kernels::copy::contiguous(self.view::<T>()?),
                self.shape.clone(),
                self.dtype,
            ))),
            Storage::Device(memory) => memory.copied(self),
            Storage::Meta(device) => Ok(Value::meta(self.to_meta(), *device)),
        }
    }

    /// Writes `source` (same shape, dtype and device) over this value's elements. Both may look at
    /// the same storage.
    pub fn assign(&self, source: &Value) -> Result<()> {
        debug_assert_eq!((&self.shape, self.dtype), (&source.shape, source.dtype));
        match &self.storage {
            Storage::Host(_) => {
                // An overlapping source is read completely before anything is written.
                let copy;
                let source = if self.shares_storage(source) {
                    copy = source.copied()?;
                    &copy
                } else {
                    source
                };
                crate::with_width!(self.dtype, T => {
                    kernels::copy::copy_into(self.view_mut::<T>()?, source.view::<T>()?);
                });
                Ok(())
            }
            Storage::Device(memory) => memory.assign(self, source),
            Storage::Meta(_) => Ok(()),
        }
    }

    /// The single element's bytes, read on the host.
    pub fn item(&self) -> Result<crate::Scalar> {
        if self.numel() != 1 {
            bail!(
                Runtime,
                "item: a tensor with {} elements cannot be converted to a number (shape {:?})",
                self.numel(),
                self.shape
            );
        }
        let host = self.to_host()?;
        let offset = host.offset;
        let buffer = host.buffer()?;
        Ok(crate::with_dtype!("item", host.dtype, all, T => {
            crate::dtype::ToScalar::to_scalar(buffer.as_slice::<T>()[offset], host.dtype)
        }))
    }

    /// This value in host memory.
    pub fn to_host(&self) -> Result<Value> {
        match &self.storage {
            Storage::Host(_) => Ok(self.clone()),
            Storage::Device(memory) => memory.to_host(self),
            Storage::Meta(_) => {
                bail!(Runtime, "a meta tensor has no data; make it with a real device instead")
            }
        }
    }

    /// This value on a device; itself where it is there already.
    pub fn to_device(&self, device: Device) -> Result<Value> {
        if self.device() == device && self.has_data() == (device != Device::Meta) {
            return Ok(self.clone());
        }
        match device {
            Device::Meta => Ok(Value::meta(self.to_meta(), Device::Meta)),
            Device::Cpu => self.to_host(),
            Device::Wgpu(_) | Device::Cuda(_) => DeviceMemory::upload(&self.to_host()?, device),
        }
    }
}
