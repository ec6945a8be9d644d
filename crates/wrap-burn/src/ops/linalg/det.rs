//! Determinants.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{adjoint, batch, check_square, identity, identity_like, matrices};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, Scalar};

/// The determinant of every matrix.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DetOp;

#[typetag::serde]
impl Primitive for DetOp {
    fn name(&self) -> &'static str {
        "linalg_det"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_square("linalg.det", inputs[0])?;
        one(matrices(batch(&inputs[0].shape), &[], inputs[0].dtype))
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.det", out[0].dtype, T => single(Value::from_vec_as(
            kernels::linalg::det(inputs[0].view::<T>()?),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: 1 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, a, det) = (ctx.grad()?, &ctx.inputs[0], &ctx.outputs[0]);
        let column = |x: &Tensor| x.unsqueeze(-1)?.unsqueeze(-1);
        if det.eq_scalar(0.0)?.any(None, false)?.item()?.to_bool() {
            return Ok(smallvec![Some(column(g)?.mul(&cofactors(a)?)?)]);
        }
        let scaled = column(&g.mul(&det.conj()?)?)?.mul(&identity_like(a)?)?;
        Ok(smallvec![Some(adjoint(a)?.solve(&scaled, true)?)])
    }
}

/// The conjugated matrix of cofactors, which exists for singular matrices too: with `A = U S V^H`
/// it is `conj(det U det V^H) U C V^H`, where the diagonal `C` holds the products of all the other
/// singular values.
fn cofactors(a: &Tensor) -> Result<Tensor> {
    let (u, s, vh) = a.svd(true)?;
    let shape = s.shape();
    let n = shape[shape.len() - 1];
    // Row i of the matrix holds the singular values with a one in place of the i-th.
    let eye = identity(n, s.dtype(), s.device())?;
    let others = s.unsqueeze(-2)?.mul(&eye.neg()?.add_scalar(1.0)?)?.add(&eye)?;
    let products = others.prod(Some(&[-1]), false)?;
    let phase = u.det()?.mul(&vh.det()?)?.conj()?.unsqueeze(-1)?.unsqueeze(-1)?;
    u.mul(&products.unsqueeze(-2)?)?.matmul(&vh)?.mul(&phase)
}

/// The sign (or phase) of every determinant and the logarithm of its absolute value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SlogdetOp;

#[typetag::serde]
impl Primitive for SlogdetOp {
    fn name(&self) -> &'static str {
        "linalg_slogdet"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        check_square("linalg.slogdet", a)?;
        let outer = batch(&a.shape);
        Ok([matrices(outer, &[], a.dtype), matrices(outer, &[], a.dtype.to_real())]
            .into_iter()
            .collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.slogdet", inputs[0].dtype, T => {
            let (sign, log) = kernels::linalg::slogdet(inputs[0].view::<T>()?);
            Ok([
                Value::from_vec_as(sign, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(log, out[1].shape.clone(), out[1].dtype),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: 1 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (a, sign) = (&ctx.inputs[0], &ctx.outputs[0]);
        let mut factor = ctx.grads[1].clone();
        if let Some(g) = &ctx.grads[0]
            && a.dtype().is_complex()
        {
            // The phase turns by the imaginary part of d log det.
            let turn = g.conj()?.mul(sign)?.imag()?.mul_scalar(Scalar::Complex(0.0, -1.0))?;
            factor = super::sum_of(factor, Some(turn))?;
        }
        let Some(factor) = factor else {
            return Ok(smallvec![Some(a.mul_scalar(0.0)?)]);
        };
        // By the factors, so that a singular matrix gives infinities and not an error.
        let (lu, pivots) = a.lu_factor()?;
        let shape = a.shape();
        let eye = identity_like(a)?.expand_to("linalg.slogdet", &shape)?;
        let inverse = lu.lu_solve(&pivots, &eye, true, true)?;
        let factor = factor.unsqueeze(-1)?.unsqueeze(-1)?;
        Ok(smallvec![Some(inverse.mul(&factor)?)])
    }
}

impl Tensor {
    /// The determinant of every matrix.
    pub fn det(&self) -> Result<Tensor> {
        apply1(&DetOp, &[self])
    }

    /// The sign (or phase) of every determinant and the logarithm of its absolute value.
    pub fn slogdet(&self) -> Result<(Tensor, Tensor)> {
        let mut both = apply(&SlogdetOp, &[self])?;
        let log = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), log))
    }

    /// The logarithm of every determinant, NaN where a real one is negative.
    pub fn logdet(&self) -> Result<Tensor> {
        let (sign, log) = self.slogdet()?;
        if sign.dtype().is_complex() {
            return sign.unary(Unary::Log)?.add(&log);
        }
        let nan = Tensor::full(&[], f64::NAN, log.dtype(), log.device())?;
        sign.lt_scalar(0.0)?.where_(&nan, &log)
    }
}
