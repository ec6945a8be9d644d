//! Convolutions by burn's kernels.

use burn_backend::ops::{ConvOptions, FloatTensorOps, ModuleOps};
use burn_dispatch::Dispatch;

use super::{ConvOp, Side, Sizes};
use crate::Result;
use crate::bridge::{self, Prim, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Values, single};
use crate::ops::window::count;
use crate::value::{Meta, Value};

/// Calls burn's function for a number of dimensions.
macro_rules! by_rank {
    ($rank:expr, $one:ident / $two:ident / $three:ident, $options:expr, ($($arg:expr),*)) => {
        match $rank {
            1 => Dispatch::$one($($arg,)* $options.options::<1>()),
            2 => Dispatch::$two($($arg,)* $options.options::<2>()),
            _ => Dispatch::$three($($arg,)* $options.options::<3>()),
        }
    };
}

/// What burn wants to know.
struct Options<'a> {
    op: &'a ConvOp,
    padding: Vec<(usize, usize)>,
}

impl Options<'_> {
    fn options<const N: usize>(&self) -> ConvOptions<N> {
        ConvOptions::new_with_padding(
            std::array::from_fn(|d| self.op.stride[d]),
            std::array::from_fn(|d| self.padding[d]),
            std::array::from_fn(|d| self.op.dilation[d]),
            self.op.groups,
        )
    }
}

impl ConvOp {
    pub(super) fn on_gpu(
        &self,
        inputs: &[&Value],
        out: &Meta,
        device: Device,
    ) -> Result<Option<Values>> {
        let rank = self.rank();
        let empty = inputs.iter().any(|input| input.numel() == 0);
        if !(1..=3).contains(&rank) || !out.dtype.is_float() || empty || out.shape.contains(&0) {
            return Ok(None);
        }
        let sizes = self.sizes(&[&inputs[0].shape, &inputs[1].shape], &out.shape);
        let Some(padding) = self.burn_padding(&sizes) else { return Ok(None) };
        let options = Options { op: self, padding };
        let (a, b) = (to_burn(inputs[0])?, to_burn(inputs[1])?);
        let bias = inputs.get(2).map(|bias| to_burn(bias)).transpose()?;
        // Gradients read the shape alone of what they are the gradient of.
        let shaped = || -> Result<Prim> {
            let dtype = bridge::burn_dtype(out.dtype, device)?;
            let shape = bridge::burn_shape(&out.shape);
            Ok(Dispatch::float_zeros(shape, &bridge::burn_device(device)?, dtype.into()))
        };
        let prim = match &self.side {
            Side::Output => by_rank!(rank, conv1d / conv2d / conv3d, options, (a, b, bias)),
            Side::Weight { .. } => by_rank!(
                rank,
                conv1d_weight_backward / conv2d_weight_backward / conv3d_weight_backward,
                options,
                (a, shaped()?, b)
            ),
            Side::Input { .. } => {
                let grad = by_rank!(
                    rank,
                    conv1d_x_backward / conv2d_x_backward / conv3d_x_backward,
                    options,
                    (shaped()?, b, a)
                );
                match bias {
                    Some(bias) => {
                        let mut shape = vec![1; rank + 2];
                        shape[1] = out.shape[1];
                        Dispatch::float_add(grad, bridge::reshape(bias, out.dtype, &shape))
                    }
                    None => grad,
                }
            }
        };
        single(from_burn(prim, out, device)?).map(Some)
    }

    /// Zeros on both sides by which burn finds as many windows as there are, if there are such.
    fn burn_padding(&self, sizes: &Sizes) -> Option<Vec<(usize, usize)>> {
        let w = &sizes.windows;
        (0..self.rank())
            .map(|d| {
                let (before, after) = self.padding[d];
                let (before, after) = (before as i64, after.max(0));
                let (stride, dilation) = (self.stride[d] as i64, self.dilation[d] as i64);
                let kernel = w.kernel[d] as i64;
                let found = count(w.size[d] as i64, before + after, kernel, stride, dilation);
                (found == w.count[d] as i64).then_some((before as usize, after as usize))
            })
            .collect()
    }
}
