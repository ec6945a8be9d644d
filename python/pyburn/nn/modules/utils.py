"""Helpers that layers written for PyTorch import from ``nn.modules.utils``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str) -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes ``n`` of a single value and a tuple of several."""

    def parse(x: Any) -> tuple[Any, ...]:
        if isinstance(x, Iterable):
            values: Iterable[Any] = x
            return tuple(values)
        return tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Takes a prefix off the names of a state dict, in place.

    Example:
        >>> state = {"module.weight": pyburn.ones(1), "bias": pyburn.ones(1)}
        >>> nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
        >>> sorted(state)
        ['bias', 'weight']
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        for key in list(metadata):
            # The module itself is named by the empty string, its prefix without the dot.
            if key == prefix.replace(".", "") or key.startswith(prefix):
                metadata[key[len(prefix) :]] = metadata.pop(key)
