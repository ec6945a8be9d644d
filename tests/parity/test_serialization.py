"""Checkpoints and safetensors-like files exchanged with PyTorch itself."""

from __future__ import annotations

from collections import Counter, OrderedDict

import pyburn
import pytest

torch = pytest.importorskip("torch")

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def same(ours, theirs):
    """Whether a tensor of PyBurn's and one of PyTorch's are equal in all that files keep."""
    assert repr(ours.dtype).split(".")[1] == repr(theirs.dtype).split(".")[1]
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert tuple(ours.stride()) == tuple(theirs.stride())
    assert ours.requires_grad == theirs.requires_grad
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_both_ways(tmp_path, name):
    path = tmp_path / "x.pt"
    for base in ((7,), (0, 3), (), (3, 4)):
        size = 1
        for extent in base:
            size *= extent
        theirs = torch.arange(size).to(getattr(torch, name)).reshape(base)
        ours = pyburn.arange(size).to(getattr(pyburn, name)).reshape(base)
        if len(base) == 2:
            theirs, ours = theirs.t()[1:], ours.t()[1:]
        torch.save(theirs, path)
        same(pyburn.load(path), theirs)
        pyburn.save(ours, path)
        same(ours, torch.load(path, weights_only=True))
        same(ours, torch.load(path, weights_only=True, mmap=True))


def test_plain_values_both_ways(tmp_path):
    path = tmp_path / "x.pt"
    value = {
        "n": [None, True, 0, 255, 256, -1, 2**31, 2**70, -(2**200), 0.5, "text", "\u00e9", 1 + 2j],
        "bytes": [b"", b"\x00\xff", bytearray(b"ab")],
        "t": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
        "d": {None: 1, 2: 3, (1, "a"): 4},
        "o": OrderedDict(b=1, a=2),
        "c": Counter("abca"),
        "s": {1, 2},
    }
    torch.save(value, path)
    assert pyburn.load(path) == value
    pyburn.save(value, path)
    assert torch.load(path, weights_only=True) == value


def test_module_state_both_ways(tmp_path):
    path = tmp_path / "x.pt"
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.LSTM(4, 5, 2),
        torch.nn.Linear(5, 2),
    )
    optimizer = torch.optim.Adam(net.parameters())
    net[3](torch.ones(1, 5)).sum().backward()
    optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    loaded = pyburn.load(path)
    state = net.state_dict()
    assert list(loaded["net"]) == list(state)
    for key, theirs in state.items():
        same(loaded["net"][key], theirs)
    assert loaded["net"]._metadata == state._metadata
    pyburn.save(loaded, path)
    again = torch.load(path, weights_only=True)
    assert again["net"]._metadata == state._metadata
    net.load_state_dict(again["net"])
    optimizer.load_state_dict(again["optimizer"])
    assert again["epoch"] == 3


def test_sharing_and_parameters(tmp_path):
    path = tmp_path / "x.pt"
    base = torch.arange(12.0).reshape(3, 4)
    torch.save({"a": base, "b": base[1], "p": torch.nn.Parameter(torch.ones(2))}, path)
    loaded = pyburn.load(path)
    loaded["b"].fill_(-1)
    assert loaded["a"][1].tolist() == [-1.0] * 4
    assert loaded["p"].requires_grad
    ours = pyburn.arange(12.0).reshape(3, 4)
    pyburn.save({"a": ours, "b": ours[1]}, path)
    loaded = torch.load(path, weights_only=True)
    loaded["b"].fill_(-1)
    assert loaded["a"][1].tolist() == [-1.0] * 4


def test_conjugates_and_negatives(tmp_path):
    path = tmp_path / "x.pt"
    value = torch.tensor([1 + 2j])
    torch.save(value.conj(), path)
    assert pyburn.load(path).tolist() == [1 - 2j]
    torch.save(value.conj().imag, path)
    assert pyburn.load(path).tolist() == [-2.0]


def test_what_pytorch_has_and_pyburn_has_not(tmp_path):
    path = tmp_path / "x.pt"
    for value in (
        torch.ones(2, dtype=torch.uint16),
        torch.ones(2).to_sparse(),
        torch.ones(2).to(torch.float8_e5m2),
        torch.nn.Linear(1, 1),
        torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    ):
        torch.save(value, path)
        with pytest.raises((NotImplementedError, ValueError, __import__("pickle").UnpicklingError)):
            pyburn.load(path)
    torch.save(torch.ones(2), path, _use_new_zipfile_serialization=False)
    with pytest.raises(NotImplementedError, match=r"before 1\.6"):
        pyburn.load(path)
