"""Functions of each element. They are PyBurn's own, given by the standard's names."""

from __future__ import annotations

from collections.abc import Callable

import pyburn
from pyburn._core import Tensor
from pyburn._dtypes import Number, category
from pyburn._pointwise import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    conj,
    cos,
    cosh,
    exp,
    expm1,
    imag,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    logical_not,
    negative,
    positive,
    real,
    reciprocal,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

bitwise_invert = pyburn.bitwise_not


def _pair(name: str) -> Callable[..., Tensor]:
    """A function of two arrays of which one may be a number, which takes the other's dtype."""
    inner = getattr(pyburn, "eq" if name == "equal" else name)

    def function(x1: Tensor | Number, x2: Tensor | Number, /) -> Tensor:
        if not isinstance(x1, Tensor) and isinstance(x2, Tensor):
            x1 = _as_array(x1, x2)
        elif not isinstance(x2, Tensor) and isinstance(x1, Tensor):
            x2 = _as_array(x2, x1)
        elif isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1.dtype != x2.dtype:
            # Arrays without dimensions count as much as others, unlike in PyTorch.
            kind = pyburn.promote_types(x1.dtype, x2.dtype)
            x1, x2 = x1.to(kind), x2.to(kind)
        return inner(x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = inner.__doc__
    return function


def _as_array(value: Number, like: Tensor) -> Tensor:
    kind = pyburn.result_type(like, value)
    return pyburn.tensor(value, dtype=kind, device=like.device)


add = _pair("add")
atan2 = _pair("atan2")
bitwise_and = _pair("bitwise_and")
bitwise_left_shift = _pair("bitwise_left_shift")
bitwise_or = _pair("bitwise_or")
bitwise_right_shift = _pair("bitwise_right_shift")
bitwise_xor = _pair("bitwise_xor")
copysign = _pair("copysign")
divide = _pair("divide")
equal = _pair("equal")
floor_divide = _pair("floor_divide")
greater = _pair("greater")
greater_equal = _pair("greater_equal")
hypot = _pair("hypot")
less = _pair("less")
less_equal = _pair("less_equal")
logaddexp = _pair("logaddexp")
logical_and = _pair("logical_and")
logical_or = _pair("logical_or")
logical_xor = _pair("logical_xor")
maximum = _pair("maximum")
minimum = _pair("minimum")
multiply = _pair("multiply")
nextafter = _pair("nextafter")
not_equal = _pair("not_equal")
pow = _pair("pow")
remainder = _pair("remainder")
subtract = _pair("subtract")


def _whole(x: Tensor) -> bool:
    return category(x.dtype) <= 1


def ceil(x: Tensor, /) -> Tensor:
    """The next integer above."""
    return x.clone() if _whole(x) else pyburn.ceil(x)


def floor(x: Tensor, /) -> Tensor:
    """The next integer below."""
    return x.clone() if _whole(x) else pyburn.floor(x)


def trunc(x: Tensor, /) -> Tensor:
    """The next integer towards zero."""
    return x.clone() if _whole(x) else pyburn.trunc(x)


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, the even one of two."""
    if x.is_complex():
        return pyburn.complex(pyburn.round(x.real), pyburn.round(x.imag))
    return x.clone() if _whole(x) else pyburn.round(x)


def sign(x: Tensor, /) -> Tensor:
    """Minus one, zero or one; of complex numbers the direction."""
    return pyburn.sgn(x) if x.is_complex() else _sign(x)


def _sign(x: Tensor) -> Tensor:
    result = pyburn.sign(x)
    return pyburn.where(pyburn.isnan(x), x, result) if x.is_floating_point() else result


def clip(
    x: Tensor, /, min: Tensor | Number | None = None, max: Tensor | Number | None = None
) -> Tensor:
    """Values limited from both sides; the result has the array's dtype."""
    if min is None and max is None:
        return x.clone()
    return pyburn.clamp(x, min, max).to(x.dtype)
