//! Whole tensors as the numbers of a rule.

use std::ops::{Add, Div, Mul, Neg, Sub};

use kernels::binary::Binary;
use kernels::optim::Lane;
use kernels::unary::Unary;

use crate::tensor::Tensor;
use crate::{Error, Result, Scalar};

/// A number, or a tensor of them. Arithmetic cannot fail in a formula, so a fault is a value that
/// everything computed from it becomes, until it is written somewhere.
#[derive(Clone, Debug)]
pub enum Whole {
    /// One number.
    Number(f64),
    /// A tensor.
    Tensor(Tensor),
    /// What went wrong.
    Failed(Error),
}

impl From<Result<Tensor>> for Whole {
    fn from(result: Result<Tensor>) -> Self {
        match result {
            Ok(tensor) => Whole::Tensor(tensor),
            Err(error) => Whole::Failed(error),
        }
    }
}

impl Whole {
    /// The number this is, read from the tensor if it is one.
    pub fn number(&self) -> Result<f64> {
        match self {
            Whole::Number(number) => Ok(*number),
            Whole::Tensor(tensor) => Ok(tensor.item()?.to_f64()),
            Whole::Failed(error) => Err(error.clone()),
        }
    }

    /// The tensor, if its gradient is wanted; else the number.
    pub(super) fn if_differentiable(&self) -> Result<Whole> {
        match self {
            Whole::Tensor(tensor) if tensor.requires_grad() => Ok(self.clone()),
            other => other.number().map(Whole::Number),
        }
    }

    /// Writes this over a tensor's elements.
    pub(super) fn write_over(&self, target: &Tensor) -> Result<()> {
        match self {
            Whole::Tensor(tensor) => super::overwrite(target, tensor),
            Whole::Number(number) => {
                let number = Tensor::full(&[], *number, target.dtype(), target.device())?;
                super::overwrite(target, &number.expand_to("copy_", &target.shape())?)
            }
            Whole::Failed(error) => Err(error.clone()),
        }
    }

    fn binary(&self, other: &Whole, kind: Binary, numbers: fn(f64, f64) -> f64) -> Whole {
        match (self, other) {
            (Whole::Failed(_), _) => self.clone(),
            (_, Whole::Failed(_)) => other.clone(),
            (Whole::Number(a), Whole::Number(b)) => Whole::Number(numbers(*a, *b)),
            (Whole::Tensor(a), Whole::Tensor(b)) => a.binary(kind, b).into(),
            (Whole::Tensor(a), Whole::Number(b)) => {
                a.with_scalar(kind, Scalar::Float(*b), false).into()
            }
            (Whole::Number(a), Whole::Tensor(b)) => {
                b.with_scalar(kind, Scalar::Float(*a), true).into()
            }
        }
    }

    fn unary(self, kind: Unary, number: fn(f64) -> f64) -> Whole {
        match self {
            Whole::Number(a) => Whole::Number(number(a)),
            Whole::Tensor(a) => a.unary(kind).into(),
            failed => failed,
        }
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident $kind:ident;)*) => {$(
        impl $trait for Whole {
            type Output = Whole;

            fn $name(self, other: Whole) -> Whole {
                self.binary(&other, Binary::$kind, <f64 as $trait>::$name)
            }
        }

        impl $trait<&Whole> for Whole {
            type Output = Whole;

            fn $name(self, other: &Whole) -> Whole {
                self.binary(other, Binary::$kind, <f64 as $trait>::$name)
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
}

impl Neg for Whole {
    type Output = Whole;

    fn neg(self) -> Whole {
        self.unary(Unary::Neg, f64::neg)
    }
}

impl Lane for Whole {
    fn of(number: f64) -> Self {
        Whole::Number(number)
    }

    fn value(&self) -> f64 {
        // A fault shows where this number is used in the formula as well.
        self.number().unwrap_or(f64::NAN)
    }

    fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt, f64::sqrt)
    }

    fn abs(self) -> Self {
        self.unary(Unary::Abs, f64::abs)
    }

    fn pow(self, exponent: f64) -> Self {
        self.binary(&Whole::Number(exponent), Binary::Pow, f64::powf)
    }

    fn at_least(self, other: Self) -> Self {
        self.binary(&other, Binary::Maximum, |a, b| a.at_least(b))
    }

    fn at_most(self, other: Self) -> Self {
        self.binary(&other, Binary::Minimum, |a, b| a.at_most(b))
    }

    fn if_positive(self, yes: Self, no: Self) -> Self {
        let condition = match self {
            Whole::Number(number) => return if number > 0.0 { yes } else { no },
            Whole::Tensor(condition) => condition,
            failed => return failed,
        };
        let side = |side: Whole| match side {
            Whole::Number(number) => {
                Tensor::full(&[], number, condition.dtype(), condition.device())
            }
            Whole::Tensor(tensor) => Ok(tensor),
            Whole::Failed(error) => Err(error),
        };
        let choose = || condition.gt_scalar(0.0)?.where_(&side(yes)?, &side(no)?);
        choose().into()
    }
}
