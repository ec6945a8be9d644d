"""Some eigenvalues of large symmetric matrices, by products with them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyburn import _core, linalg
from pyburn._core import Tensor
from pyburn._dtypes import category, finfo
from pyburn._random import randn
from pyburn.autograd import no_grad

__all__ = ["lobpcg"]


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Any], None] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest eigenvalues of symmetric matrices and their eigenvectors, those
    with ``A X = B X diag(E)`` for positive-definite ``B``.

    The subspace of ``n`` vectors, ``X`` at first or random, grows by the preconditioned residuals
    and the directions of the last step (A. V. Knyazev's locally optimal block preconditioned
    conjugate gradients); its basis is kept orthonormal, whichever method is named. It ends when the
    residuals are below ``tol`` relative to the matrices, or after ``niter`` steps.

    Where a gradient is wanted the matrices are decomposed whole, by :func:`pyburn.linalg.eigh`.

    Example:
        >>> a = pyburn.diag(pyburn.arange(1.0, 13.0))
        >>> values, vectors = pyburn.lobpcg(a, k=2)
        >>> values.round()
        tensor([12., 11.])
    """
    if method not in (None, "ortho", "basic"):
        raise ValueError(f"lobpcg: expected the method 'ortho' or 'basic', got {method!r}")
    if tracker is not None or ortho_iparams or ortho_fparams or ortho_bparams:
        raise NotImplementedError(
            "lobpcg: steps cannot be watched or tuned by tracker, ortho_iparams, ortho_fparams and "
            "ortho_bparams; hint: niter=1 and X=, step by step"
        )
    _check(A, B, X, iK)
    if k is None:
        k = 1 if X is None else X.shape[-1]
    columns = X.shape[-1] if X is not None else k if n is None else n
    rows = A.shape[-1]
    if not 1 <= k <= columns or rows < 3 * columns:
        raise ValueError(
            f"lobpcg: expected k between 1 and the number of vectors and at least three times as "
            f"many rows as vectors, got k={k}, {columns} vectors and {rows} rows; hint: "
            "pyburn.linalg.eigh"
        )
    largest = True if largest is None else largest
    if _core.is_grad_enabled() and (A.requires_grad or (B is not None and B.requires_grad)):
        return _whole(A, B, k, largest)
    with no_grad():
        given = randn((*A.shape[:-1], columns), dtype=A.dtype, device=A.device) if X is None else X
        limits = (
            k,
            1000 if niter is None else niter,
            finfo(A.dtype).eps ** 0.5 if tol is None else tol,
        )
        batch = A.shape[:-2]

        def one(matrices: Any, at: int) -> Any:
            return None if matrices is None else matrices.reshape(-1, *matrices.shape[-2:])[at]

        pairs = [
            _iterated(one(A, at), one(B, at), one(given, at), one(iK, at), limits, largest)
            for at in range(batch.numel())
        ]
        values, vectors = (_core._stack([pair[side] for pair in pairs], 0) for side in (0, 1))
        return values.reshape(*batch, k), vectors.reshape(*batch, -1, k)


def _check(A: Tensor, B: Tensor | None, X: Tensor | None, iK: Tensor | None) -> None:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or category(A.dtype) < 2:
        raise ValueError(
            f"lobpcg: expected square matrices of floats, got shape {list(A.shape)} and {A.dtype}"
        )
    for name, other in (("B", B), ("X", X), ("iK", iK)):
        if other is None:
            continue
        wanted = A.shape[:-1] if name == "X" else A.shape
        if other.shape[: len(wanted)] != wanted or other.ndim != A.ndim or other.dtype != A.dtype:
            raise ValueError(
                f"lobpcg: expected {name} of shape {[*wanted, *(['n'] if name == 'X' else [])]} "
                f"and {A.dtype} as A, got {list(other.shape)} and {other.dtype}"
            )


def _first(values: Tensor, vectors: Tensor, count: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The first pairs of ascending ones, from the end that is asked for."""
    if largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :count], vectors[..., :count]


def _whole(A: Tensor, B: Tensor | None, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The pairs by a decomposition that gradients flow through."""
    symmetric = (A + A.mH) / 2
    if B is None:
        return _first(*linalg.eigh(symmetric), k, largest)
    # With B = L L^H the vectors L^H X are those of an ordinary problem.
    lower = linalg.cholesky((B + B.mH) / 2)
    half = linalg.solve_triangular(lower, symmetric, upper=False)
    values, vectors = linalg.eigh(linalg.solve_triangular(lower, half.mH, upper=False))
    vectors = linalg.solve_triangular(lower.mH, vectors, upper=True)
    return _first(values, vectors, k, largest)


def _orthonormal(basis: Tensor, B: Tensor | None) -> Tensor:
    """Columns that span the same space, orthonormal in the scalar product of ``B``; directions that
    the others already span up to rounding are left out."""
    # A second time, since the first suffers from columns that nearly depend on each other.
    for _ in range(2 if basis.shape[-1] else 0):
        gram = basis.mH @ (basis if B is None else B @ basis)
        sizes = gram.diagonal().real.clamp(min=0).sqrt()
        scale = (sizes > 0) / sizes.clamp(min=finfo(basis.dtype).tiny)
        values, vectors = linalg.eigh(gram * scale * scale.unsqueeze(-1))
        kept = values > finfo(basis.dtype).eps * len(values) * values[-1]
        basis = basis @ (vectors[:, kept] * scale.unsqueeze(-1) / values[kept].sqrt())
    return basis


def _iterated(
    A: Tensor,
    B: Tensor | None,
    X: Tensor,
    iK: Tensor | None,
    limits: tuple[int, int, float],
    largest: bool,
) -> tuple[Tensor, Tensor]:
    """The pairs of one matrix."""
    k, steps, tol = limits
    count = X.shape[-1]
    # How far a product stretches vectors: what residuals are compared with.
    stretch = linalg.norm(A @ X) / linalg.norm(X)
    stretch_b = 1.0 if B is None else linalg.norm(B @ X) / linalg.norm(X)

    def times_b(vectors: Tensor) -> Tensor:
        return vectors if B is None else B @ vectors

    def chosen(basis: Tensor) -> tuple[Tensor, Tensor]:
        """The best pairs within a subspace with an orthonormal basis, in its coordinates."""
        small = basis.mH @ (A @ basis)
        return _first(*linalg.eigh((small + small.mH) / 2), count, largest)

    basis = _orthonormal(X, B)
    if basis.shape[-1] < count:
        raise ValueError("lobpcg: expected vectors X that do not depend on each other")
    values, inner = chosen(basis)
    vectors, directions = basis @ inner, basis[:, :0]
    step = 0
    while step != steps:
        residuals = A @ vectors - times_b(vectors) * values
        scale = linalg.vector_norm(vectors, dim=0) * (stretch + values.abs() * stretch_b)
        if bool((linalg.vector_norm(residuals, dim=0) <= tol * scale)[:k].all()):
            break
        more = _core._cat([residuals if iK is None else iK @ residuals, directions], 1)
        # Twice, since the first leaves what rounding brings in.
        for _ in range(2):
            more = more - vectors @ (vectors.mH @ times_b(more))
        more = _orthonormal(more, B)
        values, inner = chosen(_core._cat([vectors, more], 1))
        directions = more @ inner[count:]
        vectors = vectors @ inner[:count] + directions
        step += 1
    return values[:k], vectors[:, :k]
