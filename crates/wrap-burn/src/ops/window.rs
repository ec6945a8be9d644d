//! Windows cut out as columns and columns put back, and what convolutions and pools share: numbers
//! given for each dimension.

use burn_backend::ops::{ModuleOps, UnfoldOptions};
use burn_dispatch::Dispatch;
use kernels::Dims;
use kernels::window::Windows;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Values, Vjp, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, Result, bail};

/// Signed numbers, one for each dimension.
pub(crate) type Ints = SmallVec<[i64; 3]>;

/// The numbers an argument gives for `rank` dimensions: one for all of them, or one for each.
pub(crate) fn each(op: &str, what: &str, given: &[i64], rank: usize) -> Result<Ints> {
    match given {
        [all] => Ok(smallvec![*all; rank]),
        given if given.len() == rank => Ok(Ints::from_slice(given)),
        _ => bail!(
            Runtime,
            "{op}: expected {what} to be a single integer value or a list of {rank} values to \
             match the dimensions, but got {what}={given:?}"
        ),
    }
}

/// The same for numbers that must be at least `least`; `refusal` says so.
pub(crate) fn each_from(
    op: &str,
    what: &str,
    given: &[i64],
    rank: usize,
    least: i64,
    refusal: &str,
) -> Result<Dims> {
    let each = each(op, what, given, rank)?;
    if each.iter().any(|&number| number < least) {
        bail!(Runtime, "{op}: {refusal}, but got {what}={given:?}");
    }
    Ok(each.iter().map(|&number| number as usize).collect())
}

/// Sizes as messages show them: `2 x 3`.
pub(crate) fn by(sizes: &[i64]) -> String {
    sizes.iter().map(|size| size.to_string()).collect::<Vec<_>>().join(" x ")
}

/// How many windows fit: those that end within `size` and the padding on both sides. Negative where
/// not even one does.
pub(crate) fn count(size: i64, padding: i64, kernel: i64, stride: i64, dilation: i64) -> i64 {
    (size + padding - dilation * (kernel - 1) - 1).div_euclid(stride) + 1
}

/// Cuts the windows over each plane of a batch of images out as columns, or adds columns up on the
/// planes again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnfoldOp {
    /// Size of the planes.
    pub size: Dims,
    /// Size of a window.
    pub kernel: Dims,
    /// Steps between windows.
    pub stride: Dims,
    /// Zeros around the planes.
    pub padding: Dims,
    /// Steps between the elements of a window.
    pub dilation: Dims,
    /// Adds columns up instead.
    pub fold: bool,
}

impl UnfoldOp {
    fn windows(&self) -> Windows {
        Windows {
            size: self.size.clone(),
            kernel: self.kernel.clone(),
            stride: self.stride.clone(),
            dilation: self.dilation.clone(),
            padding: self.padding.clone(),
            count: self.counts().iter().map(|&count| count.max(0) as usize).collect(),
        }
    }

    fn counts(&self) -> Ints {
        (0..self.size.len())
            .map(|d| {
                count(
                    self.size[d] as i64,
                    2 * self.padding[d] as i64,
                    self.kernel[d] as i64,
                    self.stride[d] as i64,
                    self.dilation[d] as i64,
                )
            })
            .collect()
    }

    fn check(&self) -> Result<()> {
        let counts = self.counts();
        if counts.iter().any(|&count| count < 1) {
            bail!(
                Runtime,
                "{}: Given spatial size {:?}, kernel_size={:?}, dilation={:?}, padding={:?}, \
                 stride={:?}, calculated shape of the array of sliding blocks as {counts:?}, but \
                 its components must be at least one",
                self.name(),
                self.size,
                self.kernel,
                self.dilation,
                self.padding,
                self.stride
            );
        }
        Ok(())
    }
}

#[typetag::serde]
impl Primitive for UnfoldOp {
    fn name(&self) -> &'static str {
        if self.fold { "fold" } else { "unfold" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, name) = (inputs[0], self.name());
        if !x.dtype.is_differentiable() {
            bail!(Runtime, "{name}: not implemented for {}; hint: .float() first", x.dtype);
        }
        self.check()?;
        let windows = self.windows();
        let (taps, count) = (windows.taps(), windows.windows());
        let mut shape = Dims::from_slice(&x.shape[..1]);
        if self.fold {
            if !x.shape[1].is_multiple_of(taps) {
                bail!(
                    Runtime,
                    "fold: Expected size of input's dimension 1 to be divisible by the product of \
                     kernel_size, but got input.size(1)={} and kernel_size={:?}",
                    x.shape[1],
                    self.kernel
                );
            }
            if x.shape[2] != count {
                bail!(
                    Runtime,
                    "fold: Given output_size={:?}, kernel_size={:?}, dilation={:?}, padding={:?}, \
                     stride={:?}, expected size of input's dimension 2 to match the calculated \
                     number of sliding blocks {} = {count}, but got input.size(2)={}",
                    self.size,
                    self.kernel,
                    self.dilation,
                    self.padding,
                    self.stride,
                    by(&self.counts()),
                    x.shape[2]
                );
            }
            shape.push(x.shape[1] / taps);
            shape.extend_from_slice(&self.size);
        } else {
            shape.push(x.shape[1] * taps);
            shape.push(count);
        }
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, out, windows) = (inputs[0].contiguous()?, &out[0], self.windows());
        macro_rules! go {
            ($T:ty) => {{
                let data = x.view::<$T>()?.as_slice().expect("the value is contiguous");
                let columns = if self.fold {
                    kernels::window::fold(data, out.shape[0] * out.shape[1], &windows)
                } else {
                    kernels::window::unfold(data, x.shape[0] * x.shape[1], &windows)
                };
                Ok(Value::from_vec_as(columns, out.shape.clone(), out.dtype))
            }};
        }
        single(match x.dtype.category() {
            Category::Complex => crate::with_dtype!(self.name(), x.dtype, complexes, T => go!(T))?,
            _ => crate::with_dtype!(self.name(), x.dtype, floats, T => go!(T))?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let x = inputs[0];
        if self.size.len() != 2 || !x.dtype.is_float() || x.numel() == 0 {
            return Ok(None);
        }
        let two = |sizes: &[usize]| [sizes[0], sizes[1]];
        let options =
            UnfoldOptions::new(two(&self.stride), two(&self.padding), two(&self.dilation));
        let (x, kernel) = (to_burn(x)?, two(&self.kernel));
        let prim = if self.fold {
            Dispatch::fold4d(x, two(&self.size), kernel, options)
        } else {
            Dispatch::unfold4d(x, kernel, options)
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let back = UnfoldOp { fold: !self.fold, ..self.clone() };
        Ok(smallvec![Some(apply1(&back, &[ctx.grad()?])?)])
    }
}

/// How windows lie, as a user gives it: a number for all dimensions, or one for each.
#[derive(Clone, Copy, Debug)]
pub struct Sliding<'a> {
    /// Size of a window.
    pub kernel: &'a [i64],
    /// Steps between windows.
    pub stride: &'a [i64],
    /// Zeros around the planes.
    pub padding: &'a [i64],
    /// Steps between the elements of a window.
    pub dilation: &'a [i64],
}

impl Tensor {
    /// The windows of each image as columns: `(batch, channels * taps, windows)`.
    pub fn unfold_windows(&self, sliding: Sliding<'_>) -> Result<Tensor> {
        let shape = self.shape();
        if !matches!(shape.len(), 3 | 4) || shape[shape.len() - 3..].contains(&0) {
            bail!(
                Runtime,
                "unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and \
                 other non-zero dimensions for input, but got: {shape:?}"
            );
        }
        let op = sliding.op("unfold", Dims::from_slice(&shape[shape.len() - 2..]), false)?;
        self.batched(4, |x| apply1(&op, &[x]))
    }

    /// Columns added up on planes of a size: the reverse of
    /// [`unfold_windows`](Tensor::unfold_windows).
    pub fn fold_windows(&self, size: &[i64], sliding: Sliding<'_>) -> Result<Tensor> {
        let shape = self.shape();
        if !matches!(shape.len(), 2 | 3) || shape[shape.len() - 2..].contains(&0) {
            bail!(
                Runtime,
                "fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size \
                 and non-zero dimensions for input, but got: {shape:?}"
            );
        }
        let size = each_from("fold", "output_size", size, 2, 1, "sizes must be positive")?;
        let op = sliding.op("fold", size, true)?;
        self.batched(3, |x| apply1(&op, &[x]))
    }

    /// Calls `f` with a batch: this tensor, or, where it has a dimension less than `rank`, a batch
    /// of it alone, whose result then loses the batch dimension again.
    pub(crate) fn batched(
        &self,
        rank: usize,
        f: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        if self.rank() == rank {
            return f(self);
        }
        f(&self.unsqueeze(0)?)?.squeeze(Some(&[0]))
    }
}

impl Sliding<'_> {
    fn op(&self, name: &str, size: Dims, fold: bool) -> Result<UnfoldOp> {
        let rank = size.len();
        let from = |what: &str, given: &[i64], least: i64, refusal: &str| {
            each_from(name, what, given, rank, least, refusal)
        };
        Ok(UnfoldOp {
            size,
            kernel: from("kernel_size", self.kernel, 1, "kernel size should be greater than zero")?,
            stride: from("stride", self.stride, 1, "stride should be greater than zero")?,
            padding: from("padding", self.padding, 0, "padding should be non-negative")?,
            dilation: from("dilation", self.dilation, 1, "dilation should be greater than zero")?,
            fold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::ops::linalg::tests::{gradcheck, noise};

    fn sliding(numbers: &[[i64; 2]; 4]) -> Sliding<'_> {
        Sliding {
            kernel: &numbers[0],
            stride: &numbers[1],
            padding: &numbers[2],
            dilation: &numbers[3],
        }
    }

    #[test]
    fn columns_and_back() {
        let x = Tensor::from_vec((1..=9).map(f64::from).collect(), &[1, 1, 3, 3]).unwrap();
        let plain = [[2, 2], [1, 1], [0, 0], [1, 1]];
        let columns = x.unfold_windows(sliding(&plain)).unwrap();
        assert_eq!(columns.shape().as_slice(), [1, 4, 4]);
        assert_eq!(columns.to_vec::<f64>().unwrap()[..4], [1.0, 2.0, 4.0, 5.0]);
        let back = columns.fold_windows(&[3], sliding(&plain)).unwrap();
        assert_eq!(back.to_vec::<f64>().unwrap(), [1.0, 4.0, 3.0, 8.0, 20.0, 12.0, 7.0, 16.0, 9.0]);
        // Without a batch dimension.
        let image = x.reshape(&[1, 3, 3]).unwrap().unfold_windows(sliding(&plain)).unwrap();
        assert_eq!(image.shape().as_slice(), [4, 4]);
        assert!(x.unfold_windows(sliding(&[[4, 4], [1, 1], [0, 0], [1, 1]])).is_err());
        assert!(x.unfold_windows(sliding(&[[2, 2], [0, 1], [0, 0], [1, 1]])).is_err());
        assert!(columns.fold_windows(&[4, 4], sliding(&plain)).is_err());
    }

    #[test]
    fn gradients() {
        let numbers = [[2, 3], [2, 1], [1, 0], [1, 2]];
        for dtype in [DType::F64, DType::C128] {
            let x = noise(&[2, 2, 4, 5], dtype, 1);
            gradcheck("unfold", std::slice::from_ref(&x), true, &|x| {
                Ok(vec![x[0].unfold_windows(sliding(&numbers))?])
            });
            let columns = x.unfold_windows(sliding(&numbers)).unwrap();
            gradcheck("fold", &[columns], true, &|x| {
                Ok(vec![x[0].fold_windows(&[4, 5], sliding(&numbers))?])
            });
        }
    }
}
