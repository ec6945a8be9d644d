"""Rearranging, joining, picking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyburn
from pyburn._core import Tensor
from pyburn._dtypes import Number

__all__ = [
    "argsort",
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "nonzero",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "searchsorted",
    "sort",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "where",
]


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Arrays of one shape."""
    return list(pyburn.broadcast_tensors(*arrays))


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """The array repeated to a shape."""
    return pyburn.broadcast_to(x, tuple(shape))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays one behind the other; flattened without an axis."""
    if axis is None:
        return pyburn.cat([array.reshape(-1) for array in arrays])
    kind = pyburn.result_type(*arrays) if len(arrays) < 3 else _common(arrays)
    return pyburn.cat([array.to(kind) for array in arrays], axis)


def _common(arrays: Sequence[Tensor]) -> pyburn.dtype:
    kind = arrays[0].dtype
    for array in arrays[1:]:
        kind = pyburn.promote_types(kind, array.dtype)
    return kind


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays side by side along a new axis."""
    kind = _common(arrays)
    return pyburn.stack([array.to(kind) for array in arrays], axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis."""
    return tuple(pyburn.unbind(x, axis))


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A new axis of size one."""
    return pyburn.unsqueeze(x, axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Without axes of size one."""
    axes = (axis,) if isinstance(axis, int) else axis
    for at in axes:
        if x.shape[at] != 1:
            raise ValueError(f"squeeze: axis {at} has size {x.shape[at]}, not 1")
    return pyburn.squeeze(x, tuple(axes))


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Reversed along axes."""
    if axis is None:
        axis = tuple(range(x.ndim))
    return pyburn.flip(x, (axis,) if isinstance(axis, int) else tuple(axis))


def moveaxis(
    x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Tensor:
    """Axes at other places."""
    return pyburn.moveaxis(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axes in another order."""
    return pyburn.permute(x, tuple(axes))


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape."""
    if copy:
        return pyburn.reshape(x.clone(), tuple(shape))
    if copy is False:
        try:
            return x.view(tuple(shape))
        except RuntimeError as fault:
            raise ValueError(f"reshape: copy=False, but {fault}") from None
    return pyburn.reshape(x, tuple(shape))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times."""
    if isinstance(repeats, Tensor):
        repeats = repeats.to(pyburn.int64)
    return pyburn.repeat_interleave(x, repeats, axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole array several times."""
    return pyburn.tile(x, tuple(repetitions))


def roll(
    x: Tensor,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Tensor:
    """Elements moved on along axes, from the end to the beginning."""
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    return pyburn.roll(x, shift, axis)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The parts at indices along an axis."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis is needed for an array of {x.ndim} dimensions")
        axis = 0
    index = _from_front(indices, x.shape[axis])
    found = pyburn.index_select(x, axis, index.reshape(-1))
    if indices.ndim == 1:
        return found
    at = axis % x.ndim
    return found.reshape((*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))


def _from_front(indices: Tensor, size: int) -> Tensor:
    wide = indices.to(pyburn.int64)
    return pyburn.where(wide < 0, wide + size, wide)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """For each place, the element at an index along an axis."""
    return pyburn.take_along_dim(x, _from_front(indices, x.shape[axis]), axis)


def where(condition: Tensor, x1: Tensor | Number, x2: Tensor | Number, /) -> Tensor:
    """One array's elements where a condition holds, another's elsewhere."""
    if isinstance(x1, Tensor) and isinstance(x2, Tensor):
        kind = pyburn.promote_types(x1.dtype, x2.dtype)
        x1, x2 = x1.to(kind), x2.to(kind)
    return pyburn.where(condition, x1, x2)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Where elements are not zero, by axis."""
    if not x.ndim:
        raise ValueError("nonzero: an array without dimensions has no indices")
    return tuple(pyburn.nonzero(x, as_tuple=True))


def searchsorted(
    x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None
) -> Tensor:
    """Where values belong in a sorted array."""
    kind = pyburn.promote_types(x1.dtype, x2.dtype)
    return pyburn.searchsorted(x1.to(kind), x2.to(kind), side=side, sorter=sorter)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Sorted along an axis."""
    return pyburn.sort(x, dim=axis, descending=descending, stable=stable).values


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The indices that sort along an axis."""
    return pyburn.sort(x, dim=axis, descending=descending, stable=stable).indices


class _All(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class _Counts(NamedTuple):
    values: Tensor
    counts: Tensor


class _Inverse(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


def _unique(x: Tensor) -> _All:
    """By sorting, so that NaN are all different."""
    flat = x.reshape(-1)
    if x.is_complex():
        # By real parts, equal ones by imaginary parts.
        order = pyburn.sort(flat.imag, stable=True).indices
        order = order[pyburn.sort(flat.real[order], stable=True).indices]
    else:
        order = pyburn.sort(flat, stable=True).indices
    values = flat[order]
    first = pyburn.ones(values.shape, dtype=pyburn.bool, device=x.device)
    if values.numel() > 1:
        first[1:] = values[1:] != values[:-1]
    starts = pyburn.nonzero(first).reshape(-1)
    rank = first.to(pyburn.int64).cumsum(0) - 1
    inverse = pyburn.zeros_like(order).scatter(0, order, rank)
    ends = pyburn.cat([starts[1:], pyburn.tensor([values.numel()], device=x.device)])
    counts = (ends - starts) if starts.numel() else starts
    return _All(values[starts], order[starts], inverse.reshape(x.shape), counts)


def unique_all(x: Tensor, /) -> _All:
    """The different elements, where each is first, which one each element is, how often."""
    return _unique(x)


def unique_counts(x: Tensor, /) -> _Counts:
    """The different elements, and how often each is there."""
    found = _unique(x)
    return _Counts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> _Inverse:
    """The different elements, and which one each element is."""
    found = _unique(x)
    return _Inverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The different elements."""
    return _unique(x).values
