"""The class of shapes."""

import copy
import pickle

import pyburn
import pytest


def test_a_shape_is_a_tuple():
    size = pyburn.zeros(2, 3).shape
    assert isinstance(size, pyburn.Size)
    assert isinstance(size, tuple)
    assert size == (2, 3)
    assert size == pyburn.zeros(2, 3).size()
    rows, columns = size
    assert (rows, columns) == (2, 3)
    assert hash(size) == hash((2, 3))


def test_it_counts_elements():
    assert pyburn.Size([2, 3, 4]).numel() == 24
    assert pyburn.Size([]).numel() == 1
    assert pyburn.Size([3, 0]).numel() == 0


def test_slices_and_sums_stay_sizes():
    size = pyburn.Size([2, 3, 4])
    assert isinstance(size[1:], pyburn.Size)
    assert size[-1] == 4
    assert isinstance(size + (5,), pyburn.Size)  # noqa: RUF005
    assert size + (5,) == (2, 3, 4, 5)  # noqa: RUF005


def test_one_dimension_at_a_time():
    x = pyburn.zeros(2, 3)
    assert x.size(0) == 2
    assert x.size(-1) == 3
    assert x.size(dim=1) == 3
    with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got 2"):
        x.size(2)
    assert (x.ndim, x.dim(), len(x), x.numel()) == (2, 2, 2, 6)


def test_it_survives_copies():
    size = pyburn.Size([2, 3])
    assert type(copy.deepcopy(size)) is pyburn.Size
    assert type(pickle.loads(pickle.dumps(size))) is pyburn.Size
    assert "[2, 3]" in repr(size)


def test_a_size_makes_tensors():
    size = pyburn.zeros(2, 3).shape
    assert pyburn.ones(size).shape == size
    assert pyburn.ones(6).view(size).shape == size
    assert pyburn.ones(1, 3).expand(size).shape == size


def test_strides_and_offsets():
    x = pyburn.zeros(2, 3, 4)
    assert x.stride() == (12, 4, 1)
    assert x.stride(-1) == 1
    assert x.permute(2, 0, 1).stride() == (1, 12, 4)
    assert x[1, 1:].storage_offset() == 16
    assert x[:, :, 0].is_contiguous() is False
    assert x[:, :, 0].contiguous().is_contiguous()
    assert x.contiguous() is x
    assert (x.nbytes, x.itemsize, x.element_size()) == (96, 4, 4)
