"""Element types: promotion, conversion, and what each holds."""

import itertools
import pickle

import numpy as np
import pyburn
import pytest

NAMES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

# The table of PyTorch, a row per left operand, columns in the order of NAMES.
TABLE = """
b1 u1 i1 i2 i4 i8 f2 bf f4 f8 c8 c16
u1 u1 i2 i2 i4 i8 f2 bf f4 f8 c8 c16
i1 i2 i1 i2 i4 i8 f2 bf f4 f8 c8 c16
i2 i2 i2 i2 i4 i8 f2 bf f4 f8 c8 c16
i4 i4 i4 i4 i4 i8 f2 bf f4 f8 c8 c16
i8 i8 i8 i8 i8 i8 f2 bf f4 f8 c8 c16
f2 f2 f2 f2 f2 f2 f2 f4 f4 f8 c8 c16
bf bf bf bf bf bf f4 bf f4 f8 c8 c16
f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c8 c16
f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c16 c16
c8 c8 c8 c8 c8 c8 c8 c8 c8 c16 c8 c16
c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16
"""
SHORT = dict(zip("b1 u1 i1 i2 i4 i8 f2 bf f4 f8 c8 c16".split(), NAMES, strict=True))
ROWS = [[SHORT[cell] for cell in row.split()] for row in TABLE.strip().splitlines()]
PAIRS = [
    (a, b, ROWS[i][j]) for (i, a), (j, b) in itertools.product(enumerate(NAMES), enumerate(NAMES))
]


def dtype(name):
    return getattr(pyburn, name)


@pytest.mark.parametrize(("a", "b", "expected"), PAIRS)
def test_two_tensors_promote(a, b, expected):
    left, right = pyburn.ones(2, dtype=dtype(a)), pyburn.ones(2, dtype=dtype(b))
    assert (left + right).dtype == dtype(expected)
    assert pyburn.promote_types(dtype(a), dtype(b)) == dtype(expected)
    assert pyburn.result_type(left, right) == dtype(expected)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_count_by_their_category(name):
    x = pyburn.ones(2, dtype=dtype(name))
    category = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}["f" if name == "bfloat16" else name[0]]
    assert (x * True).dtype == x.dtype
    assert (x * 2).dtype == (pyburn.int64 if category < 1 else x.dtype)
    assert (x * 2.5).dtype == (pyburn.float32 if category < 2 else x.dtype)
    complex_one = {"float64": pyburn.complex128, "complex128": pyburn.complex128}
    if name not in ("float16", "bfloat16"):
        assert (x * 2j).dtype == complex_one.get(name, pyburn.complex64)


def test_a_0d_tensor_counts_like_a_number():
    ints, floats = pyburn.ones(2, dtype=pyburn.int32), pyburn.ones(2)
    assert (ints + pyburn.tensor(1)).dtype == pyburn.int32
    assert (ints + pyburn.tensor(1.0, dtype=pyburn.float64)).dtype == pyburn.float64
    assert (floats + pyburn.tensor(1.0, dtype=pyburn.float64)).dtype == pyburn.float32
    both = pyburn.tensor(1, dtype=pyburn.int32) + pyburn.tensor(1)
    assert both.dtype == pyburn.int64


def test_division_is_true_division():
    assert (pyburn.tensor([3]) / 2).tolist() == [1.5]
    assert (pyburn.tensor([3]) / pyburn.tensor([2])).dtype == pyburn.float32
    assert (pyburn.tensor([-3]) // 2).tolist() == [-2]
    assert (pyburn.tensor([-3]) % 2).tolist() == [1]
    assert pyburn.div(pyburn.tensor([-3]), 2, rounding_mode="trunc").tolist() == [-1]


def test_sums_of_small_integers_are_wide():
    for name in ("bool", "uint8", "int8", "int16", "int32"):
        x = pyburn.ones(300, dtype=dtype(name))
        assert x.sum().dtype == pyburn.int64
        assert x.sum().item() == 300
    with pytest.raises(RuntimeError, match="mean"):
        pyburn.ones(3, dtype=pyburn.int64).mean()


def test_integers_wrap():
    assert (pyburn.tensor([255], dtype=pyburn.uint8) + 1).tolist() == [0]
    assert (pyburn.tensor([127], dtype=pyburn.int8) + 1).tolist() == [-128]
    assert (pyburn.tensor([2**63 - 1]) + 1).tolist() == [-(2**63)]


def test_integer_division_by_zero():
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        pyburn.tensor([1]) // pyburn.tensor([0])
    assert (pyburn.tensor([1.0]) / 0).tolist() == [float("inf")]


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
def test_conversion_agrees_with_numpy(source, target):
    values = [0, 1, 1] if source == "bool" else [0, 1, 100]
    got = pyburn.tensor(values).to(dtype(source)).to(dtype(target))
    assert got.dtype == dtype(target)
    expected = [bool(v) for v in values] if target == "bool" else values
    assert got.tolist() == expected


def test_floats_are_cut_towards_zero():
    x = pyburn.tensor([1.9, -1.9, 0.5])
    assert x.int().tolist() == [1, -1, 0]
    assert x.long().dtype == pyburn.int64
    assert x.bool().tolist() == [True, True, True]


def test_half_precision_rounds_to_even():
    assert pyburn.tensor([2049.0]).half().float().tolist() == [2048.0]
    assert pyburn.tensor([257.0]).bfloat16().float().tolist() == [256.0]
    assert pyburn.tensor([1e6]).half().tolist() == [float("inf")]


def test_names_and_aliases():
    assert pyburn.float is pyburn.float32
    assert pyburn.double == pyburn.float64
    assert pyburn.half == pyburn.float16
    assert pyburn.long == pyburn.int64
    assert pyburn.int == pyburn.int32
    assert pyburn.cfloat == pyburn.complex64
    assert repr(pyburn.float32) == "pyburn.float32"
    assert {pyburn.float32: 1}[pyburn.float] == 1
    assert pickle.loads(pickle.dumps(pyburn.bfloat16)) == pyburn.bfloat16


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (float, "float32"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex64"),
        (np.float64, "float64"),
        (np.dtype("int16"), "int16"),
        ("float16", "float16"),
    ],
)
def test_what_a_dtype_argument_may_be(given, expected):
    assert pyburn.zeros(1, dtype=given).dtype == dtype(expected)


def test_an_unknown_dtype_is_refused():
    with pytest.raises((TypeError, ValueError), match="dtype"):
        pyburn.zeros(1, dtype="float128")
    with pytest.raises((TypeError, ValueError), match="dtype"):
        pyburn.zeros(1, dtype=3)


def test_the_default_dtype():
    try:
        pyburn.set_default_dtype(pyburn.float64)
        assert pyburn.tensor([1.0]).dtype == pyburn.float64
        assert pyburn.tensor([1j]).dtype == pyburn.complex128
        assert (pyburn.tensor([1]) / 2).dtype == pyburn.float64
        assert pyburn.get_default_dtype() == pyburn.float64
    finally:
        pyburn.set_default_dtype(pyburn.float32)
    with pytest.raises((TypeError, RuntimeError)):
        pyburn.set_default_dtype(pyburn.int64)


def test_limits():
    assert pyburn.finfo(pyburn.float32).eps == np.finfo(np.float32).eps
    assert pyburn.finfo(pyburn.float16).max == 65504
    assert pyburn.iinfo(pyburn.int8).min == -128
    assert pyburn.can_cast(pyburn.int64, pyburn.float32)
    assert not pyburn.can_cast(pyburn.float32, pyburn.int64)


def test_arithmetic_of_bools():
    t, f = pyburn.tensor([True]), pyburn.tensor([False])
    assert (t + t).tolist() == [True]
    assert (t * f).tolist() == [False]
    assert (t & f | t ^ t).tolist() == [False]
    assert (~t).tolist() == [False]
    with pytest.raises((RuntimeError, NotImplementedError), match="logical_xor|not supported"):
        t - f


@pytest.mark.parametrize(
    "call",
    [
        lambda b, x: b - x,
        lambda b, x: x - b,
        lambda b, x: x - True,
        lambda b, x: 1 - b,
        lambda b, x: x.clone().sub_(b),
        lambda b, x: pyburn.rsub(x, b),
    ],
)
def test_bools_are_not_subtracted(call):
    with pytest.raises(RuntimeError, match="bool tensor"):
        call(pyburn.tensor([True, False]), pyburn.tensor([1, 2]))


def test_functions_of_bools():
    x = pyburn.tensor([True, False])
    assert x.square().dtype == pyburn.int64
    assert x.square().tolist() == [1, 0]
    assert (x**True).tolist() == [True, False]
    assert (x**False).tolist() == [True, True]
    assert pyburn.clamp_min(x, pyburn.tensor([False, True])).tolist() == [True, True]
    for name in ("abs", "neg", "floor", "abs_", "square_"):
        with pytest.raises(RuntimeError, match="bool"):
            getattr(x.clone(), name)()


def test_what_complex_numbers_lack():
    x = pyburn.tensor([3 + 4j])
    assert x.sgn().tolist() == pytest.approx([0.6 + 0.8j])
    for name in ("sign", "floor", "bitwise_not"):
        with pytest.raises(RuntimeError, match="complex"):
            getattr(pyburn, name)(x)
    with pytest.raises(RuntimeError, match="real bounds"):
        pyburn.linspace(1j, 2, 3, dtype=pyburn.float32)


FILLS = [
    lambda kind, number: pyburn.full((2,), number, dtype=kind)[0],
    lambda kind, number: pyburn.zeros(2, dtype=kind).fill_(number)[1],
    lambda kind, number: pyburn.full_like(pyburn.zeros(2, dtype=kind), number)[0],
    lambda kind, number: pyburn.zeros(2, dtype=kind).new_full((1,), number)[0],
    lambda kind, number: pyburn.zeros(1, dtype=kind).masked_fill(pyburn.tensor([True]), number)[0],
    lambda kind, number: pyburn.zeros(2, dtype=kind).index_fill(0, pyburn.tensor([1]), number)[1],
    lambda kind, number: pyburn.zeros(2, dtype=kind).scatter(0, pyburn.tensor([1]), number)[1],
    lambda kind, number: pyburn.tensor([number], dtype=kind)[0],
    lambda kind, number: _set(pyburn.zeros(2, dtype=kind), number)[1],
]


def _set(x, number):
    x[1] = number
    return x


@pytest.mark.parametrize("fill", FILLS)
def test_a_number_is_what_fills(fill):
    """It does not wrap round on its way into a narrow dtype."""
    for kind, number, expected in [
        ("uint8", 255, 255),
        ("uint8", -1, 255),
        ("uint8", 2.9, 2),
        ("int8", -128, -128),
        ("int32", -(2**31), -(2**31)),
        ("int64", 2**63 - 1, 2**63 - 1),
        ("bool", 300, True),
        ("float16", float("inf"), float("inf")),
    ]:
        assert fill(dtype(kind), number).item() == expected
    refused = [("uint8", 256), ("uint8", -256), ("uint8", -0.5 - 1), ("int8", 128), ("int16", 1e6)]
    refused += [("int32", float("nan")), ("int64", 2.0**63), ("float32", 1 + 1j), ("int32", 1j)]
    for kind, number in refused:
        with pytest.raises(RuntimeError, match="without overflow|complex Scalar"):
            fill(dtype(kind), number)


@pytest.mark.parametrize("fill", FILLS[:-2])
def test_a_finite_number_does_not_become_infinite(fill):
    for kind, number in [("float16", 1e5), ("float32", -1e39), ("complex64", 1e39j)]:
        with pytest.raises(RuntimeError, match="without overflow"):
            fill(dtype(kind), number)
