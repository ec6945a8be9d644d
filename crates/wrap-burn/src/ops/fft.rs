//! Discrete Fourier transforms. Complex tensors exist on the CPU only.

pub mod stft;
pub mod transforms;
pub mod window;

use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::op::{Grads, Metas, Primitive, Values, Vjp, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// What is transformed into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fft {
    /// Complex numbers into as many complex ones.
    Complex {
        /// The sign of the exponent is positive.
        inverse: bool,
    },
    /// Real numbers into the half of their spectrum that says all, forward.
    ToHalf,
    /// Half a spectrum into real numbers, inverse.
    FromHalf {
        /// How many there are.
        size: usize,
    },
}

/// An unnormalised transform along one dimension, times a factor.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FftOp {
    /// Which.
    pub kind: Fft,
    /// Along which dimension.
    pub dim: usize,
    /// The factor.
    pub scale: f64,
}

/// How many values of the spectrum of `size` real numbers say all.
fn half(size: usize) -> usize {
    size / 2 + 1
}

#[typetag::serde]
impl Primitive for FftOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Fft::Complex { .. } => "fft_c2c",
            Fft::ToHalf => "fft_r2c",
            Fft::FromHalf { .. } => "fft_c2r",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        let fits = match (self.kind, x.dtype) {
            (Fft::ToHalf, DType::F32 | DType::F64) => true,
            (Fft::ToHalf, _) => false,
            (_, dtype) => dtype.is_complex(),
        };
        if !fits {
            bail!(Runtime, "{}: Unsupported dtype {}", self.name(), x.dtype);
        }
        let mut shape = x.shape.clone();
        let Some(size) = shape.get_mut(self.dim) else {
            bail!(Runtime, "{}: expected at least one dimension, got a 0-d tensor", self.name());
        };
        let dtype = match self.kind {
            Fft::Complex { .. } => x.dtype,
            Fft::ToHalf => {
                *size = half(*size);
                x.dtype.to_complex()
            }
            Fft::FromHalf { size: wanted } => {
                *size = wanted;
                x.dtype.to_real()
            }
        };
        if x.shape[self.dim] == 0 {
            bail!(Runtime, "{}: Invalid number of data points (0) specified", self.name());
        }
        one(Meta { shape, dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, dim) = (inputs[0], self.dim);
        let (shape, dtype) = (out[0].shape.clone(), out[0].dtype);
        macro_rules! go {
            ($R:ty) => {{
                type C = num_complex::Complex<$R>;
                let scale = self.scale as $R;
                match self.kind {
                    Fft::Complex { inverse } => Value::from_vec_as(
                        kernels::fft::c2c::<$R>(x.view::<C>()?, dim, inverse, scale),
                        shape,
                        dtype,
                    ),
                    Fft::ToHalf => Value::from_vec_as(
                        kernels::fft::r2c::<$R>(x.view::<$R>()?, dim, scale),
                        shape,
                        dtype,
                    ),
                    Fft::FromHalf { size } => Value::from_vec_as(
                        kernels::fft::c2r::<$R>(x.view::<C>()?, dim, size, scale),
                        shape,
                        dtype,
                    ),
                }
            }};
        }
        single(match dtype.to_real() {
            DType::F64 => go!(f64),
            _ => go!(f32),
        })
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let size = ctx.inputs[0].shape()[self.dim];
        let grad = match self.kind {
            Fft::Complex { inverse } => {
                apply1(&Self { kind: Fft::Complex { inverse: !inverse }, ..*self }, &[g])?
            }
            // Values in the middle of the half spectrum stand for two, which the way back counts.
            Fft::ToHalf => {
                let shared = g.mul(&self.weights(g, size, 0.5)?)?;
                apply1(&Self { kind: Fft::FromHalf { size }, ..*self }, &[&shared])?
            }
            Fft::FromHalf { size: wanted } => {
                let spectrum = apply1(&Self { kind: Fft::ToHalf, ..*self }, &[g])?;
                spectrum.mul(&self.weights(&spectrum, wanted, 2.0)?)?
            }
        };
        Ok(smallvec![Some(grad)])
    }
}

impl FftOp {
    /// `middle` for the values of half a spectrum of `size` that stand for two, one for the others.
    fn weights(&self, like: &Tensor, size: usize, middle: f64) -> Result<Tensor> {
        let mut weights = vec![middle; half(size)];
        weights[0] = 1.0;
        if size.is_multiple_of(2) {
            weights[size / 2] = 1.0;
        }
        let mut shape = Dims::from_elem(1, like.rank());
        shape[self.dim] = weights.len();
        let value = crate::op::cast_host(&Value::from_vec(weights, shape), like.dtype().to_real())?;
        Ok(Tensor::from_value(value.to_device(like.device())?))
    }
}

/// How a pair of transforms shares the factor `1/n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FftNorm {
    /// The forward one has it.
    Forward,
    /// The backward one has it.
    #[default]
    Backward,
    /// Both have its root.
    Ortho,
}

impl FftNorm {
    /// Reads the name users write; none means `backward`.
    pub fn named(name: Option<&str>) -> Result<FftNorm> {
        Ok(match name {
            None | Some("backward") => FftNorm::Backward,
            Some("forward") => FftNorm::Forward,
            Some("ortho") => FftNorm::Ortho,
            Some(other) => bail!(
                Runtime,
                "fft: Invalid normalization mode: \"{other}\"; expected \"forward\", \"backward\" or \"ortho\""
            ),
        })
    }

    /// The mode that scales the opposite transform the same way.
    fn swapped(self) -> FftNorm {
        match self {
            FftNorm::Forward => FftNorm::Backward,
            FftNorm::Backward => FftNorm::Forward,
            FftNorm::Ortho => FftNorm::Ortho,
        }
    }

    /// The factor of a transform of `count` elements.
    fn scale(self, count: usize, inverse: bool) -> f64 {
        match (self, inverse) {
            (FftNorm::Ortho, _) => (count as f64).sqrt().recip(),
            (FftNorm::Forward, false) | (FftNorm::Backward, true) => (count as f64).recip(),
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests;
