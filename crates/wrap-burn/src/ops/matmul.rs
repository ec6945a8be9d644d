//! The matrix product.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::shape::{broadcast, broadcast_strides};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail};

/// Products with at most this many multiplications are computed in place: calling a blocked
/// algorithm would cost more than the product itself.
const SMALL: usize = 16 * 1024;

/// The product of two (batches of) matrices of one dtype; both have at least two dimensions.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct MatmulOp;

fn split(shape: &[usize]) -> (&[usize], usize, usize) {
    let rank = shape.len();
    (&shape[..rank - 2], shape[rank - 2], shape[rank - 1])
}

#[typetag::serde]
impl Primitive for MatmulOp {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (a, b) = (inputs[0], inputs[1]);
        if a.dtype != b.dtype {
            bail!(
                Runtime,
                "matmul: expected m1 and m2 to have the same dtype, but got: {} != {}; hint: convert \
                 one with .to()",
                a.dtype,
                b.dtype
            );
        }
        if a.dtype == DType::Bool {
            bail!(Runtime, "matmul: not implemented for bool");
        }
        let ((batch_a, m, inner), (batch_b, other, n)) = (split(&a.shape), split(&b.shape));
        if inner != other {
            bail!(
                Runtime,
                "matmul: mat1 and mat2 shapes cannot be multiplied ({:?} and {:?}): inner sizes \
                 differ, expected lhs.shape[-1] == rhs.shape[-2], got {inner} and {other}",
                a.shape,
                b.shape
            );
        }
        let Ok(mut shape) = broadcast("matmul", batch_a, batch_b) else {
            bail!(
                Runtime,
                "matmul: batches of shapes {:?} and {:?} do not broadcast: expected dimensions \
                 before the last two to be equal or 1, got {batch_a:?} and {batch_b:?}",
                a.shape,
                b.shape
            );
        };
        shape.push(m);
        shape.push(n);
        one(Meta { shape, dtype: a.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        let shape = &out[0].shape;
        let (batch, m, n) = split(shape);
        let k = a.shape[a.rank() - 1];
        let work = crate::shape::numel(shape) * k;
        // burn's product is the fastest for floats once its fixed costs no longer count.
        if matches!(a.dtype, DType::F32 | DType::F64) && work > SMALL {
            return self.burn(inputs, out, Device::Cpu);
        }
        let full = |rows: usize, columns: usize| -> Dims {
            batch.iter().copied().chain([rows, columns]).collect()
        };
        let (left, right) = (full(m, k), full(k, n));
        let left_strides = broadcast_strides(&a.shape, &a.strides, &left);
        let right_strides = broadcast_strides(&b.shape, &b.strides, &right);
        macro_rules! go {
            ($T:ty) => {
                Value::from_vec_as(
                    kernels::matmul::matmul(
                        a.view_as::<$T>(&left, &left_strides)?,
                        b.view_as::<$T>(&right, &right_strides)?,
                    ),
                    shape.clone(),
                    out[0].dtype,
                )
            };
        }
        single(match a.dtype.category() {
            Category::Complex => crate::with_dtype!("matmul", a.dtype, complexes, T => Ok(go!(T)))?,
            _ => crate::with_dtype!("matmul", a.dtype, reals, T => Ok(go!(T)))?,
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if crate::shape::numel(&out[0].shape) == 0
            || inputs[0].numel() == 0
            || inputs[0].dtype.is_complex()
        {
            return Ok(None);
        }
        self.burn(inputs, out, device).map(Some)
    }

    fn saves(&self, needs: &[bool]) -> Saves {
        Saves::inputs((needs[1] as u32) | ((needs[0] as u32) << 1))
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let (a, b) = (&ctx.inputs[0], &ctx.inputs[1]);
        let mut grads: Grads = smallvec![None, None];
        if ctx.needs[0] {
            let grad = apply1(&MatmulOp, &[g, &b.transpose(-2, -1)?.conj()?])?;
            grads[0] = Some(grad.sum_to(&a.shape())?);
        }
        if ctx.needs[1] {
            let grad = apply1(&MatmulOp, &[&a.transpose(-2, -1)?.conj()?, g])?;
            grads[1] = Some(grad.sum_to(&b.shape())?);
        }
        Ok(grads)
    }
}

impl MatmulOp {
    fn burn(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        let rank = out[0].shape.len();
        // burn wants equal ranks; batches of size one broadcast there.
        let aligned = |value: &Value| -> Result<bridge::Prim> {
            let missing = rank - value.rank();
            let shape: Dims =
                std::iter::repeat_n(1, missing).chain(value.shape.iter().copied()).collect();
            let value = value.reshaped(&shape).expect("leading ones need no copy");
            to_burn(&value)
        };
        let (a_prim, b_prim) = (aligned(a)?, aligned(b)?);
        let prim = if a.dtype.is_int() {
            Dispatch::int_matmul(a_prim, b_prim)
        } else {
            Dispatch::float_matmul(a_prim, b_prim)
        };
        single(from_burn(prim, &out[0], device)?)
    }
}

impl Tensor {
    /// The product of vectors, matrices or batches of matrices.
    pub fn matmul(&self, other: &Tensor) -> Result<Tensor> {
        let (left, right) = (self.shape(), other.shape());
        if left.is_empty() || right.is_empty() {
            bail!(
                Runtime,
                "matmul: both arguments to matmul need to be at least 1D, but they are {}D and {}D \
                 (shapes {left:?} and {right:?})",
                left.len(),
                right.len()
            );
        }
        match (left.len(), right.len()) {
            (1, 1) => {
                if left != right {
                    bail!(
                        Runtime,
                        "matmul: inconsistent tensor size, expected tensor {left:?} and src {right:?} \
                         to have the same number of elements"
                    );
                }
                apply1(&MatmulOp, &[&self.unsqueeze(0)?, &other.unsqueeze(1)?])?.reshape_to(&[])
            }
            (1, _) => apply1(&MatmulOp, &[&self.unsqueeze(0)?, other])?.squeeze(Some(&[-2])),
            (_, 1) => {
                let shape: SmallVec<[usize; 6]> = SmallVec::from_slice(&left[..left.len() - 1]);
                let column = other.unsqueeze(1)?;
                let rows = if left.len() > 2 { self.merged_rows()? } else { self.clone() };
                apply1(&MatmulOp, &[&rows, &column])?.reshape_to(&shape)
            }
            // A batch times one matrix is one tall product.
            (l, 2) if l > 2 && self.numel() > 0 => {
                let mut shape = Dims::from_slice(&left[..l - 1]);
                shape.push(right[1]);
                apply1(&MatmulOp, &[&self.merged_rows()?, other])?.reshape_to(&shape)
            }
            _ => apply1(&MatmulOp, &[self, other]),
        }
    }

    fn merged_rows(&self) -> Result<Tensor> {
        let shape = self.shape();
        let columns = shape[shape.len() - 1];
        self.reshape_to(&[shape[..shape.len() - 1].iter().product(), columns])
    }
}
