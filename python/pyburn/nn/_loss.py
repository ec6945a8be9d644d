"""Losses as layers.

Every loss has a ``reduction``: ``"mean"``, ``"sum"``, or ``"none"`` for the loss of each element.
PyTorch's older ``size_average`` and ``reduce`` are taken with a warning.
"""

from __future__ import annotations

from collections.abc import Callable

from pyburn._core import Tensor
from pyburn.nn import functional as F
from pyburn.nn._module import Module
from pyburn.nn.functional._loss import reduction_of

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LpLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    """A loss and how those of elements are put together."""

    reduction: str

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(reduction, size_average, reduce)


class _WeightedLoss(_Loss):
    """A loss with factors that are kept as a buffer."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """``|input - target|``.

    Example:
        >>> nn.L1Loss()(pyburn.tensor([1.0, 2.0]), pyburn.tensor([0.0, 5.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """``(input - target)**2``.

    Example:
        >>> nn.MSELoss()(pyburn.tensor([1.0, 2.0]), pyburn.tensor([0.0, 5.0]))
        tensor(5.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


class LpLoss(_Loss):
    """``|input - target|**p``, for a positive ``p``.

    Example:
        >>> nn.LpLoss(3)(pyburn.tensor([1.0, 2.0]), pyburn.tensor([0.0, 5.0]))
        tensor(14.)
    """

    def __init__(self, p: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        if p <= 0:
            raise ValueError(f"LpLoss: expected a positive p, got {p}")
        self.p = p

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.lp_loss(input, target, self.p, self.reduction)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class SmoothL1Loss(_Loss):
    """``d**2 / (2 * beta)`` where the distance ``d`` of input and target is below ``beta``, else
    ``d - beta / 2``.

    Example:
        >>> nn.SmoothL1Loss()(pyburn.tensor([0.5]), pyburn.zeros(1))
        tensor(0.1250)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """``d**2 / 2`` where the distance ``d`` of input and target is at most ``delta``, else
    ``delta * (d - delta / 2)``.

    Example:
        >>> nn.HuberLoss(delta=2.0)(pyburn.tensor([3.0]), pyburn.zeros(1))
        tensor(4.)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """Minus the logarithm of the softmax of logits at the right class.

    Args:
        weight: a factor for each class; a mean is one by the factors of the right classes.
        ignore_index: a class that does not count.
        label_smoothing: how much of each target is shared among all classes.

    Shapes: logits ``(N, C)``, ``(N, C, *)`` or ``(C,)``; targets are classes without that
    dimension, or probabilities in the same shape.

    Example:
        >>> logits = pyburn.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        >>> nn.CrossEntropyLoss(reduction="none")(logits, pyburn.tensor([0, 1]))
        tensor([0.2395, 1.0986])
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """Minus the logarithm of the probability of the right class, which the input holds.

    Args:
        weight: a factor for each class; a mean is one by the factors of the right classes.
        ignore_index: a class that does not count.

    Shapes: logarithms ``(N, C)``, ``(N, C, *)`` or ``(C,)``; classes without that dimension.

    Example:
        >>> logs = pyburn.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
        >>> nn.NLLLoss(reduction="none")(logs, pyburn.tensor([0, 1]))
        tensor([0.6931, 0.2877])
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """PyTorch's older name of :class:`NLLLoss` for images.

    Example:
        >>> nn.NLLLoss2d()(pyburn.zeros(1, 2, 3, 3), pyburn.zeros(1, 3, 3, dtype=pyburn.long))
        tensor(0.)
    """


class BCELoss(_WeightedLoss):
    """``-target * log(input) - (1 - target) * log(1 - input)``, logarithms being at least -100.

    Args:
        weight: a factor for each element, broadcast.

    Example:
        >>> nn.BCELoss()(pyburn.tensor([0.5, 1.0]), pyburn.tensor([1.0, 1.0]))
        tensor(0.3466)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """:class:`BCELoss` of the sigmoid of logits, without loss of digits.

    Args:
        weight: a factor for each element, broadcast.
        pos_weight: a factor for each positive target, broadcast.

    Example:
        >>> nn.BCEWithLogitsLoss()(pyburn.zeros(2), pyburn.tensor([0.0, 1.0]))
        tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.binary_cross_entropy_with_logits(
            input,
            target,
            weight=self.weight,
            pos_weight=self.pos_weight,
            reduction=self.reduction,
        )


class KLDivLoss(_Loss):
    """``target * (log(target) - input)``, the Kullback-Leibler divergence of distributions whose
    logarithms the input holds.

    Args:
        reduction: also ``"batchmean"``, the sum over the number of samples, which is the
            divergence as it is defined.
        log_target: the target holds logarithms too.

    Example:
        >>> share = pyburn.tensor([[0.5, 0.5]])
        >>> nn.KLDivLoss(reduction="batchmean")(share.log(), pyburn.tensor([[1.0, 0.0]]))
        tensor(0.6931)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """``exp(input) - target * input``, minus the logarithm of the probability of counts.

    Args:
        log_input: whether the input holds the logarithms of the expected counts; else the loss is
            ``input - target * log(input + eps)``.
        full: add Stirling's approximation of ``log(target!)`` where the target exceeds one.

    Example:
        >>> nn.PoissonNLLLoss()(pyburn.zeros(2), pyburn.tensor([1.0, 2.0]))
        tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """``(log(var) + (input - target)**2 / var) / 2``, minus the logarithm of normal densities.

    Args:
        full: add ``log(2 * pi) / 2``.
        eps: the least variance.

    Example:
        >>> nn.GaussianNLLLoss()(pyburn.zeros(2), pyburn.ones(2), pyburn.ones(2))
        tensor(0.5000)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """The loss."""
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1.

    Example:
        >>> target = pyburn.tensor([1.0, -1.0])
        >>> nn.HingeEmbeddingLoss(reduction="none")(pyburn.tensor([2.0, 0.25]), target)
        tensor([2.0000, 0.7500])
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Example:
        >>> nn.SoftMarginLoss()(pyburn.zeros(2), pyburn.tensor([1.0, -1.0]))
        tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """``1 - cos`` of the vectors' angle where the target is 1, ``max(0, cos - margin)`` where it is
    -1.

    Example:
        >>> x, y = pyburn.tensor([1.0, 0.0]), pyburn.tensor([0.0, 1.0])
        >>> nn.CosineEmbeddingLoss()(x, y, pyburn.tensor(1.0))
        tensor(1.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_Loss):
    """``max(0, margin - target * (input1 - input2))`` for targets 1, where the first input should
    be larger, and -1.

    Example:
        >>> one, two = pyburn.tensor([1.0, 3.0]), pyburn.tensor([2.0, 2.0])
        >>> nn.MarginRankingLoss()(one, two, pyburn.tensor([1.0, 1.0]))
        tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, where ``d`` is the ``p``-norm
    of the difference.

    Args:
        swap: take the distance of positive and negative instead of that of anchor and negative
            where it is smaller.

    Example:
        >>> anchor, other = pyburn.zeros(1, 2), pyburn.tensor([[3.0, 4.0]])
        >>> nn.TripletMarginLoss(margin=7.0, eps=0)(anchor, anchor, other)
        tensor(2.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """:class:`TripletMarginLoss` with a distance of one's own.

    Example:
        >>> zero, one = pyburn.zeros(1, 2), pyburn.ones(1, 2)
        >>> city = lambda x, y: (x - y).abs().sum(-1)
        >>> nn.TripletMarginWithDistanceLoss(distance_function=city)(zero, one, zero)
        tensor(3.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                "TripletMarginWithDistanceLoss: expected margin to be greater than 0, got "
                f"{margin} instead"
            )
        self.distance_function = distance_function or F.pairwise_distance
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class MultiMarginLoss(_WeightedLoss):
    """``sum(max(0, margin - input[target] + input[i])**p) / C`` over the other classes ``i``.

    Args:
        p: 1 or 2.
        weight: a factor for each class, of the right one.

    Shapes: scores ``(N, C)`` or ``(C,)``, classes ``(N,)`` or ``()``.

    Example:
        >>> nn.MultiMarginLoss()(pyburn.tensor([[0.0, 0.5, 1.5]]), pyburn.tensor([1]))
        tensor(0.8333)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                f"MultiMarginLoss: weight must be 1-dimensional, got {weight.ndim} dimensions"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class MultiLabelMarginLoss(_Loss):
    """``sum(max(0, 1 - input[j] + input[i])) / C`` over the labels ``j`` and the other classes
    ``i``; labels from the first -1 on do not count.

    Shapes: scores and labels ``(N, C)`` or ``(C,)``.

    Example:
        >>> scores = pyburn.tensor([[0.1, 0.2, 0.4, 0.8]])
        >>> nn.MultiLabelMarginLoss()(scores, pyburn.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over the classes, which are the last dimension, of :class:`BCEWithLogitsLoss`.

    Example:
        >>> nn.MultiLabelSoftMarginLoss()(pyburn.zeros(2, 3), pyburn.ones(2, 3))
        tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )
