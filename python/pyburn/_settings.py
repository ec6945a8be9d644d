"""What holds for the whole process: default dtype and device, threads, determinism, precision."""

from __future__ import annotations

import warnings

from pyburn import _core
from pyburn._core import (
    get_default_dtype,
    get_num_threads,
    set_default_dtype,
    set_num_threads,
)
from pyburn.backend import get_default_device, set_default_device

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_device",
    "get_default_dtype",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_num_threads",
    "use_deterministic_algorithms",
]

_deterministic = [False, False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic results.

    On the CPU every result is the same from run to run already, so this only changes what
    :func:`are_deterministic_algorithms_enabled` says. On GPUs burn picks algorithms by timing them,
    which nothing turns off; asking there warns.
    """
    # Only the default device is looked at: asking for every backend would wake up GPU drivers.
    if mode and _core.get_default_device().type != "cpu":
        warnings.warn(
            "use_deterministic_algorithms: results on the CPU are deterministic; on GPUs burn "
            "chooses among algorithms by their time, which cannot be turned off",
            stacklevel=2,
        )
    _deterministic[:] = [bool(mode), bool(mode and warn_only)]


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic results were asked for."""
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether deterministic results were asked for with warnings instead of errors."""
    return _deterministic[1]


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: nothing, warnings, errors where results are not deterministic."""
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set by number or as ``"default"``, ``"warn"`` or ``"error"``."""
    modes = {"default": 0, "warn": 1, "error": 2}
    level = modes.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(
            "set_deterministic_debug_mode: expected 0, 1, 2, 'default', 'warn' or 'error', got "
            f"{debug_mode!r}"
        )
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_float32_matmul_precision() -> str:
    """``"highest"``: float32 products are computed in float32 everywhere."""
    return "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Products of float32 are always exact to float32, which every setting allows."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(
            "set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got "
            f"{precision!r}"
        )


def get_num_interop_threads() -> int:
    """Threads between operations: one, operations run where they are called."""
    return 1
