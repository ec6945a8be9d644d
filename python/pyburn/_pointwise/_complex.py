"""Parts of complex numbers."""

from __future__ import annotations

from pyburn import _core
from pyburn._api import attach, check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    Number,
    as_operand,
)

__all__ = [
    "angle",
    "conj",
    "conj_physical",
    "imag",
    "is_conj",
    "is_neg",
    "real",
    "resolve_conj",
    "resolve_neg",
    "view_as_complex",
    "view_as_real",
]


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
    check_tensor("conj", input)
    return _core.conj(input) if input.dtype.is_complex else input


@method(inplace=True)
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate in memory of its own."""
    check_tensor("conj_physical", input)
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
