"""Encoders and decoders made of attention and layers of their own for every step."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pyburn._core import Tensor
from pyburn._creation import full
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn._dtypes import bool as bool_
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._attention import MultiheadAttention
from pyburn.nn._attention_cache import KVCache
from pyburn.nn._containers import ModuleList
from pyburn.nn._dropout import Dropout
from pyburn.nn._linear import Linear
from pyburn.nn._module import Module
from pyburn.nn._norm import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation: TypeAlias = Callable[[Tensor], Tensor]
DecoderCache: TypeAlias = tuple[KVCache, KVCache]
"""Of a layer's own sequence, and of the memory."""


def _activation(given: str | Activation) -> Activation:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


def _clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _square_mask(
    size: int, device: DeviceLike | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    return full((size, size), -math.inf, dtype=dtype, device=device).triu(1)


def _is_causal(mask: Tensor | None, hint: bool | None) -> bool:
    """Whether a mask is the causal one; a hint is believed."""
    if hint is not None or mask is None:
        return hint is True
    if mask.ndim != 2 or mask.shape[0] != mask.shape[1]:
        return False
    causal = _square_mask(mask.shape[0], mask.device)
    if mask.dtype == bool_:
        return mask.equal(causal != 0)
    return mask.equal(causal.to(mask.dtype))


class _Layer(Module):
    """What both kinds of layers have: attention to themselves, and two linear layers."""

    norm_first: bool
    activation: Activation

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: str | Activation,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        device: DeviceLike | None,
        dtype: DTypeLike | None,
        attentions: tuple[str, ...],
    ) -> None:
        super().__init__()
        for name in attentions:
            attention = MultiheadAttention(
                d_model,
                nhead,
                dropout=dropout,
                bias=bias,
                batch_first=batch_first,
                device=device,
                dtype=dtype,
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        blocks = range(1, len(attentions) + 2)
        for at in blocks:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
            setattr(self, f"norm{at}", norm)
        for at in blocks:
            setattr(self, f"dropout{at}", Dropout(dropout))
        self.activation = _activation(activation)

    def _attention(
        self,
        layer: MultiheadAttention,
        dropout: Module,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        padding: Tensor | None,
        is_causal: bool,
        cache: KVCache | None,
    ) -> Tensor:
        found, _ = layer(
            query,
            key,
            key,
            attn_mask=mask,
            key_padding_mask=padding,
            need_weights=False,
            is_causal=is_causal,
            cache=cache,
        )
        return dropout(found)

    def _feed_forward(self, x: Tensor, dropout: Module) -> Tensor:
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and two linear layers, each added to what goes in and normalised.

    Args:
        d_model: the number of features.
        nhead: how many heads.
        dim_feedforward: the number of features between the linear layers.
        dropout: how likely an element is dropped, in training.
        activation: ``"relu"``, ``"gelu"`` or a function, between the linear layers.
        layer_norm_eps: the ``eps`` of the normalisations.
        batch_first: whether inputs and outputs are ``(N, S, E)`` rather than ``(S, N, E)``.
        norm_first: whether to normalise what goes into a block rather than what comes out.
        bias: whether linear layers and normalisations have biases.

    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, batch_first=True)
        >>> layer(pyburn.ones(3, 5, 8)).shape
        pyburn.Size([3, 5, 8])
    """

    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
            ("self_attn",),
        )

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor:
        """The sequence after this layer.

        Args:
            src: ``(S, N, E)``, ``(N, S, E)`` with ``batch_first``, or ``(S, E)``.
            src_mask: ``(S, S)`` or ``(N * heads, S, S)``, true where a key is left out, or numbers
                to add.
            src_key_padding_mask: ``(N, S)`` likewise.
            is_causal: says that ``src_mask`` is the causal mask.
            cache: the keys and values of earlier steps, as :class:`MultiheadAttention` takes it.
        """

        def attention(x: Tensor) -> Tensor:
            return self._attention(
                self.self_attn,
                self.dropout1,
                x,
                x,
                src_mask,
                src_key_padding_mask,
                is_causal,
                cache,
            )

        x = src
        if self.norm_first:
            x = x + attention(self.norm1(x))
            return x + self._feed_forward(self.norm2(x), self.dropout2)
        x = self.norm1(x + attention(x))
        return self.norm2(x + self._feed_forward(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory and two linear layers, each added to what goes in and
    normalised.

    Args:
        d_model: the number of features.
        nhead: how many heads.
        dim_feedforward: the number of features between the linear layers.
        dropout: how likely an element is dropped, in training.
        activation: ``"relu"``, ``"gelu"`` or a function, between the linear layers.
        layer_norm_eps: the ``eps`` of the normalisations.
        batch_first: whether inputs and outputs are ``(N, T, E)`` rather than ``(T, N, E)``.
        norm_first: whether to normalise what goes into a block rather than what comes out.
        bias: whether linear layers and normalisations have biases.

    Example:
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2)
        >>> layer(pyburn.ones(5, 3, 8), pyburn.ones(7, 3, 8)).shape
        pyburn.Size([5, 3, 8])
    """

    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
            ("self_attn", "multihead_attn"),
        )

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
        cache: DecoderCache | None = None,
    ) -> Tensor:
        """The sequence after this layer.

        Args:
            tgt: ``(T, N, E)``, ``(N, T, E)`` with ``batch_first``, or ``(T, E)``.
            memory: ``(S, N, E)`` likewise.
            tgt_mask: ``(T, T)`` or ``(N * heads, T, T)``, true where a key is left out, or numbers
                to add.
            memory_mask: ``(T, S)`` or ``(N * heads, T, S)`` likewise.
            tgt_key_padding_mask: ``(N, T)`` likewise.
            memory_key_padding_mask: ``(N, S)`` likewise.
            tgt_is_causal: says that ``tgt_mask`` is the causal mask.
            memory_is_causal: says that ``memory_mask`` is the causal mask.
            cache: the keys and values of earlier steps, and those of the memory.
        """
        own, of_memory = (None, None) if cache is None else cache

        def attention(x: Tensor) -> Tensor:
            return self._attention(
                self.self_attn,
                self.dropout1,
                x,
                x,
                tgt_mask,
                tgt_key_padding_mask,
                tgt_is_causal,
                own,
            )

        def recall(x: Tensor) -> Tensor:
            return self._attention(
                self.multihead_attn,
                self.dropout2,
                x,
                memory,
                memory_mask,
                memory_key_padding_mask,
                memory_is_causal,
                of_memory,
            )

        x = tgt
        if self.norm_first:
            x = x + attention(self.norm1(x))
            x = x + recall(self.norm2(x))
            return x + self._feed_forward(self.norm3(x), self.dropout3)
        x = self.norm1(x + attention(x))
        x = self.norm2(x + recall(x))
        return self.norm3(x + self._feed_forward(x, self.dropout3))


class TransformerEncoder(Module):
    """Encoder layers one after the other.

    Padded steps are computed like all others, in training and in evaluation; there are no nested
    tensors, so ``enable_nested_tensor`` and ``mask_check`` change nothing.

    Args:
        encoder_layer: the layer that is copied.
        num_layers: how many copies.
        norm: a normalisation at the end.

    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, batch_first=True)
        >>> encoder = nn.TransformerEncoder(layer, num_layers=2)
        >>> encoder(pyburn.ones(3, 5, 8)).shape
        pyburn.Size([3, 5, 8])
    """

    norm: Module | None

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def new_cache(self) -> list[KVCache]:
        """An empty cache for each layer.

        Example:
            >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, batch_first=True)
            >>> encoder = nn.TransformerEncoder(layer, num_layers=2).eval()
            >>> cache = encoder.new_cache()
            >>> with pyburn.no_grad():
            ...     for token in pyburn.ones(4, 1, 1, 8):
            ...         out = encoder(token, is_causal=True, cache=cache)
            >>> len(cache[0])
            4
        """
        return [KVCache() for _ in self.layers]

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
        cache: Sequence[KVCache] | None = None,
    ) -> Tensor:
        """The sequence after all layers.

        Args:
            src, mask, src_key_padding_mask: as :class:`TransformerEncoderLayer` takes them.
            is_causal: says that ``mask`` is the causal mask, or that it is not; unless it is said,
                the mask is looked at.
            cache: one for each layer, see :meth:`new_cache`.
        """
        causal = _is_causal(mask, is_causal)
        x = src
        for at, layer in enumerate(self.layers):
            more: dict[str, Any] = {} if cache is None else {"cache": cache[at]}
            x = layer(
                x,
                src_mask=mask,
                is_causal=causal,
                src_key_padding_mask=src_key_padding_mask,
                **more,
            )
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """Decoder layers one after the other.

    Args:
        decoder_layer: the layer that is copied.
        num_layers: how many copies.
        norm: a normalisation at the end.

    Example:
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(pyburn.ones(5, 3, 8), pyburn.ones(7, 3, 8)).shape
        pyburn.Size([5, 3, 8])
    """

    norm: Module | None

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def new_cache(self) -> list[DecoderCache]:
        """Empty caches for each layer: of its own sequence, and of the memory, whose keys and
        values are computed once."""
        return [(KVCache(), KVCache(fixed=True)) for _ in self.layers]

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
        cache: Sequence[DecoderCache] | None = None,
    ) -> Tensor:
        """The sequence after all layers.

        Args:
            tgt, memory, ...: as :class:`TransformerDecoderLayer` takes them.
            tgt_is_causal: says that ``tgt_mask`` is the causal mask, or that it is not; unless it
                is said, the mask is looked at.
            cache: one pair for each layer, see :meth:`new_cache`.
        """
        causal = _is_causal(tgt_mask, tgt_is_causal)
        x = tgt
        for at, layer in enumerate(self.layers):
            more: dict[str, Any] = {} if cache is None else {"cache": cache[at]}
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
                **more,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder of one sequence and a decoder of another that recalls it.

    Args:
        d_model: the number of features.
        nhead: how many heads.
        num_encoder_layers, num_decoder_layers: how many layers.
        dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: of
            every layer, see :class:`TransformerEncoderLayer`.
        custom_encoder, custom_decoder: modules in place of the encoder and the decoder.

    Example:
        >>> model = nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1)
        >>> mask = model.generate_square_subsequent_mask(5)
        >>> model(pyburn.ones(7, 3, 8), pyburn.ones(5, 3, 8), tgt_mask=mask).shape
        pyburn.Size([5, 3, 8])
    """

    encoder: Module
    decoder: Module

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        rest = (batch_first, norm_first, bias, device, dtype)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*sizes, *rest)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*sizes, *rest)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoded sequence; masks are those of the encoder's and the decoder's layers."""
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and tgt.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                "the batch number of src and tgt must be equal, got shapes "
                f"{list(src.shape)} and {list(tgt.shape)}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model {self.d_model}, got "
                f"shapes {list(src.shape)} and {list(tgt.shape)}"
            )
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: DeviceLike | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """The causal mask: minus infinity where a key comes after the query, else zero.

        Example:
            >>> nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return _square_mask(sz, device, dtype)
