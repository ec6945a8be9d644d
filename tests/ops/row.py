"""What a row says about an op, and the makers of sample calls."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from helpers import arrays_in, map_arrays, numpy_dtype

FLOATS = ("float32", "float64")
HALVES = ("float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INTS = ("uint8", "int8", "int16", "int32", "int64")
BOOL = ("bool",)
REAL = FLOATS + INTS
NUMBERS = REAL + COMPLEX
ALL = NUMBERS + BOOL

CATEGORY = {"bool": 0, **dict.fromkeys(INTS, 1), **dict.fromkeys(FLOATS + HALVES, 2)} | (
    dict.fromkeys(COMPLEX, 3)
)
SHAPES = ((), (5,), (2, 3), (2, 3, 2), (2, 1, 3, 2), (1, 2, 2, 1, 3), (0,), (2, 0, 3))
PAIRS = (
    ((), ()),
    ((4,), ()),
    ((2, 3), (3,)),
    ((2, 3), (2, 3)),
    ((2, 1, 4), (3, 1)),
    ((1, 2, 1, 3), (2, 2, 2, 1)),
    ((1, 2, 1, 1, 2), (2, 1, 3, 1, 1)),
    ((0, 3), (1, 3)),
)


@dataclass(frozen=True)
class Call:
    """Arguments of one call; arrays become tensors of their dtype."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    extreme: bool = False
    """Infinities, NaNs, zeros, largest numbers: values without a gradient."""

    @property
    def arrays(self) -> list[np.ndarray]:
        return arrays_in([self.args, self.kwargs])

    def __repr__(self) -> str:
        def short(array: np.ndarray) -> str:
            return f"{array.dtype}{list(array.shape)}"

        args, kwargs = map_arrays([list(self.args), self.kwargs], short)
        return ", ".join([*map(str, args), *(f"{key}={value}" for key, value in kwargs.items())])


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


class Maker:
    """Arrays of one dtype, the same in every run."""

    def __init__(self, name: str, dtype: str) -> None:
        self.dtype = dtype
        self.numpy = numpy_dtype(dtype)
        self.random = np.random.default_rng(zlib.crc32(f"{name}/{dtype}".encode()))

    @property
    def is_float(self) -> bool:
        return CATEGORY[self.dtype] == 2

    def __call__(
        self, *shape: int, low: float = -3, high: float = 3, dtype: str | None = None
    ) -> np.ndarray:
        """Values between bounds; floats are all different and lie away from integers."""
        kind = numpy_dtype(dtype) if dtype else self.numpy
        count = int(np.prod(shape))
        if kind.kind == "c":
            parts = [self(*shape, low=low, high=high, dtype="float64") for _ in range(2)]
            return np.asarray(parts[0] + 1j * parts[1]).astype(kind)
        if kind.kind == "b":
            return np.asarray(self.random.random(shape) < 0.5)
        if kind.kind in "iu":
            if kind.kind == "u":
                low, high = max(low, 0), max(high, 1)
            low, high = int(np.ceil(low)), int(np.floor(high))
            values = self.random.integers(min(low, high), high + 1, shape)
            return np.asarray(values).astype(kind)
        cells = (np.arange(count) + self.random.uniform(0.3, 0.7, count)) / max(count, 1)
        values = low + (high - low) * self.random.permutation(cells)
        return values.reshape(shape).astype(kind)

    def index(self, *shape: int, below: int, dtype: str = "int64") -> np.ndarray:
        return np.asarray(self.random.integers(0, below, shape)).astype(dtype)

    def extremes(self, finite: bool = False) -> np.ndarray:
        """Values at the edges of the dtype."""
        kind = self.numpy
        if kind.kind == "b":
            return np.array([False, True])
        if kind.kind in "iu":
            info = np.iinfo(kind)
            return np.array([info.min, info.min + 1, 0, 1, 2, info.max - 1, info.max], kind)
        real = np.dtype(kind.char.lower()) if kind.kind == "c" else kind
        info = np.finfo(real)
        edge = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, info.tiny, -info.tiny, info.eps]
        edge += [info.max, info.min, info.max / 4, 1e-20, 1e15, -1e15]
        if self.dtype in HALVES:
            edge = [value for value in edge if abs(value) <= 1e4]
        if not finite:
            edge += [np.inf, -np.inf, np.nan]
        return np.array(edge, kind)


Samples = Callable[[Maker], Iterable[Call]]
Rule = Any
"""The dtype of a result: a name, a rule's name (see `Row.result`), a function, or a tuple."""


@dataclass(frozen=True)
class Row:
    """One public op."""

    name: str
    """The name after ``pyburn.``, or ``Tensor.x`` for what is only a method."""
    oracle: Callable[..., Any]
    """The op on arrays."""
    samples: Samples
    dtypes: tuple[str, ...]
    result: Rule = "promoted"
    """``promoted``: what the tensors and numbers promote to; ``float``: that, but at least a
    float; ``real``: that without an imaginary part; ``first``: the first tensor's; ``sum``: that,
    but integers give int64; or a dtype's name."""
    grad: int = 0
    """How often it can be differentiated: 0, 1, or 2 for smooth functions."""
    inplace: bool = False
    out: bool = True
    method: bool = True
    aliases: tuple[str, ...] = ()
    wide: bool = True
    """The oracle gets float64, which is rounded to the result's dtype."""
    room: float = 1.0
    """How many times the usual difference is allowed."""
    layouts: bool = True
    """Whether samples stay valid when layouts change; ``expanded`` repeats values."""
    expand: bool = True
    meta: bool = True
    """Whether shapes and dtypes can be told without data."""
    device: bool = True
    grad_dtypes: tuple[str, ...] = ("float64",)
    grad_samples: int = 4
    function: bool = True
    """False for a method that has no free function."""
    strict: bool = False
    """Whether the in-place form takes only tensors of the result's dtype."""
    broadcasts: bool = False
    """Whether all tensors must broadcast together."""
    exact: bool = True
    """Whether every form gives the same bits; else within the usual difference."""

    def calls(self, dtype: str) -> Iterator[Call]:
        yield from self.samples(Maker(self.name, dtype))

    @property
    def public(self) -> str:
        return self.name.removeprefix("Tensor.")

    def __repr__(self) -> str:
        return self.name


def promoted(values: Iterable[Any]) -> str:
    """PyTorch's rule: tensors with dimensions, then 0-d tensors, then numbers."""
    levels: list[str | None] = [None, None, None]
    for value in values:
        if isinstance(value, np.ndarray):
            level, name = int(value.ndim == 0), str(value.dtype)
        elif isinstance(value, bool):
            level, name = 2, "bool"
        elif isinstance(value, int | float | complex):
            names = {int: "int64", float: "float32", complex: "complex64"}
            level, name = 2, names[type(value)]
        else:
            continue
        before = levels[level]
        levels[level] = name if before is None else both(before, name)
    result: str | None = None
    for name in levels:
        if result is None:
            result = name
        elif name is not None and CATEGORY[name] > CATEGORY[result]:
            lift = CATEGORY[name] == 3 and CATEGORY[result] == 2
            result = both(result, "complex64") if lift else name
    assert result is not None
    return result


def both(a: str, b: str) -> str:
    """What two dtypes of the same standing promote to."""
    if CATEGORY[a] == CATEGORY[b] and CATEGORY[a] != 2:
        return str(np.promote_types(a, b))
    if {CATEGORY[a], CATEGORY[b]} == {2, 3}:
        return str(np.promote_types(a, b))
    if CATEGORY[a] == CATEGORY[b]:
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        order = ("bfloat16", "float16", "float32", "float64")
        return max(a, b, key=order.index)
    return max(a, b, key=CATEGORY.__getitem__)


def result_dtypes(row: Row, call: Call, dtype: str, count: int) -> list[str]:
    """The dtype that each tensor of a result must have."""
    rules = row.result[:count] if isinstance(row.result, tuple) else (row.result,) * count
    return [by_rule(rule, call, dtype) for rule in rules]


def by_rule(rule: Any, call: Call, dtype: str) -> str:
    if callable(rule):
        return rule(call, dtype)
    if rule not in ("promoted", "float", "real", "first", "sum"):
        return rule
    if dtype in HALVES:
        base = dtype
    elif rule == "first":
        base = str(call.arrays[0].dtype)
    else:
        flat = [item for arg in call.args for item in (arg if isinstance(arg, list) else [arg])]
        base = promoted([*(flat if rule != "sum" else call.arrays[:1])])
    if rule == "float" and CATEGORY[base] < 2:
        return "float32"
    if rule == "sum" and CATEGORY[base] < 2:
        return "int64"
    if rule == "real":
        return {"complex64": "float32", "complex128": "float64"}.get(base, base)
    return base


def expected(row: Row, call: Call, dtype: str) -> list[Any]:
    """What the oracle says, in the dtypes that the row promises."""
    found = row.oracle(*_widened(row, list(call.args)), **_widened(row, call.kwargs))
    parts = list(found) if isinstance(found, tuple | list) else [found]
    names = result_dtypes(row, call, dtype, len(parts))
    with np.errstate(all="ignore"):
        return [
            part if names[at] == "value" else np.asarray(part).astype(numpy_dtype(names[at]))
            for at, part in enumerate(parts)
        ]


def _widened(row: Row, value: Any) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        if row.result == "float" and array.dtype.kind in "iub":
            array = array.astype(np.float32)
        if not row.wide:
            return array
        if array.dtype.kind == "f":
            return array.astype(np.float64)
        return array.astype(np.complex128) if array.dtype.kind == "c" else array

    return map_arrays(value, change)


# Makers of samples that many rows share.


def unary(low: float = -3, high: float = 3, extremes: bool = True, **kwargs: Any) -> Samples:
    """Every rank, empty tensors, and the edges of the dtype."""

    def samples(make: Maker) -> Iterator[Call]:
        for shape in SHAPES:
            yield Call((make(*shape, low=low, high=high),), kwargs)
        # NumPy's own complex functions differ at infinities.
        if extremes and make.numpy.kind != "c":
            yield Call((make.extremes(),), kwargs, extreme=True)

    return samples


def on_shapes(
    *calls: Any, shapes: Iterable[tuple[int, ...]] = SHAPES, low: float = -3, high: float = 3
) -> Samples:
    """A call for each given set of further arguments on each shape.

    An item is a tuple of positional arguments, or a dict of keyword arguments; those that do not
    fit a shape are written as a pair ``(item, ranks)``.
    """

    def samples(make: Maker) -> Iterator[Call]:
        for shape in shapes:
            for item in calls:
                if isinstance(item, dict):
                    yield Call((make(*shape, low=low, high=high),), item)
                else:
                    yield Call((make(*shape, low=low, high=high), *item))

    return samples


def binary(
    low: float = -3,
    high: float = 3,
    *,
    second: tuple[float, float] | None = None,
    extremes: bool = True,
    scalars: tuple[Any, ...] = (2, 1.5),
    number_first: bool = True,
    finite: bool = False,
    **kwargs: Any,
) -> Samples:
    """Broadcast pairs, a tensor with a number either way, and all pairs of edges."""
    lower, upper = second or (low, high)

    def samples(make: Maker) -> Iterator[Call]:
        for a, b in PAIRS:
            one = make(*a, low=low, high=high)
            yield Call((one, make(*b, low=lower, high=upper)), kwargs)
        for number in scalars:
            if isinstance(number, float) and CATEGORY[make.dtype] < 2:
                continue
            yield Call((make(2, 3, low=low, high=high), number), kwargs)
            if number_first:
                yield Call((number, make(2, 3, low=lower, high=upper)), kwargs)
        if extremes and make.numpy.kind != "c":
            edge = make.extremes(finite=finite)
            yield Call((edge[:, None].copy(), edge.copy()), kwargs, extreme=True)

    return samples
