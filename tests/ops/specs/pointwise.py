"""Functions of one element of one tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from helpers import real_of
from scipy import special

from ops.row import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    HALVES,
    INTS,
    NUMBERS,
    REAL,
    Call,
    Maker,
    Row,
    call,
    unary,
)

WITH_HALVES = (*REAL, *BOOL, *HALVES)


def _float(
    name: str,
    oracle: Callable[..., Any],
    low: float = -3,
    high: float = 3,
    *,
    complex: bool = True,
    grad: int = 2,
    room: float = 1.0,
    inplace: bool = True,
    aliases: tuple[str, ...] = (),
    dtypes: tuple[str, ...] = WITH_HALVES,
    extremes: bool = True,
    **more: Any,
) -> Row:
    """A row whose result is a float even for integers."""
    return Row(
        name,
        oracle,
        unary(low, high, extremes=extremes),
        (*dtypes, *COMPLEX) if complex else dtypes,
        "float",
        grad=grad,
        inplace=inplace,
        room=room,
        aliases=aliases,
        grad_dtypes=("float64", "complex128") if complex else ("float64",),
        **more,
    )


def _same(
    name: str,
    oracle: Callable[..., Any],
    dtypes: tuple[str, ...],
    *,
    low: float = -3,
    high: float = 3,
    grad: int = 1,
    **more: Any,
) -> Row:
    """A row whose result has the dtype of its argument."""
    return Row(name, oracle, unary(low, high), dtypes, "first", grad=grad, **more)


def _predicate(name: str, oracle: Callable[..., Any], dtypes: tuple[str, ...]) -> Row:
    return Row(name, oracle, unary(), dtypes, "bool")


def _exp2(x: Any) -> Any:
    """NumPy's own takes no complex numbers."""
    return np.exp(x * np.log(2)) if x.dtype.kind == "c" else np.exp2(x)


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


def _sgn(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return _sign(x)
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return special.expit(x) if x.dtype.kind != "c" else 1 / (1 + np.exp(-x))


def _round(x: np.ndarray, decimals: int = 0) -> np.ndarray:
    return np.round(x, decimals)


def _rounded(make: Maker) -> Iterator[Call]:
    yield from unary()(make)
    if make.is_float:
        yield Call((np.array([0.5, 1.5, 2.5, -0.5, -1.5], make.numpy),), extreme=True)
        yield call(make(3, 2, low=-30, high=30), decimals=1)
        yield call(make(3, 2, low=-30, high=30), decimals=-1)


def _nan_to_num(x: np.ndarray, **kwargs: Any) -> np.ndarray:
    return np.nan_to_num(x, **kwargs)


def _with_nans(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3))
    yield call(make(0, 2))
    if make.is_float:
        x = make(3, 4)
        x[0, 1], x[1, 2], x[2, 0] = np.nan, np.inf, -np.inf
        yield Call((x,), {"nan": 1.0, "posinf": 2.0, "neginf": -2.0}, extreme=True)
        yield Call((x,), {"nan": 0.5, "posinf": 7.0, "neginf": 0.0}, extreme=True)


def _threshold(make: Maker) -> Iterator[Call]:
    for shape in ((), (5,), (2, 3, 2), (0,)):
        yield call(make(*shape), 0.5 if make.is_float else 1, 20)


def _logit(x: np.ndarray, eps: float | None = None) -> np.ndarray:
    return special.logit(x if eps is None else np.clip(x, eps, 1 - eps))


def _logits(make: Maker) -> Iterator[Call]:
    yield from unary(0.05, 0.95)(make)
    yield call(make(2, 3, low=-0.5, high=1.5), 0.1)
    if make.is_float:
        yield call(make(2, 3, low=0.1, high=0.9), eps=1e-6)


def _mvlgamma(make: Maker) -> Iterator[Call]:
    for p in (1, 2, 3):
        yield call(make(2, 3, low=2, high=6), p)
    yield call(make(0, low=2, high=6), 2)


def _polygamma(make: Maker) -> Iterator[Call]:
    for n in (0, 1, 2, 3):
        yield call(n, make(2, 3, low=0.5, high=6))
    yield call(1, make(0))


def _polygamma_methods(make: Maker) -> Iterator[Call]:
    for item in _polygamma(make):
        yield call(*reversed(item.args))


def _degrees(make: Maker) -> Iterator[Call]:
    for n in (0, 1, 2, 5):
        yield call(make(2, 3, low=0.05, high=0.95), n)
    yield call(make(2, 1, low=0.05, high=0.95), np.arange(4))
    yield call(make(0), 2)


def _third(x: np.ndarray, n: Any) -> np.ndarray:
    """The polynomial of the third kind, by its angle."""
    angle = np.arccos(x)
    return np.cos((n + 0.5) * angle) / np.cos(angle / 2)


def _fourth(x: np.ndarray, n: Any) -> np.ndarray:
    angle = np.arccos(x)
    return np.sin((n + 0.5) * angle) / np.sin(angle / 2)


def _chebyshev(name: str, oracle: Callable[..., Any], shifted: bool) -> Row:
    def of(x: np.ndarray, n: Any) -> np.ndarray:
        return oracle(2 * x - 1 if shifted else x, n)

    name = f"special.{'shifted_' if shifted else ''}chebyshev_polynomial_{name}"
    return Row(name, of, _degrees, FLOATS, "first", grad=2, method=False, room=64, meta=False)


def _softmaxes(make: Maker) -> Iterator[Call]:
    for shape, dim in (((), 0), ((5,), 0), ((2, 3), 1), ((2, 3), 0), ((2, 3, 2), -2)):
        yield call(make(*shape), dim)
    yield call(make(1, 2, 2, 1, 3), 2)
    yield call(make(0, 3), 1)
    yield call(make(3, 0), 1)
    x = make(2, 4)
    x[0, 1] = -np.inf
    yield Call((x, 1), extreme=True)
    yield call(make(2, 3, low=-80, high=80), 1)


def _celu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha))


def _alphas(make: Maker) -> Iterator[Call]:
    for shape in ((), (5,), (2, 3, 2), (0,)):
        yield call(make(*shape))
    yield call(make(2, 3), 0.5)


def _selu(x: np.ndarray) -> np.ndarray:
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _hardshrink(x: np.ndarray, lambd: float = 0.5) -> np.ndarray:
    return np.where((x >= -lambd) & (x <= lambd), 0, x)


def _hardshrinks(make: Maker) -> Iterator[Call]:
    yield from unary()(make)
    yield call(make(2, 3), 1.0)


def _frexp(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0)


def _real_pairs(make: Maker) -> Iterator[Call]:
    for shape in ((2,), (3, 2), (2, 1, 2), (0, 2)):
        yield call(make(*shape))


def _to_real(x: np.ndarray) -> np.ndarray:
    return np.stack([x.real, x.imag], -1)


def _to_complex(x: np.ndarray) -> np.ndarray:
    return x[..., 0] + 1j * x[..., 1]


def _half_to_whole(call: Call, dtype: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}[dtype]


def _whole_to_half(call: Call, dtype: str) -> str:
    return real_of(dtype)


def _angle_dtype(call: Call, dtype: str) -> str:
    return real_of(dtype) if dtype in (*FLOATS, *COMPLEX) else "float32"


def _angle(x: np.ndarray) -> np.ndarray:
    # Of a real number NumPy asks the sign bit, which zeros and NaNs have too.
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), np.nan, np.where(x < 0, np.pi, 0.0))


def _sign(x: np.ndarray) -> np.ndarray:
    return x if x.dtype.kind == "b" else np.nan_to_num(np.sign(x))


def _lgamma(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.inf, special.gammaln(x))


def _i0(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.inf, special.i0(x))


ROWS = [
    _chebyshev("v", _third, False),
    _chebyshev("w", _fourth, False),
    _chebyshev("v", _third, True),
    _chebyshev("w", _fourth, True),
    _float("exp", np.exp),
    _float("exp2", _exp2),
    _float("expm1", np.expm1),
    _float("log", np.log, 0.2, 4, aliases=()),
    _float("log2", np.log2, 0.2, 4),
    _float("log10", np.log10, 0.2, 4),
    _float("log1p", np.log1p, -0.8, 4),
    _float("sqrt", np.sqrt, 0.2, 4),
    _float("rsqrt", lambda x: 1 / np.sqrt(x), 0.2, 4),
    _float("reciprocal", lambda x: 1 / x, 0.2, 4),
    _float("sin", np.sin, extremes=True),
    _float("cos", np.cos),
    _float("tan", np.tan, -1.2, 1.2, room=4),
    _float("asin", np.arcsin, -0.95, 0.95, aliases=("arcsin",)),
    _float("acos", np.arccos, -0.95, 0.95, aliases=("arccos",)),
    _float("atan", np.arctan, aliases=("arctan",)),
    _float("sinh", np.sinh),
    _float("cosh", np.cosh),
    _float("tanh", np.tanh),
    _float("asinh", np.arcsinh, aliases=("arcsinh",)),
    _float("acosh", np.arccosh, 1.2, 4, aliases=("arccosh",)),
    _float("atanh", np.arctanh, -0.9, 0.9, aliases=("arctanh",)),
    _float("sigmoid", _sigmoid, aliases=("special.expit",)),
    _float("sinc", np.sinc, wide=False, aliases=("special.sinc",)),
    _float("erf", special.erf, complex=False, aliases=("special.erf",)),
    _float("erfc", special.erfc, complex=False, room=4, aliases=("special.erfc",)),
    _float("erfinv", special.erfinv, -0.95, 0.95, complex=False, aliases=("special.erfinv",)),
    _float("lgamma", _lgamma, 0.2, 6, complex=False, aliases=("special.gammaln",), room=4),
    _float(
        "digamma",
        special.psi,
        0.2,
        6,
        complex=False,
        room=8,
        extremes=False,
        aliases=("special.digamma", "special.psi"),
    ),
    _float("i0", _i0, complex=False, room=4, aliases=("special.i0",)),
    _float("deg2rad", np.deg2rad, complex=False),
    _float("rad2deg", np.rad2deg, complex=False),
    Row(
        "logit",
        _logit,
        _logits,
        WITH_HALVES,
        "float",
        grad=2,
        inplace=True,
        aliases=("special.logit",),
        room=2,
    ),
    Row(
        "mvlgamma",
        special.multigammaln,
        _mvlgamma,
        REAL,
        "float",
        grad=2,
        inplace=True,
        room=8,
        aliases=("special.multigammaln",),
    ),
    Row(
        "Tensor.polygamma",
        lambda x, n: special.polygamma(n, x),
        _polygamma_methods,
        FLOATS,
        grad=2,
        inplace=True,
        out=False,
        room=20,
        function=False,
    ),
    Row(
        "polygamma",
        special.polygamma,
        _polygamma,
        FLOATS,
        "promoted",
        grad=2,
        inplace=False,
        room=20,
        method=False,
        aliases=("special.polygamma",),
    ),
    Row(
        "abs",
        np.abs,
        unary(),
        NUMBERS,
        "real",
        grad=1,
        inplace=True,
        aliases=("absolute",),
        grad_dtypes=("float64", "complex128"),
    ),
    _same("neg", np.negative, NUMBERS, grad=2, inplace=True, aliases=("negative",)),
    _same("positive", np.positive, NUMBERS, grad=2, out=False),
    _same("sign", _sign, (*REAL, *BOOL), inplace=True),
    _same("sgn", _sgn, ALL, inplace=True),
    _same("square", np.square, NUMBERS, grad=2, inplace=True),
    _same("ceil", np.ceil, (*REAL, *HALVES), inplace=True),
    _same("floor", np.floor, (*REAL, *HALVES), inplace=True),
    _same("trunc", np.trunc, (*REAL, *HALVES), inplace=True, aliases=("fix",)),
    _same("frac", lambda x: x - np.trunc(x), FLOATS, inplace=True),
    Row(
        "round",
        _round,
        _rounded,
        (*REAL, *HALVES),
        "first",
        grad=1,
        inplace=True,
        aliases=("special.round",),
    ),
    _same("relu", lambda x: np.maximum(x, 0), (*REAL, *HALVES), inplace=True),
    Row("selu", _selu, unary(), FLOATS, "first", grad=2, out=False, method=False),
    Row("celu", _celu, _alphas, FLOATS, "first", grad=2, out=False, method=False),
    Row("hardshrink", _hardshrink, _hardshrinks, FLOATS, "first", grad=1),
    Row(
        "threshold",
        lambda x, t, v: np.where(x <= t, v, x),
        _threshold,
        REAL,
        "first",
        grad=1,
        method=False,
    ),
    Row(
        "softmax",
        lambda x, dim: special.softmax(x, axis=dim) if x.size else x,
        _softmaxes,
        (*FLOATS, *HALVES),
        "first",
        grad=2,
        out=False,
        expand=False,
    ),
    Row(
        "log_softmax",
        lambda x, dim: special.log_softmax(x, axis=dim) if x.size else x,
        _softmaxes,
        (*FLOATS, *HALVES),
        "first",
        grad=2,
        out=False,
        expand=False,
        room=2,
    ),
    _same("bitwise_not", np.invert, (*INTS, *BOOL), grad=0, inplace=True),
    Row("logical_not", np.logical_not, unary(), ALL, "bool", inplace=True),
    Row("nan_to_num", _nan_to_num, _with_nans, (*REAL, *BOOL), "first", grad=1, inplace=True),
    Row(
        "frexp",
        _frexp,
        unary(),
        FLOATS,
        ("first", "int32"),
        wide=False,
        grad=0,
        meta=False,
    ),
    Row("angle", _angle, unary(), ALL, _angle_dtype, grad=1, grad_dtypes=("float64", "complex128")),
    Row(
        "conj",
        np.conj,
        unary(),
        NUMBERS,
        "first",
        grad=2,
        out=False,
        grad_dtypes=("float64", "complex128"),
    ),
    Row(
        "conj_physical",
        np.conj,
        unary(),
        NUMBERS,
        "first",
        grad=2,
        inplace=True,
        grad_dtypes=("float64", "complex128"),
    ),
    Row("resolve_conj", np.positive, unary(), NUMBERS, "first", grad=2, out=False),
    Row("resolve_neg", np.positive, unary(), NUMBERS, "first", grad=2, out=False),
    Row(
        "real",
        np.real,
        unary(),
        (*REAL, *COMPLEX),
        _whole_to_half,
        grad=2,
        out=False,
        method=False,
        grad_dtypes=("float64", "complex128"),
    ),
    Row(
        "imag",
        np.imag,
        unary(),
        COMPLEX,
        _whole_to_half,
        grad=2,
        out=False,
        method=False,
        grad_dtypes=("complex128",),
    ),
    Row(
        "view_as_real",
        _to_real,
        unary(),
        COMPLEX,
        _whole_to_half,
        grad=2,
        out=False,
        method=False,
        grad_dtypes=("complex128",),
    ),
    Row(
        "view_as_complex",
        _to_complex,
        _real_pairs,
        FLOATS,
        _half_to_whole,
        grad=2,
        out=False,
        method=False,
        layouts=False,
    ),
    _predicate("isnan", np.isnan, ALL),
    _predicate("isinf", np.isinf, ALL),
    _predicate("isfinite", np.isfinite, ALL),
    _predicate("isposinf", np.isposinf, (*REAL, *BOOL)),
    _predicate("isneginf", np.isneginf, (*REAL, *BOOL)),
    _predicate("isreal", np.isreal, ALL),
    _predicate("signbit", np.signbit, REAL),
]
