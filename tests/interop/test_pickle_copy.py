"""Pickles and copies."""

import copy
import io
import multiprocessing
import pickle

import pyburn
import pytest

DTYPES = ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_every_protocol(protocol, dtype, shape):
    x = pyburn.ones(shape, dtype=getattr(pyburn, dtype))
    y = pickle.loads(pickle.dumps(x, protocol))
    assert (y.dtype, y.shape, y.tolist()) == (x.dtype, x.shape, x.tolist())
    assert y.data_ptr() != x.data_ptr() or not x.numel()


def test_the_flag_survives():
    x = pyburn.ones(2, requires_grad=True)
    assert pickle.loads(pickle.dumps(x)).requires_grad
    assert not pickle.loads(pickle.dumps(x.detach())).requires_grad


def test_values_with_strides():
    x = pyburn.arange(12).reshape(3, 4).t()[::2]
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()


def test_out_of_band_buffers():
    x = pyburn.arange(1000, dtype=pyburn.float32)
    buffers = []
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    y = pickle.loads(data, buffers=buffers)
    assert y.tolist() == x.tolist()


def test_one_tensor_twice_is_one_tensor():
    x = pyburn.ones(2)
    a, b = pickle.loads(pickle.dumps((x, x)))
    a.add_(1)
    assert b.tolist() == [2, 2]


def test_generators_and_devices():
    own = pyburn.Generator()
    own.manual_seed(4)
    state = pickle.loads(pickle.dumps(own.get_state()))
    other = pyburn.Generator()
    other.set_state(state)
    assert pyburn.rand(3, generator=own).tolist() == pyburn.rand(3, generator=other).tolist()
    assert pickle.loads(pickle.dumps(pyburn.device("cpu"))) == pyburn.device("cpu")


def test_deepcopy_of_a_leaf_keeps_its_gradient():
    x = pyburn.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    assert y.requires_grad
    assert y.is_leaf
    assert y.grad.tolist() == [3, 3]
    y.grad.zero_()
    with pyburn.no_grad():
        y.zero_()
    assert x.tolist() == [1, 1]
    assert x.grad.tolist() == [3, 3]


def test_deepcopy_keeps_what_is_shared():
    x = pyburn.ones(2)
    a, b = copy.deepcopy([x, x])
    assert a is b
    assert a is not x


def test_deepcopy_of_a_result_is_refused():
    y = pyburn.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="leaf|graph"):
        copy.deepcopy(y)
    assert copy.deepcopy(y.detach()).tolist() == [2, 2]


def test_copy_shares_memory():
    x = pyburn.ones(2)
    y = copy.copy(x)
    assert y is not x
    y.add_(1)
    assert x.tolist() == [2, 2]


def test_clone_is_a_copy_that_gradients_flow_through():
    x = pyburn.ones(2, requires_grad=True)
    y = x.clone()
    y.mul_(3)
    y.sum().backward()
    assert x.tolist() == [1, 1]
    assert x.grad.tolist() == [3, 3]


def test_attributes_of_the_user_survive():
    x = pyburn.ones(1)
    x.note = "kept"
    assert copy.deepcopy(x).note == "kept"
    assert pickle.loads(pickle.dumps(x)).note == "kept"


@pytest.mark.parametrize("cut", [1, 10, 30, 60])
def test_a_truncated_pickle_raises(cut):
    data = pickle.dumps(pyburn.arange(10))
    with pytest.raises((EOFError, pickle.UnpicklingError, ValueError, RuntimeError, TypeError)):
        pickle.load(io.BytesIO(data[:-cut]))


def _double(x):
    return x * 2


def test_tensors_travel_between_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_double, (pyburn.ones(3),)).tolist() == [2, 2, 2]
