"""Masks for attention: which keys a query meets, and where sequences are filled up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyburn._core import Tensor, tensor
from pyburn._creation import full
from pyburn._dtypes import DeviceLike, int64
from pyburn._dtypes import bool as bool_

__all__ = [
    "PaddingMask",
    "causal_lower_right",
    "causal_upper_left",
    "generate_autoregressive_mask",
    "generate_padding_mask",
]


def causal_upper_left(
    query_length: int, key_length: int, device: DeviceLike | None = None
) -> Tensor:
    """Which scores count if query ``i`` meets keys up to ``i``, both counted from the start.

    Example:
        >>> nn.attention.causal_upper_left(2, 3)
        tensor([[ True, False, False],
                [ True,  True, False]])
    """
    return full((query_length, key_length), True, dtype=bool_, device=device).tril()


def causal_lower_right(
    query_length: int, key_length: int, device: DeviceLike | None = None
) -> Tensor:
    """Which scores count if a query meets keys up to its own place, both counted from the end.

    Example:
        >>> nn.attention.causal_lower_right(2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """
    ones = full((query_length, key_length), True, dtype=bool_, device=device)
    return ones.tril(key_length - query_length)


def generate_autoregressive_mask(
    batch_size: int, seq_length: int, device: DeviceLike | None = None
) -> Tensor:
    """For each sequence ``(L, L)``, true where a key comes after the query.

    Example:
        >>> nn.generate_autoregressive_mask(1, 3)
        tensor([[[False,  True,  True],
                 [False, False,  True],
                 [False, False, False]]])
    """
    later = ~causal_upper_left(seq_length, seq_length, device)
    return later.expand(batch_size, seq_length, seq_length)


class PaddingMask(NamedTuple):
    """What :func:`generate_padding_mask` gives."""

    tensor: Tensor
    mask: Tensor


def generate_padding_mask(
    pad_token: int,
    tokens_list: Sequence[Sequence[int]],
    max_length: int | None = None,
    fixed: bool = False,
    device: DeviceLike | None = None,
) -> PaddingMask:
    """Lists of tokens side by side, filled up with ``pad_token``, and where that stands.

    Args:
        max_length: where sequences are cut off; their own longest if it is shorter.
        fixed: whether to fill up to ``max_length`` in any case.

    Example:
        >>> padded, mask = nn.generate_padding_mask(0, [[3, 4], [5, 6, 7]])
        >>> padded
        tensor([[3, 4, 0],
                [5, 6, 7]])
        >>> mask
        tensor([[False, False,  True],
                [False, False, False]])
    """
    if fixed and max_length is None:
        raise ValueError("generate_padding_mask: expected max_length with fixed=True, got None")
    length = max((len(tokens) for tokens in tokens_list), default=1)
    if max_length is not None:
        length = max_length if fixed else min(length, max_length)
    rows: list[Any] = [
        [*tokens[:length], *[pad_token] * (length - len(tokens))] for tokens in tokens_list
    ]
    padded = tensor(rows, dtype=int64, device=device).reshape(len(rows), length)
    return PaddingMask(padded, padded == pad_token)
