"""Gated recurrent units: the layer and the cell.

Example:
    >>> from pyburn.nn import gru
    >>> gru.GRU(3, 5)
    GRU(3, 5)
"""

from __future__ import annotations

from pyburn.nn._recurrent import GRU
from pyburn.nn._recurrent_cells import GRUCell

__all__ = ["GRU", "GRUCell"]
