"""Functions that make tensors of given values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyburn as pb
from helpers import dtype_of, numpy_dtype
from scipy import signal

from ops.row import ALL, COMPLEX, FLOATS, INTS, NUMBERS, REAL, Call, Maker, Row, call

TYPES = ("float32", "float64", "int32", "int64", "bool", "complex64")


def _row(name: str, oracle: Callable[..., Any], samples: Any, **more: Any) -> Row:
    settings: dict[str, Any] = {
        "dtypes": TYPES,
        "result": _own,
        "method": False,
        "layouts": False,
        "meta": False,
        "wide": False,
    }
    return Row(name, oracle, samples, **(settings | more))


def _own(call: Call, dtype: str) -> str:
    return dtype


def _typed(*items: tuple[Any, ...]) -> Callable[[Maker], Iterator[Call]]:
    """A call for each item, in the dtype of the sample."""

    def samples(make: Maker) -> Iterator[Call]:
        for item in items:
            yield Call(item, {"dtype": dtype_of(make.dtype)})

    return samples


def _value(number: Any) -> Callable[..., Any]:
    def call(*size: Any, dtype: Any = None) -> Any:
        size = size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size
        return np.full(size, number)

    return call


SIZES = _typed((2, 3), ((2, 3),), (5,), ((),), (0,), ((2, 0, 1),), (1, 2, 1, 2, 1))


def _fulls(make: Maker) -> Iterator[Call]:
    for size in ((2, 3), (), (0,), (2, 1, 2)):
        yield call(size, 2, dtype=dtype_of(make.dtype))
    yield call((2,), True, dtype=dtype_of(make.dtype))


def _like(number: Any) -> Callable[..., Any]:
    def call(x: np.ndarray, fill: Any = None, dtype: Any = None) -> Any:
        return np.full(x.shape, number if fill is None else fill)

    return call


def _likes(*rest: Any) -> Callable[[Maker], Iterator[Call]]:
    def samples(make: Maker) -> Iterator[Call]:
        for shape in ((), (3,), (2, 3), (0, 2)):
            yield call(make(*shape), *rest)
        yield call(make(2, 3), *rest, dtype=pb.float64)

    return samples


def _like_dtype(call: Call, dtype: str) -> str:
    return "float64" if "dtype" in call.kwargs else dtype


def _new(number: Any) -> Callable[..., Any]:
    def call(x: np.ndarray, *size: Any) -> Any:
        size = size[0] if isinstance(size[0], tuple) else size
        return np.full(size, number)

    return call


def _news(make: Maker) -> Iterator[Call]:
    yield call(make(2), 2, 3)
    yield call(make(2), (3,))
    yield call(make(), ())


def _new_fulls(make: Maker) -> Iterator[Call]:
    yield call(make(2), (2, 3), 1)
    yield call(make(), (), 0)


def _new_tensors(make: Maker) -> Iterator[Call]:
    yield call(make(2), [[0, 1], [1, 1]])
    yield call(make(2), 1)


def _aranges(make: Maker) -> Iterator[Call]:
    kind = dtype_of(make.dtype)
    for item in ((5,), (2, 7), (1, 9, 3), (0,), (3, 3)):
        yield Call(item, {"dtype": kind})
    if make.dtype != "uint8":
        yield Call((5, -4, -2), {"dtype": kind})
    if make.is_float:
        yield Call((0.5, 3.1, 0.7), {"dtype": kind})


def _arange(*args: Any, dtype: Any = None) -> Any:
    return np.arange(*args)


def _range(start: Any, end: Any, step: Any = 1, dtype: Any = None) -> Any:
    return start + step * np.arange(np.floor((end - start) / step) + 1)


def _ranges(make: Maker) -> Iterator[Call]:
    for item in ((1, 4), (0, 9, 3)):
        yield Call(item, {"dtype": dtype_of(make.dtype)})


def _spaces(make: Maker) -> Iterator[Call]:
    kind = dtype_of(make.dtype)
    for item in ((0, 1, 5), (3, -2, 6), (2, 2, 3), (1, 9, 1), (0, 1, 0)):
        yield Call(item, {"dtype": kind})


def _linspace(start: Any, end: Any, steps: int, dtype: Any = None) -> Any:
    return np.linspace(start, end, steps)


def _logspaces(make: Maker) -> Iterator[Call]:
    kind = dtype_of(make.dtype)
    yield Call((0, 2, 5), {"dtype": kind})
    yield Call((-1, 3, 4, 2.0), {"dtype": kind})


def _logspace(start: Any, end: Any, steps: int, base: float = 10.0, dtype: Any = None) -> Any:
    return np.logspace(start, end, steps, base=base)


def _windows(make: Maker) -> Iterator[Call]:
    kind = dtype_of(make.dtype)
    for length in (1, 2, 5, 8):
        yield call(length, dtype=kind)
        yield call(length, periodic=False, dtype=kind)


def _window(name: str) -> Callable[..., Any]:
    def call(length: int, periodic: bool = True, dtype: Any = None) -> Any:
        return signal.get_window(name, length, fftbins=periodic)

    return call


def _kaiser(length: int, periodic: bool = True, dtype: Any = None) -> Any:
    return signal.get_window(("kaiser", 12.0), length, fftbins=periodic)


def _eye(n: int, m: int | None = None, dtype: Any = None) -> Any:
    return np.eye(n, m)


def _triangle(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(row: int, col: int, offset: int = 0, dtype: Any = None) -> Any:
        return np.stack(function(row, offset, col))

    return call


def _data(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(0, 2))


def _nests(make: Maker) -> Iterator[Call]:
    kind = dtype_of(make.dtype)
    for nest in (1, [1, 0], [[0, 1], [1, 1]], [], [[]], (True, False)):
        yield Call((nest,), {"dtype": kind})


def _nested(data: Any, dtype: Any = None) -> Any:
    return np.array(data)


def _scalars(make: Maker) -> Iterator[Call]:
    yield call(1, dtype=dtype_of(make.dtype))
    yield call(0, dtype=dtype_of(make.dtype))


def _bytes(make: Maker) -> Iterator[Call]:
    data = make(6).tobytes()
    yield call(bytearray(data), dtype=dtype_of(make.dtype))
    yield call(bytearray(data), dtype=dtype_of(make.dtype), count=2)
    yield call(bytearray(data), dtype=dtype_of(make.dtype), offset=make.numpy.itemsize)


def _frombuffer(buffer: Any, dtype: Any, **more: Any) -> Any:
    return np.frombuffer(buffer, numpy_dtype(repr(dtype).rpartition(".")[2]), **more)


def _fill_diagonals(x: np.ndarray, value: Any, wrap: bool = False) -> np.ndarray:
    x = x.copy()
    np.fill_diagonal(x, value, wrap)
    return x


def _diagonals(make: Maker) -> Iterator[Call]:
    yield call(make(3, 3), 1)
    yield call(make(2, 4), 0)
    yield call(make(7, 2), 1)
    yield call(make(7, 2), 1, wrap=True)


def _cast(name: str, dtype: str) -> Row:
    def samples(make: Maker) -> Iterator[Call]:
        low = 0 if dtype in ("uint8", "char") else -9
        for shape in ((), (4,), (2, 3), (0, 2)):
            yield call(make(*shape, low=low, high=9))

    def oracle(x: np.ndarray) -> np.ndarray:
        return x.real if numpy_dtype(dtype).kind in "iu" and x.dtype.kind == "c" else x

    return Row(
        f"Tensor.{name}",
        oracle,
        samples,
        (*REAL, "bool"),
        dtype,
        out=False,
        wide=False,
        function=False,
        grad=2 if dtype == "float64" else 0,
    )


def _same(x: np.ndarray, *rest: Any) -> np.ndarray:
    return x


def _tos(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), pb.float64)
    yield call(make(2, 3), "cpu", pb.float64)
    yield call(make(2, 3), pb.zeros(1, dtype=pb.float64))


def _overwrites(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), make(2, 3))
    yield call(make(2, 3), make(3))
    yield call(make(2, 3), make())


ROWS = [
    _row("zeros", _value(0), SIZES),
    _row("ones", _value(1), SIZES),
    _row("full", lambda size, value, dtype: np.full(size, value), _fulls),
    _row("zeros_like", _like(0), _likes(), result=_like_dtype, out=False, meta=True, layouts=True),
    _row("ones_like", _like(1), _likes(), result=_like_dtype, out=False, meta=True, layouts=True),
    _row("full_like", _like(0), _likes(1), result=_like_dtype, out=False, meta=True, layouts=True),
    _row("Tensor.new_zeros", _new(0), _news, out=False, function=False),
    _row("Tensor.new_ones", _new(1), _news, out=False, function=False),
    _row(
        "Tensor.new_full",
        lambda x, size, value: np.full(size, value),
        _new_fulls,
        out=False,
        function=False,
    ),
    _row(
        "Tensor.new_tensor", lambda x, data: np.array(data), _new_tensors, out=False, function=False
    ),
    _row("arange", _arange, _aranges, dtypes=REAL),
    _row("range", _range, _ranges, dtypes=(*FLOATS, "int64")),
    _row("linspace", _linspace, _spaces, dtypes=(*FLOATS, *COMPLEX), room=2),
    _row("logspace", _logspace, _logspaces, dtypes=FLOATS, room=8),
    _row("bartlett_window", _window("bartlett"), _windows, dtypes=FLOATS, out=False),
    _row("blackman_window", _window("blackman"), _windows, dtypes=FLOATS, out=False),
    _row("hamming_window", _window("hamming"), _windows, dtypes=FLOATS, out=False),
    _row("hann_window", _window("hann"), _windows, dtypes=FLOATS, out=False),
    _row("kaiser_window", _kaiser, _windows, dtypes=FLOATS, out=False, room=4),
    _row("eye", _eye, _typed((3,), (2, 4), (0,), (3, 0))),
    _row(
        "tril_indices",
        _triangle(np.tril_indices),
        _typed((3, 3), (2, 4, 1), (4, 2, -1)),
        dtypes=("int32", "int64"),
        out=False,
    ),
    _row(
        "triu_indices",
        _triangle(np.triu_indices),
        _typed((3, 3), (2, 4, 1), (4, 2, -1)),
        dtypes=("int32", "int64"),
        out=False,
    ),
    _row("tensor", _nested, _nests, out=False),
    _row("as_tensor", _nested, _nests, out=False),
    _row("asarray", _nested, _nests, out=False),
    _row("scalar_tensor", lambda s, dtype: np.array(s), _scalars, out=False),
    _row("frombuffer", _frombuffer, _bytes, dtypes=(*FLOATS, *INTS), out=False),
    _row(
        "Tensor.fill_diagonal_",
        _fill_diagonals,
        _diagonals,
        result="first",
        out=False,
        layouts=True,
        expand=False,
        function=False,
    ),
    _row(
        "Tensor.fill_",
        lambda x, v: np.full_like(x, v),
        lambda make: [call(make(2, 3), 1)],
        result="first",
        out=False,
        layouts=True,
        expand=False,
        aliases=("fill_",),
        function=False,
    ),
    _row(
        "zero_",
        np.zeros_like,
        lambda make: [call(make(2, 3)), call(make(0))],
        result="first",
        out=False,
        layouts=True,
        expand=False,
        method=True,
    ),
    _row(
        "Tensor.copy_",
        lambda x, y: np.broadcast_to(y, x.shape),
        _overwrites,
        result="first",
        out=False,
        expand=False,
        function=False,
    ),
    _cast("float", "float32"),
    _cast("double", "float64"),
    _cast("half", "float16"),
    _cast("bfloat16", "bfloat16"),
    _cast("int", "int32"),
    _cast("long", "int64"),
    _cast("short", "int16"),
    _cast("char", "int8"),
    _cast("byte", "uint8"),
    _cast("bool", "bool"),
    _cast("cfloat", "complex64"),
    _cast("cdouble", "complex128"),
    Row(
        "Tensor.type_as",
        _same,
        lambda make: [call(make(2, 3), make(1, dtype="float64"))],
        REAL,
        "float64",
        out=False,
        function=False,
    ),
    Row(
        "Tensor.to",
        _same,
        _tos,
        NUMBERS[:5],
        "float64",
        out=False,
        function=False,
        grad=2,
        device=False,
        meta=False,
    ),
    Row(
        "Tensor.to_device",
        _same,
        lambda make: [call(make(2, 3), "cpu")],
        ALL,
        "first",
        out=False,
        function=False,
        grad=2,
        device=False,
        meta=False,
    ),
    Row(
        "Tensor.cpu",
        _same,
        lambda make: [call(make(2, 3))],
        ALL,
        "first",
        out=False,
        function=False,
        grad=2,
        meta=False,
    ),
]
