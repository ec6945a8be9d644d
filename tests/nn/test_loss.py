"""Losses, as functions and as layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F
from scipy import special

REDUCTIONS = ["none", "mean", "sum"]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def shares(*shape: int, seed: int = 0) -> np.ndarray:
    return special.expit(numbers(*shape, seed=seed))


def reduced(loss: np.ndarray, reduction: str) -> Any:
    return {"none": lambda x: x, "mean": np.mean, "sum": np.sum}[reduction](loss)


def signs(*shape: int, seed: int = 0) -> np.ndarray:
    return np.sign(numbers(*shape, seed=seed))


def smooth(far: np.ndarray, beta: float) -> np.ndarray:
    return np.where(far < beta, far**2 / (2 * beta), far - beta / 2)


def stirling(t: np.ndarray) -> np.ndarray:
    more = t * np.log(t) - t + 0.5 * np.log(2 * np.pi * t)
    return np.where(t > 1, more, 0)


def cosine(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x * y).sum(-1) / np.sqrt(((x**2).sum(-1) + 1e-12) * ((y**2).sum(-1) + 1e-12))


def triplet(a: np.ndarray, p: np.ndarray, n: np.ndarray, swap: bool) -> np.ndarray:
    near, apart = (np.linalg.norm(a - other + 1e-6, axis=-1) for other in (p, n))
    if swap:
        apart = np.minimum(apart, np.linalg.norm(p - n + 1e-6, axis=-1))
    return np.maximum(near - apart + 2.0, 0)


def ranks(x: np.ndarray, t: np.ndarray, p: int, margin: float, weight: np.ndarray) -> np.ndarray:
    rows = np.arange(len(x))
    terms = np.maximum(margin - x[rows, t][:, None] + x, 0) ** p * weight[t][:, None]
    terms[rows, t] = 0
    return terms.sum(1) / x.shape[1]


Case = tuple[str, Any, Any, list[np.ndarray], Callable[..., np.ndarray], int]
"""Name, function, layer, inputs, reference, and how many inputs have gradients."""

X, Y, W = numbers(3, 4), numbers(3, 4, seed=1), shares(3, 4, seed=2)
P, Q = shares(3, 4), shares(3, 4, seed=1)
CLASSES = np.array([1, 3, 0])

CASES: list[Case] = [
    ("l1", F.l1_loss, nn.L1Loss, [X, Y], lambda x, y: abs(x - y), 2),
    ("mse", F.mse_loss, nn.MSELoss, [X, Y], lambda x, y: (x - y) ** 2, 2),
    (
        "lp",
        lambda *a, **k: F.lp_loss(*a, p=3.0, **k),
        lambda **k: nn.LpLoss(3.0, **k),
        [X, Y],
        lambda x, y: abs(x - y) ** 3,
        2,
    ),
    (
        "smooth l1",
        lambda *a, **k: F.smooth_l1_loss(*a, beta=0.7, **k),
        lambda **k: nn.SmoothL1Loss(beta=0.7, **k),
        [X, Y],
        lambda x, y: smooth(abs(x - y), 0.7),
        2,
    ),
    (
        "huber",
        lambda *a, **k: F.huber_loss(*a, delta=0.7, **k),
        lambda **k: nn.HuberLoss(delta=0.7, **k),
        [X, Y],
        lambda x, y: 0.7 * smooth(abs(x - y), 0.7),
        2,
    ),
    (
        "bce",
        F.binary_cross_entropy,
        nn.BCELoss,
        [P, Q],
        lambda p, q: -q * np.log(p) - (1 - q) * np.log(1 - p),
        2,
    ),
    (
        "bce with logits",
        F.binary_cross_entropy_with_logits,
        nn.BCEWithLogitsLoss,
        [X, Q],
        lambda x, q: np.log1p(np.exp(-abs(x))) + np.maximum(x, 0) - x * q,
        2,
    ),
    (
        "bce with logits and weights",
        lambda *a, **k: F.binary_cross_entropy_with_logits(
            *a, weight=pyburn.tensor(W), pos_weight=pyburn.tensor(W[0]), **k
        ),
        lambda **k: nn.BCEWithLogitsLoss(pyburn.tensor(W), pos_weight=pyburn.tensor(W[0]), **k),
        [X, Q],
        lambda x, q: (
            -W * (W[0] * q * np.log(special.expit(x)) + (1 - q) * np.log(special.expit(-x)))
        ),
        2,
    ),
    (
        "kl of logs",
        lambda *a, **k: F.kl_div(*a, log_target=True, **k),
        lambda **k: nn.KLDivLoss(log_target=True, **k),
        [np.log(P), np.log(Q)],
        lambda p, q: np.exp(q) * (q - p),
        2,
    ),
    ("kl", F.kl_div, nn.KLDivLoss, [np.log(P), Q], lambda p, q: q * (np.log(q) - p), 1),
    (
        "poisson",
        lambda *a, **k: F.poisson_nll_loss(*a, full=True, **k),
        lambda **k: nn.PoissonNLLLoss(full=True, **k),
        [X, 3 * Q],
        lambda x, t: np.exp(x) - t * x + stirling(t),
        1,
    ),
    (
        "poisson of counts",
        lambda *a, **k: F.poisson_nll_loss(*a, log_input=False, **k),
        lambda **k: nn.PoissonNLLLoss(log_input=False, **k),
        [P, 3 * Q],
        lambda x, t: x - t * np.log(x + 1e-8),
        2,
    ),
    (
        "gaussian",
        lambda *a, **k: F.gaussian_nll_loss(*a, full=True, **k),
        lambda **k: nn.GaussianNLLLoss(full=True, **k),
        [X, Y, W],
        lambda x, t, v: 0.5 * (np.log(v) + (x - t) ** 2 / v + math.log(2 * math.pi)),
        3,
    ),
    (
        "hinge embedding",
        F.hinge_embedding_loss,
        nn.HingeEmbeddingLoss,
        [X, signs(3, 4)],
        lambda x, t: np.where(t == 1, x, np.maximum(1 - x, 0)),
        1,
    ),
    (
        "soft margin",
        F.soft_margin_loss,
        nn.SoftMarginLoss,
        [X, signs(3, 4, seed=4)],
        lambda x, t: np.log1p(np.exp(-x * t)),
        1,
    ),
    (
        "cosine embedding",
        lambda *a, **k: F.cosine_embedding_loss(*a, margin=0.1, **k),
        lambda **k: nn.CosineEmbeddingLoss(0.1, **k),
        [X, Y, np.array([1.0, -1.0, 1.0])],
        lambda x, y, t: np.where(t == 1, 1 - cosine(x, y), np.maximum(cosine(x, y) - 0.1, 0)),
        2,
    ),
    (
        "margin ranking",
        lambda *a, **k: F.margin_ranking_loss(*a, margin=0.3, **k),
        lambda **k: nn.MarginRankingLoss(0.3, **k),
        [X, Y, signs(3, 4)],
        lambda x, y, t: np.maximum(0.3 - t * (x - y), 0),
        2,
    ),
    *[
        (
            f"triplet margin, swap={swap}",
            lambda *a, swap=swap, **k: F.triplet_margin_loss(*a, margin=2.0, swap=swap, **k),
            lambda swap=swap, **k: nn.TripletMarginLoss(2.0, swap=swap, **k),
            [X, Y, W],
            lambda a, p, n, swap=swap: triplet(a, p, n, swap),
            3,
        )
        for swap in (False, True)
    ],
    (
        "triplet margin with distance",
        lambda *a, **k: F.triplet_margin_with_distance_loss(*a, margin=2.0, **k),
        lambda **k: nn.TripletMarginWithDistanceLoss(margin=2.0, **k),
        [X, Y, W],
        lambda a, p, n: triplet(a, p, n, False),
        3,
    ),
    *[
        (
            f"multi margin, p={p}",
            lambda *a, p=p, **k: F.multi_margin_loss(
                *a, p=p, margin=0.7, weight=pyburn.tensor(W[0]), **k
            ),
            lambda p=p, **k: nn.MultiMarginLoss(p, 0.7, pyburn.tensor(W[0]), **k),
            [X, CLASSES],
            lambda x, t, p=p: ranks(x, t, p, 0.7, W[0]),
            1,
        )
        for p in (1, 2)
    ],
    (
        "multi-label soft margin",
        F.multilabel_soft_margin_loss,
        nn.MultiLabelSoftMarginLoss,
        [X, Q],
        lambda x, q: (np.log1p(np.exp(-abs(x))) + np.maximum(x, 0) - x * q).mean(-1),
        2,
    ),
]
IDS = [case[0] for case in CASES]


@pytest.mark.filterwarnings("ignore:kl_div")
@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_values(case: Case, reduction: str) -> None:
    _, function, layer, inputs, reference, _ = case
    expected = reduced(reference(*inputs), reduction)
    given = [pyburn.tensor(data) for data in inputs]
    out = function(*given, reduction=reduction)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-10, atol=1e-12)
    assert layer(reduction=reduction)(*given).equal(out)


@pytest.mark.filterwarnings("ignore:kl_div")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_gradients(case: Case) -> None:
    _, function, _, inputs, _, count = case
    tensors = [pyburn.tensor(data) for data in inputs]
    leaves = tuple(tensor.requires_grad_() for tensor in tensors[:count])

    def run(*leaves: pyburn.Tensor) -> pyburn.Tensor:
        return function(*leaves, *tensors[count:], reduction="none")

    assert gradcheck(run, leaves)
    assert gradgradcheck(run, leaves)


@pytest.mark.filterwarnings("ignore:kl_div")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_reductions(case: Case) -> None:
    _, function, _, inputs, _, _ = case
    given = [pyburn.tensor(data) for data in inputs]
    assert function(*given).equal(function(*given, reduction="mean"))
    with pytest.raises(ValueError, match="expected reduction to be one of"):
        function(*given, reduction="average")


def cross(
    x: np.ndarray, t: np.ndarray, weight: np.ndarray, ignored: int, smoothing: float
) -> tuple[np.ndarray, np.ndarray]:
    """The loss and the weight of each lane; classes are along the second dimension."""
    logs = np.moveaxis(special.log_softmax(x, 1), 1, -1)
    index = np.where(t == ignored, 0, t)
    own = np.where(t == ignored, 0, weight[index])
    right = np.take_along_axis(logs, index[..., None], -1)[..., 0]
    spread = (logs * weight).sum(-1) * (t != ignored)
    return -(1 - smoothing) * own * right - smoothing / x.shape[1] * spread, own


@pytest.mark.parametrize("shape", [(6, 5), (3, 5, 4), (2, 5, 3, 2), (2, 5, 70), (40, 300)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy(shape: tuple[int, ...], weighted: bool, smoothing: float) -> None:
    x, count = 2 * numbers(*shape), shape[1]
    t = np.random.default_rng(1).integers(0, count, shape[:1] + shape[2:])
    t.flat[::3] = -100
    weight = shares(count, seed=2) if weighted else np.ones(count)
    given = pyburn.tensor(weight) if weighted else None
    losses, own = cross(x, t, weight, -100, smoothing)
    expected = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / own.sum()}
    for reduction in REDUCTIONS:
        layer = nn.CrossEntropyLoss(given, reduction=reduction, label_smoothing=smoothing)
        out = layer(pyburn.tensor(x), pyburn.tensor(t))
        np.testing.assert_allclose(out.numpy(), expected[reduction], rtol=1e-10, atol=1e-12)
        narrow = F.cross_entropy(
            pyburn.tensor(x, dtype=pyburn.float32),
            pyburn.tensor(t),
            None if given is None else given.float(),
            reduction=reduction,
            label_smoothing=smoothing,
        )
        np.testing.assert_allclose(narrow.numpy(), expected[reduction], rtol=1e-5, atol=1e-5)
        if not smoothing:
            logs = pyburn.tensor(x).log_softmax(1)
            out = nn.NLLLoss(given, reduction=reduction)(logs, pyburn.tensor(t))
            np.testing.assert_allclose(out.numpy(), expected[reduction], rtol=1e-10, atol=1e-12)
    if x.size < 100:
        leaf, target = pyburn.tensor(x, requires_grad=True), pyburn.tensor(t)
        for run in (
            lambda x: F.cross_entropy(x, target, given, label_smoothing=smoothing),
            lambda x: F.nll_loss(x, target, given),
        ):
            assert gradcheck(run, (leaf,))
            assert gradgradcheck(run, (leaf,))


def test_cross_entropy_of_one_sample_and_of_shares() -> None:
    x, weight = numbers(5), shares(5, seed=3)
    logs = special.log_softmax(x)
    tensor = pyburn.tensor(x)
    np.testing.assert_allclose(F.cross_entropy(tensor, pyburn.tensor(2)).item(), -logs[2])
    np.testing.assert_allclose(F.nll_loss(tensor, pyburn.tensor(2)).item(), -x[2])
    for shape in ((5,), (4, 5), (2, 5, 3)):
        x, t = numbers(*shape), shares(*shape, seed=1)
        dim = min(1, len(shape) - 1)
        column = weight.reshape((-1,) + (1,) * (len(shape) - 1 - dim))
        smoothed = 0.7 * t + 0.3 / 5
        losses = -(special.log_softmax(x, dim) * smoothed * column).sum(dim)
        given = [pyburn.tensor(x), pyburn.tensor(t), pyburn.tensor(weight)]
        for reduction in REDUCTIONS:
            out = F.cross_entropy(*given, reduction=reduction, label_smoothing=0.3)
            np.testing.assert_allclose(out.numpy(), reduced(losses, reduction), rtol=1e-10)
        leaves = tuple(tensor.requires_grad_() for tensor in given[:2])
        assert gradgradcheck(lambda x, t: F.cross_entropy(x, t), leaves)


def test_cross_entropy_refuses() -> None:
    x = pyburn.randn(3, 4)
    for function in (F.cross_entropy, F.nll_loss):
        for wrong in (4, -1):
            with pytest.raises(IndexError, match=rf"targets from 0 to 3 .*, got {wrong}"):
                function(x, pyburn.tensor([0, 1, wrong]))
        with pytest.raises((RuntimeError, ValueError), match="expected a target of shape"):
            function(x, pyburn.tensor([0, 1]))
        with pytest.raises(RuntimeError, match="class indices"):
            function(x, pyburn.tensor([0.0, 1.0, 2.0]))
        with pytest.raises(RuntimeError, match="weight"):
            function(x, pyburn.tensor([0, 1, 2]), pyburn.ones(3))
    with pytest.raises(RuntimeError, match="Expected floating point type"):
        F.cross_entropy(x, pyburn.zeros(3, 4, dtype=pyburn.int64))
    with pytest.raises(RuntimeError, match="label_smoothing must be between"):
        F.cross_entropy(x, pyburn.tensor([0, 1, 2]), label_smoothing=1.5)
    with pytest.raises(RuntimeError, match="ignore_index is not supported"):
        F.cross_entropy(x, x, ignore_index=1)
    weight = pyburn.ones(4, requires_grad=True)
    leaf = pyburn.randn(3, 4, requires_grad=True)
    with pytest.raises(NotImplementedError, match="derivative by 'weight'"):
        F.cross_entropy(leaf, pyburn.tensor([0, 1, 2]), weight).backward()
    all_ignored = F.cross_entropy(x, pyburn.full((3,), -100))
    assert math.isnan(all_ignored.item())


def test_saturated_probabilities() -> None:
    x = pyburn.tensor([0.0, 1.0, 0.0, 1.0], dtype=pyburn.float64, requires_grad=True)
    loss = F.binary_cross_entropy(x, pyburn.tensor([0.0, 1.0, 1.0, 0.0]).double(), reduction="none")
    assert loss.tolist() == [0.0, 0.0, 100.0, 100.0]
    loss.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 0.0, -1e12, 1e12], rtol=1e-9)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(RuntimeError, match="^binary_cross_entropy: all elements"):
            F.binary_cross_entropy(pyburn.tensor([wrong]), pyburn.ones(1))
    logits = pyburn.tensor([1e4, -1e4])
    loss = F.binary_cross_entropy_with_logits(logits, pyburn.tensor([0.0, 1.0]))
    assert loss.item() == 1e4


def test_weights_of_elements() -> None:
    x, y, w = (pyburn.tensor(data) for data in (X, Y, W))
    for function, share in ((F.l1_loss, True), (F.mse_loss, True), (F.huber_loss, False)):
        losses = function(x, y, reduction="none").numpy() * W
        assert function(x, y, weight=w, reduction="sum").item() == pytest.approx(losses.sum())
        expected = losses.sum() / (W.sum() if share else W.size)
        assert function(x, y, weight=w).item() == pytest.approx(expected)
        with pytest.raises(ValueError, match="same size"):
            function(x, y, weight=w[0])
    losses = F.binary_cross_entropy(pyburn.tensor(P), pyburn.tensor(Q), reduction="none")
    weighted = nn.BCELoss(w[0], reduction="none")(pyburn.tensor(P), pyburn.tensor(Q))
    assert weighted.allclose(losses * w[0])


def test_older_arguments_and_sizes() -> None:
    x, y = pyburn.tensor(X), pyburn.tensor(Y)
    for kwargs, reduction in (
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"size_average": True, "reduce": True}, "mean"),
    ):
        with pytest.warns(UserWarning, match=f"reduction='{reduction}'"):
            assert F.mse_loss(x, y, **kwargs).equal(F.mse_loss(x, y, reduction=reduction))
        with pytest.warns(UserWarning, match=f"reduction='{reduction}'"):
            assert nn.MSELoss(**kwargs).reduction == reduction
    with pytest.warns(UserWarning, match="^mse_loss: Using a target size"):
        assert F.mse_loss(x, y[0]).item() == pytest.approx(((X - Y[0]) ** 2).mean())
    with pytest.raises(ValueError, match="Using a target size"):
        F.binary_cross_entropy(pyburn.tensor(P), pyburn.tensor(Q[0]))
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy_with_logits(x, y[0])
    with pytest.raises(RuntimeError, match="not implemented for int64"):
        F.mse_loss(pyburn.tensor([1]), pyburn.tensor([2]))


def test_divergence_by_samples() -> None:
    p, q = pyburn.tensor(np.log(P)), pyburn.tensor(Q)
    total = (Q * (np.log(Q) - np.log(P))).sum()
    assert F.kl_div(p, q, reduction="batchmean").item() == pytest.approx(total / 3)
    assert nn.KLDivLoss(reduction="batchmean")(p, q).item() == pytest.approx(total / 3)
    with pytest.warns(UserWarning, match="'mean' divides the total loss"):
        assert F.kl_div(p, q).item() == pytest.approx(total / 12)
    assert F.kl_div(p, pyburn.zeros(3, 4), reduction="sum").item() == 0.0


def test_variances() -> None:
    x, y = pyburn.tensor(X), pyburn.tensor(Y)
    for var in (W[:, :1], W[:, 0]):
        expected = 0.5 * (np.log(W[:, :1]) + (X - Y) ** 2 / W[:, :1])
        out = F.gaussian_nll_loss(x, y, pyburn.tensor(var), reduction="none")
        np.testing.assert_allclose(out.numpy(), expected)
    assert F.gaussian_nll_loss(x, y, 2.0).item() == pytest.approx(
        0.5 * (math.log(2) + (X - Y) ** 2 / 2).mean()
    )
    small = pyburn.full((3, 4), 1e-9, dtype=pyburn.float64, requires_grad=True)
    F.gaussian_nll_loss(x, x, small, eps=1e-3, reduction="sum").backward()
    assert small.grad is not None
    np.testing.assert_allclose(small.grad.numpy(), 0.5 / 1e-3)
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(x, y, -pyburn.ones(3, 4))
    with pytest.raises(ValueError, match="incorrect size"):
        F.gaussian_nll_loss(x, y, pyburn.ones(2, 4))


def test_labels_apart() -> None:
    x = numbers(4, 6)
    target = np.array([[3, 0, -1, 1, 1, 1], [-1] * 6, [5, 4, 3, 2, 1, 0], [2, -1, 0, 0, 0, 0]])
    expected = []
    for row, labels in zip(x, target, strict=True):
        own = labels[: np.argmax(labels < 0)] if (labels < 0).any() else labels
        others = np.setdiff1d(np.arange(6), own)
        expected.append(sum(max(0, 1 - row[j] + row[i]) for j in own for i in others) / 6)
    leaf = pyburn.tensor(x, requires_grad=True)
    loss = nn.MultiLabelMarginLoss(reduction="none")
    np.testing.assert_allclose(loss(leaf, pyburn.tensor(target)).detach().numpy(), expected)
    alone = F.multilabel_margin_loss(leaf[0], pyburn.tensor(target[0]), reduction="none")
    np.testing.assert_allclose(alone.item(), expected[0])
    assert gradcheck(lambda x: F.multilabel_margin_loss(x, pyburn.tensor(target)), (leaf,))


def test_margins_refuse() -> None:
    x = pyburn.randn(3, 4)
    with pytest.raises(ValueError, match="margin to be greater than 0"):
        nn.TripletMarginLoss(margin=0)
    with pytest.raises(ValueError, match="margin must be greater than 0"):
        F.triplet_margin_loss(x, x, x, margin=-1.0)
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        F.triplet_margin_loss(x, x[0], x)
    with pytest.raises(ValueError, match="only p == 1 and p == 2"):
        nn.MultiMarginLoss(p=3)
    with pytest.raises(RuntimeError, match="inconsistent target size"):
        F.multi_margin_loss(x, pyburn.tensor([1]))
    with pytest.raises(RuntimeError, match="same dimension"):
        F.margin_ranking_loss(x, x[0], x)
    with pytest.raises(RuntimeError, match="expects 2D input"):
        F.cosine_embedding_loss(x[0], x[0], pyburn.ones(1))
    with pytest.raises(ValueError, match="positive p"):
        nn.LpLoss(0)
    with pytest.raises(RuntimeError, match="non-positive values for delta"):
        F.huber_loss(x, x, delta=0.0)
    with pytest.raises(RuntimeError, match="negative values for beta"):
        F.smooth_l1_loss(x, x, beta=-1.0)
    assert F.smooth_l1_loss(x, x + 1, beta=0.0).item() == pytest.approx(1.0)


def test_the_module_of_losses() -> None:
    from pyburn.nn import loss, modules

    assert loss.MSELoss is nn.MSELoss
    assert issubclass(nn.MSELoss, modules.loss._Loss)  # type: ignore[attr-defined]
    assert list(nn.CrossEntropyLoss(pyburn.ones(2)).state_dict()) == ["weight"]
