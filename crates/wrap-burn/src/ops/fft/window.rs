//! Windows that fade a signal's ends.

use std::f64::consts::PI;

use crate::device::Device;
use crate::op::cast_host;
use crate::ops::create::by_place;
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{DType, Result, bail};

/// `n` values of a function of the place between 0 and 1. A periodic window is the beginning of one
/// that is longer by one.
fn window(
    op: &str,
    n: usize,
    periodic: bool,
    dtype: DType,
    device: Device,
    at: impl Fn(f64) -> f64,
) -> Result<Tensor> {
    if !dtype.is_float() {
        bail!(Runtime, "{op}: expects floating point dtypes, got {dtype}");
    }
    let steps = if periodic { n } else { n.saturating_sub(1) };
    let data = match n {
        1 => vec![1.0],
        n => by_place(op, n, |k| at(k as f64 / steps as f64))?,
    };
    let value = Value::from_vec(data, [n].as_slice());
    Ok(Tensor::from_value(cast_host(&value, dtype)?.to_device(device)?))
}

impl Tensor {
    /// The Hann window.
    pub fn hann_window(n: usize, periodic: bool, dtype: DType, device: Device) -> Result<Tensor> {
        window("hann_window", n, periodic, dtype, device, |t| 0.5 - 0.5 * (2.0 * PI * t).cos())
    }

    /// The Hamming window `alpha - beta cos(2 pi t)`, usually of 0.54 and 0.46.
    pub fn hamming_window(
        n: usize,
        periodic: bool,
        alpha: f64,
        beta: f64,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        window("hamming_window", n, periodic, dtype, device, |t| {
            alpha - beta * (2.0 * PI * t).cos()
        })
    }

    /// The Blackman window.
    pub fn blackman_window(
        n: usize,
        periodic: bool,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        window("blackman_window", n, periodic, dtype, device, |t| {
            0.42 - 0.5 * (2.0 * PI * t).cos() + 0.08 * (4.0 * PI * t).cos()
        })
    }

    /// The triangular window.
    pub fn bartlett_window(
        n: usize,
        periodic: bool,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        window("bartlett_window", n, periodic, dtype, device, |t| 1.0 - (2.0 * t - 1.0).abs())
    }

    /// The Kaiser window, usually with a `beta` of 12.
    pub fn kaiser_window(
        n: usize,
        periodic: bool,
        beta: f64,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        if n == 1 {
            return window("kaiser_window", n, periodic, dtype, device, |_| 1.0);
        }
        if !dtype.is_float() {
            bail!(Runtime, "kaiser_window: expects floating point dtypes, got {dtype}");
        }
        let angles = window("kaiser_window", n, periodic, DType::F64, Device::Cpu, |t| {
            beta * (1.0 - (2.0 * t - 1.0) * (2.0 * t - 1.0)).max(0.0).sqrt()
        })?;
        let top = Tensor::full(&[], beta, DType::F64, Device::Cpu)?.unary(Unary::I0)?;
        angles.unary(Unary::I0)?.div(&top)?.to_dtype(dtype)?.to_device(device)
    }
}
