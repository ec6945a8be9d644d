"""Attention: values weighted by how well their keys match queries."""

from __future__ import annotations

import math
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, cast

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import bool as bool_
from pyburn._movement import cat
from pyburn.nn.functional._linear import linear

if TYPE_CHECKING:
    from pyburn.nn._attention_cache import KVCache

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

way: ContextVar[str] = ContextVar("way", default="any")
"""Which way attention takes: ``"any"``, ``"tiles"`` or ``"products"``; see ``nn.attention``."""


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + attn_mask) @ value``, without building all scores.

    On the CPU keys are met tile by tile, forward and backward; dropout, gradients of the mask and
    gradients of gradients take the way through all scores. A query that meets no key gives zeros.

    Args:
        query: ``(*, heads, L, E)``.
        key: ``(*, heads, S, E)``; what comes before the last two dimensions broadcasts.
        value: ``(*, heads, S, Ev)``.
        attn_mask: broadcast to ``(*, heads, L, S)``: truth values, where true takes part, or
            numbers that are added.
        dropout_p: how likely a weight is dropped; there is no training mode here.
        is_causal: query ``i`` meets keys up to ``i``; excludes a mask.
        scale: ``1 / sqrt(E)`` unless given.
        enable_gqa: heads of keys and values may be fewer: each serves a run of heads of queries.

    Example:
        >>> x = pyburn.ones(2, 8, 5, 16)
        >>> F.scaled_dot_product_attention(x, x, x, is_causal=True).shape
        pyburn.Size([2, 8, 5, 16])
    """
    return _core.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, way.get()
    )


class Projection(NamedTuple):
    """The weights of attention by several heads."""

    num_heads: int
    packed: Tensor | None
    """Of queries, keys and values, one below the other; or three matrices apart."""
    apart: tuple[Tensor | None, Tensor | None, Tensor | None]
    bias: Tensor | None
    out_weight: Tensor
    out_bias: Tensor | None
    more: tuple[Tensor | None, Tensor | None] = (None, None)
    """A key and a value that all sequences have besides their own."""
    zero: bool = False
    """Whether all sequences have a key and a value of zeros, too."""


class Masks(NamedTuple):
    """What keeps keys out: true, or numbers that are added to scores."""

    padding: Tensor | None
    attention: Tensor | None
    causal: bool


def _check_ranks(query: Tensor, key: Tensor, value: Tensor, masks: Masks) -> bool:
    """Refuses ranks that do not go together; whether there is a batch."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            "multi_head_attention_forward: query should be unbatched 2D or batched 3D tensor but "
            f"received {query.ndim}-D query tensor (shape {list(query.shape)})"
        )
    batched = query.ndim == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.ndim}-D but found "
            f"{key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if masks.padding is not None and masks.padding.ndim != query.ndim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.ndim - 1}-D "
            f"but found {masks.padding.ndim}-D tensor instead"
        )
    if masks.attention is not None and masks.attention.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{masks.attention.ndim}-D tensor instead"
        )
    return batched


def _check_masks(masks: Masks, heads: int, sequences: int, queries: int, keys: int) -> None:
    """Refuses masks of other dtypes or sizes."""
    padding, attention, _ = masks
    for name, mask in (("key_padding_mask", padding), ("attn_mask", attention)):
        if mask is not None and mask.dtype != bool_ and not mask.is_floating_point():
            raise AssertionError(
                f"multi_head_attention_forward: only bool and floating types of {name} are "
                f"supported, got {mask.dtype}"
            )
    if attention is not None:
        fitting = (queries, keys) if attention.ndim == 2 else (sequences * heads, queries, keys)
        if tuple(attention.shape) != fitting:
            raise RuntimeError(
                f"The shape of the {attention.ndim}D attn_mask is {tuple(attention.shape)}, but "
                f"should be {fitting}."
            )
    if padding is not None and tuple(padding.shape) != (sequences, keys):
        raise AssertionError(
            f"Expected key_padding_mask.shape to be {(sequences, keys)}, but got "
            f"{tuple(padding.shape)}"
        )
    if padding is not None and attention is not None and padding.dtype != attention.dtype:
        warnings.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            f"for both instead, got {padding.dtype} and {attention.dtype}",
            stacklevel=5,
        )


def _part(whole: Tensor | None, start: int, end: int | None = None) -> Tensor | None:
    return None if whole is None else whole[start:end]


def _projected(
    query: Tensor, key: Tensor, value: Tensor, by: Projection
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values in the size of the model; what has one source is one product."""
    packed, bias, size = by.packed, by.bias, query.shape[-1]
    if packed is not None and key is value:
        if query is key:
            q, k, v = linear(query, packed, bias).chunk(3, -1)
            return q, k, v
        k, v = linear(key, packed[size:], _part(bias, size)).chunk(2, -1)
        return linear(query, packed[:size], _part(bias, 0, size)), k, v
    matrices = by.apart if packed is None else packed.chunk(3)
    sources = zip((query, key, value), matrices, range(3), strict=True)
    q, k, v = (
        linear(source, cast(Tensor, matrix), _part(bias, at * size, (at + 1) * size))
        for source, matrix, at in sources
    )
    return q, k, v


def _projected_query(query: Tensor, by: Projection) -> Tensor:
    """Queries alone."""
    size = query.shape[-1]
    matrix = _part(by.packed, 0, size)
    return linear(
        query, cast(Tensor, by.apart[0] if matrix is None else matrix), _part(by.bias, 0, size)
    )


def _added_keys(by: Projection, keys: Tensor, batch: int) -> list[tuple[Tensor, Tensor]]:
    """Keys and values that every sequence has besides its own: learned ones, zeros."""
    added: list[tuple[Tensor, Tensor]] = []
    shape = [1, 1, keys.shape[-1]]
    shape[batch] = keys.shape[batch]
    of_key, of_value = by.more
    if (of_key is None) != (of_value is None):
        raise AssertionError(
            "multi_head_attention_forward: expected bias_k and bias_v to be given both or neither"
        )
    if of_key is not None and of_value is not None:
        added.append((of_key.expand(shape), of_value.expand(shape)))
    if by.zero:
        zeros = _core._full(tuple(shape), 0, keys.dtype, keys.device)
        added.append((zeros, zeros))
    return added


def _given(heads: Tensor, sequences: int, by: Projection, features: int) -> Tensor:
    """Keys or values that are given in heads, in place of projected ones."""
    count = sequences * by.num_heads
    if heads.ndim != 3 or heads.shape[0] != count or heads.shape[2] != features:
        raise AssertionError(
            "multi_head_attention_forward: expected static_k and static_v of shape "
            f"({count}, S, {features}), got {list(heads.shape)}"
        )
    if by.more != (None, None):
        raise AssertionError(
            "multi_head_attention_forward: bias_k and bias_v cannot be added to static_k and "
            "static_v"
        )
    if by.zero:
        zeros = _core._full((count, 1, features), 0, heads.dtype, heads.device)
        heads = cat([heads, zeros], 1)
    return heads.unflatten(0, (sequences, by.num_heads))


def _in_heads(rows: Tensor, num_heads: int, batch: int) -> Tensor:
    """``(N, heads, steps, features)`` of rows ``(steps, N, size)``, or ``(N, steps, size)``."""
    split = rows.unflatten(-1, (num_heads, rows.shape[-1] // num_heads))
    return split.transpose(1, 2) if batch == 0 else split.permute(1, 2, 0, 3)


def _as_added(mask: Tensor, like: Tensor) -> Tensor:
    """What a mask adds to scores; truth values take scores out."""
    if mask.dtype != bool_:
        return mask.to(like.dtype)
    zeros = _core._full(tuple(mask.shape), 0, like.dtype, like.device)
    return zeros.masked_fill(mask, -math.inf)


def _one_mask(masks: Masks, sequences: int, heads: int, more: int, like: Tensor) -> Tensor | None:
    """Both masks as one that broadcasts to scores, for ``more`` keys that nothing keeps out."""

    def widened(mask: Tensor) -> Tensor:
        if not more:
            return mask
        shape = (*mask.shape[:-1], more)
        return cat([mask, _core._full(shape, 0, mask.dtype, mask.device)], -1)

    found: list[Tensor] = []
    if masks.attention is not None:
        mask = widened(masks.attention)
        found.append(mask if mask.ndim == 2 else mask.unflatten(0, (sequences, heads)))
    if masks.padding is not None:
        found.append(widened(masks.padding)[:, None, None, :])
    if len(found) < 2:
        return found[0] if found else None
    if all(mask.dtype == bool_ for mask in found):
        return found[0] | found[1]
    return _as_added(found[0], like) + _as_added(found[1], like)


def _weighted(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """Attention and its weights."""
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-2, -1)
    if mask is not None:
        if mask.dtype == bool_:
            scores = scores.masked_fill(mask, -math.inf)
        else:
            scores = scores + mask.to(scores.dtype)
    weights = _core.dropout(scores.softmax(-1), dropout_p, True, None)
    return weights @ v, weights


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    by: Projection,
    masks: Masks,
    dropout_p: float,
    need_weights: bool,
    average: bool,
    static: tuple[Tensor | None, Tensor | None] = (None, None),
    batch_first: bool = False,
    cache: KVCache | None = None,
) -> tuple[Tensor, Tensor | None]:
    """:func:`multi_head_attention_forward` over rows of either order, and with a cache."""
    batched = _check_ranks(query, key, value, masks)
    batch = 0 if batch_first and batched else 1
    if not batched:
        same = key is query, value is key
        query = query.unsqueeze(1)
        # What is one tensor stays one: it is projected at once.
        key = query if same[0] else key.unsqueeze(1)
        value = key if same[1] else value.unsqueeze(1)
        if masks.padding is not None:
            masks = masks._replace(padding=masks.padding.unsqueeze(0))
    size, sequences, heads = query.shape[-1], query.shape[batch], by.num_heads
    queries, keys = query.shape[1 - batch], key.shape[1 - batch]
    if size % heads:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {heads}")
    rank = 3 if by.packed is not None else 2
    if key.shape[:rank] != value.shape[:rank]:
        raise AssertionError(
            f"key shape {list(key.shape)} does not match value shape {list(value.shape)}"
        )
    if cache is not None:
        keys = len(cache) if cache.complete else len(cache) + keys
        if masks.causal and masks.attention is None:
            ones = _core._full((queries, keys), 1, bool_, query.device)
            masks = masks._replace(attention=ones.triu(keys - queries + 1))
        masks = masks._replace(causal=False)
    if masks.causal and masks.attention is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    _check_masks(masks, heads, sequences, queries, keys)
    causal = masks.causal and masks.padding is None and not need_weights
    if causal:
        masks = masks._replace(attention=None)

    more = 0
    if cache is not None and cache.complete:
        q = _in_heads(_projected_query(query, by), heads, batch)
        k, v = cache.update(q, q)
    else:
        q, k, v = _projected(query, key, value, by)
        added = _added_keys(by, k, batch)
        more = len(added)
        if added:
            k = cat([k, *(pair[0] for pair in added)], 1 - batch)
            v = cat([v, *(pair[1] for pair in added)], 1 - batch)
        q, k, v = (_in_heads(rows, heads, batch) for rows in (q, k, v))
        if static[0] is not None:
            k = _given(static[0], sequences, by, size // heads)
        if static[1] is not None:
            v = _given(static[1], sequences, by, size // heads)
        if cache is not None:
            k, v = cache.update(k, v)
    mask = _one_mask(masks, sequences, heads, more, q)

    weights = None
    if need_weights:
        found, weights = _weighted(q, k, v, mask, dropout_p)
    else:
        if mask is not None:
            mask = ~mask if mask.dtype == bool_ else mask.to(q.dtype)
        found = scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
    rows = found.transpose(1, 2) if batch == 0 else found.permute(2, 0, 1, 3)
    result = linear(rows.flatten(2), by.out_weight, by.out_bias)
    if weights is not None and average:
        weights = weights.mean(1)
    if not batched:
        result = result.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return result, weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What :class:`pyburn.nn.MultiheadAttention` computes, with its weights as arguments.

    Args:
        query: ``(L, N, E)``, or ``(L, E)`` without batch.
        key, value: ``(S, N, E)``.
        embed_dim_to_check: the ``E`` that is expected.
        in_proj_weight: ``(3 * E, E)``, for queries, keys and values; or three matrices apart, with
            ``use_separate_proj_weight``.
        bias_k, bias_v: ``(1, 1, E)``, one more key and value.
        add_zero_attn: one more key and value of zeros.
        key_padding_mask: ``(N, S)``, true where a key is left out, or numbers to add.
        attn_mask: ``(L, S)`` or ``(N * heads, L, S)``, likewise.
        need_weights: whether to give the weights too, which costs more.
        static_k, static_v: ``(N * heads, S, E / heads)`` in place of projected keys and values.
        average_attn_weights: whether weights are averaged over heads.
        is_causal: says that ``attn_mask`` is the causal mask, which then need not be read.

    Example:
        >>> x, weight = pyburn.ones(5, 2, 4), pyburn.ones(12, 4)
        >>> out, weights = F.multi_head_attention_forward(
        ...     x, x, x, 4, 2, weight, None, None, None, False, 0.0, pyburn.eye(4), None
        ... )
        >>> out.shape, weights.shape
        (pyburn.Size([5, 2, 4]), pyburn.Size([2, 5, 5]))
    """
    if query.shape[-1] != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}"
        )
    apart = (q_proj_weight, k_proj_weight, v_proj_weight)
    packed = None if use_separate_proj_weight else in_proj_weight
    needed = apart if use_separate_proj_weight else (packed,)
    if any(weight is None for weight in needed):
        raise AssertionError(
            "multi_head_attention_forward: use_separate_proj_weight is "
            f"{use_separate_proj_weight}, but a weight it needs is None"
        )
    by = Projection(
        num_heads,
        packed,
        apart,
        in_proj_bias,
        out_proj_weight,
        out_proj_bias,
        (bias_k, bias_v),
        add_zero_attn,
    )
    return attend(
        query,
        key,
        value,
        by,
        Masks(key_padding_mask, attn_mask, is_causal),
        dropout_p if training else 0.0,
        need_weights,
        average_attn_weights,
        (static_k, static_v),
    )
