"""Reading and writing elements at places that tensors name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, overload

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import Number, category, int64, numpy_names
from pyburn._dtypes import bool as bool_

__all__ = [
    "_segment_reduce",
    "argwhere",
    "fill",
    "fill_",
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "nonzero_static",
    "put",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "segment_reduce",
    "take",
    "take_along_dim",
    "unravel_index",
    "zero_",
]


def _value(op: str, value: Any, input: Tensor) -> Tensor:
    """A number, or a tensor of one, as a 0-d tensor of the input's dtype."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, complex) and not input.dtype.is_complex:
        raise RuntimeError(
            f"{op}: value cannot be converted to type {input.dtype} without overflow"
        )
    return _core._full((), value, input.dtype, input.device)


@method
@numpy_names
def gather(
    input: Tensor,
    dim: int,
    index: Tensor,
    *,
    sparse_grad: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The elements at the places along a dimension that an index names.

    Example:
        >>> x = pyburn.tensor([[1, 2], [3, 4]])
        >>> x.gather(1, pyburn.tensor([[1], [0]]))
        tensor([[2],
                [3]])
    """
    return into(_core.gather(input, dim, index), out, input, index, same_dtype=True)


@method(inplace=True)
@numpy_names
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with elements of ``src``, or one value, placed where the index says.

    Example:
        >>> pyburn.zeros(3).scatter(0, pyburn.tensor([2]), 5.0)
        tensor([0., 0., 5.])
    """
    check_tensor("scatter", input)
    check_tensor("scatter", index)
    source = value if src is None else src
    if source is None:
        raise TypeError("scatter: expected src or value")
    if not isinstance(source, Tensor):
        source = _value("scatter", source, input).expand(index.shape)
    if reduce is None:
        return into(_core.scatter(input, dim, index, source), out)
    if reduce not in ("add", "multiply"):
        raise RuntimeError(
            f"scatter: reduce argument must be either add or multiply, got '{reduce}'"
        )
    return into(_core.scatter_with(input, dim, index, source, reduce), out)


@method(inplace=True)
@numpy_names
def scatter_add(
    input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """A copy with elements of ``src`` added where the index says."""
    return into(_core.scatter_with(input, dim, index, src, "add"), out)


@method(inplace=True)
@numpy_names
def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with elements of ``src`` combined where the index says: ``sum``, ``prod``, ``mean``,
    ``amax`` or ``amin``."""
    return into(_core.scatter_reduce(input, dim, index, src, reduce, include_self), out)


@numpy_names
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whole slices along a dimension, by an index.

    Example:
        >>> pyburn.index_select(pyburn.arange(4), 0, pyburn.tensor([3, 0]))
        tensor([3, 0])
    """
    return into(_core.index_select(input, dim, index), out, input, index)


@method(name="index_select")
@numpy_names
def _index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Whole slices along a dimension, by an index."""
    return _core.index_select(self, dim, index)


@method(inplace=True)
@numpy_names
def index_add(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with slices of ``source``, times ``alpha``, added where the index says."""
    check_tensor("index_add", source)
    source = source if alpha == 1 else source * alpha
    return into(_core.index_add(input, dim, index, source), out)


@method(inplace=True)
@numpy_names
def index_copy(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """A copy with slices of ``source`` placed where the index says."""
    return into(_core.index_copy(input, dim, index, source), out)


@method(inplace=True)
@numpy_names
def index_fill(
    input: Tensor,
    dim: int,
    index: Tensor,
    value: Tensor | Number,
) -> Tensor:
    """A copy with one value in the slices that the index names."""
    return _core.index_fill(input, dim, index, value)


@method(inplace=True)
@numpy_names
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with slices of ``source`` combined where the index says: ``prod``, ``mean``,
    ``amax`` or ``amin``."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce: expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    return into(_core.index_reduce(input, dim, index, source, reduce, include_self), out)


@method
def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """A copy with values placed, or added, where index tensors name elements."""
    _check_put("index_put", input, values)
    return _core.advanced_put(input, list(indices), values, accumulate)


@method
def index_put_(
    self: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """In-place version of :func:`pyburn.index_put`."""
    _check_put("index_put_", self, values)
    _core.advanced_put_(self, list(indices), values, accumulate)
    return self


def _check_put(op: str, input: Tensor, values: Tensor) -> None:
    check_tensor(op, input)
    check_tensor(op, values)
    if values.dtype != input.dtype:
        raise RuntimeError(
            f"{op}: requires the source and destination dtypes match, got {input.dtype} for the "
            f"destination and {values.dtype} for the source."
        )


@method
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where the mask holds, in one dimension.

    Example:
        >>> x = pyburn.arange(4)
        >>> x.masked_select(x > 1)
        tensor([2, 3])
    """
    return into(_core.masked_select(input, mask), out, input, mask)


@method(inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the first elements of ``source`` where the mask holds."""
    return _core.masked_scatter(input, mask, source)


@overload
def nonzero(
    input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
@method
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """Where elements are not zero: a row each, or a tensor for each dimension.

    Example:
        >>> pyburn.tensor([0, 7]).nonzero()
        tensor([[1]])
    """
    if as_tuple:
        return tuple(_core.nonzero_tuple(input))
    return into(_core.nonzero(input), out)


@method
def nonzero_static(
    input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None
) -> Tensor:
    """The first ``size`` rows of :func:`nonzero`, missing ones filled."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    places = _core.nonzero(input)
    found = min(size, places.shape[0])
    kept = _core.narrow(places, 0, 0, found)
    shape = (size - found, places.shape[1])
    rest = _core._full(shape, fill_value, places.dtype, places.device)
    return into(_core._cat([kept, rest], 0), out)


@method
def argwhere(input: Tensor) -> Tensor:
    """Where elements are not zero, a row each."""
    return _core.nonzero(input)


@method
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at places of the flattened tensor, in the index's shape."""
    return into(_core.take(input, index), out, input, index)


@method
@numpy_names
def take_along_dim(
    input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """:func:`gather` with both tensors broadcast in the other dimensions."""
    return into(_core.take_along_dim(input, indices, dim), out)


@method(inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``source`` at places of the flattened tensor, or added there."""
    return _core.put(input, index, source, accumulate)


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Places of a flattened tensor as one index per dimension of its shape."""
    check_tensor("unravel_index", indices)
    if category(indices.dtype) != 1:
        raise ValueError(
            f"unravel_index: expected 'indices' to be integer dtype, but got {indices.dtype}"
        )
    indices = indices.to(int64)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"unravel_index: 'shape' cannot have negative values, but got {sizes}")
    found: list[Tensor] = []
    step = math.prod(sizes)
    for size in sizes:
        step = step // size if size else 0
        part = _core.binary(indices, "floor_divide", max(step, 1))
        found.append(_core.binary(part, "remainder", max(size, 1)))
    return tuple(found)


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Segments of consecutive rows reduced to one row each: ``sum``, ``mean``, ``max``, ``min`` or
    ``prod``."""
    given = [name for name in (lengths, indices, offsets) if name is not None]
    if len(given) != 1:
        raise RuntimeError("segment_reduce: expected one of lengths, indices and offsets")
    if reduce not in ("sum", "mean", "max", "min", "prod"):
        raise RuntimeError(
            f"segment_reduce: reduce must be one of sum, mean, max, min or prod, got '{reduce}'"
        )
    start = None if initial is None else float(initial)
    if lengths is not None and unsafe:
        # Without the check that they cover all rows, lengths are differences of offsets.
        lengths, offsets = None, _core.pad(_core.cumsum(lengths, -1), (1, 0), "constant", 0)
        given = [offsets]
    if axis == 0:
        return _core.segment_reduce(data, reduce, lengths, offsets, indices, start)
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce: indices are for axis 0")
    # Every row of the leading dimensions is divided in its own way.
    lead = tuple(data.shape[:axis])
    rows = data.flatten(0, axis - 1)
    cuts = given[0].flatten(0, axis - 1)
    parts = [
        _core.segment_reduce(
            rows[at],
            reduce,
            cuts[at] if lengths is not None else None,
            cuts[at] if offsets is not None else None,
            None,
            start,
        )
        for at in range(rows.shape[0])
    ]
    joined = _core._stack(parts, 0)
    return joined.reshape(*lead, *joined.shape[1:])


_segment_reduce = segment_reduce


def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """A copy of equal elements."""
    check_tensor("fill", input)
    return input.clone().fill_(value)


@method
def fill_(self: Tensor, value: Tensor | Number) -> Tensor:
    """Sets all elements to one value.

    Example:
        >>> pyburn.zeros(2).fill_(3)
        tensor([3., 3.])
    """
    source = _value("fill_", value, self)
    if source.ndim:
        raise RuntimeError(
            f"fill_: only supports 0-dimension value tensor but got one of shape "
            f"{list(source.shape)} for {list(self.shape)}"
        )
    return self.copy_(source)


@method
def zero_(self: Tensor) -> Tensor:
    """Sets all elements to zero."""
    return fill_(self, 0)


@method
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Sets the elements of the main diagonal to one value."""
    shape = tuple(self.shape)
    if len(shape) < 2:
        raise RuntimeError("fill_diagonal_: dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("fill_diagonal_: all dimensions of input must be of equal length")
    if not self.numel():
        return self
    step = sum(math.prod(shape[at + 1 :]) for at in range(len(shape)))
    if wrap and len(shape) == 2:
        places = range(0, self.numel(), step)
    else:
        places = range(0, step * min(shape), step)
    index = _core.tensor(list(places), dtype=int64, device=self.device)
    mask = _core._full((self.numel(),), False, bool_, self.device)
    mask = _core.index_fill(mask, 0, index, True).reshape(shape)
    return self.masked_fill_(mask, fill_value)
