"""GPUs through wgpu: Vulkan, Metal, DirectX or WebGPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyburn import _core, backend

__all__ = [
    "device",
    "device_count",
    "get_device_name",
    "is_available",
    "memory_stats",
    "synchronize",
]

device: _core.device = _core.device("wgpu")
"""The first wgpu device."""

_OLD = ("autograd", "nn", "optim", "tensor", "train")


def is_available() -> bool:
    """Whether tensors can be made on this backend.

    Example:
        >>> pyburn.wgpu.is_available() == (pyburn.wgpu.device_count() > 0)
        True
    """
    return backend.is_available("wgpu")


def device_count() -> int:
    """The number of devices."""
    return backend._device_count("wgpu")


def _device(device: Any) -> Any:
    if device is None:
        return "wgpu"
    return f"wgpu:{device}" if isinstance(device, int) else device


def get_device_name(device: Any = None) -> str:
    """What a device calls itself."""
    index = _core.device(_device(device)).index or 0
    names = next(entry.devices for entry in backend.backends() if entry.name == "wgpu")
    if index >= len(names):
        raise _core.DeviceError(
            f"get_device_name: there is no wgpu:{index}, {len(names)} wgpu devices are here"
        )
    return names[index]


def synchronize(device: Any = None) -> None:
    """Wait until a device has done everything asked of it."""
    backend.synchronize(_device(device))


def memory_stats(device: Any = None) -> dict[str, int]:
    """Bytes in use and reserved on a device."""
    return backend.memory_stats(_device(device))


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _OLD:
            raise backend._missing(
                __name__,
                name,
                f"modules are not bound to a backend; hint: use pyburn.{name} with device='wgpu'",
            )
        raise backend._missing(__name__, name)
