"""Bounds, choices between tensors, and sums of three."""

from __future__ import annotations

from typing import Any, overload

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    Number,
    as_operand,
    result_type,
    uint8,
)
from pyburn._dtypes import bool as bool_
from pyburn._pointwise._kinds import alias

__all__ = [
    "addcdiv",
    "addcmul",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_min",
    "clip",
    "lerp",
    "masked_fill",
    "where",
]


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


clip = alias("clip", clamp)


def clamp_(
    input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None
) -> Tensor:
    """In-place version of :func:`pyburn.clamp`."""
    return input.clamp_(min, max)


def _check_bound(op: str, bound: object) -> None:
    if bound is None:
        raise TypeError(f"{op}: expected a Tensor or a number, got NoneType")


@method(inplace=True)
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Elements, at least ``min``."""
    check_tensor("clamp_min", input)
    _check_bound("clamp_min", min)
    if isinstance(min, Tensor) and input.dtype == min.dtype == bool_:
        return into(_core.logical(input, "logical_or", min), out)
    return clamp(input, min=min, out=out)


@method(inplace=True)
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Elements, at most ``max``."""
    check_tensor("clamp_max", input)
    _check_bound("clamp_max", max)
    if isinstance(max, Tensor) and input.dtype == max.dtype == bool_:
        return into(_core.logical(input, "logical_and", max), out)
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
    check_tensor("where", condition)
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
    check_tensor("masked_fill", input)
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
