"""Reductions, order statistics, running totals, sorting and counting."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, cast, overload

from pyburn import _core, return_types
from pyburn._api import into, method, refuse_overlap
from pyburn._core import Tensor
from pyburn._dtypes import (
    DTypeLike,
    Number,
    as_dtype,
    as_operand,
    category,
    numpy_names,
    uint8,
    wrapped,
)

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "bincount",
    "bucketize",
    "corrcoef",
    "count_nonzero",
    "cov",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "diff",
    "dist",
    "gradient",
    "histc",
    "histogram",
    "histogramdd",
    "isin",
    "kthvalue",
    "logcumsumexp",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "msort",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "norm",
    "prod",
    "quantile",
    "renorm",
    "searchsorted",
    "sort",
    "std",
    "std_mean",
    "sum",
    "topk",
    "trapezoid",
    "trapz",
    "unique",
    "unique_consecutive",
    "var",
    "var_mean",
]

Dims = int | Sequence[int] | None
Pair = TypeVar("Pair", bound=tuple[Any, ...])


def _some(dim: Dims) -> Any:
    """Dimensions for the engine: no dimensions at all mean every one, as in PyTorch."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


def _both(
    kind: type[Pair], results: Sequence[Tensor], out: Sequence[Tensor] | None, *inputs: Tensor
) -> Pair:
    """Several results as their named tuple, or written into the given tensors, which may not share
    memory with ``inputs``."""
    if out is not None:
        pairs = zip(results, out, strict=True)
        results = [into(result, target, *inputs) for result, target in pairs]
    return kind(*results)


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
        return _both(kind, pair(input, dim, keepdim), out)
    if not input.numel():
        raise RuntimeError(
            f"{name}: expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
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
    return _core.sum(self, dims, True).reshape(shape) if dims else self


def _middle(name: str, input: Tensor, dim: int | None, keepdim: bool, out: Any) -> Any:
    if dim is None:
        whole = _core.median if name == "median" else _core.nanmedian
        return into(whole(input), out)
    along = _core.median_dim if name == "median" else _core.nanmedian_dim
    kind = return_types.median if name == "median" else return_types.nanmedian
    return _both(kind, along(input, dim, keepdim), out)


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
    return _both(return_types.mode, _core.mode(input, dim, keepdim), out)


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
    return _both(return_types.kthvalue, _core.kthvalue(input, k, dim, keepdim), out, input)


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
    return _both(return_types.cummax, _core.cummax(input, dim), out)


@method
@numpy_names
def cummin(
    input: Tensor, dim: int, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.cummin:
    """The smallest element up to each along a dimension, and where it stands."""
    return _both(return_types.cummin, _core.cummin(input, dim), out)


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
    if edge_order not in (1, 2):
        raise RuntimeError("gradient: only supports edge_order=1 and edge_order=2.")
    listed = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = [wrapped(each, input.ndim, "gradient") for each in listed]
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
    return _both(return_types.histogram, results, out)


def histogramdd(
    input: Tensor,
    bins: int | Sequence[Any],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogramdd:
    """A histogram over several dimensions: the points are along the last one."""
    if input.ndim < 2:
        raise RuntimeError(
            f"histogramdd: input tensor should have at least 2 dimensions, but got {input.ndim}"
        )
    rank = input.shape[-1]
    points = input.reshape(-1, rank)
    listed = [bins] * rank if isinstance(bins, int) else list(bins)
    if len(listed) != rank:
        raise RuntimeError(f"histogramdd: expected {rank} entries in bins, got {len(listed)}")
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
    return _both(return_types.sort, _core.sort(input, dim, descending), out)


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
    return _both(return_types.topk, _core.topk(input, k, dim, largest, sorted), out)


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
    if boundaries.ndim != 1:
        raise RuntimeError(
            f"bucketize: boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
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
