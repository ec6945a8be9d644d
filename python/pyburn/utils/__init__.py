"""Tools around tensors: checkpointing, exchange with other libraries."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["checkpoint", "dlpack", "hooks"]

if TYPE_CHECKING:
    from pyburn.utils import checkpoint as checkpoint
    from pyburn.utils import dlpack as dlpack
    from pyburn.utils import hooks as hooks

_LAZY = ("checkpoint", "dlpack", "hooks")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return importlib.import_module(f"pyburn.utils.{name}")
        from pyburn._absent import missing

        raise missing(__name__, name)
