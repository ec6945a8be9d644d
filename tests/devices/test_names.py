"""Names of devices and backends."""

import pickle

import pyburn
import pytest


@pytest.mark.parametrize("name", ["cpu", "CPU", "ndarray", "NdArray", "flex", "cpu:0"])
def test_every_name_of_the_cpu(name):
    assert pyburn.device(name) == pyburn.device("cpu")
    assert pyburn.zeros(1, device=name).device.type == "cpu"


@pytest.mark.parametrize(
    ("name", "kind", "index"),
    [
        ("cuda", "cuda", 0),
        ("cuda:1", "cuda", 1),
        ("CUDA:1", "cuda", 1),
        ("wgpu", "wgpu", 0),
        ("wgpu:2", "wgpu", 2),
        ("vulkan", "wgpu", 0),
        ("metal", "wgpu", 0),
        ("webgpu", "wgpu", 0),
        ("meta", "meta", None),
    ],
)
def test_names_need_no_device(name, kind, index):
    device = pyburn.device(name)
    assert (device.type, device.index) == (kind, index)


@pytest.mark.parametrize("name", ["gpu9", "", "cpu:1", "cuda:x", "cuda:-1", "cuda:", "tpu"])
def test_unknown_names_are_refused(name):
    with pytest.raises((RuntimeError, ValueError), match="device"):
        pyburn.device(name)


def test_other_spellings():
    assert pyburn.device("cuda", 1) == pyburn.device("cuda:1")
    assert pyburn.device(1) == pyburn.device("cuda:1")
    with pytest.raises(TypeError, match="device"):
        pyburn.device(1.5)
    with pytest.raises(TypeError, match="device"):
        pyburn.zeros(1, device=[])


def test_text_and_comparison():
    device = pyburn.device("cuda:1")
    assert str(device) == "cuda:1"
    assert repr(device) == "device(type='cuda', index=1)"
    assert repr(pyburn.device("cpu")) == "device(type='cpu')"
    assert device != pyburn.device("cuda:0")
    assert {device: 1}[pyburn.device("cuda:1")] == 1
    assert pickle.loads(pickle.dumps(device)) == device


def test_a_tensor_knows_its_device():
    x = pyburn.zeros(1)
    assert x.device == pyburn.device("cpu")
    assert x.backend == "ndarray"
    assert not x.is_cuda
    assert x.cpu() is x
    assert x.to("cpu") is x
    assert x.to(x).device == x.device


def test_members_of_the_enumeration_are_devices():
    members = {member.name.lower(): member for member in pyburn.Backend}
    # A member kept for old programs says what there is instead.
    with pytest.raises(RuntimeError, match="expected one of cpu"):
        pyburn.device(members.pop("pytorch"))
    kinds = {pyburn.device(member).type for member in members.values()}
    assert kinds >= {"cpu", "wgpu", "cuda"}
