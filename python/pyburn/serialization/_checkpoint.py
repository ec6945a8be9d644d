"""PyTorch's checkpoints: a zip archive with a pickle (``data.pkl``) and one record per storage."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from typing import Any

from pyburn import _core
from pyburn._core import Tensor, dtype
from pyburn._dtypes import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from pyburn._dtypes import bool as bool_
from pyburn._size import Size

from ._elements import Placement, from_bytes, to_array, too_large
from ._files import Source, atomic
from ._pickle_writer import Global, pickled
from ._unpickle import Constructor, Internal, Opaque, unpickle
from ._zip import Archive, Writer

__all__ = ["is_checkpoint", "load", "save"]

_STORAGES = {
    "FloatStorage": float32,
    "DoubleStorage": float64,
    "HalfStorage": float16,
    "BFloat16Storage": bfloat16,
    "LongStorage": int64,
    "IntStorage": int32,
    "ShortStorage": int16,
    "CharStorage": int8,
    "ByteStorage": uint8,
    "BoolStorage": bool_,
    "ComplexFloatStorage": complex64,
    "ComplexDoubleStorage": complex128,
}
_STORAGE_OF = {kind: name for name, kind in _STORAGES.items()}
_DTYPES = {repr(kind).rpartition(".")[2]: kind for kind in _STORAGE_OF}
_PICKLE_LIMIT = 1 << 30


def _prefix(archive: Archive) -> str | None:
    """The folder of the archive that holds ``data.pkl``."""
    found = [
        name for name in archive.records if name.endswith("/data.pkl") and name.count("/") == 1
    ]
    return found[0].removesuffix("data.pkl") if len(found) == 1 else None


def is_checkpoint(archive: Archive) -> bool:
    """Whether an archive is a checkpoint."""
    return _prefix(archive) is not None


class _Storage(Internal):
    """One storage of the file: its elements, and where they came from."""

    __slots__ = ("flat", "key", "kind", "location", "numel")

    def __init__(
        self, key: str, kind: dtype | None, numel: int, location: str, flat: Tensor
    ) -> None:
        super().__init__(f"storage {key}")
        self.key, self.kind, self.numel = key, kind, numel
        self.location, self.flat = location, flat


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


class _Reader:
    def __init__(self, source: Source, archive: Archive, placement: Placement) -> None:
        self.source, self.archive, self.placement = source, archive, placement
        prefix = _prefix(archive)
        if prefix is None:
            raise ValueError(f"load: '{source.name}' has no record data.pkl")
        self.prefix: str = prefix
        self.where = f"load: '{source.name}'"
        if f"{prefix}constants.pkl" in archive.records:
            raise NotImplementedError(
                f"{self.where} is a TorchScript archive, which holds code; hint: save the model's "
                "state_dict() instead"
            )
        order = archive.records.get(f"{prefix}byteorder")
        self.swapped = False
        if order is not None:
            word = archive.read(order, 64)
            if word not in (b"little", b"big"):
                raise ValueError(f"{self.where}: unknown byte order {word!r}")
            self.swapped = word == b"big"
        self.storages: dict[str, _Storage] = {}
        self.placed: dict[tuple[str, str], Tensor] = {}

    def storage(self, reference: Any) -> _Storage:
        """The storage a reference ``("storage", type, key, location, numel)`` names."""
        if not isinstance(reference, tuple) or len(reference) != 5 or reference[0] != "storage":
            raise ValueError(f"a reference that names no storage: {str(reference)[:80]}")
        _, type_, key, location, numel = reference
        if not isinstance(type_, Opaque) or not type_.name.endswith("Storage"):
            raise ValueError("a storage without a type")
        if not isinstance(key, str) or not isinstance(location, str) or not _whole(numel):
            raise ValueError(f"a storage with wrong fields {str(reference[2:])[:80]}")
        kind = type_.value
        known = self.storages.get(key)
        if known is not None:
            if (known.kind, known.numel, known.location) != (kind, numel, location):
                raise ValueError(f"the storage '{key}' has two types, sizes or places")
            return known
        record = self.archive.records.get(f"{self.prefix}data/{key}")
        if record is None:
            raise ValueError(f"the storage '{key}' has no record; truncated or damaged")
        size = numel * (1 if kind is None else kind.itemsize)
        if record.file_size != size:
            raise ValueError(
                f"the storage '{key}' should have {size} bytes, its record has {record.file_size}"
            )
        what = f"'{self.source.name}', storage '{key}'"
        flat = from_bytes(self.bytes_of(record, what), kind or uint8, what, self.swapped_for(kind))
        self.storages[key] = _Storage(key, kind, numel, location, flat)
        return self.storages[key]

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

    def tensor(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        kind: dtype | None = None,
    ) -> Tensor:
        if not isinstance(storage, _Storage):
            raise ValueError("a tensor without a storage")
        element = kind or storage.kind
        if element is None or (storage.kind is not None and storage.kind != element):
            raise ValueError(f"a tensor of {kind} over a storage of {storage.kind}")
        if not _whole(offset) or not all(
            isinstance(numbers, tuple) and all(map(_whole, numbers)) for numbers in (size, stride)
        ):
            raise ValueError(f"offset {offset}, size {size}, stride {stride}")
        size, stride = tuple(size), tuple(stride)
        if len(size) != len(stride) or too_large(size):
            raise ValueError(f"size {size} with stride {stride}")
        numel = storage.numel if storage.kind is not None else storage.numel // element.itemsize
        if not math.prod(size):
            offset = 0  # PyTorch keeps where an empty view would begin, inside the storage or not
        reach = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) + 1
        if math.prod(size) and reach > numel:
            raise ValueError(
                f"size {list(size)} with stride {list(stride)} from {offset} reaches beyond the "
                f"{numel} elements of storage '{storage.key}'"
            )
        slot = (storage.key, repr(element))
        if slot not in self.placed:
            flat = storage.flat
            if storage.kind is None:
                if any(key == storage.key for key, _ in self.placed):
                    raise NotImplementedError("one storage seen as two dtypes")
                used = flat.numpy()[: numel * element.itemsize]
                flat = from_bytes(used, element, f"'{self.source.name}', storage '{storage.key}'")
            self.placed[slot] = self.placement(flat, storage.location)
        return self.placed[slot].as_strided(size, stride, offset)

    def rebuilt(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any = False,
        hooks: Any = None,
        metadata: Any = None,
    ) -> Tensor:
        return self.finished(
            self.tensor(storage, offset, size, stride), requires_grad, hooks, metadata
        )

    def rebuilt_v3(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        requires_grad: Any,
        hooks: Any,
        kind: Any,
        metadata: Any = None,
    ) -> Tensor:
        if not isinstance(kind, dtype):
            raise ValueError("a tensor without a dtype")
        tensor = self.tensor(storage, offset, size, stride, kind)
        return self.finished(tensor, requires_grad, hooks, metadata)

    def finished(self, tensor: Tensor, requires_grad: Any, hooks: Any, metadata: Any) -> Tensor:
        if hooks:
            raise ValueError("a tensor with hooks, which are code")
        for name, value in (metadata or {}).items():
            if name not in ("conj", "neg") or not isinstance(value, bool):
                raise ValueError(f"a tensor with unknown metadata {str(name)!r}")
            if value:
                tensor = tensor.conj().resolve_conj() if name == "conj" else -tensor
        return tensor.requires_grad_(True) if requires_grad is True else tensor

    @staticmethod
    def meta(kind: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
        if (
            not isinstance(kind, dtype)
            or not isinstance(size, tuple)
            or not all(map(_whole, size))
            or too_large(size)
        ):
            raise ValueError(f"a meta tensor of size {size}")
        tensor = _core._full(tuple(size), 0, kind, _core.device("meta"))
        return tensor.requires_grad_(True) if requires_grad is True else tensor

    @staticmethod
    def parameter(data: Any, requires_grad: Any, hooks: Any = None) -> Tensor:
        if not isinstance(data, Tensor) or hooks:
            raise ValueError("a parameter without data, or with hooks, which are code")
        data = data.detach()
        try:
            from pyburn.nn import Parameter  # pyright: ignore[reportMissingImports]
        except (ImportError, NotImplementedError):
            return data.requires_grad_(bool(requires_grad))
        return Parameter(data, bool(requires_grad))

    def of_type(self, function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
        """A tensor that had attributes or was of a subclass."""
        if not isinstance(function, Constructor) or not function.name.startswith("torch._utils._"):
            raise ValueError("a tensor that is made by no known function")
        if getattr(kind, "name", None) not in ("torch.Tensor", "torch.nn.parameter.Parameter"):
            raise ValueError("a tensor of an unknown class")
        if state:
            raise ValueError("a tensor with attributes of its own, which are not loaded")
        return function.make(*arguments)

    def globals(self) -> dict[str, Any]:
        table: dict[str, Any] = {}

        def constructor(name: str, make: Any) -> None:
            table[name] = Constructor(name, make)

        constructor("torch._utils._rebuild_tensor_v2", self.rebuilt)
        constructor("torch._utils._rebuild_tensor_v3", self.rebuilt_v3)
        constructor("torch._utils._rebuild_tensor", self.rebuilt)
        constructor("torch._utils._rebuild_parameter", self.parameter)
        constructor("torch._utils._rebuild_meta_tensor_no_storage", self.meta)
        constructor("torch._tensor._rebuild_from_type_v2", self.of_type)
        constructor("torch.Size", _size)
        constructor("torch.device", _device)
        constructor("collections.OrderedDict", _ordered)
        constructor("collections.Counter", _counter)
        constructor("builtins.set", _set)
        constructor("builtins.frozenset", _frozenset)
        constructor("builtins.complex", _complex)
        constructor("builtins.bytearray", _bytearray)
        constructor("builtins.bytes", _no_bytes)
        constructor("_codecs.encode", _encoded)
        for name in ("torch.Tensor", "torch.nn.parameter.Parameter"):
            table[name] = Opaque(name, None)
        for name, kind in _STORAGES.items():
            table[f"torch.{name}"] = Opaque(f"torch.{name}", kind)
        table["torch.storage.UntypedStorage"] = Opaque("torch.storage.UntypedStorage", None)
        for name, kind in _DTYPES.items():
            table[f"torch.{name}"] = kind
        for name in ("uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "complex32"):
            table[f"torch.{name}"] = NotImplementedError(f"dtype {name} does not exist in PyBurn")
        for name in ("_rebuild_sparse_tensor", "_rebuild_nested_tensor", "_rebuild_qtensor"):
            table[f"torch._utils.{name}"] = NotImplementedError(
                f"refused the global 'torch._utils.{name}': sparse, nested and quantised tensors "
                "do not exist in PyBurn"
            )
        for module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            for name in ("_reconstruct", "scalar"):
                table[f"{module}.{name}"] = NotImplementedError(
                    f"refused the global '{module}.{name}': NumPy values are not loaded from "
                    "checkpoints; hint: save tensors (from_numpy) or Python numbers (.item())"
                )
        return table

    def read(self) -> Any:
        record = self.archive.records[f"{self.prefix}data.pkl"]
        data = self.archive.read(record, _PICKLE_LIMIT)
        what = f"'{self.source.name}', record {record.filename!r}"
        return unpickle(data, what, self.globals(), self.storage)


def _size(sizes: Any = ()) -> Size:
    if not isinstance(sizes, tuple | list) or not all(map(_whole, sizes)):
        raise ValueError(f"a size of {str(sizes)[:80]}")
    return Size(sizes)


def _device(kind: Any, index: Any = None) -> Any:
    return _core.device(kind if index is None else f"{kind}:{index}")


_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def _items(values: Any) -> list[Any]:
    if not isinstance(values, list | tuple | set) or not all(
        isinstance(item, _PLAIN) for item in values
    ):
        raise ValueError("elements that are no plain values")
    return list(values)


def _ordered(items: Any = ()) -> OrderedDict[Any, Any]:
    """An ordered dict; old pickles give its items as a list of pairs."""
    made: OrderedDict[Any, Any] = OrderedDict()
    for pair in items:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError("items that are no pairs")
        made[_items([pair[0]])[0]] = pair[1]
    return made


def _counter(counts: Any = None) -> Counter[Any]:
    made: Counter[Any] = Counter()
    if counts is not None:
        if not isinstance(counts, dict):
            raise ValueError("counts that are no dict")
        made.update(counts)
    return made


def _set(values: Any = ()) -> set[Any]:
    return set(_items(values))


def _frozenset(values: Any = ()) -> frozenset[Any]:
    return frozenset(_items(values))


def _complex(real: Any, imaginary: Any = 0.0) -> complex:
    if not all(isinstance(part, int | float) for part in (real, imaginary)):
        raise ValueError("parts that are no numbers")
    return complex(real, imaginary)


def _bytearray(data: Any = b"") -> bytearray:
    if not isinstance(data, bytes):
        raise ValueError("bytes that are none")
    return bytearray(data)


def _no_bytes() -> bytes:
    """How old pickles hold no bytes at all."""
    return b""


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    """Bytes, which old pickles hold as text."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError(f"an encoding {str(encoding)[:40]!r}")
    return text.encode("latin1")


def load(source: Source, archive: Archive, placement: Placement) -> Any:
    """The value of a checkpoint."""
    return _Reader(source, archive, placement).read()


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
            Global("torch", _STORAGE_OF[group.kind]),
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
