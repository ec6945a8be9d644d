"""PyTorch's checkpoints from before version 1.6: pickles one after the other, then raw storages.

The file holds five pickles (a magic number, the version of the format, sizes of C's types, the
value, the keys of its storages) and for each key the number of elements and their bytes. What is
needed to read a storage stands in the value's pickle, which comes first: it is interpreted twice,
the first time over storages without memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyburn import _core
from pyburn._core import Tensor, dtype
from pyburn._dtypes import uint8

from ._elements import Placement, from_bytes
from ._files import Source
from ._rebuild import PICKLE_LIMIT, Rebuilder, Storage
from ._stubs import Stubs
from ._unpickle import unpickle_at

__all__ = ["MAGIC", "load"]

MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
"""How such a file begins: the pickle of a number."""

_VERSION = 1001


class _Reader(Rebuilder):
    """Also takes the references of this format, which may name views and classes."""

    def __init__(
        self,
        name: str,
        placement: Placement,
        elements: Callable[[str, dtype | None, int], Tensor],
    ) -> None:
        super().__init__(name, placement)
        self.elements = elements

    def flat(self, key: str, kind: dtype | None, numel: int) -> Tensor:
        return self.elements(key, kind, numel)

    def refer(self, reference: Any) -> Any:
        """What a reference names: a storage, or a class whose source the file has kept."""
        if isinstance(reference, tuple) and reference and reference[0] == "module":
            return reference[1]
        if isinstance(reference, tuple) and len(reference) == 6 and reference[0] == "storage":
            view = reference[5]
            if view is not None:
                raise NotImplementedError(
                    "storages that are parts of storages are not read; hint: load the file in "
                    "PyTorch and save it again"
                )
            reference = reference[:5]
        storage: Storage = self.storage(reference)
        return storage


def _nowhere(key: str, kind: dtype | None, numel: int) -> Tensor:
    """A storage without memory."""
    return _core._full((numel,), 0, kind or uint8, _core.device("meta"))


def load(source: Source, placement: Placement, stubs: Stubs | None = None) -> Any:
    """The value of a checkpoint; with ``stubs`` classes of the file are stood in for."""
    where = f"load: '{source.name}'"
    data = source.read(0, min(source.size, PICKLE_LIMIT))
    what = f"'{source.name}'"

    def plain(at: int, name: str) -> tuple[Any, int]:
        return unpickle_at(data, at, f"{what}, {name}", {})

    _, at = plain(0, "magic number")
    version, at = plain(at, "version")
    if version != _VERSION:
        raise ValueError(f"{where}: expected version {_VERSION} of the format, got {version!r}")
    system, at = plain(at, "sizes of types")
    little = system.get("little_endian") if isinstance(system, dict) else None
    if not isinstance(little, bool):
        raise ValueError(f"{where}: it does not say in which order bytes stand")

    def value(elements: Callable[[str, dtype | None, int], Tensor], place: Placement) -> Any:
        reader = _Reader(source.name, place, elements)
        table: Any = reader.globals()
        if stubs is not None:
            table = stubs.over(table)
        made, end = unpickle_at(data, at, f"{what}, value", table, reader.refer)
        return made, end, reader.storages

    _, end, storages = value(_nowhere, Placement("meta"))
    keys, end = plain(end, "keys of storages")
    if not isinstance(keys, list) or set(keys) != set(storages):
        raise ValueError(f"{where}: the keys at byte {end} are not those of its storages; damaged")
    found: dict[str, Tensor] = {}
    for key in keys:
        storage = storages[key]
        count = int.from_bytes(source.read(end, 8), "little" if little else "big")
        if count != storage.numel:
            raise ValueError(
                f"{where}: the storage '{key}' at byte {end} should have {storage.numel} elements, "
                f"got {count}; truncated or damaged"
            )
        size = count * (1 if storage.kind is None else storage.kind.itemsize)
        if end + 8 + size > source.size:
            raise ValueError(
                f"{where}: the storage '{key}' should end at byte {end + 8 + size}, the file has "
                f"{source.size}; truncated"
            )
        bytes_ = source.array(end + 8, size)
        if source.mapped and (end + 8) % 8:
            bytes_ = bytes_.copy()
        name = f"{what}, storage '{key}'"
        found[key] = from_bytes(bytes_, storage.kind or uint8, name, swapped=not little)
        end += 8 + size
    return value(lambda key, kind, numel: found[key], placement)[0]
