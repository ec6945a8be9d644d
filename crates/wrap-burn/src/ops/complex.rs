//! Complex numbers: parts, modulus, angle. On the CPU only.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::unary::Unary;
use crate::ops::view::ViewOp;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// A real function of complex numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComplexOp {
    /// The modulus.
    Abs,
    /// The angle, also of real numbers.
    Angle,
}

#[typetag::serde]
impl Primitive for ComplexOp {
    fn name(&self) -> &'static str {
        match self {
            ComplexOp::Abs => "abs",
            ComplexOp::Angle => "angle",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(Meta { shape: inputs[0].shape.clone(), dtype: inputs[0].dtype.to_real() })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        let (shape, dtype) = (out[0].shape.clone(), out[0].dtype);
        if !x.dtype.is_complex() {
            return crate::with_dtype!("angle", x.dtype, floats, T => single(
                Value::from_vec_as(kernels::complex::angle(x.view::<T>()?), shape, dtype)
            ));
        }
        crate::with_dtype!(self.name(), x.dtype, complexes, T => single(match self {
            ComplexOp::Abs => Value::from_vec_as(kernels::complex::complex_abs(x.view::<T>()?), shape, dtype),
            ComplexOp::Angle => Value::from_vec_as(kernels::complex::complex_angle(x.view::<T>()?), shape, dtype),
        }))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, x) = (ctx.grad()?, &ctx.inputs[0]);
        let grad = match self {
            ComplexOp::Abs => x.unary(Unary::Sgn)?.mul(g)?,
            ComplexOp::Angle if !x.dtype().is_complex() => g.mul_scalar(0.0)?,
            ComplexOp::Angle => {
                // i x / |x|^2, and zero at the origin.
                let (re, im) = (x.real()?, x.imag()?);
                let square = re.square()?.add(&im.square()?)?;
                let zero = Tensor::full(&[], 0.0, square.dtype(), square.device())?;
                let flat = square.eq_scalar(0.0)?;
                let part = |top: Tensor| -> Result<Tensor> {
                    flat.where_(&zero, &g.mul(&top)?.div(&square)?)
                };
                Tensor::complex(&part(im.neg()?)?, &part(re)?)?
            }
        };
        Ok(smallvec![Some(grad)])
    }
}

impl Tensor {
    /// The modulus of complex numbers.
    pub fn complex_abs(&self) -> Result<Tensor> {
        apply1(&ComplexOp::Abs, &[self])
    }

    /// The angle of complex numbers; of real ones 0, pi or NaN.
    pub fn angle(&self) -> Result<Tensor> {
        let dtype = self.dtype();
        if dtype.is_differentiable() {
            return apply1(&ComplexOp::Angle, &[self]);
        }
        apply1(&ComplexOp::Angle, &[&self.to_dtype(crate::defaults::float())?])
    }

    /// The real part, a view; a real tensor is its own.
    pub fn real(&self) -> Result<Tensor> {
        if !self.dtype().is_complex() {
            return Ok(self.clone());
        }
        self.view_op(ViewOp::AsReal)?.select(-1, 0)
    }

    /// The imaginary part, a view.
    pub fn imag(&self) -> Result<Tensor> {
        if !self.dtype().is_complex() {
            bail!(
                Runtime,
                "imag: is not implemented for tensors with non-complex dtypes, got {}",
                self.dtype()
            );
        }
        self.view_op(ViewOp::AsReal)?.select(-1, 1)
    }

    /// Complex numbers from real and imaginary parts.
    pub fn complex(re: &Tensor, im: &Tensor) -> Result<Tensor> {
        if re.dtype() != im.dtype() || !re.dtype().is_float() {
            bail!(
                Runtime,
                "complex: expected both inputs to be Float or Double tensors of one dtype, got {} and {}",
                re.dtype(),
                im.dtype()
            );
        }
        let shape = crate::shape::broadcast("complex", &re.shape(), &im.shape())?;
        let (re, im) = (re.expand_to("complex", &shape)?, im.expand_to("complex", &shape)?);
        let pair = Tensor::cat(&[re.unsqueeze(-1)?, im.unsqueeze(-1)?], -1)?;
        pair.view_op(ViewOp::AsComplex)
    }
}
