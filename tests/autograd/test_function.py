"""Operations with a gradient written in Python."""

import gc
import weakref

import numpy as np
import pyburn
import pytest
from pyburn.autograd import Function, grad, gradcheck, gradgradcheck
from pyburn.autograd.function import once_differentiable


def leaf(*values):
    return pyburn.tensor(list(values), dtype=pyburn.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class Scale(Function):
    """A tensor times a number, with the context set apart."""

    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


def simple(backward, forward=lambda ctx, x: x * 2):
    """A function class of one argument."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Simple", (Function,), body)


def test_first_and_second_derivative():
    x = leaf(2.0)
    (first,) = grad(Cube.apply(x).sum(), [x], create_graph=True)
    (second,) = grad(first.sum(), [x])
    assert (first.tolist(), second.tolist()) == ([12], [12])
    assert gradcheck(Cube.apply, (leaf(1.0, 2.0),))
    assert gradgradcheck(Cube.apply, (leaf(1.0, 2.0),))


def test_the_context_may_be_set_apart():
    x = leaf(2.0)
    Scale.apply(x, 5).sum().backward()
    assert x.grad.tolist() == [5]


def test_its_name_is_shown():
    y = Cube.apply(leaf(1.0))
    assert y.grad_fn.name() == "CubeBackward"
    assert "CubeBackward" in repr(y)


def test_without_recording_it_is_a_function():
    assert not Cube.apply(pyburn.ones(1)).requires_grad
    with pyburn.no_grad():
        assert not Cube.apply(leaf(1.0)).requires_grad
    with pytest.raises(RuntimeError, match="apply"):
        Cube()


def test_needs_input_grad():
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx, a, b, number):
            ctx.save_for_backward(a, b)
            seen.append(ctx.needs_input_grad)
            return a * b * number

        @staticmethod
        def backward(ctx, g):
            _, b = ctx.saved_tensors
            seen.append(ctx.needs_input_grad)
            return g * b if ctx.needs_input_grad[0] else None, None, None

    Product.apply(leaf(2.0), pyburn.ones(1).double(), 3).sum().backward()
    assert seen == [(True, False, False)] * 2


def test_several_results():
    def backward(ctx, a, b, text):
        assert text is None
        return a * 2 + b * 3

    x = leaf(1.0)
    _, b, text = simple(backward, lambda ctx, x: (x * 2, x * 3, "text")).apply(x)
    assert text == "text"
    # Of the result without a gradient, backward gets zeros.
    b.sum().backward()
    assert x.grad.tolist() == [3]


def test_gradients_that_are_not_materialised():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        seen.append((a, b is not None))
        return b * 3

    simple(backward, forward).apply(leaf(1.0))[1].sum().backward()
    assert seen == [(None, True)]


def test_results_through_which_nothing_flows():
    class Sort(Function):
        @staticmethod
        def forward(ctx, x):
            values, order = x.sort()
            ctx.mark_non_differentiable(order)
            ctx.save_for_backward(order)
            return values, order

        @staticmethod
        def backward(ctx, g, _):
            (order,) = ctx.saved_tensors
            return pyburn.zeros_like(g).scatter(0, order, g)

    x = leaf(3.0, 1.0, 2.0)
    values, order = Sort.apply(x)
    assert values.requires_grad
    assert not order.requires_grad
    (values * pyburn.tensor([1.0, 10.0, 100.0]).double()).sum().backward()
    assert x.grad.tolist() == [100, 1, 10]


def test_a_float_result_marked_so():
    def forward(ctx, x):
        fixed = x * 5
        ctx.mark_non_differentiable(fixed)
        return x * 2, fixed

    a, b = simple(lambda ctx, g, h: g * 2, forward).apply(leaf(1.0))
    assert a.requires_grad
    assert not b.requires_grad


def test_writing_an_argument():
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    double = simple(lambda ctx, g: g * 2, forward)
    x = leaf(3.0)
    y = x * 1
    z = double.apply(y)
    assert y.tolist() == [6]
    assert z._is_same(y)
    (y * y).sum().backward()
    # y = 2x; d(y^2) = 2 y * 2
    assert x.grad.tolist() == [24]
    with pytest.raises(RuntimeError, match="leaf"):
        double.apply(leaf(1.0))


def test_an_argument_written_must_be_returned():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with pytest.raises(RuntimeError, match="dirty"):
        simple(lambda ctx, g: g, forward).apply(leaf(1.0) * 1)


def test_an_argument_may_be_the_result():
    x = leaf(1.0)
    y = simple(lambda ctx, g: g * 7, lambda ctx, x: x).apply(x)
    assert y.grad_fn is not None
    y.sum().backward()
    assert x.grad.tolist() == [7]
    assert x.is_leaf


def test_once_differentiable():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            assert not pyburn.is_grad_enabled()
            return 2 * g * x

    x = leaf(3.0)
    (g,) = grad(Square.apply(x).sum(), [x], create_graph=True)
    assert g.tolist() == [6]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


@pytest.mark.parametrize(
    ("answer", "fault", "text"),
    [
        (lambda g: (g, g), RuntimeError, "incorrect number of gradients"),
        (lambda g: pyburn.ones(7).double(), RuntimeError, "invalid gradient"),
        (lambda g: 3, TypeError, "got int"),
    ],
)
def test_wrong_answers_are_refused(answer, fault, text):
    with pytest.raises(fault, match=text):
        simple(lambda ctx, g: answer(g)).apply(leaf(1.0, 2.0)).sum().backward()


def test_no_gradient_at_all():
    x = leaf(1.0)
    (simple(lambda ctx, g: None).apply(x) + x * 3).sum().backward()
    assert x.grad.tolist() == [3]


def test_what_backward_raises_comes_out():
    def fail(ctx, g):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        simple(fail).apply(leaf(1.0)).sum().backward()


def test_saved_tensors_are_guarded_by_versions():
    y = leaf(2.0) * 1
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"CubeBackward.*modified by an inplace"):
        z.sum().backward()


def test_saving_the_result():
    """It is differentiable again, and the graph is still freed without the garbage collector."""

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    class Held:
        pass

    x = leaf(0.5)
    y = Exp.apply(x)
    (first,) = grad(y.sum(), [x], create_graph=True)
    (second,) = grad(first.sum(), [x], retain_graph=True)
    np.testing.assert_allclose(second.numpy(), np.exp([0.5]))
    held = Held()
    watch = weakref.ref(held)
    y.register_hook(lambda g, held=held: None)
    del held
    gc.disable()
    try:
        del y, first, second
        assert watch() is None
    finally:
        gc.enable()


def test_long_chains_run_and_are_freed():
    y = leaf(1.0) * 1
    for _ in range(5000):
        y = Cube.apply(y)
    del y
    x = leaf(1.0)
    y = x
    for _ in range(5000):
        y = Scale.apply(y, 1)
    y.sum().backward()
    assert x.grad.tolist() == [1]


def test_a_function_of_a_function():
    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            with pyburn.enable_grad():
                inner = x.detach().requires_grad_()
                result = Cube.apply(inner)
            ctx.inner, ctx.result = inner, result
            return result.detach()

        @staticmethod
        def backward(ctx, g):
            (answer,) = grad(ctx.result, [ctx.inner], g, retain_graph=True)
            return answer

    x = leaf(2.0)
    Outer.apply(x).sum().backward()
    assert x.grad.tolist() == [12]
