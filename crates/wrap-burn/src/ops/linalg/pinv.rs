//! What depends on which singular values count as zero: pseudo-inverse, rank, condition.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::norm::NormOrder;
use super::{adjoint, batched, check_matrix, check_square, diagonal, identity_like};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::{Binary, Operand};
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// The pseudo-inverse. Inputs: the matrices, then the absolute and the relative tolerance, by which
/// small singular values count as zero.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PinvOp {
    /// Whether the matrices are Hermitian.
    pub hermitian: bool,
}

#[typetag::serde]
impl Primitive for PinvOp {
    fn name(&self) -> &'static str {
        "linalg_pinv"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let (m, n) = if self.hermitian {
            let n = check_square("linalg.pinv", a)?;
            (n, n)
        } else {
            check_matrix("linalg.pinv", a)?
        };
        one(Meta { shape: batched(super::batch(&a.shape), &[n, m]), dtype: a.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let [a, atol, rtol] = [0, 1, 2].map(|at: usize| Tensor::from_value(inputs[at].clone()));
        if crate::shape::numel(&out[0].shape) == 0 {
            return single(crate::ops::create::zeros_host(&out[0])?);
        }
        if let Some(smaller) = smaller(&a)? {
            let inverse = self.inverse(&smaller, &atol.mul_scalar(SMALLER)?, &rtol)?;
            return single(inverse.mul_scalar(SMALLER)?.value());
        }
        single(self.inverse(&a, &atol, &rtol)?.value())
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: 1 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let grad = pinv_slope(ctx.grad()?, &ctx.inputs[0], &ctx.outputs[0])?;
        Ok(smallvec![Some(grad), None, None])
    }
}

impl PinvOp {
    fn inverse(&self, a: &Tensor, atol: &Tensor, rtol: &Tensor) -> Result<Tensor> {
        let (left, values, right) = if self.hermitian {
            let (values, vectors) = a.eigh(true)?;
            (vectors.clone(), values, adjoint(&vectors)?)
        } else {
            let (u, s, vh) = a.svd(false)?;
            (adjoint(&vh)?, s, adjoint(&u)?)
        };
        let size = values.unary(Unary::Abs)?;
        let counts = size.gt(&threshold(&size, atol, rtol)?)?;
        let zero = Tensor::full(&[], 0.0, values.dtype(), values.device())?;
        let inverse = counts.where_(&values.unary(Unary::Reciprocal)?, &zero)?;
        left.mul(&inverse.unsqueeze(-2)?)?.matmul(&right)
    }
}

/// The gradient of the pseudo-inverse `p` of `a`, for matrices of constant rank.
pub(super) fn pinv_slope(g: &Tensor, a: &Tensor, p: &Tensor) -> Result<Tensor> {
    let shape = a.shape();
    let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let (gh, ph) = (adjoint(g)?, adjoint(p)?);
    if m <= n {
        let k = gh.matmul(p)?;
        let kph = k.matmul(&ph)?;
        let plain = kph.sub(&adjoint(&p.matmul(&k)?)?)?;
        let range = a.matmul(p)?.matmul(&kph)?;
        let kernel = ph.matmul(p)?.matmul(&gh.sub(&k.matmul(a)?)?)?;
        return plain.sub(&range)?.add(&kernel);
    }
    let k = p.matmul(&gh)?;
    let phk = ph.matmul(&k)?;
    let plain = phk.sub(&adjoint(&k.matmul(p)?)?)?;
    let kernel = gh.sub(&a.matmul(&k)?)?.matmul(p)?.matmul(&ph)?;
    let range = phk.matmul(p)?.matmul(a)?;
    plain.add(&kernel)?.sub(&range)
}

/// The power of two by which matrices are made [`smaller`].
const SMALLER: f64 = 1.0 / (1u64 << 32) as f64;

/// A multiple of matrices so large that no number may hold their singular values.
fn smaller(a: &Tensor) -> Result<Option<Tensor>> {
    let shape = a.shape();
    let largest_number = match a.dtype().to_real() {
        DType::F64 => f64::MAX,
        _ => f64::from(f32::MAX),
    };
    // No singular value is larger than this many times the largest element.
    let times: usize = shape.iter().rev().take(2).sum();
    if a.numel() == 0 || !a.value().has_data() {
        return Ok(None);
    }
    let largest = a.detach().unary(Unary::Abs)?.amax(None, false)?.item()?.to_f64();
    if largest.is_nan() || largest <= largest_number / times as f64 {
        return Ok(None);
    }
    a.mul_scalar(SMALLER).map(Some)
}

/// Up to where sizes count as zero, with a dimension of one in place of theirs.
fn threshold(size: &Tensor, atol: &Tensor, rtol: &Tensor) -> Result<Tensor> {
    let largest = size.amax(Some(&[-1]), false)?;
    rtol.mul(&largest)?.binary(Binary::Maximum, atol)?.unsqueeze(-1)
}

/// The precision of a real dtype.
pub(super) fn epsilon(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::F64 => f64::EPSILON,
        _ => f32::EPSILON as f64,
    }
}

/// Both tolerances as tensors: by default the relative one is the precision times the larger size,
/// or zero where an absolute one is given.
fn tolerances(
    a: &Tensor,
    atol: Option<&Operand>,
    rtol: Option<&Operand>,
) -> Result<(Tensor, Tensor)> {
    let shape = a.shape();
    let (dtype, device) = (a.dtype().to_real(), a.device());
    let number = |value: f64| Tensor::full(&[], value, dtype, device);
    let given = |bound: &Operand| match bound {
        Operand::Tensor(bound) => bound.detach().to_dtype(dtype)?.to_device(device),
        Operand::Scalar(bound) => number(bound.to_f64()),
    };
    let larger = shape.iter().rev().take(2).max().copied().unwrap_or(0);
    let usual = number(epsilon(dtype) * larger as f64)?;
    Ok(match (atol, rtol) {
        (None, None) => (number(0.0)?, usual),
        (None, Some(rtol)) => (number(0.0)?, given(rtol)?),
        (Some(atol), Some(rtol)) => (given(atol)?, given(rtol)?),
        (Some(atol), None) => {
            let atol = given(atol)?;
            let rtol = atol.gt_scalar(0.0)?.where_(&number(0.0)?, &usual)?;
            (atol, rtol)
        }
    })
}

impl Tensor {
    /// The pseudo-inverse; singular values up to `max(atol, rtol * largest)` count as zero.
    pub fn pinv(
        &self,
        atol: Option<&Operand>,
        rtol: Option<&Operand>,
        hermitian: bool,
    ) -> Result<Tensor> {
        check_matrix("linalg.pinv", &self.read())?;
        let (atol, rtol) = tolerances(self, atol, rtol)?;
        apply1(&PinvOp { hermitian }, &[self, &atol, &rtol])
    }

    /// How many singular values (or eigenvalues) count, see [`pinv`](Tensor::pinv).
    pub fn matrix_rank(
        &self,
        atol: Option<&Operand>,
        rtol: Option<&Operand>,
        hermitian: bool,
    ) -> Result<Tensor> {
        let (m, n) = check_matrix("linalg.matrix_rank", &self.read())?;
        let a = self.detach();
        let (mut atol, rtol) = tolerances(&a, atol, rtol)?;
        let shape = a.shape();
        let a = match smaller(&a)? {
            Some(smaller) => {
                atol = atol.mul_scalar(SMALLER)?;
                smaller
            }
            None => a,
        };
        if m.min(n) == 0 {
            return Tensor::zeros(super::batch(&shape), a.device().narrow(DType::I64), a.device());
        }
        let size = if hermitian { a.eigvalsh(true)?.unary(Unary::Abs)? } else { a.svdvals()? };
        size.gt(&threshold(&size, &atol, &rtol)?)?.count_nonzero(Some(&[-1]))
    }

    /// The condition number: by the 2-norm if none is named, infinite for singular matrices.
    pub fn cond(&self, order: Option<NormOrder>) -> Result<Tensor> {
        let op = "linalg.cond";
        let (m, n) = check_matrix(op, &self.read())?;
        let shape = self.shape();
        let dtype = self.dtype().to_real();
        match order {
            None => self.cond(Some(NormOrder::Number(2.0))),
            Some(NormOrder::Number(order)) if order.abs() == 2.0 => {
                if m.min(n) == 0 {
                    return Tensor::zeros(super::batch(&shape), dtype, self.device());
                }
                // The condition does not depend on the matrices' size.
                let values = smaller(self)?.as_ref().unwrap_or(self).svdvals()?;
                let (largest, smallest) = (values.select(-1, 0)?, values.select(-1, -1)?);
                if order > 0.0 { largest.div(&smallest) } else { smallest.div(&largest) }
            }
            Some(order) => {
                if let NormOrder::Number(number) = order
                    && number.abs() != 1.0
                    && !number.is_infinite()
                {
                    bail!(
                        Runtime,
                        "{op}: got an invalid norm type: {number}; expected 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc'"
                    );
                }
                check_square(op, &self.read())?;
                if n == 0 {
                    return Tensor::zeros(super::batch(&shape), dtype, self.device());
                }
                // By the factors, so that singular matrices are no error.
                let (lu, pivots) = self.lu_factor()?;
                let singular = diagonal(&lu)?.detach().eq_scalar(0.0)?.any(Some(&[-1]), false)?;
                let mask = singular.unsqueeze(-1)?.unsqueeze(-1)?;
                let eye = identity_like(self)?.expand_to(op, &shape)?;
                let inverse = lu.lu_solve(&pivots, &eye, true, false)?;
                let inverse = mask.where_(&eye, &inverse)?;
                let ratio = self
                    .matrix_norm(order, &[-2, -1], false, None)?
                    .mul(&inverse.matrix_norm(order, &[-2, -1], false, None)?)?;
                let infinite = Tensor::full(&[], f64::INFINITY, ratio.dtype(), ratio.device())?;
                singular.where_(&infinite, &ratio)
            }
        }
    }
}
