"""Layers of burn that PyTorch does not have."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyburn import _core
from pyburn._core import Tensor
from pyburn._creation import arange
from pyburn._dtypes import DeviceLike, DTypeLike, as_device, as_dtype
from pyburn._movement import cat, stack
from pyburn._random import normal_
from pyburn.autograd import no_grad
from pyburn.nn import functional as F
from pyburn.nn._activation import GELU
from pyburn.nn._dropout import Dropout
from pyburn.nn._linear import Linear
from pyburn.nn._module import Module

__all__ = [
    "GateController",
    "GaussianNoise",
    "PositionWiseFeedForward",
    "PositionalEncoding",
    "RotaryEncoding",
    "Shrink",
    "SwiGLU",
    "SwiGlu",
    "ThresholdedReLU",
    "generate_sinusoids",
]


class SwiGLU(Module):
    """``silu(linear_inner(x)) * linear_outer(x)``, a linear layer gated by another.

    Shapes: ``(*, in_features)`` to ``(*, out_features)``.

    Example:
        >>> nn.SwiGLU(3, 4)(pyburn.ones(2, 3)).shape
        pyburn.Size([2, 4])
    """

    linear_inner: Linear
    linear_outer: Linear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.linear_inner = Linear(in_features, out_features, bias, device, dtype)
        self.linear_outer = Linear(in_features, out_features, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """One product with the input, gated by the other."""
        return F.silu(self.linear_inner(input)) * self.linear_outer(input)


SwiGlu = SwiGLU
"""burn's name of :class:`SwiGLU`."""


class Shrink(Module):
    """``x`` moved by ``bias`` towards zero outside of ``[-lambd, lambd]``, else zero, as in ONNX.

    Example:
        >>> nn.Shrink(bias=0.0)(pyburn.tensor([-2.0, 0.25, 2.0]))
        tensor([-2.,  0.,  2.])
    """

    def __init__(self, lambd: float = 0.5, bias: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd
        self.bias = bias

    def forward(self, input: Tensor) -> Tensor:
        """The elements, shrunk."""
        return F.shrink(input, self.lambd, self.bias)

    def extra_repr(self) -> str:
        return f"lambd={self.lambd}, bias={self.bias}"


class ThresholdedReLU(Module):
    """``x`` where it exceeds ``alpha``, else zero, as in ONNX.

    Example:
        >>> nn.ThresholdedReLU()(pyburn.tensor([0.5, 2.0]))
        tensor([0., 2.])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """The elements above the threshold."""
        return F.thresholded_relu(input, self.alpha)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}"


class GaussianNoise(Module):
    """In training, ``x`` plus normal numbers of a standard deviation.

    Example:
        >>> nn.GaussianNoise(0.1).eval()(pyburn.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, std: float) -> None:
        super().__init__()
        if not std >= 0:
            raise ValueError(
                f"GaussianNoise: expected a standard deviation that is not negative, got {std}"
            )
        self.std = std

    def forward(self, input: Tensor) -> Tensor:
        """The input, in training with noise."""
        if not self.training or self.std == 0:
            return input
        noise = _core._full(tuple(input.shape), 0, input.dtype, input.device)
        return input + normal_(noise, 0.0, self.std)

    def extra_repr(self) -> str:
        return f"std={self.std}"


def generate_sinusoids(
    length: int,
    d_model: int,
    max_timescale: float = 10_000,
    *,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Sines and cosines of places, ``(length, d_model)``: at place ``t`` the elements ``2 i`` and
    ``2 i + 1`` are sine and cosine of ``t / max_timescale**(2 i / d_model)``.

    Example:
        >>> nn.generate_sinusoids(2, 2)
        tensor([[0.0000, 1.0000],
                [0.8415, 0.5403]])
    """
    angles = _angles(0, length, d_model, max_timescale, None, device)
    kind = _core.get_default_dtype() if dtype is None else as_dtype(dtype)
    return stack([angles.sin(), angles.cos()], 2).reshape(length, d_model).to(kind)


def _angles(
    start: int,
    length: int,
    d_model: int,
    base: float,
    scaling: Callable[[Tensor], Tensor] | None,
    device: DeviceLike | None,
) -> Tensor:
    """The angle of each place and each pair of elements, ``(length, d_model / 2)``."""
    if d_model <= 0 or d_model % 2:
        raise ValueError(f"expected d_model to be even and positive, got {d_model}")
    if not base > 0:
        raise ValueError(f"expected a positive base of the frequencies, got {base}")
    place = as_device(device)
    kind = _core._narrow(place, _core.dtype("float64"))
    steps = arange(0, d_model, 2, dtype=kind, device=place)
    frequencies = (steps * (-math.log(base) / d_model)).exp()
    if scaling is not None:
        frequencies = scaling(frequencies)
    places = arange(start, start + length, dtype=kind, device=place)
    return places.unsqueeze(1) * frequencies


class PositionalEncoding(Module):
    """The input plus :func:`generate_sinusoids` of its places.

    Args:
        d_model: how long each vector is.
        max_sequence_size: how many places there may be.
        max_timescale: how slow the slowest sinusoids are.

    Shapes: ``(N, S, d_model)`` to the same.

    Example:
        >>> nn.PositionalEncoding(2)(pyburn.zeros(1, 2, 2))
        tensor([[[0.0000, 1.0000],
                 [0.8415, 0.5403]]])
    """

    sinusoids: Tensor

    def __init__(
        self,
        d_model: int,
        max_sequence_size: int = 5000,
        max_timescale: float = 10_000,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.max_sequence_size = max_sequence_size
        self.max_timescale = max_timescale
        table = generate_sinusoids(
            max_sequence_size, d_model, max_timescale, device=device, dtype=dtype
        )
        # It follows from the arguments: no part of what is saved.
        self.register_buffer("sinusoids", table, persistent=False)

    def forward(self, input: Tensor) -> Tensor:
        """The input, marked with its places."""
        if input.ndim != 3 or input.shape[2] != self.d_model:
            raise RuntimeError(
                f"PositionalEncoding: expected an input of shape (N, S, {self.d_model}), got "
                f"{list(input.shape)}"
            )
        if input.shape[1] > self.max_sequence_size:
            raise RuntimeError(
                f"PositionalEncoding: expected at most {self.max_sequence_size} places, got an "
                f"input of shape {list(input.shape)}"
            )
        return input + self.sinusoids[: input.shape[1]]

    def extra_repr(self) -> str:
        return (
            f"d_model={self.d_model}, max_sequence_size={self.max_sequence_size}, "
            f"max_timescale={self.max_timescale}"
        )


class RotaryEncoding(Module):
    """Turns each pair of neighbouring elements by an angle that grows with the place:
    ``(x cos - y sin, x sin + y cos)`` with the angle ``t / theta**(2 i / d_model)`` of place ``t``
    and pair ``i``. The product of two turned vectors depends on how far apart their places are.

    Args:
        max_sequence_length: how many places there may be.
        d_model: how long each vector is.
        theta: the base of the frequencies.
        scaling: what the frequencies, ``(d_model / 2,)``, go through first.

    Shapes: ``(*, S, d_model)`` to the same.

    Example:
        >>> layer = nn.RotaryEncoding(10, 4)
        >>> layer(pyburn.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]))
        tensor([[ 1.0000,  2.0000,  3.0000,  4.0000],
                [-2.3473,  7.4492,  6.9197,  8.0696]])
    """

    cosine: Tensor
    sine: Tensor

    def __init__(
        self,
        max_sequence_length: int,
        d_model: int,
        theta: float = 10_000.0,
        scaling: Callable[[Tensor], Tensor] | None = None,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.max_sequence_length = max_sequence_length
        self.d_model = d_model
        self.theta = theta
        self.scaling = scaling
        self.start = 0
        angles = _angles(0, max_sequence_length, d_model, theta, scaling, device)
        kind = _core.get_default_dtype() if dtype is None else as_dtype(dtype)
        # They follow from the arguments: no part of what is saved.
        self.register_buffer("cosine", angles.cos().to(kind), persistent=False)
        self.register_buffer("sine", angles.sin().to(kind), persistent=False)

    def forward(self, input: Tensor, start: int = 0) -> Tensor:
        """The input, its vectors turned by their places, the first of which is ``start`` after the
        first of the window."""
        if input.ndim < 2 or input.shape[-1] != self.d_model:
            raise RuntimeError(
                f"RotaryEncoding: expected an input of shape (*, S, {self.d_model}), got "
                f"{list(input.shape)}"
            )
        length = input.shape[-2]
        if start < 0 or start + length > self.max_sequence_length:
            raise RuntimeError(
                f"RotaryEncoding: expected places from 0 to {self.max_sequence_length - 1}, got "
                f"{length} from {start} on"
            )
        cosine = self.cosine[start : start + length].to(input.dtype)
        sine = self.sine[start : start + length].to(input.dtype)
        x, y = input[..., 0::2], input[..., 1::2]
        turned = stack([x * cosine - y * sine, x * sine + y * cosine], -1)
        return turned.reshape(input.shape)

    def shift(self, start: int) -> None:
        """Moves the window of places to begin at ``start``, further than it does.

        Example:
            >>> layer = nn.RotaryEncoding(4, 2)
            >>> layer.shift(3)
            >>> layer.cosine[0].allclose(pyburn.tensor([3.0]).cos())
            True
        """
        if start <= self.start:
            raise ValueError(
                f"RotaryEncoding.shift: expected a start after {self.start}, got {start}"
            )
        kept = max(self.start + self.max_sequence_length - start, 0)
        self._fill(start, kept)

    def reset(self) -> None:
        """Moves the window of places back to the first one."""
        if self.start:
            self._fill(0, 0)

    def _fill(self, start: int, kept: int) -> None:
        """Fills the window from ``start`` on, of which the first places are its last ones."""
        new = self.max_sequence_length - kept
        first = start + kept
        angles = _angles(first, new, self.d_model, self.theta, self.scaling, self.cosine.device)
        with no_grad():
            for table, values in ((self.cosine, angles.cos()), (self.sine, angles.sin())):
                tail = table[self.max_sequence_length - kept :]
                table.copy_(cat([tail, values.to(table.dtype)], 0))
        self.start = start

    def extra_repr(self) -> str:
        return (
            f"max_sequence_length={self.max_sequence_length}, d_model={self.d_model}, "
            f"theta={self.theta}"
        )


class PositionWiseFeedForward(Module):
    """``linear_outer(dropout(activation(linear_inner(x))))``, the same at every place.

    Args:
        d_model: how long the vectors are outside.
        d_ff: how long they are inside.
        dropout: the probability that an element inside is left out in training.
        activation: a module, :class:`GELU` if none is given.

    Shapes: ``(*, d_model)`` to the same.

    Example:
        >>> nn.PositionWiseFeedForward(4, 8)(pyburn.ones(2, 3, 4)).shape
        pyburn.Size([2, 3, 4])
    """

    linear_inner: Linear
    linear_outer: Linear
    dropout: Dropout
    activation: Module

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: Module | None = None,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.linear_inner = Linear(d_model, d_ff, device=device, dtype=dtype)
        self.linear_outer = Linear(d_ff, d_model, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.activation = GELU() if activation is None else activation

    def forward(self, input: Tensor) -> Tensor:
        """The input, through a wider layer and back."""
        return self.linear_outer(self.dropout(self.activation(self.linear_inner(input))))


class GateController(Module):
    """``input_transform(input) + hidden_transform(hidden)``, what a gate of a recurrent layer takes
    the sigmoid of.

    Shapes: ``(N, d_input)`` and ``(N, d_output)`` to ``(N, d_output)``.

    Example:
        >>> nn.GateController(3, 2)(pyburn.ones(4, 3), pyburn.zeros(4, 2)).shape
        pyburn.Size([4, 2])
    """

    input_transform: Linear
    hidden_transform: Linear

    def __init__(
        self,
        d_input: int,
        d_output: int,
        bias: bool = True,
        initializer: Callable[[Tensor], object] | None = None,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.input_transform = Linear(d_input, d_output, bias, device, dtype)
        self.hidden_transform = Linear(d_output, d_output, bias, device, dtype)
        if initializer is not None:
            initializer(self.input_transform.weight)
            initializer(self.hidden_transform.weight)

    def forward(self, input: Tensor, hidden: Tensor) -> Tensor:
        """The sum of both products."""
        return self.input_transform(input) + self.hidden_transform(hidden)

    def gate_product(self, input: Tensor, hidden: Tensor) -> Tensor:
        """burn's name of the call."""
        return self(input, hidden)
