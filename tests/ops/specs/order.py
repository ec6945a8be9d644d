"""Functions of the order of elements: sorting, ranking, searching, counting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ops.row import BOOL, FLOATS, INTS, REAL, Call, Maker, Row, call
from ops.specs.reduce import distinct

PAIR = ("first", "int64")


def _sorts(make: Maker) -> Iterator[Call]:
    yield call(distinct(make, 6))
    yield call(distinct(make, 3, 4), 0)
    yield call(distinct(make, 2, 3, 2), -2, True)
    yield call(make(2, 5, low=0, high=2), stable=True)
    yield call(make(2, 5, low=0, high=2), 1, descending=True, stable=True)
    yield call(make(0, 3))
    yield call(make())
    if make.is_float:
        yield Call((np.array([3, np.nan, -np.inf, 1, np.inf], make.numpy),), extreme=True)


def _order(x: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """Stable in both directions; NaN is the largest."""
    if not x.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    back = np.flip(x, dim)
    return np.flip(x.shape[dim] - 1 - np.argsort(back, axis=dim, kind="stable"), dim)


def _sort(x: np.ndarray, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    order = _order(x, dim, descending)
    return (np.take_along_axis(x, order, dim) if x.ndim else x), order


def _argsort(x: np.ndarray, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return _order(x, dim, descending)


def _msorts(make: Maker) -> Iterator[Call]:
    yield call(make(5))
    yield call(make(4, 3))


def _topks(make: Maker) -> Iterator[Call]:
    yield call(distinct(make, 6), 3)
    yield call(distinct(make, 3, 5), 2, 1)
    yield call(distinct(make, 4, 2), 3, 0, False)
    yield call(distinct(make, 2, 3), 0)
    yield call(distinct(make, 2, 3), 3, largest=True, sorted=True)


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    order = np.take(_order(x, dim, largest), range(k), axis=dim)
    return np.take_along_axis(x, order, dim), order


def _kths(make: Maker) -> Iterator[Call]:
    yield call(distinct(make, 6), 3)
    yield call(distinct(make, 3, 5), 1, 0)
    yield call(distinct(make, 2, 4), 4, -1, True)


def _kth(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    place = np.take(np.argsort(x, axis=dim, kind="stable"), [k - 1], axis=dim)
    value = np.take_along_axis(x, place, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _uniques(make: Maker) -> Iterator[Call]:
    for low, high in ((0, 2), (-2, 3)):
        yield call(np.round(make(3, 4, low=low, high=high).astype(float)).astype(make.numpy))
    x = np.array([[1, 0], [1, 0], [0, 1]], make.numpy)
    yield call(x, return_inverse=True)
    yield call(x, return_inverse=True, return_counts=True)
    yield call(x, dim=0)
    yield call(x, return_counts=True, dim=0)
    yield call(make(0))


def _unique(
    x: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim)
    parts = [values]
    if return_inverse:
        parts.append(inverse.reshape(x.shape if dim is None else (-1,)))
    if return_counts:
        parts.append(counts)
    return parts


def _consecutives(make: Maker) -> Iterator[Call]:
    x = np.array([1, 1, 0, 0, 0, 1, 2, 2], make.numpy)
    yield call(x)
    yield call(x, return_inverse=True, return_counts=True)
    yield call(np.array([[1, 0], [1, 0], [0, 1]], make.numpy), dim=0)
    yield call(make(0))


def _consecutive(
    x: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    rows = x.reshape(-1, 1) if dim is None else np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(1)
    parts = [x.reshape(-1)[new] if dim is None else np.compress(new, x, axis=dim)]
    if return_inverse:
        inverse = np.cumsum(new) - 1
        parts.append(inverse.reshape(x.shape) if dim is None else inverse)
    if return_counts:
        parts.append(np.diff([*np.flatnonzero(new), len(new)]))
    return parts


def _searches(make: Maker) -> Iterator[Call]:
    edges = np.sort(make(5))
    yield call(edges, make(2, 3))
    yield call(edges, edges, right=True)
    yield call(edges, edges.copy(), side="right")
    yield call(np.sort(make(2, 4), axis=1), make(2, 3))
    yield call(edges, make(2), out_int32=True)
    yield call(edges, 1)


def _search(
    edges: Any, values: Any, right: bool = False, side: str | None = None, out_int32: bool = False
) -> Any:
    side = side or ("right" if right else "left")
    if edges.ndim == 1:
        return np.searchsorted(edges, values, side)
    return np.stack([np.searchsorted(a, b, side) for a, b in zip(edges, values, strict=True)])


def _place_dtype(call: Call, dtype: str) -> str:
    return "int32" if call.kwargs.get("out_int32") else "int64"


def _buckets(make: Maker) -> Iterator[Call]:
    edges = np.sort(make(5))
    yield call(make(2, 3), edges)
    yield call(edges.copy(), edges, right=True)
    yield call(make(0), edges)
    yield call(make(3), edges, out_int32=True)


def _bucketize(x: Any, edges: Any, right: bool = False, out_int32: bool = False) -> Any:
    return np.searchsorted(edges, x, "right" if right else "left")


def _memberships(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), make(4))
    yield call(make(2, 3), make(2, 2), invert=True)
    yield call(make(3), 1)
    yield call(make(0), make(2))


def _bincounts(make: Maker) -> Iterator[Call]:
    yield call(make(9, low=0, high=5))
    yield call(make(9, low=0, high=5), minlength=8)
    yield call(make(4, low=0, high=5), make(4, dtype="float32"))
    yield call(make(0))


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return np.bincount(x.astype(np.int64), weights, minlength)


def _count_dtype(call: Call, dtype: str) -> str:
    return "int64" if len(call.args) == 1 else "float32"


def _histcs(make: Maker) -> Iterator[Call]:
    yield call(make(20), 5, -3, 3)
    yield call(make(4, 5), 4, 0, 2)
    yield call(make(12), bins=6)
    yield call(make(0), 3, 0, 1)


def _histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    bounds = (min, max) if min != max else (x.min(), x.max())
    return np.histogram(x, bins, bounds)[0]


def _histograms(make: Maker) -> Iterator[Call]:
    yield call(make(20), 5)
    yield call(make(20), 4, range=(-1.0, 2.0))
    yield call(make(20), np.array([-3, -1, 0.5, 3], make.numpy))
    yield call(make(6), 3, weight=make(6, low=0.1))
    yield call(make(20), 5, density=True)


def _histogram(
    x: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    counts, edges = np.histogram(x, bins, range, weights=weight, density=density)
    return counts, edges


def _grids(make: Maker) -> Iterator[Call]:
    yield call(make(20, 2), [3, 4])
    yield call(make(10, 2), 2, range=[-3.0, 3.0, -2.0, 2.0])


def _histogramdd(x: Any, bins: Any, range: Any = None) -> Any:
    bounds = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    counts, edges = np.histogramdd(x, bins, bounds)
    return [counts, *edges]


ROWS = [
    Row("sort", _sort, _sorts, (*REAL, *BOOL), PAIR, grad=2, expand=False, wide=False),
    Row("argsort", _argsort, _sorts, (*REAL, *BOOL), "int64", expand=False, wide=False),
    Row("msort", lambda x: np.sort(x, 0), _msorts, REAL, "first", grad=2, wide=False),
    Row("topk", _topk, _topks, REAL, PAIR, grad=2, expand=False, wide=False),
    Row("kthvalue", _kth, _kths, REAL, PAIR, grad=2, expand=False, wide=False),
    Row(
        "unique",
        _unique,
        _uniques,
        (*REAL, *BOOL),
        ("first", "int64", "int64"),
        out=False,
        wide=False,
        meta=False,
    ),
    Row(
        "unique_consecutive",
        _consecutive,
        _consecutives,
        (*REAL, *BOOL),
        ("first", "int64", "int64"),
        out=False,
        wide=False,
        meta=False,
    ),
    Row(
        "searchsorted",
        _search,
        _searches,
        REAL,
        _place_dtype,
        wide=False,
        method=False,
        expand=False,
    ),
    Row(
        "bucketize",
        _bucketize,
        _buckets,
        REAL,
        _place_dtype,
        wide=False,
        method=False,
        expand=False,
    ),
    Row("isin", np.isin, _memberships, REAL, "bool", out=False, method=False, wide=False),
    Row("bincount", _bincount, _bincounts, INTS, _count_dtype, out=False, meta=False),
    Row("histc", _histc, _histcs, FLOATS, "first", meta=False, expand=False),
    Row("histogram", _histogram, _histograms, FLOATS, "first", expand=False, meta=False, room=4),
    Row(
        "histogramdd",
        _histogramdd,
        _grids,
        FLOATS,
        "first",
        out=False,
        method=False,
        expand=False,
        meta=False,
        room=4,
    ),
]
