//! Comparisons and logic: two tensors in, truth values out.

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
pub use kernels::compare::{Compare, Logical};
use serde::{Deserialize, Serialize};

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::dtype::FromScalar;
use crate::op::{Metas, Primitive, Values, apply1, one, single};
use crate::ops::binary::{Operand, result_type, same_device};
use crate::shape::{broadcast, broadcast_strides};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, Scalar, bail};

fn compare_name(kind: Compare) -> &'static str {
    match kind {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Lt => "lt",
        Compare::Le => "le",
        Compare::Gt => "gt",
        Compare::Ge => "ge",
    }
}

fn check_order(kind: Compare, dtype: DType) -> Result<()> {
    if dtype.is_complex() && !matches!(kind, Compare::Eq | Compare::Ne) {
        bail!(Runtime, "{}: complex numbers have no order, got {dtype}", compare_name(kind));
    }
    Ok(())
}

macro_rules! dispatch_compare {
    ($kind:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype.category() {
            Category::Complex => crate::with_dtype!(compare_name($kind), $dtype, complexes, $T => $body),
            _ => crate::with_dtype!(compare_name($kind), $dtype, reals, $T => $body),
        }
    };
}

/// A comparison of two tensors of one dtype.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CompareOp {
    /// Which.
    pub kind: Compare,
}

#[typetag::serde]
impl Primitive for CompareOp {
    fn name(&self) -> &'static str {
        compare_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (a, b) = (inputs[0], inputs[1]);
        if a.dtype != b.dtype {
            bail!(
                Runtime,
                "{}: expected tensors of one dtype, got {} and {}",
                self.name(),
                a.dtype,
                b.dtype
            );
        }
        check_order(self.kind, a.dtype)?;
        one(Meta { shape: broadcast(self.name(), &a.shape, &b.shape)?, dtype: DType::Bool })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        let shape = &out[0].shape;
        let left = broadcast_strides(&a.shape, &a.strides, shape);
        let right = broadcast_strides(&b.shape, &b.strides, shape);
        let data = dispatch_compare!(self.kind, a.dtype, T => {
            let (a, b) = (a.view_as::<T>(shape, &left)?, b.view_as::<T>(shape, &right)?);
            Ok(kernels::compare::compare(self.kind, a, b)?)
        })?;
        single(Value::from_vec_as(data, shape.clone(), DType::Bool))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let dtype = inputs[0].dtype;
        let side = |value: &Value| -> Result<bridge::Prim> {
            Ok(bridge::expand(to_burn(value)?, dtype, &out[0].shape))
        };
        let (a, b) = (side(inputs[0])?, side(inputs[1])?);
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let prim = match (dtype.category(), self.kind) {
            (Category::Float, Compare::Eq) => D::float_equal(a, b, store),
            (Category::Float, Compare::Ne) => D::float_not_equal(a, b, store),
            (Category::Float, Compare::Lt) => D::float_lower(a, b, store),
            (Category::Float, Compare::Le) => D::float_lower_equal(a, b, store),
            (Category::Float, Compare::Gt) => D::float_greater(a, b, store),
            (Category::Float, Compare::Ge) => D::float_greater_equal(a, b, store),
            (Category::Int, Compare::Eq) => D::int_equal(a, b, store),
            (Category::Int, Compare::Ne) => D::int_not_equal(a, b, store),
            (Category::Int, Compare::Lt) => D::int_lower(a, b, store),
            (Category::Int, Compare::Le) => D::int_lower_equal(a, b, store),
            (Category::Int, Compare::Gt) => D::int_greater(a, b, store),
            (Category::Int, Compare::Ge) => D::int_greater_equal(a, b, store),
            (Category::Bool, Compare::Eq) => D::bool_equal(a, b),
            (Category::Bool, Compare::Ne) => D::bool_not_equal(a, b),
            _ => return Ok(None),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// A comparison of a tensor with a number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CompareScalarOp {
    /// Which.
    pub kind: Compare,
    /// The number.
    pub scalar: Scalar,
}

#[typetag::serde]
impl Primitive for CompareScalarOp {
    fn name(&self) -> &'static str {
        compare_name(self.kind)
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_order(self.kind, inputs[0].dtype)?;
        one(Meta { shape: inputs[0].shape.clone(), dtype: DType::Bool })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        let data = dispatch_compare!(self.kind, x.dtype, T => {
            Ok(kernels::compare::compare_scalar(self.kind, x.view::<T>()?, T::from_scalar(self.scalar))?)
        })?;
        single(Value::from_vec_as(data, out[0].shape.clone(), DType::Bool))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let meta = Meta { shape: Default::default(), dtype: inputs[0].dtype };
        let number = crate::ops::create::full_value(&meta, self.scalar, device)?;
        CompareOp { kind: self.kind }.run_gpu(&[inputs[0], &number], out, device)
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// Logic on two bool tensors.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LogicalOp {
    /// Which.
    pub kind: Logical,
}

#[typetag::serde]
impl Primitive for LogicalOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Logical::And => "logical_and",
            Logical::Or => "logical_or",
            Logical::Xor => "logical_xor",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        if inputs.iter().any(|value| value.dtype != DType::Bool) {
            bail!(
                Runtime,
                "{}: expected bool tensors, got {} and {}",
                self.name(),
                inputs[0].dtype,
                inputs[1].dtype
            );
        }
        one(Meta {
            shape: broadcast(self.name(), &inputs[0].shape, &inputs[1].shape)?,
            dtype: DType::Bool,
        })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (a, b) = (inputs[0], inputs[1]);
        let shape = &out[0].shape;
        let left = broadcast_strides(&a.shape, &a.strides, shape);
        let right = broadcast_strides(&b.shape, &b.strides, shape);
        let data = kernels::compare::logical(
            self.kind,
            a.view_as::<u8>(shape, &left)?,
            b.view_as::<u8>(shape, &right)?,
        );
        single(Value::from_vec_as(data, shape.clone(), DType::Bool))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let side = |value: &Value| -> Result<bridge::Prim> {
            Ok(bridge::expand(to_burn(value)?, DType::Bool, &out[0].shape))
        };
        let (a, b) = (side(inputs[0])?, side(inputs[1])?);
        let prim = match self.kind {
            Logical::And => Dispatch::bool_and(a, b),
            Logical::Or => Dispatch::bool_or(a, b),
            Logical::Xor => Dispatch::bool_xor(a, b),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn differentiable(&self) -> bool {
        false
    }
}

macro_rules! comparisons {
    ($($name:ident $scalar:ident $kind:ident),*) => {
        impl Tensor {
            $(
                #[doc = concat!("Elementwise `", stringify!($name), "` with a tensor.")]
                pub fn $name(&self, other: &Tensor) -> Result<Tensor> {
                    self.compare(Compare::$kind, other)
                }

                #[doc = concat!("Elementwise `", stringify!($name), "` with a number.")]
                pub fn $scalar(&self, number: impl Into<Scalar>) -> Result<Tensor> {
                    self.compare_scalar(Compare::$kind, number.into())
                }
            )*
        }
    };
}

comparisons! { eq eq_scalar Eq, ne ne_scalar Ne, lt lt_scalar Lt, le le_scalar Le, gt gt_scalar Gt, ge ge_scalar Ge }

impl Tensor {
    /// A comparison with a tensor, promoted and broadcast.
    pub fn compare(&self, kind: Compare, other: &Tensor) -> Result<Tensor> {
        let op = CompareOp { kind };
        let (a, b) = same_device(compare_name(kind), self, other)?;
        if a.dtype() == b.dtype() {
            return apply1(&op, &[&a, &b]);
        }
        let dtype = result_type(&a, &b);
        apply1(&op, &[&a.to_dtype(dtype)?, &b.to_dtype(dtype)?])
    }

    /// A comparison with a number.
    pub fn compare_scalar(&self, kind: Compare, scalar: Scalar) -> Result<Tensor> {
        let dtype = self.dtype();
        let target = scalar.promote(dtype, crate::defaults::float());
        let op = CompareScalarOp { kind, scalar };
        if target == dtype {
            return apply1(&op, &[self]);
        }
        apply1(&op, &[&self.to_dtype(self.device().narrow(target))?])
    }

    /// A comparison with a tensor or number.
    pub fn compare_with(&self, kind: Compare, other: &Operand) -> Result<Tensor> {
        match other {
            Operand::Tensor(other) => self.compare(kind, other),
            Operand::Scalar(scalar) => self.compare_scalar(kind, *scalar),
        }
    }

    /// Logic on truth values; other dtypes count as true where not zero.
    pub fn logical(&self, kind: Logical, other: &Tensor) -> Result<Tensor> {
        let op = LogicalOp { kind };
        let (a, b) = same_device(op.name(), self, other)?;
        apply1(&op, &[&a.to_dtype(DType::Bool)?, &b.to_dtype(DType::Bool)?])
    }

    /// Both.
    pub fn logical_and(&self, other: &Tensor) -> Result<Tensor> {
        self.logical(Logical::And, other)
    }

    /// Either.
    pub fn logical_or(&self, other: &Tensor) -> Result<Tensor> {
        self.logical(Logical::Or, other)
    }
}
