//! Least squares.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::pinv::pinv_slope;
use super::{adjoint, batch, batched, check_matrix, check_pair, fault, matrices, same_batch};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply};
use crate::ops::binary::Operand;
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, Scalar, bail};

/// The solution of smallest norm that comes closest, for pairs with one batch shape; with it the
/// ranks and the singular values.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LstsqOp {
    /// Singular values up to this times the largest count as zero.
    pub rcond: Option<f64>,
}

#[typetag::serde]
impl Primitive for LstsqOp {
    fn name(&self) -> &'static str {
        "linalg_lstsq"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let op = "torch.linalg.lstsq";
        let (a, b) = (inputs[0], inputs[1]);
        let (m, n) = check_matrix(op, a)?;
        check_pair(op, a, b)?;
        let (rows, k) = check_matrix(op, b)?;
        if rows != m {
            bail!(
                Runtime,
                "{op}: input.size(-2) should match other.size(-2), got shapes {:?} and {:?}",
                a.shape,
                b.shape
            );
        }
        let outer = batch(&a.shape);
        Ok([
            matrices(outer, &[n, k], a.dtype),
            matrices(outer, &[], a.device().narrow(DType::I64)),
            matrices(outer, &[m.min(n)], a.dtype.to_real()),
        ]
        .into_iter()
        .collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        with_field!("linalg.lstsq", a.dtype, T => {
            let rcond = self.rcond.map(|rcond| rcond as _);
            let solved = kernels::linalg::lstsq(a.view::<T>()?, b.view::<T>()?, rcond)
                .map_err(|error| fault("linalg.lstsq", a, error))?;
            Ok([
                Value::from_vec_as(solved.solution, out[0].shape.clone(), out[0].dtype),
                Value::from_vec(solved.rank, out[1].shape.clone()),
                Value::from_vec_as(solved.singular_values, out[2].shape.clone(), out[2].dtype),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (a, b) = (&ctx.inputs[0], &ctx.inputs[1]);
        let mut grads: Grads = smallvec![None, None];
        if let Some(g) = &ctx.grads[0] {
            let rcond = self.rcond.map(|rcond| Operand::Scalar(Scalar::Float(rcond)));
            let inverse = a.pinv(None, rcond.as_ref(), false)?;
            if ctx.needs[0] {
                grads[0] = Some(pinv_slope(&g.matmul(&adjoint(b)?)?, a, &inverse)?);
            }
            if ctx.needs[1] {
                grads[1] = Some(adjoint(&inverse)?.matmul(g)?);
            }
        }
        if let (Some(g), true) = (&ctx.grads[2], ctx.needs[0]) {
            let (u, _, vh) = a.svd(false)?;
            let grad = u.mul(&g.unsqueeze(-2)?)?.matmul(&vh)?;
            grads[0] = super::sum_of(grads[0].take(), Some(grad))?;
        }
        Ok(grads)
    }
}

/// What least squares give; parts the driver does not compute have no elements.
pub struct Lstsq {
    /// The solutions.
    pub solution: Tensor,
    /// The squared distances, where there are more rows than columns and no rank is short.
    pub residuals: Tensor,
    /// The ranks.
    pub rank: Tensor,
    /// The singular values, descending.
    pub singular_values: Tensor,
}

impl Tensor {
    /// The `X` for which `A X` comes closest to `b`. `driver` is one of LAPACK's `gels`, `gelsy` (the
    /// default), `gelsd` and `gelss`; it decides which parts are given.
    pub fn lstsq(&self, b: &Tensor, rcond: Option<f64>, driver: Option<&str>) -> Result<Lstsq> {
        let op = "torch.linalg.lstsq";
        let driver = driver.unwrap_or("gelsy");
        if !matches!(driver, "gels" | "gelsy" | "gelsd" | "gelss") {
            bail!(
                Runtime,
                "{op}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got '{driver}'"
            );
        }
        let (m, n) = check_matrix(op, &self.read())?;
        let (shape, right) = (self.shape(), b.shape());
        let vector =
            right.len() + 1 == shape.len() && right.as_slice() == &shape[..shape.len() - 1];
        let columns = if vector { b.unsqueeze(-1)? } else { b.clone() };
        let (a, columns) = same_batch(op, self, &columns)?;
        // The full-rank driver drops nothing.
        let rcond = if driver == "gels" { Some(0.0) } else { rcond };
        let mut parts = apply(&LstsqOp { rcond }, &[&a, &columns])?;
        let singular_values = parts.pop().expect("three outputs");
        let rank = parts.pop().expect("three outputs");
        let solution = parts.pop().expect("three outputs");
        let (real, device) = (a.dtype().to_real(), a.device());
        let nothing = |dtype: DType| Tensor::zeros(&[0], dtype, device);
        let full = m > n
            && driver != "gelsy"
            && (driver == "gels" || !rank.lt_scalar(n as i64)?.any(None, false)?.item()?.to_bool());
        let residuals = if full {
            let distance = a.matmul(&solution)?.sub(&columns)?;
            distance.unary(Unary::Abs)?.square()?.sum(Some(&[-2]), false)?
        } else {
            // No elements, but of the solution's history, as that of the residuals would be.
            let flat = solution.reshape_to(&[solution.numel()])?;
            flat.slice(0, 0, 0, 1)?.unary(Unary::Abs)?
        };
        let solution = if vector {
            let a_shape = a.shape();
            solution.reshape_to(&batched(batch(&a_shape), &[n]))?
        } else {
            solution
        };
        Ok(Lstsq {
            solution,
            residuals,
            rank: if driver == "gels" { nothing(rank.dtype())? } else { rank },
            singular_values: match driver {
                "gelsd" | "gelss" => singular_values,
                _ => nothing(real)?,
            },
        })
    }
}
