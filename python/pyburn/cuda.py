"""NVIDIA GPUs through CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyburn import _core, backend

__all__ = [
    "current_device",
    "device",
    "device_count",
    "get_device_name",
    "is_available",
    "is_bf16_supported",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "synchronize",
]

device = _core.device("cuda")
"""The first CUDA device."""

_OLD = ("autograd", "nn", "optim", "tensor", "train")


def is_available() -> bool:
    """Whether tensors can be made on this backend.

    Example:
        >>> pyburn.cuda.is_available() == (pyburn.cuda.device_count() > 0)
        True
    """
    return backend.is_available("cuda")


def device_count() -> int:
    """The number of devices."""
    return backend._device_count("cuda")


def _device(device: Any) -> Any:
    if device is None:
        return "cuda"
    return f"cuda:{device}" if isinstance(device, int) else device


def get_device_name(device: Any = None) -> str:
    """What a device calls itself."""
    index = _core.device(_device(device)).index or 0
    names = next(entry.devices for entry in backend.backends() if entry.name == "cuda")
    if index >= len(names):
        raise _core.DeviceError(
            f"get_device_name: there is no cuda:{index}, {len(names)} cuda devices are here"
        )
    return names[index]


def synchronize(device: Any = None) -> None:
    """Wait until a device has done everything asked of it."""
    backend.synchronize(_device(device))


def memory_stats(device: Any = None) -> dict[str, int]:
    """Bytes in use and reserved on a device."""
    return backend.memory_stats(_device(device))


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold on a device."""
    return memory_stats(device)["bytes_in_use"]


def memory_reserved(device: Any = None) -> int:
    """Bytes taken from a device."""
    return memory_stats(device)["bytes_reserved"]


def current_device() -> int:
    """The device that ``"cuda"`` without an index means."""
    return 0


def is_bf16_supported() -> bool:
    """Whether the device computes with bfloat16."""
    return is_available() and backend.supports("cuda", "bfloat16")


_MISSING = {
    "Event": "burn does not expose events; hint: synchronize() and time on the host",
    "Stream": "burn schedules streams itself",
    "amp": "there is no automatic narrowing yet; hint: convert with .to(dtype)",
    "empty_cache": "burn manages its memory pools itself",
    "manual_seed": "pyburn.manual_seed seeds every device",
    "manual_seed_all": "pyburn.manual_seed seeds every device",
    "set_device": "name the device, as in device='cuda:1', or use pyburn.set_default_device",
    "stream": "burn schedules streams itself",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _OLD:
            raise backend._missing(
                __name__,
                name,
                f"modules are not bound to a backend; hint: use pyburn.{name} with device='cuda'",
            )
        if name in _MISSING:
            raise backend._missing(__name__, name, _MISSING[name])
        raise backend._missing(__name__, name)
