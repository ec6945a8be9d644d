//! Pooling: the largest element of each window with its place, or the mean.

use kernels::Dims;
use kernels::pool::{Places, PoolElement, Spans};
use kernels::window::Windows;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::window::{Ints, Sliding, by, each, each_from};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

mod gpu;

/// Where windows lie on the last dimensions of a tensor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PoolWindows {
    /// Windows of one size at equal distances.
    Sliding {
        /// Size of a window.
        kernel: Dims,
        /// Steps between windows.
        stride: Dims,
        /// How far windows may start before the first element and end after the last.
        padding: Dims,
        /// Steps between the elements of a window.
        dilation: Dims,
        /// Whether a last window may reach further than the padding.
        ceil: bool,
    },
    /// So many windows for each dimension, which divide it into parts as equal as possible.
    Parts {
        /// How many.
        count: Dims,
    },
}

impl PoolWindows {
    fn rank(&self) -> usize {
        match self {
            PoolWindows::Sliding { kernel, .. } => kernel.len(),
            PoolWindows::Parts { count } => count.len(),
        }
    }

    /// How many windows there are on planes of a size; refuses planes too small for one.
    fn count(&self, name: &str, shape: &[usize]) -> Result<Dims> {
        let rank = self.rank();
        let size = &shape[shape.len() - rank..];
        let PoolWindows::Sliding { kernel, stride, padding, dilation, ceil } = self else {
            let PoolWindows::Parts { count } = self else { unreachable!("there are two kinds") };
            if size.contains(&0) {
                bail!(
                    Runtime,
                    "{name}: Expected input to have non-zero size for non-batch dimensions, but \
                     input has sizes {shape:?}"
                );
            }
            return Ok(count.clone());
        };
        let counts: Ints = (0..rank)
            .map(|d| {
                let (size, stride) = (size[d] as i64, stride[d] as i64);
                let (padding, reach) = (padding[d] as i64, dilation[d] * (kernel[d] - 1) + 1);
                let more = if *ceil { stride - 1 } else { 0 };
                let count = (size + 2 * padding - reach as i64 + more).div_euclid(stride) + 1;
                // The last window must start inside, or in the padding before.
                let outside = *ceil && (count - 1) * stride >= size + padding;
                count - i64::from(outside)
            })
            .collect();
        if counts.iter().any(|&count| count < 1) || shape[shape.len() - rank - 1..].contains(&0) {
            bail!(
                Runtime,
                "{name}: Given input size: ({}) of shape {shape:?}, kernel_size={kernel:?}, \
                 stride={stride:?}, padding={padding:?}, dilation={dilation:?}, calculated output \
                 size: ({}). Output size is too small",
                by(&size.iter().map(|&size| size as i64).collect::<Vec<_>>()),
                by(&counts)
            );
        }
        Ok(counts.iter().map(|&count| count as usize).collect())
    }

    /// The windows as the kernels see them, on planes of a size with so many windows.
    fn on<R>(&self, size: &[usize], count: &[usize], f: impl FnOnce(&Places<'_>) -> R) -> R {
        match self {
            PoolWindows::Sliding { kernel, stride, padding, dilation, .. } => {
                f(&Places::Sliding(&Windows {
                    size: Dims::from_slice(size),
                    kernel: kernel.clone(),
                    stride: stride.clone(),
                    dilation: dilation.clone(),
                    padding: padding.clone(),
                    count: Dims::from_slice(count),
                }))
            }
            PoolWindows::Parts { .. } => {
                // Equal parts without a rest are windows at equal distances.
                let even =
                    (0..size.len()).all(|d| count[d] > 0 && size[d].is_multiple_of(count[d]));
                if even && count.last().is_some_and(|&count| count >= FEW) {
                    let parts: Dims = size.iter().zip(count).map(|(n, parts)| n / parts).collect();
                    return f(&Places::Sliding(&Windows {
                        size: Dims::from_slice(size),
                        kernel: parts.clone(),
                        stride: parts,
                        dilation: smallvec![1; size.len()],
                        padding: smallvec![0; size.len()],
                        count: Dims::from_slice(count),
                    }));
                }
                let dims = size.iter().zip(count).map(|(&n, &parts)| (n, Spans::parts(n, parts)));
                f(&Places::Spans(&Spans::new(dims.collect())))
            }
        }
    }

    /// What the sum over each window is divided by.
    fn divisors(&self, size: &[usize], count: &[usize], pads: bool) -> Vec<i64> {
        let lengths = |d: usize| -> Vec<i64> {
            match self {
                PoolWindows::Sliding { kernel, stride, padding, .. } => (0..count[d])
                    .map(|at| {
                        let padding = padding[d] as i64;
                        let start = (at * stride[d]) as i64 - padding;
                        let end = (start + kernel[d] as i64).min(size[d] as i64 + padding);
                        match pads {
                            true => end - start,
                            false => end.min(size[d] as i64) - start.max(0),
                        }
                    })
                    .collect(),
                PoolWindows::Parts { .. } => {
                    let parts = Spans::parts(size[d], count[d]);
                    parts.into_iter().map(|(_, len)| len as i64).collect()
                }
            }
        };
        // A window that lies in the padding alone sums to zero, whatever divides it.
        (0..size.len()).fold(vec![1], |products, d| {
            let lengths = lengths(d);
            let with = |&product: &i64| -> Vec<i64> {
                lengths.iter().map(|length| (product * length).max(1)).collect()
            };
            products.iter().flat_map(with).collect()
        })
    }
}

/// Rows of so many windows are visited tap by tap; shorter ones window by window.
const FEW: usize = 4;

/// The planes before the pooled dimensions, and these.
fn split(shape: &[usize], rank: usize) -> (usize, &[usize]) {
    let (planes, size) = shape.split_at(shape.len() - rank);
    (planes.iter().product(), size)
}

fn joined(shape: &[usize], rank: usize, sizes: &[usize]) -> Dims {
    let mut joined = Dims::from_slice(&shape[..shape.len() - rank]);
    joined.extend_from_slice(sizes);
    joined
}

fn check_real(name: &str, dtype: DType) -> Result<()> {
    if dtype == DType::Bool || dtype.is_complex() {
        bail!(Runtime, "{name}: not implemented for {dtype}; hint: .float() first");
    }
    Ok(())
}

/// Values with their places, as an op gives them out.
fn found<T: PoolElement>((best, places): (Vec<T>, Vec<i64>), out: &[Meta]) -> Values {
    smallvec![
        Value::from_vec_as(best, out[0].shape.clone(), out[0].dtype),
        Value::from_vec(places, out[1].shape.clone()),
    ]
}

/// The gradient of the largest elements, from their places in the planes.
fn spread(ctx: &Vjp<'_>, rank: usize) -> Result<Tensor> {
    let (g, x, places) = (ctx.grad()?, &ctx.inputs[0], &ctx.outputs[1]);
    let shape = x.shape();
    let (planes, size) = split(&shape, rank);
    let zeros = Tensor::zeros(&[planes, size.iter().product()], g.dtype(), g.device())?;
    let rows = |tensor: &Tensor| tensor.reshape_to(&[planes, tensor.numel() / planes.max(1)]);
    zeros.scatter_add(1, &rows(places)?, &rows(g)?)?.reshape_to(&shape)
}

/// The largest element of each window, and its place in its plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaxPoolOp {
    /// Where the windows lie.
    pub windows: PoolWindows,
}

#[typetag::serde]
impl Primitive for MaxPoolOp {
    fn name(&self) -> &'static str {
        match (&self.windows, self.windows.rank()) {
            (PoolWindows::Sliding { .. }, 1) => "max_pool1d",
            (PoolWindows::Sliding { .. }, 2) => "max_pool2d",
            (PoolWindows::Sliding { .. }, _) => "max_pool3d",
            (PoolWindows::Parts { .. }, 1) => "adaptive_max_pool1d",
            (PoolWindows::Parts { .. }, 2) => "adaptive_max_pool2d",
            (PoolWindows::Parts { .. }, _) => "adaptive_max_pool3d",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        check_real(self.name(), x.dtype)?;
        let count = self.windows.count(self.name(), &x.shape)?;
        let shape = joined(&x.shape, self.windows.rank(), &count);
        let places = x.device().narrow(DType::I64);
        Ok(smallvec![Meta::new(shape.clone(), x.dtype), Meta::new(shape, places)])
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0].contiguous()?;
        let rank = self.windows.rank();
        let (planes, size) = split(&x.shape, rank);
        let (_, count) = split(&out[0].shape, rank);
        crate::with_dtype!(self.name(), x.dtype, reals, T => {
            let data = x.view::<T>()?.as_slice().expect("the value is contiguous");
            let pool = |places: &Places<'_>| kernels::pool::max_pool(data, planes, places);
            Ok(found(self.windows.on(size, count, pool), out))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        self.on_gpu(inputs[0], out, device)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 2 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(spread(ctx, self.windows.rank())?)])
    }
}

/// The largest element of each window and its place, the windows at places of their own in each
/// plane. The second input, `(batch, channels, rank)`, has a number between zero and one for each
/// dimension of each plane, from which they follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FractionalMaxPoolOp {
    /// Size of a window.
    pub kernel: Dims,
    /// How many windows.
    pub count: Dims,
}

impl FractionalMaxPoolOp {
    /// The windows of a dimension: steps of two sizes, mixed by the sample. Computed in the input's
    /// precision, so that they are PyTorch's.
    fn starts(&self, dim: usize, size: usize, sample: f64, single: bool) -> Vec<(usize, usize)> {
        let (kernel, count) = (self.kernel[dim], self.count[dim]);
        let step = (size - kernel) as f64 / (count as f64 - 1.0);
        let place = |at: f64| -> usize {
            if single {
                ((at as f32 + sample as f32) * step as f32) as usize
            } else {
                ((at + sample) * step) as usize
            }
        };
        let start =
            |at: usize| if at + 1 == count { size - kernel } else { place(at as f64) - place(0.0) };
        (0..count).map(|at| (start(at), kernel)).collect()
    }
}

#[typetag::serde]
impl Primitive for FractionalMaxPoolOp {
    fn name(&self) -> &'static str {
        if self.kernel.len() == 2 { "fractional_max_pool2d" } else { "fractional_max_pool3d" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, samples, name, rank) = (inputs[0], inputs[1], self.name(), self.kernel.len());
        if !x.dtype.is_float() || samples.dtype != x.dtype {
            bail!(
                Runtime,
                "{name}: expected floating-point input and samples of one dtype, got {} and {}",
                x.dtype,
                samples.dtype
            );
        }
        let size = &x.shape[x.rank() - rank..];
        if x.shape[x.rank() - rank - 1..].contains(&0) {
            bail!(
                Runtime,
                "{name}: Expected input to have non-zero size for non-batch dimensions, but got \
                 {:?}",
                x.shape
            );
        }
        for d in 0..rank {
            // In three dimensions one element must be left over.
            let reach = self.count[d] + self.kernel[d] - 1 + usize::from(rank == 3);
            if self.count[d] < 1 || reach > size[d] {
                bail!(
                    Runtime,
                    "{name}: windows too large for the input: expected output_size + kernel_size \
                     - 1 to be at most its size, and in three dimensions less, got {:?}, {:?} and \
                     input {:?}",
                    self.count,
                    self.kernel,
                    x.shape
                );
            }
        }
        let (planes, _) = split(&x.shape, rank);
        if samples.rank() != 3
            || samples.shape[2] != rank
            || samples.shape[0] * samples.shape[1] != planes
        {
            bail!(
                Runtime,
                "{name}: expected _random_samples of shape (batch, channels, {rank}), got {:?} \
                 for input {:?}",
                samples.shape,
                x.shape
            );
        }
        let shape = joined(&x.shape, rank, &self.count);
        let places = x.device().narrow(DType::I64);
        Ok(smallvec![Meta::new(shape.clone(), x.dtype), Meta::new(shape, places)])
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, samples, rank) = (inputs[0].contiguous()?, inputs[1], self.kernel.len());
        let (planes, size) = split(&x.shape, rank);
        let single = x.dtype != DType::F64;
        let samples = crate::op::cast_host(samples, DType::F64)?.contiguous()?;
        let samples = samples.view::<f64>()?.as_slice().expect("the value is contiguous");
        let spans: Vec<Spans> = (0..planes)
            .map(|plane| {
                let dims = (0..rank).map(|d| {
                    // In two dimensions the samples start with the last one.
                    let order = if rank == 2 { 1 - d } else { d };
                    let sample = samples[plane * rank + order];
                    (size[d], self.starts(d, size[d], sample, single))
                });
                Spans::new(dims.collect())
            })
            .collect();
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let data = x.view::<T>()?.as_slice().expect("the value is contiguous");
            let result = kernels::pool::max_pool(data, planes, &Places::EachPlane(&spans));
            Ok(found(result, out))
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 2 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(spread(ctx, self.kernel.len())?), None])
    }
}

/// The mean over each window; or, as it is linear, its transpose, which is its gradient: each
/// window's share for all of its elements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AvgPoolOp {
    /// Where the windows lie.
    pub windows: PoolWindows,
    /// Whether the padding counts as zeros.
    pub pads: bool,
    /// What sums are divided by, instead of the number of elements.
    pub divisor: Option<i64>,
    /// For the transpose, the size of the planes.
    pub transpose: Option<Dims>,
}

impl AvgPoolOp {
    fn divisors(&self, size: &[usize], count: &[usize]) -> Vec<i64> {
        match self.divisor {
            Some(divisor) => vec![divisor; count.iter().product()],
            None => self.windows.divisors(size, count, self.pads),
        }
    }
}

#[typetag::serde]
impl Primitive for AvgPoolOp {
    fn name(&self) -> &'static str {
        match (&self.windows, self.windows.rank()) {
            (PoolWindows::Sliding { .. }, 1) => "avg_pool1d",
            (PoolWindows::Sliding { .. }, 2) => "avg_pool2d",
            (PoolWindows::Sliding { .. }, _) => "avg_pool3d",
            (PoolWindows::Parts { .. }, 1) => "adaptive_avg_pool1d",
            (PoolWindows::Parts { .. }, 2) => "adaptive_avg_pool2d",
            (PoolWindows::Parts { .. }, _) => "adaptive_avg_pool3d",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, name, rank) = (inputs[0], self.name(), self.windows.rank());
        check_real(name, x.dtype)?;
        if matches!(self.windows, PoolWindows::Parts { .. }) && !x.dtype.is_float() {
            bail!(Runtime, "{name}: not implemented for {}; hint: .float() first", x.dtype);
        }
        if self.divisor == Some(0) {
            bail!(Runtime, "{name}: divisor must be not zero, got divisor_override=0");
        }
        let shape = match &self.transpose {
            Some(size) => joined(&x.shape, rank, size),
            None => joined(&x.shape, rank, &self.windows.count(name, &x.shape)?),
        };
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, out, rank) = (inputs[0].contiguous()?, &out[0], self.windows.rank());
        let (planes, own) = split(&x.shape, rank);
        let (_, other) = split(&out.shape, rank);
        let (size, count) = if self.transpose.is_some() { (other, own) } else { (own, other) };
        let divisors = self.divisors(size, count);
        crate::with_dtype!(self.name(), x.dtype, reals, T => {
            let data = x.view::<T>()?.as_slice().expect("the value is contiguous");
            let result = self.windows.on(size, count, |places| match self.transpose {
                Some(_) => kernels::pool::average_pool_backward(data, planes, places, &divisors),
                None => kernels::pool::average_pool(data, planes, places, &divisors),
            });
            single(Value::from_vec_as(result, out.shape.clone(), out.dtype))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        self.on_gpu(inputs[0], &out[0], device)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let shape = ctx.inputs[0].shape();
        let (_, size) = split(&shape, self.windows.rank());
        let transpose = self.transpose.is_none().then(|| Dims::from_slice(size));
        let op = AvgPoolOp { transpose, ..self.clone() };
        Ok(smallvec![Some(apply1(&op, &[ctx.grad()?])?)])
    }
}

/// The windows a user describes; an empty stride is the kernel's size.
fn sliding(name: &str, given: Sliding<'_>, rank: usize, ceil: bool) -> Result<PoolWindows> {
    let from = |what: &str, given: &[i64], least: i64, refusal: &str| {
        each_from(name, what, given, rank, least, refusal)
    };
    let kernel = from("kernel_size", given.kernel, 1, "kernel size should be greater than zero")?;
    let stride = if given.stride.is_empty() { given.kernel } else { given.stride };
    let stride = from("stride", stride, 1, "stride should not be zero")?;
    let padding = from("padding", given.padding, 0, "pad must be non-negative")?;
    let dilation = from("dilation", given.dilation, 1, "dilation should be greater than zero")?;
    for d in 0..rank {
        if padding[d] > (dilation[d] * (kernel[d] - 1)).div_ceil(2) {
            bail!(
                Runtime,
                "{name}: pad should be at most half of effective kernel size, but got \
                 padding={:?}, kernel_size={:?} and dilation={:?}",
                given.padding,
                given.kernel,
                given.dilation
            );
        }
    }
    Ok(PoolWindows::Sliding { kernel, stride, padding, dilation, ceil })
}

fn parts(name: &str, count: &[i64], rank: usize) -> Result<PoolWindows> {
    let refusal = "elements of output_size must be greater than or equal to 0";
    Ok(PoolWindows::Parts { count: each_from(name, "output_size", count, rank, 0, refusal)? })
}

fn check_rank(name: &str, x: &Tensor, rank: usize) -> Result<()> {
    let shape = x.shape();
    if shape.len() != rank + 1 && shape.len() != rank + 2 {
        bail!(
            Runtime,
            "{name}: Expected {}D or {}D (batch mode) tensor for input, but got: {shape:?}",
            rank + 1,
            rank + 2
        );
    }
    Ok(())
}

impl Tensor {
    fn max_of(&self, windows: PoolWindows) -> Result<(Tensor, Tensor)> {
        let mut found = apply(&MaxPoolOp { windows }, &[self])?;
        let places = found.pop().expect("there are two results");
        Ok((found.pop().expect("there are two results"), places))
    }

    /// The largest element of each window over the last `rank` dimensions, and its place in its
    /// plane. An empty stride is the kernel's size; with `ceil` a last window may reach further
    /// than the padding.
    pub fn max_pool(
        &self,
        rank: usize,
        given: Sliding<'_>,
        ceil: bool,
    ) -> Result<(Tensor, Tensor)> {
        let name = ["max_pool1d", "max_pool2d", "max_pool3d"][rank.clamp(1, 3) - 1];
        check_rank(name, self, rank)?;
        self.max_of(sliding(name, given, rank, ceil)?)
    }

    /// The largest element of each of `count` parts of the last `rank` dimensions, and its place.
    pub fn adaptive_max_pool(&self, rank: usize, count: &[i64]) -> Result<(Tensor, Tensor)> {
        let names = ["adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"];
        let name = names[rank.clamp(1, 3) - 1];
        check_rank(name, self, rank)?;
        self.max_of(parts(name, count, rank)?)
    }

    /// The mean over each window over the last `rank` dimensions. An empty stride is the kernel's
    /// size; `pads` counts the padding as zeros; sums are divided by `divisor`, if one is given.
    pub fn avg_pool(
        &self,
        rank: usize,
        given: Sliding<'_>,
        ceil: bool,
        pads: bool,
        divisor: Option<i64>,
    ) -> Result<Tensor> {
        let name = ["avg_pool1d", "avg_pool2d", "avg_pool3d"][rank.clamp(1, 3) - 1];
        check_rank(name, self, rank)?;
        let windows = sliding(name, given, rank, ceil)?;
        apply1(&AvgPoolOp { windows, pads, divisor, transpose: None }, &[self])
    }

    /// The mean over each of `count` parts of the last `rank` dimensions.
    pub fn adaptive_avg_pool(&self, rank: usize, count: &[i64]) -> Result<Tensor> {
        let names = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"];
        let name = names[rank.clamp(1, 3) - 1];
        check_rank(name, self, rank)?;
        let windows = parts(name, count, rank)?;
        apply1(&AvgPoolOp { windows, pads: false, divisor: None, transpose: None }, &[self])
    }

    /// The largest element of each window over the last `rank` dimensions and its place; the
    /// windows follow from `samples` `(batch, channels, rank)` between zero and one.
    pub fn fractional_max_pool(
        &self,
        rank: usize,
        samples: &Tensor,
        kernel: &[i64],
        count: &[i64],
    ) -> Result<(Tensor, Tensor)> {
        let name = if rank == 2 { "fractional_max_pool2d" } else { "fractional_max_pool3d" };
        check_rank(name, self, rank)?;
        let refusal = "sizes must be greater than zero";
        let op = FractionalMaxPoolOp {
            kernel: each_from(name, "kernel_size", kernel, rank, 1, refusal)?,
            count: each_from(name, "output_size", count, rank, 1, refusal)?,
        };
        let mut found = apply(&op, &[self, samples])?;
        let places = found.pop().expect("there are two results");
        Ok((found.pop().expect("there are two results"), places))
    }

    /// Planes of a size, zero but for these elements at their places: the reverse of
    /// [`max_pool`](Tensor::max_pool).
    pub fn max_unpool(&self, rank: usize, places: &Tensor, size: &[i64]) -> Result<Tensor> {
        let name = ["max_unpool1d", "max_unpool2d", "max_unpool3d"][rank.clamp(1, 3) - 1];
        check_rank(name, self, rank)?;
        let shape = self.shape();
        if !matches!(places.dtype(), DType::I64 | DType::I32) {
            bail!(
                Runtime,
                "{name}: elements in indices should be type int64 but got: {}",
                places.dtype()
            );
        }
        if places.shape() != shape {
            bail!(
                Runtime,
                "{name}: Expected shape of indices to be same as that of the input tensor \
                 ({shape:?}) but got indices tensor with shape: {:?}",
                places.shape()
            );
        }
        check_real(name, self.dtype())?;
        each(name, "output_size", size, rank)?;
        let size = each_from(name, "output_size", size, rank, 1, "sizes must be positive")?;
        if shape[1..].contains(&0) {
            bail!(
                Runtime,
                "{name}: Expected input to have non-zero size for non-batch dimensions, but got \
                 {shape:?}"
            );
        }
        let (planes, own) = split(&shape, rank);
        let (area, count) = (size.iter().product::<usize>(), own.iter().product::<usize>());
        let zeros = Tensor::zeros(&[planes, area], self.dtype(), self.device())?;
        let rows = |tensor: &Tensor| tensor.reshape_to(&[planes, count]);
        let placed = zeros.scatter(1, &rows(places)?, &rows(self)?).map_err(|fault| {
            crate::error!(
                Runtime,
                "{name}: Found an invalid max index (output volumes are of size {}): {}",
                by(&size.iter().map(|&size| size as i64).collect::<SmallVec<[i64; 3]>>()),
                fault.message()
            )
        })?;
        placed.reshape_to(&joined(&shape, rank, &size))
    }
}

#[cfg(test)]
mod tests;
