"""Activations that are functions of the package and not of ``nn`` alone."""

from __future__ import annotations

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._autocast import composite
from pyburn._core import Tensor
from pyburn._dtypes import (
    DTypeLike,
    Number,
    as_dtype,
    numpy_names,
)
from pyburn._pointwise._choice import masked_fill, where

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


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere."""
    check_tensor("celu", input)
    if alpha == 0:
        raise RuntimeError("celu: ZeroDivisionError: alpha cannot be 0 for CELU")
    return _core.elu(input, alpha, 1.0, 1.0 / alpha)


def selu(input: Tensor) -> Tensor:
    """The scaled exponential linear unit."""
    check_tensor("selu", input)
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return _core.elu(input, alpha, scale, 1.0)


def threshold(
    input: Tensor, threshold: Number, value: Number, *, out: Tensor | None = None
) -> Tensor:
    """Elements above a threshold, ``value`` in place of the others."""
    check_tensor("threshold", input)
    if input.is_floating_point() and not isinstance(threshold, complex | Tensor):
        return into(_core.threshold(input, threshold, value), out)  # type: ignore[arg-type]
    return into(masked_fill(input, input <= threshold, value), out)


@method
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Elements outside of ``[-lambd, lambd]``, zero in place of the others."""
    check_tensor("hardshrink", input)
    return into(_core.hardshrink(input, lambd), out)  # type: ignore[arg-type]


@method
@composite
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Elements where positive, elsewhere multiplied by the weight of their channel."""
    check_tensor("prelu", input)
    check_tensor("prelu", weight)
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: expected weight to be a scalar or 1D, got shape {list(weight.shape)} for "
            f"input of shape {list(input.shape)}"
        )
    if weight.numel() != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"prelu: mismatch of parameter numbers and input channel size. Found parameter "
                f"numbers = {weight.numel()} and channel size = {channels}, from shapes "
                f"{list(weight.shape)} and {list(input.shape)}"
            )
        weight = weight.reshape((1, -1) + (1,) * (input.ndim - 2))
    else:
        weight = weight.reshape((1,) * input.ndim)
    return where(input > 0, input, input * weight)
