//! Tensors from nothing.

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use kernels::Dims;

use crate::bridge;
use crate::device::Device;
use crate::dtype::FromScalar;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, Scalar, bail, error};

/// Elements beyond which no allocation can succeed.
const MAX_BYTES: u128 = isize::MAX as u128;

/// Refuses shapes no memory can hold.
pub(crate) fn check_size(op: &str, shape: &[usize], dtype: DType) -> Result<()> {
    let bytes = shape
        .iter()
        .fold(dtype.size() as u128, |product, &size| product.saturating_mul(size as u128));
    if bytes > MAX_BYTES {
        bail!(
            OutOfMemory,
            "{op}: shape {shape:?} of {dtype} needs more memory than any machine can address"
        );
    }
    Ok(())
}

/// Bytes of memory this process can have in all, as far as the system tells: the machine's, or what
/// a container or a limit of the process leaves of it.
fn machine_memory() -> u128 {
    static MEMORY: std::sync::OnceLock<u128> = std::sync::OnceLock::new();
    *MEMORY.get_or_init(|| {
        let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return MAX_BYTES };
        let kilobytes = |name: &str| -> Option<u128> {
            text.lines()
                .find_map(|line| line.strip_prefix(name))?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        };
        let total = kilobytes("MemTotal:").map(|ram| ram + kilobytes("SwapTotal:").unwrap_or(0));
        let total = total.map_or(MAX_BYTES, |total| total * 1024);
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let container = read("/sys/fs/cgroup/memory.max").trim().parse().ok();
        let process = read("/proc/self/limits")
            .lines()
            .find_map(|line| line.strip_prefix("Max address space"))
            .and_then(|limits| limits.split_whitespace().next()?.parse().ok());
        [Some(total), container, process].into_iter().flatten().min().unwrap_or(total)
    })
}

/// Whether so many bytes are more than an allocation can have: some memory is taken already.
fn is_too_much(bytes: u128) -> bool {
    bytes > machine_memory() / 16 * 15
}

/// Refuses results that this machine's memory cannot hold: a failed allocation ends the process.
pub(crate) fn check_fits(op: &str, meta: &Meta) -> Result<()> {
    /// So many elements fit everywhere.
    const FEW: usize = 1 << 20;
    let mut count = Some(1usize);
    for &size in &meta.shape {
        count = count.and_then(|count| count.checked_mul(size));
    }
    if count.is_some_and(|count| count <= FEW) {
        return Ok(());
    }
    check_size(op, &meta.shape, meta.dtype)?;
    let bytes = count.unwrap_or(usize::MAX) as u128 * meta.dtype.size() as u128;
    if is_too_much(bytes) {
        bail!(
            OutOfMemory,
            "{op}: could not allocate {bytes} bytes for shape {:?} of {}: there are {} in all",
            meta.shape,
            meta.dtype,
            machine_memory()
        );
    }
    Ok(())
}

/// Refuses a number that a dtype does not hold, which would come out as another one. Unsigned types
/// take negative integers as their complement, floats take infinities.
pub fn check_fill(op: &str, number: Scalar, dtype: DType) -> Result<()> {
    let (re, im) = number.to_parts();
    let within = |limit: f64, part: f64| !part.is_finite() || part.abs() <= limit;
    let float = |part: f64| match dtype {
        DType::F16 => within(half::f16::MAX.to_f64(), part),
        DType::BF16 => within(half::bf16::MAX.to_f64(), part),
        DType::F32 | DType::C64 => within(f32::MAX.into(), part),
        _ => true,
    };
    let integer = |low: i64, high: i64| match number {
        Scalar::Bool(_) => true,
        Scalar::Int(value) => (low.min(-high)..=high).contains(&value),
        // One past the highest integer is a float in every type, the highest itself is not.
        _ => im == 0.0 && re >= low as f64 && re < high as f64 + 1.0,
    };
    let fits = match dtype {
        DType::Bool => true,
        DType::U8 => integer(0, u8::MAX.into()),
        DType::I8 => integer(i8::MIN.into(), i8::MAX.into()),
        DType::I16 => integer(i16::MIN.into(), i16::MAX.into()),
        DType::I32 => integer(i32::MIN.into(), i32::MAX.into()),
        DType::I64 => integer(i64::MIN, i64::MAX),
        dtype if dtype.is_complex() => float(re) && float(im),
        _ => im == 0.0 && float(re),
    };
    if !fits {
        let number = match number {
            Scalar::Int(value) => value.to_string(),
            Scalar::Complex(re, im) => format!("{re}{im:+}j"),
            other => other.to_f64().to_string(),
        };
        bail!(
            Runtime,
            "{op}: value cannot be converted to type {dtype} without overflow, got {number}"
        );
    }
    Ok(())
}

/// A vector of `len` elements by their places, or an error if memory is short.
pub(crate) fn by_place<T>(op: &str, len: usize, at: impl FnMut(usize) -> T) -> Result<Vec<T>> {
    let bytes = (len as u128).saturating_mul(size_of::<T>() as u128);
    let mut data = Vec::new();
    if is_too_much(bytes) || data.try_reserve_exact(len).is_err() {
        bail!(OutOfMemory, "{op}: could not allocate {bytes} bytes for {len} elements");
    }
    data.extend((0..len).map(at));
    Ok(data)
}

/// A vector of `len` equal elements, or an error if memory is short.
pub(crate) fn filled<T: kernels::Element>(len: usize, value: T) -> Result<Vec<T>> {
    if bytemuck::bytes_of(&value).iter().all(|&byte| byte == 0) {
        let mut probe = Vec::<T>::new();
        probe.try_reserve_exact(len).map_err(|_| short_of_memory::<T>(len))?;
        drop(probe);
        // Fresh zeroed pages come from the system for free.
        return Ok(vec![value; len]);
    }
    let mut data = Vec::new();
    data.try_reserve_exact(len).map_err(|_| short_of_memory::<T>(len))?;
    data.resize(len, value);
    Ok(data)
}

fn short_of_memory<T>(len: usize) -> crate::Error {
    error!(OutOfMemory, "cpu: could not allocate {} bytes", len.saturating_mul(size_of::<T>()))
}

/// Zeros on the host.
pub(crate) fn zeros_host(meta: &Meta) -> Result<Value> {
    check_size("zeros", &meta.shape, meta.dtype)?;
    crate::with_width!(meta.dtype, T => Ok(Value::from_vec_as(
        filled::<T>(crate::shape::numel(&meta.shape), bytemuck::Zeroable::zeroed())?,
        meta.shape.clone(),
        meta.dtype,
    )))
}

/// Equal elements on any device.
pub(crate) fn full_value(meta: &Meta, fill: Scalar, device: Device) -> Result<Value> {
    check_size("full", &meta.shape, meta.dtype)?;
    match device {
        Device::Meta => Ok(Value::meta(meta.clone(), device)),
        Device::Cpu => {
            let fill = if meta.dtype == DType::Bool { Scalar::Bool(fill.to_bool()) } else { fill };
            crate::with_dtype!("full", meta.dtype, all, T => Ok(Value::from_vec_as(
                filled(crate::shape::numel(&meta.shape), T::from_scalar(fill))?,
                meta.shape.clone(),
                meta.dtype,
            )))
        }
        Device::Wgpu(_) | Device::Cuda(_) => {
            crate::device::require(device)?;
            crate::device::check_dtype("full", device, meta.dtype)?;
            let target = bridge::burn_device(device)?;
            let dtype = bridge::burn_dtype(meta.dtype, device)?;
            let shape = bridge::burn_shape(&meta.shape);
            let prim = match meta.dtype.category() {
                Category::Bool if fill.to_bool() => {
                    Dispatch::bool_ones(shape, &target, dtype.into())
                }
                Category::Bool => Dispatch::bool_zeros(shape, &target, dtype.into()),
                Category::Int => {
                    let fill = burn_std::Scalar::Int(fill.to_i64());
                    Dispatch::int_full(shape, fill, &target, dtype.into())
                }
                _ => {
                    let fill = burn_std::Scalar::Float(fill.to_f64());
                    Dispatch::float_full(shape, fill, &target, dtype.into())
                }
            };
            bridge::from_burn(prim, meta, device)
        }
    }
}

impl Tensor {
    /// Equal elements.
    pub fn full(
        shape: &[usize],
        fill: impl Into<Scalar>,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        let meta = Meta { shape: Dims::from_slice(shape), dtype };
        Ok(Tensor::from_value(full_value(&meta, fill.into(), device)?))
    }

    /// Zeros.
    pub fn zeros(shape: &[usize], dtype: DType, device: Device) -> Result<Tensor> {
        Tensor::full(shape, Scalar::Int(0), dtype, device)
    }

    /// Ones.
    pub fn ones(shape: &[usize], dtype: DType, device: Device) -> Result<Tensor> {
        Tensor::full(shape, Scalar::Int(1), dtype, device)
    }

    /// `start`, `start + step`, ... before `end`.
    pub fn arange(
        start: Scalar,
        end: Scalar,
        step: Scalar,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        let (from, to, by) = (start.to_f64(), end.to_f64(), step.to_f64());
        if by == 0.0 {
            bail!(Runtime, "arange: step must be nonzero");
        }
        if !(from.is_finite() && to.is_finite()) {
            bail!(Runtime, "arange: unsupported range: {from} -> {to}");
        }
        if (by > 0.0 && from > to) || (by < 0.0 && from < to) {
            bail!(
                Runtime,
                "arange: upper bound and lower bound inconsistent with step sign ({from}, {to}, {by})"
            );
        }
        let whole = [start, end, step].iter().all(|s| s.category() <= Category::Int);
        let len = if whole {
            let (from, to, by) =
                (start.to_i64() as i128, end.to_i64() as i128, step.to_i64() as i128);
            let span = to - from;
            ((span.abs() + by.abs() - 1) / by.abs()) as usize
        } else {
            ((to - from) / by).ceil() as usize
        };
        check_size("arange", &[len], DType::F64)?;
        let value = if dtype.category() <= Category::Int {
            let (from, by) = (start.to_i64(), step.to_i64());
            if !whole {
                let data = by_place("arange", len, |i| from as f64 + i as f64 * by as f64)?;
                Value::from_vec(data, Dims::from_slice(&[len]))
            } else {
                let data = by_place("arange", len, |i| from + i as i64 * by)?;
                Value::from_vec(data, Dims::from_slice(&[len]))
            }
        } else {
            let data = by_place("arange", len, |i| from + i as f64 * by)?;
            Value::from_vec(data, Dims::from_slice(&[len]))
        };
        Ok(Tensor::from_value(crate::op::cast_host(&value, dtype)?.to_device(device)?))
    }
}
