//! The factorisation of symmetric and Hermitian matrices that need not be definite.

use kernels::Dims;
use serde::{Deserialize, Serialize};

use super::{batch, check_pair, check_square, matrices, same_batch};
use crate::op::{Metas, Primitive, Values, apply, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// Both factors in one matrix, the exchanges as LAPACK counts them, and for every matrix zero or
/// the first column, counted from one, whose block is zero.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LdlFactorOp {
    /// Whether the matrices are Hermitian rather than symmetric.
    pub hermitian: bool,
}

#[typetag::serde]
impl Primitive for LdlFactorOp {
    fn name(&self) -> &'static str {
        "linalg_ldl_factor"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let n = check_square("linalg.ldl_factor", a)?;
        let outer = batch(&a.shape);
        let (pivots, info) = (matrices(outer, &[n], DType::I32), matrices(outer, &[], DType::I32));
        Ok([a.to_meta(), pivots, info].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.ldl_factor", inputs[0].dtype, T => {
            let factors = kernels::linalg::ldl_factor(inputs[0].view::<T>()?, self.hermitian);
            Ok([
                Value::from_vec_as(factors.ld, out[0].shape.clone(), out[0].dtype),
                Value::from_vec(factors.pivots, out[1].shape.clone()),
                Value::from_vec(factors.info, out[2].shape.clone()),
            ].into_iter().collect())
        })
    }
}

/// The solution `X` of `A X = B` by those factors and exchanges, which are the first two inputs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LdlSolveOp {
    /// Whether the matrices are Hermitian rather than symmetric.
    pub hermitian: bool,
}

#[typetag::serde]
impl Primitive for LdlSolveOp {
    fn name(&self) -> &'static str {
        "linalg_ldl_solve"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (op, ld, pivots, b) = ("linalg.ldl_solve", inputs[0], inputs[1], inputs[2]);
        let n = check_square(op, ld)?;
        check_pair(op, ld, b)?;
        if b.rank() < 2 || b.shape[b.rank() - 2] != n {
            bail!(
                Runtime,
                "{op}: Incompatible shapes of A and B for the equation AX = B ({n}x{n} and {:?})",
                b.shape
            );
        }
        if !matches!(pivots.dtype, DType::I32 | DType::I64) {
            bail!(Runtime, "{op}: Expected pivots to be integers. Got {}", pivots.dtype);
        }
        if pivots.shape[..] != ld.shape[..ld.rank() - 1] {
            bail!(
                Runtime,
                "{op}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with \
                 shape {:?} and LD with shape {:?}",
                pivots.shape,
                ld.shape
            );
        }
        one(b.to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (op, ld, b) = ("linalg.ldl_solve", inputs[0], inputs[2]);
        let pivots: Vec<i32> = Tensor::from_value(inputs[1].clone()).to_vec()?;
        let n = ld.shape[ld.rank() - 1];
        for pivots in pivots.chunks(n.max(1)) {
            let inside = |pivot: &i32| (1..=n).contains(&(pivot.unsigned_abs() as usize));
            let mut runs = pivots.chunk_by(|a, b| (*a < 0) == (*b < 0));
            if !pivots.iter().all(inside) || runs.any(|run| run[0] < 0 && run.len() % 2 == 1) {
                bail!(
                    Runtime,
                    "{op}: pivots must lie between 1 and {n}, negative ones in pairs, got {pivots:?}"
                );
            }
        }
        with_field!("linalg.ldl_solve", out[0].dtype, T => single(Value::from_vec_as(
            kernels::linalg::ldl_solve(ld.view::<T>()?, &pivots, b.view::<T>()?, self.hermitian),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }
}

impl Tensor {
    /// `L` and the block diagonal `D` of `A = L D L^T` (`L D L^H` of Hermitian matrices) in one
    /// matrix, the exchanges as LAPACK counts them, and for every matrix zero or the place of the
    /// first block that is zero.
    pub fn ldl_factor(&self, hermitian: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let mut parts = apply(&LdlFactorOp { hermitian }, &[self])?;
        let info = parts.pop().expect("three outputs");
        let pivots = parts.pop().expect("three outputs");
        Ok((parts.pop().expect("three outputs"), pivots, info))
    }

    /// The solution of `A X = B` by what [`ldl_factor`](Tensor::ldl_factor) gave.
    pub fn ldl_solve(&self, pivots: &Tensor, b: &Tensor, hermitian: bool) -> Result<Tensor> {
        let op = "linalg.ldl_solve";
        let (ld, b) = same_batch(op, self, b)?;
        let shape = ld.shape();
        let wanted: Dims = shape[..shape.len().max(1) - 1].into();
        let expanded = ld.rank() != self.rank() || shape != self.shape();
        let pivots = if expanded { pivots.expand_to(op, &wanted)? } else { pivots.clone() };
        apply1(&LdlSolveOp { hermitian }, &[&ld, &pivots, &b])
    }
}
