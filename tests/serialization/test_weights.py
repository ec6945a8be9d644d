"""Weights out of old checkpoints, whole models, sharded models, under other names."""

from __future__ import annotations

import io
import json
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pyburn as pb
import pytest

DATA = Path(__file__).parent / "data"
NAMES = [
    "0.weight",
    "0.bias",
    "1.0.weight",
    "1.0.bias",
    "1.0.running_mean",
    "1.0.running_var",
    "1.0.num_batches_tracked",
]
load_state_dict = pb.serialization.load_state_dict


def test_an_old_checkpoint_keeps_views_and_types() -> None:
    for mapped in (False, True):
        loaded = pb.load(DATA / "legacy_views.pt", mmap=mapped)
        base = np.arange(12, dtype=np.float32).reshape(3, 4)
        whole, turned, part = loaded["views"]
        np.testing.assert_array_equal(whole.numpy(), base)
        np.testing.assert_array_equal(turned.numpy(), base.T)
        np.testing.assert_array_equal(part.numpy(), base[1:])
        whole[1, 0] = 100
        assert turned[0, 1].item() == part[0, 0].item() == 100
        assert loaded["half"].dtype == pb.bfloat16
        assert loaded["half"].item() == 1.5
        assert loaded["flags"].tolist() == [True, False]
        assert loaded["step"] == 7


@pytest.mark.parametrize("name", ["legacy_model.pt", "model.pt"])
def test_a_whole_model_gives_its_state_dict(name: str) -> None:
    state = load_state_dict(DATA / name)
    assert list(state) == NAMES
    for at, tensor in enumerate(state.values()):
        count = max(tensor.numel(), 1)
        np.testing.assert_array_equal(tensor.numpy().ravel(), np.arange(count) + 10 * at)


@pytest.mark.parametrize("name", ["legacy_model.pt", "model.pt"])
def test_a_whole_model_is_no_value(name: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"refused the global 'torch\.nn\."):
        pb.load(DATA / name)


def test_it_loads_into_a_model() -> None:
    model = pb.nn.Sequential(pb.nn.Linear(3, 2), pb.nn.Sequential(pb.nn.BatchNorm1d(2)))
    model.load_state_dict(load_state_dict(DATA / "model.pt"))
    np.testing.assert_array_equal(model[0].bias.detach().numpy(), [10, 11])


def test_names_are_changed_and_left_out() -> None:
    path = DATA / "model.pt"
    assert list(load_state_dict(path, prefix="0.")) == ["weight", "bias"]
    rules = [(r"^1\.0\.", "norm."), (r"^0\.", "linear.")]
    assert list(load_state_dict(path, rename=rules))[:3] == [
        "linear.weight",
        "linear.bias",
        "norm.weight",
    ]
    assert "a" in load_state_dict(path, rename={"0.weight": "a"})
    kept = load_state_dict(path, rename=lambda name: name if "running" in name else None)
    assert list(kept) == ["1.0.running_mean", "1.0.running_var"]
    with pytest.raises(ValueError, match="two tensors are to be called 'x'"):
        load_state_dict(path, rename=lambda name: "x")
    with pytest.raises(ValueError, match=r"no tensor is left.*prefix='encoder\.'"):
        load_state_dict(path, prefix="encoder.")


def test_a_state_dict_is_found_where_programs_put_it(tmp_path: Path) -> None:
    state = {"w": pb.ones(2)}
    for outer in ("state_dict", "model_state_dict", "model"):
        pb.save({"epoch": 1, outer: state, "optimizer": {"lr": 0.1}}, tmp_path / "a.pt")
        assert list(load_state_dict(tmp_path / "a.pt")) == ["w"]
    pb.save({"ema": {"shadow": state}}, tmp_path / "a.pt")
    assert list(load_state_dict(tmp_path / "a.pt", key="ema.shadow")) == ["w"]
    with pytest.raises(ValueError, match=r"found no tensors by name, but \['ema'\]"):
        load_state_dict(tmp_path / "a.pt")
    with pytest.raises(KeyError, match="there is no 'net'"):
        load_state_dict(tmp_path / "a.pt", key="net")
    pb.save([pb.ones(1)], tmp_path / "a.pt")
    with pytest.raises(TypeError, match="expected tensors by name, got list"):
        load_state_dict(tmp_path / "a.pt")


def test_a_sharded_model(tmp_path: Path) -> None:
    pb.save({"a": pb.ones(2)}, tmp_path / "model-1.safetensors")
    pb.save({"b": pb.zeros(3)}, tmp_path / "model-2.safetensors")
    index = tmp_path / "model.safetensors.index.json"

    def write(places: object) -> None:
        index.write_text(json.dumps({"metadata": {}, "weight_map": places}), encoding="utf-8")

    write({"b": "model-2.safetensors", "a": "model-1.safetensors"})
    state = load_state_dict(index, mmap=True)
    assert [(name, tuple(tensor.shape)) for name, tensor in state.items()] == [
        ("b", (3,)),
        ("a", (2,)),
    ]
    write({"a": "model-1.safetensors", "c": "model-1.safetensors"})
    with pytest.raises(ValueError, match=r"lacks \['c'\]"):
        load_state_dict(index)
    write({"a": "../model-1.safetensors"})
    with pytest.raises(ValueError, match="no file beside the index"):
        load_state_dict(index)
    write({"a": "model-3.safetensors"})
    with pytest.raises(FileNotFoundError, match="model-3"):
        load_state_dict(index)
    index.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="no index of a sharded model"):
        load_state_dict(index)


class Evil:
    """Would write a file if a pickle of it were run."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, ...]:
        return (shutil.copy, (__file__, str(self.target)))


def test_no_code_of_an_old_checkpoint_runs(tmp_path: Path) -> None:
    target = tmp_path / "was-run"
    head = b"".join(
        pickle.dumps(value, 2)
        for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True, "protocol_version": 1})
    )
    evil = head + pickle.dumps({"w": Evil(target)}, 2) + pickle.dumps([], 2)
    with pytest.raises(pickle.UnpicklingError, match=r"refused the global 'shutil\.copy'"):
        pb.load(io.BytesIO(evil))
    # Read as a whole model it is a name without a meaning.
    with pytest.raises(ValueError, match="found no tensors"):
        load_state_dict(io.BytesIO(evil))
    assert not target.exists()


def test_damaged_old_checkpoints_are_refused() -> None:
    whole = (DATA / "legacy_views.pt").read_bytes()
    draw = random.Random(0)
    refused = 0
    for turn in range(600):
        data = bytearray(whole)
        if turn % 2:
            del data[draw.randrange(20, len(data)) :]
        else:
            data[draw.randrange(20, len(data))] = draw.randrange(256)
        try:
            pb.load(io.BytesIO(bytes(data)))
        except (ValueError, NotImplementedError, pickle.UnpicklingError, TypeError, RuntimeError):
            refused += 1
    # What is cut off is always missed; a changed byte may be one of a number.
    assert refused > 300
