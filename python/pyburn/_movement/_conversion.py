"""Other dtypes and devices."""

from __future__ import annotations

from typing import Any, overload

from pyburn import _dtypes
from pyburn._api import check_tensor, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    as_dtype,
    memory_format,
    name_of,
    preserve_format,
)

_TYPE_NAMES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


@overload
def _type(self: Tensor, dtype: None = None) -> str: ...
@overload
def _type(self: Tensor, dtype: DTypeLike, non_blocking: bool = False) -> Tensor: ...
@method(name="type")
def _type(self: Tensor, dtype: DTypeLike | None = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, or the tensor in another one.

    Example:
        >>> pyburn.ones(1).type()
        'pyburn.FloatTensor'
    """
    if dtype is None:
        place = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"pyburn.{place}{_TYPE_NAMES[name_of(self.dtype)]}Tensor"
    if isinstance(dtype, str) and dtype.endswith("Tensor"):
        short = dtype.rpartition(".")[2].removesuffix("Tensor")
        found = [name for name, title in _TYPE_NAMES.items() if title == short]
        if not found:
            raise ValueError(f"type: invalid type: '{dtype}'")
        dtype = found[0]
    return self.to(dtype=as_dtype(dtype))


@method(name="type_as")
def _type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in another tensor's dtype, on its device."""
    check_tensor("type_as", input)
    check_tensor("type_as", other)
    return input.to(other)


def _converter(name: str, kind: Any) -> None:
    def convert(self: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
        check_tensor(name, self)
        return self.to(kind)

    convert.__name__ = name
    convert.__qualname__ = f"Tensor.{name}"
    convert.__doc__ = f"The elements as ``{kind!r}``."
    method(name=name)(convert)


for _name, _kind in {
    "float": _dtypes.float32,
    "double": _dtypes.float64,
    "half": _dtypes.float16,
    "bfloat16": _dtypes.bfloat16,
    "int": _dtypes.int32,
    "long": _dtypes.int64,
    "short": _dtypes.int16,
    "char": _dtypes.int8,
    "byte": _dtypes.uint8,
    "bool": _dtypes.bool,
    "cfloat": _dtypes.complex64,
    "cdouble": _dtypes.complex128,
}.items():
    _converter(_name, _kind)


@method(name="cpu")
def _cpu(self: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """The elements in host memory."""
    check_tensor("cpu", self)
    return self.to(device="cpu")


@method(name="cuda")
def _cuda(
    self: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """The elements on a CUDA device."""
    return self.to(device="cuda" if device is None else device)
