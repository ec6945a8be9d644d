"""Parametrized tensors, and the ready-made parametrizations."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck
from pyburn.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        return x.triu() + x.triu(1).T


class Positive(nn.Module):
    """With an inverse, and a count of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        self.calls += 1
        return x.exp()

    def right_inverse(self, y: pyburn.Tensor) -> pyburn.Tensor:
        return y.log()


class Product(nn.Module):
    """Computed from two tensors."""

    def forward(self, a: pyburn.Tensor, b: pyburn.Tensor) -> pyburn.Tensor:
        return a @ b

    def right_inverse(self, y: pyburn.Tensor) -> tuple[pyburn.Tensor, pyburn.Tensor]:
        return y, pyburn.eye(y.shape[1])


class Shorter(nn.Module):
    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        return x[:1]


class Doubled(nn.Module):
    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        return x.double()


def positive_layer() -> nn.Linear:
    layer = nn.Linear(2, 2)
    with pyburn.no_grad():
        layer.weight.copy_(pyburn.tensor([[1.0, 2.0], [3.0, 4.0]]))
    return layer


def test_registering_and_reading() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert parametrize.is_parametrized(layer)
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert isinstance(layer, nn.Linear)
    assert type(layer).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    # What an optimizer holds is what is learned.
    assert layer.parametrizations.weight.original is weight
    assert layer.weight.equal(layer.weight.T)
    assert not isinstance(layer.weight, nn.Parameter)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    layer(pyburn.ones(2)).sum().backward()
    assert weight.grad is not None
    assert weight.grad[1, 0].item() == 0
    other = nn.Linear(2, 2)
    assert type(other) is nn.Linear


def test_assigning() -> None:
    layer = positive_layer()
    parametrize.register_parametrization(layer, "weight", Positive())
    np.testing.assert_allclose(layer.weight.tolist(), [[1, 2], [3, 4]], rtol=1e-6)
    layer.weight = pyburn.full((2, 2), 5.0)
    np.testing.assert_allclose(layer.weight.tolist(), [[5, 5], [5, 5]], rtol=1e-6)
    assert isinstance(layer.parametrizations.weight.original, nn.Parameter)
    assigned = pyburn.eye(2)
    orthogonal = parametrizations.weight_norm(nn.Linear(2, 2))
    orthogonal.weight = assigned
    with pyburn.no_grad():
        orthogonal.parametrizations.weight.original1.zero_()
    assert assigned.equal(pyburn.eye(2))
    parametrize.register_parametrization(layer, "bias", Shorter(), unsafe=True)
    with pytest.raises(RuntimeError, match="Shorter does not implement right_inverse"):
        layer.bias = pyburn.ones(2)


def test_chains() -> None:
    layer = positive_layer()
    parametrize.register_parametrization(layer, "weight", Positive())
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert len(layer.parametrizations.weight) == 2
    np.testing.assert_allclose(layer.weight.tolist(), [[1, 2], [2, 4]], rtol=1e-6)


def test_caching() -> None:
    layer = positive_layer()
    positive = Positive()
    parametrize.register_parametrization(layer, "weight", positive)
    before = positive.calls
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
        assert layer.weight is first
        assert positive.calls == before + 1
        copied = copy.deepcopy(layer.parametrizations)
        assert copied is not None
    assert layer.weight is not first
    assert positive.calls == before + 2
    assert not parametrize._computed


def test_from_several_tensors() -> None:
    layer = positive_layer()
    parametrize.register_parametrization(layer, "weight", Product())
    assert list(layer.state_dict()) == [
        "bias",
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    assert layer.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    layer.weight = pyburn.ones(2, 2)
    assert layer.weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("leave", [True, False])
def test_removing(leave: bool) -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.register_parametrization(layer, "bias", Positive())
    original, value = weight.tolist(), layer.weight.tolist()
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
    assert layer.weight is weight
    assert weight.tolist() == (value if leave else original)
    assert parametrize.is_parametrized(layer, "bias")
    parametrize.remove_parametrizations(layer, "bias")
    assert type(layer) is nn.Linear
    assert not hasattr(layer, "parametrizations")
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    layer(pyburn.ones(2)).sum().backward()


def test_buffers_can_be_parametrized() -> None:
    module = nn.Module()
    module.register_buffer("scale", pyburn.ones(2))
    parametrize.register_parametrization(module, "scale", Positive())
    assert list(module.state_dict()) == ["parametrizations.scale.original"]
    assert len(module.parameters()) == 0
    parametrize.remove_parametrizations(module, "scale")
    assert list(module.state_dict()) == ["scale"]


@pytest.mark.parametrize("make", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies(make: Any) -> None:
    layer = nn.Sequential(nn.Linear(2, 2))
    parametrize.register_parametrization(layer[0], "weight", Symmetric())
    made = make(layer)
    assert made[0].weight.equal(layer[0].weight)
    assert made[0].parametrizations.weight.original is not layer[0].parametrizations.weight.original
    parametrize.remove_parametrizations(made[0], "weight")
    assert type(made[0]) is nn.Linear
    assert layer[0].weight.equal(layer[0].weight.T)


def test_moving_and_modes() -> None:
    layer = parametrizations.weight_norm(nn.Linear(2, 2)).double()
    assert layer.weight.dtype == pyburn.float64
    assert layer.eval().parametrizations.weight[0].training is False
    late = parametrizations.spectral_norm(nn.Linear(2, 2).eval())
    assert late.parametrizations.weight[0].training is False


def test_transferring() -> None:
    source, target = positive_layer(), nn.Linear(2, 2)
    parametrize.register_parametrization(source, "weight", Positive())
    assert parametrize.transfer_parametrizations_and_params(source, target) is target
    assert target.weight.equal(source.weight)
    chain = target.parametrizations.weight
    assert chain[0] is source.parametrizations.weight[0]
    assert chain.original is not source.parametrizations.weight.original
    plain = nn.Linear(1, 1)
    assert parametrize.transfer_parametrizations_and_params(plain, target) is target


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda m: parametrize.register_parametrization(m, "none", Symmetric()),
            "does not have a parameter, a buffer, or a parametrized element with name 'none'",
        ),
        (
            lambda m: parametrize.register_parametrization(m, "weight", Shorter()),
            r"must have the shape of the tensor, \[2, 2\], got \[1, 2\]; hint: .*unsafe=True",
        ),
        (
            lambda m: parametrize.register_parametrization(m, "weight", Doubled()),
            "must have the dtype of the tensor, pyburn.float32, got pyburn.float64",
        ),
        (
            lambda m: parametrize.remove_parametrizations(m, "weight"),
            "does not have a parametrization on weight",
        ),
        (lambda m: parametrizations.weight_norm(m, "none"), "no parameter or buffer with name"),
        (lambda m: parametrizations.orthogonal(m, "bias"), "Got a tensor of 1 dimensions"),
        (
            lambda m: parametrizations.orthogonal(m, orthogonal_map="qr"),
            "orthogonal_map has to be one of",
        ),
        (
            lambda m: parametrizations.spectral_norm(m, n_power_iterations=0),
            "Expected n_power_iterations to be positive",
        ),
    ],
)
def test_wrong_use(act: Any, text: str) -> None:
    layer = positive_layer()
    with pytest.raises(ValueError, match=text):
        act(layer)
    assert layer.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert type(layer) is nn.Linear


def test_unsafe_allows_other_shapes() -> None:
    layer = positive_layer()
    parametrize.register_parametrization(layer, "weight", Shorter(), unsafe=True)
    assert layer.weight.shape == (1, 2)


# The ready-made ones


@pytest.mark.parametrize(("dim", "axes"), [(0, 1), (1, 0), (None, None), (-1, None)])
def test_weight_norm(dim: int | None, axes: int | None) -> None:
    layer = nn.Linear(3, 2)
    weight = layer.weight.detach().clone()
    parametrizations.weight_norm(layer, dim=dim)
    np.testing.assert_allclose(layer.weight.tolist(), weight.tolist(), rtol=1e-6)
    g, v = (layer.parametrizations.weight._parameters[f"original{at}"] for at in (0, 1))
    norm = np.linalg.norm(weight.numpy(), axis=axes, keepdims=axes is not None)
    np.testing.assert_allclose(g.detach().numpy(), norm, rtol=1e-6)
    with pyburn.no_grad():
        g.mul_(2)
        v.mul_(7)
    np.testing.assert_allclose(layer.weight.tolist(), (2 * weight).tolist(), rtol=1e-5)


def test_gradient_of_weight_norm() -> None:
    layer = parametrizations.weight_norm(nn.Linear(3, 2, dtype=pyburn.float64))
    chain = layer.parametrizations.weight

    def weight(g: pyburn.Tensor, v: pyburn.Tensor) -> pyburn.Tensor:
        return chain[0](g, v)

    assert gradcheck(weight, (chain.original0, chain.original1))


def test_weight_norm_reads_older_checkpoints() -> None:
    layer = parametrizations.weight_norm(nn.Linear(2, 2))
    old = OrderedDict(bias=pyburn.zeros(2), weight_g=pyburn.ones(2, 1), weight_v=pyburn.eye(2))
    layer.load_state_dict(old)
    assert layer.weight.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert "weight_g" in old
    nn.Sequential(layer).load_state_dict({f"0.{name}": tensor for name, tensor in old.items()})
    assert pickle.loads(pickle.dumps(layer)).weight.equal(layer.weight)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (5, 2, 3)])
@pytest.mark.parametrize("dim", [0, 1])
def test_spectral_norm(shape: tuple[int, ...], dim: int) -> None:
    module = nn.Module()
    module.weight = nn.Parameter(pyburn.randn(shape))
    parametrizations.spectral_norm(module, dim=dim, n_power_iterations=5)
    for _ in range(30):
        weight = module.weight
    matrix = np.moveaxis(weight.detach().numpy(), dim, 0).reshape(shape[dim], -1)
    assert np.linalg.norm(matrix, 2) == pytest.approx(1, abs=1e-4)
    names = ["original", "0._u", "0._v"]
    assert list(module.state_dict()) == [f"parametrizations.weight.{name}" for name in names]
    module.eval()
    u = module.parametrizations.weight[0]._u
    before = u.tolist()
    assert module.weight.equal(module.weight)
    assert u.tolist() == before


def test_spectral_norm_of_a_vector_and_its_gradient() -> None:
    layer = parametrizations.spectral_norm(nn.Linear(3, 3), "bias")
    assert pyburn.linalg.vector_norm(layer.bias).item() == pytest.approx(1, abs=1e-6)
    scale = parametrizations._SpectralNorm(pyburn.randn(3, 2, dtype=pyburn.float64)).eval()
    x = pyburn.randn(3, 2, dtype=pyburn.float64, requires_grad=True)
    assert gradcheck(scale, (x,))
    with pytest.raises(IndexError, match="dimension out of range"):
        parametrizations.spectral_norm(nn.Linear(2, 2), dim=5)


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 4, 3)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal(kind: Any, shape: tuple[int, ...], trivial: bool) -> None:
    pyburn.manual_seed(1)
    module = nn.Module()
    module.weight = nn.Parameter(pyburn.randn(shape, dtype=pyburn.float64))
    parametrizations.orthogonal(module, orthogonal_map=kind, use_trivialization=trivial)

    def check(weight: np.ndarray) -> None:
        if weight.shape[-2] > weight.shape[-1]:
            weight = weight.swapaxes(-1, -2)
        unit = weight @ weight.swapaxes(-1, -2)
        np.testing.assert_allclose(
            unit, np.broadcast_to(np.eye(unit.shape[-1]), unit.shape), atol=1e-9
        )

    check(module.weight.detach().numpy())
    (module.weight * pyburn.randn(shape, dtype=pyburn.float64)).sum().backward()
    original = module.parametrizations.weight.original
    assert original.grad is not None
    assert original.grad.abs().max().item() > 0
    with pyburn.no_grad():
        original -= 0.3 * original.grad
    check(module.weight.detach().numpy())
    if trivial or kind == "householder":
        wanted = (
            nn.init.orthogonal_(pyburn.empty(shape, dtype=pyburn.float64))
            if len(shape) == 2
            else module.weight.detach()
        )
        module.weight = wanted
        np.testing.assert_allclose(module.weight.detach().numpy(), wanted.numpy(), atol=1e-9)
        with pytest.raises(ValueError, match="Expected a matrix or batch of matrices of shape"):
            module.weight = pyburn.ones(7, 7, dtype=pyburn.float64)
    else:
        with pytest.raises(NotImplementedError, match="not possible to assign"):
            module.weight = module.weight.detach()


def test_orthogonal_of_complex_matrices() -> None:
    module = nn.Module()
    module.weight = nn.Parameter(pyburn.randn(3, 3, dtype=pyburn.complex128))
    with pytest.raises(ValueError, match="does not support complex"):
        parametrizations.orthogonal(module, orthogonal_map="householder")
    parametrizations.orthogonal(module)
    weight = module.weight.detach().numpy()
    np.testing.assert_allclose(weight @ weight.conj().T, np.eye(3), atol=1e-9)
