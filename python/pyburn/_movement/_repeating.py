"""Elements in another order, repeated, or in part zero."""

from __future__ import annotations

from collections.abc import Sequence

from pyburn import _core
from pyburn._api import check_tensor, into, method
from pyburn._core import Tensor
from pyburn._dtypes import (
    numpy_names,
    sizes_of,
)

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "repeat_interleave",
    "roll",
    "rot90",
    "tile",
    "tril",
    "triu",
]


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
    check_tensor("fliplr", input)
    if input.ndim < 2:
        raise RuntimeError(f"fliplr: input must be >= 2-d, got shape {list(input.shape)}")
    return _core.flip(input, 1)


@method
def flipud(input: Tensor) -> Tensor:
    """The first dimension read backwards."""
    check_tensor("flipud", input)
    if input.ndim < 1:
        raise RuntimeError("flipud: input must be >= 1-d, got shape []")
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
    check_tensor("repeat_interleave", input)
    if repeats is None:
        if input.ndim != 1:
            raise RuntimeError(
                "repeat_interleave: expected repeats, or a 1-dim tensor of them alone, got shape "
                f"{list(input.shape)}"
            )
        result = _core.repeated_places(input).to(input.dtype)
    else:
        result = _core.repeat_interleave(input, repeats, dim)
    size = result.shape[0 if dim is None else dim]
    if output_size not in (None, size):
        raise RuntimeError(
            f"repeat_interleave: invalid output_size, expected {size} but got {output_size}"
        )
    return result


@method(inplace=True)
def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of each matrix, zeros elsewhere."""
    return into(_core.tril(input, diagonal), out)


@method(inplace=True)
def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of each matrix, zeros elsewhere."""
    return into(_core.triu(input, diagonal), out)
