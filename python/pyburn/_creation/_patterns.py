"""Matrices and grids made by a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyburn import _core
from pyburn._api import check_tensor, into, method, spread
from pyburn._core import Tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    as_device,
    as_dtype,
    category,
    int64,
    layout,
    strided,
)
from pyburn._options import finish, kind_and_place

__all__ = [
    "block_diag",
    "cartesian_prod",
    "combinations",
    "diag",
    "diag_embed",
    "diagflat",
    "eye",
    "meshgrid",
    "tril_indices",
    "triu_indices",
    "vander",
]


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix with ones on its diagonal.

    Example:
        >>> pyburn.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    kind, place = kind_and_place(out, dtype, device, backend)
    return finish(_core._eye(n, m, kind, place), out, requires_grad, layout)


def _triangle(
    make: Callable[..., Tensor],
    row: int,
    col: int,
    offset: int,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
) -> Tensor:
    place = as_device(device, backend)
    kind = int64 if dtype is None else as_dtype(dtype)
    return make(row, col, offset, _core._narrow(place, kind), place)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike | None = int64,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    layout: layout = strided,
) -> Tensor:
    """Where the lower triangle of a matrix lies: row numbers, then column numbers."""
    return _triangle(_core._tril_indices, row, col, offset, dtype, device, backend)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike | None = int64,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    layout: layout = strided,
) -> Tensor:
    """Where the upper triangle of a matrix lies: row numbers, then column numbers."""
    return _triangle(_core._triu_indices, row, col, offset, dtype, device, backend)


@method
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix.

    Example:
        >>> pyburn.diag(pyburn.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    return into(_core.diag(input, diagonal), out)


@method
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last dimension on their diagonals."""
    return _core.diag_embed(input, offset, dim1, dim2)


@method
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal."""
    return _core.diagflat(input, offset)


def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: str | None = None
) -> tuple[Tensor, ...]:
    """The coordinates of a grid over vectors.

    Example:
        >>> pyburn.meshgrid(pyburn.arange(2), pyburn.arange(3), indexing="ij")[0].shape
        pyburn.Size([2, 3])
    """
    return _core._meshgrid(spread(tensors), "ij" if indexing is None else indexing)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, one per row."""
    return _core._cartesian_prod(spread(tensors))


@method
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, one per row."""
    return _core.combinations(input, r, with_replacement)


def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A matrix with the given matrices along its diagonal."""
    return _core._block_diag(spread(tensors))


def vander(x: Tensor, N: int | None = None, *, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, one row per element."""
    check_tensor("vander", x)
    if x.ndim != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got shape {list(x.shape)}")
    count = x.numel() if N is None else N
    if count < 0:
        raise RuntimeError("vander: N must be non-negative.")
    kind = x.dtype if category(x.dtype) > 1 else int64
    places = _core._arange(0, count, 1, int64, x.device)
    powers = x.to(kind).unsqueeze(-1) ** places
    return powers if increasing else _core.flip(powers, (1,))
