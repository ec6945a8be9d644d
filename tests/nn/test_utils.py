"""Clipping, vectors of parameters, functional calls, fusion, the older norms, pruning."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.func import functional_call, stack_module_state
from pyburn.nn import utils
from pyburn.nn.utils import prune


def with_grads(*grads: list[float]) -> list[pyburn.Tensor]:
    made: list[pyburn.Tensor] = []
    for values in grads:
        tensor = pyburn.zeros(len(values), requires_grad=True)
        tensor.grad = pyburn.tensor(values)
        made.append(tensor)
    return made


def grads_of(tensors: list[pyburn.Tensor]) -> list[Any]:
    return [None if tensor.grad is None else tensor.grad.tolist() for tensor in tensors]


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.5, math.inf])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping_norms(norm_type: float, max_norm: float) -> None:
    values = [[3.0, -4.0], [1.0], [2.0, 5.0, -1.0]]
    tensors = with_grads(*values)
    tensors.insert(1, pyburn.zeros(2, requires_grad=True))
    total = utils.clip_grad_norm_(tensors, max_norm, norm_type)
    flat = np.concatenate(values)
    expected = np.linalg.norm(flat, norm_type)
    assert total.item() == pytest.approx(expected, rel=1e-6)
    factor = min(1.0, max_norm / (expected + 1e-6))
    found = np.concatenate([grad for grad in grads_of(tensors) if grad is not None])
    np.testing.assert_allclose(found, flat * factor, rtol=1e-6)


def test_clipping_takes_what_modules_give() -> None:
    model = nn.Linear(2, 2)
    model(pyburn.ones(2)).sum().backward()
    assert utils.clip_grad_norm_(model.parameters(), 1.0).item() == pytest.approx(math.sqrt(6))
    assert utils.get_total_norm(
        [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    ).item() == pytest.approx(1, abs=1e-5)
    single = with_grads([3.0, 4.0])[0]
    assert utils.clip_grad_norm_(single, 1.0).item() == 5
    assert utils.clip_grad_norm(single, 1.0).item() == pytest.approx(1)
    assert utils.clip_grad_norm_([pyburn.ones(1, requires_grad=True)], 1.0).item() == 0
    with pytest.warns(UserWarning, match="`parameters` is empty"):
        assert utils.clip_grad_norm_([], 1.0).item() == 0


def test_norms_that_are_not_finite() -> None:
    tensors = with_grads([math.nan, 1.0])
    with pytest.raises(RuntimeError, match="total norm of order 2.0 .* non-finite"):
        utils.clip_grad_norm_(tensors, 1.0, error_if_nonfinite=True)
    assert math.isnan(utils.clip_grad_norm_(tensors, 1.0).item())
    assert math.isnan(grads_of(tensors)[0][1])


def test_clipping_values() -> None:
    tensors = with_grads([3.0, -4.0, 0.5], [-0.1])
    utils.clip_grad_value_(tensors, 1.0)
    assert grads_of(tensors) == [[1.0, -1.0, 0.5], pytest.approx([-0.1])]


def test_scaling_by_a_given_norm() -> None:
    tensors = with_grads([3.0, 4.0])
    utils.clip_grads_with_norm_(tensors, 1.0, pyburn.tensor(10.0))
    assert grads_of(tensors)[0] == pytest.approx([0.3, 0.4])


def test_half_gradients_stay_half() -> None:
    tensor = pyburn.zeros(2, dtype=pyburn.float16, requires_grad=True)
    tensor.grad = pyburn.tensor([3.0, 4.0], dtype=pyburn.float16)
    utils.clip_grad_norm_(tensor, 1.0)
    assert tensor.grad.dtype == pyburn.float16


def test_vectors_of_parameters() -> None:
    model = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(model.parameters())
    assert vector.tolist() == [*model.weight.flatten().tolist(), *model.bias.tolist()]
    vector.sum().backward()
    assert model.weight.grad is not None
    weight = model.weight
    utils.vector_to_parameters(pyburn.arange(9.0), model.parameters())
    assert model.weight is weight
    assert weight.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    with pytest.raises(TypeError, match="expected a Tensor"):
        utils.vector_to_parameters([1.0], model.parameters())  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="expected 9 elements, got a vector of 3"):
        utils.vector_to_parameters(pyburn.ones(3), model.parameters())
    with pytest.raises(TypeError, match="different devices, cpu and meta"):
        utils.parameters_to_vector([pyburn.ones(1), pyburn.ones(1, device="meta")])


# Functional calls


def test_functional_calls() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1))
    before = {name: tensor.tolist() for name, tensor in model.state_dict().items()}
    weight = pyburn.ones(2, 2, requires_grad=True)
    x = pyburn.ones(3, 2)
    out = functional_call(model, {"0.weight": weight}, (x,))
    expected = model[1](x @ weight.T)
    assert out.equal(expected)
    out.sum().backward()
    assert weight.grad is not None
    assert model[0].weight.grad is None
    assert model[1].weight.grad is not None
    assert {name: tensor.tolist() for name, tensor in model.state_dict().items()} == before
    assert isinstance(model[0].weight, nn.Parameter)
    assert functional_call(model, [{"0.weight": weight}, {"ignored": x}], x).equal(out)


def test_functional_calls_put_everything_back() -> None:
    model = nn.Linear(2, 2)
    weight = model.weight
    with pytest.raises(RuntimeError, match="linear"):
        functional_call(model, {"weight": pyburn.ones(5, 5)}, pyburn.ones(2))
    assert model.weight is weight


def test_functional_calls_write_given_buffers() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", pyburn.zeros(1))

        def forward(self, *, step: int) -> pyburn.Tensor:
            self.count += step
            return self.count

    module = Counting()
    count = pyburn.ones(1)
    assert functional_call(module, {"count": count}, kwargs={"step": 3}).item() == 4
    assert count.item() == 4
    assert module.count.item() == 0


def test_functional_calls_of_tied_parameters() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    x, two = pyburn.ones(2), 2 * pyburn.eye(2)
    assert functional_call(model, {"0.weight": two}, x).tolist() == [4.0, 4.0]
    assert functional_call(model, {"1.weight": two}, x).tolist() == [4.0, 4.0]
    both = {"0.weight": two, "1.weight": pyburn.eye(2)}
    with pytest.raises(ValueError, match="tie_weights=False"):
        functional_call(model, both, x)
    assert functional_call(model, both, x, tie_weights=False).tolist() == [2.0, 2.0]


def test_strict_functional_calls() -> None:
    model = nn.Linear(1, 1)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): bias\."):
        functional_call(model, {"weight": pyburn.ones(1, 1)}, pyburn.ones(1), strict=True)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): other\."):
        functional_call(model, {"other": pyburn.ones(1)}, pyburn.ones(1), strict=True)
    with pytest.raises(ValueError, match="weight appears in several"):
        functional_call(model, [{"weight": pyburn.ones(1)}, {"weight": pyburn.ones(1)}])


def test_gradients_by_function() -> None:
    model = nn.Linear(2, 1)
    params = {name: tensor.detach() for name, tensor in model.named_parameters()}
    grads = pyburn.func.grad(lambda p: functional_call(model, p, pyburn.ones(2)).sum())(params)
    assert grads["weight"].tolist() == [[1.0, 1.0]]
    models = [nn.Linear(2, 1) for _ in range(3)]
    stacked, buffers = stack_module_state(models)
    assert stacked["weight"].shape == (3, 1, 2)
    assert stacked["weight"].requires_grad
    assert buffers == {}
    out = pyburn.vmap(lambda p, x: functional_call(model, p, x), in_dims=(0, None))(
        stacked, pyburn.ones(2)
    )
    for row, each in zip(out, models, strict=True):
        assert row.allclose(each(pyburn.ones(2)))
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()])
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([nn.Linear(1, 1), nn.Identity()])


# Fusion


class Norm(nn.Module):
    """What a batch normalisation has."""

    def __init__(self, size: int, affine: bool = True) -> None:
        super().__init__()
        self.num_features = size
        self.eps = 1e-3
        self.weight: Any = nn.Parameter(pyburn.rand(size) + 0.5) if affine else None
        self.bias: Any = nn.Parameter(pyburn.randn(size)) if affine else None
        self.register_buffer("running_mean", pyburn.randn(size))
        self.register_buffer("running_var", pyburn.rand(size) + 0.5)

    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        x = (x - self.running_mean) / (self.running_var + self.eps).sqrt()
        return x if self.weight is None else x * self.weight + self.bias


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_fusing_a_linear_layer(bias: bool, affine: bool) -> None:
    layer, norm = nn.Linear(3, 4, bias=bias).eval(), Norm(4, affine).eval()
    fused = utils.fuse_linear_bn_eval(layer, norm)
    x = pyburn.randn(5, 3)
    assert fused(x).allclose(norm(layer(x)), atol=1e-5)
    assert type(fused) is nn.Linear
    assert fused is not layer
    with pytest.raises(AssertionError, match="fusion only for eval"):
        utils.fuse_linear_bn_eval(layer.train(), norm)
    with pytest.raises(AssertionError, match="got 4 and 3"):
        utils.fuse_linear_bn_eval(layer, Norm(3))


def test_fusing_what_was_trained() -> None:
    layer, norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
    for _ in range(5):
        norm(layer(pyburn.randn(8, 3) + 1))
    fused = utils.fuse_linear_bn_eval(layer.eval(), norm.eval())
    x = pyburn.randn(5, 3)
    assert fused(x).allclose(norm(layer(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="keeps no statistics"):
        utils.fuse_linear_bn_eval(layer, nn.BatchNorm1d(4, track_running_stats=False).eval())


@pytest.mark.parametrize("transpose", [True, False])
def test_fusing_weights_of_a_convolution(transpose: bool) -> None:
    norm = Norm(4)
    weight = pyburn.randn(*((3, 4) if transpose else (4, 3)), 2)
    fused, bias = utils.fuse_conv_bn_weights(
        weight,
        None,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
        transpose,
    )
    scale = norm.weight.detach() / (norm.running_var + norm.eps).sqrt()
    expected = weight * scale.reshape(1, 4, 1) if transpose else weight * scale.reshape(4, 1, 1)
    assert fused.allclose(expected, atol=1e-6)
    assert bias.allclose(norm.bias - norm.running_mean * scale, atol=1e-6)


def test_skip_init() -> None:
    layer = utils.skip_init(nn.Linear, 3, 2, bias=False)
    assert layer.weight.shape == (2, 3)
    assert not layer.weight.is_meta
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        utils.skip_init(Norm, 3)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        utils.skip_init(dict)  # type: ignore[type-var]


# The older norms


def test_the_older_weight_norm() -> None:
    layer = nn.Linear(3, 2)
    weight = layer.weight.detach().clone()
    assert utils.weight_norm(layer) is layer
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    assert layer.weight.allclose(weight, atol=1e-6)
    x = pyburn.ones(3)
    layer(x).sum().backward()
    assert layer.weight_g.grad is not None
    with pyburn.no_grad():
        layer.weight_g.mul_(2)
    assert (layer(x) - layer.bias).allclose(2 * x @ weight.T, atol=1e-5)
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
        utils.weight_norm(layer)
    utils.remove_weight_norm(layer)
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.allclose(2 * weight, atol=1e-6)
    assert not layer._forward_pre_hooks
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        utils.remove_weight_norm(layer)
    with pytest.raises(ValueError, match="no parameter named 'none'"):
        utils.weight_norm(layer, "none")


def test_the_older_spectral_norm() -> None:
    layer = nn.Linear(3, 2)
    utils.spectral_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    for _ in range(40):
        out = layer(pyburn.ones(3))
    assert np.linalg.norm(layer.weight.detach().numpy(), 2) == pytest.approx(1, abs=1e-4)
    out.sum().backward()
    assert layer.weight_orig.grad is not None
    u = layer.weight_u.tolist()
    layer.eval()(pyburn.ones(3))
    assert layer.weight_u.tolist() == u
    with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
        utils.spectral_norm(layer)
    utils.remove_spectral_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"]
    assert np.linalg.norm(layer.weight.detach().numpy(), 2) == pytest.approx(1, abs=1e-4)
    with pytest.raises(ValueError, match="spectral_norm of 'weight' not found"):
        utils.remove_spectral_norm(layer)
    with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
        utils.spectral_norm(layer, n_power_iterations=0)


# Pruning


def numbered() -> nn.Linear:
    """A weight of 1 ... 6 with changing signs."""
    layer = nn.Linear(3, 2, bias=False)
    with pyburn.no_grad():
        layer.weight.copy_(pyburn.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]))
    return layer


def test_pruning_the_smallest() -> None:
    layer = numbered()
    weight = layer.weight
    prune.l1_unstructured(layer, "weight", amount=2)
    assert prune.is_pruned(layer)
    assert list(layer.state_dict()) == ["weight_orig", "weight_mask"]
    assert layer.weight_orig is weight
    assert layer.weight.tolist() == [[0.0, 0.0, 3.0], [-4.0, 5.0, -6.0]]
    # In addition to what is pruned: half of the four that are left.
    prune.l1_unstructured(layer, "weight", amount=0.5)
    assert layer.weight.tolist() == [[0.0, 0.0, 0.0], [0.0, 5.0, -6.0]]
    layer(pyburn.ones(3)).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    made = copy.deepcopy(layer.state_dict())
    assert list(made) == ["weight_orig", "weight_mask"]
    prune.remove(layer, "weight")
    assert layer.weight is weight
    assert layer.weight.tolist() == [[0.0, 0.0, 0.0], [0.0, 5.0, -6.0]]
    assert not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_pruning_slices() -> None:
    layer = numbered()
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=1)
    assert layer.weight.tolist() == [[0.0, -2.0, 3.0], [0.0, 5.0, -6.0]]
    prune.ln_structured(layer, "weight", amount=1, n=1, dim=0)
    assert layer.weight.tolist() == [[0.0] * 3, [0.0, 5.0, -6.0]]
    layer = numbered()
    prune.random_structured(layer, "weight", amount=2, dim=1)
    assert sorted((layer.weight != 0).sum(0).tolist()) == [0, 0, 2]


def test_other_prunings() -> None:
    layer = numbered()
    prune.identity(layer, "weight")
    assert layer.weight.tolist() == layer.weight_orig.tolist()
    prune.random_unstructured(layer, "weight", amount=4)
    assert int((layer.weight == 0).sum()) == 4
    prune.random_unstructured(layer, "weight", amount=1.0)
    assert int((layer.weight == 0).sum()) == 6
    layer = numbered()
    mask = pyburn.tensor([[1, 0, 1], [1, 1, 0]])
    prune.custom_from_mask(layer, "weight", mask)
    assert layer.weight.tolist() == [[1.0, 0.0, 3.0], [-4.0, 5.0, 0.0]]
    layer = numbered()
    prune.l1_unstructured(layer, "weight", amount=1, importance_scores=1 / layer.weight)
    assert layer.weight.tolist() == [[1.0, -2.0, 3.0], [-4.0, 5.0, 0.0]]
    assert prune.L1Unstructured(2).prune(pyburn.tensor([3.0, 1.0, 2.0])).tolist() == [3.0, 0.0, 0.0]


def test_pruning_several_as_one() -> None:
    a, b = numbered(), numbered()
    with pyburn.no_grad():
        b.weight.mul_(10)
    pairs = [(a, "weight"), (b, "weight")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=6)
    assert int((a.weight == 0).sum()) == 6
    assert int((b.weight == 0).sum()) == 0
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=2)
    assert b.weight.tolist() == [[0.0, 0.0, 30.0], [-40.0, 50.0, -60.0]]
    with pytest.raises(TypeError, match='Only "unstructured"'):
        prune.global_unstructured(pairs, prune.RandomStructured, amount=1)


@pytest.mark.parametrize(
    ("amount", "error", "text"),
    [
        (1.5, ValueError, "amount=1.5 should either be a float"),
        (-1, ValueError, "amount=-1"),
        ("all", TypeError, "Invalid type for amount: all"),
        (7, ValueError, "amount=7 should be smaller than the number of parameters to prune=6"),
    ],
)
def test_wrong_amounts(amount: Any, error: type[Exception], text: str) -> None:
    layer = numbered()
    with pytest.raises(error, match=text):
        prune.l1_unstructured(layer, "weight", amount)
    assert list(layer.state_dict()) == ["weight"]


def test_slices_need_dimensions() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"multidimensional tensors. Found tensor of shape \[2\]"):
        prune.random_structured(layer, "bias", 1, 0)
    with pytest.raises(IndexError, match="Invalid index 5"):
        prune.random_structured(layer, "weight", 1, 5)
    assert not prune.is_pruned(layer)


def test_layouts_change_nothing() -> None:
    layer = nn.Linear(1, 1)
    assert utils.convert_conv2d_weight_memory_format(layer, pyburn.channels_last) is layer
    assert utils.convert_conv3d_weight_memory_format(layer, pyburn.channels_last_3d) is layer
    with pytest.raises(TypeError, match="expected a memory_format, got str"):
        utils.convert_conv2d_weight_memory_format(layer, "channels_last")  # type: ignore[arg-type]
