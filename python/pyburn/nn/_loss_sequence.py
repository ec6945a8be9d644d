"""Losses of sequences, and of classes that are too many for one softmax."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from pyburn import _pointwise
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, int64
from pyburn._movement import cat
from pyburn.nn import functional as F
from pyburn.nn._containers import ModuleList, Sequential
from pyburn.nn._linear import Linear
from pyburn.nn._loss import _Loss
from pyburn.nn._module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss", "CTCLoss", "RNNTLoss"]


class CTCLoss(_Loss):
    """Minus the logarithm of the probability that frames say labels, over all the ways to say
    them: a frame says a class or nothing, and repetitions without a pause count once.

    Args:
        blank: the class that says nothing.
        reduction: a mean is that of the losses over their numbers of labels.
        zero_infinity: whether labels that the frames are too few for have a loss of zero.

    Shapes: logarithms of probabilities ``(T, N, C)`` or ``(T, C)``; labels ``(N, S)``, or those of
    all samples one after the other; lengths ``(N,)`` of frames and of labels.

    Example:
        >>> logs = pyburn.full((2, 1, 2), 0.5).log()
        >>> nn.CTCLoss()(logs, pyburn.tensor([[1]]), [2], [1])
        tensor(0.2877)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """The loss."""
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )


class RNNTLoss(_Loss):
    """Minus the logarithm of the probability of labels by a transducer, which at each frame says
    further labels or moves to the next frame, over all the ways to say them.

    Args:
        blank: the class that moves to the next frame.
        fused_log_softmax: whether the scores are still to go through a softmax.

    Shapes: scores ``(N, T, U + 1, C)``, for each frame and each number of labels said so far;
    labels ``(N, U)``; lengths ``(N,)`` of frames and of labels.

    Example:
        >>> nn.RNNTLoss()(pyburn.zeros(1, 2, 2, 2), pyburn.tensor([[1]]), [2], [1])
        tensor(1.3863)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", fused_log_softmax: bool = True
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.fused_log_softmax = fused_log_softmax

    def forward(
        self,
        logits: Tensor,
        targets: Tensor,
        logit_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """The loss."""
        return F.rnnt_loss(
            logits,
            targets,
            logit_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.fused_log_softmax,
        )


class _Output(NamedTuple):
    """The logarithm of the probability of each target, and the loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over very many classes that are sorted by how frequent they are: the head scores
    the most frequent ones and clusters of the others, which have smaller tables the rarer they are.

    Args:
        in_features: how long the input's vectors are.
        n_classes: the number of classes.
        cutoffs: the classes at which clusters begin, in increasing order.
        div_value: how many times smaller each cluster's vectors are than those before.
        head_bias: whether the head has a bias.

    Shapes: ``(N, in_features)`` and classes ``(N,)`` to the logarithms of the classes'
    probabilities ``(N,)`` and their negative mean, as ``output`` and ``loss``.

    Example:
        >>> layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10])
        >>> output, loss = layer(pyburn.randn(3, 8), pyburn.tensor([0, 5, 19]))
        >>> bool(loss == -output.mean())
        True
        >>> layer.log_prob(pyburn.randn(3, 8)).exp().sum(1).allclose(pyburn.ones(3))
        True
    """

    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        ends = list(cutoffs)
        if not ends:
            raise ValueError(
                "AdaptiveLogSoftmaxWithLoss: cutoffs should be a sequence of length larger than 0"
            )
        whole = all(int(end) == end for end in ends)
        if not whole or ends != sorted(set(ends)) or ends[0] <= 0 or ends[-1] > n_classes - 1:
            raise ValueError(
                "AdaptiveLogSoftmaxWithLoss: cutoffs should be a sequence of unique, positive "
                "integers sorted in an increasing order, where each value is between 1 and "
                f"n_classes-1, got {ends} for {n_classes} classes"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number, (start, end) in enumerate(itertools.pairwise(self.cutoffs), 1):
            width = int(in_features // div_value**number)
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **options),
                    Linear(width, end - start, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster.children():
                if isinstance(layer, Linear):
                    layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _Output:
        """The logarithm of the probability of each target, and the loss."""
        if target_.ndim > 1:
            raise RuntimeError(
                "AdaptiveLogSoftmaxWithLoss: 0D or 1D target tensor expected, multi-target not "
                f"supported, got {target_.ndim} dimensions"
            )
        if input_.ndim != target_.ndim + 1:
            raise RuntimeError(
                f"AdaptiveLogSoftmaxWithLoss: {target_.ndim}D target tensor expects "
                f"{target_.ndim + 1}D input tensors, but found inputs with size "
                f"{list(input_.shape)}"
            )
        input, target = (input_, target_) if target_.ndim else (input_[None], target_[None])
        if input.shape[0] != target.shape[0]:
            raise RuntimeError(
                "AdaptiveLogSoftmaxWithLoss: input and target should have the same size in the "
                f"batch dimension, got {input.shape[0]} and {target.shape[0]}"
            )
        wrong = (target < 0) | (target >= self.n_classes)
        if not wrong.is_meta and wrong.any():
            raise RuntimeError(
                f"AdaptiveLogSoftmaxWithLoss: target values should be in [0, {self.n_classes - 1}]"
                f", but values in range [{int(target.min().item())}, {int(target.max().item())}] "
                "were found"
            )
        place = target.to(int64)
        output = input.new_zeros(input.shape[0])
        for number, (start, end) in enumerate(itertools.pairwise(self.cutoffs)):
            inside = (target >= start) & (target < end)
            rows = inside.nonzero().squeeze(1)
            if not rows.numel():
                continue
            local = F.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
            relative = (target.index_select(0, rows) - start).to(int64).unsqueeze(1)
            output = output.index_add(0, rows, local.gather(1, relative).squeeze(1))
            place = _pointwise.where(inside, self.shortlist_size + number, place)
        head = F.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, place.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _Output(output if target_.ndim else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes, ``(N, n_classes)``."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for number in range(self.n_clusters):
            local = F.log_softmax(self.tail[number](input), dim=1)
            parts.append(local + head[:, self.shortlist_size + number].unsqueeze(1))
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most likely class of each row; of the rare ones where the head prefers their
        cluster."""
        first = self.head(input).argmax(1)
        rows = (first >= self.shortlist_size).nonzero().squeeze(1)
        if not rows.numel():
            return first
        rare = self.log_prob(input.index_select(0, rows)).argmax(1)
        return first.index_copy(0, rows, rare)
