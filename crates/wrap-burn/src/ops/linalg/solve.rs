//! Linear systems with square matrices.

use kernels::Strided;
use kernels::linalg::LinalgElement;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{adjoint, check_matrix, check_pair, check_square, fault, same_batch};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::shape::broadcast;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// The inverse of every matrix.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct InvOp;

#[typetag::serde]
impl Primitive for InvOp {
    fn name(&self) -> &'static str {
        "linalg_inv"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_square("linalg.inv", inputs[0])?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.inv", a.dtype, T => single(Value::from_vec_as(
            kernels::linalg::inv(a.view::<T>()?).map_err(|error| fault("linalg.inv", a, error))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::OUTPUT
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let inverse = adjoint(&ctx.outputs[0])?;
        Ok(smallvec![Some(inverse.matmul(ctx.grad()?)?.matmul(&inverse)?.neg()?)])
    }
}

/// Refuses a matrix and a right-hand side whose rows differ.
fn check_rows(op: &str, a: &Value, b: &Value) -> Result<()> {
    let n = check_square(op, a)?;
    check_pair(op, a, b)?;
    let (rows, columns) = check_matrix(op, b)?;
    if rows != n {
        bail!(
            Runtime,
            "{op}: Incompatible shapes of A and B for the equation AX = B ({n}x{n} and \
             {rows}x{columns})"
        );
    }
    broadcast(op, super::batch(&a.shape), super::batch(&b.shape))?;
    Ok(())
}

/// The solution `X` of `A X = B` for pairs with one batch shape.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SolveOp;

#[typetag::serde]
impl Primitive for SolveOp {
    fn name(&self) -> &'static str {
        "linalg_solve"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_rows("linalg.solve", inputs[0], inputs[1])?;
        one(inputs[1].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        with_field!("linalg.solve", a.dtype, T => single(Value::from_vec_as(
            kernels::linalg::solve(a.view::<T>()?, b.view::<T>()?)
                .map_err(|error| fault("linalg.solve", a, error))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: needs[0] as u32 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let b = apply1(&SolveOp, &[&adjoint(&ctx.inputs[0])?, ctx.grad()?])?;
        let a =
            if ctx.needs[0] { Some(b.matmul(&adjoint(&ctx.outputs[0])?)?.neg()?) } else { None };
        Ok(smallvec![a, Some(b)])
    }
}

/// The solution `X` of `A X = B` for triangular `A`, in pairs with one batch shape.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SolveTriangularOp {
    /// Upper rather than lower triangular.
    pub upper: bool,
    /// Whether ones stand for the diagonal.
    pub unit: bool,
}

#[typetag::serde]
impl Primitive for SolveTriangularOp {
    fn name(&self) -> &'static str {
        "linalg_solve_triangular"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_rows("linalg.solve_triangular", inputs[0], inputs[1])?;
        one(inputs[1].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        fn solved<T: LinalgElement>(
            op: &SolveTriangularOp,
            a: Strided<T>,
            b: Strided<T>,
        ) -> Vec<T> {
            kernels::linalg::solve_triangular(a, b, op.upper, op.unit)
        }
        let (a, b) = (inputs[0], inputs[1]);
        with_field!("linalg.solve_triangular", a.dtype, T => single(Value::from_vec_as(
            solved::<T>(self, a.view()?, b.view()?),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: needs[0] as u32 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let flipped = Self { upper: !self.upper, ..*self };
        let b = apply1(&flipped, &[&adjoint(&ctx.inputs[0])?, ctx.grad()?])?;
        let a = if ctx.needs[0] {
            let full = b.matmul(&adjoint(&ctx.outputs[0])?)?.neg()?;
            let unit = self.unit as i64;
            Some(if self.upper { full.triu(unit)? } else { full.tril(-unit)? })
        } else {
            None
        };
        Ok(smallvec![a, Some(b)])
    }
}

impl Tensor {
    /// The inverse of every matrix.
    pub fn inv(&self) -> Result<Tensor> {
        apply1(&InvOp, &[self])
    }

    /// The solution `X` of `A X = B` (`X A = B` without `left`). `b` is a batch of vectors where it
    /// is 1-d or has the shape of `A` without its last dimension.
    pub fn solve(&self, b: &Tensor, left: bool) -> Result<Tensor> {
        check_square("linalg.solve", &self.read())?;
        let (shape, right) = (self.shape(), b.shape());
        let vector = right.len() == 1 || right.as_slice() == &shape[..shape.len() - 1];
        if vector {
            if !left {
                bail!(
                    Runtime,
                    "linalg.solve: Vector broadcasting of the left hand side is not supported for \
                     left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
                );
            }
            let (a, b) = same_batch("linalg.solve", self, &b.unsqueeze(-1)?)?;
            return apply1(&SolveOp, &[&a, &b])?.squeeze(Some(&[-1]));
        }
        if left || right.len() < 2 {
            let (a, b) = same_batch("linalg.solve", self, b)?;
            return apply1(&SolveOp, &[&a, &b]);
        }
        let (a, b) = same_batch("linalg.solve", &self.transpose(-2, -1)?, &b.transpose(-2, -1)?)?;
        apply1(&SolveOp, &[&a, &b])?.transpose(-2, -1)
    }

    /// The solution `X` of `A X = B` (`X A = B` without `left`) for triangular `A`; with
    /// `unitriangular` its diagonal counts as ones.
    pub fn solve_triangular(
        &self,
        b: &Tensor,
        upper: bool,
        left: bool,
        unitriangular: bool,
    ) -> Result<Tensor> {
        let op = "linalg.solve_triangular";
        let transposed =
            |x: &Tensor| if left || x.rank() < 2 { Ok(x.clone()) } else { x.transpose(-2, -1) };
        let (a, b) = same_batch(op, &transposed(self)?, &transposed(b)?)?;
        let primitive = SolveTriangularOp { upper: upper == left, unit: unitriangular };
        transposed(&apply1(&primitive, &[&a, &b])?)
    }
}
