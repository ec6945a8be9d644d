//! New tensors of random numbers.

use kernels::Dims;

use super::law::{between, last_exact};
use super::{Distribution, Generator, Law, or_default};
use crate::device::Device;
use crate::op::cast_host;
use crate::ops::create::check_size;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

fn new(
    op: &str,
    law: Law,
    shape: &[usize],
    dtype: DType,
    device: Device,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let meta = Meta::new(shape, dtype);
    Ok(Tensor::from_value(law.value(op, &meta, device, &or_default(generator))?))
}

impl Tensor {
    /// Uniform in `[0, 1)`; of a complex dtype, both parts.
    pub fn rand(
        shape: &[usize],
        dtype: DType,
        device: Device,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        new("rand", Law::Uniform { low: 0.0, high: 1.0 }, shape, dtype, device, generator)
    }

    /// Standard normal; of a complex dtype, both parts have a variance of one half.
    pub fn randn(
        shape: &[usize],
        dtype: DType,
        device: Device,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        new("randn", Law::Normal { mean: 0.0, std: 1.0 }, shape, dtype, device, generator)
    }

    /// Normal with a mean and a standard deviation.
    pub fn normal_with(
        mean: f64,
        std: f64,
        shape: &[usize],
        dtype: DType,
        device: Device,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        new("normal", Law::Normal { mean, std }, shape, dtype, device, generator)
    }

    /// Integers, each of `low..high` as likely as the others.
    pub fn randint(
        low: i64,
        high: i64,
        shape: &[usize],
        dtype: DType,
        device: Device,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        new("randint", between("randint", low, high, dtype)?, shape, dtype, device, generator)
    }

    /// `0..n` in an order as likely as any other.
    pub fn randperm(
        n: usize,
        dtype: DType,
        device: Device,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        if dtype.is_complex() || dtype == DType::Bool {
            bail!(Runtime, "randperm: not implemented for {dtype}; hint: use int64");
        }
        if n as u128 > last_exact(dtype) as u128 + 1 {
            bail!(
                Runtime,
                "randperm: n cannot be greater than {} for {dtype}, got {n}",
                last_exact(dtype) as u128 + 1
            );
        }
        check_size("randperm", &[n], DType::I64)?;
        let shape = Dims::from_slice(&[n]);
        if device == Device::Meta {
            return Ok(Tensor::from_value(Value::meta(Meta { shape, dtype }, device)));
        }
        crate::device::require(device)?;
        let order = Value::from_vec(or_default(generator).draw(|source| source.randperm(n)), shape);
        Ok(Tensor::from_value(cast_host(&order, dtype)?.to_device(device)?))
    }

    /// A tensor drawn from a distribution by the default generator.
    pub fn random(
        shape: &[usize],
        distribution: Distribution,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        let whole = dtype.category() <= Category::Int;
        let law = match distribution {
            Distribution::Default if dtype == DType::Bool => Law::Bernoulli { p: 0.5 },
            Distribution::Default if whole => {
                Law::Integers { first: 0, last: 254.min(last_exact(dtype)) }
            }
            Distribution::Default => Law::Uniform { low: 0.0, high: 1.0 },
            Distribution::Bernoulli(p) => Law::Bernoulli { p },
            Distribution::Uniform(low, high) if whole => {
                between("random", low.ceil() as i64, high.ceil() as i64, dtype)?
            }
            Distribution::Uniform(low, high) => Law::Uniform { low, high },
            Distribution::Normal(mean, std) if whole => {
                let law = Law::Normal { mean, std };
                return new("random", law, shape, DType::F64, Device::Cpu, None)?
                    .to_dtype(dtype)?
                    .to_device(device);
            }
            Distribution::Normal(mean, std) => Law::Normal { mean, std },
        };
        new("random", law, shape, dtype, device, None)
    }
}
