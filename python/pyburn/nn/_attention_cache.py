"""Keys and values kept between the steps of decoding."""

from __future__ import annotations

from pyburn import _core
from pyburn._core import Tensor
from pyburn._movement import cat

__all__ = ["KVCache"]


class KVCache:
    """The keys and values an attention layer has met, for sequences that grow step by step.

    A layer that is given a cache adds the keys and values of its input and lets queries meet all
    there are. Without gradients, memory grows by doubling: a step costs what it adds.

    Args:
        fixed: the first keys and values stay for good, as those of an encoder do for a decoder;
            layers do not even compute what comes later.

    Example:
        >>> layer = nn.MultiheadAttention(8, 2, batch_first=True)
        >>> cache = nn.KVCache()
        >>> with pyburn.no_grad():
        ...     for token in pyburn.ones(3, 1, 1, 8):
        ...         out, _ = layer(token, token, token, need_weights=False, cache=cache)
        >>> len(cache), out.shape
        (3, pyburn.Size([1, 1, 8]))
    """

    def __init__(self, fixed: bool = False) -> None:
        self.fixed = fixed
        # With room for more steps than there are.
        self._keys: Tensor | None = None
        self._values: Tensor | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def key(self) -> Tensor | None:
        """The keys, ``(batch, heads, steps, features)``."""
        return None if self._keys is None else self._keys[:, :, : self._length]

    @property
    def value(self) -> Tensor | None:
        """The values, ``(batch, heads, steps, features)``."""
        return None if self._values is None else self._values[:, :, : self._length]

    @property
    def complete(self) -> bool:
        """Whether nothing is ever added."""
        return self.fixed and self._length > 0

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Adds keys and values ``(batch, heads, steps, features)``; gives all there are.

        Example:
            >>> cache = nn.KVCache()
            >>> step = pyburn.ones(1, 2, 1, 4)
            >>> _ = cache.update(step, step)
            >>> cache.update(step, step)[0].shape
            pyburn.Size([1, 2, 2, 4])
        """
        if self._keys is None or self._values is None:
            self._keys, self._values, self._length = key, value, key.shape[2]
        elif not self.fixed:
            end = self._length + key.shape[2]
            self._keys = self._grown(self._keys, key, end)
            self._values = self._grown(self._values, value, end)
            self._length = end
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def _grown(self, room: Tensor, new: Tensor, end: int) -> Tensor:
        """Memory that holds what is there and what is new."""
        old = room[:, :, : self._length]
        if (*old.shape[:2], old.shape[3]) != (*new.shape[:2], new.shape[3]):
            raise RuntimeError(
                "KVCache.update: expected the batch, heads and features of what is there, shape "
                f"{list(old.shape)}, got {list(new.shape)}; hint: reset() for another batch"
            )
        if _core.is_grad_enabled():
            # What a gradient reads must not be written over.
            return cat([old, new], 2)
        if room.shape[2] < end:
            shape = (*old.shape[:2], 2 * end, old.shape[3])
            room = _core._full(shape, 0, old.dtype, old.device)
            room[:, :, : self._length] = old
        room[:, :, self._length : end] = new
        return room

    def reorder(self, order: Tensor) -> None:
        """Takes the sequences ``order`` names in place of those there are, as beam search does.

        Example:
            >>> cache = nn.KVCache()
            >>> _ = cache.update(pyburn.arange(2.0).view(2, 1, 1, 1), pyburn.ones(2, 1, 1, 1))
            >>> cache.reorder(pyburn.tensor([1, 1]))
            >>> cache.key.flatten()
            tensor([1., 1.])
        """
        key, value = self.key, self.value
        if key is not None and value is not None:
            self._keys, self._values = key.index_select(0, order), value.index_select(0, order)

    def reset(self) -> None:
        """Forgets everything."""
        self._keys = self._values = None
        self._length = 0
