//! Distances between vectors, and vectors cut to a length.

use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, cast_host, one, single};
use crate::ops::binary::{Binary, result_type};
use crate::ops::linalg::norm;
use crate::ops::unary::Unary;
use crate::shape::{broadcast, broadcast_strides, wrap_dim};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// From this many rows on, Euclidean distances are computed by a matrix product.
const MANY: usize = 25;

/// Euclidean distances of all rows of two matrices by way of a matrix product: fast, and exact to
/// the precision of the squared lengths.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EuclideanOp;

#[typetag::serde]
impl Primitive for EuclideanOp {
    fn name(&self) -> &'static str {
        "euclidean_dist"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        pairs(inputs[0], inputs[1])
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(distances(inputs)?)
    }

    fn run_gpu(
        &self,
        inputs: &[&Value],
        _out: &[Meta],
        _device: crate::Device,
    ) -> Result<Option<Values>> {
        single(distances(inputs)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 3, outputs: 1 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (a, b, y) = (&ctx.inputs[0], &ctx.inputs[1], &ctx.outputs[0]);
        let flat = y.eq_scalar(0.0)?;
        let zero = Tensor::full(&[], 0.0, y.dtype(), y.device())?;
        let one = Tensor::full(&[], 1.0, y.dtype(), y.device())?;
        let ratio = flat.where_(&zero, ctx.grad()?)?.div(&flat.where_(&one, y)?)?;
        let side = |ratio: &Tensor, own: &Tensor, other: &Tensor| -> Result<Tensor> {
            let pull = own.mul(&ratio.sum(Some(&[-1]), true)?)?;
            pull.sub(&ratio.matmul(other)?)?.sum_to(&own.shape())
        };
        Ok(smallvec![Some(side(&ratio, a, b)?), Some(side(&ratio.transpose(-2, -1)?, b, a)?)])
    }
}

/// The distances of all pairs of rows of two batches of matrices: their shape.
fn pairs(a: &Value, b: &Value) -> Result<Metas> {
    let (rank, other) = (a.rank(), b.rank());
    let outer = broadcast("cdist", &a.shape[..rank - 2], &b.shape[..other - 2])?;
    let shape: Dims = outer.into_iter().chain([a.shape[rank - 2], b.shape[other - 2]]).collect();
    one(Meta { shape, dtype: a.dtype })
}

/// The norms of the differences of all rows of two matrices, one by one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DistanceOp {
    /// The order of the norm.
    pub order: f64,
}

#[typetag::serde]
impl Primitive for DistanceOp {
    fn name(&self) -> &'static str {
        "cdist"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        pairs(inputs[0], inputs[1])
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let shape = &out[0].shape;
        let outer = &shape[..shape.len() - 2];
        let wide = |x: &Value| -> (Dims, kernels::Strides) {
            let own = &x.shape[x.rank() - 2..];
            let shape: Dims = outer.iter().chain(own).copied().collect();
            let strides = broadcast_strides(&x.shape, &x.strides, &shape);
            (shape, strides)
        };
        let ((a, a_strides), (b, b_strides)) = (wide(inputs[0]), wide(inputs[1]));
        macro_rules! go {
            ($T:ty) => {
                kernels::linalg::cdist(
                    inputs[0].view_as::<$T>(&a, &a_strides)?,
                    inputs[1].view_as::<$T>(&b, &b_strides)?,
                    self.order,
                )
            };
        }
        single(match out[0].dtype {
            DType::F64 => Value::from_vec_as(go!(f64), shape.clone(), DType::F64),
            dtype => Value::from_vec_as(go!(f32), shape.clone(), dtype),
        })
    }

    fn run_gpu(
        &self,
        inputs: &[&Value],
        _out: &[Meta],
        _device: crate::Device,
    ) -> Result<Option<Values>> {
        let _off = crate::autograd::ModeGuard::grad(false);
        let [a, b] = [0, 1].map(|at: usize| Tensor::from_value(inputs[at].clone()));
        single(differences(&a, &b)?.lengths(self.order)?.value()).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 3, outputs: 1 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (a, b) = (&ctx.inputs[0], &ctx.inputs[1]);
        let apart = differences(a, b)?;
        let (g, norm) = (ctx.grad()?.unsqueeze(-1)?, ctx.outputs[0].unsqueeze(-1)?);
        let slope = norm::slope(self.order, &[apart.rank() - 1], &g, &apart, &norm)?;
        let side = |dim: i64, own: &Tensor| slope.sum(Some(&[dim]), false)?.sum_to(&own.shape());
        Ok(smallvec![Some(side(-2, a)?), Some(side(-3, b)?.neg()?)])
    }
}

/// Every row of one matrix less every row of the other.
fn differences(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    a.unsqueeze(-2)?.sub(&b.unsqueeze(-3)?)
}

/// `sqrt(|a|^2 + |b|^2 - 2 a b)` for all pairs of rows.
fn distances(inputs: &[&Value]) -> Result<Value> {
    let _off = crate::autograd::ModeGuard::grad(false);
    let [a, b] = [0, 1].map(|at: usize| Tensor::from_value(inputs[at].clone()));
    let length = |x: &Tensor| x.square()?.sum(Some(&[-1]), true);
    let both = length(&a)?.add(&length(&b)?.transpose(-2, -1)?)?;
    let square = both.sub(&a.matmul(&b.transpose(-2, -1)?)?.mul_scalar(2.0)?)?;
    let zero = Tensor::full(&[], 0.0, square.dtype(), square.device())?;
    Ok(square.clamp(Some(&zero), None)?.unary(Unary::Sqrt)?.value())
}

impl Tensor {
    /// The `p`-norm distances of all pairs of rows of `(.., p, m)` and `(.., r, m)`. Whether many
    /// Euclidean distances may be computed by a matrix product is `by_product`.
    pub fn cdist(&self, other: &Tensor, p: f64, by_product: bool) -> Result<Tensor> {
        let (a, b) = (self.shape(), other.shape());
        for (which, x) in [("X1", self), ("X2", other)] {
            if !x.dtype().is_float() {
                bail!(
                    Runtime,
                    "cdist: only supports floating-point dtypes, {which} got: {}",
                    x.dtype()
                );
            }
            if x.rank() < 2 {
                bail!(
                    Runtime,
                    "cdist: only supports at least 2D tensors, {which} got: {}D",
                    x.rank()
                );
            }
        }
        if a[a.len() - 1] != b[b.len() - 1] {
            bail!(
                Runtime,
                "cdist: X1 and X2 must have the same number of columns. X1: {} X2: {}",
                a[a.len() - 1],
                b[b.len() - 1]
            );
        }
        if p.is_nan() || p < 0.0 {
            bail!(Runtime, "cdist: only supports non-negative p values, got {p}");
        }
        broadcast("cdist", &a[..a.len() - 2], &b[..b.len() - 2])?;
        let dtype = result_type(self, other);
        let (x, y) = (self.to_dtype(dtype)?, other.to_dtype(dtype)?);
        if p == 2.0 && by_product && (a[a.len() - 2] > MANY || b[b.len() - 2] > MANY) {
            return apply1(&EuclideanOp, &[&x, &y]);
        }
        if matches!(dtype, DType::F16 | DType::BF16) {
            return differences(&x, &y)?.lengths(p);
        }
        apply1(&DistanceOp { order: p }, &[&x, &y])
    }

    /// The `p`-norm over the last dimension, zero where that has no elements.
    fn lengths(&self, p: f64) -> Result<Tensor> {
        let shape = self.shape();
        let last = shape.len() - 1;
        if shape[last] == 0 {
            return self.sum_dims(&[last], false);
        }
        self.vector_norm(p, Some(&[-1]), false, None)
    }

    /// The `p`-norm distances of every row to every later one.
    pub fn pdist(&self, p: f64) -> Result<Tensor> {
        let shape = self.shape();
        if shape.len() != 2 {
            bail!(Runtime, "pdist: only supports 2D tensors, got: {}D", shape.len());
        }
        if !self.dtype().is_float() {
            bail!(Runtime, "pdist: only supports floating-point dtypes, got {}", self.dtype());
        }
        if p.is_nan() || p < 0.0 {
            bail!(Runtime, "pdist: only supports non-negative p values, got {p}");
        }
        let n = shape[0] as i64;
        let (first, second): (Vec<i64>, Vec<i64>) =
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).unzip();
        let device = self.device();
        let rows = |places: Vec<i64>| -> Result<Tensor> {
            let count = places.len();
            let index =
                cast_host(&Value::from_vec(places, [count].as_slice()), device.narrow(DType::I64))?;
            self.index_select(0, &Tensor::from_value(index.to_device(device)?))
        };
        rows(first)?.sub(&rows(second)?)?.lengths(p)
    }

    /// The cosine of the angle between vectors along a dimension; lengths below `eps` count as `eps`.
    pub fn cosine_similarity(&self, other: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
        let op = "cosine_similarity";
        let dtype = result_type(self, other);
        if !dtype.is_float() {
            bail!(
                Runtime,
                "{op}: expected common dtype to be floating point, yet common dtype is {dtype}"
            );
        }
        let shape = broadcast(op, &self.shape(), &other.shape())?;
        let dim = wrap_dim(op, dim, shape.len())? as i64;
        let unit = |x: &Tensor| -> Result<Tensor> {
            let x = x.to_dtype(dtype)?.expand_to(op, &shape)?;
            let smallest = Tensor::full(&[], eps, dtype, x.device())?;
            let length = x.vector_norm(2.0, Some(&[dim]), true, None)?;
            x.div(&length.clamp(Some(&smallest), None)?)
        };
        unit(self)?.mul(&unit(other)?)?.sum(Some(&[dim]), false)
    }

    /// Every slice along a dimension whose `p`-norm exceeds `maxnorm` scaled down to it.
    pub fn renorm(&self, p: f64, dim: i64, maxnorm: f64) -> Result<Tensor> {
        let rank = self.rank();
        if p.is_nan() || p <= 0.0 {
            bail!(Runtime, "renorm: non-positive-norm not supported, got {p}");
        }
        if maxnorm < 0.0 {
            bail!(Runtime, "renorm: expected maxnorm to be >= 0 but got {maxnorm}");
        }
        if rank < 2 {
            bail!(Runtime, "renorm: input needs at least 2 dimensions, got {rank} dimensions");
        }
        let dim = wrap_dim("renorm", dim, rank)?;
        let others: Vec<i64> = (0..rank).filter(|&d| d != dim).map(|d| d as i64).collect();
        let norm = self.vector_norm(p, Some(&others), true, None)?;
        let one = Tensor::full(&[], 1.0, norm.dtype(), norm.device())?;
        // A little more than the norm, so that rounding does not leave the result too long.
        let factor = norm.add_scalar(1e-7)?.with_scalar(Binary::Div, maxnorm.into(), true)?;
        self.mul(&norm.gt_scalar(maxnorm)?.where_(&factor, &one)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::linalg::tests::{close, gradcheck, noise};
    use crate::{DType, Tensor};

    #[test]
    fn both_ways_agree() {
        let (a, b) = (noise(&[2, 30, 3], DType::F64, 1), noise(&[4, 3], DType::F64, 2));
        close(&a.cdist(&b, 2.0, true).unwrap(), &a.cdist(&b, 2.0, false).unwrap());
        gradcheck("cdist by product", &[a, b], true, &|x| Ok(vec![x[0].cdist(&x[1], 2.0, true)?]));
    }

    #[test]
    fn every_gradient() {
        let (a, b) = (noise(&[3, 4], DType::F64, 3), noise(&[2, 4], DType::F64, 4));
        for p in [0.5, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
            gradcheck("cdist", &[a.clone(), b.clone()], true, &|x| {
                Ok(vec![x[0].cdist(&x[1], p, true)?])
            });
            gradcheck("pdist", std::slice::from_ref(&a), true, &|x| Ok(vec![x[0].pdist(p)?]));
            gradcheck("renorm", std::slice::from_ref(&a), false, &|x| {
                Ok(vec![x[0].renorm(p, 0, 1.0)?])
            });
        }
        let other = noise(&[3, 4], DType::F64, 5);
        gradcheck("cosine_similarity", &[a, other], true, &|x| {
            Ok(vec![x[0].cosine_similarity(&x[1], 1, 1e-8)?])
        });
        let same = Tensor::zeros(&[2, 3], DType::F64, crate::Device::Cpu).unwrap();
        assert_eq!(same.pdist(2.0).unwrap().to_vec::<f64>().unwrap(), [0.0]);
    }
}
