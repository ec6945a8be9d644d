"""Modules that take their shapes from the first input."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pyburn
import pytest
from pyburn import nn
from pyburn.nn.parameter import is_lazy


def test_the_first_call_gives_the_shapes() -> None:
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyLinear(1, bias=False))
    weight = model[0].weight
    assert "LazyLinear(in_features=0, out_features=3, bias=True)" in repr(model)
    assert model(pyburn.ones(2, 5)).shape == (2, 1)
    assert type(model[0]) is type(model[1]) is nn.Linear
    # The very parameter that an optimizer may have.
    assert model[0].weight is weight
    assert type(weight) is nn.Parameter
    assert weight.shape == (3, 5)
    assert weight.abs().max().item() > 0
    assert model[0].in_features == 5
    assert not model[0]._forward_pre_hooks
    assert not hasattr(model[0], "_first_call")
    model(pyburn.ones(2, 5)).sum().backward()
    assert weight.grad is not None
    with pytest.raises(RuntimeError, match=r"^0: linear: "):
        model(pyburn.ones(2, 4))


def test_what_has_no_shape_refuses_to_compute() -> None:
    weight = nn.LazyLinear(2).weight
    assert is_lazy(weight)
    assert not is_lazy(nn.Linear(1, 1).weight)
    assert isinstance(weight, nn.Parameter)
    assert repr(weight) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="can't access the shape of an uninitialized"):
        _ = weight.shape
    for compute in (
        lambda: weight.sum(),
        lambda: weight + 1,
        lambda: 1 + weight,
        lambda: weight @ weight,
        lambda: weight[0],
        lambda: len(weight),
        lambda: weight == weight,
        lambda: weight.numel(),
    ):
        with pytest.raises(ValueError, match="attempted to use an uninitialized parameter"):
            compute()
    assert len({weight}) == 1


def test_moving_before_the_first_call() -> None:
    layer = nn.LazyLinear(2).double()
    layer(pyburn.ones(1, 3, dtype=pyburn.float64))
    assert layer.weight.dtype == pyburn.float64
    frozen = nn.LazyLinear(2).requires_grad_(False)
    frozen(pyburn.ones(1, 3))
    assert not frozen.weight.requires_grad
    meta = nn.LazyLinear(2, device="meta")
    meta(pyburn.ones(1, 3, device="meta"))
    assert meta.weight.is_meta


def test_copies_before_the_first_call() -> None:
    layer = nn.LazyLinear(2, dtype=pyburn.float64)
    for made in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert is_lazy(made.weight)
        made(pyburn.ones(1, 3, dtype=pyburn.float64))
        assert made.weight.shape == (2, 3)
        assert is_lazy(layer.weight)


def test_loading_gives_the_shapes_too() -> None:
    layer, source = nn.LazyLinear(2), nn.Linear(3, 2)
    layer.load_state_dict(source.state_dict())
    assert layer.weight.equal(source.weight)
    # The values stay at the first call.
    assert layer(pyburn.ones(1, 3)).equal(source(pyburn.ones(1, 3)))
    assert type(layer) is nn.Linear
    assert layer.in_features == 3


def test_a_failed_load_gives_no_shapes() -> None:
    layer = nn.LazyLinear(2)
    with pytest.raises(RuntimeError, match="Missing key"):
        layer.load_state_dict({"weight": pyburn.ones(2, 3)})
    assert is_lazy(layer.weight)


def test_state_dicts_without_shapes() -> None:
    layer = nn.LazyLinear(2)
    state = layer.state_dict()
    assert state["weight"] is layer.weight
    nn.LazyLinear(2).load_state_dict(state)
    with pytest.raises(RuntimeError, match="weight: the checkpoint's tensor is not initialized"):
        nn.Linear(3, 2).load_state_dict(state)


def test_counting_before_the_first_call() -> None:
    model = nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 2))
    assert model.summary((4, 5)).rows[1].output == (4, 3)
    assert is_lazy(model[0].weight)
    assert model.summary().total_params == 8


class Centred(nn.Module):
    """A user's layer with a lazy buffer."""

    mean: Any

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", nn.UninitializedBuffer())

    def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
        return x - self.mean


class LazyCentred(nn.LazyModuleMixin, Centred):  # type: ignore[misc]
    cls_to_become = Centred

    def initialize_parameters(self, x: pyburn.Tensor) -> None:
        if self.has_uninitialized_params():
            self.mean.materialize(x.shape[-1:])
            self.mean.fill_(1.0)


def test_a_users_lazy_layer() -> None:
    layer = LazyCentred().double()
    assert layer.has_uninitialized_params()
    x = pyburn.ones(2, 3, dtype=pyburn.float64)
    assert layer(x).tolist() == [[0.0] * 3] * 2
    assert type(layer) is Centred
    assert type(layer.mean) is pyburn.Tensor
    assert layer.mean.dtype == pyburn.float64


def test_what_is_not_initialized_is_named() -> None:
    class Forgets(nn.LazyModuleMixin, Centred):  # type: ignore[misc]
        def initialize_parameters(self, x: pyburn.Tensor) -> None:
            pass

    with pytest.raises(RuntimeError, match="module Forgets has not been fully initialized"):
        Forgets()(pyburn.ones(1))

    class Lacks(nn.LazyModuleMixin, Centred):  # type: ignore[misc]
        pass

    with pytest.raises(NotImplementedError, match="not implemented for Lacks"):
        Lacks()(pyburn.ones(1))
