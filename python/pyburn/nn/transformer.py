"""Transformers: encoders, decoders and their layers.

Example:
    >>> from pyburn.nn import transformer
    >>> layer = transformer.TransformerEncoderLayer(d_model=8, nhead=2)
    >>> transformer.TransformerEncoder(layer, num_layers=2).num_layers
    2
"""

from __future__ import annotations

from pyburn.nn._transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
