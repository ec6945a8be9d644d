"""Products of vectors and matrices, factorisations, solutions of linear systems, distances.

Factorisations with PyTorch's newer names are in :mod:`pyburn.linalg`; the older names here are thin
forms of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast, overload

from pyburn import _core, linalg, return_types
from pyburn._api import both, check_tensor, into, method
from pyburn._autocast import composite
from pyburn._core import Tensor
from pyburn._dtypes import Number, numpy_names

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "cdist",
    "chain_matmul",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cosine_similarity",
    "cross",
    "det",
    "dot",
    "einsum",
    "geqrf",
    "ger",
    "inner",
    "inverse",
    "kron",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "mm",
    "mv",
    "orgqr",
    "ormqr",
    "outer",
    "pairwise_distance",
    "pca_lowrank",
    "pdist",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "svd_lowrank",
    "tensordot",
    "trace",
    "triangular_solve",
    "vdot",
]


@method
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of matrices, as NumPy's ``@``.

    Example:
        >>> pyburn.matmul(pyburn.ones(2, 3), pyburn.ones(3)).shape
        pyburn.Size([2])
    """
    result = _core.matmul(input, other)
    return result if out is None else into(result, out)


@method(name="__rmatmul__")
def _rmatmul(self: Tensor, other: Tensor) -> Tensor:
    """``other @ self``."""
    return _core.matmul(other, self)


@method
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices."""
    return into(_core.mm(input, mat2), out)


@method
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of the matrices of two batches.

    Example:
        >>> pyburn.bmm(pyburn.ones(4, 2, 3), pyburn.ones(4, 3, 5)).shape
        pyburn.Size([4, 2, 5])
    """
    return into(_core.bmm(input, mat2), out)


@method
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    return into(_core.mv(input, vec), out)


@method
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of two vectors.

    Example:
        >>> pyburn.dot(pyburn.tensor([1, 2]), pyburn.tensor([3, 4]))
        tensor(11)
    """
    return into(_core.dot(input, tensor), out)


@method
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of a conjugated vector and another."""
    return into(_core.vdot(input, other), out)


@method
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products summed over the last dimension of both tensors."""
    return into(_core.inner(input, other), out)


@method
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of the elements of two vectors.

    Example:
        >>> pyburn.outer(pyburn.tensor([1, 2]), pyburn.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """
    return into(_core.outer(input, vec2), out)


@method
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Another name of :func:`outer`."""
    return into(_core.outer(input, vec2), out)


@method
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: ``other`` in place of each element of ``input``, times that."""
    return into(_core.kron(input, other), out)


def tensordot(
    a: Tensor,
    b: Tensor,
    dims: int | Sequence[Any] | Tensor = 2,
    out: Tensor | None = None,
) -> Tensor:
    """Products summed over the last ``dims`` dimensions of ``a`` and the first ones of ``b``, or
    over two lists of dimensions.

    Example:
        >>> a, b = pyburn.ones(2, 3, 4), pyburn.ones(4, 3, 5)
        >>> pyburn.tensordot(a, b, dims=([1, 2], [1, 0])).shape
        pyburn.Size([2, 5])
    """
    check_tensor("tensordot", a)
    check_tensor("tensordot", b)
    if isinstance(dims, Tensor):
        dims = cast("int | Sequence[Any]", dims.tolist())
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise RuntimeError(
                f"tensordot: expected dims between 0 and {min(a.ndim, b.ndim)}, the fewest "
                f"dimensions of both tensors, got {dims} for shapes "
                f"{list(a.shape)} and {list(b.shape)}"
            )
        pair: Sequence[Any] = (range(a.ndim - dims, a.ndim), range(dims))
    elif len(dims) == 2:
        pair = dims
    else:
        raise RuntimeError(f"tensordot: expected dims as a number or two lists, got {dims}")
    first, second = ([one] if isinstance(one, int) else list(one) for one in pair)
    return into(_core.tensordot(a, b, first, second), out)


def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation names: ``einsum("bij,bjk->bik", a, b)``.

    Also takes operands with lists of numbers in place of letters:
    ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.

    Example:
        >>> x = pyburn.arange(4).reshape(2, 2)
        >>> pyburn.einsum("ii", x)
        tensor(3)
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation, operands = _equation(args)
    else:
        equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = operands[0]
    return _core._einsum(equation, list(operands))


def _equation(args: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The equation that operands and their lists of subscripts stand for."""

    def letter(number: Any) -> str:
        if number is Ellipsis:
            return "..."
        if not 0 <= number < 52:
            raise ValueError(f"einsum(): subscript {number} is not within the valid range [0, 52)")
        return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)

    inputs = [args[at] for at in range(1, len(args), 2)]
    equation = ",".join("".join(letter(item) for item in labels) for labels in inputs)
    if len(args) % 2:
        equation += "->" + "".join(letter(item) for item in args[-1])
        return equation, args[:-1:2]
    return equation, args[::2]


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the cheapest order."""
    if len(matrices) == 1 and isinstance(matrices[0], list | tuple):
        matrices = tuple(matrices[0])
    return into(_core._chain_matmul(list(matrices)), out)


@method(inplace=True)
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; with ``beta=0`` what ``input`` holds is ignored.

    Example:
        >>> pyburn.addmm(pyburn.ones(2), pyburn.eye(2), pyburn.eye(2), alpha=3)
        tensor([[4., 1.],
                [1., 4.]])
    """
    return into(_core.addmm(input, mat1, mat2, beta, alpha), out)


@method(inplace=True)
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``."""
    return into(_core.addmv(input, mat, vec, beta, alpha), out)


@method(inplace=True)
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return into(_core.addr(input, vec1, vec2, beta, alpha), out)


@method(inplace=True)
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)`` for batches of matrices."""
    return into(_core.baddbmm(input, batch1, batch2, beta, alpha), out)


@method(inplace=True)
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2).sum(0)``."""
    return into(_core.addbmm(input, batch1, batch2, beta, alpha), out)


@method
@numpy_names
def cross(
    input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The vector product along a dimension; along the first one of size three if none is named.

    Example:
        >>> pyburn.cross(pyburn.tensor([1, 0, 0]), pyburn.tensor([0, 1, 0]), dim=0)
        tensor([0, 0, 1])
    """
    check_tensor("cross", input)
    check_tensor("cross", other)
    if dim is None:
        dim = next((at for at, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError(
                f"cross: expected a dimension of size 3 in input, got shapes {list(input.shape)} "
                f"and {list(other.shape)}"
            )
    return into(_core.cross(input, other, dim), out)


@method
@composite
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal.

    Example:
        >>> pyburn.trace(pyburn.eye(3))
        tensor(3.)
    """
    check_tensor("trace", input)
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got shape {list(input.shape)}")
    return _core.sum(_core.diagonal(input, 0, 0, 1), None, False)


_DISTANCE_MODES = {
    None: True,
    "use_mm_for_euclid_dist_if_necessary": True,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """The ``p``-norm distances of all pairs of rows of two (batches of) matrices.

    Many Euclidean distances are computed by a matrix product, unless ``compute_mode`` is
    ``"donot_use_mm_for_euclid_dist"``.

    Example:
        >>> pyburn.cdist(pyburn.zeros(1, 2), pyburn.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """
    if compute_mode not in _DISTANCE_MODES:
        raise ValueError(
            f"cdist: {compute_mode} is not a valid value for compute_mode; expected one of "
            f"{[mode for mode in _DISTANCE_MODES if mode]}"
        )
    return _core.cdist(x1, x2, float(p), _DISTANCE_MODES[compute_mode])


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The ``p``-norm distances of every row of a matrix to every later one."""
    return _core.pdist(input, float(p))


@numpy_names
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension.

    Example:
        >>> x = pyburn.tensor([[3.0, 4.0]])
        >>> pyburn.cosine_similarity(x, -x)
        tensor([-1.])
    """
    return _core.cosine_similarity(x1, x2, dim, eps)


@numpy_names
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The ``p``-norms of the differences of two tensors' rows, to which ``eps`` is added."""
    check_tensor("pairwise_distance", x1)
    check_tensor("pairwise_distance", x2)
    return linalg.vector_norm(x1 - x2 + eps, p, -1, keepdim)


@method
def det(input: Tensor) -> Tensor:
    """The determinant of every matrix."""
    return _core.det(input)


@method
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant of every matrix; NaN where it is negative."""
    return _core.logdet(input)


@method
def slogdet(input: Tensor) -> return_types.slogdet:
    """The sign of every matrix's determinant and the logarithm of its absolute value."""
    return return_types.slogdet(*_core.slogdet(input))


@method
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of every square matrix."""
    return into(_core.inv(input), out)


@method
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse; singular values up to ``rcond`` times the largest count as zero."""
    return _core.pinv(input, 0.0, rcond, False)


@method
def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The triangular factor of positive-definite matrices, see :func:`pyburn.linalg.cholesky`."""
    return into(_core.cholesky(input, upper), out)


@method
def cholesky_solve(
    B: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The solution of ``A X = B`` by the Cholesky factor ``L`` of ``A``."""
    return into(_core.cholesky_solve(L, B, upper), out)


@method
def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is ``L``."""
    return into(_core.cholesky_inverse(L, upper), out)


@method
def qr(
    input: Tensor, some: bool = True, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.qr:
    """``Q`` and ``R`` with ``input = Q R``, see :func:`pyburn.linalg.qr`."""
    return both(return_types.qr, _core.qr(input, "reduced" if some else "complete"), out)


@method
def svd(
    input: Tensor,
    some: bool = True,
    compute_uv: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> return_types.svd:
    """``U``, ``S`` and ``V`` with ``input = U diag(S) V^H``, see :func:`pyburn.linalg.svd`.

    Without ``compute_uv`` the matrices are zero.
    """
    if compute_uv:
        u, s, vh = _core.svd(input, not some)
        return both(return_types.svd, (u, s, vh.mH), out)
    s = _core.svdvals(input)
    batch, (rows, columns) = tuple(input.shape[:-2]), input.shape[-2:]
    u, v = (
        _core._full((*batch, size, size), 0, input.dtype, input.device) for size in (rows, columns)
    )
    return both(return_types.svd, (u, s, v), out)


@overload
def lu(
    A: Tensor,
    pivot: bool = True,
    get_infos: Literal[False] = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lu_factor: ...
@overload
def lu(
    A: Tensor, pivot: bool = True, *, get_infos: Literal[True], out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor_ex: ...
def lu(
    A: Tensor,
    pivot: bool = True,
    get_infos: bool = False,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """The packed factors ``LU`` and the row exchanges, see :func:`pyburn.linalg.lu_factor`."""
    results = linalg.lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    if get_infos:
        return both(return_types.linalg_lu_factor_ex, results, out)
    return both(return_types.linalg_lu_factor, (results.LU, results.pivots), out)


@overload
def _lu(
    self: Tensor, pivot: bool = True, get_infos: Literal[False] = False
) -> return_types.linalg_lu_factor: ...
@overload
def _lu(
    self: Tensor, pivot: bool = True, *, get_infos: Literal[True]
) -> return_types.linalg_lu_factor_ex: ...
@method(name="lu")
def _lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The packed factors ``LU`` and the row exchanges."""
    return lu(self, pivot, get_infos=True) if get_infos else lu(self, pivot)


@method
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The solution of ``A X = b`` by the factors of ``A`` that :func:`lu` gave."""
    return into(_core.lu_solve(LU_data, LU_pivots, b, True, False), out)


def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> return_types.lu_unpack:
    """``P``, ``L`` and ``U`` with ``A = P L U`` from what :func:`lu` gave; parts not asked for are
    empty."""
    p, lower, upper = _core.lu_unpack(LU_data, LU_pivots)
    empty = _core._full((0,), 0, LU_data.dtype, LU_data.device)
    if not unpack_data:
        lower = upper = empty
    return both(return_types.lu_unpack, (p if unpack_pivots else empty, lower, upper), out)


@method
def geqrf(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.geqrf:
    """The reflections of a QR factorisation as LAPACK packs them, and their factors."""
    return both(return_types.geqrf, _core.geqrf(input), out)


@method
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Another name of :func:`pyburn.linalg.householder_product`."""
    return into(_core.householder_product(input, tau), out)


@method
@composite
def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The product of the whole ``Q`` of :func:`geqrf` and a matrix, from the ``left`` or the right.

    With ``transpose`` the conjugate transpose stands in place of ``Q``.
    """
    if input.ndim < 2 or other.ndim < 2:
        raise RuntimeError(
            f"ormqr: input and other must have at least 2 dimensions, got {input.ndim} and "
            f"{other.ndim}"
        )
    rows, columns = input.shape[-2:]
    size = other.shape[-2 if left else -1]
    if rows != size:
        raise RuntimeError(
            f"ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], got "
            f"{size} and {rows}"
        )
    if tau.shape[-1] > min(rows, columns):
        raise RuntimeError(
            "ormqr: tau.shape[-1] must be less than or equal to both sides of input, got "
            f"{tau.shape[-1]} for {rows} by {columns}"
        )
    # All of Q belongs to a square matrix; what stands right of the reflections is never read.
    if columns < rows:
        fill = _core._full((*input.shape[:-1], rows - columns), 0, input.dtype, input.device)
        square = _core._cat([input, fill], -1)
    else:
        square = _core.narrow(input, -1, 0, rows)
    q = _core.householder_product(square, tau)
    q = q.mH if transpose else q
    return into(_core.matmul(q, other) if left else _core.matmul(other, q), out)


@method
def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.triangular_solve:
    """The solution of ``A X = b`` for triangular ``A``, and a copy of ``A``."""
    matrix = A.mT if transpose else A
    solution = _core.solve_triangular(matrix, b, upper != transpose, True, unitriangular)
    return both(return_types.triangular_solve, (solution, A.clone()), out)


@method
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th power of every square matrix, of its inverse for negative ``n``."""
    return into(_core.matrix_power(input, n), out)


@method
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of every square matrix."""
    return _core.matrix_exp(input)


def _range_basis(A: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that nearly span the range of ``A``: the images of random vectors, turned
    towards the larger singular values by every iteration."""
    from pyburn._random import randn

    noise = randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    basis = _core.qr(_core.matmul(A, noise), "reduced")[0]
    for _ in range(niter):
        back = _core.qr(_core.matmul(A.mH, basis), "reduced")[0]
        basis = _core.qr(_core.matmul(A, back), "reduced")[0]
    return basis


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """``U``, ``S`` and ``V`` of about the ``q`` largest singular values of ``A``, or of ``A - M``.

    The subspace is found from random vectors: results vary with the random numbers.
    """
    x = A if M is None else A - M
    wide = x.shape[-2] < x.shape[-1]
    x = x.mH if wide else x
    basis = _range_basis(x, 6 if q is None else q, 2 if niter is None else niter)
    u, s, vh = _core.svd(_core.matmul(basis.mH, x), False)
    u, v = _core.matmul(basis, u), vh.mH
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """``U``, ``S`` and ``V`` of the first principal components of samples in rows."""
    smaller = min(A.shape[-2:])
    q = min(6, smaller) if q is None else q
    if not 0 <= q <= smaller:
        raise ValueError(
            f"pca_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)="
            f"{smaller}"
        )
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter)
    return svd_lowrank(A - _core.mean(A, -2, True), q, niter)
