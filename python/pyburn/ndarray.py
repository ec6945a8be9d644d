"""The CPU, under the name it had in PyBurn 0.1."""

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

device: _core.device = _core.device("cpu")
"""The CPU."""

_OLD = ("autograd", "nn", "optim", "tensor", "train")


def is_available() -> bool:
    """Whether tensors can be made on this backend.

    Example:
        >>> pyburn.ndarray.is_available() == (pyburn.ndarray.device_count() > 0)
        True
    """
    return backend.is_available("cpu")


def device_count() -> int:
    """The number of devices."""
    return backend._device_count("cpu")


def _device(device: Any) -> Any:
    if device is None:
        return "cpu"
    return f"cpu:{device}" if isinstance(device, int) else device


def get_device_name(device: Any = None) -> str:
    """What a device calls itself."""
    index = _core.device(_device(device)).index or 0
    names = next(entry.devices for entry in backend.backends() if entry.name == "cpu")
    if index >= len(names):
        raise _core.DeviceError(
            f"get_device_name: there is no cpu:{index}, {len(names)} cpu devices are here"
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
                f"modules are not bound to a backend; hint: use pyburn.{name} with device='cpu'",
            )
        raise backend._missing(__name__, name)
