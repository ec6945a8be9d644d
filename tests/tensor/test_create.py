"""Making tensors: factories, their dtypes, and what they refuse."""

import math

import numpy as np
import pyburn
import pytest


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (3, "int64", ()),
        (3.5, "float32", ()),
        (True, "bool", ()),
        (1j, "complex64", ()),
        ([1, 2, 3], "int64", (3,)),
        ([1, 2.0], "float32", (2,)),
        ([True, 2], "int64", (2,)),
        ([True, False], "bool", (2,)),
        ([[1, 2], [3, 4]], "int64", (2, 2)),
        ([1, 2j], "complex64", (2,)),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        (((1,), (2,)), "int64", (2, 1)),
        (range(3), "int64", (3,)),
    ],
)
def test_the_factory_infers_shape_and_dtype(data, dtype, shape):
    made = pyburn.tensor(data)
    assert made.dtype == getattr(pyburn, dtype)
    assert made.shape == shape


def test_the_factory_copies():
    array = np.zeros(3)
    made = pyburn.tensor(array)
    array[0] = 1
    assert made.tolist() == [0, 0, 0]
    source = pyburn.zeros(2, requires_grad=True)
    copy = pyburn.tensor(source)
    assert not copy.requires_grad
    assert copy.data_ptr() != source.data_ptr()


def test_the_module_is_the_factory_and_holds_the_class():
    from pyburn.tensor import Tensor

    assert isinstance(pyburn.tensor([1]), Tensor)
    assert Tensor is pyburn.Tensor


def test_tensors_and_arrays_within_lists():
    parts = [pyburn.tensor(1.0), pyburn.tensor(2.0)]
    assert pyburn.tensor(parts).tolist() == [1.0, 2.0]
    assert pyburn.tensor([np.array([1, 2]), np.array([3, 4])]).tolist() == [[1, 2], [3, 4]]
    assert pyburn.tensor([np.float64(1.5), 2]).tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ([[1, 2], [3]], ValueError),
        ([1, [2]], TypeError),
        (["a"], TypeError),
        ("abc", TypeError),
        (object(), TypeError),
        ({"a": 1}, TypeError),
        (None, TypeError),
    ],
)
def test_what_is_no_tensor_is_refused(data, fault):
    with pytest.raises(fault):
        pyburn.tensor(data)


def test_a_list_that_contains_itself_is_refused():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="nested"):
        pyburn.tensor(data)


def test_constants():
    assert pyburn.zeros(2, 3).tolist() == [[0.0] * 3] * 2
    assert pyburn.zeros((2,)).shape == (2,)
    assert pyburn.ones([2], dtype=pyburn.int32).dtype == pyburn.int32
    assert pyburn.full((2,), 7).dtype == pyburn.int64
    assert pyburn.full((2,), 7.0).dtype == pyburn.float32
    assert pyburn.full((2,), True).dtype == pyburn.bool
    assert pyburn.empty(4, 0).numel() == 0
    assert pyburn.zeros(()).item() == 0.0


def test_likes_keep_shape_and_dtype():
    like = pyburn.zeros(2, 3, dtype=pyburn.float64)
    for name in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
        made = getattr(pyburn, name)(like)
        assert (made.shape, made.dtype) == (like.shape, like.dtype)
    assert pyburn.full_like(like, 2).unique().tolist() == [2.0]
    assert like.new_zeros(2).dtype == like.dtype
    assert like.new_tensor([1]).dtype == like.dtype


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((5,), [0, 1, 2, 3, 4]),
        ((1, 4), [1, 2, 3]),
        ((5, 0, -2), [5, 3, 1]),
        ((0, 1, 0.25), [0.0, 0.25, 0.5, 0.75]),
        ((0,), []),
    ],
)
def test_arange(arguments, expected):
    assert pyburn.arange(*arguments).tolist() == expected


def test_arange_refuses_a_step_the_wrong_way():
    with pytest.raises(RuntimeError, match="arange"):
        pyburn.arange(0, 5, -1)


def test_sequences():
    assert pyburn.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert pyburn.logspace(0, 2, 3).tolist() == [1.0, 10.0, 100.0]
    assert pyburn.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert pyburn.linspace(0, 1, 1).tolist() == [0.0]


def test_negative_sizes_are_refused():
    for make in (pyburn.zeros, pyburn.ones, pyburn.rand, pyburn.empty):
        with pytest.raises(RuntimeError, match="negative"):
            make(2, -1)


def test_requires_grad_needs_a_differentiable_dtype():
    assert pyburn.zeros(2, requires_grad=True).requires_grad
    assert pyburn.zeros(2, dtype=pyburn.complex64, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        pyburn.zeros(2, dtype=pyburn.int64, requires_grad=True)


def test_the_seed_fixes_every_draw():
    def draws():
        pyburn.manual_seed(7)
        return [
            pyburn.rand(5).tolist(),
            pyburn.randn(5).tolist(),
            pyburn.randint(0, 100, (5,)).tolist(),
            pyburn.randperm(9).tolist(),
            pyburn.rand(5).tolist(),
        ]

    first = draws()
    assert first == draws()
    assert first[0] != first[4]


def test_a_generator_has_its_own_stream():
    own = pyburn.Generator()
    own.manual_seed(3)
    pyburn.manual_seed(1)
    before = pyburn.rand(3).tolist()
    first = pyburn.rand(3, generator=own).tolist()
    pyburn.manual_seed(1)
    pyburn.rand(3, generator=own)
    assert pyburn.rand(3).tolist() == before
    assert own.initial_seed() == 3
    own.manual_seed(3)
    assert pyburn.rand(3, generator=own).tolist() == first


def test_the_state_of_a_generator_can_be_put_back():
    own = pyburn.Generator()
    own.manual_seed(5)
    pyburn.randn(3, generator=own)
    state = own.get_state()
    first = pyburn.randn(4, generator=own).tolist()
    own.set_state(state)
    assert pyburn.randn(4, generator=own).tolist() == first


def test_draws_have_the_right_moments():
    pyburn.manual_seed(0)
    uniform, normal = pyburn.rand(100_000).numpy(), pyburn.randn(100_000).numpy()
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.005
    assert abs(normal.mean()) < 0.02
    assert abs(normal.std() - 1) < 0.02
    integers = pyburn.randint(-3, 4, (10_000,))
    assert sorted(set(integers.tolist())) == list(range(-3, 4))
    assert sorted(pyburn.randperm(100).tolist()) == list(range(100))


def test_the_class_makes_tensors_too():
    assert pyburn.Tensor(2, 3).shape == (2, 3)
    assert pyburn.Tensor([1, 2]).dtype == pyburn.float32
    assert pyburn.Tensor().shape == (0,)


def test_meta_tensors_have_no_elements():
    made = pyburn.empty(1 << 30, 1 << 10, device="meta")
    assert made.is_meta
    assert made.numel() == 1 << 40
    assert (made + 1).shape == made.shape
    with pytest.raises((RuntimeError, ValueError, NotImplementedError)):
        made.tolist()


def test_constants_of_mathematics():
    assert (pyburn.pi, pyburn.e, pyburn.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(pyburn.nan)
