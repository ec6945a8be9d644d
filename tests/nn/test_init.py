"""First values: the distributions they are drawn from, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.nn import init
from scipy import stats


def drawn(function: Any, *shape: int, seed: int = 0, **options: Any) -> np.ndarray:
    generator = pyburn.Generator().manual_seed(seed)
    tensor = pyburn.empty(shape, dtype=pyburn.float64)
    assert function(tensor, generator=generator, **options) is tensor
    return tensor.numpy().copy()


FAN_IN, FAN_OUT = 30 * 6, 50 * 6
"""Those of a convolution's weight of shape (50, 30, 2, 3)."""

LAWS = {
    "uniform_": (init.uniform_, {"a": -1.0, "b": 3.0}, stats.uniform(-1, 4)),
    "normal_": (init.normal_, {"mean": 2.0, "std": 3.0}, stats.norm(2, 3)),
    "trunc_normal_": (
        init.trunc_normal_,
        {"mean": 0.5, "std": 2.0, "a": -1.0, "b": 2.0},
        stats.truncnorm(-0.75, 0.75, 0.5, 2),
    ),
    "trunc_normal_ far out": (
        init.trunc_normal_,
        {"mean": 0.0, "std": 1.0, "a": 4.0, "b": 6.0},
        stats.truncnorm(4, 6),
    ),
    "xavier_uniform_": (
        init.xavier_uniform_,
        {"gain": 2.0},
        stats.uniform(-(b := 2 * math.sqrt(6 / (FAN_IN + FAN_OUT))), 2 * b),
    ),
    "xavier_normal_": (
        init.xavier_normal_,
        {},
        stats.norm(0, math.sqrt(2 / (FAN_IN + FAN_OUT))),
    ),
    "kaiming_uniform_": (
        init.kaiming_uniform_,
        {"a": 0.5},
        stats.uniform(-(b := math.sqrt(6 / 1.25 / FAN_IN)), 2 * b),
    ),
    "kaiming_normal_ out": (
        init.kaiming_normal_,
        {"mode": "fan_out", "nonlinearity": "relu"},
        stats.norm(0, math.sqrt(2 / FAN_OUT)),
    ),
    "kaiming_normal_ tanh": (
        init.kaiming_normal_,
        {"nonlinearity": "tanh"},
        stats.norm(0, 5 / 3 / math.sqrt(FAN_IN)),
    ),
}


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
@pytest.mark.parametrize("name", LAWS)
def test_laws(name: str) -> None:
    function, options, law = LAWS[name]
    values = drawn(function, 50, 30, 2, 3, **options).ravel()
    assert stats.kstest(values, law.cdf).pvalue > 1e-3
    again = drawn(function, 50, 30, 2, 3, **options).ravel()
    np.testing.assert_array_equal(values, again)
    assert not np.array_equal(values, drawn(function, 50, 30, 2, 3, seed=1, **options).ravel())


def test_constants() -> None:
    weight = nn.Parameter(pyburn.empty(2, 3))
    assert init.constant_(weight, 7).tolist() == [[7.0] * 3] * 2
    assert init.ones_(weight).tolist() == [[1.0] * 3] * 2
    assert init.zeros_(weight).tolist() == [[0.0] * 3] * 2
    assert init.eye_(weight).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert weight.requires_grad
    assert weight.is_leaf


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("kernel", [(3,), (3, 2), (2, 3, 3)])
def test_dirac(groups: int, kernel: tuple[int, ...]) -> None:
    weight = init.dirac_(pyburn.empty(6, 2, *kernel), groups).numpy()
    expected = np.zeros((6, 2, *kernel))
    for group in range(groups):
        for channel in range(2):
            middle = tuple(size // 2 for size in kernel)
            expected[(group * 6 // groups + channel, channel, *middle)] = 1
    np.testing.assert_array_equal(weight, expected)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (4, 2, 3), (6, 2, 2, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_orthogonal(shape: tuple[int, ...], dtype: str) -> None:
    weight = init.orthogonal_(pyburn.empty(shape, dtype=getattr(pyburn, dtype)), gain=2.0)
    flat = weight.double().reshape(shape[0], -1).numpy() / 2
    if flat.shape[0] > flat.shape[1]:
        flat = flat.T
    room = 2e-3 if dtype == "float16" else 1e-5
    np.testing.assert_allclose(flat @ flat.T, np.eye(flat.shape[0]), atol=room)


def test_orthogonal_is_drawn_without_preference() -> None:
    """The signs of a column are as often positive as negative."""
    generator = pyburn.Generator().manual_seed(0)
    signs = [init.orthogonal_(pyburn.empty(2, 2), generator=generator)[0, 0].item() > 0]
    signs += [
        init.orthogonal_(pyburn.empty(2, 2), generator=generator)[0, 0].item() > 0
        for _ in range(199)
    ]
    assert 70 < sum(signs) < 130
    assert init.orthogonal_(pyburn.empty(0, 3)).shape == (0, 3)


def test_sparse() -> None:
    generator = pyburn.Generator().manual_seed(0)
    weight = init.sparse_(pyburn.empty(20, 500), 0.33, std=0.5, generator=generator)
    assert (weight == 0).sum(0).tolist() == [7] * 500
    kept = weight[weight != 0].numpy()
    assert stats.kstest(kept, stats.norm(0, 0.5).cdf).pvalue > 1e-3
    # Every row has its turn.
    assert int((weight == 0).sum(1).min()) > 100


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv2d", None, 1),
        ("conv_transpose3d", None, 1),
        ("sigmoid", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", None, math.sqrt(2 / 1.0001)),
        ("leaky_relu", 1, 1),
        ("selu", None, 0.75),
    ],
)
def test_gains(name: Any, param: Any, gain: float) -> None:
    assert init.calculate_gain(name, param) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda: init.calculate_gain("swish"), "Unsupported nonlinearity swish"),
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid"),
        (lambda: init.xavier_uniform_(pyburn.ones(2)), "fewer than 2 dimensions, got shape"),
        (lambda: init.kaiming_normal_(pyburn.ones(2, 2), mode="in"), "Mode in not supported"),
        (lambda: init.eye_(pyburn.ones(2)), "only tensors with 2 dimensions"),
        (lambda: init.dirac_(pyburn.ones(2, 2)), "only tensors with 3, 4, or 5 dimensions"),
        (lambda: init.dirac_(pyburn.ones(3, 2, 1), 2), "divisible by groups, got 3 and 2"),
        (lambda: init.orthogonal_(pyburn.ones(2)), "2 or more dimensions"),
        (lambda: init.sparse_(pyburn.ones(2), 0.5), "only tensors with 2 dimensions"),
    ],
)
def test_wrong_use(act: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        act()


def test_warnings() -> None:
    with pytest.warns(UserWarning, match="zero-element tensors is a no-op"):
        init.kaiming_uniform_(pyburn.empty(0, 3))
    with pytest.warns(UserWarning, match="more than 2 std"):
        init.trunc_normal_(pyburn.empty(3), mean=10.0)


def test_the_default_generator_is_seeded() -> None:
    pyburn.manual_seed(3)
    one = nn.Linear(4, 4).weight
    pyburn.manual_seed(3)
    assert nn.Linear(4, 4).weight.equal(one)
