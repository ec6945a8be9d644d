"""The signatures that functions of elements share, and how such functions are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pyburn._core import Tensor
from pyburn._dtypes import Number

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


def named(function: F, name: str, text: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def alias(name: str, function: F) -> F:
    """Another public name of a function and of its methods."""
    for suffix in ("", "_"):
        own = getattr(Tensor, function.__name__ + suffix, None)
        if own is not None:
            setattr(Tensor, name + suffix, own)
    return function
