"""Layers that resize images, cut them into windows, or deal channels out as pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyburn._core import Tensor
from pyburn.nn import functional as F
from pyburn.nn._module import Module
from pyburn.nn.functional._conv import Size

__all__ = [
    "ChannelShuffle",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Upsample(Module):
    """Resizes images of one, two or three dimensions: see :func:`pyburn.nn.functional.interpolate`.

    Either ``size`` or ``scale_factor`` is given. Modes are ``"nearest"``, ``"linear"``,
    ``"bilinear"``, ``"bicubic"``, ``"trilinear"``, and those of ``interpolate``.

    Example:
        >>> nn.Upsample(scale_factor=2)(pyburn.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Size | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, Sequence):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The input resized."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        given = f"size={self.size!r}"
        if self.scale_factor is not None:
            given = f"scale_factor={self.scale_factor!r}"
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes images by repeating pixels: PyTorch's older form of :class:`Upsample`.

    Example:
        >>> nn.UpsamplingNearest2d(scale_factor=2)(pyburn.ones(1, 1, 2, 2)).shape
        pyburn.Size([1, 1, 4, 4])
    """

    def __init__(
        self, size: Size | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes images by blending pixels, corners aligned: PyTorch's older form of
    :class:`Upsample`.

    Example:
        >>> nn.UpsamplingBilinear2d(scale_factor=2)(pyburn.ones(1, 1, 2, 2)).shape
        pyburn.Size([1, 1, 4, 4])
    """

    def __init__(
        self, size: Size | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class Fold(Module):
    """Adds columns up on images: see :func:`pyburn.nn.functional.fold`.

    Shapes: ``(batch, channels * kernel elements, windows)`` to ``(batch, channels, *output_size)``.

    Example:
        >>> nn.Fold((4, 5), (2, 2))(pyburn.ones(1, 3 * 2 * 2, 12)).shape
        pyburn.Size([1, 3, 4, 5])
    """

    def __init__(
        self,
        output_size: Size,
        kernel_size: Size,
        dilation: Size = 1,
        padding: Size = 0,
        stride: Size = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The images."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """Cuts the windows of images out as columns: see :func:`pyburn.nn.functional.unfold`.

    Shapes: ``(batch, channels, height, width)`` to
    ``(batch, channels * kernel elements, windows)``.

    Example:
        >>> nn.Unfold((2, 3))(pyburn.ones(2, 5, 3, 4)).shape
        pyburn.Size([2, 30, 4])
    """

    def __init__(
        self, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class PixelShuffle(Module):
    """Deals channels out as pixels: ``(*, C * r², H, W)`` to ``(*, C, H * r, W * r)``.

    Example:
        >>> nn.PixelShuffle(3)(pyburn.ones(1, 9, 4, 4)).shape
        pyburn.Size([1, 1, 12, 12])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The larger images."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The reverse of :class:`PixelShuffle`: ``(*, C, H * r, W * r)`` to ``(*, C * r², H, W)``.

    Example:
        >>> nn.PixelUnshuffle(3)(pyburn.ones(1, 1, 12, 12)).shape
        pyburn.Size([1, 9, 4, 4])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The smaller images."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Reorders channels: one of each group in turn.

    Example:
        >>> nn.ChannelShuffle(2)(pyburn.arange(4).view(1, 4, 1, 1)).flatten()
        tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The channels in their new order."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
