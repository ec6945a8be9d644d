"""Tensors whose elements are equal."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from pyburn import _core
from pyburn._api import check_tensor, method
from pyburn._core import Tensor, tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    Number,
    dtype,
    layout,
    memory_format,
    preserve_format,
    sizes_of,
    strided,
    type_of_number,
)
from pyburn._options import finish, kind_and_place, kind_and_place_like

__all__ = [
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "scalar_tensor",
    "zeros",
    "zeros_like",
]


def _filled(
    op: str,
    size: Sequence[Any],
    value: Number,
    out: Tensor | None,
    dtype: DTypeLike | None,
    layout: layout | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
    default: dtype | None = None,
) -> Tensor:
    shape = sizes_of(size, op)
    kind, place = kind_and_place(out, dtype, device, backend, default)
    return finish(_core._full(shape, value, kind, place), out, requires_grad, layout)


def _size_argument(args: tuple[Any, ...], size: Any) -> tuple[Any, ...]:
    """Sizes given by position or as ``size=``."""
    return args if size is None else (*args, size)


def empty(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor whose elements nobody has set; here they are zero.

    Example:
        >>> pyburn.empty(2, 3).shape
        pyburn.Size([2, 3])
    """
    args = _size_argument(args, size)
    return _filled("empty", args, 0, out, dtype, layout, device, backend, requires_grad)


def zeros(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros.

    Example:
        >>> pyburn.zeros(2)
        tensor([0., 0.])
    """
    args = _size_argument(args, size)
    return _filled("zeros", args, 0, out, dtype, layout, device, backend, requires_grad)


def ones(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ones.

    Example:
        >>> pyburn.ones(2)
        tensor([1., 1.])
    """
    args = _size_argument(args, size)
    return _filled("ones", args, 1, out, dtype, layout, device, backend, requires_grad)


def full(
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of equal elements, whose dtype is the number's if none is named.

    Example:
        >>> pyburn.full((2,), 7)
        tensor([7, 7])
    """
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    default = type_of_number(value)
    return _filled(
        "full", (size,), value, out, dtype, layout, device, backend, requires_grad, default
    )


def _near(
    name: str,
    input: Tensor,
    shape: Sequence[int] | None,
    value: Number,
    dtype: DTypeLike | None,
    layout: layout | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """Equal elements with another tensor's shape, dtype and device where none is named."""
    check_tensor(name, input)
    kind, place = kind_and_place_like(input, dtype, device, backend)
    sizes = tuple(input.shape if shape is None else shape)
    return finish(_core._full(sizes, value, kind, place), None, requires_grad, layout)


def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """An unset tensor of another one's shape, dtype and device."""
    return _near("empty_like", input, None, 0, dtype, layout, device, backend, requires_grad)


def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Zeros of another tensor's shape, dtype and device."""
    return _near("zeros_like", input, None, 0, dtype, layout, device, backend, requires_grad)


def ones_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Ones of another tensor's shape, dtype and device."""
    return _near("ones_like", input, None, 1, dtype, layout, device, backend, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Number | Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Equal elements in another tensor's shape, dtype and device."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return _near("full_like", input, None, value, dtype, layout, device, backend, requires_grad)


@method
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the given data with this one's dtype and device."""
    check_tensor("new_tensor", self)
    kind, place = kind_and_place_like(self, dtype, device, backend)
    return finish(tensor(data, dtype=kind, device=place), None, requires_grad, layout)


@method
def new_empty(
    self: Tensor,
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """An unset tensor with this one's dtype and device."""
    shape = sizes_of(_size_argument(args, size), "new_empty")
    return _near("new_empty", self, shape, 0, dtype, layout, device, backend, requires_grad)


@method
def new_zeros(
    self: Tensor,
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros with this tensor's dtype and device."""
    shape = sizes_of(_size_argument(args, size), "new_zeros")
    return _near("new_zeros", self, shape, 0, dtype, layout, device, backend, requires_grad)


@method
def new_ones(
    self: Tensor,
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """Ones with this tensor's dtype and device."""
    shape = sizes_of(_size_argument(args, size), "new_ones")
    return _near("new_ones", self, shape, 1, dtype, layout, device, backend, requires_grad)


@method
def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """Equal elements with this tensor's dtype and device."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    shape = sizes_of((size,), "new_full")
    return _near("new_full", self, shape, value, dtype, layout, device, backend, requires_grad)


@method
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    *,
    backend: DeviceLike | None = None,
) -> Tensor:
    """An unset tensor of the given strides with this one's dtype and device."""
    kind, place = kind_and_place_like(self, dtype, device, backend)
    return empty_strided(
        size, stride, dtype=kind, layout=layout, device=place, requires_grad=requires_grad
    )


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An unset tensor of the given size and strides."""
    sizes, strides = sizes_of((size,), "empty_strided"), sizes_of((stride,), "empty_strided")
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"empty_strided: dimensionality of sizes ({len(sizes)}) must match dimensionality of "
            f"strides ({len(strides)})"
        )
    reach = 0 if 0 in sizes else sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
    memory = empty((reach,), dtype=dtype, device=device, backend=backend)
    result = _core.as_strided(memory, list(sizes), list(strides), 0).detach()
    return finish(result, None, requires_grad, layout)


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An unset tensor whose dimensions lie in memory in the given order."""
    if sorted(physical_layout) != list(builtins.range(len(size))):
        raise RuntimeError(
            f"empty_permuted: expected physical_layout to be a permutation of the dimensions of "
            f"size {tuple(size)}, got {tuple(physical_layout)}"
        )
    shape = [size[dim] for dim in physical_layout]
    stored = empty(shape, dtype=dtype, device=device, backend=backend)
    order = [list(physical_layout).index(dim) for dim in builtins.range(len(size))]
    return finish(stored.permute(order).detach(), None, requires_grad, layout)


def scalar_tensor(
    s: Number,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A 0-d tensor of the default dtype, or of the one named."""
    return _filled("scalar_tensor", ((),), s, None, dtype, layout, device, backend, requires_grad)
