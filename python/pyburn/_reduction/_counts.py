"""Distinct elements, histograms, covariances."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Literal, overload

from pyburn import _core, return_types
from pyburn._api import both, check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import as_operand

__all__ = [
    "bincount",
    "corrcoef",
    "cov",
    "histc",
    "histogram",
    "histogramdd",
    "unique",
    "unique_consecutive",
]


def _distinct(results: Sequence[Tensor], inverse: bool, counts: bool) -> Any:
    values, places, numbers = results
    wanted = (values, *((places,) if inverse else ()), *((numbers,) if counts else ()))
    return wanted if len(wanted) > 1 else values


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    dim: int | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
@method
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or slices along a dimension, in ascending order.

    Example:
        >>> pyburn.tensor([2, 1, 2]).unique()
        tensor([1, 2])
    """
    return _distinct(_core.unique(input, dim), return_inverse, return_counts)


@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def unique_consecutive(
    input: Tensor,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    dim: int | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]: ...
@method
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """One element, or slice along a dimension, of each run of equal ones."""
    return _distinct(_core.unique_consecutive(input, dim), return_inverse, return_counts)


@method
def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance matrix of variables in rows."""
    return _core.cov(input, correction, fweights, aweights)


@method
def corrcoef(input: Tensor) -> Tensor:
    """The correlation matrix of variables in rows."""
    return _core.corrcoef(input)


@method
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs, or the sum of its weights."""
    return _core.bincount(input, weights, minlength)


@method
def histc(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Tensor | None = None
) -> Tensor:
    """How many elements fall into each of equal bins."""
    return into(_core.histc(input, bins, builtins.float(min), builtins.float(max)), out)


@method
def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.histogram:
    """How many elements fall into each bin, or the sum of their weights, and the bins' edges."""
    results = _core.histogram(input, bins, range, weight, density)
    return both(return_types.histogram, results, out)


def histogramdd(
    input: Tensor,
    bins: int | Sequence[Any],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogramdd:
    """A histogram over several dimensions: the points are along the last one."""
    check_tensor("histogramdd", input)
    if input.ndim < 2:
        raise RuntimeError(
            f"histogramdd: input tensor should have at least 2 dimensions, but got shape "
            f"{list(input.shape)}"
        )
    rank = input.shape[-1]
    points = input.reshape(-1, rank)
    listed = [bins] * rank if isinstance(bins, int) else list(bins)
    if len(listed) != rank:
        raise RuntimeError(
            f"histogramdd: expected {rank} entries in bins, got {len(listed)} (got shape "
            f"{list(input.shape)})"
        )
    if range is not None and len(range) != 2 * rank:
        raise RuntimeError(
            f"histogramdd: expected {2 * rank} numbers in range, got {len(range)} (got shape "
            f"{list(input.shape)})"
        )
    edges: list[Tensor] = []
    places = inside = None
    for at, own in enumerate(listed):
        column = points[:, at].contiguous()
        limits = None if range is None else (range[2 * at], range[2 * at + 1])
        edge = _core.histogram(column, own, limits, None, False)[1]
        edges.append(edge)
        count = edge.numel() - 1
        place = _core.searchsorted(edge, column, True, None, None, False) - 1
        place = _core.where_(column == edge[-1], as_operand(count - 1, place), place)
        fits = (column >= edge[0]) & (column <= edge[-1])
        places = place if places is None else places * count + place
        inside = fits if inside is None else inside & fits
    if places is None or inside is None:
        raise RuntimeError("histogramdd: the innermost dimension of the input has no elements")
    shape = [edge.numel() - 1 for edge in edges]
    weights = as_operand(1.0, points).expand(len(points)) if weight is None else weight
    kept = _core.masked_select(weights.reshape(-1).to(points.dtype), inside)
    spots = _core.masked_select(places, inside)
    empty = _core._full((math.prod(shape),), 0, points.dtype, points.device)
    counts = _core.index_add(empty, 0, spots, kept).reshape(shape)
    if density:
        counts = counts / counts.sum()
        for at, edge in enumerate(edges):
            sizes = [1] * rank
            sizes[at] = -1
            counts = counts / (edge[1:] - edge[:-1]).reshape(sizes)
    return return_types.histogramdd(counts, tuple(edges))
