"""Dropout as layers: active in training only."""

from __future__ import annotations

from pyburn._core import Tensor
from pyburn.nn import functional as F
from pyburn.nn._module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """A share ``p`` of the input is left out."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(
                f"{type(self).__name__}: dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, each element zero with probability ``p``, the others times ``1 / (1 - p)``.

    Example:
        >>> nn.Dropout(0.5).eval()(pyburn.ones(2))
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training with holes."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training, each channel zero with probability ``p``, the others times ``1 / (1 - p)``.

    Shapes: ``(N, C, L)`` or ``(C, L)`` to the same.

    Example:
        >>> nn.Dropout1d()(pyburn.ones(2, 3, 4)).shape
        pyburn.Size([2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training without some channels."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training, each channel zero with probability ``p``, the others times ``1 / (1 - p)``.

    Shapes: ``(N, C, H, W)`` to the same.

    Example:
        >>> nn.Dropout2d()(pyburn.ones(2, 3, 4, 4)).shape
        pyburn.Size([2, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training without some channels."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training, each channel zero with probability ``p``, the others times ``1 / (1 - p)``.

    Shapes: ``(N, C, D, H, W)`` or ``(C, D, H, W)`` to the same.

    Example:
        >>> nn.Dropout3d()(pyburn.ones(2, 3, 2, 2, 2)).shape
        pyburn.Size([2, 3, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training without some channels."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """In training, elements left out at random so that zero mean and unit variance stay, as
    :class:`SELU` keeps them.

    Example:
        >>> nn.AlphaDropout().eval()(pyburn.ones(2))
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training with holes."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """:class:`AlphaDropout` of whole channels.

    Shapes: ``(N, C, *)`` to the same.

    Example:
        >>> nn.FeatureAlphaDropout().eval()(pyburn.ones(1, 2, 3)).sum().item()
        6.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training without some channels."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
