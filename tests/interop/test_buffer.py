"""The buffer protocol: reading other memory, and `memoryview` of a tensor."""

import array
import sys

import numpy as np
import pyburn
import pytest


def test_frombuffer_shares_memory():
    data = bytearray(np.arange(4, dtype=np.float32).tobytes())
    x = pyburn.frombuffer(data, dtype=pyburn.float32)
    assert x.tolist() == [0, 1, 2, 3]
    x[0] = 9
    assert np.frombuffer(data, dtype=np.float32)[0] == 9


def test_frombuffer_of_an_array_from_the_standard_library():
    values = array.array("d", [1.5, 2.5, 3.5])
    x = pyburn.frombuffer(values, dtype=pyburn.float64)
    values[1] = -1
    assert x.tolist() == [1.5, -1.0, 3.5]


def test_parts_of_a_buffer():
    data = bytearray(np.arange(6, dtype=np.int16).tobytes())
    assert pyburn.frombuffer(data, dtype=pyburn.int16, count=2, offset=4).tolist() == [2, 3]
    with pytest.raises(ValueError, match="buffer"):
        pyburn.frombuffer(data, dtype=pyburn.int16, count=99)
    with pytest.raises(ValueError, match="buffer"):
        pyburn.frombuffer(data, dtype=pyburn.int16, offset=99)


@pytest.mark.filterwarnings("ignore")
def test_bytes_are_never_written():
    data = b"\x01\x02\x03"
    x = pyburn.frombuffer(data, dtype=pyburn.uint8)
    x.add_(1)
    assert data == b"\x01\x02\x03"
    assert x.tolist() == [2, 3, 4]


def test_a_memoryview_becomes_a_tensor():
    view = memoryview(np.arange(6, dtype=np.float64).reshape(2, 3))
    assert pyburn.tensor(np.asarray(view)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert pyburn.tensor(memoryview(array.array("i", [1, 2]))).tolist() == [1, 2]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="`__buffer__` came with Python 3.12")
def test_memoryview_of_a_tensor():
    x = pyburn.arange(6, dtype=pyburn.float32).reshape(2, 3)
    view = memoryview(x)
    assert view.shape == (2, 3)
    assert view.format == "f"
    assert view[1, 2] == 5.0
    x[0, 0] = 8
    assert view[0, 0] == 8.0


def test_the_arrays_buffer_reaches_the_tensor():
    """On every Python the array over the tensor is a buffer."""
    x = pyburn.zeros(3)
    view = memoryview(x.numpy())
    view[1] = 4.0
    assert x.tolist() == [0, 4, 0]
