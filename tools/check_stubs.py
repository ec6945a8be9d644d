"""Fails when the native module's stub is stale, says nothing, or a name has no documentation.

Checked are: that ``gen_stubs.py`` would write what is committed; that every public member of the
native module's classes, every function the package shows as it is, and every public function and
class of the package has a docstring; that no signature in the stub is ``Incomplete`` or gives
``Any``, but for those that ``stub_tables.FREE`` gives a reason for.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import gen_stubs
from stub_tables import FREE

pyburn: Any = importlib.import_module("pyburn")


def stale() -> Iterator[str]:
    """The difference between the committed stub and a fresh one."""
    committed = gen_stubs.STUB.read_text(encoding="utf-8") if gen_stubs.STUB.exists() else ""
    yield from difflib.unified_diff(
        committed.splitlines(),
        gen_stubs.generate().splitlines(),
        "committed",
        "generated",
        lineterm="",
        n=1,
    )


def modules() -> Iterator[ModuleType]:
    """The package's public modules."""
    yield pyburn
    for found in pkgutil.walk_packages(pyburn.__path__, "pyburn."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)


def undocumented() -> Iterator[str]:
    """Public names without a docstring."""
    seen: set[str] = set()
    for module in modules():
        names = getattr(module, "__all__", None) or [
            name for name in dir(module) if not name.startswith("_")
        ]
        for name in names:
            value = getattr(module, name)
            home = str(getattr(value, "__module__", None) or "pyburn")
            described = callable(value) and not inspect.ismodule(value)
            if described and home.startswith("pyburn") and not inspect.getdoc(value):
                seen.add(f"{module.__name__}.{name}")
    core = pyburn._core
    for kind in (value for value in vars(core).values() if isinstance(value, type)):
        for name, value in vars(kind).items():
            if not name.startswith("_") and not inspect.getdoc(value):
                seen.add(f"pyburn._core.{kind.__name__}.{name}")
    for name in sorted(seen):
        yield f"{name}: no docstring"


def vague() -> Iterator[str]:
    """Signatures in the stub that say nothing."""
    tree = ast.parse(gen_stubs.STUB.read_text(encoding="utf-8"))
    for owner in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
        prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
        for node in owner.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            text = ast.unparse(node.args) + (ast.unparse(node.returns) if node.returns else "")
            if "Incomplete" in text:
                yield f"{prefix}{node.name}: an argument or the result has no type"
            unknown = node.returns is None or ast.unparse(node.returns) == "Any"
            if unknown and prefix + node.name not in FREE:
                yield f"{prefix}{node.name}: the result has no type"


def main() -> int:
    """Prints every finding; how many there were decides the exit status."""
    different = list(stale())
    findings = [*undocumented(), *vague()]
    for line in [*different, *findings]:
        print(line)
    if different:
        print("\nThe stub is stale; hint: python tools/gen_stubs.py")
    if not different and not findings:
        print(f"{gen_stubs.STUB.relative_to(gen_stubs.rust_signatures.ROOT)}: up to date")
    return int(bool(different or findings))


if __name__ == "__main__":
    sys.exit(main())
