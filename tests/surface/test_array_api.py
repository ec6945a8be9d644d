"""The array API standard's namespace: its own conventions, against NumPy's implementation."""

from __future__ import annotations

import math

import numpy as np
import pyburn
import pytest
from pyburn import array_api as xp

M = pyburn.arange(6.0).reshape(2, 3)


def test_the_namespace_of_an_array():
    assert M.__array_namespace__() is xp
    assert M.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match=r"2099\.12"):
        M.__array_namespace__(api_version="2099.12")
    assert M.to_device("cpu").device == M.device
    with pytest.raises(NotImplementedError, match="streams"):
        M.to_device("cpu", stream=1)


def test_every_public_name_is_there():
    for module in (xp, xp.linalg, xp.fft):
        for name in module.__all__:
            assert getattr(module, name) is not None or name == "newaxis"


def test_inspection():
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == pyburn.float32
    assert set(info.dtypes(kind="integral")) == {"int8", "int16", "int32", "int64", "uint8"}
    assert pyburn.device("cpu") in info.devices()
    assert info.default_device() == pyburn.device("cpu")
    with pytest.raises(ValueError, match="expected one of"):
        info.dtypes(kind="text")
    assert xp.isdtype(pyburn.int8, ("bool", "signed integer"))
    assert xp.isdtype(pyburn.float16, "real floating")
    assert not xp.isdtype(pyburn.int8, pyburn.int16)
    assert xp.finfo(pyburn.complex64).dtype == pyburn.float32
    assert xp.iinfo(pyburn.arange(3)).max == 2**63 - 1
    assert xp.can_cast(pyburn.int8, pyburn.int16)
    assert not xp.can_cast(pyburn.float32, pyburn.int64)
    assert xp.result_type(pyburn.arange(3), pyburn.float64, 1) == pyburn.float64


# The standard's reductions where PyTorch's differ: several axes, biased moments, no axis at all.
REDUCTIONS = ["sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "count_nonzero"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (), (-1, 0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    array = np.random.default_rng(0).integers(-2, 3, (2, 3, 4)).astype("f8")
    got = getattr(xp, name)(pyburn.from_numpy(array), axis=axis, keepdims=keepdims)
    wanted = getattr(np, name)(array, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-12)


def test_a_dtype_that_is_named_is_the_results():
    small = pyburn.tensor([[2, 3], [4, 5]], dtype=pyburn.uint8)
    for function in (xp.sum, xp.prod):
        assert function(small).dtype == pyburn.int64
        for axis in (None, 0, ()):
            assert function(small, axis=axis, dtype=pyburn.uint8).dtype == pyburn.uint8


# Known parts of results whose other part is unknown, as the C standard has them.
UNKNOWN = [
    ("cosh", complex(0, math.inf), (math.nan, 0)),
    ("cosh", complex(-math.inf, math.nan), (math.inf, math.nan)),
    ("sinh", complex(-math.inf, math.inf), (-math.inf, math.nan)),
    ("tanh", complex(0, math.nan), (0, math.nan)),
    ("tanh", complex(30, math.inf), (math.nan, math.nan)),
    ("asinh", complex(math.nan, 0), (math.nan, 0)),
    ("acos", complex(0, math.nan), (math.pi / 2, math.nan)),
    ("atanh", complex(math.inf, math.nan), (0, math.nan)),
]


@pytest.mark.parametrize(("name", "value", "parts"), UNKNOWN)
def test_complex_numbers_half_unknown(name, value, parts):
    got = getattr(xp, name)(pyburn.tensor(value, dtype=pyburn.complex128)).item()
    np.testing.assert_allclose((got.real, got.imag), parts)


def test_uniques():
    values = [3.0, 1.0, float("nan"), 3.0, float("nan")]
    ours, theirs = xp.unique_all(pyburn.tensor(values)), np.unique_all(np.array(values, "f4"))
    for mine, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine.numpy(), wanted)
    assert xp.unique_values(pyburn.zeros(0)).shape == (0,)
    assert xp.unique_values(pyburn.tensor([2j, 1j, 2j, 1 + 1j])).tolist() == [1j, 2j, 1 + 1j]
    assert xp.unique_counts(pyburn.tensor([1, 1, 2])).counts.tolist() == [2, 1]


def test_conventions_that_differ_from_pytorch():
    assert xp.concat([M, M], axis=None).shape == (12,)
    assert xp.expand_dims(M, axis=1).shape == (2, 1, 3)
    assert xp.roll(M, 1, axis=(0, 1)).tolist() == np.roll(M.numpy(), 1, (0, 1)).tolist()
    assert xp.take(M, pyburn.tensor([-1, 0]), axis=1).tolist() == [[2.0, 0.0], [5.0, 3.0]]
    assert xp.cumulative_sum(M[0], include_initial=True).tolist() == [0, 0, 1, 3]
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.sort(M, descending=True).tolist() == [[2, 1, 0], [5, 4, 3]]
    assert xp.equal(M, M).all()
    assert xp.maximum(M, 2).min() == 2
    assert xp.round(pyburn.tensor([0.5, 1.5])).tolist() == [0, 2]
    assert xp.floor(pyburn.tensor([1])).dtype == pyburn.int64
    assert xp.linalg.solve(pyburn.eye(2) * 2, pyburn.ones(2)).tolist() == [0.5, 0.5]
    assert xp.fft.irfft(xp.fft.rfft(M), n=3).shape == (2, 3)
    assert xp.permute_dims(M, (1, 0)).shape == (3, 2)


def test_arrays_without_dimensions_promote_like_others():
    small, wide = pyburn.ones(2, dtype=pyburn.int8), pyburn.ones((), dtype=pyburn.int16)
    assert xp.add(small, wide).dtype == pyburn.int16
    assert xp.tensordot(small, wide, axes=0).dtype == pyburn.int16
    assert xp.where(small > 5, small, -wide).dtype == pyburn.int16
    assert xp.add(small, 1).dtype == pyburn.int8
    assert xp.std(pyburn.tensor(float("nan"))).isnan()
    assert xp.var(M, axis=(), correction=1).isnan().all()


def test_errors_of_the_standard():
    with pytest.raises(ValueError, match="not 1"):
        xp.squeeze(M, 0)
    with pytest.raises(ValueError, match="axis is needed"):
        xp.take(M, pyburn.tensor([0]))
    with pytest.raises(ValueError, match="axis is needed"):
        xp.cumulative_sum(M)
    with pytest.raises(ValueError, match="no indices"):
        xp.nonzero(M[0, 0])
    with pytest.raises(ValueError, match="copy=False"):
        xp.reshape(M.t(), (6,), copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(M, dtype=pyburn.int8, copy=False)
    with pytest.raises(TypeError, match="real"):
        xp.astype(M.to(pyburn.complex64), pyburn.float32)


def test_copies():
    assert xp.asarray(M, copy=False)._shares_storage(M)
    assert not xp.asarray(M, copy=True)._shares_storage(M)
    assert not xp.astype(M, M.dtype)._shares_storage(M)
    assert xp.astype(M, M.dtype, copy=False)._shares_storage(M)
