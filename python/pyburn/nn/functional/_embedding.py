"""Rows of a table by their numbers, and bags of them."""

from __future__ import annotations

from typing import NoReturn

from pyburn import _core
from pyburn._core import Tensor
from pyburn._creation import arange
from pyburn._dtypes import int32, int64
from pyburn._movement import cat
from pyburn.autograd import no_grad

__all__ = ["embedding", "embedding_bag", "one_hot"]


def _refuse_sparse(op: str) -> NoReturn:
    raise NotImplementedError(
        f"{op}: there are no sparse gradients; hint: sparse=False gives the same numbers"
    )


def _wrapped_row(op: str, padding_idx: int, rows: int) -> int:
    if not -rows <= padding_idx < rows:
        raise ValueError(
            f"{op}: padding_idx must be within the {rows} rows of the weight, got {padding_idx}"
        )
    return padding_idx % rows


def _renorm(weight: Tensor, rows: Tensor, max_norm: float, norm_type: float) -> None:
    """Shortens, in place, the rows that are used and longer than ``max_norm``."""
    with no_grad():
        used = rows.unique()
        if used.numel():
            short = _core.renorm(weight.index_select(0, used), norm_type, 0, max_norm)
            weight.index_copy_(0, used, short)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of a table with the given numbers.

    Args:
        input: numbers of rows, of any shape.
        weight: the table, ``(rows, dimension)``.
        padding_idx: a row whose gradient is zero.
        max_norm: used rows that are longer are first shortened to this, in the table itself.
        norm_type: which norm that is.
        scale_grad_by_freq: divide gradients by how often their row occurs.
        sparse: refused, there are no sparse gradients.

    Example:
        >>> table = pyburn.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> F.embedding(pyburn.tensor([1, 0, 1]), table)
        tensor([[3., 4.],
                [1., 2.],
                [3., 4.]])
    """
    if sparse:
        _refuse_sparse("embedding")
    if padding_idx is not None:
        padding_idx = _wrapped_row("embedding", padding_idx, weight.size(0))
    if max_norm is not None:
        _renorm(weight, input.reshape(-1), max_norm, norm_type)
    return _core.embedding(weight, input, padding_idx, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of a table; an empty bag gives zeros.

    Args:
        input: numbers of rows: ``(bags, rows each)``, or all in one dimension with ``offsets``.
        weight: the table, ``(rows, dimension)``.
        offsets: where each bag begins.
        max_norm: used rows that are longer are first shortened to this, in the table itself.
        norm_type: which norm that is.
        scale_grad_by_freq: divide gradients by how often their row occurs.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        sparse: refused, there are no sparse gradients.
        per_sample_weights: a factor for each row of ``input``, in the mode ``"sum"``.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that does not count.

    Example:
        >>> table = pyburn.tensor([[1.0], [2.0], [4.0]])
        >>> F.embedding_bag(pyburn.tensor([0, 2, 1]), table, pyburn.tensor([0, 2]), mode="sum")
        tensor([[5.],
                [2.]])
    """
    if sparse:
        _refuse_sparse("embedding_bag")
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError(
            "embedding_bag: max mode does not support scaling the gradient by the frequency"
        )
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                f"supported for mode='sum' (got mode='{mode}')"
            )
        if per_sample_weights.shape != input.shape:
            raise ValueError(
                f"embedding_bag: If per_sample_weights ({list(per_sample_weights.shape)}) is not "
                f"None, then it must have the same shape as the input ({list(input.shape)})"
            )
    offsets, rows = _bags(input, offsets, include_last_offset)
    if padding_idx is not None:
        padding_idx = _wrapped_row("embedding_bag", padding_idx, weight.size(0))
    if max_norm is not None:
        _renorm(weight, rows, max_norm, norm_type)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding_idx is not None:
        # What does not count is taken out; bags then begin where as many are left before them.
        counts = rows != padding_idx
        before = cat([counts.new_zeros(1, dtype=int64), counts.to(int64).cumsum(0)], 0)
        offsets = before.index_select(0, offsets)
        rows = rows.masked_select(counts)
        factors = None if factors is None else factors.masked_select(counts)
    found = _core.embedding(weight, rows, None, scale_grad_by_freq)
    if factors is not None:
        found = found * factors.unsqueeze(1)
    if mode == "sum":
        return _core.segment_reduce(found, "sum", None, offsets, None, None)
    result = _core.segment_reduce(found, mode, None, offsets, None, None)
    empty = offsets[1:] == offsets[:-1]
    return result.masked_fill(empty.unsqueeze(1), 0.0)


def _bags(
    input: Tensor, offsets: Tensor | None, include_last_offset: bool
) -> tuple[Tensor, Tensor]:
    """Where bags begin and the last one ends, and all rows in one dimension."""
    for name, tensor in (("input", input), ("offsets", offsets)):
        if tensor is not None and tensor.dtype not in (int32, int64):
            raise RuntimeError(
                f"embedding_bag: expected {name} of dtype int64 or int32, got {tensor.dtype}"
            )
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "embedding_bag: if input is 2D, then offsets has to be None, as input is treated "
                "as a mini-batch of fixed length sequences; however found offsets of shape "
                f"{list(offsets.shape)}"
            )
        bags, each = input.shape
        steps = arange(bags + 1, dtype=int64, device=input.device)
        return steps * each, input.reshape(-1)
    if input.ndim != 1:
        raise ValueError(
            f"embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension "
            f"{input.ndim}"
        )
    if offsets is None:
        raise ValueError("embedding_bag: offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise ValueError("embedding_bag: offsets has to be a 1D Tensor")
    offsets, total = offsets.to(int64), input.numel()
    if include_last_offset and offsets.numel() == 0:
        raise ValueError(
            "embedding_bag: include_last_offset: number of offsets should be at least 1"
        )
    if offsets.numel() and not offsets.is_meta:
        first, last = int(offsets[0].item()), int(offsets[-1].item())
        if first != 0:
            raise ValueError(
                "embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch "
                f"has to start from position 0. However, got {first}"
            )
        if last > total:
            raise ValueError(
                "embedding_bag: offsets[-1] can not be greater than input's length: got "
                f"offsets[-1] of {last} and {total} inputs"
            )
    if not include_last_offset:
        offsets = cat([offsets, offsets.new_full((1,), total)], 0)
    return offsets, input


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last dimension, zero but for a one at the place each element names.

    Args:
        num_classes: its size; the largest element and one more, if it is -1.

    Example:
        >>> F.one_hot(pyburn.tensor([0, 2]), 3)
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    return _core.one_hot(tensor, num_classes)
