"""First values of parameters: every function fills a tensor in place and returns it.

Nothing is recorded for gradients. ``generator`` draws from a source of its own.
"""

from __future__ import annotations

import math
import warnings
from typing import Literal, TypeAlias

from pyburn import _core, _random, linalg
from pyburn._core import Tensor
from pyburn._random import Generator
from pyburn.autograd import no_grad

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

Nonlinearity: TypeAlias = Literal[
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
    "tanh",
    "relu",
    "leaky_relu",
    "selu",
]

_GAIN_ONE = frozenset(
    "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid".split()
)


def calculate_gain(nonlinearity: Nonlinearity, param: float | None = None) -> float:
    """The factor by which a nonlinearity's weights are larger, so that variances stay.

    ``param`` is the negative slope of ``leaky_relu``, 0.01 unless given.

    Example:
        >>> round(nn.init.calculate_gain("relu"), 4)
        1.4142
    """
    if nonlinearity in _GAIN_ONE:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"calculate_gain: negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"calculate_gain: Unsupported nonlinearity {nonlinearity}")


@no_grad()
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills with numbers between ``a`` and ``b``, all with the same probability.

    Example:
        >>> nn.init.uniform_(pyburn.empty(3), 2.0, 2.0)
        tensor([2., 2., 2.])
    """
    return _random.uniform_(tensor, a, b, generator=generator)


@no_grad()
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills from the normal distribution."""
    return _random.normal_(tensor, mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fills from the normal distribution without what lies outside of ``a`` and ``b``.

    Example:
        >>> bool((nn.init.trunc_normal_(pyburn.empty(100), a=-1, b=1).abs() <= 1).all())
        True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            stacklevel=2,
        )
    # A uniform number between the distribution function's values at the bounds, sent back through
    # that function; float64 keeps the tails.
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) for bound in (a, b))
    wide = _core._full(tuple(tensor.shape), 0, _core.dtype("float64"), _core.device("cpu"))
    _random.uniform_(wide, low, high, generator=generator)
    drawn = wide.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)
    return tensor.copy_(drawn)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills with one number."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Tensor) -> Tensor:
    """Fills with ones."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Tensor) -> Tensor:
    """Fills with zeros."""
    return tensor.zero_()


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Makes a matrix the identity.

    Example:
        >>> nn.init.eye_(pyburn.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError(
            f"eye_: only tensors with 2 dimensions are supported, got {tensor.ndim} dimensions"
        )
    tensor.zero_()
    tensor.diagonal().fill_(1.0)
    return tensor


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Makes the weight of a convolution pass its input on, channel by channel in each group."""
    dimensions = tensor.ndim
    if dimensions not in (3, 4, 5):
        raise ValueError(
            "dirac_: only tensors with 3, 4, or 5 dimensions are supported, got "
            f"{dimensions} dimensions"
        )
    if tensor.shape[0] % groups:
        raise ValueError(
            f"dirac_: dim 0 must be divisible by groups, got {tensor.shape[0]} and {groups} groups"
        )
    outputs = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(outputs, tensor.shape[1])):
            tensor[(group * outputs + channel, channel, *middle)] = 1.0
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of a weight has, and how many outputs each input."""
    if tensor.ndim < 2:
        raise ValueError(
            "fan in and fan out can not be computed for a tensor with fewer than 2 dimensions, got "
            f"shape {list(tensor.shape)}"
        )
    outputs, inputs, *kernel = tensor.shape
    field = math.prod(kernel)
    return inputs * field, outputs * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform numbers of variance ``2 gain² / (fan_in + fan_out)``, after Glorot and Bengio."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers of variance ``2 gain² / (fan_in + fan_out)``, after Glorot and Bengio."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(
    tensor: Tensor, a: float, mode: str, nonlinearity: Nonlinearity, op: str
) -> float | None:
    if 0 in tensor.shape:
        warnings.warn(f"{op}: initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    nonlinearity: Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers of variance ``gain² / fan``, after He et al.

    Args:
        a: the negative slope of ``leaky_relu``.
        mode: ``fan_in`` keeps variances forward, ``fan_out`` backward.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity, "kaiming_uniform_")
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    nonlinearity: Nonlinearity = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of variance ``gain² / fan``, after He et al."""
    std = _kaiming_std(tensor, a, mode, nonlinearity, "kaiming_normal_")
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Makes rows (or columns, if there are fewer) orthogonal, dimensions from the second on
    counting as one.

    Example:
        >>> weight = nn.init.orthogonal_(pyburn.empty(2, 3))
        >>> (weight @ weight.T).allclose(pyburn.eye(2), atol=1e-5)
        True
    """
    if tensor.ndim < 2:
        raise ValueError(
            f"orthogonal_: only tensors with 2 or more dimensions are supported, got {tensor.ndim}"
        )
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    # A device need not draw random numbers or factorise in the tensor's dtype.
    kind = _core.dtype("float64" if tensor.dtype == _core.dtype("float64") else "float32")
    drawn = _core._full((max(rows, columns), min(rows, columns)), 0, kind, _core.device("cpu"))
    _random.normal_(drawn, 0.0, 1.0, generator=generator)
    q, r = linalg.qr(drawn)
    # Without the signs the factor is not drawn uniformly.
    q = q * r.diagonal().sign()
    if rows < columns:
        q = q.T
    return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


@no_grad()
def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal numbers, of which a fraction of ``sparsity`` in each column is zero.

    Example:
        >>> (nn.init.sparse_(pyburn.empty(10, 2), sparsity=0.3) == 0).sum(0)
        tensor([3, 3])
    """
    if tensor.ndim != 2:
        raise ValueError(
            f"sparse_: only tensors with 2 dimensions are supported, got {tensor.ndim} dimensions"
        )
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    _random.normal_(tensor, 0.0, std, generator=generator)
    for column in range(columns):
        order = _random.randperm(rows, generator=generator, device=tensor.device)
        tensor[order[:count], column] = 0.0
    return tensor
