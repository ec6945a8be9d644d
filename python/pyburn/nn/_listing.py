"""What ``parameters()`` and the like give: iterators that also know their length."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["Listing", "listing"]

T = TypeVar("T")


class Listing(Iterator[T], Generic[T]):
    """An iterator, as PyTorch gives one, that ``len()`` and ``[...]`` look at as a whole.

    Nothing is looked up before it is asked for: ``next(module.parameters())`` costs one step.

    Example:
        >>> layer = nn.Linear(2, 3)
        >>> len(layer.parameters()), layer.parameters()[1].shape
        (2, pyburn.Size([3]))
    """

    __slots__ = ("_open", "_source", "_taken")

    def __init__(self, source: Callable[[], Iterator[T]]) -> None:
        self._source = source
        self._open = source()
        self._taken = 0

    def __iter__(self) -> Listing[T]:
        return self

    def __next__(self) -> T:
        item = next(self._open)
        self._taken += 1
        return item

    def __len__(self) -> int:
        # `list()` asks for the length before it takes the items, which are thus found once.
        rest = list(self._open)
        self._open = iter(rest)
        return self._taken + len(rest)

    def __getitem__(self, index: Any) -> Any:
        return list(self._source())[index]

    def __repr__(self) -> str:
        return f"<{len(self)} items>"


def listing(function: Callable[..., Iterator[T]]) -> Callable[..., Listing[T]]:
    """Makes a generator method give a :class:`Listing`."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Listing[T]:
        return Listing(lambda: function(*args, **kwargs))

    return call
