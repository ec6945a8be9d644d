"""Mixed precision on CUDA's GPUs, under its older name ``pyburn.cuda.amp``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyburn import amp
from pyburn._dtypes import DTypeLike

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """:class:`pyburn.autocast` for ``"cuda"``.

    Example:
        >>> with pyburn.cuda.amp.autocast(enabled=False):
        ...     pyburn.is_autocast_enabled("cuda")
        False
    """

    def __init__(
        self, enabled: bool = True, dtype: DTypeLike = "float16", cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """:class:`pyburn.amp.GradScaler` for ``"cuda"``.

    Example:
        >>> pyburn.cuda.amp.GradScaler(enabled=False).get_scale()
        1.0
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, cast_inputs: DTypeLike | None = None
) -> Any:
    """:func:`pyburn.amp.custom_fwd` for ``"cuda"``."""
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any] | None = None) -> Any:
    """:func:`pyburn.amp.custom_bwd` for ``"cuda"``."""
    return amp.custom_bwd(bwd, device_type="cuda")
