"""Activations that are functions of the package and not of ``nn`` alone."""

from __future__ import annotations

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    DTypeLike,
    Number,
    as_dtype,
    numpy_names,
)
from pyburn._pointwise._choice import clamp, masked_fill, where

__all__ = [
    "celu",
    "hardshrink",
    "log_softmax",
    "prelu",
    "selu",
    "softmax",
    "threshold",
]


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
    check_tensor("threshold", input)
    return into(masked_fill(input, input <= threshold, value), out)


@method
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Elements outside of ``[-lambd, lambd]``, zero in place of the others."""
    check_tensor("hardshrink", input)
    return into(masked_fill(input, (input >= -lambd) & (input <= lambd), 0), out)


@method
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Elements where positive, elsewhere multiplied by the weight of their channel."""
    check_tensor("prelu", input)
    check_tensor("prelu", weight)
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
