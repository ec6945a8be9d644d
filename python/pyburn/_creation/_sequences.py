"""Numbers in steps."""

from __future__ import annotations

import builtins
import math
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    Number,
    category,
    dtype,
    float64,
    int64,
    layout,
    strided,
    type_of_number,
)
from pyburn._options import finish, kind_and_place

__all__ = [
    "arange",
    "linspace",
    "logspace",
    "range",
]


def _plain(value: Number | Tensor) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def arange(
    *args: Number | Tensor,
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``start``, ``start + step``, ... before ``end``.

    Example:
        >>> pyburn.arange(1, 4)
        tensor([1, 2, 3])
    """
    given = list(args)
    if len(given) == 1 and end is None:
        end = _plain(given.pop())
    if given:
        start = _plain(given.pop(0))
    if given:
        end = _plain(given.pop(0))
    if given:
        step = _plain(given.pop(0))
    if given or end is None:
        raise TypeError("arange: expected (end), (start, end) or (start, end, step)")
    start, last, step = _plain(start), _plain(end), _plain(step)
    floats = any(category(type_of_number(value)) > 1 for value in (start, last, step))
    kind, place = kind_and_place(out, dtype, device, backend, None if floats else int64)
    return finish(_core._arange(start, last, step, kind, place), out, requires_grad, layout)


def range(
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start``, ``start + step``, ... up to and with ``end``; ``arange`` is the one to use."""
    if end is None:
        start, end = 0, start
    first, last, by = (builtins.float(_plain(value)) for value in (start, end, step))
    if by == 0:
        raise RuntimeError("range: step must be nonzero")
    if (last - first) / by < 0:
        raise RuntimeError("range: upper bound and lower bound inconsistent with step sign")
    kind, place = kind_and_place(out, dtype, device, backend)
    count = math.floor((last - first) / by) + 1
    result = _core._arange(0, count, 1, float64, "cpu") * by + first
    return finish(result.to(kind).to(place), out, requires_grad, layout)


def _spaced_default(start: Any, end: Any) -> dtype:
    kind = _core.get_default_dtype()
    bounds = isinstance(start, builtins.complex) or isinstance(end, builtins.complex)
    return kind.to_complex() if bounds else kind


def _check_bounds(name: str, kind: dtype, *bounds: Any) -> None:
    if not kind.is_complex and any(isinstance(bound, builtins.complex) for bound in bounds):
        raise RuntimeError(
            f"{name}: expected real bounds for dtype {kind}, got {bounds[0]} and {bounds[1]}"
        )


def linspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included.

    Example:
        >>> pyburn.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    start, end = _plain(start), _plain(end)
    kind, place = kind_and_place(out, dtype, device, backend, _spaced_default(start, end))
    _check_bounds("linspace", kind, start, end)
    return finish(_core._linspace(start, end, steps, kind, place), out, requires_grad, layout)


def logspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``base`` to the power of evenly spaced exponents.

    Example:
        >>> pyburn.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    start, end = _plain(start), _plain(end)
    kind, place = kind_and_place(out, dtype, device, backend, _spaced_default(start, end))
    _check_bounds("logspace", kind, start, end)
    result = _core._logspace(start, end, steps, builtins.float(base), kind, place)
    return finish(result, out, requires_grad, layout)
