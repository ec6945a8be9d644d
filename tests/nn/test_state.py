"""State dicts: what stands in them, loading, and what happens when they do not fit."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pyburn
import pytest
from pyburn import nn


def model() -> nn.Sequential:
    return nn.Sequential(OrderedDict(a=nn.Linear(2, 2), b=nn.Linear(2, 3)))


def values(module: nn.Module) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


def test_names_order_and_memory() -> None:
    module = model()
    module.register_buffer("kept", pyburn.ones(1))
    module.register_buffer("left", pyburn.ones(1), persistent=False)
    module.register_buffer("none", None)
    state = module.state_dict()
    assert list(state) == ["kept", "a.weight", "a.bias", "b.weight", "b.bias"]
    assert isinstance(state, OrderedDict)
    assert not state["a.weight"].requires_grad
    state["a.weight"].zero_()
    assert module.a.weight.abs().sum().item() == 0
    assert module.state_dict(keep_vars=True)["a.bias"] is module.a.bias
    assert state._metadata == {"": {"version": 1}, "a": {"version": 1}, "b": {"version": 1}}


def test_destination_and_prefix() -> None:
    into: dict[str, Any] = {"before": 1}
    assert nn.Linear(1, 1).state_dict(destination=into, prefix="x.") is into
    assert list(into) == ["before", "x.weight", "x.bias"]
    # PyTorch's older, positional form.
    assert list(nn.Linear(1, 1).state_dict(OrderedDict(), "y.")) == ["y.weight", "y.bias"]


def test_loading_copies() -> None:
    one, other = model(), model()
    weight = other.a.weight
    found = other.load_state_dict(one.state_dict())
    assert repr(found) == str(found) == "<All keys matched successfully>"
    assert (found.missing_keys, found.unexpected_keys) == ([], [])
    assert other.a.weight is weight
    assert values(one) == values(other)
    with pyburn.no_grad():
        one.a.weight.zero_()
    assert weight.abs().sum().item() > 0


def test_loading_converts() -> None:
    layer = nn.Linear(2, 2)
    state = {name: tensor.double() for name, tensor in layer.state_dict().items()}
    layer.load_state_dict(state)
    assert layer.weight.dtype == pyburn.float32


def test_all_faults_are_listed_and_nothing_is_written() -> None:
    module = model()
    before = values(module)
    state = model().state_dict()
    state["a.weight"] = pyburn.ones(3, 3)
    state["b.bias"] = pyburn.ones(7)
    del state["a.bias"]
    state["c.d"] = pyburn.ones(1)
    state["a.extra"] = pyburn.ones(1)
    state["b.weight"] = [1, 2]
    with pytest.raises(RuntimeError) as caught:
        module.load_state_dict(state)
    text = str(caught.value)
    assert text.startswith("Error(s) in loading state_dict for Sequential:\n")
    assert 'Missing key(s) in state_dict: "a.bias".' in text
    assert 'Unexpected key(s) in state_dict: "c.d", "a.extra".' in text
    assert (
        "size mismatch for a.weight: copying a param with shape pyburn.Size([3, 3]) from "
        "checkpoint, the shape in current model is pyburn.Size([2, 2])." in text
    )
    assert "size mismatch for b.bias" in text
    assert 'the parameter named "b.weight", expected a Tensor' in text
    assert values(module) == before


@pytest.mark.parametrize("change", ["missing", "unexpected", "shape"])
def test_one_fault_writes_nothing(change: str) -> None:
    module = model()
    before = values(module)
    state = model().state_dict()
    if change == "missing":
        del state["b.bias"]
    elif change == "unexpected":
        state["b.more"] = pyburn.ones(1)
    else:
        state["b.bias"] = pyburn.ones(4)
    with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict"):
        module.load_state_dict(state)
    assert values(module) == before


def test_not_strict() -> None:
    module, other = model(), model()
    state = other.state_dict()
    del state["a.bias"]
    state["more"] = pyburn.ones(1)
    bias = module.a.bias.tolist()
    found = module.load_state_dict(state, strict=False)
    assert found.missing_keys == ["a.bias"]
    assert found.unexpected_keys == ["more"]
    assert "missing_keys=['a.bias']" in repr(found)
    assert module.a.bias.tolist() == bias
    assert module.b.weight.equal(other.b.weight)
    state["b.weight"] = pyburn.ones(1)
    with pytest.raises(RuntimeError, match="size mismatch for b.weight"):
        module.load_state_dict(state, strict=False)


def test_assign_puts_the_tensors_in_place() -> None:
    layer = nn.Linear(2, 2, device="meta")
    layer.bias.requires_grad_(False)
    state = {"weight": pyburn.ones(2, 2, dtype=pyburn.float64), "bias": pyburn.zeros(2)}
    layer.load_state_dict(state, assign=True)
    assert layer.weight.dtype == pyburn.float64
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.requires_grad
    assert not layer.bias.requires_grad
    assert layer.weight.data_ptr() == state["weight"].data_ptr()
    own = nn.Parameter(pyburn.ones(2, 2))
    layer.load_state_dict({"weight": own, "bias": pyburn.zeros(2)}, assign=True)
    assert layer.weight is own
    layer.freeze().load_state_dict({"weight": own, "bias": pyburn.zeros(2)}, assign=True)
    assert layer.weight is own
    assert not own.requires_grad
    module = nn.Module()
    module.register_buffer("b", pyburn.ones(1))
    b = pyburn.zeros(1)
    module.load_state_dict({"b": b}, assign=True)
    assert module.b is b


def test_copying_into_meta_tensors_warns() -> None:
    layer = nn.Linear(1, 1, bias=False, device="meta")
    with pytest.warns(UserWarning, match="for weight: copying from a non-meta parameter"):
        layer.load_state_dict({"weight": pyburn.ones(1, 1)})


def test_a_number_with_a_dimension_loads_into_one_without() -> None:
    module = nn.Module()
    module.register_buffer("count", pyburn.tensor(0))
    module.load_state_dict({"count": pyburn.tensor([7])})
    assert module.count.item() == 7


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected state_dict to be dict-like, got <class 'int'>"):
        model().load_state_dict(3)  # type: ignore[arg-type]


class Extra(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.extra: Any = {"step": 3}

    def get_extra_state(self) -> Any:
        return self.extra

    def set_extra_state(self, state: Any) -> None:
        self.extra = state


def test_extra_state() -> None:
    module = nn.Sequential(Extra(), nn.Linear(1, 1))
    state = module.state_dict()
    assert state["0._extra_state"] == {"step": 3}
    state["0._extra_state"] = {"step": 4}
    module.load_state_dict(state)
    assert module[0].extra == {"step": 4}
    state["0._extra_state"] = {"step": 5}
    state["1.weight"] = pyburn.ones(9)
    with pytest.raises(RuntimeError, match="size mismatch"):
        module.load_state_dict(state)
    assert module[0].extra == {"step": 4}
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "_extra_state"'):
        Extra().load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "_extra_state"'):
        nn.Module().load_state_dict({"_extra_state": 1})


def test_an_overridden_loader_renames() -> None:
    class Renamed(nn.Linear):
        _version = 2
        versions: list[Any] = []

        def _load_from_state_dict(
            self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *rest: Any
        ) -> None:
            self.versions.append(local_metadata.get("version"))
            if prefix + "old" in state_dict:
                state_dict[prefix + "weight"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    module = nn.Sequential(Renamed(2, 2))
    state = module.state_dict()
    assert state._metadata["0"] == {"version": 2}
    renamed = OrderedDict(state)
    renamed["0.old"] = pyburn.ones(2, 2)
    del renamed["0.weight"]
    renamed._metadata = state._metadata  # type: ignore[attr-defined]
    module.load_state_dict(renamed)
    assert module[0].weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert Renamed.versions == [2]
    assert "0.old" in renamed
    # Called by itself it writes at once.
    module[0]._load_from_state_dict(
        {"weight": pyburn.zeros(2, 2), "bias": pyburn.zeros(2)}, "", {}, True, [], [], []
    )
    assert module[0].weight.abs().sum().item() == 0


def test_saving_hooks() -> None:
    module = model()
    log: list[Any] = []
    pre = module.register_state_dict_pre_hook(
        lambda module, prefix, keep_vars: log.append((prefix, keep_vars))
    )

    def shorten(module: Any, state: dict[str, Any], prefix: str, metadata: Any) -> None:
        del state[prefix + "bias"]

    post = module.a.register_state_dict_post_hook(shorten)
    assert "p.a.bias" not in module.state_dict(prefix="p.", keep_vars=True)
    assert log == [("p.", True)]
    wrong = module.register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        module.state_dict()
    wrong.remove()
    pre.remove()
    post.remove()
    replacing = module._register_state_dict_hook(lambda module, state, prefix, metadata: {"x": 1})
    assert module.state_dict() == {"x": 1}
    replacing.remove()
    assert list(module.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]


def test_loading_hooks() -> None:
    module = model()

    def rename(module: Any, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    with_module = module.a.register_load_state_dict_pre_hook(rename)
    state = module.state_dict()
    state["a.kernel"] = state.pop("a.weight")
    module.load_state_dict(state)
    with_module.remove()
    plain = module.a._register_load_state_dict_pre_hook(lambda *args: rename(None, *args))
    module.load_state_dict(state)
    plain.remove()

    seen: list[Any] = []
    module.register_load_state_dict_post_hook(
        lambda module, keys: seen.append((list(keys.missing_keys), module.a.bias.tolist()))
    )
    fresh = model().state_dict()
    module.load_state_dict(fresh)
    # They see what was loaded.
    assert seen == [([], fresh["a.bias"].tolist())]


def test_a_loading_hook_may_forgive() -> None:
    module = model()
    state = model().state_dict()
    del state["a.bias"]
    handle = module.register_load_state_dict_post_hook(
        lambda module, keys: keys.missing_keys.clear()
    )
    module.load_state_dict(state)
    assert module.a.weight.equal(state["a.weight"])
    handle.remove()
    module.register_load_state_dict_post_hook(lambda module, keys: keys)
    with pytest.raises(RuntimeError, match="post-hook must return None"):
        module.load_state_dict(state, strict=False)


def test_a_state_dict_survives_a_checkpoint(tmp_path: Any) -> None:
    module = model()
    pyburn.save(module.state_dict(), tmp_path / "m.pt")
    other = model()
    other.load_state_dict(pyburn.load(tmp_path / "m.pt"))
    assert values(module) == values(other)


def test_loading_inside_of_a_hook() -> None:
    """A load that a hook starts writes for itself."""
    inner, source = nn.Linear(1, 1), nn.Linear(1, 1)
    module = model()
    module.register_load_state_dict_pre_hook(
        lambda *args: inner.load_state_dict(source.state_dict()) and None
    )
    with pytest.raises(RuntimeError, match="Missing key"):
        module.load_state_dict({})
    assert inner.weight.equal(source.weight)
