"""Losses of regions in images: how much of what is marked and what should be marked is common.

Images are ``(N, C, *)``: samples, classes, and any spatial dimensions. Names, options and formulas
are those of MONAI.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from pyburn import _core
from pyburn._core import Tensor, tensor
from pyburn._dtypes import int64
from pyburn.nn.functional._loss import check_reduction, reduced

__all__ = ["dice_loss", "focal_loss", "tversky_loss"]

Act = Callable[[Tensor], Tensor]


def check_activations(op: str, sigmoid: bool, softmax: bool, other_act: Act | None) -> None:
    """Refuses to apply more than one function to the scores."""
    if other_act is not None and not callable(other_act):
        raise TypeError(
            f"{op}: other_act must be None or callable but is {type(other_act).__name__}"
        )
    if int(sigmoid) + int(softmax) + int(other_act is not None) > 1:
        raise ValueError(
            f"{op}: Incompatible values: more than 1 of [sigmoid=True, softmax=True, other_act is "
            "not None]"
        )


def _activated(
    op: str, input: Tensor, sigmoid: bool, softmax: bool, other_act: Act | None
) -> Tensor:
    check_activations(op, sigmoid, softmax, other_act)
    if sigmoid:
        return input.sigmoid()
    if softmax and _several(op, input, "softmax=True"):
        return _core.softmax(input, 1, None)
    return input if other_act is None else other_act(input)


def _several(op: str, input: Tensor, option: str) -> bool:
    """Whether there are classes for an option to tell apart."""
    if input.shape[1] == 1:
        warnings.warn(f"{op}: single channel prediction, `{option}` ignored.", stacklevel=4)
    return input.shape[1] != 1


def _regions(
    op: str, input: Tensor, target: Tensor, include_background: bool, to_onehot_y: bool
) -> tuple[Tensor, Tensor]:
    """Scores and targets of the classes that count, in one shape."""
    if input.ndim < 2:
        raise ValueError(f"{op}: expected an input of shape (N, C, *), got {list(input.shape)}")
    classes = input.shape[1]
    if to_onehot_y and _several(op, input, "to_onehot_y=True"):
        if target.ndim != input.ndim or target.shape[1] != 1:
            raise ValueError(
                f"{op}: to_onehot_y=True expects a target of shape (N, 1, *), got "
                f"{list(target.shape)} for an input of shape {list(input.shape)}"
            )
        marks = _core.one_hot(target.squeeze(1).to(int64), classes)
        target = marks.movedim(-1, 1).to(input.dtype)
    if not include_background and _several(op, input, "include_background=False"):
        input, target = input[:, 1:], target[:, 1:]
    if input.shape != target.shape:
        raise ValueError(
            f"{op}: ground truth has different shape ({list(target.shape)}) from input "
            f"({list(input.shape)})"
        )
    return input, target


def _counts(
    input: Tensor, target: Tensor, batch: bool, squared: bool, soft_label: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """What is marked and should be, what should not be, and what is missing, of each class."""
    over = (*(() if not batch else (0,)), *range(2, input.ndim))

    def total(x: Tensor) -> Tensor:
        return x.sum(over) if over else x

    if squared:
        hit, marked, wanted = total(input * target), total(input * input), total(target * target)
    elif soft_label:
        marked, wanted = total(input.abs()), total(target.abs())
        hit = (marked + wanted - total((input - target).abs())) / 2
    else:
        hit, marked, wanted = total(input * target), total(input), total(target)
    return hit, marked - hit, wanted - hit


def dice_loss(
    input: Tensor,
    target: Tensor,
    include_background: bool = True,
    to_onehot_y: bool = False,
    sigmoid: bool = False,
    softmax: bool = False,
    other_act: Act | None = None,
    squared_pred: bool = False,
    jaccard: bool = False,
    reduction: str = "mean",
    smooth_nr: float = 1e-5,
    smooth_dr: float = 1e-5,
    batch: bool = False,
    weight: float | Sequence[float] | Tensor | None = None,
    soft_label: bool = False,
) -> Tensor:
    """``1 - (2 I + smooth_nr) / (P + T + smooth_dr)`` for each class of each sample, where ``I``,
    ``P`` and ``T`` are the sums of ``input * target``, of ``input`` and of ``target``.

    Args:
        input: scores, ``(N, C, *)``.
        target: what they should be, in the same shape, or classes with ``to_onehot_y``.
        include_background: whether the first class counts.
        to_onehot_y: whether ``target`` holds classes, as ``(N, 1, *)``.
        sigmoid, softmax, other_act: what scores go through first, one of them at most.
        squared_pred: sums of squares for ``P`` and ``T``.
        jaccard: ``2 (P + T - I)`` in the denominator, which makes it the loss of the Jaccard index.
        smooth_nr, smooth_dr: what keeps empty regions from dividing zero by zero.
        batch: sums over the samples too.
        weight: a factor for each class that counts, or one for all.
        soft_label: count by ``|input - target|``, so that soft targets can be met exactly.

    Example:
        >>> mask = pyburn.tensor([[[1.0, 1.0, 0.0, 0.0]]])
        >>> F.dice_loss(pyburn.tensor([[[1.0, 0.0, 1.0, 0.0]]]), mask, smooth_nr=0, smooth_dr=0)
        tensor(0.5000)
    """
    op = "dice_loss"
    check_reduction(op, reduction)
    input = _activated(op, input, sigmoid, softmax, other_act)
    input, target = _regions(op, input, target, include_background, to_onehot_y)
    hit, extra, missing = _counts(input, target, batch, squared_pred, soft_label)
    wrong = extra + missing if jaccard else (extra + missing) * 0.5
    loss = 1.0 - (2.0 * hit + smooth_nr) / (2.0 * (hit + wrong) + smooth_dr)
    if weight is not None:
        loss = loss * _class_weight(op, weight, input.shape[1], input)
    if reduction == "none":
        # Broadcasts to the input.
        return loss.reshape((-1, input.shape[1]) + (1,) * (input.ndim - 2))
    return reduced(op, loss, reduction)


def _class_weight(
    op: str, weight: float | Sequence[float] | Tensor, classes: int, like: Tensor
) -> Tensor:
    """A factor for each class."""
    if not isinstance(weight, Tensor):
        weight = tensor(weight, dtype=like.dtype, device=like.device)
    if weight.ndim and weight.shape != (classes,):
        raise ValueError(
            f"{op}: expected a weight for each of the {classes} classes that count, got shape "
            f"{list(weight.shape)}"
        )
    if not weight.is_meta and (weight < 0).any():
        raise ValueError(f"{op}: the value/values of the weight should be no less than 0")
    return weight.to(like.dtype)


def tversky_loss(
    input: Tensor,
    target: Tensor,
    include_background: bool = True,
    to_onehot_y: bool = False,
    sigmoid: bool = False,
    softmax: bool = False,
    other_act: Act | None = None,
    alpha: float = 0.5,
    beta: float = 0.5,
    reduction: str = "mean",
    smooth_nr: float = 1e-5,
    smooth_dr: float = 1e-5,
    batch: bool = False,
    soft_label: bool = False,
) -> Tensor:
    """``1 - (I + smooth_nr) / (I + alpha * E + beta * M + smooth_dr)`` for each class of each
    sample, where ``I``, ``E`` and ``M`` are the sums of ``input * target``, of
    ``input * (1 - target)`` and of ``(1 - input) * target``.

    Args:
        alpha: how much of what is marked in excess counts.
        beta: how much of what is missing counts; the other arguments are those of
            :func:`dice_loss`.

    Example:
        >>> mask = pyburn.tensor([[[1.0, 1.0, 0.0, 0.0]]])
        >>> scores = pyburn.tensor([[[1.0, 0.0, 0.0, 0.0]]])
        >>> F.tversky_loss(scores, mask, beta=1.0, smooth_nr=0, smooth_dr=0)
        tensor(0.5000)
    """
    op = "tversky_loss"
    check_reduction(op, reduction)
    input = _activated(op, input, sigmoid, softmax, other_act)
    input, target = _regions(op, input, target, include_background, to_onehot_y)
    hit, extra, missing = _counts(input, target, batch, False, soft_label)
    score = (hit + smooth_nr) / (hit + alpha * extra + beta * missing + smooth_dr)
    return reduced(op, 1.0 - score, reduction)


def focal_loss(
    input: Tensor,
    target: Tensor,
    include_background: bool = True,
    to_onehot_y: bool = False,
    gamma: float = 2.0,
    alpha: float | None = None,
    weight: float | Sequence[float] | Tensor | None = None,
    reduction: str = "mean",
    use_softmax: bool = False,
) -> Tensor:
    """``(1 - p)**gamma`` times the cross entropy of logits, where ``p`` is the probability of what
    is right: what is right already counts little.

    Args:
        input: logits, ``(N, C, *)``.
        target: probabilities in the same shape, or classes with ``to_onehot_y``.
        include_background: whether the first class counts.
        to_onehot_y: whether ``target`` holds classes, as ``(N, 1, *)``.
        gamma: the exponent.
        alpha: a factor of the positives, ``1 - alpha`` being that of the negatives; with
            ``use_softmax``, of all classes but the first, which has ``1 - alpha``.
        weight: a factor for each class that counts, or one for all.
        reduction: the sum is one of spatial means, over samples and classes.
        use_softmax: classes exclude each other; else each is a question of its own.

    Example:
        >>> F.focal_loss(pyburn.zeros(1, 1, 2), pyburn.ones(1, 1, 2))
        tensor(0.1733)
    """
    op = "focal_loss"
    check_reduction(op, reduction)
    input, target = _regions(op, input, target, include_background, to_onehot_y)
    shape = (1, -1) + (1,) * (input.ndim - 2)
    if use_softmax:
        logs = _core.log_softmax(input, 1, None)
        loss = -((1 - logs.exp()) ** gamma) * logs * target
        if alpha is not None and include_background:
            factors = [1 - alpha] + [alpha] * (input.shape[1] - 1)
            loss = loss * tensor(factors, dtype=loss.dtype, device=loss.device).reshape(shape)
        elif alpha is not None:
            warnings.warn(
                f"{op}: `include_background=False`, `alpha` ignored when using softmax.",
                stacklevel=2,
            )
    else:
        loss = _core.binary_cross_entropy_with_logits(input, target.to(input.dtype))
        wrong = _core.unary(-input * (target * 2 - 1), "logsigmoid")
        loss = (wrong * gamma).exp() * loss
        if alpha is not None:
            loss = loss * (target * alpha + (1 - target) * (1 - alpha))
    if weight is not None:
        own = _class_weight(op, weight, input.shape[1], input)
        loss = loss * (own.reshape(shape) if own.ndim else own)
    if reduction == "sum" and loss.ndim > 2:
        return loss.mean(tuple(range(2, loss.ndim))).sum()
    return reduced(op, loss, reduction)
