"""A reader of pickles that can only build plain values.

It interprets the opcodes itself: nothing is imported, no callable of the file's choosing is called.
Globals are looked up in a table; whatever is not there is refused by name.
"""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from pyburn._core import dtype

__all__ = ["Constructor", "Internal", "Opaque", "unpickle", "unpickle_at"]


class Internal:
    """What only serves to build a value and may not be part of it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Constructor(Internal):
    """What a global stands for: a function from checked arguments to a value."""

    __slots__ = ("make",)

    def __init__(self, name: str, make: Callable[..., Any]) -> None:
        super().__init__(name)
        self.make = make


class Opaque(Internal):
    """A global that is only ever an argument, a storage type for one."""

    __slots__ = ("value",)

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name)
        self.value = value


_ATOMS = (str, bytes, int, float, complex, bool, type(None))
_LONGEST_INTEGER = 4096


class _Machine:
    def __init__(
        self,
        data: bytes,
        what: str,
        globals_: Mapping[str, Any],
        persistent: Callable[[Any], Any] | None,
    ) -> None:
        self.data, self.what, self.globals, self.persistent = data, what, globals_, persistent
        self.at = self.opcode_at = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        # Tuples with something internal in them: arguments, and nothing else.
        self.arguments: dict[int, tuple[Any, ...]] = {}

    def refuse(self, words: str) -> pickle.UnpicklingError:
        return pickle.UnpicklingError(f"load: {self.what}, byte {self.opcode_at}: {words}")

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise self.refuse(f"it ends before the {size} bytes that should follow; truncated")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def number(self, code: str) -> int:
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise self.refuse("it ends within a line; truncated")
        piece = self.data[self.at : end]
        self.at = end + 1
        return self.text(piece)

    def text(self, piece: bytes) -> str:
        try:
            return piece.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self.refuse("a string that is not UTF-8") from None

    def pop(self) -> Any:
        if not self.stack or (self.marks and len(self.stack) <= self.marks[-1]):
            raise self.refuse("a value is taken that was never put; damaged")
        return self.stack.pop()

    def top(self) -> Any:
        value = self.pop()
        self.stack.append(value)
        return value

    def since_mark(self) -> list[Any]:
        if not self.marks:
            raise self.refuse("a group ends that never began; damaged")
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def find(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"
        # Python 2 called it so.
        if module == "__builtin__":
            full = f"builtins.{name}"
        if full not in self.globals:
            raise self.refuse(
                f"refused the global '{full}': only tensors, containers and numbers are loaded, no "
                "code of the file is ever run"
            )
        found = self.globals[full]
        if isinstance(found, Exception):
            raise self.refuse(str(found))
        return found

    def key(self, value: Any) -> Any:
        if isinstance(value, _ATOMS) or (
            isinstance(value, tuple) and all(isinstance(item, _ATOMS) for item in value)
        ):
            return value
        if isinstance(value, dtype):
            return value
        raise self.refuse(f"a {type(value).__name__} as a key")

    def put(self, value: Any, key: Any, item: Any) -> None:
        if not isinstance(value, dict):
            raise self.refuse(f"an item is set in a {type(value).__name__}")
        value[self.key(key)] = self.plain(item)

    def tuple(self, items: list[Any]) -> tuple[Any, ...]:
        made = tuple(items)
        if any(isinstance(item, Internal) or id(item) in self.arguments for item in items):
            self.arguments[id(made)] = made
        return made

    def plain(self, value: Any) -> Any:
        """A value that ends up in the result: nothing internal may."""
        if isinstance(value, Internal):
            raise self.refuse(f"'{value.name}' itself as a value")
        if id(value) in self.arguments:
            raise self.refuse("a tuple of globals or storages as a value")
        return value

    def call(self, function: Any, arguments: Any) -> Any:
        if not isinstance(function, Constructor):
            raise self.refuse(f"a call of a {type(function).__name__}")
        if not isinstance(arguments, tuple):
            raise self.refuse(f"arguments of '{function.name}' that are no tuple")
        try:
            return function.make(*arguments)
        except pickle.UnpicklingError:
            raise
        except (
            TypeError,
            ValueError,
            KeyError,
            IndexError,
            AttributeError,
            RuntimeError,
            OverflowError,
        ) as fault:
            words = str(fault)
            if isinstance(fault, NotImplementedError) or words.startswith("load:"):
                raise
            raise self.refuse(f"'{function.name}' with wrong arguments: {words}") from None

    def build(self, target: Any, state: Any) -> None:
        """The attributes of an ordered dict (a state dict's ``_metadata``), those of an object that
        keeps what it is given, and nothing else."""
        kept = getattr(target, "attributes", None)
        if isinstance(kept, dict):
            # Slots come as a second dict.
            for part in state if isinstance(state, tuple) else (state,):
                if isinstance(part, dict):
                    kept.update(part)
            return
        if not isinstance(target, OrderedDict) or not isinstance(state, dict):
            raise self.refuse(f"a state for a {type(target).__name__}")
        for name, value in state.items():
            if not isinstance(name, str) or not name.startswith("_") or name.startswith("__"):
                raise self.refuse(f"an attribute named {name!r} for a dict")
            setattr(target, name, self.plain(value))

    def run(self) -> Any:
        data = self.data
        stack, marks, memo = self.stack, self.marks, self.memo
        while True:
            self.opcode_at = self.at
            if self.at >= len(data):
                raise self.refuse("it ends without a result; truncated")
            op = data[self.at : self.at + 1]
            self.at += 1
            if op == b"q":  # BINPUT
                memo[self.take(1)[0]] = self.top()
            elif op == b"r":
                memo[self.number("<I")] = self.top()
            elif op == b"p":
                memo[self.integer(self.line())] = self.top()
            elif op == b"\x94":  # MEMOIZE
                memo[len(memo)] = self.top()
            elif op in b"hjg":
                slot = (
                    self.take(1)[0]
                    if op == b"h"
                    else self.number("<I")
                    if op == b"j"
                    else self.integer(self.line())
                )
                if slot not in memo:
                    raise self.refuse(f"the value {slot} is used before it is there")
                stack.append(memo[slot])
            elif op == b"X":
                stack.append(self.text(self.take(self.number("<I"))))
            elif op == b"\x8c":
                stack.append(self.text(self.take(self.take(1)[0])))
            elif op == b"\x8d":
                stack.append(self.text(self.take(self.number("<Q"))))
            elif op == b"V":
                stack.append(self.line())
            elif op == b"K":
                stack.append(self.take(1)[0])
            elif op == b"M":
                stack.append(self.number("<H"))
            elif op == b"J":
                stack.append(self.number("<i"))
            elif op == b"\x8a":
                stack.append(int.from_bytes(self.take(self.take(1)[0]), "little", signed=True))
            elif op == b"\x8b":
                size = self.number("<i")
                if not 0 <= size <= _LONGEST_INTEGER:
                    raise self.refuse(f"an integer of {size} bytes")
                stack.append(int.from_bytes(self.take(size), "little", signed=True))
            elif op in b"IL":
                words = self.line()
                if op == b"I" and words in ("00", "01"):
                    stack.append(words == "01")
                else:
                    stack.append(self.integer(words.removesuffix("L")))
            elif op == b"G":
                stack.append(struct.unpack(">d", self.take(8))[0])
            elif op == b"F":
                words = self.line()
                try:
                    stack.append(float(words))
                except ValueError:
                    raise self.refuse(f"{words[:40]!r} is no number") from None
            elif op == b"N":
                stack.append(None)
            elif op == b"\x88":
                stack.append(True)
            elif op == b"\x89":
                stack.append(False)
            elif op == b"B":
                stack.append(self.take(self.number("<I")))
            elif op == b"C":
                stack.append(self.take(self.take(1)[0]))
            elif op == b"\x8e":
                stack.append(self.take(self.number("<Q")))
            elif op in (b"U", b"T"):  # byte strings of Python 2
                size = self.take(1)[0] if op == b"U" else self.number("<i")
                stack.append(self.text(self.take(size)))
            elif op == b"(":
                marks.append(len(stack))
            elif op == b"]":
                stack.append([])
            elif op == b"}":
                stack.append({})
            elif op == b")":
                stack.append(())
            elif op == b"\x8f":
                stack.append(set())
            elif op == b"l":
                stack.append([self.plain(item) for item in self.since_mark()])
            elif op == b"t":
                stack.append(self.tuple(self.since_mark()))
            elif op in b"\x85\x86\x87":
                items = [self.pop() for _ in range(op[0] - 0x84)]
                stack.append(self.tuple(items[::-1]))
            elif op == b"d":
                items = self.since_mark()
                stack.append({})
                self.put_all(stack[-1], items)
            elif op == b"s":
                item, key = self.pop(), self.pop()
                self.put(self.top(), key, item)
            elif op == b"u":
                items = self.since_mark()
                self.put_all(self.top(), items)
            elif op == b"a":
                item = self.pop()
                self.extend(self.top(), [item])
            elif op == b"e":
                items = self.since_mark()
                self.extend(self.top(), items)
            elif op == b"\x90":  # ADDITEMS
                items = self.since_mark()
                target = self.top()
                if not isinstance(target, set):
                    raise self.refuse(f"an element is added to a {type(target).__name__}")
                target.update(self.key(item) for item in items)
            elif op == b"c":
                module = self.line()
                stack.append(self.find(module, self.line()))
            elif op == b"\x93":
                name, module = self.pop(), self.pop()
                if not (isinstance(name, str) and isinstance(module, str)):
                    raise self.refuse("a global without a name")
                stack.append(self.find(module, name))
            elif op in (b"R", b"\x81"):
                arguments = self.pop()
                stack.append(self.call(self.pop(), arguments))
            elif op == b"b":
                state = self.pop()
                self.build(self.top(), state)
            elif op == b"Q":
                if self.persistent is None:
                    raise self.refuse("a reference to a storage outside the pickle")
                stack.append(self.call(Constructor("storage", self.persistent), (self.pop(),)))
            elif op == b"0":
                if marks and marks[-1] == len(stack):
                    marks.pop()
                else:
                    self.pop()
            elif op == b"2":
                stack.append(self.top())
            elif op == b"1":
                self.since_mark()
            elif op == b"\x80":
                version = self.take(1)[0]
                if version > pickle.HIGHEST_PROTOCOL:
                    raise self.refuse(f"pickle protocol {version} is not known")
            elif op == b"\x95":
                self.take(8)  # the length of a frame, which only helps streaming readers
            elif op == b".":
                result = self.plain(self.pop())
                if stack or marks:
                    raise self.refuse("values are left over at its end; damaged")
                return result
            else:
                raise self.refuse(f"refused the opcode {op!r}")

    def integer(self, words: str) -> int:
        if len(words) > _LONGEST_INTEGER or not words.lstrip("-").isdecimal():
            raise self.refuse(f"{words[:40]!r} is no integer")
        try:
            return int(words)
        except ValueError:
            raise self.refuse(f"{words[:40]!r} is no integer") from None

    def put_all(self, target: Any, items: list[Any]) -> None:
        if len(items) % 2:
            raise self.refuse("a key without a value; damaged")
        for key, item in zip(items[::2], items[1::2], strict=True):
            self.put(target, key, item)

    def extend(self, target: Any, items: list[Any]) -> None:
        if not isinstance(target, list):
            raise self.refuse(f"an element is appended to a {type(target).__name__}")
        target.extend(map(self.plain, items))


def unpickle(
    data: bytes,
    what: str,
    globals_: Mapping[str, Any],
    persistent: Callable[[Any], Any] | None = None,
) -> Any:
    """The value of a pickle. ``globals_`` maps full names to :class:`Constructor`, :class:`Opaque`
    or the error that says why a name is refused; ``persistent`` resolves references to storages."""
    return unpickle_at(data, 0, what, globals_, persistent)[0]


def unpickle_at(
    data: bytes,
    start: int,
    what: str,
    globals_: Mapping[str, Any],
    persistent: Callable[[Any], Any] | None = None,
) -> tuple[Any, int]:
    """The value of the pickle that begins at a byte, and where it ends."""
    machine = _Machine(data, what, globals_, persistent)
    machine.at = start
    return machine.run(), machine.at
