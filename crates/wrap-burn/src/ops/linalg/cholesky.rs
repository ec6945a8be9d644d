//! The factor of positive-definite matrices.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{adjoint, batch, check_square, fault, identity_like, matrices};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// The lower triangular `L` with `L L^H = A`, of which the lower triangle is read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CholeskyOp;

#[typetag::serde]
impl Primitive for CholeskyOp {
    fn name(&self) -> &'static str {
        "linalg_cholesky"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_square("linalg.cholesky", inputs[0])?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.cholesky", a.dtype, T => single(Value::from_vec_as(
            kernels::linalg::cholesky(a.view::<T>()?, false)
                .map_err(|error| fault("linalg.cholesky", a, error))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::OUTPUT
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(slope(ctx.grad()?, &ctx.outputs[0])?)])
    }
}

/// The same, with zero for every matrix or the order of its first leading minor that is not
/// positive definite.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CholeskyExOp;

#[typetag::serde]
impl Primitive for CholeskyExOp {
    fn name(&self) -> &'static str {
        "linalg_cholesky_ex"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        check_square("linalg.cholesky_ex", a)?;
        Ok([a.to_meta(), matrices(batch(&a.shape), &[], DType::I32)].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.cholesky_ex", inputs[0].dtype, T => {
            let (factors, info) = kernels::linalg::cholesky_ex(inputs[0].view::<T>()?, false);
            Ok([
                Value::from_vec_as(factors, out[0].shape.clone(), out[0].dtype),
                Value::from_vec(info, out[1].shape.clone()),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::OUTPUT
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        Ok(smallvec![Some(slope(ctx.grad()?, &ctx.outputs[0])?)])
    }
}

/// `L^-H S L^-1`, where `S` is the Hermitian matrix with the lower triangle of `L^H g`, its
/// diagonal halved, all of it halved once more.
fn slope(g: &Tensor, l: &Tensor) -> Result<Tensor> {
    let lh = adjoint(l)?;
    let lower = lh.matmul(g)?.tril(0)?;
    let halves = identity_like(l)?.mul_scalar(-0.25)?.add_scalar(0.5)?;
    let middle = lower.add(&adjoint(&lower)?)?.mul(&halves)?;
    let left = lh.solve_triangular(&middle, true, true, false)?;
    l.solve_triangular(&left, false, false, false)
}

impl Tensor {
    /// The Cholesky factor: lower triangular `L` with `L L^H = A`, or upper `U` with `U^H U = A`.
    pub fn cholesky(&self, upper: bool) -> Result<Tensor> {
        if !upper || self.rank() < 2 {
            return apply1(&CholeskyOp, &[self]);
        }
        adjoint(&apply1(&CholeskyOp, &[&adjoint(self)?])?)
    }

    /// [`cholesky`](Tensor::cholesky) without an error, and for every matrix zero or the order of
    /// its first leading minor that is not positive definite.
    pub fn cholesky_ex(&self, upper: bool) -> Result<(Tensor, Tensor)> {
        let turn = upper && self.rank() >= 2;
        let a = if turn { adjoint(self)? } else { self.clone() };
        let mut both = apply(&CholeskyExOp, &[&a])?;
        let info = both.pop().expect("two outputs");
        let factor = both.pop().expect("two outputs");
        Ok((if turn { adjoint(&factor)? } else { factor }, info))
    }

    /// The solution of `A X = B` for the Cholesky factor of `A`, which is this tensor.
    pub fn cholesky_solve(&self, b: &Tensor, upper: bool) -> Result<Tensor> {
        if self.rank() < 2 || b.rank() < 2 {
            bail!(
                Runtime,
                "cholesky_solve: b and u should have at least 2 dimensions, but have shapes {:?} and \
                 {:?}",
                b.shape(),
                self.shape()
            );
        }
        let (lower, other) =
            if upper { (adjoint(self)?, self.clone()) } else { (self.clone(), adjoint(self)?) };
        let half = lower.solve_triangular(b, false, true, false)?;
        other.solve_triangular(&half, true, true, false)
    }

    /// The inverse of the matrix whose Cholesky factor this is.
    pub fn cholesky_inverse(&self, upper: bool) -> Result<Tensor> {
        check_square("cholesky_inverse", &self.read())?;
        self.cholesky_solve(&identity_like(self)?, upper)
    }
}
