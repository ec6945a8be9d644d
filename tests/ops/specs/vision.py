"""Convolutions, pools and shuffles that are names of the package itself.

What they compute is written out as loops here; `tests/nn` has the rest of their family.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ops.row import COMPLEX, FLOATS, HALVES, INTS, Call, Maker, Row, Samples, call


def each(value: Any, rank: int) -> tuple[int, ...]:
    """A number for each dimension, or one for all of them."""
    numbers = tuple(value) if isinstance(value, tuple | list) else (value,)
    return numbers * rank if len(numbers) == 1 else numbers


def conv(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> np.ndarray:
    """A convolution, window by window."""
    rank = weight.ndim - 2
    if x.ndim == rank + 1:
        return conv(x[None], weight, bias, stride, padding, dilation, groups)[0]
    stride, dilation, kernel = each(stride, rank), each(dilation, rank), weight.shape[2:]
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if padding == "same":
        pads = [(r // 2, r - r // 2) for r in reach]
    else:
        pads = [(p, p) for p in each(0 if padding == "valid" else padding, rank)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = zip(x.shape[2:], reach, stride, strict=True)
    counts = [(size - r - 1) // s + 1 for size, r, s in sizes]
    kind = np.result_type(x, weight)
    out = np.zeros((x.shape[0], weight.shape[0], *counts), kind)
    share, filters = weight.shape[1], weight.shape[0] // groups
    for place in itertools.product(*map(range, counts)):
        steps = zip(place, stride, reach, dilation, strict=True)
        window = x[(..., *(slice(p * s, p * s + r + 1, d) for p, s, r, d in steps))]
        for group in range(groups):
            own = slice(group * filters, (group + 1) * filters)
            part = window[:, group * share : (group + 1) * share]
            axes = list(range(1, rank + 2))
            out[(slice(None), own, *place)] = np.tensordot(part, weight[own], (axes, axes))
    return out if bias is None else out + bias.reshape(-1, *[1] * rank)


def conv_transpose(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> np.ndarray:
    """A transposed convolution: every element spreads the weights over the result."""
    rank = weight.ndim - 2
    if x.ndim == rank + 1:
        more = (stride, padding, output_padding, groups, dilation)
        return conv_transpose(x[None], weight, bias, *more)[0]
    stride, dilation, kernel = each(stride, rank), each(dilation, rank), weight.shape[2:]
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    more = each(output_padding, rank)
    sizes = zip(x.shape[2:], stride, reach, more, strict=True)
    full = [(size - 1) * s + r + 1 + m for size, s, r, m in sizes]
    share = weight.shape[1]
    out = np.zeros((x.shape[0], share * groups, *full), np.result_type(x, weight))
    own = x.shape[1] // groups
    for place in itertools.product(*map(range, x.shape[2:])):
        region = tuple(
            slice(p * s, p * s + r + 1, d)
            for p, s, r, d in zip(place, stride, reach, dilation, strict=True)
        )
        for group in range(groups):
            part = x[(slice(None), slice(group * own, (group + 1) * own), *place)]
            spread = np.tensordot(part, weight[group * own : (group + 1) * own], (1, 0))
            out[(slice(None), slice(group * share, (group + 1) * share), *region)] += spread
    pads = zip(each(padding, rank), full, strict=True)
    out = out[(..., *(slice(p, size - p) for p, size in pads))]
    return out if bias is None else out + bias.reshape(-1, *[1] * rank)


def windows(
    rank: int,
    size: tuple[int, ...],
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil: bool,
) -> list[list[range]]:
    """For each dimension the places of each window, those outside included."""
    kernel = each(kernel, rank)
    stride = kernel if stride is None else each(stride, rank)
    found = []
    for n, k, s, p, d in zip(
        size, kernel, stride, each(padding, rank), each(dilation, rank), strict=True
    ):
        left = n + 2 * p - d * (k - 1) - 1
        count = (-(-left // s) if ceil else left // s) + 1
        if ceil and (count - 1) * s >= n + p:
            count -= 1
        found.append([range(at * s - p, at * s - p + d * (k - 1) + 1, d) for at in range(count)])
    return found


def max_pool(
    x: np.ndarray,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    rank: int,
) -> Any:
    """The largest element of each window and its place in the plane."""
    places = windows(rank, x.shape[-rank:], kernel, stride, padding, dilation, ceil_mode)
    return largest(x, places, return_indices)


def largest(x: np.ndarray, places: list[list[range]], return_indices: bool) -> Any:
    rank = len(places)
    size, lead = x.shape[-rank:], x.shape[:-rank]
    counts = [len(dim) for dim in places]
    best = np.zeros((*lead, *counts), x.dtype)
    found = np.zeros((*lead, *counts), np.int64)
    for plane in np.ndindex(*lead):
        for window in np.ndindex(*counts):
            inside = [[at for at in places[d][window[d]] if 0 <= at < size[d]] for d in range(rank)]
            top = None
            for at in itertools.product(*inside):
                value = x[(*plane, *at)]
                if top is None or value > top or value != value:
                    top, found[(*plane, *window)] = value, np.ravel_multi_index(at, size)
            best[(*plane, *window)] = top
    return (best, found) if return_indices else best


def parts(size: int, count: int) -> list[range]:
    return [range(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]


def avg_pool1d(
    x: np.ndarray,
    kernel: int,
    stride: int | None = None,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> np.ndarray:
    [places] = windows(1, x.shape[-1:], kernel, stride, padding, 1, ceil_mode)
    size = x.shape[-1]
    columns = []
    for window in places:
        inside = [at for at in window if 0 <= at < size]
        end = size + padding if count_include_pad else size
        count = sum(at < end for at in window) if count_include_pad else len(inside)
        columns.append(x[..., inside].sum(-1) / count)
    return np.stack(columns, -1)


def adaptive_avg_pool1d(x: np.ndarray, output_size: int) -> np.ndarray:
    return np.stack([x[..., list(part)].mean(-1) for part in parts(x.shape[-1], output_size)], -1)


def pixel_shuffle(x: np.ndarray, r: int) -> np.ndarray:
    *lead, channels, height, width = x.shape
    out = np.zeros((*lead, channels // (r * r), height * r, width * r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return out


def pixel_unshuffle(x: np.ndarray, r: int) -> np.ndarray:
    *lead, channels, height, width = x.shape
    out = np.zeros((*lead, channels * r * r, height // r, width // r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i * r + j :: r * r, :, :] = x[..., i::r, j::r]
    return out


def channel_shuffle(x: np.ndarray, groups: int) -> np.ndarray:
    share = x.shape[1] // groups
    return x[:, [group * share + at for at in range(share) for group in range(groups)]]


def _convs(rank: int) -> Samples:
    def samples(make: Maker) -> Iterator[Call]:
        ones = [1] * (rank - 1)
        yield call(make(2, 2, *ones, 5), make(3, 2, *ones, 2))
        yield call(make(2, *ones, 4), make(1, 2, *ones, 3), make(1))
        more = {"stride": 2, "padding": 1, "groups": 2}
        yield call(make(1, 2, *ones, 6), make(2, 1, *ones, 3), make(2), **more)
        yield call(make(1, 1, *[3] * rank), make(1, 1, *[2] * rank), dilation=2)
        yield call(make(1, 2, *[3] * rank), make(2, 2, *[2] * rank), None, 1, "same")
        yield call(make(1, 1, *ones, 5), make(1, 1, *ones, 2), padding="valid", stride=[2])
        yield call(make(0, 2, *ones, 4), make(3, 2, *ones, 2))

    return samples


def _transposed(rank: int) -> Samples:
    def samples(make: Maker) -> Iterator[Call]:
        ones = [1] * (rank - 1)
        yield call(make(2, 2, *ones, 3), make(2, 2, *ones, 2))
        yield call(make(2, *ones, 3), make(2, 1, *ones, 3), make(1))
        more = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}
        yield call(make(1, 2, *[2] * rank), make(2, 1, *[3] * rank), make(2), **more)
        yield call(make(1, 1, *ones, 3), make(1, 2, *ones, 2), dilation=2)
        yield call(make(0, 2, *ones, 3), make(2, 2, *ones, 2))

    return samples


def _pools(rank: int) -> Samples:
    def samples(make: Maker) -> Iterator[Call]:
        ones = [2] * (rank - 1)
        yield call(make(2, 2, *ones, 6), 2)
        yield call(make(1, *ones, 7), (*[1] * (rank - 1), 3), 2)
        yield call(make(1, 2, *[3] * rank), 2, 1, 1)
        last = [1] * (rank - 1)
        yield call(make(1, 1, *ones, 7), (*last, 2), (*last, 3), ceil_mode=True)
        yield call(make(1, 1, *ones, 7), (*last, 2), 1, 0, (*last, 3))
        yield call(make(0, 2, *ones, 4), 2)

    return samples


def _averages(make: Maker) -> Iterator[Call]:
    yield call(make(2, 2, 6), 2)
    yield call(make(2, 7), 3, 2)
    yield call(make(1, 2, 5), 3, 2, 1)
    yield call(make(1, 2, 6), 3, 2, 1, True, False)
    yield call(make(0, 2, 4), 2)


def _adaptive(make: Maker) -> Iterator[Call]:
    yield call(make(2, 2, 6), 3)
    yield call(make(2, 7), 3)
    yield call(make(1, 2, 3), 5)
    yield call(make(0, 2, 4), 2)


def _sequences(make: Maker) -> Iterator[Call]:
    yield call(make(5, 2, 3), make(2, 3, 4), make(4))
    yield call(make(3, 1, 2), make(3, 2, 2), make(2), 1)


def _tbc(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, pad: int = 0) -> np.ndarray:
    out = conv(x.transpose(1, 2, 0), weight.transpose(2, 1, 0), bias, padding=pad)
    return out.transpose(2, 0, 1)


def _shuffled(*shapes: tuple[int, ...]) -> Samples:
    def samples(make: Maker) -> Iterator[Call]:
        for shape in shapes:
            yield call(make(*shape), 2)

    return samples


def _row(name: str, oracle: Any, samples: Samples, dtypes: tuple[str, ...], **more: Any) -> Row:
    defaults: dict[str, Any] = {"result": "first", "grad": 2, "out": False, "method": False}
    return Row(name, oracle, samples, dtypes, **{**defaults, "expand": False, **more})


def _pool_row(rank: int) -> Row:
    def oracle(*args: Any, **kwargs: Any) -> Any:
        return max_pool(*args, **kwargs, rank=rank)

    return _row(f"max_pool{rank}d", oracle, _pools(rank), (*FLOATS, *HALVES, *INTS))


NUMBERS = (*FLOATS, *COMPLEX, *HALVES, *INTS)
MOVED = (*FLOATS, *COMPLEX, *INTS, "bool")
ROWS = [
    *(_row(f"conv{n}d", conv, _convs(n), NUMBERS, room=4) for n in (1, 2, 3)),
    *(
        _row(f"conv_transpose{n}d", conv_transpose, _transposed(n), NUMBERS, room=4)
        for n in (1, 2, 3)
    ),
    _row("conv_tbc", _tbc, _sequences, FLOATS, room=4),
    *(_pool_row(n) for n in (1, 2, 3)),
    _row(
        "max_pool1d_with_indices",
        lambda *args, **kwargs: max_pool(*args, **kwargs, return_indices=True, rank=1),
        _pools(1),
        FLOATS,
        result=("first", "int64"),
    ),
    _row("avg_pool1d", avg_pool1d, _averages, (*FLOATS, *HALVES)),
    _row("adaptive_avg_pool1d", adaptive_avg_pool1d, _adaptive, (*FLOATS, *HALVES)),
    _row(
        "adaptive_max_pool1d",
        lambda x, count: largest(x, [parts(x.shape[-1], count)], True),
        _adaptive,
        FLOATS,
        result=("first", "int64"),
    ),
    _row(
        "pixel_shuffle", pixel_shuffle, _shuffled((1, 8, 2, 3), (4, 3, 1), (2, 3, 4, 1, 2)), MOVED
    ),
    _row(
        "pixel_unshuffle", pixel_unshuffle, _shuffled((1, 2, 4, 6), (1, 2, 2), (0, 1, 2, 4)), MOVED
    ),
    _row(
        "channel_shuffle",
        channel_shuffle,
        _shuffled((2, 4, 3), (1, 6, 2, 2)),
        MOVED,
        aliases=("native_channel_shuffle",),
    ),
]
