//! DLPack both ways: host memory shared with NumPy, PyTorch and others without a copy.
//!
//! A capsule describes elements in place and carries the function that gives them back. [`capsule`]
//! makes one over a value, [`take`] makes a value over one.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::{Buffer, DType, Device, Dims, Result, Storage, Strides, Tensor, Value, bail};

/// The newest version whose layout this module knows; later minor versions keep it.
pub const VERSION: (u32, u32) = (1, 1);

/// The memory must not be written to.
const READ_ONLY: u64 = 1;
/// The memory is a copy that nobody else looks at.
const IS_COPIED: u64 = 2;

/// The host, in DLPack's numbers.
pub const CPU: (i32, i32) = (HOST, 0);

const HOST: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const ROCM_HOST: i32 = 11;
const WEB_GPU: i32 = 15;

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDevice {
    kind: i32,
    index: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, from before version 1.
#[repr(C)]
struct Legacy {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// What both layouts have.
trait Managed: Sized + 'static {
    /// A capsule's name while nobody has taken what is in it.
    const NAME: &'static CStr;
    /// A capsule's name afterwards.
    const USED: &'static CStr;

    fn new(tensor: DlTensor, flags: u64, context: *mut c_void) -> Self;
    fn tensor(&self) -> &DlTensor;
    fn context(&self) -> *mut c_void;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
    fn flags(&self) -> u64;
    /// The major version of the layout, zero before there were versions.
    fn version(&self) -> u32;
}

impl Managed for Legacy {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    fn new(tensor: DlTensor, _flags: u64, context: *mut c_void) -> Self {
        Self { tensor, context, deleter: Some(release::<Self>) }
    }

    fn tensor(&self) -> &DlTensor {
        &self.tensor
    }

    fn context(&self) -> *mut c_void {
        self.context
    }

    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }

    fn flags(&self) -> u64 {
        0
    }

    fn version(&self) -> u32 {
        0
    }
}

impl Managed for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    fn new(tensor: DlTensor, flags: u64, context: *mut c_void) -> Self {
        Self {
            major: VERSION.0,
            minor: VERSION.1,
            context,
            deleter: Some(release::<Self>),
            flags,
            tensor,
        }
    }

    fn tensor(&self) -> &DlTensor {
        &self.tensor
    }

    fn context(&self) -> *mut c_void {
        self.context
    }

    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }

    fn flags(&self) -> u64 {
        self.flags
    }

    fn version(&self) -> u32 {
        self.major
    }
}

/// An exported value with the arrays its description points to. It lives on the heap until the
/// consumer calls the deleter; the value keeps the memory for as long.
struct Export<M> {
    managed: M,
    _shape: Box<[i64]>,
    _strides: Box<[i64]>,
    _value: Value,
}

/// The deleter of exported values.
///
/// # Safety
/// `managed` came out of [`export`] and is not used afterwards.
unsafe extern "C" fn release<M: Managed>(managed: *mut M) {
    if managed.is_null() {
        return;
    }
    // SAFETY: `export` stored the box's address in the context, and the deleter runs once.
    drop(unsafe { Box::from_raw((*managed).context().cast::<Export<M>>()) });
}

/// The destructor of capsules that nobody has taken.
///
/// # Safety
/// Called by Python with a capsule that [`export`] made, the interpreter attached.
unsafe extern "C" fn discard<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is alive during its destructor; a consumer has changed its name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 0 {
            return;
        }
        let managed = ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>();
        if let Some(deleter) = (*managed).deleter() {
            deleter(managed);
        }
    }
}

fn data_type(dtype: DType) -> DlDataType {
    let code = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::C64 | DType::C128 => 5,
        DType::Bool => 6,
    };
    DlDataType { code, bits: (dtype.size() * 8) as u8, lanes: 1 }
}

/// A capsule over a host value.
fn export<'py, M: Managed>(
    py: Python<'py>,
    value: Value,
    flags: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let first = {
        let buffer = value.buffer()?;
        buffer.pointer().wrapping_add(value.offset * value.dtype.size())
    };
    let mut shape: Box<[i64]> = value.shape.iter().map(|&size| size as i64).collect();
    let mut strides: Box<[i64]> = value.strides.iter().map(|&stride| stride as i64).collect();
    let tensor = DlTensor {
        data: first.cast(),
        device: DlDevice { kind: CPU.0, index: CPU.1 },
        ndim: value.rank() as i32,
        dtype: data_type(value.dtype),
        // Boxed slices keep their place when the boxes themselves move.
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed = M::new(tensor, flags, std::ptr::null_mut());
    let export = Box::into_raw(Box::new(Export {
        managed,
        _shape: shape,
        _strides: strides,
        _value: value,
    }));
    // SAFETY: `export` is a valid box's pointer, written before anybody else sees it; the capsule
    // owns it from here on, or the failed call leaves it to us.
    unsafe {
        let managed = &raw mut (*export).managed;
        std::ptr::write(managed, M::new(read_tensor(&*managed), flags, export.cast()));
        let capsule = ffi::PyCapsule_New(managed.cast(), M::NAME.as_ptr(), Some(discard::<M>));
        if capsule.is_null() {
            drop(Box::from_raw(export));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// A copy of a description; the arrays it points to are shared.
fn read_tensor<M: Managed>(managed: &M) -> DlTensor {
    let DlTensor { data, device, ndim, dtype, shape, strides, byte_offset } = *managed.tensor();
    DlTensor { data, device, ndim, dtype, shape, strides, byte_offset }
}

/// What somebody else shared, given back by its deleter when nobody looks at it any more.
struct Foreign<M: Managed>(NonNull<M>);

// SAFETY: DLPack lets any thread read the description and call the deleter, once.
unsafe impl<M: Managed> Send for Foreign<M> {}
// SAFETY: as above; the description does not change after it was made.
unsafe impl<M: Managed> Sync for Foreign<M> {}

impl<M: Managed> Drop for Foreign<M> {
    fn drop(&mut self) {
        // SAFETY: the pointer was valid when it was taken out of its capsule and only this drop
        // gives it back.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter() {
                deleter(self.0.as_ptr());
            }
        }
    }
}

/// Geometry and dtype of a description, checked.
struct Described {
    dtype: DType,
    shape: Dims,
    strides: Strides,
    first: *mut u8,
}

fn describe(tensor: &DlTensor) -> PyResult<Described> {
    let DlDevice { kind, index } = tensor.device;
    if !matches!(kind, HOST | CUDA_HOST | ROCM_HOST) {
        return Err(PyBufferError::new_err(format!(
            "from_dlpack: the memory is on a device of kind {kind} (number {index}), expected the \
             CPU; hint: copy it to the host first, for example with .cpu()"
        )));
    }
    let dtype = DType::ALL.into_iter().find(|&dtype| data_type(dtype) == tensor.dtype).ok_or_else(
        || {
            let DlDataType { code, bits, lanes } = tensor.dtype;
            PyBufferError::new_err(format!(
                "from_dlpack: unsupported element type (code {code}, {bits} bits, {lanes} lanes)"
            ))
        },
    )?;
    let rank = usize::try_from(tensor.ndim).map_err(|_| {
        PyValueError::new_err(format!("from_dlpack: {} dimensions make no tensor", tensor.ndim))
    })?;
    if rank > 0 && tensor.shape.is_null() {
        return Err(PyValueError::new_err("from_dlpack: the shape is missing"));
    }
    let list = |pointer: *mut i64| -> &[i64] {
        if rank == 0 || pointer.is_null() {
            return &[];
        }
        // SAFETY: DLPack's shape and strides have `ndim` entries and live as long as the tensor.
        unsafe { std::slice::from_raw_parts(pointer, rank) }
    };
    let mut shape = Dims::new();
    let mut numel = Some(1usize);
    for &size in list(tensor.shape) {
        let size = usize::try_from(size).map_err(|_| {
            PyValueError::new_err(format!("from_dlpack: a dimension has the size {size}"))
        })?;
        numel = numel.and_then(|numel| numel.checked_mul(size));
        shape.push(size);
    }
    if numel
        .and_then(|numel| numel.checked_mul(dtype.size()))
        .is_none_or(|n| n > isize::MAX as usize)
    {
        return Err(PyValueError::new_err(format!("from_dlpack: shape {shape:?} is too large")));
    }
    let strides: Strides = if tensor.strides.is_null() {
        let mut step = 1isize;
        let mut strides: Strides = shape
            .iter()
            .rev()
            .map(|&size| {
                let stride = step;
                step *= size.max(1) as isize;
                stride
            })
            .collect();
        strides.reverse();
        strides
    } else {
        list(tensor.strides).iter().map(|&stride| stride as isize).collect()
    };
    let first = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
    if numel != Some(0) && first.is_null() {
        return Err(PyValueError::new_err("from_dlpack: the data is missing"));
    }
    Ok(Described { dtype, shape, strides, first })
}

/// Elements in row-major order, wherever they lie.
///
/// # Safety
/// Every element that shape and strides reach from `first` is readable.
unsafe fn gather<T: Copy>(first: *const u8, shape: &[usize], strides: &[isize]) -> Vec<T> {
    let numel = shape.iter().product();
    let mut out = Vec::with_capacity(numel);
    let mut place = vec![0usize; shape.len()];
    let mut at = 0isize;
    for _ in 0..numel {
        // SAFETY: promised by the caller; elements need not be aligned.
        out.push(unsafe {
            first.offset(at * size_of::<T>() as isize).cast::<T>().read_unaligned()
        });
        for dim in (0..shape.len()).rev() {
            place[dim] += 1;
            at += strides[dim];
            if place[dim] < shape[dim] {
                break;
            }
            at -= strides[dim] * place[dim] as isize;
            place[dim] = 0;
        }
    }
    out
}

/// A value over a capsule's memory, or over a copy where the memory cannot be shared.
fn import<M: Managed>(capsule: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Value> {
    // SAFETY: the capsule is alive and named so; a null pointer comes with an exception.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::NAME.as_ptr()) };
    let Some(pointer) = NonNull::new(pointer.cast::<M>()) else {
        return Err(PyErr::fetch(capsule.py()));
    };
    // SAFETY: a capsule of this name holds this layout; another major version may end after its
    // version numbers, which is why they are looked at first.
    let version = unsafe { pointer.as_ref() }.version();
    if version > VERSION.0 {
        let (major, minor) = VERSION;
        return Err(PyBufferError::new_err(format!(
            "from_dlpack: DLPack {version} is newer than {major}.{minor}; hint: pass \
             max_version=({major}, {minor}) to __dlpack__"
        )));
    }
    // SAFETY: as above, with a version that is known.
    let managed = unsafe { pointer.as_ref() };
    let Described { dtype, shape, strides, first } = describe(managed.tensor())?;
    let size = dtype.size();
    let numel: usize = shape.iter().product();
    let reversed = numel > 0 && shape.iter().zip(&strides).any(|(&n, &stride)| n > 1 && stride < 0);
    let skewed = first.addr() % size.min(8) != 0;
    let fixed = managed.flags() & READ_ONLY != 0;
    if copy == Some(false) && numel > 0 && (reversed || skewed || fixed) {
        let reason = if fixed {
            "read-only"
        } else if reversed {
            "reversed"
        } else {
            "unaligned"
        };
        return Err(PyBufferError::new_err(format!(
            "from_dlpack: {reason} memory needs a copy, but copy=False was given"
        )));
    }
    let done = managed.flags() & IS_COPIED != 0;
    // SAFETY: the name is a static string. From here on the memory is ours to give back.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) } != 0 {
        return Err(PyErr::fetch(capsule.py()));
    }
    let owner = Foreign(pointer);
    if numel == 0 {
        return Ok(Tensor::zeros(&shape, dtype, Device::Cpu)?.value());
    }
    if reversed || skewed || fixed || (copy == Some(true) && !done) {
        return crate::with_width!(dtype, W => {
            // SAFETY: the producer vouches for every element while `owner` lives.
            let data = unsafe { gather::<W>(first, &shape, &strides) };
            drop(owner);
            Ok(Value::from_vec_as(data, shape, dtype))
        });
    }
    let span = shape
        .iter()
        .zip(&strides)
        .map(|(&n, &stride)| (n - 1) * stride.max(0) as usize)
        .sum::<usize>()
        + 1;
    // SAFETY: the producer keeps the elements in place until `owner` calls its deleter; strides
    // that are not negative reach no further than `span` elements.
    let buffer = unsafe { Buffer::from_foreign(first, span * size, Box::new(owner)) };
    Ok(Value { dtype, shape, strides, offset: 0, storage: Storage::Host(Arc::new(buffer)) })
}

/// Which of DLPack's two layouts a capsule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `DLManagedTensor`, from before version 1.
    Legacy,
    /// `DLManagedTensorVersioned`.
    Versioned,
}

/// A capsule over a host value, whose memory it keeps. `copied` says that nobody else looks at it.
pub fn capsule<'py>(
    py: Python<'py>,
    value: Value,
    layout: Layout,
    copied: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let flags = if copied { IS_COPIED } else { 0 };
    match layout {
        Layout::Legacy => export::<Legacy>(py, value, flags),
        Layout::Versioned => export::<Versioned>(py, value, flags),
    }
}

/// A value over the memory of a capsule, which is used up. The memory is shared where that is
/// possible (`None`), always (`Some(false)`, else it is an error) or never (`Some(true)`).
pub fn take(capsule: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Value> {
    let named = |name: &CStr| {
        // SAFETY: any object may be asked whether it is a capsule of a name.
        unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) != 0 }
    };
    if named(Versioned::NAME) {
        import::<Versioned>(capsule, copy)
    } else if named(Legacy::NAME) {
        import::<Legacy>(capsule, copy)
    } else if named(Versioned::USED) || named(Legacy::USED) {
        Err(PyRuntimeError::new_err(
            "from_dlpack: the capsule was taken already; a DLPack capsule can be used once",
        ))
    } else {
        Err(PyTypeError::new_err(format!(
            "from_dlpack: expected an object with __dlpack__ or a DLPack capsule, got {}",
            capsule.get_type().name()?
        )))
    }
}

/// DLPack's numbers for a device: its kind and its index.
pub fn place(device: Device) -> Result<(i32, i32)> {
    match device {
        Device::Cpu => Ok(CPU),
        Device::Cuda(index) => Ok((CUDA, index as i32)),
        Device::Wgpu(index) => Ok((WEB_GPU, index as i32)),
        Device::Meta => bail!(Value, "__dlpack_device__: a meta tensor is nowhere"),
    }
}
