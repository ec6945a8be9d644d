"""Reductions over dimensions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, cast, overload

from pyburn import _core, return_types
from pyburn._api import both, check_tensor, into, method, refuse_overlap
from pyburn._core import Tensor
from pyburn._dtypes import (
    DTypeLike,
    as_dtype,
    numpy_names,
    uint8,
)

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "dist",
    "logsumexp",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "norm",
    "prod",
    "renorm",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]

Dims = int | Sequence[int] | None


def _some(dim: Dims) -> Any:
    """Dimensions for the engine: no dimensions at all mean every one, as in PyTorch."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


def _cast(input: Tensor, dtype: DTypeLike | None) -> Tensor:
    return input if dtype is None else input.to(as_dtype(dtype))


@method
@numpy_names
def sum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum over dimensions; all of them if none is named.

    Example:
        >>> pyburn.ones(2, 3).sum(dim=0)
        tensor([2., 2., 2.])
    """
    result = _core.sum(_cast(input, dtype), _some(dim), keepdim)
    if dtype is not None and result.dtype != as_dtype(dtype):
        result = result.to(as_dtype(dtype))
    return into(result, out)


@method
@numpy_names
def nansum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum over dimensions of what is not NaN."""
    return into(_cast(_core.nansum(_cast(input, dtype), _some(dim), keepdim), dtype), out)


@method
@numpy_names
def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The product over a dimension, or of all elements."""
    return into(_cast(_core.prod(_cast(input, dtype), _some(dim), keepdim), dtype), out)


@method
@numpy_names
def mean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean over dimensions.

    Example:
        >>> pyburn.tensor([1.0, 2.0]).mean()
        tensor(1.5000)
    """
    return into(_core.mean(_cast(input, dtype), _some(dim), keepdim), out)


@method
@numpy_names
def nanmean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean over dimensions of what is not NaN."""
    return into(_core.nanmean(_cast(input, dtype), _some(dim), keepdim), out)


def _spread(
    op: str, dim: Any, unbiased: bool | None, correction: float | None
) -> tuple[Any, builtins.float]:
    """Dimensions and correction from the forms ``(unbiased)``, ``(dim, unbiased)`` and
    ``(dim, correction=)``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{op}: takes one of unbiased and correction")
    if correction is None:
        correction = 1 if unbiased is None else builtins.int(unbiased)
    return _some(dim), builtins.float(correction)


@method
@numpy_names
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The variance over dimensions, divided by the number of elements less ``correction``."""
    dims, less = _spread("var", dim, unbiased, correction)
    return into(_core.var_mean(input, dims, less, keepdim)[0], out)


@method
@numpy_names
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The standard deviation over dimensions.

    Example:
        >>> pyburn.tensor([1.0, 3.0]).std(correction=0)
        tensor(1.)
    """
    dims, less = _spread("std", dim, unbiased, correction)
    return into(_core.std(input, dims, less, keepdim), out)


@numpy_names
def var_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Variance and mean over dimensions."""
    dims, less = _spread("var_mean", dim, unbiased, correction)
    return _core.var_mean(input, dims, less, keepdim)


@numpy_names
def std_mean(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over dimensions."""
    dims, less = _spread("std_mean", dim, unbiased, correction)
    return _core.std_mean(input, dims, less, keepdim)


def _extreme(
    name: str, input: Tensor, dim: Any, keepdim: bool, other: Tensor | None, out: Any
) -> Any:
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        return into(_core.binary(input, f"{name}imum", other), out)
    kind = return_types.max if name == "max" else return_types.min
    if dim is not None:
        pair = _core.max_dim if name == "max" else _core.min_dim
        return both(kind, pair(input, dim, keepdim), out)
    if not input.numel():
        raise RuntimeError(
            f"{name}: expected reduction dim to be specified for input.numel() == 0, got shape "
            f"{list(input.shape)}; specify it with the 'dim' argument"
        )
    reduce = _core.amax if name == "max" else _core.amin
    return into(reduce(input, None, False), out)


@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(
    input: Tensor, dim: int, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.max: ...
@overload
def max(input: Tensor, dim: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, *, other: Tensor, out: Tensor | None = None) -> Tensor: ...
@method
@numpy_names
def max(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
    out: Any = None,
) -> Any:
    """The largest element; along a dimension with where it stands; or the larger of two tensors.

    Example:
        >>> pyburn.tensor([1, 3, 2]).max(dim=0).indices
        tensor(1)
    """
    check_tensor("max", input)
    return _extreme("max", input, dim, keepdim, other, out)


@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(
    input: Tensor, dim: int, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.min: ...
@overload
def min(input: Tensor, dim: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, *, other: Tensor, out: Tensor | None = None) -> Tensor: ...
@method
@numpy_names
def min(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
    out: Any = None,
) -> Any:
    """The smallest element; along a dimension with where it stands; or the smaller of two
    tensors."""
    check_tensor("min", input)
    return _extreme("min", input, dim, keepdim, other, out)


@method
@numpy_names
def amax(
    input: Tensor, dim: Dims = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The largest elements over dimensions; equal ones share the gradient."""
    return into(_core.amax(input, _some(dim), keepdim), out, same_dtype=True)


@method
@numpy_names
def amin(
    input: Tensor, dim: Dims = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The smallest elements over dimensions; equal ones share the gradient."""
    return into(_core.amin(input, _some(dim), keepdim), out, same_dtype=True)


@method
@numpy_names
def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.aminmax:
    """The smallest and the largest element, of all or along a dimension."""
    least, most = _core.aminmax(input, dim, keepdim)
    if out is None:
        return return_types.aminmax(least, most)
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError("aminmax: expected out to be a tuple of two Tensors")
    try:
        refuse_overlap(out[0], out[1])
    except RuntimeError as fault:
        raise ValueError(
            f"aminmax: the `min` and `max` out= tensors must not overlap: {fault}"
        ) from None
    return return_types.aminmax(
        into(least, out[0], same_dtype=True), into(most, out[1], same_dtype=True)
    )


@method
@numpy_names
def argmax(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Where the largest element stands."""
    return into(_core.argmax(input, dim, keepdim), out)


@method
@numpy_names
def argmin(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Where the smallest element stands."""
    return into(_core.argmin(input, dim, keepdim), out)


@method
@numpy_names
def any(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Whether any element is not zero."""
    result = _core.any(input, _some(dim), keepdim)
    return into(result.to(uint8) if input.dtype == uint8 else result, out)


@method
@numpy_names
def all(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Whether no element is zero."""
    result = _core.all(input, _some(dim), keepdim)
    return into(result.to(uint8) if input.dtype == uint8 else result, out)


@method
@numpy_names
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """How many elements are not zero."""
    return _core.count_nonzero(input, _some(dim))


@method
@numpy_names
def logsumexp(
    input: Tensor, dim: Dims, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """``log(sum(exp(x)))`` over dimensions, without overflow."""
    return into(_core.logsumexp(input, _some(dim), keepdim), out)


@method
@numpy_names
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """The norm of all elements, or over dimensions.

    Example:
        >>> pyburn.tensor([3.0, 4.0]).norm()
        tensor(5.)
    """
    order = "fro" if p is None else p
    kind = None if dtype is None else as_dtype(dtype)
    return into(_core.norm(input, order, _some(dim), keepdim, kind), out)


@method
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The norm of the difference of two tensors."""
    return _core.dist(input, other, builtins.float(p))


@method(inplace=True)
def renorm(
    input: Tensor, p: float, dim: int, maxnorm: float, *, out: Tensor | None = None
) -> Tensor:
    """Slices along a dimension, those with a norm above ``maxnorm`` scaled down to it."""
    return into(_core.renorm(input, builtins.float(p), dim, builtins.float(maxnorm)), out)


@method
def sum_to_size(self: Tensor, *size: int | Sequence[int]) -> Tensor:
    """The sum over what broadcasting from a shape would add."""
    check_tensor("sum_to_size", self)
    listed = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    shape = cast("tuple[int, ...]", tuple(listed))
    extra = self.ndim - len(shape)
    fits = extra >= 0 and builtins.all(
        small in (1, large) for small, large in zip(shape, self.shape[extra:], strict=False)
    )
    if not fits:
        raise RuntimeError(
            f"sum_to_size: size {list(shape)} is not expandable to size {list(self.shape)}"
        )
    dims = [
        dim
        for dim in range(self.ndim)
        if dim < extra or (shape[dim - extra] == 1 != self.shape[dim])
    ]
    if not shape:
        return _core.sum(self, None, False)
    return _core.sum(self, dims, True).reshape(shape) if dims else self
