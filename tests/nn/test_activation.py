"""Activation functions, as functions and as layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F
from scipy import special

Function = Callable[..., np.ndarray]

SELU = (1.6732632423543772, 1.0507009873554805)


def elu(x: np.ndarray, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> np.ndarray:
    return np.where(x > 0, scale * x, scale * alpha * np.expm1(rate * np.minimum(x, 0)))


def softplus(x: np.ndarray, beta: float = 1.0, threshold: float = 20.0) -> np.ndarray:
    bent = np.log1p(np.exp(np.minimum(beta * x, 50))) / beta
    return np.where(beta * x > threshold, x, bent)


def shrink(x: np.ndarray, lambd: float = 0.5, bias: float = 0.5) -> np.ndarray:
    return np.where(x > lambd, x - bias, np.where(x < -lambd, x + bias, 0))


@dataclass
class Case:
    """A function, what it computes, and how its layer is made."""

    name: str
    reference: Function
    kwargs: dict[str, Any] = field(default_factory=dict)
    layer: Callable[[], nn.Module] | None = None
    shown: str = ""
    inplace: bool = False
    smooth: bool = True
    """Whether the second derivative is not zero everywhere."""

    def __repr__(self) -> str:
        return f"{self.name}{self.kwargs or ''}"


def sigmoid(x: np.ndarray) -> np.ndarray:
    return special.expit(x)


CASES = [
    Case("relu", lambda x: np.maximum(x, 0), {}, nn.ReLU, "ReLU()", True, False),
    Case("relu6", lambda x: np.clip(x, 0, 6), {}, nn.ReLU6, "ReLU6()", True, False),
    Case(
        "hardtanh",
        lambda x: np.clip(x, -2, 0.5),
        {"min_val": -2, "max_val": 0.5},
        lambda: nn.Hardtanh(-2, 0.5),
        "Hardtanh(min_val=-2, max_val=0.5)",
        True,
        False,
    ),
    Case(
        "hardsigmoid",
        lambda x: np.clip(x / 6 + 0.5, 0, 1),
        {},
        nn.Hardsigmoid,
        "Hardsigmoid()",
        True,
        False,
    ),
    Case(
        "hardswish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), {}, nn.Hardswish, "Hardswish()", True
    ),
    Case("elu", lambda x: elu(x, 0.3), {"alpha": 0.3}, lambda: nn.ELU(0.3), "ELU(alpha=0.3)", True),
    Case(
        "celu",
        lambda x: elu(x, 2.5, 1, 0.4),
        {"alpha": 2.5},
        lambda: nn.CELU(2.5),
        "CELU(alpha=2.5)",
        True,
    ),
    Case("selu", lambda x: elu(x, *SELU), {}, nn.SELU, "SELU()", True),
    Case(
        "leaky_relu",
        lambda x: np.where(x > 0, x, 0.2 * x),
        {"negative_slope": 0.2},
        lambda: nn.LeakyReLU(0.2),
        "LeakyReLU(negative_slope=0.2)",
        True,
        False,
    ),
    Case(
        "rrelu",
        lambda x: np.where(x > 0, x, 0.5 * x),
        {"lower": 0.25, "upper": 0.75},
        lambda: nn.RReLU(0.25, 0.75).eval(),
        "RReLU(lower=0.25, upper=0.75)",
        True,
        False,
    ),
    Case("gelu", lambda x: x * special.ndtr(x), {}, nn.GELU, "GELU(approximate='none')"),
    Case(
        "gelu",
        lambda x: x * sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)),
        {"approximate": "tanh"},
        lambda: nn.GELU("tanh"),
        "GELU(approximate='tanh')",
    ),
    Case("silu", lambda x: x * sigmoid(x), {}, nn.SiLU, "SiLU()", True),
    Case("mish", lambda x: x * np.tanh(softplus(x)), {}, nn.Mish, "Mish()", True),
    Case(
        "softplus",
        lambda x: softplus(x, 3.0, 4.0),
        {"beta": 3.0, "threshold": 4.0},
        lambda: nn.Softplus(3.0, 4.0),
        "Softplus(beta=3.0, threshold=4.0)",
    ),
    Case("logsigmoid", lambda x: np.log(sigmoid(x)), {}, nn.LogSigmoid, "LogSigmoid()"),
    Case("sigmoid", sigmoid, {}, nn.Sigmoid, "Sigmoid()"),
    Case("tanh", np.tanh, {}, nn.Tanh, "Tanh()"),
    Case("tanhshrink", lambda x: x - np.tanh(x), {}, nn.Tanhshrink, "Tanhshrink()"),
    Case("softsign", lambda x: x / (1 + abs(x)), {}, nn.Softsign, "Softsign()"),
    Case(
        "softshrink",
        lambda x: shrink(x, 0.7, 0.7),
        {"lambd": 0.7},
        lambda: nn.Softshrink(0.7),
        "Softshrink(0.7)",
        smooth=False,
    ),
    Case(
        "shrink",
        lambda x: shrink(x, 0.7, 0.2),
        {"lambd": 0.7, "bias": 0.2},
        lambda: nn.Shrink(0.7, 0.2),
        "Shrink(lambd=0.7, bias=0.2)",
        smooth=False,
    ),
    Case(
        "hardshrink",
        lambda x: np.where(abs(x) > 0.7, x, 0),
        {"lambd": 0.7},
        lambda: nn.Hardshrink(0.7),
        "Hardshrink(0.7)",
        smooth=False,
    ),
    Case(
        "threshold",
        lambda x: np.where(x > 0.6, x, 7.0),
        {"threshold": 0.6, "value": 7.0},
        lambda: nn.Threshold(0.6, 7.0),
        "Threshold(threshold=0.6, value=7.0)",
        True,
        False,
    ),
    Case(
        "thresholded_relu",
        lambda x: np.where(x > 0.6, x, 0),
        {"alpha": 0.6},
        lambda: nn.ThresholdedReLU(0.6),
        "ThresholdedReLU(alpha=0.6)",
        smooth=False,
    ),
]
SHAPES = [(), (7,), (3, 5), (2, 3, 4), (0, 3)]


def numbers(*shape: int) -> np.ndarray:
    """Numbers on every branch and away from the kinks."""
    count = int(np.prod(shape))
    grid = np.linspace(-7.013, 7.017, max(count, 2))[:count]
    return np.random.default_rng(0).permutation(grid).reshape(shape)


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_values(case: Case, dtype: str) -> None:
    room = {"float64": 1e-12, "float32": 3e-6, "bfloat16": 0.03}[dtype]
    for shape in SHAPES:
        x = pyburn.tensor(numbers(*shape)).to(getattr(pyburn, dtype))
        expected = case.reference(x.double().numpy())
        for call in (
            lambda x: getattr(F, case.name)(x, **case.kwargs),
            case.layer and case.layer(),
        ):
            if call is None:
                continue
            out = call(x)
            assert (out.dtype, out.shape) == (x.dtype, x.shape)
            np.testing.assert_allclose(out.double().numpy(), expected, rtol=room, atol=room)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_gradients(case: Case) -> None:
    x = pyburn.tensor(numbers(3, 6), requires_grad=True)
    function = getattr(F, case.name)
    assert gradcheck(lambda x: function(x, **case.kwargs), (x,))
    assert gradgradcheck(lambda x: function(x, **case.kwargs), (x,))
    out = function(x, **case.kwargs)
    (slope,) = pyburn.autograd.grad(out.sum(), x, create_graph=True)
    (bend,) = pyburn.autograd.grad(slope.sum(), x, allow_unused=True)
    bent = bend is not None and bend.abs().max().item() > 1e-3
    assert bent == case.smooth


@pytest.mark.parametrize("case", [case for case in CASES if case.inplace], ids=repr)
def test_in_place(case: Case) -> None:
    data = numbers(3, 6)
    expected = case.reference(data)
    x = pyburn.tensor(data)
    assert getattr(F, case.name)(x, **case.kwargs, inplace=True) is x
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-12)
    assert case.layer is not None
    layer = case.layer()
    layer.inplace = True
    x = pyburn.tensor(data)
    assert layer(x) is x
    # The gradient is that of the function out of place.
    leaf = pyburn.tensor(data, requires_grad=True)
    copy = leaf * 1.0
    getattr(F, case.name)(copy, **case.kwargs, inplace=True).sum().backward()
    other = pyburn.tensor(data, requires_grad=True)
    getattr(F, case.name)(other, **case.kwargs).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.equal(other.grad)


@pytest.mark.parametrize("name", ["relu_", "elu_", "celu_", "selu_", "hardtanh_", "leaky_relu_"])
def test_names_with_an_underscore(name: str) -> None:
    x = pyburn.tensor(numbers(3, 6))
    expected = getattr(F, name[:-1])(x)
    assert getattr(F, name)(x) is x
    assert x.equal(expected)


def test_underscores_with_arguments() -> None:
    x = pyburn.tensor([-2.0, 1.0])
    assert F.threshold_(x, 0.0, 5.0) is x
    assert x.tolist() == [5.0, 1.0]
    x = pyburn.tensor([-2.0, 1.0])
    assert F.rrelu_(x, 0.5, 0.5).tolist() == [-1.0, 1.0]


def test_shown() -> None:
    for case in CASES:
        assert case.layer is not None
        assert repr(case.layer()) == case.shown
    assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"
    assert repr(nn.ReLU6(inplace=True)) == "ReLU6(inplace=True)"
    assert repr(nn.ELU(inplace=True)) == "ELU(alpha=1.0, inplace=True)"
    assert repr(nn.Softmax()) == "Softmax(dim=None)"
    assert repr(nn.GLU(1)) == "GLU(dim=1)"
    assert repr(nn.PReLU(3)) == "PReLU(num_parameters=3)"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes(dtype: str) -> None:
    inf, nan = float("inf"), float("nan")
    kind = getattr(pyburn, dtype)
    x = pyburn.tensor([-inf, inf], dtype=kind)
    for name, expected in {
        "relu6": [0, 6],
        "hardsigmoid": [0, 1],
        "elu": [-1, inf],
        "logsigmoid": [-inf, 0],
        "softplus": [0, inf],
        "leaky_relu": [-inf, inf],
        "tanh": [-1, 1],
        "softshrink": [-inf, inf],
    }.items():
        assert getattr(F, name)(x).tolist() == expected, name
    x = pyburn.tensor([nan], dtype=kind)
    for case in CASES:
        assert getattr(F, case.name)(x, **case.kwargs).isnan().all(), case


def test_integers() -> None:
    x = pyburn.tensor([-5, 0, 3, 9])
    assert F.relu(x).tolist() == [0, 0, 3, 9]
    assert F.relu6(x).tolist() == [0, 0, 3, 6]
    assert F.relu6(x).dtype == pyburn.int64
    assert F.threshold(x, 1, 7).tolist() == [7, 7, 3, 9]
    assert F.softsign(x).dtype == pyburn.float32
    for name in ("gelu", "elu", "leaky_relu", "hardswish", "silu", "softplus", "hardshrink"):
        with pytest.raises(RuntimeError, match="not implemented for int64"):
            getattr(F, name)(x)
    with pytest.raises(NotImplementedError, match="^hardtanh: not implemented for bool"):
        F.hardtanh(x > 0)


def test_wrong_arguments() -> None:
    x = pyburn.ones(3)
    with pytest.raises(RuntimeError, match="^gelu: approximate argument must be either none"):
        F.gelu(x, approximate="tan")
    with pytest.raises(ValueError, match="^hardtanh: min_val cannot be greater"):
        F.hardtanh(x, 1.0, -1.0)
    with pytest.raises(ValueError, match="^Hardtanh: max_val must be larger"):
        nn.Hardtanh(1.0, 1.0)
    with pytest.raises(RuntimeError, match="^softshrink: lambda must be greater"):
        F.softshrink(x, -0.1)
    with pytest.raises(ValueError, match="^rrelu: lower bound should be less"):
        F.rrelu(x, 0.5, 0.1)
    with pytest.raises(RuntimeError, match="celu: ZeroDivisionError"):
        F.celu(x, 0.0)
    with pytest.warns(FutureWarning, match="`min_value` is deprecated"):
        assert nn.Hardtanh(min_value=-3).min_val == -3


def test_random_slopes_in_training() -> None:
    pyburn.manual_seed(0)
    layer = nn.RReLU(0.1, 0.5)
    x = pyburn.full((10_000,), -1.0, requires_grad=True)
    out = layer(x)
    slopes = -out.detach()
    assert slopes.min().item() >= 0.1
    assert slopes.max().item() <= 0.5
    assert abs(slopes.mean().item() - 0.3) < 0.01
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.allclose(slopes)
    assert layer(pyburn.tensor([2.0])).tolist() == [2.0]
    pyburn.manual_seed(0)
    assert layer(x).equal(out)


def test_glu() -> None:
    x = numbers(3, 4, 6)
    for dim in range(-3, 3):
        if x.shape[dim] % 2:
            with pytest.raises(RuntimeError, match="^glu: halving dimension must be even"):
                F.glu(pyburn.tensor(x), dim)
            continue
        a, b = np.split(x, 2, dim)
        np.testing.assert_allclose(F.glu(pyburn.tensor(x), dim).numpy(), a * sigmoid(b))
        assert nn.GLU(dim)(pyburn.tensor(x)).equal(F.glu(pyburn.tensor(x), dim))
    assert gradgradcheck(F.glu, (pyburn.tensor(x, requires_grad=True),))
    with pytest.raises(RuntimeError, match="^glu: does not support 0-dimensional"):
        F.glu(pyburn.tensor(1.0))


@pytest.mark.parametrize("shape", [(), (4,), (3, 4), (2, 4, 3)])
def test_prelu(shape: tuple[int, ...]) -> None:
    x = pyburn.tensor(numbers(*shape), requires_grad=True)
    for count in (1, 4) if len(shape) > 1 else (1,):
        weight = pyburn.tensor(np.linspace(0.1, 0.4, count), requires_grad=True)
        column = weight.detach().numpy().reshape((-1,) + (1,) * max(len(shape) - 2, 0))
        slopes = column[0] if count == 1 else column
        expected = np.where(x.detach().numpy() > 0, 1, slopes) * x.detach().numpy()
        np.testing.assert_allclose(F.prelu(x, weight).detach().numpy(), expected.reshape(shape))
        assert gradcheck(F.prelu, (x, weight))
    layer = nn.PReLU(4, init=0.5)
    assert layer.weight.tolist() == [0.5] * 4
    with pytest.raises(RuntimeError, match="^prelu: mismatch of parameter numbers"):
        F.prelu(pyburn.ones(2, 3), pyburn.ones(4))


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 20, 70), (1, 3, 2, 30)])
def test_softmax(shape: tuple[int, ...]) -> None:
    x = numbers(*shape)
    for dim in range(-len(shape), len(shape)):
        expected = special.softmax(x, dim)
        np.testing.assert_allclose(F.softmax(pyburn.tensor(x), dim).numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(
            F.log_softmax(pyburn.tensor(x), dim).numpy(), special.log_softmax(x, dim), rtol=1e-12
        )
        np.testing.assert_allclose(
            F.softmin(pyburn.tensor(x), dim).numpy(), special.softmax(-x, dim), rtol=1e-12
        )
        quiet = np.exp(x) / (1 + np.exp(x).sum(dim, keepdims=True))
        np.testing.assert_allclose(F.quiet_softmax(pyburn.tensor(x), dim).numpy(), quiet)
        narrow = F.softmax(pyburn.tensor(x, dtype=pyburn.float32), dim)
        np.testing.assert_allclose(narrow.numpy(), expected, rtol=3e-6)
    if np.prod(shape) < 50:
        leaf = pyburn.tensor(x, requires_grad=True)
        for function in (F.softmax, F.log_softmax, F.softmin, F.quiet_softmax):
            assert gradgradcheck(lambda x: function(x, dim=0), (leaf,))  # noqa: B023


def test_softmax_layers_and_dtypes() -> None:
    x = pyburn.tensor(numbers(2, 3, 4, 5))
    assert nn.Softmax(1)(x).equal(F.softmax(x, 1))
    assert nn.LogSoftmax(-1)(x).equal(F.log_softmax(x, -1))
    assert nn.Softmin(0)(x).equal(F.softmin(x, 0))
    assert nn.Softmax2d()(x).equal(F.softmax(x, 1))
    assert nn.Softmax2d()(x[0]).equal(F.softmax(x[0], 0))
    with pytest.raises(ValueError, match="^Softmax2d: expected input to be 3D or 4D"):
        nn.Softmax2d()(x[0, 0])
    for dtype in (pyburn.float64, pyburn.float16):
        assert F.softmax(x.half(), 1, dtype=dtype).dtype == dtype
    with pytest.warns(UserWarning, match="implicit choice of a dimension"):
        assert F.softmax(x).equal(F.softmax(x, 1))
    with pytest.warns(UserWarning, match="implicit choice of a dimension"):
        assert nn.Softmax()(x[0]).equal(F.softmax(x[0], 0))


def test_gumbel_softmax() -> None:
    pyburn.manual_seed(0)
    shares = pyburn.tensor([0.2, 0.5, 0.3])
    logits = shares.log().expand(20_000, 3).clone().requires_grad_()
    hard = F.gumbel_softmax(logits, tau=0.5, hard=True)
    assert set(hard.detach().flatten().unique().tolist()) == {0.0, 1.0}
    assert hard.detach().mean(0).allclose(shares, atol=0.02)
    (hard * pyburn.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max().item() > 0
    assert logits.grad.sum(-1).abs().max().item() < 1e-5
    soft = F.gumbel_softmax(logits.detach(), dim=0)
    assert soft.sum(0).allclose(pyburn.ones(3), atol=1e-4)
    with pytest.warns(UserWarning, match="`eps` parameter is deprecated"):
        F.gumbel_softmax(logits.detach(), eps=1e-5)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_normalize(p: float, dim: int) -> None:
    x = numbers(3, 4)
    expected = x / np.linalg.norm(x, p, dim, keepdims=True)
    leaf = pyburn.tensor(x, requires_grad=True)
    np.testing.assert_allclose(F.normalize(leaf, p, dim).detach().numpy(), expected, rtol=1e-12)
    assert gradcheck(lambda x: F.normalize(x, p, dim), (leaf,))
    zeros = F.normalize(pyburn.zeros(2, 3), p)
    assert zeros.tolist() == [[0.0] * 3] * 2
    out = pyburn.empty(3, 4, dtype=pyburn.float64)
    assert F.normalize(leaf.detach(), p, dim, out=out) is out
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12)


def test_likeness() -> None:
    x, y = numbers(3, 4), np.roll(numbers(3, 4), 1, 0)
    a, b = (pyburn.tensor(data, requires_grad=True) for data in (x, y))
    cosine = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    np.testing.assert_allclose(nn.CosineSimilarity()(a, b).detach().numpy(), cosine, rtol=1e-10)
    assert gradcheck(nn.CosineSimilarity(0), (a, b))
    for p in (1.0, 2.0, 3.5):
        expected = np.linalg.norm(x - y + 1e-6, p, 1)
        layer = nn.PairwiseDistance(p)
        np.testing.assert_allclose(layer(a, b).detach().numpy(), expected, rtol=1e-12)
        assert gradcheck(layer, (a, b))
    assert nn.PairwiseDistance(keepdim=True)(a, b).shape == (3, 1)
