"""`autograd.grad`, and gradients of gradients."""

import math

import numpy as np
import pyburn
import pytest
from pyburn.autograd import grad


def leaf(*values):
    return pyburn.tensor(list(values), dtype=pyburn.float64, requires_grad=True)


def test_it_returns_gradients_and_keeps_none():
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = grad((x * y).sum(), [x, y])
    assert (gx.tolist(), gy.tolist()) == ([3], [2])
    assert x.grad is None
    assert y.grad is None
    assert not gx.requires_grad
    (single,) = grad((x * y).sum(), x)
    assert single.tolist() == [3]


def test_several_outputs_and_their_gradients():
    x = leaf(1.0, 2.0)
    (g,) = grad([x * 2, x * x], [x], [pyburn.ones(2).double(), pyburn.full((2,), 10.0).double()])
    assert g.tolist() == [22, 42]


def test_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="unused|not have been used"):
        grad((x * 2).sum(), [x, y])
    gx, gy = grad((x * 2).sum(), [x, y], allow_unused=True)
    assert gx.tolist() == [2]
    assert gy is None
    gx, gy = grad((x * 2).sum(), [x, y], materialize_grads=True)
    assert gy.tolist() == [0]
    with pytest.raises((RuntimeError, ValueError), match="materialize_grads|allow_unused"):
        grad((x * 2).sum(), [x, y], materialize_grads=True, allow_unused=False)


def test_inputs_must_want_a_gradient():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="require grad"):
        grad((x * 2).sum(), [pyburn.ones(1)])


def test_of_intermediate_results():
    x = leaf(2.0)
    y = x * x
    z = (y * y).sum()
    gy, gx = grad(z, [y, x])
    assert (gy.tolist(), gx.tolist()) == ([8], [32])


def test_only_what_is_asked_for_is_computed():
    """The path that no asked input lies on must not run."""

    class Trap(pyburn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("ran")

    x, y = leaf(1.0), leaf(1.0)
    (g,) = grad((Trap.apply(x) + y * 3).sum(), [y])
    assert g.tolist() == [3]


@pytest.mark.parametrize(
    ("f", "derivatives"),
    [
        (lambda x: x**4, lambda v: (4 * v**3, 12 * v**2, 24 * v)),
        (lambda x: x.sin(), lambda v: (math.cos(v), -math.sin(v), -math.cos(v))),
        (lambda x: (2 * x).exp(), lambda v: tuple(2**k * math.exp(2 * v) for k in (1, 2, 3))),
        (lambda x: x.log(), lambda v: (1 / v, -1 / v**2, 2 / v**3)),
        (lambda x: 1 / x, lambda v: (-(v**-2), 2 * v**-3, -6 * v**-4)),
        (lambda x: x.sqrt(), lambda v: (0.5 * v**-0.5, -0.25 * v**-1.5, 0.375 * v**-2.5)),
        (lambda x: x * x * x * x, lambda v: (4 * v**3, 12 * v**2, 24 * v)),
        (
            lambda x: x.tanh(),
            lambda v: (
                1 - math.tanh(v) ** 2,
                -2 * math.tanh(v) * (1 - math.tanh(v) ** 2),
                (1 - math.tanh(v) ** 2) * (6 * math.tanh(v) ** 2 - 2),
            ),
        ),
        (lambda x: (x[None, :] @ x[:, None]).sum() ** 2, lambda v: (4 * v**3, 12 * v**2, 24 * v)),
        (lambda x: x.expand(3).prod(), lambda v: (3 * v**2, 6 * v, 6)),
        (lambda x: pyburn.cat([x, x * x]).sum(), lambda v: (1 + 2 * v, 2)),
    ],
)
def test_first_second_and_third_derivatives(f, derivatives):
    value = 0.7
    x = leaf(value)
    result = f(x).sum()
    for expected in derivatives(value):
        (result,) = grad(result, [x], create_graph=True, materialize_grads=True)
        np.testing.assert_allclose(result.detach().numpy(), [expected], rtol=1e-10, atol=1e-12)
        result = result.sum()


def test_a_gradient_penalty_reaches_the_weights():
    w, x = leaf(1.0, -2.0), leaf(3.0, 0.5)
    y = (w * x).sum() ** 2
    (gx,) = grad(y, [x], create_graph=True)
    (gx**2).sum().backward()
    s = 3.0 - 1.0
    # gx = 2 s w; |gx|^2 = 4 s^2 |w|^2
    expected = [8 * s * xi * 5 + 8 * s**2 * wi for wi, xi in ((1.0, 3.0), (-2.0, 0.5))]
    np.testing.assert_allclose(w.grad.numpy(), expected)


def test_create_graph_retains_the_graph():
    x = leaf(2.0)
    y = (x**3).sum()
    grad(y, [x], create_graph=True)
    (again,) = grad(y, [x])
    assert again.tolist() == [12]


def test_double_backward_through_views_and_writes():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[1:] *= x[:2]
    (g,) = grad((y**2).sum(), [x], create_graph=True)
    # y = (a, ab, bc): f = a^2 + a^2 b^2 + b^2 c^2
    a, b, c = 1.0, 2.0, 3.0
    np.testing.assert_allclose(
        g.detach().numpy(), [2 * a + 2 * a * b**2, 2 * a**2 * b + 2 * b * c**2, 2 * b**2 * c]
    )
    (h,) = grad(g[0], [x])
    np.testing.assert_allclose(h.numpy(), [2 + 2 * b**2, 4 * a * b, 0])


def test_outputs_that_are_inputs():
    x = leaf(5.0)
    (g,) = grad(x, [x])
    assert g.tolist() == [1]
