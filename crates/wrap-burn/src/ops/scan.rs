//! Running sums, products and extremes.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::binary::Binary;
use crate::ops::unary::Unary;
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, Scalar, bail};

/// Which running value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scan {
    /// The sum so far.
    Sum,
    /// The product so far.
    Prod,
    /// The logarithm of the sum of exponentials so far.
    LogSumExp,
}

/// A running value along a dimension.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScanOp {
    /// Which.
    pub kind: Scan,
    /// Along which dimension.
    pub dim: usize,
}

#[typetag::serde]
impl Primitive for ScanOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Scan::Sum => "cumsum",
            Scan::Prod => "cumprod",
            Scan::LogSumExp => "logcumsumexp",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        if self.kind == Scan::LogSumExp && !inputs[0].dtype.is_float() {
            bail!(Runtime, "logcumsumexp: not implemented for {}", inputs[0].dtype);
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        if x.rank() == 0 {
            return single(x.copied()?);
        }
        let (shape, dtype) = (out[0].shape.clone(), out[0].dtype);
        macro_rules! go {
            ($T:ty) => {{
                let view = x.view::<$T>()?;
                let data = match self.kind {
                    Scan::Sum => kernels::scan::cumsum(view, self.dim),
                    _ => kernels::scan::cumprod(view, self.dim),
                };
                Value::from_vec_as(data, shape, dtype)
            }};
        }
        single(match (self.kind, dtype.category()) {
            (Scan::LogSumExp, _) => crate::with_dtype!("logcumsumexp", dtype, floats, T => Ok(
                Value::from_vec_as(kernels::scan::logcumsumexp(x.view::<T>()?, self.dim), shape, dtype)
            ))?,
            (_, Category::Complex) => {
                crate::with_dtype!(self.name(), dtype, complexes, T => Ok(go!(T)))?
            }
            _ => crate::with_dtype!(self.name(), dtype, reals, T => Ok(go!(T)))?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let x = inputs[0];
        if x.rank() == 0 || x.numel() == 0 {
            return Ok(None);
        }
        let prim = match (self.kind, x.dtype.category()) {
            (Scan::Sum, Category::Float) => Dispatch::float_cumsum(to_burn(x)?, self.dim),
            (Scan::Prod, Category::Float) => Dispatch::float_cumprod(to_burn(x)?, self.dim),
            (Scan::Sum, Category::Int) => Dispatch::int_cumsum(to_burn(x)?, self.dim),
            (Scan::Prod, Category::Int) => Dispatch::int_cumprod(to_burn(x)?, self.dim),
            _ => return Ok(None),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        if self.kind == Scan::Sum { Saves::NONE } else { Saves { inputs: 1, outputs: 1 } }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, x, y) = (ctx.grad()?, &ctx.inputs[0], &ctx.outputs[0]);
        let dim = self.dim as i64;
        if x.rank() == 0 || x.numel() == 0 {
            return Ok(smallvec![Some(g.clone())]);
        }
        let grad = match self.kind {
            Scan::Sum => suffix_sum(g, dim)?,
            Scan::Prod => cumprod_slope(g, x, y, dim)?,
            Scan::LogSumExp => {
                // sum over later positions of g * exp(x - y), kept stable by splitting g's sign.
                // What is of the other sign is left out before the logarithm as well: its slope
                // at zero would turn gradients of this gradient into NaN.
                let number =
                    |value: f64| Tensor::full(&[], Scalar::Float(value), g.dtype(), g.device());
                let part = |sign: f64| -> Result<Tensor> {
                    let signed = g.mul_scalar(sign)?;
                    let other = signed.le_scalar(0.0)?;
                    let share = signed.masked_fill(&other, &number(1.0)?)?.unary(Unary::Log)?;
                    let share = share.sub(y)?.masked_fill(&other, &number(f64::NEG_INFINITY)?)?;
                    let total = share.flip(&[dim])?.logcumsumexp(dim)?.flip(&[dim])?;
                    total.add(x)?.unary(Unary::Exp)
                };
                part(1.0)?.sub(&part(-1.0)?)?
            }
        };
        Ok(smallvec![Some(grad)])
    }
}

/// The sum of each element and all later ones.
fn suffix_sum(g: &Tensor, dim: i64) -> Result<Tensor> {
    g.flip(&[dim])?.cumsum(dim)?.flip(&[dim])
}

/// The gradient of a running product.
fn cumprod_slope(g: &Tensor, x: &Tensor, y: &Tensor, dim: i64) -> Result<Tensor> {
    if !x.eq_scalar(0.0)?.any(None, false)?.item()?.to_bool() {
        return suffix_sum(&g.mul(&y.conj()?)?, dim)?.div(&x.conj()?);
    }
    // With zeros: position i gets, from every j >= i, g_j times the product up to j without i.
    let size = x.shape()[dim as usize];
    let mut parts = Vec::with_capacity(size);
    let one = Tensor::full(&[], 1.0, x.dtype(), x.device())?;
    for i in 0..size {
        let mut border = x.shape();
        border[dim as usize] = 1;
        let before = match i {
            0 => one.expand_to("cumprod", &border)?,
            i => x.slice(dim as usize, 0, i, 1)?.prod(Some(&[dim]), true)?,
        };
        let later = x.slice(dim as usize, i + 1, size - i - 1, 1)?;
        let run = Tensor::cat(&[one.expand_to("cumprod", &border)?, later], dim)?.cumprod(dim)?;
        let weights = g.slice(dim as usize, i, size - i, 1)?;
        parts.push(weights.mul(&before.mul(&run)?.conj()?)?.sum(Some(&[dim]), true)?);
    }
    Tensor::cat(&parts, dim)
}

/// The largest or smallest element so far, and where it stands.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LeaderOp {
    /// Largest rather than smallest.
    pub max: bool,
    /// Along which dimension.
    pub dim: usize,
}

#[typetag::serde]
impl Primitive for LeaderOp {
    fn name(&self) -> &'static str {
        if self.max { "cummax" } else { "cummin" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        if inputs[0].dtype.is_complex() {
            bail!(
                Runtime,
                "{}: complex numbers have no order, got {}",
                self.name(),
                inputs[0].dtype
            );
        }
        let shape = inputs[0].shape.clone();
        let index = inputs[0].device().narrow(DType::I64);
        Ok([inputs[0].to_meta(), Meta { shape, dtype: index }].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        if x.rank() == 0 {
            return Ok([x.copied()?, Value::from_vec(vec![0i64], kernels::Dims::new())]
                .into_iter()
                .collect());
        }
        crate::with_dtype!(self.name(), x.dtype, reals, T => {
            let view = x.view::<T>()?;
            let (values, places) = if self.max {
                kernels::scan::cummax(view, self.dim)
            } else {
                kernels::scan::cummin(view, self.dim)
            };
            Ok([
                Value::from_vec_as(values, out[0].shape.clone(), out[0].dtype),
                Value::from_vec(places, out[1].shape.clone()),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 2 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let Some(g) = &ctx.grads[0] else { return Ok(smallvec![None]) };
        let x = &ctx.inputs[0];
        if x.rank() == 0 {
            return Ok(smallvec![Some(g.clone())]);
        }
        let zeros = Tensor::zeros(&x.shape(), g.dtype(), g.device())?;
        Ok(smallvec![Some(zeros.scatter_add(self.dim as i64, &ctx.outputs[1], g)?)])
    }
}

impl Tensor {
    fn scan(&self, kind: Scan, dim: i64) -> Result<Tensor> {
        let name = ScanOp { kind, dim: 0 }.name();
        let dim = wrap_dim(name, dim, self.rank())?;
        let dtype = self.dtype();
        let x = match dtype.category() {
            Category::Bool | Category::Int if kind != Scan::LogSumExp => {
                self.to_dtype(self.device().narrow(DType::I64))?
            }
            _ => self.clone(),
        };
        apply1(&ScanOp { kind, dim }, &[&x])
    }

    /// The sum so far along a dimension; integers are summed in `int64`.
    pub fn cumsum(&self, dim: i64) -> Result<Tensor> {
        self.scan(Scan::Sum, dim)
    }

    /// The product so far along a dimension.
    pub fn cumprod(&self, dim: i64) -> Result<Tensor> {
        self.scan(Scan::Prod, dim)
    }

    /// The logarithm of the sum of exponentials so far.
    pub fn logcumsumexp(&self, dim: i64) -> Result<Tensor> {
        if self.dtype().is_complex() {
            // Rare enough to go step by step.
            let dim = wrap_dim("logcumsumexp", dim, self.rank())? as i64;
            if self.rank() == 0 {
                return self.deep_copy();
            }
            let mut sums: Vec<Tensor> = Vec::new();
            for part in self.unbind(dim)? {
                let sum = match sums.last() {
                    Some(sum) => sum.binary(Binary::Logaddexp, &part)?,
                    None => part,
                };
                sums.push(sum);
            }
            return if sums.is_empty() { self.deep_copy() } else { Tensor::stack(&sums, dim) };
        }
        self.scan(Scan::LogSumExp, dim)
    }

    fn leader(&self, max: bool, dim: i64) -> Result<(Tensor, Tensor)> {
        let dim = wrap_dim(if max { "cummax" } else { "cummin" }, dim, self.rank())?;
        let mut both = apply(&LeaderOp { max, dim }, &[self])?;
        let places = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), places))
    }

    /// The largest element so far, and where it stands.
    pub fn cummax(&self, dim: i64) -> Result<(Tensor, Tensor)> {
        self.leader(true, dim)
    }

    /// The smallest element so far, and where it stands.
    pub fn cummin(&self, dim: i64) -> Result<(Tensor, Tensor)> {
        self.leader(false, dim)
    }
}
