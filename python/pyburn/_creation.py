"""Making tensors: from data, of one value, in steps, from smaller ones."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

from pyburn import _core
from pyburn._api import into, method
from pyburn._core import Tensor, from_numpy, tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    Number,
    as_device,
    as_dtype,
    bfloat16,
    category,
    dtype,
    float64,
    int64,
    is_number,
    layout,
    memory_format,
    name_of,
    preserve_format,
    sizes_of,
    strided,
    type_of_number,
)
from pyburn._options import finish, kind_and_place, kind_and_place_like

__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "block_diag",
    "cartesian_prod",
    "clone",
    "combinations",
    "complex",
    "detach",
    "diag",
    "diag_embed",
    "diagflat",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eye",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "meshgrid",
    "ones",
    "ones_like",
    "polar",
    "range",
    "scalar_tensor",
    "tensor",
    "tril_indices",
    "triu_indices",
    "vander",
    "zeros",
    "zeros_like",
]


def _filled(
    op: str,
    size: Sequence[Any],
    value: Number,
    out: Tensor | None,
    dtype: DTypeLike | None,
    layout: layout | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
    default: dtype | None = None,
) -> Tensor:
    shape = sizes_of(size, op)
    kind, place = kind_and_place(out, dtype, device, backend, default)
    return finish(_core._full(shape, value, kind, place), out, requires_grad, layout)


def _size_argument(args: tuple[Any, ...], size: Any) -> tuple[Any, ...]:
    """Sizes given by position or as ``size=``."""
    return args if size is None else (*args, size)


def empty(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor whose elements nobody has set; here they are zero.

    Example:
        >>> pyburn.empty(2, 3).shape
        pyburn.Size([2, 3])
    """
    args = _size_argument(args, size)
    return _filled("empty", args, 0, out, dtype, layout, device, backend, requires_grad)


def zeros(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros.

    Example:
        >>> pyburn.zeros(2)
        tensor([0., 0.])
    """
    args = _size_argument(args, size)
    return _filled("zeros", args, 0, out, dtype, layout, device, backend, requires_grad)


def ones(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ones.

    Example:
        >>> pyburn.ones(2)
        tensor([1., 1.])
    """
    args = _size_argument(args, size)
    return _filled("ones", args, 1, out, dtype, layout, device, backend, requires_grad)


def full(
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of equal elements, whose dtype is the number's if none is named.

    Example:
        >>> pyburn.full((2,), 7)
        tensor([7, 7])
    """
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    default = type_of_number(value)
    return _filled(
        "full", (size,), value, out, dtype, layout, device, backend, requires_grad, default
    )


def _near(
    input: Tensor,
    shape: Sequence[int],
    value: Number,
    dtype: DTypeLike | None,
    layout: layout | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """Equal elements with another tensor's dtype and device where none is named."""
    kind, place = kind_and_place_like(input, dtype, device, backend)
    return finish(_core._full(tuple(shape), value, kind, place), None, requires_grad, layout)


def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """An unset tensor of another one's shape, dtype and device."""
    return _near(input, input.shape, 0, dtype, layout, device, backend, requires_grad)


def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Zeros of another tensor's shape, dtype and device."""
    return _near(input, input.shape, 0, dtype, layout, device, backend, requires_grad)


def ones_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Ones of another tensor's shape, dtype and device."""
    return _near(input, input.shape, 1, dtype, layout, device, backend, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Number | Tensor,
    *,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Equal elements in another tensor's shape, dtype and device."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return _near(input, input.shape, value, dtype, layout, device, backend, requires_grad)


@method
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the given data with this one's dtype and device."""
    kind, place = kind_and_place_like(self, dtype, device, backend)
    return finish(tensor(data, dtype=kind, device=place), None, requires_grad, layout)


@method
def new_empty(
    self: Tensor,
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """An unset tensor with this one's dtype and device."""
    shape = sizes_of(_size_argument(args, size), "new_empty")
    return _near(self, shape, 0, dtype, layout, device, backend, requires_grad)


@method
def new_zeros(
    self: Tensor,
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros with this tensor's dtype and device."""
    shape = sizes_of(_size_argument(args, size), "new_zeros")
    return _near(self, shape, 0, dtype, layout, device, backend, requires_grad)


@method
def new_ones(
    self: Tensor,
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """Ones with this tensor's dtype and device."""
    shape = sizes_of(_size_argument(args, size), "new_ones")
    return _near(self, shape, 1, dtype, layout, device, backend, requires_grad)


@method
def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: layout = strided,
    pin_memory: bool = False,
) -> Tensor:
    """Equal elements with this tensor's dtype and device."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    shape = sizes_of((size,), "new_full")
    return _near(self, shape, value, dtype, layout, device, backend, requires_grad)


@method
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    *,
    backend: DeviceLike | None = None,
) -> Tensor:
    """An unset tensor of the given strides with this one's dtype and device."""
    kind, place = kind_and_place_like(self, dtype, device, backend)
    return empty_strided(
        size, stride, dtype=kind, layout=layout, device=place, requires_grad=requires_grad
    )


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An unset tensor of the given size and strides."""
    sizes, strides = sizes_of((size,), "empty_strided"), sizes_of((stride,), "empty_strided")
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"empty_strided: dimensionality of sizes ({len(sizes)}) must match dimensionality of "
            f"strides ({len(strides)})"
        )
    reach = 0 if 0 in sizes else sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
    memory = empty((reach,), dtype=dtype, device=device, backend=backend)
    result = _core.as_strided(memory, list(sizes), list(strides), 0).detach()
    return finish(result, None, requires_grad, layout)


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An unset tensor whose dimensions lie in memory in the given order."""
    if sorted(physical_layout) != list(builtins.range(len(size))):
        raise RuntimeError(
            f"empty_permuted: expected physical_layout to be a permutation of the dimensions of "
            f"size {tuple(size)}, got {tuple(physical_layout)}"
        )
    shape = [size[dim] for dim in physical_layout]
    stored = empty(shape, dtype=dtype, device=device, backend=backend)
    order = [list(physical_layout).index(dim) for dim in builtins.range(len(size))]
    return finish(stored.permute(order).detach(), None, requires_grad, layout)


def as_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    *,
    backend: DeviceLike | None = None,
) -> Tensor:
    """A tensor of the data, which shares memory with tensors and arrays where it can.

    Example:
        >>> x = pyburn.ones(2)
        >>> pyburn.as_tensor(x) is x
        True
    """
    if isinstance(data, Tensor):
        kind, place = kind_and_place_like(data, dtype, device, backend)
        return data.to(dtype=kind, device=place)
    place = as_device(device, backend)
    if hasattr(data, "__array_interface__") and not is_number(data):
        shared = _core._from_array(data)
        kind = _core._narrow(place, shared.dtype) if dtype is None else dtype
        return shared.to(dtype=kind, device=place)
    return tensor(data, dtype=dtype, device=place)


def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of any object: shared memory where possible, a copy where asked for."""
    is_shared = isinstance(obj, Tensor) or hasattr(obj, "__array_interface__")
    if copy is False and not is_shared:
        raise ValueError(
            f"asarray: can't alias arbitrary sequence of type {type(obj).__name__}; hint: copy=None"
        )
    result = as_tensor(obj, dtype=dtype, device=device, backend=backend)
    if copy is False:
        if isinstance(obj, Tensor):
            is_copy = not result._shares_storage(obj)
        else:
            address = obj.__array_interface__["data"][0]
            is_copy = result.numel() > 0 and (
                result.device.type != "cpu" or result.data_ptr() != address
            )
        if is_copy:
            raise ValueError(
                "asarray: expected memory that can be shared with copy=False, got a tensor or "
                "array of another dtype or device, or an array that is read-only or has strides "
                "no tensor has; hint: copy=None"
            )
    if copy and is_shared:
        result = result.detach().clone()
    if isinstance(obj, Tensor) and requires_grad != result.requires_grad:
        result = result.detach()
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


def frombuffer(
    buffer: Any,
    *,
    dtype: DTypeLike,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor over the memory of a Python buffer."""
    import numpy

    raw = numpy.frombuffer(buffer, dtype=numpy.uint8)
    kind = as_dtype(dtype)
    if not 0 <= offset < len(raw):
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer "
            f"length ({len(raw)} bytes) minus 1"
        )
    length = (len(raw) - offset) // kind.itemsize if count < 0 else count
    if count < 0 and (len(raw) - offset) % kind.itemsize:
        raise ValueError(
            f"frombuffer: buffer length ({len(raw) - offset} bytes) after offset ({offset} bytes) "
            f"must be a multiple of element size ({kind.itemsize})"
        )
    end = offset + length * kind.itemsize
    if end > len(raw):
        raise ValueError(
            f"frombuffer: requested buffer length ({end} bytes) is beyond its {len(raw)} bytes"
        )
    # NumPy has no bfloat16, whose bits it carries as integers.
    carrier = "int16" if kind == bfloat16 else name_of(kind)
    result = _core._from_array(raw[offset:end].view(carrier)).view(kind)
    return result.requires_grad_() if requires_grad else result


def scalar_tensor(
    s: Number,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A 0-d tensor of the default dtype, or of the one named."""
    return _filled("scalar_tensor", ((),), s, None, dtype, layout, device, backend, requires_grad)


def _plain(value: Number | Tensor) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def arange(
    *args: Number | Tensor,
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``start``, ``start + step``, ... before ``end``.

    Example:
        >>> pyburn.arange(1, 4)
        tensor([1, 2, 3])
    """
    given = list(args)
    if len(given) == 1 and end is None:
        end = _plain(given.pop())
    if given:
        start = _plain(given.pop(0))
    if given:
        end = _plain(given.pop(0))
    if given:
        step = _plain(given.pop(0))
    if given or end is None:
        raise TypeError("arange: expected (end), (start, end) or (start, end, step)")
    start, last, step = _plain(start), _plain(end), _plain(step)
    floats = any(category(type_of_number(value)) > 1 for value in (start, last, step))
    kind, place = kind_and_place(out, dtype, device, backend, None if floats else int64)
    return finish(_core._arange(start, last, step, kind, place), out, requires_grad, layout)


def range(
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start``, ``start + step``, ... up to and with ``end``; ``arange`` is the one to use."""
    if end is None:
        start, end = 0, start
    first, last, by = (builtins.float(_plain(value)) for value in (start, end, step))
    if by == 0:
        raise RuntimeError("range: step must be nonzero")
    if (last - first) / by < 0:
        raise RuntimeError("range: upper bound and lower bound inconsistent with step sign")
    kind, place = kind_and_place(out, dtype, device, backend)
    count = math.floor((last - first) / by) + 1
    result = _core._arange(0, count, 1, float64, "cpu") * by + first
    return finish(result.to(kind).to(place), out, requires_grad, layout)


def _spaced_default(start: Any, end: Any) -> dtype:
    kind = _core.get_default_dtype()
    bounds = isinstance(start, builtins.complex) or isinstance(end, builtins.complex)
    return kind.to_complex() if bounds else kind


def linspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included.

    Example:
        >>> pyburn.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    start, end = _plain(start), _plain(end)
    kind, place = kind_and_place(out, dtype, device, backend, _spaced_default(start, end))
    return finish(_core._linspace(start, end, steps, kind, place), out, requires_grad, layout)


def logspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """``base`` to the power of evenly spaced exponents.

    Example:
        >>> pyburn.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    start, end = _plain(start), _plain(end)
    kind, place = kind_and_place(out, dtype, device, backend, _spaced_default(start, end))
    result = _core._logspace(start, end, steps, builtins.float(base), kind, place)
    return finish(result, out, requires_grad, layout)


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix with ones on its diagonal.

    Example:
        >>> pyburn.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    kind, place = kind_and_place(out, dtype, device, backend)
    return finish(_core._eye(n, m, kind, place), out, requires_grad, layout)


def clone(input: Tensor, *, memory_format: memory_format = preserve_format) -> Tensor:
    """A copy in fresh memory, through which gradients flow."""
    return input.clone()


def detach(input: Tensor) -> Tensor:
    """Another tensor over the same memory, without a history."""
    return input.detach()


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers from their real and imaginary parts.

    Example:
        >>> pyburn.complex(pyburn.tensor(1.0), pyburn.tensor(2.0))
        tensor(1.+2.j)
    """
    return into(_core.complex(real, imag), out, same_dtype=True)


def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers from their absolute values and angles."""
    return into(_core._polar(abs, angle), out)


def _triangle(
    make: Callable[..., Tensor],
    row: int,
    col: int,
    offset: int,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
) -> Tensor:
    place = as_device(device, backend)
    kind = int64 if dtype is None else as_dtype(dtype)
    return make(row, col, offset, _core._narrow(place, kind), place)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike | None = int64,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    layout: layout = strided,
) -> Tensor:
    """Where the lower triangle of a matrix lies: row numbers, then column numbers."""
    return _triangle(_core._tril_indices, row, col, offset, dtype, device, backend)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike | None = int64,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    layout: layout = strided,
) -> Tensor:
    """Where the upper triangle of a matrix lies: row numbers, then column numbers."""
    return _triangle(_core._triu_indices, row, col, offset, dtype, device, backend)


@method
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix.

    Example:
        >>> pyburn.diag(pyburn.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    return into(_core.diag(input, diagonal), out)


@method
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last dimension on their diagonals."""
    return _core.diag_embed(input, offset, dim1, dim2)


@method
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal."""
    return _core.diagflat(input, offset)


def _spread(tensors: tuple[Any, ...]) -> list[Tensor]:
    """Tensors given as ``f(a, b)`` or as ``f([a, b])``."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        return list(tensors[0])
    return list(tensors)


def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: str | None = None
) -> tuple[Tensor, ...]:
    """The coordinates of a grid over vectors.

    Example:
        >>> pyburn.meshgrid(pyburn.arange(2), pyburn.arange(3), indexing="ij")[0].shape
        pyburn.Size([2, 3])
    """
    return _core._meshgrid(_spread(tensors), "ij" if indexing is None else indexing)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, one per row."""
    return _core._cartesian_prod(_spread(tensors))


@method
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, one per row."""
    return _core.combinations(input, r, with_replacement)


def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A matrix with the given matrices along its diagonal."""
    return _core._block_diag(_spread(tensors))


def vander(x: Tensor, N: int | None = None, *, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, one row per element."""
    if x.ndim != 1:
        raise RuntimeError("vander: x must be a one-dimensional tensor.")
    count = x.numel() if N is None else N
    if count < 0:
        raise RuntimeError("vander: N must be non-negative.")
    kind = x.dtype if category(x.dtype) > 1 else int64
    places = _core._arange(0, count, 1, int64, x.device)
    powers = x.to(kind).unsqueeze(-1) ** places
    return powers if increasing else _core.flip(powers, (1,))
