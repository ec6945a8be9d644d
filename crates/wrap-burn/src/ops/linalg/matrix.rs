//! Functions of matrices: powers, the exponential, matrices made from vectors.

use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{adjoint, check_square, identity_like};
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// The exponential of every matrix.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct MatrixExpOp;

#[typetag::serde]
impl Primitive for MatrixExpOp {
    fn name(&self) -> &'static str {
        "linalg_matrix_exp"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_square("linalg.matrix_exp", inputs[0])?;
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        with_field!("linalg.matrix_exp", out[0].dtype, T => single(Value::from_vec_as(
            kernels::linalg::matrix_exp(inputs[0].view::<T>()?),
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        // The exponential of [[A^H, g], [0, A^H]] has the gradient in its upper right corner.
        let (g, ah) = (ctx.grad()?, adjoint(&ctx.inputs[0])?);
        let shape = ah.shape();
        let rank = shape.len();
        let n = shape[rank - 1];
        let zeros = Tensor::zeros(&shape, ah.dtype(), ah.device())?;
        let top = Tensor::cat(&[ah.clone(), g.clone()], -1)?;
        let bottom = Tensor::cat(&[zeros, ah], -1)?;
        let block = apply1(&MatrixExpOp, &[&Tensor::cat(&[top, bottom], -2)?])?;
        Ok(smallvec![Some(block.slice(rank - 2, 0, n, 1)?.slice(rank - 1, n, n, 1)?)])
    }
}

impl Tensor {
    /// The exponential of every matrix.
    pub fn matrix_exp(&self) -> Result<Tensor> {
        let dtype = self.dtype();
        if matches!(dtype, DType::F16 | DType::BF16) {
            return self.to_dtype(DType::F32)?.matrix_exp()?.to_dtype(dtype);
        }
        apply1(&MatrixExpOp, &[self])
    }

    /// The `n`-th power of every matrix, of its inverse for negative `n`.
    pub fn matrix_power(&self, n: i64) -> Result<Tensor> {
        let shape = self.shape();
        let rank = shape.len();
        if rank < 2 {
            bail!(
                Runtime,
                "linalg.matrix_power: The input tensor A must have at least 2 dimensions. Got shape {shape:?}"
            );
        }
        if shape[rank - 1] != shape[rank - 2] {
            bail!(
                Runtime,
                "linalg.matrix_power: A must be batches of square matrices, but they are {} by {} matrices",
                shape[rank - 2],
                shape[rank - 1]
            );
        }
        if n == 0 {
            // Chosen everywhere, so that the result has a gradient, of zero.
            let never = Tensor::zeros(&shape, DType::Bool, self.device())?;
            return never.where_(self, &identity_like(self)?);
        }
        let mut square = if n < 0 { self.inv()? } else { self.clone() };
        let mut left = n.unsigned_abs();
        let mut power: Option<Tensor> = None;
        loop {
            if left & 1 == 1 {
                power = Some(match power {
                    Some(power) => power.matmul(&square)?,
                    None => square.clone(),
                });
            }
            left >>= 1;
            match power {
                Some(power) if left == 0 => return Ok(power),
                _ => square = square.matmul(&square)?,
            }
        }
    }

    /// Powers `0..n` of every element as rows; as many as there are elements if `n` is not given.
    pub fn vander(&self, n: Option<usize>) -> Result<Tensor> {
        let shape = self.shape();
        let Some(&last) = shape.last() else {
            return self.unsqueeze(0)?.vander(n);
        };
        let n = n.unwrap_or(last);
        if n <= 1 {
            bail!(Runtime, "linalg.vander: N must be greater than 1, got {n}");
        }
        let column = self.unsqueeze(-1)?;
        let mut wide = shape.clone();
        wide.push(n - 1);
        let mut border = shape;
        border.push(1);
        let ones = Tensor::ones(&border, self.dtype(), self.device())?;
        let factors = column.expand_to("linalg.vander", &wide)?;
        Tensor::cat(&[ones, factors], -1)?.cumprod(-1)
    }

    /// The inverse for [`tensordot`](Tensor::tensordot) over the first `ind` dimensions.
    pub fn tensorinv(&self, ind: i64) -> Result<Tensor> {
        if ind <= 0 {
            bail!(
                Runtime,
                "linalg.tensorinv: Expected a strictly positive integer for 'ind', got {ind}"
            );
        }
        let shape = self.shape();
        let ind = (ind as usize).min(shape.len());
        let (first, last) = shape.split_at(ind);
        let (rows, columns): (usize, usize) = (first.iter().product(), last.iter().product());
        if rows != columns {
            bail!(
                Runtime,
                "linalg.tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == \
                 prod(self.shape[:ind]), but got {columns} != {rows}"
            );
        }
        let turned: Dims = last.iter().chain(first).copied().collect();
        self.reshape_to(&[rows, columns])?.inv()?.reshape_to(&turned)
    }

    /// The `X` with `tensordot(A, X, X.ndim) = b`; `dims` of `A` are moved to its end first.
    pub fn tensorsolve(&self, b: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
        let op = "linalg.tensorsolve";
        let rank = self.rank();
        let a = match dims {
            None => self.clone(),
            Some(dims) => {
                let moved = crate::shape::wrap_dims(op, dims, rank)?;
                let order: Vec<i64> = (0..rank)
                    .filter(|d| !moved.contains(d))
                    .chain(moved.iter().copied())
                    .map(|d| d as i64)
                    .collect();
                self.permute(&order)?
            }
        };
        let (shape, right) = (a.shape(), b.shape());
        let unknowns = Dims::from_slice(&shape[right.len().min(rank)..]);
        let (rows, columns): (usize, usize) = (right.iter().product(), unknowns.iter().product());
        if rows != columns || rows * columns != a.numel() {
            bail!(
                Runtime,
                "{op}: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == \
                 prod(self.shape[:other.ndim]), but got shapes {shape:?} and {right:?}"
            );
        }
        let solution = a.reshape_to(&[rows, columns])?.solve(&b.reshape_to(&[rows])?, true)?;
        solution.reshape_to(&unknowns)
    }
}
