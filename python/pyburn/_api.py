"""How functions become methods of the tensor class.

A function is written once, with PyTorch's signature, in the module of its family. ``@method`` attaches
it to :class:`Tensor` under the same name; ``@method(inplace=True)`` also makes the variant with a
trailing underscore, which writes the result over the tensor's own elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import can_cast

F = TypeVar("F", bound=Callable[..., Any])


@overload
def method(function: F, /) -> F: ...
@overload
def method(*, name: str | None = None, inplace: bool = False) -> Callable[[F], F]: ...
def method(
    function: F | None = None, /, *, name: str | None = None, inplace: bool = False
) -> F | Callable[[F], F]:
    """Attach a function to the tensor class, where its first argument becomes ``self``."""

    def attach(function: F) -> F:
        public = name or function.__name__
        setattr(Tensor, public, function)
        if inplace:
            setattr(Tensor, public + "_", inplace_of(function, public))
        return function

    return attach if function is None else attach(function)


def inplace_of(function: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """The variant of a function that writes its result over its first argument."""

    @functools.wraps(function)
    def in_place(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        # What the gradient reads must not be what is being overwritten.
        tracked = _core.is_grad_enabled() and self.requires_grad
        source = self.clone() if tracked else self
        return assign(self, function(source, *args, **kwargs), name + "_")

    in_place.__name__ = name + "_"
    in_place.__qualname__ = f"Tensor.{name}_"
    in_place.__doc__ = f"In-place version of :func:`pyburn.{name}`."
    return in_place


def assign(target: Tensor, result: Tensor, name: str) -> Tensor:
    """Write ``result`` over ``target``, which must have its shape and a dtype it converts to."""
    if result.shape != target.shape:
        raise RuntimeError(
            f"{name}: output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    _core.assign_(target, result)
    return target


def into(result: Tensor, out: Tensor | None) -> Tensor:
    """``result``, or ``out`` with the result written into it."""
    if out is None:
        return result
    if out.requires_grad or result.requires_grad:
        raise RuntimeError(
            "out=: functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad"
        )
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"out=: result type {result.dtype} can't be cast to the desired output type {out.dtype}"
        )
    if out.device != result.device:
        raise RuntimeError(
            f"out=: expected the output on {result.device}, got one on {out.device}"
        )
    if out.shape != result.shape:
        # Like PyTorch, an output of another shape is resized.
        out.data = result.to(out.dtype)
    else:
        out.copy_(result)
    return out
