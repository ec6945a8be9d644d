"""The class of shapes."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, overload

from pyburn import _core


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints that can count its elements.

    Example:
        >>> pyburn.Size((2, 3)).numel()
        6
    """

    def numel(self) -> int:
        """The number of elements a tensor of this shape has."""
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...
    def __getitem__(self, index: Any, /) -> Any:
        item = super().__getitem__(index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other: Any, /) -> Size:
        return Size(tuple(self) + tuple(other))

    def __repr__(self) -> str:
        return f"pyburn.Size({list(self)})"


_core._register_size(Size)
