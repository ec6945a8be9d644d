"""Tensors as Python numbers, and Python numbers beside tensors."""

import math
import operator

import numpy as np
import pyburn
import pytest


@pytest.mark.parametrize(
    ("value", "kind"),
    [(3, int), (2.5, float), (True, bool), (1 - 2j, complex), (-(2**63), int), (2**63 - 1, int)],
)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_item_gives_a_python_number(value, kind, shape):
    x = pyburn.tensor(value).reshape(shape)
    assert type(x.item()) is kind
    assert x.item() == value


@pytest.mark.parametrize("shape", [(2,), (0,), (1, 2)])
def test_item_needs_one_element(shape):
    with pytest.raises((RuntimeError, ValueError), match="element"):
        pyburn.zeros(shape).item()


def test_tolist():
    assert pyburn.tensor(4).tolist() == 4
    assert pyburn.zeros(2, 0).tolist() == [[], []]
    assert pyburn.zeros(0).tolist() == []
    assert pyburn.tensor([[True]]).tolist() == [[True]]
    x = pyburn.arange(24).reshape(2, 3, 4)
    assert x.permute(2, 0, 1)[::2].tolist() == x.numpy().transpose(2, 0, 1)[::2].tolist()
    assert type(pyburn.tensor([1]).tolist()[0]) is int
    assert math.isnan(pyburn.tensor([math.nan], dtype=pyburn.float16).tolist()[0])


def test_conversions_of_python():
    x = pyburn.tensor([2.75])
    assert float(x) == 2.75
    assert int(x) == 2
    assert bool(x) is True
    assert complex(x) == 2.75 + 0j
    assert round(math.sqrt(pyburn.tensor(4.0))) == 2
    assert [10, 20, 30][pyburn.tensor(1)] == 20
    assert list(range(pyburn.tensor(3))) == [0, 1, 2]
    assert f"{pyburn.tensor(3.14159):.2f}" == "3.14"
    assert hash(x) == hash(x)


def test_conversions_that_make_no_sense():
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(pyburn.zeros(2))
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(pyburn.zeros(0))
    with pytest.raises(TypeError, match="integer tensors"):
        operator.index(pyburn.tensor(1.0))
    with pytest.raises((RuntimeError, ValueError)):
        float(pyburn.zeros(2))
    with pytest.raises((RuntimeError, ValueError, OverflowError)):
        int(pyburn.tensor(math.inf))
    with pytest.raises(TypeError, match="0-d"):
        len(pyburn.tensor(1))


OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@pytest.mark.parametrize("f", OPERATORS)
@pytest.mark.parametrize("number", [2, 2.5, np.float32(2.5), np.int64(3)])
def test_numbers_on_either_side(f, number):
    a = np.array([1.0, 2.0, 4.5], dtype=np.float32)
    x = pyburn.from_numpy(a.copy())
    np.testing.assert_allclose(f(x, number).numpy(), f(a, np.float32(number)), rtol=1e-6)
    left = f(number, x)
    assert isinstance(left, pyburn.Tensor)
    np.testing.assert_allclose(left.numpy(), f(np.float32(number), a), rtol=1e-6)


def test_operators_leave_unknown_operands_to_them():
    class Other:
        def __radd__(self, other):
            return "asked"

    assert pyburn.ones(2) + Other() == "asked"
    with pytest.raises(TypeError):
        pyburn.ones(2) + "text"
    with pytest.raises(TypeError):
        pyburn.ones(2) + None
    assert (pyburn.ones(2) == "text") is False


def test_0d_tensors_broadcast_and_reduce():
    x = pyburn.tensor(2.0)
    assert (x + pyburn.ones(2, 3)).shape == (2, 3)
    assert x.sum().shape == ()
    assert x.sum(0).shape == ()
    assert x.max().item() == 2.0
    assert x.argmax().item() == 0
    assert pyburn.stack([x, x]).shape == (2,)
    assert x.reshape(1, 1).shape == (1, 1)
    assert x.expand(3).tolist() == [2, 2, 2]
    assert x.unsqueeze(0).shape == (1,)
    assert x.cumsum(0).item() == 2.0
    with pytest.raises(IndexError, match="[dD]im"):
        x.sum(1)


def test_gradients_of_0d_tensors():
    x = pyburn.tensor(3.0, requires_grad=True)
    (x * x * pyburn.ones(4)).sum().backward()
    assert x.grad.shape == ()
    assert x.grad.item() == 24
