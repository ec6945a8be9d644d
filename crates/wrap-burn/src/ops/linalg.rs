//! Linear algebra: factorisations, solutions, eigenvalues, norms. Matrices are the last two
//! dimensions, all others are batches. On GPUs the inputs visit the CPU.

/// Runs the body with `$T` bound to the Rust type of a real or complex float.
macro_rules! with_field {
    ($op:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype.category() {
            $crate::Category::Complex => $crate::with_dtype!($op, $dtype, complexes, $T => $body),
            _ => $crate::with_dtype!($op, $dtype, floats, $T => $body),
        }
    };
}

pub mod cholesky;
pub mod det;
pub mod eigen;
pub mod ldl;
pub mod lstsq;
pub mod lu;
pub mod matrix;
pub mod norm;
pub mod pinv;
pub mod products;
pub mod qr;
pub mod solve;
pub mod svd;

use kernels::Dims;

use crate::device::Device;
use crate::op::cast_host;
use crate::shape::broadcast;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Error, Result, bail, error};

/// Refuses dtypes in which nothing is factored.
fn check_field(op: &str, dtype: DType) -> Result<()> {
    if !dtype.is_differentiable() {
        bail!(Runtime, "{op}: Expected a floating point or complex tensor as input. Got {dtype}");
    }
    if matches!(dtype, DType::F16 | DType::BF16) {
        bail!(
            Runtime,
            "{op}: Low precision dtypes not supported. Got {dtype}; hint: .float() first"
        );
    }
    Ok(())
}

/// Refuses what is not a batch of matrices; their rows and columns otherwise.
fn check_matrix(op: &str, x: &Value) -> Result<(usize, usize)> {
    let rank = x.rank();
    if rank < 2 {
        bail!(
            Runtime,
            "{op}: The input tensor A must have at least 2 dimensions. Got shape {:?}",
            x.shape
        );
    }
    check_field(op, x.dtype)?;
    Ok((x.shape[rank - 2], x.shape[rank - 1]))
}

/// Refuses what is not a batch of square matrices; their size otherwise.
fn check_square(op: &str, x: &Value) -> Result<usize> {
    let (rows, columns) = check_matrix(op, x)?;
    if rows != columns {
        bail!(
            Runtime,
            "{op}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        );
    }
    Ok(rows)
}

/// Refuses two operands of different dtypes.
fn check_pair(op: &str, a: &Value, b: &Value) -> Result<()> {
    if a.dtype != b.dtype {
        bail!(
            Runtime,
            "{op}: Expected A and B to have the same dtype, but found A of type {} and B of type {} \
             instead",
            a.dtype,
            b.dtype
        );
    }
    Ok(())
}

/// A kernel's fault in the words users know.
fn fault(op: &str, x: &Value, fault: kernels::Error) -> Error {
    let place = |batch: usize| match x.rank() {
        0..=2 => format!("{op}: "),
        _ => format!("{op}: (Batch element {batch}): "),
    };
    match fault {
        kernels::Error::Singular { batch, pivot } if op == "linalg.inv" => error!(
            LinAlg,
            "{}The diagonal element {pivot} is zero, the inversion could not be completed because \
             the input matrix is singular.",
            place(batch)
        ),
        kernels::Error::Singular { batch, .. } => {
            error!(
                LinAlg,
                "{}The solver failed because the input matrix is singular.",
                place(batch)
            )
        }
        kernels::Error::NotPositiveDefinite { batch, minor } => error!(
            LinAlg,
            "{}The factorization could not be completed because the input is not positive-definite \
             (the leading minor of order {minor} is not positive-definite).",
            place(batch)
        ),
        kernels::Error::NoConvergence { batch, .. } => error!(
            LinAlg,
            "{}The algorithm failed to converge because the input matrix is ill-conditioned or has \
             too many repeated values.",
            place(batch)
        ),
        other => error!(LinAlg, "{other}"),
    }
}

/// The batch dimensions of a shape.
fn batch(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

/// A shape with the given matrices at its end.
fn batched(batch: &[usize], sizes: &[usize]) -> Dims {
    batch.iter().chain(sizes).copied().collect()
}

/// Metadata of a batch of matrices or vectors.
fn matrices(batch: &[usize], sizes: &[usize], dtype: DType) -> Meta {
    Meta { shape: batched(batch, sizes), dtype }
}

/// Both operands with one batch shape.
fn same_batch(op: &str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let (left, right) = (a.shape(), b.shape());
    if left.len() < 2 || right.len() < 2 || batch(&left) == batch(&right) {
        return Ok((a.clone(), b.clone()));
    }
    let common = broadcast(op, batch(&left), batch(&right))?;
    let wide =
        |x: &Tensor, shape: &[usize]| x.expand_to(op, &batched(&common, &shape[shape.len() - 2..]));
    Ok((wide(a, &left)?, wide(b, &right)?))
}

/// The conjugate transpose.
fn adjoint(x: &Tensor) -> Result<Tensor> {
    x.transpose(-2, -1)?.conj()
}

/// The unit matrix.
pub(crate) fn identity(n: usize, dtype: DType, device: Device) -> Result<Tensor> {
    let mut data = vec![0.0f64; n * n];
    data.iter_mut().step_by(n + 1).for_each(|value| *value = 1.0);
    let value = Value::from_vec(data, Dims::from_slice(&[n, n]));
    Ok(Tensor::from_value(cast_host(&value, dtype)?.to_device(device)?))
}

/// The unit matrix of a square matrix's size, dtype and device.
fn identity_like(x: &Tensor) -> Result<Tensor> {
    let shape = x.shape();
    identity(shape[shape.len() - 1], x.dtype(), x.device())
}

/// A matrix's diagonal.
fn diagonal(x: &Tensor) -> Result<Tensor> {
    x.diagonal(0, -2, -1)
}

/// Matrices with the given diagonals.
fn diagonal_matrix(x: &Tensor) -> Result<Tensor> {
    x.diag_embed(0, -2, -1)
}

/// `left + right` of what there is.
fn sum_of(left: Option<Tensor>, right: Option<Tensor>) -> Result<Option<Tensor>> {
    Ok(match (left, right) {
        (Some(left), Some(right)) => Some(left.add(&right)?),
        (left, right) => left.or(right),
    })
}

#[cfg(test)]
pub(crate) mod tests;
