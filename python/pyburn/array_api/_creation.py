"""Making arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyburn
from pyburn._core import Tensor
from pyburn._core import dtype as dtype_
from pyburn._dtypes import DeviceLike, Number

__all__ = [
    "arange",
    "asarray",
    "astype",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Shape = int | Sequence[int]


def _sizes(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def asarray(
    obj: Any,
    /,
    *,
    dtype: dtype_ | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
) -> Tensor:
    """An array of nested sequences, numbers, buffers or an array.

    Example:
        >>> pyburn.array_api.asarray([1, 2], dtype=pyburn.float32)
        tensor([1., 2.])
    """
    if copy is False:
        shared = pyburn.as_tensor(obj, dtype=dtype, device=device)
        same = isinstance(obj, Tensor) and (
            shared is obj or (shared.numel() and shared._shares_storage(obj))
        )
        if not same and not (hasattr(obj, "__array_interface__") or hasattr(obj, "__dlpack__")):
            raise ValueError(
                f"asarray: copy=False, but a {type(obj).__name__} cannot be shared as {dtype}"
            )
        if isinstance(obj, Tensor) and not same and obj.numel():
            raise ValueError(f"asarray: copy=False, but {obj.dtype} to {dtype} needs a copy")
        return shared
    if copy:
        return pyburn.asarray(obj, dtype=dtype, device=device, copy=True)
    return pyburn.asarray(obj, dtype=dtype, device=device)


def astype(
    x: Tensor, dtype: dtype_, /, *, copy: bool = True, device: DeviceLike | None = None
) -> Tensor:
    """The array with another dtype."""
    if device is not None:
        x = x.to(device)
    if x.is_complex() and not dtype.is_complex and dtype != pyburn.bool:
        raise TypeError(f"astype: {x.dtype} cannot become {dtype}; hint: take real(x) first")
    return x.to(dtype, copy=copy)


def arange(
    start: Number,
    /,
    stop: Number | None = None,
    step: Number = 1,
    *,
    dtype: dtype_ | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Numbers from ``start`` up to ``stop``, which is excluded."""
    if stop is None:
        start, stop = 0, start
    if (step > 0 and stop <= start) or (step < 0 and stop >= start):  # type: ignore[operator]
        if dtype is None:
            whole = all(isinstance(number, int) for number in (start, stop, step))
            dtype = pyburn.int64 if whole else pyburn.get_default_dtype()
        return pyburn.empty((0,), dtype=dtype, device=device)
    return pyburn.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: Number,
    stop: Number,
    /,
    num: int,
    *,
    dtype: dtype_ | None = None,
    device: DeviceLike | None = None,
    endpoint: bool = True,
) -> Tensor:
    """``num`` evenly spaced numbers."""
    if isinstance(start, complex) or isinstance(stop, complex):
        kind = dtype or pyburn.get_default_dtype().to_complex()
        real, imag = (
            linspace(
                getattr(start, part),
                getattr(stop, part),
                num,
                dtype=kind.to_real(),
                device=device,
                endpoint=endpoint,
            )
            for part in ("real", "imag")
        )
        return pyburn.complex(real, imag)
    if endpoint:
        return pyburn.linspace(start, stop, num, dtype=dtype, device=device)
    return pyburn.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: dtype_ | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Ones on a diagonal, zeros elsewhere."""
    result = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype, device=device)
    if -result.shape[0] < k < result.shape[1]:
        result.diagonal(k).fill_(1)
    return result


def full(
    shape: Shape,
    fill_value: Number,
    *,
    dtype: dtype_ | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """An array of one value."""
    return pyburn.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: dtype_ | None = None, device: DeviceLike | None = None) -> Tensor:
    """An array of zeros."""
    return pyburn.zeros(_sizes(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: dtype_ | None = None, device: DeviceLike | None = None) -> Tensor:
    """An array of ones."""
    return pyburn.ones(_sizes(shape), dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: dtype_ | None = None, device: DeviceLike | None = None) -> Tensor:
    """An array whose values do not matter."""
    return pyburn.empty(_sizes(shape), dtype=dtype, device=device)


def full_like(
    x: Tensor,
    /,
    fill_value: Number,
    *,
    dtype: dtype_ | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """An array of one value in another's shape."""
    return pyburn.full_like(x, fill_value, dtype=dtype, device=device)


def zeros_like(
    x: Tensor, /, *, dtype: dtype_ | None = None, device: DeviceLike | None = None
) -> Tensor:
    """Zeros in another array's shape."""
    return pyburn.zeros_like(x, dtype=dtype, device=device)


def ones_like(
    x: Tensor, /, *, dtype: dtype_ | None = None, device: DeviceLike | None = None
) -> Tensor:
    """Ones in another array's shape."""
    return pyburn.ones_like(x, dtype=dtype, device=device)


def empty_like(
    x: Tensor, /, *, dtype: dtype_ | None = None, device: DeviceLike | None = None
) -> Tensor:
    """An array in another's shape whose values do not matter."""
    return pyburn.empty_like(x, dtype=dtype, device=device)


def from_dlpack(x: Any, /, *, device: DeviceLike | None = None, copy: bool | None = None) -> Tensor:
    """An array over another library's memory."""
    result = pyburn.from_dlpack(x)
    if device is not None:
        result = result.to(device)
    return result.clone() if copy else result


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid."""
    return list(pyburn.meshgrid(*arrays, indexing=indexing)) if arrays else []


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The part on and below a diagonal."""
    return pyburn.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The part on and above a diagonal."""
    return pyburn.triu(x, k)
