"""Products of inputs with weights."""

from __future__ import annotations

from pyburn import _core
from pyburn._autocast import composite
from pyburn._core import Tensor

__all__ = ["bilinear", "linear"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``: the weight has one row per output.

    Args:
        input: ``(*, in_features)``.
        weight: ``(out_features, in_features)``, or ``(in_features,)`` for one output without a
            dimension.
        bias: ``(out_features,)``.

    Example:
        >>> F.linear(pyburn.ones(2, 3), pyburn.ones(4, 3)).shape
        pyburn.Size([2, 4])
    """
    return _core.linear(input, weight, bias)


@composite
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1ᵀ weight[k] input2 + bias[k]`` for each output ``k``.

    Args:
        input1: ``(*, in1_features)``.
        input2: ``(*, in2_features)`` with the same dimensions in front.
        weight: ``(out_features, in1_features, in2_features)``.
        bias: ``(out_features,)``.

    Example:
        >>> F.bilinear(pyburn.ones(5, 2), pyburn.ones(5, 3), pyburn.ones(4, 2, 3)).shape
        pyburn.Size([5, 4])
    """
    if weight.ndim != 3:
        raise RuntimeError(
            f"bilinear: expected a weight of 3 dimensions, got shape {list(weight.shape)}"
        )
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            "bilinear: expected the inputs to agree in all but the last dimension, got shapes "
            f"{list(input1.shape)} and {list(input2.shape)}"
        )
    outputs, first, second = weight.shape
    for name, tensor, size in (("input1", input1, first), ("input2", input2, second)):
        if tensor.shape[-1] != size:
            raise RuntimeError(
                f"bilinear: {name} has {tensor.shape[-1]} features, but the weight, of shape "
                f"{list(weight.shape)}, expects {size}"
            )
    # (rows, in1) by (in1, out * in2), then each row's in2 away.
    rows = input1.reshape(-1, first) @ weight.permute(1, 0, 2).reshape(first, outputs * second)
    products = rows.reshape(-1, outputs, second) @ input2.reshape(-1, second, 1)
    result = products.reshape(*input1.shape[:-1], outputs)
    return result if bias is None else result + bias
