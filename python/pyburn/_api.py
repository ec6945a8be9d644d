"""How functions become methods of the tensor class.

A function is written once, with PyTorch's signature, in the module of its family. ``@method``
attaches it to :class:`Tensor` under the same name; ``@method(inplace=True)`` also makes the variant
with a trailing underscore, which writes the result over the tensor's own elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast, overload

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import can_cast

F = TypeVar("F", bound=Callable[..., Any])
Pair = TypeVar("Pair", bound=tuple[Any, ...])


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


def attach(name: str, value: object) -> None:
    """Put something that is not a function of the package, such as a property, on the class."""
    setattr(Tensor, name, value)


def check_tensor(op: str, value: object) -> None:
    """Refuse an argument that is no tensor, where the engine would not be the first to see it."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{op}: expected a Tensor, got {type(value).__name__}")


def inplace_of(function: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """The variant of a function that writes its result over its first argument."""

    @functools.wraps(function)
    def in_place(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        # What the gradient reads must not be what is being overwritten.
        tracked = _core.is_grad_enabled() and any(
            isinstance(value, Tensor) and value.requires_grad
            for value in (self, *args, *kwargs.values())
        )
        source = self.clone() if tracked else self
        # In autocast too, what is written has the target's dtype.
        before = _core._pause_autocast()
        try:
            return assign(self, function(source, *args, **kwargs), name + "_")
        finally:
            if before:
                _core._resume_autocast(before)

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


def into(result: Tensor, out: Tensor | None, *inputs: Tensor, same_dtype: bool = False) -> Tensor:
    """``result``, or ``out`` with the result written into it.

    ``inputs`` are tensors that PyTorch does not let share memory with the output; with
    ``same_dtype`` the output must have the result's own dtype.
    """
    if out is None:
        return result
    if not isinstance(out, Tensor):
        raise TypeError(f"out=: expected a Tensor, got {type(out).__name__}")
    if _core.is_grad_enabled() and (out.requires_grad or result.requires_grad):
        raise RuntimeError(
            "out=: functions with out=... arguments don't support automatic differentiation, but "
            "one of the arguments requires grad"
        )
    if same_dtype and out.dtype != result.dtype:
        raise RuntimeError(f"out=: expected out tensor to have {result.dtype}, got {out.dtype}")
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"out=: result type {result.dtype} can't be cast to the desired output type {out.dtype}"
        )
    if out.device != result.device:
        raise RuntimeError(f"out=: expected the output on {result.device}, got one on {out.device}")
    refuse_overlap(out, *inputs)
    if out.shape == result.shape:
        return out.copy_(result)
    # Like PyTorch, an output of another shape is resized.
    if not out._resizable:
        raise RuntimeError(
            f"out=: trying to resize storage that is not resizable: an output of shape "
            f"{list(out.shape)} over memory of somebody else, for a result of shape "
            f"{list(result.shape)}"
        )
    out.data = result.to(out.dtype)
    return out


def both(
    kind: type[Pair], results: Sequence[Tensor], out: Sequence[Tensor] | None, *inputs: Tensor
) -> Pair:
    """Several results as their named tuple, or written into the given tensors, which may not share
    memory with ``inputs``."""
    if out is not None:
        pairs = zip(results, out, strict=True)
        results = [into(result, target, *inputs) for result, target in pairs]
    return kind(*results)


def spread(tensors: tuple[Any, ...]) -> list[Tensor]:
    """Tensors given as ``f(a, b)`` or as ``f([a, b])``."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        if not isinstance(tensors[0], Iterable):
            raise TypeError(f"expected Tensors, got {type(tensors[0]).__name__}")
        return list(cast("Iterable[Tensor]", tensors[0]))
    return list(tensors)


def refuse_overlap(out: Tensor, *others: Tensor) -> None:
    """Refuse an output two elements of which, or an element of which and of others, are one."""
    if any(size > 1 and step == 0 for size, step in zip(out.shape, out.stride(), strict=True)):
        raise RuntimeError(
            "out=: unsupported operation: more than one element of the written-to tensor refers to "
            "a single memory location; hint: clone() it first"
        )
    for other in others:
        shared = out._shares_storage(other) and _meet(_span(out), _span(other))
        if other is out or shared:
            raise RuntimeError(
                "out=: unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location; hint: clone() it first"
            )


def _span(tensor: Tensor) -> range:
    """The bytes of its storage between a tensor's first and last element."""
    if not tensor.numel():
        return range(0)
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    length = 1 + sum((size - 1) * step for size, step in steps)
    start = tensor.storage_offset()
    return range(start * tensor.itemsize, (start + length) * tensor.itemsize)


def _meet(one: range, two: range) -> bool:
    return max(one.start, two.start) < min(one.stop, two.stop)
