"""`utils.checkpoint`: the same gradients from activations computed twice."""

import pyburn
import pytest
from pyburn.utils.checkpoint import checkpoint, checkpoint_sequential

BOTH = pytest.mark.parametrize("reentrant", [True, False])


@BOTH
def test_gradients_and_number_of_runs(reentrant):
    runs = []
    w = pyburn.tensor([2.0], requires_grad=True)
    x = pyburn.tensor([3.0], requires_grad=True)

    def block(x):
        runs.append(pyburn.is_grad_enabled())
        return (x * w).sin()

    y = checkpoint(block, x, use_reentrant=reentrant)
    assert len(runs) == 1
    y.sum().backward()
    assert len(runs) == 2
    expected = pyburn.tensor(6.0).cos().item()
    assert x.grad.item() == pytest.approx(2 * expected)
    assert w.grad.item() == pytest.approx(3 * expected)


@BOTH
def test_random_numbers_are_drawn_again(reentrant):
    drawn = []

    def block(x):
        noise = pyburn.rand(4)
        drawn.append(noise.tolist())
        return x * noise

    pyburn.manual_seed(0)
    x = pyburn.ones(4, requires_grad=True)
    y = checkpoint(block, x, use_reentrant=reentrant)
    after = pyburn.rand(1).item()
    y.sum().backward()
    assert drawn[0] == drawn[1]
    assert x.grad.tolist() == drawn[0]
    # The second run left the stream where it was.
    assert pyburn.rand(1).item() != after


@BOTH
def test_arguments_that_are_no_tensors(reentrant):
    x = pyburn.ones(2, requires_grad=True)
    y = checkpoint(lambda x, n, flag: x * n if flag else x, x, 4, True, use_reentrant=reentrant)
    y.sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_keyword_arguments_and_nesting():
    x = pyburn.ones(2, requires_grad=True)

    def inner(x, *, factor):
        return x * factor

    def outer(x):
        return checkpoint(inner, x, factor=3, use_reentrant=False) ** 2

    checkpoint(outer, x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [18, 18]


def test_without_recording_it_runs_once():
    runs = []

    def block(x):
        runs.append(1)
        return x * 2

    with pyburn.no_grad():
        y = checkpoint(block, pyburn.ones(1, requires_grad=True), use_reentrant=False)
    assert not y.requires_grad
    assert runs == [1]


def test_a_sequence_of_blocks():
    x = pyburn.ones(2, requires_grad=True)
    blocks = [lambda x: x * 2, lambda x: x + 1, lambda x: x**2, lambda x: x * 3]
    checkpoint_sequential(blocks, 2, x, use_reentrant=False).sum().backward()
    # 3 (2x + 1)^2
    assert x.grad.tolist() == [36, 36]
