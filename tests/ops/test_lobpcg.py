"""Eigenvalues of symmetric matrices by iteration, against complete decompositions."""

from __future__ import annotations

import numpy as np
import pyburn as pb
import pytest
import scipy.linalg
from pyburn.autograd import gradcheck, gradgradcheck

ROWS = 40


def symmetric(seed: int, positive: bool = False) -> np.ndarray:
    """A matrix whose eigenvalues lie apart; all of them above one on demand."""
    values = np.random.default_rng(seed).standard_normal((ROWS, ROWS))
    if positive:
        return values @ values.T / ROWS + np.eye(ROWS)
    return (values + values.T) / 8 + np.diag(np.arange(ROWS) - 20.0)


def expected(a: np.ndarray, b: np.ndarray | None, k: int, largest: bool) -> np.ndarray:
    values = scipy.linalg.eigh(a, b, eigvals_only=True)
    return values[::-1][:k] if largest else values[:k]


@pytest.mark.parametrize("dtype", [pb.float64, pb.float32])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("options", [{}, {"n": 5}, {"method": "basic"}], ids=str)
def test_pairs(dtype: pb.dtype, largest: bool, general: bool, options: dict) -> None:
    pb.manual_seed(0)
    a, b = symmetric(1), symmetric(2, positive=True) if general else None
    x, y = pb.tensor(a, dtype=dtype), None if b is None else pb.tensor(b, dtype=dtype)
    values, vectors = pb.lobpcg(x, k=3, B=y, largest=largest, **options)
    assert values.dtype == vectors.dtype == dtype
    room = 1e-10 if dtype == pb.float64 else 2e-3
    np.testing.assert_allclose(values.numpy(), expected(a, b, 3, largest), atol=room)
    scaled = vectors if y is None else y @ vectors
    assert (vectors.mT @ scaled - pb.eye(3, dtype=dtype)).abs().max() < 1e-5
    residuals = pb.linalg.vector_norm(x @ vectors - scaled * values, dim=0)
    sizes = pb.linalg.vector_norm(vectors, dim=0) * (40 + values.abs() * 10)
    assert (residuals <= pb.finfo(dtype).eps ** 0.5 * sizes).all()


def test_a_preconditioner_saves_steps() -> None:
    a = symmetric(3) + 50 * np.eye(ROWS)
    x, inverse = pb.tensor(a), pb.tensor(np.linalg.inv(a))
    start = pb.tensor(np.random.default_rng(0).standard_normal((ROWS, 2)))

    def fault(steps: int, preconditioner: pb.Tensor | None) -> float:
        values, _ = pb.lobpcg(x, X=start, iK=preconditioner, niter=steps, tol=0, largest=False)
        return float(np.abs(values.numpy() - expected(a, None, 2, False)).max())

    assert fault(8, inverse) < 0.1 * fault(8, None)
    # Step by step is the same as at once, but for the directions that are lost on the way.
    assert fault(3, None) > fault(8, None) > fault(60, None)
    assert fault(60, None) < 1e-8


def test_batches() -> None:
    a = np.stack([symmetric(seed) for seed in range(6)]).reshape(2, 3, ROWS, ROWS)
    values, vectors = pb.lobpcg(pb.tensor(a), k=2, largest=False)
    assert vectors.shape == (2, 3, ROWS, 2)
    np.testing.assert_allclose(values.numpy(), np.linalg.eigvalsh(a)[..., :2], atol=1e-10)


def test_what_x_says() -> None:
    x = pb.tensor(symmetric(1))
    start = pb.eye(ROWS, dtype=pb.float64)[:, -3:]
    assert pb.lobpcg(x, X=start)[0].shape == (3,)
    assert pb.lobpcg(x, X=start, k=1)[1].shape == (ROWS, 1)
    assert pb.lobpcg(x)[0].shape == (1,)
    # Eigenvectors already: nothing is left to find in the residuals.
    exact = pb.diag(pb.arange(12.0))
    values, vectors = pb.lobpcg(exact, X=pb.eye(12)[:, -2:], tol=0, niter=3)
    assert values.tolist() == [11, 10]
    assert (vectors.abs().sum(1) > 0.5).nonzero().flatten().tolist() == [10, 11]


@pytest.mark.parametrize("general", [False, True])
def test_gradients(general: bool) -> None:
    a = pb.tensor(symmetric(1)[:6, :6], requires_grad=True)
    b = pb.tensor(symmetric(2, positive=True)[:6, :6], requires_grad=True) if general else None

    def values_and_projection(*given: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
        values, vectors = pb.lobpcg(given[0], 2, *given[1:])
        # Without the sign, which is free.
        return values, vectors @ vectors.mT

    given = (a,) if b is None else (a, b)
    assert gradcheck(values_and_projection, given)
    assert gradgradcheck(values_and_projection, given)
    with pb.no_grad():
        plain = pb.lobpcg(a, 2, b)[0]
    assert pb.allclose(pb.lobpcg(a, 2, b)[0], plain)


X = pb.eye(12)
WRONG = {
    "method": (lambda: pb.lobpcg(X, method="x"), ValueError, "expected the method"),
    "tracker": (lambda: pb.lobpcg(X, tracker=print), NotImplementedError, "tracker"),
    "k": (lambda: pb.lobpcg(X, k=5), ValueError, "three times as many rows.*12 rows"),
    "no k": (lambda: pb.lobpcg(X, k=0), ValueError, "k between 1"),
    "rows": (lambda: pb.lobpcg(pb.ones(3, 4)), ValueError, "square matrices"),
    "integers": (lambda: pb.lobpcg(X.to(pb.int64)), ValueError, "floats.*int64"),
    "B": (lambda: pb.lobpcg(X, B=pb.eye(3)), ValueError, r"expected B of shape \[12, 12\]"),
    "X": (lambda: pb.lobpcg(X, X=pb.ones(3, 1)), ValueError, r"expected X of shape \[12, 'n'\]"),
    "rank": (lambda: pb.lobpcg(X, X=pb.ones(12, 2)), ValueError, "do not depend"),
    "dtype": (lambda: pb.lobpcg(X, iK=X.double()), ValueError, "iK .*float32.*float64"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name: str) -> None:
    call, fault, words = WRONG[name]
    with pytest.raises(fault, match=f"lobpcg: .*{words}"):
        call()
