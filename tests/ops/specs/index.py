"""Functions that read and write elements by index or by mask."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ops.row import COMPLEX, FLOATS, INTS, REAL, Call, Maker, Row, call

DTYPES = ("float32", "float64", "float16", "bfloat16", "uint8", "int64", "bool", "complex64")
NUMERIC = (*REAL, *COMPLEX)


def _row(name: str, oracle: Callable[..., Any], samples: Any, **more: Any) -> Row:
    settings: dict[str, Any] = {
        "dtypes": DTYPES,
        "result": "first",
        "grad": 2,
        "wide": False,
        "expand": False,
    }
    return Row(name, oracle, samples, **(settings | more))


def _permuted(make: Maker, *shape: int, dim: int, of: int) -> np.ndarray:
    """Different indices along a dimension."""
    order = np.argsort(make.random.random((*shape[:dim], of, *shape[dim + 1 :])), axis=dim)
    return np.take(order, range(shape[dim]), axis=dim).astype(np.int64)


def _index_selects(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, make.index(5, below=4))
    yield call(make(2, 3, 2), -2, make.index(2, below=3, dtype="int32"))
    yield call(make(5), 0, make.index(below=5))
    yield call(make(4, 3), 1, make.index(0, below=3))
    yield call(make(), 0, make.index(1, below=1))


def _index_select(x: Any, dim: int, index: Any) -> Any:
    return np.take(x, index.reshape(-1), axis=dim) if x.ndim else x.reshape(())


def _gathers(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, make.index(2, 3, below=4))
    yield call(make(4, 3), 1, make.index(4, 5, below=3))
    yield call(make(2, 3, 2), -1, make.index(1, 2, 4, below=2))
    yield call(make(5), 0, make.index(3, below=5))
    yield call(make(3, 2), 0, make.index(0, 2, below=3))


def _gather(x: Any, dim: int, index: Any) -> Any:
    part = x[
        tuple(slice(None) if d == dim % x.ndim else slice(n) for d, n in enumerate(index.shape))
    ]
    return np.take_along_axis(part, index, axis=dim)


def _takes(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), make.index(4, below=6))
    yield call(make(2, 3), make.index(2, 2, below=6) - 6)
    yield call(make(5), make.index(below=5))
    yield call(make(5), make.index(0, below=5))


def _alongs(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), make.index(2, 3, below=4), 0)
    yield call(make(4, 3), make.index(1, 2, below=3), 1)
    yield call(make(2, 3), make.index(4, below=6))


def _along(x: Any, indices: Any, dim: int | None = None) -> Any:
    if dim is None:
        return x.reshape(-1)[indices]
    shape = list(
        np.broadcast_shapes(
            [1 if d == dim else n for d, n in enumerate(x.shape)],
            [1 if d == dim else n for d, n in enumerate(indices.shape)],
        )
    )
    at = shape.copy()
    at[dim] = indices.shape[dim]
    shape[dim] = x.shape[dim]
    return np.take_along_axis(np.broadcast_to(x, shape), np.broadcast_to(indices, at), dim)


def _where_to(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The place each element of an index means."""
    places = list(np.indices(index.shape, sparse=True))
    places[dim % x.ndim] = index
    return tuple(places)


def _scatters(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, _permuted(make, 2, 3, dim=0, of=4), make(2, 3))
    yield call(make(2, 5), 1, _permuted(make, 2, 3, dim=1, of=5), make(2, 4))
    yield call(make(4, 3), 0, _permuted(make, 2, 3, dim=0, of=4), value=1)
    yield call(make(5), -1, _permuted(make, 3, dim=0, of=5), make(3))
    yield call(make(3, 2), 0, make.index(0, 2, below=3), make(1, 2))


def _cut(src: Any, index: Any) -> Any:
    return src[tuple(slice(n) for n in index.shape)] if isinstance(src, np.ndarray) else src


def _scatter(x: Any, dim: int, index: Any, src: Any = None, value: Any = None) -> Any:
    result = x.copy()
    result[_where_to(x, dim, index)] = value if src is None else _cut(src, index)
    return result


def _adding(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, make.index(6, 3, below=4), make(6, 3))
    yield call(make(2, 5), 1, make.index(2, 3, below=5), make(2, 4))
    yield call(make(5), -1, make.index(7, below=5), make(7))


def _scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    result = x.copy()
    np.add.at(result, _where_to(x, dim, index), _cut(src, index))
    return result


def _reducing(make: Maker) -> Iterator[Call]:
    for how in ("sum", "prod", "mean", "amax", "amin"):
        yield call(make(4, 3), 0, _permuted(make, 2, 3, dim=0, of=4), make(2, 3), how)
        yield call(make(4), 0, make.index(6, below=4), make(6), how)
        yield call(make(4), 0, make.index(6, below=4), make(6), how, include_self=False)


def _scatter_reduce(
    x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
) -> Any:
    places = [np.broadcast_to(place, index.shape) for place in _where_to(x, dim, index)]
    groups: dict[Any, list[Any]] = {}
    for at in np.ndindex(index.shape):
        groups.setdefault(tuple(int(place[at]) for place in places), []).append(src[at])
    return _reduced(x, groups, reduce, include_self)


def _reduced(x: Any, groups: dict[Any, list[Any]], reduce: str, include_self: bool) -> Any:
    functions = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}
    result = x.copy()
    for at, values in groups.items():
        values = [x[at], *values] if include_self else values
        found = functions[reduce](np.stack(values), axis=0)
        result[at] = np.floor(found) if reduce == "mean" and x.dtype.kind in "iu" else found
    return result


def _index_reducing(make: Maker) -> Iterator[Call]:
    for how in ("prod", "mean", "amax", "amin"):
        yield call(make(4, 3), 0, make.index(6, below=4), make(6, 3), how)
        yield call(make(2, 4), 1, make.index(5, below=4), make(2, 5), how, include_self=False)


def _index_reduce(
    x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    moved, parts = np.moveaxis(x, dim, 0), np.moveaxis(source, dim, 0)
    groups: dict[Any, list[Any]] = {}
    for at, part in zip(index, parts, strict=True):
        groups.setdefault((int(at),), []).append(part)
    return np.moveaxis(_reduced(moved, groups, reduce, include_self), 0, dim)


def _index_adding(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, make.index(6, below=4), make(6, 3))
    yield call(make(2, 5), -1, make.index(3, below=5, dtype="int32"), make(2, 3))
    if make.dtype != "bool":
        yield call(make(4), 0, make.index(6, below=4), make(6), alpha=2)
    yield call(make(4), 0, make.index(0, below=4), make(0))


def _index_add(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    result = x.copy()
    with np.errstate(all="ignore"):
        scaled = source * np.asarray(alpha).astype(x.dtype)
    np.add.at(np.moveaxis(result, dim, 0), index, np.moveaxis(scaled, dim, 0))
    return result


def _index_copying(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, _permuted(make, 2, dim=0, of=4), make(2, 3))
    yield call(make(2, 5), -1, _permuted(make, 3, dim=0, of=5), make(2, 3))
    yield call(make(4), 0, make.index(0, below=4), make(0))


def _index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    result = x.copy()
    np.moveaxis(result, dim, 0)[index] = np.moveaxis(source, dim, 0)
    return result


def _index_filling(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), 0, make.index(2, below=4), 1)
    yield call(make(2, 5), -1, make.index(3, below=5), 0)
    yield call(make(4), 0, make.index(0, below=4), 1)


def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    result = x.copy()
    np.moveaxis(result, dim, 0)[index] = value
    return result


def _index_putting(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), (_permuted(make, 3, dim=0, of=4),), make(3, 3))
    yield call(make(4, 3), (np.array([0, 2, 3]), np.array([1, 0, 2])), make(3))
    yield call(make(4, 3), (np.array([0, 2, 2]), np.array([1, 0, 0])), make(3), True)
    yield call(make(4, 3), (make(4, dtype="bool") | np.array([True, False, False, False]),), make())


def _index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    result = x.copy()
    if accumulate:
        np.add.at(result, indices, values)
    else:
        result[indices] = values
    return result


def _putting(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), _permuted(make, 4, dim=0, of=6), make(4))
    yield call(make(2, 3), np.array([0, 2, 2, -1]), make(4), True)
    yield call(make(5), make.index(0, below=5), make(0))


def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    flat = x.reshape(-1).copy()
    if accumulate:
        np.add.at(flat, index.reshape(-1), source.reshape(-1))
    else:
        flat[index.reshape(-1)] = source.reshape(-1)
    return flat.reshape(x.shape)


def _masks(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), make(2, 3, dtype="bool"))
    yield call(make(2, 3), make(3, dtype="bool"))
    yield call(make(4), np.zeros(4, bool))
    yield call(make(0, 2), make(0, 2, dtype="bool"))


def _masked_select(x: Any, mask: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def _mask_scatters(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), make(2, 3, dtype="bool"), make(6))
    yield call(make(2, 3), make(3, dtype="bool"), make(2, 4))


def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    result, mask = x.copy(), np.broadcast_to(mask, x.shape)
    result[mask] = source.reshape(-1)[: mask.sum()]
    return result


def _nonzeros(make: Maker) -> Iterator[Call]:
    for shape in ((5,), (2, 3), (2, 3, 2), (), (0,)):
        yield call(make(*shape, low=-1, high=1))


def _argwhere(x: Any) -> Any:
    return np.argwhere(x)


def _nonzero_static(x: Any, size: int, fill_value: int = -1) -> Any:
    found = np.argwhere(x)[:size]
    rest = np.full((size - len(found), x.ndim), fill_value)
    return np.concatenate([found, rest])


def _statics(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), size=4)
    yield call(make(5), size=9, fill_value=7)


def _unravels(make: Maker) -> Iterator[Call]:
    yield call(make.index(4, below=12).astype(make.numpy), (3, 4))
    yield call(make.index(2, 2, below=12).astype(make.numpy), (2, 3, 2))


def _unravel(indices: Any, shape: Any) -> Any:
    return list(np.unravel_index(indices.astype(np.int64), shape))


def _segments(make: Maker) -> Iterator[Call]:
    for how in ("sum", "mean", "max", "min", "prod"):
        yield call(make(6), how, lengths=np.array([2, 3, 1]))
        yield call(make(5, 2), how, lengths=np.array([1, 4]))
        yield call(make(5), how, offsets=np.array([0, 2, 5]))


def _segment_reduce(x: Any, reduce: str, lengths: Any = None, offsets: Any = None) -> Any:
    functions = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
    edges = offsets if offsets is not None else np.cumsum([0, *lengths])
    return np.stack([functions[reduce](x[a:b], axis=0) for a, b in itertools.pairwise(edges)])


def _filled(make: Maker) -> Iterator[Call]:
    for shape in ((), (3,), (2, 3), (0, 2)):
        yield call(make(*shape), 1)
    yield call(make(2, 3), make())


ROWS = [
    _row("index_select", _index_select, _index_selects),
    _row("gather", _gather, _gathers),
    _row("take", lambda x, i: x.reshape(-1)[i], _takes),
    _row("take_along_dim", _along, _alongs),
    _row("scatter", _scatter, _scatters, inplace=True),
    _row("scatter_add", _scatter_add, _adding, inplace=True, dtypes=NUMERIC),
    _row(
        "scatter_reduce",
        _scatter_reduce,
        _reducing,
        inplace=True,
        dtypes=FLOATS,
        grad=1,
        wide=True,
        room=8,
    ),
    _row(
        "index_reduce",
        _index_reduce,
        _index_reducing,
        inplace=True,
        dtypes=FLOATS,
        grad=1,
        wide=True,
        room=8,
    ),
    _row("index_add", _index_add, _index_adding, inplace=True, dtypes=NUMERIC),
    _row("index_copy", _index_copy, _index_copying, inplace=True),
    _row("index_fill", _index_fill, _index_filling, inplace=True, out=False),
    _row(
        "index_put", _index_put, _index_putting, inplace=True, out=False, dtypes=NUMERIC, meta=False
    ),
    _row("put", _put, _putting, inplace=True, out=False, dtypes=NUMERIC),
    _row("masked_select", _masked_select, _masks, meta=False),
    _row("masked_scatter", _masked_scatter, _mask_scatters, inplace=True, out=False, meta=False),
    _row("nonzero", _argwhere, _nonzeros, result="int64", grad=0, meta=False),
    _row("argwhere", _argwhere, _nonzeros, result="int64", grad=0, out=False, meta=False),
    _row("nonzero_static", _nonzero_static, _statics, result="int64", grad=0, meta=False),
    _row(
        "unravel_index",
        _unravel,
        _unravels,
        dtypes=INTS,
        result="int64",
        grad=0,
        out=False,
        method=False,
    ),
    _row(
        "segment_reduce",
        _segment_reduce,
        _segments,
        dtypes=FLOATS,
        grad=1,
        out=False,
        method=False,
        wide=True,
        room=4,
        meta=False,
    ),
    _row("fill", lambda x, v: np.full_like(x, v), _filled, inplace=True, out=False, method=False),
]
