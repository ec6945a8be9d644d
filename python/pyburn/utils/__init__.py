"""Tools around tensors: checkpointing, exchange with other libraries."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["checkpoint", "dlpack"]

_LAZY = ("checkpoint", "data", "dlpack")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        try:
            return importlib.import_module(f"pyburn.utils.{name}")
        except ModuleNotFoundError as fault:
            if fault.name != f"pyburn.utils.{name}":
                raise
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
