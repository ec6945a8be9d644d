"""The handle of a registered hook, where PyTorch has it."""

from __future__ import annotations

from pyburn.nn._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
