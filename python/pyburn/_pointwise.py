"""Functions of one element at a time, of one tensor or several broadcast together."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

from pyburn import _core
from pyburn._api import assign, attach, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    DTypeLike,
    Number,
    as_dtype,
    as_operand,
    category,
    int64,
    numpy_names,
    result_type,
    uint8,
)
from pyburn._dtypes import bool as bool_
from pyburn.return_types import frexp as frexp_result

__all__ = [
    "abs",
    "abs_",
    "absolute",
    "acos",
    "acosh",
    "add",
    "addcdiv",
    "addcmul",
    "allclose",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "celu",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_min",
    "clip",
    "conj",
    "conj_physical",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "div",
    "divide",
    "eq",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "exp_",
    "expm1",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frexp",
    "gcd",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "hardshrink",
    "heaviside",
    "hypot",
    "i0",
    "igamma",
    "igammac",
    "imag",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_neg",
    "is_nonzero",
    "is_signed",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "lcm",
    "ldexp",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "mvlgamma",
    "nan_to_num",
    "ne",
    "neg",
    "neg_",
    "negative",
    "nextafter",
    "not_equal",
    "polygamma",
    "positive",
    "pow",
    "prelu",
    "rad2deg",
    "real",
    "reciprocal",
    "relu",
    "relu_",
    "remainder",
    "resolve_conj",
    "resolve_neg",
    "round",
    "rsqrt",
    "rsub",
    "selu",
    "sgn",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "softmax",
    "sqrt",
    "sqrt_",
    "square",
    "sub",
    "subtract",
    "tan",
    "tanh",
    "tanh_",
    "threshold",
    "true_divide",
    "trunc",
    "view_as_complex",
    "view_as_real",
    "where",
    "xlogy",
]

F = TypeVar("F", bound=Callable[..., Tensor])


class OfOne(Protocol):
    """A function of the elements of one tensor."""

    def __call__(self, input: Tensor, *, out: Tensor | None = None) -> Tensor: ...


class OfTwo(Protocol):
    """A function of two operands, either of which may be a number."""

    def __call__(
        self, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None
    ) -> Tensor: ...


class Comparison(Protocol):
    """A comparison of a tensor with another or a number."""

    def __call__(
        self, input: Tensor, other: Tensor | Number, *, out: Tensor | None = None
    ) -> Tensor: ...


class InPlace(Protocol):
    """A function that changes a tensor and returns it."""

    def __call__(self, input: Tensor, /) -> Tensor: ...


class OfTensors(Protocol):
    """A function of two tensors."""

    def __call__(self, input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...


def _named(function: F, name: str, text: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def _alias(name: str, function: F) -> F:
    """Another public name of a function and of its methods."""
    for suffix in ("", "_"):
        own = getattr(Tensor, function.__name__ + suffix, None)
        if own is not None:
            setattr(Tensor, name + suffix, own)
    return function


def _unary(name: str, text: str) -> OfOne:
    """The free form of a function that the tensor class has natively."""
    native = getattr(Tensor, name)

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return native(input) if out is None else into(native(input), out)

    return _named(function, name, text)


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
negative: OfOne = _alias("negative", neg)
absolute: OfOne = _alias("absolute", abs)
arccos: OfOne = _alias("arccos", acos)
arcsin: OfOne = _alias("arcsin", asin)
arctan: OfOne = _alias("arctan", atan)
arccosh: OfOne = _alias("arccosh", acosh)
arcsinh: OfOne = _alias("arcsinh", asinh)
arctanh: OfOne = _alias("arctanh", atanh)
fix: OfOne = _alias("fix", trunc)
abs_: InPlace = Tensor.abs_
exp_: InPlace = Tensor.exp_
neg_: InPlace = Tensor.neg_
relu_: InPlace = Tensor.relu_
sigmoid_: InPlace = Tensor.sigmoid_
sqrt_: InPlace = Tensor.sqrt_
tanh_: InPlace = Tensor.tanh_


def _binary(name: str, input: Any, other: Any, out: Tensor | None = None) -> Tensor:
    """A native function of two operands, either of which may be a number."""
    if not isinstance(input, Tensor):
        if isinstance(other, Tensor):
            return into(_core.scalar_binary(other, name, input), out)
        input = as_operand(input)
    result = _core.binary(input, name, other)
    return result if out is None else into(result, out)


def _check_numbers(name: str, taken: str, input: Any, other: Any) -> None:
    """Refuse numbers where PyTorch has no form of the function that takes them."""
    tensors = (isinstance(input, Tensor), isinstance(other, Tensor))
    fine = {
        "none": all(tensors),
        "other": tensors[0],
        "either": any(tensors),
    }[taken]
    if not fine:
        wanted = {
            "none": "two tensors",
            "other": "a tensor first",
            "either": "at least one tensor",
        }[taken]
        raise TypeError(
            f"{name}: expected {wanted}, got {type(input).__name__} and {type(other).__name__}"
        )


def _two(name: str, text: str, inplace: bool = True, numbers: str | None = "none") -> OfTwo:
    """A function of two operands; ``numbers`` says which of them may be numbers, None any."""

    def function(
        input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None
    ) -> Tensor:
        if numbers is not None:
            _check_numbers(name, numbers, input, other)
        return _binary(name, input, other, out)

    def in_place(self: Tensor, other: Tensor | Number) -> Tensor:
        if numbers is not None:
            _check_numbers(name + "_", numbers, self, other)
        _core.binary_(self, name, other)
        return self

    if inplace:
        method(name=name + "_")(
            _named(in_place, name + "_", f"In-place version of :func:`pyburn.{name}`.")
        )
    return method(name=name)(_named(function, name, text))


floor_divide: OfTwo = _two("floor_divide", "The quotient rounded down.", numbers=None)
remainder: OfTwo = _two(
    "remainder", "The remainder, with the sign of the divisor.", numbers="either"
)
fmod: OfTwo = _two("fmod", "The remainder, with the sign of the dividend.", numbers="other")
maximum: OfTwo = _two("maximum", "The larger of two elements; NaN if either is.", inplace=False)
minimum: OfTwo = _two("minimum", "The smaller of two elements; NaN if either is.", inplace=False)
fmax: OfTwo = _two("fmax", "The larger of two elements, NaN passed over.", inplace=False)
fmin: OfTwo = _two("fmin", "The smaller of two elements, NaN passed over.", inplace=False)
atan2: OfTwo = _two("atan2", "The angle of the point (other, input).")
hypot: OfTwo = _two("hypot", "The length of the hypotenuse over two legs.")
copysign: OfTwo = _two(
    "copysign", "The magnitude of one with the sign of the other.", numbers="other"
)
nextafter: OfTwo = _two("nextafter", "The next float from input towards other.")
logaddexp: OfTwo = _two(
    "logaddexp", "log(exp(input) + exp(other)), without overflow.", inplace=False
)
logaddexp2: OfTwo = _two(
    "logaddexp2", "log2(2**input + 2**other), without overflow.", inplace=False
)
xlogy: OfTwo = _two("xlogy", "input * log(other), zero where input is.", numbers="either")
heaviside: OfTwo = _two("heaviside", "The step function: other where input is zero.")
bitwise_and: OfTwo = _two("bitwise_and", "Bits set in both.", numbers="either")
bitwise_or: OfTwo = _two("bitwise_or", "Bits set in either.", numbers="either")
bitwise_xor: OfTwo = _two("bitwise_xor", "Bits set in one of both.", numbers="either")
bitwise_left_shift: OfTwo = _two(
    "bitwise_left_shift", "Bits moved up by other places.", numbers="either"
)
bitwise_right_shift: OfTwo = _two(
    "bitwise_right_shift", "Bits moved down by other places.", numbers="either"
)
gcd: OfTwo = _two("gcd", "The greatest common divisor.")
lcm: OfTwo = _two("lcm", "The least common multiple.")
igamma: OfTwo = _two("igamma", "The regularized lower incomplete gamma function.")
igammac: OfTwo = _two("igammac", "The regularized upper incomplete gamma function.")
arctan2: OfTwo = _alias("arctan2", atan2)


def _scaled(other: Any, alpha: Number, input: Any) -> Any:
    """``other * alpha``, refused where PyTorch refuses it."""
    if isinstance(alpha, builtins.bool) or alpha != 1:
        kinds = [item.dtype for item in (input, other) if isinstance(item, Tensor)]
        if isinstance(alpha, builtins.float) and all(category(kind) <= 1 for kind in kinds):
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number."
            )
        scaled = other * alpha
        boolean = isinstance(other, Tensor) and other.dtype == bool_
        return scaled.to(bool_) if boolean and scaled.dtype == int64 else scaled
    return other


@method
def add(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``input + alpha * other``.

    Example:
        >>> pyburn.add(pyburn.tensor([1, 2]), 10)
        tensor([11, 12])
    """
    return _binary("add", input, _scaled(other, alpha, input), out)


@method
def add_(self: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """In-place version of :func:`pyburn.add`."""
    _core.binary_(self, "add", _scaled(other, alpha, self))
    return self


@method
def sub(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``input - alpha * other``."""
    return _binary("sub", input, _scaled(other, alpha, input), out)


@method
def sub_(self: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """In-place version of :func:`pyburn.sub`."""
    _core.binary_(self, "sub", _scaled(other, alpha, self))
    return self


def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``other - alpha * input``."""
    _check_numbers("rsub", "other", input, other)
    return _binary("sub", other, _scaled(input, alpha, other))


mul: OfTwo = _two("mul", "``input * other``.", numbers=None)


def _division(rounding_mode: str | None) -> str:
    modes = {None: "div", "trunc": "trunc_divide", "floor": "floor_divide"}
    if rounding_mode not in modes:
        raise RuntimeError(
            "div: expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    return modes[rounding_mode]


@method
def div(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """``input / other``, exact or rounded towards zero (``"trunc"``) or down (``"floor"``).

    Example:
        >>> pyburn.div(pyburn.tensor([7, -7]), 2, rounding_mode="trunc")
        tensor([ 3, -3])
    """
    return _binary(_division(rounding_mode), input, other, out)


@method
def div_(self: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """In-place version of :func:`pyburn.div`."""
    _core.binary_(self, _division(rounding_mode), other)
    return self


attach("__div__", Tensor.__truediv__)
attach("__rdiv__", Tensor.__rtruediv__)
attach("__idiv__", Tensor.__itruediv__)
subtract = _alias("subtract", sub)
multiply: OfTwo = _alias("multiply", mul)
divide = _alias("divide", div)


@method(inplace=True)
def true_divide(
    input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """``input / other`` without rounding."""
    return _binary("div", input, other, out)


def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input`` to the power of ``exponent``.

    Example:
        >>> pyburn.pow(2, pyburn.tensor([1, 3]))
        tensor([2, 8])
    """
    _check_numbers("pow", "either", input, exponent)
    return _binary("pow", input, exponent, out)


@method(name="pow")
def _pow(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """Each element to a power."""
    return _core.binary(self, "pow", exponent)


@method
def pow_(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """In-place version of :func:`pyburn.pow`."""
    _core.binary_(self, "pow", exponent)
    return self


@method
def float_power(
    input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """A power computed in 64 bits."""
    _check_numbers("float_power", "either", input, exponent)
    return into(_core.float_power(as_operand(input, exponent), exponent), out)


@method
def float_power_(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """In-place version of :func:`pyburn.float_power`, of 64-bit tensors."""
    result = float_power(self.clone() if _core.is_grad_enabled() else self, exponent)
    if result.dtype != self.dtype:
        raise RuntimeError(
            f"float_power_: the base given has {self.dtype} but the operation's result requires "
            f"{result.dtype}"
        )
    return assign(self, result, "float_power_")


def _comparison(name: str, text: str) -> Comparison:
    def function(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        result = _core.compare(input, name, other)
        return result if out is None else into(result, out)

    return method(name=name, inplace=True)(_named(function, name, text))


eq: Comparison = _comparison("eq", "Where elements are equal.")
ne: Comparison = _comparison("ne", "Where elements differ.")
lt: Comparison = _comparison("lt", "Where input is less than other.")
le: Comparison = _comparison("le", "Where input is at most other.")
gt: Comparison = _comparison("gt", "Where input is greater than other.")
ge: Comparison = _comparison("ge", "Where input is at least other.")
greater: Comparison = _alias("greater", gt)
greater_equal: Comparison = _alias("greater_equal", ge)
less: Comparison = _alias("less", lt)
less_equal: Comparison = _alias("less_equal", le)
not_equal: Comparison = _alias("not_equal", ne)


def _logic(name: str, text: str) -> OfTensors:
    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        result = _core.logical(input, name, other)
        return result if out is None else into(result, out)

    return method(name=name, inplace=True)(_named(function, name, text))


logical_and: OfTensors = _logic("logical_and", "Where both are nonzero.")
logical_or: OfTensors = _logic("logical_or", "Where either is nonzero.")
logical_xor: OfTensors = _logic("logical_xor", "Where one of both is nonzero.")


def _question(name: str, text: str) -> OfOne:
    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        result = _core.predicate(input, name)
        return result if out is None else into(result, out)

    return method(name=name, inplace=name == "logical_not")(_named(function, name, text))


isnan: OfOne = _question("isnan", "Where elements are NaN.")
isinf: OfOne = _question("isinf", "Where elements are infinite.")
isfinite: OfOne = _question("isfinite", "Where elements are finite.")
isposinf: OfOne = _question("isposinf", "Where elements are positive infinity.")
isneginf: OfOne = _question("isneginf", "Where elements are negative infinity.")
signbit: OfOne = _question("signbit", "Where the sign bit is set.")
logical_not: OfOne = _question("logical_not", "Where elements are zero.")
isreal: OfOne = _question("isreal", "Where elements are real numbers.")


@method
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Where ``|input - other| <= atol + rtol * |other|``."""
    return _core.isclose(input, other, rtol, atol, equal_nan)


@method
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements are close, as :func:`isclose` has it.

    Example:
        >>> pyburn.allclose(pyburn.ones(2), pyburn.ones(2) + 1e-9)
        True
    """
    return _core.allclose(input, other, rtol, atol, equal_nan)


@method
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    return _core.equal(input, other)


@method(inplace=True)
def clamp(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Elements held between bounds.

    Example:
        >>> pyburn.clamp(pyburn.tensor([-2, 0, 2]), min=-1, max=1)
        tensor([-1,  0,  1])
    """
    if not (isinstance(min, Tensor) or isinstance(max, Tensor)):
        return into(_core.clamp_scalar(input, min, max), out)
    low = None if min is None else as_operand(min, input)
    high = None if max is None else as_operand(max, input)
    return into(_core.clamp(input, low, high), out)


clip = _alias("clip", clamp)


def clamp_(
    input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None
) -> Tensor:
    """In-place version of :func:`pyburn.clamp`."""
    return input.clamp_(min, max)


@method(inplace=True)
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Elements, at least ``min``."""
    return clamp(input, min=min, out=out)


@method(inplace=True)
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Elements, at most ``max``."""
    return clamp(input, max=max, out=out)


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(
    condition: Tensor,
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def where(
    condition: Tensor,
    input: Tensor | Number | None = None,
    other: Tensor | Number | None = None,
    *,
    out: Tensor | None = None,
) -> Any:
    """``input`` where the condition holds, ``other`` elsewhere; alone, where it holds.

    Example:
        >>> x = pyburn.tensor([-1.0, 2.0])
        >>> pyburn.where(x > 0, x, 0.0)
        tensor([0., 2.])
    """
    if input is None and other is None:
        return tuple(_core.nonzero(condition).unbind(1))
    if input is None or other is None:
        raise TypeError("where: expected (condition) or (condition, input, other)")
    if condition.dtype == uint8:
        condition = condition.to(bool_)
    elif condition.dtype != bool_:
        raise RuntimeError(
            f"where: expected condition to be a boolean tensor, but got {condition.dtype}"
        )
    kind = result_type(input, other)

    def side(value: Tensor | Number) -> Tensor:
        if isinstance(value, Tensor):
            return value
        place = input.device if isinstance(input, Tensor) else condition.device
        place = other.device if isinstance(other, Tensor) else place
        return _core._full((), value, _core._narrow(place, kind), place)

    return into(_core.where_(condition, side(input), side(other)), out)


@method(name="where")
def _where(self: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor:
    """Own elements where the condition holds, ``other`` elsewhere."""
    return where(condition, self, other)


@method(inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """A copy with ``value`` where the mask holds."""
    if not isinstance(value, Tensor):
        if isinstance(value, complex) and not (input.is_complex() or input.dtype == bool_):
            raise RuntimeError(
                f"masked_fill: value cannot be converted to type {input.dtype} without overflow"
            )
        value = _core._full((), value, input.dtype, input.device)
    return _core.masked_fill(input, mask, value)


@method
def lerp(
    input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """The point ``weight`` of the way from ``input`` to ``end``."""
    return into(_core.lerp(input, end, weight), out)


@method
def lerp_(self: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor:
    """In-place version of :func:`pyburn.lerp`."""
    _core.lerp_(self, end, weight)
    return self


@method
def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
    return into(_core.addcmul(input, tensor1, tensor2, value), out)


@method
def addcmul_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """In-place version of :func:`pyburn.addcmul`."""
    _core.addcmul_(self, tensor1, tensor2, value)
    return self


@method
def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
) -> Tensor:
    """``input + value * tensor1 / tensor2``."""
    return into(_core.addcdiv(input, tensor1, tensor2, value), out)


@method
def addcdiv_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """In-place version of :func:`pyburn.addcdiv`."""
    _core.addcdiv_(self, tensor1, tensor2, value)
    return self


@method(inplace=True)
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * 2 ** other``."""
    return into(_core.ldexp(input, other), out)


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


def real(input: Tensor) -> Tensor:
    """The real parts: a view of complex elements, real ones themselves."""
    return _core.real(input)


def imag(input: Tensor) -> Tensor:
    """The imaginary parts, a view."""
    return _core.imag(input)


def _set_real(self: Tensor, value: Tensor | Number) -> None:
    _core.real(self).copy_(as_operand(value))


def _set_imag(self: Tensor, value: Tensor | Number) -> None:
    _core.imag(self).copy_(as_operand(value))


attach("real", property(_core.real, _set_real, doc="The real parts."))
attach("imag", property(_core.imag, _set_imag, doc="The imaginary parts."))


@method
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; of real tensors the tensor itself."""
    return _core.conj(input) if input.dtype.is_complex else input


@method(inplace=True)
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate in memory of its own."""
    return into(_core.conj(input) if input.dtype.is_complex else input.clone(), out)


@method
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugates are never delayed here."""
    return input


@method
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negation is never delayed here."""
    return input


@method
def is_conj(input: Tensor) -> bool:
    """Whether a conjugate is still to be taken: never."""
    return False


@method
def is_neg(input: Tensor) -> bool:
    """Whether a negation is still to be done: never."""
    return False


@method
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of complex numbers; 0 or pi for real ones."""
    return into(_core.angle(input), out)


def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers as pairs of real ones in a new last dimension, over the same memory."""
    return _core.view_as_real(input)


def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers in the last dimension as complex ones, over the same memory."""
    return _core.view_as_complex(input)


@method
def positive(input: Tensor) -> Tensor:
    """The tensor itself, unless it holds bools."""
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
    return builtins.bool(input)


@method(name="is_signed")
def is_signed(input: Tensor) -> bool:
    """Whether the dtype holds negative numbers."""
    return input.dtype.is_signed


@method
@numpy_names
def softmax(input: Tensor, dim: int, dtype: DTypeLike | None = None) -> Tensor:
    """Exponentials along a dimension, divided by their sum.

    Example:
        >>> pyburn.softmax(pyburn.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    return _core.softmax(input, dim, None if dtype is None else as_dtype(dtype))


@method
@numpy_names
def log_softmax(input: Tensor, dim: int, dtype: DTypeLike | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without overflow."""
    return _core.log_softmax(input, dim, None if dtype is None else as_dtype(dtype))


def _negative_part(input: Tensor) -> Tensor:
    # Held at zero so that the exponential of a branch not taken cannot overflow.
    return clamp(input, max=0)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere."""
    return where(input > 0, input, (_negative_part(input) / alpha).expm1() * alpha)


def selu(input: Tensor) -> Tensor:
    """The scaled exponential linear unit."""
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return where(input > 0, input * scale, _negative_part(input).expm1() * (alpha * scale))


def threshold(
    input: Tensor, threshold: Number, value: Number, *, out: Tensor | None = None
) -> Tensor:
    """Elements above a threshold, ``value`` in place of the others."""
    return into(masked_fill(input, input <= threshold, value), out)


@method
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Elements outside of ``[-lambd, lambd]``, zero in place of the others."""
    return into(masked_fill(input, (input >= -lambd) & (input <= lambd), 0), out)


@method
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Elements where positive, elsewhere multiplied by the weight of their channel."""
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: expected weight to be a scalar or 1D, got {weight.ndim}D")
    if weight.numel() != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"prelu: mismatch of parameter numbers and input channel size. Found parameter "
                f"numbers = {weight.numel()} and channel size = {channels}."
            )
        weight = weight.reshape((1, -1) + (1,) * (input.ndim - 2))
    elif input.ndim > 0:
        weight = weight.reshape((1,) * input.ndim)
    return where(input > 0, input, input * weight)
