"""Losses of sequences whose labels are not aligned with their frames."""

from __future__ import annotations

from collections.abc import Sequence

from pyburn import _core
from pyburn._autocast import composite
from pyburn._core import Tensor, tensor
from pyburn.nn.functional._loss import check_reduction, reduced

__all__ = ["ctc_loss", "rnnt_loss"]


def _lengths(op: str, what: str, lengths: Tensor | Sequence[int] | int) -> list[int]:
    """Lengths of sequences as numbers."""
    if isinstance(lengths, Tensor):
        if lengths.is_floating_point() or lengths.is_complex():
            raise RuntimeError(f"{op}: {what} must be integral, got {lengths.dtype}")
        return [int(length) for length in lengths.reshape(-1).tolist()]
    return [lengths] if isinstance(lengths, int) else [int(length) for length in lengths]


@composite
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the logarithm of the probability that frames say labels, over all the ways to say
    them: a frame says a class or nothing, and repetitions without a pause count once.

    As in PyTorch the gradient takes for granted that the probabilities of each frame add up to
    one, as those of :func:`log_softmax` do.

    Args:
        log_probs: logarithms of probabilities, ``(T, N, C)`` or ``(T, C)``.
        targets: labels, ``(N, S)``, or those of all samples one after the other.
        input_lengths: how many frames of each sample count.
        target_lengths: how many labels each sample has.
        blank: the class that says nothing.
        reduction: a mean is that of the losses over their numbers of labels.
        zero_infinity: whether labels that the frames are too few for have a loss of zero.

    Example:
        >>> logs = pyburn.full((2, 1, 2), 0.5).log()
        >>> F.ctc_loss(logs, pyburn.tensor([[1]]), [2], [1])
        tensor(0.2877)
    """
    op = "ctc_loss"
    check_reduction(op, reduction)
    alone = log_probs.ndim == 2
    if alone:
        log_probs = log_probs.unsqueeze(1)
    frames = _lengths(op, "input_lengths", input_lengths)
    labels = _lengths(op, "target_lengths", target_lengths)
    losses = _core.ctc_loss(log_probs, targets, frames, labels, blank, zero_infinity)
    if reduction == "mean":
        counts = tensor(
            [max(count, 1) for count in labels], dtype=losses.dtype, device=losses.device
        )
        return (losses / counts).mean()
    if reduction == "none" and alone:
        return losses.squeeze(0)
    return reduced(op, losses, reduction)


def rnnt_loss(
    logits: Tensor,
    targets: Tensor,
    logit_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    fused_log_softmax: bool = True,
) -> Tensor:
    """Minus the logarithm of the probability of labels by a transducer, which at each frame says
    further labels or moves to the next frame, over all the ways to say them.

    Args:
        logits: ``(N, T, U + 1, C)``: for each frame and each number of labels said so far, scores
            of what comes next.
        targets: labels, ``(N, U)``.
        logit_lengths: how many frames of each sample count.
        target_lengths: how many labels each sample has.
        blank: the class that moves to the next frame.
        fused_log_softmax: whether ``logits`` are still to go through :func:`log_softmax`.

    Example:
        >>> logits = pyburn.zeros(1, 2, 2, 2)
        >>> F.rnnt_loss(logits, pyburn.tensor([[1]]), [2], [1])
        tensor(1.3863)
    """
    op = "rnnt_loss"
    check_reduction(op, reduction)
    if logits.ndim != 4:
        raise RuntimeError(
            f"{op}: expected logits of shape (N, T, U + 1, C), got {list(logits.shape)}"
        )
    log_probs = _core.log_softmax(logits, 3, None) if fused_log_softmax else logits
    frames = _lengths(op, "logit_lengths", logit_lengths)
    labels = _lengths(op, "target_lengths", target_lengths)
    return reduced(op, _core.rnnt_loss(log_probs, targets, frames, labels, blank), reduction)
