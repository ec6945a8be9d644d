//! Pooling by burn's kernels, which know one and two dimensions.

use burn_backend::ops::{FloatTensorOps, ModuleOps};
use burn_dispatch::Dispatch;
use smallvec::smallvec;

use super::{AvgPoolOp, MaxPoolOp, PoolWindows, split};
use crate::Result;
use crate::bridge::{self, Prim, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Values, single};
use crate::value::{Meta, Value};

/// The numbers for two dimensions; one that is missing comes first.
fn two(numbers: &[usize], missing: usize) -> [usize; 2] {
    match numbers {
        [last] => [missing, *last],
        numbers => [numbers[0], numbers[1]],
    }
}

/// Planes as a batch of images of one channel.
fn images(value: &Value, rank: usize) -> Result<Prim> {
    let (planes, size) = split(&value.shape, rank);
    let mut shape = vec![planes, 1];
    shape.extend(if rank == 3 { size.to_vec() } else { two(size, 1).to_vec() });
    Ok(bridge::reshape(to_burn(value)?, value.dtype, &shape))
}

impl MaxPoolOp {
    pub(super) fn on_gpu(&self, x: &Value, out: &[Meta], device: Device) -> Result<Option<Values>> {
        let PoolWindows::Sliding { kernel, stride, padding, dilation, ceil } = &self.windows else {
            return Ok(None);
        };
        let rank = kernel.len();
        if rank > 2 || !x.dtype.is_float() || x.numel() == 0 {
            return Ok(None);
        }
        let found = Dispatch::max_pool2d_with_indices(
            images(x, rank)?,
            two(kernel, 1),
            two(stride, 1),
            two(padding, 0),
            two(dilation, 1),
            *ceil,
            bridge::burn_dtype(out[1].dtype, device)?.into(),
        );
        let best = bridge::reshape(found.output, out[0].dtype, &out[0].shape);
        let places = bridge::reshape(found.indices, out[1].dtype, &out[1].shape);
        Ok(Some(smallvec![from_burn(best, &out[0], device)?, from_burn(places, &out[1], device)?]))
    }
}

impl AvgPoolOp {
    pub(super) fn on_gpu(&self, x: &Value, out: &Meta, device: Device) -> Result<Option<Values>> {
        let rank = self.windows.rank();
        if !x.dtype.is_float() || x.numel() == 0 || out.shape.contains(&0) {
            return Ok(None);
        }
        // A gradient reads the shape alone of what it is the gradient of.
        let shaped = |size: &[usize]| -> Result<Prim> {
            let (planes, _) = split(&out.shape, rank);
            let mut shape = vec![planes, 1];
            shape.extend(size);
            let dtype = bridge::burn_dtype(out.dtype, device)?;
            let shape = bridge::burn_shape(&shape);
            Ok(Dispatch::float_zeros(shape, &bridge::burn_device(device)?, dtype.into()))
        };
        let (_, size) = split(&out.shape, rank);
        let prim = match &self.windows {
            PoolWindows::Parts { .. } if rank == 3 => {
                let sizes = [size[0], size[1], size[2]];
                match self.transpose {
                    Some(_) => {
                        Dispatch::adaptive_avg_pool3d_backward(shaped(&sizes)?, images(x, rank)?)
                    }
                    None => Dispatch::adaptive_avg_pool3d(images(x, rank)?, sizes),
                }
            }
            PoolWindows::Parts { .. } => {
                let sizes = two(size, 1);
                match self.transpose {
                    Some(_) => {
                        Dispatch::adaptive_avg_pool2d_backward(shaped(&sizes)?, images(x, rank)?)
                    }
                    None => Dispatch::adaptive_avg_pool2d(images(x, rank)?, sizes),
                }
            }
            // What burn does with a last window that reaches out differs from PyTorch, and it has
            // no divisor of its own.
            PoolWindows::Sliding { ceil: true, .. } => return Ok(None),
            PoolWindows::Sliding { .. } if rank == 3 || self.divisor.is_some() => return Ok(None),
            PoolWindows::Sliding { kernel, stride, padding, .. } => {
                let (kernel, stride, padding) = (two(kernel, 1), two(stride, 1), two(padding, 0));
                match self.transpose {
                    Some(_) => Dispatch::avg_pool2d_backward(
                        shaped(&two(size, 1))?,
                        images(x, rank)?,
                        kernel,
                        stride,
                        padding,
                        self.pads,
                        false,
                    ),
                    None => Dispatch::avg_pool2d(
                        images(x, rank)?,
                        kernel,
                        stride,
                        padding,
                        self.pads,
                        false,
                    ),
                }
            }
        };
        let prim = bridge::reshape(prim, out.dtype, &out.shape);
        single(from_burn(prim, out, device)?).map(Some)
    }
}
