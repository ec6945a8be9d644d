"""Versions: a value that was written after it was saved is refused, by the name of the step."""

import pyburn
import pytest


@pytest.fixture
def x():
    return pyburn.tensor([1.0, 2.0], requires_grad=True)


def test_writes_are_counted(x):
    y = pyburn.zeros(4)
    assert y._version == 0
    y.add_(1)
    y[0] = 3
    y[1:].zero_()
    assert y._version == 3
    assert y[2:]._version == 3
    assert y.clone()._version == 0
    assert (x * 1)._version == 0


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (lambda y: y * y, "MulBackward0"),
        (lambda y: y.exp().mul_(2), "ExpBackward0"),
        (lambda y: y.pow(3), "PowBackward0"),
        (lambda y: y / y, "DivBackward0"),
        (lambda y: y[None] @ y[:, None], "MatmulBackward0"),
        (lambda y: y.tanh().add_(1), "TanhBackward0"),
    ],
)
def test_a_stale_value_is_refused_by_name(x, step, name):
    y = x * 1
    z = step(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match=rf"{name}.*modified by an inplace operation.*version"):
        z.sum().backward()


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.view(1, 2).zero_(),
        lambda y: y[0].add_(1),
        lambda y: y.__setitem__(0, 5.0),
        lambda y: y.detach().mul_(2),
        lambda y: y.masked_fill_(y > 0, 1.0),
        lambda y: y.copy_(pyburn.zeros(2)),
    ],
)
def test_writes_through_views_count(x, write):
    y = x * 1
    z = (y * y).sum()
    write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_values_that_no_gradient_reads_may_be_written(x):
    y = x * 1
    z = (y + 3) * 2
    y.zero_()
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_writes_without_recording_count_too(x):
    y = x * 1
    z = (y * y).sum()
    with pyburn.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_an_optimiser_step_between_forward_and_backward_is_noticed(x):
    z = (x * x).sum()
    with pyburn.no_grad():
        x.sub_(0.1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_the_data_attribute_stands_outside(x):
    """As in PyTorch, `x.data` is the way around the check."""
    z = (x * 3).sum()
    x.data = pyburn.zeros(2)
    z.backward()
    assert x.grad.tolist() == [3, 3]
    assert x.tolist() == [0, 0]


def test_what_happened_before_saving_does_not_matter(x):
    y = x * 1
    y.add_(1)
    (y * y).sum().backward()
    assert x.grad.tolist() == [4, 6]
