//! Activation functions with parameters, and the slopes behind the gradients of all of them.

use burn_backend::ops::{ActivationOps, BoolTensorOps, FloatTensorOps};
use burn_dispatch::Dispatch;
pub use kernels::activation::{Activation, Slope};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, Prim, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// `1 / sqrt(2 pi)`, the normal density at zero.
const PEAK: f64 = 0.398_942_280_401_432_7;
/// `2 * sqrt(2 / pi)`.
const TWICE_ROOT: f64 = 1.595_769_121_605_730_7;
/// What the approximation of gelu multiplies a cube by.
const CUBIC: f64 = 0.044_715;

/// An elementwise activation function.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ActivationOp {
    /// Which.
    pub kind: Activation,
}

/// The slope of a function at its argument.
fn slope_of(kind: Activation) -> Slope {
    match kind {
        Activation::LeakyRelu { slope } => Slope::LeakyRelu { slope },
        Activation::Elu { alpha, scale, rate } => Slope::Elu { alpha, scale, rate },
        Activation::Hardtanh { low, high } => Slope::Between { low, high },
        Activation::Hardsigmoid => Slope::Hardsigmoid,
        Activation::Hardswish => Slope::Hardswish,
        Activation::Softplus { beta, threshold } => Slope::Softplus { beta, threshold },
        Activation::Hardshrink { lambda } | Activation::Softshrink { lambda, .. } => {
            Slope::Outside { low: -lambda, high: lambda }
        }
        Activation::Threshold { threshold, .. } => Slope::Above { threshold },
    }
}

#[typetag::serde]
impl Primitive for ActivationOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Activation::LeakyRelu { .. } => "leaky_relu",
            Activation::Elu { .. } => "elu",
            Activation::Hardtanh { .. } => "hardtanh",
            Activation::Hardsigmoid => "hardsigmoid",
            Activation::Hardswish => "hardswish",
            Activation::Softplus { .. } => "softplus",
            Activation::Hardshrink { .. } => "hardshrink",
            Activation::Softshrink { .. } => "softshrink",
            Activation::Threshold { .. } => "threshold",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let dtype = inputs[0].dtype;
        if !dtype.is_float() {
            bail!(Runtime, "{}: not implemented for {dtype}; hint: .float() first", self.name());
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => single(Value::from_vec_as(
            kernels::activation::activation(self.kind, inputs[0].view::<T>()?),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        crate::with_dtype!(self.name(), target.dtype, floats, T => {
            let (out, x) = (target.view_mut::<T>()?, inputs[0].view::<T>()?);
            kernels::activation::activation_into(self.kind, out, x);
            Ok(true)
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let x = to_burn(inputs[0])?;
        let six =
            |x: Prim| D::float_clamp(D::float_add_scalar(x, 3.0.into()), 0.0.into(), 6.0.into());
        let prim = match self.kind {
            Activation::LeakyRelu { slope } => D::leaky_relu(x, slope.into()),
            Activation::Elu { alpha, scale, rate } => {
                let positive = D::float_greater_elem(x.clone(), 0.0.into(), store);
                // Held at zero so that the branch not taken cannot overflow.
                let below = D::float_clamp_max(x.clone(), 0.0.into());
                let grown = D::float_exp(D::float_mul_scalar(below, rate.into()));
                let bent = D::float_mul_scalar(
                    D::float_sub_scalar(grown, 1.0.into()),
                    (alpha * scale).into(),
                );
                D::float_mask_where(bent, positive, D::float_mul_scalar(x, scale.into()))
            }
            Activation::Hardtanh { low, high } => D::float_clamp(x, low.into(), high.into()),
            Activation::Hardsigmoid => D::float_div_scalar(six(x), 6.0.into()),
            Activation::Hardswish => {
                D::float_mul(x.clone(), D::float_div_scalar(six(x), 6.0.into()))
            }
            Activation::Softplus { beta, threshold } => {
                let scaled = D::float_mul_scalar(x.clone(), beta.into());
                let straight = D::float_greater_elem(scaled.clone(), threshold.into(), store);
                let bent = D::float_div_scalar(D::float_log1p(D::float_exp(scaled)), beta.into());
                D::float_mask_where(bent, straight, x)
            }
            Activation::Hardshrink { lambda } => {
                let small =
                    D::float_lower_equal_elem(D::float_abs(x.clone()), lambda.into(), store);
                D::float_mask_fill(x, small, 0.0.into())
            }
            Activation::Softshrink { lambda, bias } => {
                let above = D::float_greater_elem(x.clone(), lambda.into(), store);
                let below = D::float_lower_elem(x.clone(), (-lambda).into(), store);
                let down = D::float_sub_scalar(x.clone(), bias.into());
                let up = D::float_add_scalar(x.clone(), bias.into());
                let middle = D::float_mul_scalar(x, 0.0.into());
                D::float_mask_where(D::float_mask_where(middle, below, up), above, down)
            }
            Activation::Threshold { threshold, value } => {
                let under = D::float_lower_equal_elem(x.clone(), threshold.into(), store);
                D::float_mask_fill(x, under, value.into())
            }
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(sloped(slope_of(self.kind), ctx.grad()?, &ctx.inputs[0])?)])
    }
}

/// A gradient times the slope of a function at the second input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SlopeOp {
    /// Of which function.
    pub kind: Slope,
}

/// A gradient times the slope of a function at an argument, or at a value where the slope says so.
pub(crate) fn sloped(kind: Slope, grad: &Tensor, at: &Tensor) -> Result<Tensor> {
    apply1(&SlopeOp { kind }, &[grad, at])
}

#[typetag::serde]
impl Primitive for SlopeOp {
    fn name(&self) -> &'static str {
        "activation_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (grad, at) = (inputs[0].to_meta(), inputs[1].to_meta());
        if grad != at {
            bail!(
                Runtime,
                "{}: expected a gradient of shape {:?} and dtype {}, got {:?} and {}",
                self.name(),
                at.shape,
                at.dtype,
                grad.shape,
                grad.dtype
            );
        }
        one(at)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!(self.name(), out[0].dtype, floats, T => single(Value::from_vec_as(
            kernels::activation::slope(self.kind, inputs[0].view::<T>()?, inputs[1].view::<T>()?),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let (g, x) = (to_burn(inputs[0])?, to_burn(inputs[1])?);
        let scaled = |x: &Prim, by: f64| D::float_mul_scalar(x.clone(), by.into());
        let plus = |x: Prim, one: f64| D::float_add_scalar(x, one.into());
        let complement = |x: &Prim| plus(D::float_neg(x.clone()), 1.0);
        let mul = |a: &Prim, b: &Prim| D::float_mul(a.clone(), b.clone());
        let zero_where = |mask| D::float_mask_fill(g.clone(), mask, 0.0.into());
        let prim = match self.kind {
            Slope::Above { threshold } => {
                zero_where(D::float_lower_equal_elem(x, threshold.into(), store))
            }
            Slope::Between { low, high } => zero_where(D::bool_or(
                D::float_lower_equal_elem(x.clone(), low.into(), store),
                D::float_greater_equal_elem(x, high.into(), store),
            )),
            Slope::Outside { low, high } => zero_where(D::bool_and(
                D::float_greater_equal_elem(x.clone(), low.into(), store),
                D::float_lower_equal_elem(x, high.into(), store),
            )),
            Slope::LeakyRelu { slope } => {
                let positive = D::float_greater_elem(x, 0.0.into(), store);
                D::float_mask_where(scaled(&g, slope), positive, g)
            }
            Slope::Elu { alpha, scale, rate } => {
                let positive = D::float_greater_elem(x.clone(), 0.0.into(), store);
                let below = D::float_clamp_max(x, 0.0.into());
                let bent = scaled(&D::float_exp(scaled(&below, rate)), alpha * scale * rate);
                D::float_mul(g, D::float_mask_fill(bent, positive, scale.into()))
            }
            Slope::Hardsigmoid => {
                let outside = D::bool_or(
                    D::float_lower_equal_elem(x.clone(), (-3.0).into(), store),
                    D::float_greater_equal_elem(x, 3.0.into(), store),
                );
                D::float_mask_fill(D::float_div_scalar(g, 6.0.into()), outside, 0.0.into())
            }
            Slope::Hardswish => {
                let low = D::float_lower_equal_elem(x.clone(), (-3.0).into(), store);
                let high = D::float_greater_equal_elem(x.clone(), 3.0.into(), store);
                let inside = plus(D::float_div_scalar(x, 3.0.into()), 0.5);
                let slope = D::float_mask_fill(inside, low, 0.0.into());
                D::float_mul(g, D::float_mask_fill(slope, high, 1.0.into()))
            }
            Slope::Softplus { beta, threshold } => {
                let scaled = scaled(&x, beta);
                let straight = D::float_greater_elem(scaled.clone(), threshold.into(), store);
                D::float_mul(g, D::float_mask_fill(D::sigmoid(scaled), straight, 1.0.into()))
            }
            Slope::LogSigmoid => D::float_mul(g, D::sigmoid(D::float_neg(x))),
            Slope::Gelu => {
                let below = scaled(&plus(D::float_erf(scaled(&x, 0.5f64.sqrt())), 1.0), 0.5);
                let density = scaled(&D::float_exp(scaled(&mul(&x, &x), -0.5)), PEAK);
                D::float_mul(g, D::float_add(below, mul(&x, &density)))
            }
            Slope::GeluTanh => {
                let square = mul(&x, &x);
                let cubic = mul(&x, &plus(scaled(&square, CUBIC), 1.0));
                let share = D::sigmoid(scaled(&cubic, TWICE_ROOT));
                let inner = scaled(&plus(scaled(&square, 3.0 * CUBIC), 1.0), TWICE_ROOT);
                let bend = mul(&mul(&x, &share), &mul(&complement(&share), &inner));
                D::float_mul(g, D::float_add(share, bend))
            }
            Slope::Silu => {
                let share = D::sigmoid(x.clone());
                let rise = plus(mul(&x, &complement(&share)), 1.0);
                D::float_mul(g, D::float_mul(share, rise))
            }
            Slope::Mish => {
                // Held where the result no longer changes, so that nothing overflows.
                let held = D::float_clamp_max(x.clone(), 20.0.into());
                let t = D::float_tanh(D::float_log1p(D::float_exp(held)));
                let rise = D::float_mul(complement(&mul(&t, &t)), D::sigmoid(x.clone()));
                D::float_mul(g, D::float_add(t, D::float_mul(x, rise)))
            }
            Slope::OfSigmoid => D::float_mul(g, mul(&x, &complement(&x))),
            Slope::OfTanh => D::float_mul(g, complement(&mul(&x, &x))),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (h, g, at) = (ctx.grad()?, &ctx.inputs[0], &ctx.inputs[1]);
        let to_grad = if ctx.needs[0] { Some(sloped(self.kind, h, at)?) } else { None };
        let to_at = match (ctx.needs[1], curvature(self.kind, at)?) {
            (false, _) => None,
            (true, Some(curvature)) => Some(h.mul(g)?.mul(&curvature)?),
            (true, None) => Some(Tensor::zeros(&at.shape(), at.dtype(), at.device())?),
        };
        Ok(smallvec![to_grad, to_at])
    }
}

/// How fast a slope itself rises; `None` where it is zero everywhere but at kinks.
fn curvature(kind: Slope, x: &Tensor) -> Result<Option<Tensor>> {
    let where_ = |mask: Tensor, value: Tensor| mask.to_dtype(x.dtype())?.mul(&value);
    // s (1 - s), how fast the sigmoid rises.
    let rise = |s: &Tensor| s.mul(&s.neg()?.add_scalar(1.0)?);
    Ok(Some(match kind {
        Slope::Above { .. }
        | Slope::Between { .. }
        | Slope::Outside { .. }
        | Slope::LeakyRelu { .. }
        | Slope::Hardsigmoid => return Ok(None),
        Slope::Elu { alpha, scale, rate } => {
            let below = x.clamp_scalar(None, Some(0.0.into()))?;
            let bent = below.mul_scalar(rate)?.unary(Unary::Exp)?;
            where_(x.le_scalar(0.0)?, bent.mul_scalar(alpha * scale * rate * rate)?)?
        }
        Slope::Hardswish => {
            x.unary(Unary::Abs)?.lt_scalar(3.0)?.to_dtype(x.dtype())?.mul_scalar(1.0 / 3.0)?
        }
        Slope::Softplus { beta, threshold } => {
            let scaled = x.mul_scalar(beta)?;
            let bent = rise(&scaled.unary(Unary::Sigmoid)?)?.mul_scalar(beta)?;
            where_(scaled.le_scalar(threshold)?, bent)?
        }
        Slope::LogSigmoid => rise(&x.unary(Unary::Sigmoid)?)?.neg()?,
        Slope::Gelu => {
            let square = x.square()?;
            let density = square.mul_scalar(-0.5)?.unary(Unary::Exp)?.mul_scalar(PEAK)?;
            density.mul(&square.neg()?.add_scalar(2.0)?)?
        }
        Slope::GeluTanh => {
            // x s(v) with a cubic v.
            let square = x.square()?;
            let v = square.mul_scalar(CUBIC)?.add_scalar(1.0)?.mul(x)?.mul_scalar(TWICE_ROOT)?;
            let v1 = square.mul_scalar(3.0 * CUBIC)?.add_scalar(1.0)?.mul_scalar(TWICE_ROOT)?;
            let v2 = x.mul_scalar(6.0 * CUBIC * TWICE_ROOT)?;
            let s = v.unary(Unary::Sigmoid)?;
            let s1 = rise(&s)?;
            let s2 = s1.mul(&s.mul_scalar(-2.0)?.add_scalar(1.0)?)?;
            let bend = s2.mul(&v1.square()?)?.add(&s1.mul(&v2)?)?;
            s1.mul(&v1)?.mul_scalar(2.0)?.add(&x.mul(&bend)?)?
        }
        Slope::Silu => {
            let s = x.unary(Unary::Sigmoid)?;
            let inner = s.mul_scalar(-2.0)?.add_scalar(1.0)?.mul(x)?.add_scalar(2.0)?;
            rise(&s)?.mul(&inner)?
        }
        Slope::Mish => {
            let t = x.unary(Unary::Softplus)?.unary(Unary::Tanh)?;
            let s = x.unary(Unary::Sigmoid)?;
            let left = t.square()?.neg()?.add_scalar(1.0)?;
            let t1 = left.mul(&s)?;
            let t2 = left.mul(&rise(&s)?)?.sub(&t.mul(&t1)?.mul(&s)?.mul_scalar(2.0)?)?;
            t1.mul_scalar(2.0)?.add(&x.mul(&t2)?)?
        }
        Slope::OfSigmoid => x.mul_scalar(-2.0)?.add_scalar(1.0)?,
        Slope::OfTanh => x.mul_scalar(-2.0)?,
    }))
}

impl Tensor {
    /// An elementwise activation function.
    pub fn activation(&self, kind: Activation) -> Result<Tensor> {
        apply1(&ActivationOp { kind }, &[self])
    }

    /// An elementwise activation function, in place.
    pub fn activation_(&self, kind: Activation) -> Result<()> {
        crate::autograd::apply_into(&ActivationOp { kind }, &[self])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    const FUNCTIONS: [Activation; 9] = [
        Activation::LeakyRelu { slope: 0.1 },
        Activation::Elu { alpha: 1.5, scale: 1.1, rate: 0.7 },
        Activation::Hardtanh { low: -2.0, high: 1.5 },
        Activation::Hardsigmoid,
        Activation::Hardswish,
        Activation::Softplus { beta: 2.0, threshold: 20.0 },
        Activation::Hardshrink { lambda: 0.6 },
        Activation::Softshrink { lambda: 0.6, bias: 0.2 },
        Activation::Threshold { threshold: 0.4, value: 7.0 },
    ];

    const SLOPES: [Slope; 15] = [
        Slope::Above { threshold: 0.4 },
        Slope::Between { low: -1.0, high: 1.0 },
        Slope::Outside { low: -1.0, high: 1.0 },
        Slope::LeakyRelu { slope: 0.1 },
        Slope::Elu { alpha: 1.5, scale: 1.1, rate: 0.7 },
        Slope::Hardsigmoid,
        Slope::Hardswish,
        Slope::Softplus { beta: 2.0, threshold: 20.0 },
        Slope::LogSigmoid,
        Slope::Gelu,
        Slope::GeluTanh,
        Slope::Silu,
        Slope::Mish,
        Slope::OfSigmoid,
        Slope::OfTanh,
    ];

    #[test]
    fn gradients_of_first_and_second_order() {
        // Wide enough for every branch, and away from the kinks.
        let x = noise(&[24], DType::F64, 5).mul_scalar(3.0).unwrap();
        for kind in FUNCTIONS {
            gradcheck("activation", std::slice::from_ref(&x), true, &|x| {
                Ok(vec![x[0].activation(kind)?])
            });
        }
        for kind in SLOPES {
            let g = noise(&[24], DType::F64, 6);
            gradcheck("slope", &[g, x.clone()], true, &|x| Ok(vec![sloped(kind, &x[0], &x[1])?]));
        }
    }

    /// What burn computes, which on the CPU is another way to the same numbers.
    fn by_burn(op: &dyn Primitive, inputs: &[&Value]) -> Tensor {
        let metas = op.infer(inputs).unwrap();
        let mut values = op.run_gpu(inputs, &metas, Device::Cpu).unwrap().unwrap();
        Tensor::from_value(values.pop().unwrap())
    }

    #[test]
    fn burn_computes_the_same() {
        let x = noise(&[3, 50], DType::F32, 7).mul_scalar(6.0).unwrap();
        let g = noise(&[3, 50], DType::F32, 8);
        let close = |a: &Tensor, b: &Tensor, what: &str| {
            for (a, b) in a.to_vec::<f32>().unwrap().iter().zip(b.to_vec::<f32>().unwrap()) {
                assert!((a - b).abs() <= 4e-6 * b.abs().max(1.0), "{what}: {a} instead of {b}");
            }
        };
        for kind in FUNCTIONS {
            let op = ActivationOp { kind };
            close(&by_burn(&op, &[&x.value()]), &x.activation(kind).unwrap(), op.name());
        }
        for kind in SLOPES {
            let op = SlopeOp { kind };
            let ours = sloped(kind, &g, &x).unwrap();
            close(&by_burn(&op, &[&g.value(), &x.value()]), &ours, &format!("{kind:?}"));
        }
    }

    #[test]
    fn in_place_and_wrong_types() {
        let x = Tensor::from_vec(vec![-2.0f32, 3.0], &[2]).unwrap();
        x.activation_(Activation::LeakyRelu { slope: 0.5 }).unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap(), [-1.0, 3.0]);
        let half = x.to_dtype(DType::BF16).unwrap();
        half.activation_(Activation::Hardtanh { low: 0.0, high: 1.0 }).unwrap();
        assert_eq!(half.to_vec::<f64>().unwrap(), [0.0, 1.0]);
        let whole = Tensor::from_vec(vec![1i64, 2], &[2]).unwrap();
        assert!(whole.activation(Activation::Hardswish).is_err());
    }
}
