"""What the pickles of PyTorch's checkpoints build: tensors over storages, and plain containers.

How storages are found differs between the formats; everything else is the same.
"""

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

from ._elements import Placement, from_bytes, too_large
from ._unpickle import Constructor, Internal, Opaque

__all__ = ["PICKLE_LIMIT", "STORAGE_OF", "Rebuilder", "Storage", "is_whole"]

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
STORAGE_OF = {kind: name for name, kind in _STORAGES.items()}
_DTYPES = {repr(kind).rpartition(".")[2]: kind for kind in STORAGE_OF}
PICKLE_LIMIT = 1 << 30
"""The most bytes a pickle may have: tensors lie outside it."""


class Storage(Internal):
    """One storage of the file: its elements, and where they came from."""

    __slots__ = ("flat", "key", "kind", "location", "numel")

    def __init__(
        self, key: str, kind: dtype | None, numel: int, location: str, flat: Tensor
    ) -> None:
        super().__init__(f"storage {key}")
        self.key, self.kind, self.numel = key, kind, numel
        self.location, self.flat = location, flat


def is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


class Rebuilder:
    """Makes what a checkpoint's pickle describes. Formats say where a storage's bytes are."""

    def __init__(self, name: str, placement: Placement) -> None:
        self.name, self.placement = name, placement
        self.where = f"load: '{name}'"
        self.swapped = False
        self.storages: dict[str, Storage] = {}
        self.placed: dict[tuple[str, str], Tensor] = {}

    def flat(self, key: str, kind: dtype | None, numel: int) -> Tensor:
        """The elements of a storage that was not met before."""
        raise NotImplementedError

    def storage(self, reference: Any) -> Storage:
        """The storage a reference ``("storage", type, key, location, numel)`` names."""
        if not isinstance(reference, tuple) or len(reference) != 5 or reference[0] != "storage":
            raise ValueError(f"a reference that names no storage: {str(reference)[:80]}")
        _, type_, key, location, numel = reference
        if not isinstance(type_, Opaque) or not type_.name.endswith("Storage"):
            raise ValueError("a storage without a type")
        if not isinstance(key, str) or not isinstance(location, str) or not is_whole(numel):
            raise ValueError(f"a storage with wrong fields {str(reference[2:])[:80]}")
        kind = type_.value
        known = self.storages.get(key)
        if known is not None:
            if (known.kind, known.numel, known.location) != (kind, numel, location):
                raise ValueError(f"the storage '{key}' has two types, sizes or places")
            return known
        self.storages[key] = Storage(key, kind, numel, location, self.flat(key, kind, numel))
        return self.storages[key]

    def tensor(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        kind: dtype | None = None,
    ) -> Tensor:
        if not isinstance(storage, Storage):
            raise ValueError("a tensor without a storage")
        element = kind or storage.kind
        if element is None or (storage.kind is not None and storage.kind != element):
            raise ValueError(f"a tensor of {kind} over a storage of {storage.kind}")
        if not is_whole(offset) or not all(
            isinstance(numbers, tuple) and all(map(is_whole, numbers)) for numbers in (size, stride)
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
                flat = from_bytes(used, element, f"'{self.name}', storage '{storage.key}'")
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
            or not all(map(is_whole, size))
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


def _size(sizes: Any = ()) -> Size:
    if not isinstance(sizes, tuple | list) or not all(map(is_whole, sizes)):
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
