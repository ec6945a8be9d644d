"""L-BFGS: its path against a plain implementation, its line search, its state."""

from __future__ import annotations

import copy

import numpy as np
import pyburn as pb
import pytest
from pyburn.optim import LBFGS
from pyburn.optim._line_search import Point, strong_wolfe


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def closure_of(optimizer, loss):
    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return closure


def plain_lbfgs(a, b, start, steps, lr, history):
    """Steps of one length on the quadratic xᵀAx/2 - bᵀx, by the two-loop recursion."""
    x, pairs, path = start.copy(), [], []
    grad = a @ x - b
    for iteration in range(steps):
        q, shares = -grad, []
        for y, s in reversed(pairs):
            share = (s @ q) / (y @ s)
            q, shares = q - share * y, [*shares, share]
        if pairs:
            y, s = pairs[-1]
            q = q * (y @ s) / (y @ y)
        for (y, s), share in zip(pairs, reversed(shares), strict=True):
            q = q + s * (share - (y @ q) / (y @ s))
        t = lr * min(1.0, 1.0 / abs(grad).sum()) if iteration == 0 else lr
        x = x + t * q
        new = a @ x - b
        pairs = [*pairs, (new - grad, t * q)][-history:]
        grad = new
        path.append(x)
    return path


@pytest.mark.parametrize("history", [2, 100])
def test_the_path_is_that_of_the_two_loop_recursion(history):
    rng = np.random.default_rng(0)
    m = rng.normal(size=(5, 5))
    a, b, start = m @ m.T + np.eye(5), rng.normal(size=5), rng.normal(size=5)
    expected = plain_lbfgs(a, b, start, 12, 0.5, history)
    x = pb.tensor(start, requires_grad=True)
    optimizer = LBFGS([x], lr=0.5, max_iter=1, history_size=history)
    matrix, vector = pb.tensor(a), pb.tensor(b)
    closure = closure_of(optimizer, lambda: x @ matrix @ x / 2 - vector @ x)
    for place in expected:
        optimizer.step(closure)
        np.testing.assert_allclose(x.detach().numpy(), place, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_quadratic_is_solved_in_one_step(search):
    rng = np.random.default_rng(1)
    m = rng.normal(size=(6, 6))
    a, b = m @ m.T + np.eye(6), rng.normal(size=6)
    parts = [pb.zeros(2, 2, dtype=pb.float64, requires_grad=True)]
    parts.append(pb.zeros(2, dtype=pb.float64, requires_grad=True))
    optimizer = LBFGS(parts, max_iter=200, line_search_fn=search, tolerance_change=1e-18)
    matrix, vector = pb.tensor(a), pb.tensor(b)

    def loss():
        x = pb.cat([part.reshape(-1) for part in parts])
        return x @ matrix @ x / 2 - vector @ x

    optimizer.step(closure_of(optimizer, loss))
    found = np.concatenate([part.detach().numpy().ravel() for part in parts])
    np.testing.assert_allclose(found, np.linalg.solve(a, b), atol=1e-6)


def test_rosenbrock_with_line_search():
    x = pb.tensor([-1.2, 1.0], dtype=pb.float64, requires_grad=True)
    optimizer = LBFGS([x], max_iter=100, line_search_fn="strong_wolfe", tolerance_change=1e-16)
    first = optimizer.step(closure_of(optimizer, lambda: rosenbrock(x)))
    assert first.item() == pytest.approx(24.2)
    np.testing.assert_allclose(x.detach().numpy(), [1.0, 1.0], atol=1e-6)
    state = optimizer.state[x]
    assert 20 < state["n_iter"] < 60
    assert state["n_iter"] < state["func_evals"] < 100


def test_maximize_goes_up():
    x = pb.tensor([-1.2, 1.0], dtype=pb.float64, requires_grad=True)
    optimizer = LBFGS(
        [x], max_iter=100, line_search_fn="strong_wolfe", tolerance_change=1e-16, maximize=True
    )
    optimizer.step(closure_of(optimizer, lambda: -rosenbrock(x)))
    np.testing.assert_allclose(x.detach().numpy(), [1.0, 1.0], atol=1e-6)


def test_limits_end_a_step():
    counted = []
    for options in ({"max_iter": 3}, {"max_iter": 50, "max_eval": 4}):
        x = pb.tensor([-1.2, 1.0], requires_grad=True)
        optimizer = LBFGS([x], lr=0.1, **options)
        calls = []

        def loss(x=x, calls=calls):
            calls.append(1)
            return rosenbrock(x)

        optimizer.step(closure_of(optimizer, loss))
        assert optimizer.state[x]["func_evals"] == len(calls)
        counted.append(len(calls))
    assert counted == [3, 4]


def test_at_a_minimum_nothing_moves():
    x = pb.ones(2, requires_grad=True)
    optimizer = LBFGS([x])
    loss = optimizer.step(closure_of(optimizer, lambda: rosenbrock(x)))
    assert loss.item() == 0.0
    assert x.tolist() == [1.0, 1.0]


def test_a_parameter_without_gradient_counts_as_flat():
    x, other = pb.tensor([2.0], requires_grad=True), pb.tensor([5.0], requires_grad=True)
    optimizer = LBFGS([other, x])
    optimizer.step(closure_of(optimizer, lambda: ((x - 1) ** 2).sum()))
    assert (x.item(), other.item()) == (pytest.approx(1.0), 5.0)


def test_complex_parameters():
    z = pb.tensor([1.0 + 2.0j], dtype=pb.complex128, requires_grad=True)
    optimizer = LBFGS([z], line_search_fn="strong_wolfe")
    optimizer.step(closure_of(optimizer, lambda: ((z - (3 - 1j)).abs() ** 2).sum()))
    assert z.item() == pytest.approx(3 - 1j)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_loaded_state_goes_on_bit_by_bit(search):
    places = []
    for reload in (False, True):
        x = pb.tensor([-1.2, 1.0], dtype=pb.float64, requires_grad=True)
        optimizer = LBFGS([x], lr=0.5, max_iter=4, line_search_fn=search)
        for turn in range(4):
            if reload and turn == 2:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = LBFGS([x], lr=0.1)
                optimizer.load_state_dict(saved)
            optimizer.step(closure_of(optimizer, lambda x=x: rosenbrock(x)))
        places.append(x.tolist())
    assert places[0] == places[1]


def test_what_it_refuses():
    x = pb.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        LBFGS([{"params": x}, {"params": pb.ones(1)}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        LBFGS([x], line_search_fn="other").step(lambda: None)


@pytest.mark.parametrize("first", [1e-3, 1.0, 7.0, 1e3])
def test_a_step_length_satisfies_the_strong_wolfe_conditions(first):
    def evaluate(t):
        return Point(t, (t - 3) ** 2 + np.sin(3 * t), pb.zeros(1), 2 * (t - 3) + 3 * np.cos(3 * t))

    start = evaluate(0.0)
    point, calls = strong_wolfe(evaluate, start, first, 1.0, 1e-9, 25)
    assert point.value <= start.value + 1e-4 * point.t * start.slope
    assert abs(point.slope) <= 0.9 * abs(start.slope)
    assert calls <= 26


def test_a_search_without_tries_left_takes_the_better_end():
    def evaluate(t):
        return Point(t, (t - 1) ** 2, pb.zeros(1), 2 * (t - 1))

    start = evaluate(0.0)
    assert strong_wolfe(evaluate, start, 1.5, 1.0, 1e-9, 0)[0].t == 1.5
    assert strong_wolfe(evaluate, start, 9.0, 1.0, 1e-9, 0)[0].t == 0.0
