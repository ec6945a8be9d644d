"""Functions of one tensor's elements."""

from __future__ import annotations

import builtins

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import bool as bool_
from pyburn._pointwise._kinds import InPlace, OfOne, alias, named
from pyburn.return_types import frexp as frexp_result

__all__ = [
    "abs",
    "abs_",
    "absolute",
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "exp_",
    "expm1",
    "fix",
    "floor",
    "frac",
    "frexp",
    "i0",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_signed",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "logit",
    "mvlgamma",
    "nan_to_num",
    "neg",
    "neg_",
    "negative",
    "polygamma",
    "positive",
    "rad2deg",
    "reciprocal",
    "relu",
    "relu_",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "sqrt_",
    "square",
    "tan",
    "tanh",
    "tanh_",
    "trunc",
]


def _unary(name: str, text: str) -> OfOne:
    """The free form of a function that the tensor class has natively."""
    native = getattr(Tensor, name)

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return native(input) if out is None else into(native(input), out)

    return named(function, name, text)


neg: OfOne = _unary("neg", "The negative of each element.")
abs: OfOne = _unary("abs", "The absolute value of each element.")
sign: OfOne = _unary("sign", "-1, 0 or 1 by the sign of each element.")
square: OfOne = _unary("square", "The square of each element.")
exp: OfOne = _unary("exp", "The exponential of each element.")
exp2: OfOne = _unary("exp2", "Two to the power of each element.")
expm1: OfOne = _unary("expm1", "The exponential minus one, precise near zero.")
log: OfOne = _unary("log", "The natural logarithm of each element.")
log2: OfOne = _unary("log2", "The logarithm to base two.")
log10: OfOne = _unary("log10", "The logarithm to base ten.")
log1p: OfOne = _unary("log1p", "The natural logarithm of one plus each element, precise near zero.")
sqrt: OfOne = _unary("sqrt", "The square root of each element.")
rsqrt: OfOne = _unary("rsqrt", "One over the square root of each element.")
reciprocal: OfOne = _unary("reciprocal", "One over each element.")
sin: OfOne = _unary("sin", "The sine of each element, in radians.")
cos: OfOne = _unary("cos", "The cosine of each element, in radians.")
tan: OfOne = _unary("tan", "The tangent of each element, in radians.")
asin: OfOne = _unary("asin", "The arc sine of each element.")
acos: OfOne = _unary("acos", "The arc cosine of each element.")
atan: OfOne = _unary("atan", "The arc tangent of each element.")
sinh: OfOne = _unary("sinh", "The hyperbolic sine of each element.")
cosh: OfOne = _unary("cosh", "The hyperbolic cosine of each element.")
tanh: OfOne = _unary("tanh", "The hyperbolic tangent of each element.")
asinh: OfOne = _unary("asinh", "The inverse hyperbolic sine of each element.")
acosh: OfOne = _unary("acosh", "The inverse hyperbolic cosine of each element.")
atanh: OfOne = _unary("atanh", "The inverse hyperbolic tangent of each element.")
sigmoid: OfOne = _unary("sigmoid", "One over one plus the exponential of the negative.")
erf: OfOne = _unary("erf", "The error function of each element.")
erfc: OfOne = _unary("erfc", "One minus the error function.")
erfinv: OfOne = _unary("erfinv", "The inverse of the error function.")
lgamma: OfOne = _unary("lgamma", "The logarithm of the absolute value of the gamma function.")
digamma: OfOne = _unary("digamma", "The derivative of lgamma.")
i0: OfOne = _unary("i0", "The modified Bessel function of order zero.")
sinc: OfOne = _unary("sinc", "sin(pi x) / (pi x), one at zero.")
floor: OfOne = _unary("floor", "The largest integer not above each element.")
ceil: OfOne = _unary("ceil", "The smallest integer not below each element.")
trunc: OfOne = _unary("trunc", "Each element cut towards zero.")
frac: OfOne = _unary("frac", "What cutting towards zero leaves.")
relu: OfOne = _unary("relu", "Each element, or zero where it is negative.")
deg2rad: OfOne = _unary("deg2rad", "Degrees as radians.")
rad2deg: OfOne = _unary("rad2deg", "Radians as degrees.")
bitwise_not: OfOne = _unary("bitwise_not", "Every bit turned; the logical not of bools.")
negative: OfOne = alias("negative", neg)
absolute: OfOne = alias("absolute", abs)
arccos: OfOne = alias("arccos", acos)
arcsin: OfOne = alias("arcsin", asin)
arctan: OfOne = alias("arctan", atan)
arccosh: OfOne = alias("arccosh", acosh)
arcsinh: OfOne = alias("arcsinh", asinh)
arctanh: OfOne = alias("arctanh", atanh)
fix: OfOne = alias("fix", trunc)
abs_: InPlace = Tensor.abs_
exp_: InPlace = Tensor.exp_
neg_: InPlace = Tensor.neg_
relu_: InPlace = Tensor.relu_
sigmoid_: InPlace = Tensor.sigmoid_
sqrt_: InPlace = Tensor.sqrt_
tanh_: InPlace = Tensor.tanh_


def _question(name: str, text: str) -> OfOne:
    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        result = _core.predicate(input, name)
        return result if out is None else into(result, out)

    return method(name=name, inplace=name == "logical_not")(named(function, name, text))


isnan: OfOne = _question("isnan", "Where elements are NaN.")
isinf: OfOne = _question("isinf", "Where elements are infinite.")
isfinite: OfOne = _question("isfinite", "Where elements are finite.")
isposinf: OfOne = _question("isposinf", "Where elements are positive infinity.")
isneginf: OfOne = _question("isneginf", "Where elements are negative infinity.")
signbit: OfOne = _question("signbit", "Where the sign bit is set.")
logical_not: OfOne = _question("logical_not", "Where elements are zero.")
isreal: OfOne = _question("isreal", "Where elements are real numbers.")


@method
def frexp(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> frexp_result:
    """Mantissas in [0.5, 1) and exponents of two that make up each element."""
    mantissa, exponent = _core.frexp(input)
    if out is None:
        return frexp_result(mantissa, exponent)
    return frexp_result(into(mantissa, out[0]), into(exponent, out[1]))


@method(inplace=True)
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element at the nearest integer, halves to the even one, or at some decimals.

    Example:
        >>> pyburn.round(pyburn.tensor([0.5, 1.5]))
        tensor([0., 2.])
    """
    check_tensor("round", input)
    if decimals == 0:
        return into(_core.unary(input, "round"), out)
    if not input.is_floating_point():
        raise NotImplementedError(f"round: decimals are not implemented for {input.dtype}")
    factor = 10.0 ** builtins.abs(decimals)
    if decimals > 0:
        return into(_core.unary(input * factor, "round") / factor, out)
    return into(_core.unary(input / factor, "round") * factor, out)


@method(inplace=True)
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """NaN and infinities replaced by numbers: zero and the largest ones if none are given."""
    return into(_core.nan_to_num(input, nan, posinf, neginf), out)


@method(inplace=True)
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sign of each element; of complex ones the number of length one in its direction."""
    return into(_core.sgn(input), out)


@method(inplace=True)
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """``log(x / (1 - x))`` of elements, first held between ``eps`` and ``1 - eps``."""
    return into(_core.logit(input, eps), out)


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th derivative of the digamma function."""
    return into(_core.polygamma(input, n), out)


@method(name="polygamma", inplace=True)
def _polygamma(self: Tensor, n: int) -> Tensor:
    """The ``n``-th derivative of the digamma function."""
    return polygamma(n, self)


@method(inplace=True)
def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``."""
    return into(_core.mvlgamma(input, p), out)


@method
def positive(input: Tensor) -> Tensor:
    """The tensor itself, unless it holds bools."""
    check_tensor("positive", input)
    if input.dtype == bool_:
        raise RuntimeError("positive: the `+` operator, on a bool tensor is not supported.")
    return input


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex type."""
    return input.is_complex()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a real floating-point type."""
    return input.is_floating_point()


@method
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    check_tensor("is_nonzero", input)
    if input.numel() != 1:
        raise RuntimeError(
            "is_nonzero: expected a tensor of one element, whose truth is not ambiguous, got shape "
            f"{list(input.shape)}"
        )
    return builtins.bool(input)


@method(name="is_signed")
def is_signed(input: Tensor) -> bool:
    """Whether the dtype holds negative numbers."""
    return input.dtype.is_signed
