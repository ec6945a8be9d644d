"""Losses of sequences, of regions in images, and the adaptive softmax."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck
from pyburn.nn import functional as F
from scipy import special


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def all_ways(logs: np.ndarray, labels: list[int]) -> float:
    """The loss of one sample, frames by classes, as the sum over all paths; the blank is 0."""
    total = 0.0
    for path in itertools.product(range(logs.shape[1]), repeat=len(logs)):
        said = [c for c, _ in itertools.groupby(path) if c]
        if said == labels:
            total += np.exp(sum(logs[t, c] for t, c in enumerate(path)))
    return -np.log(total) if total else np.inf


TARGETS = [[1, 2], [2, 2], [1], []]
FRAMES = [4, 4, 3, 2]


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_ctc(joined: bool, reduction: str) -> None:
    logs = special.log_softmax(numbers(4, 4, 3), 2)
    losses = np.array(
        [
            all_ways(logs[:n, at], labels)
            for at, (n, labels) in enumerate(zip(FRAMES, TARGETS, strict=True))
        ]
    )
    counts = [len(labels) for labels in TARGETS]
    if joined:
        targets = pyburn.tensor([label for labels in TARGETS for label in labels])
    else:
        targets = pyburn.tensor([[*labels, 9, 9][:2] for labels in TARGETS])
    mean = (losses / np.maximum(counts, 1)).mean()
    expected = {"none": losses, "sum": losses.sum(), "mean": mean}[reduction]
    layer = nn.CTCLoss(reduction=reduction)
    for frames, labels in ((FRAMES, counts), (pyburn.tensor(FRAMES), pyburn.tensor(counts))):
        out = layer(pyburn.tensor(logs), targets, frames, labels)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-10)
    leaf = pyburn.tensor(numbers(4, 4, 3), requires_grad=True)
    assert gradcheck(lambda x: layer(x.log_softmax(2), targets, FRAMES, counts), (leaf,), atol=1e-6)


def test_ctc_of_one_sample_and_of_what_cannot_be_said() -> None:
    logs = pyburn.tensor(special.log_softmax(numbers(4, 3), 1), requires_grad=True)
    expected = all_ways(logs.detach().numpy(), [1, 2])
    out = F.ctc_loss(logs, pyburn.tensor([1, 2]), [4], [2], reduction="none")
    assert out.shape == ()
    assert out.item() == pytest.approx(expected)
    # The gradient is that of normalised probabilities: it adds up to zero in each frame.
    out.backward()
    assert logs.grad is not None
    np.testing.assert_allclose(logs.grad.sum(1).numpy(), 0, atol=1e-12)
    batch = pyburn.tensor(special.log_softmax(numbers(2, 1, 3), 2), requires_grad=True)
    targets = pyburn.tensor([[1, 1]])
    assert F.ctc_loss(batch, targets, [2], [2]).item() == np.inf
    zero = F.ctc_loss(batch, targets, [2], [2], zero_infinity=True)
    assert zero.item() == 0
    zero.backward()
    assert batch.grad is not None
    assert not batch.grad.any()


def test_ctc_refuses() -> None:
    logs = pyburn.zeros(4, 2, 3, requires_grad=True)
    targets = pyburn.tensor([[1, 2], [2, 1]])
    for match, arguments in {
        "input_lengths from 0 to 4, got 5": ([5, 4], [2, 2]),
        "expected 2 target_lengths": ([4, 4], [2]),
        "target_lengths from 0 to 2, got 3": ([4, 4], [3, 2]),
    }.items():
        with pytest.raises(RuntimeError, match=f"^ctc_loss: .*{match}"):
            F.ctc_loss(logs, targets, *arguments)
    with pytest.raises(RuntimeError, match="blank"):
        F.ctc_loss(logs, targets, [4, 4], [2, 2], blank=3)
    with pytest.raises(RuntimeError, match="expected targets from 0 to 2, got 6"):
        F.ctc_loss(logs, targets + 5, [4, 4], [2, 2])
    loss = F.ctc_loss(logs.log_softmax(2), targets, [4, 4], [2, 2])
    (grad,) = pyburn.autograd.grad(loss, logs, create_graph=True)
    with pytest.raises(NotImplementedError, match="ctc_loss: the gradient of its gradient"):
        grad.square().sum().backward()


def transduced(logs: np.ndarray, labels: list[int]) -> float:
    """The loss of one sample, frames by places by classes, as the sum over all orders."""
    frames, total = len(logs), 0.0
    steps = frames - 1 + len(labels)
    for spoken in itertools.combinations(range(steps), len(labels)):
        frame = said = 0
        log = 0.0
        for step in range(steps):
            if step in spoken:
                log += logs[frame, said, labels[said]]
                said += 1
            else:
                log += logs[frame, said, 0]
                frame += 1
        total += np.exp(log + logs[frame, said, 0])
    return -np.log(total)


def test_rnnt() -> None:
    x = numbers(3, 3, 3, 4)
    logs = special.log_softmax(x, 3)
    labels, frames, counts = [[1, 3], [2, 2], [3, 1]], [3, 2, 1], [2, 2, 1]
    expected = [
        transduced(logs[at, : frames[at], : counts[at] + 1], labels[at][: counts[at]])
        for at in range(3)
    ]
    targets = pyburn.tensor(labels)
    leaf = pyburn.tensor(x, requires_grad=True)
    layer = nn.RNNTLoss(reduction="none")
    out = layer(leaf, targets, frames, counts)
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-10)
    assert nn.RNNTLoss()(leaf, targets, frames, counts).item() == pytest.approx(np.mean(expected))
    plain = nn.RNNTLoss(reduction="none", fused_log_softmax=False)
    assert plain(pyburn.tensor(logs), targets, frames, counts).allclose(out)
    assert gradcheck(lambda x: layer(x, targets, frames, counts), (leaf,))
    # The gradient of what is not normalised is right too.
    assert gradcheck(lambda x: plain(x, targets, frames, counts), (leaf,))
    with pytest.raises(RuntimeError, match="^rnnt_loss: expected targets of shape"):
        layer(leaf, targets[:, :1], frames, counts)
    with pytest.raises(RuntimeError, match="every sample to have a frame"):
        layer(leaf, targets, [0, 1, 1], counts)


def test_adaptive_softmax() -> None:
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, head_bias=True).double()
    assert list(layer.state_dict()) == [
        "head.weight",
        "head.bias",
        "tail.0.0.weight",
        "tail.0.1.weight",
        "tail.1.0.weight",
        "tail.1.1.weight",
    ]
    x, target = pyburn.tensor(numbers(7, 8)), pyburn.tensor([0, 3, 4, 9, 10, 19, 5])
    whole = layer.log_prob(x)
    assert whole.exp().sum(1).allclose(pyburn.ones(7, dtype=pyburn.float64))
    output, loss = layer(x, target)
    assert output.allclose(whole.gather(1, target.unsqueeze(1)).squeeze(1))
    assert loss.allclose(-output.mean())
    alone = layer(x[2], target[2])
    assert alone.output.shape == ()
    assert alone.output.allclose(output[2])
    head = layer.head(x).argmax(1)
    expected = pyburn.where(head < 4, head, whole.argmax(1))
    assert layer.predict(x).equal(expected)
    loss.backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    for cutoffs in ([], [5, 4], [4, 4], [20], [0, 3]):
        with pytest.raises(ValueError, match="cutoffs should be a sequence"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)
    with pytest.raises(
        RuntimeError, match=r"should be in \[0, 19\], but values in range \[0, 20\]"
    ):
        layer(x[:2], pyburn.tensor([0, 20]))
    with pytest.raises(RuntimeError, match="1D target tensor expects 2D"):
        layer(x[0], target)


def sums(x: np.ndarray, t: np.ndarray, batch: bool) -> tuple[np.ndarray, ...]:
    over = ((0,) if batch else ()) + tuple(range(2, x.ndim))
    return (x * t).sum(over), x.sum(over), t.sum(over)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("jaccard", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_dice(batch: bool, jaccard: bool, squared: bool) -> None:
    x, classes = numbers(2, 3, 4, 5), np.random.default_rng(1).integers(0, 3, (2, 1, 4, 5))
    marks = np.moveaxis(np.eye(3)[classes[:, 0]], -1, 1)
    for name, activated in (
        ("sigmoid", special.expit(x)),
        ("softmax", special.softmax(x, 1)),
        ("other_act", np.tanh(x)),
    ):
        common, p, t = sums(activated[:, 1:], marks[:, 1:], batch)
        if squared:
            _, p, t = sums(activated[:, 1:] ** 2, marks[:, 1:], batch)
        below = 2 * (p + t - common) if jaccard else p + t
        losses = 1 - (2 * common + 0.1) / (below + 0.2)
        options: dict[str, Any] = {
            name: pyburn.tanh if name == "other_act" else True,
            "include_background": False,
            "to_onehot_y": True,
            "squared_pred": squared,
            "jaccard": jaccard,
            "smooth_nr": 0.1,
            "smooth_dr": 0.2,
            "batch": batch,
        }
        given = pyburn.tensor(x), pyburn.tensor(classes)
        out = nn.DiceLoss(**options)(*given)
        assert out.item() == pytest.approx(losses.mean())
        assert nn.DiceLoss(**options, reduction="sum")(*given).item() == pytest.approx(losses.sum())
        each = nn.DiceLoss(**options, reduction="none", weight=[1.0, 3.0])(*given)
        assert each.shape == (1 if batch else 2, 2, 1, 1)
        np.testing.assert_allclose(
            each.numpy().reshape(-1, 2), (losses * [1.0, 3.0]).reshape(-1, 2), rtol=1e-10
        )
        assert gradcheck(
            lambda x: nn.DiceLoss(**options)(x, given[1]),  # noqa: B023
            (pyburn.tensor(x, requires_grad=True),),
        )


def test_soft_labels_can_be_met() -> None:
    shares = pyburn.tensor(special.expit(numbers(2, 3, 4)))
    for loss in (nn.DiceLoss(soft_label=True), nn.TverskyLoss(soft_label=True)):
        assert loss(shares, shares).item() == pytest.approx(0, abs=1e-12)
    assert nn.DiceLoss()(shares, shares).item() > 0.1


def test_tversky() -> None:
    x, t = special.expit(numbers(2, 3, 4)), (numbers(2, 3, 4, seed=1) > 0).astype(float)
    common, p, total = sums(x, t, False)
    losses = 1 - (common + 0.1) / (common + 0.3 * (p - common) + 0.7 * (total - common) + 0.2)
    given = pyburn.tensor(x, requires_grad=True), pyburn.tensor(t)
    layer = nn.TverskyLoss(alpha=0.3, beta=0.7, smooth_nr=0.1, smooth_dr=0.2)
    assert layer(*given).item() == pytest.approx(losses.mean())
    none = F.tversky_loss(
        *given, alpha=0.3, beta=0.7, smooth_nr=0.1, smooth_dr=0.2, reduction="none"
    )
    np.testing.assert_allclose(none.detach().numpy(), losses, rtol=1e-10)
    assert gradcheck(lambda x: layer(x, given[1]), given[:1])


@pytest.mark.parametrize("alpha", [None, 0.25])
@pytest.mark.parametrize("softmax", [False, True])
def test_focal(alpha: float | None, softmax: bool) -> None:
    x, classes = numbers(2, 3, 4), np.random.default_rng(1).integers(0, 3, (2, 1, 4))
    t = np.moveaxis(np.eye(3)[classes[:, 0]], -1, 1)
    weight = np.array([1.0, 2.0, 3.0])
    if softmax:
        logs = special.log_softmax(x, 1)
        losses = -((1 - np.exp(logs)) ** 1.5) * logs * t
        if alpha is not None:
            losses = losses * np.array([1 - alpha, alpha, alpha])[:, None]
    else:
        right = np.where(t == 1, special.expit(x), special.expit(-x))
        losses = -((1 - right) ** 1.5) * np.log(right)
        if alpha is not None:
            losses = losses * np.where(t == 1, alpha, 1 - alpha)
    losses = losses * weight[:, None]
    options: dict[str, Any] = {
        "to_onehot_y": True,
        "gamma": 1.5,
        "alpha": alpha,
        "weight": pyburn.tensor(weight),
        "use_softmax": softmax,
    }
    given = pyburn.tensor(x), pyburn.tensor(classes)
    for reduction, expected in (
        ("none", losses),
        ("mean", losses.mean()),
        ("sum", losses.mean(2).sum()),
    ):
        out = nn.FocalLoss(**options, reduction=reduction)(*given)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-10)
    assert gradcheck(
        lambda x: nn.FocalLoss(**options)(x, given[1]), (pyburn.tensor(x, requires_grad=True),)
    )


def test_regions_refuse_and_warn() -> None:
    x = pyburn.rand(2, 3, 4)
    with pytest.raises(ValueError, match="more than 1 of"):
        nn.DiceLoss(sigmoid=True, softmax=True)
    with pytest.raises(TypeError, match="other_act must be None or callable"):
        nn.TverskyLoss(other_act=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^DiceLoss: expected reduction"):
        nn.DiceLoss(reduction="batchmean")
    for function in (F.dice_loss, F.tversky_loss, F.focal_loss):
        with pytest.raises(ValueError, match="ground truth has different shape"):
            function(x, x[:, :2])
        with pytest.raises(ValueError, match="expects a target of shape"):
            function(x, x, to_onehot_y=True)
        with pytest.warns(UserWarning, match="`include_background=False` ignored"):
            function(x[:, :1], x[:, :1], include_background=False)
    with pytest.raises(ValueError, match="a weight for each of the 3 classes"):
        F.dice_loss(x, x, weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="no less than 0"):
        F.focal_loss(x, x, weight=-1.0)
    with pytest.warns(UserWarning, match="`alpha` ignored when using softmax"):
        F.focal_loss(x, x, include_background=False, alpha=0.5, use_softmax=True)
