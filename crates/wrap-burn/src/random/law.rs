//! The laws elements are drawn by, one element like the other.

use kernels::random::{Generator as Source, Real};

use super::Generator;
use crate::device::Device;
use crate::dtype::HostElement;
use crate::op::cast_host;
use crate::ops::create::check_size;
use crate::ops::view::ViewOp;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// How elements are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    /// Uniform in a half-open range.
    Uniform { low: f64, high: f64 },
    /// Normal; of a complex number each part has half the variance.
    Normal { mean: f64, std: f64 },
    /// The exponential of a normal number.
    LogNormal { mean: f64, std: f64 },
    /// Normal, given that it lies between bounds.
    TruncatedNormal { mean: f64, std: f64, low: f64, high: f64 },
    /// Waiting times at a rate.
    Exponential { lambda: f64 },
    /// Cauchy.
    Cauchy { median: f64, sigma: f64 },
    /// Trials until the first success.
    Geometric { p: f64 },
    /// One with a probability, else zero.
    Bernoulli { p: f64 },
    /// Integers from the first to the second, both included.
    Integers { first: i64, last: i64 },
}

impl Law {
    /// A tensor's elements on its device.
    pub(crate) fn value(
        self,
        op: &str,
        meta: &Meta,
        device: Device,
        generator: &Generator,
    ) -> Result<Value> {
        check_size(op, &meta.shape, meta.dtype)?;
        self.check(op, meta.dtype)?;
        if device == Device::Meta {
            return Ok(Value::meta(meta.clone(), device));
        }
        crate::device::require(device)?;
        let host = self.host(meta, generator).map_err(|fault| fault.within(op))?;
        host.to_device(device)
    }

    /// Refuses dtypes the law has no values in.
    fn check(self, op: &str, dtype: DType) -> Result<()> {
        let category = dtype.category();
        let fine = match self {
            Law::Uniform { .. } | Law::Normal { .. } => category >= Category::Float,
            Law::Geometric { .. } => matches!(category, Category::Int | Category::Float),
            Law::Integers { .. } => category <= Category::Float,
            Law::Bernoulli { .. } => true,
            Law::Exponential { .. } | Law::Cauchy { .. } => {
                if !dtype.is_float() {
                    bail!(
                        Runtime,
                        "{op}: continuous probability distribution, dtype must be a floating point \
                         but you specified {dtype}"
                    );
                }
                true
            }
            Law::LogNormal { .. } | Law::TruncatedNormal { .. } => dtype.is_float(),
        };
        if !fine {
            bail!(
                Runtime,
                "{op}: not implemented for {dtype}; hint: use a floating-point dtype such as float32"
            );
        }
        Ok(())
    }

    fn host(self, meta: &Meta, generator: &Generator) -> Result<Value> {
        let count = crate::shape::numel(&meta.shape);
        let shape = || meta.shape.clone();
        match (self, meta.dtype) {
            (Law::Bernoulli { p }, dtype) => {
                let coins = generator.draw(|source| source.bernoulli_scalar(count, p))?;
                cast_host(&Value::from_vec_as(coins, shape(), DType::Bool), dtype)
            }
            (Law::Integers { first, last }, dtype) => {
                let numbers = generator.draw(|source| integers(source, count, first, last))?;
                cast_host(&Value::from_vec(numbers, shape()), dtype)
            }
            (law, dtype) if dtype.is_complex() => {
                // The parts side by side, then read as complex numbers.
                let (law, mean) = law.of_parts();
                let mut parts = Meta { shape: shape(), dtype: dtype.to_real() };
                parts.shape.push(2);
                let value = ViewOp::AsComplex.view(&law.host(&parts, generator)?)?;
                if mean == 0.0 { Ok(value) } else { shifted(&value, mean) }
            }
            (law, DType::F64) => law.drawn::<f64>(meta, generator),
            (law, DType::F32) => law.drawn::<f32>(meta, generator),
            // Half floats come from floats; counts have to be exact, which doubles are.
            (law, dtype) if dtype.is_float() => {
                let wide = Meta { shape: shape(), dtype: DType::F32 };
                cast_host(&law.drawn::<f32>(&wide, generator)?, dtype)
            }
            (law, dtype) => {
                let wide = Meta { shape: shape(), dtype: DType::F64 };
                cast_host(&law.drawn::<f64>(&wide, generator)?, dtype)
            }
        }
    }

    /// The law of a complex number's parts, and the mean to add to their real one.
    fn of_parts(self) -> (Law, f64) {
        match self {
            Law::Normal { mean, std } => {
                (Law::Normal { mean: 0.0, std: std * std::f64::consts::FRAC_1_SQRT_2 }, mean)
            }
            other => (other, 0.0),
        }
    }

    fn drawn<T: Real + HostElement>(self, meta: &Meta, generator: &Generator) -> Result<Value> {
        let count = crate::shape::numel(&meta.shape);
        let data = generator.draw(|source| self.numbers::<T>(source, count))?;
        Ok(Value::from_vec(data, meta.shape.clone()))
    }

    fn numbers<T: Real>(self, source: &mut Source, count: usize) -> kernels::Result<Vec<T>> {
        let at = T::from_f64;
        match self {
            Law::Uniform { low, high } => source.uniform(count, at(low), at(high)),
            Law::Normal { mean, std } => source.normal(count, at(mean), at(std)),
            Law::LogNormal { mean, std } => source.log_normal(count, at(mean), at(std)),
            Law::TruncatedNormal { mean, std, low, high } => {
                source.truncated_normal(count, mean, std, low, high)
            }
            Law::Exponential { lambda } => source.exponential(count, lambda),
            Law::Cauchy { median, sigma } => source.cauchy(count, median, sigma),
            Law::Geometric { p } => source.geometric(count, p),
            Law::Bernoulli { p } => Ok(source
                .bernoulli_scalar(count, p)?
                .into_iter()
                .map(|coin| at(coin as f64))
                .collect()),
            Law::Integers { first, last } => Ok(integers(source, count, first, last)?
                .into_iter()
                .map(|number| at(number as f64))
                .collect()),
        }
    }
}

/// Integers with both ends included, so that a dtype's largest number can be drawn.
fn integers(source: &mut Source, count: usize, first: i64, last: i64) -> kernels::Result<Vec<i64>> {
    if let Some(end) = last.checked_add(1) {
        return source.randint(count, first, end);
    }
    // One below and one added; only the range of all integers has no room for that, and there the
    // one number of 2^64 that is left out is not missed.
    let Some(before) = first.checked_sub(1) else { return source.randint(count, first, last) };
    let mut numbers = source.randint(count, before, last)?;
    numbers.iter_mut().for_each(|number| *number += 1);
    Ok(numbers)
}

/// Complex numbers with a real number added.
fn shifted(value: &Value, by: f64) -> Result<Value> {
    let scalar = crate::Scalar::Float(by);
    crate::with_dtype!("normal", value.dtype, complexes, T => {
        let by = <T as crate::FromScalar>::from_scalar(scalar);
        let sum = kernels::binary::binary_scalar(kernels::binary::Binary::Add, value.view::<T>()?, by)?;
        Ok(Value::from_vec(sum, value.shape.clone()))
    })
}

/// The smallest and the largest integer a dtype holds; `None` where every `i64` may be converted.
pub(super) fn limits(dtype: DType) -> Option<(i64, i64)> {
    Some(match dtype {
        DType::Bool => (0, 1),
        DType::U8 => (0, u8::MAX as i64),
        DType::I8 => (i8::MIN as i64, i8::MAX as i64),
        DType::I16 => (i16::MIN as i64, i16::MAX as i64),
        DType::I32 => (i32::MIN as i64, i32::MAX as i64),
        DType::F16 => (-65504, 65504),
        _ => return None,
    })
}

/// The largest integer up to which a dtype holds all integers.
pub(super) fn last_exact(dtype: DType) -> i64 {
    match dtype {
        DType::F16 => 1 << 11,
        DType::BF16 => 1 << 8,
        DType::F32 | DType::C64 => 1 << 24,
        DType::F64 | DType::C128 => 1 << 53,
        _ => limits(dtype).map_or(i64::MAX, |(_, last)| last),
    }
}

/// The law of integers in `low..high`, checked against a dtype.
pub(super) fn between(op: &str, low: i64, high: i64, dtype: DType) -> Result<Law> {
    if low >= high {
        bail!(
            Runtime,
            "{op}: random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        );
    }
    if let Some((first, last)) = limits(dtype) {
        for (name, bound) in [("from", low), ("to - 1", high - 1)] {
            if !(first..=last).contains(&bound) {
                bail!(
                    Runtime,
                    "{op}: {name} is out of bounds for {dtype}, got {bound}, expected {first} to {last}"
                );
            }
        }
    }
    Ok(Law::Integers { first: low, last: high - 1 })
}
