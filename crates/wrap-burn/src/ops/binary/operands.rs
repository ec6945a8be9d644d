//! Operands: promoted to one dtype, brought to one device, applied.

use super::{Binary, BinaryOp, ScalarOp, accepts, binary_name};
use crate::device::Device;
use crate::op::apply1;
use crate::tensor::Tensor;
use crate::{Category, DType, Result, Scalar, bail};

/// A tensor or a number, as either operand of an operator may be.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A number.
    Scalar(Scalar),
}

impl From<Tensor> for Operand {
    fn from(tensor: Tensor) -> Self {
        Operand::Tensor(tensor)
    }
}

impl<S: Into<Scalar>> From<S> for Operand {
    fn from(scalar: S) -> Self {
        Operand::Scalar(scalar.into())
    }
}

/// The dtype two tensors are computed in: dimensions count before 0-d tensors.
pub fn result_type(a: &Tensor, b: &Tensor) -> DType {
    let (a, b) = (a.read(), b.read());
    promoted(a.dtype, a.rank() == 0, b.dtype, b.rank() == 0)
}

pub(crate) fn promoted(a: DType, a_scalar: bool, b: DType, b_scalar: bool) -> DType {
    if a == b || a_scalar == b_scalar {
        return a.promote(b);
    }
    let (dims, zero) = if b_scalar { (a, b) } else { (b, a) };
    match (dims.category(), zero.category()) {
        (Category::Float, Category::Complex) => dims.to_complex(),
        (high, low) if low > high => dims.promote(zero),
        _ => dims,
    }
}

impl Tensor {
    /// A function of two tensors, promoted and broadcast.
    pub fn binary(&self, kind: Binary, other: &Tensor) -> Result<Tensor> {
        let op = BinaryOp { kind };
        let plain = {
            let (a, b) = (self.read(), other.read());
            a.dtype == b.dtype
                && a.device() == b.device()
                && (a.dtype.category() >= Category::Float || !accepts(kind).promotes)
        };
        if plain {
            return apply1(&op, &[self, other]);
        }
        let (a, b) = self.matched(kind, other)?;
        apply1(&op, &[&a, &b])
    }

    /// Both tensors on one device and in the dtype a function computes them in.
    fn matched(&self, kind: Binary, other: &Tensor) -> Result<(Tensor, Tensor)> {
        let (a, b) = same_device(binary_name(kind), self, other)?;
        let mut dtype = result_type(&a, &b);
        if accepts(kind).promotes && dtype.category() <= Category::Int {
            dtype = a.device().narrow(crate::defaults::float());
        }
        Ok((a.to_dtype(dtype)?, b.to_dtype(dtype)?))
    }

    /// A function of a tensor and a number (`reversed`: of a number and a tensor).
    pub fn with_scalar(&self, kind: Binary, scalar: Scalar, reversed: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        let mut target = scalar.promote(dtype, crate::defaults::float());
        if accepts(kind).promotes && target.category() <= Category::Int {
            target = crate::defaults::float();
        }
        let op = ScalarOp { kind, scalar, reversed };
        if target == dtype {
            return apply1(&op, &[self]);
        }
        apply1(&op, &[&self.to_dtype(self.device().narrow(target))?])
    }

    /// A function of a tensor and a tensor or number.
    pub fn with(&self, kind: Binary, other: &Operand) -> Result<Tensor> {
        match other {
            Operand::Tensor(other) => self.binary(kind, other),
            Operand::Scalar(scalar) => self.with_scalar(kind, *scalar, false),
        }
    }

    /// The same, written into this tensor.
    pub fn with_(&self, kind: Binary, other: &Operand) -> Result<()> {
        let (dtype, device) = (self.dtype(), self.device());
        match other {
            Operand::Tensor(other) => {
                let promoted = result_type(self, other);
                let float = accepts(kind).promotes && promoted.category() <= Category::Int;
                if promoted == dtype && other.dtype() == dtype && other.device() == device && !float
                {
                    return crate::autograd::apply_into(&BinaryOp { kind }, &[self, other]);
                }
                let result = self.binary(kind, other)?;
                if result.shape() != self.shape() {
                    bail!(
                        Runtime,
                        "{}_: output with shape {:?} doesn't match the broadcast shape {:?}",
                        binary_name(kind),
                        self.shape(),
                        result.shape()
                    );
                }
                crate::autograd::assign(self, &result)
            }
            Operand::Scalar(scalar) => {
                let target = scalar.promote(dtype, crate::defaults::float());
                let float = accepts(kind).promotes && target.category() <= Category::Int;
                if target == dtype && !float {
                    return crate::autograd::apply_into(
                        &ScalarOp { kind, scalar: *scalar, reversed: false },
                        &[self],
                    );
                }
                crate::autograd::assign(self, &self.with_scalar(kind, *scalar, false)?)
            }
        }
    }

    /// `a + b`.
    pub fn add(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Add, other)
    }

    /// `a += b`.
    pub fn add_(&self, other: &Tensor) -> Result<()> {
        self.with_(Binary::Add, &Operand::Tensor(other.clone()))
    }

    /// `a - b`.
    pub fn sub(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Sub, other)
    }

    /// `a * b`.
    pub fn mul(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Mul, other)
    }

    /// `a / b`, true division.
    pub fn div(&self, other: &Tensor) -> Result<Tensor> {
        self.binary(Binary::Div, other)
    }

    /// `a + number`.
    pub fn add_scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.with_scalar(Binary::Add, number.into(), false)
    }

    /// `a * number`.
    pub fn mul_scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.with_scalar(Binary::Mul, number.into(), false)
    }

    /// `a ** number`.
    pub fn pow_scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
        self.with_scalar(Binary::Pow, number.into(), false)
    }
}

/// Both tensors on one device: a 0-d CPU tensor follows the other.
pub(crate) fn same_device(op: &str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let (left, right) = (a.device(), b.device());
    if left == right {
        return Ok((a.clone(), b.clone()));
    }
    if left == Device::Cpu && a.rank() == 0 {
        let a = a.to_dtype(right.narrow(a.dtype()))?;
        return Ok((a.to_device(right)?, b.clone()));
    }
    if right == Device::Cpu && b.rank() == 0 {
        let b = b.to_dtype(left.narrow(b.dtype()))?;
        return Ok((a.clone(), b.to_device(left)?));
    }
    bail!(
        Runtime,
        "{op}: expected all tensors to be on the same device, got {left} and {right}; move one with \
         .to(\"{left}\")"
    );
}
