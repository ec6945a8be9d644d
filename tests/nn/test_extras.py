"""Layers of burn that PyTorch does not have."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck
from pyburn.nn import functional as F


def test_swiglu() -> None:
    layer = nn.SwiGLU(3, 4, bias=True)
    x = pyburn.randn(2, 5, 3)
    inner, outer = layer.linear_inner(x), layer.linear_outer(x)
    assert layer(x).allclose(inner * inner.sigmoid() * outer, atol=1e-6)
    assert list(nn.SwiGLU(3, 4).state_dict()) == ["linear_inner.weight", "linear_outer.weight"]
    assert nn.SwiGlu is nn.SwiGLU


def test_gaussian_noise() -> None:
    pyburn.manual_seed(0)
    layer = nn.GaussianNoise(0.5)
    x = pyburn.ones(20_000, requires_grad=True)
    out = layer(x)
    assert abs(out.mean().item() - 1) < 0.02
    assert abs(out.std().item() - 0.5) < 0.02
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.equal(pyburn.ones(20_000))
    pyburn.manual_seed(0)
    assert layer(x).equal(out)
    assert layer.eval()(x) is x
    assert repr(layer) == "GaussianNoise(std=0.5)"
    with pytest.raises(ValueError, match="^GaussianNoise: expected a standard deviation"):
        nn.GaussianNoise(-1)


def sinusoids(length: int, size: int, scale: float = 10_000.0) -> np.ndarray:
    angles = np.arange(length)[:, None] / scale ** (np.arange(0, size, 2) / size)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, size)


def test_positional_encoding() -> None:
    np.testing.assert_allclose(nn.generate_sinusoids(12, 6).numpy(), sinusoids(12, 6), atol=1e-6)
    layer = nn.PositionalEncoding(6, 20, 100.0, dtype=pyburn.float64)
    x = pyburn.randn(2, 12, 6, dtype=pyburn.float64)
    expected = x.numpy() + sinusoids(12, 6, 100.0)
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-12)
    assert not layer.state_dict()
    for wrong in (pyburn.ones(1, 21, 6), pyburn.ones(1, 3, 4), pyburn.ones(3, 6)):
        with pytest.raises(RuntimeError, match="^PositionalEncoding: expected"):
            layer(wrong)
    with pytest.raises(ValueError, match="even"):
        nn.PositionalEncoding(5)


def test_rotary_encoding() -> None:
    # As burn's documentation of its layer has it.
    layer = nn.RotaryEncoding(10, 4)
    x = pyburn.tensor([[[1.0, 2, 3, 4], [5, 6, 7, 8]], [[9, 10, 11, 12], [13, 14, 15, 16]]])
    expected = [
        [[1.0, 2.0, 3.0, 4.0], [-2.3473, 7.4492, 6.9197, 8.0696]],
        [[9.0, 10.0, 11.0, 12.0], [-4.7567, 18.5034, 14.8393, 16.1492]],
    ]
    np.testing.assert_allclose(layer(x).numpy(), expected, atol=1e-4)
    # What is later is turned further, and lengths stay.
    long = pyburn.randn(2, 3, 8, 4)
    assert layer(long)[:, :, 3:5].allclose(layer(long[:, :, 3:5], start=3), atol=1e-6)
    assert layer(long).norm(dim=-1).allclose(long.norm(dim=-1), rtol=1e-5)
    # Products depend on the distance of places only.
    q, k = (pyburn.randn(4).expand(10, 4) for _ in range(2))
    scores = layer(q) @ layer(k).T
    assert scores.diagonal(2).allclose(scores[0, 2].expand(8), atol=1e-5)
    assert gradcheck(
        layer.double(), (pyburn.randn(3, 4, dtype=pyburn.float64, requires_grad=True),)
    )


def test_rotary_windows() -> None:
    wide, layer = nn.RotaryEncoding(30, 6), nn.RotaryEncoding(10, 6)
    x = pyburn.randn(10, 6)
    for start in (3, 5, 18):
        layer.shift(start)
        assert layer(x).allclose(wide(x, start=start), atol=1e-5)
    with pytest.raises(ValueError, match="expected a start after 18, got 18"):
        layer.shift(18)
    layer.reset()
    assert layer(x).allclose(wide(x), atol=1e-6)
    slow = nn.RotaryEncoding(10, 6, scaling=lambda frequencies: frequencies / 2)
    assert slow(x)[4].allclose(wide(x[4:5], start=2)[0], atol=1e-5)
    assert not layer.state_dict()
    for wrong in (pyburn.ones(11, 6), pyburn.ones(3, 4), pyburn.ones(6)):
        with pytest.raises(RuntimeError, match="^RotaryEncoding: expected"):
            layer(wrong)
    with pytest.raises(ValueError, match="even"):
        nn.RotaryEncoding(3, 5)
    with pytest.raises(ValueError, match="positive base"):
        nn.RotaryEncoding(3, 4, theta=0.0)


def test_position_wise_feed_forward() -> None:
    layer = nn.PositionWiseFeedForward(4, 8, dropout=0.5).eval()
    x = pyburn.randn(2, 3, 4)
    assert layer(x).allclose(layer.linear_outer(F.gelu(layer.linear_inner(x))), atol=1e-6)
    other = nn.PositionWiseFeedForward(4, 8, activation=nn.SwiGLU(8, 8)).eval()
    assert other(x).shape == (2, 3, 4)
    assert "activation.linear_inner.weight" in other.state_dict()
    assert not layer.train()(x).equal(layer(x))


def test_gate_controller() -> None:
    layer = nn.GateController(3, 2, initializer=nn.init.ones_)
    x, hidden = pyburn.randn(4, 3), pyburn.randn(4, 2)
    assert layer.input_transform.bias is not None
    assert layer.hidden_transform.bias is not None
    bias = layer.input_transform.bias + layer.hidden_transform.bias
    expected = x.sum(1, keepdim=True) + hidden.sum(1, keepdim=True) + bias
    assert layer(x, hidden).allclose(expected, atol=1e-5)
    assert layer.gate_product(x, hidden).equal(layer(x, hidden))
    assert len(nn.GateController(3, 2, bias=False).state_dict()) == 2


def test_copies_and_pickles() -> None:
    x = pyburn.randn(2, 4, 6)
    for layer in (
        nn.RotaryEncoding(10, 6),
        nn.PositionalEncoding(6),
        nn.SwiGLU(6, 3),
        nn.PositionWiseFeedForward(6, 12).eval(),
        nn.Shrink(),
        nn.ThresholdedReLU(),
    ):
        for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            assert twin(x).equal(layer(x))
