"""Linear layers, and those that only change the shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F


def doubles(*shape: int) -> pyburn.Tensor:
    return pyburn.randn(*shape, dtype=pyburn.float64, requires_grad=True)


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3), (0, 3), (2, 0, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(shape: tuple[int, ...], bias: bool) -> None:
    layer = nn.Linear(3, 4, bias=bias)
    x = pyburn.randn(shape)
    expected = x.numpy() @ layer.weight.detach().numpy().T
    if layer.bias is not None:
        expected = expected + layer.bias.detach().numpy()
    out = layer(x)
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    assert out.equal(F.linear(x, layer.weight, layer.bias))


def test_gradients_of_linear() -> None:
    assert gradcheck(F.linear, (doubles(2, 5, 3), doubles(4, 3), doubles(4)))
    assert gradgradcheck(F.linear, (doubles(2, 3), doubles(4, 3), doubles(4)))
    assert gradcheck(F.linear, (doubles(5, 3), doubles(3)))


def test_linear_attributes() -> None:
    layer = nn.Linear(3, 2)
    assert (layer.in_features, layer.out_features) == (3, 2)
    assert layer.weight.shape == (2, 3)
    assert layer.bias is not None
    assert layer.bias.shape == (2,)
    assert repr(layer) == "Linear(in_features=3, out_features=2, bias=True)"
    bare = nn.Linear(3, 2, bias=False)
    assert bare.bias is None
    assert list(bare.state_dict()) == ["weight"]
    made = nn.Linear(3, 2, device="meta", dtype=pyburn.float64)
    assert made.weight.is_meta
    assert made.weight.dtype == pyburn.float64
    assert nn.Linear(0, 3).weight.shape == (3, 0)
    assert nn.Linear(3, 0)(pyburn.ones(2, 3)).shape == (2, 0)


@pytest.mark.parametrize(
    ("make", "bound"),
    [
        (lambda: nn.Linear(100, 200), 0.1),
        (lambda: nn.Bilinear(100, 5, 40), 0.1),
    ],
)
def test_first_values(make: Any, bound: float) -> None:
    pyburn.manual_seed(0)
    layer = make()
    for parameter in layer.parameters():
        assert parameter.abs().max().item() <= bound
        assert parameter.abs().max().item() > 0.9 * bound
    assert abs(layer.weight.std().item() - bound / math.sqrt(3)) < 0.01 * bound
    before = layer.weight.clone()
    layer.reset_parameters()
    assert not layer.weight.equal(before)


def test_linear_refuses_other_sizes() -> None:
    with pytest.raises(RuntimeError, match=r"^linear: .*2.*3"):
        nn.Linear(3, 2)(pyburn.ones(5, 2))


def test_bilinear() -> None:
    x, y = pyburn.randn(2, 5, 3), pyburn.randn(2, 5, 4)
    layer = nn.Bilinear(3, 4, 6)
    assert layer.bias is not None
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = np.einsum("abi,kij,abj->abk", x.numpy(), weight, y.numpy()) + bias
    np.testing.assert_allclose(layer(x, y).detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert layer(x[0, 0], y[0, 0]).shape == (6,)
    assert repr(layer) == "Bilinear(in1_features=3, in2_features=4, out_features=6, bias=True)"
    assert nn.Bilinear(3, 4, 6, bias=False).bias is None
    assert gradcheck(F.bilinear, (doubles(5, 2), doubles(5, 3), doubles(4, 2, 3), doubles(4)))
    with pytest.raises(RuntimeError, match="agree in all but the last dimension"):
        layer(x, y[:1])
    with pytest.raises(RuntimeError, match="input2 has 3 features, .* expects 4"):
        layer(x, x)
    with pytest.raises(RuntimeError, match="weight of 3 dimensions"):
        F.bilinear(x, y, pyburn.ones(3, 4))
    with pytest.raises(ValueError, match="in1_features must be > 0, but got 0"):
        nn.Bilinear(0, 1, 1)


def test_identity() -> None:
    x = pyburn.ones(2)
    assert nn.Identity(3, anything=4)(x) is x


def test_flatten_and_unflatten() -> None:
    x = pyburn.arange(24).reshape(2, 3, 4)
    assert nn.Flatten()(x).shape == (2, 12)
    assert nn.Flatten(0, 1)(x).shape == (6, 4)
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert nn.Unflatten(1, (3, 4))(nn.Flatten()(x)).equal(x)
    assert nn.Unflatten(-1, [2, -1])(x).shape == (2, 3, 2, 2)
    assert repr(nn.Unflatten(1, (3, 4))) == "Unflatten(dim=1, unflattened_size=(3, 4))"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1, 3), TypeError, "must be a tuple of ints, but found type int"),
        ((1, (2, "a")), TypeError, "element of type str at pos 1"),
        ((1.5, (2, 2)), TypeError, "expected dim to be an int, got float"),
        (("a", (2, 2)), NotImplementedError, "dimensions have no names"),
    ],
)
def test_wrong_unflatten(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        nn.Unflatten(*arguments)
