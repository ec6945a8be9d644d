//! Whether tensors are equal, or nearly so.

use crate::autograd::ModeGuard;
use crate::ops::unary::{Predicate, Unary};
use crate::tensor::Tensor;
use crate::{Category, DType, Result, bail};

impl Tensor {
    /// Whether shapes and all elements are equal.
    pub fn equal(&self, other: &Tensor) -> Result<bool> {
        let (a, b) = (self.device(), other.device());
        if a != b {
            bail!(
                Runtime,
                "equal: cannot compare two tensors on different devices. Got: {a} and {b}"
            );
        }
        if self.shape() != other.shape() {
            return Ok(false);
        }
        if self.dtype() != other.dtype() {
            bail!(
                Runtime,
                "equal: expected object of data type {} but got data type {} for argument 'other'",
                self.dtype(),
                other.dtype()
            );
        }
        self.eq(other)?.all(None, false)?.item().map(|all| all.to_bool())
    }

    /// Where `|self - other| <= atol + rtol * |other|`, or both are equal; NaN are equal to each
    /// other if `equal_nan` is set.
    pub fn isclose(&self, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
        let dtype = self.dtype();
        if other.dtype() != dtype {
            bail!(Runtime, "isclose: {dtype} did not match {}", other.dtype());
        }
        for (name, tolerance) in [("rtol", rtol), ("atol", atol)] {
            if tolerance.is_nan() || tolerance < 0.0 {
                bail!(
                    Runtime,
                    "isclose: {name} must be greater than or equal to zero, but got {tolerance}"
                );
            }
        }
        let _off = ModeGuard::grad(false);
        let mut close = self.eq(other)?;
        if equal_nan && dtype.is_differentiable() {
            let nan = |tensor: &Tensor| tensor.predicate(Predicate::IsNan);
            close = close.logical_or(&nan(self)?.logical_and(&nan(other)?)?)?;
        }
        if rtol == 0.0 && atol == 0.0 {
            return Ok(close);
        }
        let float = self.device().narrow(crate::defaults::float());
        let own = if dtype == DType::Bool { self.to_dtype(float)? } else { self.clone() };
        let other =
            if dtype.category() <= Category::Int { other.to_dtype(float)? } else { other.clone() };
        let allowed = other.mul_scalar(rtol)?.unary(Unary::Abs)?.add_scalar(atol)?;
        let error = own.sub(&other)?.unary(Unary::Abs)?;
        let near = error.predicate(Predicate::IsFinite)?.logical_and(&error.le(&allowed)?)?;
        close.logical_or(&near)
    }

    /// Whether [`isclose`](Tensor::isclose) holds everywhere.
    pub fn allclose(&self, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
        let close =
            self.isclose(other, rtol, atol, equal_nan).map_err(|fault| fault.within("allclose"))?;
        close.all(None, false)?.item().map(|all| all.to_bool())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(data: &[f64]) -> Tensor {
        Tensor::from_vec(data.to_vec(), &[data.len()]).unwrap()
    }

    #[test]
    fn equal_in_shape_and_elements() {
        let x = row(&[1.0, 2.0]);
        assert!(x.equal(&row(&[1.0, 2.0])).unwrap());
        assert!(!x.equal(&row(&[1.0])).unwrap());
        assert!(!x.equal(&row(&[1.0, f64::NAN])).unwrap());
        assert!(x.equal(&x.to_dtype(DType::F32).unwrap()).is_err());
        assert!(row(&[]).equal(&row(&[])).unwrap());
    }

    #[test]
    fn close_within_tolerances() {
        let (a, b) =
            (row(&[1.0, f64::INFINITY, f64::NAN]), row(&[1.0 + 1e-9, f64::INFINITY, f64::NAN]));
        let flags =
            |equal_nan| a.isclose(&b, 1e-5, 1e-8, equal_nan).unwrap().to_vec::<u8>().unwrap();
        assert_eq!((flags(false), flags(true)), (vec![1, 1, 0], vec![1, 1, 1]));
        assert!(!a.allclose(&b, 0.0, 0.0, true).unwrap());
        assert!(a.isclose(&b, -1.0, 0.0, false).is_err());
        let ints = Tensor::from_vec(vec![10i64, 12], &[2]).unwrap();
        let near = Tensor::from_vec(vec![11i64, 100], &[2]).unwrap();
        assert_eq!(ints.isclose(&near, 0.0, 1.0, false).unwrap().to_vec::<u8>().unwrap(), [1, 0]);
    }
}
