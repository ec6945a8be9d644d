"""Generalised divisive normalisation: numbers of CompressAI, the bound's gradient, loading.

The golden numbers were computed with PyTorch 2.15 from CompressAI's definition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F

X = np.array([1.0, -2.0, 2.0, 0.5], np.float32).reshape(1, 2, 1, 2)
RAW_BETA, RAW_GAMMA = [0.0001, 1.5], [[0.5, -0.3], [0.2, 0.7]]
KEYS = [
    "beta",
    "gamma",
    "beta_reparam.pedestal",
    "beta_reparam.lower_bound.bound",
    "gamma_reparam.pedestal",
    "gamma_reparam.lower_bound.bound",
]


def asymmetric(**kwargs: Any) -> nn.GDN:
    layer = nn.GDN(2)
    layer.load_weights(
        pyburn.tensor(RAW_BETA), pyburn.tensor(RAW_GAMMA), reparametrized=True, **kwargs
    )
    return layer


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: nn.GDN(2), [0.9534626, -1.6903085, 1.6903085, 0.4938648]),
        (lambda: nn.GDN(2, inverse=True), [1.0488089, -2.3664320, 2.3664320, 0.5062114]),
        (lambda: nn.GDN1(2), [0.9090909, -1.6666666, 1.6666666, 0.4761905]),
        (lambda: nn.GDN1(2, inverse=True), [1.1, -2.4, 2.4, 0.525]),
        (
            lambda: nn.GDN(2, parametrization="simplified"),
            [0.9090909, -1.6666666, 1.6666666, 0.4761905],
        ),
        (asymmetric, [1.9999959, -1.9999990, 0.9701425, 0.3141921]),
        (
            lambda: asymmetric(transposed=True),
            [1.5617357, -1.9900733, 0.9747404, 0.3246137],
        ),
    ],
)
def test_golden_values(make: Any, expected: list[float]) -> None:
    out = make()(pyburn.tensor(X))
    assert out.shape == X.shape
    np.testing.assert_allclose(out.detach().numpy().reshape(-1), expected, rtol=3e-7)


def test_first_state() -> None:
    state = {name: tensor.numpy() for name, tensor in nn.GDN(2).state_dict().items()}
    assert list(state) == KEYS
    off = 3.8146973e-6
    expected = {
        "beta": [1.0, 1.0],
        "gamma": [[0.31622776, off], [off, 0.31622776]],
        "beta_reparam.pedestal": [1.4551915e-11],
        "beta_reparam.lower_bound.bound": [0.0010000073],
        "gamma_reparam.pedestal": [1.4551915e-11],
        "gamma_reparam.lower_bound.bound": [off],
    }
    for name, value in expected.items():
        np.testing.assert_allclose(state[name], value, rtol=3e-7, err_msg=name)
    assert [name for name, _ in nn.GDN(2).named_parameters()] == KEYS[:2]


def test_effective_weights_of_raw_ones() -> None:
    beta, gamma = asymmetric().effective_weights()
    np.testing.assert_allclose(beta.detach().numpy(), [1e-6, 2.25], rtol=1e-5)
    np.testing.assert_allclose(gamma.detach().numpy(), [[0.25, 0], [0.04, 0.49]], rtol=1e-6)


def test_the_bound_lets_parameters_come_back() -> None:
    beta = [-0.0059999977, -0.5284992]
    gamma = [[1.8596649e-05, -1.2016222e-04], [-0.14490496, -0.66086394]]
    layer = asymmetric()
    layer(pyburn.tensor(X)).sum().backward()
    assert layer.beta.grad is not None
    assert layer.gamma.grad is not None
    np.testing.assert_allclose(layer.beta.grad.numpy(), beta, rtol=1e-5)
    np.testing.assert_allclose(layer.gamma.grad.numpy(), gamma, rtol=1e-5)
    layer.zero_grad()
    (-layer(pyburn.tensor(X)).sum()).backward()
    assert layer.beta.grad is not None
    assert layer.gamma.grad is not None
    np.testing.assert_allclose(layer.beta.grad.numpy(), [0.0, 0.5284992], rtol=1e-5)
    np.testing.assert_allclose(
        layer.gamma.grad.numpy(), [[-1.8596649e-05, 0.0], [0.14490496, 0.66086394]], rtol=1e-5
    )
    assert layer.beta.grad[0].item() == 0.0
    assert layer.gamma.grad[0, 1].item() == 0.0


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 4, 2), (1, 3, 2, 2, 2), (0, 3, 4)])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("parametrization", ["normal", "simplified"])
def test_every_rank(shape: tuple[int, ...], inverse: bool, parametrization: Any) -> None:
    rng = np.random.default_rng(0)
    x, beta, gamma = rng.normal(size=shape), rng.uniform(0.5, 2, 3), rng.uniform(0, 1, (3, 3))
    pool = x**2 if parametrization == "normal" else abs(x)
    norm = np.einsum("ij,nj...->ni...", gamma, pool)
    norm = norm + beta.reshape((1, 3) + (1,) * (len(shape) - 2))
    norm = np.sqrt(norm) if parametrization == "normal" else norm
    expected = x * norm if inverse else x / norm
    layer = nn.GDN(3, inverse, parametrization=parametrization, dtype=pyburn.float64)
    layer.load_weights(pyburn.tensor(beta), pyburn.tensor(gamma), reparametrized=False)
    np.testing.assert_allclose(layer(pyburn.tensor(x)).detach().numpy(), expected, rtol=1e-9)
    for got, wanted in zip(layer.effective_weights(), (beta, gamma), strict=True):
        np.testing.assert_allclose(got.detach().numpy(), wanted, rtol=1e-9)
    if x.size:
        given = tuple(pyburn.tensor(data, requires_grad=True) for data in (x, beta, gamma))

        def run(x: pyburn.Tensor, beta: pyburn.Tensor, gamma: pyburn.Tensor) -> pyburn.Tensor:
            return F.gdn(x, beta, gamma, inverse, parametrization)

        assert gradcheck(run, given)
        if x.size <= 12:
            assert gradgradcheck(run, given)


def test_states_load() -> None:
    one, other = asymmetric(), nn.GDN(2)
    other.load_state_dict(one.state_dict())
    x = pyburn.tensor(X)
    assert one(x).equal(other(x))
    # Buffers of a file are trusted: another bound is another layer.
    state = one.state_dict()
    state["beta_reparam.lower_bound.bound"] = pyburn.tensor([1.0])
    other.load_state_dict(state)
    assert abs(other.effective_weights()[0][0].item() - 1.0) < 1e-6
    # Without them it cannot be known what the numbers are.
    with pytest.raises(RuntimeError, match=r"beta_reparam\.pedestal"):
        other.load_state_dict({name: state[name] for name in KEYS[:2]})


def test_refusals() -> None:
    layer = nn.GDN(2)
    with pytest.raises(RuntimeError, match=r"^gdn: expected an input of shape \(N, 2, \*\)"):
        layer(pyburn.ones(1, 3, 4))
    with pytest.raises(RuntimeError, match="^gdn: expected an input"):
        layer(pyburn.ones(2))
    with pytest.raises(ValueError, match="expected parametrization"):
        nn.GDN(2, parametrization="other")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^gdn: expected parametrization"):
        F.gdn(pyburn.ones(1, 1), pyburn.ones(1), pyburn.ones(1, 1), parametrization="other")
    with pytest.raises(ValueError, match=r"^GDN\.load_weights: expected gamma of shape"):
        layer.load_weights(pyburn.ones(2), pyburn.ones(2), reparametrized=True)
    with pytest.raises(ValueError, match="without negative values"):
        layer.load_weights(pyburn.ones(2), -pyburn.ones(2, 2), reparametrized=False)
    with pytest.raises(RuntimeError, match="^gdn: expected beta of shape"):
        F.gdn(pyburn.ones(1, 2), pyburn.ones(2), pyburn.ones(2, 3))
    assert repr(nn.GDN(2, True)).startswith("GDN(\n  2, inverse=True\n")


def test_an_autoencoder_learns() -> None:
    pyburn.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 6), nn.GDN(6), nn.Linear(6, 6), nn.GDN(6, inverse=True), nn.Linear(6, 4)
    )
    x = pyburn.randn(64, 4)
    losses = []
    for _ in range(60):
        model.zero_grad()
        loss = F.mse_loss(model(x), x)
        loss.backward()
        with pyburn.no_grad():
            for parameter in model.parameters():
                assert parameter.grad is not None
                parameter -= 0.05 * parameter.grad
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_double_precision_and_meta() -> None:
    layer = nn.GDN(3).double()
    assert layer.beta_reparam.pedestal.dtype == pyburn.float64
    assert layer(pyburn.ones(2, 3, dtype=pyburn.float64)).dtype == pyburn.float64
    meta = nn.GDN(3, device="meta")
    assert meta(pyburn.ones(2, 3, 4, device="meta")).shape == (2, 3, 4)
