"""Nested containers of values, taken apart and put together again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["flatten", "is_leaf", "rebuild", "tree_map"]


def _is_named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_leaf(value: Any) -> bool:
    """Whether a value is no container."""
    return type(value) not in (list, tuple, dict, OrderedDict) and not _is_named(value)


def flatten(tree: Any) -> list[Any]:
    """The leaves in order."""
    if is_leaf(tree):
        return [tree]
    items = tree.values() if isinstance(tree, dict) else tree
    return [leaf for item in items for leaf in flatten(item)]


def rebuild(tree: Any, leaves: Iterator[Any]) -> Any:
    """A container of the same structure with other leaves."""
    if is_leaf(tree):
        return next(leaves)
    if isinstance(tree, dict):
        return type(tree)((key, rebuild(item, leaves)) for key, item in tree.items())
    items = [rebuild(item, leaves) for item in tree]
    return type(tree)(*items) if _is_named(tree) else type(tree)(items)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """A container of the same structure with a function's results."""
    return rebuild(tree, map(function, flatten(tree)))
