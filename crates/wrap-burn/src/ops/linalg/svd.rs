//! Singular values and vectors.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{
    adjoint, batch, check_matrix, diagonal, diagonal_matrix, fault, identity, matrices, sum_of,
};
use crate::Result;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};

/// `U`, `S` and `V^H` with `A = U S V^H`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SvdOp {
    /// Complete bases rather than as many vectors as singular values.
    pub full: bool,
}

#[typetag::serde]
impl Primitive for SvdOp {
    fn name(&self) -> &'static str {
        "linalg_svd"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let (m, n) = check_matrix("linalg.svd", a)?;
        let (outer, k) = (batch(&a.shape), m.min(n));
        let (left, right) = if self.full { (m, n) } else { (k, k) };
        Ok([
            matrices(outer, &[m, left], a.dtype),
            matrices(outer, &[k], a.dtype.to_real()),
            matrices(outer, &[right, n], a.dtype),
        ]
        .into_iter()
        .collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.svd", a.dtype, T => {
            let parts = kernels::linalg::svd(a.view::<T>()?, self.full)
                .map_err(|error| fault("linalg.svd", a, error))?;
            Ok([
                Value::from_vec_as(parts.u, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(parts.s, out[1].shape.clone(), out[1].dtype),
                Value::from_vec_as(parts.vh, out[2].shape.clone(), out[2].dtype),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 7 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let shape = ctx.inputs[0].shape();
        let rank = shape.len();
        let (m, n) = (shape[rank - 2], shape[rank - 1]);
        let k = m.min(n);
        // Vectors beyond the singular values are arbitrary; no gradient flows through them.
        let columns = |x: &Tensor| x.slice(rank - 1, 0, k, 1);
        let rows = |x: &Tensor| x.slice(rank - 2, 0, k, 1);
        let (u, s, vh) = (columns(&ctx.outputs[0])?, &ctx.outputs[1], rows(&ctx.outputs[2])?);
        let gu = ctx.grads[0].as_ref().map(columns).transpose()?;
        let gvh = ctx.grads[2].as_ref().map(rows).transpose()?;
        let (down, across) = (s.unsqueeze(-1)?, s.unsqueeze(-2)?);
        let skew = |x: Tensor| x.sub(&adjoint(&x)?);
        let eye = identity(k, s.dtype(), s.device())?;
        let gaps = across.square()?.sub(&down.square()?)?.add(&eye)?;
        let mut gauge = None;
        let from_u = match &gu {
            Some(gu) => {
                let turn = skew(adjoint(&u)?.matmul(gu)?)?;
                if turn.dtype().is_complex() && gvh.is_some() {
                    gauge = Some(diagonal_matrix(&diagonal(&turn)?.div(&s.mul_scalar(2.0)?)?)?);
                }
                Some(turn.mul(&across)?)
            }
            None => None,
        };
        let from_v = match &gvh {
            Some(gvh) => Some(skew(vh.matmul(&adjoint(gvh)?)?)?.mul(&down)?),
            None => None,
        };
        let turned = sum_of(from_u, from_v)?.map(|both| both.div(&gaps)).transpose()?;
        let stretched = ctx.grads[1].as_ref().map(diagonal_matrix).transpose()?;
        let middle = match sum_of(sum_of(turned, stretched)?, gauge)? {
            // The singular values' gradient alone is real.
            Some(middle) => middle.to_dtype(u.dtype())?,
            None => u.matmul(&down.mul(&vh)?)?.mul_scalar(0.0)?,
        };
        let grad = if let (true, Some(gu)) = (m > k, &gu) {
            let out = gu.div(&across)?;
            let outside = out.sub(&u.matmul(&adjoint(&u)?.matmul(&out)?)?)?;
            u.matmul(&middle)?.add(&outside)?.matmul(&vh)?
        } else if let (true, Some(gvh)) = (n > k, &gvh) {
            let out = gvh.div(&down)?;
            let outside = out.sub(&out.matmul(&adjoint(&vh)?)?.matmul(&vh)?)?;
            u.matmul(&middle.matmul(&vh)?.add(&outside)?)?
        } else {
            u.matmul(&middle)?.matmul(&vh)?
        };
        Ok(smallvec![Some(grad)])
    }
}

/// The singular values alone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SvdvalsOp;

#[typetag::serde]
impl Primitive for SvdvalsOp {
    fn name(&self) -> &'static str {
        "linalg_svdvals"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let (m, n) = check_matrix("linalg.svdvals", a)?;
        one(matrices(batch(&a.shape), &[m.min(n)], a.dtype.to_real()))
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.svdvals", a.dtype, T => single(Value::from_vec_as(
            kernels::linalg::svdvals(a.view::<T>()?).map_err(|error| fault("linalg.svdvals", a, error))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (u, _, vh) = ctx.inputs[0].svd(false)?;
        Ok(smallvec![Some(u.mul(&ctx.grad()?.unsqueeze(-2)?)?.matmul(&vh)?)])
    }
}

impl Tensor {
    /// `U`, `S` and `V^H` with `A = U S V^H`, singular values descending.
    pub fn svd(&self, full_matrices: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let mut parts = apply(&SvdOp { full: full_matrices }, &[self])?;
        let vh = parts.pop().expect("three outputs");
        let s = parts.pop().expect("three outputs");
        Ok((parts.pop().expect("three outputs"), s, vh))
    }

    /// The singular values, descending.
    pub fn svdvals(&self) -> Result<Tensor> {
        apply1(&SvdvalsOp, &[self])
    }
}
