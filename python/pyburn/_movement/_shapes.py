"""Other shapes and orders of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from pyburn import _core
from pyburn._api import attach, check_tensor, method, spread
from pyburn._core import Tensor
from pyburn._dtypes import (
    memory_format,
    numpy_names,
    preserve_format,
    sizes_of,
    wrapped,
)
from pyburn._size import Size

__all__ = [
    "adjoint",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "flatten",
    "is_same_size",
    "moveaxis",
    "movedim",
    "numel",
    "permute",
    "ravel",
    "reshape",
    "resize_as_",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
]


@numpy_names
def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Dimensions of size one taken out; all of them if none is named."""
    check_tensor("squeeze", input)
    return input.squeeze(dim)


@numpy_names
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dimension of size one put in."""
    check_tensor("unsqueeze", input)
    return input.unsqueeze(dim)


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Another shape with the same elements: a view where possible, a copy elsewhere."""
    check_tensor("reshape", input)
    return input.reshape(shape)


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Dimensions in another order."""
    check_tensor("permute", input)
    return input.permute(dims)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    check_tensor("transpose", input)
    return input.transpose(dim0, dim1)


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and 0-d tensors as they are."""
    check_tensor("t", input)
    return input.t()


@method
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions swapped: NumPy's name for ``transpose``."""
    check_tensor("swapaxes", input)
    return input.transpose(axis0, axis1)


@method
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped: another name for ``transpose``."""
    check_tensor("swapdims", input)
    return input.transpose(dim0, dim1)


@method
def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Dimensions moved to other places, the others in order."""
    return _core.movedim(input, source, destination)


moveaxis = movedim
attach("moveaxis", movedim)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Several dimensions merged into one."""
    check_tensor("flatten", input)
    return input.flatten(start_dim, end_dim)


@method
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    check_tensor("ravel", input)
    return input.reshape(-1)


@method
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension taken apart into several.

    Example:
        >>> pyburn.unflatten(pyburn.zeros(6), 0, (2, -1)).shape
        pyburn.Size([2, 3])
    """
    check_tensor("unflatten", input)
    if not input.ndim:
        raise RuntimeError("unflatten: expected a tensor with dimensions, got shape []")
    at = wrapped(dim, input.shape, "unflatten")
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
            f"({length}) in the input tensor of shape {list(input.shape)}"
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
    check_tensor("view_as", input)
    check_tensor("view_as", other)
    return input.view(other.shape)


@method
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The same elements in another tensor's shape."""
    check_tensor("reshape_as", input)
    check_tensor("reshape_as", other)
    return input.reshape(other.shape)


@method
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """A view in a larger shape, dimensions of size one repeated."""
    check_tensor("broadcast_to", input)
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
    return _core._broadcast_tensors(spread(tensors))


def _raised(tensor: Tensor, rank: int) -> Tensor:
    return tensor if tensor.ndim >= rank else _core.atleast_nd(tensor, rank)


def _atleast(tensors: tuple[Any, ...], rank: int) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _raised(tensors[0], rank)
    several = spread(tensors)
    for tensor in several:
        check_tensor(f"atleast_{rank}d", tensor)
    return tuple(_raised(tensor, rank) for tensor in several)


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
    check_tensor("adjoint", input)
    if input.ndim < 2:
        raise RuntimeError(
            f"adjoint: tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{input.ndim}-D tensor, of shape {list(input.shape)}"
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
