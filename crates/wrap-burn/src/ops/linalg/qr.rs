//! The factorisation into an orthonormal basis and a triangle.

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use super::{
    adjoint, batch, check_matrix, check_pair, diagonal, diagonal_matrix, identity, matrices,
};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// How much of the factors is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QrMode {
    /// `Q` of shape `(m, min(m, n))`.
    Reduced,
    /// `Q` of shape `(m, m)`.
    Complete,
    /// No `Q`.
    R,
}

/// `Q` and `R` with `A = Q R`; `Q` has no elements where it is not wanted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct QrOp {
    /// How much is wanted.
    pub mode: QrMode,
}

#[typetag::serde]
impl Primitive for QrOp {
    fn name(&self) -> &'static str {
        "linalg_qr"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let (m, n) = check_matrix("linalg.qr", a)?;
        let outer = batch(&a.shape);
        let k = if self.mode == QrMode::Complete { m } else { m.min(n) };
        let q = match self.mode {
            QrMode::R => Meta::new([0usize].as_slice(), a.dtype),
            _ => matrices(outer, &[m, k], a.dtype),
        };
        Ok([q, matrices(outer, &[k, n], a.dtype)].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.qr", inputs[0].dtype, T => {
            let (mut q, r) = kernels::linalg::qr(inputs[0].view::<T>()?, self.mode == QrMode::Complete);
            if self.mode == QrMode::R {
                q.clear();
            }
            Ok([
                Value::from_vec_as(q, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(r, out[1].shape.clone(), out[1].dtype),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 1, outputs: 3 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (a, q, r) = (&ctx.inputs[0], &ctx.outputs[0], &ctx.outputs[1]);
        let shape = a.shape();
        let rank = shape.len();
        let (m, n) = (shape[rank - 2], shape[rank - 1]);
        if self.mode == QrMode::R {
            bail!(
                Runtime,
                "linalg.qr: the derivative depends on Q, which is not computed when mode='r'; hint: \
                 use mode='reduced' if you are going to require gradients"
            );
        }
        if self.mode == QrMode::Complete && m > n {
            bail!(
                Runtime,
                "linalg.qr: the QR decomposition is not differentiable when mode='complete' and \
                 nrows > ncols, got shape {shape:?}"
            );
        }
        let (gq, gr) = (ctx.grads[0].clone(), ctx.grads[1].clone());
        if m >= n {
            return Ok(smallvec![Some(tall(gq, gr, q, r)?)]);
        }
        // The left part fixes Q; the right one is Q times the rest of R.
        let left = |x: &Tensor| x.slice(rank - 1, 0, m, 1);
        let right = |x: &Tensor| x.slice(rank - 1, m, n - m, 1);
        let Some(gr) = gr else {
            let grad = tall(gq, None, q, &left(r)?)?;
            let rest = right(a)?.mul_scalar(0.0)?;
            return Ok(smallvec![Some(Tensor::cat(&[grad, rest], -1)?)]);
        };
        let through = right(a)?.matmul(&adjoint(&right(&gr)?)?)?;
        let gq = super::sum_of(gq, Some(through))?;
        let grad = tall(gq, Some(left(&gr)?), q, &left(r)?)?;
        Ok(smallvec![Some(Tensor::cat(&[grad, q.matmul(&right(&gr)?)?], -1)?)])
    }
}

/// `[gQ + Q H] R^-H`, where `H` is the Hermitian matrix with the upper triangle of
/// `gR R^H - Q^H gQ`.
fn tall(gq: Option<Tensor>, gr: Option<Tensor>, q: &Tensor, r: &Tensor) -> Result<Tensor> {
    let rh = adjoint(r)?;
    let from_r = gr.map(|gr| gr.triu(0)?.matmul(&rh)).transpose()?;
    let from_q = gq.as_ref().map(|gq| adjoint(q)?.matmul(gq)?.neg()).transpose()?;
    let Some(both) = super::sum_of(from_r, from_q)? else {
        return q.matmul(r)?.mul_scalar(0.0);
    };
    let upper = both.triu(0)?;
    let hermitian =
        upper.add(&adjoint(&upper)?)?.sub(&diagonal_matrix(&diagonal(&upper)?.real()?)?)?;
    let turned = q.matmul(&hermitian)?;
    let inner = match gq {
        Some(gq) => gq.add(&turned)?,
        None => turned,
    };
    rh.solve_triangular(&inner, false, false, false)
}

/// The first columns of a product of reflections, given by vectors below the diagonal and factors.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HouseholderProductOp;

#[typetag::serde]
impl Primitive for HouseholderProductOp {
    fn name(&self) -> &'static str {
        "linalg_householder_product"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let op = "linalg.householder_product";
        let (v, tau) = (inputs[0], inputs[1]);
        let (m, n) = check_matrix(op, v)?;
        check_pair(op, v, tau)?;
        if m < n {
            bail!(
                Runtime,
                "{op}: input.shape[-2] must be greater than or equal to input.shape[-1], got shape {:?}",
                v.shape
            );
        }
        if tau.rank() + 1 != v.rank() || tau.shape[..tau.rank() - 1] != *batch(&v.shape) {
            bail!(
                Runtime,
                "{op}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {:?} \
                 for input {:?}",
                tau.shape,
                v.shape
            );
        }
        if tau.shape[tau.rank() - 1] > n {
            bail!(
                Runtime,
                "{op}: input.shape[-1] must be greater than or equal to tau.shape[-1], got {:?} and {:?}",
                v.shape,
                tau.shape
            );
        }
        one(v.to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.householder_product", inputs[0].dtype, T => single(Value::from_vec_as(
            kernels::linalg::householder_product(inputs[0].view::<T>()?, inputs[1].view::<T>()?),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (v, tau) = (&ctx.inputs[0], &ctx.inputs[1]);
        let shape = v.shape();
        let rank = shape.len();
        let (m, n) = (shape[rank - 2], shape[rank - 1]);
        let k = tau.shape()[rank - 2];
        let mut g = ctx.grad()?.clone();
        let column = |i: usize| -> Result<Tensor> {
            let below = v.slice(rank - 1, i, 1, 1)?.slice(rank - 2, i + 1, m - i - 1, 1)?;
            let top =
                identity(m, v.dtype(), v.device())?.slice(0, 0, i + 1, 1)?.slice(1, i, 1, 1)?;
            let top = top.expand_to(
                "linalg.householder_product",
                &super::batched(batch(&shape), &[i + 1, 1]),
            )?;
            Tensor::cat(&[top, below], -2)
        };
        let factor = |i: usize| tau.slice(rank - 2, i, 1, 1)?.unsqueeze(-1);
        // The products of the last reflections, each with its left neighbour still to come.
        let mut products = vec![identity(m, v.dtype(), v.device())?.slice(1, 0, n, 1)?];
        for i in (0..k).rev() {
            let (reflector, last) = (column(i)?, &products[products.len() - 1]);
            let along = adjoint(&reflector)?.matmul(last)?;
            let next = last.sub(&reflector.matmul(&along)?.mul(&factor(i)?)?)?;
            products.push(next);
        }
        let (mut columns, mut factors): (SmallVec<[Tensor; 8]>, SmallVec<[Tensor; 8]>) =
            Default::default();
        for i in 0..k {
            let (reflector, factor) = (column(i)?, factor(i)?);
            let rest = &products[k - 1 - i];
            let along = adjoint(&reflector)?.matmul(rest)?;
            let g_factor =
                g.mul(&reflector.matmul(&along)?.conj()?)?.sum(Some(&[-2, -1]), false)?.neg()?;
            factors.push(g_factor.unsqueeze(-1)?);
            let turned = factor.conj()?;
            let first = g.matmul(&adjoint(&along)?)?.mul(&turned)?;
            let second = rest.matmul(&adjoint(&g)?)?.matmul(&reflector)?.mul(&factor)?;
            let slope = first.add(&second)?.neg()?;
            let above = slope.slice(rank - 2, 0, i + 1, 1)?.mul_scalar(0.0)?;
            columns.push(Tensor::cat(&[above, slope.slice(rank - 2, i + 1, m - i - 1, 1)?], -2)?);
            g = g.sub(&reflector.matmul(&adjoint(&reflector)?.matmul(&g)?)?.mul(&turned)?)?;
        }
        if n > k {
            columns.push(v.slice(rank - 1, k, n - k, 1)?.mul_scalar(0.0)?);
        }
        if k == 0 {
            return Ok(smallvec![Some(v.mul_scalar(0.0)?), Some(tau.mul_scalar(0.0)?)]);
        }
        Ok(smallvec![Some(Tensor::cat(&columns, -1)?), Some(Tensor::cat(&factors, -1)?)])
    }
}

impl Tensor {
    /// `Q` and `R` with `A = Q R`; with [`QrMode::R`] `Q` is empty.
    pub fn qr(&self, mode: QrMode) -> Result<(Tensor, Tensor)> {
        let mut both = apply(&QrOp { mode }, &[self])?;
        let r = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), r))
    }

    /// The first columns of the product of the reflections that LAPACK's `geqrf` packs below the
    /// diagonal, with their factors `tau`.
    pub fn householder_product(&self, tau: &Tensor) -> Result<Tensor> {
        apply1(&HouseholderProductOp, &[self, tau])
    }

    /// The reflections of a QR factorisation as LAPACK packs them, and their factors.
    pub fn geqrf(&self) -> Result<(Tensor, Tensor)> {
        let mut both = apply(&GeqrfOp, &[self])?;
        let tau = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), tau))
    }
}

/// The reflections of a QR factorisation, packed below `R`, and their factors.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct GeqrfOp;

#[typetag::serde]
impl Primitive for GeqrfOp {
    fn name(&self) -> &'static str {
        "geqrf"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let (m, n) = check_matrix("geqrf", a)?;
        Ok([a.to_meta(), matrices(batch(&a.shape), &[m.min(n)], a.dtype)].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("geqrf", inputs[0].dtype, T => {
            let (packed, taus) = kernels::linalg::geqrf(inputs[0].view::<T>()?);
            Ok([
                Value::from_vec_as(packed, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(taus, out[1].shape.clone(), out[1].dtype),
            ].into_iter().collect())
        })
    }
}
