"""Functions that put the elements along dimensions together, and running ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import special

from ops.row import ALL, BOOL, COMPLEX, FLOATS, HALVES, INTS, NUMBERS, REAL, Call, Maker, Row, call
from ops.specs.binary import logaddexp

BOTH = ("float64", "complex128")
DIMS = (
    ((), ()),
    ((5,), (0,)),
    ((2, 3), (1,)),
    ((2, 3), (-2,)),
    ((2, 3, 2), (1,)),
    ((2, 1, 3, 2), (-1,)),
    ((1, 2, 2, 1, 3), (2,)),
)


def _over(
    *,
    whole: bool = True,
    many: bool = True,
    keep: bool = True,
    empty: bool = True,
    edges: bool = True,
    bounds: tuple[float, float] = (-3, 3),
    **kwargs: Any,
) -> Callable[[Maker], Iterator[Call]]:
    """All elements, one dimension, several, kept or not, over nothing."""
    low, high = bounds

    def samples(make: Maker) -> Iterator[Call]:
        for shape, dims in DIMS:
            x = make(*shape, low=low, high=high)
            if whole:
                yield Call((x,), kwargs)
            if dims:
                yield Call((x, dims[0]), kwargs)
                if keep:
                    yield Call((x,), {"dim": dims[0], "keepdim": True} | kwargs)
        if many:
            yield Call((make(2, 3, 2, low=low, high=high), (0, 2)), kwargs)
            more = {"keepdim": True} if keep else {}
            yield Call((make(2, 3, 2, low=low, high=high), (-1, 1)), more | kwargs)
        if empty:
            if whole:
                yield Call((make(0),), kwargs, extreme=True)
            yield Call((make(2, 0, 3), 1), kwargs, extreme=True)
        yield Call((make(0, 3, low=low, high=high), 1), kwargs)
        if edges and make.is_float:
            x = np.array([[1.0, np.inf, 2.0], [np.nan, 1.0, 0.0], [-np.inf, 5.0, np.inf]])
            yield Call((x.astype(make.numpy), 1), kwargs, extreme=True)

    return samples


def _axes(oracle: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """NumPy's function under PyTorch's names of arguments."""

    def call(x: np.ndarray, dim: Any = None, keepdim: bool = False, **more: Any) -> Any:
        with np.errstate(all="ignore"):
            return oracle(x, axis=dim, keepdims=keepdim, **settings, **more)

    return call


def _sum(x: np.ndarray, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return np.sum(x, axis=dim, keepdims=keepdim)


def _nansum(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    return np.nansum(x, axis=dim, keepdims=keepdim)


def _mean(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    with np.errstate(all="ignore"):
        count = np.sum(np.ones(x.shape), axis=dim, keepdims=keepdim)
        return np.sum(x, axis=dim, keepdims=keepdim) / count


def _nanmean(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    with np.errstate(all="ignore"):
        count = np.sum(~np.isnan(x), axis=dim, keepdims=keepdim)
        return np.nansum(x, axis=dim, keepdims=keepdim) / count


def _var(
    x: np.ndarray,
    dim: Any = None,
    keepdim: bool = False,
    correction: Any = 1,
    unbiased: bool = True,
) -> Any:
    correction = correction if unbiased else 0
    with np.errstate(all="ignore"):
        count = np.sum(np.ones(x.shape), axis=dim, keepdims=keepdim)
        off = np.abs(x - _mean(x, dim, True)) ** 2
        left = np.maximum(count - correction, 0)
        return np.sum(off, axis=dim, keepdims=keepdim) / left


def _std(*args: Any, **kwargs: Any) -> Any:
    return np.sqrt(_var(*args, **kwargs))


def _variances(make: Maker) -> Iterator[Call]:
    # PyTorch warns where nothing is left to divide by.
    for shape, dims in DIMS[1:]:
        x = make(*shape, low=-3, high=3)
        yield call(x)
        if x.shape[dims[0]] > 1:
            yield call(x, dims[0])
            yield call(x, dims[0], keepdim=True)
    yield call(make(2, 3, 2), (0, 2))
    yield call(make(3, 4), 1, correction=0)
    yield call(make(3, 4), 1, unbiased=False)
    yield call(make(3, 4), correction=2)


def _variances_and_means(make: Maker) -> Iterator[Call]:
    yield from _variances(make)


def _with_mean(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, dim: Any = None, keepdim: bool = False, **more: Any) -> Any:
        return function(x, dim, keepdim, **more), _mean(x, dim, keepdim)

    return call


def _prods(make: Maker) -> Iterator[Call]:
    yield from _over(many=False)(make)
    if make.is_float:
        x = make(3, 3)
        x[1, 1] = x[0, 2] = x[2, 2] = 0
        yield call(x, 1)
        yield call(x[1].copy())


def _extremum(values: Callable[..., Any], places: Callable[..., Any]) -> Callable[..., Any]:
    """max or min: of everything the value; along a dimension the value and where it is."""

    def call(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return values(x)
        if not x.ndim:
            return x, np.int64(0)
        return (
            values(x, axis=dim, keepdims=keepdim),
            places(x, axis=dim, keepdims=keepdim),
        )

    return call


def _places(oracle: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
        return oracle(x, axis=dim, keepdims=keepdim)

    return call


def _alongs(make: Maker) -> Iterator[Call]:
    """A dimension is asked for."""
    for shape, dims in DIMS:
        yield call(make(*shape), dims[0] if dims else 0)
    yield call(make(2, 3, 2), -3)
    yield call(make(0, 3), 0)
    yield call(make(0, 3), 1)
    if make.is_float:
        edge = np.array([[1, np.nan, 2], [3, np.inf, -np.inf]], make.numpy)
        yield Call((edge, 1), extreme=True)


def _finite_alongs(make: Maker) -> Iterator[Call]:
    yield from (item for item in _alongs(make) if not item.extreme)


def _running(oracle: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: np.ndarray, dim: int) -> Any:
        return oracle(x, axis=dim) if x.ndim else x

    return call


def _running_extremum(better: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: np.ndarray, dim: int) -> Any:
        moved = np.atleast_1d(np.moveaxis(x, dim, 0) if x.ndim else x)
        values, places = moved.copy(), np.zeros(moved.shape, np.int64)
        for at in range(1, len(moved)):
            new = better(moved[at], values[at - 1]) | (
                np.isnan(moved[at]) if x.dtype.kind == "f" else False
            )
            if x.dtype.kind == "f":
                new = new & ~(np.isnan(values[at - 1]) & ~np.isnan(moved[at]))
            values[at] = np.where(new, moved[at], values[at - 1])
            places[at] = np.where(new, at, places[at - 1])
        if not x.ndim:
            return values.reshape(()), places.reshape(())
        return np.moveaxis(values, 0, dim), np.moveaxis(places, 0, dim)

    return call


def _logcumsumexp(x: np.ndarray, dim: int) -> Any:
    if x.ndim and x.dtype.kind == "c":
        steps = np.moveaxis(x, dim, 0)
        return np.moveaxis(np.array([*accumulate(steps, logaddexp)]).reshape(steps.shape), 0, dim)
    return np.logaddexp.accumulate(x, axis=dim) if x.ndim else x


def _logsumexp(x: np.ndarray, dim: Any, keepdim: bool = False) -> Any:
    with np.errstate(all="ignore"):
        return special.logsumexp(x, axis=dim, keepdims=keepdim)


def _logsumexps(make: Maker) -> Iterator[Call]:
    yield from _over(whole=False, empty=False)(make)
    yield call(make(2, 3, low=-200, high=200), 1)
    if make.is_float:
        yield Call((np.full((2, 2), -np.inf, make.numpy), 1), extreme=True)


def _norm(
    x: np.ndarray, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    p = 2 if p == "fro" else p
    a = np.abs(x)
    if p == np.inf:
        return np.max(a, axis=dim, keepdims=keepdim)
    if p == -np.inf:
        return np.min(a, axis=dim, keepdims=keepdim)
    if p == 0:
        return np.sum(a != 0, axis=dim, keepdims=keepdim).astype(a.dtype)
    return np.sum(a**p, axis=dim, keepdims=keepdim) ** (1 / p)


def _norms(make: Maker) -> Iterator[Call]:
    for p in ("fro", 1, 2, 3, 0.5, np.inf, -np.inf, 0):
        yield call(make(2, 3), p)
        yield call(make(2, 3, 2), p, 1)
    yield call(make(2, 3, 2), 2, (0, 2), keepdim=True)
    yield call(make(5))
    yield call(make())


def _dist(a: Any, b: Any, p: Any = 2) -> Any:
    return _norm(np.subtract(a, b), p)


def _dists(make: Maker) -> Iterator[Call]:
    for p in (2, 1, 3, np.inf):
        yield call(make(2, 3), make(2, 3), p)
    yield call(make(2, 3), make(3))
    yield call(make(), make())


def _quantile(
    x: np.ndarray, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    return np.quantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)


def _nanquantile(
    x: np.ndarray, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    return np.nanquantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)


def _quantiles(make: Maker) -> Iterator[Call]:
    for shape, dims in DIMS[1:]:
        yield call(make(*shape), 0.3)
        yield call(make(*shape), 0.75, dims[0])
    yield call(make(3, 4), np.array([0.0, 0.4, 1.0], make.numpy), 1)
    yield call(make(3, 4), np.array([0.2, 0.6], make.numpy), dim=0, keepdim=True)
    for mode in ("lower", "higher", "midpoint", "nearest"):
        yield call(make(3, 5), 0.3, 1, interpolation=mode)


def _nanquantiles(make: Maker) -> Iterator[Call]:
    yield from _quantiles(make)
    x = make(3, 5)
    x[0, 1] = x[2, 3] = np.nan
    yield Call((x, 0.5, 1), extreme=True)
    yield Call((x, 0.25), extreme=True)


def _median(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower of two middle values, and where the value is."""
    if dim is None:
        flat = np.sort(x, axis=None)
        return flat[(flat.size - 1) // 2] if not _has_nan(x) else np.nan
    if not x.ndim:
        return x, np.int64(0)
    order = np.argsort(x, axis=dim, kind="stable")
    middle = np.take(order, [(x.shape[dim] - 1) // 2], axis=dim)
    values = np.take_along_axis(x, middle, axis=dim)
    if not keepdim:
        values, middle = values.squeeze(dim), middle.squeeze(dim)
    return values, middle


def _has_nan(x: np.ndarray) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())


def _nanmedian(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        flat = np.sort(x[~np.isnan(x)] if x.dtype.kind == "f" else x, axis=None)
        return flat[(flat.size - 1) // 2]
    return _median(x, dim, keepdim)


def distinct(make: Maker, *shape: int) -> np.ndarray:
    """Values without ties, whose places are certain."""
    count = int(np.prod(shape))
    if make.dtype in INTS:
        start = 0 if make.dtype == "uint8" else -(count // 2)
        return (make.random.permutation(count) + start).reshape(shape).astype(make.numpy)
    return make(*shape)


def _medians(make: Maker) -> Iterator[Call]:
    for shape, dims in DIMS:
        yield call(distinct(make, *shape))
        yield call(distinct(make, *shape), dims[0] if dims else 0)
    yield call(distinct(make, 3, 4), 1, True)
    if make.is_float:
        yield Call((np.array([1, np.nan, 0], make.numpy),), extreme=True)


def _modes(make: Maker) -> Iterator[Call]:
    x = np.array([[1, 2, 2, 0], [3, 3, 1, 3], [2, 5, 5, 2]], make.numpy)
    yield call(x)
    yield call(x, -1, True)
    yield call(np.array([4, 4, 1], make.numpy), 0)


def _mode(x: np.ndarray, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value, the least of several, at its last place."""
    moved = np.moveaxis(x, dim, -1)
    values, places = np.empty(moved.shape[:-1], x.dtype), np.empty(moved.shape[:-1], np.int64)
    for at in np.ndindex(moved.shape[:-1]):
        found, counts = np.unique(moved[at], return_counts=True)
        values[at] = found[counts.argmax()]
        places[at] = np.flatnonzero(moved[at] == values[at])[-1]
    if keepdim:
        return np.expand_dims(values, dim), np.expand_dims(places, dim)
    return values, places


def _double_sided(x: np.ndarray, dim: Any = None, keepdim: bool = False) -> Any:
    if not x.ndim:
        return x, x
    return np.min(x, axis=dim, keepdims=keepdim), np.max(x, axis=dim, keepdims=keepdim)


def _aminmaxes(make: Maker) -> Iterator[Call]:
    for shape, dims in DIMS:
        yield call(make(*shape))
        if dims:
            yield call(make(*shape), dim=dims[0])
            yield call(make(*shape), dim=dims[0], keepdim=True)


def _extremes(make: Maker) -> Iterator[Call]:
    for shape, dims in DIMS:
        yield call(distinct(make, *shape))
        yield call(distinct(make, *shape), dims[0] if dims else 0)
        if dims:
            yield call(distinct(make, *shape), dims[0], True)
    yield call(make(0, 3), 1)
    if make.is_float:
        edge = np.array([[1, np.nan, 2], [3, np.inf, -np.inf]], make.numpy)
        yield Call((edge, 1), extreme=True)


def _arg_extremes(make: Maker) -> Iterator[Call]:
    for item in _extremes(make):
        if item.args[0].ndim or len(item.args) == 1:
            yield item


def _truths(make: Maker) -> Iterator[Call]:
    yield from _over(edges=False)(make)
    yield call(np.zeros((2, 3), make.numpy), 1)
    yield call(np.ones((2, 3), make.numpy))


def _truth_dtype(call: Call, dtype: str) -> str:
    return "uint8" if dtype == "uint8" else "bool"


def _counts(x: np.ndarray, dim: Any = None) -> Any:
    return np.count_nonzero(x, axis=dim)


def _trapezoids(make: Maker) -> Iterator[Call]:
    yield call(make(5))
    yield call(make(2, 3, 4), dim=1)
    yield call(make(2, 4), dx=0.5)
    yield call(make(2, 4), make(4))
    yield call(make(3, 2), make(3, 2), dim=0)


def _trapezoid(y: Any, x: Any = None, dx: Any = None, dim: int = -1) -> Any:
    total = _cumulative(y, x, dx, dim)
    return np.take(total, -1, axis=dim)


def _cumulative(y: Any, x: Any = None, dx: Any = None, dim: int = -1) -> Any:
    y = np.moveaxis(y, dim, -1)
    step = 1 if dx is None else dx
    if x is not None:
        x = np.moveaxis(x, dim, -1) if x.ndim > 1 else x
        step = np.diff(x)
    return np.moveaxis(np.cumsum(step * (y[..., 1:] + y[..., :-1]) / 2, -1), -1, dim)


def _diffs(make: Maker) -> Iterator[Call]:
    yield call(make(5))
    yield call(make(2, 4), 2)
    yield call(make(2, 3, 4), dim=1)
    yield call(make(2, 4), n=0)
    yield call(make(2, 4), prepend=make(2, 1))
    yield call(make(2, 4), append=make(2, 2), dim=1)
    yield call(make(0))
    yield call(make(2, 2), 3)


def _diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    parts = [part for part in (prepend, x, append) if part is not None]
    joined = np.concatenate(parts, axis=dim)
    n = min(n, joined.shape[dim])
    return np.diff(joined, n, axis=dim)


def _gradients(make: Maker) -> Iterator[Call]:
    yield call(make(5))
    yield call(make(3, 4))
    yield call(make(3, 4), dim=1)
    yield call(make(5), spacing=0.5)
    yield call(make(5), edge_order=2)


def _gradient(x: Any, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    found = np.gradient(x, spacing, axis=dim, edge_order=edge_order)
    return list(found) if isinstance(found, list | tuple) else [found]


def _matrices(make: Maker) -> Iterator[Call]:
    yield call(make(3, 5))
    yield call(make(6))


def _covs(make: Maker) -> Iterator[Call]:
    yield from _matrices(make)
    yield call(make(3, 5), correction=0)
    yield call(make(3, 4), fweights=np.array([1, 2, 1, 3]))
    yield call(make(3, 4), aweights=np.array([0.5, 1.0, 2.0, 0.25], make.numpy))


def _cov(x: Any, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def _renorms(make: Maker) -> Iterator[Call]:
    yield call(make(3, 4), 2, 0, 1.5)
    yield call(make(3, 2, 2), 1, 1, 3)
    yield call(make(2, 3), np.inf, -1, 1)


def _renorm(x: Any, p: Any, dim: int, maxnorm: float) -> Any:
    others = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    size = _norm(x, p, others, True)
    return np.where(size > maxnorm, x * (maxnorm / (size + 1e-7)), x)


def _row(name: str, oracle: Callable[..., Any], dtypes: tuple[str, ...], **more: Any) -> Row:
    settings: dict[str, Any] = {"samples": _over(), "result": "first"}
    return Row(name, oracle, dtypes=dtypes, **(settings | more))


ROWS = [
    _row("sum", _sum, (*ALL, *HALVES), result="sum", grad=2, grad_dtypes=BOTH, room=4),
    _row("nansum", _nansum, REAL, result="sum", grad=2, room=4),
    _row("mean", _mean, (*FLOATS, *COMPLEX, *HALVES), grad=2, grad_dtypes=BOTH, room=4),
    _row("nanmean", _nanmean, FLOATS, grad=2, room=4),
    _row(
        "prod",
        _axes(np.prod),
        (*NUMBERS, *BOOL),
        samples=_prods,
        result="sum",
        grad=2,
        room=4,
        grad_dtypes=BOTH,
    ),
    _row("var", _var, (*FLOATS, *COMPLEX), samples=_variances, result="real", grad=2, room=8),
    _row("std", _std, (*FLOATS, *COMPLEX), samples=_variances, result="real", grad=2, room=8),
    _row(
        "var_mean",
        _with_mean(_var),
        FLOATS,
        samples=_variances,
        grad=2,
        out=False,
        method=False,
        room=8,
    ),
    _row(
        "std_mean",
        _with_mean(_std),
        FLOATS,
        samples=_variances,
        grad=2,
        out=False,
        method=False,
        room=8,
    ),
    _row("amax", _axes(np.max), (*REAL, *BOOL), samples=_over(empty=False), grad=1),
    _row("amin", _axes(np.min), (*REAL, *BOOL), samples=_over(empty=False), grad=1),
    _row("aminmax", _double_sided, REAL, samples=_aminmaxes, grad=1),
    Row(
        "max",
        _extremum(np.max, np.argmax),
        _extremes,
        REAL,
        ("first", "int64"),
        grad=1,
        expand=False,
        out=False,
    ),
    Row(
        "min",
        _extremum(np.min, np.argmin),
        _extremes,
        REAL,
        ("first", "int64"),
        grad=1,
        expand=False,
        out=False,
    ),
    Row("argmax", _places(np.argmax), _arg_extremes, REAL, "int64"),
    Row("argmin", _places(np.argmin), _arg_extremes, REAL, "int64"),
    Row("median", _median, _medians, REAL, ("first", "int64"), grad=1, expand=False, out=False),
    Row(
        "nanmedian", _nanmedian, _medians, REAL, ("first", "int64"), grad=1, expand=False, out=False
    ),
    Row("mode", _mode, _modes, REAL, ("first", "int64"), expand=False),
    Row("quantile", _quantile, _quantiles, FLOATS, grad=1, room=4, expand=False),
    Row("nanquantile", _nanquantile, _nanquantiles, FLOATS, grad=1, room=4, expand=False),
    Row("all", _axes(np.all), _truths, ALL, _truth_dtype),
    Row("any", _axes(np.any), _truths, ALL, _truth_dtype),
    Row("count_nonzero", _counts, _over(keep=False, edges=False), ALL, "int64", out=False),
    Row(
        "logsumexp", _logsumexp, _logsumexps, FLOATS, grad=2, aliases=("special.logsumexp",), room=2
    ),
    Row("norm", _norm, _norms, (*FLOATS, *COMPLEX), "real", grad=1, room=8),
    Row(
        "dist",
        _dist,
        _dists,
        (*FLOATS, *COMPLEX),
        "real",
        grad=1,
        room=8,
        out=False,
        broadcasts=True,
    ),
    Row("renorm", _renorm, _renorms, FLOATS, grad=1, inplace=True, room=4, exact=False),
    Row("cumsum", _running(np.cumsum), _alongs, ALL, "sum", grad=2, inplace=True, room=4),
    Row("cumprod", _running(np.cumprod), _alongs, ALL, "sum", grad=2, inplace=True, room=8),
    Row("cummax", _running_extremum(np.greater_equal), _alongs, REAL, ("first", "int64"), grad=1),
    Row("cummin", _running_extremum(np.less_equal), _alongs, REAL, ("first", "int64"), grad=1),
    Row("logcumsumexp", _logcumsumexp, _finite_alongs, (*FLOATS, *COMPLEX), grad=2, room=4),
    Row(
        "trapezoid",
        _trapezoid,
        _trapezoids,
        FLOATS,
        grad=2,
        out=False,
        method=False,
        room=4,
        aliases=("trapz",),
    ),
    Row(
        "cumulative_trapezoid",
        _cumulative,
        _trapezoids,
        FLOATS,
        grad=2,
        out=False,
        method=False,
        room=4,
    ),
    Row("diff", _diff, _diffs, NUMBERS, grad=2),
    Row("gradient", _gradient, _gradients, FLOATS, grad=2, out=False, method=False, room=4),
    Row("cov", _cov, _covs, FLOATS, grad=2, out=False, room=8, meta=False),
    Row("corrcoef", np.corrcoef, _matrices, FLOATS, grad=1, out=False, room=8, expand=False),
]
