"""Dropout: in training, elements or whole channels are left out at random."""

from __future__ import annotations

import math
import warnings

from pyburn import _core
from pyburn._core import Tensor
from pyburn._random import bernoulli_
from pyburn.nn.functional._activation import SELU_ALPHA, SELU_SCALE

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _check(op: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{op}: dropout probability has to be between 0 and 1, but got {p}")


def _kept(input: Tensor, shape: tuple[int, ...], p: float) -> Tensor:
    """Ones with probability ``1 - p``, zeros otherwise."""
    return bernoulli_(_core._full(shape, 0, input.dtype, input.device), 1.0 - p)


def _times(input: Tensor, factors: Tensor, inplace: bool) -> Tensor:
    return input.mul_(factors) if inplace else input * factors


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each element zero with probability ``p``, the others times ``1 / (1 - p)``.

    Example:
        >>> F.dropout(pyburn.ones(2, 3), training=False).sum().item()
        6.0
    """
    _check("dropout", p)
    result = _core.dropout(input, p, training, None)
    return input.copy_(result) if inplace and training else result


def _feature_dropout(op: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Whole channels left out: the first two dimensions are samples and channels."""
    _check(op, p)
    if not training or p == 0.0 or input.numel() == 0:
        return input
    if p == 1.0:
        return input.mul_(0.0) if inplace else input * 0.0
    mask = _kept(input, tuple(input.shape[:2]) + (1,) * (input.ndim - 2), p)
    return _times(input, mask.div_(1.0 - p), inplace)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """In training, each channel zero with probability ``p``, the others times ``1 / (1 - p)``.

    Args:
        input: ``(N, C, L)`` or ``(C, L)``.

    Example:
        >>> F.dropout1d(pyburn.ones(2, 3, 4), training=False).sum().item()
        24.0
    """
    _check("dropout1d", p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    if input.ndim == 3:
        return _feature_dropout("dropout1d", input, p, training, inplace)
    batched = _feature_dropout("dropout1d", input.unsqueeze(0), p, training, inplace)
    return input if inplace else batched.squeeze(0)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """In training, each channel zero with probability ``p``, the others times ``1 / (1 - p)``.

    Args:
        input: ``(N, C, H, W)``; of three dimensions, the first two are samples and channels, as in
            PyTorch.

    Example:
        >>> F.dropout2d(pyburn.ones(1, 2, 2, 2), training=False).sum().item()
        8.0
    """
    _check("dropout2d", p)
    if input.ndim not in (3, 4):
        _warn("dropout2d", input.ndim, "2 spatial dimensions", "3D or 4D")
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the "
            "channel dim; hint: use dropout1d",
            stacklevel=2,
        )
    return _feature_dropout("dropout2d", input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """In training, each channel zero with probability ``p``, the others times ``1 / (1 - p)``.

    Args:
        input: ``(N, C, D, H, W)`` or ``(C, D, H, W)``.

    Example:
        >>> F.dropout3d(pyburn.ones(1, 1, 2, 2, 2), training=False).sum().item()
        8.0
    """
    _check("dropout3d", p)
    if input.ndim not in (4, 5):
        _warn("dropout3d", input.ndim, "3 spatial dimensions", "4D or 5D")
    if input.ndim != 4:
        return _feature_dropout("dropout3d", input, p, training, inplace)
    batched = _feature_dropout("dropout3d", input.unsqueeze(0), p, training, inplace)
    return input if inplace else batched.squeeze(0)


def _warn(op: str, rank: int, spatial: str, ranks: str) -> None:
    warnings.warn(
        f"{op}: Received a {rank}-D input to {op}, which is deprecated and will result in an error "
        f"in a future release. To retain the behavior and silence this warning, please use dropout "
        f"instead. Note that {op} exists to provide channel-wise dropout on inputs with {spatial}, "
        f"a channel dimension, and an optional batch dimension (i.e. {ranks} inputs).",
        stacklevel=3,
    )


def _alpha(
    op: str, input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]
) -> Tensor:
    _check(op, p)
    if not training or p == 0.0 or input.numel() == 0:
        return input
    if p == 1.0:
        return input.mul_(0.0) if inplace else input * 0.0
    # What is left out gets the value that selu goes to at minus infinity; then mean and variance
    # are brought back to zero and one.
    low = -SELU_ALPHA * SELU_SCALE
    scale = 1.0 / math.sqrt((1.0 - p) * (1.0 + p * low**2))
    kept = _kept(input, shape, p)
    shift = (1.0 - kept).mul_(low * scale).sub_(p * low * scale)
    factors = kept.mul_(scale)
    return input.mul_(factors).add_(shift) if inplace else input * factors + shift


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """In training, elements left out at random so that zero mean and unit variance stay, as
    :func:`selu` keeps them.

    Example:
        >>> F.alpha_dropout(pyburn.ones(2)).sum().item()
        2.0
    """
    return _alpha("alpha_dropout", input, p, training, inplace, tuple(input.shape))


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """:func:`alpha_dropout` of whole channels.

    Args:
        input: ``(N, C, *)``.

    Example:
        >>> F.feature_alpha_dropout(pyburn.ones(1, 2, 3)).sum().item()
        6.0
    """
    if input.ndim < 2 and training:
        raise RuntimeError(
            "feature_alpha_dropout: feature dropout requires at least 2 dimensions in the input, "
            f"got {input.ndim}"
        )
    shape = tuple(input.shape[:2]) + (1,) * (input.ndim - 2)
    return _alpha("feature_alpha_dropout", input, p, training, inplace, shape)
