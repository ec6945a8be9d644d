"""Layers that multiply by a weight, and those that only change the shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, as_device, as_dtype
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._lazy import LazyModuleMixin
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Bilinear",
    "Flatten",
    "Identity",
    "LazyLinear",
    "Linear",
    "Unflatten",
]


def empty_parameter(
    shape: Sequence[int], device: DeviceLike | None, dtype: DTypeLike | None
) -> Parameter:
    """A parameter of a layer, to be filled by its ``reset_parameters``."""
    place = as_device(device)
    kind = _core._narrow(place, _core.get_default_dtype()) if dtype is None else as_dtype(dtype)
    return Parameter(_core._full(tuple(shape), 0, kind, place))


class Identity(Module):
    """Gives back its input; arguments are accepted and ignored.

    Example:
        >>> nn.Identity(54, unused=True)(pyburn.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class Linear(Module):
    """``x @ weight.T + bias``.

    ``weight`` is ``(out_features, in_features)`` as in PyTorch; burn itself keeps it transposed.
    Both are drawn uniformly from ``±1/sqrt(in_features)``.

    Shapes: ``(*, in_features)`` to ``(*, out_features)``.

    Example:
        >>> layer = nn.Linear(3, 2)
        >>> layer(pyburn.ones(5, 3)).shape
        pyburn.Size([5, 2])
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
    """

    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = empty_parameter((out_features, in_features), device, dtype)
        if bias:
            self.bias = empty_parameter((out_features,), device, dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """``input @ weight.T + bias``."""
        return _core.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A :class:`Linear` that learns ``in_features`` from its first input.

    Example:
        >>> layer = nn.LazyLinear(2)
        >>> _ = layer(pyburn.ones(5, 3))
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, once their shapes are known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Takes ``in_features`` from an input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
            if self.bias is not None:
                self.bias.materialize((self.out_features,))  # type: ignore[attr-defined]
            self.reset_parameters()
        if self.in_features == 0:
            # The parameters were loaded.
            self.in_features = self.weight.shape[-1]


class Bilinear(Module):
    """``x1ᵀ weight[k] x2 + bias[k]`` for each output ``k``.

    Shapes: ``(*, in1_features)`` and ``(*, in2_features)`` to ``(*, out_features)``.

    Example:
        >>> nn.Bilinear(2, 3, 4)(pyburn.ones(5, 2), pyburn.ones(5, 3)).shape
        pyburn.Size([5, 4])
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = empty_parameter(shape, device, dtype)
        if bias:
            self.bias = empty_parameter((out_features,), device, dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The products of both inputs with the weight."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Flatten(Module):
    """Merges dimensions into one; all but the first unless told otherwise.

    Example:
        >>> nn.Flatten()(pyburn.ones(2, 3, 4)).shape
        pyburn.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """The input with its dimensions merged."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits a dimension into several.

    Example:
        >>> nn.Unflatten(1, (3, 4))(pyburn.ones(2, 12)).shape
        pyburn.Size([2, 3, 4])
    """

    def __init__(self, dim: int | str, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if isinstance(dim, str):
            raise NotImplementedError(
                "Unflatten: dimensions have no names here; hint: give dim as a number"
            )
        if not isinstance(dim, int):
            raise TypeError(f"Unflatten: expected dim to be an int, got {type(dim).__name__}")
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for at, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {at}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """The input with its dimension split."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
