"""Tensors in ``for``, ``in`` and ``reversed()``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyburn import _core
from pyburn._core import Tensor

__all__: list[str] = []


def _iter(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension.

    Example:
        >>> [row.sum().item() for row in pyburn.ones(2, 3)]
        [3.0, 3.0]
    """
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter([_core.select(self, 0, index) for index in range(len(self))])


def _contains(self: Tensor, element: Any, /) -> bool:
    """Whether any element equals the given number or tensor."""
    if isinstance(element, (Tensor, bool, int, float, complex)):
        return bool(_core.any(self == element, None, False).item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def _reversed(self: Tensor) -> Tensor:
    """The slices along the first dimension in reverse order, as one tensor."""
    return self if self.dim() == 0 else _core.flip(self, [0])


Tensor.__iter__ = _iter  # type: ignore[attr-defined]
Tensor.__contains__ = _contains  # type: ignore[attr-defined]
Tensor.__reversed__ = _reversed  # type: ignore[attr-defined]
# Higher than that of arrays: `array + tensor` asks the tensor.
Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]
