"""Layers that pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pyburn._core import Tensor
from pyburn.nn import functional as F
from pyburn.nn._conv import each
from pyburn.nn._module import Module
from pyburn.nn.functional._conv import Size
from pyburn.nn.functional._pool import Parts, Ratio

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _Pool(Module):
    """What all pools share: a class says for how many dimensions it is."""

    _rank: ClassVar[int]


class _MaxPoolNd(_Pool):
    """The largest element of each window."""

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with ``return_indices`` also their places."""
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[self._rank - 1]
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window over one dimension.

    Shapes: ``(batch, channels, length)`` to ``(batch, channels, new length)``, with or without the
    batch, where ``new length = (length + 2 * padding - dilation * (kernel_size - 1) - 1) / stride +
    1``, rounded down, or up with ``ceil_mode``.

    Example:
        >>> nn.MaxPool1d(3, stride=2)(pyburn.ones(20, 16, 50)).shape
        pyburn.Size([20, 16, 24])
    """

    _rank = 1


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window over two dimensions: see :class:`MaxPool1d`.

    Example:
        >>> nn.MaxPool2d(2)(pyburn.ones(2, 3, 28, 28)).shape
        pyburn.Size([2, 3, 14, 14])
    """

    _rank = 2


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window over three dimensions: see :class:`MaxPool1d`.

    Example:
        >>> nn.MaxPool3d((3, 2, 2), stride=(2, 1, 2))(pyburn.ones(1, 2, 9, 8, 8)).shape
        pyburn.Size([1, 2, 4, 7, 4])
    """

    _rank = 3


class _MaxUnpoolNd(_Pool):
    """Elements put back where a pool found them."""

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__()
        self.kernel_size = each(kernel_size, self._rank)
        self.stride = each(kernel_size if stride is None else stride, self._rank)
        self.padding = each(padding, self._rank)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Elements at their places, among zeros."""
        unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[self._rank - 1]
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Elements put back where :class:`MaxPool1d` found them, among zeros.

    Several sizes lead to one: ``output_size`` of a call picks one of them.

    Example:
        >>> best, indices = nn.MaxPool1d(2, return_indices=True)(pyburn.ones(1, 1, 9))
        >>> nn.MaxUnpool1d(2)(best, indices, output_size=(9,)).shape
        pyburn.Size([1, 1, 9])
    """

    _rank = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Elements put back where :class:`MaxPool2d` found them: see :class:`MaxUnpool1d`.

    Example:
        >>> best, indices = nn.MaxPool2d(2, return_indices=True)(pyburn.ones(1, 1, 4, 4))
        >>> nn.MaxUnpool2d(2)(best, indices).shape
        pyburn.Size([1, 1, 4, 4])
    """

    _rank = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Elements put back where :class:`MaxPool3d` found them: see :class:`MaxUnpool1d`.

    Example:
        >>> best, indices = nn.MaxPool3d(2, return_indices=True)(pyburn.ones(1, 1, 4, 4, 4))
        >>> nn.MaxUnpool3d(2)(best, indices).shape
        pyburn.Size([1, 1, 4, 4, 4])
    """

    _rank = 3


class _AvgPoolNd(_Pool):
    """The mean of each window."""

    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window over one dimension.

    Shapes: as :class:`MaxPool1d`.

    Example:
        >>> nn.AvgPool1d(2)(pyburn.tensor([[[1.0, 3.0, 2.0, 6.0]]]))
        tensor([[[2., 4.]]])
    """

    _rank = 1

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = each(kernel_size, 1)
        self.stride = each(kernel_size if stride is None else stride, 1)
        self.padding = each(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each window."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPoolOverridden(_AvgPoolNd):
    """A mean with a divisor of its own."""

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each window."""
        pool = F.avg_pool2d if self._rank == 2 else F.avg_pool3d
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolOverridden):
    """The mean of each window over two dimensions: see :class:`AvgPool1d`.

    Example:
        >>> nn.AvgPool2d(3, stride=2)(pyburn.ones(1, 2, 9, 9)).shape
        pyburn.Size([1, 2, 4, 4])
    """

    _rank = 2


class AvgPool3d(_AvgPoolOverridden):
    """The mean of each window over three dimensions: see :class:`AvgPool1d`.

    Example:
        >>> nn.AvgPool3d((3, 2, 2), stride=(2, 1, 2))(pyburn.ones(1, 2, 9, 8, 8)).shape
        pyburn.Size([1, 2, 4, 7, 4])
    """

    _rank = 3


class _FractionalMaxPoolNd(_Pool):
    """The largest element of each of a number of windows at random places."""

    def __init__(
        self,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        rank, name = self._rank, type(self).__name__
        self.kernel_size = each(kernel_size, rank)
        if min(self.kernel_size) <= 0:
            raise ValueError(
                "kernel_size must greater than zero for all spatial dimensions, but got "
                f"{kernel_size}"
            )
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else each(output_size, rank)
        self.output_ratio = None if output_ratio is None else each(output_ratio, rank)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with ``return_indices`` also their places."""
        pool = F.fractional_max_pool2d if self._rank == 2 else F.fractional_max_pool3d
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            return_indices=self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest element of each of a number of windows at random places, over two dimensions.

    ``output_size`` says how many windows, or ``output_ratio`` which part of the input's size.

    Example:
        >>> nn.FractionalMaxPool2d(3, output_ratio=0.5)(pyburn.ones(2, 3, 14, 16)).shape
        pyburn.Size([2, 3, 7, 8])
    """

    _rank = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The same over three dimensions: see :class:`FractionalMaxPool2d`.

    Example:
        >>> nn.FractionalMaxPool3d(2, output_size=(3, 4, 5))(pyburn.ones(1, 2, 8, 8, 8)).shape
        pyburn.Size([1, 2, 3, 4, 5])
    """

    _rank = 3


class _LPPoolNd(_Pool):
    """The norm of each window."""

    def __init__(
        self,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        if norm_type == 0:
            raise ValueError(f"norm_type must be a non-zero value, but got {norm_type}")
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The norm of each window."""
        pool = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[self._rank - 1]
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The norm of each window over one dimension: the root of the sum of the elements' powers.

    Example:
        >>> nn.LPPool1d(2, 2)(pyburn.tensor([[[3.0, 4.0, 6.0, 8.0]]]))
        tensor([[[ 5., 10.]]])
    """

    _rank = 1


class LPPool2d(_LPPoolNd):
    """The norm of each window over two dimensions: see :class:`LPPool1d`.

    Example:
        >>> nn.LPPool2d(2, 3, stride=2)(pyburn.ones(1, 2, 9, 9)).shape
        pyburn.Size([1, 2, 4, 4])
    """

    _rank = 2


class LPPool3d(_LPPoolNd):
    """The norm of each window over three dimensions: see :class:`LPPool1d`.

    Example:
        >>> nn.LPPool3d(2, 2)(pyburn.ones(1, 2, 4, 4, 4)).shape
        pyburn.Size([1, 2, 2, 2, 2])
    """

    _rank = 3


class _AdaptiveMaxPoolNd(_Pool):
    """The largest element of each of a number of parts."""

    def __init__(self, output_size: Parts, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The largest elements; with ``return_indices`` also their places."""
        pools = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)
        return pools[self._rank - 1](input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest element of each of ``output_size`` parts of one dimension, as equal as possible.

    Example:
        >>> nn.AdaptiveMaxPool1d(5)(pyburn.ones(1, 64, 8)).shape
        pyburn.Size([1, 64, 5])
    """

    _rank = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest element of each part of two dimensions; ``None`` leaves one as it is.

    Example:
        >>> nn.AdaptiveMaxPool2d((5, None))(pyburn.ones(1, 64, 8, 9)).shape
        pyburn.Size([1, 64, 5, 9])
    """

    _rank = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest element of each part of three dimensions; ``None`` leaves one as it is.

    Example:
        >>> nn.AdaptiveMaxPool3d(7)(pyburn.ones(1, 4, 8, 9, 10)).shape
        pyburn.Size([1, 4, 7, 7, 7])
    """

    _rank = 3


class _AdaptiveAvgPoolNd(_Pool):
    """The mean of each of a number of parts."""

    def __init__(self, output_size: Parts) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each part."""
        pools = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)
        return pools[self._rank - 1](input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of each of ``output_size`` parts of one dimension, as equal as possible.

    Example:
        >>> nn.AdaptiveAvgPool1d(5)(pyburn.ones(1, 64, 8)).shape
        pyburn.Size([1, 64, 5])
    """

    _rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of each part of two dimensions; ``None`` leaves one as it is.

    Example:
        >>> nn.AdaptiveAvgPool2d((5, None))(pyburn.ones(1, 64, 8, 9)).shape
        pyburn.Size([1, 64, 5, 9])
    """

    _rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of each part of three dimensions; ``None`` leaves one as it is.

    Example:
        >>> nn.AdaptiveAvgPool3d(7)(pyburn.ones(1, 4, 8, 9, 10)).shape
        pyburn.Size([1, 4, 7, 7, 7])
    """

    _rank = 3
