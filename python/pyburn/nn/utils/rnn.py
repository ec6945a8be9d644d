"""Sequences of different lengths in one tensor: padded, or packed step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, cast

from pyburn import _core
from pyburn._core import Tensor, tensor
from pyburn._creation import arange
from pyburn._dtypes import Number, int64
from pyburn._movement import cat

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences of different lengths without padding: first the first elements of all, then the
    second ones of those that have one, and so on.

    Made by :func:`pack_padded_sequence` and :func:`pack_sequence`, read by
    :func:`pad_packed_sequence` and :func:`unpack_sequence`; recurrent layers take it and give it.

    Attributes:
        data: the elements, ``(sum of lengths, *)``.
        batch_sizes: how many sequences have a first, a second, ... element.
        sorted_indices: which sequence each of the batch was, longest first.
        unsorted_indices: where each sequence stands in the batch.

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([pyburn.tensor([1, 2, 3]), pyburn.tensor([4])])
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor | tuple[Tensor, Tensor],
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            data, batch_sizes = cast("tuple[Tensor, Tensor]", data)
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence and "
                "pack_padded_sequence in nn.utils.rnn."
            )
        return super().__new__(
            cls, cast(Tensor, data), batch_sizes, sorted_indices, unsorted_indices
        )

    def _with(self, data: Tensor) -> PackedSequence:
        """Other data in the same order; the order is kept where the data is."""
        if data is self.data:
            return self
        order, back = (
            None if index is None else index.to(data.device)
            for index in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, order, back)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Moves or converts the data, as :meth:`Tensor.to`."""
        return self._with(self.data.to(*args, **kwargs))

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Moves to a CUDA device."""
        return self._with(self.data.cuda(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """Moves to host memory."""
        return self._with(self.data.cpu())

    def pin_memory(self) -> PackedSequence:
        """The sequence itself: no memory is locked."""
        return self

    def double(self) -> PackedSequence:
        """Converts to float64."""
        return self._with(self.data.double())

    def float(self) -> PackedSequence:
        """Converts to float32."""
        return self._with(self.data.float())

    def half(self) -> PackedSequence:
        """Converts to float16."""
        return self._with(self.data.half())

    def long(self) -> PackedSequence:
        """Converts to int64."""
        return self._with(self.data.long())

    def int(self) -> PackedSequence:
        """Converts to int32."""
        return self._with(self.data.int())

    def short(self) -> PackedSequence:
        """Converts to int16."""
        return self._with(self.data.short())

    def char(self) -> PackedSequence:
        """Converts to int8."""
        return self._with(self.data.char())

    def byte(self) -> PackedSequence:
        """Converts to uint8."""
        return self._with(self.data.byte())

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data's memory is locked: never."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another.

    Example:
        >>> nn.utils.rnn.invert_permutation(pyburn.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    numbers = arange(permutation.numel(), device=permutation.device, dtype=permutation.dtype)
    return numbers.scatter(0, permutation, numbers)


def _places(lengths: Tensor, steps: int, by_step: bool) -> Tensor:
    """Where the elements of padded sequences stand if all dimensions but the last are one: in the
    order of steps, ``(steps, batch)``, or in that of sequences, ``(batch, steps)``."""
    times = arange(steps)
    there = times.unsqueeze(1) < lengths if by_step else times < lengths.unsqueeze(1)
    return there.reshape(-1).nonzero().reshape(-1)


def _lengths(op: str, lengths: Tensor | Sequence[int]) -> Tensor:
    """Lengths as a tensor in host memory."""
    given = lengths if isinstance(lengths, Tensor) else tensor(list(lengths), dtype=int64)
    if given.ndim != 1 or given.is_floating_point() or given.is_complex():
        raise RuntimeError(
            f"{op}: expected lengths as one row of integers, got {given.dtype} of shape "
            f"{list(given.shape)}"
        )
    return given.to("cpu", int64)


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Takes the padding out of a batch of sequences.

    Args:
        input: ``(steps, batch, *)``, or ``(batch, steps, *)`` with ``batch_first``.
        lengths: the length of each sequence.
        enforce_sorted: expect the longest sequence first instead of sorting.

    Example:
        >>> padded = pyburn.tensor([[1, 2, 0], [3, 0, 0]])
        >>> nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True).data
        tensor([1, 3, 2])
    """
    op = "pack_padded_sequence"
    sizes = _lengths(op, lengths)
    if batch_first:
        input = input.transpose(0, 1)
    steps, batch = input.shape[:2]
    if sizes.numel() != batch:
        raise RuntimeError(
            f"{op}: expected `len(lengths)` to be equal to batch_size, but got {sizes.numel()} "
            f"(batch_size={batch})"
        )
    if batch == 0:
        raise RuntimeError(f"{op}: cannot pack an empty batch")
    order: Tensor | None = None
    if not enforce_sorted:
        sizes, order = sizes.sort(descending=True, stable=True)
        order = order.to(input.device)
        input = input.index_select(1, order)
    elif bool((sizes[1:] > sizes[:-1]).any()):
        raise RuntimeError(
            f"{op}: `lengths` array must be sorted in decreasing order when `enforce_sorted` is "
            "True; hint: pass enforce_sorted=False"
        )
    if int(sizes[-1]) <= 0:
        raise RuntimeError(
            f"{op}: length of all samples has to be greater than 0, but found an element in "
            "'lengths' that is <= 0"
        )
    longest = int(sizes[0])
    if longest > steps:
        raise RuntimeError(
            f"{op}: a sequence of length {longest} does not fit into {steps} steps of the input, "
            f"whose shape is {list(input.shape)}"
        )
    flat = input.reshape(steps * batch, *input.shape[2:])
    data = flat.index_select(0, _places(sizes, steps, by_step=True).to(input.device))
    batch_sizes = (arange(longest).unsqueeze(1) < sizes).sum(1)
    return PackedSequence(data, batch_sizes, order)


def _spread(data: Tensor, places: Tensor, count: int, value: Number) -> Tensor:
    """Rows at their places among ``count`` rows that are ``value`` elsewhere."""
    padded = _core._full((count, *data.shape[1:]), value, data.dtype, data.device)
    return padded.index_copy(0, places.to(data.device), data)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: Number = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The padded form of a packed batch, and the lengths of its sequences.

    Args:
        total_length: the number of steps, at least that of the longest sequence.

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([pyburn.tensor([1, 2]), pyburn.tensor([3])])
        >>> nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2],
                [3, 0]]), tensor([2, 1]))
    """
    sizes = sequence.batch_sizes
    longest, batch = sizes.numel(), int(sizes[0])
    steps = longest if total_length is None else total_length
    if steps < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {longest}"
        )
    lengths = (sizes.unsqueeze(1) > arange(batch)).sum(0)
    places = _places(lengths, steps, by_step=True)
    padded = _spread(sequence.data, places, steps * batch, padding_value)
    padded = padded.reshape(steps, batch, *sequence.data.shape[1:])
    back = sequence.unsorted_indices
    if back is not None:
        padded = padded.index_select(1, back)
        lengths = lengths.index_select(0, back.cpu())
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: Number = 0.0,
    padding_side: Literal["left", "right"] = "right",
) -> Tensor:
    """Sequences ``(length, *)`` side by side, filled up to the longest.

    Example:
        >>> nn.utils.rnn.pad_sequence([pyburn.tensor([1, 2]), pyburn.tensor([3])], batch_first=True)
        tensor([[1, 2],
                [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: expected iterable for input sequences, but got arg of type: "
            f"{type(sequences).__name__}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"pad_sequence: padding_side must be 'left' or 'right', got {padding_side!r}"
        )
    items = list(sequences)
    if not items:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    rest = tuple(items[0].shape[1:])
    for item in items:
        if item.ndim == 0 or tuple(item.shape[1:]) != rest:
            raise RuntimeError(
                "pad_sequence: expected sequences that agree in all but the first dimension, got "
                f"shapes {list(items[0].shape)} and {list(item.shape)}"
            )
    lengths = [item.shape[0] for item in items]
    steps = max(lengths)
    places = _places(tensor(lengths, dtype=int64), steps, by_step=False)
    if padding_side == "left":
        # Read from the other end, in both directions.
        places = (len(items) * steps - 1) - _places(
            tensor(lengths[::-1], dtype=int64), steps, by_step=False
        ).flip(0)
    padded = _spread(cat(items), places, len(items) * steps, padding_value)
    padded = padded.reshape(len(items), steps, *rest)
    return padded if batch_first else padded.transpose(0, 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, without the padding.

    Example:
        >>> padded = pyburn.tensor([[1, 2], [3, 0]])
        >>> nn.utils.rnn.unpad_sequence(padded, pyburn.tensor([2, 1]), batch_first=True)
        [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    sizes = cast("list[int]", _lengths("unpad_sequence", lengths).tolist())
    return [row[:size] for row, size in zip(rows, sizes, strict=True)]


def pack_sequence(sequences: Iterable[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences ``(length, *)``, the longest first unless ``enforce_sorted`` is false."""
    items = list(sequences)
    return pack_padded_sequence(
        pad_sequence(items), [item.shape[0] for item in items], enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch.

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([pyburn.tensor([1, 2]), pyburn.tensor([3])])
        >>> nn.utils.rnn.unpack_sequence(packed)
        [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
