"""Pickles of plain values and tensors, as PyTorch's restricted loader reads them (protocol 2)."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from pyburn._core import Tensor, device, dtype
from pyburn._size import Size

__all__ = ["Call", "Global", "Reference", "pickled"]


class Global:
    """A name of PyTorch's."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class Call:
    """A function's result."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Global, arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments


class Reference:
    """A reference to something beside the pickle; equal keys are written once."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any, key: str) -> None:
        self.value, self.key = value, key


class _Writer:
    def __init__(
        self,
        visit: Callable[[Tensor], None] | None,
        reduce: Callable[[Tensor], tuple[Any, tuple[Any, ...]]] | None,
    ) -> None:
        self.visit, self.reduce = visit, reduce
        self.out = bytearray(b"\x80\x02")
        self.memo: dict[Any, int] = {}
        self.kept: list[Any] = []
        self.path: list[Any] = []

    def refuse(self, value: Any, why: str = "") -> TypeError:
        place = "".join(f"[{key!r}]" for key in self.path)
        kind = type(value)
        full = (
            kind.__qualname__
            if kind.__module__ == "builtins"
            else (f"{kind.__module__}.{kind.__qualname__}")
        )
        if kind.__module__.split(".")[0] == "numpy":
            why = "; hint: save pyburn.from_numpy(array), or a number's .item()"
        at = f" at {place}" if place else ""
        return TypeError(
            f"save: cannot store a {full}{at}: a checkpoint holds tensors, numbers, strings, bytes "
            f"and containers of them{why}"
        )

    def remember(self, slot: Any, value: Any) -> None:
        number = len(self.memo)
        self.memo[slot] = number
        self.kept.append(value)  # its id stays taken
        self.out += b"q" + bytes((number,)) if number < 256 else b"r" + struct.pack("<I", number)

    def recall(self, slot: Any) -> bool:
        number = self.memo.get(slot)
        if number is None:
            return False
        self.out += b"h" + bytes((number,)) if number < 256 else b"j" + struct.pack("<I", number)
        return True

    def write(self, value: Any) -> None:
        out, kind = self.out, type(value)
        if value is None:
            out += b"N"
        elif kind is bool:
            out += b"\x88" if value else b"\x89"
        elif kind is int:
            self.integer(value)
        elif kind is float:
            out += b"G" + struct.pack(">d", value)
        elif kind is str:
            if not self.recall(("str", value)):
                data = value.encode("utf-8", "surrogatepass")
                if len(data) >= 1 << 32:
                    raise self.refuse(value, "; this string is longer than 4 GiB")
                out += b"X" + struct.pack("<I", len(data)) + data
                self.remember(("str", value), value)
        elif kind is Global:
            if not self.recall(("global", value.module, value.name)):
                out += b"c" + f"{value.module}\n{value.name}\n".encode()
                self.remember(("global", value.module, value.name), value)
        elif kind is Reference:
            # Not remembered: PyTorch's loader resolves each one by its key.
            self.write(value.value)
            out += b"Q"
        elif self.recall(("id", id(value))):
            pass
        elif kind is Call:
            self.call(value.function, value.arguments)
        elif isinstance(value, Tensor):
            if self.visit is not None:
                self.visit(value)
                self.remember(("id", id(value)), value)
            else:
                assert self.reduce is not None
                self.call(*self.reduce(value), value)
        elif kind is dtype:
            self.write(Global("torch", repr(value).rpartition(".")[2]))
        elif kind is device:
            self.call(Global("torch", "device"), (str(value),), value)
        elif kind is complex:
            self.call(Global("builtins", "complex"), (value.real, value.imag), value)
        elif kind is bytes:
            self.call(Global("_codecs", "encode"), (value.decode("latin1"), "latin1"), value)
        elif kind is bytearray:
            self.call(Global("builtins", "bytearray"), (bytes(value),), value)
        elif kind is tuple:
            self.group(value)
        elif kind is Size:
            self.call(Global("torch", "Size"), (tuple(value),), value)
        elif kind is list:
            out += b"]"
            self.remember(("id", id(value)), value)
            out += b"("
            for index, item in enumerate(value):
                self.inner(index, item)
            out += b"e"
        elif kind is dict:
            out += b"}"
            self.remember(("id", id(value)), value)
            self.items(value)
        elif kind is OrderedDict:
            self.write(Global("collections", "OrderedDict"))
            out += b")R"
            self.remember(("id", id(value)), value)
            self.items(value)
            if value.__dict__:
                self.inner("attributes", dict(value.__dict__))
                out += b"b"
        elif kind is Counter:
            self.call(Global("collections", "Counter"), (dict(value),), value)
        elif kind is set:
            for item in value:
                self.key(item)
            self.call(Global("builtins", "set"), (list(value),), value)
        else:
            raise self.refuse(value)

    def integer(self, value: int) -> None:
        if 0 <= value < 256:
            self.out += b"K" + bytes((value,))
        elif 0 <= value < 65536:
            self.out += b"M" + struct.pack("<H", value)
        elif -(2**31) <= value < 2**31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            size = value.bit_length() // 8 + 1
            if size > 255:
                raise self.refuse(value, "; this integer is longer than 255 bytes")
            self.out += b"\x8a" + bytes((size,)) + value.to_bytes(size, "little", signed=True)

    def key(self, key: Any) -> None:
        if type(key) is tuple:
            for part in key:
                self.key_part(part, key)
        else:
            self.key_part(key, key)

    def key_part(self, part: Any, key: Any) -> None:
        if part is not None and type(part) not in (str, bytes, int, float, complex, bool, dtype):
            raise self.refuse(key, "; this one is a key")

    def items(self, value: dict[Any, Any]) -> None:
        self.out += b"("
        for key, item in value.items():
            self.key(key)
            self.write(key)
            self.inner(key, item)
        self.out += b"u"

    def inner(self, key: Any, item: Any) -> None:
        self.path.append(key)
        self.write(item)
        self.path.pop()

    def group(self, value: tuple[Any, ...]) -> None:
        if len(value) > 3:
            self.out += b"("
        for index, item in enumerate(value):
            self.inner(index, item)
        self.out += (b")", b"\x85", b"\x86", b"\x87")[len(value)] if len(value) <= 3 else b"t"
        if value:
            self.remember(("id", id(value)), value)

    def call(self, function: Global, arguments: tuple[Any, ...], value: Any = None) -> None:
        self.write(function)
        if len(arguments) > 3:
            self.out += b"("
        for argument in arguments:
            self.write(argument)
        self.out += (
            b"t" if len(arguments) > 3 else b")\x85\x86\x87"[len(arguments)].to_bytes(1, "big")
        )
        self.out += b"R"
        if value is not None:
            self.remember(("id", id(value)), value)


def pickled(
    value: Any,
    visit: Callable[[Tensor], None] | None,
    reduce: Callable[[Tensor], tuple[Any, tuple[Any, ...]]] | None,
) -> bytes:
    """A value's pickle. Tensors are only shown to ``visit``, or written as ``reduce`` says."""
    writer = _Writer(visit, reduce)
    try:
        writer.write(value)
    except RecursionError:
        raise ValueError("save: the value nests too deeply, or a tuple contains itself") from None
    return bytes(writer.out + b".")
