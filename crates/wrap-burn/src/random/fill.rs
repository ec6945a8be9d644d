//! Random numbers over an existing tensor's elements.
//!
//! The new elements are constants to autograd: what was there before gets a gradient of zero.

use super::law::{between, last_exact};
use super::{Generator, Law, or_default};
use crate::autograd;
use crate::tensor::Tensor;
use crate::{DType, Result};

impl Tensor {
    fn overwrite(&self, op: &str, law: Law, generator: Option<&Generator>) -> Result<()> {
        let value = law.value(op, &self.meta(), self.device(), &or_default(generator))?;
        autograd::assign(self, &Tensor::from_value(value))
    }

    /// Uniform in `[low, high)`.
    pub fn uniform_(&self, low: f64, high: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("uniform_", Law::Uniform { low, high }, generator)
    }

    /// Normal with a mean and a standard deviation.
    pub fn normal_(&self, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("normal_", Law::Normal { mean, std }, generator)
    }

    /// Integers from `low` up to `high`, which is excluded; without it, up to the largest integer
    /// such that the dtype holds all before it.
    pub fn random_(
        &self,
        low: i64,
        high: Option<i64>,
        generator: Option<&Generator>,
    ) -> Result<()> {
        let dtype = self.dtype();
        let law = match high {
            Some(high) => between("random_", low, high, dtype)?,
            None => {
                let last = last_exact(dtype);
                // The bounds are checked as any others; only int64 has no number after its last.
                match last.checked_add(1) {
                    Some(end) => between("random_", low, end, dtype)?,
                    None => Law::Integers { first: low, last },
                }
            }
        };
        self.overwrite("random_", law, generator)
    }

    /// One with probability `p`, else zero.
    pub fn bernoulli_(&self, p: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("bernoulli_", Law::Bernoulli { p }, generator)
    }

    /// One with the probability that stands at the same place of `p` (broadcast), else zero.
    pub fn bernoulli_from_(&self, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
        let p = p.detach().expand_to("bernoulli_", &self.shape())?;
        let float = if p.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        let coins = p.to_dtype(float)?.bernoulli(generator)?.to_dtype(self.dtype())?;
        autograd::assign(self, &coins)
    }

    /// Waiting times at the rate `lambda`.
    pub fn exponential_(&self, lambda: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("exponential_", Law::Exponential { lambda }, generator)
    }

    /// Trials until the first success at the probability `p`.
    pub fn geometric_(&self, p: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("geometric_", Law::Geometric { p }, generator)
    }

    /// The Cauchy distribution.
    pub fn cauchy_(&self, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("cauchy_", Law::Cauchy { median, sigma }, generator)
    }

    /// Numbers whose logarithm is normal with a mean and a standard deviation.
    pub fn log_normal_(&self, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()> {
        self.overwrite("log_normal_", Law::LogNormal { mean, std }, generator)
    }

    /// Normal with a mean and a standard deviation, given that it lies in `[low, high]`.
    pub fn trunc_normal_(
        &self,
        mean: f64,
        std: f64,
        low: f64,
        high: f64,
        generator: Option<&Generator>,
    ) -> Result<()> {
        self.overwrite("trunc_normal_", Law::TruncatedNormal { mean, std, low, high }, generator)
    }
}
