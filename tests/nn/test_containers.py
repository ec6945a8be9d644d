"""Modules that hold modules or parameters."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pyburn
import pytest
from pyburn import nn


def sizes(modules: Any) -> list[int]:
    return [module.in_features for module in modules]


def row(*wanted: int) -> list[nn.Linear]:
    return [nn.Linear(size, size) for size in wanted]


def test_sequential_calls_in_turn() -> None:
    model = nn.Sequential(nn.Flatten(0), nn.Unflatten(0, (2, 2)))
    assert model(pyburn.arange(4)).tolist() == [[0, 1], [2, 3]]
    assert nn.Sequential()(3) == 3
    named = nn.Sequential(OrderedDict(first=nn.Identity(), second=nn.Identity()))
    assert list(named.state_dict()) == []
    assert [name for name, _ in named.named_children()] == ["first", "second"]
    assert named.first is named[0]


def test_sequential_as_a_list() -> None:
    model = nn.Sequential(*row(1, 2, 3, 4))
    assert len(model) == 4
    assert sizes(model[1:3]) == [2, 3]
    assert isinstance(model[1:3], nn.Sequential)
    assert model[-1].in_features == 4
    assert sizes(reversed(model)) == [4, 3, 2, 1]
    model[0] = nn.Linear(9, 9)
    assert sizes(model) == [9, 2, 3, 4]
    assert model.insert(1, nn.Linear(5, 5)) is model
    assert sizes(model) == [9, 5, 2, 3, 4]
    assert list(model._modules) == ["0", "1", "2", "3", "4"]
    model.insert(-1, nn.Linear(6, 6))
    assert sizes(model) == [9, 5, 2, 3, 6, 4]
    del model[0]
    assert sizes(model) == [5, 2, 3, 6, 4]
    assert list(model._modules) == ["0", "1", "2", "3", "4"]
    del model[1:3]
    assert sizes(model) == [5, 6, 4]
    assert model.pop(1).in_features == 6
    assert sizes(model.append(nn.Linear(7, 7)).extend(row(8))) == [5, 4, 7, 8]
    assert getattr(model, "3") is model[3]
    assert not hasattr(model, "4")


def test_sequential_arithmetic() -> None:
    a, b = nn.Sequential(*row(1)), nn.Sequential(*row(2))
    assert sizes(a + b) == [1, 2]
    a += b
    assert sizes(a) == [1, 2]
    assert sizes(a * 2) == sizes(2 * a) == [1, 2, 1, 2]
    a *= 2
    assert sizes(a) == [1, 2, 1, 2]
    assert a[0] is a[2]


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda m: m[9], IndexError, "Sequential: index 9 is out of range for 1 items"),
        (lambda m: m["a"], TypeError, "integer"),
        (lambda m: m + 3, ValueError, "only objects of Sequential class"),
        (lambda m: m * 0, ValueError, "Non-positive multiplication factor 0"),
        (lambda m: m * 1.5, TypeError, "unsupported operand"),
        (lambda m: m.insert(5, nn.Identity()), IndexError, "index 5 is out of range"),
        (lambda m: m.insert(0, 3), AssertionError, "module should be of type"),
        (lambda m: m.append(3), TypeError, "int is not a Module subclass"),
        (lambda m: nn.Sequential(3), TypeError, "int is not a Module subclass"),
        (lambda m: m.__setitem__(0, 3), TypeError, "as child module"),
    ],
)
def test_wrong_use_of_sequential(act: Any, error: type[Exception], text: str) -> None:
    model = nn.Sequential(nn.Linear(1, 1))
    with pytest.raises(error, match=text):
        act(model)
    assert sizes(model) == [1]


def test_module_list() -> None:
    layers = nn.ModuleList(row(1, 2))
    layers.append(nn.Linear(3, 3))
    layers.extend(row(4))
    layers += row(5)
    assert sizes(layers) == [1, 2, 3, 4, 5]
    assert sizes(layers[1:3]) == [2, 3]
    assert type(layers[1:3]) is nn.ModuleList
    layers[0] = nn.Linear(9, 9)
    layers.insert(1, nn.Linear(8, 8))
    assert sizes(layers) == [9, 8, 2, 3, 4, 5]
    assert layers.pop(0).in_features == 9
    del layers[0]
    del layers[1:]
    assert sizes(layers) == [2]
    assert sizes(layers + nn.ModuleList(row(1))) == [2, 1]
    assert list(layers.state_dict()) == ["0.weight", "0.bias"]
    assert sizes(copy.deepcopy(layers)) == [2]
    with pytest.raises(TypeError, match="iterable, but got int"):
        layers.extend(3)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="ModuleList"):
        layers(1)


def test_module_list_as_text() -> None:
    layers = nn.ModuleList([*row(1, 1), nn.Identity(), nn.Sequential(nn.Identity())])
    assert repr(layers) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (2): Identity()\n"
        "  (3): Sequential(\n"
        "    (0): Identity()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_module_dict() -> None:
    heads = nn.ModuleDict({"a": nn.Linear(1, 1)})
    heads["b"] = nn.Linear(2, 2)
    heads.update([("c", nn.Linear(3, 3))])
    heads.update(nn.ModuleDict({"d": nn.Linear(4, 4)}))
    assert list(heads) == list(heads.keys()) == ["a", "b", "c", "d"]
    assert sizes(heads.values()) == [1, 2, 3, 4]
    assert [name for name, _ in heads.items()] == ["a", "b", "c", "d"]
    assert "a" in heads
    assert len(heads) == 4
    assert heads.pop("a").in_features == 1
    del heads["b"]
    assert next(iter(heads.state_dict())) == "c.weight"
    assert heads.c is heads["c"]
    heads.clear()
    assert len(heads) == 0
    with pytest.raises(KeyError):
        _ = heads["a"]
    for wrong, error, text in (
        (3, TypeError, "iterable of key/value pairs, got int"),
        ([1], TypeError, "element #0 should be Iterable; is int"),
        ([(1, 2, 3)], ValueError, "element #0 has length 3; 2 is required"),
    ):
        with pytest.raises(error, match=text):
            heads.update(wrong)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="attribute 'keys' already exists"):
        heads["keys"] = nn.Identity()


def test_parameter_list() -> None:
    weights = nn.ParameterList([pyburn.ones(1), nn.Parameter(pyburn.ones(2)), 3])
    assert isinstance(weights[0], nn.Parameter)
    assert weights[2] == 3
    assert [name for name, _ in weights.named_parameters()] == ["0", "1"]
    weights.append(pyburn.ones(4))
    weights += [pyburn.ones(5)]
    assert len(weights) == 5
    assert [tuple(weight.shape) for weight in weights[3:]] == [(4,), (5,)]
    weights[0] = pyburn.ones(9)
    assert isinstance(weights[0], nn.Parameter)
    assert weights[-5].shape == (9,)
    assert [type(item).__name__ for item in weights] == ["Parameter"] * 2 + ["int"] + [
        "Parameter"
    ] * 2
    made = copy.deepcopy(weights)
    assert len(made) == 5
    assert "(0): Parameter containing: [pyburn.float32 of size 9]" in repr(weights)
    assert "(2): Object of type: int" in repr(weights)
    assert repr(nn.ParameterList()) == "ParameterList()"
    with pytest.raises(IndexError, match="ParameterList: index 7"):
        _ = weights[7]
    with pytest.raises(TypeError, match="iterable, but got int"):
        weights.extend(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="iterable, but got Tensor"):
        weights.extend(pyburn.ones(2))
    with pytest.raises(RuntimeError, match="should not be called"):
        weights(1)


def test_parameter_dict() -> None:
    weights = nn.ParameterDict({"a": pyburn.ones(1), "n": 3})
    weights["b"] = nn.Parameter(pyburn.ones(2), requires_grad=False)
    assert list(weights) == list(weights.keys()) == ["a", "n", "b"]
    assert [name for name, _ in weights.named_parameters()] == ["a", "b"]
    assert not weights["b"].requires_grad
    assert weights.get("a") is weights["a"] is weights.a
    assert weights.get("z") is None
    assert weights.get("z", 5) == 5
    assert weights.setdefault("c", pyburn.ones(3)).shape == (3,)
    assert weights.setdefault("c", 3).shape == (3,)
    assert list(reversed(weights)) == ["c", "b", "n", "a"]
    assert "c" in weights
    assert weights.popitem()[0] == "c"
    assert weights.pop("n") == 3
    assert [key for key, _ in weights.items()] == ["a", "b"]
    assert len(weights.values()) == len(weights) == 2
    joined = weights | nn.ParameterDict({"z": pyburn.ones(1)})
    assert list(joined) == ["a", "b", "z"]
    assert list(weights) == ["a", "b"]
    weights |= nn.ParameterDict({"y": pyburn.ones(1)})
    assert list(weights) == ["a", "b", "y"]
    assert list(weights.fromkeys(["p", "q"], 1).values()) == [1, 1]
    assert weights.copy()["a"] is weights["a"]
    del weights["a"]
    assert "(b): Parameter containing" in repr(weights)
    weights.clear()
    assert repr(weights) == "ParameterDict()"
    with pytest.raises(KeyError):
        weights.popitem()
    with pytest.raises(KeyError):
        _ = weights["a"]
    with pytest.raises(TypeError, match="not a string"):
        weights[3] = pyburn.ones(1)  # type: ignore[index]
    with pytest.raises(KeyError, match="attribute 'keys' already exists"):
        weights["keys"] = pyburn.ones(1)
    with pytest.raises(RuntimeError, match="should not be called"):
        weights(1)


def test_containers_are_trained_and_loaded() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(row(2, 2))
            self.scales = nn.ParameterDict({"a": pyburn.ones(2)})

        def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
            for layer in self.layers:
                x = layer(x) * self.scales["a"]
            return x

    one, other = Model(), Model()
    other.load_state_dict(one.state_dict())
    assert other(pyburn.ones(2)).equal(one(pyburn.ones(2)))
    one(pyburn.ones(2)).sum().backward()
    assert all(parameter.grad is not None for parameter in one.parameters())
