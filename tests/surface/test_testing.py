"""`pyburn.testing`, and what the package says of itself."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pyburn
import pytest
from pyburn.testing import assert_close, make_tensor

ONE = pyburn.tensor([1.0, 2.0, 3.0])

CLOSE = [
    (ONE, ONE),
    (ONE, ONE + 5e-6),
    (ONE.double(), ONE.double() + 5e-8),
    (ONE.half(), ONE.half() * 1.0005),
    (ONE.bfloat16(), ONE.bfloat16() * 1.01),
    (ONE.to(pyburn.complex64), ONE.to(pyburn.complex64) + 5e-6),
    (ONE.long(), ONE.long()),
    (ONE > 1, ONE > 1),
    (pyburn.zeros(0), pyburn.zeros(0)),
    (math.inf * ONE, math.inf * ONE),
    (1.0, 1.0 + 1e-8),
    (1, 1),
    (True, True),
    (1j, 1j),
    ([ONE, (1.0, {"a": ONE})], [ONE, (1.0, {"a": ONE})]),
    (np.ones(2), pyburn.ones(2, dtype=pyburn.float64)),
    (None, None),
    ("a", "a"),
]


@pytest.mark.parametrize("pair", CLOSE, ids=str)
def test_close_values(pair):
    assert_close(*pair)


APART = {
    "values": (
        ONE,
        pyburn.tensor([1.0, 2.5, 4.0]),
        [
            "Tensor-likes are not close!",
            "Mismatched elements: 2 / 3 (66.7%)",
            "Greatest absolute difference: 1.0 at index (2,) (up to 1e-05 allowed)",
            "Greatest relative difference: 0.25 at index (2,) (up to 1.3e-06 allowed)",
        ],
    ),
    "integers": (
        ONE.long(),
        ONE.long() + 1,
        ["Tensor-likes are not equal!", "Greatest absolute difference: 1 at index (0,)\n"],
    ),
    "matrix": (pyburn.zeros(2, 2), pyburn.tensor([[0.0, 0.0], [0.0, 7.0]]), ["at index (1, 1)"]),
    "scalars": (
        1.0,
        2.0,
        [
            "Scalars are not close!",
            "Expected 2.0 but got 1.0.",
            "Absolute difference: 1.0 (up to 1e-07 allowed)",
            "Relative difference: 0.5",
        ],
    ),
    "0-d": (ONE[0], ONE[1], ["Scalars are not close!", "up to 1e-05 allowed"]),
    "0-d integers": (ONE[0].long(), ONE[1].long(), ["Scalars are not equal!", "but got 1."]),
    "bools": (True, False, ["Booleans mismatch: True is not False"]),
    "0-d bools": (ONE[0] > 0, ONE[0] < 0, ["Booleans mismatch"]),
    "nan": (ONE * math.nan, ONE * math.nan, ["Mismatched elements: 3 / 3"]),
    "infinite": (math.inf * ONE, -math.inf * ONE, ["not close"]),
    "complex": (ONE.to(pyburn.complex64) * 1j, ONE.to(pyburn.complex64), ["3 / 3"]),
    "shape": (ONE, ONE[:2], ["The values for attribute 'shape' do not match"]),
    "dtype": (ONE, ONE.double(), ["The values for attribute 'dtype' do not match"]),
    "length": ([ONE], [ONE, ONE], ["The length of the sequences mismatch: 1 != 2"]),
    "keys": (
        {"a": 1},
        {"b": 1},
        ["The keys of the mappings do not match", "Missing keys in the actual mapping: ['b']"],
    ),
    "item": ({"a": [1, 2]}, {"a": [1, 3]}, ["The failure occurred for item ['a'][1]"]),
    "text": ("a", "b", ["'a' != 'b'"]),
    "kinds of numbers": (1, 1.0, ["do not match"]),
}


@pytest.mark.parametrize("name", APART)
def test_differences_are_described(name):
    actual, expected, words = APART[name]
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    for part in words:
        assert part in str(caught.value)


def test_options():
    assert_close(ONE * math.nan, ONE * math.nan, equal_nan=True)
    assert_close(math.nan, math.nan, equal_nan=True)
    assert_close(ONE, ONE.double(), check_dtype=False)
    assert_close(ONE, ONE + 1, rtol=0, atol=1)
    assert_close(1, 1.5, rtol=0.5, atol=0.0)
    with pytest.raises(AssertionError, match=r"stride\(\)"):
        assert_close(pyburn.ones(2, 3), pyburn.ones(3, 2).t(), check_stride=True)
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(ONE, ONE + 1, msg="mine")
    with pytest.raises(AssertionError, match="^more: Tensor-likes"):
        assert_close(ONE, ONE + 1, msg=lambda text: f"more: {text}")
    with pytest.raises(AssertionError, match="equal"):
        assert_close(ONE, ONE + 1e-6, rtol=0, atol=0)
    with pytest.raises(ValueError, match="both be"):
        assert_close(ONE, ONE, rtol=1)
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(ONE, object())
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(ONE, None)


DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
]


@pytest.mark.parametrize("name", DTYPES)
def test_made_tensors(name):
    pyburn.manual_seed(0)
    kind = getattr(pyburn, name)
    tensor = make_tensor(40, 5, dtype=kind, device="cpu")
    assert tensor.shape == (40, 5)
    assert tensor.dtype == kind
    low, high = {"bool": (0, 1), "uint8": (0, 9)}.get(name, (-9, 9))
    parts = pyburn.view_as_real(tensor) if kind.is_complex else tensor.double()
    assert low <= parts.min() < parts.max() <= high
    apart = make_tensor((4, 6), dtype=kind, device="cpu", noncontiguous=True)
    assert not apart.is_contiguous()
    assert apart.shape == (4, 6)
    assert bool((make_tensor(99, dtype=kind, device="cpu", exclude_zero=True) != 0).all())


def test_bounds_of_made_tensors():
    tensor = make_tensor((500,), dtype=pyburn.int8, device="cpu", low=-1000, high=1000)
    assert tensor.min() >= -128
    assert tensor.long().max() > 90
    assert make_tensor((), dtype=pyburn.float32, device="cpu", low=2, high=3).item() >= 2
    assert make_tensor(3, dtype=pyburn.float32, device="cpu", requires_grad=True).requires_grad
    for low, high in ((3, 2), (math.nan, 1)):
        with pytest.raises(ValueError, match="make_tensor"):
            make_tensor(3, dtype=pyburn.float32, device="cpu", low=low, high=high)


def test_the_environment_is_described():
    info = pyburn.collect_env.get_env_info()
    assert info["PyBurn version"] == pyburn.__version__
    assert info["Threads"] == str(pyburn.get_num_threads())
    for backend in pyburn.backends():
        shown = info[f"Backend {backend.name}"]
        assert (backend.devices[0] if backend.available else backend.reason) in shown
    for module in ("pyburn", "pyburn.collect_env"):
        done = subprocess.run(
            [sys.executable, "-m", module], capture_output=True, text=True, check=True
        )
        assert pyburn.__version__ in done.stdout
        assert "cpu" in done.stdout
        assert not done.stderr
