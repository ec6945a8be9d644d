"""Attention layers."""

from __future__ import annotations

import math

from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn._dtypes import bool as bool_
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._attention_cache import KVCache
from pyburn.nn._attention_masks import (
    causal_lower_right,
    generate_autoregressive_mask,
    generate_padding_mask,
)
from pyburn.nn._linear import Linear, empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.functional._attention import Masks, Projection, attend
from pyburn.nn.parameter import Parameter

__all__ = [
    "CrossAttention",
    "KVCache",
    "MultiHeadAttention",
    "MultiheadAttention",
    "generate_autoregressive_mask",
    "generate_padding_mask",
]


class NonDynamicallyQuantizableLinear(Linear):
    """A :class:`Linear` under the name that PyTorch shows for a projection of attention."""


class MultiheadAttention(Module):
    """Attention by several heads side by side, each over a part of the features.

    ``softmax(q @ k.T / sqrt(E / heads)) @ v`` in every head, of queries, keys and values that are
    linear in the inputs; then a linear layer over the heads' results. ``in_proj_weight`` holds the
    three matrices one below the other.

    Args:
        embed_dim: the number of features ``E`` of queries and results.
        num_heads: how many heads, a divisor of ``embed_dim``.
        dropout: how likely a weight is dropped, in training.
        bias: whether the linear layers have biases.
        add_bias_kv: one more key and value for all sequences, learned.
        add_zero_attn: one more key and value of zeros.
        kdim, vdim: the number of features of keys and values, if they are others.
        batch_first: whether inputs and outputs are ``(N, L, E)`` rather than ``(L, N, E)``.

    Example:
        >>> layer = nn.MultiheadAttention(8, 2, batch_first=True)
        >>> x = pyburn.ones(3, 5, 8)
        >>> out, weights = layer(x, x, x)
        >>> out.shape, weights.shape
        (pyburn.Size([3, 5, 8]), pyburn.Size([3, 5, 5]))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}"
            )

        def weight(*shape: int) -> Parameter:
            return empty_parameter(shape, device, dtype)

        one = self._qkv_same_embed_dim
        sizes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, size in sizes.items():
            self.register_parameter(name, None if one else weight(embed_dim, size))
        packed = weight(3 * embed_dim, embed_dim) if one else None
        self.register_parameter("in_proj_weight", packed)
        self.register_parameter("in_proj_bias", weight(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        if add_bias_kv:
            self.bias_k = weight(1, 1, embed_dim)
            self.bias_v = weight(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (
            self.in_proj_weight,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
        ):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for more in (self.bias_k, self.bias_v):
            if more is not None:
                init.xavier_normal_(more)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """The results, and the weights if they are needed.

        Args:
            query: ``(L, N, E)``, or ``(N, L, E)`` with ``batch_first``, or ``(L, E)``.
            key, value: ``(S, N, *)`` likewise.
            key_padding_mask: ``(N, S)``, true where a key is left out, or numbers to add.
            need_weights: whether to give the weights; without, keys are met tile by tile.
            attn_mask: ``(L, S)`` or ``(N * heads, L, S)``, true where a key is left out, or numbers
                to add.
            average_attn_weights: whether weights are averaged over heads.
            is_causal: says that ``attn_mask`` is the causal mask, which then need not be read.
            cache: the keys and values of earlier steps, to which this one's are added. Masks are
                for all keys then; with ``is_causal`` queries meet those up to their own, and no
                mask is needed.
        """
        by = Projection(
            self.num_heads,
            self.in_proj_weight,
            (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight),
            self.in_proj_bias,
            self.out_proj.weight,
            self.out_proj.bias,
            (self.bias_k, self.bias_v),
            self.add_zero_attn,
        )
        return attend(
            query,
            key,
            value,
            by,
            Masks(key_padding_mask, attn_mask, is_causal),
            self.dropout if self.training else 0.0,
            need_weights,
            average_attn_weights,
            batch_first=self.batch_first,
            cache=cache,
        )


MultiHeadAttention = MultiheadAttention
"""burn's name of :class:`MultiheadAttention`."""


class CrossAttention(Module):
    """Attention of one sequence to another, with heads of any size.

    Several heads of queries may share one of keys and values: ``n_heads_kv`` of 1 is multi-query
    attention, between 1 and ``n_heads`` grouped-query attention. With ``d_context`` equal to
    ``d_model`` and the sequence as its own context it is self-attention.

    Args:
        d_model: the number of features of queries and results.
        d_context: the number of features of the context.
        n_heads: how many heads of queries.
        n_heads_kv: how many heads of keys and values, a divisor of ``n_heads``.
        d_head: the number of features of a head.
        dropout: how likely a weight is dropped, in training.
        quiet_softmax: lets a head attend to nothing: weights are ``exp(s) / (1 + sum(exp(s)))``.

    Example:
        >>> layer = nn.CrossAttention(16, 24, n_heads=4, n_heads_kv=2, d_head=8)
        >>> layer(pyburn.ones(3, 5, 16), pyburn.ones(3, 7, 24)).shape
        pyburn.Size([3, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        d_context: int,
        n_heads: int,
        n_heads_kv: int,
        d_head: int,
        dropout: float = 0.1,
        quiet_softmax: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        sizes = {
            "d_model": d_model,
            "d_context": d_context,
            "n_heads": n_heads,
            "n_heads_kv": n_heads_kv,
            "d_head": d_head,
        }
        for name, size in sizes.items():
            if size <= 0:
                raise ValueError(f"CrossAttention: expected {name} to be positive, got {size}")
        if n_heads % n_heads_kv:
            raise ValueError(
                "CrossAttention: expected n_heads to be divisible by n_heads_kv, got "
                f"{n_heads} and {n_heads_kv}"
            )
        self.n_heads = n_heads
        self.n_heads_kv = n_heads_kv
        self.d_head = d_head
        self.dropout = dropout
        self.quiet_softmax = quiet_softmax
        self.query = Linear(d_model, n_heads * d_head, True, device, dtype)
        self.key = Linear(d_context, n_heads_kv * d_head, True, device, dtype)
        self.value = Linear(d_context, n_heads_kv * d_head, True, device, dtype)
        self.output = Linear(n_heads * d_head, d_model, True, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weights and biases anew, as burn does: uniformly from
        ``±sqrt(3 / (d_head * in_features))``."""
        for layer in (self.query, self.key, self.value, self.output):
            bound = math.sqrt(3 / (self.d_head * layer.in_features))
            for parameter in layer.parameters():
                init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        return (
            f"n_heads={self.n_heads}, n_heads_kv={self.n_heads_kv}, d_head={self.d_head}, "
            f"dropout={self.dropout}, quiet_softmax={self.quiet_softmax}"
        )

    def forward(
        self,
        query: Tensor,
        context: Tensor,
        mask: Tensor | None = None,
        is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor:
        """What the queries find in the context.

        Args:
            query: ``(N, L, d_model)``.
            context: ``(N, S, d_context)``.
            mask: true where a key is left out: ``(N, S)`` for all queries, or ``(N, L, S)``.
            is_causal: queries meet keys up to their own place, both counted from the end.
            cache: the keys and values of earlier steps, to which this context's are added; masks
                are for all keys then.
        """
        for name, rows, size in (
            ("query", query, self.query.in_features),
            ("context", context, self.key.in_features),
        ):
            if rows.ndim != 3 or rows.shape[-1] != size:
                raise RuntimeError(
                    f"CrossAttention: expected {name} of shape (batch, steps, {size}), got "
                    f"{list(rows.shape)}"
                )
        q = self._heads(self.query(query), self.n_heads)
        if cache is not None and cache.complete:
            k, v = cache.update(q, q)
        else:
            k = self._heads(self.key(context), self.n_heads_kv)
            v = self._heads(self.value(context), self.n_heads_kv)
            if cache is not None:
                k, v = cache.update(k, v)
        allowed = self._allowed(mask, is_causal, q, k)
        dropout = self.dropout if self.training else 0.0
        if self.quiet_softmax:
            found = self._quietly(q, k, v, allowed, dropout)
        else:
            found = F.scaled_dot_product_attention(q, k, v, allowed, dropout, enable_gqa=True)
        return self.output(found.transpose(1, 2).flatten(2))

    def _heads(self, rows: Tensor, count: int) -> Tensor:
        return rows.unflatten(-1, (count, self.d_head)).transpose(1, 2)

    def _allowed(self, mask: Tensor | None, is_causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
        """Which scores count; ``None`` for all."""
        queries, keys = q.shape[2], k.shape[2]
        allowed = causal_lower_right(queries, keys, q.device) if is_causal else None
        if mask is None:
            return allowed
        fitting = ((q.shape[0], keys), (q.shape[0], queries, keys))
        if mask.dtype != bool_ or tuple(mask.shape) not in fitting:
            raise RuntimeError(
                f"CrossAttention: expected a mask of dtype bool and shape {fitting[0]} or "
                f"{fitting[1]}, got {mask.dtype} and {tuple(mask.shape)}"
            )
        given = ~(mask[:, None, None, :] if mask.ndim == 2 else mask[:, None])
        return given if allowed is None else given & allowed

    def _quietly(
        self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, dropout: float
    ) -> Tensor:
        """Attention whose weights may sum to less than one."""
        shared = self.n_heads // self.n_heads_kv
        if shared > 1:
            k, v = k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)
        scores = (q * (1 / math.sqrt(self.d_head))) @ k.transpose(-2, -1)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -math.inf)
        return F.dropout(F.quiet_softmax(scores, -1), dropout) @ v
