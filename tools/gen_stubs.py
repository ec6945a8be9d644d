"""Writes ``python/pyburn/_core.pyi``: the types of the native module.

Three sources say what is in it. The loaded package knows every name, the arguments' names and
defaults, the documentation, and the Python functions that are attached to ``Tensor`` at import. The
Rust sources (``rust_signatures``) know the types of native functions. The Python sources hold the
annotations of attached functions and their overloads.

Run it after a change of the native module or of a function with ``@method``; ``check_stubs.py``
compares.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import rust_signatures
from rust_signatures import Signature, Sources

sys.path.insert(0, str(rust_signatures.ROOT / "python"))

import pyburn  # noqa: E402
from pyburn import _core  # noqa: E402

STUB = rust_signatures.ROOT / "python" / "pyburn" / "_core.pyi"

# Rust types as Python's: of arguments, and of results.
ARGUMENTS = {
    "T": "Tensor",
    "PyRef<PyDType>": "dtype",
    "Op": "Tensor | Number",
    "Number": "Tensor | Number",
    "Ints": "int | Sequence[int]",
    "Sizes": "int | Sequence[int]",
    "BinsArg": "int | Tensor",
    "Order": "float | str",
    "Source": "Generator",
    "DTypeArg": "DTypeLike",
    "DeviceArg": "DeviceLike",
    "str": "str",
    "String": "str",
    "bool": "bool",
    "f64": "float",
    "[u8]": "bytes",
    "Bound<PyAny>": "Any",
    "Py<PyAny>": "Any",
    "PyAny": "Any",
    **dict.fromkeys(["i32", "i64", "u32", "u64", "usize", "isize"], "int"),
}
RESULTS = {
    "": "None",
    "()": "None",
    "Tensor": "Tensor",
    "PyTensor": "Tensor",
    "Self": "Self",
    "Bound<Self>": "Self",
    "PyDType": "dtype",
    "PyDevice": "device",
    "PyNode": "Node",
    "PyGenerator": "Generator",
    "RemovableHandle": "RemovableHandle",
    "String": "str",
    "str": "str",
    "bool": "bool",
    "f64": "float",
    "Bound<PyBytes>": "bytes",
    "Bound<PyDict>": "dict[str, Any]",
    "Py<PyDict>": "dict[str, Any]",
    "Bound<PyType>": "type[Self]",
    "Bound<PyAny>": "Any",
    "Py<PyAny>": "Any",
    **dict.fromkeys(["i32", "i64", "u32", "u64", "usize"], "int"),
}

# Where Rust sees no more than a Python object. `{doc}` is the place of the documentation.
MEMORY_FORMAT = "memory_format: memory_format | None = None"
SAME = "def {name}(self, *{arg}: int | Sequence[int]{more}) -> Tensor:{doc}"
PRECISE = {
    "Tensor.shape": "@property\ndef shape(self) -> Size:{doc}",
    "Tensor.size": (
        "@overload\ndef size(self, dim: None = None) -> Size:{doc}\n"
        "@overload\ndef size(self, dim: int) -> int: ..."
    ),
    "Tensor.stride": (
        "@overload\ndef stride(self, dim: None = None) -> tuple[int, ...]:{doc}\n"
        "@overload\ndef stride(self, dim: int) -> int: ..."
    ),
    "Tensor.item": "def item(self) -> int | float:{doc}",
    "Tensor.numpy": "def numpy(self, *, force: bool = False) -> NDArray[Any]:{doc}",
    "Tensor.__array__": (
        "def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ..."
    ),
    "Tensor.__int__": "def __int__(self) -> int: ...",
    "Tensor.__complex__": "def __complex__(self) -> complex: ...",
    "Tensor.__getitem__": "def __getitem__(self, index: Index, /) -> Tensor: ...",
    "Tensor.__setitem__": (
        "def __setitem__(\n    self, index: Index, "
        "value: Tensor | Number | Sequence[Any] | NDArray[Any], /\n) -> None: ..."
    ),
    "Tensor.__class_getitem__": "def __class_getitem__(cls, item: Any, /) -> type[Self]: ...",
    "Tensor.is_contiguous": f"def is_contiguous(self, {MEMORY_FORMAT}) -> bool:{{doc}}",
    "Tensor.contiguous": f"def contiguous(self, *, {MEMORY_FORMAT}) -> Self:{{doc}}",
    "Tensor.clone": f"def clone(self, *, {MEMORY_FORMAT}) -> Tensor:{{doc}}",
    "Tensor.register_hook": (
        "def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:{doc}"
    ),
    "Tensor.register_post_accumulate_grad_hook": (
        "def register_post_accumulate_grad_hook(\n"
        "    self, hook: Callable[[Tensor], None]\n) -> RemovableHandle:{doc}"
    ),
    "Tensor.backward": (
        "def backward(\n    self,\n    gradient: Tensor | None = None,\n"
        "    retain_graph: bool | None = None,\n    create_graph: bool = False,\n"
        "    inputs: Tensor | Sequence[Tensor] | None = None,\n) -> None:{doc}"
    ),
    "Tensor.to": (
        "@overload\ndef to(self, dtype: DTypeLike, non_blocking: bool = False, copy: bool = False, "
        f"*, {MEMORY_FORMAT}) -> Tensor:{{doc}}\n"
        "@overload\ndef to(self, other: Tensor, non_blocking: bool = False, copy: bool = False, "
        f"*, {MEMORY_FORMAT}) -> Tensor: ...\n"
        "@overload\ndef to(self, device: DeviceLike | None = None, dtype: DTypeLike | None = None, "
        f"non_blocking: bool = False, copy: bool = False, *, {MEMORY_FORMAT}) -> Tensor: ..."
    ),
    "Tensor.view": (
        "@overload\ndef view(self, dtype: dtype, /) -> Tensor:{doc}\n"
        "@overload\ndef view(self, *, dtype: dtype) -> Tensor: ...\n"
        "@overload\ndef view(self, *shape: int | Sequence[int]) -> Tensor: ..."
    ),
    "Tensor.reshape": SAME.replace("{arg}", "shape").replace("{more}", ""),
    "Tensor.permute": SAME.replace("{arg}", "dims").replace("{more}", ""),
    "Tensor.expand": SAME.replace("{arg}", "sizes").replace("{more}", ", implicit: bool = False"),
    "Tensor.__dlpack__": (
        "def __dlpack__(\n    self,\n    *,\n    stream: int | None = None,\n"
        "    max_version: tuple[int, int] | None = None,\n"
        "    dl_device: tuple[int, int] | None = None,\n    copy: bool | None = None,\n"
        ") -> CapsuleType: ..."
    ),
    "Node.next_functions": (
        "@property\ndef next_functions(self) -> tuple[tuple[Node | None, int], ...]:{doc}"
    ),
    "_record_function": (
        "def _record_function(\n    class_: type[Any],\n    context: Any,\n    name: str,\n"
        "    inputs: Sequence[Tensor],\n    outputs: Sequence[Tensor],\n"
        "    differentiable: Sequence[bool],\n    saved: Sequence[Tensor | None],\n    /,\n"
        ") -> bool:{doc}"
    ),
    "_register_size": "def _register_size(class_: type[tuple[int, ...]], /) -> None:{doc}",
}

HEADER = '''"""Types of the native module. Written by tools/gen_stubs.py: change that, not this."""

{imports}

_Index: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | Sequence[Any] | NDArray[Any] | None
_Operand: TypeAlias = Tensor | Number | NDArray[Any] | np.generic
_dtype: TypeAlias = dtype
_device: TypeAlias = device

__version__: str
UNARY: list[str]
'''
IMPORTS = {
    "Any": "typing",
    "Callable": "collections.abc",
    "CapsuleType": "typing_extensions",
    "DTypeLike": "pyburn._dtypes",
    "DeviceLike": "pyburn._dtypes",
    "EllipsisType": "types",
    "Incomplete": "_typeshed",
    "NDArray": "numpy.typing",
    "Number": "pyburn._dtypes",
    "Self": "typing_extensions",
    "Sequence": "collections.abc",
    "Size": "pyburn._size",
    "SupportsIndex": "typing",
    "TypeAlias": "typing",
    "memory_format": "pyburn._dtypes",
    "overload": "typing",
}
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor")
OPERATORS += ("lshift", "rshift", "pow", "matmul")


class Imports:
    """The names that the stub's annotations use, and how they are spelled in it."""

    def __init__(self, tensor: set[str], module: set[str]) -> None:
        self.taken = tensor | module
        self.lines: set[tuple[str, str, str]] = set()

    def spell(self, module: str, name: str) -> str:
        """A name of a module as the stub writes it; imported if need be."""
        if module == "builtins":
            return f"builtins.{name}" if name in self.taken else name
        if module == "pyburn._core":
            return f"_{name}" if name in ("dtype", "device") else name
        own = f"_{name}" if name in self.taken else name
        self.lines.add((module, name, own))
        return own

    def known(self, text: str) -> str:
        """An annotation or signature in the names of this file's tables, as the stub writes it."""

        def one(found: re.Match[str]) -> str:
            word = found[0]
            if word in IMPORTS:
                return self.spell(IMPORTS[word], word)
            if word in ("Index", "Operand"):
                return f"_{word}"
            after_colon = re.search(r"(?:[:|\[,]|->)\s*$", text[: found.start()])
            if after_colon and not re.match(r"\s*[:=(]", text[found.end() :]):
                if word in ("dtype", "device"):
                    return f"_{word}"
                if isinstance(getattr(builtins, word, None), type):
                    return self.spell("builtins", word)
            if after_colon and isinstance(getattr(builtins, word, None), type):
                # `x: int = 0` has its type before the equal sign.
                if re.match(r"\s*=", text[found.end() :]) and text[: found.start()].rstrip()[-1] in ":|":
                    return self.spell("builtins", word)
            return word

        return re.sub(r"(?<![\w.\"'])[A-Za-z]\w*", one, text)

    def text(self) -> str:
        """The import statements."""
        modules: dict[str, list[str]] = {}
        for module, name, own in sorted(self.lines):
            modules.setdefault(module, []).append(name if name == own else f"{name} as {own}")
        lines = ["import builtins", "import numpy as np"]
        lines += [f"from {module} import {', '.join(names)}" for module, names in modules.items()]
        return "\n".join(lines)
