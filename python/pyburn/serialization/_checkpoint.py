"""PyTorch's checkpoints: a zip archive with a pickle (``data.pkl``) and one record per storage."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pyburn._core import Tensor, dtype
from pyburn._dtypes import (
    uint8,
)

from ._elements import Placement, from_bytes, to_array
from ._files import Source, atomic
from ._pickle_writer import Global, pickled
from ._rebuild import PICKLE_LIMIT, STORAGE_OF, Rebuilder
from ._stubs import Stubs
from ._unpickle import unpickle
from ._zip import Archive, Writer

__all__ = ["is_checkpoint", "load", "save"]


def _prefix(archive: Archive) -> str | None:
    """The folder of the archive that holds ``data.pkl``."""
    found = [
        name for name in archive.records if name.endswith("/data.pkl") and name.count("/") == 1
    ]
    return found[0].removesuffix("data.pkl") if len(found) == 1 else None


def is_checkpoint(archive: Archive) -> bool:
    """Whether an archive is a checkpoint."""
    return _prefix(archive) is not None


class _Reader(Rebuilder):
    """Reads the archive's form, a record for each storage."""

    def __init__(self, source: Source, archive: Archive, placement: Placement) -> None:
        super().__init__(source.name, placement)
        self.source, self.archive = source, archive
        prefix = _prefix(archive)
        if prefix is None:
            raise ValueError(f"load: '{source.name}' has no record data.pkl")
        self.prefix: str = prefix
        if f"{prefix}constants.pkl" in archive.records:
            raise NotImplementedError(
                f"{self.where} is a TorchScript archive, which holds code; hint: save the model's "
                "state_dict() instead"
            )
        order = archive.records.get(f"{prefix}byteorder")
        if order is not None:
            word = archive.read(order, 64)
            if word not in (b"little", b"big"):
                raise ValueError(f"{self.where}: unknown byte order {word!r}")
            self.swapped = word == b"big"

    def flat(self, key: str, kind: dtype | None, numel: int) -> Tensor:
        record = self.archive.records.get(f"{self.prefix}data/{key}")
        if record is None:
            raise ValueError(f"the storage '{key}' has no record; truncated or damaged")
        size = numel * (1 if kind is None else kind.itemsize)
        if record.file_size != size:
            raise ValueError(
                f"the storage '{key}' should have {size} bytes, its record has {record.file_size}"
            )
        what = f"'{self.source.name}', storage '{key}'"
        return from_bytes(self.bytes_of(record, what), kind or uint8, what, self.swapped_for(kind))

    def swapped_for(self, kind: dtype | None) -> bool:
        if self.swapped and kind is None:
            raise NotImplementedError("storages without a type in a big-endian file")
        return self.swapped

    def bytes_of(self, record: Any, what: str) -> Any:
        stored = record.compress_type == 0
        start = self.archive.start(record)
        if self.source.mapped and stored and start % 8 == 0:
            return self.source.array(start, record.file_size)
        import numpy as np

        from ._files import fill

        data = np.empty(record.file_size, dtype="u1")
        with self.archive.open(record) as stream:
            try:
                if fill(stream, data) != record.file_size or stream.read(1):
                    raise ValueError("it is shorter or longer than it should be")
            except Exception as fault:
                raise Archive.translated(fault, f"load: {what}") from None
        return data

    def read(self, globals_: Mapping[str, Any]) -> Any:
        record = self.archive.records[f"{self.prefix}data.pkl"]
        data = self.archive.read(record, PICKLE_LIMIT)
        what = f"'{self.source.name}', record {record.filename!r}"
        return unpickle(data, what, globals_, self.storage)


def load(source: Source, archive: Archive, placement: Placement, stubs: Stubs | None = None) -> Any:
    """The value of a checkpoint; with ``stubs`` classes of the file are stood in for."""
    reader = _Reader(source, archive, placement)
    table = reader.globals()
    return reader.read(table if stubs is None else stubs.over(table))


class _Group:
    """Tensors over one storage, and the range of it that they see."""

    __slots__ = ("first", "key", "kind", "last", "member")

    def __init__(self, key: int, member: Tensor) -> None:
        self.key, self.kind, self.member = str(key), member.dtype, member
        self.first: int = member.storage_offset()
        self.last: int = self.first

    def add(self, tensor: Tensor) -> None:
        if tensor.dtype != self.kind:
            raise RuntimeError(
                "save: two tensors look at the same memory as different dtypes, "
                f"{self.kind} and {tensor.dtype}; hint: .clone() one of them"
            )
        offset = tensor.storage_offset()
        self.first = min(self.first, offset)
        if tensor.numel():
            steps = zip(tensor.shape, tensor.stride(), strict=True)
            self.last = max(self.last, offset + sum((n - 1) * step for n, step in steps) + 1)


class _Storages:
    """Which storage each tensor to save looks at."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self._by_address: dict[int, _Group] = {}
        self._elsewhere: list[_Group] = []
        self._of: dict[int, _Group] = {}
        self._kept: list[Tensor] = []

    def add(self, tensor: Tensor) -> None:
        if id(tensor) in self._of:
            return
        group = self._find(tensor)
        group.add(tensor)
        self._of[id(tensor)] = group
        self._kept.append(tensor)

    def _find(self, tensor: Tensor) -> _Group:
        if not tensor.numel():
            group = _Group(len(self.groups), tensor)
        elif tensor.device.type == "cpu":
            address = tensor.data_ptr() - tensor.storage_offset() * tensor.itemsize
            known = self._by_address.get(address)
            if known is not None:
                return known
            group = self._by_address[address] = _Group(len(self.groups), tensor)
        else:
            for known in self._elsewhere:
                if known.member._shares_storage(tensor):
                    return known
            group = _Group(len(self.groups), tensor)
            self._elsewhere.append(group)
        self.groups.append(group)
        return group

    def of(self, tensor: Tensor) -> _Group:
        return self._of[id(tensor)]


def _location(tensor: Tensor) -> str:
    # PyTorch knows CUDA devices by these names; the other devices here it does not know at all.
    return str(tensor.device) if tensor.device.type == "cuda" else "cpu"


def _reduced(tensor: Tensor, storages: _Storages) -> tuple[Any, tuple[Any, ...]]:
    """How PyTorch's loader makes a tensor again."""
    hooks: OrderedDict[str, Any] = OrderedDict()
    tracked = bool(tensor.requires_grad)
    if tensor.is_meta:
        kind = Global("torch", repr(tensor.dtype).rpartition(".")[2])
        made = (
            Global("torch._utils", "_rebuild_meta_tensor_no_storage"),
            (kind, tuple(tensor.shape), tuple(tensor.stride()), tracked),
        )
    else:
        group = storages.of(tensor)
        reference = (
            "storage",
            Global("torch", STORAGE_OF[group.kind]),
            group.key,
            _location(tensor),
            group.last - group.first,
        )
        from ._pickle_writer import Reference

        made = (
            Global("torch._utils", "_rebuild_tensor_v2"),
            (
                Reference(reference, group.key),
                tensor.storage_offset() - group.first,
                tuple(tensor.shape),
                tuple(tensor.stride()),
                tracked,
                hooks,
            ),
        )
    if type(tensor).__name__ == "Parameter":
        from ._pickle_writer import Call

        return Global("torch._utils", "_rebuild_parameter"), (Call(*made), tracked, hooks)
    return made


def save(value: Any, file: Any) -> None:
    """Writes a value that PyTorch's ``load(weights_only=True)`` and this module's ``load`` read."""
    storages = _Storages()

    def visited(tensor: Tensor) -> None:
        if not tensor.is_meta:
            storages.add(tensor)

    # Twice: what of a storage is saved is known when all tensors are.
    pickled(value, visited, None)
    data = pickled(value, None, lambda tensor: _reduced(tensor, storages))
    with atomic(file) as out, Writer(out) as archive:
        archive.write("archive/data.pkl", data)
        archive.write("archive/byteorder", b"little")
        for group in storages.groups:
            size = group.last - group.first
            if size:
                flat = group.member.detach().as_strided((size,), (1,), group.first)
                archive.write(f"archive/data/{group.key}", to_array(flat).view("u1"))
            else:
                archive.write(f"archive/data/{group.key}", b"")
        archive.write("archive/version", b"3\n")
