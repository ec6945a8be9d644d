"""Tools around tensors: checkpointing, exchange with other libraries."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["checkpoint", "dlpack"]

if TYPE_CHECKING:
    from pyburn.utils import checkpoint as checkpoint
    from pyburn.utils import dlpack as dlpack

_LAZY = ("checkpoint", "dlpack")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return importlib.import_module(f"pyburn.utils.{name}")
        from pyburn._absent import missing

        raise missing(__name__, name)
