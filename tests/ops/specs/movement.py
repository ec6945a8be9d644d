"""Functions that move elements, join tensors and take them apart, without computing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations as choose
from itertools import combinations_with_replacement as choose_again
from typing import Any

import numpy as np

from ops.row import ALL, FLOATS, Call, Maker, Row, call

DTYPES = ("float32", "float64", "float16", "bfloat16", "uint8", "int64", "bool", "complex64")
BOTH = ("float64", "complex128")


def on(*items: tuple[Any, ...]) -> Callable[[Maker], Iterator[Call]]:
    """A call for each item: a shape, then the further arguments; a dict at the end is named."""

    def samples(make: Maker) -> Iterator[Call]:
        for shape, *rest in items:
            kwargs = rest.pop() if rest and isinstance(rest[-1], dict) else {}
            yield Call((make(*shape), *rest), kwargs)

    return samples


def listed(*items: tuple[Any, ...]) -> Callable[[Maker], Iterator[Call]]:
    """Like :func:`on`, for functions of a list of tensors."""

    def samples(make: Maker) -> Iterator[Call]:
        for shapes, *rest in items:
            kwargs = rest.pop() if rest and isinstance(rest[-1], dict) else {}
            yield Call(([make(*shape) for shape in shapes], *rest), kwargs)

    return samples


def several(*items: Sequence[tuple[int, ...]], **kwargs: Any) -> Callable[[Maker], Iterator[Call]]:
    """Calls with several tensors."""

    def samples(make: Maker) -> Iterator[Call]:
        for shapes in items:
            yield Call(tuple(make(*shape) for shape in shapes), kwargs)

    return samples


def _row(name: str, oracle: Callable[..., Any], samples: Any, **more: Any) -> Row:
    settings: dict[str, Any] = {
        "dtypes": DTYPES,
        "result": "first",
        "grad": 2,
        "out": False,
        "wide": False,
    }
    return Row(name, oracle, samples, **(settings | more))


def _swapped(x: np.ndarray, a: int, b: int) -> np.ndarray:
    return np.swapaxes(x, a, b) if x.ndim else x


def _t(x: np.ndarray) -> np.ndarray:
    return x.T


def _flatten(x: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> np.ndarray:
    if not x.ndim:
        return x.reshape(1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    middle = int(np.prod(x.shape[start : end + 1]))
    return x.reshape(*x.shape[:start], middle, *x.shape[end + 1 :])


def _unflatten(x: np.ndarray, dim: int, sizes: Sequence[int]) -> np.ndarray:
    dim %= x.ndim
    sizes = [size if size >= 0 else x.shape[dim] // -int(np.prod(list(sizes))) for size in sizes]
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def _squeeze(x: np.ndarray, dim: Any = None) -> np.ndarray:
    if dim is None:
        return np.squeeze(x)
    dims = [d % max(x.ndim, 1) for d in (dim if isinstance(dim, tuple | list) else (dim,))]
    return x.reshape([n for d, n in enumerate(x.shape) if d not in dims or n != 1])


def _narrow(x: np.ndarray, dim: int, start: int, length: int) -> np.ndarray:
    start = start % x.shape[dim] if start < 0 else start
    return np.take(x, range(start, start + length), axis=dim)


def _select(x: np.ndarray, dim: int, index: int) -> np.ndarray:
    return np.take(x, index, axis=dim)


def _diagonal(x: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
    return np.diagonal(x, offset, dim1, dim2)


def _diag_embed(x: np.ndarray, offset: int = 0, dim1: int = -2, dim2: int = -1) -> np.ndarray:
    size = x.shape[-1] + abs(offset)
    result = np.zeros((*x.shape[:-1], size, size), x.dtype)
    at = np.arange(x.shape[-1])
    result[..., at + max(-offset, 0), at + max(offset, 0)] = x
    return np.moveaxis(result, (-2, -1), (dim1, dim2))


def _diag(x: np.ndarray, diagonal: int = 0) -> np.ndarray:
    return np.diag(x, diagonal)


def _unfold(x: np.ndarray, dim: int, size: int, step: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)
    return np.take(windows, range(0, windows.shape[dim], step), axis=dim)


def _chunk(x: np.ndarray, chunks: int, dim: int = 0) -> list[np.ndarray]:
    if not x.shape[dim]:
        return [x] * chunks
    return _split(x, -(-x.shape[dim] // chunks), dim)


def _split(x: np.ndarray, size: Any, dim: int = 0) -> list[np.ndarray]:
    length = x.shape[dim]
    edges = range(size, max(length, 1), size) if isinstance(size, int) else np.cumsum(size)[:-1]
    return np.split(x, list(edges), axis=dim)


def _tensor_split(x: np.ndarray, sections: Any, dim: int = 0) -> list[np.ndarray]:
    return np.array_split(x, sections, axis=dim)


def _unbind(x: np.ndarray, dim: int = 0) -> list[np.ndarray]:
    return [np.take(x, at, axis=dim) for at in range(x.shape[dim])]


def _roll(x: np.ndarray, shifts: Any, dims: Any = None) -> np.ndarray:
    return np.roll(x, shifts, dims)


def _repeat(x: np.ndarray, *repeats: int) -> np.ndarray:
    return np.tile(x, repeats)


def _tile(x: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    return np.tile(x, dims)


def _repeat_interleave(x: np.ndarray, repeats: Any, dim: int | None = None) -> np.ndarray:
    return np.repeat(x, repeats, axis=dim)


def _repeats(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), 2)
    yield call(make(2, 3), 3, 1)
    yield call(make(2, 3), np.array([1, 0, 2]), 1)
    yield call(make(3), np.array([2, 0, 1]))
    yield call(make(2, 2), 2, dim=0)


def _combinations(x: np.ndarray, r: int = 2, with_replacement: bool = False) -> np.ndarray:
    chosen = list((choose_again if with_replacement else choose)(range(len(x)), r))
    return x[np.array(chosen, np.int64).reshape(-1, r)]


def _cartesian(*xs: np.ndarray) -> np.ndarray:
    if len(xs) == 1:
        return xs[0]
    return np.stack([grid.ravel() for grid in np.meshgrid(*xs, indexing="ij")], -1)


def _meshgrid(*xs: np.ndarray, indexing: str = "ij") -> list[np.ndarray]:
    return list(np.meshgrid(*xs, indexing=indexing))


def _meshgrids(make: Maker) -> Iterator[Call]:
    for indexing in ("ij", "xy"):
        yield call(make(2), make(3), indexing=indexing)
        yield call(make(2), make(3), make(1), indexing=indexing)


def _block_diag(*xs: np.ndarray) -> np.ndarray:
    xs = tuple(np.atleast_2d(x) for x in xs)
    result = np.zeros(np.sum([x.shape for x in xs], 0), xs[0].dtype)
    row = column = 0
    for x in xs:
        result[row : row + x.shape[0], column : column + x.shape[1]] = x
        row, column = row + x.shape[0], column + x.shape[1]
    return result


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*xs: np.ndarray) -> Any:
        found = [function(x) for x in xs]
        return found if len(xs) > 1 else found[0]

    return call


def _strided(x: np.ndarray, size: Any, stride: Any, storage_offset: int = 0) -> np.ndarray:
    flat = np.ascontiguousarray(x).reshape(-1)[storage_offset:]
    strides = [step * x.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(flat, size, strides).copy()


def _strided_scatter(
    x: np.ndarray, src: np.ndarray, size: Any, stride: Any, storage_offset: int = 0
) -> np.ndarray:
    places = _strided(np.arange(x.size).reshape(x.shape), size, stride, storage_offset)
    flat = x.reshape(-1).copy()
    flat[places.ravel()] = src.ravel()
    return flat.reshape(x.shape)


def _strided_scatters(make: Maker) -> Iterator[Call]:
    yield call(make(3, 4), make(2, 2), (2, 2), (4, 1), 1)
    yield call(make(6), make(3), (3,), (2,))


def _slices_written(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), make(2, 3), 0, 1, 3)
    yield call(make(4, 5), make(4, 2), 1, 0, 4, 2)
    yield call(make(3, 2), make(3, 2))


def _slice_scatter(
    x: np.ndarray, src: np.ndarray, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> np.ndarray:
    result = np.moveaxis(x.copy(), dim, 0)
    result[start:end:step] = np.moveaxis(src, dim, 0)
    return np.moveaxis(result, 0, dim)


def _selects_written(make: Maker) -> Iterator[Call]:
    yield call(make(4, 3), make(3), 0, 1)
    yield call(make(2, 3, 2), make(2, 2), 1, -1)


def _select_scatter(x: np.ndarray, src: np.ndarray, dim: int, index: int) -> np.ndarray:
    result = x.copy()
    np.moveaxis(result, dim, 0)[index] = src
    return result


def _diagonals_written(make: Maker) -> Iterator[Call]:
    yield call(make(3, 3), make(3))
    yield call(make(3, 4), make(3), 1)
    yield call(make(2, 3, 3), make(2, 3), 0, 1, 2)


def _diagonal_scatter(
    x: np.ndarray, src: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> np.ndarray:
    result = x.copy()
    moved = np.moveaxis(result, (dim1, dim2), (-2, -1))
    at = np.arange(src.shape[-1])
    moved[..., at + max(-offset, 0), at + max(offset, 0)] = src
    return result


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -2, -1).conj()


def _vander(x: np.ndarray, N: int | None = None, increasing: bool = False) -> np.ndarray:
    return np.vander(x, N, increasing)


PERMUTED = on(
    ((2, 3), (1, 0)),
    ((2, 3, 4), (2, 0, 1)),
    ((), ()),
    ((0, 2), (1, 0)),
    ((1, 2, 2, 1, 3), (4, 3, -3, 0, 1)),
)
SWAPPED = on(((2, 3), 0, 1), ((2, 3, 4), -1, 0), ((), 0, -1), ((0, 2), 0, 1))
SQUEEZED = on(((1, 3, 1),), ((2, 1, 3), 1), ((2, 1, 3), -3), ((1, 2, 1), (0, 2)), ((),), ((0, 1),))
UNSQUEEZED = on(((2, 3), 0), ((2, 3), -1), ((), 0), ((0, 2), 1))
EXPANDED = on(((1, 3), (2, 3)), ((3,), (2, 1, 3)), ((), (2, 2)), ((1,), (0,)))
DIAGONALS = on(((3, 3),), ((3, 4), 1), ((4, 3), -1), ((2, 3, 4), 0, 1, 2), ((0, 3),), ((2, 3), 5))
WINDOWS = on(((5,), 0, 2, 1), ((2, 6), 1, 3, 2), ((4, 3), 0, 4, 1))
CHUNKS = on(((5,), 2), ((6, 2), 3), ((2, 5), 2, 1), ((2, 3), 7, -1), ((0, 2), 2))
SPLITS = on(((5,), 2), ((6, 2), 3), ((2, 5), [1, 4], 1), ((2, 3), 1, -1), ((0, 2), 2))
SIZED = on(((5,), [2, 3]), ((2, 5), [1, 0, 4], 1))
SELECTS = on(((4,), 0, 1), ((2, 3), 1, -1), ((2, 3, 2), 0, 1))
NARROWS = on(((4,), 0, 1, 2), ((2, 3), 1, 0, 3), ((2, 3, 2), -2, -2, 1), ((3, 0), 0, 1, 2))
UNBOUND = on(((3,),), ((2, 3), 1), ((2, 1, 3), -1))
STRIDED = on(((3, 4), (2, 2), (4, 1)), ((6,), (3,), (2,), 1), ((4,), (2, 2), (1, 1)))

ROWS = [
    _row("clone", np.copy, on(((2, 3),), ((),), ((0,),))),
    _row("alias_copy", np.copy, on(((2, 3),), ((),), ((0,),)), method=False),
    _row("detach", np.copy, on(((2, 3),), ((),), ((0,),)), grad=0),
    _row("detach_copy", np.copy, on(((2, 3),), ((),), ((0,),)), grad=0, method=False),
    _row("Tensor.contiguous", np.copy, on(((2, 3),), ((),), ((0,),)), function=False),
    _row("permute", np.transpose, PERMUTED, dtypes=ALL),
    _row("permute_copy", np.transpose, PERMUTED, method=False),
    _row("transpose", _swapped, SWAPPED, dtypes=ALL),
    _row("transpose_copy", _swapped, SWAPPED, method=False),
    _row("swapaxes", _swapped, SWAPPED),
    _row("swapdims", _swapped, SWAPPED),
    _row("t", _t, on(((2, 3),), ((3,),), ((),))),
    _row("t_copy", _t, on(((2, 3),), ((3,),), ((),)), method=False),
    _row("adjoint", _adjoint, on(((2, 3),), ((2, 3, 2),)), grad_dtypes=BOTH),
    _row(
        "movedim",
        np.moveaxis,
        on(((2, 3, 4), 0, 2), ((2, 3, 4), (0, 1), (-1, 0)), ((3,), 0, 0)),
        aliases=("moveaxis",),
    ),
    _row(
        "reshape",
        np.reshape,
        on(
            ((2, 3), (3, 2)),
            ((2, 3), (-1,)),
            ((2, 3, 2), (2, 6)),
            ((), ()),
            ((), (1, 1)),
            ((0, 3), (3, 0, 2)),
        ),
        dtypes=ALL,
    ),
    _row(
        "Tensor.view",
        lambda x, *s: x.reshape(s),
        on(((2, 3), 3, 2), ((2, 3), -1), ((), 1, 1)),
        function=False,
        layouts=False,
    ),
    _row(
        "view_copy",
        lambda x, *s: x.reshape(s),
        on(((2, 3), 3, 2), ((2, 3), -1)),
        method=False,
        layouts=False,
    ),
    _row(
        "Tensor.view_as",
        lambda a, b: a.reshape(b.shape),
        several([(2, 3), (3, 2)]),
        function=False,
        layouts=False,
    ),
    _row(
        "Tensor.reshape_as",
        lambda a, b: a.reshape(b.shape),
        several([(2, 3), (3, 2)]),
        function=False,
    ),
    _row("Tensor.transpose_", _swapped, SWAPPED, function=False, grad=0),
    _row("Tensor.swapaxes_", _swapped, SWAPPED, function=False, grad=0),
    _row("Tensor.swapdims_", _swapped, SWAPPED, function=False, grad=0),
    _row("Tensor.t_", _t, on(((2, 3),), ((3,),)), function=False, grad=0),
    _row("Tensor.squeeze_", _squeeze, SQUEEZED, function=False, grad=0),
    _row("Tensor.unsqueeze_", np.expand_dims, UNSQUEEZED, function=False, grad=0),
    _row("Tensor.as_strided_", _strided, STRIDED, function=False, grad=0, layouts=False),
    _row("Tensor.detach_", np.copy, on(((2, 3),), ((),)), function=False, grad=0),
    _row("flatten", _flatten, on(((2, 3),), ((2, 3, 2), 1), ((2, 3, 2), 0, 1), ((),), ((2, 0),))),
    _row("ravel", np.ravel, on(((2, 3),), ((),), ((0, 2),), ((2, 3, 2),))),
    _row(
        "unflatten", _unflatten, on(((6,), 0, (2, 3)), ((2, 6), 1, (3, -1)), ((2, 4), -1, (2, 2)))
    ),
    _row("squeeze", _squeeze, SQUEEZED),
    _row("squeeze_copy", _squeeze, SQUEEZED, method=False),
    _row("unsqueeze", np.expand_dims, UNSQUEEZED),
    _row("unsqueeze_copy", np.expand_dims, UNSQUEEZED, method=False),
    _row("broadcast_to", np.broadcast_to, EXPANDED),
    _row(
        "Tensor.expand",
        lambda x, *s: np.broadcast_to(
            x,
            [
                n if n >= 0 else m
                for n, m in zip(s, (0,) * (len(s) - x.ndim) + x.shape, strict=True)
            ],
        ),
        on(((1, 3), 2, 3), ((1, 3), 2, -1), ((3,), 2, 1, 3), ((), 4)),
        function=False,
    ),
    _row(
        "expand_copy",
        lambda x, *s: np.broadcast_to(x, s),
        on(((1, 3), 2, 3), ((3,), 2, 1, 3)),
        method=False,
    ),
    _row(
        "Tensor.expand_as",
        lambda a, b: np.broadcast_to(a, b.shape),
        several([(1, 3), (2, 3)]),
        function=False,
    ),
    _row(
        "broadcast_tensors",
        lambda *x: list(np.broadcast_arrays(*x)),
        several([(2, 1), (3,)], [(2,), (2,)], [(), (3,), (2, 1)]),
        method=False,
    ),
    _row("flip", np.flip, on(((5,), (0,)), ((2, 3), (0, 1)), ((2, 3, 2), (-1,)), ((0, 2), (0,)))),
    _row("fliplr", np.fliplr, on(((2, 3),), ((2, 3, 2),))),
    _row("flipud", np.flipud, on(((2, 3),), ((4,),))),
    _row(
        "roll",
        _roll,
        on(((5,), 2), ((2, 3), 1), ((2, 3), 1, 1), ((2, 3), (1, -1), (0, 1)), ((0, 2), 1, 1)),
    ),
    _row("rot90", np.rot90, on(((2, 3),), ((2, 3), 2), ((2, 3, 2), -1, (1, 2)), ((2, 3), 4))),
    _row(
        "Tensor.repeat",
        _repeat,
        on(((2, 3), 2, 1), ((3,), 2, 2), ((), 3), ((2, 3), 0, 1)),
        function=False,
    ),
    _row("tile", _tile, on(((2, 3), (2,)), ((3,), (2, 2)), ((), (3,)), ((2, 3), (1, 2)))),
    _row("repeat_interleave", _repeat_interleave, _repeats, expand=False, meta=False),
    _row("diagonal", _diagonal, DIAGONALS),
    _row("diagonal_copy", _diagonal, DIAGONALS, method=False),
    _row("diag", _diag, on(((3,),), ((3,), 1), ((3, 4),), ((3, 4), -1)), out=True),
    _row("diagflat", lambda x, offset=0: np.diagflat(x, offset), on(((3,),), ((2, 2), 1), ((),))),
    _row("diag_embed", _diag_embed, on(((3,),), ((2, 3), 1), ((2, 3), -1, 0, 2))),
    _row(
        "tril",
        lambda x, diagonal=0: np.tril(x, diagonal),
        on(((3, 3),), ((3, 4), 1), ((2, 4, 3), -1), ((0, 3),)),
        out=True,
        inplace=True,
    ),
    _row(
        "triu",
        lambda x, diagonal=0: np.triu(x, diagonal),
        on(((3, 3),), ((3, 4), 1), ((2, 4, 3), -1), ((0, 3),)),
        out=True,
        inplace=True,
    ),
    _row("Tensor.unfold", _unfold, WINDOWS, function=False),
    _row("unfold_copy", _unfold, WINDOWS, method=False),
    _row("as_strided", _strided, STRIDED, layouts=False),
    _row("as_strided_copy", _strided, STRIDED, layouts=False, method=False),
    _row("as_strided_scatter", _strided_scatter, _strided_scatters, layouts=False),
    _row("slice_scatter", _slice_scatter, _slices_written),
    _row("select_scatter", _select_scatter, _selects_written),
    _row("diagonal_scatter", _diagonal_scatter, _diagonals_written),
    _row("narrow", _narrow, NARROWS),
    _row("narrow_copy", _narrow, NARROWS),
    _row("select", _select, SELECTS),
    _row("select_copy", _select, SELECTS, method=False),
    _row("unbind", _unbind, UNBOUND),
    _row("unbind_copy", _unbind, UNBOUND, method=False),
    _row("chunk", _chunk, CHUNKS, aliases=("unsafe_chunk",)),
    _row("split", _split, SPLITS, aliases=("unsafe_split",)),
    _row("split_copy", _split, SPLITS, method=False),
    _row("split_with_sizes", _split, SIZED, aliases=("unsafe_split_with_sizes",)),
    _row("split_with_sizes_copy", _split, SIZED, method=False),
    _row("tensor_split", _tensor_split, on(((5,), 2), ((6, 2), [1, 4]), ((2, 5), 3, 1))),
    _row("hsplit", np.hsplit, on(((2, 4), 2), ((5,), [2, 3]))),
    _row("vsplit", np.vsplit, on(((4, 2), 2), ((5, 1), [2, 3]))),
    _row("dsplit", np.dsplit, on(((1, 2, 4), 2), ((1, 1, 5), [2, 3]))),
    _row(
        "cat",
        lambda x, dim=0: np.concatenate(x, dim),
        listed(
            ([(2, 3), (1, 3)],),
            ([(2, 3), (2, 2), (2, 1)], 1),
            ([(0, 3), (2, 3)],),
            ([(2,), (3,)], {"dim": -1}),
        ),
        out=True,
        method=False,
        dtypes=ALL,
        aliases=("concat", "concatenate"),
    ),
    _row(
        "stack",
        lambda x, dim=0: np.stack(x, dim),
        listed(([(2, 3), (2, 3)],), ([(2,), (2,), (2,)], 1), ([(), ()],), ([(0,), (0,)], -1)),
        out=True,
        method=False,
    ),
    _row(
        "hstack",
        np.hstack,
        listed(([(2,), (3,)],), ([(2, 3), (2, 1)],), ([(), ()],)),
        out=True,
        method=False,
    ),
    _row(
        "vstack",
        np.vstack,
        listed(([(3,), (3,)],), ([(2, 3), (1, 3)],), ([(), ()],)),
        out=True,
        method=False,
        aliases=("row_stack",),
    ),
    _row("dstack", np.dstack, listed(([(3,), (3,)],), ([(2, 3), (2, 3)],)), out=True, method=False),
    _row(
        "column_stack",
        np.column_stack,
        listed(([(3,), (3,)],), ([(2, 3), (2, 1)],)),
        out=True,
        method=False,
    ),
    _row(
        "block_diag",
        _block_diag,
        several([(2, 3), (1, 2)], [(3,), (2, 2)], [(), (2, 1)]),
        method=False,
    ),
    _row(
        "cartesian_prod",
        _cartesian,
        several([(2,), (3,)], [(2,), (1,), (2,)], [(3,)]),
        method=False,
    ),
    _row("combinations", _combinations, on(((4,),), ((4,), 3), ((3,), 2, True), ((2,), 3))),
    _row("meshgrid", _meshgrid, _meshgrids, method=False),
    _row("atleast_1d", _each(np.atleast_1d), several([()], [(2,)], [(), (2, 3)]), method=False),
    _row("atleast_2d", _each(np.atleast_2d), several([()], [(2,)], [(), (2, 3)]), method=False),
    _row("atleast_3d", _each(np.atleast_3d), several([()], [(2,)], [(), (2, 3)]), method=False),
    _row(
        "vander",
        _vander,
        on(((4,),), ((3,), 2), ((3,), {"increasing": True})),
        method=False,
        dtypes=(*FLOATS, "int64"),
        result=lambda call, dtype: dtype,
        wide=True,
        room=8,
    ),
]
