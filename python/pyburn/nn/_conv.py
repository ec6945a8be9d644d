"""Layers that convolve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._lazy import LazyModuleMixin
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.functional._conv import Size
from pyburn.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "DeformConv2d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]
_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def each(value: Any, rank: int) -> tuple[Any, ...]:
    """One value for each dimension."""
    return tuple(value) if isinstance(value, Sequence) else (value,) * rank


class _ConvNd(Module):
    """What all convolutions share; a class says for how many dimensions it is."""

    _rank: ClassVar[int]

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: PaddingMode,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, got {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups, got {channels} and {groups}")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of 'same' and 'valid'"
                )
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError(
                    f"padding='same' is not supported for strided convolutions, got stride={stride}"
                )
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {_PADDING_MODES}, but got "
                f"padding_mode={padding_mode!r}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._border()
        shape = (*self._matrix(), *kernel_size)
        self.weight = empty_parameter(shape, device, dtype)
        if bias:
            self.bias = empty_parameter((out_channels,), device, dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _matrix(self) -> tuple[int, int]:
        """The first two sizes of the weight."""
        if self.transposed:
            return self.in_channels, self.out_channels // self.groups
        return self.out_channels, self.in_channels // self.groups

    def _border(self) -> list[int]:
        """The padding as :func:`pyburn.nn.functional.pad` takes it."""
        border: list[int] = []
        for at in reversed(range(len(self.kernel_size))):
            if isinstance(self.padding, str):
                total = 0
                if self.padding == "same":
                    total = self.dilation[at] * (self.kernel_size[at] - 1)
                border += [total // 2, total - total // 2]
            else:
                border += [self.padding[at]] * 2
        return border

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, uniformly within ``±1/sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * len(self.kernel_size):
            # A name is shown without quotes, as in PyTorch.
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.kernel_size):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.kernel_size):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    """A convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: str | Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        rank = self._rank
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size, rank),
            each(stride, rank),
            padding if isinstance(padding, str) else each(padding, rank),
            each(dilation, rank),
            False,
            (0,) * rank,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution with other parameters."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self._rank - 1]
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of an input with the weight."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """A convolution over one dimension.

    ``weight`` is ``(out_channels, in_channels / groups, kernel_size)``; it and ``bias`` are drawn
    uniformly from ``±1/sqrt(in_channels / groups * kernel_size)``. ``padding`` may be ``"same"`` or
    ``"valid"``; ``padding_mode`` says what is outside: zeros, or the elements by ``"reflect"``,
    ``"replicate"`` or ``"circular"``.

    Shapes: ``(batch, in_channels, length)`` to ``(batch, out_channels, new length)``, with or
    without the batch, where ``new length = (length + 2 * padding - dilation * (kernel_size - 1) -
    1) // stride + 1``.

    Example:
        >>> layer = nn.Conv1d(16, 33, 3, stride=2)
        >>> layer(pyburn.ones(20, 16, 50)).shape
        pyburn.Size([20, 33, 24])
        >>> layer
        Conv1d(16, 33, kernel_size=(3,), stride=(2,))
    """

    _rank = 1


class Conv2d(_Conv):
    """A convolution over two dimensions: see :class:`Conv1d`.

    Shapes: ``(batch, in_channels, height, width)`` to ``(batch, out_channels, ...)``.

    Example:
        >>> nn.Conv2d(3, 8, 3, padding="same")(pyburn.ones(2, 3, 28, 28)).shape
        pyburn.Size([2, 8, 28, 28])
    """

    _rank = 2


class Conv3d(_Conv):
    """A convolution over three dimensions: see :class:`Conv1d`.

    Shapes: ``(batch, in_channels, depth, height, width)`` to ``(batch, out_channels, ...)``.

    Example:
        >>> nn.Conv3d(2, 4, (3, 5, 2), stride=(2, 1, 1))(pyburn.ones(1, 2, 10, 20, 20)).shape
        pyburn.Size([1, 4, 4, 16, 19])
    """

    _rank = 3


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, got '
                f"{padding_mode!r}"
            )
        rank = self._rank
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size, rank),
            each(stride, rank),
            each(padding, rank),
            each(dilation, rank),
            True,
            each(output_padding, rank),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """How much is added at the end of each dimension for a result of a size."""
        if output_size is None:
            return self.output_padding
        rank, wanted = self._rank, list(output_size)
        if len(wanted) == input.ndim:
            wanted = wanted[input.ndim - rank :]
        if len(wanted) != rank:
            raise ValueError(
                f"ConvTranspose{rank}d: for {input.ndim}D input, output_size must have {rank} or "
                f"{input.ndim} elements (got {len(output_size)})"
            )
        more: list[int] = []
        for at, size in enumerate(input.shape[-rank:]):
            reach = self.dilation[at] * (self.kernel_size[at] - 1) + 1
            least = (size - 1) * self.stride[at] - 2 * int(self.padding[at]) + reach
            most = least + self.stride[at] - 1
            if not least <= wanted[at] <= most:
                raise ValueError(
                    f"requested an output size of {wanted}, but valid sizes range at dimension "
                    f"{at} from {least} to {most} (for an input of {list(input.shape[2:])})"
                )
            more.append(wanted[at] - least)
        return tuple(more)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The transposed convolution; ``output_size`` picks one of the sizes it may have."""
        transpose = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self._rank - 1]
        return transpose(
            input,
            self.weight,
            self.bias,
            self.stride,
            tuple(int(number) for number in self.padding),
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution over one dimension: the gradient of a convolution as a layer.

    ``weight`` is ``(in_channels, out_channels / groups, kernel_size)``. Several lengths of a
    :class:`Conv1d` lead to one: ``output_padding``, or ``output_size`` of a call, picks one.

    Shapes: ``(batch, in_channels, length)`` to ``(batch, out_channels, new length)``, with or
    without the batch, where ``new length = (length - 1) * stride - 2 * padding + dilation *
    (kernel_size - 1) + output_padding + 1``.

    Example:
        >>> layer = nn.ConvTranspose1d(4, 2, 3, stride=2)
        >>> layer(pyburn.ones(5, 4, 10)).shape
        pyburn.Size([5, 2, 21])
        >>> layer(pyburn.ones(5, 4, 10), output_size=[22]).shape
        pyburn.Size([5, 2, 22])
    """

    _rank = 1


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution over two dimensions: see :class:`ConvTranspose1d`.

    Example:
        >>> nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1)(pyburn.ones(1, 4, 7, 7)).shape
        pyburn.Size([1, 2, 14, 14])
    """

    _rank = 2


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution over three dimensions: see :class:`ConvTranspose1d`.

    Example:
        >>> nn.ConvTranspose3d(4, 2, 2, stride=2)(pyburn.ones(1, 4, 3, 3, 3)).shape
        pyburn.Size([1, 2, 6, 6, 6])
    """

    _rank = 3


class _LazyConvMixin(LazyModuleMixin):
    """Makes a convolution learn ``in_channels`` from its first input."""

    if TYPE_CHECKING:
        # What the layer it is mixed into has.
        _rank: ClassVar[int]
        in_channels: int
        out_channels: int
        kernel_size: tuple[int, ...]
        groups: int
        weight: Any
        bias: Any

    def _wait(self, bias: bool, device: DeviceLike | None, dtype: DTypeLike | None) -> None:
        """Puts parameters without a shape in place."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, once their shapes are known."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Takes ``in_channels`` from an input."""
        if self.has_uninitialized_params():
            self.in_channels = self._get_in_channels(input)
            if self.in_channels % self.groups:
                raise ValueError(
                    f"in_channels must be divisible by groups, got {self.in_channels} and "
                    f"{self.groups}"
                )
            self.weight.materialize((*self._matrix(), *self.kernel_size))  # type: ignore[attr-defined]
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()
        elif self.in_channels == 0:
            # The parameters were loaded.
            transposed: bool = self.transposed  # type: ignore[attr-defined]
            self.in_channels = self.weight.shape[0 if transposed else 1]
            if not transposed:
                self.in_channels *= self.groups

    def _get_in_channels(self, input: Tensor) -> int:
        rank = self._rank
        if input.ndim not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"{type(self).__name__}: Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) "
                f"input, but got input of size: {list(input.shape)}"
            )
        return input.shape[-rank - 1]


class _LazyConv(_LazyConvMixin):
    """A lazy convolution."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: str | Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        # Without channels and a bias, parameters are made for nothing, but they are empty.
        sizes = (kernel_size, stride, padding, dilation)
        super().__init__(0, 0, *sizes, groups, False, padding_mode, device, dtype)
        self.out_channels = out_channels
        self._wait(bias, device, dtype)


class _LazyConvTranspose(_LazyConvMixin):
    """A lazy transposed convolution."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        sizes = (kernel_size, stride, padding, output_padding)
        super().__init__(0, 0, *sizes, groups, False, dilation, padding_mode, device, dtype)
        self.out_channels = out_channels
        self._wait(bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):  # type: ignore[misc]
    """A :class:`Conv1d` that learns ``in_channels`` from its first input.

    Example:
        >>> layer = nn.LazyConv1d(4, 3)
        >>> _ = layer(pyburn.ones(1, 2, 8))
        >>> layer
        Conv1d(2, 4, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):  # type: ignore[misc]
    """A :class:`Conv2d` that learns ``in_channels`` from its first input.

    Example:
        >>> nn.LazyConv2d(4, 3)(pyburn.ones(1, 2, 8, 8)).shape
        pyburn.Size([1, 4, 6, 6])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):  # type: ignore[misc]
    """A :class:`Conv3d` that learns ``in_channels`` from its first input.

    Example:
        >>> nn.LazyConv3d(4, 3)(pyburn.ones(1, 2, 8, 8, 8)).shape
        pyburn.Size([1, 4, 6, 6, 6])
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):  # type: ignore[misc]
    """A :class:`ConvTranspose1d` that learns ``in_channels`` from its first input.

    Example:
        >>> nn.LazyConvTranspose1d(4, 3)(pyburn.ones(1, 2, 8)).shape
        pyburn.Size([1, 4, 10])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):  # type: ignore[misc]
    """A :class:`ConvTranspose2d` that learns ``in_channels`` from its first input.

    Example:
        >>> nn.LazyConvTranspose2d(4, 3)(pyburn.ones(1, 2, 8, 8)).shape
        pyburn.Size([1, 4, 10, 10])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):  # type: ignore[misc]
    """A :class:`ConvTranspose3d` that learns ``in_channels`` from its first input.

    Example:
        >>> nn.LazyConvTranspose3d(4, 3)(pyburn.ones(1, 2, 8, 8, 8)).shape
        pyburn.Size([1, 4, 10, 10, 10])
    """

    cls_to_become = ConvTranspose3d


class DeformConv2d(_ConvNd):
    """A convolution whose windows are bent, as torchvision has it.

    Called with an input, how far each element of each window moves, and optionally what it is
    multiplied by: see :func:`pyburn.nn.functional.deform_conv2d`.

    Example:
        >>> layer = nn.DeformConv2d(3, 4, 3, padding=1)
        >>> layer(pyburn.ones(1, 3, 8, 8), pyburn.zeros(1, 18, 8, 8)).shape
        pyburn.Size([1, 4, 8, 8])
        >>> layer
        DeformConv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    """

    _rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size, 2),
            each(stride, 2),
            each(padding, 2),
            each(dilation, 2),
            False,
            (0, 0),
            groups,
            bias,
            "zeros",
            device,
            dtype,
        )

    def forward(self, input: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """The convolution with windows bent by ``offset``."""
        padding = tuple(int(number) for number in self.padding)
        return F.deform_conv2d(
            input, offset, self.weight, self.bias, self.stride, padding, self.dilation, mask
        )
