"""Joining, cutting, reordering and reshaping tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast, overload

from pyburn import _core, _dtypes
from pyburn._api import attach, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    as_dtype,
    category,
    memory_format,
    name_of,
    numpy_names,
    preserve_format,
    sizes_of,
    wrapped,
)
from pyburn._size import Size

__all__ = [
    "adjoint",
    "alias_copy",
    "as_strided",
    "as_strided_copy",
    "as_strided_scatter",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "cat",
    "chunk",
    "column_stack",
    "concat",
    "concatenate",
    "detach_copy",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "dsplit",
    "dstack",
    "expand_copy",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "is_same_size",
    "moveaxis",
    "movedim",
    "narrow",
    "narrow_copy",
    "numel",
    "permute",
    "permute_copy",
    "ravel",
    "repeat_interleave",
    "reshape",
    "resize_as_",
    "roll",
    "rot90",
    "row_stack",
    "select",
    "select_copy",
    "select_scatter",
    "slice_scatter",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "squeeze",
    "squeeze_copy",
    "stack",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "tensor_split",
    "tile",
    "transpose",
    "transpose_copy",
    "tril",
    "triu",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold_copy",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "view_copy",
    "vsplit",
    "vstack",
]

P = ParamSpec("P")
R = TypeVar("R")


def _tensors(tensors: Any, op: str) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{op}: expected a tuple or list of Tensors, got a Tensor")
    return list(tensors)


def _spread(tensors: tuple[Any, ...]) -> list[Tensor]:
    """Tensors given as ``f(a, b)`` or as ``f([a, b])``."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        return list(tensors[0])
    return list(tensors)


@numpy_names
def cat(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors one after the other along a dimension.

    Example:
        >>> pyburn.cat([pyburn.zeros(1), pyburn.ones(2)])
        tensor([0., 1., 1.])
    """
    parts = _tensors(tensors, "cat")
    return into(_core._cat(parts, dim), out, *parts)


concat = concatenate = cat


@numpy_names
def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape along a new dimension.

    Example:
        >>> pyburn.stack([pyburn.zeros(2), pyburn.ones(2)]).shape
        pyburn.Size([2, 2])
    """
    return into(_core._stack(_tensors(tensors, "stack"), dim), out)


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along their only one."""
    return into(_core._hstack(_tensors(tensors, "hstack")), out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one below the other, vectors as rows."""
    return into(_core._vstack(_tensors(tensors, "vstack")), out)


row_stack = vstack


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one behind the other, along the third dimension."""
    return into(_core._dstack(_tensors(tensors, "dstack")), out)


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side, vectors as columns."""
    return into(_core._column_stack(_tensors(tensors, "column_stack")), out)


@numpy_names
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Views of equal size along a dimension, or of the given sizes.

    Example:
        >>> [part.numel() for part in pyburn.split(pyburn.arange(5), 2)]
        [2, 2, 1]
    """
    if isinstance(split_size_or_sections, list | tuple):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    return _core.split(tensor, cast("int", split_size_or_sections), dim)


@method(name="split")
@numpy_names
def _split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of equal size along a dimension, or of the given sizes."""
    return split(self, split_size, dim)


@method
@numpy_names
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given sizes along a dimension, which they fill."""
    return _core.split_with_sizes(input, list(split_sizes), dim)


@method
@numpy_names
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal size along a dimension."""
    return _core.chunk(input, chunks, dim)


unsafe_chunk = chunk
unsafe_split = split
unsafe_split_with_sizes = split_with_sizes
for _name, _function in (
    ("unsafe_chunk", chunk),
    ("unsafe_split", _split),
    ("unsafe_split_with_sizes", split_with_sizes),
):
    setattr(Tensor, _name, _function)


@method
@numpy_names
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Views along a dimension: so many, or cut before each of the given places."""
    cuts: Any = indices_or_sections
    if isinstance(cuts, Tensor):
        if cuts.dtype != _dtypes.int64 or cuts.ndim > 1:
            raise RuntimeError(
                "tensor_split: expected tensor_indices_or_sections to be a zero- or "
                f"one-dimensional int64 tensor, got {cuts.ndim} dimensions and {cuts.dtype}"
            )
        cuts = cuts.tolist()
    if isinstance(cuts, int):
        return _core.tensor_split(input, cuts, dim)
    return _core.tensor_split_at(input, list(cuts), dim)


def _cut(op: str, input: Tensor, cuts: Any, dim: int, least: int) -> tuple[Tensor, ...]:
    if input.ndim < least:
        raise RuntimeError(
            f"{op}: requires a tensor with at least {least} dimension, but got a tensor with "
            f"{input.ndim} dimensions!"
        )
    if isinstance(cuts, int) and (cuts <= 0 or input.shape[dim] % cuts):
        raise RuntimeError(
            f"{op}: attempted to split along dimension {dim}, but the size of the dimension "
            f"{input.shape[dim]} is not divisible by the split_size {cuts}!"
        )
    return tensor_split(input, cuts, dim)


@method
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Views side by side: cut along the second dimension, a vector along its only one."""
    return _cut("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@method
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Views one below the other: cut along the first dimension."""
    return _cut("vsplit", input, indices_or_sections, 0, 2)


@method
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Views one behind the other: cut along the third dimension."""
    return _cut("dsplit", input, indices_or_sections, 2, 3)


@method
@numpy_names
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """A view of each position of a dimension, which disappears."""
    return _core.unbind(input, dim)


@numpy_names
def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Dimensions of size one taken out; all of them if none is named."""
    return input.squeeze(dim)


@numpy_names
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dimension of size one put in."""
    return input.unsqueeze(dim)


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Another shape with the same elements: a view where possible, a copy elsewhere."""
    return input.reshape(shape)


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Dimensions in another order."""
    return input.permute(dims)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    return input.transpose(dim0, dim1)


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and 0-d tensors as they are."""
    return input.t()


@method
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions swapped: NumPy's name for ``transpose``."""
    return input.transpose(axis0, axis1)


@method
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped: another name for ``transpose``."""
    return input.transpose(dim0, dim1)


@method
def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Dimensions moved to other places, the others in order."""
    return _core.movedim(input, source, destination)


moveaxis = movedim
attach("moveaxis", movedim)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Several dimensions merged into one."""
    return input.flatten(start_dim, end_dim)


@method
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return input.reshape(-1)


@method
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension taken apart into several.

    Example:
        >>> pyburn.unflatten(pyburn.zeros(6), 0, (2, -1)).shape
        pyburn.Size([2, 3])
    """
    at = wrapped(dim, input.ndim, "unflatten")
    given = sizes_of((sizes,), "unflatten")
    if not given:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = 1
    for size in given:
        known *= 1 if size == -1 else size
    length = input.shape[at]
    fits = length % known == 0 if -1 in given and known else length == known
    if not fits or given.count(-1) > 1:
        raise RuntimeError(
            f"unflatten: provided sizes {list(given)} don't multiply up to the size of dim {dim} "
            f"({length}) in the input tensor"
        )
    filled = [length // known if size == -1 else size for size in given]
    return input.reshape(*input.shape[:at], *filled, *input.shape[at + 1 :])


@method
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """A view in another tensor's shape."""
    return _core.expand_as(input, other)


@method
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """The same memory in another tensor's shape."""
    return input.view(other.shape)


@method
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The same elements in another tensor's shape."""
    return input.reshape(other.shape)


@method
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """A view in a larger shape, dimensions of size one repeated."""
    return input.expand(size)


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape to which shapes broadcast.

    Example:
        >>> pyburn.broadcast_shapes((2, 1), (3,))
        pyburn.Size([2, 3])
    """
    listed = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result = [1] * max((len(shape) for shape in listed), default=0)
    for shape in listed:
        for at, size in enumerate(reversed(shape), 1):
            if size < 0:
                raise RuntimeError(f"broadcast_shapes: negative dimension in shape {shape}")
            if size not in (1, result[-at]):
                if result[-at] != 1:
                    raise RuntimeError(
                        "broadcast_shapes: shape mismatch: objects cannot be broadcast to a single "
                        f"shape, got {[list(each) for each in listed]}"
                    )
                result[-at] = size
    return Size(result)


def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of one shape, to which all tensors broadcast."""
    return _core._broadcast_tensors(_spread(tensors))


@numpy_names
def flip(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Dimensions read backwards."""
    return _core.flip(input, dims)


@method(name="flip")
def _flip(self: Tensor, *args: int | Sequence[int], dims: Sequence[int] | None = None) -> Tensor:
    """Dimensions read backwards."""
    return _core.flip(self, sizes_of(args if dims is None else (dims,), "flip"))


@method
def fliplr(input: Tensor) -> Tensor:
    """The second dimension read backwards."""
    if input.ndim < 2:
        raise RuntimeError(f"fliplr: input must be >= 2-d, got {input.ndim}-d")
    return _core.flip(input, 1)


@method
def flipud(input: Tensor) -> Tensor:
    """The first dimension read backwards."""
    if input.ndim < 1:
        raise RuntimeError("flipud: input must be >= 1-d, got 0-d")
    return _core.flip(input, 0)


@method
@numpy_names
def roll(
    input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None
) -> Tensor:
    """Elements moved on along dimensions, those pushed out coming in again at the start."""
    return _core.roll(input, shifts, () if dims is None else dims)


@method
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """A plane of two dimensions turned by ``k`` quarters of a circle."""
    return _core.rot90(input, k, list(dims))


@method
def repeat(input: Tensor, *repeats: int | Sequence[int]) -> Tensor:
    """A copy with every dimension repeated so many times; leading ones may be new.

    Example:
        >>> pyburn.tensor([1, 2]).repeat(2, 1).shape
        pyburn.Size([2, 2])
    """
    return _core.repeat(input, sizes_of(repeats, "repeat"))


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """A copy repeated so many times, counted from the last dimension."""
    return _core.tile(input, dims)


@method(name="tile")
def _tile(self: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """A copy repeated so many times, counted from the last dimension."""
    return _core.tile(self, sizes_of(dims, "tile"))


@method
@numpy_names
def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each element repeated; alone, ``input`` says how often each position comes.

    Example:
        >>> pyburn.repeat_interleave(pyburn.tensor([1, 2]), 2)
        tensor([1, 1, 2, 2])
    """
    if repeats is None:
        if input.ndim != 1:
            raise RuntimeError("repeat_interleave: only accepts a 1-dim tensor of repeats")
        result = _core.repeated_places(input).to(input.dtype)
    else:
        result = _core.repeat_interleave(input, repeats, dim)
    size = result.shape[0 if dim is None else dim]
    if output_size not in (None, size):
        raise RuntimeError(
            f"repeat_interleave: invalid output_size, expected {size} but got {output_size}"
        )
    return result


@method
@numpy_names
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """``length`` positions of a dimension from ``start``, a view."""
    if isinstance(start, Tensor) and (start.ndim or category(start.dtype) != 1):
        raise RuntimeError(
            f"narrow: start must be a 0-dim integral tensor, got {start.ndim} dimensions and "
            f"{start.dtype}"
        )
    return _core.narrow(input, dim, int(start), length)


@method
@numpy_names
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of one position of a dimension, which disappears."""
    return _core.select(input, dim, int(index))


@method
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of a diagonal of two dimensions, put last."""
    return _core.diagonal(input, offset, dim1, dim2)


@method
@numpy_names
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which one position of a dimension is ``src``."""
    return _core.view_scatter_select(input, src, dim, index)


@method
@numpy_names
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy in which a slice of a dimension is ``src``."""
    if step < 1:
        raise RuntimeError(f"slice_scatter: step must be positive, got {step}")
    size = input.shape[wrapped(dim, input.ndim, "slice_scatter")]
    places = range(size)[slice(start, end, step)]
    return _core.view_scatter_slice(input, src, dim, places.start, len(places), step)


@method
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy in which a diagonal is ``src``."""
    return _core.view_scatter_diagonal(input, src, offset, dim1, dim2)


@method
def as_strided(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A view of any geometry over the tensor's memory."""
    return _core.as_strided(input, list(size), list(stride), storage_offset)


@method
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A copy in which a view of any geometry shows ``src``."""
    return _core.as_strided_scatter(input, src, list(size), list(stride), storage_offset)


@method(name="unfold")
def _unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of windows of ``size``, ``step`` apart, along a dimension."""
    return _core.unfold(input, dimension, size, step)


@method(inplace=True)
def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of each matrix, zeros elsewhere."""
    return into(_core.tril(input, diagonal), out)


@method(inplace=True)
def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of each matrix, zeros elsewhere."""
    return into(_core.triu(input, diagonal), out)


def _raised(tensor: Tensor, rank: int) -> Tensor:
    return tensor if tensor.ndim >= rank else _core.atleast_nd(tensor, rank)


def _atleast(tensors: tuple[Any, ...], rank: int) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _raised(tensors[0], rank)
    return tuple(_raised(tensor, rank) for tensor in _spread(tensors))


@overload
def atleast_1d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_1d(first: Tensor, second: Tensor, /, *more: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
def atleast_1d(*tensors: Any) -> Any:
    """Views with at least one dimension."""
    return _atleast(tensors, 1)


@overload
def atleast_2d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_2d(first: Tensor, second: Tensor, /, *more: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
def atleast_2d(*tensors: Any) -> Any:
    """Views with at least two dimensions; a vector becomes a row."""
    return _atleast(tensors, 2)


@overload
def atleast_3d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_3d(first: Tensor, second: Tensor, /, *more: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...
def atleast_3d(*tensors: Any) -> Any:
    """Views with at least three dimensions; a matrix gets its third one last."""
    return _atleast(tensors, 3)


@method
def adjoint(input: Tensor) -> Tensor:
    """The conjugate of the last two dimensions swapped."""
    if input.ndim < 2:
        raise RuntimeError(
            f"adjoint: tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{input.ndim}-D tensor."
        )
    return input.transpose(-2, -1).conj()


def _hermitian(self: Tensor) -> Tensor:
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"H: tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
        )
    return self.conj() if self.ndim == 0 else adjoint(self)


attach("mH", property(adjoint, doc="The conjugate of the last two dimensions swapped."))
attach("H", property(_hermitian, doc="The conjugate transpose of a matrix."))


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


Tensor.nelement = Tensor.numel
Tensor.ndimension = Tensor.dim


@method
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input.shape == other.shape


@method
def t_(self: Tensor) -> Tensor:
    """In-place version of :func:`pyburn.t`."""
    if self.ndim > 2:
        raise RuntimeError(f"t_: expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    if self.ndim == 2:
        _core.transpose_(self, 0, 1)
    return self


@method
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place version of :func:`pyburn.transpose`."""
    _core.transpose_(self, dim0, dim1)
    return self


Tensor.swapaxes_ = Tensor.swapdims_ = transpose_


@method
def squeeze_(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """In-place version of :func:`pyburn.squeeze`."""
    _core.squeeze_(self, dim)
    return self


@method
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In-place version of :func:`pyburn.unsqueeze`."""
    _core.unsqueeze_(self, dim)
    return self


@method
def as_strided_(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """In-place version of :func:`pyburn.as_strided`."""
    _core.as_strided_(self, list(size), list(stride), storage_offset)
    return self


@method
def resize_(
    self: Tensor, *sizes: int | Sequence[int], memory_format: memory_format = preserve_format
) -> Tensor:
    """Another shape with the first elements kept and new ones zero."""
    shape = sizes_of(sizes, "resize_")
    if self.requires_grad:
        raise RuntimeError("resize_: cannot resize variables that require grad")
    wanted = Size(shape).numel()
    flat = self.detach().reshape(-1)
    missing = wanted - flat.numel()
    if missing > 0:
        flat = _core._cat([flat, _core._full((missing,), 0, self.dtype, self.device)], 0)
    self.data = _core.narrow(flat, 0, 0, wanted).view(shape)
    return self


@method
def resize_as_(
    self: Tensor, the_template: Tensor, *, memory_format: memory_format = preserve_format
) -> Tensor:
    """Another tensor's shape with the first elements kept and new ones zero."""
    return resize_(self, tuple(the_template.shape))


@method
def set_(self: Tensor, source: Tensor | None = None) -> Tensor:
    """Lets this tensor show another one's memory; without one, it becomes empty."""
    if source is None:
        source = _core._full((0,), 0, self.dtype, self.device)
    if source.dtype != self.dtype:
        raise RuntimeError(f"set_: expected a {self.dtype} tensor, got {source.dtype}")
    self.data = source.detach()
    return self


_TYPE_NAMES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


@overload
def _type(self: Tensor, dtype: None = None) -> str: ...
@overload
def _type(self: Tensor, dtype: DTypeLike, non_blocking: bool = False) -> Tensor: ...
@method(name="type")
def _type(self: Tensor, dtype: DTypeLike | None = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, or the tensor in another one.

    Example:
        >>> pyburn.ones(1).type()
        'pyburn.FloatTensor'
    """
    if dtype is None:
        place = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"pyburn.{place}{_TYPE_NAMES[name_of(self.dtype)]}Tensor"
    if isinstance(dtype, str) and dtype.endswith("Tensor"):
        short = dtype.rpartition(".")[2].removesuffix("Tensor")
        found = [name for name, title in _TYPE_NAMES.items() if title == short]
        if not found:
            raise ValueError(f"type: invalid type: '{dtype}'")
        dtype = found[0]
    return self.to(dtype=as_dtype(dtype))


@method(name="type_as")
def _type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in another tensor's dtype, on its device."""
    return input.to(other)


def _converter(name: str, kind: Any) -> None:
    def convert(self: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
        return self.to(kind)

    convert.__name__ = name
    convert.__qualname__ = f"Tensor.{name}"
    convert.__doc__ = f"The elements as ``{kind!r}``."
    method(name=name)(convert)


for _name, _kind in {
    "float": _dtypes.float32,
    "double": _dtypes.float64,
    "half": _dtypes.float16,
    "bfloat16": _dtypes.bfloat16,
    "int": _dtypes.int32,
    "long": _dtypes.int64,
    "short": _dtypes.int16,
    "char": _dtypes.int8,
    "byte": _dtypes.uint8,
    "bool": _dtypes.bool,
    "cfloat": _dtypes.complex64,
    "cdouble": _dtypes.complex128,
}.items():
    _converter(_name, _kind)


@method(name="cpu")
def _cpu(self: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """The elements in host memory."""
    return self.to(device="cpu")


@method(name="cuda")
def _cuda(
    self: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """The elements on a CUDA device."""
    return self.to(device="cuda" if device is None else device)


def _copying(function: Callable[P, R], name: str) -> Callable[P, R]:
    """The variant of a view that returns memory of its own."""

    @functools.wraps(function)
    def copy(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result: Any = function(*args, **kwargs)
        if isinstance(result, Tensor):
            return into(result.clone(), out)
        copies = tuple(part.clone() for part in result)
        if out is None:
            return copies
        for part, target in zip(copies, out, strict=True):
            into(part, target)
        return None

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"A copy of what :func:`pyburn.{name.removesuffix('_copy')}` shows."
    return copy


def _whole(input: Tensor) -> Tensor:
    return input.view(input.shape)


as_strided_copy = _copying(as_strided, "as_strided_copy")
alias_copy = _copying(_whole, "alias_copy")
detach_copy = _copying(Tensor.detach, "detach_copy")
diagonal_copy = _copying(diagonal, "diagonal_copy")
expand_copy = _copying(Tensor.expand, "expand_copy")
narrow_copy = method(name="narrow_copy")(_copying(narrow, "narrow_copy"))
permute_copy = _copying(permute, "permute_copy")
select_copy = _copying(select, "select_copy")
split_copy = _copying(split, "split_copy")
split_with_sizes_copy = _copying(split_with_sizes, "split_with_sizes_copy")
squeeze_copy = _copying(squeeze, "squeeze_copy")
t_copy = _copying(t, "t_copy")
transpose_copy = _copying(transpose, "transpose_copy")
unbind_copy = _copying(unbind, "unbind_copy")
unfold_copy = _copying(Tensor.unfold, "unfold_copy")
unsqueeze_copy = _copying(unsqueeze, "unsqueeze_copy")
view_copy = _copying(Tensor.view, "view_copy")
