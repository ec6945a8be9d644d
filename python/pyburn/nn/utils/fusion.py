"""Normalisation with fixed statistics, folded into the layer in front of it."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from pyburn._core import Tensor
from pyburn._creation import ones_like, zeros_like
from pyburn.autograd import no_grad
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

M = TypeVar("M", bound=Module)


@no_grad()
def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the one layer that does what a convolution and the batch normalisation
    after it do.

    Args:
        transpose: the convolution is a transposed one, whose outputs are the second dimension.
    """
    conv_b = zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    along = [1] * conv_w.ndim
    along[1 if transpose else 0] = -1
    weight = (conv_w * scale.reshape(along)).to(conv_w.dtype)
    bias = ((conv_b - bn_rm) * scale + bn_b).to(conv_b.dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the one layer that does what a linear layer and the batch normalisation
    after it do."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(layer: M, norm: Any, op: str, transpose: bool) -> M:
    if layer.training or norm.training:
        raise AssertionError(f"{op}: fusion only for eval! hint: call eval() on both modules")
    if norm.running_mean is None or norm.running_var is None:
        raise AssertionError(f"{op}: the normalisation keeps no statistics, it has none to fold in")
    fused: Any = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
        transpose,
    )
    return fused


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """One convolution that does what a convolution and the batch normalisation after it do; both
    must be in eval mode."""
    return _fused(conv, bn, "fuse_conv_bn_eval", transpose)


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """One linear layer that does what a linear layer and the batch normalisation after it do; both
    must be in eval mode."""
    norm: Any = bn
    given: Any = linear
    if norm.num_features not in (given.out_features, 1):
        raise AssertionError(
            "fuse_linear_bn_eval: to fuse, linear.out_features == bn.num_features or "
            f"bn.num_features == 1, got {given.out_features} and {norm.num_features}"
        )
    return _fused(linear, bn, "fuse_linear_bn_eval", transpose=False)
