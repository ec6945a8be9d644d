"""Views of parts, copies with a part replaced, and views as copies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    category,
    numpy_names,
    wrapped,
)
from pyburn._movement._joining import split, split_with_sizes, unbind
from pyburn._movement._shapes import permute, squeeze, t, transpose, unsqueeze

__all__ = [
    "alias_copy",
    "as_strided",
    "as_strided_copy",
    "as_strided_scatter",
    "detach_copy",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "expand_copy",
    "narrow",
    "narrow_copy",
    "permute_copy",
    "select",
    "select_copy",
    "select_scatter",
    "slice_scatter",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_copy",
]

P = ParamSpec("P")
R = TypeVar("R")


@method
@numpy_names
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """``length`` positions of a dimension from ``start``, a view."""
    if isinstance(start, Tensor) and (start.ndim or category(start.dtype) != 1):
        raise RuntimeError(
            f"narrow: start must be a 0-dim integral tensor, got {start.ndim} dimensions and "
            f"{start.dtype}"
        )
    return _core.narrow(input, dim, int(start), length)


@method
@numpy_names
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of one position of a dimension, which disappears."""
    return _core.select(input, dim, int(index))


@method
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of a diagonal of two dimensions, put last."""
    return _core.diagonal(input, offset, dim1, dim2)


@method
@numpy_names
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which one position of a dimension is ``src``."""
    return _core.view_scatter_select(input, src, dim, index)


@method
@numpy_names
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy in which a slice of a dimension is ``src``."""
    check_tensor("slice_scatter", input)
    if step < 1:
        raise RuntimeError(f"slice_scatter: step must be positive, got {step}")
    check_tensor("slice_scatter", src)
    if not input.ndim:
        raise IndexError(
            "slice_scatter: slices of a tensor without dimensions do not exist (got shapes [] and "
            f"{list(src.shape)})"
        )
    try:
        size = input.shape[wrapped(dim, input.shape, "slice_scatter")]
    except IndexError as fault:
        raise IndexError(f"{fault} for a source of shape {list(src.shape)}") from None
    places = range(size)[slice(start, end, step)]
    return _core.view_scatter_slice(input, src, dim, places.start, len(places), step)


@method
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy in which a diagonal is ``src``."""
    return _core.view_scatter_diagonal(input, src, offset, dim1, dim2)


@method
def as_strided(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A view of any geometry over the tensor's memory."""
    return _core.as_strided(input, list(size), list(stride), storage_offset)


@method
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A copy in which a view of any geometry shows ``src``."""
    return _core.as_strided_scatter(input, src, list(size), list(stride), storage_offset)


@method(name="unfold")
def _unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of windows of ``size``, ``step`` apart, along a dimension."""
    return _core.unfold(input, dimension, size, step)


@method
def as_strided_(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """In-place version of :func:`pyburn.as_strided`."""
    _core.as_strided_(self, list(size), list(stride), storage_offset)
    return self


def _copying(function: Callable[P, R], name: str) -> Callable[P, R]:
    """The variant of a view that returns memory of its own."""

    @functools.wraps(function)
    def copy(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result: Any = function(*args, **kwargs)
        if isinstance(result, Tensor):
            return into(result.clone(), out)
        copies = tuple(part.clone() for part in result)
        if out is None:
            return copies
        for part, target in zip(copies, out, strict=True):
            into(part, target)
        return None

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"A copy of what :func:`pyburn.{name.removesuffix('_copy')}` shows."
    return copy


def _whole(input: Tensor) -> Tensor:
    check_tensor("alias_copy", input)
    return input.view(input.shape)


as_strided_copy = _copying(as_strided, "as_strided_copy")
alias_copy = _copying(_whole, "alias_copy")
detach_copy = _copying(Tensor.detach, "detach_copy")
diagonal_copy = _copying(diagonal, "diagonal_copy")
expand_copy = _copying(Tensor.expand, "expand_copy")
narrow_copy = method(name="narrow_copy")(_copying(narrow, "narrow_copy"))
permute_copy = _copying(permute, "permute_copy")
select_copy = _copying(select, "select_copy")
split_copy = _copying(split, "split_copy")
split_with_sizes_copy = _copying(split_with_sizes, "split_with_sizes_copy")
squeeze_copy = _copying(squeeze, "squeeze_copy")
t_copy = _copying(t, "t_copy")
transpose_copy = _copying(transpose, "transpose_copy")
unbind_copy = _copying(unbind, "unbind_copy")
unfold_copy = _copying(Tensor.unfold, "unfold_copy")
unsqueeze_copy = _copying(unsqueeze, "unsqueeze_copy")
view_copy = _copying(Tensor.view, "view_copy")
