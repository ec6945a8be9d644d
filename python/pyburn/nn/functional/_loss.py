"""Losses of predictions and targets.

Every loss has a ``reduction``: ``"mean"``, ``"sum"``, or ``"none"`` for the loss of each element.
PyTorch's older ``size_average`` and ``reduce`` are taken with a warning.
"""

from __future__ import annotations

import math
import warnings
from typing import Literal, TypeAlias

from pyburn import _core, _pointwise
from pyburn._autocast import composite
from pyburn._core import Tensor
from pyburn._dtypes import bool as bool_
from pyburn._dtypes import int64
from pyburn.autograd import no_grad

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "lp_loss",
    "mse_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
]

Reduction: TypeAlias = Literal["none", "mean", "sum"]


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """The reduction that PyTorch's older arguments name, where they are given."""
    if size_average is None and reduce is None:
        return reduction
    average = size_average is None or size_average
    if reduce is None or reduce:
        reduction = "mean" if average else "sum"
    else:
        reduction = "none"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' "
        "instead.",
        stacklevel=3,
    )
    return reduction


def check_reduction(op: str, reduction: str) -> None:
    """Refuses reductions that do not exist."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"{op}: expected reduction to be one of 'none', 'mean' and 'sum', got {reduction!r}"
        )


def reduced(op: str, loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of losses, or each of them."""
    check_reduction(op, reduction)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _warn_sizes(op: str, input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        warnings.warn(
            f"{op}: Using a target size ({list(target.shape)}) that is different to the input size "
            f"({list(input.shape)}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _weighted(
    op: str, loss: Tensor, input: Tensor, weight: Tensor | None, reduction: str, share: bool
) -> Tensor:
    """Losses times weights, reduced; with ``share`` a mean is one by weights."""
    if weight is None:
        return reduced(op, loss, reduction)
    if weight.shape != input.shape:
        raise ValueError(
            f"{op}: Weights and input must have the same size, got {list(weight.shape)} and "
            f"{list(input.shape)}"
        )
    loss = loss * weight
    if share and reduction == "mean":
        return loss.sum() / weight.sum()
    return reduced(op, loss, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``|input - target|``; a mean is one by the weights, if there are any.

    Example:
        >>> F.l1_loss(pyburn.tensor([1.0, 2.0]), pyburn.tensor([0.0, 5.0]))
        tensor(2.)
    """
    _warn_sizes("l1_loss", input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    return _weighted("l1_loss", _core.l1_loss(input, target), input, weight, reduction, share=True)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``(input - target)**2``; a mean is one by the weights, if there are any.

    Example:
        >>> F.mse_loss(pyburn.tensor([1.0, 2.0]), pyburn.tensor([0.0, 5.0]))
        tensor(5.)
    """
    _warn_sizes("mse_loss", input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    return _weighted(
        "mse_loss", _core.mse_loss(input, target), input, weight, reduction, share=True
    )


def lp_loss(input: Tensor, target: Tensor, p: float = 2.0, reduction: str = "mean") -> Tensor:
    """``|input - target|**p``, for a positive ``p``.

    Example:
        >>> F.lp_loss(pyburn.tensor([1.0, 2.0]), pyburn.tensor([0.0, 5.0]), p=3)
        tensor(14.)
    """
    if p <= 0:
        raise ValueError(f"lp_loss: expected a positive p, got {p}")
    _warn_sizes("lp_loss", input, target)
    if p == 1:
        loss = _core.l1_loss(input, target)
    elif p == 2:
        loss = _core.mse_loss(input, target)
    else:
        loss = (input - target).abs() ** p
    return reduced("lp_loss", loss, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``d**2 / (2 * beta)`` where the distance ``d`` of input and target is below ``beta``, else
    ``d - beta / 2``.

    Example:
        >>> F.smooth_l1_loss(pyburn.tensor([0.5, 3.0]), pyburn.zeros(2), reduction="none")
        tensor([0.1250, 2.5000])
    """
    _warn_sizes("smooth_l1_loss", input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: does not support negative values for beta, got {beta}")
    if beta == 0:
        return reduced("smooth_l1_loss", _core.l1_loss(input, target), reduction)
    return reduced("smooth_l1_loss", _core.smooth_l1_loss(input, target, beta), reduction)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """``d**2 / 2`` where the distance ``d`` of input and target is at most ``delta``, else
    ``delta * (d - delta / 2)``.

    Example:
        >>> F.huber_loss(pyburn.tensor([0.5, 3.0]), pyburn.zeros(2), delta=2.0, reduction="none")
        tensor([0.1250, 4.0000])
    """
    _warn_sizes("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError(
            f"huber_loss: does not support non-positive values for delta, got {delta}"
        )
    loss = _core.huber_loss(input, target, delta)
    return _weighted("huber_loss", loss, input, weight, reduction, share=False)


def _check_smoothing(op: str, label_smoothing: float) -> None:
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            f"{op}: label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"
        )


def _check_probabilities(op: str, target: Tensor, ignored: int) -> None:
    if not target.is_floating_point():
        raise RuntimeError(
            f"{op}: Expected floating point type for target with class probabilities, got "
            f"{target.dtype}"
        )
    if ignored >= 0:
        raise RuntimeError(
            f"{op}: ignore_index is not supported for floating point target, got {ignored}"
        )


@composite
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Minus the logarithm of the softmax of logits at the right class.

    Args:
        input: logits: ``(N, C)``, ``(N, C, *)`` or ``(C,)``.
        target: classes: ``(N,)``, ``(N, *)`` or ``()``; or probabilities of classes, in the shape
            of ``input``.
        weight: a factor for each class; a mean is one by the factors of the right classes.
        ignore_index: a class that does not count.
        label_smoothing: how much of each target is shared among all classes.

    Example:
        >>> logits = pyburn.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        >>> F.cross_entropy(logits, pyburn.tensor([0, 1]), reduction="none")
        tensor([0.2395, 1.0986])
    """
    op = "cross_entropy"
    reduction = reduction_of(reduction, size_average, reduce)
    check_reduction(op, reduction)
    _check_smoothing(op, label_smoothing)
    if target.shape == input.shape:
        _check_probabilities(op, target, ignore_index)
        return _cross_entropy_of_shares(input, target, weight, reduction, label_smoothing)
    losses, weights = _core.cross_entropy(input, target, weight, ignore_index, label_smoothing)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / weights.sum()


def _cross_entropy_of_shares(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float
) -> Tensor:
    dim = 0 if input.ndim == 1 else 1
    classes = input.shape[dim]
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / classes
    terms = _core.log_softmax(input, dim, None) * target
    if weight is not None:
        if weight.shape != (classes,):
            raise RuntimeError(
                f"cross_entropy: weight tensor should be defined either for all {classes} classes "
                f"or no classes but got weight tensor of shape: {list(weight.shape)}"
            )
        terms = terms * weight.reshape((-1,) + (1,) * (input.ndim - 1 - dim))
    losses = -terms.sum(dim)
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / (input.numel() / max(classes, 1))


@composite
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the logarithm of the probability of the right class, which ``input`` holds.

    Args:
        input: logarithms of probabilities: ``(N, C)``, ``(N, C, *)`` or ``(C,)``.
        target: classes: ``(N,)``, ``(N, *)`` or ``()``.
        weight: a factor for each class; a mean is one by the factors of the right classes.
        ignore_index: a class that does not count.

    Example:
        >>> logs = pyburn.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
        >>> F.nll_loss(logs, pyburn.tensor([0, 1]), reduction="none")
        tensor([0.6931, 0.2877])
    """
    op = "nll_loss"
    reduction = reduction_of(reduction, size_average, reduce)
    check_reduction(op, reduction)
    if input.ndim == 0:
        raise ValueError(f"{op}: expected an input with a dimension of classes, got 0 dimensions")
    dim = 0 if input.ndim == 1 else 1
    lanes = input.shape[:dim] + input.shape[dim + 1 :]
    classes = input.shape[dim]
    if target.shape != lanes:
        raise ValueError(
            f"{op}: expected a target of shape {list(lanes)} for an input of shape "
            f"{list(input.shape)}, got {list(target.shape)}"
        )
    if target.is_floating_point() or target.is_complex() or target.dtype == bool_:
        raise RuntimeError(f"{op}: expected a target of class indices, got {target.dtype}")
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"{op}: weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
    counts = target != ignore_index
    index = _pointwise.where(counts, target, 0).to(int64)
    wrong = (index < 0) | (index >= classes)
    if not wrong.is_meta and wrong.any():
        raise IndexError(
            f"{op}: expected targets from 0 to {classes - 1} (or ignore_index={ignore_index}), got "
            f"{int(index.masked_select(wrong)[0].item())}"
        )
    if weight is None:
        factors = counts.to(input.dtype)
    else:
        factors = weight.index_select(0, index.reshape(-1)).reshape(lanes) * counts
    found = input.gather(dim, index.unsqueeze(dim)).squeeze(dim)
    # An ignored place may hold anything.
    losses = _pointwise.where(counts, -found * factors, 0.0)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / factors.sum()


@composite
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``-target * log(input) - (1 - target) * log(1 - input)``, logarithms being at least -100.

    Example:
        >>> F.binary_cross_entropy(pyburn.tensor([0.5, 1.0]), pyburn.tensor([1.0, 1.0]))
        tensor(0.3466)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"binary_cross_entropy: Using a target size ({list(target.shape)}) that is different "
            f"to the input size ({list(input.shape)}) is deprecated. Please ensure they have the "
            "same size."
        )
    loss = _core.binary_cross_entropy(input, target)
    if weight is not None:
        loss = loss * weight
    return reduced("binary_cross_entropy", loss, reduction)


@composite
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """:func:`binary_cross_entropy` of the sigmoid of logits, without loss of digits.

    Args:
        weight: a factor for each element, broadcast.
        pos_weight: a factor for each positive target, broadcast.

    Example:
        >>> F.binary_cross_entropy_with_logits(pyburn.zeros(2), pyburn.tensor([0.0, 1.0]))
        tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"binary_cross_entropy_with_logits: Target size ({list(target.shape)}) must be the "
            f"same as input size ({list(input.shape)})"
        )
    if pos_weight is None:
        loss = _core.binary_cross_entropy_with_logits(input, target)
    else:
        factor = (pos_weight - 1) * target + 1
        loss = (1 - target) * input - factor * _core.unary(input, "logsigmoid")
    if weight is not None:
        loss = loss * weight
    return reduced("binary_cross_entropy_with_logits", loss, reduction)


@composite
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)``, the Kullback-Leibler divergence of distributions whose
    logarithms ``input`` holds.

    Args:
        reduction: also ``"batchmean"``, the sum over the number of samples, which is the
            divergence as it is defined; ``"mean"`` divides by the number of elements.
        log_target: ``target`` holds logarithms too.

    Example:
        >>> share = pyburn.tensor([[0.5, 0.5]])
        >>> F.kl_div(share.log(), pyburn.tensor([[1.0, 0.0]]), reduction="batchmean")
        tensor(0.6931)
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(reduction, size_average, reduce)
    elif reduction == "mean":
        warnings.warn(
            "kl_div: reduction: 'mean' divides the total loss by both the batch size and the "
            "support size. 'batchmean' divides only by the batch size, and aligns with the KL div "
            "math definition.",
            stacklevel=2,
        )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = _pointwise.xlogy(target, target) - target * input
    if reduction == "batchmean":
        total = loss.sum()
        return total / input.shape[0] if input.ndim else total
    return reduced("kl_div", loss, reduction)


@composite
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``exp(input) - target * input``, minus the logarithm of the probability of counts.

    Args:
        log_input: whether ``input`` holds the logarithms of the expected counts; else the loss is
            ``input - target * log(input + eps)``.
        full: add Stirling's approximation of ``log(target!)`` where ``target`` exceeds one.

    Example:
        >>> F.poisson_nll_loss(pyburn.zeros(2), pyburn.tensor([1.0, 2.0]))
        tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    check_reduction("poisson_nll_loss", reduction)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        more = target * target.log() - target + 0.5 * (target * (2 * math.pi)).log()
        loss = loss + more.masked_fill(target <= 1, 0.0)
    return reduced("poisson_nll_loss", loss, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """``(log(var) + (input - target)**2 / var) / 2``, minus the logarithm of normal densities.

    Args:
        var: a variance, one for each element, or one for each row of the last dimension; at least
            ``eps``, without a gradient from there.
        full: add ``log(2 * pi) / 2``.

    Example:
        >>> F.gaussian_nll_loss(pyburn.zeros(2), pyburn.ones(2), pyburn.ones(2))
        tensor(0.5000)
    """
    op = "gaussian_nll_loss"
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError(f"{op}: var has negative entry/entries")
        var = _core._full(tuple(input.shape), var, input.dtype, input.device)
    elif not var.is_meta and (var < 0).any():
        raise ValueError(f"{op}: var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        else:
            differing = [
                own for size, own in zip(input.shape, var.shape, strict=False) if size != own
            ]
            if input.ndim != var.ndim or differing != [1]:
                raise ValueError(
                    f"{op}: var is of incorrect size: {list(var.shape)} for an input of size "
                    f"{list(input.shape)}"
                )
    check_reduction(op, reduction)
    # The bound leaves the gradient as it is.
    with no_grad():
        lift = var.clamp(min=eps) - var
    var = var + lift
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(op, loss, reduction)
