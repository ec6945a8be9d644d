"""DLPack 1.x with NumPy both ways."""

import gc
import weakref

import numpy as np
import pyburn
import pytest

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0)])
def test_numpy_to_pyburn_and_back(dtype, shape):
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = pyburn.from_dlpack(a)
    assert x.dtype == getattr(pyburn, dtype)
    np.testing.assert_array_equal(x.numpy(), a)
    b = np.from_dlpack(x)
    assert b.dtype == a.dtype
    np.testing.assert_array_equal(b, a)


def test_memory_is_shared():
    a = np.zeros((3, 4), dtype=np.float32)
    x = pyburn.from_dlpack(a)
    x[1, 2] = 5
    assert a[1, 2] == 5
    assert x.data_ptr() == a.ctypes.data
    y = pyburn.zeros(3, 4)
    b = np.from_dlpack(y)
    y[0, 1] = 7
    assert b[0, 1] == 7


def test_strides_travel():
    x = pyburn.arange(12).reshape(3, 4)[:, 1::2].t()
    b = np.from_dlpack(x)
    assert b.strides == (16, 32)
    np.testing.assert_array_equal(b, x.numpy())
    a = np.arange(12).reshape(3, 4)[::2, 1:]
    np.testing.assert_array_equal(pyburn.from_dlpack(a).numpy(), a)


def test_the_device():
    assert pyburn.zeros(1).__dlpack_device__() == (1, 0)


def test_lifetimes():
    x = pyburn.full((100,), 3.0)
    b = np.from_dlpack(x)
    del x
    gc.collect()
    pyburn.full((100,), 9.0)
    assert (b == 3).all()

    class Array(np.ndarray):
        pass

    a = np.full(100, 4.0).view(Array)
    watch = weakref.ref(a)
    y = pyburn.from_dlpack(a)
    del a
    gc.collect()
    assert (y.numpy() == 4).all()
    assert watch() is not None
    del y
    gc.collect()
    assert watch() is None


def test_a_capsule_nobody_takes_frees_its_tensor():
    x = pyburn.from_numpy(np.zeros(8).view(type("Array", (np.ndarray,), {})))
    watch = weakref.ref(x)
    capsule = x.__dlpack__()
    del x
    assert watch() is None
    del capsule
    gc.collect()


def test_a_capsule_is_used_once():
    capsule = pyburn.ones(3).__dlpack__()
    x = pyburn.from_dlpack(capsule)
    assert x.tolist() == [1, 1, 1]
    with pytest.raises((RuntimeError, ValueError), match="consumed|used|once"):
        pyburn.from_dlpack(capsule)


def test_versions():
    x = pyburn.ones(3)
    assert "versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "versioned" not in repr(x.__dlpack__())
    assert "versioned" not in repr(x.__dlpack__(max_version=(0, 8)))
    for capsule in (x.__dlpack__(max_version=(1, 3)), x.__dlpack__(max_version=None)):
        assert pyburn.from_dlpack(capsule).tolist() == [1, 1, 1]


@pytest.mark.skipif(not NUMPY_2, reason="NumPy 2.1 and later speak version 1")
def test_copies_on_request():
    x = pyburn.zeros(3)
    shared = np.from_dlpack(x)
    copied = np.from_dlpack(x, copy=True)
    x.fill_(1)
    assert shared.tolist() == [1, 1, 1]
    assert copied.tolist() == [0, 0, 0]
    a = np.zeros(3)
    y = pyburn.from_dlpack(a, copy=True)
    a[0] = 1
    assert y.tolist() == [0, 0, 0]
    assert pyburn.from_dlpack(a, copy=False).data_ptr() == a.ctypes.data


@pytest.mark.skipif(not NUMPY_2, reason="NumPy 2.1 and later speak version 1")
def test_read_only_memory_is_not_written():
    a = np.zeros(3)
    a.flags.writeable = False
    try:
        x = pyburn.from_dlpack(a)
    except BufferError:
        return
    x.add_(1)
    assert a.tolist() == [0, 0, 0]


def test_what_cannot_be_shared_says_so():
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        np.from_dlpack(pyburn.ones(1, requires_grad=True))
    with pytest.raises((BufferError, RuntimeError, ValueError, TypeError)):
        np.from_dlpack(pyburn.empty(2, device="meta"))
    with pytest.raises((TypeError, AttributeError)):
        pyburn.from_dlpack(3)


def test_bfloat16_between_ourselves():
    x = pyburn.tensor([1.5, -2.0], dtype=pyburn.bfloat16)
    y = pyburn.from_dlpack(x)
    assert y.dtype == pyburn.bfloat16
    y[0] = 3.0
    assert x.tolist() == [3.0, -2.0]
