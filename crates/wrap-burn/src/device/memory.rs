//! Memory on a GPU: one flat row-major block held by burn, seen by tensors through strides.

use std::sync::atomic::AtomicU64;

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{DType as BurnDType, TensorData};
use burn_dispatch::Dispatch;
use burn_std::{BoolStore, IndexingUpdateOp, Slice};
use kernels::Dims;
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::bridge::{self, Prim};
use crate::by_kind;
use crate::device::Device;
use crate::value::{Meta, Storage, Value};
use crate::{DType, Result, bail, error};

/// A block of GPU memory that tensors share. burn's tensors are values, so an in-place write swaps
/// the block's tensor for the written one; every view then shows the new content.
#[derive(Debug)]
pub struct DeviceMemory {
    device: Device,
    dtype: DType,
    /// Row-major; its own shape does not matter.
    tensor: Mutex<Prim>,
    version: AtomicU64,
}

impl DeviceMemory {
    /// Where the memory is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Counts in-place writes.
    pub fn version(&self) -> &AtomicU64 {
        &self.version
    }

    /// A fresh value over a result of burn.
    pub(crate) fn wrap(prim: Prim, meta: &Meta, device: Device) -> Value {
        let memory = DeviceMemory {
            device,
            dtype: meta.dtype,
            tensor: Mutex::new(prim),
            version: AtomicU64::new(0),
        };
        Value {
            dtype: meta.dtype,
            shape: meta.shape.clone(),
            strides: kernels::contiguous_strides(&meta.shape),
            offset: 0,
            storage: Storage::Device(std::sync::Arc::new(memory)),
        }
    }

    /// Copies a host value to a device.
    pub(crate) fn upload(host: &Value, device: Device) -> Result<Value> {
        let target = bridge::burn_device(device)?;
        super::check_dtype("to", device, host.dtype)?;
        let host = host.contiguous()?;
        let dtype = bridge::burn_dtype(host.dtype, device)?;
        let buffer = host.buffer()?;
        let size = host.dtype.size();
        let bytes =
            &buffer.as_slice::<u8>()[host.offset * size..(host.offset + host.numel()) * size];
        let shape = bridge::burn_shape(&host.shape);
        let data = match dtype {
            // Some GPUs store a boolean in four bytes.
            BurnDType::Bool(BoolStore::U32) => {
                let wide: Vec<u32> = bytes.iter().map(|&b| b as u32).collect();
                TensorData::from_bytes_vec(bytemuck::cast_slice(&wide).to_vec(), shape, dtype)
            }
            _ => TensorData::from_bytes_vec(bytes.to_vec(), shape, dtype),
        };
        let prim =
            by_kind!(host.dtype, float_from_data / int_from_data / bool_from_data(data, &target));
        Ok(Self::wrap(prim, &host.to_meta(), device))
    }

    /// Copies a value to the host.
    pub(crate) fn to_host(&self, value: &Value) -> Result<Value> {
        let prim = self.show(value)?;
        let dtype = value.dtype;
        let data = burn_std::future::block_on(async move {
            match dtype.category() {
                crate::Category::Bool => Dispatch::bool_into_data(prim).await,
                crate::Category::Int => Dispatch::int_into_data(prim).await,
                _ => Dispatch::float_into_data(prim).await,
            }
        })
        .map_err(|fault| error!(Device, "{}: reading a tensor failed: {fault}", self.device))?;
        let stored = data.dtype();
        let bytes: &[u8] = data.as_bytes();
        crate::with_width!(dtype, T => {
            let mut out: Vec<T> = vec![bytemuck::Zeroable::zeroed(); value.numel()];
            match stored {
                BurnDType::Bool(BoolStore::U32) => {
                    let flags = bytemuck::cast_slice_mut::<T, u8>(&mut out);
                    for (flag, word) in flags.iter_mut().zip(bytes.chunks_exact(4)) {
                        *flag = word.iter().any(|&b| b != 0) as u8;
                    }
                }
                _ => {
                    let target = bytemuck::cast_slice_mut::<T, u8>(&mut out);
                    if target.len() != bytes.len() {
                        bail!(Runtime, "{}: expected {} bytes of {dtype}, got {} of {stored:?}",
                            self.device, target.len(), bytes.len());
                    }
                    target.copy_from_slice(bytes);
                }
            }
            Ok(Value::from_vec_as(out, value.shape.clone(), dtype))
        })
    }

    /// A row-major copy.
    pub(crate) fn copied(&self, value: &Value) -> Result<Value> {
        Ok(Self::wrap(self.show(value)?, &value.to_meta(), self.device))
    }

    /// What a value shows of this memory, as burn's tensor of its shape.
    pub(crate) fn show(&self, value: &Value) -> Result<Prim> {
        let base = self.tensor.lock().clone();
        let dtype = self.dtype;
        let total = bridge::numel(&base);
        if value.numel() == 0 {
            return self.empty(&value.shape);
        }
        if value.is_contiguous() && value.offset == 0 && value.numel() == total {
            return Ok(bridge::reshape(base, dtype, &value.shape));
        }
        let flat = bridge::reshape(base, dtype, &[total]);
        let Some(frame) = Frame::of(value, total) else {
            let index = self.positions(value)?;
            let prim = by_kind!(dtype, float_select / int_select / bool_select(flat, 0, index));
            return Ok(bridge::reshape(prim, dtype, &value.shape));
        };
        let whole = frame.cut(flat, dtype);
        let part = by_kind!(dtype, float_slice / int_slice / bool_slice(whole, &frame.slices));
        let kept: Dims = frame.order.iter().map(|&d| value.shape[d]).collect();
        let part = bridge::reshape(part, dtype, &kept);
        // Dimensions were sorted by stride; back to the order the value has them in.
        let mut back: Vec<usize> = (0..kept.len()).collect();
        back.sort_by_key(|&k| frame.order[k]);
        let part = if back.is_sorted() {
            part
        } else {
            by_kind!(dtype, float_permute / int_permute / bool_permute(part, &back))
        };
        let unit: Dims = (0..value.rank())
            .map(|d| if frame.order.contains(&d) { value.shape[d] } else { 1 })
            .collect();
        let part = bridge::reshape(part, dtype, &unit);
        Ok(bridge::expand(part, dtype, &value.shape))
    }

    /// Writes `source` where `target` looks.
    pub(crate) fn assign(&self, target: &Value, source: &Value) -> Result<()> {
        if target.numel() == 0 {
            return Ok(());
        }
        let dtype = self.dtype;
        let prim = bridge::to_burn(source)?;
        let total = bridge::numel(&self.tensor.lock());
        let written = if target.is_contiguous() && target.offset == 0 && target.numel() == total {
            prim
        } else if let Some(frame) = Frame::of(target, total)
            .filter(|f| f.order.len() == target.shape.iter().filter(|&&n| n != 1).count())
        {
            let flat = bridge::reshape(self.tensor.lock().clone(), dtype, &[total]);
            // The source takes the frame's order of dimensions.
            let kept: Dims = target.shape.iter().copied().filter(|&n| n != 1).collect();
            let mut sorted: SmallVec<[usize; 6]> = frame.order.clone();
            sorted.sort_unstable();
            let axes: Vec<usize> = frame
                .order
                .iter()
                .map(|d| sorted.iter().position(|s| s == d).expect("same dimensions"))
                .collect();
            let part = bridge::reshape(prim, dtype, &kept);
            let part = if axes.is_sorted() {
                part
            } else {
                by_kind!(dtype, float_permute / int_permute / bool_permute(part, &axes))
            };
            let part = bridge::reshape(part, dtype, &frame.part_shape());
            let covered = frame.covered();
            let whole = frame.cut(flat.clone(), dtype);
            let whole = by_kind!(
                dtype,
                float_slice_assign
                    / int_slice_assign
                    / bool_slice_assign(whole, &frame.slices, part)
            );
            let whole = bridge::reshape(whole, dtype, &[covered]);
            if covered == total {
                whole
            } else {
                let front = [Slice::new(0, Some(covered as isize), 1)];
                by_kind!(
                    dtype,
                    float_slice_assign / int_slice_assign / bool_slice_assign(flat, &front, whole)
                )
            }
        } else {
            let index = self.positions(target)?;
            let flat = bridge::reshape(self.tensor.lock().clone(), dtype, &[total]);
            let part = bridge::reshape(prim, dtype, &[target.numel()]);
            let update = IndexingUpdateOp::Assign;
            match dtype.category() {
                crate::Category::Bool => {
                    // burn can only "or" booleans into place.
                    let flat = bridge::cast(flat, dtype, DType::I32, self.device)?;
                    let part = bridge::cast(part, dtype, DType::I32, self.device)?;
                    let flat = Dispatch::int_select_assign(flat, 0, index, part, update);
                    bridge::cast(flat, DType::I32, dtype, self.device)?
                }
                crate::Category::Int => Dispatch::int_select_assign(flat, 0, index, part, update),
                _ => Dispatch::float_select_assign(flat, 0, index, part, update),
            }
        };
        *self.tensor.lock() = written;
        Ok(())
    }

    fn empty(&self, shape: &[usize]) -> Result<Prim> {
        let device = bridge::burn_device(self.device)?;
        let dtype = bridge::burn_dtype(self.dtype, self.device)?;
        let shape = bridge::burn_shape(shape);
        Ok(match self.dtype.category() {
            crate::Category::Bool => Dispatch::bool_empty(shape, &device, dtype.into()),
            crate::Category::Int => Dispatch::int_empty(shape, &device, dtype.into()),
            _ => Dispatch::float_empty(shape, &device, dtype.into()),
        })
    }

    /// The storage position of every element, in row-major order.
    fn positions(&self, value: &Value) -> Result<Prim> {
        let strides = [value.strides.clone()];
        let index: Vec<i32> = (0..value.numel())
            .map(|i| {
                (kernels::positions(i, &value.shape, &strides)[0] + value.offset as isize) as i32
            })
            .collect();
        let count = index.len();
        let data = TensorData::new(index, [count]);
        Ok(Dispatch::int_from_data(data, &bridge::burn_device(self.device)?))
    }
}

/// A strided window as one slice of a dense block: the block's shape, and which part of it.
struct Frame {
    /// The value's dimensions that move through memory, widest stride first.
    order: SmallVec<[usize; 6]>,
    shape: Dims,
    slices: Vec<Slice>,
}

impl Frame {
    /// Finds the block whose row-major strides contain the value's, if there is one.
    fn of(value: &Value, total: usize) -> Option<Self> {
        let mut order: SmallVec<[usize; 6]> =
            (0..value.rank()).filter(|&d| value.shape[d] != 1 && value.strides[d] != 0).collect();
        if order.iter().any(|&d| value.strides[d] < 0) {
            return None;
        }
        order.sort_by_key(|&d| std::cmp::Reverse(value.strides[d]));
        let mut shape = Dims::new();
        let mut slices = Vec::new();
        let mut left = value.offset;
        let mut outer = None;
        for &d in &order {
            let stride = value.strides[d] as usize;
            let size = match outer {
                None => total / stride,
                Some(outer) if outer % stride == 0 => outer / stride,
                Some(_) => return None,
            };
            let start = left / stride;
            left %= stride;
            if start + value.shape[d] > size {
                return None;
            }
            shape.push(size);
            slices.push(Slice::new(start as isize, Some((start + value.shape[d]) as isize), 1));
            outer = Some(stride);
        }
        // What remains inside the narrowest stride is one fixed position.
        let inner = outer.unwrap_or(total);
        if inner > 1 || order.is_empty() {
            shape.push(inner);
            slices.push(Slice::new(left as isize, Some(left as isize + 1), 1));
        }
        Some(Self { order, shape, slices })
    }

    /// How many elements of the flat block the frame spans.
    fn covered(&self) -> usize {
        self.shape.iter().product()
    }

    fn part_shape(&self) -> Dims {
        self.slices.iter().map(|s| (s.end.expect("slices are closed") - s.start) as usize).collect()
    }

    fn cut(&self, flat: Prim, dtype: DType) -> Prim {
        let covered = self.covered();
        let flat = if covered == bridge::numel(&flat) {
            flat
        } else {
            let front = [Slice::new(0, Some(covered as isize), 1)];
            by_kind!(dtype, float_slice / int_slice / bool_slice(flat, &front))
        };
        bridge::reshape(flat, dtype, &self.shape)
    }
}
