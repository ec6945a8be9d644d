"""Backends: which there are, what their devices do, and which one new tensors go to.

A backend is named wherever a device is: by a string (``"wgpu"``, ``"cuda:1"``), by a
``pyburn.device`` or by a member of :class:`Backend`.
"""

from __future__ import annotations

import enum
import importlib
from collections.abc import Callable
from types import TracebackType
from typing import Any

from pyburn import _absent, _core

__all__ = [
    "Backend",
    "BackendInfo",
    "backends",
    "default_device",
    "get_default_device",
    "is_available",
    "memory_stats",
    "set_default_device",
    "supports",
    "synchronize",
]


class Backend(enum.Enum):
    """The backends by name; several names may mean the same one.

    Example:
        >>> pyburn.zeros(2, device=pyburn.Backend.NDARRAY).device
        device(type='cpu')
    """

    NDARRAY = "ndarray"
    CPU = "ndarray"
    FLEX = "ndarray"
    NDARRAYDEVICE = "ndarray"
    WGPU = "wgpu"
    VULKAN = "wgpu"
    METAL = "wgpu"
    WEBGPU = "wgpu"
    WGPUDEVICE = "wgpu"
    FUSIONJITBACKEND = "wgpu"
    CUDA = "cuda"
    # LibTorch is not part of PyBurn; using it says so.
    PYTORCH = "pytorch"

    @property
    def device(self) -> _core.device:
        """The backend's first device."""
        return _core.device(self.value)


class BackendInfo:
    """A backend, its devices, and the reason why there are none."""

    __slots__ = ("devices", "name", "reason")

    def __init__(self, name: str, devices: list[str], reason: str | None) -> None:
        self.name = name
        self.devices = devices
        self.reason = reason

    @property
    def available(self) -> bool:
        """Whether tensors can be made on it."""
        return bool(self.devices)

    def __repr__(self) -> str:
        if self.available:
            return f"{self.name}: {', '.join(self.devices)}"
        return f"{self.name}: not available ({self.reason})"


class _BackendList(list[BackendInfo]):
    """Backends, one per line."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def backends() -> list[BackendInfo]:
    """Every backend, with its devices or the reason why it cannot be used.

    Example:
        >>> pyburn.backend.backends()[0].name
        'cpu'
    """
    return _BackendList(
        BackendInfo(entry["name"], list(entry["devices"]), entry["reason"])
        for entry in _core._backends()
    )


def _name(device: Any) -> str:
    return device.value if isinstance(device, Backend) else device


def is_available(name: Any) -> bool:
    """Whether a backend, or one of its devices, can be used here.

    Example:
        >>> pyburn.backend.is_available("cpu")
        True
    """
    try:
        device = _core.device(_name(name))
        _core._require(device)
    except _core.DeviceError:
        return False
    return True


def supports(device: Any, dtype: Any) -> bool:
    """Whether a device computes with a dtype.

    Example:
        >>> pyburn.backend.supports("cpu", pyburn.complex64)
        True
    """
    return bool(_core._supports(_name(device), dtype))


def synchronize(device: Any = None) -> None:
    """Wait until a device (the default one if none is named) has done everything asked of it."""
    _core._synchronize(_core.get_default_device() if device is None else _name(device))


def memory_stats(device: Any = None) -> dict[str, int]:
    """What tensors hold on a device, the default one if none is named.

    ``bytes_in_use`` are those that tensors hold, in so many ``allocations``; ``bytes_reserved`` are
    those taken from the device, which on a GPU are more: burn keeps memory for the next tensors. On
    the CPU both are the same, and memory that belongs to somebody else, such as a NumPy array that
    a tensor shares, is not counted.

    Example:
        >>> before = pyburn.memory_stats("cpu")["bytes_in_use"]
        >>> x = pyburn.zeros(1000, 1000, dtype=pyburn.float32, device="cpu")
        >>> pyburn.memory_stats("cpu")["bytes_in_use"] - before >= x.nbytes
        True
    """
    return _core._memory_stats(_core.get_default_device() if device is None else _name(device))


def get_default_device() -> _core.device:
    """The device of new tensors that name none."""
    return _core.get_default_device()


def set_default_device(device: Any) -> None:
    """Choose the device of new tensors that name none; ``None`` goes back to the CPU."""
    _core.set_default_device(None if device is None else _name(device))


class default_device:
    """The default device of this thread for the time of a ``with`` block.

    Example:
        >>> with pyburn.backend.default_device("cpu"):
        ...     pyburn.zeros(2).device
        device(type='cpu')
    """

    def __init__(self, device: Any) -> None:
        self.device = _core.device(_name(device))

    def __enter__(self) -> _core.device:
        _core._require(self.device)
        return self.device.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.device.__exit__(kind, fault, trace)


class OneBackend:
    """What is asked of the devices of one backend: the functions of :mod:`pyburn.cuda` and of its
    sisters. A device is named by its index or in full; without one the first is meant."""

    def __init__(self, kind: str) -> None:
        self.device = _core.device(kind)

    def is_available(self) -> bool:
        """Whether tensors can be made on this backend.

        Example:
            >>> pyburn.cuda.is_available() == (pyburn.cuda.device_count() > 0)
            True
        """
        return is_available(self.device)

    def device_count(self) -> int:
        """The number of devices."""
        return len(self._names())

    def get_device_name(self, device: Any = None) -> str:
        """What a device calls itself."""
        own, names = self._one("get_device_name", device), self._names()
        if (own.index or 0) >= len(names):
            raise _core.DeviceError(
                f"get_device_name: there is no {own}, {len(names)} {own.type} devices are here"
            )
        return names[own.index or 0]

    def synchronize(self, device: Any = None) -> None:
        """Wait until a device has done everything asked of it."""
        synchronize(self._one("synchronize", device))

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        """Bytes in use and reserved on a device, see :func:`pyburn.memory_stats`."""
        return memory_stats(self._one("memory_stats", device))

    def memory_allocated(self, device: Any = None) -> int:
        """Bytes that tensors hold on a device."""
        return memory_stats(self._one("memory_allocated", device))["bytes_in_use"]

    def memory_reserved(self, device: Any = None) -> int:
        """Bytes taken from a device, for tensors that are and for those to come."""
        return memory_stats(self._one("memory_reserved", device))["bytes_reserved"]

    def current_device(self) -> int:
        """The device that the backend's name without an index means: the first."""
        return 0

    def _names(self) -> list[str]:
        return next((info.devices for info in backends() if info.name == self.device.type), [])

    def _one(self, op: str, device: Any) -> _core.device:
        """One of the backend's devices."""
        if device is None:
            return self.device
        own = _core.device(f"{self.device.type}:{device}" if type(device) is int else _name(device))
        if own.type != self.device.type:
            raise ValueError(f"{op}: expected a {self.device.type} device, got {own}")
        return own

    def getter(self, module: str, missing: dict[str, str] | None = None) -> Callable[[str], Any]:
        """The ``__getattr__`` of the backend's module: modules of the package with its first device
        as the default one, and the reasons why other names are missing."""
        from pyburn import _preset

        def __getattr__(name: str) -> Any:
            if name in _preset.MODULES:
                return importlib.import_module(f"{module}.{name}")
            raise _absent.missing(module, name, (missing or {}).get(name))

        return __getattr__
