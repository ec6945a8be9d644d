//! Sampling images at any points between their elements.

use kernels::Dims;
use kernels::grid::Points;
pub use kernels::grid::{Coordinates, Outside, Sampler, Sampling};
use serde::{Deserialize, Serialize};

use crate::autograd::grad_enabled;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::composed::vjp_composed;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

mod composed;

/// The values of images `(batch, channels, *size)` at points `(batch, *points, rank)`, whose
/// coordinates start with the last dimension: `(batch, channels, *points)`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct GridSampleOp {
    /// How.
    pub sampler: Sampler,
}

/// Two values as the kernels see them: images and points.
macro_rules! points {
    ($sampler:expr, $x:expr, $points:expr, $T:ty) => {
        Points {
            sampler: $sampler,
            size: &$x.shape[2..],
            batch: $x.shape[0],
            channels: $x.shape[1],
            points: $points.shape[1..$points.rank() - 1].iter().product(),
            coordinates: $points.view::<$T>()?.as_slice().expect("the value is contiguous"),
        }
    };
}

#[typetag::serde]
impl Primitive for GridSampleOp {
    fn name(&self) -> &'static str {
        "grid_sample"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, grid) = (inputs[0], inputs[1]);
        let rank = x.rank();
        if !(4..=5).contains(&rank) || grid.rank() != rank {
            bail!(
                Runtime,
                "grid_sample: expected 4D or 5D input and grid with same number of dimensions, \
                 but got input with sizes {:?} and grid with sizes {:?}",
                x.shape,
                grid.shape
            );
        }
        if !x.dtype.is_float() || grid.dtype != x.dtype {
            bail!(
                Runtime,
                "grid_sample: expected floating-point input and grid of one dtype, but got {} and \
                 {}; hint: convert one with .to()",
                x.dtype,
                grid.dtype
            );
        }
        if x.shape[0] != grid.shape[0] {
            bail!(
                Runtime,
                "grid_sample: expected grid and input to have same batch size, but got input with \
                 sizes {:?} and grid with sizes {:?}",
                x.shape,
                grid.shape
            );
        }
        if grid.shape[rank - 1] != rank - 2 {
            bail!(
                Runtime,
                "grid_sample: expected grid to have size {} in last dimension, but got grid with \
                 sizes {:?}",
                rank - 2,
                grid.shape
            );
        }
        if x.shape[2..].contains(&0) {
            bail!(
                Runtime,
                "grid_sample: expected input to have non-empty spatial dimensions, but input has \
                 sizes {:?}",
                x.shape
            );
        }
        let mut shape = Dims::from_slice(&x.shape[..2]);
        shape.extend_from_slice(&grid.shape[1..rank - 1]);
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, grid) = (inputs[0].contiguous()?, inputs[1].contiguous()?);
        crate::with_dtype!("grid_sample", x.dtype, floats, T => {
            let data = x.view::<T>()?.as_slice().expect("the value is contiguous");
            let values = kernels::grid::sample(data, &points!(self.sampler, x, grid, T));
            single(Value::from_vec_as(values, out[0].shape.clone(), out[0].dtype))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], _out: &[Meta], _device: Device) -> Result<Option<Values>> {
        let [x, grid] = [0, 1].map(|at| Tensor::from_value(inputs[at].clone()));
        if x.numel() == 0 || grid.numel() == 0 {
            return Ok(None);
        }
        single(composed::sample(&x, &grid, self.sampler)?.value()).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (x, grid) = (&ctx.inputs[0], &ctx.inputs[1]);
        // The fused gradient has none itself, and computes on the CPU.
        if grad_enabled() || x.device().is_gpu() {
            return vjp_composed(ctx, |inputs| {
                Ok(vec![composed::sample(&inputs[0], &inputs[1], self.sampler)?])
            });
        }
        let op =
            GridSampleBackwardOp { sampler: self.sampler, wanted: [ctx.needs[0], ctx.needs[1]] };
        let mut grads = apply(&op, &[x, grid, ctx.grad()?])?.into_iter();
        Ok(op.wanted.iter().map(|&wanted| if wanted { grads.next() } else { None }).collect())
    }
}

/// The gradients of [`GridSampleOp`] from that of its result, the third input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct GridSampleBackwardOp {
    /// How it sampled.
    pub sampler: Sampler,
    /// Whether the images' gradient is computed, and the points'.
    pub wanted: [bool; 2],
}

#[typetag::serde]
impl Primitive for GridSampleBackwardOp {
    fn name(&self) -> &'static str {
        "grid_sample_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let wanted = self.wanted.iter().zip(inputs).filter(|(wanted, _)| **wanted);
        Ok(wanted.map(|(_, input)| input.to_meta()).collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let [x, grid, g] =
            [inputs[0].contiguous()?, inputs[1].contiguous()?, inputs[2].contiguous()?];
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let data = x.view::<T>()?.as_slice().expect("the value is contiguous");
            let g = g.view::<T>()?.as_slice().expect("the value is contiguous");
            let points = points!(self.sampler, x, grid, T);
            let (to_x, to_grid) = kernels::grid::sample_backward(data, &points, g, self.wanted);
            let parts = [to_x, to_grid].into_iter().zip(self.wanted).filter(|(_, wanted)| *wanted);
            Ok(parts
                .zip(out)
                .map(|((part, _), meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype))
                .collect())
        })
    }

    fn differentiable(&self) -> bool {
        false
    }
}

impl Tensor {
    /// The values of these images at points between their elements.
    pub fn grid_sample(&self, points: &Tensor, sampler: Sampler) -> Result<Tensor> {
        apply1(&GridSampleOp { sampler }, &[self, points])
    }
}

#[cfg(test)]
mod tests;
