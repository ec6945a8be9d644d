"""Signal processing: PyTorch's ``torch.signal``."""

from __future__ import annotations

from pyburn.signal import windows

__all__ = ["windows"]
