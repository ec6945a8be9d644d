//! The factorisation by elimination with row exchanges.

use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{adjoint, batch, check_matrix, identity, matrices, same_batch};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply, apply1, one, single};
use crate::ops::index::index_i64;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, Scalar, bail};

/// Both factors in one matrix, and the row exchanges counted from one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LuFactorOp;

#[typetag::serde]
impl Primitive for LuFactorOp {
    fn name(&self) -> &'static str {
        "linalg_lu_factor"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let a = inputs[0];
        let (m, n) = check_matrix("linalg.lu_factor", a)?;
        Ok([a.to_meta(), matrices(batch(&a.shape), &[m.min(n)], DType::I32)].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.lu_factor", inputs[0].dtype, T => {
            let factors = kernels::linalg::lu_factor(inputs[0].view::<T>()?);
            Ok([
                Value::from_vec_as(factors.lu, out[0].shape.clone(), out[0].dtype),
                Value::from_vec(factors.pivots, out[1].shape.clone()),
            ].into_iter().collect())
        })
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 0, outputs: 3 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, lu, pivots) = (ctx.grad()?, &ctx.outputs[0], &ctx.outputs[1]);
        let shape = lu.shape();
        let rank = shape.len();
        let (m, n) = (shape[rank - 2], shape[rank - 1]);
        let k = m.min(n);
        // The square part of both factors, and with it the equations between their changes.
        let square = |x: &Tensor| x.slice(rank - 2, 0, k, 1)?.slice(rank - 1, 0, k, 1);
        let (corner, g_corner) = (square(lu)?, square(g)?);
        let l = corner.tril(-1)?.add(&identity(k, lu.dtype(), lu.device())?)?;
        let u = corner.triu(0)?;
        let (lh, uh) = (adjoint(&l)?, adjoint(&u)?);
        let mut lower = lh.matmul(&g_corner.tril(-1)?)?.tril(-1)?;
        let mut upper = g_corner.triu(0)?.matmul(&uh)?.triu(0)?;
        let right = |x: &Tensor| x.slice(rank - 1, k, n - k, 1);
        let below = |x: &Tensor| x.slice(rank - 2, k, m - k, 1);
        if n > k {
            lower = lower.sub(&right(g)?.matmul(&adjoint(&right(lu)?)?)?.tril(-1)?)?;
        }
        if m > k {
            upper = upper.sub(&adjoint(&below(lu)?)?.matmul(&below(g)?)?.triu(0)?)?;
        }
        let middle = uh.solve_triangular(&lower.add(&upper)?, false, false, false)?;
        let mut grad = if n > k { Tensor::cat(&[middle, right(g)?], -1)? } else { middle };
        grad = lh.solve_triangular(&grad, true, true, true)?;
        if m > k {
            let rest = uh.solve_triangular(&below(g)?, false, false, false)?;
            grad = Tensor::cat(&[grad, rest], -2)?;
        }
        Ok(smallvec![Some(permute_rows(&grad, &permutation(pivots, m, true)?)?)])
    }
}

/// The order of the rows after the exchanges: row `i` of the result was row `order[i]`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PermutationOp {
    /// How many rows there are.
    pub rows: usize,
    /// Where each row went instead of where each came from.
    pub inverse: bool,
}

#[typetag::serde]
impl Primitive for PermutationOp {
    fn name(&self) -> &'static str {
        "lu_permutation"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let pivots = inputs[0];
        if !matches!(pivots.dtype, DType::I32 | DType::I64) || pivots.rank() == 0 {
            bail!(
                Runtime,
                "linalg.lu: expected pivots as a torch.int32 tensor with at least one dimension, got \
                 {} of shape {:?}",
                pivots.dtype,
                pivots.shape
            );
        }
        let outer = &pivots.shape[..pivots.rank() - 1];
        one(matrices(outer, &[self.rows], pivots.device().narrow(DType::I64)))
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let pivots = index_i64(inputs[0])?.contiguous()?;
        let size = pivots.shape[pivots.rank() - 1];
        let all =
            &pivots.buffer()?.as_slice::<i64>()[pivots.offset..pivots.offset + pivots.numel()];
        let count: usize = out[0].shape[..out[0].shape.len() - 1].iter().product();
        let mut orders = vec![0i64; count * self.rows];
        for matrix in 0..count {
            let mut order: Vec<usize> = (0..self.rows).collect();
            for (row, &other) in all[matrix * size..][..size].iter().enumerate() {
                if other < 1 || other > self.rows as i64 || row >= self.rows {
                    bail!(
                        Runtime,
                        "linalg.lu: pivots must lie between 1 and {} (LAPACK counts from one), got \
                         {other}",
                        self.rows
                    );
                }
                order.swap(row, other as usize - 1);
            }
            let target = &mut orders[matrix * self.rows..][..self.rows];
            for (to, &from) in order.iter().enumerate() {
                if self.inverse {
                    target[from] = to as i64;
                } else {
                    target[to] = from as i64;
                }
            }
        }
        single(Value::from_vec(orders, out[0].shape.clone()))
    }

    fn differentiable(&self) -> bool {
        false
    }
}

fn permutation(pivots: &Tensor, rows: usize, inverse: bool) -> Result<Tensor> {
    apply1(&PermutationOp { rows, inverse }, &[pivots])
}

/// Row `i` of the result is row `order[i]`; batch dimensions broadcast to those of `x`.
fn permute_rows(x: &Tensor, order: &Tensor) -> Result<Tensor> {
    let places = order.unsqueeze(-1)?.expand_to("linalg.lu", &x.shape())?;
    x.gather(-2, &places)
}

impl Tensor {
    /// `L` (below the diagonal, without its ones) and `U` in one matrix, and the row exchanges as
    /// LAPACK gives them, counted from one.
    pub fn lu_factor(&self) -> Result<(Tensor, Tensor)> {
        let mut both = apply(&LuFactorOp, &[self])?;
        let pivots = both.pop().expect("two outputs");
        Ok((both.pop().expect("two outputs"), pivots))
    }

    /// `P`, `L` and `U` with `A = P L U`.
    pub fn lu(&self) -> Result<(Tensor, Tensor, Tensor)> {
        let (packed, pivots) = self.lu_factor()?;
        packed.lu_unpack(&pivots)
    }

    /// `P`, `L` and `U` from what [`lu_factor`](Tensor::lu_factor) gave.
    pub fn lu_unpack(&self, pivots: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
        let (m, n) = check_matrix("lu_unpack", &self.read())?;
        let (k, rank) = (m.min(n), self.rank());
        let (dtype, device) = (self.dtype(), self.device());
        let mut ones = identity(m.max(k), dtype, device)?;
        ones = ones.slice(1, 0, k, 1)?;
        let l = self.slice(rank - 1, 0, k, 1)?.tril(-1)?.add(&ones)?;
        let u = self.slice(rank - 2, 0, k, 1)?.triu(0)?;
        let order = permutation(pivots, m, false)?;
        let index = order.dtype();
        let rows =
            Tensor::arange(Scalar::Int(0), Scalar::Int(m as i64), Scalar::Int(1), index, device)?;
        let p = rows.unsqueeze(-1)?.eq(&order.unsqueeze(-2)?)?.to_dtype(dtype)?;
        Ok((p, l, u))
    }

    /// The solution of `A X = B` (`X A = B` without `left`, `A^H` in place of `A` with `adjoint`)
    /// for the packed factors of `A`, which are this tensor.
    pub fn lu_solve(
        &self,
        pivots: &Tensor,
        b: &Tensor,
        left: bool,
        adjoint_: bool,
    ) -> Result<Tensor> {
        let op = "linalg.lu_solve";
        let n = super::check_square(op, &self.read())?;
        if !left {
            return adjoint(&self.lu_solve(pivots, &adjoint(b)?, true, !adjoint_)?);
        }
        let rows = b.shape();
        if rows.len() < 2 || rows[rows.len() - 2] != n {
            bail!(
                Runtime,
                "{op}: Incompatible shapes of A and B for the equation AX = B ({n}x{n} and {rows:?})"
            );
        }
        let (lu, b) = same_batch(op, self, b)?;
        let shape = b.shape();
        let order_shape: Dims = shape[..shape.len() - 2].iter().copied().chain([n]).collect();
        let order = permutation(pivots, n, adjoint_)?.expand_to(op, &order_shape)?;
        if adjoint_ {
            let packed = adjoint(&lu)?;
            let half = packed.solve_triangular(&b, false, true, false)?;
            return permute_rows(&packed.solve_triangular(&half, true, true, true)?, &order);
        }
        let half = lu.solve_triangular(&permute_rows(&b, &order)?, false, true, true)?;
        lu.solve_triangular(&half, true, true, false)
    }
}
