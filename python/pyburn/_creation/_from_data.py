"""Tensors of data, and of other tensors."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._api import check_tensor, into
from pyburn._core import Tensor, from_numpy, tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    as_device,
    as_dtype,
    bfloat16,
    is_number,
    memory_format,
    name_of,
    preserve_format,
)
from pyburn._options import kind_and_place_like

__all__ = [
    "as_tensor",
    "asarray",
    "clone",
    "complex",
    "detach",
    "from_numpy",
    "frombuffer",
    "polar",
    "tensor",
]


def as_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    *,
    backend: DeviceLike | None = None,
) -> Tensor:
    """A tensor of the data, which shares memory with tensors and arrays where it can.

    Example:
        >>> x = pyburn.ones(2)
        >>> pyburn.as_tensor(x) is x
        True
    """
    if isinstance(data, Tensor):
        kind, place = kind_and_place_like(data, dtype, device, backend)
        return data.to(dtype=kind, device=place)
    place = as_device(device, backend)
    if hasattr(data, "__array_interface__") and not is_number(data):
        shared = _core._from_array(data)
        kind = _core._narrow(place, shared.dtype) if dtype is None else dtype
        return shared.to(dtype=kind, device=place)
    return tensor(data, dtype=dtype, device=place)


def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of any object: shared memory where possible, a copy where asked for."""
    is_shared = isinstance(obj, Tensor) or hasattr(obj, "__array_interface__")
    if copy is False and not is_shared:
        raise ValueError(
            f"asarray: can't alias arbitrary sequence of type {type(obj).__name__}; hint: copy=None"
        )
    result = as_tensor(obj, dtype=dtype, device=device, backend=backend)
    if copy is False:
        if isinstance(obj, Tensor):
            is_copy = not result._shares_storage(obj)
        else:
            address = obj.__array_interface__["data"][0]
            is_copy = result.numel() > 0 and (
                result.device.type != "cpu" or result.data_ptr() != address
            )
        if is_copy:
            raise ValueError(
                "asarray: expected memory that can be shared with copy=False, got a tensor or "
                "array of another dtype or device, or an array that is read-only or has strides "
                "no tensor has; hint: copy=None"
            )
    if copy and is_shared:
        result = result.detach().clone()
    if isinstance(obj, Tensor) and requires_grad != result.requires_grad:
        result = result.detach()
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


def frombuffer(
    buffer: Any,
    *,
    dtype: DTypeLike,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor over the memory of a Python buffer."""
    import numpy

    raw = numpy.frombuffer(buffer, dtype=numpy.uint8)
    kind = as_dtype(dtype)
    if not 0 <= offset < len(raw):
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer "
            f"length ({len(raw)} bytes) minus 1"
        )
    length = (len(raw) - offset) // kind.itemsize if count < 0 else count
    if count < 0 and (len(raw) - offset) % kind.itemsize:
        raise ValueError(
            f"frombuffer: buffer length ({len(raw) - offset} bytes) after offset ({offset} bytes) "
            f"must be a multiple of element size ({kind.itemsize})"
        )
    end = offset + length * kind.itemsize
    if end > len(raw):
        raise ValueError(
            f"frombuffer: requested buffer length ({end} bytes) is beyond its {len(raw)} bytes"
        )
    # NumPy has no bfloat16, whose bits it carries as integers.
    carrier = "int16" if kind == bfloat16 else name_of(kind)
    result = _core._from_array(raw[offset:end].view(carrier)).view(kind)
    return result.requires_grad_() if requires_grad else result


def clone(input: Tensor, *, memory_format: memory_format = preserve_format) -> Tensor:
    """A copy in fresh memory, through which gradients flow."""
    check_tensor("clone", input)
    return input.clone()


def detach(input: Tensor) -> Tensor:
    """Another tensor over the same memory, without a history."""
    check_tensor("detach", input)
    return input.detach()


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers from their real and imaginary parts.

    Example:
        >>> pyburn.complex(pyburn.tensor(1.0), pyburn.tensor(2.0))
        tensor(1.+2.j)
    """
    return into(_core.complex(real, imag), out, same_dtype=True)


def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers from their absolute values and angles."""
    return into(_core._polar(abs, angle), out)
