//! Operands: promoted to one dtype, brought to one device, applied.

use super::{Binary, BinaryOp, ScalarOp, accepts, binary_name, check_pair};
use crate::device::Device;
use crate::op::apply1;
use crate::ops::unary::{Predicate, Unary};
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
                && !(kind == Binary::Logaddexp && a.dtype.is_complex())
        };
        if plain {
            return apply1(&op, &[self, other]);
        }
        let (a, b) = self.matched(kind, other)?;
        if kind == Binary::Logaddexp && a.dtype().is_complex() {
            return complex_logaddexp(&a, &b);
        }
        apply1(&op, &[&a, &b])
    }

    /// Both tensors on one device and in the dtype a function computes them in.
    fn matched(&self, kind: Binary, other: &Tensor) -> Result<(Tensor, Tensor)> {
        let (a, b) = same_device(binary_name(kind), self, other)?;
        check_pair(kind, a.dtype(), b.dtype())?;
        let mut dtype = result_type(&a, &b);
        if accepts(kind).promotes && dtype.category() <= Category::Int {
            dtype = a.device().narrow(crate::defaults::float());
        }
        Ok((a.to_dtype(dtype)?, b.to_dtype(dtype)?))
    }

    /// A function of a tensor and a number (`reversed`: of a number and a tensor).
    pub fn with_scalar(&self, kind: Binary, scalar: Scalar, reversed: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        check_scalar(kind, dtype, scalar)?;
        if let (Binary::Pow, DType::Bool, Scalar::Bool(power), false) =
            (kind, dtype, scalar, reversed)
        {
            // The first power of a truth value is itself, the zeroth is one.
            return match power {
                true => self.deep_copy(),
                false => Tensor::ones(&self.shape(), dtype, self.device()),
            };
        }
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
                check_scalar(kind, dtype, *scalar)?;
                let target = scalar.promote(dtype, crate::defaults::float());
                let float = accepts(kind).promotes && target.category() <= Category::Int;
                let of_bools = kind == Binary::Pow && dtype == DType::Bool;
                if target == dtype && !float && !of_bools {
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

/// Refuses a truth value where it would be promoted, but not for this function.
fn check_scalar(kind: Binary, dtype: DType, scalar: Scalar) -> Result<()> {
    let is_bool = matches!(scalar, Scalar::Bool(_));
    match (is_bool, dtype) {
        (true, _) => check_pair(kind, dtype, DType::Bool),
        (false, DType::Bool) => {
            check_pair(kind, dtype, scalar.promote(dtype, crate::defaults::float()))
        }
        _ => Ok(()),
    }
}

/// `ln(e^a + e^b)` of complex numbers.
fn complex_logaddexp(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (re_a, re_b) = (a.real()?, b.real()?);
    let first = re_a.ge(&re_b)?;
    let (large, small) = (first.where_(a, b)?, first.where_(b, a)?);
    let gap = small.sub(&large)?.unary(Unary::Exp)?.unary(Unary::Log1p)?;
    // Infinities that are equal cancel to NaN; their exponentials are zero or infinite all the same.
    let stuck = re_a.eq(&re_b)?.logical_and(&re_a.predicate(Predicate::IsInf)?)?;
    let plain = a.unary(Unary::Exp)?.add(&b.unary(Unary::Exp)?)?.unary(Unary::Log)?;
    stuck.where_(&plain, &large.add(&gap)?)
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
