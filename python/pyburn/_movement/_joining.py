"""Several tensors made one, and one made several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pyburn import _core, _dtypes
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import numpy_names

__all__ = [
    "cat",
    "chunk",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "row_stack",
    "split",
    "split_with_sizes",
    "stack",
    "tensor_split",
    "unbind",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
    "vstack",
]


def _tensors(tensors: Any, op: str) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{op}: expected a tuple or list of Tensors, got a Tensor")
    return list(tensors)


@numpy_names
def cat(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors one after the other along a dimension.

    Example:
        >>> pyburn.cat([pyburn.zeros(1), pyburn.ones(2)])
        tensor([0., 1., 1.])
    """
    parts = _tensors(tensors, "cat")
    return into(_core._cat(parts, dim), out, *parts)


concat = concatenate = cat


@numpy_names
def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape along a new dimension.

    Example:
        >>> pyburn.stack([pyburn.zeros(2), pyburn.ones(2)]).shape
        pyburn.Size([2, 2])
    """
    return into(_core._stack(_tensors(tensors, "stack"), dim), out)


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along their only one."""
    return into(_core._hstack(_tensors(tensors, "hstack")), out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one below the other, vectors as rows."""
    return into(_core._vstack(_tensors(tensors, "vstack")), out)


row_stack = vstack


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one behind the other, along the third dimension."""
    return into(_core._dstack(_tensors(tensors, "dstack")), out)


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side, vectors as columns."""
    return into(_core._column_stack(_tensors(tensors, "column_stack")), out)


@numpy_names
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Views of equal size along a dimension, or of the given sizes.

    Example:
        >>> [part.numel() for part in pyburn.split(pyburn.arange(5), 2)]
        [2, 2, 1]
    """
    if isinstance(split_size_or_sections, list | tuple):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    return _core.split(tensor, cast("int", split_size_or_sections), dim)


@method(name="split")
@numpy_names
def _split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of equal size along a dimension, or of the given sizes."""
    return split(self, split_size, dim)


@method
@numpy_names
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given sizes along a dimension, which they fill."""
    return _core.split_with_sizes(input, list(split_sizes), dim)


@method
@numpy_names
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal size along a dimension."""
    return _core.chunk(input, chunks, dim)


unsafe_chunk = chunk
unsafe_split = split
unsafe_split_with_sizes = split_with_sizes
for _name, _function in (
    ("unsafe_chunk", chunk),
    ("unsafe_split", _split),
    ("unsafe_split_with_sizes", split_with_sizes),
):
    setattr(Tensor, _name, _function)


@method
@numpy_names
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Views along a dimension: so many, or cut before each of the given places."""
    cuts: Any = indices_or_sections
    if isinstance(cuts, Tensor):
        if cuts.dtype != _dtypes.int64 or cuts.ndim > 1:
            raise RuntimeError(
                "tensor_split: expected tensor_indices_or_sections to be a zero- or "
                f"one-dimensional int64 tensor, got {cuts.ndim} dimensions and {cuts.dtype}"
            )
        cuts = cuts.tolist()
    if isinstance(cuts, int):
        return _core.tensor_split(input, cuts, dim)
    return _core.tensor_split_at(input, list(cuts), dim)


def _cut(op: str, input: Tensor, cuts: Any, dim: int, least: int) -> tuple[Tensor, ...]:
    check_tensor(op, input)
    shape = list(input.shape)
    if len(shape) < least:
        raise RuntimeError(
            f"{op}: requires a tensor with at least {least} dimension, but got a tensor with "
            f"{len(shape)} dimensions! (got shape {shape})"
        )
    dim = dim if len(shape) > dim else 0
    if isinstance(cuts, int) and (cuts <= 0 or shape[dim] % cuts):
        raise RuntimeError(
            f"{op}: attempted to split along dimension {dim}, but the size of the dimension "
            f"{shape[dim]} is not divisible by the split_size {cuts}! (got shape {shape})"
        )
    return tensor_split(input, cuts, dim)


@method
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Views side by side: cut along the second dimension, a vector along its only one."""
    return _cut("hsplit", input, indices_or_sections, 1, 1)


@method
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Views one below the other: cut along the first dimension."""
    return _cut("vsplit", input, indices_or_sections, 0, 2)


@method
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Views one behind the other: cut along the third dimension."""
    return _cut("dsplit", input, indices_or_sections, 2, 3)


@method
@numpy_names
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """A view of each position of a dimension, which disappears."""
    return _core.unbind(input, dim)
