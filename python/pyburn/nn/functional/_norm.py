"""Normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyburn import _core
from pyburn._core import Tensor
from pyburn._movement import cat

__all__ = [
    "batch_norm",
    "gdn",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "rms_norm",
]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, channel by channel.

    In training, mean and (biased) variance are those of the batch, and the running ones move
    towards them, the variance without bias: ``running = (1 - momentum) * running + momentum *
    new``. Else they are the running ones.

    Args:
        input: ``(N, C, *)``.
        running_mean, running_var, weight, bias: ``(C,)``.

    Example:
        >>> x = pyburn.tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> F.batch_norm(x, None, None, training=True)
        tensor([[-1.0000, -1.0000],
                [ 1.0000,  1.0000]])
    """
    if training:
        _check_count("batch_norm", input, input.shape[:1] + input.shape[2:])
    return _core.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _check_count(op: str, input: Tensor, counted: Sequence[int]) -> None:
    """Refuses to take the variance of a single element."""
    if math.prod(counted) == 1:
        raise ValueError(
            f"{op}: expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)}"
        )


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, channel by channel of each sample.

    Args:
        input: ``(N, C, *)``.
        use_input_stats: take mean and variance of the input, and move the running ones towards
            their averages over the samples; else take the running ones.

    Example:
        >>> F.instance_norm(pyburn.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats:
        spatial = input.shape[2:]
        if math.prod(spatial) == 1:
            raise ValueError(
                "instance_norm: expected more than 1 spatial element when training, got input "
                f"size {list(input.shape)}"
            )
    return _core.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions.

    Args:
        input: ``(*, *normalized_shape)``.
        normalized_shape: the sizes of the dimensions that mean and variance run over.
        weight, bias: of shape ``normalized_shape``.

    Example:
        >>> F.layer_norm(pyburn.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    return _core.layer_norm(input, tuple(normalized_shape), weight, bias, eps)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last dimensions.

    Args:
        eps: the resolution of the dtype, if none is given.

    Example:
        >>> F.rms_norm(pyburn.tensor([[3.0, 3.0, -3.0]]), (3,))
        tensor([[ 1.,  1., -1.]])
    """
    return _core.rms_norm(input, tuple(normalized_shape), weight, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels of each sample.

    Args:
        input: ``(N, C, *)``.
        num_groups: how many groups the channels are divided into.
        weight, bias: ``(C,)``.

    Example:
        >>> F.group_norm(pyburn.tensor([[1.0, 3.0, 2.0, 6.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"group_norm: expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    if num_groups <= 0:
        raise RuntimeError(
            f"group_norm: expected num groups to be greater than 0, got {num_groups}"
        )
    group = (input.shape[0] * input.shape[1] // num_groups, *input.shape[2:])
    _check_count("group_norm", input, group)
    return _core.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """``x / (k + alpha * mean)**beta``, where the mean is that of the squares of ``size``
    neighbouring channels, those beyond the ends counting as zero.

    Args:
        input: ``(N, C, *)``.

    Example:
        >>> F.local_response_norm(pyburn.ones(1, 3, 1), 2, alpha=2.0, beta=1.0).flatten()
        tensor([0.5000, 0.3333, 0.3333])
    """
    if input.ndim < 3:
        raise ValueError(
            "local_response_norm: expected 3D or higher dimensionality input "
            f"(got {input.ndim} dimensions)"
        )
    if input.numel() == 0:
        return input
    square = input * input
    # Neighbours from size // 2 before to (size - 1) // 2 after.
    shape = list(input.shape)

    def edge(count: int) -> Tensor:
        return _core._full((shape[0], count, *shape[2:]), 0, input.dtype, input.device)

    padded = cat([edge(size // 2), square, edge((size - 1) // 2)], 1)
    mean = padded.unfold(1, size, 1).mean(-1)
    return input / (mean * alpha + k) ** beta


def gdn(
    input: Tensor,
    beta: Tensor,
    gamma: Tensor,
    inverse: bool = False,
    parametrization: str = "normal",
) -> Tensor:
    """Generalised divisive normalisation: each channel over what all of them are at its place,
    ``x[i] / sqrt(beta[i] + sum(gamma[i, j] * x[j]**2))``, or times it with ``inverse``.

    Args:
        input: ``(N, C, *)``.
        beta: ``(C,)``, positive.
        gamma: ``(C, C)``, the channel that is divided first; not negative.
        inverse: multiply instead of dividing.
        parametrization: ``"simplified"`` for ``beta[i] + sum(gamma[i, j] * |x[j]|)``.

    Example:
        >>> x = pyburn.tensor([[3.0, 4.0]])
        >>> F.gdn(x, pyburn.zeros(2), pyburn.ones(2, 2))
        tensor([[0.6000, 0.8000]])
    """
    if parametrization not in ("normal", "simplified"):
        raise ValueError(
            f"gdn: expected parametrization to be 'normal' or 'simplified', got {parametrization!r}"
        )
    channels = beta.numel()
    if beta.ndim != 1 or gamma.shape != (channels, channels):
        raise RuntimeError(
            "gdn: expected beta of shape (C,) and gamma of shape (C, C), got "
            f"{list(beta.shape)} and {list(gamma.shape)}"
        )
    if input.ndim < 2 or input.shape[1] != channels:
        raise RuntimeError(
            f"gdn: expected an input of shape (N, {channels}, *), got {list(input.shape)}"
        )
    pool = input * input if parametrization == "normal" else input.abs()
    if input.ndim == 2:
        norm = _core.linear(pool, gamma, beta)
    else:
        norm = (gamma @ pool.flatten(2) + beta.unsqueeze(1)).reshape(input.shape)
    if parametrization == "simplified":
        return input * norm if inverse else input / norm
    return input * (norm.sqrt() if inverse else norm.rsqrt())
