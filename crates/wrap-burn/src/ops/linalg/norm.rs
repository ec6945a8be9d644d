//! Norms of vectors and matrices.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::reduce::{reduce_dims, reduced};
use crate::ops::unary::Unary;
use crate::shape::{wrap_dim, wrap_dims};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// Which norm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormOrder {
    /// The norm of this order, which may be infinite.
    Number(f64),
    /// The root of the sum of squares.
    Fro,
    /// The sum of singular values.
    Nuc,
}

/// `sum(|x|^p)^(1/p)` over dimensions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VectorNormOp {
    /// The order `p`.
    pub order: f64,
    /// Over which dimensions, ascending.
    pub dims: Dims,
    /// Whether they stay with size one.
    pub keep: bool,
}

#[typetag::serde]
impl Primitive for VectorNormOp {
    fn name(&self) -> &'static str {
        "linalg_vector_norm"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (op, x) = ("linalg.vector_norm", inputs[0]);
        if !x.dtype.is_differentiable() {
            bail!(
                Runtime,
                "{op}: Expected a floating point or complex tensor as input. Got {}",
                x.dtype
            );
        }
        if (self.order < 0.0 || self.order == f64::INFINITY)
            && let Some(&dim) = self.dims.iter().find(|&&d| x.shape[d] == 0)
        {
            bail!(
                Runtime,
                "{op}: cannot compute the {} norm on the dimension {dim} because this dimension is \
                 empty and the operation does not have an identity (shape {:?})",
                self.order,
                x.shape
            );
        }
        one(Meta { shape: reduced(&x.shape, &self.dims, self.keep), dtype: x.dtype.to_real() })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.vector_norm", inputs[0].dtype, T => single(Value::from_vec_as(
            kernels::reduce::norm(inputs[0].view::<T>()?, &self.dims, self.order)?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[0];
        if x.dtype.category() != Category::Float
            || x.numel() == 0
            || x.rank() == 0
            || self.order == 0.0
        {
            return Ok(None);
        }
        let (infinite, order) = (self.order.is_infinite(), self.order);
        let prim = to_burn(x)?;
        let mut prim = match order {
            2.0 => D::float_mul(prim.clone(), prim),
            1.0 => D::float_abs(prim),
            // burn's extremes pass over NaN.
            _ if infinite => return Ok(None),
            _ => D::float_powf_scalar(D::float_abs(prim), order.into()),
        };
        for &dim in &self.dims {
            prim = D::float_sum_dim(prim, dim);
        }
        prim = match order {
            2.0 => D::float_sqrt(prim),
            1.0 => prim,
            _ => D::float_powf_scalar(prim, order.recip().into()),
        };
        let prim = bridge::reshape(prim, out[0].dtype, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: 1 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let x = &ctx.inputs[0];
        let kept = reduced(&x.shape(), &self.dims, true);
        let (g, norm) = (ctx.grad()?.reshape_to(&kept)?, ctx.outputs[0].reshape_to(&kept)?);
        Ok(smallvec![Some(slope(self.order, &self.dims, &g, x, &norm)?)])
    }
}

/// `g` times the derivative of a norm; zero where the norm has none at zero.
pub(crate) fn slope(
    order: f64,
    dims: &[usize],
    g: &Tensor,
    x: &Tensor,
    norm: &Tensor,
) -> Result<Tensor> {
    let zero = Tensor::full(&[], 0.0, norm.dtype(), norm.device())?;
    let one = Tensor::full(&[], 1.0, norm.dtype(), norm.device())?;
    if order == 0.0 {
        return x.mul_scalar(0.0);
    }
    if order == 1.0 {
        return x.unary(Unary::Sgn)?.mul(g);
    }
    if order == 2.0 {
        let flat = norm.eq_scalar(0.0)?;
        let direction = x.div(&flat.where_(&one, norm)?)?;
        return direction.mul(&flat.where_(&zero, g)?);
    }
    let size = x.unary(Unary::Abs)?;
    if order.is_infinite() {
        // Equal extremes share the gradient.
        let hit = size.eq(norm)?.to_dtype(norm.dtype())?;
        let share = hit.div(&hit.sum_dims(dims, true)?)?;
        return x.unary(Unary::Sgn)?.mul(&share.mul(g)?);
    }
    let flat = size.eq_scalar(0.0)?;
    let power = flat.where_(&one, &size)?.pow_scalar(order - 1.0)?;
    let power = flat.where_(&zero, &power)?;
    let flat = norm.eq_scalar(0.0)?;
    let scale = flat.where_(&one, norm)?.pow_scalar(1.0 - order)?.mul(g)?;
    x.unary(Unary::Sgn)?.mul(&power)?.mul(&flat.where_(&zero, &scale)?)
}

impl Tensor {
    /// Converted to the dtype a norm is computed in.
    fn for_norm(&self, op: &str, dtype: Option<DType>) -> Result<Tensor> {
        let own = self.dtype();
        if !own.is_differentiable() {
            bail!(Runtime, "{op}: Expected a floating point or complex tensor as input. Got {own}");
        }
        let Some(dtype) = dtype else { return Ok(self.clone()) };
        if !dtype.is_differentiable() || dtype.is_complex() != own.is_complex() {
            bail!(
                Runtime,
                "{op}: dtype should be floating point for real and complex for complex inputs, got \
                 dtype {dtype} for an input of dtype {own}"
            );
        }
        self.to_dtype(dtype)
    }

    /// The norm of the elements over dimensions, of all of them if none is named.
    pub fn vector_norm(
        &self,
        order: f64,
        dims: Option<&[i64]>,
        keep: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let op = "linalg.vector_norm";
        let dims = dims.filter(|dims| !dims.is_empty());
        let dims = reduce_dims(op, dims, self.rank())?;
        apply1(&VectorNormOp { order, dims, keep }, &[&self.for_norm(op, dtype)?])
    }

    /// The norm of matrices in two dimensions (rows, columns).
    pub fn matrix_norm(
        &self,
        order: NormOrder,
        dims: &[i64],
        keep: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let op = "linalg.matrix_norm";
        let x = self.for_norm(op, dtype)?;
        let rank = x.rank();
        if rank < 2 {
            bail!(
                Runtime,
                "{op}: The input tensor A must have at least 2 dimensions. Got shape {:?}",
                x.shape()
            );
        }
        if dims.len() != 2 {
            bail!(Runtime, "{op}: dim must be a 2-tuple. Got {dims:?}");
        }
        let wrapped = wrap_dims(op, dims, rank)?;
        let number = match order {
            NormOrder::Fro => return x.vector_norm(2.0, Some(dims), keep, None),
            NormOrder::Nuc => None,
            NormOrder::Number(number) => Some(number),
        };
        let (rows, columns) = (wrapped[0] as i64, wrapped[1] as i64);
        let extreme = |sums: &Tensor, dim: i64, largest: bool| {
            let size = sums.shape()[wrap_dim(op, dim, sums.rank())?];
            match largest {
                // Nothing is larger than zero; there is no such bound from below.
                true if size == 0 => sums.sum(Some(&[dim]), keep),
                true => sums.amax(Some(&[dim]), keep),
                false => sums.amin(Some(&[dim]), keep),
            }
        };
        match number {
            Some(number) if number.abs() == 1.0 || number.is_infinite() => {
                let (over, across) =
                    if number.is_infinite() { (columns, rows) } else { (rows, columns) };
                let sums = x.vector_norm(1.0, Some(&[over]), keep, None)?;
                let across = if !keep && over < across { across - 1 } else { across };
                extreme(&sums, across, number > 0.0)
            }
            Some(number) if number.abs() != 2.0 => {
                bail!(Runtime, "{op}: Order {number} not supported.")
            }
            _ => {
                let order: Vec<i64> = (0..rank as i64)
                    .filter(|&d| d != rows && d != columns)
                    .chain([rows, columns])
                    .collect();
                let values = x.permute(&order)?.svdvals()?;
                let k = values.shape()[rank - 2];
                let out = match number {
                    None => values.sum(Some(&[-1]), false)?,
                    Some(number) if number > 0.0 && k > 0 => values.amax(Some(&[-1]), false)?,
                    Some(number) if number > 0.0 => values.sum(Some(&[-1]), false)?,
                    Some(_) => values.amin(Some(&[-1]), false)?,
                };
                if keep { out.reshape_to(&reduced(&x.shape(), &wrapped, true)) } else { Ok(out) }
            }
        }
    }

    /// `linalg.norm`: of all elements if neither is named, of vectors over one dimension, of
    /// matrices over two.
    pub fn linalg_norm(
        &self,
        order: Option<NormOrder>,
        dims: Option<&[i64]>,
        keep: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let op = "linalg.norm";
        let Some(order) = order else { return self.vector_norm(2.0, dims, keep, dtype) };
        let rank = self.rank();
        let all: Vec<i64> = (0..rank as i64).collect();
        let dims = match dims {
            Some(dims) if matches!(dims.len(), 1 | 2) => dims,
            Some(dims) => bail!(
                Runtime,
                "{op}: If dim is specified, it must be of length 1 or 2. Got {dims:?}"
            ),
            None if matches!(rank, 1 | 2) => &all[..],
            None => bail!(
                Runtime,
                "{op}: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D."
            ),
        };
        match order {
            NormOrder::Number(order) if dims.len() == 1 => {
                self.vector_norm(order, Some(dims), keep, dtype)
            }
            order => self.matrix_norm(order, dims, keep, dtype),
        }
    }

    /// `torch.norm`: like [`vector_norm`](Tensor::vector_norm) over any dimensions, `fro` included.
    pub fn norm(
        &self,
        order: NormOrder,
        dims: Option<&[i64]>,
        keep: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        match order {
            NormOrder::Number(order) => self.vector_norm(order, dims, keep, dtype),
            NormOrder::Fro => self.vector_norm(2.0, dims, keep, dtype),
            NormOrder::Nuc => {
                let all: Vec<i64> = (0..self.rank() as i64).collect();
                self.matrix_norm(order, dims.unwrap_or(&all), keep, dtype)
            }
        }
    }
}
