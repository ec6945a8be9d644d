"""The options of every function that makes a tensor, read in one place."""

from __future__ import annotations

from pyburn import _core
from pyburn._api import check_tensor, into
from pyburn._core import Tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    as_device,
    as_dtype,
    device,
    dtype,
    layout,
    strided,
)

__all__ = ["finish", "kind_and_place", "kind_and_place_like"]


def kind_and_place(
    out: Tensor | None,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    default: dtype | None = None,
) -> tuple[dtype, device]:
    """The dtype and the device of a new tensor: those that are named, those of ``out``, or
    ``default`` (the default float if there is none), narrowed to what the device has."""
    if out is not None:
        check_tensor("out=", out)
        return (out.dtype if dtype is None else as_dtype(dtype)), out.device
    place = as_device(device, backend)
    if dtype is not None:
        return as_dtype(dtype), place
    return _core._narrow(place, default or _core.get_default_dtype()), place


def kind_and_place_like(
    input: Tensor,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
) -> tuple[dtype, device]:
    """The dtype and the device of a new tensor: those that are named, or another tensor's."""
    kind = input.dtype if dtype is None else as_dtype(dtype)
    unnamed = device is None and backend is None
    return kind, input.device if unnamed else as_device(device, backend)


def finish(
    result: Tensor, out: Tensor | None, requires_grad: bool, layout: layout | None
) -> Tensor:
    """A new tensor, or ``out`` with it written into it."""
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"only the layout pyburn.strided exists, got {layout}")
    if out is not None:
        result = into(result, out)
    return result.requires_grad_() if requires_grad else result
