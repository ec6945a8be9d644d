//! Many elements into one: sums, extremes, counts.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use kernels::Dims;
pub use kernels::reduce::Reduce;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::unary::{Predicate, Unary};
use crate::shape::{wrap_dim, wrap_dims};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// The shape that remains when dimensions are reduced.
pub(crate) fn reduced(shape: &[usize], dims: &[usize], keep: bool) -> Dims {
    shape
        .iter()
        .enumerate()
        .filter_map(|(d, &size)| match dims.contains(&d) {
            false => Some(size),
            true => keep.then_some(1),
        })
        .collect()
}

/// Which dimensions are meant: the named ones, or all.
pub(crate) fn reduce_dims(op: &str, dims: Option<&[i64]>, rank: usize) -> Result<Dims> {
    let mut dims = match dims {
        None => (0..rank).collect(),
        Some(dims) => wrap_dims(op, dims, rank)?,
    };
    dims.retain(|d| *d < rank);
    dims.sort_unstable();
    Ok(dims)
}

/// burn's reduction dimension by dimension.
fn burn_dims(
    value: &Value,
    dims: &[usize],
    out: &Meta,
    step: impl Fn(bridge::Prim, usize) -> bridge::Prim,
) -> Result<bridge::Prim> {
    let mut prim = to_burn(value)?;
    for &dim in dims {
        prim = step(prim, dim);
    }
    Ok(bridge::reshape(prim, out.dtype, &out.shape))
}

/// A reduction over dimensions that yields the input's dtype.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReduceOp {
    /// Which.
    pub kind: Reduce,
    /// Over which dimensions, ascending.
    pub dims: Dims,
    /// Whether they stay with size one.
    pub keep: bool,
}

impl ReduceOp {
    /// A result with the reduced dimensions back in place, so that it broadcasts over the input.
    fn spread(&self, reduced_value: &Tensor, shape: &[usize]) -> Result<Tensor> {
        if self.keep {
            return Ok(reduced_value.clone());
        }
        reduced_value.reshape_to(&reduced(shape, &self.dims, true))
    }
}

#[typetag::serde]
impl Primitive for ReduceOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Reduce::Max => "amax",
            Reduce::Min => "amin",
            other => other.name(),
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        if matches!(self.kind, Reduce::Max | Reduce::Min) {
            if x.dtype.is_complex() {
                bail!(Runtime, "{}: complex numbers have no order, got {}", self.name(), x.dtype);
            }
            if self.dims.iter().any(|&d| x.shape[d] == 0) {
                bail!(
                    Index,
                    "{}: expected reduction dim to have non-zero size, got shape {:?}",
                    self.name(),
                    x.shape
                );
            }
        }
        one(Meta { shape: reduced(&x.shape, &self.dims, self.keep), dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        macro_rules! go {
            ($T:ty) => {
                Value::from_vec_as(
                    kernels::reduce::reduce(self.kind, x.view::<$T>()?, &self.dims)?,
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

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[0];
        if x.numel() == 0 || x.rank() == 0 {
            return Ok(None);
        }
        let (dims, out) = (&self.dims, &out[0]);
        let prim = match (x.dtype.category(), self.kind) {
            (Category::Float, Reduce::Sum) => burn_dims(x, dims, out, D::float_sum_dim)?,
            (Category::Float, Reduce::Prod) => burn_dims(x, dims, out, D::float_prod_dim)?,
            (Category::Int, Reduce::Sum) => burn_dims(x, dims, out, D::int_sum_dim)?,
            (Category::Int, Reduce::Prod) => burn_dims(x, dims, out, D::int_prod_dim)?,
            (Category::Int, Reduce::Max) => burn_dims(x, dims, out, D::int_max_dim)?,
            (Category::Int, Reduce::Min) => burn_dims(x, dims, out, D::int_min_dim)?,
            _ => return Ok(None),
        };
        single(from_burn(prim, out, device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        match self.kind {
            Reduce::Sum => Saves::NONE,
            Reduce::NanSum => Saves::inputs(1),
            _ => Saves { inputs: 1, outputs: 1 },
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let x = &ctx.inputs[0];
        let shape = x.shape();
        let g = self.spread(ctx.grad()?, &shape)?;
        let grad = match self.kind {
            Reduce::Sum => g.expand_to("sum", &shape)?,
            Reduce::NanSum => {
                let present = x.predicate(Predicate::IsNan)?.predicate(Predicate::LogicalNot)?;
                g.mul(&present.to_dtype(g.dtype())?)?
            }
            Reduce::Max | Reduce::Min => {
                // Equal extremes share the gradient.
                let y = self.spread(&ctx.outputs[0], &shape)?;
                let hit = x.eq(&y)?.to_dtype(g.dtype())?;
                let count = hit.sum_dims(&self.dims, true)?;
                g.mul(&hit.div(&count)?)?
            }
            Reduce::Prod => {
                product_slope(&g, x, &self.dims, &self.spread(&ctx.outputs[0], &shape)?)?
            }
        };
        Ok(smallvec![Some(grad)])
    }
}

/// The gradient of a product: the product of all the other elements, also where some are zero.
fn product_slope(g: &Tensor, x: &Tensor, dims: &[usize], y: &Tensor) -> Result<Tensor> {
    let zero = Tensor::full(&[], 0.0, x.dtype(), x.device())?;
    let one = Tensor::full(&[], 1.0, x.dtype(), x.device())?;
    let is_zero = x.eq_scalar(0.0)?;
    if !is_zero.any(None, false)?.item()?.to_bool() {
        return g.mul(&y.div(x)?.conj()?);
    }
    // Elements before times elements after, along the reduced dimensions laid out as one.
    let rank = x.rank();
    let rest: Vec<i64> = (0..rank).filter(|d| !dims.contains(d)).map(|d| d as i64).collect();
    let order: Vec<i64> = rest.iter().copied().chain(dims.iter().map(|&d| d as i64)).collect();
    let moved = x.permute(&order)?;
    let moved_shape = moved.shape();
    let mut flat_shape = Dims::from_slice(&moved_shape[..rest.len()]);
    flat_shape.push(moved_shape[rest.len()..].iter().product());
    let flat = moved.reshape_to(&flat_shape)?;
    let (last, len) = (rest.len(), flat_shape[rest.len()]);
    let _ = zero;
    let mut border = flat_shape.clone();
    border[last] = 1;
    let border = one.expand_to("prod", &border)?;
    let before = Tensor::cat(&[border.clone(), flat.slice(last, 0, len - 1, 1)?], last as i64)?
        .cumprod(last as i64)?;
    let reversed = flat.flip(&[last as i64])?;
    let after = Tensor::cat(&[border, reversed.slice(last, 0, len - 1, 1)?], last as i64)?
        .cumprod(last as i64)?
        .flip(&[last as i64])?;
    let others = before.mul(&after)?.reshape_to(&moved_shape)?;
    let mut back = vec![0i64; rank];
    for (to, &from) in order.iter().enumerate() {
        back[from as usize] = to as i64;
    }
    g.mul(&others.permute(&back)?.conj()?)
}

/// A reduction whose result has a dtype of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CountOp {
    /// Which.
    pub kind: Count,
    /// Over which dimensions, ascending.
    pub dims: Dims,
    /// Whether they stay with size one.
    pub keep: bool,
}

/// Questions about how many elements are not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Is any?
    Any,
    /// Are all?
    All,
    /// How many?
    NonZero,
}

#[typetag::serde]
impl Primitive for CountOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Count::Any => "any",
            Count::All => "all",
            Count::NonZero => "count_nonzero",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let dtype = if self.kind == Count::NonZero {
            inputs[0].device().narrow(DType::I64)
        } else {
            DType::Bool
        };
        one(Meta { shape: reduced(&inputs[0].shape, &self.dims, self.keep), dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        macro_rules! go {
            ($T:ty) => {{
                let view = x.view::<$T>()?;
                match self.kind {
                    Count::Any => Value::from_vec_as(
                        kernels::reduce::any(view, &self.dims),
                        out[0].shape.clone(),
                        DType::Bool,
                    ),
                    Count::All => Value::from_vec_as(
                        kernels::reduce::all(view, &self.dims),
                        out[0].shape.clone(),
                        DType::Bool,
                    ),
                    Count::NonZero => Value::from_vec(
                        kernels::reduce::count_nonzero(view, &self.dims),
                        out[0].shape.clone(),
                    ),
                }
            }};
        }
        single(match x.dtype.category() {
            Category::Complex => {
                crate::with_dtype!(self.name(), x.dtype, complexes, T => Ok(go!(T)))?
            }
            _ => crate::with_dtype!(self.name(), x.dtype, reals, T => Ok(go!(T)))?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let x = inputs[0];
        if x.numel() == 0 || x.rank() == 0 || self.kind == Count::NonZero {
            return Ok(None);
        }
        let mask = bridge::cast(to_burn(x)?, x.dtype, DType::Bool, device)?;
        let mask = bridge::cast(mask, DType::Bool, DType::I32, device)?;
        let mut prim = mask;
        for &dim in &self.dims {
            prim = if self.kind == Count::Any {
                Dispatch::int_max_dim(prim, dim)
            } else {
                Dispatch::int_min_dim(prim, dim)
            };
        }
        let prim = bridge::cast(prim, DType::I32, DType::Bool, device)?;
        let prim = bridge::reshape(prim, DType::Bool, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// The largest or smallest element along one dimension, and where it stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtremeOp {
    /// Largest rather than smallest.
    pub max: bool,
    /// Along which dimension.
    pub dim: usize,
    /// Whether it stays with size one.
    pub keep: bool,
}

#[typetag::serde]
impl Primitive for ExtremeOp {
    fn name(&self) -> &'static str {
        if self.max { "max" } else { "min" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        if x.dtype.is_complex() {
            bail!(Runtime, "{}: complex numbers have no order, got {}", self.name(), x.dtype);
        }
        if x.rank() > 0 && x.shape[self.dim] == 0 {
            bail!(
                Index,
                "{}: expected reduction dim {} to have non-zero size, got shape {:?}",
                self.name(),
                self.dim,
                x.shape
            );
        }
        let dims = if x.rank() == 0 { vec![] } else { vec![self.dim] };
        let shape = reduced(&x.shape, &dims, self.keep);
        let index = x.device().narrow(DType::I64);
        Ok(smallvec::smallvec_inline![Meta { shape: shape.clone(), dtype: x.dtype }]
            .into_iter()
            .chain([Meta { shape, dtype: index }])
            .collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        if x.rank() == 0 {
            return Ok([x.copied()?, Value::from_vec(vec![0i64], Dims::new())]
                .into_iter()
                .collect());
        }
        crate::with_dtype!(self.name(), x.dtype, reals, T => {
            let view = x.view::<T>()?;
            let (values, places) = if self.max {
                kernels::arg_reduce::max_with_index(view, self.dim)?
            } else {
                kernels::arg_reduce::min_with_index(view, self.dim)?
            };
            Ok([
                Value::from_vec_as(values, out[0].shape.clone(), out[0].dtype),
                Value::from_vec(places, out[1].shape.clone()),
            ].into_iter().collect())
        })
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let Some(g) = &ctx.grads[0] else { return Ok(smallvec![None]) };
        let x = &ctx.inputs[0];
        let shape = x.shape();
        if shape.is_empty() {
            return Ok(smallvec![Some(g.clone())]);
        }
        let kept = reduced(&shape, &[self.dim], true);
        let (g, at) = (g.reshape_to(&kept)?, ctx.outputs[1].reshape_to(&kept)?);
        let zeros = Tensor::zeros(&shape, g.dtype(), g.device())?;
        Ok(smallvec![Some(zeros.scatter(self.dim as i64, &at, &g)?)])
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 2 }
    }
}

/// Where the largest or smallest element stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArgOp {
    /// Largest rather than smallest.
    pub max: bool,
    /// Along which dimension; over everything if none.
    pub dim: Option<usize>,
    /// Whether it stays with size one.
    pub keep: bool,
}

#[typetag::serde]
impl Primitive for ArgOp {
    fn name(&self) -> &'static str {
        if self.max { "argmax" } else { "argmin" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        if x.dtype.is_complex() || x.dtype == DType::Bool {
            bail!(Runtime, "{}: not implemented for {}", self.name(), x.dtype);
        }
        let dims: Dims = match self.dim {
            Some(_) if x.rank() == 0 => Dims::new(),
            Some(dim) => smallvec![dim],
            None => (0..x.rank()).collect(),
        };
        if dims.iter().any(|&d| x.shape[d] == 0) || (self.dim.is_none() && x.numel() == 0) {
            bail!(
                Index,
                "{}: expected reduction dim to be specified for input.numel() == 0, got shape {:?}",
                self.name(),
                x.shape
            );
        }
        let dtype = x.device().narrow(DType::I64);
        one(Meta { shape: reduced(&x.shape, &dims, self.keep), dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        if x.rank() == 0 {
            return single(Value::from_vec(vec![0i64], Dims::new()));
        }
        let places = crate::with_dtype!(self.name(), x.dtype, reals, T => Ok(if self.max {
            kernels::arg_reduce::argmax(x.view::<T>()?, self.dim)?
        } else {
            kernels::arg_reduce::argmin(x.view::<T>()?, self.dim)?
        }))?;
        single(Value::from_vec(places, out[0].shape.clone()))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let x = inputs[0];
        let (Some(dim), Category::Float) = (self.dim, x.dtype.category()) else { return Ok(None) };
        if x.rank() == 0 {
            return Ok(None);
        }
        let index = bridge::burn_dtype(out[0].dtype, device)?.into();
        let prim = to_burn(x)?;
        let prim = if self.max {
            Dispatch::float_argmax(prim, dim, index)
        } else {
            Dispatch::float_argmin(prim, dim, index)
        };
        let prim = bridge::reshape(prim, out[0].dtype, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        false
    }
}

impl Tensor {
    fn reduce(&self, kind: Reduce, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        let dims = reduce_dims(kind.name(), dims, self.rank())?;
        apply1(&ReduceOp { kind, dims, keep }, &[self])
    }

    /// The sum over dimensions (all of them if none is named); integers are summed in `int64`.
    pub fn sum(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        self.summable()?.reduce(Reduce::Sum, dims, keep)
    }

    /// The sum without NaN.
    pub fn nansum(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        if self.dtype().is_complex() {
            bail!(Runtime, "nansum: does not support complex inputs");
        }
        let kind = if self.dtype().is_float() { Reduce::NanSum } else { Reduce::Sum };
        self.summable()?.reduce(kind, dims, keep)
    }

    /// The product over dimensions.
    pub fn prod(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        self.summable()?.reduce(Reduce::Prod, dims, keep)
    }

    fn summable(&self) -> Result<Tensor> {
        match self.dtype().category() {
            Category::Bool | Category::Int => self.to_dtype(self.device().narrow(DType::I64)),
            _ => Ok(self.clone()),
        }
    }

    /// The sum over dimensions known to exist, in the tensor's own dtype.
    pub(crate) fn sum_dims(&self, dims: &[usize], keep: bool) -> Result<Tensor> {
        apply1(&ReduceOp { kind: Reduce::Sum, dims: Dims::from_slice(dims), keep }, &[self])
    }

    /// Sums away what broadcasting from `shape` had added.
    pub(crate) fn sum_to(&self, shape: &[usize]) -> Result<Tensor> {
        let own = self.shape();
        if own.as_slice() == shape {
            return Ok(self.clone());
        }
        let missing = own.len() - shape.len();
        let dims: Dims = (0..own.len())
            .filter(|&d| d < missing || (shape[d - missing] == 1 && own[d] != 1))
            .collect();
        self.sum_dims(&dims, true)?.reshape_to(shape)
    }

    /// Refuses to look for an extreme among no elements where no dimension is named.
    fn check_some(&self, op: &str, dims: Option<&[i64]>) -> Result<()> {
        if self.numel() == 0 && dims.is_none_or(<[i64]>::is_empty) {
            bail!(
                Runtime,
                "{op}: expected reduction dim to be specified for input.numel() == 0; hint: name it \
                 with the 'dim' argument"
            );
        }
        Ok(())
    }

    /// The largest elements over dimensions; equal ones share the gradient.
    pub fn amax(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        self.check_some("amax", dims)?;
        self.reduce(Reduce::Max, dims, keep)
    }

    /// The smallest elements over dimensions; equal ones share the gradient.
    pub fn amin(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        self.check_some("amin", dims)?;
        self.reduce(Reduce::Min, dims, keep)
    }

    /// The mean over dimensions.
    pub fn mean(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        if !dtype.is_differentiable() {
            bail!(
                Runtime,
                "mean: could not infer output dtype. Input dtype must be either a floating point or \
                 complex dtype. Got: {dtype}; hint: .float() first"
            );
        }
        let dims = reduce_dims("mean", dims, self.rank())?;
        let shape = self.shape();
        let count: usize = dims.iter().map(|&d| shape[d]).product();
        let sum = apply1(&ReduceOp { kind: Reduce::Sum, dims, keep }, &[self])?;
        sum.with_scalar(crate::ops::binary::Binary::Div, (count as f64).into(), false)
    }

    /// Variance and mean over dimensions, the variance divided by `n - correction`.
    pub fn var_mean(
        &self,
        dims: Option<&[i64]>,
        correction: f64,
        keep: bool,
    ) -> Result<(Tensor, Tensor)> {
        let dtype = self.dtype();
        if !dtype.is_differentiable() {
            bail!(Runtime, "var: only support floating point and complex dtypes, got {dtype}");
        }
        let wrapped = reduce_dims("var", dims, self.rank())?;
        let shape = self.shape();
        let count: usize = wrapped.iter().map(|&d| shape[d]).product();
        let listed: Vec<i64> = wrapped.iter().map(|&d| d as i64).collect();
        let mean = self.mean(Some(&listed), true)?;
        let distance = self.sub(&mean)?;
        let square = if dtype.is_complex() {
            distance.mul(&distance.conj()?)?.real()?
        } else {
            distance.square()?
        };
        let freedom = (count as f64 - correction).max(0.0);
        let sum = square.sum_dims(&wrapped, keep)?;
        let var = sum.with_scalar(crate::ops::binary::Binary::Div, freedom.into(), false)?;
        let mean = if keep { mean } else { mean.reshape_to(&reduced(&shape, &wrapped, false))? };
        Ok((var, mean))
    }

    fn count(&self, kind: Count, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        let name = CountOp { kind, dims: Dims::new(), keep }.name();
        let dims = reduce_dims(name, dims, self.rank())?;
        apply1(&CountOp { kind, dims, keep }, &[self])
    }

    /// Whether any element is not zero.
    pub fn any(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        self.count(Count::Any, dims, keep)
    }

    /// Whether no element is zero.
    pub fn all(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        self.count(Count::All, dims, keep)
    }

    /// How many elements are not zero.
    pub fn count_nonzero(&self, dims: Option<&[i64]>) -> Result<Tensor> {
        self.count(Count::NonZero, dims, false)
    }

    fn extreme(&self, max: bool, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        let dim = wrap_dim(if max { "max" } else { "min" }, dim, self.rank())?;
        let mut both = apply(&ExtremeOp { max, dim, keep }, &[self])?;
        let places = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), places))
    }

    /// The largest elements along a dimension, and where they stand.
    pub fn max_dim(&self, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        self.extreme(true, dim, keep)
    }

    /// The smallest elements along a dimension, and where they stand.
    pub fn min_dim(&self, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        self.extreme(false, dim, keep)
    }

    fn arg(&self, max: bool, dim: Option<i64>, keep: bool) -> Result<Tensor> {
        let name = if max { "argmax" } else { "argmin" };
        let dim = dim.map(|dim| wrap_dim(name, dim, self.rank())).transpose()?;
        apply1(&ArgOp { max, dim, keep }, &[self])
    }

    /// Where the largest element stands.
    pub fn argmax(&self, dim: Option<i64>, keep: bool) -> Result<Tensor> {
        self.arg(true, dim, keep)
    }

    /// Where the smallest element stands.
    pub fn argmin(&self, dim: Option<i64>, keep: bool) -> Result<Tensor> {
        self.arg(false, dim, keep)
    }

    /// `log(sum(exp(x)))` over dimensions, without overflow.
    pub fn logsumexp(&self, dims: Option<&[i64]>, keep: bool) -> Result<Tensor> {
        let x = if self.dtype().is_differentiable() {
            self.clone()
        } else {
            self.to_dtype(crate::defaults::float())?
        };
        let dims = reduce_dims("logsumexp", dims, x.rank())?;
        let listed: Vec<i64> = dims.iter().map(|&d| d as i64).collect();
        let shape = x.shape();
        if dims.iter().any(|&d| shape[d] == 0) {
            return x.unary(Unary::Exp)?.sum_dims(&dims, keep)?.unary(Unary::Log);
        }
        let peak = {
            let _off = crate::autograd::ModeGuard::grad(false);
            let real = if x.dtype().is_complex() { x.real()? } else { x.clone() };
            let peak = real.amax(Some(&listed), true)?;
            let zero = Tensor::full(&[], 0.0, peak.dtype(), peak.device())?;
            peak.predicate(Predicate::IsInf)?.where_(&zero, &peak)?
        };
        let sum = x.sub(&peak)?.unary(Unary::Exp)?.sum_dims(&dims, keep)?;
        let peak = if keep { peak } else { peak.reshape_to(&reduced(&shape, &dims, false))? };
        sum.unary(Unary::Log)?.add(&peak)
    }
}
