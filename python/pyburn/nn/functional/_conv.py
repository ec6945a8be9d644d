"""Convolutions and transposed convolutions over one, two and three dimensions.

Inputs are ``(batch, channels, *size)``, or one image without the batch. Arguments for dimensions
are a number for all of them, or one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from pyburn import _core
from pyburn._api import check_tensor
from pyburn._core import Tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

Size: TypeAlias = int | Sequence[int]
F = TypeVar("F", bound=Callable[..., Any])


class Convolution(Protocol):
    """A convolution."""

    def __call__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
    ) -> Tensor: ...


class TransposedConvolution(Protocol):
    """A transposed convolution."""

    def __call__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        dilation: Size = 1,
    ) -> Tensor: ...


def named(function: F, name: str, text: str) -> F:
    """A function made for a number of dimensions, under its public name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def _convolution(rank: int, text: str) -> Convolution:
    name = f"conv{rank}d"

    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
    ) -> Tensor:
        border: Size | None
        if not isinstance(padding, str):
            border = padding
        elif padding in ("same", "valid"):
            border = None if padding == "same" else 0
        else:
            raise RuntimeError(
                f"{name}: Invalid padding string: expected 'same' or 'valid', got {padding!r}"
            )
        return _core.convolution(input, rank, weight, bias, stride, border, dilation, groups)

    return named(function, name, text)


def _transposed(rank: int, text: str) -> TransposedConvolution:
    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        dilation: Size = 1,
    ) -> Tensor:
        return _core.convolution_transposed(
            input, rank, weight, bias, stride, padding, output_padding, groups, dilation
        )

    return named(function, f"conv_transpose{rank}d", text)


conv1d: Convolution = _convolution(
    1,
    """The convolution over one dimension: weights slide over the input and are summed with it.

    Args:
        input: ``(batch, channels, length)``, or without the batch.
        weight: ``(filters, channels / groups, kernel)``.
        bias: ``(filters,)``.
        stride: Steps between windows.
        padding: Zeros on both sides, ``"valid"`` for none, or ``"same"`` for as many as keep the
            length.
        dilation: Steps between the elements of a window.
        groups: Channels and filters are divided into so many groups that do not see each other.

    Example:
        >>> F.conv1d(pyburn.arange(5.0).view(1, 1, 5), pyburn.tensor([[[1.0, -1.0]]]))
        tensor([[[-1., -1., -1., -1.]]])
    """,
)
conv2d: Convolution = _convolution(
    2,
    """The convolution over two dimensions: see :func:`conv1d`.

    Example:
        >>> F.conv2d(pyburn.ones(2, 3, 8, 8), pyburn.ones(4, 3, 3, 3), padding="same").shape
        pyburn.Size([2, 4, 8, 8])
    """,
)
conv3d: Convolution = _convolution(
    3,
    """The convolution over three dimensions: see :func:`conv1d`.

    Example:
        >>> F.conv3d(pyburn.ones(1, 2, 4, 5, 6), pyburn.ones(3, 2, 2, 2, 2)).shape
        pyburn.Size([1, 3, 3, 4, 5])
    """,
)
conv_transpose1d: TransposedConvolution = _transposed(
    1,
    """The transposed convolution over one dimension, which is the gradient of :func:`conv1d`.

    Its length is ``(length - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1``.

    Args:
        input: ``(batch, channels, length)``, or without the batch.
        weight: ``(channels, filters / groups, kernel)``.
        bias: ``(filters,)``.
        stride: Steps between windows, in the result.
        padding: How many elements fewer there are on both sides of the result.
        output_padding: How many elements more there are at its end.
        groups: Channels and filters are divided into so many groups that do not see each other.
        dilation: Steps between the elements of a window.

    Example:
        >>> F.conv_transpose1d(pyburn.ones(1, 1, 2), pyburn.tensor([[[1.0, 2.0]]]), stride=2)
        tensor([[[1., 2., 1., 2.]]])
    """,
)
conv_transpose2d: TransposedConvolution = _transposed(
    2,
    """The transposed convolution over two dimensions: see :func:`conv_transpose1d`.

    Example:
        >>> F.conv_transpose2d(pyburn.ones(1, 4, 3, 3), pyburn.ones(4, 2, 2, 2), stride=2).shape
        pyburn.Size([1, 2, 6, 6])
    """,
)
conv_transpose3d: TransposedConvolution = _transposed(
    3,
    """The transposed convolution over three dimensions: see :func:`conv_transpose1d`.

    Example:
        >>> F.conv_transpose3d(pyburn.ones(1, 4, 3, 3, 3), pyburn.ones(4, 2, 2, 2, 2)).shape
        pyburn.Size([1, 2, 4, 4, 4])
    """,
)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """The convolution over the first dimension of ``(time, batch, channels)``.

    Args:
        input: ``(time, batch, channels)``.
        weight: ``(kernel, channels, filters)``.
        bias: ``(filters,)``.
        pad: Zeros on both sides of the time.

    Example:
        >>> F.conv_tbc(pyburn.ones(5, 2, 3), pyburn.ones(2, 3, 4), pyburn.zeros(4)).shape
        pyburn.Size([4, 2, 4])
    """
    for tensor in (input, weight, bias):
        check_tensor("conv_tbc", tensor)
    fits = input.ndim == weight.ndim == 3 and bias.shape == weight.shape[2:]
    if not fits or input.shape[2] != weight.shape[1]:
        raise RuntimeError(
            "conv_tbc: expected input (time, batch, channels), weight (kernel, channels, filters) "
            f"and bias (filters,), got shapes {list(input.shape)}, {list(weight.shape)} and "
            f"{list(bias.shape)}"
        )
    out = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return out.permute(2, 0, 1)
