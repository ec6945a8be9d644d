//! Operators and elementwise functions of the tensor class, bound natively because they are what
//! small models spend their time in.
#![expect(unsafe_op_in_unsafe_fn, reason = "in what PyO3 makes of methods that a macro writes")]

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::PyNotImplemented;
use wrap_burn::ops::binary::{Binary, Operand};
use wrap_burn::ops::compare::Compare;
use wrap_burn::ops::unary::Unary;
use wrap_burn::{Error, Tensor};

use crate::args::{self, Op, T};
use crate::boundary::on;
use crate::shapes::{HasShapes as _, Shapes};
use crate::tensor::PyTensor;

/// An error of two operands, with the shapes they have.
#[cold]
fn named(error: Error, tensor: &Tensor, other: &Operand) -> Error {
    other.shapes(Shapes::default().see(tensor)).name(error)
}

/// The result of an operator, or Python's way to say "ask the other operand".
fn answer<'py>(
    py: Python<'py>,
    tensor: &Tensor,
    other: &Bound<'py, PyAny>,
    f: impl FnOnce(&Operand) -> wrap_burn::Result<Tensor> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    match args::operand(other)? {
        Some(operand) => {
            let found =
                on(py, tensor, || f(&operand).map_err(|error| named(error, tensor, &operand)))?;
            Ok(Bound::new(py, PyTensor(found))?.into_any())
        }
        None => Ok(PyNotImplemented::get(py).to_owned().into_any()),
    }
}

/// The same with the operands the other way round.
fn reversed(tensor: &Tensor, kind: Binary, other: &Operand) -> wrap_burn::Result<Tensor> {
    match other {
        Operand::Tensor(other) => other.binary(kind, tensor),
        Operand::Scalar(scalar) => tensor.with_scalar(kind, *scalar, true),
    }
}

fn in_place(slf: &Bound<'_, PyTensor>, kind: Binary, other: &Bound<'_, PyAny>) -> PyResult<()> {
    let Op(operand) = other.extract()?;
    let tensor = &slf.get().0;
    on(slf.py(), tensor, || {
        tensor.with_(kind, &operand).map_err(|error| named(error, tensor, &operand))
    })
}

macro_rules! operators {
    ($($name:ident $reflected:ident $inplace:ident $kind:ident),* $(,)?) => {
        #[pymethods]
        impl PyTensor {
            $(
                fn $name<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    answer(py, &self.0, other, |other| self.0.with(Binary::$kind, other))
                }

                fn $reflected<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    answer(py, &self.0, other, |other| reversed(&self.0, Binary::$kind, other))
                }

                fn $inplace(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    in_place(slf, Binary::$kind, other)
                }
            )*
        }
    };
}

operators! {
    __add__ __radd__ __iadd__ Add,
    __sub__ __rsub__ __isub__ Sub,
    __mul__ __rmul__ __imul__ Mul,
    __truediv__ __rtruediv__ __itruediv__ Div,
    __floordiv__ __rfloordiv__ __ifloordiv__ FloorDiv,
    __mod__ __rmod__ __imod__ Remainder,
    __and__ __rand__ __iand__ BitAnd,
    __or__ __ror__ __ior__ BitOr,
    __xor__ __rxor__ __ixor__ BitXor,
    __lshift__ __rlshift__ __ilshift__ ShiftLeft,
    __rshift__ __rrshift__ __irshift__ ShiftRight,
}

#[pymethods]
impl PyTensor {
    fn __pow__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        answer(py, &self.0, other, |other| self.0.with(Binary::Pow, other))
    }

    fn __rpow__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        answer(py, &self.0, other, |other| reversed(&self.0, Binary::Pow, other))
    }

    fn __ipow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        _modulo: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        in_place(slf, Binary::Pow, other)
    }

    fn __matmul__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(T(other)) = other.extract::<T>() else {
            return Ok(PyNotImplemented::get(py).to_owned().into_any());
        };
        let named = |error| named(error, &self.0, &Operand::Tensor(other.clone()));
        let out = on(py, &self.0, || self.0.matmul(&other).map_err(named))?;
        Ok(Bound::new(py, PyTensor(out))?.into_any())
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<PyTensor> {
        on(py, &self.0, || self.0.neg()).map(PyTensor)
    }

    fn __pos__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __abs__(&self, py: Python<'_>) -> PyResult<PyTensor> {
        on(py, &self.0, || self.0.unary(Unary::Abs)).map(PyTensor)
    }

    fn __invert__(&self, py: Python<'_>) -> PyResult<PyTensor> {
        on(py, &self.0, || self.0.unary(Unary::BitwiseNot)).map(PyTensor)
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kind = match op {
            CompareOp::Lt => Compare::Lt,
            CompareOp::Le => Compare::Le,
            CompareOp::Eq => Compare::Eq,
            CompareOp::Ne => Compare::Ne,
            CompareOp::Gt => Compare::Gt,
            CompareOp::Ge => Compare::Ge,
        };
        answer(py, &self.0, other, |other| self.0.compare_with(kind, other))
    }
}

macro_rules! unary_methods {
    ($($name:ident $inplace:ident $kind:ident $text:literal),* $(,)?) => {
        #[pymethods]
        impl PyTensor {
            $(
                #[doc = $text]
                fn $name(&self, py: Python<'_>) -> PyResult<PyTensor> {
                    on(py, &self.0, || self.0.unary(Unary::$kind)).map(PyTensor)
                }

                #[doc = $text]
                #[doc = " In place."]
                fn $inplace<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
                    let tensor = &slf.get().0;
                    on(slf.py(), tensor, || tensor.unary_(Unary::$kind))?;
                    Ok(slf)
                }
            )*
        }

        /// The elementwise functions: name, and what each computes.
        pub(crate) const UNARY: &[&str] = &[$(stringify!($name)),*];
    };
}

unary_methods! {
    neg neg_ Neg "The negative of each element.",
    abs abs_ Abs "The absolute value of each element.",
    sign sign_ Sign "-1, 0 or 1 by the sign of each element.",
    square square_ Square "The square of each element.",
    exp exp_ Exp "The exponential of each element.",
    exp2 exp2_ Exp2 "Two to the power of each element.",
    expm1 expm1_ Expm1 "The exponential minus one, precise near zero.",
    log log_ Log "The natural logarithm of each element.",
    log2 log2_ Log2 "The logarithm to base two.",
    log10 log10_ Log10 "The logarithm to base ten.",
    log1p log1p_ Log1p "The natural logarithm of one plus each element, precise near zero.",
    sqrt sqrt_ Sqrt "The square root of each element.",
    rsqrt rsqrt_ Rsqrt "One over the square root of each element.",
    reciprocal reciprocal_ Reciprocal "One over each element.",
    sin sin_ Sin "The sine of each element, in radians.",
    cos cos_ Cos "The cosine of each element, in radians.",
    tan tan_ Tan "The tangent of each element, in radians.",
    asin asin_ Asin "The arc sine of each element.",
    acos acos_ Acos "The arc cosine of each element.",
    atan atan_ Atan "The arc tangent of each element.",
    sinh sinh_ Sinh "The hyperbolic sine of each element.",
    cosh cosh_ Cosh "The hyperbolic cosine of each element.",
    tanh tanh_ Tanh "The hyperbolic tangent of each element.",
    asinh asinh_ Asinh "The inverse hyperbolic sine of each element.",
    acosh acosh_ Acosh "The inverse hyperbolic cosine of each element.",
    atanh atanh_ Atanh "The inverse hyperbolic tangent of each element.",
    sigmoid sigmoid_ Sigmoid "One over one plus the exponential of the negative.",
    erf erf_ Erf "The error function of each element.",
    erfc erfc_ Erfc "One minus the error function.",
    erfinv erfinv_ Erfinv "The inverse of the error function.",
    lgamma lgamma_ Lgamma "The logarithm of the absolute value of the gamma function.",
    digamma digamma_ Digamma "The derivative of lgamma.",
    i0 i0_ I0 "The modified Bessel function of order zero.",
    sinc sinc_ Sinc "sin(pi x) / (pi x), one at zero.",
    floor floor_ Floor "The largest integer not above each element.",
    ceil ceil_ Ceil "The smallest integer not below each element.",
    trunc trunc_ Trunc "Each element cut towards zero.",
    frac frac_ Frac "What cutting towards zero leaves.",
    relu relu_ Relu "Each element, or zero where it is negative.",
    deg2rad deg2rad_ Deg2rad "Degrees as radians.",
    rad2deg rad2deg_ Rad2deg "Radians as degrees.",
    bitwise_not bitwise_not_ BitwiseNot "Every bit turned; the logical not of bools.",
}

/// The elementwise functions that torch puts into submodules, by name.
#[pyfunction]
pub(crate) fn unary(py: Python<'_>, input: T, name: &str) -> PyResult<PyTensor> {
    let kind = match name {
        "erfcx" => Unary::Erfcx,
        "ndtr" => Unary::Ndtr,
        "log_ndtr" => Unary::LogNdtr,
        "ndtri" => Unary::Ndtri,
        "i0e" => Unary::I0e,
        "i1" => Unary::I1,
        "i1e" => Unary::I1e,
        "logsigmoid" => Unary::LogSigmoid,
        "gelu" => Unary::Gelu,
        "gelu_tanh" => Unary::GeluTanh,
        "silu" => Unary::Silu,
        "softplus" => Unary::Softplus,
        "mish" => Unary::Mish,
        "softsign" => Unary::Softsign,
        "round" => Unary::Round,
        "trigamma" => Unary::Trigamma,
        "bessel_j0" => Unary::BesselJ0,
        "bessel_j1" => Unary::BesselJ1,
        other => {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "unary: no function is called '{other}'"
            )));
        }
    };
    on(py, &input.0, || input.0.unary(kind)).map(PyTensor)
}
