"""Linear algebra: PyTorch's ``torch.linalg``.

Matrices are the last two dimensions, all others are batches. On GPUs factorisations visit the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyburn import _core, return_types
from pyburn._api import both, check_tensor, into
from pyburn._autocast import composite
from pyburn._core import LinAlgError, Tensor
from pyburn._dtypes import DTypeLike, Number, as_dtype, category, int32, numpy_names

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_sqrth",
    "multi_dot",
    "norm",
    "pinv",
    "polar",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

Dims = int | Sequence[int] | None


def _kind(dtype: DTypeLike | None) -> Any:
    return None if dtype is None else as_dtype(dtype)


def _order(op: str, ord: Number | str | None) -> Any:
    """The order of a norm as the engine reads it."""
    if isinstance(ord, complex):
        raise TypeError(f"{op}: expected a non-complex order of norm, got {ord}")
    return ord if ord is None or isinstance(ord, str) else float(ord)


@numpy_names
def norm(
    input: Tensor,
    ord: Number | str | None = None,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """The norm of all elements, of vectors over one dimension, or of matrices over two.

    Example:
        >>> x = pyburn.tensor([[3.0, 0.0], [0.0, 4.0]])
        >>> pyburn.linalg.norm(x), pyburn.linalg.norm(x, "nuc"), pyburn.linalg.norm(x, 1, dim=0)
        (tensor(5.), tensor(7.), tensor([3., 4.]))
    """
    order = _order("linalg.norm", ord)
    return into(_core.linalg_norm(input, order, dim, keepdim, _kind(dtype)), out)


@numpy_names
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """``sum(|x| ** ord) ** (1 / ord)`` over dimensions, all of them if none is named.

    Example:
        >>> pyburn.linalg.vector_norm(pyburn.tensor([3.0, 4.0]))
        tensor(5.)
    """
    order = _order("linalg.vector_norm", ord)
    return into(_core.vector_norm(input, order, dim, keepdim, _kind(dtype)), out)


@numpy_names
def matrix_norm(
    input: Tensor,
    ord: Number | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of matrices: ``"fro"``, ``"nuc"``, 1, 2, infinity or their negatives."""
    order = _order("linalg.matrix_norm", ord)
    return into(_core.matrix_norm(input, order, dim, keepdim, _kind(dtype)), out)


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of every matrix.

    Example:
        >>> pyburn.linalg.det(pyburn.tensor([[2.0, 1.0], [0.0, 3.0]]))
        tensor(6.)
    """
    return into(_core.det(A), out)


def slogdet(A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.linalg_slogdet:
    """The sign of every matrix's determinant and the logarithm of its absolute value."""
    return both(return_types.linalg_slogdet, _core.slogdet(A), out)


def cond(input: Tensor, p: Number | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The norm of every matrix times that of its inverse; infinite where it has none."""
    return into(_core.cond(input, _order("linalg.cond", p)), out)


def matrix_rank(
    input: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are larger than a tolerance: the larger one of ``atol`` and ``rtol``
    times the largest of them.

    Example:
        >>> pyburn.linalg.matrix_rank(pyburn.ones(3, 3))
        tensor(1)
    """
    if tol is not None:
        # The older form is an absolute tolerance alone.
        atol, rtol = tol, 0.0
    return into(_core.matrix_rank(input, atol, rtol, hermitian), out)


def cholesky(input: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The triangular ``L`` with ``input = L L^H`` of positive-definite matrices; its conjugate
    transpose with ``upper``.

    Example:
        >>> pyburn.linalg.cholesky(pyburn.tensor([[4.0, 2.0], [2.0, 2.0]]))
        tensor([[2., 0.],
                [1., 1.]])
    """
    return into(_core.cholesky(input, upper), out)


def cholesky_ex(
    input: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.linalg_cholesky_ex:
    """:func:`cholesky` without an error: ``info`` is zero, or the order of the first leading minor
    that is not positive-definite, for which the factor is not complete."""
    results = (
        (_core.cholesky(input, upper), _no_fault(input))
        if check_errors
        else _core.cholesky_ex(input, upper)
    )
    return both(return_types.linalg_cholesky_ex, results, out)


def _no_fault(A: Tensor) -> Tensor:
    """``info`` of matrices that are all in order."""
    return _core._full(tuple(A.shape[:-2]), 0, int32, A.device)


def qr(
    A: Tensor, mode: str = "reduced", *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.linalg_qr:
    """``Q`` with orthonormal columns and upper triangular ``R`` with ``A = Q R``.

    ``mode`` is ``"reduced"``, ``"complete"`` for a square ``Q``, or ``"r"`` for ``R`` alone.
    """
    return both(return_types.linalg_qr, _core.qr(A, mode), out)


def _pivoting(op: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{op}: LU without pivoting is not implemented; hint: pivot=True")


def lu(
    A: Tensor, *, pivot: bool = True, out: tuple[Tensor, Tensor, Tensor] | None = None
) -> return_types.linalg_lu:
    """A permutation ``P``, lower triangular ``L`` and upper triangular ``U`` with ``A = P L U``."""
    _pivoting("linalg.lu", pivot)
    return both(return_types.linalg_lu, _core.lu(A), out)


def lu_factor(
    A: Tensor, *, pivot: bool = True, out: tuple[Tensor, Tensor] | None = None
) -> return_types.linalg_lu_factor:
    """``L`` (below the diagonal, without its ones) and ``U`` in one matrix, and the row exchanges,
    counted from one."""
    _pivoting("linalg.lu_factor", pivot)
    return both(return_types.linalg_lu_factor, _core.lu_factor(A), out)


def _first_zero(factors: Tensor) -> Tensor:
    """The place, counted from one, of the first zero on the diagonal; zero if there is none."""
    zero = _core.diagonal(factors.detach(), 0, -2, -1) == 0
    if not zero.shape[-1]:
        return _no_fault(factors)
    first = _core.argmax(zero.to(int32), -1, False) + 1
    return (first * _core.any(zero, -1, False)).to(int32)


def lu_factor_ex(
    A: Tensor,
    *,
    pivot: bool = True,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> return_types.linalg_lu_factor_ex:
    """:func:`lu_factor` with ``info``: where on the diagonal of ``U`` a zero is, or zero."""
    _pivoting("linalg.lu_factor_ex", pivot)
    factors, pivots = _core.lu_factor(A)
    info = _first_zero(factors)
    if check_errors and _core.any(info, None, False).item():
        raise LinAlgError(
            f"linalg.lu_factor: U[{_place(info)}] is zero and using it on lu_solve would result in "
            "a division by zero"
        )
    return both(return_types.linalg_lu_factor_ex, (factors, pivots, info), out)


def _place(info: Tensor) -> str:
    """Where the first fault is, for a message."""
    faults = info.reshape(-1).tolist()
    at, fault = next((at, fault) for at, fault in enumerate(faults) if fault)
    return f"{fault},{fault}" if info.ndim == 0 else f"{fault},{fault} of batch element {at}"


def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution of ``A X = B`` by the factors of ``A`` that :func:`lu_factor` gave.

    ``X A = B`` without ``left``; with ``adjoint`` the conjugate transpose stands in place of ``A``.
    """
    return into(_core.lu_solve(LU, pivots, B, left, adjoint), out)


def ldl_factor(
    input: Tensor, *, hermitian: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> return_types.linalg_ldl_factor:
    """``A = L D L^T`` of symmetric (``L D L^H`` of ``hermitian``) matrices, of which the lower
    triangle is read: ``L`` and the block diagonal ``D`` in one matrix, and the exchanges as LAPACK
    counts them."""
    factors, pivots, info = _core.ldl_factor(input, hermitian)
    _check_blocks(info)
    return both(return_types.linalg_ldl_factor, (factors, pivots), out)


def _check_blocks(info: Tensor) -> None:
    if _core.any(info, None, False).item():
        raise LinAlgError(
            f"linalg.ldl_factor: D[{_place(info)}] is zero and using it on ldl_solve would result "
            "in a division by zero"
        )


def ldl_factor_ex(
    input: Tensor,
    *,
    hermitian: bool = False,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> return_types.linalg_ldl_factor_ex:
    """:func:`ldl_factor` with ``info``: the place of the first zero block of ``D``, or zero."""
    results = _core.ldl_factor(input, hermitian)
    if check_errors:
        _check_blocks(results[2])
    return both(return_types.linalg_ldl_factor_ex, results, out)


def ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The solution of ``A X = B`` by the factors of ``A`` that :func:`ldl_factor` gave."""
    return into(_core.ldl_solve(LD, pivots, B, hermitian), out)


def eig(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.linalg_eig:
    """Complex eigenvalues and eigenvectors (as columns) of square matrices."""
    return both(return_types.linalg_eig, _core.eig(input), out)


def eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex eigenvalues of square matrices."""
    return into(_core.eigvals(input), out)


def _lower(op: str, triangle: str) -> bool:
    if triangle.upper() not in ("L", "U"):
        raise RuntimeError(f"{op}: Expected UPLO argument to be 'L' or 'U', but got {triangle}")
    return triangle.upper() == "L"


def eigh(
    input: Tensor, UPLO: str = "L", *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.linalg_eigh:
    """Eigenvalues, ascending, and orthonormal eigenvectors (as columns) of Hermitian matrices.

    ``UPLO`` says which triangle is read, ``"L"`` or ``"U"``.

    Example:
        >>> pyburn.linalg.eigh(pyburn.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 2.])
    """
    return both(return_types.linalg_eigh, _core.eigh(input, _lower("linalg.eigh", UPLO)), out)


def eigvalsh(input: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of Hermitian matrices, ascending."""
    return into(_core.eigvalsh(input, _lower("linalg.eigvalsh", UPLO)), out)


def _driver(op: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(f"{op}: keyword argument `driver=` is only supported by cuSOLVER")


def svd(
    A: Tensor,
    full_matrices: bool = True,
    *,
    driver: str | None = None,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> return_types.linalg_svd:
    """``U``, ``S`` (descending) and ``Vh`` with ``A = U diag(S) Vh``.

    Example:
        >>> x = pyburn.tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
        >>> u, s, vh = pyburn.linalg.svd(x, full_matrices=False)
        >>> pyburn.allclose(u @ pyburn.diag(s) @ vh, x)
        True
    """
    _driver("linalg.svd", driver)
    return both(return_types.linalg_svd, _core.svd(A, full_matrices), out)


def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values, descending."""
    _driver("linalg.svdvals", driver)
    return into(_core.svdvals(A), out)


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The ``X`` with ``A X = B``, or ``X A = B`` without ``left``; ``B`` may be a vector.

    Example:
        >>> a = pyburn.tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> pyburn.linalg.solve(a, pyburn.tensor([2.0, 2.0]))
        tensor([1.0000, 0.5000])
    """
    return into(_core.solve(A, B, left), out)


def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.linalg_solve_ex:
    """:func:`solve` without an error: ``info`` is zero, or where the elimination met a zero."""
    try:
        result, info = _core.solve(A, B, left), _no_fault(A)
    except LinAlgError:
        if check_errors:
            raise
        factors, pivots = _core.lu_factor(A)
        vector = B.ndim == 1 or tuple(B.shape) == tuple(A.shape[:-1])
        columns = B.unsqueeze(-1) if vector else B
        result = _core.lu_solve(factors, pivots, columns, left, False)
        result, info = result.squeeze(-1) if vector else result, _first_zero(factors)
    return both(return_types.linalg_solve_ex, (result, info), out)


def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The ``X`` with ``input X = B`` for triangular ``input``; ``unitriangular`` puts ones on its
    diagonal."""
    return into(_core.solve_triangular(input, B, upper, left, unitriangular), out)


def lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> return_types.linalg_lstsq:
    """The ``X`` for which ``input X`` comes closest to ``b``, with residuals, rank and singular
    values where the driver computes them."""
    return return_types.linalg_lstsq(*_core.lstsq(input, b, rcond, driver))


def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of every square matrix.

    Example:
        >>> pyburn.linalg.inv(pyburn.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    return into(_core.inv(A), out)


def inv_ex(
    A: Tensor, *, check_errors: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> return_types.linalg_inv_ex:
    """:func:`inv` without an error: ``info`` is zero, or where the elimination met a zero."""
    try:
        inverse, info = _core.inv(A), _no_fault(A)
    except LinAlgError:
        if check_errors:
            raise
        factors, pivots = _core.lu_factor(A)
        unit = _core.matrix_power(A.detach(), 0)
        inverse = _core.lu_solve(factors, pivots, unit, True, False)
        info = _first_zero(factors)
    return both(return_types.linalg_inv_ex, (inverse, info), out)


def pinv(
    input: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The pseudo-inverse; what :func:`matrix_rank` does not count is zero."""
    if rcond is not None:
        # The older form is a relative tolerance alone.
        atol, rtol = 0.0, rcond
    return into(_core.pinv(input, atol, rtol, hermitian), out)


def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of every square matrix."""
    return _core.matrix_exp(input)


def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th power of every square matrix, of its inverse for negative ``n``."""
    return into(_core.matrix_power(input, n), out)


@composite
def matrix_sqrth(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The positive-definite square root of positive-definite matrices, of which the lower triangle
    is read.

    Example:
        >>> pyburn.linalg.matrix_sqrth(pyburn.tensor([[4.0, 0.0], [0.0, 9.0]]))
        tensor([[2., 0.],
                [0., 3.]])
    """
    values, vectors = _core.eigh(input, True)
    return into(_core.matmul(vectors * values.sqrt().unsqueeze(-2), vectors.mH), out)


def polar(A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.linalg_polar:
    """``U`` with orthonormal columns and positive-semidefinite ``H`` with ``A = U H``."""
    if A.ndim >= 2 and A.shape[-2] < A.shape[-1]:
        raise RuntimeError(
            f"linalg.polar: expected at least as many rows as columns, got shape {list(A.shape)}"
        )
    u, s, vh = _core.svd(A, False)
    unitary = _core.matmul(u, vh)
    length = _core.matmul(vh.mH * s.unsqueeze(-2), vh)
    return both(return_types.linalg_polar, (unitary, length), out)


@numpy_names
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The vector product along a dimension of size three."""
    return into(_core.cross(input, other, dim), out)


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of matrices, see :func:`pyburn.matmul`."""
    return into(_core.matmul(input, other), out)


@numpy_names
@composite
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The sum along a dimension of the products of conjugated vectors and others."""
    for kind in (x.dtype, y.dtype):
        if category(kind) < 2:
            raise RuntimeError(
                f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {kind}"
            )
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found {x.dtype} and "
            f"{y.dtype}"
        )
    return into(_core.sum(x.conj() * y, dim, False), out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, a view."""
    return _core.diagonal(A, offset, dim1, dim2)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of matrices in the cheapest order; the first and the last may be vectors.

    Example:
        >>> parts = [pyburn.ones(2, 3), pyburn.ones(3, 4), pyburn.ones(4)]
        >>> pyburn.linalg.multi_dot(parts)
        tensor([12., 12.])
    """
    return into(_core._multi_dot(list(tensors)), out)


def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections that :func:`pyburn.geqrf` packs."""
    return into(_core.householder_product(input, tau), out)


def tensorinv(input: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse for :func:`pyburn.tensordot` over the first ``ind`` dimensions."""
    return into(_core.tensorinv(input, ind), out)


def tensorsolve(
    input: Tensor,
    other: Tensor,
    dims: Sequence[int] | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The ``X`` with ``tensordot(input, X, X.ndim) = other``; ``dims`` move to the end first."""
    return into(_core.tensorsolve(input, other, dims), out)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Powers ``0`` to ``N - 1`` of every element, as rows.

    Example:
        >>> pyburn.linalg.vander(pyburn.tensor([2, 3]), N=3)
        tensor([[1, 2, 4],
                [1, 3, 9]])
    """
    check_tensor("linalg.vander", x)
    if N is not None and N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}")
    return _core.vander(x, N)
