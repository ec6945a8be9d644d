"""What `pyburn.ndarray`, `pyburn.wgpu` and `pyburn.cuda` are asked, and the modules below them."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pyburn
import pytest

KINDS = {"ndarray": "cpu", "wgpu": "wgpu", "cuda": "cuda"}


@pytest.mark.parametrize("name", KINDS)
def test_every_backend_answers(name):
    module, kind = getattr(pyburn, name), KINDS[name]
    assert module.device == pyburn.device(name)
    assert module.is_available() is pyburn.backend.is_available(name)
    names = next(info.devices for info in pyburn.backends() if info.name == kind)
    assert module.device_count() == len(names)
    assert module.current_device() == 0
    with pytest.raises(ValueError, match=f"synchronize: expected a {kind} device, got meta"):
        module.synchronize("meta")
    with pytest.raises(RuntimeError, match=f"(?i)there is .*{kind}.* 99|{kind}:99"):
        module.get_device_name(99)
    for function in module.__all__:
        value = getattr(module, function)
        assert function == "device" or inspect.getdoc(value)


@pytest.mark.parametrize("name", KINDS)
def test_a_backend_that_is_there_works(name):
    module = getattr(pyburn, name)
    if not module.is_available():
        with pytest.raises(pyburn.DeviceError):
            module.memory_stats()
        return
    assert module.get_device_name() == module.get_device_name(0) == module.get_device_name(name)
    module.synchronize()
    stats = module.memory_stats()
    assert set(stats) == {"bytes_in_use", "bytes_reserved", "allocations"}
    assert module.memory_allocated() <= module.memory_reserved()


def test_names_that_are_missing():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pyburn.wgpu.nothing  # noqa: B018
    with pytest.raises(NotImplementedError, match=r"cuda\.max_memory_allocated: .*; hint: "):
        pyburn.cuda.max_memory_allocated  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pyburn\.wgpu\.fft'"):
        importlib.import_module("pyburn.wgpu.fft")


def test_memory_is_counted():
    def used():
        stats = pyburn.memory_stats("cpu")
        return stats["bytes_in_use"], stats["allocations"]

    before = used()
    x = pyburn.zeros(1000, dtype=pyburn.float32)
    assert used() == (before[0] + 4000, before[1] + 1)
    view = x[1:].reshape(27, 37)
    assert used() == (before[0] + 4000, before[1] + 1)
    product = view @ view.t()
    total = x.sum(0, keepdim=True)
    assert used() == (before[0] + 4000 + product.nbytes + total.nbytes, before[1] + 3)
    array = np.zeros(1000)
    shared = pyburn.from_numpy(array)
    assert used() == (before[0] + 4000 + product.nbytes + total.nbytes, before[1] + 3)
    del x, product, total, shared
    assert used()[0] == before[0] + 4000
    del view
    assert used() == before
    assert pyburn.memory_stats("meta")["bytes_in_use"] == 0
    assert pyburn.memory_stats() == pyburn.memory_stats(pyburn.get_default_device())


def test_the_default_device_of_a_block_ends_with_it():
    with pyburn.device("meta"):
        with pyburn.backend.default_device("cpu"):
            assert not pyburn.zeros(1).is_meta
        assert pyburn.zeros(1).is_meta
    assert not pyburn.zeros(1).is_meta
    with pytest.raises(pyburn.DeviceError), pyburn.backend.default_device("cuda:99"):
        pass


def test_tensors_are_made_on_the_backend():
    import pyburn.ndarray.tensor as on_cpu

    with pyburn.device("meta"):
        assert on_cpu([1.0]).backend == "ndarray"
        assert on_cpu.Tensor([1.0]).backend == "ndarray"
        assert on_cpu.Tensor.random((2,)).backend == "ndarray"
        assert on_cpu.Tensor([1.0], device="meta").is_meta
        assert pyburn.ndarray.tensor is on_cpu
        assert pyburn.tensor([1.0]).is_meta
    assert type(on_cpu.Tensor([1.0])) is pyburn.Tensor
    assert isinstance(pyburn.ones(1), on_cpu.Tensor)
    assert issubclass(pyburn.Tensor, on_cpu.Tensor)
    assert not isinstance(1, on_cpu.Tensor)
    assert on_cpu.Distribution is on_cpu.Distribution
    assert "TensorPy" in dir(on_cpu)
    assert on_cpu.__doc__ == pyburn.tensor.__doc__


class Mine(pyburn.ndarray.tensor.Tensor):
    """A class of a user's."""

    def __new__(cls, size):
        made = super().__new__(cls, [0.0] * size)
        made.other = pyburn.zeros(size)
        return made


def test_classes_derived_from_a_backends():
    with pyburn.device("meta"):
        made = Mine(3)
        assert pyburn.zeros(1).is_meta
    assert made.backend == made.other.backend == "ndarray"
    assert type(made) is Mine
    assert isinstance(made, pyburn.Tensor)
    assert not isinstance(pyburn.ones(1), Mine)
    assert not issubclass(pyburn.Tensor, Mine)
    kind = pyburn.ndarray.tensor.Tensor
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_functions_below_a_backend():
    import pyburn.ndarray.autograd.functional as functional

    with pyburn.device("meta"):
        found = functional.jacobian(lambda x: x * pyburn.ones(2), pyburn.ones(2, device="cpu"))
    assert found.tolist() == [[1, 0], [0, 1]]
    assert inspect.signature(functional.jacobian) == inspect.signature(
        pyburn.autograd.functional.jacobian
    )


def test_modules_with_parameters():
    import pyburn.ndarray.nn as on_cpu

    class Net(on_cpu.Module):
        def __init__(self):
            super().__init__()
            # After the base's constructor, which is when modules of users are made.
            self.weight = pyburn.nn.Parameter(pyburn.zeros(3))

    with pyburn.device("meta"):
        made = Net()
    assert made.weight.backend == "ndarray"
    assert isinstance(made, pyburn.nn.Module)
    assert isinstance(made, on_cpu.Module)
    assert type(on_cpu.Module()) is pyburn.nn.Module
    assert repr(made) == "Net()"
    assert str(inspect.signature(Net)) == "()"


def test_layers():
    import pyburn.cuda.nn
    import pyburn.ndarray.nn
    import pyburn.wgpu.nn.functional

    with pyburn.device("meta"):
        layer = pyburn.ndarray.nn.Linear(3, 4)
        assert layer.weight.backend == layer.bias.backend == "ndarray"
        assert pyburn.ndarray.nn.Linear(3, 4, device="meta").weight.is_meta
        both = pyburn.ndarray.nn.Sequential(layer, pyburn.ndarray.nn.Linear(4, 2))
        assert both(pyburn.ones(5, 3, device="cpu")).shape == (5, 2)
    for kind in (pyburn.nn.Linear, pyburn.ndarray.nn.Linear, pyburn.ndarray.nn.Module):
        assert isinstance(layer, kind)
        assert isinstance(pyburn.nn.Linear(1, 1), kind)
    assert type(layer) is pyburn.nn.Linear
    wanted = inspect.signature(pyburn.nn.Linear)
    assert inspect.signature(pyburn.ndarray.nn.Linear) == wanted
    assert pickle.loads(pickle.dumps(layer)).weight.tolist() == layer.weight.tolist()
    for module in (pyburn.wgpu, pyburn.cuda):
        if not module.is_available():
            with pytest.raises(pyburn.DeviceError, match="hint"):
                module.nn.Linear(2, 2)
    assert pyburn.wgpu.nn.functional.linear(layer.weight, layer.weight).shape == (4, 4)


def test_import_alone_opens_no_device():
    program = (
        "import sys\nimport pyburn.wgpu.tensor, pyburn.cuda.autograd\n"
        "from pyburn.cuda.tensor import Tensor\n"
        "assert pyburn.wgpu.tensor.__name__ == 'pyburn.wgpu.tensor'\n"
        "assert 'pyburn.cuda.autograd.functional' not in sys.modules\n"
        "assert pyburn.cuda.autograd.functional.__name__ == 'pyburn.cuda.autograd.functional'\n"
        "try:\n    pyburn.wgpu.tensor([1.0])\nexcept pyburn.DeviceError:\n    pass\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
