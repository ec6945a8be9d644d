//! Convolutions: one family that is closed under differentiation.
//!
//! A convolution multiplies its input and its weights, so three ops suffice for gradients of every
//! order: the convolution, and its gradient with respect to either. The gradient with respect to
//! the input is the transposed convolution.

use kernels::Dims;
use kernels::conv::{ConvElement, Convolution};
use kernels::window::Windows;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::window::{Ints, by, count, each, each_from};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

mod gpu;

/// Which of the three that belong together is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The result, from the input and the weights (and a bias).
    Output,
    /// The input's gradient, from the result's and the weights: a transposed convolution (with a
    /// bias).
    Input {
        /// Elements at the end of each dimension that no window reached.
        extra: Dims,
    },
    /// The weights' gradient, from the input and the result's.
    Weight {
        /// Size of a window.
        kernel: Dims,
    },
}

/// A convolution over any number of dimensions, or one of its gradients.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConvOp {
    /// What is computed.
    pub side: Side,
    /// Steps between windows.
    pub stride: Dims,
    /// Zeros before and after each dimension; fewer than none after it leave elements out.
    pub padding: SmallVec<[(usize, i64); 3]>,
    /// Steps between the elements of a window.
    pub dilation: Dims,
    /// Channels are divided into so many groups that do not see each other.
    pub groups: usize,
}

/// The sizes of a convolution.
struct Sizes {
    batch: usize,
    /// Channels and filters of all groups.
    channels: usize,
    filters: usize,
    windows: Windows,
}

impl ConvOp {
    fn rank(&self) -> usize {
        self.stride.len()
    }

    /// The windows over a grid.
    fn windows(&self, size: &[usize], kernel: &[usize], count: &[usize]) -> Windows {
        Windows {
            size: Dims::from_slice(size),
            kernel: Dims::from_slice(kernel),
            stride: self.stride.clone(),
            dilation: self.dilation.clone(),
            padding: self.padding.iter().map(|&(before, _)| before).collect(),
            count: Dims::from_slice(count),
        }
    }

    /// How many windows fit into each dimension, which may be none or fewer.
    fn counts(&self, size: &[usize], kernel: &[usize]) -> Ints {
        (0..self.rank())
            .map(|d| {
                let (before, after) = self.padding[d];
                let (stride, dilation) = (self.stride[d] as i64, self.dilation[d] as i64);
                count(size[d] as i64, before as i64 + after, kernel[d] as i64, stride, dilation)
            })
            .collect()
    }

    /// The sizes that windows of a result come from, which may be none or fewer.
    fn extents(&self, count: &[usize], kernel: &[usize], extra: &[usize]) -> Ints {
        (0..self.rank())
            .map(|d| {
                let (before, after) = self.padding[d];
                let reach = self.dilation[d] as i64 * (kernel[d] as i64 - 1) + 1;
                let steps = self.stride[d] as i64 * (count[d] as i64 - 1);
                steps + reach - before as i64 - after + extra[d] as i64
            })
            .collect()
    }

    /// All sizes, from the inputs and the result; the op has been checked.
    fn sizes(&self, inputs: &[&[usize]], out: &[usize]) -> Sizes {
        let (first, second) = (inputs[0], inputs[1]);
        let (x, weight, y) = match &self.side {
            Side::Output => (first, second, out),
            Side::Input { .. } => (out, second, first),
            Side::Weight { .. } => (first, out, second),
        };
        Sizes {
            batch: x[0],
            channels: x[1],
            filters: y[1],
            windows: self.windows(&x[2..], &weight[2..], &y[2..]),
        }
    }

    /// What is asked of a weight and a bias by either direction.
    fn check_weight(&self, x: &Value, weight: &Value, bias: Option<&&Value>) -> Result<()> {
        let (name, rank) = (self.name(), self.rank());
        if weight.rank() != rank + 2 {
            bail!(
                Runtime,
                "{name}: expected a weight of {} dimensions, got one of shape {:?}",
                rank + 2,
                weight.shape
            );
        }
        for other in std::iter::once(&weight).chain(bias) {
            if other.dtype != x.dtype {
                bail!(
                    Runtime,
                    "{name}: expected input, weight and bias of one dtype, but got {} and {}; \
                     hint: convert one with .to()",
                    x.dtype,
                    other.dtype
                );
            }
        }
        if x.dtype == DType::Bool {
            bail!(Runtime, "{name}: not implemented for bool; hint: .float() first");
        }
        if weight.shape[2..].contains(&0) {
            bail!(
                Runtime,
                "{name}: kernel size should be greater than zero, but got weight of size {:?}",
                weight.shape
            );
        }
        if weight.shape[0] < self.groups || !weight.shape[0].is_multiple_of(self.groups) {
            bail!(
                Runtime,
                "{name}: Given groups={}, expected weight to be at least {} at dimension 0 and \
                 divisible by it, but got weight of size {:?} instead",
                self.groups,
                self.groups,
                weight.shape
            );
        }
        let transposed = self.side != Side::Output;
        let (channels, filters) = if transposed {
            (weight.shape[0], weight.shape[1] * self.groups)
        } else {
            (weight.shape[1] * self.groups, weight.shape[0])
        };
        if x.shape[1] != channels {
            bail!(
                Runtime,
                "{name}: Given groups={}, weight of size {:?}, expected input {:?} to have \
                 {channels} channels, but got {} channels instead",
                self.groups,
                weight.shape,
                x.shape,
                x.shape[1]
            );
        }
        if let Some(bias) = bias
            && bias.shape.as_slice() != [filters]
        {
            bail!(
                Runtime,
                "{name}: Given weight of size {:?}, expected bias to be 1-dimensional with \
                 {filters} elements, but got bias of size {:?} instead",
                weight.shape,
                bias.shape
            );
        }
        Ok(())
    }

    fn infer_output(&self, x: &Value, weight: &Value) -> Result<Dims> {
        let (size, kernel) = (&x.shape[2..], &weight.shape[2..]);
        let counts = self.counts(size, kernel);
        if counts.iter().any(|&count| count < 1) {
            let padded: Ints = size
                .iter()
                .zip(&self.padding)
                .map(|(&size, &(before, after))| size as i64 + before as i64 + after)
                .collect();
            let reach: Ints = kernel
                .iter()
                .zip(&self.dilation)
                .map(|(&kernel, &dilation)| (dilation * (kernel - 1) + 1) as i64)
                .collect();
            bail!(
                Runtime,
                "{}: Calculated padded input size per channel: ({}). Kernel size, dilated: ({}). \
                 Kernel size can't be greater than actual input size (input {:?}, weight {:?})",
                self.name(),
                by(&padded),
                by(&reach),
                x.shape,
                weight.shape
            );
        }
        if size.contains(&0) {
            bail!(
                Runtime,
                "{}: Only zero batch or zero channel inputs are supported, but got input shape: \
                 {:?}",
                self.name(),
                x.shape
            );
        }
        let mut shape = Dims::from_slice(&[x.shape[0], weight.shape[0]]);
        shape.extend(counts.iter().map(|&count| count as usize));
        Ok(shape)
    }

    fn infer_input(&self, y: &Value, weight: &Value, extra: &[usize]) -> Result<Dims> {
        for d in 0..self.rank() {
            if extra[d] >= self.stride[d].max(self.dilation[d]) {
                bail!(
                    Runtime,
                    "{}: output padding must be smaller than either stride or dilation, but got \
                     output_padding={extra:?}, stride={:?}, dilation={:?}",
                    self.name(),
                    self.stride,
                    self.dilation
                );
            }
        }
        if y.shape[2..].contains(&0) {
            bail!(
                Runtime,
                "{}: Only zero batch or zero channel inputs are supported, but got input shape: \
                 {:?}",
                self.name(),
                y.shape
            );
        }
        let extents = self.extents(&y.shape[2..], &weight.shape[2..], extra);
        if extents.iter().any(|&extent| extent < 1) {
            let size: Ints = y.shape[2..].iter().map(|&size| size as i64).collect();
            bail!(
                Runtime,
                "{}: Given input size per channel: ({}). Calculated output size per channel: ({}). \
                 Output size is too small",
                self.name(),
                by(&size),
                by(&extents)
            );
        }
        let mut shape = Dims::from_slice(&[y.shape[0], weight.shape[1] * self.groups]);
        shape.extend(extents.iter().map(|&extent| extent as usize));
        Ok(shape)
    }
}

#[typetag::serde]
impl Primitive for ConvOp {
    fn name(&self) -> &'static str {
        match (&self.side, self.rank()) {
            (Side::Output, 1) => "conv1d",
            (Side::Output, 2) => "conv2d",
            (Side::Output, 3) => "conv3d",
            (Side::Output, _) => "convolution",
            (Side::Input { .. }, 1) => "conv_transpose1d",
            (Side::Input { .. }, 2) => "conv_transpose2d",
            (Side::Input { .. }, 3) => "conv_transpose3d",
            (Side::Input { .. }, _) => "conv_transpose",
            (Side::Weight { .. }, _) => "convolution_backward",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (first, second) = (inputs[0], inputs[1]);
        let shape = match &self.side {
            Side::Output => {
                self.check_weight(first, second, inputs.get(2))?;
                self.infer_output(first, second)?
            }
            Side::Input { extra } => {
                self.check_weight(first, second, inputs.get(2))?;
                self.infer_input(first, second, extra)?
            }
            // Only gradient rules make these.
            Side::Weight { kernel } => {
                let mut shape = Dims::from_slice(&[second.shape[1], first.shape[1] / self.groups]);
                shape.extend_from_slice(kernel);
                shape
            }
        };
        one(Meta { shape, dtype: first.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let out = &out[0];
        let sizes = self.sizes(&[&inputs[0].shape, &inputs[1].shape], &out.shape);
        let convolution = Convolution {
            batch: sizes.batch,
            groups: self.groups,
            channels: sizes.channels / self.groups,
            filters: sizes.filters / self.groups,
            windows: sizes.windows,
        };
        let inputs: SmallVec<[Value; 3]> =
            inputs.iter().map(|value| value.contiguous()).collect::<Result<_>>()?;
        macro_rules! go {
            ($T:ty) => {{
                let data = |at: usize| -> Result<&[$T]> {
                    Ok(inputs[at].view::<$T>()?.as_slice().expect("the value is contiguous"))
                };
                let bias = (inputs.len() > 2).then(|| data(2)).transpose()?;
                let (a, b) = (data(0)?, data(1)?);
                let result = match self.side {
                    Side::Output => <$T as ConvElement>::forward(&convolution, a, b, bias),
                    Side::Input { .. } => <$T as ConvElement>::input(&convolution, a, b, bias),
                    Side::Weight { .. } => <$T as ConvElement>::weight(&convolution, a, b),
                };
                Ok(Value::from_vec_as(result, out.shape.clone(), out.dtype))
            }};
        }
        single(match out.dtype.category() {
            Category::Complex => {
                crate::with_dtype!(self.name(), out.dtype, complexes, T => go!(T))?
            }
            _ => crate::with_dtype!(self.name(), out.dtype, reals, T => go!(T))?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        self.on_gpu(inputs, &out[0], device)
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        Saves::inputs((needs[1] as u32) | ((needs[0] as u32) << 1))
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let (a, b) = (&ctx.inputs[0], &ctx.inputs[1]);
        let shapes = [a.shape(), b.shape()];
        let sizes = self.sizes(&[&shapes[0], &shapes[1]], &ctx.outputs[0].shape());
        let turned = |side: Side| ConvOp { side, ..self.clone() };
        let output = || self.to_output(&sizes);
        let input = || turned(Side::Input { extra: self.extra(&sizes) });
        let weight = || turned(Side::Weight { kernel: sizes.windows.kernel.clone() });
        let mut grads: Grads = smallvec![None; ctx.inputs.len()];
        let conjugate = |x: &Tensor| x.conj();
        if ctx.needs[0] {
            let b = conjugate(b)?;
            grads[0] = Some(match self.side {
                Side::Output => apply1(&input(), &[g, &b])?,
                Side::Input { .. } => apply1(&output(), &[g, &b])?,
                Side::Weight { .. } => apply1(&input(), &[&b, g])?,
            });
        }
        if ctx.needs[1] {
            let a = conjugate(a)?;
            grads[1] = Some(match self.side {
                Side::Output => apply1(&weight(), &[&a, g])?,
                Side::Input { .. } => apply1(&weight(), &[g, &a])?,
                Side::Weight { .. } => apply1(&output(), &[&a, g])?,
            });
        }
        if ctx.inputs.len() > 2 && ctx.needs[2] {
            let dims: SmallVec<[usize; 6]> = (0..g.rank()).filter(|&dim| dim != 1).collect();
            grads[2] = Some(g.sum_dims(&dims, false)?);
        }
        Ok(grads)
    }
}

impl ConvOp {
    /// Elements at the end of each dimension that no window reaches.
    fn extra(&self, sizes: &Sizes) -> Dims {
        let w = &sizes.windows;
        let none = Dims::from_elem(0, self.rank());
        let reached = self.extents(&w.count, &w.kernel, &none);
        w.size
            .iter()
            .zip(reached)
            .map(|(&size, reached)| (size as i64 - reached) as usize)
            .collect()
    }

    /// The convolution of these sizes: it has no window more, even where one would fit.
    fn to_output(&self, sizes: &Sizes) -> ConvOp {
        let w = &sizes.windows;
        let mut op = ConvOp { side: Side::Output, ..self.clone() };
        let counts = self.counts(&w.size, &w.kernel);
        for (d, extra) in self.extra(sizes).into_iter().enumerate() {
            if counts[d] != w.count[d] as i64 {
                op.padding[d].1 -= extra as i64;
            }
        }
        op
    }
}

/// Zeros around the input of a convolution.
#[derive(Clone, Copy, Debug)]
pub enum Border<'a> {
    /// As many on both sides: a number for all dimensions, or one for each.
    Each(&'a [i64]),
    /// As many as keep the size, one more at the end where they are odd.
    Same,
}

/// How a convolution slides, as a user gives it: a number for all dimensions, or one for each.
#[derive(Clone, Copy, Debug)]
pub struct ConvArguments<'a> {
    /// Steps between windows.
    pub stride: &'a [i64],
    /// Zeros around the input.
    pub padding: Border<'a>,
    /// Steps between the elements of a window.
    pub dilation: &'a [i64],
    /// Channels are divided into so many groups.
    pub groups: i64,
}

impl ConvArguments<'_> {
    /// The op for weights of a kernel size.
    fn op(&self, name: &str, side: Side, kernel: &[usize], rank: usize) -> Result<ConvOp> {
        let positive = |what: &str, given: &[i64], refusal: &str| {
            each_from(name, what, given, rank, 1, refusal)
        };
        let stride = positive("stride", self.stride, "non-positive stride is not supported")?;
        let dilation = positive("dilation", self.dilation, "dilation should be greater than zero")?;
        if self.groups < 1 {
            bail!(
                Runtime,
                "{name}: non-positive groups is not supported, but got groups={}",
                self.groups
            );
        }
        let padding = match self.padding {
            Border::Each(given) => {
                let refusal = "negative padding is not supported";
                let each = each_from(name, "padding", given, rank, 0, refusal)?;
                each.iter().map(|&zeros| (zeros, zeros as i64)).collect()
            }
            Border::Same => {
                if stride.iter().any(|&stride| stride != 1) {
                    bail!(
                        Runtime,
                        "{name}: padding='same' is not supported for strided convolutions, got \
                         stride={:?}",
                        self.stride
                    );
                }
                let total = |d: usize| dilation[d] * (kernel[d].max(1) - 1);
                (0..rank).map(|d| (total(d) / 2, total(d).div_ceil(2) as i64)).collect()
            }
        };
        Ok(ConvOp { side, stride, padding, dilation, groups: self.groups as usize })
    }
}

impl Tensor {
    fn convolve(
        &self,
        rank: usize,
        weight: &Tensor,
        bias: Option<&Tensor>,
        op: &ConvOp,
    ) -> Result<Tensor> {
        self.batched(rank + 2, |x| match bias {
            Some(bias) => apply1(op, &[x, weight, bias]),
            None => apply1(op, &[x, weight]),
        })
    }

    /// Refuses inputs without so many dimensions, and gives the weights' kernel size.
    fn check_convolved(&self, name: &str, rank: usize, weight: &Tensor) -> Result<Dims> {
        let (shape, weight) = (self.shape(), weight.shape());
        if shape.len() != rank + 1 && shape.len() != rank + 2 {
            bail!(
                Runtime,
                "{name}: Expected {}D (unbatched) or {}D (batched) input to {name}, but got input \
                 of size: {shape:?}",
                rank + 1,
                rank + 2
            );
        }
        if weight.len() != rank + 2 {
            bail!(
                Runtime,
                "{name}: expected a weight of {} dimensions, got one of shape {weight:?}",
                rank + 2
            );
        }
        Ok(Dims::from_slice(&weight[2..]))
    }

    /// The convolution over the last `rank` dimensions by weights
    /// `(filters, channels / groups, *kernel)`.
    pub fn convolution(
        &self,
        rank: usize,
        weight: &Tensor,
        bias: Option<&Tensor>,
        arguments: ConvArguments<'_>,
    ) -> Result<Tensor> {
        let name = ["conv1d", "conv2d", "conv3d"][rank.clamp(1, 3) - 1];
        let kernel = self.check_convolved(name, rank, weight)?;
        let op = arguments.op(name, Side::Output, &kernel, rank)?;
        self.convolve(rank, weight, bias, &op)
    }

    /// The transposed convolution over the last `rank` dimensions by weights
    /// `(channels, filters / groups, *kernel)`; `extra` elements are added at the end of each
    /// dimension.
    pub fn convolution_transposed(
        &self,
        rank: usize,
        weight: &Tensor,
        bias: Option<&Tensor>,
        arguments: ConvArguments<'_>,
        extra: &[i64],
    ) -> Result<Tensor> {
        let name =
            ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"][rank.clamp(1, 3) - 1];
        let kernel = self.check_convolved(name, rank, weight)?;
        each(name, "output_padding", extra, rank)?;
        let refusal = "negative output_padding is not supported";
        let extra = each_from(name, "output_padding", extra, rank, 0, refusal)?;
        let op = arguments.op(name, Side::Input { extra }, &kernel, rank)?;
        self.convolve(rank, weight, bias, &op)
    }
}

#[cfg(test)]
mod tests;
