//! Normalisation of layers, groups of channels, and channels over a batch.

mod batch;
mod groups;

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;

pub use batch::{BatchNormBackwardOp, BatchNormOp, Running};
pub use groups::{NormBackwardOp, NormLayout, NormOp};

use crate::bridge::{self, Prim, to_burn};
use crate::device::Device;
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{DType, Result, bail};

/// Checks a weight, a bias or a statistic: of the input's dtype, or of a wider one where that is a
/// half.
fn check_parameter(
    op: &str,
    what: &str,
    parameter: &Value,
    x: &Value,
    shape: &[usize],
) -> Result<()> {
    if parameter.shape.as_slice() != shape {
        bail!(
            Runtime,
            "{op}: expected {what} of shape {shape:?} for an input of shape {:?}, got {:?}",
            x.shape,
            parameter.shape
        );
    }
    if parameter.dtype != x.dtype && parameter.dtype != x.dtype.widened() {
        bail!(
            Runtime,
            "{op}: expected {what} of the input's dtype {}, got {}; hint: convert one with .to()",
            x.dtype,
            parameter.dtype
        );
    }
    Ok(())
}

/// The gradients by elements, weight and bias, made of tensor ops. `x` and `grad` have one shape; the
/// weight broadcasts to it. The statistics run over the dimensions `over`, or are `given` (what is
/// subtracted, and one over the standard deviation); the gradients of weight and bias are sums over
/// the dimensions `shared`.
fn gradients(
    grad: &Tensor,
    x: &Tensor,
    weight: Option<&Tensor>,
    stats: Stats<'_>,
    shared: &[usize],
) -> Result<[Tensor; 3]> {
    let dtype = x.dtype().widened();
    let (grad, x) = (grad.to_dtype(dtype)?, x.to_dtype(dtype)?);
    let weighted = match weight {
        Some(weight) => grad.mul(&weight.to_dtype(dtype)?)?,
        None => grad.clone(),
    };
    let (unit, by_x) = match stats {
        Stats::Given { mean, spread } => {
            let spread = spread.to_dtype(dtype)?;
            (x.sub(&mean.to_dtype(dtype)?)?.mul(&spread)?, weighted.mul(&spread)?)
        }
        Stats::Own { over, centre, eps } => {
            let count: usize = over.iter().map(|&dim| x.shape()[dim]).product();
            let average =
                |x: &Tensor| x.sum_dims(over, true)?.mul_scalar(1.0 / count.max(1) as f64);
            let centred = if centre { x.sub(&average(&x)?)? } else { x.clone() };
            let spread = average(&centred.square()?)?.add_scalar(eps)?.unary(Unary::Rsqrt)?;
            let unit = centred.mul(&spread)?;
            let along = unit.mul(&average(&weighted.mul(&unit)?)?)?;
            let rest = weighted.sub(&along)?;
            let rest = if centre { rest.sub(&average(&weighted)?)? } else { rest };
            (unit, rest.mul(&spread)?)
        }
    };
    let by_weight = grad.mul(&unit)?.sum_dims(shared, false)?;
    Ok([by_x, by_weight, grad.sum_dims(shared, false)?])
}

/// What elements are normalised by.
enum Stats<'a> {
    /// The mean, unless they are not to be centred, and the mean square over some dimensions.
    Own { over: &'a [usize], centre: bool, eps: f64 },
    /// Statistics from elsewhere.
    Given { mean: &'a Tensor, spread: &'a Tensor },
}

/// A value in burn's hands, in a shape, and wide enough for sums.
fn wide(value: &Value, shape: &[usize], device: Device) -> Result<Prim> {
    let dtype = value.dtype.widened();
    let prim = bridge::cast(to_burn(value)?, value.dtype, dtype, device)?;
    Ok(bridge::reshape(prim, dtype, shape))
}

/// burn's tensor narrowed to a dtype, in a shape.
fn narrowed(prim: Prim, dtype: DType, shape: &[usize], device: Device) -> Result<Prim> {
    Ok(bridge::reshape(bridge::cast(prim, dtype.widened(), dtype, device)?, dtype, shape))
}

/// The mean over several dimensions, which stay.
fn mean_over(prim: Prim, dims: &[usize]) -> Prim {
    dims.iter().fold(prim, |prim, &dim| Dispatch::float_mean_dim(prim, dim))
}

/// The sum over several dimensions, which stay.
fn sum_over(prim: Prim, dims: &[usize]) -> Prim {
    dims.iter().fold(prim, |prim, &dim| Dispatch::float_sum_dim(prim, dim))
}

/// One over the root of `eps` more than a variance.
fn spread_of(variance: Prim, eps: f64) -> Prim {
    Dispatch::float_recip(Dispatch::float_sqrt(Dispatch::float_add_scalar(variance, eps.into())))
}

#[cfg(test)]
mod tests;
