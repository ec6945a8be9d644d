"""Losses that hold scores, distances or angles apart by a margin."""

from __future__ import annotations

from collections.abc import Callable

from pyburn import _core, _pointwise
from pyburn._autocast import composite
from pyburn._core import Tensor
from pyburn._dtypes import bool as bool_
from pyburn._dtypes import int64
from pyburn._linear_algebra import pairwise_distance
from pyburn.nn.functional._loss import check_reduction, reduced, reduction_of

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@composite
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1.

    Example:
        >>> target = pyburn.tensor([1.0, -1.0])
        >>> F.hinge_embedding_loss(pyburn.tensor([2.0, 0.25]), target, reduction="none")
        tensor([2.0000, 0.7500])
    """
    reduction = reduction_of(reduction, size_average, reduce)
    apart = _pointwise.where(target != 1, (margin - input).clamp(min=0), 0.0)
    near = _pointwise.where(target != -1, input, 0.0)
    return reduced("hinge_embedding_loss", apart + near, reduction)


@composite
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Example:
        >>> F.soft_margin_loss(pyburn.zeros(2), pyburn.tensor([1.0, -1.0]))
        tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    loss = -_core.unary(target * input, "logsigmoid")
    return reduced("soft_margin_loss", loss, reduction)


@composite
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos`` of the vectors' angle where the target is 1, ``max(0, cos - margin)`` where it
    is -1.

    Args:
        input1, input2: ``(N, D)`` or ``(D,)``.
        target: ``(N,)`` or ``()``.

    Example:
        >>> x = pyburn.tensor([[1.0, 0.0], [1.0, 0.0]])
        >>> y = pyburn.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> F.cosine_embedding_loss(x, y, pyburn.tensor([1.0, 1.0]), reduction="none")
        tensor([0., 1.])
    """
    op = "cosine_embedding_loss"
    reduction = reduction_of(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError(
            f"{op}: 0D or 1D target tensor expected, multi-target not supported, got "
            f"{target.ndim} dimensions"
        )
    dims = target.ndim + 1
    if input1.ndim != dims or input2.ndim != dims:
        raise RuntimeError(
            f"{op}: {target.ndim}D target tensor expects {dims}D input tensors, but found inputs "
            f"with sizes {list(input1.shape)} and {list(input2.shape)}"
        )
    dim = target.ndim
    least = 1e-12
    size1, size2 = ((x * x).sum(dim) + least for x in (input1, input2))
    cosine = (input1 * input2).sum(dim) / (size1 * size2).sqrt()
    near = _pointwise.where(target == 1, 1 - cosine, 0.0)
    apart = _pointwise.where(target == -1, (cosine - margin).clamp(min=0), 0.0)
    return reduced(op, near + apart, reduction)


@composite
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, margin - target * (input1 - input2))`` for targets 1, where the first input should
    be larger, and -1.

    Example:
        >>> one, two = pyburn.tensor([1.0, 3.0]), pyburn.tensor([2.0, 2.0])
        >>> F.margin_ranking_loss(one, two, pyburn.tensor([1.0, 1.0]), reduction="none")
        tensor([1., 0.])
    """
    op = "margin_ranking_loss"
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            f"{op}: All input tensors should have same dimension but got sizes: input1: "
            f"{list(input1.shape)}, input2: {list(input2.shape)}, target: {list(target.shape)}"
        )
    loss = (-target * (input1 - input2) + margin).clamp(min=0)
    return reduced(op, loss, reduction)


@composite
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, where ``d`` is
    :func:`pairwise_distance`.

    Args:
        swap: take the distance of positive and negative instead of that of anchor and negative
            where it is smaller.

    Example:
        >>> anchor, other = pyburn.zeros(1, 2), pyburn.tensor([[3.0, 4.0]])
        >>> F.triplet_margin_loss(anchor, anchor, other, margin=7.0, eps=0)
        tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return _triplet(
        "triplet_margin_loss", anchor, positive, negative, distance, margin, swap, reduction
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """:func:`triplet_margin_loss` with a distance of one's own.

    Example:
        >>> zero, one = pyburn.zeros(1, 2), pyburn.ones(1, 2)
        >>> city = lambda x, y: (x - y).abs().sum(-1)
        >>> F.triplet_margin_with_distance_loss(zero, one, zero, distance_function=city)
        tensor(3.)
    """
    return _triplet(
        "triplet_margin_with_distance_loss",
        anchor,
        positive,
        negative,
        distance_function or pairwise_distance,
        margin,
        swap,
        reduction,
    )


def _triplet(
    op: str,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    check_reduction(op, reduction)
    if margin <= 0:
        raise ValueError(f"{op}: margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"{op}: The anchor, positive, and negative tensors are expected to have the same "
            f"number of dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and "
            f"negative {negative.ndim}D inputs"
        )
    near, apart = distance(anchor, positive), distance(anchor, negative)
    if swap:
        apart = _pointwise.minimum(apart, distance(positive, negative))
    return reduced(op, (near - apart + margin).clamp(min=0), reduction)


def _samples(op: str, input: Tensor) -> Tensor:
    """Samples of scores, one without its dimension included."""
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"{op}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    return input.unsqueeze(0) if input.ndim == 1 else input


@composite
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``sum(max(0, margin - input[target] + input[i])**p) / C`` over the other classes ``i``.

    Args:
        input: scores, ``(N, C)`` or ``(C,)``.
        target: classes, ``(N,)`` or ``()``.
        p: 1 or 2.
        weight: a factor for each class, of the right one.

    Example:
        >>> F.multi_margin_loss(pyburn.tensor([[0.0, 0.5, 1.5]]), pyburn.tensor([2]))
        tensor(0.)
    """
    op = "multi_margin_loss"
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"{op}: only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"{op}: weight must be one-dimensional, got {weight.ndim} dimensions")
    scores = _samples(op, input)
    count, classes = scores.shape
    places = target.reshape(-1)
    if target.ndim > 1 or places.numel() != count:
        raise RuntimeError(
            f"{op}: inconsistent target size, expected {count} but got {list(target.shape)}"
        )
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(
            f"{op}: inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    index = places.unsqueeze(1)
    terms = (margin - scores.gather(1, index) + scores).clamp(min=0)
    if p == 2:
        terms = terms * terms
    if weight is not None:
        terms = terms * weight.index_select(0, places).unsqueeze(1)
    own = _core._full(tuple(scores.shape), False, bool_, scores.device)
    loss = terms.masked_fill(own.scatter(1, index, True), 0.0).sum(1) / classes
    return reduced(op, loss if target.ndim else loss.squeeze(0), reduction)


@composite
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``sum(max(0, 1 - input[j] + input[i])) / C`` over the labels ``j`` and the other classes
    ``i``.

    Args:
        input: scores, ``(N, C)`` or ``(C,)``.
        target: labels in the same shape; those from the first -1 on do not count.

    Example:
        >>> scores = pyburn.tensor([[0.1, 0.2, 0.4, 0.8]])
        >>> F.multilabel_margin_loss(scores, pyburn.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """
    op = "multilabel_margin_loss"
    reduction = reduction_of(reduction, size_average, reduce)
    scores = _samples(op, input)
    if target.shape != input.shape:
        raise RuntimeError(
            f"{op}: inconsistent size {list(target.shape)} of target for an input of size "
            f"{list(input.shape)}"
        )
    labels = _samples(op, target).to(int64)
    counts = (labels < 0).to(int64).cumsum(1) == 0
    index = labels.masked_fill(~counts, 0)
    marks = counts.to(int64)
    is_label = _core._full(tuple(scores.shape), 0, int64, scores.device)
    is_label = is_label.scatter_add(1, index, marks) > 0
    # Labels along the second dimension, other classes along the third.
    terms = (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).clamp(min=0)
    pairs = counts.unsqueeze(2) & ~is_label.unsqueeze(1)
    loss = _pointwise.where(pairs, terms, 0.0).sum((1, 2)) / scores.shape[1]
    return reduced(op, loss if input.ndim == 2 else loss.squeeze(0), reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes, which are the last dimension, of
    :func:`binary_cross_entropy_with_logits`.

    Example:
        >>> F.multilabel_soft_margin_loss(pyburn.zeros(2, 3), pyburn.ones(2, 3))
        tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    yes, no = (_core.unary(x, "logsigmoid") for x in (input, -input))
    loss = -(target * yes + (1 - target) * no)
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(-1) / input.shape[-1]
    return reduced("multilabel_soft_margin_loss", loss, reduction)
