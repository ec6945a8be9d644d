"""The standard's linear algebra extension."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyburn
from pyburn._core import Tensor
from pyburn._core import dtype as dtype_
from pyburn._dtypes import category

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

det, eigh, eigvalsh, inv, matrix_power, slogdet, svdvals = (
    pyburn.linalg.det,
    pyburn.linalg.eigh,
    pyburn.linalg.eigvalsh,
    pyburn.linalg.inv,
    pyburn.linalg.matrix_power,
    pyburn.linalg.slogdet,
    pyburn.linalg.svdvals,
)


def _pair(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    # Arrays without dimensions count as much as others, unlike in PyTorch.
    kind = pyburn.promote_types(x1.dtype, x2.dtype)
    return x1.to(kind), x2.to(kind)


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product."""
    return pyburn.matmul(*_pair(x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Matrices with rows and columns exchanged."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected 2 dimensions or more, got {x.ndim}")
    return x.mT


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of all pairs."""
    return pyburn.outer(*_pair(x1, x2))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Products summed over several axes."""
    dims = axes if isinstance(axes, int) else tuple(list(part) for part in axes)
    return pyburn.tensordot(*_pair(x1, x2), dims=dims)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Products of vectors, the first one conjugated."""
    x1, x2 = _pair(x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(
            f"vecdot: expected vectors of one size, got {x1.shape[axis]} and {x2.shape[axis]}"
        )
    x1, x2 = (x.movedim(axis, -1) for x in (x1, x2))
    result = (x1.conj() * x2).sum(-1)
    return result.to(x1.dtype)


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of a positive definite matrix."""
    return pyburn.linalg.cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product."""
    return pyburn.linalg.cross(*pyburn.broadcast_tensors(*_pair(x1, x2)), dim=axis)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The diagonals of matrices."""
    return pyburn.diagonal(x, offset, -2, -1)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """A matrix's norm."""
    return pyburn.linalg.matrix_norm(x, ord, (-2, -1), keepdims)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values count."""
    return pyburn.linalg.matrix_rank(x, rtol=rtol)


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """The pseudo-inverse."""
    return pyburn.linalg.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> Any:
    """An orthogonal and a triangular factor."""
    return pyburn.linalg.qr(x, mode)


class _SVD(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


def svd(x: Tensor, /, *, full_matrices: bool = True) -> _SVD:
    """The singular value decomposition."""
    return _SVD(*pyburn.linalg.svd(x, full_matrices))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of linear equations; one vector only if ``x2`` has one dimension."""
    x1, x2 = _pair(x1, x2)
    if x2.ndim == 1:
        return pyburn.linalg.solve(x1, x2.unsqueeze(-1)).squeeze(-1)
    batch = pyburn.broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    return pyburn.linalg.solve(x1.expand(*batch, *x1.shape[-2:]), x2.expand(*batch, *x2.shape[-2:]))


def trace(x: Tensor, /, *, offset: int = 0, dtype: dtype_ | None = None) -> Tensor:
    """Sums of diagonals."""
    wide = dtype or (pyburn.int64 if category(x.dtype) <= 1 else x.dtype)
    return diagonal(x, offset=offset).sum(-1, dtype=wide)


def vector_norm(
    x: Tensor,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Tensor:
    """A vector's norm."""
    if axis == ():
        axes: Any = ()
        result = pyburn.abs(x)
        return (result != 0).to(result.dtype) if ord == 0 else result
    axes = None if axis is None else ((axis,) if isinstance(axis, int) else tuple(axis))
    return pyburn.linalg.vector_norm(x, ord, axes, keepdims)
