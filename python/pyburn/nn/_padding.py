"""Layers that put borders around their input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pyburn._core import Tensor
from pyburn.nn import functional as F
from pyburn.nn._conv import each
from pyburn.nn._module import Module
from pyburn.nn.functional._conv import Size

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _PadNd(Module):
    """What all borders share: a class says how it fills, and for how many dimensions it is."""

    _rank: ClassVar[int]
    _mode: ClassVar[str]

    padding: Sequence[int]

    def __init__(self, padding: Size) -> None:
        super().__init__()
        self.padding = each(padding, 2 * self._rank)

    def forward(self, input: Tensor) -> Tensor:
        """The input with its border."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    _mode = "constant"

    value: float

    def __init__(self, padding: Size, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input with its border."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """A number on both sides of the last dimension: ``padding`` is one width, or ``(left, right)``.

    Negative widths cut elements off.

    Example:
        >>> nn.ConstantPad1d((1, 2), 9)(pyburn.tensor([[1, 2]]))
        tensor([[9, 1, 2, 9, 9]])
    """

    _rank = 1


class ConstantPad2d(_ConstantPadNd):
    """A number around the last two dimensions: one width, or ``(left, right, top, bottom)``.

    Example:
        >>> nn.ConstantPad2d(1, 3.5)(pyburn.ones(2, 3, 4)).shape
        pyburn.Size([2, 5, 6])
    """

    _rank = 2


class ConstantPad3d(_ConstantPadNd):
    """A number around the last three dimensions: one width, or six, the last dimension first.

    Example:
        >>> nn.ConstantPad3d(1, 3.5)(pyburn.ones(2, 3, 4, 5)).shape
        pyburn.Size([2, 5, 6, 7])
    """

    _rank = 3


class _ZeroPad:
    """Fills with zeros."""

    padding: Any

    def __init__(self, padding: Size) -> None:
        super().__init__(padding, 0.0)  # type: ignore[call-arg]

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Zeros on both sides of the last dimension: see :class:`ConstantPad1d`.

    Example:
        >>> nn.ZeroPad1d(1)(pyburn.tensor([[1, 2]]))
        tensor([[0, 1, 2, 0]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Zeros around the last two dimensions: see :class:`ConstantPad2d`.

    Example:
        >>> nn.ZeroPad2d((1, 1, 2, 0))(pyburn.ones(1, 3, 4)).shape
        pyburn.Size([1, 5, 6])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Zeros around the last three dimensions: see :class:`ConstantPad3d`.

    Example:
        >>> nn.ZeroPad3d(2)(pyburn.ones(1, 3, 4, 5)).shape
        pyburn.Size([1, 7, 8, 9])
    """


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """The elements mirrored on both sides, without the outermost: see :class:`ConstantPad1d`.

    Example:
        >>> nn.ReflectionPad1d(2)(pyburn.tensor([[1, 2, 3]]))
        tensor([[3, 2, 1, 2, 3, 2, 1]])
    """

    _rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """The elements mirrored around the last two dimensions: see :class:`ConstantPad2d`.

    Example:
        >>> nn.ReflectionPad2d(2)(pyburn.ones(1, 3, 4)).shape
        pyburn.Size([1, 7, 8])
    """

    _rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """The elements mirrored around the last three dimensions: see :class:`ConstantPad3d`.

    Example:
        >>> nn.ReflectionPad3d(1)(pyburn.ones(1, 2, 3, 4)).shape
        pyburn.Size([1, 4, 5, 6])
    """

    _rank = 3


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The outermost elements on both sides: see :class:`ConstantPad1d`.

    Example:
        >>> nn.ReplicationPad1d(2)(pyburn.tensor([[1, 2, 3]]))
        tensor([[1, 1, 1, 2, 3, 3, 3]])
    """

    _rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The outermost elements around the last two dimensions: see :class:`ConstantPad2d`.

    Example:
        >>> nn.ReplicationPad2d(2)(pyburn.ones(1, 3, 4)).shape
        pyburn.Size([1, 7, 8])
    """

    _rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The outermost elements around the last three dimensions: see :class:`ConstantPad3d`.

    Example:
        >>> nn.ReplicationPad3d(1)(pyburn.ones(1, 2, 3, 4)).shape
        pyburn.Size([1, 4, 5, 6])
    """

    _rank = 3


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """The input with its border."""
        if input.ndim not in (self._rank + 1, self._rank + 2):
            raise ValueError(
                f"{type(self).__name__}: expected {self._rank + 1}D or {self._rank + 2}D input "
                f"(got {input.ndim}D input of shape {list(input.shape)})"
            )
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """The elements from the other end on both sides: see :class:`ConstantPad1d`.

    Example:
        >>> nn.CircularPad1d(2)(pyburn.tensor([[1, 2, 3]]))
        tensor([[2, 3, 1, 2, 3, 1, 2]])
    """

    _rank = 1


class CircularPad2d(_CircularPadNd):
    """The elements from the other end around the last two dimensions: see :class:`ConstantPad2d`.

    Example:
        >>> nn.CircularPad2d(2)(pyburn.ones(1, 3, 4)).shape
        pyburn.Size([1, 7, 8])
    """

    _rank = 2


class CircularPad3d(_CircularPadNd):
    """The elements from the other end around the last three dimensions: see :class:`ConstantPad3d`.

    Example:
        >>> nn.CircularPad3d(1)(pyburn.ones(1, 2, 3, 4)).shape
        pyburn.Size([1, 4, 5, 6])
    """

    _rank = 3
