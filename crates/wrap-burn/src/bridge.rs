//! Between our values and burn's run-time tensors. Everything that touches burn's types goes
//! through here or through an op's `run_burn`.

use std::mem::MaybeUninit;
use std::sync::Arc;

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{DType as BurnDType, TensorMetadata};
use burn_dispatch::backends::Flex;
use burn_dispatch::{BackendTensor, Dispatch, DispatchDevice, DispatchTensor, DispatchTensorKind};
use burn_flex::{FlexTensor, Layout};
use burn_std::{
    AccessError, AccessPolicy, AllocationController, AllocationProperty, BoolStore, Bytes, Shape,
};

use crate::buffer::Buffer;
use crate::device::{Device, DeviceMemory};
use crate::value::{Meta, Storage, Value};
use crate::{Category, DType, Result, bail};

/// burn's run-time tensor.
pub(crate) type Prim = DispatchTensor;

/// Calls the float, int or bool form of a burn op, by the dtype's kind.
#[macro_export]
macro_rules! by_kind {
    ($dtype:expr, $float:ident / $int:ident / $bool:ident ( $($arg:expr),* $(,)? )) => {
        match $dtype.category() {
            $crate::Category::Bool => <burn_dispatch::Dispatch as burn_backend::ops::BoolTensorOps<burn_dispatch::Dispatch>>::$bool($($arg),*),
            $crate::Category::Int => <burn_dispatch::Dispatch as burn_backend::ops::IntTensorOps<burn_dispatch::Dispatch>>::$int($($arg),*),
            _ => <burn_dispatch::Dispatch as burn_backend::ops::FloatTensorOps<burn_dispatch::Dispatch>>::$float($($arg),*),
        }
    };
}

/// burn's name for a dtype on a device.
pub(crate) fn burn_dtype(dtype: DType, device: Device) -> Result<BurnDType> {
    Ok(match dtype {
        DType::Bool => BurnDType::Bool(bool_store(device)),
        DType::U8 => BurnDType::U8,
        DType::I8 => BurnDType::I8,
        DType::I16 => BurnDType::I16,
        DType::I32 => BurnDType::I32,
        DType::I64 => BurnDType::I64,
        DType::F16 => BurnDType::F16,
        DType::BF16 => BurnDType::BF16,
        DType::F32 => BurnDType::F32,
        DType::F64 => BurnDType::F64,
        DType::C64 | DType::C128 => {
            bail!(
                Unsupported,
                "{dtype} tensors exist on the CPU only, got device {device}; use .cpu() first"
            )
        }
    })
}

/// How a device stores booleans.
pub(crate) fn bool_store(device: Device) -> BoolStore {
    match device {
        Device::Cpu | Device::Meta => BoolStore::Native,
        Device::Wgpu(_) | Device::Cuda(_) => crate::device::gpu_bool_store(device),
    }
}

/// burn's shape for ours; burn has no rank 0, a scalar is `[1]` there.
pub(crate) fn burn_shape(shape: &[usize]) -> Shape {
    if shape.is_empty() { Shape::from(vec![1]) } else { Shape::from(shape.to_vec()) }
}

/// Lends host memory to burn. Memory burn asks to write is copied first, so tensors that share the
/// buffer never see it change.
struct Lent {
    buffer: Arc<Buffer>,
    private: Option<Vec<u64>>,
}

impl AllocationController for Lent {
    fn alloc_align(&self) -> usize {
        64
    }

    fn property(&self) -> AllocationProperty {
        AllocationProperty::Other
    }

    unsafe fn memory_mut(
        &mut self,
        _policy: AccessPolicy,
    ) -> std::result::Result<&mut [MaybeUninit<u8>], AccessError> {
        let buffer = &self.buffer;
        let private = self.private.get_or_insert_with(|| {
            let mut copy = vec![0u64; buffer.len().div_ceil(8)];
            bytemuck::cast_slice_mut(&mut copy)[..buffer.len()]
                .copy_from_slice(buffer.as_slice::<u8>());
            copy
        });
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(private)[..buffer.len()];
        // SAFETY: initialised bytes are valid as maybe-uninitialised ones, and the caller promises
        // to write initialised data only.
        Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) })
    }

    fn memory(
        &self,
        _policy: AccessPolicy,
    ) -> std::result::Result<&[MaybeUninit<u8>], AccessError> {
        let bytes: &[u8] = match &self.private {
            Some(copy) => &bytemuck::cast_slice(copy)[..self.buffer.len()],
            None => self.buffer.as_slice(),
        };
        // SAFETY: initialised bytes are valid as maybe-uninitialised ones.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) })
    }
}

/// The bytes of host memory, without a copy.
pub(crate) fn lend(buffer: &Arc<Buffer>) -> Bytes {
    let lent = Lent { buffer: buffer.clone(), private: None };
    // SAFETY: the controller reports exactly the buffer's bytes, all initialised.
    unsafe { Bytes::from_controller(Box::new(lent), buffer.len()) }
}

/// A value as burn's tensor of the same shape (`[1]` for a scalar), on whatever device it lies.
pub(crate) fn to_burn(value: &Value) -> Result<Prim> {
    match &value.storage {
        Storage::Host(buffer) => {
            let dtype = burn_dtype(value.dtype, Device::Cpu)?;
            let strides =
                if value.rank() == 0 { vec![1] } else { value.strides.iter().copied().collect() };
            let layout = Layout::new(burn_shape(&value.shape), strides, value.offset);
            let tensor = FlexTensor::new(lend(buffer), layout, dtype);
            let tensor = match value.dtype.category() {
                Category::Bool => BackendTensor::<Flex>::Bool(tensor),
                Category::Int => BackendTensor::Int(tensor),
                _ => BackendTensor::Float(tensor),
            };
            Ok(DispatchTensor {
                kind: DispatchTensorKind::Flex(tensor),
                autodiff: Default::default(),
            })
        }
        Storage::Device(memory) => memory.show(value),
        Storage::Meta(_) => value.buffer().map(|_| unreachable!("meta tensors have no buffer")),
    }
}

/// A result of burn as a value with the shape and dtype that were promised for it.
pub(crate) fn from_burn(prim: Prim, meta: &Meta, device: Device) -> Result<Value> {
    debug_assert_eq!(prim.shape(), burn_shape(&meta.shape), "burn returned another shape");
    match prim.kind {
        DispatchTensorKind::Flex(tensor) => {
            let tensor = match tensor {
                BackendTensor::Float(tensor)
                | BackendTensor::Int(tensor)
                | BackendTensor::Bool(tensor) => tensor,
                BackendTensor::Quantized(_) => {
                    bail!(Runtime, "a quantized tensor came back from burn")
                }
            };
            debug_assert_eq!(
                tensor.dtype().size(),
                meta.dtype.size(),
                "burn returned another dtype"
            );
            let layout = tensor.layout().clone();
            let bytes = tensor.data_arc();
            drop(tensor);
            let pointer = bytes.as_ptr().cast_mut();
            let length = bytes.len();
            // SAFETY: the `Arc` keeps the bytes in place; nobody else writes them, as every tensor
            // burn still holds of them would make a private copy first.
            let native = bytes.property() == AllocationProperty::Native && length > 0;
            let buffer = unsafe { Buffer::from_foreign(pointer, length, Box::new(bytes)) };
            // Memory of ours that came back from burn has been counted already.
            let buffer = if native { buffer.counted() } else { buffer };
            let strides = if meta.shape.is_empty() {
                Default::default()
            } else {
                layout.strides().iter().copied().collect()
            };
            Ok(Value {
                dtype: meta.dtype,
                shape: meta.shape.clone(),
                strides,
                offset: layout.start_offset(),
                storage: Storage::Host(Arc::new(buffer)),
            })
        }
        #[allow(unreachable_patterns, reason = "the only kind in a build without a GPU backend")]
        _ => Ok(DeviceMemory::wrap(prim, meta, device)),
    }
}

/// burn's device for ours.
pub(crate) fn burn_device(device: Device) -> Result<DispatchDevice> {
    match device {
        Device::Cpu => Ok(DispatchDevice::Flex(Default::default())),
        Device::Wgpu(_) | Device::Cuda(_) => crate::device::gpu_device(device),
        Device::Meta => bail!(Runtime, "the meta device computes nothing"),
    }
}

/// burn's reshape for any kind.
pub(crate) fn reshape(prim: Prim, dtype: DType, shape: &[usize]) -> Prim {
    let shape = burn_shape(shape);
    if prim.shape() == shape {
        return prim;
    }
    by_kind!(dtype, float_reshape / int_reshape / bool_reshape(prim, shape))
}

/// burn's broadcast to a wider shape for any kind; ranks are aligned first.
pub(crate) fn expand(prim: Prim, dtype: DType, to: &[usize]) -> Prim {
    let to = burn_shape(to);
    let from = prim.shape();
    if from == to {
        return prim;
    }
    let mut aligned = vec![1; to.num_dims() - from.num_dims()];
    aligned.extend(from.iter());
    let prim = reshape(prim, dtype, &aligned);
    by_kind!(dtype, float_expand / int_expand / bool_expand(prim, to))
}

/// Number of elements of burn's tensor.
pub(crate) fn numel(prim: &Prim) -> usize {
    prim.shape().num_elements()
}

/// Converts between kinds and dtypes on the device.
pub(crate) fn cast(prim: Prim, from: DType, to: DType, device: Device) -> Result<Prim> {
    use Category::{Bool, Float, Int};
    if from == to {
        return Ok(prim);
    }
    let target = burn_dtype(to, device)?;
    Ok(match (from.category(), to.category()) {
        (Float, Float) => Dispatch::float_cast(prim, target.into()),
        (Float, Int) => Dispatch::float_into_int(prim, target.into()),
        (Float, Bool) => Dispatch::float_not_equal_elem(prim, 0.0f64.into(), target.into()),
        (Int, Int) => Dispatch::int_cast(prim, target.into()),
        (Int, Float) => Dispatch::int_into_float(prim, target.into()),
        (Int, Bool) => Dispatch::int_not_equal_elem(prim, 0i64.into(), target.into()),
        (Bool, Int) => Dispatch::bool_into_int(prim, target.into()),
        (Bool, Float) => Dispatch::bool_into_float(prim, target.into()),
        _ => bail!(Unsupported, "cast: {from} to {to} works on the CPU only; use .cpu() first"),
    })
}
