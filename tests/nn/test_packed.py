"""Sequences of different lengths: padded and packed."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck
from pyburn.nn.utils.rnn import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)


def sequences() -> list[pyburn.Tensor]:
    """Not sorted, with a dimension of features."""
    return [
        pyburn.arange(start, start + 2 * length).reshape(length, 2)
        for start, length in ((0, 2), (10, 4), (20, 1))
    ]


def test_packing_goes_step_by_step() -> None:
    packed = pack_sequence(sequences(), enforce_sorted=False)
    assert packed.sorted_indices is not None
    assert packed.unsorted_indices is not None
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    assert packed.unsorted_indices.tolist() == [1, 0, 2]
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.data[:, 0].tolist() == [10, 0, 20, 12, 2, 14, 16]


@pytest.mark.parametrize("batch_first", [True, False])
def test_round_trips(batch_first: bool) -> None:
    items = sequences()
    padded = pad_sequence(items, batch_first=batch_first, padding_value=-1)
    assert padded.shape == ((3, 4, 2) if batch_first else (4, 3, 2))
    lengths = pyburn.tensor([2, 4, 1])
    for back, item in zip(unpad_sequence(padded, lengths, batch_first), items, strict=True):
        assert back.equal(item)
    packed = pack_padded_sequence(padded, lengths, batch_first, enforce_sorted=False)
    again, found = pad_packed_sequence(packed, batch_first, padding_value=-1)
    assert again.equal(padded)
    assert found.tolist() == [2, 4, 1]
    for back, item in zip(unpack_sequence(packed), items, strict=True):
        assert back.equal(item)


def test_sorted_batches_have_no_order() -> None:
    items = sorted(sequences(), key=len, reverse=True)
    packed = pack_sequence(items)
    assert packed.sorted_indices is None
    assert packed.unsorted_indices is None
    assert pack_padded_sequence(pad_sequence(items), [4, 2, 1]).data.equal(packed.data)
    padded, _ = pad_packed_sequence(packed, total_length=6)
    assert padded.shape == (6, 3, 2)
    assert padded[4:].abs().sum().item() == 0


def test_padding_on_the_left() -> None:
    items = [pyburn.tensor([1, 2, 3]), pyburn.tensor([4]), pyburn.tensor([5, 6])]
    padded = pad_sequence(items, batch_first=True, padding_side="left", padding_value=9)
    assert padded.tolist() == [[1, 2, 3], [9, 9, 4], [9, 5, 6]]


def test_empty_sequences_can_be_padded() -> None:
    padded = pad_sequence([pyburn.ones(0), pyburn.ones(2)], batch_first=True)
    assert padded.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_gradients() -> None:
    x = pyburn.randn(3, 4, 2, dtype=pyburn.float64, requires_grad=True)

    def through(x: pyburn.Tensor) -> Any:
        packed = pack_padded_sequence(x, [2, 3, 1, 3], enforce_sorted=False)
        return packed.data * 2, pad_packed_sequence(packed)[0]

    assert gradcheck(through, (x,))
    a, b = (pyburn.randn(n, 2, dtype=pyburn.float64, requires_grad=True) for n in (2, 3))
    assert gradcheck(lambda a, b: pad_sequence([a, b]), (a, b))


def test_a_packed_sequence() -> None:
    packed = pack_sequence(sequences(), enforce_sorted=False)
    assert packed.double().data.dtype == pyburn.float64
    assert packed.to(pyburn.float16).data.dtype == pyburn.float16
    for name in ("float", "half", "long", "int", "short", "char", "byte"):
        assert getattr(packed, name)().data.dtype == getattr(packed.data, name)().dtype
    assert packed.cpu() is packed
    assert packed.pin_memory() is packed
    assert not packed.is_cuda
    assert not packed.is_pinned()
    moved = packed.to("meta")
    assert moved.data.is_meta
    assert moved.sorted_indices is not None
    assert moved.sorted_indices.is_meta
    assert not moved.batch_sizes.is_meta
    assert isinstance(packed, tuple)
    data, batch_sizes, _, _ = packed
    assert PackedSequence(data, batch_sizes).unsorted_indices is None
    assert PackedSequence((data, batch_sizes)).data is data
    for made in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert type(made) is PackedSequence
        assert made.data.equal(packed.data)
    with pytest.raises(ValueError, match="batch_sizes should always be on CPU"):
        PackedSequence(data, batch_sizes.to("meta"))


def test_inverting() -> None:
    assert invert_permutation(None) is None
    order = pyburn.randperm(9)
    inverse = invert_permutation(order)
    assert inverse is not None
    assert order[inverse].equal(pyburn.arange(9))


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda: pack_padded_sequence(pyburn.ones(3, 2), [1, 2]), RuntimeError, "enforce_sorted"),
        (lambda: pack_padded_sequence(pyburn.ones(3, 2), [2, 0]), RuntimeError, "greater than 0"),
        (lambda: pack_padded_sequence(pyburn.ones(3, 2), [2]), RuntimeError, "batch_size=2"),
        (lambda: pack_padded_sequence(pyburn.ones(3, 2), [5, 2]), RuntimeError, "length 5.*3 st"),
        (lambda: pack_padded_sequence(pyburn.ones(3, 0), []), RuntimeError, "empty batch"),
        (
            lambda: pack_padded_sequence(pyburn.ones(3, 2), pyburn.ones(2)),
            RuntimeError,
            "one row of integers",
        ),
        (
            lambda: pad_packed_sequence(pack_sequence([pyburn.ones(3)]), total_length=2),
            ValueError,
            "total_length=2 and max sequence length being 3",
        ),
        (lambda: pad_sequence(3), RuntimeError, "expected iterable.*int"),
        (lambda: pad_sequence([]), RuntimeError, "empty list"),
        (lambda: pad_sequence([pyburn.tensor(1)]), RuntimeError, "pad_sequence: expected seq"),
        (
            lambda: pad_sequence([pyburn.ones(2, 2), pyburn.ones(1, 3)]),
            RuntimeError,
            r"\[2, 2\] and \[1, 3\]",
        ),
        (
            lambda: pad_sequence([pyburn.ones(2)], padding_side="top"),
            RuntimeError,
            "'left' or 'right'",
        ),
    ],
)
def test_wrong_use(act: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        act()


def test_public_names() -> None:
    assert nn.utils.rnn.PackedSequence is PackedSequence
