"""Losses of regions in images, with MONAI's options.

Images are ``(N, C, *)``: samples, classes, and any spatial dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyburn._core import Tensor, tensor
from pyburn.nn import functional as F
from pyburn.nn._loss import _Loss
from pyburn.nn.functional._loss import check_reduction
from pyburn.nn.functional._loss_region import check_activations

__all__ = ["DiceLoss", "FocalLoss", "TverskyLoss"]


class _RegionLoss(_Loss):
    """A loss of regions and what scores go through first."""

    def __init__(
        self,
        include_background: bool,
        to_onehot_y: bool,
        sigmoid: bool,
        softmax: bool,
        other_act: Callable[[Tensor], Tensor] | None,
        reduction: str,
    ) -> None:
        super().__init__(reduction=reduction)
        check_reduction(type(self).__name__, reduction)
        check_activations(type(self).__name__, sigmoid, softmax, other_act)
        self.include_background = include_background
        self.to_onehot_y = to_onehot_y
        self.sigmoid = sigmoid
        self.softmax = softmax
        self.other_act = other_act


class DiceLoss(_RegionLoss):
    """``1 - (2 I + smooth_nr) / (P + T + smooth_dr)`` for each class of each sample, where ``I``,
    ``P`` and ``T`` are the sums of ``input * target``, of ``input`` and of ``target``.

    Args:
        include_background: whether the first class counts.
        to_onehot_y: whether targets hold classes, as ``(N, 1, *)``.
        sigmoid, softmax, other_act: what scores go through first, one of them at most.
        squared_pred: sums of squares for ``P`` and ``T``.
        jaccard: ``2 (P + T - I)`` in the denominator, which makes it the loss of the Jaccard index.
        smooth_nr, smooth_dr: what keeps empty regions from dividing zero by zero.
        batch: sums over the samples too.
        weight: a factor for each class that counts, or one for all.
        soft_label: count by ``|input - target|``, so that soft targets can be met exactly.

    Example:
        >>> mask = pyburn.tensor([[[1.0, 1.0, 0.0, 0.0]]])
        >>> loss = nn.DiceLoss(smooth_nr=0, smooth_dr=0)
        >>> loss(pyburn.tensor([[[1.0, 0.0, 1.0, 0.0]]]), mask)
        tensor(0.5000)
    """

    class_weight: Tensor | None

    def __init__(
        self,
        include_background: bool = True,
        to_onehot_y: bool = False,
        sigmoid: bool = False,
        softmax: bool = False,
        other_act: Callable[[Tensor], Tensor] | None = None,
        squared_pred: bool = False,
        jaccard: bool = False,
        reduction: str = "mean",
        smooth_nr: float = 1e-5,
        smooth_dr: float = 1e-5,
        batch: bool = False,
        weight: float | Sequence[float] | Tensor | None = None,
        soft_label: bool = False,
    ) -> None:
        super().__init__(include_background, to_onehot_y, sigmoid, softmax, other_act, reduction)
        self.squared_pred = squared_pred
        self.jaccard = jaccard
        self.smooth_nr = float(smooth_nr)
        self.smooth_dr = float(smooth_dr)
        self.batch = batch
        self.soft_label = soft_label
        self.register_buffer("class_weight", _as_weight(weight))

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.dice_loss(
            input,
            target,
            self.include_background,
            self.to_onehot_y,
            self.sigmoid,
            self.softmax,
            self.other_act,
            self.squared_pred,
            self.jaccard,
            self.reduction,
            self.smooth_nr,
            self.smooth_dr,
            self.batch,
            self.class_weight,
            self.soft_label,
        )


class TverskyLoss(_RegionLoss):
    """``1 - (I + smooth_nr) / (I + alpha * E + beta * M + smooth_dr)`` for each class of each
    sample, where ``I``, ``E`` and ``M`` are the sums of ``input * target``, of
    ``input * (1 - target)`` and of ``(1 - input) * target``.

    Args:
        alpha: how much of what is marked in excess counts.
        beta: how much of what is missing counts; the other arguments are those of
            :class:`DiceLoss`.

    Example:
        >>> mask = pyburn.tensor([[[1.0, 1.0, 0.0, 0.0]]])
        >>> loss = nn.TverskyLoss(beta=1.0, smooth_nr=0, smooth_dr=0)
        >>> loss(pyburn.tensor([[[1.0, 0.0, 0.0, 0.0]]]), mask)
        tensor(0.5000)
    """

    def __init__(
        self,
        include_background: bool = True,
        to_onehot_y: bool = False,
        sigmoid: bool = False,
        softmax: bool = False,
        other_act: Callable[[Tensor], Tensor] | None = None,
        alpha: float = 0.5,
        beta: float = 0.5,
        reduction: str = "mean",
        smooth_nr: float = 1e-5,
        smooth_dr: float = 1e-5,
        batch: bool = False,
        soft_label: bool = False,
    ) -> None:
        super().__init__(include_background, to_onehot_y, sigmoid, softmax, other_act, reduction)
        self.alpha = alpha
        self.beta = beta
        self.smooth_nr = float(smooth_nr)
        self.smooth_dr = float(smooth_dr)
        self.batch = batch
        self.soft_label = soft_label

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.tversky_loss(
            input,
            target,
            self.include_background,
            self.to_onehot_y,
            self.sigmoid,
            self.softmax,
            self.other_act,
            self.alpha,
            self.beta,
            self.reduction,
            self.smooth_nr,
            self.smooth_dr,
            self.batch,
            self.soft_label,
        )


class FocalLoss(_Loss):
    """``(1 - p)**gamma`` times the cross entropy of logits, where ``p`` is the probability of what
    is right: what is right already counts little.

    Args:
        include_background: whether the first class counts.
        to_onehot_y: whether targets hold classes, as ``(N, 1, *)``.
        gamma: the exponent.
        alpha: a factor of the positives, ``1 - alpha`` being that of the negatives; with
            ``use_softmax``, of all classes but the first, which has ``1 - alpha``.
        weight: a factor for each class that counts, or one for all.
        reduction: the sum is one of spatial means, over samples and classes.
        use_softmax: classes exclude each other; else each is a question of its own.

    Example:
        >>> nn.FocalLoss()(pyburn.zeros(1, 1, 2), pyburn.ones(1, 1, 2))
        tensor(0.1733)
    """

    class_weight: Tensor | None

    def __init__(
        self,
        include_background: bool = True,
        to_onehot_y: bool = False,
        gamma: float = 2.0,
        alpha: float | None = None,
        weight: float | Sequence[float] | Tensor | None = None,
        reduction: str = "mean",
        use_softmax: bool = False,
    ) -> None:
        super().__init__(reduction=reduction)
        check_reduction("FocalLoss", reduction)
        self.include_background = include_background
        self.to_onehot_y = to_onehot_y
        self.gamma = gamma
        self.alpha = alpha
        self.use_softmax = use_softmax
        self.register_buffer("class_weight", _as_weight(weight))

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.focal_loss(
            input,
            target,
            self.include_background,
            self.to_onehot_y,
            self.gamma,
            self.alpha,
            self.class_weight,
            self.reduction,
            self.use_softmax,
        )


def _as_weight(weight: float | Sequence[float] | Tensor | None) -> Tensor | None:
    return weight if weight is None or isinstance(weight, Tensor) else tensor(weight)
