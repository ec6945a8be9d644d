"""Reductions and scans along axes."""

from __future__ import annotations

import builtins
from typing import Any

import pyburn
from pyburn._core import Tensor
from pyburn._core import dtype as dtype_
from pyburn._dtypes import category

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

Axis = int | tuple[int, ...] | None


def _axes(x: Tensor, axis: Axis) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _folded(function: Any, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """A reduction that PyTorch knows for one axis, over several."""
    axes = sorted((at % builtins.max(x.ndim, 1) for at in _axes(x, axis)), reverse=True)
    for at in axes:
        x = function(x, at)
    if keepdims:
        for at in reversed(axes):
            x = x.unsqueeze(at)
    return x


def sum(
    x: Tensor, /, *, axis: Axis = None, dtype: dtype_ | None = None, keepdims: bool = False
) -> Tensor:
    """Sums along axes."""
    axes = _axes(x, axis)
    if not axes:
        wide = pyburn.int64 if category(x.dtype) <= 1 else x.dtype
        return x.to(dtype or wide, copy=True)
    return pyburn.sum(x, axes, keepdims, dtype=dtype)


def prod(
    x: Tensor, /, *, axis: Axis = None, dtype: dtype_ | None = None, keepdims: bool = False
) -> Tensor:
    """Products along axes."""
    wide = dtype or (pyburn.int64 if category(x.dtype) <= 1 else x.dtype)

    def along(part: Tensor, at: int) -> Tensor:
        return pyburn.prod(part, at, dtype=wide)

    return _folded(along, x.to(wide, copy=True), axis, keepdims)


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Means along axes."""
    axes = _axes(x, axis)
    return pyburn.mean(x, axes, keepdims) if axes else x.clone()


def var(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Variances along axes."""
    axes = _axes(x, axis)
    count = 1
    for at in axes:
        count *= x.shape[at]
    if not axes:
        # One element each: no spread, but NaN and infinities stay unknown.
        return (x - x) / (1 - correction) if correction < 1 else x * float("nan")
    spread = pyburn.var(x, axes, correction=0, keepdim=keepdims)
    return spread * (count / (count - correction)) if count > correction else spread * float("nan")


def std(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Standard deviations along axes."""
    return pyburn.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest elements along axes."""
    axes = _axes(x, axis)
    return pyburn.amax(x, axes, keepdims) if axes else x.clone()


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least elements along axes."""
    axes = _axes(x, axis)
    return pyburn.amin(x, axes, keepdims) if axes else x.clone()


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are true."""
    return _folded(pyburn.all, x.to(pyburn.bool), axis, keepdims)


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether any element along axes is true."""
    return _folded(pyburn.any, x.to(pyburn.bool), axis, keepdims)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the greatest element is."""
    return pyburn.argmax(x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the least element is."""
    return pyburn.argmin(x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are not zero."""
    return sum((x != 0).to(pyburn.int64), axis=axis, keepdims=keepdims)


def _cumulative(
    name: str, x: Tensor, axis: int | None, dtype: dtype_ | None, first: int | None
) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{name}: axis is needed for an array of {x.ndim} dimensions")
        axis = 0
    scan = pyburn.cumsum if name == "cumulative_sum" else pyburn.cumprod
    result = scan(x, axis, dtype=dtype)
    if first is None:
        return result
    shape = list(result.shape)
    shape[axis] = 1
    start = pyburn.full(tuple(shape), first, dtype=result.dtype, device=result.device)
    return pyburn.cat([start, result], axis)


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: dtype_ | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Sums up to each element, with ``include_initial`` a zero before them."""
    return _cumulative("cumulative_sum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: dtype_ | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Products up to each element, with ``include_initial`` a one before them."""
    return _cumulative("cumulative_prod", x, axis, dtype, 1 if include_initial else None)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours."""
    return pyburn.diff(x, n, axis, prepend, append)
