"""Backends: which there are, what their devices do, and which one new tensors go to.

A backend is named wherever a device is: by a string (``"wgpu"``, ``"cuda:1"``), by a
``pyburn.device`` or by a member of :class:`Backend`.
"""

from __future__ import annotations

import enum
from types import TracebackType
from typing import Any

from pyburn import _core

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
    """Bytes in use and reserved on a device; zeros for the CPU, where nothing counts them."""
    return _core._memory_stats(_core.get_default_device() if device is None else _name(device))


def get_default_device() -> _core.device:
    """The device of new tensors that name none."""
    return _core.get_default_device()


def set_default_device(device: Any) -> None:
    """Choose the device of new tensors that name none; ``None`` goes back to the CPU."""
    _core.set_default_device(None if device is None else _name(device))


class default_device:
    """The default device for the time of a ``with`` block.

    Example:
        >>> with pyburn.backend.default_device("cpu"):
        ...     pyburn.zeros(2).device
        device(type='cpu')
    """

    def __init__(self, device: Any) -> None:
        self.device = _core.device(_name(device))
        self._before: list[_core.device] = []

    def __enter__(self) -> _core.device:
        before = _core.get_default_device()
        _core.set_default_device(self.device)
        self._before.append(before)
        return self.device

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core.set_default_device(self._before.pop())


def _missing(  # pyright: ignore[reportUnusedFunction]
    module: str, name: str, reason: str | None = None
) -> AttributeError:
    """The error of a module's ``__getattr__``."""
    from pyburn import _absent

    return _absent.missing(module, name, reason)


def _device_count(kind: str) -> int:  # pyright: ignore[reportUnusedFunction]
    return next((len(entry.devices) for entry in backends() if entry.name == kind), 0)
