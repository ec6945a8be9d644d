"""Pooling over one, two and three dimensions: the largest element of each window, or the mean.

Inputs are ``(batch, channels, *size)``, or one image without the batch. Arguments for dimensions
are a number for all of them, or one for each; without a stride, windows lie side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, overload

from pyburn import _core, _random
from pyburn._api import check_tensor
from pyburn._core import Tensor
from pyburn.nn.functional._conv import Size, named

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Both: TypeAlias = tuple[Tensor, Tensor]
Parts: TypeAlias = int | Sequence[int | None] | None
"""How many windows for each dimension; ``None`` for one of each element."""
Ratio: TypeAlias = float | Sequence[float]


class MaxPool(Protocol):
    """The largest element of each window."""

    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> Both: ...
    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | Both: ...


class MaxPoolWithIndices(Protocol):
    """The largest element of each window and its place."""

    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
    ) -> Both: ...


class AvgPool1d(Protocol):
    """The mean of each window of one dimension."""

    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor: ...


class AvgPool(Protocol):
    """The mean of each window."""

    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor: ...


class AdaptiveMaxPool(Protocol):
    """The largest element of each of a number of parts."""

    @overload
    def __call__(
        self, input: Tensor, output_size: Parts, return_indices: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def __call__(
        self, input: Tensor, output_size: Parts, return_indices: Literal[True]
    ) -> Both: ...
    @overload
    def __call__(
        self, input: Tensor, output_size: Parts, return_indices: bool = False
    ) -> Tensor | Both: ...


class AdaptiveMaxPoolWithIndices(Protocol):
    """The largest element of each of a number of parts and its place."""

    def __call__(self, input: Tensor, output_size: Parts) -> Both: ...


class AdaptiveAvgPool(Protocol):
    """The mean of each of a number of parts."""

    def __call__(self, input: Tensor, output_size: Parts) -> Tensor: ...


class FractionalMaxPool(Protocol):
    """The largest element of each of a number of windows at random places."""

    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        return_indices: Literal[False] = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        *,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> Both: ...
    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor | Both: ...


class FractionalMaxPoolWithIndices(Protocol):
    """The largest element of each of a number of windows at random places, and its place."""

    def __call__(
        self,
        input: Tensor,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        _random_samples: Tensor | None = None,
    ) -> Both: ...


class LPPool(Protocol):
    """The norm of each window."""

    def __call__(
        self,
        input: Tensor,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ) -> Tensor: ...


class MaxUnpool(Protocol):
    """Elements put back where a pool found them."""

    def __call__(
        self,
        input: Tensor,
        indices: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor: ...


def _steps(stride: Size | None) -> Size:
    """The engine's word for windows that lie side by side is an empty stride."""
    return () if stride is None else stride


def _each(op: str, what: str, given: int | Sequence[Any], rank: int) -> list[Any]:
    """A number for each dimension."""
    numbers = list(given) if isinstance(given, Sequence) else [given]
    if len(numbers) == 1:
        numbers *= rank
    if len(numbers) != rank:
        raise ValueError(
            f"{op}: expected {what} to be a number or {rank} of them, got {what}={given}"
        )
    return numbers


def _with_indices(name: str, rank: int, further: str) -> str:
    """The text of a pool that also says where it found its elements."""
    return f""":func:`{name}` and the place of each element in its plane.

    Example:
        >>> best, places = F.{name}_with_indices(pyburn.ones(1, 3, {"4, " * rank}), {further})
        >>> best.shape == places.shape
        True
    """


def _max_pools(rank: int, text: str) -> tuple[MaxPool, MaxPoolWithIndices]:
    name = f"max_pool{rank}d"

    def with_indices(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
    ) -> Both:
        return _core.max_pool(
            input, rank, kernel_size, _steps(stride), padding, dilation, ceil_mode
        )

    def function(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        found = with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if return_indices else found[0]

    return (
        named(function, name, text),
        named(with_indices, f"{name}_with_indices", _with_indices(name, rank, "2")),
    )


def _avg_pool(rank: int, text: str) -> AvgPool:
    def function(
        input: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        return _core.avg_pool(
            input,
            rank,
            kernel_size,
            _steps(stride),
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
        )

    return named(function, f"avg_pool{rank}d", text)


def _parts(op: str, input: Tensor, output_size: Parts, rank: int) -> list[int]:
    """How many parts each dimension is divided into."""
    check_tensor(op, input)
    sizes = list(output_size) if isinstance(output_size, Sequence) else [output_size] * rank
    # The classes are PyTorch's, whose one-dimensional pools look at the length first.
    if rank > 1 and isinstance(output_size, Sequence) and len(sizes) >= input.ndim:
        raise ValueError(
            f"{op}: Input dimension should be at least {len(sizes) + 1} for "
            f"output_size={output_size}, got shape {list(input.shape)}"
        )
    if len(sizes) == 1:
        sizes *= rank
    if input.ndim < rank + 1 or len(sizes) != rank:
        raise RuntimeError(
            f"{op}: Expected {rank + 1}D or {rank + 2}D tensor and one or {rank} numbers as "
            f"output_size, but got shape {list(input.shape)} and {output_size}"
        )
    own = input.shape[-rank:]
    return [size if size is not None else own[at] for at, size in enumerate(sizes)]


def _adaptive_avg_pool(rank: int, text: str) -> AdaptiveAvgPool:
    name = f"adaptive_avg_pool{rank}d"

    def function(input: Tensor, output_size: Parts) -> Tensor:
        return _core.adaptive_avg_pool(input, rank, _parts(name, input, output_size, rank))

    return named(function, name, text)


def _adaptive_max_pools(rank: int, text: str) -> tuple[AdaptiveMaxPool, AdaptiveMaxPoolWithIndices]:
    name = f"adaptive_max_pool{rank}d"

    def with_indices(input: Tensor, output_size: Parts) -> Both:
        return _core.adaptive_max_pool(input, rank, _parts(name, input, output_size, rank))

    def function(input: Tensor, output_size: Parts, return_indices: bool = False) -> Any:
        found = with_indices(input, output_size)
        return found if return_indices else found[0]

    return (
        named(function, name, text),
        named(with_indices, f"{name}_with_indices", _with_indices(name, rank, "2")),
    )


def _fractional_max_pools(
    rank: int, text: str
) -> tuple[FractionalMaxPool, FractionalMaxPoolWithIndices]:
    name = f"fractional_max_pool{rank}d"

    def with_indices(
        input: Tensor,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        _random_samples: Tensor | None = None,
    ) -> Both:
        check_tensor(name, input)
        if input.ndim not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"{name}: Expected {rank + 1}D or {rank + 2}D (batch mode) tensor for input, but "
                f"got: {list(input.shape)}"
            )
        if output_size is None:
            if output_ratio is None:
                raise ValueError(
                    f"{name} requires specifying either an output_size or an output_ratio"
                )
            ratios = _each(name, "output_ratio", output_ratio, rank)  # type: ignore[arg-type]
            sizes = zip(input.shape[-rank:], ratios, strict=True)
            output_size = [int(size * ratio) for size, ratio in sizes]
        if _random_samples is None:
            batch = input.shape[0] if input.ndim == rank + 2 else 1
            shape = (batch, input.shape[-rank - 1], rank)
            _random_samples = _random.rand(shape, dtype=input.dtype, device=input.device)
        return _core.fractional_max_pool(input, rank, _random_samples, kernel_size, output_size)

    def function(
        input: Tensor,
        kernel_size: Size,
        output_size: Size | None = None,
        output_ratio: Ratio | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        found = with_indices(input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    return (
        named(function, name, text),
        named(with_indices, f"{name}_with_indices", _with_indices(name, rank, "2, output_size=2")),
    )


def _lp_pool(rank: int, text: str) -> LPPool:
    name = f"lp_pool{rank}d"

    def function(
        input: Tensor,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        if norm_type == 0:
            raise ValueError(f"{name}: norm_type must be a non-zero value, but got {norm_type}")
        check_tensor(name, input)
        steps = _steps(stride)
        if norm_type in (float("inf"), -float("inf")):
            sign = 1 if norm_type > 0 else -1
            sizes = (kernel_size, steps, 0, 1, ceil_mode)
            return sign * _core.max_pool(sign * input.abs(), rank, *sizes)[0]
        powers = input.pow(norm_type)
        means = _core.avg_pool(powers, rank, kernel_size, steps, 0, ceil_mode, True, None)
        count = 1
        for size in _each(name, "kernel_size", kernel_size, rank):
            count *= size
        # Sums of odd powers may be negative, whose roots are no real numbers.
        return (means.sign() * means.abs().relu() * count).pow(1.0 / norm_type)

    return named(function, name, text)


def _max_unpool(rank: int, text: str) -> MaxUnpool:
    name = f"max_unpool{rank}d"

    def function(
        input: Tensor,
        indices: Tensor,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        for tensor in (input, indices):
            check_tensor(name, tensor)
        kernel = _each(name, "kernel_size", kernel_size, rank)
        steps = kernel if stride is None else _each(name, "stride", stride, rank)
        border = _each(name, "padding", padding, rank)
        if min(*kernel, *steps) < 1:
            raise RuntimeError(
                f"{name}: kernel sizes and strides should be greater than zero, but got "
                f"{kernel_size} and {stride}"
            )
        default = [
            (size - 1) * steps[at] + kernel[at] - 2 * border[at]
            for at, size in enumerate(input.shape[-rank:])
        ]
        wanted = default
        if output_size is not None:
            wanted = list(output_size)
            if len(wanted) == rank + 2:
                wanted = wanted[2:]
            if len(wanted) != rank:
                raise ValueError(
                    f"{name}: output_size should be a sequence containing {rank} or {rank + 2} "
                    f"elements, but it has a length of {len(output_size)}"
                )
            for at, size in enumerate(wanted):
                low, high = default[at] - steps[at], default[at] + steps[at]
                if not low < size < high:
                    raise ValueError(
                        f"{name}: invalid output_size {tuple(output_size)}: dim {at} must be "
                        f"between {low} and {high}"
                    )
        return _core.max_unpool(input, rank, indices, wanted)

    return named(function, name, text)


max_pool1d, max_pool1d_with_indices = _max_pools(
    1,
    """The largest element of each window over one dimension.

    Args:
        input: ``(batch, channels, length)``, or without the batch.
        kernel_size: Size of a window.
        stride: Steps between windows; the size of a window by default.
        padding: How far windows reach out on both sides, at most half of their size.
        dilation: Steps between the elements of a window.
        ceil_mode: Whether a last window may reach out further.
        return_indices: Whether the elements' places in their planes are returned too, for
            :func:`max_unpool1d`.

    Example:
        >>> F.max_pool1d(pyburn.tensor([[[1.0, 3.0, 2.0, 5.0, 4.0]]]), 2)
        tensor([[[3., 5.]]])
    """,
)
max_pool2d, max_pool2d_with_indices = _max_pools(
    2,
    """The largest element of each window over two dimensions: see :func:`max_pool1d`.

    Example:
        >>> F.max_pool2d(pyburn.arange(16.0).view(1, 1, 4, 4), 2)
        tensor([[[[ 5.,  7.],
                  [13., 15.]]]])
    """,
)
max_pool3d, max_pool3d_with_indices = _max_pools(
    3,
    """The largest element of each window over three dimensions: see :func:`max_pool1d`.

    Example:
        >>> F.max_pool3d(pyburn.ones(1, 2, 4, 4, 4), 2).shape
        pyburn.Size([1, 2, 2, 2, 2])
    """,
)


def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window over one dimension.

    Args:
        input: ``(batch, channels, length)``, or without the batch.
        kernel_size: Size of a window.
        stride: Steps between windows; the size of a window by default.
        padding: How far windows reach out on both sides, at most half of their size.
        ceil_mode: Whether a last window may reach out further.
        count_include_pad: Whether elements outside count as zeros.

    Example:
        >>> F.avg_pool1d(pyburn.tensor([[[1.0, 3.0, 2.0, 6.0]]]), 2)
        tensor([[[2., 4.]]])
    """
    return _core.avg_pool(
        input, 1, kernel_size, _steps(stride), padding, ceil_mode, count_include_pad, None
    )


avg_pool2d: AvgPool = _avg_pool(
    2,
    """The mean of each window over two dimensions: see :func:`avg_pool1d`.

    Sums are divided by ``divisor_override`` instead of the number of elements, if it is given.

    Example:
        >>> F.avg_pool2d(pyburn.arange(16.0).view(1, 1, 4, 4), 2)
        tensor([[[[ 2.5000,  4.5000],
                  [10.5000, 12.5000]]]])
    """,
)
avg_pool3d: AvgPool = _avg_pool(
    3,
    """The mean of each window over three dimensions: see :func:`avg_pool2d`.

    Example:
        >>> F.avg_pool3d(pyburn.ones(1, 2, 4, 4, 4), 2).shape
        pyburn.Size([1, 2, 2, 2, 2])
    """,
)
adaptive_avg_pool1d: AdaptiveAvgPool = _adaptive_avg_pool(
    1,
    """The mean of each of ``output_size`` parts of one dimension, as equal as possible.

    Example:
        >>> F.adaptive_avg_pool1d(pyburn.arange(5.0).view(1, 1, 5), 2)
        tensor([[[1., 3.]]])
    """,
)
adaptive_avg_pool2d: AdaptiveAvgPool = _adaptive_avg_pool(
    2,
    """The mean of each part of two dimensions; ``None`` leaves one as it is.

    Example:
        >>> F.adaptive_avg_pool2d(pyburn.ones(1, 64, 8, 9), (5, None)).shape
        pyburn.Size([1, 64, 5, 9])
    """,
)
adaptive_avg_pool3d: AdaptiveAvgPool = _adaptive_avg_pool(
    3,
    """The mean of each part of three dimensions; ``None`` leaves one as it is.

    Example:
        >>> F.adaptive_avg_pool3d(pyburn.ones(1, 4, 8, 9, 10), 1).shape
        pyburn.Size([1, 4, 1, 1, 1])
    """,
)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pools(
    1,
    """The largest element of each of ``output_size`` parts of one dimension, as equal as possible.

    Example:
        >>> F.adaptive_max_pool1d(pyburn.arange(5.0).view(1, 1, 5), 2)
        tensor([[[2., 4.]]])
    """,
)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pools(
    2,
    """The largest element of each part of two dimensions; ``None`` leaves one as it is.

    Example:
        >>> F.adaptive_max_pool2d(pyburn.ones(1, 64, 8, 9), (5, None)).shape
        pyburn.Size([1, 64, 5, 9])
    """,
)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pools(
    3,
    """The largest element of each part of three dimensions; ``None`` leaves one as it is.

    Example:
        >>> F.adaptive_max_pool3d(pyburn.ones(1, 4, 8, 9, 10), 1).shape
        pyburn.Size([1, 4, 1, 1, 1])
    """,
)
fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_max_pools(
    2,
    """The largest element of each of a number of windows, at random places in order.

    ``output_size`` says how many windows, or ``output_ratio`` which part of the input's size.

    Example:
        >>> F.fractional_max_pool2d(pyburn.ones(1, 3, 13, 12), 2, output_ratio=0.5).shape
        pyburn.Size([1, 3, 6, 6])
    """,
)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_max_pools(
    3,
    """The same over three dimensions: see :func:`fractional_max_pool2d`.

    Example:
        >>> F.fractional_max_pool3d(pyburn.ones(1, 3, 9, 9, 9), 2, output_size=4).shape
        pyburn.Size([1, 3, 4, 4, 4])
    """,
)
lp_pool1d: LPPool = _lp_pool(
    1,
    """The norm of each window: the ``norm_type``-th root of the sum of the elements' powers.

    Example:
        >>> F.lp_pool1d(pyburn.tensor([[[3.0, 4.0, 6.0, 8.0]]]), 2, 2)
        tensor([[[ 5., 10.]]])
    """,
)
lp_pool2d: LPPool = _lp_pool(
    2,
    """The norm of each window over two dimensions: see :func:`lp_pool1d`.

    Example:
        >>> F.lp_pool2d(pyburn.ones(1, 1, 4, 4), 2, 2)
        tensor([[[[2., 2.],
                  [2., 2.]]]])
    """,
)
lp_pool3d: LPPool = _lp_pool(
    3,
    """The norm of each window over three dimensions: see :func:`lp_pool1d`.

    Example:
        >>> F.lp_pool3d(pyburn.ones(1, 2, 4, 4, 4), 2, 2).shape
        pyburn.Size([1, 2, 2, 2, 2])
    """,
)
max_unpool1d: MaxUnpool = _max_unpool(
    1,
    """Elements put back where :func:`max_pool1d` found them, among zeros.

    The arguments are those of the pool; ``output_size`` names one of the sizes that it could have
    come from.

    Example:
        >>> x = pyburn.tensor([[[1.0, 3.0, 2.0, 5.0]]])
        >>> best, indices = F.max_pool1d(x, 2, return_indices=True)
        >>> F.max_unpool1d(best, indices, 2)
        tensor([[[0., 3., 0., 5.]]])
    """,
)
max_unpool2d: MaxUnpool = _max_unpool(
    2,
    """Elements put back where :func:`max_pool2d` found them: see :func:`max_unpool1d`.

    Example:
        >>> best, indices = F.max_pool2d(pyburn.ones(1, 1, 5, 5), 2, return_indices=True)
        >>> F.max_unpool2d(best, indices, 2, output_size=(5, 5)).shape
        pyburn.Size([1, 1, 5, 5])
    """,
)
max_unpool3d: MaxUnpool = _max_unpool(
    3,
    """Elements put back where :func:`max_pool3d` found them: see :func:`max_unpool1d`.

    Example:
        >>> best, indices = F.max_pool3d(pyburn.ones(1, 1, 4, 4, 4), 2, return_indices=True)
        >>> F.max_unpool3d(best, indices, 2).shape
        pyburn.Size([1, 1, 4, 4, 4])
    """,
)
