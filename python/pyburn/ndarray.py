"""The CPU, under the name it had in PyBurn 0.1.

``pyburn.ndarray.nn``, ``optim`` and ``tensor`` are the package's own modules with this backend
as the default device of what they make.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyburn.backend import OneBackend

if TYPE_CHECKING:
    from pyburn import autograd as autograd
    from pyburn import lr_scheduler as lr_scheduler
    from pyburn import module as module
    from pyburn import nn as nn
    from pyburn import optim as optim
    from pyburn import tensor as tensor

__all__ = [
    "current_device",
    "device",
    "device_count",
    "get_device_name",
    "is_available",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "synchronize",
]
__path__: list[str] = []

_own = OneBackend("cpu")

device = _own.device
"""The CPU."""

current_device = _own.current_device
device_count = _own.device_count
get_device_name = _own.get_device_name
is_available = _own.is_available
memory_allocated = _own.memory_allocated
memory_reserved = _own.memory_reserved
memory_stats = _own.memory_stats
synchronize = _own.synchronize


if not TYPE_CHECKING:
    __getattr__ = _own.getter(__name__)
