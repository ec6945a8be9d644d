"""NumPy: shared memory both ways, lifetimes, and arrays that cannot be shared."""

import gc
import sys
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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 3)])
def test_both_ways(dtype, shape):
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = pyburn.from_numpy(a)
    assert x.dtype == getattr(pyburn, dtype)
    assert x.shape == shape
    back = x.numpy()
    assert back.dtype == a.dtype
    np.testing.assert_array_equal(back, a)


def test_from_numpy_shares_memory():
    a = np.zeros((2, 3), dtype=np.float32)
    x = pyburn.from_numpy(a)
    a[0, 0] = 5
    x[1, 2] = 7
    assert x[0, 0].item() == 5
    assert a[1, 2] == 7
    assert x.data_ptr() == a.ctypes.data
    assert pyburn.as_tensor(a).data_ptr() == a.ctypes.data


def test_numpy_shares_memory():
    x = pyburn.zeros(2, 3)
    a = x.numpy()
    a[0, 0] = 5
    x.add_(1)
    assert a[0, 0] == 6
    assert np.asarray(x).ctypes.data == x.data_ptr()


def test_views_share_with_their_strides():
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = pyburn.from_numpy(a[::2, 1::2])
    assert x.stride() == (12, 2)
    x.mul_(-1)
    assert a[0, 1] == -1
    assert a[2, 3] == -15
    assert a[1, 1] == 7
    t = pyburn.arange(6).reshape(2, 3).t().numpy()
    assert t.strides == (8, 24)


def test_the_array_keeps_the_tensors_memory_alive():
    a = pyburn.full((1000,), 3.0).numpy()
    gc.collect()
    pyburn.full((1000,), 9.0)
    assert (a == 3).all()


def test_the_tensor_keeps_the_array_alive():
    class Array(np.ndarray):
        pass

    a = np.full(1000, 3.0).view(Array)
    watch = weakref.ref(a)
    x = pyburn.from_numpy(a)
    part = x[10:]
    del a, x
    gc.collect()
    assert watch() is not None
    assert (part.numpy() == 3).all()
    del part
    gc.collect()
    assert watch() is None


def test_references_are_counted_right():
    a = np.zeros(3)
    before = sys.getrefcount(a)
    for _ in range(100):
        pyburn.from_numpy(a)
    assert sys.getrefcount(a) == before


def test_read_only_arrays_are_never_written():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = pyburn.tensor(a)
    x.add_(1)
    y = pyburn.from_numpy(a)
    y.add_(1)
    assert a.tolist() == [0, 1, 2]
    assert y.tolist() == [1, 2, 3]


def test_negative_strides_are_copied_in_order():
    a = np.arange(6.0).reshape(2, 3)
    for flipped in (a[::-1], a[:, ::-1], a[::-1, ::-2]):
        np.testing.assert_array_equal(pyburn.tensor(flipped).numpy(), flipped)
        np.testing.assert_array_equal(pyburn.as_tensor(flipped).numpy(), flipped)


@pytest.mark.parametrize("code", [">f4", ">f8", ">i2", ">i8", ">c8"])
def test_foreign_byte_order(code):
    a = np.array([1, 2, 300]).astype(code)
    x = pyburn.tensor(a)
    assert x.tolist() == [1, 2, 300]
    assert x.numpy().dtype == a.dtype.newbyteorder("=")


def test_memory_that_is_not_aligned():
    raw = np.zeros(9 * 4 + 1, dtype=np.uint8)
    a = raw[1:].view(np.float32)
    a[:] = np.arange(9)
    assert not a.flags.aligned
    assert pyburn.tensor(a).tolist() == list(range(9))
    assert pyburn.as_tensor(a).sum().item() == 36


def test_odd_strides():
    records = np.zeros(4, dtype=[("a", np.int8), ("b", np.float32)])
    records["b"] = [1, 2, 3, 4]
    assert pyburn.tensor(records["b"]).tolist() == [1, 2, 3, 4]


def unaligned():
    return np.zeros(9, dtype=np.uint8)[1:].view(np.float32)


def odd_strides():
    return np.zeros(4, dtype=[("a", np.int8), ("b", np.float32)])["b"]


UNSHAREABLE = {
    "negative strides": np.arange(6.0)[::-1],
    "another byte order": np.arange(3).astype(">i4"),
    "not aligned": unaligned(),
    "no multiples": odd_strides(),
}


@pytest.mark.parametrize("why", UNSHAREABLE)
def test_memory_that_no_tensor_can_have(why):
    array = UNSHAREABLE[why]
    with pytest.raises(ValueError, match=rf"from_numpy: .*{why}.*; hint: array\.copy\(\)"):
        pyburn.from_numpy(array)
    assert pyburn.from_numpy(array.astype(array.dtype.newbyteorder("="))).shape == array.shape
    for copy in (pyburn.as_tensor, pyburn.asarray, pyburn.tensor):
        assert copy(array).tolist() == array.tolist()


def test_sharing_or_nothing():
    array = np.arange(3.0)
    assert pyburn.asarray(array, copy=False).data_ptr() == array.ctypes.data
    assert pyburn.asarray(np.zeros((2, 0)), copy=False).shape == (2, 0)
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for call in (
        lambda: pyburn.asarray(array, copy=False, dtype=pyburn.int32),
        lambda: pyburn.asarray(array, copy=False, device="meta"),
        lambda: pyburn.asarray(array[::-1], copy=False),
        lambda: pyburn.asarray(frozen, copy=False),
    ):
        with pytest.raises(ValueError, match="shared with copy=False"):
            call()


def test_broadcast_arrays():
    a = np.broadcast_to(np.arange(3.0), (4, 3))
    assert pyburn.tensor(a).tolist() == [[0, 1, 2]] * 4
    assert pyburn.zeros(1, 3).expand(4, 3).numpy().strides == (0, 4)


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a"]),
        np.array([object()]),
        np.array([1], dtype="M8[s]"),
        np.zeros(2, dtype=[("a", np.int8)]),
    ],
)
def test_types_without_counterpart_are_refused(array):
    with pytest.raises(TypeError):
        pyburn.from_numpy(array)
    with pytest.raises(TypeError):
        pyburn.tensor(array)


def test_from_numpy_wants_an_array():
    with pytest.raises(TypeError, match="ndarray"):
        pyburn.from_numpy([1, 2])


def test_numpy_refuses_what_it_cannot_show():
    with pytest.raises(RuntimeError, match="detach"):
        pyburn.ones(1, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="bfloat16"):
        pyburn.ones(1, dtype=pyburn.bfloat16).numpy()
    x = pyburn.ones(1, requires_grad=True)
    assert x.numpy(force=True).tolist() == [1]
    assert x.detach().numpy().tolist() == [1]


def test_numpy_functions_take_tensors():
    x = pyburn.tensor([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(np.array(x), x.tolist())
    assert np.array(x, dtype=np.int32).dtype == np.int32
    copy = np.array(x)
    copy[0, 0] = 9
    assert x[0, 0].item() == 1
    assert np.stack([x, x]).shape == (2, 2, 2)
    assert np.linalg.norm(x) == pytest.approx(30**0.5)
    assert (np.ones((2, 2)) == x.numpy() * 0 + 1).all()


def test_arrays_as_operands():
    x, a = pyburn.ones(3), np.arange(3, dtype=np.float32)
    got = x + a
    assert isinstance(got, pyburn.Tensor)
    assert got.tolist() == [1, 2, 3]
    assert (x * np.float64(2)).dtype == pyburn.float32


def test_scalars_of_numpy():
    assert pyburn.tensor(np.float32(1.5)).dtype == pyburn.float32
    assert pyburn.tensor(np.int16(3)).dtype == pyburn.int16
    assert pyburn.tensor(np.bool_(True)).item() is True
    assert pyburn.full((2,), np.float64(1.5)).tolist() == [1.5, 1.5]


def test_results_of_ops_on_shared_memory_are_fresh():
    a = np.ones(3, dtype=np.float32)
    x = pyburn.from_numpy(a)
    y = x * 2
    y.zero_()
    assert a.tolist() == [1, 1, 1]
    x.copy_(y)
    assert a.tolist() == [0, 0, 0]
