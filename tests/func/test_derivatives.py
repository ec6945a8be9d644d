"""`pyburn.func`: derivatives as functions of functions."""

from __future__ import annotations

import pyburn
import pytest
from pyburn.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = pyburn.tensor([1.0, 2.0, 3.0], dtype=pyburn.float64)


def close(a, b):
    assert a.shape == b.shape
    assert pyburn.allclose(a, b), (a, b)


def cube(x):
    return (x**3).sum()


def test_derivatives_nest():
    close(grad(cube)(X), 3 * X**2)
    close(grad(lambda x: grad(cube)(x).sum())(X), 6 * X)
    slope = pyburn.sin
    for wanted in (pyburn.cos, lambda x: -pyburn.sin(x), lambda x: -pyburn.cos(x), pyburn.sin):
        slope = grad(slope)
        close(slope(X[0]), wanted(X[0]))
    close(hessian(cube)(X), pyburn.diag(6 * X))
    close(jacrev(jacrev(lambda x: x**3))(X)[1, 1, 1], 6 * X[1])
    close(grad(lambda x: jvp(cube, (x,), (X,))[1])(X), 6 * X * X)


def test_inner_derivatives_keep_outer_variables_apart():
    # d/dx of x * d/dy (x + y) at y = 1 is 1: perturbations must not be mixed up.
    def outer(x):
        return x * grad(lambda y: x + y)(pyburn.tensor(1.0))

    assert grad(outer)(pyburn.tensor(5.0)).item() == 1.0
    assert grad(lambda x: grad(lambda y: x * y * y)(x))(pyburn.tensor(3.0)).item() == 12.0


def test_results_have_a_history_only_if_the_caller_wants_one():
    assert not grad(cube)(X).requires_grad
    assert not grad_and_value(cube)(X)[1].requires_grad
    assert not hessian(cube)(X).requires_grad
    weight = pyburn.tensor(2.0, requires_grad=True)
    found = grad(lambda x: weight * x * x)(pyburn.tensor(3.0))
    assert pyburn.autograd.grad(found, weight)[0].item() == 6.0
    tracked = X.clone().requires_grad_()
    close(pyburn.autograd.grad(grad(cube)(tracked).sum(), tracked)[0], 6 * X)
    with pyburn.no_grad():
        close(grad(cube)(X), 3 * X**2)


def test_containers_argnums_and_aux():
    params = {"w": X, "inner": [X * 2, (X[0],)]}

    def loss(p, scale):
        return (p["w"] * p["inner"][0] * scale).sum() + p["inner"][1][0], {"seen": p["w"] + 1}

    found, aux = grad(loss, has_aux=True)(params, X)
    close(found["w"], 2 * X * X)
    close(found["inner"][0], X * X)
    assert found["inner"][1][0].item() == 1
    close(aux["seen"], X + 1)
    assert not aux["seen"].requires_grad
    both = grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(X, X + 1)
    close(both[0], X + 1)
    close(both[1], X)
    close(grad(lambda a, b: (a * a * b).sum(), argnums=-1)(X, X), X * X)
    gradient, value = grad_and_value(cube)(X)
    close(gradient, 3 * X**2)
    assert value.item() == 36


def test_unused_inputs_have_zero_gradients():
    close(grad(lambda a, b: a.sum(), argnums=1)(X, X), X * 0)
    close(grad(lambda a: pyburn.ones(()))(X), X * 0)


def test_vjp_and_jvp():
    out, pull = vjp(lambda x, y: (x * y, x.sum()), X, X + 1)
    close(out[0], X * (X + 1))
    for _ in range(2):
        left, right = pull((X, pyburn.tensor(2.0, dtype=X.dtype)))
        close(left, X * (X + 1) + 2)
        close(right, X * X)
    out, pull, aux = vjp(lambda x: (x * 2, x), X, has_aux=True)
    close(pull(X)[0], 2 * X)
    close(aux, X)
    out, push = jvp(lambda x, y: x * y, (X, X + 1), (X, X * 0))
    close(push, X * (X + 1))
    out, push, aux = jvp(lambda x: (x.exp(), x), (X,), (X,), has_aux=True)
    close(push, X.exp() * X)


def test_jacobians():
    def func(x, y):
        return {"p": x * y.sum(), "s": y[:1]}

    for jacobian in (jacrev, jacfwd):
        found = jacobian(func, argnums=(0, 1))(X, X)
        close(found["p"][0], pyburn.eye(3, dtype=X.dtype) * 6)
        close(found["p"][1], X[:, None].expand(3, 3))
        close(found["s"][0], pyburn.zeros(1, 3, dtype=X.dtype))
        assert found["s"][1].tolist() == [[1, 0, 0]]
    assert jacrev(lambda x: x[:0])(X).shape == (0, 3)
    matrix = hessian(lambda a, b: (a * b * b).sum(), argnums=(0, 1))(X, X)
    close(matrix[0][1], pyburn.diag(2 * X))
    close(matrix[1][1], pyburn.diag(2 * X))


def test_with_batches():
    close(vmap(grad(cube))(pyburn.stack([X, 2 * X])), pyburn.stack([3 * X**2, 12 * X**2]))
    close(grad(lambda x: vmap(lambda v: v * v)(x).sum())(X), 2 * X)
    # Gradients of each example by shared parameters.
    weight = X.clone()
    each = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))
    data = pyburn.stack([X, -X])
    close(each(weight, data), 2 * (data * weight).sum(1, True) * data)


WRONG = {
    "not a scalar": (lambda: grad(lambda x: x)(X), RuntimeError, "scalar tensor"),
    "not a tensor": (lambda: grad(lambda x: 1.0)(X), RuntimeError, "return a tensor, got float"),
    "integer input": (
        lambda: grad(lambda x: x.sum())(pyburn.arange(3)),
        RuntimeError,
        "floating point",
    ),
    "number input": (lambda: grad(lambda x: x)(1.0), TypeError, "got float"),
    "argnums": (lambda: grad(cube, argnums=1)(X), RuntimeError, "only 1 positional"),
    "same argnums": (
        lambda: grad(lambda a, b: a, argnums=(0, -2))(X, X),
        RuntimeError,
        "must be unique",
    ),
    "no argnums": (lambda: grad(cube, argnums=())(X), RuntimeError, "must not be empty"),
    "aux": (lambda: grad(cube, has_aux=True)(X), RuntimeError, "output, aux"),
    "cotangent": (lambda: vjp(cube, X)[1](X), RuntimeError, "cotangent of shape"),
    "tangent": (lambda: jvp(cube, (X,), (X[:1],)), RuntimeError, "same structure"),
    "tuples": (lambda: jvp(cube, X, X), RuntimeError, "expected tuples"),
    "absent": (lambda: pyburn.func.nothing, AttributeError, "nothing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    call, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        call()


def test_a_failing_function_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: x / (1 // 0))(X)
    assert not grad(cube)(X).requires_grad
    from pyburn.func import _derivatives

    assert _derivatives._nesting.depth == 0
    assert _derivatives._nesting.leaves == []
