"""Attention: its layers, masks and caches, and the choice of the way it is computed.

There are two ways. Tiles never build the matrix of all scores; products and a softmax do, and
serve everything. :func:`sdpa_kernel` chooses among them by PyTorch's names: ``FLASH_ATTENTION`` is
the tiles, ``MATH`` the products. Other names stand for kernels of NVIDIA's libraries, which do not
exist here: they are accepted beside these two, and refused alone.

Example:
    >>> from pyburn.nn.attention import SDPBackend, sdpa_kernel
    >>> x = pyburn.ones(1, 2, 3, 4)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     out = F.scaled_dot_product_attention(x, x, x)
    >>> out.shape
    pyburn.Size([1, 2, 3, 4])
"""

from __future__ import annotations

import enum
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from pyburn.nn._attention import CrossAttention, MultiHeadAttention, MultiheadAttention
from pyburn.nn._attention_cache import KVCache
from pyburn.nn._attention_masks import (
    PaddingMask,
    causal_lower_right,
    causal_upper_left,
    generate_autoregressive_mask,
    generate_padding_mask,
)
from pyburn.nn.functional._attention import scaled_dot_product_attention, way

__all__ = [
    "CrossAttention",
    "KVCache",
    "MultiHeadAttention",
    "MultiheadAttention",
    "PaddingMask",
    "SDPBackend",
    "causal_lower_right",
    "causal_upper_left",
    "generate_autoregressive_mask",
    "generate_padding_mask",
    "scaled_dot_product_attention",
    "sdpa_kernel",
]


class SDPBackend(enum.IntEnum):
    """PyTorch's names of the ways attention is computed.

    Example:
        >>> nn.attention.SDPBackend.MATH.name
        'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False
) -> Generator[None]:
    """Within it, attention is computed by one of ``backends`` alone, or raises an error.

    Args:
        backends: the ways that are allowed.
        set_priority: whether the first one that serves is taken; tiles come first otherwise.

    Example:
        >>> with nn.attention.sdpa_kernel([nn.attention.SDPBackend.FLASH_ATTENTION]):
        ...     x = pyburn.ones(1, 2, 3, 4)
        ...     _ = F.scaled_dot_product_attention(x, x, x)
    """
    given = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not given or not all(isinstance(one, SDPBackend) for one in given):
        raise TypeError(f"sdpa_kernel: expected an SDPBackend or several of them, got {backends!r}")
    ways = [
        "products" if one is SDPBackend.MATH else "tiles"
        for one in given
        if one in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION)
    ]
    if not ways:
        raise RuntimeError(
            "sdpa_kernel: no available kernel: expected MATH or FLASH_ATTENTION among the "
            f"backends, got {[one.name for one in given]}, which are kernels of NVIDIA's"
        )
    # Products serve everything: where they come first, nothing else is ever reached.
    first = set_priority and ways[0] == "products"
    chosen = "any" if len(set(ways)) > 1 and not first else ways[0]
    before = way.set(chosen)
    try:
        yield
    finally:
        way.reset(before)
