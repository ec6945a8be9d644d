"""Running totals, differences and integrals along a dimension."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from pyburn import _core, return_types
from pyburn._api import both, check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    DTypeLike,
    category,
    numpy_names,
    wrapped,
)
from pyburn._reduction._folds import _cast

__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "diff",
    "gradient",
    "logcumsumexp",
    "trapezoid",
    "trapz",
]


@method(inplace=True)
@numpy_names
def cumsum(
    input: Tensor, dim: int, *, dtype: DTypeLike | None = None, out: Tensor | None = None
) -> Tensor:
    """The sums of the elements up to each along a dimension."""
    return into(_cast(_core.cumsum(_cast(input, dtype), dim), dtype), out)


@method(inplace=True)
@numpy_names
def cumprod(
    input: Tensor, dim: int, *, dtype: DTypeLike | None = None, out: Tensor | None = None
) -> Tensor:
    """The products of the elements up to each along a dimension."""
    return into(_cast(_core.cumprod(_cast(input, dtype), dim), dtype), out)


@method
@numpy_names
def cummax(
    input: Tensor, dim: int, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.cummax:
    """The largest element up to each along a dimension, and where it stands."""
    return both(return_types.cummax, _core.cummax(input, dim), out)


@method
@numpy_names
def cummin(
    input: Tensor, dim: int, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.cummin:
    """The smallest element up to each along a dimension, and where it stands."""
    return both(return_types.cummin, _core.cummin(input, dim), out)


@method
@numpy_names
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithms of the sums of the exponentials up to each element."""
    return into(_core.logcumsumexp(input, dim), out)


@method
@numpy_names
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along a dimension, ``n`` times."""
    return into(_core.diff(input, n, dim, prepend, append), out)


def _steps(op: str, x: Tensor | None, dx: float | None) -> builtins.float:
    if x is not None and dx is not None:
        raise TypeError(f"{op}: takes one of x and dx")
    return 1.0 if dx is None else builtins.float(dx)


def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """The integral of samples along a dimension by the trapezoid rule."""
    return _core.trapezoid(y, x, _steps("trapezoid", x, dx), dim)


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """The integral up to each sample after the first by the trapezoid rule."""
    return _core.cumulative_trapezoid(y, x, _steps("cumulative_trapezoid", x, dx), dim)


trapz = trapezoid


def gradient(
    input: Tensor,
    *,
    spacing: Any = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """The derivative of samples along dimensions, by the differences of both neighbours."""
    check_tensor("gradient", input)
    if edge_order not in (1, 2):
        raise RuntimeError("gradient: only supports edge_order=1 and edge_order=2.")
    listed = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = [wrapped(each, input.shape, "gradient") for each in listed]
    for each in dims:
        if dims.count(each) > 1:
            raise RuntimeError(f"gradient: dim {each} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, Tensor) or not isinstance(spacing, list | tuple):
        spacings = [spacing] * len(dims)
    else:
        spacings = list(spacing)
    if len(spacings) != len(dims):
        raise RuntimeError(
            f"gradient: expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'len(dim)', got {len(spacings)} for {len(dims)} dimensions"
        )
    return tuple(
        _slope(input, each, step, edge_order) for each, step in zip(dims, spacings, strict=True)
    )


def _slope(input: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    size = input.shape[dim]
    if size <= edge_order:
        raise RuntimeError(
            "gradient: expected each dimension size to be at least edge_order+1, got "
            f"{list(input.shape)}"
        )
    x = input if category(input.dtype) > 1 else input.to(_core.get_default_dtype())

    def part(start: int, length: int, of: Tensor = x) -> Tensor:
        return _core.narrow(of, dim, start, length)

    steps: Any
    if isinstance(spacing, Tensor) and spacing.ndim:
        shape = [1] * x.ndim
        shape[dim] = -1
        places = spacing.to(x.dtype.to_real()).reshape(shape)
        steps = part(1, size - 1, places) - part(0, size - 1, places)
    else:
        number = spacing.item() if isinstance(spacing, Tensor) else spacing
        shape = [1] * x.ndim
        shape[dim] = size - 1
        steps = _core._full(tuple(shape), number, x.dtype.to_real(), x.device)
    before, after = part(0, size - 2, steps), part(1, size - 2, steps)
    slopes = (part(1, size - 1) - part(0, size - 1)) / steps
    # Each inner slope is the mean of both sides, the nearer side weighing more.
    left, right = part(0, size - 2, slopes), part(1, size - 2, slopes)
    inner = (left * after + right * before) / (before + after)
    first, last = part(0, 1, slopes), part(size - 2, 1, slopes)
    if edge_order == 2:
        bend = (part(1, 1, slopes) - first) / (part(0, 1, steps) + part(1, 1, steps))
        fall = (last - part(size - 3, 1, slopes)) / (
            part(size - 2, 1, steps) + part(size - 3, 1, steps)
        )
        first = first - bend * part(0, 1, steps)
        last = last + fall * part(size - 2, 1, steps)
    return _core._cat([first, inner, last], dim)
