"""Window functions against SciPy."""

from __future__ import annotations

import numpy as np
import pyburn
import pytest
from pyburn.signal import windows
from scipy.signal import windows as scipy_windows

OPTIONS = {
    "bartlett": ({}, ()),
    "blackman": ({}, ()),
    "cosine": ({}, ()),
    "exponential": ({"tau": 3.0}, (None, 3.0)),
    "gaussian": ({"std": 2.5}, (2.5,)),
    "general_cosine": ({"a": [0.5, 0.3, 0.2]}, ([0.5, 0.3, 0.2],)),
    "general_hamming": ({"alpha": 0.6}, (0.6,)),
    "hamming": ({}, ()),
    "hann": ({}, ()),
    "kaiser": ({"beta": 8.0}, (8.0,)),
    "nuttall": ({}, ()),
}


@pytest.mark.parametrize("size", [0, 1, 2, 3, 8, 51])
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", OPTIONS)
def test_every_window(name, size, sym):
    ours, theirs = OPTIONS[name]
    wanted = getattr(scipy_windows, name)(size, *theirs, sym=sym)
    for dtype, room in ((pyburn.float64, 1e-12), (pyburn.float32, 1e-7), (None, 1e-7)):
        got = getattr(windows, name)(size, sym=sym, dtype=dtype, **ours)
        assert got.dtype == (dtype or pyburn.get_default_dtype())
        np.testing.assert_allclose(got.numpy(), wanted, atol=room)


def test_options():
    assert windows.hann(3, requires_grad=True).requires_grad
    assert windows.hann(3, device="cpu").device == pyburn.device("cpu")
    np.testing.assert_allclose(
        windows.exponential(5, center=1, sym=False).numpy(),
        scipy_windows.exponential(5, 1, sym=False),
        rtol=1e-6,
    )


WRONG = {
    "size": (lambda: windows.hann(-1), "non-negative window length, got M=-1"),
    "dtype": (lambda: windows.hann(3, dtype=pyburn.int32), "dtype"),
    "tau": (lambda: windows.exponential(3, tau=0), "(?i)tau must be positive"),
    "center": (lambda: windows.exponential(3, center=1), "(?i)center must be None"),
    "std": (lambda: windows.gaussian(3, std=0), "(?i)standard deviation must be positive"),
    "beta": (lambda: windows.kaiser(3, beta=-1), "beta must be non-negative"),
    "a": (lambda: windows.general_cosine(3, a=[]), "cannot be empty"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    call, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        call()


def test_sparse_layouts_are_refused():
    with pytest.raises(NotImplementedError, match=r"pyburn\.strided"):
        windows.hann(3, layout="sparse")
