"""Normalisation: of batches, samples, layers and groups of channels."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F

SHAPES = [(5, 4), (3, 4, 7), (2, 4, 5, 5), (2, 4, 2, 3, 3), (70, 4), (2, 4, 40), (3, 70, 2)]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(1.0, 2.0, shape)


def normed(x: np.ndarray, over: tuple[int, ...], eps: float, centre: bool = True) -> np.ndarray:
    mean = x.mean(over, keepdims=True) if centre else 0.0
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(over, keepdims=True) + eps)


def channels(values: np.ndarray, rank: int) -> np.ndarray:
    """A value for each channel, to broadcast."""
    return values.reshape((1, -1) + (1,) * (rank - 2))


def doubles(*shape: int, seed: int = 0) -> pyburn.Tensor:
    return pyburn.tensor(numbers(*shape, seed=seed), requires_grad=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batch_norm(shape: tuple[int, ...], dtype: str) -> None:
    x, room = numbers(*shape), {"float64": 1e-12, "float32": 2e-5}[dtype]
    count, over = shape[1], (0, *range(2, len(shape)))
    weight, bias = numbers(count, seed=1), numbers(count, seed=2)
    mean, var = numbers(count, seed=3), numbers(count, seed=4) ** 2
    kind = getattr(pyburn, dtype)
    given = [pyburn.tensor(data, dtype=kind) for data in (x, mean, var, weight, bias)]
    rank = len(shape)
    affine = (channels(weight, rank), channels(bias, rank))

    out = F.batch_norm(*given, training=True, momentum=0.3, eps=1e-3)
    expected = normed(x, over, 1e-3) * affine[0] + affine[1]
    np.testing.assert_allclose(out.numpy(), expected, rtol=room, atol=room)
    np.testing.assert_allclose(given[1].numpy(), 0.7 * mean + 0.3 * x.mean(over), rtol=room)
    unbiased = x.var(over, ddof=1)
    np.testing.assert_allclose(given[2].numpy(), 0.7 * var + 0.3 * unbiased, rtol=room)

    moved = [given[1].clone(), given[2].clone()]
    out = F.batch_norm(*given, training=False, eps=1e-3)
    mean, var = (channels(tensor.double().numpy(), rank) for tensor in moved)
    expected = (x - mean) / np.sqrt(var + 1e-3) * affine[0] + affine[1]
    np.testing.assert_allclose(out.numpy(), expected, rtol=room, atol=10 * room)
    assert given[1].equal(moved[0])
    bare = F.batch_norm(given[0], None, None, training=True, eps=1e-3)
    np.testing.assert_allclose(bare.numpy(), normed(x, over, 1e-3), rtol=room, atol=room)


@pytest.mark.parametrize("shape", [(4, 3), (3, 2, 3), (2, 2, 17), (2, 3, 2, 2)])
@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_batch_norm(shape: tuple[int, ...], training: bool) -> None:
    count = shape[1]
    mean, var = pyburn.tensor(numbers(count, seed=3)), pyburn.tensor(numbers(count, seed=4) ** 2)

    def run(x: pyburn.Tensor, weight: Any = None, bias: Any = None) -> pyburn.Tensor:
        return F.batch_norm(x, mean.clone(), var.clone(), weight, bias, training, eps=1e-2)

    inputs = (doubles(*shape), doubles(count, seed=1), doubles(count, seed=2))
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)
    assert gradcheck(run, inputs[:1])


def test_what_wants_no_gradient_gets_none() -> None:
    for make in (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        lambda x, w, b: F.group_norm(x, 2, w, b),
        lambda x, w, b: F.layer_norm(x.transpose(1, 2), (4,), w, b),
    ):
        for wanted in range(3):
            inputs = [pyburn.tensor(numbers(*shape)) for shape in ((2, 4, 3), (4,), (4,))]
            every = [tensor.clone().requires_grad_() for tensor in inputs]
            inputs[wanted].requires_grad_()
            make(*inputs).square().sum().backward()
            make(*every).square().sum().backward()
            assert [tensor.grad is not None for tensor in inputs] == [
                number == wanted for number in range(3)
            ]
            one, other = inputs[wanted].grad, every[wanted].grad
            assert one is not None
            assert other is not None
            assert one.allclose(other, rtol=1e-10)


def test_batch_norm_layer_counts_and_averages() -> None:
    layer = nn.BatchNorm1d(2, momentum=None)
    means = []
    for seed in range(4):
        x = pyburn.tensor(numbers(6, 2, seed=seed), dtype=pyburn.float32)
        layer(x)
        means.append(x.numpy().mean(0))
    assert layer.num_batches_tracked is not None
    assert layer.running_mean is not None
    assert layer.num_batches_tracked.item() == 4
    np.testing.assert_allclose(layer.running_mean.numpy(), np.mean(means, 0), rtol=1e-5)
    layer.eval()(x)
    assert layer.num_batches_tracked.item() == 4
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0.0, 0.0]
    assert layer.num_batches_tracked.item() == 0
    bare = nn.BatchNorm1d(2, track_running_stats=False).eval()
    assert bare.running_mean is None
    np.testing.assert_allclose(
        bare(x).detach().numpy(), normed(x.numpy(), (0,), 1e-5), rtol=1e-4, atol=1e-5
    )


def test_state_of_batch_norm() -> None:
    layer = nn.BatchNorm2d(3)
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert list(layer.state_dict()) == names
    assert layer.state_dict()["num_batches_tracked"].dtype == pyburn.int64
    assert repr(layer) == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )
    assert nn.BatchNorm2d(3, bias=False).bias is None
    assert nn.BatchNorm2d(3, affine=False).weight is None
    # Files of the first version do not count batches; newer ones must.
    old = {name: tensor for name, tensor in layer.state_dict().items() if "num" not in name}
    layer.load_state_dict(old)
    meta = layer.state_dict()
    meta.pop("num_batches_tracked")
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        layer.load_state_dict(meta)
    other = copy.deepcopy(layer)
    layer(pyburn.randn(4, 3, 2, 2))
    assert other.num_batches_tracked is not None
    assert other.num_batches_tracked.item() == 0


@pytest.mark.parametrize("kind", ["BatchNorm", "InstanceNorm"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_lazy(kind: str, dims: int) -> None:
    lazy = getattr(nn, f"Lazy{kind}{dims}d")()
    eager = getattr(nn, f"{kind}{dims}d")
    assert lazy.has_uninitialized_params()
    x = pyburn.randn(2, 5, *([3] * dims))
    lazy(x)
    assert type(lazy) is eager
    assert lazy.num_features == 5
    twin = eager(5, affine=True, track_running_stats=True)
    assert twin(x).equal(eager(5, affine=True, track_running_stats=True)(x))
    assert list(lazy.state_dict()) == list(twin.state_dict())
    bare = getattr(nn, f"Lazy{kind}{dims}d")(affine=False, track_running_stats=False)
    bare(x)
    assert not bare.state_dict()


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_ranks(rank: int) -> None:
    x = pyburn.randn(2, 4, *([3] * (rank - 2)))
    allowed = {
        nn.BatchNorm1d: (2, 3),
        nn.BatchNorm2d: (4,),
        nn.BatchNorm3d: (5,),
        nn.SyncBatchNorm: (2, 3, 4, 5),
    }
    for layer, ranks in allowed.items():
        if rank in ranks:
            assert layer(4)(x).shape == x.shape
        else:
            with pytest.raises(ValueError, match=rf"^{layer.__name__}: expected .*{rank}D input"):
                layer(4)(x)


def test_converting_to_synchronised() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.BatchNorm1d(4)))
    x = pyburn.randn(6, 3)
    model(x)
    twin = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(model))
    assert [type(module).__name__ for module in twin.modules()].count("SyncBatchNorm") == 2
    assert list(twin.state_dict()) == list(model.state_dict())
    assert twin(x).equal(model(x))
    with pytest.raises(NotImplementedError, match="process_group"):
        nn.SyncBatchNorm(3, process_group=object())


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 4), (2, 3, 2, 3, 4)])
def test_instance_norm(shape: tuple[int, ...]) -> None:
    x, over, rank = numbers(*shape), tuple(range(2, len(shape))), len(shape)
    weight, bias = numbers(3, seed=1), numbers(3, seed=2)
    given = [pyburn.tensor(data) for data in (weight, bias)]
    affine = (channels(weight, rank), channels(bias, rank))
    expected = normed(x, over, 1e-3) * affine[0] + affine[1]
    out = F.instance_norm(pyburn.tensor(x), None, None, *given, eps=1e-3)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-12)
    mean, var = pyburn.zeros(3, dtype=pyburn.float64), pyburn.ones(3, dtype=pyburn.float64)
    out = F.instance_norm(pyburn.tensor(x), mean, var, *given, momentum=0.3, eps=1e-3)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mean.numpy(), 0.3 * x.mean(over).mean(0), rtol=1e-12)
    unbiased = x.var(over, ddof=1).mean(0)
    np.testing.assert_allclose(var.numpy(), 0.7 + 0.3 * unbiased, rtol=1e-12)
    still = F.instance_norm(pyburn.tensor(x), mean, var, use_input_stats=False)
    twin = F.batch_norm(pyburn.tensor(x), mean, var)
    assert still.equal(twin)
    inputs = (doubles(*shape), doubles(3, seed=1), doubles(3, seed=2))
    assert gradcheck(lambda x, w, b: F.instance_norm(x, None, None, w, b), inputs)
    assert gradgradcheck(
        lambda x, w, b: F.instance_norm(x, mean.clone(), var.clone(), w, b, eps=1e-2), inputs
    )


def test_instance_norm_layer() -> None:
    layer = nn.InstanceNorm2d(3, track_running_stats=True, affine=True)
    x = pyburn.randn(2, 3, 4, 4)
    layer(x)
    assert layer.running_mean is not None
    assert layer.running_mean.abs().max().item() > 0
    before = layer.running_mean.clone()
    layer.eval()(x)
    assert layer.running_mean.equal(before)
    plain = nn.InstanceNorm2d(3)
    assert not plain.state_dict()
    assert plain(x[0]).allclose(plain(x)[0])
    assert plain.eval()(x).equal(plain.train()(x))
    with pytest.warns(UserWarning, match="num_features is not used"):
        plain(pyburn.randn(2, 5, 4, 4))
    with pytest.raises(ValueError, match=r"match num_features \(3\), but got: 5"):
        nn.InstanceNorm2d(3, affine=True)(pyburn.randn(2, 5, 4, 4))
    with pytest.raises(RuntimeError, match="Unexpected running stats"):
        plain.load_state_dict({"running_mean": pyburn.zeros(3)})


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 3, 6), (2, 3, 2000), (300, 4)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_layer_norm_and_rms_norm(shape: tuple[int, ...], dtype: str) -> None:
    x, room = numbers(*shape), {"float64": 1e-11, "float32": 3e-5}[dtype]
    kind = getattr(pyburn, dtype)
    for count in range(1, len(shape) + 1):
        inner = shape[-count:]
        over = tuple(range(-count, 0))
        weight, bias = numbers(*inner, seed=1), numbers(*inner, seed=2)
        given = [pyburn.tensor(data, dtype=kind) for data in (weight, bias)]
        tensor = pyburn.tensor(x, dtype=kind)
        unit = normed(x, over, 1e-3)
        for arguments, expected in (
            ((*given,), unit * weight + bias),
            ((given[0], None), unit * weight),
            ((None, given[1]), unit + bias),
            ((), unit),
        ):
            out = F.layer_norm(tensor, inner, *arguments, eps=1e-3)
            np.testing.assert_allclose(out.numpy(), expected, rtol=room, atol=room)
        out = F.rms_norm(tensor, inner, given[0], eps=1e-3)
        expected = normed(x, over, 1e-3, centre=False) * weight
        np.testing.assert_allclose(out.numpy(), expected, rtol=room, atol=room)
        default = normed(x, over, np.finfo(dtype).eps, centre=False)
        np.testing.assert_allclose(F.rms_norm(tensor, inner).numpy(), default, rtol=room, atol=room)


def test_gradients_of_layer_norm_and_rms_norm() -> None:
    inputs = (doubles(3, 2, 4), doubles(2, 4, seed=1), doubles(2, 4, seed=2))
    shape = (2, 4)
    assert gradcheck(lambda x, w, b: F.layer_norm(x, shape, w, b), inputs)
    assert gradgradcheck(lambda x, w, b: F.layer_norm(x, shape, w, b), inputs)
    assert gradcheck(lambda x, w: F.rms_norm(x, shape, w), inputs[:2])
    assert gradgradcheck(lambda x, w: F.rms_norm(x, shape, w), inputs[:2])
    assert gradcheck(lambda x: F.layer_norm(x, (4,)), inputs[:1])
    # Many rows, whose weights' gradients are summed in shares, on elements that lie anyhow.
    x = pyburn.tensor(numbers(4, 700)).T.requires_grad_()
    w, b = (tensor[0].detach().clone().requires_grad_() for tensor in inputs[1:])
    g = pyburn.tensor(numbers(700, 4, seed=5))
    (F.layer_norm(x, (4,), w, b) * g).sum().backward()
    assert w.grad is not None
    assert b.grad is not None
    unit = normed(x.detach().numpy(), (1,), 1e-5)
    np.testing.assert_allclose(w.grad.numpy(), (unit * g.numpy()).sum(0), rtol=1e-9)
    np.testing.assert_allclose(b.grad.numpy(), g.numpy().sum(0), rtol=1e-9)


def test_layer_norm_layers() -> None:
    layer = nn.LayerNorm((2, 3))
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert layer.weight is not None
    assert layer.weight.tolist() == [[1.0] * 3] * 2
    assert repr(layer) == "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=True)"
    assert nn.LayerNorm(3, bias=False).bias is None
    assert not nn.LayerNorm(3, elementwise_affine=False).state_dict()
    assert repr(nn.RMSNorm(3)) == "RMSNorm((3,), eps=None, elementwise_affine=True)"
    assert not nn.RMSNorm(3, elementwise_affine=False).state_dict()
    made = nn.LayerNorm(3, device="meta", dtype=pyburn.float16)
    assert made.weight is not None
    assert made.weight.is_meta
    assert made.weight.dtype == pyburn.float16
    with pytest.raises(RuntimeError, match=r"^layer_norm: given normalized_shape=\[3\]"):
        nn.LayerNorm(3)(pyburn.ones(2, 4))
    with pytest.raises(RuntimeError, match=r"^layer_norm: .*expected weight of shape \[4\]"):
        F.layer_norm(pyburn.ones(2, 4), (4,), pyburn.ones(3))


@pytest.mark.parametrize("shape", [(3, 6), (2, 6, 5), (2, 6, 4, 4), (2, 6, 1)])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_group_norm(shape: tuple[int, ...], groups: int) -> None:
    x = numbers(*shape)
    weight, bias = numbers(6, seed=1), numbers(6, seed=2)
    grouped = x.reshape(shape[0], groups, -1)
    expected = normed(grouped, (2,), 1e-5).reshape(shape)
    expected = expected * channels(weight, len(shape)) + channels(bias, len(shape))
    given = [pyburn.tensor(data) for data in (x, weight, bias)]
    out = F.group_norm(given[0], groups, *given[1:])
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-11, atol=1e-11)
    inputs = (doubles(*shape), doubles(6, seed=1), doubles(6, seed=2))
    assert gradcheck(lambda x, w, b: F.group_norm(x, groups, w, b), inputs)
    if len(shape) < 4:
        assert gradgradcheck(lambda x, w, b: F.group_norm(x, groups, w, b, eps=1e-2), inputs)
    layer = nn.GroupNorm(groups, 6)
    with pyburn.no_grad():
        assert layer.weight is not None
        assert layer.bias is not None
        layer.weight.copy_(given[1])
        layer.bias.copy_(given[2])
    assert layer(given[0].float()).allclose(out.float(), atol=1e-5)


def test_group_norm_refuses() -> None:
    with pytest.raises(ValueError, match="^GroupNorm: num_channels"):
        nn.GroupNorm(4, 6)
    with pytest.raises(RuntimeError, match="^group_norm: .*divisible"):
        F.group_norm(pyburn.ones(2, 6), 4)
    with pytest.raises(RuntimeError, match="^group_norm: expected at least 2 dimensions"):
        F.group_norm(pyburn.ones(6), 2)
    with pytest.raises(RuntimeError, match="greater than 0"):
        F.group_norm(pyburn.ones(2, 6), 0)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        F.group_norm(pyburn.ones(1, 6), 6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype: str) -> None:
    kind = getattr(pyburn, dtype)
    x = pyburn.tensor(numbers(4, 6, 8)).to(kind)
    room = {"float16": 4e-3, "bfloat16": 3e-2}[dtype]
    for wide in (False, True):
        affine = [
            pyburn.tensor(numbers(6, seed=seed)).to(pyburn.float32 if wide else kind)
            for seed in (1, 2)
        ]
        for run in (
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
            lambda x, w, b: F.group_norm(x, 2, w, b),
            lambda x, w, b: F.layer_norm(x.transpose(1, 2), (6,), w, b),
        ):
            inputs = [tensor.clone().requires_grad_() for tensor in (x, *affine)]
            out = run(*inputs)
            assert out.dtype == kind
            exact = run(x.double(), *(tensor.double() for tensor in affine))
            assert out.double().allclose(exact, rtol=room, atol=room)
            out.sum().backward()
            for tensor in inputs:
                assert tensor.grad is not None
                assert tensor.grad.dtype == tensor.dtype
    # Running statistics are kept in float32.
    mean, var = pyburn.zeros(6), pyburn.ones(6)
    F.batch_norm(x, mean, var, training=True)
    assert mean.abs().max().item() > 0


def test_batch_norm_refuses() -> None:
    x = pyburn.randn(4, 3)
    with pytest.raises(ValueError, match="^batch_norm: expected more than 1 value per channel"):
        F.batch_norm(pyburn.ones(1, 3), None, None, training=True)
    with pytest.raises(RuntimeError, match="^batch_norm: expected running_mean and running_var"):
        F.batch_norm(x, None, None)
    with pytest.raises(RuntimeError, match="given both or not at all"):
        F.batch_norm(x, pyburn.zeros(3), None, training=True)
    for name in ("running_mean", "running_var", "weight", "bias"):
        arguments: dict[str, Any] = {"running_mean": pyburn.zeros(3), "running_var": pyburn.ones(3)}
        arguments[name] = pyburn.ones(4)
        for training in (True, False):
            with pytest.raises(RuntimeError, match=rf"^batch_norm: expected {name} of shape \[3\]"):
                F.batch_norm(x, **arguments, training=training)
    with pytest.raises(RuntimeError, match="dtype"):
        F.batch_norm(x, None, None, pyburn.ones(3, dtype=pyburn.float64), training=True)
    with pytest.raises(RuntimeError, match="not implemented for int64"):
        F.batch_norm(pyburn.ones(4, 3, dtype=pyburn.int64), None, None, training=True)
    with pytest.raises(ValueError, match="^instance_norm: expected more than 1 spatial element"):
        F.instance_norm(pyburn.ones(2, 3, 1))


def test_nothing_and_meta() -> None:
    for shape in ((0, 3, 4), (2, 3, 0)):
        weight = pyburn.ones(3, requires_grad=True)
        mean, var = pyburn.zeros(3), pyburn.ones(3)
        out = F.batch_norm(pyburn.ones(shape), mean, var, weight, training=True)
        assert out.shape == shape
        assert (mean.tolist(), var.tolist()) == ([0.0] * 3, [1.0] * 3)
        out.sum().backward()
        assert weight.grad is not None
        assert weight.grad.tolist() == [0.0] * 3
        assert F.group_norm(pyburn.ones(shape), 3).shape == shape
    assert F.layer_norm(pyburn.ones(0, 4), (4,)).shape == (0, 4)
    x = pyburn.empty(2, 4, 3, device="meta")
    for layer in (nn.BatchNorm1d(4), nn.GroupNorm(2, 4), nn.LayerNorm(3), nn.InstanceNorm1d(4)):
        assert layer.to("meta")(x).shape == x.shape


def response(x: np.ndarray, before: int, after: int, alpha: float, beta: float, k: float) -> Any:
    square = np.pad(x**2, [(0, 0), (before, after)] + [(0, 0)] * (x.ndim - 2))
    size = before + after + 1
    total = sum(square[:, at : at + x.shape[1]] for at in range(size))
    return x / (k + alpha * total) ** beta


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_response_of_neighbours(size: int) -> None:
    x = numbers(2, 7, 3, 3)
    expected = response(x, size // 2, (size - 1) // 2, 0.5 / size, 0.7, 1.3)
    layer = nn.LocalResponseNorm(size, 0.5, 0.7, 1.3)
    np.testing.assert_allclose(layer(pyburn.tensor(x)).numpy(), expected, rtol=1e-12)
    half = (size - 1) // 2
    expected = response(x, half, half, 0.5 / size, 0.7, 1.3)
    layer = nn.CrossMapLRN2d(size, 0.5, 0.7, 1.3)
    np.testing.assert_allclose(layer(pyburn.tensor(x)).numpy(), expected, rtol=1e-12)
    assert gradcheck(layer, (doubles(1, 4, 1, 2),))
    assert repr(layer) == f"CrossMapLRN2d({size}, alpha=0.5, beta=0.7, k=1.3)"
    with pytest.raises(ValueError, match="^CrossMapLRN2d: Expected input to be 4D"):
        layer(pyburn.ones(2, 3, 4))
    with pytest.raises(ValueError, match="^local_response_norm: expected 3D or higher"):
        F.local_response_norm(pyburn.ones(2, 3), size)


def test_gradients_are_independent_of_threads() -> None:
    before = pyburn.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            pyburn.set_num_threads(threads)
            x = pyburn.tensor(numbers(64, 512), dtype=pyburn.float32, requires_grad=True)
            w = pyburn.ones(512, requires_grad=True)
            F.layer_norm(x, (512,), w).square().sum().backward()
            y = x.detach().reshape(8, 64, 64).requires_grad_()
            F.batch_norm(y, None, None, training=True).square().sum().backward()
            results.append((x.grad, w.grad, y.grad))
    finally:
        pyburn.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        assert one is not None
        assert other is not None
        assert one.equal(other)
