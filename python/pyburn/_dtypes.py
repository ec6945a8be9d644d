"""Element types, what they can hold, how they combine, and how arguments are read."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyburn import _core
from pyburn._core import Tensor, device, dtype

if TYPE_CHECKING:
    import numpy as np

    from pyburn.backend import Backend

__all__ = [
    "bfloat16",
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "channels_last",
    "channels_last_3d",
    "complex128",
    "complex64",
    "contiguous_format",
    "device",
    "double",
    "dtype",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "half",
    "iinfo",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "is_storage",
    "is_tensor",
    "layout",
    "long",
    "memory_format",
    "preserve_format",
    "promote_types",
    "result_type",
    "short",
    "strided",
    "uint8",
]

Number: TypeAlias = "builtins.int | builtins.float | builtins.complex"
DTypeLike: TypeAlias = "dtype | str | type | np.dtype[Any]"
DeviceLike: TypeAlias = "device | str | builtins.int | Backend"
F = TypeVar("F", bound=Callable[..., Any])

float32: dtype = dtype("float32")
float: dtype = float32
float64: dtype = dtype("float64")
double: dtype = float64
float16: dtype = dtype("float16")
half: dtype = float16
bfloat16: dtype = dtype("bfloat16")
int8: dtype = dtype("int8")
int16: dtype = dtype("int16")
short: dtype = int16
int32: dtype = dtype("int32")
int: dtype = int32
int64: dtype = dtype("int64")
long: dtype = int64
uint8: dtype = dtype("uint8")
bool: dtype = dtype("bool")
complex64: dtype = dtype("complex64")
cfloat: dtype = complex64
complex128: dtype = dtype("complex128")
cdouble: dtype = complex128


class layout:
    """How elements are stored; there is one way, ``pyburn.strided``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"pyburn.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class memory_format:
    """In which order dimensions lie in memory, accepted where PyTorch accepts it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"pyburn.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

_INTEGERS = (uint8, int8, int16, int32, int64)
_WIDTHS = {uint8: 0, int8: 1, int16: 2, int32: 3, int64: 4}
_FLOATS = {float16: 0, bfloat16: 0, float32: 1, float64: 2}


class finfo:
    """What a floating-point type can hold.

    Example:
        >>> pyburn.finfo(pyburn.float16).max
        65504.0
    """

    bits: builtins.int
    eps: builtins.float
    max: builtins.float
    min: builtins.float
    tiny: builtins.float
    smallest_normal: builtins.float
    resolution: builtins.float
    dtype: str

    # Bits, bits of the mantissa, exponent of the largest number, decimal digits.
    _LAYOUT = {
        "float16": (16, 10, 15, 1e-3),
        "bfloat16": (16, 7, 127, 1e-2),
        "float32": (32, 23, 127, 1e-6),
        "float64": (64, 52, 1023, 1e-15),
    }

    def __init__(self, type: DTypeLike | None = None, /) -> None:
        kind = _core.get_default_dtype() if type is None else as_dtype(type)
        if not (kind.is_floating_point or kind.is_complex):
            raise TypeError(
                f"finfo: requires a floating point type, got {kind}; hint: use pyburn.iinfo "
                "for integer types"
            )
        self.dtype = name_of(kind.to_real())
        self.bits, mantissa, exponent, self.resolution = self._LAYOUT[self.dtype]
        self.eps = 2.0**-mantissa
        self.max = (2.0 - self.eps) * 2.0**exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


class iinfo:
    """What an integer type can hold.

    Example:
        >>> pyburn.iinfo(pyburn.int8).max
        127
    """

    bits: builtins.int
    max: builtins.int
    min: builtins.int
    dtype: str

    def __init__(self, type: DTypeLike, /) -> None:
        kind = as_dtype(type)
        if kind not in _INTEGERS:
            raise TypeError(
                f"iinfo: requires an integer type, got {kind}; hint: use pyburn.finfo for "
                "floating point types"
            )
        self.dtype = name_of(kind)
        self.bits = kind.itemsize * 8
        self.min = -(2 ** (self.bits - 1)) if kind.is_signed else 0
        self.max = 2 ** (self.bits - kind.is_signed) - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, iinfo) and other.dtype == self.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


def as_dtype(kind: DTypeLike) -> dtype:
    """A dtype from a dtype, its name, a NumPy dtype or one of Python's number types."""
    # The native argument parser knows all of these; no dtype is narrowed on the CPU.
    return kind if isinstance(kind, dtype) else _core._narrow("cpu", kind)


def as_device(place: DeviceLike | None, backend: DeviceLike | None = None) -> device:
    """The device that ``device=`` or its synonym ``backend=`` names, or the default one."""
    if backend is not None:
        if place is not None and device(place) != device(backend):
            raise ValueError(
                f"device: expected device= and backend= to name one device, got {device(place)} "
                f"and {device(backend)}; hint: give one of them"
            )
        place = backend
    if place is None:
        return _core.get_default_device()
    return place if isinstance(place, device) else device(place)


def name_of(kind: dtype) -> str:
    """The name of a dtype without the package."""
    return repr(kind).rpartition(".")[2]


def category(kind: dtype) -> builtins.int:
    """0 for bool, 1 for integers, 2 for floats, 3 for complex types."""
    if kind.is_floating_point:
        return 2
    return 3 if kind.is_complex else builtins.int(kind != bool)


def is_number(value: object) -> builtins.bool:
    """Whether a value is a Python or NumPy number."""
    if isinstance(value, builtins.int | builtins.float | builtins.complex):
        return True
    # NumPy's numbers have what its arrays have, except that they cannot be written.
    return (
        not isinstance(value, Tensor)
        and hasattr(value, "dtype")
        and hasattr(value, "item")
        and not hasattr(value, "__setitem__")
    )


def promote_types(type1: DTypeLike, type2: DTypeLike) -> dtype:
    """The smallest dtype that holds what both hold.

    Example:
        >>> pyburn.promote_types(pyburn.int32, pyburn.float16)
        pyburn.float16
    """
    a, b = as_dtype(type1), as_dtype(type2)
    if a == b:
        return a
    if category(a) > category(b):
        a, b = b, a
    low, high = category(a), category(b)
    if high == 3:
        return complex128 if complex128 in (a, b) or a == float64 else complex64
    if low < high:
        return b
    if high == 2:
        if _FLOATS[a] == _FLOATS[b]:
            return float32
        return a if _FLOATS[a] > _FLOATS[b] else b
    if uint8 in (a, b):
        signed = b if a == uint8 else a
        return int16 if signed == int8 else signed
    return a if _WIDTHS[a] > _WIDTHS[b] else b


def can_cast(from_: DTypeLike, to: DTypeLike) -> builtins.bool:
    """Whether PyTorch's rules allow a result of one dtype to be written into another.

    Example:
        >>> pyburn.can_cast(pyburn.float32, pyburn.int32)
        False
    """
    source, target = category(as_dtype(from_)), category(as_dtype(to))
    return not (source == 3 > target or (source == 2 > target) or (source > 0 == target))


def type_of_number(value: Number) -> dtype:
    """The dtype a Python number stands for."""
    if isinstance(value, builtins.bool):
        return bool
    if isinstance(value, builtins.int):
        return int64
    if isinstance(value, builtins.float):
        return _core.get_default_dtype()
    if isinstance(value, builtins.complex):
        return _core.get_default_dtype().to_complex()
    if not hasattr(value, "item"):
        raise TypeError(f"expected a tensor or a number, got {type(value).__name__}")
    return type_of_number(value.item())


def result_type(*operands: Tensor | Number) -> dtype:
    """The dtype operands are computed in: dimensions count before 0-d tensors and numbers.

    Example:
        >>> pyburn.result_type(pyburn.tensor([1, 2], dtype=pyburn.int8), 1.0)
        pyburn.float32
    """
    # By precedence: tensors with dimensions, 0-d tensors, numbers.
    found: list[dtype | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, Tensor):
            level, kind = builtins.int(operand.ndim == 0), operand.dtype
        else:
            level, kind = 2, type_of_number(operand)
        before = found[level]
        found[level] = kind if before is None else promote_types(before, kind)
    result = _combined(found[0], _combined(found[1], found[2]))
    if result is None:
        raise ValueError("result_type: expected at least one tensor or number")
    return result


def _combined(high: dtype | None, low: dtype | None) -> dtype | None:
    if high is None or low is None:
        return low if high is None else high
    if category(high) == 2 and category(low) == 3:
        return high.to_complex()
    if category(high) >= category(low):
        return high
    return promote_types(high, low)


def as_operand(value: Tensor | Number, *others: Tensor | Number) -> Tensor:
    """A tensor as it is, a number as a 0-d tensor of the dtype it and the others promote to."""
    if isinstance(value, Tensor):
        return value
    place = next((other.device for other in others if isinstance(other, Tensor)), None)
    kind = result_type(value, *others)
    place = as_device(place)
    return _core._full((), value, _core._narrow(place, kind), place)


def is_tensor(obj: object, /) -> builtins.bool:
    """Whether an object is a tensor.

    Example:
        >>> pyburn.is_tensor(pyburn.ones(2))
        True
    """
    return isinstance(obj, Tensor)


def is_storage(obj: object, /) -> builtins.bool:
    """Whether an object is a PyTorch storage: never, memory is shown by tensors here."""
    return False


def wrapped(dim: builtins.int, shape: Sequence[builtins.int], op: str) -> builtins.int:
    """A dimension of a shape, counted from the front."""
    size = max(len(shape), 1)
    if not -size <= dim < size:
        raise IndexError(
            f"{op}: dimension out of range (expected to be in range of [{-size}, {size - 1}], "
            f"but got {dim}) (got shape {list(shape)})"
        )
    return dim % size


def sizes_of(size: Iterable[Any], op: str) -> tuple[builtins.int, ...]:
    """Sizes given as ``f(2, 3)`` or as ``f((2, 3))``."""
    sizes = tuple(size)
    try:
        if len(sizes) == 1 and not hasattr(sizes[0], "__index__"):
            sizes = tuple(sizes[0])
        return tuple(map(operator.index, sizes))
    except TypeError:
        raise TypeError(f"{op}: sizes must be ints, got {list(sizes)}") from None


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input"}


def numpy_names(function: F) -> F:
    """Lets a function also take NumPy's ``axis`` and ``keepdims``, as PyTorch's do."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {
                name if name in known else _NUMPY_NAMES.get(name, name): value
                for name, value in kwargs.items()
            }
        return function(*args, **kwargs)

    code = function.__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return call  # type: ignore[return-value]
