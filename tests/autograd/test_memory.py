"""A graph that nobody holds is gone at once, without the garbage collector."""

import gc
import os
import weakref
from pathlib import Path

import pyburn
import pytest

STATM = Path("/proc/self/statm")


def resident():
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Held:
    pass


@pytest.fixture(autouse=True)
def _without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def watched(step):
    """A weak reference that lives as long as the step's node."""
    held = Held()
    step.register_hook(lambda g, held=held: None)
    return weakref.ref(held)


@pytest.fixture
def x():
    return pyburn.ones(4, requires_grad=True)


def test_a_dropped_graph_is_freed(x):
    y = x * 2
    watch = watched(y)
    z = (y * y).sum()
    del y
    assert watch() is not None
    del z
    assert watch() is None


def test_backward_frees_what_it_has_used(x):
    y = x * 2
    watch = watched(y)
    z = (y * y).sum()
    del y
    z.backward()
    del z
    assert watch() is None


def test_a_failed_backward_frees_it_too(x):
    y = x * 2
    watch = watched(y)
    z = y * y
    del y
    with pytest.raises(RuntimeError):
        z.backward()
    del z
    gc.collect()  # the exception's frames refer to each other
    assert watch() is None


def test_views_and_their_base(x):
    y = x * 2
    watch = watched(y)
    view = y[1:]
    view.mul_(3)
    del y
    assert watch() is not None
    del view
    assert watch() is None


def test_retained_gradients_make_no_cycle(x):
    y = x * 2
    watch = watched(y)
    y.retain_grad()
    (y * 2).sum().backward()
    assert y.grad is not None
    del y
    assert watch() is None


def test_create_graph_makes_no_cycle():
    x = pyburn.ones(4, requires_grad=True)
    y = x * x
    watch = watched(y)
    (g,) = pyburn.autograd.grad(y.sum(), [x], create_graph=True)
    (g * g).sum().backward()
    x.grad = None
    del y, g
    assert watch() is None


def test_a_tensor_dies_with_its_name():
    y = pyburn.ones(3)
    watch = weakref.ref(y)
    view = y[1:]
    del y
    assert watch() is None
    assert view.tolist() == [1, 1]


@pytest.mark.skipif(not STATM.exists(), reason="reads /proc")
def test_memory_goes_back_with_the_graph():
    def step():
        w = pyburn.ones(1 << 20, requires_grad=True)
        y = w
        for _ in range(8):
            y = y * w
        y.sum().backward()

    step()
    before = resident()
    for _ in range(5):
        step()
    # One step holds over 40 MB; none of it may stay.
    assert resident() - before < 16 << 20


@pytest.mark.skipif(not STATM.exists(), reason="reads /proc")
def test_dropping_the_result_drops_the_activations():
    w = pyburn.ones(1 << 20, requires_grad=True)
    y = (w * 2).exp()
    before = resident()
    for _ in range(10):
        y = (w * 2).exp()
    del y
    assert resident() - before < 16 << 20
