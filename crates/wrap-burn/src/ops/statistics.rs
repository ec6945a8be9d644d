//! Statistics composed of reductions.

use crate::ops::binary::Binary;
use crate::ops::reduce::reduce_dims;
use crate::ops::unary::{Predicate, Unary};
use crate::tensor::Tensor;
use crate::{Category, DType, Result, bail};

/// `f(x)`, and zero with a gradient of zero where `x` is zero and `f` has no slope.
fn flat_at_zero(x: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if !x.requires_grad() || !crate::autograd::grad_enabled() {
        return f(x);
    }
    let number = |value: f64| Tensor::full(&[], value, x.dtype(), x.device());
    let flat = x.eq_scalar(0.0)?;
    flat.where_(&number(0.0)?, &f(&flat.where_(&number(1.0)?, x)?)?)
}

/// What weighs observations: a vector with one element for each.
fn check_weights(name: &str, weights: &Tensor, observations: usize) -> Result<()> {
    if weights.rank() > 1 {
        bail!(
            Runtime,
            "cov: expected {name} to have one or fewer dimensions but got {name} with {} dimensions",
            weights.rank()
        );
    }
    if weights.numel() != observations {
        bail!(
            Runtime,
            "cov: expected {name} to have the same numel as there are observations in the input but \
             got {} != {observations}",
            weights.numel()
        );
    }
    if observations > 0 && weights.lt_scalar(0.0)?.any(None, false)?.item()?.to_bool() {
        bail!(Runtime, "cov: {name} cannot be negative");
    }
    Ok(())
}

impl Tensor {
    /// The covariance matrix of variables in rows and observations in columns, divided by the
    /// number of observations less `correction`. `fweights` says how often each observation counts,
    /// `aweights` how much.
    pub fn cov(
        &self,
        correction: i64,
        fweights: Option<&Tensor>,
        aweights: Option<&Tensor>,
    ) -> Result<Tensor> {
        let (rank, dtype) = (self.rank(), self.dtype());
        if rank > 2 {
            bail!(
                Runtime,
                "cov: expected input to have two or fewer dimensions but got an input with {rank} \
                 dimensions"
            );
        }
        if dtype == DType::Bool {
            bail!(Runtime, "cov: bool dtype is not supported for input");
        }
        let x = if rank < 2 { self.reshape_to(&[1, self.numel()])? } else { self.clone() };
        let x = if dtype.is_int() {
            x.to_dtype(self.device().narrow(crate::defaults::float()))?
        } else {
            x
        };
        let observations = x.shape()[1];
        if let Some(weights) = fweights {
            if !weights.dtype().is_int() {
                bail!(
                    Runtime,
                    "cov: expected fweights to have integral dtype but got fweights with {} dtype",
                    weights.dtype()
                );
            }
            check_weights("fweights", weights, observations)?;
        }
        if let Some(weights) = aweights {
            if !weights.dtype().is_float() {
                bail!(
                    Runtime,
                    "cov: expected aweights to have floating point dtype but got aweights with {} dtype",
                    weights.dtype()
                );
            }
            check_weights("aweights", weights, observations)?;
        }
        let real = x.dtype().to_real();
        let (weights, total, freedom) = match (fweights, aweights) {
            (None, None) => {
                let count = observations as f64;
                let number = |value: f64| Tensor::full(&[], value, real, x.device());
                (None, number(count)?, number(count - correction as f64)?)
            }
            (f, a) => {
                let weights = match (f, a) {
                    (Some(f), Some(a)) => f.mul(a)?,
                    (one, other) => one.or(other).cloned().expect("one of them is there"),
                }
                .to_dtype(real)?;
                let total = weights.sum(None, false)?;
                if observations > 0 && total.item()?.to_f64() == 0.0 {
                    bail!(Runtime, "cov: weights sum to zero, can't be normalized");
                }
                let freedom = match a {
                    Some(a) if correction != 0 => {
                        let share = weights.mul(a)?.sum(None, false)?.div(&total)?;
                        total.sub(&share.mul_scalar(correction as f64)?)?
                    }
                    _ => total.add_scalar(-(correction as f64))?,
                };
                (Some(weights), total, freedom)
            }
        };
        // No freedom left gives infinity, not a negative variance.
        let freedom = freedom.unary(Unary::Relu)?;
        let weighted = |x: &Tensor| match &weights {
            Some(weights) => x.mul(weights),
            None => Ok(x.clone()),
        };
        let mean = weighted(&x)?.sum(Some(&[1]), true)?.div(&total)?;
        let distance = x.sub(&mean)?;
        let products = distance.matmul(&weighted(&distance)?.transpose(0, 1)?.conj()?)?;
        products.div(&freedom)?.squeeze(None)
    }

    /// The correlation matrix of variables in rows and observations in columns.
    pub fn corrcoef(&self) -> Result<Tensor> {
        let rank = self.rank();
        if rank > 2 {
            bail!(
                Runtime,
                "corrcoef: expected input to have two or fewer dimensions but got an input with {rank} \
                 dimensions"
            );
        }
        let covariance = self.cov(1, None, None).map_err(|fault| fault.within("corrcoef"))?;
        if covariance.rank() == 0 {
            return covariance.div(&covariance);
        }
        let deviation = covariance.diagonal(0, 0, 1)?.real()?.unary(Unary::Sqrt)?;
        let scaled = covariance.div(&deviation.unsqueeze(1)?)?.div(&deviation.unsqueeze(0)?)?;
        // Rounding may lead out of the range of correlations.
        let held = |part: &Tensor| part.clamp_scalar(Some((-1.0).into()), Some(1.0.into()));
        if scaled.dtype().is_complex() {
            return Tensor::complex(&held(&scaled.real()?)?, &held(&scaled.imag()?)?);
        }
        held(&scaled)
    }

    /// The mean without NaN.
    pub fn nanmean(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        if !dtype.is_float() {
            bail!(Runtime, "nanmean: expected input to have floating point dtype but got {dtype}");
        }
        let there = self.predicate(Predicate::IsNan)?.predicate(Predicate::LogicalNot)?;
        let count = there.to_dtype(dtype.widened())?.sum(dims, keep)?;
        self.nansum(dims, keep)?.div(&count)?.to_dtype(dtype)
    }

    /// The standard deviation over dimensions, the variance divided by `n - correction`. Where it is
    /// zero, so is its gradient.
    pub fn std(&self, dims: Option<&[i64]>, correction: f64, keep: bool) -> Result<Tensor> {
        Ok(self.std_mean(dims, correction, keep)?.0)
    }

    /// Standard deviation and mean over dimensions.
    pub fn std_mean(
        &self,
        dims: Option<&[i64]>,
        correction: f64,
        keep: bool,
    ) -> Result<(Tensor, Tensor)> {
        if !self.dtype().is_differentiable() {
            bail!(
                Runtime,
                "std: only support floating point and complex dtypes, got {}; hint: .float() first",
                self.dtype()
            );
        }
        let (var, mean) = self.var_mean(dims, correction, keep)?;
        Ok((flat_at_zero(&var, |var| var.unary(Unary::Sqrt))?, mean))
    }

    /// The smallest and the largest elements, along a dimension or of all.
    pub fn aminmax(&self, dim: Option<i64>, keep: bool) -> Result<(Tensor, Tensor)> {
        let listed = dim.map(|dim| [dim]);
        let dims = listed.as_ref().map(|dims| dims.as_slice());
        let reduced = reduce_dims("aminmax", dims, self.rank())?;
        if dim.is_some() && reduced.iter().any(|&d| self.shape()[d] == 0) {
            bail!(
                Index,
                "aminmax: expected reduction dim to have non-zero size, got shape {:?}",
                self.shape()
            );
        }
        if dim.is_none() && self.numel() == 0 {
            bail!(
                Runtime,
                "aminmax: cannot compute aminmax over an empty dimension as the operation has no \
                 identity, got shape {:?}",
                self.shape()
            );
        }
        Ok((self.amin(dims, keep)?, self.amax(dims, keep)?))
    }

    /// The `p`-norm of the difference of two tensors. Where it is zero, so is its gradient.
    pub fn dist(&self, other: &Tensor, p: f64) -> Result<Tensor> {
        let difference = self.sub(other)?;
        let dtype = difference.dtype();
        if dtype.category() <= Category::Int {
            bail!(
                Runtime,
                "dist: expected floating point or complex tensors, got {} and {}; hint: .float() first",
                self.dtype(),
                other.dtype()
            );
        }
        if p.is_nan() {
            bail!(Runtime, "dist: the order of the norm must be a number, got {p}");
        }
        let size = difference.unary(Unary::Abs)?;
        if p == f64::INFINITY && size.numel() > 0 {
            return size.amax(None, false);
        }
        if p == f64::NEG_INFINITY && size.numel() > 0 {
            return size.amin(None, false);
        }
        if p.is_infinite() {
            return Tensor::zeros(&[], size.dtype(), size.device());
        }
        if p == 0.0 {
            return size.ne_scalar(0.0)?.to_dtype(size.dtype())?.sum(None, false);
        }
        if p == 1.0 {
            return size.sum(None, false);
        }
        if p == 2.0 {
            return flat_at_zero(&size.square()?.sum(None, false)?, |sum| sum.unary(Unary::Sqrt));
        }
        // Below one, powers are too steep at zero to be differentiated there.
        let powers = if (0.0..1.0).contains(&p) {
            flat_at_zero(&size, |size| size.pow_scalar(p))?
        } else {
            size.pow_scalar(p)?
        };
        flat_at_zero(&powers.sum(None, false)?, |sum| {
            sum.with_scalar(Binary::Pow, (1.0 / p).into(), false)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(data: &[f64], shape: &[usize]) -> Tensor {
        Tensor::from_vec(data.to_vec(), shape).unwrap()
    }

    fn close(tensor: &Tensor, wanted: &[f64]) {
        let got = tensor.to_vec::<f64>().unwrap();
        assert_eq!(got.len(), wanted.len());
        for (got, wanted) in got.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-12, "{got} instead of {wanted}");
        }
    }

    #[test]
    fn covariances() {
        let x = matrix(&[0.0, 1.0, 2.0, 2.0, 1.0, 0.0], &[2, 3]);
        close(&x.cov(1, None, None).unwrap(), &[1.0, -1.0, -1.0, 1.0]);
        close(&x.corrcoef().unwrap(), &[1.0, -1.0, -1.0, 1.0]);
        let often = Tensor::from_vec(vec![1i64, 2, 1], &[3]).unwrap();
        close(
            &x.cov(1, Some(&often), None).unwrap(),
            &[2.0 / 3.0, -2.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0],
        );
        let weights = matrix(&[1.0, 1.0, 1.0], &[3]);
        close(
            &x.cov(0, None, Some(&weights)).unwrap(),
            &[2.0 / 3.0, -2.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0],
        );
        assert!(x.cov(1, Some(&weights), None).is_err());
        assert_eq!(matrix(&[1.0, 3.0], &[2]).cov(1, None, None).unwrap().rank(), 0);
    }

    #[test]
    fn deviations_without_nan() {
        let x = matrix(&[1.0, 3.0, f64::NAN, 5.0], &[2, 2]);
        close(&x.nanmean(None, false).unwrap(), &[3.0]);
        close(&x.nanmean(Some(&[1]), true).unwrap(), &[2.0, 5.0]);
        let same = matrix(&[2.0, 2.0], &[2]);
        same.set_requires_grad(true).unwrap();
        let std = same.std(None, 1.0, false).unwrap();
        crate::autograd::backward(&[std], &[None], false, false, None).unwrap();
        close(&same.grad().unwrap(), &[0.0, 0.0]);
        close(&matrix(&[1.0, 3.0], &[2]).std(None, 1.0, false).unwrap(), &[2f64.sqrt()]);
        let (low, high) = matrix(&[4.0, -1.0], &[2]).aminmax(None, false).unwrap();
        close(&low, &[-1.0]);
        close(&high, &[4.0]);
    }

    #[test]
    fn distances() {
        let (a, b) = (matrix(&[3.0, 0.0], &[2]), matrix(&[0.0, 4.0], &[2]));
        for (p, wanted) in
            [(2.0, 5.0), (1.0, 7.0), (0.0, 2.0), (f64::INFINITY, 4.0), (3.0, 91f64.cbrt())]
        {
            close(&a.dist(&b, p).unwrap(), &[wanted]);
        }
        a.set_requires_grad(true).unwrap();
        for p in [0.5, 2.0, 3.0] {
            let distance = a.dist(&a.detach().deep_copy().unwrap(), p).unwrap();
            let grad =
                crate::autograd::grad(&[distance], std::slice::from_ref(&a), &[None], false, false)
                    .unwrap();
            close(grad[0].as_ref().unwrap(), &[0.0, 0.0]);
        }
    }
}
