"""NVIDIA GPUs through CUDA.

``pyburn.cuda.nn``, ``optim`` and ``tensor`` are the package's own modules with this backend
as the default device of what they make.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyburn import backend
from pyburn.amp import _cuda as amp
from pyburn.backend import OneBackend

if TYPE_CHECKING:
    from pyburn import autograd as autograd
    from pyburn import lr_scheduler as lr_scheduler
    from pyburn import module as module
    from pyburn import nn as nn
    from pyburn import optim as optim
    from pyburn import tensor as tensor

__all__ = [
    "amp",
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
__path__: list[str] = []

sys.modules[f"{__name__}.amp"] = amp

_own = OneBackend("cuda")

device = _own.device
"""The first CUDA device."""

current_device = _own.current_device
device_count = _own.device_count
get_device_name = _own.get_device_name
is_available = _own.is_available
memory_allocated = _own.memory_allocated
memory_reserved = _own.memory_reserved
memory_stats = _own.memory_stats
synchronize = _own.synchronize


def is_bf16_supported() -> bool:
    """Whether the device computes with bfloat16."""
    return is_available() and backend.supports(device, "bfloat16")


_PEAK = "burn does not keep the highest use; hint: memory_allocated() where it matters"
_MISSING = {
    "Event": "burn does not expose events; hint: synchronize() and time on the host",
    "Stream": "burn schedules streams itself",
    "empty_cache": "burn manages its memory pools itself",
    "manual_seed": "pyburn.manual_seed seeds every device",
    "manual_seed_all": "pyburn.manual_seed seeds every device",
    "max_memory_allocated": _PEAK,
    "max_memory_reserved": _PEAK,
    "reset_peak_memory_stats": _PEAK,
    "set_device": "name the device, as in device='cuda:1', or use pyburn.set_default_device",
    "stream": "burn schedules streams itself",
}

if not TYPE_CHECKING:
    __getattr__ = _own.getter(__name__, _MISSING)
