"""What the namespace has: dtypes, devices, defaults."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import pyburn
from pyburn._core import Tensor, device, dtype
from pyburn._dtypes import DeviceLike

__all__ = ["__array_namespace_info__", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8",),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
# Half floats are real floating, too, though the standard does not list them.
_HALVES = (pyburn.float16, pyburn.bfloat16)


def isdtype(dtype: dtype, kind: Any) -> bool:
    """Whether a dtype is of a kind: a dtype, a kind's name, or a tuple of them.

    Example:
        >>> pyburn.array_api.isdtype(pyburn.float32, "real floating")
        True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, item) for item in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: expected one of {sorted(_KINDS)}, got {kind!r}")
        if dtype in _HALVES:
            return kind in ("real floating", "numeric")
        return any(dtype == getattr(pyburn, name) for name in _KINDS[kind])
    return dtype == kind


class _FInfo(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


class _IInfo(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: dtype


def _kind_of(type: dtype | Tensor) -> dtype:
    return type.dtype if isinstance(type, Tensor) else type


def finfo(type: dtype | Tensor, /) -> _FInfo:
    """What a floating-point dtype, or that of an array, can hold."""
    kind = _kind_of(type)
    found = pyburn.finfo(kind)
    return _FInfo(
        found.bits, found.eps, found.max, found.min, found.smallest_normal, kind.to_real()
    )


def iinfo(type: dtype | Tensor, /) -> _IInfo:
    """What an integer dtype, or that of an array, can hold."""
    kind = _kind_of(type)
    found = pyburn.iinfo(kind)
    return _IInfo(found.bits, found.max, found.min, kind)


def can_cast(from_: dtype | Tensor, to: dtype, /) -> bool:
    """Whether promotion leads from one dtype to another."""
    return pyburn.promote_types(_kind_of(from_), to) == to


def result_type(*arrays_and_dtypes: Any) -> dtype:
    """The dtype that arrays, dtypes and numbers are computed in together."""
    kinds = [_kind_of(item) for item in arrays_and_dtypes if isinstance(item, Tensor | dtype)]
    if not kinds:
        raise ValueError("result_type: expected at least one array or dtype")
    kind = functools.reduce(pyburn.promote_types, kinds)
    numbers = [item for item in arrays_and_dtypes if not isinstance(item, Tensor | dtype)]
    if not numbers:
        return kind
    return pyburn.result_type(pyburn.empty((1,), dtype=kind), *numbers)


class __array_namespace_info__:
    """What the namespace has.

    Example:
        >>> pyburn.array_api.__array_namespace_info__().capabilities()["boolean indexing"]
        True
    """

    def capabilities(self) -> dict[str, Any]:
        """Which of the standard's optional features are there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> device:
        """Where new arrays go."""
        return pyburn.get_default_device()

    def devices(self) -> list[device]:
        """All devices of the backends that are available."""
        return [
            device(f"{backend.name}:{index}" if backend.name != "cpu" else "cpu")
            for backend in pyburn.backends()
            for index in range(len(backend.devices))
        ]

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, dtype]:
        """The dtypes of arrays that name none."""
        real = pyburn.get_default_dtype()
        return {
            "real floating": real,
            "complex floating": real.to_complex(),
            "integral": pyburn.int64,
            "indexing": pyburn.int64,
        }

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, dtype]:
        """The dtypes of a kind by name."""
        if kind is None:
            kind = ("bool", "numeric")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for name in kinds:
            if name not in _KINDS:
                raise ValueError(f"dtypes: expected one of {sorted(_KINDS)}, got {name!r}")
        return {name: getattr(pyburn, name) for kind in kinds for name in _KINDS[kind]}
