"""Hooks: their order, replacement, removal, and what they may not do."""

import gc
import weakref

import pyburn
import pytest


@pytest.fixture
def x():
    return pyburn.tensor([1.0, 2.0], requires_grad=True)


def test_a_hook_sees_the_gradient(x):
    seen = []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2).sum().backward()
    assert seen == [[2, 2], [6, 6]]
    assert x.grad.tolist() == [6, 6]


def test_a_hook_may_replace_it_and_the_next_one_sees_that(x):
    y = x * 1
    seen = []
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert seen == [[2, 2]]
    assert x.grad.tolist() == [30, 30]


def test_a_hook_sees_the_whole_gradient_once(x):
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2 + y * 3).sum().backward()
    assert seen == [[5, 5]]


def test_hooks_can_be_removed(x):
    seen = []
    first = x.register_hook(lambda g: seen.append(1))
    x.register_hook(lambda g: seen.append(2))
    y = x * 1
    third = y.register_hook(lambda g: seen.append(3))
    first.remove()
    first.remove()
    third.remove()
    y.sum().backward()
    assert seen == [2]
    with x.register_hook(lambda g: seen.append(4)):
        (x * 1).sum().backward()
    (x * 1).sum().backward()
    assert seen == [2, 2, 4, 2]


def test_a_hook_may_not_change_the_shape(x):
    x.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="size of the gradient"):
        (x * 1).sum().backward()


def test_what_a_hook_raises_comes_out(x):
    class Own(Exception):
        pass

    def fail(g):
        raise Own("from the hook")

    x.register_hook(fail)
    with pytest.raises(Own, match="from the hook"):
        (x * 1).sum().backward()
    assert x.grad is None


def test_a_hook_that_returns_no_tensor_is_refused(x):
    x.register_hook(lambda g: 3)
    with pytest.raises(TypeError):
        (x * 1).sum().backward()


def test_without_a_gradient_there_is_nothing_to_hook():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        pyburn.ones(1).register_hook(print)


def test_retain_grad(x):
    y = x * 2
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad.tolist() == [4, 8]
    assert x.grad.tolist() == [8, 16]
    z = x * 2
    (z * z).sum().backward()
    assert z.grad is None
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        pyburn.ones(1).retain_grad()
    x.retain_grad()
    assert not x.retains_grad


def test_retained_gradients_include_what_hooks_did(x):
    y = x * 1
    y.register_hook(lambda g: g * 5)
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [5, 5]


def test_after_accumulation(x):
    seen = []

    def step(leaf):
        seen.append(leaf.grad.tolist())
        leaf.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert seen == [[2, 2], [3, 3]]
    assert x.grad is None
    handle.remove()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 1).register_post_accumulate_grad_hook(step)


def test_the_leafs_hooks_run_before_accumulation(x):
    order = []
    x.register_post_accumulate_grad_hook(lambda leaf: order.append("after"))
    x.register_hook(lambda g: order.append("before"))
    (x * 2).sum().backward()
    assert order == ["before", "after"]


def test_grad_runs_hooks_too(x):
    x.register_hook(lambda g: g * 2)
    (g,) = pyburn.autograd.grad((x * 3).sum(), [x])
    assert g.tolist() == [6, 6]


def test_a_hook_may_differentiate_itself(x):
    y = x * x

    def inner(g):
        z = pyburn.ones(1, requires_grad=True)
        (z * 4).sum().backward()
        return g * z.grad

    # Backward has recording off; the hook turns it on for itself.
    y.register_hook(pyburn.enable_grad()(inner))
    y.sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_hooks_let_go_of_what_they_hold(x):
    class Held:
        pass

    held = Held()
    watch = weakref.ref(held)
    y = x * 2
    y.register_hook(lambda g, held=held: None)
    del held
    assert watch() is not None
    del y
    gc.collect()
    assert watch() is None


def test_order_of_two_branches_is_last_made_first(x):
    """Steps run back in the reverse of the order they were recorded in."""
    order = []
    a = x * 1
    b = x * 2
    a.register_hook(lambda g: order.append("a"))
    b.register_hook(lambda g: order.append("b"))
    (a + b).sum().backward()
    assert order == ["b", "a"]
