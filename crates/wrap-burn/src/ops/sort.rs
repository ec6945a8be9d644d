//! Order along a dimension: sorted values, ranks and quantiles.

pub use kernels::arg_reduce::Interpolation;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply};
use crate::ops::binary::{Binary, Operand, same_device};
use crate::ops::reduce::reduced;
use crate::ops::unary::{Predicate, Unary};
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail, error};

/// Which elements of each lane are wanted. NaN is greater than any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// All of them in order; equal ones stay in theirs.
    Sort {
        /// From the largest down.
        descending: bool,
    },
    /// The `k` largest or smallest.
    TopK {
        /// How many.
        k: usize,
        /// The largest rather than the smallest.
        largest: bool,
        /// In order rather than in any.
        sorted: bool,
    },
    /// The `k`-th smallest, counted from one.
    Kth {
        /// Which.
        k: usize,
    },
    /// The lower median; NaN where any element is.
    Median,
    /// The lower median of what is not NaN.
    NanMedian,
    /// The most frequent, the smallest of such.
    Mode,
}

/// Elements chosen along a dimension by their order, and where they stand.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RankOp {
    /// Which.
    pub kind: Rank,
    /// Along which dimension.
    pub dim: usize,
    /// Whether the dimension stays with size one, if one element is chosen.
    pub keep: bool,
}

impl RankOp {
    /// Whether one element of each lane is chosen.
    fn reduces(&self) -> bool {
        !matches!(self.kind, Rank::Sort { .. } | Rank::TopK { .. })
    }
}

#[typetag::serde]
impl Primitive for RankOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Rank::Sort { .. } => "sort",
            Rank::TopK { .. } => "topk",
            Rank::Kth { .. } => "kthvalue",
            Rank::Median => "median",
            Rank::NanMedian => "nanmedian",
            Rank::Mode => "mode",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, name) = (inputs[0], self.name());
        if x.dtype.is_complex() {
            bail!(Runtime, "{name}: complex numbers have no order, got {}", x.dtype);
        }
        let size = x.shape.get(self.dim).copied().unwrap_or(1);
        if self.reduces() && size == 0 {
            bail!(
                Index,
                "{name}: expected reduction dim {} to have non-zero size, got shape {:?}",
                self.dim,
                x.shape
            );
        }
        let mut shape = x.shape.clone();
        match self.kind {
            Rank::Sort { .. } => {}
            Rank::TopK { k, .. } => {
                if k > size || (x.rank() == 0 && k != 1) {
                    bail!(
                        Runtime,
                        "topk: selected index k out of range: got {k} of {size} along dimension {}",
                        self.dim
                    );
                }
                if let Some(size) = shape.get_mut(self.dim) {
                    *size = k;
                }
            }
            Rank::Kth { k } if !(1..=size).contains(&k) => bail!(
                Runtime,
                "kthvalue: selected number k out of range for dimension {}: got {k} of {size}",
                self.dim
            ),
            _ => {
                let dims = if x.rank() == 0 { vec![] } else { vec![self.dim] };
                shape = reduced(&x.shape, &dims, self.keep);
            }
        }
        let places = Meta { shape: shape.clone(), dtype: x.device().narrow(DType::I64) };
        Ok([Meta { shape, dtype: x.dtype }, places].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, dim) = (inputs[0], self.dim);
        crate::with_dtype!(self.name(), x.dtype, reals, T => {
            let view = x.view::<T>()?;
            let (values, places) = match self.kind {
                Rank::Sort { descending } => kernels::sort::sort(view, dim, descending),
                Rank::TopK { k, largest, sorted } => kernels::sort::topk(view, dim, k, largest, sorted)?,
                Rank::Kth { k } => kernels::arg_reduce::kthvalue(view, dim, k)?,
                Rank::Median => kernels::arg_reduce::median(view, dim)?,
                Rank::NanMedian => kernels::arg_reduce::nanmedian(view, dim)?,
                Rank::Mode => kernels::arg_reduce::mode(view, dim)?,
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
        let shape = ctx.inputs[0].shape();
        if shape.is_empty() {
            return Ok(smallvec![Some(g.clone())]);
        }
        let (mut g, mut places) = (g.clone(), ctx.outputs[1].clone());
        if self.reduces() {
            let kept = reduced(&shape, &[self.dim], true);
            (g, places) = (g.reshape_to(&kept)?, places.reshape_to(&kept)?);
        }
        // No place is named twice, so adding is placing, for which GPUs have a kernel.
        let zeros = Tensor::zeros(&shape, g.dtype(), g.device())?;
        Ok(smallvec![Some(zeros.scatter_add(self.dim as i64, &places, &g)?)])
    }
}

impl Tensor {
    fn ranked(&self, kind: Rank, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        let name = RankOp { kind, dim: 0, keep }.name();
        let dim = wrap_dim(name, dim, self.rank())?;
        let mut both = apply(&RankOp { kind, dim, keep }, &[self])?;
        let places = both.pop().ok_or_else(|| error!(Runtime, "{name}: no places came back"))?;
        let values = both.pop().ok_or_else(|| error!(Runtime, "{name}: no values came back"))?;
        Ok((values, places))
    }

    /// The elements in order along a dimension, and where they stood. Always stable.
    pub fn sort(&self, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
        self.ranked(Rank::Sort { descending }, dim, false)
    }

    /// Where the elements stand in order along a dimension. Always stable.
    pub fn argsort(&self, dim: i64, descending: bool) -> Result<Tensor> {
        Ok(self.detach().sort(dim, descending)?.1)
    }

    /// The elements in order along the first dimension.
    pub fn msort(&self) -> Result<Tensor> {
        Ok(self.sort(0, false)?.0)
    }

    /// The `k` largest or smallest elements along a dimension, and where they stand.
    pub fn topk(&self, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(Tensor, Tensor)> {
        let Ok(k) = usize::try_from(k) else {
            bail!(Runtime, "topk: selected index k out of range, got {k}");
        };
        self.ranked(Rank::TopK { k, largest, sorted }, dim, false)
    }

    /// The `k`-th smallest element along a dimension, counted from one, and where it stands.
    pub fn kthvalue(&self, k: i64, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        let Ok(k) = usize::try_from(k) else {
            bail!(Runtime, "kthvalue: selected number k out of range, got {k}");
        };
        self.ranked(Rank::Kth { k }, dim, keep)
    }

    fn middle(&self, kind: Rank) -> Result<Tensor> {
        let dtype = self.dtype();
        if self.numel() == 0 && dtype.is_float() {
            return Tensor::full(&[], f64::NAN, dtype, self.device());
        }
        Ok(self.reshape(&[-1])?.ranked(kind, 0, false)?.0)
    }

    /// The lower median of all elements; NaN if any is.
    pub fn median(&self) -> Result<Tensor> {
        self.middle(Rank::Median)
    }

    /// The lower median along a dimension, and where it stands.
    pub fn median_dim(&self, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        self.ranked(Rank::Median, dim, keep)
    }

    /// The lower median of all elements that are not NaN.
    pub fn nanmedian(&self) -> Result<Tensor> {
        self.middle(Rank::NanMedian)
    }

    /// The lower median along a dimension of what is not NaN, and where it stands.
    pub fn nanmedian_dim(&self, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        self.ranked(Rank::NanMedian, dim, keep)
    }

    /// The most frequent element along a dimension, the smallest of such, and where it last stands.
    pub fn mode(&self, dim: i64, keep: bool) -> Result<(Tensor, Tensor)> {
        self.ranked(Rank::Mode, dim, keep)
    }

    /// Quantiles along a dimension, or of all elements; a 1-d `q` becomes the first dimension of the
    /// result. NaN where any element is.
    pub fn quantile(
        &self,
        q: &Operand,
        dim: Option<i64>,
        keep: bool,
        interpolation: Interpolation,
    ) -> Result<Tensor> {
        self.quantiles("quantile", q, dim, keep, interpolation, false)
    }

    /// Quantiles of what is not NaN (see [`quantile`](Tensor::quantile)).
    pub fn nanquantile(
        &self,
        q: &Operand,
        dim: Option<i64>,
        keep: bool,
        interpolation: Interpolation,
    ) -> Result<Tensor> {
        self.quantiles("nanquantile", q, dim, keep, interpolation, true)
    }

    /// Sorts, and interpolates between the neighbours of each rank, so that gradients reach both
    /// the elements and `q`.
    fn quantiles(
        &self,
        name: &str,
        q: &Operand,
        dim: Option<i64>,
        keep: bool,
        interpolation: Interpolation,
        ignore_nan: bool,
    ) -> Result<Tensor> {
        let (dtype, device) = (self.dtype(), self.device());
        if !matches!(dtype, DType::F32 | DType::F64) {
            bail!(
                Runtime,
                "{name}: input tensor must be either float or double dtype, got {dtype}"
            );
        }
        if self.numel() == 0 {
            bail!(Runtime, "{name}: input tensor must be non-empty, got shape {:?}", self.shape());
        }
        let q = match q {
            Operand::Scalar(q) => Tensor::full(&[], *q, dtype, device)?,
            Operand::Tensor(q) if q.rank() > 1 => {
                bail!(Runtime, "{name}: q must be a scalar or 1D tensor, got shape {:?}", q.shape())
            }
            Operand::Tensor(q) if q.dtype() != dtype => {
                bail!(
                    Runtime,
                    "{name}: q tensor must be same dtype as the input tensor, got {} and {dtype}",
                    q.dtype()
                )
            }
            Operand::Tensor(q) => same_device(name, self, q)?.1,
        };
        if device != crate::Device::Meta
            && !q.to_vec::<f64>()?.iter().all(|q| (0.0..=1.0).contains(q))
        {
            bail!(Runtime, "{name}: q values must be in the range [0, 1]");
        }
        let rank = self.rank();
        let along = dim.map(|dim| wrap_dim(name, dim, rank)).transpose()?.filter(|_| rank > 0);
        let x = match along {
            Some(along) => {
                let order: Vec<i64> =
                    (0..rank).filter(|&d| d != along).chain([along]).map(|d| d as i64).collect();
                self.permute(&order)?
            }
            None => self.reshape(&[-1])?,
        };
        let (sorted, _) = x.sort(-1, false)?;
        let last = sorted.rank() - 1;
        let size = sorted.shape()[last];
        let mut rows = sorted.shape();
        rows[last] = q.numel();
        let q_row = q.reshape(&[-1])?;
        let ranks = if ignore_nan {
            let present = sorted.predicate(Predicate::IsNan)?.eq_scalar(false)?;
            let top = present.to_dtype(dtype)?.sum_dims(&[last], true)?.add_scalar(-1.0)?;
            // Without a number every rank is that of a NaN.
            let top = top.clamp(Some(&Tensor::zeros(&[], dtype, device)?), None)?;
            q_row.mul(&top)?
        } else {
            // NaN comes last, so its rank makes the result one.
            let spoilt = sorted.slice(last, size - 1, 1, 1)?.predicate(Predicate::IsNan)?;
            let top = Tensor::full(&[], (size - 1) as f64, dtype, device)?;
            spoilt.where_(&top, &q_row.mul(&top)?)?
        };
        let ranks = ranks.expand_to(name, &rows)?;
        let at = |ranks: &Tensor| -> Result<Tensor> {
            sorted.gather(last as i64, &ranks.to_dtype(device.narrow(DType::I64))?)
        };
        let chosen = match interpolation {
            Interpolation::Lower => at(&ranks.unary(Unary::Floor)?)?,
            Interpolation::Higher => at(&ranks.unary(Unary::Ceil)?)?,
            Interpolation::Nearest => at(&ranks.unary(Unary::Round)?)?,
            Interpolation::Linear | Interpolation::Midpoint => {
                let floor = ranks.unary(Unary::Floor)?;
                let (below, above) = (at(&floor)?, at(&ranks.unary(Unary::Ceil)?)?);
                let weight = match interpolation {
                    Interpolation::Midpoint => Tensor::full(&[], 0.5, dtype, device)?,
                    _ => ranks.sub(&floor)?,
                };
                lerp(&below, &above, &weight)?
            }
        };
        // The quantiles come first, and what was reduced goes where it was or away.
        let mut shape = match along {
            Some(along) => reduced(&self.shape(), &[along], keep),
            None if keep => kernels::Dims::from_elem(1, rank),
            None => kernels::Dims::new(),
        };
        if q.rank() == 1 {
            shape.insert(0, q.numel());
        }
        let order: Vec<i64> = [last].into_iter().chain(0..last).map(|d| d as i64).collect();
        chosen.permute(&order)?.reshape_to(&shape)
    }
}

/// From `a` to `b` in proportion to the weight, exact at either end.
fn lerp(a: &Tensor, b: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let distance = b.sub(a)?;
    let from_a = a.add(&weight.mul(&distance)?)?;
    let from_b = b.sub(&distance.mul(&weight.with_scalar(Binary::Sub, 1.0.into(), true)?)?)?;
    weight.lt_scalar(0.5)?.where_(&from_a, &from_b)
}

#[cfg(test)]
mod tests;
