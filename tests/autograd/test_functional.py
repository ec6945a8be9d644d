"""Jacobians, Hessians and products with them, against closed forms."""

import numpy as np
import pyburn
import pytest
from pyburn.autograd import functional as F


def vector(*values):
    return pyburn.tensor(list(values), dtype=pyburn.float64)


def close(got, expected):
    np.testing.assert_allclose(got.detach().numpy(), expected, rtol=1e-10, atol=1e-12)


X = vector(1.0, 2.0, 3.0)
A = pyburn.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 4.0]], dtype=pyburn.float64)


def test_jacobian_of_a_linear_map_is_its_matrix():
    close(F.jacobian(lambda x: A @ x, X), A.numpy())


def test_jacobian_elementwise_is_diagonal():
    close(F.jacobian(lambda x: x**3, X), np.diag([3.0, 12.0, 27.0]))


def test_jacobian_of_a_matrix_has_both_shapes():
    m = pyburn.eye(2).double()
    got = F.jacobian(lambda m: m @ m, m)
    assert got.shape == (2, 2, 2, 2)
    # d(M M) at the identity is 2 dM.
    close(got.reshape(4, 4), 2 * np.eye(4))


def test_several_inputs_and_outputs():
    (aa, ab), (ba, bb) = F.jacobian(lambda a, b: (a * b, a + 2 * b), (vector(2.0), vector(5.0)))
    close(aa, [[5.0]])
    close(ab, [[2.0]])
    close(ba, [[1.0]])
    close(bb, [[2.0]])


def test_hessian_of_a_quadratic_form():
    q = (A.t() @ A).numpy()
    close(F.hessian(lambda x: x @ (A.t() @ A) @ x, X), 2 * q)


def test_hessian_of_a_cubic():
    close(F.hessian(lambda x: (x**3).sum(), X), np.diag([6.0, 12.0, 18.0]))


def test_hessian_of_two_arguments():
    (aa, ab), (ba, bb) = F.hessian(lambda a, b: (a * a * b).sum(), (vector(2.0), vector(3.0)))
    close(aa, [[6.0]])
    close(ab, [[4.0]])
    close(ba, [[4.0]])
    close(bb, [[0.0]])


def test_vjp():
    value, product = F.vjp(lambda x: A @ x, X, vector(1.0, 10.0))
    close(value, A.numpy() @ X.numpy())
    close(product, A.numpy().T @ [1.0, 10.0])


def test_jvp():
    value, product = F.jvp(lambda x: x**2, X, vector(1.0, 0.0, 10.0))
    close(value, [1.0, 4.0, 9.0])
    close(product, [2.0, 0.0, 60.0])


def test_products_with_the_hessian():
    direction = vector(1.0, 1.0, 2.0)
    for function in (F.hvp, F.vhp):
        value, product = function(lambda x: (x**3).sum(), X, direction)
        close(value, 36.0)
        close(product, [6.0, 12.0, 36.0])


def test_create_graph_makes_them_differentiable():
    x = X.clone().requires_grad_()
    F.jacobian(lambda x: x**3, x, create_graph=True).sum().backward()
    close(x.grad, [6.0, 12.0, 18.0])


def test_strict_refuses_independent_results():
    with pytest.raises(RuntimeError, match="does not require gradients"):
        F.jacobian(lambda x: vector(1.0), X, strict=True)
    close(F.jacobian(lambda x: vector(1.0), X), np.zeros((1, 3)))


def test_wrong_arguments():
    with pytest.raises(TypeError):
        F.jacobian(lambda x: 3, X)
    with pytest.raises(RuntimeError):
        F.hessian(lambda x: x, X)
    with pytest.raises(RuntimeError):
        F.vjp(lambda x: x, X, vector(1.0))
