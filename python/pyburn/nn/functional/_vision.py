"""Images: resized, sampled at any points, cut into windows, with channels dealt out as pixels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from pyburn import _core
from pyburn._api import check_tensor
from pyburn._core import Tensor
from pyburn.nn.functional._conv import Size
from pyburn.nn.functional._pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "deform_conv2d",
    "fold",
    "grid_sample",
    "interpolate",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_FILTERS = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}
"""Modes that blend elements, and how many dimensions their input has."""
_MODES = ("nearest", "nearest-exact", "area", *_FILTERS)


def unfold(
    input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """Cuts the windows of images out as columns.

    Args:
        input: ``(batch, channels, height, width)``, or without the batch.
        kernel_size: Size of a window.
        dilation: Steps between the elements of a window.
        padding: Zeros around the images.
        stride: Steps between windows.

    Returns:
        ``(batch, channels * kernel elements, windows)``.

    Example:
        >>> F.unfold(pyburn.ones(2, 3, 4, 5), (2, 3)).shape
        pyburn.Size([2, 18, 9])
    """
    return _core.unfold_windows(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> Tensor:
    """Adds columns up on images: where windows of :func:`unfold` overlap, they are summed.

    Example:
        >>> F.fold(pyburn.ones(1, 4, 4), (3, 3), (2, 2))
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
    """
    return _core.fold_windows(input, output_size, kernel_size, dilation, padding, stride)


def _check_shuffled(op: str, input: Tensor, factor: int, what: str) -> None:
    check_tensor(op, input)
    if input.ndim < 3:
        raise RuntimeError(
            f"{op}: expects input to have at least 3 dimensions, but got input with "
            f"{input.ndim} dimension(s), of shape {list(input.shape)}"
        )
    if factor <= 0:
        raise RuntimeError(f"{op}: expects a positive {what}, but got {factor}")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Deals channels out as pixels: ``(*, C * r², H, W)`` to ``(*, C, H * r, W * r)``.

    Example:
        >>> F.pixel_shuffle(pyburn.arange(4).view(1, 4, 1, 1), 2)
        tensor([[[[0, 1],
                  [2, 3]]]])
    """
    r = upscale_factor
    _check_shuffled("pixel_shuffle", input, r, "upscale_factor")
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle: expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r} "
            f"(got shape {list(input.shape)})"
        )
    dims = len(batch)
    x = input.reshape(*batch, channels // (r * r), r, r, height, width)
    order = (*range(dims + 1), dims + 3, dims + 1, dims + 4, dims + 2)
    return x.permute(order).reshape(*batch, channels // (r * r), height * r, width * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The reverse of :func:`pixel_shuffle`: ``(*, C, H * r, W * r)`` to ``(*, C * r², H, W)``.

    Example:
        >>> F.pixel_unshuffle(pyburn.ones(1, 1, 4, 6), 2).shape
        pyburn.Size([1, 4, 2, 3])
    """
    r = downscale_factor
    _check_shuffled("pixel_unshuffle", input, r, "downscale_factor")
    *batch, channels, height, width = input.shape
    for name, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle: expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {r} (got shape {list(input.shape)})"
            )
    dims = len(batch)
    x = input.reshape(*batch, channels, height // r, r, width // r, r)
    order = (*range(dims + 1), dims + 2, dims + 4, dims + 1, dims + 3)
    return x.permute(order).reshape(*batch, channels * r * r, height // r, width // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Reorders channels ``(batch, channels, *)``: one of each group in turn.

    Example:
        >>> F.channel_shuffle(pyburn.arange(4).view(1, 4, 1), 2).flatten()
        tensor([0, 2, 1, 3])
    """
    check_tensor("channel_shuffle", input)
    if input.ndim < 3:
        raise RuntimeError(
            "channel_shuffle: expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    channels = input.shape[1]
    if groups <= 0:
        raise RuntimeError(
            "channel_shuffle: Number of groups to divide channels in must be positive. Value of "
            f"groups: {groups}"
        )
    if channels % groups:
        raise RuntimeError(
            f"channel_shuffle: Number of channels must be divisible by groups. Got {channels} "
            f"channels and {groups} groups (got shape {list(input.shape)})."
        )
    batch, _, *size = input.shape
    x = input.reshape(batch, groups, channels // groups, *size)
    return x.transpose(1, 2).reshape(input.shape)


native_channel_shuffle = channel_shuffle


def _each(what: str, given: Any, input: Tensor) -> list[Any]:
    """A number for each spatial dimension of an input."""
    rank = input.ndim - 2
    if not isinstance(given, Sequence):
        return [given] * rank
    if len(given) != rank:
        raise ValueError(
            f"interpolate: Input and {what} must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {list(input.shape[2:])} and {what} of {given}; "
            "expected input (N, C, d1, ..., dK) and one number for each of d1 to dK"
        )
    return list(given)


def interpolate(
    input: Tensor,
    size: Size | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes images ``(batch, channels, *size)`` of one, two or three dimensions.

    Args:
        input: What is resized.
        size: The new size.
        scale_factor: Or by which factor it is larger, rounded down.
        mode: ``"nearest"``, ``"nearest-exact"``, ``"area"``; ``"linear"`` in one dimension;
            ``"bilinear"``, ``"bicubic"``, ``"lanczos"`` (with ``antialias``) in two;
            ``"trilinear"`` in three.
        align_corners: Whether the outermost elements stay where they are; otherwise their edges do.
        recompute_scale_factor: Whether the factor is taken from the sizes, after rounding.
        antialias: Whether more elements are blended where the image becomes smaller.

    Example:
        >>> F.interpolate(pyburn.tensor([[[1.0, 3.0]]]), size=4, mode="linear")
        tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
        >>> F.interpolate(pyburn.ones(1, 3, 8, 8), scale_factor=0.5).shape
        pyburn.Size([1, 3, 4, 4])
    """
    check_tensor("interpolate", input)
    if mode not in _MODES or not 3 <= input.ndim <= 5:
        raise NotImplementedError(
            "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {input.ndim}D) for the modes: {' | '.join(_MODES)} (got {mode})"
        )
    if mode not in _FILTERS and align_corners is not None:
        raise ValueError(
            "interpolate: align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if size is not None and scale_factor is not None:
        raise ValueError("interpolate: only one of size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError(
            "interpolate: recompute_scale_factor is not meaningful with an explicit size."
        )
    sizes: list[int] | None = None
    factors: list[float] | None = None
    if size is not None:
        sizes = _each("size", size, input)
        if not all(isinstance(number, int) for number in sizes):
            raise TypeError(
                f"interpolate: expected size to be an int or a tuple of ints, got {size!r}"
            )
    elif scale_factor is not None:
        factors = [float(factor) for factor in _each("scale_factor", scale_factor, input)]
        if recompute_scale_factor or mode == "area":
            pairs = zip(input.shape[2:], factors, strict=True)
            sizes, factors = [int(length * factor) for length, factor in pairs], None
    else:
        raise ValueError("interpolate: either size or scale_factor should be defined")
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(
            "interpolate: Anti-alias option is restricted to bilinear, bicubic, and lanczos modes "
            "and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError("interpolate: mode 'lanczos' needs antialias=True, align_corners=False")
    wanted = _FILTERS.get(mode, input.ndim)
    if input.ndim != wanted:
        raise NotImplementedError(
            f"interpolate: Got {input.ndim}D input, but {mode} mode needs {wanted}D input"
        )
    if mode == "area":
        pools = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)
        return pools[input.ndim - 3](input, sizes)
    return _core.interpolate(input, sizes, factors, mode, bool(align_corners), antialias)


def upsample(
    input: Tensor,
    size: Size | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """PyTorch's older name of :func:`interpolate`; warns."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: Size | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """PyTorch's older name of :func:`interpolate` with ``mode="nearest"``; warns."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor)


def upsample_bilinear(
    input: Tensor,
    size: Size | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """PyTorch's older form of :func:`interpolate` that blends, with aligned corners; warns."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The points that an affine map takes the pixels of images to, for :func:`grid_sample`.

    Args:
        theta: One map for each image: ``(batch, 2, 3)``, or ``(batch, 3, 4)`` in three dimensions.
        size: Shape of the images: ``(batch, channels, *size)``.
        align_corners: Whether -1 and 1 are the centres of the outermost pixels; otherwise their
            outer edges.

    Returns:
        ``(batch, *size, 2)``, or 3 instead of 2 in three dimensions.

    Example:
        >>> flip = pyburn.tensor([[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> F.affine_grid(flip, (1, 1, 1, 2), align_corners=True)
        tensor([[[[ 1.,  0.],
                  [-1.,  0.]]]])
    """
    check_tensor("affine_grid", theta)
    shape = list(size)
    if not theta.is_floating_point():
        raise ValueError(
            f"affine_grid: Expected theta to have floating point type, but got {theta.dtype}"
        )
    rank = len(shape) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid: only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(shape)}."
        )
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueError(
            f"affine_grid: Expected a batch of {rank}D affine matrices of shape "
            f"Nx{rank}x{rank + 1} for size {tuple(shape)}. Got {list(theta.shape)}."
        )
    if min(shape) <= 0:
        raise ValueError(
            f"affine_grid: Expected non-zero, positive output size. Got {tuple(shape)}"
        )
    if theta.shape[0] != shape[0]:
        raise RuntimeError(
            f"affine_grid: Expected a map for each of {shape[0]} images, got {theta.shape[0]} "
            f"(theta {list(theta.shape)}, size {tuple(shape)})"
        )
    # Homogeneous coordinates of the pixels, the last dimension first.
    parts: list[Tensor] = []
    for dim in range(rank, 0, -1):
        length = shape[dim + 1]
        last = 1.0 if align_corners else 1 - 1 / length
        if length == 1:
            last = 0.0
        axis = _core._linspace(-last, last, length, theta.dtype, theta.device)
        view = [1] * (rank + 1)
        view[dim - 1] = length
        parts.append(axis.reshape(view).expand(*shape[2:], 1))
    parts.append(_core._full((*shape[2:], 1), 1, theta.dtype, theta.device))
    points = _core._cat(parts, -1).reshape(1, -1, rank + 1)
    return (points @ theta.transpose(1, 2)).reshape(shape[0], *shape[2:], rank)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The values of images at points between their elements.

    Args:
        input: ``(batch, channels, *size)`` with two or three spatial dimensions.
        grid: The points, ``(batch, *points, 2)`` (3 in three dimensions): coordinates from -1 to 1,
            those along the last dimension first.
        mode: ``"bilinear"`` (in three dimensions trilinear), ``"nearest"`` or ``"bicubic"``.
        padding_mode: What is outside: ``"zeros"``, ``"border"`` for the outermost elements, or
            ``"reflection"``.
        align_corners: Whether -1 and 1 are the centres of the outermost elements; otherwise their
            outer edges.

    Example:
        >>> points = pyburn.tensor([[[[-1.0, -1.0], [0.0, 0.0]]]])
        >>> F.grid_sample(pyburn.arange(4.0).view(1, 1, 2, 2), points, align_corners=True)
        tensor([[[[0.0000, 1.5000]]]])
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "grid_sample: expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"{mode!r}"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "grid_sample: expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"{padding_mode!r}"
        )
    coordinates = "centres" if align_corners else "edges"
    return _core.grid_sample(input, grid, mode, padding_mode, coordinates)


def _pair(what: str, given: Size) -> tuple[int, int]:
    numbers = tuple(given) if isinstance(given, Sequence) else (given, given)
    if len(numbers) != 2:
        raise ValueError(f"deform_conv2d: expected {what} to be one or two numbers, got {given}")
    return numbers[0], numbers[1]


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    mask: Tensor | None = None,
) -> Tensor:
    """A convolution whose windows are bent: every element is read at a place of its own.

    Args:
        input: ``(batch, channels, height, width)``.
        offset: How far each element of each window moves, down and right:
            ``(batch, 2 * groups * kernel elements, *result size)``. Channels are divided into as
            many groups as it has offsets for.
        weight: ``(filters, channels / weight groups, *kernel size)``.
        bias: ``(filters,)``.
        stride: Steps between windows.
        padding: Zeros on both sides.
        dilation: Steps between the elements of a window, before they move.
        mask: What elements are multiplied by: ``(batch, groups * kernel elements, *result size)``.

    Example:
        >>> offset = pyburn.zeros(1, 2 * 9, 3, 3)
        >>> F.deform_conv2d(pyburn.ones(1, 1, 5, 5), offset, pyburn.ones(1, 1, 3, 3))[0, 0, 0]
        tensor([9., 9., 9.])
    """
    for tensor in (input, offset, weight):
        check_tensor("deform_conv2d", tensor)
    if input.ndim != 4 or offset.ndim != 4 or weight.ndim != 4:
        raise RuntimeError(
            "deform_conv2d: expected input, offset and weight of 4 dimensions, got shapes "
            f"{list(input.shape)}, {list(offset.shape)} and {list(weight.shape)}"
        )
    steps, border = _pair("stride", stride), _pair("padding", padding)
    apart = _pair("dilation", dilation)
    batch, channels, *size = input.shape
    filters, share, *kernel = weight.shape
    taps = math.prod(kernel)
    if min(*steps, *apart) < 1 or min(border) < 0:
        raise RuntimeError(
            "deform_conv2d: expected positive stride and dilation and a padding that is not "
            f"negative, got {stride}, {dilation} and {padding}"
        )
    out = [
        (size[d] + 2 * border[d] - apart[d] * (kernel[d] - 1) - 1) // steps[d] + 1 for d in (0, 1)
    ]
    groups = channels // max(share, 1)
    if share < 1 or channels % share or groups < 1 or filters % groups:
        raise RuntimeError(
            f"deform_conv2d: the weight's shape {list(weight.shape)} does not divide the channels "
            f"of input {list(input.shape)} into groups of filters"
        )
    bends = offset.shape[1] // (2 * taps) if taps else 0
    if bends < 1 or channels % bends or tuple(offset.shape) != (batch, 2 * bends * taps, *out):
        raise RuntimeError(
            f"deform_conv2d: expected an offset of shape (batch {batch}, 2 * groups * {taps}, "
            f"*{out}) with groups that divide {channels} channels, got {list(offset.shape)}"
        )
    if mask is not None and tuple(mask.shape) != (batch, bends * taps, *out):
        raise RuntimeError(
            f"deform_conv2d: expected a mask of shape {[batch, bends * taps, *out]}, got "
            f"{list(mask.shape)}"
        )
    count = math.prod(out)
    # Where windows read without their offsets, in rows and in columns.
    moved = offset.reshape(batch, bends, taps, 2, *out)
    places: list[Tensor] = []
    for d in (0, 1):
        kind, place = input.dtype, input.device
        inner = _core._arange(0, kernel[d], 1, kind, place) * apart[d]
        outer = _core._arange(0, out[d], 1, kind, place) * steps[d] - border[d]
        inner = inner.reshape(-1, 1) if d == 0 else inner.reshape(1, -1)
        inner = inner.expand(*kernel).reshape(taps, 1, 1)
        outer = outer.reshape(1, -1, 1) if d == 0 else outer.reshape(1, 1, -1)
        places.append(moved[:, :, :, d] + (inner + outer))
    points = _core._stack([places[1], places[0]], -1)
    points = points.reshape(batch * bends, taps * out[0], out[1], 2)
    images = input.reshape(batch * bends, channels // bends, *size)
    read = _core.grid_sample(images, points, "bilinear", "zeros", "elements")
    read = read.reshape(batch, bends, channels // bends, taps, count)
    if mask is not None:
        read = read * mask.reshape(batch, bends, 1, taps, count)
    columns = read.reshape(batch, groups, share * taps, count)
    rows = weight.reshape(1, groups, filters // groups, share * taps)
    result = (rows @ columns).reshape(batch, filters, *out)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)
