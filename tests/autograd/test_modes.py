"""Recording on and off: contexts, decorators, generators, threads."""

import threading

import pyburn
import pytest


@pytest.fixture
def x():
    return pyburn.ones(2, requires_grad=True)


def test_no_grad(x):
    with pyburn.no_grad():
        assert not pyburn.is_grad_enabled()
        y = x * 2
    assert pyburn.is_grad_enabled()
    assert not y.requires_grad
    assert y.is_leaf


def test_enable_grad_within_no_grad(x):
    with pyburn.no_grad():
        with pyburn.enable_grad():
            y = x * 2
        assert not (x * 2).requires_grad
    assert y.requires_grad


@pytest.mark.parametrize("mode", [True, False])
def test_set_grad_enabled(x, mode):
    with pyburn.set_grad_enabled(mode):
        assert (x * 2).requires_grad is mode
    assert pyburn.is_grad_enabled()


def test_set_grad_enabled_at_once(x):
    try:
        pyburn.set_grad_enabled(False)
        assert not (x * 2).requires_grad
    finally:
        pyburn.set_grad_enabled(True)
    assert (x * 2).requires_grad


@pytest.mark.parametrize("decorator", [pyburn.no_grad(), pyburn.no_grad, pyburn.inference_mode()])
def test_as_a_decorator(x, decorator):
    @decorator
    def function(a):
        """Doubles."""
        return a * 2

    assert not function(x).requires_grad
    assert pyburn.is_grad_enabled()
    assert function.__name__ == "function"
    assert function.__doc__ == "Doubles."


def test_as_a_decorator_of_the_other_kinds(x):
    @pyburn.enable_grad()
    def on(a):
        return a * 2

    @pyburn.set_grad_enabled(False)
    def off(a):
        return a * 2

    pyburn.set_grad_enabled(True)
    with pyburn.no_grad():
        assert on(x).requires_grad
    assert not off(x).requires_grad


def test_a_decorated_generator_switches_only_while_it_runs(x):
    @pyburn.no_grad()
    def generate():
        for _ in range(3):
            assert not pyburn.is_grad_enabled()
            yield x * 2

    for y in generate():
        assert pyburn.is_grad_enabled()
        assert not y.requires_grad


def test_an_exception_puts_the_mode_back(x):
    with pytest.raises(ZeroDivisionError), pyburn.no_grad():
        raise ZeroDivisionError
    assert pyburn.is_grad_enabled()


def test_nested_and_reused(x):
    mode = pyburn.no_grad()
    with mode:
        with mode:
            assert not pyburn.is_grad_enabled()
        assert not pyburn.is_grad_enabled()
    assert pyburn.is_grad_enabled()


def test_inference_mode(x):
    with pyburn.inference_mode():
        assert pyburn.is_inference_mode_enabled()
        assert not pyburn.is_grad_enabled()
        y = x * 2
    assert not pyburn.is_inference_mode_enabled()
    assert not y.requires_grad
    with pyburn.inference_mode(False):
        assert (x * 2).requires_grad


def test_modes_belong_to_a_thread(x):
    """A switch in one thread is not seen by another; a new thread records."""
    found = {}
    inside, done = threading.Event(), threading.Event()

    def other():
        found["start"] = pyburn.is_grad_enabled()
        with pyburn.no_grad():
            inside.set()
            done.wait(10)
            found["inside"] = (x * 2).requires_grad
        found["after"] = (x * 2).requires_grad

    with pyburn.no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(10)
    assert (x * 2).requires_grad
    done.set()
    thread.join(10)
    assert found == {"start": True, "inside": False, "after": True}


def test_a_function_runs_without_recording(x):
    seen = []

    class Double(pyburn.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            seen.append(pyburn.is_grad_enabled())
            return a * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(pyburn.is_grad_enabled())
            return g * 2

    Double.apply(x).sum().backward()
    Double.apply(x).sum().backward(create_graph=True)
    assert seen == [False, False, False, True]


def test_backward_works_where_recording_is_off(x):
    y = (x * x).sum()
    with pyburn.no_grad():
        y.backward()
    assert x.grad.tolist() == [2, 2]
