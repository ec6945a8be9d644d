"""Arithmetic, comparisons and logic of two operands."""

from __future__ import annotations

import builtins
from typing import Any

from pyburn import _core
from pyburn._api import assign, attach, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    Number,
    as_operand,
    category,
    int64,
)
from pyburn._dtypes import bool as bool_
from pyburn._pointwise._kinds import Comparison, OfTensors, OfTwo, alias, named

__all__ = [
    "add",
    "allclose",
    "arctan2",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "copysign",
    "div",
    "divide",
    "eq",
    "equal",
    "float_power",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "heaviside",
    "hypot",
    "igamma",
    "igammac",
    "isclose",
    "lcm",
    "ldexp",
    "le",
    "less",
    "less_equal",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "ne",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "true_divide",
    "xlogy",
]


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
            named(in_place, name + "_", f"In-place version of :func:`pyburn.{name}`.")
        )
    return method(name=name)(named(function, name, text))


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
arctan2: OfTwo = alias("arctan2", atan2)


def _scaled(other: Any, alpha: Number, input: Any) -> Any:
    """``other * alpha``, refused where PyTorch refuses it."""
    if isinstance(alpha, builtins.bool) or alpha != 1:
        kinds = [item.dtype for item in (input, other) if isinstance(item, Tensor)]
        if isinstance(alpha, builtins.float) and all(category(kind) <= 1 for kind in kinds):
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number."
            )
        if isinstance(other, Tensor):
            scaled = other * alpha
            boolean = other.dtype == bool_ and scaled.dtype == int64
            return scaled.to(bool_) if boolean else scaled
        if not isinstance(other, (builtins.int, builtins.float, builtins.complex)):
            raise TypeError(f"expected a Tensor or a number, got {type(other).__name__}")
        return other * alpha
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
subtract = alias("subtract", sub)
multiply: OfTwo = alias("multiply", mul)
divide = alias("divide", div)


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

    return method(name=name, inplace=True)(named(function, name, text))


eq: Comparison = _comparison("eq", "Where elements are equal.")
ne: Comparison = _comparison("ne", "Where elements differ.")
lt: Comparison = _comparison("lt", "Where input is less than other.")
le: Comparison = _comparison("le", "Where input is at most other.")
gt: Comparison = _comparison("gt", "Where input is greater than other.")
ge: Comparison = _comparison("ge", "Where input is at least other.")
greater: Comparison = alias("greater", gt)
greater_equal: Comparison = alias("greater_equal", ge)
less: Comparison = alias("less", lt)
less_equal: Comparison = alias("less_equal", le)
not_equal: Comparison = alias("not_equal", ne)


def _logic(name: str, text: str) -> OfTensors:
    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        result = _core.logical(input, name, other)
        return result if out is None else into(result, out)

    return method(name=name, inplace=True)(named(function, name, text))


logical_and: OfTensors = _logic("logical_and", "Where both are nonzero.")
logical_or: OfTensors = _logic("logical_or", "Where either is nonzero.")
logical_xor: OfTensors = _logic("logical_xor", "Where one of both is nonzero.")


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
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * 2 ** other``."""
    return into(_core.ldexp(input, other), out)
