"""Normalisation of layers and of groups of channels."""

from __future__ import annotations

from collections.abc import Sequence

from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _shape_of(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions.

    Args:
        normalized_shape: the sizes of the dimensions that mean and variance run over.
        elementwise_affine: whether there are a weight and a bias, of that shape.
        bias: whether there is a bias.

    Example:
        >>> layer = nn.LayerNorm(2)
        >>> layer(pyburn.tensor([[1.0, 3.0]])).detach()
        tensor([[-1.0000,  1.0000]])
        >>> layer
        LayerNorm((2,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool
    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, present in (("weight", True), ("bias", bias)):
            made = None
            if elementwise_affine and present:
                made = empty_parameter(self.normalized_shape, device, dtype)
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weights to one and biases to zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last dimensions.

    Args:
        normalized_shape: the sizes of the dimensions that the mean runs over.
        eps: the resolution of the input's dtype, if none is given.
        elementwise_affine: whether there is a weight, of that shape.

    Example:
        >>> nn.RMSNorm(3)(pyburn.tensor([[3.0, 3.0, -3.0]])).detach()
        tensor([[ 1.,  1., -1.]])
    """

    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool
    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = empty_parameter(self.normalized_shape, device, dtype)
        self.register_parameter("weight", made if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weights to one."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """The input, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels of each sample.

    Shapes: ``(N, C, *)`` to the same; weight and bias are ``(C,)``.

    Example:
        >>> nn.GroupNorm(2, 4)(pyburn.tensor([[1.0, 3.0, 2.0, 6.0]])).detach()
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    num_groups: int
    num_channels: int
    eps: float
    affine: bool
    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"GroupNorm: num_channels ({num_channels}) must be divisible by num_groups "
                f"({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, present in (("weight", True), ("bias", bias)):
            made = empty_parameter((num_channels,), device, dtype) if affine and present else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weights to one and biases to zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """``x / (k + alpha * mean)**beta``, where the mean is that of the squares of ``size``
    neighbouring channels, those beyond the ends counting as zero.

    Shapes: ``(N, C, *)`` to the same.

    Example:
        >>> nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)(pyburn.ones(1, 3, 1)).flatten()
        tensor([0.5000, 0.3333, 0.3333])
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """The input, over the size of its neighbours."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """``x / (k + alpha / size * sum)**beta``, where the sum is that of the squares of the channels
    up to ``(size - 1) // 2`` away.

    PyTorch 2.15 forgets to take the first channel out of the sums of those that lie further away;
    here it is taken out.

    Shapes: ``(N, C, H, W)`` to the same.

    Example:
        >>> nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(pyburn.ones(1, 3, 1, 1)).flatten()
        tensor([0.3333, 0.2500, 0.3333])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        """The input, over the size of its neighbours."""
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        # As many channels on both sides, whatever the size is.
        width = 2 * ((self.size - 1) // 2) + 1
        alpha = self.alpha * width / self.size
        return F.local_response_norm(input, width, alpha, self.beta, self.k)
