//! Elementwise functions of one tensor.

use std::f64::consts::{LN_2, LN_10, PI};

use burn_backend::ops::{ActivationOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
pub use kernels::predicate::Predicate;
pub use kernels::unary::Unary;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::activation::{Slope, sloped};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// `2/sqrt(pi)`, the derivative of erf at zero.
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;
/// `1/sqrt(2 pi)`, the normal density at zero.
const NORMAL_PEAK: f64 = 0.398_942_280_401_432_7;

/// An elementwise function.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct UnaryOp {
    /// Which.
    pub kind: Unary,
}

/// What an integer input becomes.
enum Ints {
    /// The default float.
    Float,
    /// A 64-bit integer.
    Wide,
    /// Itself.
    Keep,
    /// An error.
    Refuse,
}

fn on_ints(kind: Unary, dtype: DType) -> Ints {
    use Unary::*;
    match kind {
        Neg | Sign | Sgn | Square | Abs | Relu | Conj if dtype != DType::Bool => Ints::Keep,
        Floor | Ceil | Round | Trunc if dtype != DType::Bool => Ints::Keep,
        Sign | Sgn | Conj | BitwiseNot => Ints::Keep,
        Square => Ints::Wide,
        Neg | Abs | Relu | Floor | Ceil | Round | Trunc | Frac | Gelu | GeluTanh | Silu
        | Softplus | Mish | Softsign | LogSigmoid => Ints::Refuse,
        _ => Ints::Float,
    }
}

/// Whether a function is defined for complex numbers.
fn takes_complex(kind: Unary) -> bool {
    use Unary::*;
    matches!(
        kind,
        Neg | Conj
            | Square
            | Exp
            | Exp2
            | Expm1
            | Log
            | Log2
            | Log10
            | Log1p
            | Sqrt
            | Rsqrt
            | Reciprocal
            | Sin
            | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Asinh
            | Acosh
            | Atanh
            | Sigmoid
            | Sinc
            | Sgn
    )
}

/// The dtype that a function converts integers of `dtype` to, if it does.
fn computed_in(kind: Unary, dtype: DType) -> Option<DType> {
    if dtype.category() > Category::Int {
        return None;
    }
    match on_ints(kind, dtype) {
        Ints::Float => Some(crate::defaults::float()),
        Ints::Wide => Some(DType::I64),
        Ints::Keep | Ints::Refuse => None,
    }
}

/// The name users know a function by.
pub fn unary_name(kind: Unary) -> &'static str {
    use Unary::*;
    match kind {
        Neg => "neg",
        Abs => "abs",
        Sign => "sign",
        Sgn => "sgn",
        Square => "square",
        Exp => "exp",
        Exp2 => "exp2",
        Expm1 => "expm1",
        Log => "log",
        Log2 => "log2",
        Log10 => "log10",
        Log1p => "log1p",
        Sqrt => "sqrt",
        Rsqrt => "rsqrt",
        Reciprocal => "reciprocal",
        Sin => "sin",
        Cos => "cos",
        Tan => "tan",
        Asin => "asin",
        Acos => "acos",
        Atan => "atan",
        Sinh => "sinh",
        Cosh => "cosh",
        Tanh => "tanh",
        Asinh => "asinh",
        Acosh => "acosh",
        Atanh => "atanh",
        Sigmoid => "sigmoid",
        LogSigmoid => "logsigmoid",
        Erf => "erf",
        Erfc => "erfc",
        Erfinv => "erfinv",
        Erfcx => "erfcx",
        Lgamma => "lgamma",
        Digamma => "digamma",
        Trigamma => "trigamma",
        Ndtr => "ndtr",
        LogNdtr => "log_ndtr",
        Ndtri => "ndtri",
        I0 => "i0",
        I0e => "i0e",
        I1 => "i1",
        I1e => "i1e",
        Sinc => "sinc",
        Floor => "floor",
        Ceil => "ceil",
        Round => "round",
        Trunc => "trunc",
        Frac => "frac",
        Relu => "relu",
        Gelu => "gelu",
        GeluTanh => "gelu_tanh",
        Silu => "silu",
        Softplus => "softplus",
        Mish => "mish",
        Softsign => "softsign",
        Deg2rad => "deg2rad",
        Rad2deg => "rad2deg",
        BitwiseNot => "bitwise_not",
        Conj => "conj",
        BesselJ0 => "bessel_j0",
        BesselJ1 => "bessel_j1",
    }
}

#[typetag::serde]
impl Primitive for UnaryOp {
    fn name(&self) -> &'static str {
        unary_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (name, dtype) = (self.name(), inputs[0].dtype);
        match dtype.category() {
            Category::Bool | Category::Int if !matches!(on_ints(self.kind, dtype), Ints::Keep) => {
                bail!(Runtime, "{name}: not implemented for {dtype}; convert with .float() first")
            }
            Category::Complex if self.kind == Unary::Sign => {
                bail!(Runtime, "sign: not implemented for complex tensors, got {dtype}; use sgn")
            }
            Category::Complex if !takes_complex(self.kind) => {
                bail!(Runtime, "{name}: not implemented for complex tensors, got {dtype}")
            }
            Category::Float if self.kind == Unary::BitwiseNot => {
                bail!(Runtime, "{name}: expected an integer or bool tensor, got {dtype}")
            }
            _ => {}
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        if x.dtype == DType::Bool {
            // Not is the only function that changes a truth value here.
            let flip = self.kind == Unary::BitwiseNot;
            let data = if flip {
                kernels::predicate::predicate(Predicate::LogicalNot, x.view::<u8>()?)?
            } else {
                kernels::copy::contiguous(x.view::<u8>()?)
            };
            return single(Value::from_vec_as(data, out[0].shape.clone(), DType::Bool));
        }
        macro_rules! go {
            ($T:ty) => {
                Value::from_vec_as(
                    kernels::unary::unary(self.kind, x.view::<$T>()?)?,
                    out[0].shape.clone(),
                    out[0].dtype,
                )
            };
        }
        single(match x.dtype.category() {
            Category::Complex => {
                crate::with_dtype!(self.name(), x.dtype, complexes, T => Ok(go!(T)))?
            }
            _ => crate::with_dtype!(self.name(), x.dtype, reals, T => Ok(go!(T)))?,
        })
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        if target.dtype == DType::Bool || target.dtype.is_complex() {
            return Ok(false);
        }
        crate::with_dtype!(self.name(), target.dtype, reals, T => {
            kernels::unary::unary_into(self.kind, target.view_mut::<T>()?, inputs[0].view::<T>()?)?;
            Ok(true)
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        use Unary::*;
        let x = inputs[0];
        let prim = match x.dtype.category() {
            Category::Float => {
                type D = Dispatch;
                let p = to_burn(x)?;
                match self.kind {
                    Neg => D::float_neg(p),
                    Abs => D::float_abs(p),
                    Sign | Sgn => D::float_sign(p),
                    Square => D::float_mul(p.clone(), p),
                    Exp => D::float_exp(p),
                    Log => D::float_log(p),
                    Log1p => D::float_log1p(p),
                    Log2 => D::float_mul_scalar(D::float_log(p), LN_2.recip().into()),
                    Log10 => D::float_mul_scalar(D::float_log(p), LN_10.recip().into()),
                    Sqrt => D::float_sqrt(p),
                    Rsqrt => D::float_recip(D::float_sqrt(p)),
                    Reciprocal => D::float_recip(p),
                    Sin => D::float_sin(p),
                    Cos => D::float_cos(p),
                    Tan => D::float_tan(p),
                    Asin => D::float_asin(p),
                    Acos => D::float_acos(p),
                    Atan => D::float_atan(p),
                    Sinh => D::float_sinh(p),
                    Cosh => D::float_cosh(p),
                    Tanh => D::float_tanh(p),
                    Asinh => D::float_asinh(p),
                    Acosh => D::float_acosh(p),
                    Atanh => D::float_atanh(p),
                    Sigmoid => D::sigmoid(p),
                    LogSigmoid => D::log_sigmoid(p),
                    Erf => D::float_erf(p),
                    Floor => D::float_floor(p),
                    Ceil => D::float_ceil(p),
                    Round => D::float_round(p),
                    Trunc => D::float_trunc(p),
                    Relu => D::relu(p),
                    Gelu => D::gelu(p),
                    Silu => D::float_mul(p.clone(), D::sigmoid(p)),
                    Deg2rad => D::float_mul_scalar(p, (PI / 180.0).into()),
                    Rad2deg => D::float_mul_scalar(p, (180.0 / PI).into()),
                    Conj => p,
                    _ => return Ok(None),
                }
            }
            Category::Int => {
                let p = to_burn(x)?;
                match self.kind {
                    Neg => Dispatch::int_neg(p),
                    Abs => Dispatch::int_abs(p),
                    Sign | Sgn => Dispatch::int_sign(p),
                    Square => Dispatch::int_mul(p.clone(), p),
                    BitwiseNot => Dispatch::bitwise_not(p),
                    Relu => Dispatch::int_clamp_min(p, 0i64.into()),
                    Floor | Ceil | Round | Trunc | Conj => p,
                    _ => return Ok(None),
                }
            }
            Category::Bool => {
                let p = to_burn(x)?;
                match self.kind {
                    BitwiseNot => {
                        use burn_backend::ops::BoolTensorOps;
                        Dispatch::bool_not(p)
                    }
                    _ => p,
                }
            }
            Category::Complex => return Ok(None),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        use Unary::*;
        match self.kind {
            Neg | Floor | Ceil | Round | Trunc | Frac | Deg2rad | Rad2deg | Conj | BitwiseNot => {
                Saves::NONE
            }
            Exp | Exp2 | Expm1 | Sqrt | Rsqrt | Reciprocal | Tan | Tanh | Sigmoid | Erfinv
            | Ndtri | Relu => Saves::OUTPUT,
            Erfcx | LogNdtr | I0e | I1 | I1e => Saves { inputs: 1, outputs: 1 },
            _ => Saves::inputs(1),
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let (x, y) = (&ctx.inputs[0], &ctx.outputs[0]);
        Ok(smallvec![Some(slope(self.kind, g, x, y)?)])
    }
}

/// The gradient of the direction of complex numbers: what of `g` is across it, by the distance.
fn turning(g: &Tensor, x: &Tensor) -> Result<Tensor> {
    let (size, direction) = (x.unary(Unary::Abs)?, x.unary(Unary::Sgn)?);
    let zero = size.eq_scalar(0.0)?;
    let one = Tensor::full(&[], 1.0, size.dtype(), size.device())?;
    let scaled = g.div(&zero.where_(&one, &size)?)?;
    let along = scaled.mul(&direction.conj()?)?.real()?;
    let across = scaled.sub(&direction.mul(&along)?)?;
    zero.where_(&Tensor::full(&[], 0.0, across.dtype(), across.device())?, &across)
}

/// A function's gradient: `g` times the derivative at `x`, where the function is `y`.
fn slope(kind: Unary, g: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    use Unary::*;
    let one_minus_square = |t: &Tensor| t.square()?.neg()?.add_scalar(1.0);
    Ok(match kind {
        Neg => g.neg()?,
        Abs => g.mul(&x.unary(Sgn)?)?,
        Sgn if x.dtype().is_complex() => turning(g, x)?,
        Sign | Sgn | Floor | Ceil | Round | Trunc | BitwiseNot => g.mul_scalar(0.0)?,
        Square => g.mul(&x.mul_scalar(2.0)?.conj()?)?,
        Exp => g.mul(&y.conj()?)?,
        Exp2 => g.mul(&y.mul_scalar(LN_2)?.conj()?)?,
        Expm1 => g.mul(&y.add_scalar(1.0)?.conj()?)?,
        Log => g.div(&x.conj()?)?,
        Log2 => g.div(&x.mul_scalar(LN_2)?.conj()?)?,
        Log10 => g.div(&x.mul_scalar(LN_10)?.conj()?)?,
        Log1p => g.div(&x.add_scalar(1.0)?.conj()?)?,
        Sqrt => g.div(&y.mul_scalar(2.0)?.conj()?)?,
        Rsqrt => g.mul(&y.pow_scalar(3.0)?.mul_scalar(-0.5)?.conj()?)?,
        Reciprocal => g.mul(&y.square()?.neg()?.conj()?)?,
        Sin => g.mul(&x.unary(Cos)?.conj()?)?,
        Cos => g.mul(&x.unary(Sin)?.neg()?.conj()?)?,
        Tan => g.mul(&y.square()?.add_scalar(1.0)?.conj()?)?,
        Asin => g.mul(&one_minus_square(x)?.unary(Rsqrt)?.conj()?)?,
        Acos => g.mul(&one_minus_square(x)?.unary(Rsqrt)?.neg()?.conj()?)?,
        Atan => g.div(&x.square()?.add_scalar(1.0)?.conj()?)?,
        Sinh => g.mul(&x.unary(Cosh)?.conj()?)?,
        Cosh => g.mul(&x.unary(Sinh)?.conj()?)?,
        Tanh if !y.dtype().is_complex() => sloped(Slope::OfTanh, g, y)?,
        Tanh => g.mul(&one_minus_square(y)?.conj()?)?,
        Asinh => g.mul(&x.square()?.add_scalar(1.0)?.unary(Rsqrt)?.conj()?)?,
        Acosh if x.dtype().is_complex() => {
            let root = x.add_scalar(-1.0)?.unary(Rsqrt)?.mul(&x.add_scalar(1.0)?.unary(Rsqrt)?)?;
            g.mul(&root.conj()?)?
        }
        Acosh => g.mul(&x.square()?.add_scalar(-1.0)?.unary(Rsqrt)?)?,
        Atanh => g.div(&one_minus_square(x)?.conj()?)?,
        Sigmoid if !y.dtype().is_complex() => sloped(Slope::OfSigmoid, g, y)?,
        Sigmoid => g.mul(&y.mul(&y.neg()?.add_scalar(1.0)?)?.conj()?)?,
        LogSigmoid => sloped(Slope::LogSigmoid, g, x)?,
        Erf => g.mul(&x.square()?.neg()?.unary(Exp)?.mul_scalar(ERF_SLOPE)?)?,
        Erfc => g.mul(&x.square()?.neg()?.unary(Exp)?.mul_scalar(-ERF_SLOPE)?)?,
        Erfinv => g.mul(&y.square()?.unary(Exp)?.mul_scalar(ERF_SLOPE.recip())?)?,
        Erfcx => g.mul(&x.mul(y)?.mul_scalar(2.0)?.add_scalar(-ERF_SLOPE)?)?,
        Lgamma => g.mul(&x.unary(Digamma)?)?,
        Digamma => g.mul(&x.unary(Trigamma)?)?,
        // The tetragamma function, -2 zeta(3, x).
        Trigamma => {
            let three = Tensor::full(&[], 3.0, x.dtype(), x.device())?;
            g.mul(&three.binary(super::binary::Binary::Zeta, x)?.mul_scalar(-2.0)?)?
        }
        Ndtr => g.mul(&x.square()?.mul_scalar(-0.5)?.unary(Exp)?.mul_scalar(NORMAL_PEAK)?)?,
        LogNdtr => {
            let log_density = x.square()?.mul_scalar(-0.5)?.sub(y)?;
            g.mul(&log_density.unary(Exp)?.mul_scalar(NORMAL_PEAK)?)?
        }
        Ndtri => {
            g.mul(&y.square()?.mul_scalar(0.5)?.unary(Exp)?.mul_scalar(NORMAL_PEAK.recip())?)?
        }
        I0 => g.mul(&x.unary(I1)?)?,
        I0e => g.mul(&x.unary(I1e)?.sub(&x.unary(Sign)?.mul(y)?)?)?,
        I1 => {
            let elsewhere = x.unary(I0)?.sub(&y.div(x)?)?;
            g.mul(&at_zero(x, 0.5, &elsewhere)?)?
        }
        I1e => {
            let slope = x.unary(Sign)?.add(&x.unary(Reciprocal)?)?;
            let elsewhere = x.unary(I0e)?.sub(&y.mul(&slope)?)?;
            g.mul(&at_zero(x, 0.5, &elsewhere)?)?
        }
        Sinc => {
            let angle = x.mul_scalar(PI)?;
            let top = angle.unary(Cos)?.mul(&angle)?.sub(&angle.unary(Sin)?)?;
            let elsewhere = top.div(&angle.mul(x)?)?;
            g.mul(&at_zero(x, 0.0, &elsewhere)?.conj()?)?
        }
        Frac | Conj if kind == Frac => g.clone(),
        Conj => g.conj()?,
        Relu => sloped(Slope::Above { threshold: 0.0 }, g, y)?,
        Gelu => sloped(Slope::Gelu, g, x)?,
        GeluTanh => sloped(Slope::GeluTanh, g, x)?,
        Silu => sloped(Slope::Silu, g, x)?,
        Softplus => sloped(Slope::Softplus { beta: 1.0, threshold: 20.0 }, g, x)?,
        Mish => sloped(Slope::Mish, g, x)?,
        Softsign => g.div(&x.unary(Abs)?.add_scalar(1.0)?.square()?)?,
        Deg2rad => g.mul_scalar(PI / 180.0)?,
        Rad2deg => g.mul_scalar(180.0 / PI)?,
        BesselJ0 => g.mul(&x.unary(BesselJ1)?.neg()?)?,
        BesselJ1 => {
            let elsewhere = x.unary(BesselJ0)?.sub(&x.unary(BesselJ1)?.div(x)?)?;
            g.mul(&at_zero(x, 0.5, &elsewhere)?)?
        }
        Frac => g.clone(),
    })
}

/// `value` where `x` is zero, `elsewhere` where it is not.
fn at_zero(x: &Tensor, value: f64, elsewhere: &Tensor) -> Result<Tensor> {
    let value = Tensor::full(&[], value, elsewhere.dtype(), x.device())?;
    x.eq_scalar(0.0)?.where_(&value, elsewhere)
}

/// An elementwise yes-or-no question.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PredicateOp {
    /// Which.
    pub kind: Predicate,
}

#[typetag::serde]
impl Primitive for PredicateOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Predicate::IsNan => "isnan",
            Predicate::IsInf => "isinf",
            Predicate::IsFinite => "isfinite",
            Predicate::IsPosInf => "isposinf",
            Predicate::IsNegInf => "isneginf",
            Predicate::SignBit => "signbit",
            Predicate::LogicalNot => "logical_not",
            Predicate::NonZero => "nonzero_mask",
            Predicate::IsReal => "isreal",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let ordered =
            matches!(self.kind, Predicate::IsPosInf | Predicate::IsNegInf | Predicate::SignBit);
        if ordered && inputs[0].dtype.is_complex() {
            bail!(Runtime, "{}: not implemented for complex tensors", self.name());
        }
        one(Meta { shape: inputs[0].shape.clone(), dtype: DType::Bool })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        let data = match x.dtype.category() {
            Category::Complex => crate::with_dtype!(self.name(), x.dtype, complexes, T =>
                Ok(kernels::predicate::predicate(self.kind, x.view::<T>()?)?))?,
            _ => crate::with_dtype!(self.name(), x.dtype, reals, T =>
                Ok(kernels::predicate::predicate(self.kind, x.view::<T>()?)?))?,
        };
        single(Value::from_vec_as(data, out[0].shape.clone(), DType::Bool))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let x = inputs[0];
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let prim = match (self.kind, x.dtype.category()) {
            (Predicate::IsNan, Category::Float) => Dispatch::float_is_nan(to_burn(x)?, store),
            (Predicate::IsInf, Category::Float) => Dispatch::float_is_inf(to_burn(x)?, store),
            (Predicate::LogicalNot, Category::Float) => {
                Dispatch::float_equal_elem(to_burn(x)?, 0.0f64.into(), store)
            }
            (Predicate::LogicalNot, Category::Int) => {
                Dispatch::int_equal_elem(to_burn(x)?, 0i64.into(), store)
            }
            _ => return Ok(None),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        false
    }
}

impl Tensor {
    /// An elementwise function; integers become floats where the function needs them.
    pub fn unary(&self, kind: Unary) -> Result<Tensor> {
        let dtype = self.dtype();
        let op = UnaryOp { kind };
        if let Some(other) = computed_in(kind, dtype) {
            return apply1(&op, &[&self.to_dtype(self.device().narrow(other))?]);
        }
        if kind == Unary::Abs && dtype.is_complex() {
            return self.complex_abs();
        }
        apply1(&op, &[self])
    }

    /// An elementwise function, in place.
    pub fn unary_(&self, kind: Unary) -> Result<()> {
        let dtype = self.dtype();
        if let Some(other) = computed_in(kind, dtype) {
            bail!(
                Runtime,
                "{}_: result type {other} can't be cast to the desired output type {dtype}",
                unary_name(kind)
            );
        }
        if kind == Unary::Abs && dtype.is_complex() {
            bail!(Runtime, "abs_: in-place abs is not supported for complex tensors");
        }
        crate::autograd::apply_into(&UnaryOp { kind }, &[self])
    }

    /// An elementwise yes-or-no question.
    pub fn predicate(&self, kind: Predicate) -> Result<Tensor> {
        apply1(&PredicateOp { kind }, &[self])
    }

    /// `-x`.
    pub fn neg(&self) -> Result<Tensor> {
        self.unary(Unary::Neg)
    }

    /// `x * x`.
    pub fn square(&self) -> Result<Tensor> {
        self.unary(Unary::Square)
    }

    /// The complex conjugate; a real tensor is its own.
    pub fn conj(&self) -> Result<Tensor> {
        if self.dtype().is_complex() { self.unary(Unary::Conj) } else { Ok(self.clone()) }
    }

    /// Whether any element is NaN.
    pub fn has_nan(&self) -> Result<bool> {
        if !self.dtype().is_differentiable() {
            return Ok(false);
        }
        let _off = crate::autograd::ModeGuard::grad(false);
        Ok(self.predicate(Predicate::IsNan)?.any(None, false)?.item()?.to_bool())
    }
}
