"""The switches of autocast, and functions that take part in it as one operation.

:class:`pyburn.autocast` is what users write; it lives in :mod:`pyburn.amp`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator
from typing import Any, ParamSpec, TypeVar, overload

from pyburn import _core
from pyburn._core import Tensor

__all__ = [
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]

P = ParamSpec("P")
R = TypeVar("R")

KINDS = ("cpu", "wgpu", "cuda")
"""The kinds of devices, each with a switch of its own."""


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether operations on a kind of device choose their dtypes; on a GPU, if none is named.

    Example:
        >>> with pyburn.autocast("cpu"):
        ...     pyburn.is_autocast_enabled("cpu")
        True
    """
    if device_type is None:
        return _core._autocast_enabled("cuda") or _core._autocast_enabled("wgpu")
    return _core._autocast_enabled(device_type)


@overload
def set_autocast_enabled(device_type: str, enabled: bool) -> None: ...
@overload
def set_autocast_enabled(device_type: bool) -> None: ...
def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast for a kind of device, of GPUs if none is named; :class:`pyburn.autocast` does
    so for a block of code."""
    if isinstance(device_type, str):
        if enabled is None:
            raise TypeError(
                f"set_autocast_enabled: expected True or False for {device_type!r}, got nothing"
            )
        _core._set_autocast_enabled(device_type, enabled)
        return
    for kind in ("wgpu", "cuda"):
        _core._set_autocast_enabled(kind, device_type)


def is_autocast_cpu_enabled() -> bool:
    """Whether operations on the CPU choose their dtypes."""
    return _core._autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Switch autocast for the CPU."""
    _core._set_autocast_enabled("cpu", enabled)


def get_autocast_dtype(device_type: str) -> _core.dtype:
    """The dtype that fast operations on a kind of device choose.

    Example:
        >>> pyburn.get_autocast_dtype("cpu"), pyburn.get_autocast_dtype("cuda")
        (pyburn.bfloat16, pyburn.float16)
    """
    return _core._autocast_dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the dtype that fast operations on a kind of device choose."""
    _core._set_autocast_dtype(device_type, dtype)


def get_autocast_cpu_dtype() -> _core.dtype:
    """The dtype that fast operations on the CPU choose."""
    return _core._autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """Set the dtype that fast operations on the CPU choose."""
    _core._set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> _core.dtype:
    """The dtype that fast operations on CUDA's GPUs choose."""
    return _core._autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """Set the dtype that fast operations on GPUs choose."""
    for kind in ("wgpu", "cuda"):
        _core._set_autocast_dtype(kind, dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether a weight that several operations take is converted once."""
    return _core._autocast_caching()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether a weight that several operations take is converted once."""
    _core._set_autocast_caching(enabled)


def clear_autocast_cache() -> None:
    """Let go of converted weights, as leaving the outermost block does."""
    _core._clear_autocast_cache()


class Captured:
    """The switches as they are now, for a second run of the same code."""

    def __init__(self) -> None:
        self.kinds = [
            (kind, _core._autocast_enabled(kind), _core._autocast_dtype(kind)) for kind in KINDS
        ]
        self.caching = _core._autocast_caching()

    @contextlib.contextmanager
    def again(self) -> Generator[None]:
        """These switches once more; what is set now comes back afterwards."""
        now = Captured()
        _core._enter_autocast()
        self._set()
        try:
            yield
        finally:
            _core._leave_autocast()
            now._set()

    def _set(self) -> None:
        for kind, enabled, dtype in self.kinds:
            _core._set_autocast_enabled(kind, enabled)
            _core._set_autocast_dtype(kind, dtype)
        _core._set_autocast_caching(self.caching)


def composite(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of several operations take part in autocast as one operation.

    Its tensors are converted as the engine's table says of its name, and its operations compute in
    what they are given. Without that each of them would choose for itself.
    """

    @functools.wraps(function)
    def converting(*args: P.args, **kwargs: P.kwargs) -> R:
        if not _core._autocast_active():
            return function(*args, **kwargs)
        given: list[Any] = [*args, *kwargs.values()]
        places = [at for at, value in enumerate(given) if isinstance(value, Tensor)]
        begun = _core._begin_autocast(function.__name__, [given[at] for at in places])
        if begun is None:
            return function(*args, **kwargs)
        converted, before = begun
        for at, tensor in zip(places, converted, strict=True):
            given[at] = tensor
        try:
            named = dict(zip(kwargs, given[len(args) :], strict=True))
            return function(*given[: len(args)], **named)  # type: ignore[arg-type]
        finally:
            _core._resume_autocast(before)

    return converting
