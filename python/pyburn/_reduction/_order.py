"""Sorting, searching and order statistics."""

from __future__ import annotations

from typing import Any, overload

from pyburn import _core, return_types
from pyburn._api import both, check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    Number,
    as_operand,
    numpy_names,
)

__all__ = [
    "argsort",
    "bucketize",
    "isin",
    "kthvalue",
    "median",
    "mode",
    "msort",
    "nanmedian",
    "nanquantile",
    "quantile",
    "searchsorted",
    "sort",
    "topk",
]


def _middle(name: str, input: Tensor, dim: int | None, keepdim: bool, out: Any) -> Any:
    if dim is None:
        whole = _core.median if name == "median" else _core.nanmedian
        return into(whole(input), out)
    along = _core.median_dim if name == "median" else _core.nanmedian_dim
    kind = return_types.median if name == "median" else return_types.nanmedian
    return both(kind, along(input, dim, keepdim), out)


@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def median(
    input: Tensor, dim: int, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.median: ...
@method
@numpy_names
def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of all elements, or along a dimension with where it stands."""
    return _middle("median", input, dim, keepdim, out)


@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def nanmedian(
    input: Tensor, dim: int, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.nanmedian: ...
@method
@numpy_names
def nanmedian(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None
) -> Any:
    """The lower median of what is not NaN."""
    return _middle("nanmedian", input, dim, keepdim, out)


@method
@numpy_names
def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.mode:
    """The most frequent elements along a dimension."""
    return both(return_types.mode, _core.mode(input, dim, keepdim), out)


@method
@numpy_names
def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.kthvalue:
    """The ``k``-th smallest elements along a dimension, counted from one."""
    return both(return_types.kthvalue, _core.kthvalue(input, k, dim, keepdim), out, input)


@method
@numpy_names
def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles along a dimension, or of all elements."""
    return into(_core.quantile(input, q, dim, keepdim, interpolation), out)


@method
@numpy_names
def nanquantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles of what is not NaN."""
    return into(_core.nanquantile(input, q, dim, keepdim, interpolation), out)


@method
@numpy_names
def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.sort:
    """The elements in order along a dimension, and where they stood.

    Example:
        >>> pyburn.tensor([3, 1, 2]).sort().values
        tensor([1, 2, 3])
    """
    return both(return_types.sort, _core.sort(input, dim, descending), out)


@method
@numpy_names
def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Where the elements stand in order along a dimension."""
    return into(_core.argsort(input, dim, descending), out)


@method
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first dimension."""
    return into(_core.msort(input), out)


@method
@numpy_names
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.topk:
    """The ``k`` largest or smallest elements along a dimension, and where they stand."""
    return both(return_types.topk, _core.topk(input, k, dim, largest, sorted), out)


def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    out: Tensor | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where each value would go into an ascending sequence to keep it so.

    Example:
        >>> pyburn.searchsorted(pyburn.tensor([1, 3, 5]), pyburn.tensor([3, 6]))
        tensor([1, 3])
    """
    result = _core.searchsorted(sorted_sequence, values, right, side, sorter, out_int32)
    return into(result, out)


def bucketize(
    input: Tensor | Number,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The bin of each element between ascending boundaries."""
    check_tensor("bucketize", boundaries)
    if boundaries.ndim != 1:
        values = f"shape {list(input.shape)}" if isinstance(input, Tensor) else input
        raise RuntimeError(
            f"bucketize: boundaries tensor must be 1 dimension, but got shape "
            f"{list(boundaries.shape)} for {values}"
        )
    return into(_core.searchsorted(boundaries, input, right, None, None, out_int32), out)


def isin(
    elements: Tensor | Number,
    test_elements: Tensor | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Where elements are among the test elements."""
    first = as_operand(elements, test_elements)
    return _core.isin(first, as_operand(test_elements, first), invert)
