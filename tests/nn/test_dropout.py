"""Dropout: how often, by what factor, of what, and that a seed fixes it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.nn import functional as F

# Layer, function, and the shape of an input; the dimensions that are left out together.
KINDS: list[tuple[Any, Any, tuple[int, ...], tuple[int, ...]]] = [
    (nn.Dropout, F.dropout, (200, 50), ()),
    (nn.Dropout1d, F.dropout1d, (100, 100, 3), (2,)),
    (nn.Dropout1d, F.dropout1d, (10_000, 3), (1,)),
    (nn.Dropout2d, F.dropout2d, (100, 100, 2, 2), (2, 3)),
    (nn.Dropout3d, F.dropout3d, (100, 100, 2, 1, 2), (2, 3, 4)),
    (nn.Dropout3d, F.dropout3d, (10_000, 2, 1, 2), (1, 2, 3)),
    (nn.AlphaDropout, F.alpha_dropout, (200, 50), ()),
    (nn.FeatureAlphaDropout, F.feature_alpha_dropout, (100, 100, 3), (2,)),
]
IDS = [f"{kind[0].__name__}-{len(kind[2])}d" for kind in KINDS]
LOW = -1.7580993408473766
"""What selu goes to at minus infinity."""


@pytest.mark.parametrize(("layer", "function", "shape", "together"), KINDS, ids=IDS)
@pytest.mark.parametrize("p", [0.2, 0.7])
def test_shares(
    layer: Any, function: Any, shape: tuple[int, ...], together: tuple[int, ...], p: float
) -> None:
    pyburn.manual_seed(0)
    x = pyburn.full(shape, 2.0)
    out = layer(p)(x).numpy()
    if "Alpha" in layer.__name__:
        scale = 1 / math.sqrt((1 - p) * (1 + p * LOW**2))
        values = [(LOW - p * LOW) * scale, (2.0 - p * LOW) * scale]
    else:
        values = [0.0, 2.0 / (1 - p)]
    left = np.isclose(out, values[0], rtol=1e-5)
    assert (left | np.isclose(out, values[1], rtol=1e-5)).all()
    assert abs(left.mean() - p) < 0.02
    if together:
        groups = left.mean(together)
        assert set(np.unique(groups)) == {0.0, 1.0}
    pyburn.manual_seed(0)
    np.testing.assert_array_equal(function(x, p, True).numpy(), out)
    assert not np.array_equal(function(x, p, True).numpy(), out)


@pytest.mark.parametrize(("layer", "function", "shape", "together"), KINDS, ids=IDS)
def test_modes_and_limits(
    layer: Any, function: Any, shape: tuple[int, ...], together: tuple[int, ...]
) -> None:
    x = pyburn.randn(shape, requires_grad=True)
    assert layer(0.5).eval()(x).equal(x)
    assert function(x, 0.5, False).equal(x)
    assert layer(0.0)(x).equal(x)
    assert not layer(1.0)(x).any()
    layer(1.0)(x).sum().backward()
    assert x.grad is not None
    assert not x.grad.any()
    for wrong in (-0.1, 1.1):
        with pytest.raises(ValueError, match="probability has to be between 0 and 1"):
            layer(wrong)
        with pytest.raises(ValueError, match="probability has to be between 0 and 1"):
            function(x, wrong)
    assert repr(layer(0.25, True)) == f"{layer.__name__}(p=0.25, inplace=True)"


@pytest.mark.parametrize(("layer", "function", "shape", "together"), KINDS, ids=IDS)
def test_in_place_and_gradients(
    layer: Any, function: Any, shape: tuple[int, ...], together: tuple[int, ...]
) -> None:
    x = pyburn.randn(shape)
    for p in (0.3, 1.0):
        pyburn.manual_seed(1)
        expected = function(x, p, True)
        pyburn.manual_seed(1)
        target = x.clone()
        assert layer(p, inplace=True)(target) is target
        assert target.allclose(expected, atol=1e-6)
    leaf = x.clone().requires_grad_()
    pyburn.manual_seed(2)
    out = function(leaf, 0.3, True)
    out.sum().backward()
    # The slope is the same for all that is kept, and zero for all else.
    assert leaf.grad is not None
    slopes = leaf.grad.unique().numpy()
    assert len(slopes) == 2
    assert slopes[0] == 0
    kept = leaf.grad.numpy() > 0
    rest = out.detach().numpy() - leaf.detach().numpy() * leaf.grad.numpy()
    assert np.ptp(rest[kept]) < 1e-5
    assert np.ptp(rest[~kept]) < 1e-5


@pytest.mark.parametrize("function", [F.alpha_dropout, F.feature_alpha_dropout])
def test_moments_stay(function: Any) -> None:
    pyburn.manual_seed(0)
    out = function(pyburn.randn(400, 400), 0.3, True)
    assert abs(out.mean().item()) < 0.01
    assert abs(out.std().item() - 1) < 0.01


def test_ranks() -> None:
    for rank in (1, 4):
        with pytest.raises(RuntimeError, match=f"^dropout1d: .*{rank}D input"):
            F.dropout1d(pyburn.ones([2] * rank))
    with pytest.warns(UserWarning, match="channel-wise 1D dropout"):
        F.dropout2d(pyburn.ones(2, 2, 2))
    with pytest.warns(UserWarning, match="^dropout2d: Received a 2-D input"):
        F.dropout2d(pyburn.ones(2, 2))
    with pytest.warns(UserWarning, match="^dropout3d: Received a 3-D input"):
        F.dropout3d(pyburn.ones(2, 2, 2))
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        F.feature_alpha_dropout(pyburn.ones(2), 0.5, True)
    assert F.dropout(pyburn.ones(0, 3)).shape == (0, 3)
