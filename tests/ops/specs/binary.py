"""Functions of the elements of several tensors broadcast together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import special

from ops.row import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    HALVES,
    INTS,
    NUMBERS,
    PAIRS,
    REAL,
    Call,
    Maker,
    Row,
    binary,
    by_rule,
    call,
    promoted,
)

BOTH = ("float64", "complex128")


def _arithmetic(name: str, oracle: Callable[..., Any], dtypes: tuple[str, ...], **more: Any) -> Row:
    settings = {
        "samples": binary(),
        "result": "promoted",
        "grad": 2,
        "inplace": True,
        "broadcasts": True,
        "grad_dtypes": BOTH if set(COMPLEX) <= set(dtypes) else ("float64",),
    }
    return Row(name, oracle, dtypes=dtypes, **(settings | more))


def _bare(**more: Any) -> dict[str, Any]:
    """For a function that takes two tensors, no numbers."""
    return {"samples": binary(scalars=()), "inplace": False, "grad": 1} | more


def _comparison(name: str, oracle: Callable[..., Any], alias: str, complex: bool = False) -> Row:
    return Row(
        name,
        oracle,
        binary(number_first=False),
        ALL if complex else (*REAL, *BOOL),
        "bool",
        inplace=True,
        aliases=(alias,) if alias else (),
        wide=False,
        broadcasts=True,
    )


def _logical(name: str, oracle: Callable[..., Any]) -> Row:
    return Row(name, oracle, binary(scalars=()), ALL, "bool", inplace=True, broadcasts=True)


def _bits(name: str, oracle: Callable[..., Any], dtypes: tuple[str, ...], **more: Any) -> Row:
    settings = {"samples": binary(scalars=(2,)), "inplace": True, "broadcasts": True}
    return Row(name, oracle, dtypes=dtypes, **(settings | more))


def _scaled(make: Maker) -> Iterator[Call]:
    yield from binary()(make)
    yield call(make(2, 3), make(3), alpha=2 if make.dtype != "bool" else True)
    if make.dtype != "bool":
        yield call(make(2, 3), 3, alpha=2)
    if make.is_float:
        yield call(make(2, 3), make(3), alpha=-0.5)
        yield call(make(2, 3), make.index(3, below=5))
    if make.dtype in INTS:
        yield call(make(2, 3), make(3, dtype="float32"))
        yield call(make(2, 3), 1.5)


def _mixed(make: Maker) -> Iterator[Call]:
    yield from binary()(make)
    if make.is_float:
        yield call(make(2, 3), make.index(3, below=5))
    if make.dtype in INTS:
        yield call(make(2, 3), make(3, dtype="float32"))
        yield call(make(2, 3), make(dtype="float64"))
        yield call(make(2, 3), 1.5)
    if make.dtype in FLOATS:
        yield call(make(2, 3), 1 + 2j)


def _add(a: Any, b: Any, alpha: Any = 1) -> Any:
    return a + alpha * b if alpha != 1 else np.add(a, b)


def _sub(a: Any, b: Any, alpha: Any = 1) -> Any:
    return a - alpha * b if alpha != 1 else np.subtract(a, b)


def _tensor_first(make: Maker) -> Iterator[Call]:
    for item in _scaled(make):
        if isinstance(item.args[0], np.ndarray):
            yield item


def _divisors(make: Maker) -> Iterator[Call]:
    """No divisor is zero."""
    floats = make.is_float or make.numpy.kind == "c"
    lower, upper = (0.3, 3) if floats else (1, 4)
    yield from binary(second=(lower, upper), low=-9, high=9, extremes=floats)(make)
    if make.is_float:
        yield call(make(2, 3, low=-9, high=9), make(3, low=-3, high=-0.3))
    elif make.dtype in INTS[1:]:
        yield call(make(2, 3, low=-9, high=9), make(3, low=-4, high=-1))


def _roundings(make: Maker) -> Iterator[Call]:
    if make.dtype != "bool":
        for mode in ("trunc", "floor"):
            for item in _divisors(make):
                # A quotient of edges or of halves is rounded before it is cut.
                if not item.extreme and make.dtype not in HALVES:
                    yield Call(item.args, {"rounding_mode": mode})


def _divisions(make: Maker) -> Iterator[Call]:
    yield from _divisors(make)
    if make.numpy.kind != "c":
        yield from _roundings(make)


def _div(a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    with np.errstate(all="ignore"):
        if rounding_mode == "floor":
            return np.floor_divide(a, b)
        if rounding_mode == "trunc" and np.result_type(a, b).kind in "iu":
            return (np.abs(np.int64(a)) // np.abs(np.int64(b))) * np.sign(np.int64(a)) * np.sign(b)
        quotient = np.true_divide(_float32(a), _float32(b))
        return np.trunc(quotient) if rounding_mode else quotient


def _float32(x: Any) -> Any:
    """An integer as the float it is divided as."""
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.kind in "iub" else x


def _div_dtype(call: Call, dtype: str) -> str:
    return by_rule("promoted" if call.kwargs.get("rounding_mode") else "float", call, dtype)


def logaddexp(a: Any, b: Any) -> Any:
    """NumPy's own takes no complex numbers, whose imaginary part is left as the sum gives it."""
    if np.result_type(a, b).kind != "c":
        return np.logaddexp(a, b)
    a, b = np.broadcast_arrays(a, b)
    large, small = np.where(a.real >= b.real, [a, b], [b, a])
    return large + np.log(1 + np.exp(small - large))


def _shifts(make: Maker) -> Iterator[Call]:
    for a, b in PAIRS:
        yield call(make(*a, low=0, high=9), make(*b, low=0, high=3))
    yield call(make(2, 3, low=0, high=9), 2)
    yield call(make(4, low=-9, high=9), make(4, low=0, high=3))


def _powers(make: Maker) -> Iterator[Call]:
    if make.dtype in INTS:
        for a, b in PAIRS:
            yield call(make(*a), make(*b, low=0, high=3))
        yield call(make(2, 3), 2)
        yield call(2, make(2, 3, low=0, high=5))
        yield call(make(2, 3), 0.5 if make.dtype == "uint8" else 2.0)
        return
    for a, b in PAIRS:
        yield call(make(*a, low=0.3, high=2.5), make(*b, low=-2, high=2))
    for exponent in (0, 1, 2, 3, -1, 0.5, 2.5):
        yield call(make(2, 3, low=0.3, high=2.5), exponent)
    yield call(2.5, make(2, 3, low=-2, high=2))
    if make.is_float:
        yield call(make(2, 3, low=-3, high=-1), 3)
        edge = np.array([0, -0.0, 1, -1, 2, -2, 0.5, np.inf, -np.inf, np.nan], make.numpy)
        yield Call((edge[:, None].copy(), edge.copy()), extreme=True)
        for exponent in (0, 2, 3, -1, -2):
            yield Call((edge, exponent), extreme=True)


def _pow(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.power(a, b)


def _float_power(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.float_power(a, b)


def _double(call: Call, dtype: str) -> str:
    return "complex128" if dtype in COMPLEX else "float64"


def _positive_pairs(make: Maker) -> Iterator[Call]:
    yield from binary(0.4, 3, extremes=False, scalars=())(make)


def _bounds(make: Maker) -> Iterator[Call]:
    low, high = (-0.77, 1.23) if make.is_float else (-1, 2)
    if make.dtype == "uint8":
        low, high = 1, 2
    yield call(make(2, 3, 2), low, high)
    yield call(make(), min=low)
    yield call(make(0, 2), max=high)
    yield call(make(1, 2, 2, 1, 3), low)
    yield call(make(2, 3), make(3), make(2, 1))
    yield call(make(2, 3), max=make(2, 3))
    yield call(make(2, 3), 2 if not make.is_float else 1.23, 1)
    if make.dtype in INTS[1:]:
        yield call(make(2, 3), 0.5)
    yield Call((make.extremes(), low, high), extreme=True)


def _clamp(x: np.ndarray, min: Any = None, max: Any = None) -> np.ndarray:
    x = x if min is None else np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def _ends(make: Maker) -> Iterator[Call]:
    for shape in ((), (5,), (2, 3, 2), (0,)):
        yield call(make(*shape), 0.37 if make.is_float else 1)
    yield call(make(2, 3), make(3))


def _clamp_dtype(call: Call, dtype: str) -> str:
    return promoted([*call.args, *call.kwargs.values()])


def _weights(make: Maker) -> Iterator[Call]:
    for shape in ((), (4,), (2, 3, 2), (0, 2)):
        yield call(make(*shape), make(*shape), 0.3)
    yield call(make(2, 3), make(3), make(2, 1))
    yield call(make(2, 3), make(2, 3), make(low=0.1, high=0.9))


def _ternary(make: Maker) -> Iterator[Call]:
    for shape in ((), (4,), (2, 3, 2), (0, 2)):
        yield call(make(*shape), make(*shape), make(*shape, low=0.5))
    yield call(make(2, 3), make(3), make(2, 1, low=0.5))
    yield call(make(2, 3), make(3), make(3, low=0.5), value=2)
    if make.is_float:
        yield call(make(2, 3), make(3), make(3, low=0.5), value=-0.5)


def _addcmul(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + value * a * b


def _addcdiv(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + value * a / b


def _masks(make: Maker) -> Iterator[Call]:
    for shape in ((), (4,), (2, 3, 2), (0, 2)):
        yield call(make(*shape, dtype="bool"), make(*shape), make(*shape))
    yield call(make(2, 3, dtype="bool"), make(3), make(2, 1))
    yield call(make(2, 3, dtype="bool"), make(2, 3), 1)
    yield call(make(2, 3, dtype="bool"), 0, make(3))
    yield call(make(2, 1, 3, dtype="bool"), make(4, 1), make(1))


def _where_dtype(call: Call, dtype: str) -> str:
    return promoted(call.args[1:])


def _fills(make: Maker) -> Iterator[Call]:
    for shape in ((), (4,), (2, 3, 2), (0, 2)):
        yield call(make(*shape), make(*shape, dtype="bool"), 1)
    yield call(make(2, 3), make(3, dtype="bool"), 2 if make.dtype != "bool" else True)
    yield call(make(2, 3), make(2, 3, dtype="bool"), make())


def _close(make: Maker) -> Iterator[Call]:
    x = make(2, 3)
    near = x.copy()
    if make.is_float:
        near[0, 0] += 1e-3
        near[1, 1] *= 1 + 1e-7
    else:
        near[0, 0] = ~near[0, 0] if make.dtype == "bool" else near[0, 0] + 1
    yield call(x, near)
    yield call(x, x[0].copy())
    yield call(make(0, 2), make(0, 2))
    if make.is_float:
        yield call(x, near, rtol=0.5, atol=0.0)
        yield call(x, near, rtol=0.0, atol=1.0)
        edge = np.array([np.nan, np.inf, -np.inf, 1.0], make.numpy)
        yield Call((edge, edge[::-1].copy()), extreme=True)
        yield Call((edge, edge), {"equal_nan": True}, extreme=True)


def _close_pairs(make: Maker) -> Iterator[Call]:
    yield from (item for item in _close(make) if item.args[0].shape == item.args[1].shape)


def _equal_pairs(make: Maker) -> Iterator[Call]:
    x = make(2, 3)
    yield call(x, x)
    yield call(x, x[0].copy())
    yield call(x, make(2, 3))
    yield call(make(0), make(0))


def _heaviside(x: Any, y: Any) -> Any:
    return np.where(x == 0, y, np.where(x > 0, 1, 0))


def _copysigns(make: Maker) -> Iterator[Call]:
    yield from binary(scalars=(2,), number_first=False)(make)


def _prelu(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    if weight.size > 1:
        weight = weight.reshape(-1, *[1] * (x.ndim - 2))
    return np.where(x > 0, x, weight.reshape(weight.shape if weight.size > 1 else ()) * x)


def _channels(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3), make(3))
    yield call(make(2, 3, 2), make(3))
    yield call(make(5), make(1))
    yield call(make(2, 3, 2), make(1))
    yield call(make(0, 3), make(3))


def _polar_pairs(make: Maker) -> Iterator[Call]:
    for shape in ((), (4,), (2, 3, 2), (0, 2)):
        yield call(make(*shape, low=0.2), make(*shape))


def _to_complex(call: Call, dtype: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}[dtype]


def _ldexps(make: Maker) -> Iterator[Call]:
    for shape in ((), (4,), (2, 3, 2), (0, 2)):
        yield call(make(*shape), make.index(*shape, below=6, dtype="int32"))
    yield call(make(2, 3), make.index(3, below=6) - 3)


def _ldexp(x: Any, e: Any) -> Any:
    return x * 2.0 ** np.asarray(e, np.float64)


def _remainder(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.remainder(a, b)


def _fmod(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.fmod(a, b)


def _finite_divisors(make: Maker) -> Iterator[Call]:
    yield from (item for item in _divisors(make) if not item.extreme)
    if make.is_float:
        edge = np.array([0.0, -0.0, 5.5, -5.5, np.inf, -np.inf, np.nan], make.numpy)
        yield Call((edge[:, None].copy(), np.array([2, -2, 0, np.nan], make.numpy)), extreme=True)


def _dividends(make: Maker) -> Iterator[Call]:
    for item in _finite_divisors(make):
        if isinstance(item.args[0], np.ndarray):
            yield item


def _gamma_pairs(make: Maker) -> Iterator[Call]:
    yield from binary(0.4, 4, extremes=False, scalars=())(make)


ROWS = [
    _arithmetic("add", _add, (*ALL, *HALVES), samples=_scaled),
    _arithmetic("sub", _sub, (*NUMBERS, *HALVES), samples=_scaled, aliases=("subtract",)),
    Row(
        "rsub",
        lambda a, b, alpha=1: _sub(b, a, alpha),
        _tensor_first,
        NUMBERS,
        grad=2,
        out=False,
        method=False,
        broadcasts=True,
    ),
    _arithmetic("mul", np.multiply, (*ALL, *HALVES), samples=_mixed, aliases=("multiply",)),
    _arithmetic(
        "div", _div, (*NUMBERS, *HALVES), samples=_divisions, result=_div_dtype, aliases=("divide",)
    ),
    _arithmetic("true_divide", _div, NUMBERS, samples=_divisors, result="float"),
    _arithmetic("floor_divide", np.floor_divide, REAL, samples=_finite_divisors, grad=0),
    _arithmetic("remainder", _remainder, REAL, samples=_finite_divisors, grad=1),
    _arithmetic("fmod", _fmod, REAL, samples=_dividends, grad=1),
    _arithmetic("pow", _pow, NUMBERS, samples=_powers, room=4, exact=False),
    _arithmetic(
        "float_power",
        _float_power,
        NUMBERS,
        samples=_powers,
        result=_double,
        room=4,
        exact=False,
        strict=True,
    ),
    _arithmetic("maximum", np.maximum, (*REAL, *BOOL), **_bare()),
    _arithmetic("minimum", np.minimum, (*REAL, *BOOL), **_bare()),
    _arithmetic("fmax", np.fmax, (*REAL, *BOOL), **_bare()),
    _arithmetic("fmin", np.fmin, (*REAL, *BOOL), **_bare()),
    _arithmetic(
        "atan2", np.arctan2, REAL, result="float", samples=binary(scalars=()), aliases=("arctan2",)
    ),
    _arithmetic("hypot", np.hypot, FLOATS, samples=binary(scalars=())),
    _arithmetic("copysign", np.copysign, REAL, samples=_copysigns, result="float", grad=1),
    _arithmetic("nextafter", np.nextafter, FLOATS, samples=binary(scalars=()), wide=False, grad=0),
    _arithmetic(
        "logaddexp",
        logaddexp,
        (*FLOATS, *COMPLEX),
        samples=binary(scalars=()),
        inplace=False,
        room=4,
    ),
    _arithmetic("logaddexp2", np.logaddexp2, FLOATS, samples=binary(scalars=()), inplace=False),
    _arithmetic(
        "xlogy",
        special.xlogy,
        REAL,
        samples=binary(0.3, 3),
        result="float",
        aliases=("special.xlogy",),
    ),
    _arithmetic("heaviside", _heaviside, (*REAL, *BOOL), samples=binary(scalars=()), grad=0),
    _arithmetic("ldexp", _ldexp, FLOATS, samples=_ldexps, grad=1),
    _arithmetic(
        "igamma",
        special.gammainc,
        FLOATS,
        samples=_gamma_pairs,
        grad=0,
        room=20,
        aliases=("special.gammainc",),
    ),
    _arithmetic(
        "igammac",
        special.gammaincc,
        FLOATS,
        samples=_gamma_pairs,
        grad=0,
        room=20,
        aliases=("special.gammaincc",),
    ),
    _comparison("eq", np.equal, "", complex=True),
    _comparison("ne", np.not_equal, "not_equal", complex=True),
    _comparison("lt", np.less, "less"),
    _comparison("le", np.less_equal, "less_equal"),
    _comparison("gt", np.greater, "greater"),
    _comparison("ge", np.greater_equal, "greater_equal"),
    _logical("logical_and", np.logical_and),
    _logical("logical_or", np.logical_or),
    _logical("logical_xor", np.logical_xor),
    _bits("bitwise_and", np.bitwise_and, (*INTS, *BOOL)),
    _bits("bitwise_or", np.bitwise_or, (*INTS, *BOOL)),
    _bits("bitwise_xor", np.bitwise_xor, (*INTS, *BOOL)),
    _bits("bitwise_left_shift", np.left_shift, INTS, samples=_shifts),
    _bits("bitwise_right_shift", np.right_shift, INTS, samples=_shifts),
    _bits("gcd", np.gcd, INTS, samples=binary(-12, 12, extremes=False, scalars=())),
    _bits("lcm", np.lcm, INTS, samples=binary(-9, 9, extremes=False, scalars=())),
    Row("clamp", _clamp, _bounds, REAL, _clamp_dtype, grad=1, inplace=True, aliases=("clip",)),
    Row("clamp_min", np.maximum, _ends, REAL, grad=1, inplace=True, broadcasts=True),
    Row("clamp_max", np.minimum, _ends, REAL, grad=1, inplace=True, broadcasts=True),
    Row(
        "lerp",
        lambda a, b, w: a + w * (b - a),
        _weights,
        FLOATS,
        grad=2,
        inplace=True,
        broadcasts=True,
    ),
    Row("addcmul", _addcmul, _ternary, NUMBERS, grad=2, inplace=True, broadcasts=True, room=2),
    Row(
        "addcdiv",
        _addcdiv,
        _ternary,
        (*FLOATS, *COMPLEX),
        grad=2,
        inplace=True,
        broadcasts=True,
        room=4,
    ),
    Row("where", np.where, _masks, ALL, _where_dtype, grad=2, method=False, broadcasts=True),
    Row(
        "masked_fill",
        lambda x, m, v: np.where(m, v, x),
        _fills,
        ALL,
        "first",
        grad=2,
        inplace=True,
        out=False,
    ),
    Row("isclose", np.isclose, _close, (*REAL, *BOOL), "bool", out=False, broadcasts=True),
    Row(
        "allclose",
        lambda *a, **k: bool(np.allclose(*a, **k)),
        _close_pairs,
        (*REAL, *BOOL),
        "value",
        out=False,
        broadcasts=True,
        meta=False,
        device=False,
    ),
    Row(
        "equal",
        lambda a, b: bool(np.array_equal(a, b)),
        _equal_pairs,
        ALL,
        "value",
        out=False,
        meta=False,
        device=False,
    ),
    Row("prelu", _prelu, _channels, FLOATS, grad=1, out=False),
    Row(
        "complex",
        lambda a, b: a + 1j * b,
        _polar_pairs,
        FLOATS,
        _to_complex,
        grad=2,
        method=False,
        broadcasts=True,
    ),
    Row(
        "polar",
        lambda r, t: r * np.exp(1j * t),
        _polar_pairs,
        FLOATS,
        _to_complex,
        grad=2,
        method=False,
        broadcasts=True,
    ),
    Row(
        "is_nonzero",
        lambda x: bool(x.ravel()[0]),
        lambda make: [call(make(1)), call(make())],
        ALL,
        "value",
        out=False,
        meta=False,
        device=False,
    ),
    Row(
        "Tensor.sum_to_size",
        lambda x, *size: _sum_to(x, size),
        lambda make: [call(make(2, 3), 1, 3), call(make(2, 3), 3), call(make(4, 2, 3), 2, 1)],
        FLOATS,
        "first",
        grad=2,
        out=False,
        function=False,
    ),
]


def _sum_to(x: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    while x.ndim > len(size):
        x = x.sum(0)
    for dim, length in enumerate(size):
        if length == 1:
            x = x.sum(dim, keepdims=True)
    return x
