//! Eigenvalues and eigenvectors.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{
    adjoint, batch, check_square, diagonal, diagonal_matrix, fault, identity, matrices, sum_of,
};
use crate::Result;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};

/// Eigenvalues, ascending, and orthonormal eigenvectors of Hermitian matrices.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EighOp {
    /// The lower triangle is read, not the upper.
    pub lower: bool,
}

#[typetag::serde]
impl Primitive for EighOp {
    fn name(&self) -> &'static str {
        "linalg_eigh"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let n = check_square("linalg.eigh", a)?;
        Ok([matrices(batch(&a.shape), &[n], a.dtype.to_real()), a.to_meta()].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.eigh", a.dtype, T => {
            let (values, vectors) = kernels::linalg::eigh(a.view::<T>()?, self.lower)
                .map_err(|error| fault("linalg.eigh", a, error))?;
            Ok([
                Value::from_vec_as(values, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(vectors, out[1].shape.clone(), out[1].dtype),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 3 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (values, vectors) = (&ctx.outputs[0], &ctx.outputs[1]);
        let vh = adjoint(vectors)?;
        let turned = match &ctx.grads[1] {
            // Only the skew part says how the vectors turn, so that the gradient is Hermitian.
            Some(g) => {
                let turn = vh.matmul(g)?;
                let skew = turn.sub(&adjoint(&turn)?)?.mul_scalar(0.5)?;
                Some(between(&skew, values)?)
            }
            None => None,
        };
        let stretched = ctx.grads[0].as_ref().map(diagonal_matrix).transpose()?;
        let Some(middle) = sum_of(turned, stretched)? else {
            return Ok(smallvec![Some(vectors.mul_scalar(0.0)?)]);
        };
        // The values' gradient alone is real.
        let middle = middle.to_dtype(vectors.dtype())?;
        Ok(smallvec![Some(vectors.matmul(&middle)?.matmul(&vh)?)])
    }
}

/// `x` divided by the distances of the (conjugated) eigenvalues, with zeros on the diagonal.
fn between(x: &Tensor, values: &Tensor) -> Result<Tensor> {
    let shape = values.shape();
    let eye = identity(shape[shape.len() - 1], values.dtype(), values.device())?;
    let gaps = values.unsqueeze(-2)?.sub(&values.unsqueeze(-1)?)?.conj()?.add(&eye)?;
    x.div(&gaps)?.mul(&eye.neg()?.add_scalar(1.0)?)
}

/// The eigenvalues of Hermitian matrices alone, ascending.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EigvalshOp {
    /// The lower triangle is read, not the upper.
    pub lower: bool,
}

#[typetag::serde]
impl Primitive for EigvalshOp {
    fn name(&self) -> &'static str {
        "linalg_eigvalsh"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let n = check_square("linalg.eigvalsh", a)?;
        one(matrices(batch(&a.shape), &[n], a.dtype.to_real()))
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.eigvalsh", a.dtype, T => single(Value::from_vec_as(
            kernels::linalg::eigvalsh(a.view::<T>()?, self.lower)
                .map_err(|error| fault("linalg.eigvalsh", a, error))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (_, vectors) = ctx.inputs[0].eigh(self.lower)?;
        let scaled = vectors.mul(&ctx.grad()?.unsqueeze(-2)?)?;
        Ok(smallvec![Some(scaled.matmul(&adjoint(&vectors)?)?)])
    }
}

/// Complex eigenvalues and eigenvectors of any square matrices.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EigOp;

#[typetag::serde]
impl Primitive for EigOp {
    fn name(&self) -> &'static str {
        "linalg_eig"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let n = check_square("linalg.eig", a)?;
        let (outer, dtype) = (batch(&a.shape), a.dtype.to_complex());
        Ok([matrices(outer, &[n], dtype), matrices(outer, &[n, n], dtype)].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.eig", a.dtype, T => {
            let (values, vectors) =
                kernels::linalg::eig(a.view::<T>()?).map_err(|error| fault("linalg.eig", a, error))?;
            Ok([
                Value::from_vec_as(values, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(vectors, out[1].shape.clone(), out[1].dtype),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 3 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (values, vectors) = (&ctx.outputs[0], &ctx.outputs[1]);
        let vh = adjoint(vectors)?;
        let turned = match &ctx.grads[1] {
            Some(g) => {
                let turn = vh.matmul(g)?;
                // Vectors keep their length.
                let stretch = diagonal(&turn)?.real()?.unsqueeze(-2)?;
                Some(between(&turn.sub(&vh.matmul(&vectors.mul(&stretch)?)?)?, values)?)
            }
            None => None,
        };
        let stretched = ctx.grads[0].as_ref().map(diagonal_matrix).transpose()?;
        let Some(middle) = sum_of(turned, stretched)? else {
            return Ok(smallvec![None]);
        };
        Ok(smallvec![Some(back(&vh, &middle, &ctx.inputs[0])?)])
    }
}

/// `V^-H middle V^H`, without its imaginary part where the matrices are real.
fn back(vh: &Tensor, middle: &Tensor, a: &Tensor) -> Result<Tensor> {
    let grad = vh.solve(&middle.matmul(vh)?, true)?;
    if a.dtype().is_complex() { Ok(grad) } else { grad.real() }
}

/// The complex eigenvalues alone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EigvalsOp;

#[typetag::serde]
impl Primitive for EigvalsOp {
    fn name(&self) -> &'static str {
        "linalg_eigvals"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let n = check_square("linalg.eigvals", a)?;
        one(matrices(batch(&a.shape), &[n], a.dtype.to_complex()))
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let a = inputs[0];
        with_field!("linalg.eigvals", a.dtype, T => single(Value::from_vec_as(
            kernels::linalg::eigvals(a.view::<T>()?)
                .map_err(|error| fault("linalg.eigvals", a, error))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (_, vectors) = ctx.inputs[0].eig()?;
        let middle = diagonal_matrix(ctx.grad()?)?;
        Ok(smallvec![Some(back(&adjoint(&vectors)?, &middle, &ctx.inputs[0])?)])
    }
}

impl Tensor {
    fn eigen_pair(op: &dyn Primitive, a: &Tensor) -> Result<(Tensor, Tensor)> {
        let mut both = apply(op, &[a])?;
        let vectors = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), vectors))
    }

    /// Eigenvalues, ascending, and eigenvectors (as columns) of Hermitian matrices.
    pub fn eigh(&self, lower: bool) -> Result<(Tensor, Tensor)> {
        Tensor::eigen_pair(&EighOp { lower }, self)
    }

    /// Eigenvalues of Hermitian matrices, ascending.
    pub fn eigvalsh(&self, lower: bool) -> Result<Tensor> {
        apply1(&EigvalshOp { lower }, &[self])
    }

    /// Complex eigenvalues and eigenvectors (as columns) of any square matrices.
    pub fn eig(&self) -> Result<(Tensor, Tensor)> {
        Tensor::eigen_pair(&EigOp, self)
    }

    /// Complex eigenvalues of any square matrices.
    pub fn eigvals(&self) -> Result<Tensor> {
        apply1(&EigvalsOp, &[self])
    }
}
