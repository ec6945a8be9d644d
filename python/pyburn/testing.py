"""Comparing values in tests, and making tensors for them."""

from __future__ import annotations

import collections.abc
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import pyburn
from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, as_dtype, category, dtype, promote_types
from pyburn._dtypes import bool as bool_

__all__ = ["assert_close", "make_tensor"]

# Relative and absolute tolerance of a dtype; everything else must be equal.
_TOLERANCES = {
    pyburn.float16: (1e-3, 1e-5),
    pyburn.bfloat16: (1.6e-2, 1e-5),
    pyburn.float32: (1.3e-6, 1e-5),
    pyburn.float64: (1e-7, 1e-7),
    pyburn.complex64: (1.3e-6, 1e-5),
    pyburn.complex128: (1e-7, 1e-7),
}


class _Rules:
    def __init__(self, **given: Any) -> None:
        self.allow_subclasses: bool = given["allow_subclasses"]
        self.rtol: float | None = given["rtol"]
        self.atol: float | None = given["atol"]
        self.equal_nan: bool = given["equal_nan"]
        self.check_device: bool = given["check_device"]
        self.check_dtype: bool = given["check_dtype"]
        self.check_layout: bool = given["check_layout"]
        self.check_stride: bool = given["check_stride"]
        self.msg: str | Callable[[str], str] | None = given["msg"]

    def fail(self, text: str, path: list[Any], kind: type[Exception] = AssertionError) -> Exception:
        if path:
            text += f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in path)}"
        if kind is AssertionError and self.msg is not None:
            text = self.msg(text) if callable(self.msg) else self.msg
        return kind(text)

    def tolerances(self, *kinds: dtype) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(kind, (0.0, 0.0)) for kind in kinds]
        return max(rtol for rtol, _ in known), max(atol for _, atol in known)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Fails unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere.

    Tensors, numbers, arrays, and containers of them are compared; without tolerances those of the
    dtype are taken.

    Example:
        >>> pyburn.testing.assert_close(pyburn.ones(2), pyburn.ones(2) + 1e-7)
        >>> pyburn.testing.assert_close(1.0, 2.0)
        Traceback (most recent call last):
        AssertionError: Scalars are not close!
        <BLANKLINE>
        Expected 2.0 but got 1.0.
        Absolute difference: 1.0 (up to 1e-07 allowed)
        Relative difference: 0.5 (up to 1e-07 allowed)
    """
    if (rtol is None) != (atol is None):
        name = "rtol" if rtol is None else "atol"
        other = "atol" if rtol is None else "rtol"
        raise ValueError(
            f"assert_close: rtol and atol must both be specified or both be unspecified, got "
            f"{other} but no {name}"
        )
    rules = _Rules(
        allow_subclasses=allow_subclasses,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=check_device,
        check_dtype=check_dtype,
        check_layout=check_layout,
        check_stride=check_stride,
        msg=msg,
    )
    _compare(actual, expected, rules, [])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | complex) or (
        not isinstance(value, Tensor) and hasattr(value, "dtype") and not getattr(value, "shape", 1)
    )


def _compare(actual: Any, expected: Any, rules: _Rules, path: list[Any]) -> None:
    if actual is None and expected is None:
        return
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise rules.fail(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path
            )
        for index, pair in enumerate(zip(actual, expected, strict=True)):
            _compare(*pair, rules, [*path, index])
    elif _is_mapping(actual) and _is_mapping(expected):
        lacking = sorted(set(expected) - set(actual), key=repr)
        extra = sorted(set(actual) - set(expected), key=repr)
        if lacking or extra:
            raise rules.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {lacking}\n"
                f"Additional keys in the actual mapping: {extra}",
                path,
            )
        for key in actual:
            _compare(actual[key], expected[key], rules, [*path, key])
    elif isinstance(actual, str) and isinstance(expected, str):
        if actual != expected:
            raise rules.fail(f"Object comparison failed: {actual!r} != {expected!r}", path)
    elif _is_number(actual) and _is_number(expected):
        _compare_numbers(actual, expected, rules, path)
    else:
        _compare_tensors(
            _as_tensor(actual, expected, rules, path),
            _as_tensor(expected, actual, rules, path),
            rules,
            path,
        )


def _is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, str | bytes)


def _is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, collections.abc.Mapping)


def _as_tensor(value: Any, other: Any, rules: _Rules, path: list[Any]) -> Tensor:
    if isinstance(value, Tensor):
        if not rules.allow_subclasses and type(value) is not type(other):
            raise rules.fail(
                "None of the pairs compare the given types, subclasses are not allowed: "
                f"{type(value).__name__} and {type(other).__name__}",
                path,
                TypeError,
            )
        return value.detach()
    try:
        if value is None or isinstance(value, str | bytes):
            raise TypeError
        return pyburn.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        raise rules.fail(
            "assert_close: No comparison pair was able to handle inputs of type "
            f"{type(value)} and {type(other)}.",
            path,
            TypeError,
        ) from None


_NUMBER_DTYPES: dict[type, dtype] = {
    int: pyburn.int64,
    float: pyburn.float64,
    complex: pyburn.complex128,
}


def _compare_numbers(actual: Any, expected: Any, rules: _Rules, path: list[Any]) -> None:
    actual, expected = (
        value if isinstance(value, int | float | complex) else value.item()
        for value in (actual, expected)
    )
    if isinstance(actual, bool) or isinstance(expected, bool):
        if actual is not expected:
            raise rules.fail(f"Booleans mismatch: {actual} is not {expected}", path)
        return
    if rules.check_dtype and rules.rtol is None and type(actual) is not type(expected):
        kinds = f"{type(actual)} != {type(expected)}"
        raise rules.fail(f"The (d)types do not match: {kinds}", path)
    kinds = [_NUMBER_DTYPES.get(type(value), pyburn.float64) for value in (actual, expected)]
    rtol, atol = rules.tolerances(*kinds)
    both_nan = actual != actual and expected != expected
    difference = math.nan if both_nan else abs(actual - expected)
    allowed = atol + rtol * abs(expected)
    finite = math.isfinite(abs(actual)) and math.isfinite(abs(expected))
    if actual == expected or (both_nan and rules.equal_nan) or (finite and difference <= allowed):
        return
    exact = not (rtol or atol)
    text = (
        f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}."
    )
    relative = difference / abs(expected) if expected else math.inf
    bound = "" if exact else f" (up to {atol} allowed)"
    text += f"\nAbsolute difference: {difference}{bound}"
    bound = "" if exact else f" (up to {rtol} allowed)"
    text += f"\nRelative difference: {relative}{bound}"
    raise rules.fail(text, path)


def _compare_tensors(actual: Tensor, expected: Tensor, rules: _Rules, path: list[Any]) -> None:
    def attribute(name: str, a: Any, b: Any) -> Exception:
        return rules.fail(f"The values for attribute '{name}' do not match: {a} != {b}.", path)

    if actual.shape != expected.shape:
        raise attribute("shape", actual.shape, expected.shape)
    if rules.check_device and actual.device != expected.device:
        raise attribute("device", actual.device, expected.device)
    if rules.check_dtype and actual.dtype != expected.dtype:
        raise attribute("dtype", actual.dtype, expected.dtype)
    if rules.check_stride and actual.stride() != expected.stride():
        raise attribute("stride()", actual.stride(), expected.stride())
    if actual.is_meta or expected.is_meta:
        return
    rtol, atol = rules.tolerances(actual.dtype, expected.dtype)
    common = promote_types(actual.dtype, expected.dtype)
    actual, expected = actual.to("cpu").to(common), expected.to("cpu").to(common)
    matches = pyburn.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=rules.equal_nan)
    if bool(matches.all()):
        return
    exact = not (rtol or atol)
    if not actual.ndim:
        _fail_scalar(actual, expected, rtol, atol, rules, path)
    total, wrong = matches.numel(), int((~matches).sum())
    wide = pyburn.complex128 if common.is_complex else pyburn.float64
    if category(common) <= 1:
        wide = pyburn.int64
    a, b = actual.to(wide), expected.to(wide)
    difference = (a - b).abs()
    # Where values match, nothing is greatest.
    absolute = difference.clone()
    absolute[matches] = 0
    at = int(absolute.argmax())
    ratio = difference.double() / b.abs().double()
    ratio[matches] = 0
    worst = int(ratio.argmax())
    shape = tuple(actual.shape)
    text = (
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
        f"Greatest absolute difference: {absolute.flatten()[at].item()} at index "
        f"{_index(at, shape)}"
        + ("" if exact else f" (up to {atol} allowed)")
        + f"\nGreatest relative difference: {ratio.flatten()[worst].item()} at index "
        f"{_index(worst, shape)}" + ("" if exact else f" (up to {rtol} allowed)")
    )
    raise rules.fail(text, path)


def _fail_scalar(
    actual: Tensor, expected: Tensor, rtol: float, atol: float, rules: _Rules, path: list[Any]
) -> None:
    inner = _Rules(**{**vars(rules), "rtol": rtol, "atol": atol, "check_dtype": False})
    a, b = actual.item(), expected.item()
    if isinstance(a, bool):
        raise rules.fail(f"Booleans mismatch: {a} is not {b}", path)
    _compare_numbers(a, b, inner, path)
    # Rounding can part what was compared in the tensors' own dtype.
    raise rules.fail(f"Scalars are not close!\n\nExpected {b} but got {a}.", path)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    found = []
    for size in reversed(shape):
        found.append(flat % size)
        flat //= size
    return tuple(reversed(found))


def make_tensor(
    *shape: int | Sequence[int],
    dtype: DTypeLike,
    device: DeviceLike,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of random numbers from ``low`` (included) to ``high`` (excluded).

    Without bounds: -9 to 9, 0 to 9 for uint8, both truth values for bool.

    Example:
        >>> t = pyburn.testing.make_tensor((2, 3), dtype=pyburn.int8, device="cpu", low=1, high=3)
        >>> bool(((t == 1) | (t == 2)).all())
        True
    """
    sizes: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    sizes = tuple(sizes)
    kind = as_dtype(dtype)
    whole = category(kind) <= 1
    first: float
    end: float
    if kind == bool_:
        first, end = 0, 2
    elif whole:
        first, end = (0 if kind == pyburn.uint8 else -9), 10
    else:
        first, end = -9.0, 9.0
    first, end = first if low is None else low, end if high is None else high
    if any(bound != bound for bound in (first, end)):
        raise ValueError(f"make_tensor: low and high cannot be NaN, got {low} and {high}")
    if first > end or (first == end and sizes and math.prod(sizes) and whole):
        raise ValueError(f"make_tensor: low must be less than high, got low={first}, high={end}")
    limits: Any = None
    if kind == bool_:
        limits = (0, 1)
    elif whole:
        limits = (pyburn.iinfo(kind).min, pyburn.iinfo(kind).max)
    elif not kind.is_complex:
        limits = (pyburn.finfo(kind).min, pyburn.finfo(kind).max)
    if limits is not None:
        first, end = max(first, limits[0]), min(end, limits[1] + whole)
    if whole:
        result = pyburn.randint(
            math.ceil(first), max(math.ceil(end), math.ceil(first) + 1), sizes, device=device
        ).to(kind)
    elif kind.is_complex:
        result = _core._full((*sizes, 2), 0, kind.to_real(), _core.device(device))
        result = pyburn.view_as_complex(result.uniform_(first, end))
    else:
        result = _core._full(sizes, 0, kind, _core.device(device)).uniform_(first, end)
    if noncontiguous and result.numel() > 1:
        result = result.repeat_interleave(2, dim=-1)[..., ::2]
    if exclude_zero:
        one = 1 if kind == bool_ or whole else pyburn.finfo(kind).tiny
        result[result == 0] = one
    return result.requires_grad_(True) if requires_grad else result
