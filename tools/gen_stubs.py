"""Writes ``python/pyburn/_core.pyi``: the types of the native module.

Three sources say what is in it. The loaded package knows every name, the arguments' names and
defaults, the documentation, and the Python functions attached to ``Tensor`` at import. The Rust
sources know the types of native functions (``rust_signatures``). The Python sources hold the
annotations of attached functions and their overloads.

Run it after a change of the native module or of a function with ``@method``; ``check_stubs.py``
fails until then.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import inspect
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType
from typing import Any

import rust_signatures
from rust_signatures import Signature, Sources
from stub_tables import ALIASES, ALWAYS, ARGUMENTS, IMPORTS, PRECISE, RESULTS

sys.path.insert(0, str(rust_signatures.ROOT / "python"))
_core: Any = importlib.import_module("pyburn")._core

STUB = rust_signatures.ROOT / "python" / "pyburn" / "_core.pyi"
HEADER = '"""Types of the native module. Written by tools/gen_stubs.py: change that, not this."""'

OPERATORS = "add sub mul truediv floordiv mod and or xor lshift rshift pow matmul".split()
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
# Object's own, and slots that exist although nothing is behind them.
LEFT_OUT = {"__dict__", "__doc__", "__module__", "__delitem__", "__rmatmul__", "__weakref__"}

Resolve = Callable[[str], tuple[str, str]]
"""Gives the module and the name there of a name in some source."""


class Names(ast.NodeTransformer):
    """Turns names in annotations into the stub's, and remembers what it has to import.

    In the stub's class ``Tensor``, ``float`` is a method and ``dtype`` a property, so names that a
    member or function has too are spelled differently.
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.imported: set[tuple[str, str, str]] = set()
        self.resolve: Resolve = from_tables

    def spell(self, module: str, name: str) -> str:
        """A name of a module as the stub writes it."""
        if module == "builtins":
            return f"builtins.{name}" if name in self.taken else name
        own = f"_{name}" if name in self.taken else name
        if module != "pyburn._core":
            self.imported.add((module, name, own))
        return own

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(self.spell(*self.resolve(node.id)), mode="eval").body

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        # A quoted part of an annotation, unless it is an argument of Literal.
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            node.value = self.visit_Name(node.value)
            return node
        self.generic_visit(node)
        return node

    def annotation(self, text: str, resolve: Resolve) -> str:
        """An annotation in the stub's names."""
        self.resolve = resolve
        return ast.unparse(self.visit(ast.parse(text, mode="eval").body))

    def function(self, node: ast.FunctionDef, resolve: Resolve) -> ast.FunctionDef:
        """A function whose annotations are in the stub's names."""
        self.resolve = resolve
        arguments = node.args
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in [*listed, arguments.vararg, arguments.kwarg]:
            if argument and argument.annotation:
                argument.annotation = self.visit(argument.annotation)
        if node.returns:
            node.returns = self.visit(node.returns)
        return node

    def imports(self) -> str:
        """The import statements."""
        lines = ["import builtins"]
        for module, name, own in sorted(self.imported):
            lines.append(f"from {module} import {name}" + (f" as {own}" if own != name else ""))
        return "\n".join(lines)


def from_tables(name: str) -> tuple[str, str]:
    """Where a name in ``stub_tables`` comes from."""
    if name in IMPORTS:
        return IMPORTS[name], name
    if isinstance(getattr(builtins, name, None), type):
        return "builtins", name
    if hasattr(_core, name) or f"\n{name}: TypeAlias" in ALIASES:
        return "pyburn._core", name
    raise LookupError(f"stub_tables: {name} is not known; hint: say in IMPORTS where it is from")


@cache
def syntax(module: str) -> ast.Module:
    """A module's source, taken apart."""
    return ast.parse(inspect.getsource(sys.modules[module]))


@cache
def names_of(module: str) -> dict[str, tuple[str, str]]:
    """Where the names of a module come from, also those imported for annotations only."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = (node.module, each.name)
        elif isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name] = ("", each.asname or each.name)
    for node in syntax(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.setdefault(node.name, (module, node.name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, (module, node.target.id))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, (module, target.id))
    return found


def from_module(module: str) -> Resolve:
    """Resolves the names of annotations in a Python module."""

    def resolve(name: str) -> tuple[str, str]:
        home, own = names_of(module).get(name, ("builtins", name))
        if home == "" and own == "builtins":
            return "pyburn._core", "builtins"
        if home.startswith("pyburn") and own in IMPORTS and IMPORTS[own].startswith("pyburn"):
            home = IMPORTS[own]
        elif home.startswith("pyburn") and isinstance(getattr(_core, own, None), type):
            # The native module's classes, under whichever name they were imported.
            home = "pyburn._core"
        return home, own

    return resolve


def python_type(rust: str, table: dict[str, str], many: str) -> str:
    """A Rust type as Python's; ``many`` is what a vector becomes."""
    if rust in table:
        return table[rust]
    wrapped = re.match(r"(PyResult|Result|Option|Vec)<(.*)>$", rust)
    if wrapped:
        inner = python_type(wrapped[2], table, many)
        if wrapped[1] == "Option":
            return f"{inner} | None"
        return many.format(inner) if wrapped[1] == "Vec" else inner
    if rust.startswith("("):
        parts = [python_type(part, table, many) for part in rust_signatures.split(rust[1:-1])]
        return f"tuple[{', '.join(parts)}]"
    raise LookupError(f"the Rust type {rust} is not known; hint: add it to stub_tables.py")


def document(text: str | None, indent: str) -> str:
    """The first sentence of a documentation as the body of a function."""
    if not text:
        return f"\n{indent}    ..."
    first = " ".join(text.strip().split("\n\n")[0].split())
    return f'\n{indent}    """{first}"""'.replace("\\", "\\\\")


def signature_of(function: Any, name: str) -> inspect.Signature:
    """The signature of a function; of operators the one that all of them have."""
    try:
        return inspect.signature(function)
    except ValueError:
        raise LookupError(f"{name}: Python cannot tell its signature") from None


class Writer:
    """Collects the text of the stub."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        members = {name for name in vars(_core.Tensor) if not name.startswith("__")}
        functions = {name for name in dir(_core) if inspect.isbuiltin(getattr(_core, name))}
        self.names = Names(members | functions)

    def native(self, rust: Signature, function: Any, name: str, owner: str) -> str:
        """A native function: names and defaults from Python, types from Rust."""
        label = f"{owner}.{name}" if owner else name
        if label in PRECISE:
            return self.precise(label, function)
        parts: list[str] = []
        star = False
        for parameter in signature_of(function, label).parameters.values():
            if parameter.name in ("self", "cls"):
                parts.append(parameter.name)
                continue
            if keyword.iskeyword(parameter.name):
                raise LookupError(f"{label}: an argument cannot be called {parameter.name}")
            if parameter.name not in rust.arguments:
                raise LookupError(f"{label}: no type of {parameter.name} in the Rust sources")
            kind = python_type(rust.arguments[parameter.name], ARGUMENTS, "Sequence[{}]")
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                parts.append("*")
            star |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
            mark = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
            text = f"{mark}{parameter.name}: {self.names.annotation(kind, from_tables)}"
            if parameter.default is not parameter.empty:
                # Python shows `...` for a negative number.
                written = re.search(rf"\b{parameter.name} = (-[\d.]+)", rust.attributes)
                text += f" = {written[1] if written else repr(parameter.default)}"
            parts.append(text)
        many = "list[{}]"
        kind = rust.result
        if kind.startswith("table:"):
            many, kind = "tuple[{}, ...]", kind.removeprefix("table:")
        result = self.names.annotation(python_type(kind, RESULTS, many), from_tables)
        return self.define(name, parts, result, inspect.getdoc(function), owner)

    def define(
        self, name: str, parts: Iterable[str], result: str, doc: str | None, owner: str
    ) -> str:
        """The text of one function."""
        indent = "    " if owner else ""
        body = document(None if name.startswith("__") else doc, indent)
        return f"{indent}def {name}({', '.join(parts)}) -> {result}:{body}\n"

    def precise(self, label: str, function: Any) -> str:
        """A function whose signature is written in the tables."""
        doc = inspect.getdoc(function)
        lines: list[str] = []
        for at, node in enumerate(ast.parse(textwrap.dedent(PRECISE[label])).body):
            if not isinstance(node, ast.FunctionDef):
                raise TypeError(f"stub_tables: {label} is not a function")
            lines.append(self.render(node, from_tables, doc if at == 0 else None))
        text = "\n".join(lines)
        return textwrap.indent(text, "    ") if "." in label else text

    def render(self, node: ast.FunctionDef, resolve: Resolve, doc: str | None) -> str:
        """A function from its syntax, with another documentation."""
        node = self.names.function(node, resolve)
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Name) and decorator.id == "overload":
                decorator.id = self.names.spell("typing", "overload")
        shown = doc and not node.name.startswith("__")
        text = " ".join((doc or "").strip().split("\n\n")[0].split())
        node.body = [ast.Expr(ast.Constant(text if shown else ...))]
        return ast.unparse(node)

    def attached(self, name: str, function: Any) -> str:
        """A Python function attached to the class."""
        base = inspect.unwrap(function)
        if not inspect.isfunction(base):
            raise LookupError(f"Tensor.{name}: neither native nor written in Python")
        resolve = from_module(base.__module__)
        doc = inspect.getdoc(function)
        changes = name.endswith("_") and not name.endswith("__")
        overloads = [] if changes else overloads_of(base)
        lines: list[str] = []
        for at, node in enumerate(overloads):
            first = (node.args.posonlyargs + node.args.args)[0]
            first.arg, first.annotation, node.name = "self", None, name
            node.decorator_list = [ast.Name("overload")]
            text = self.render(node, resolve, doc if at == 0 else None)
            lines.append(textwrap.indent(text, "    "))
        if lines:
            return "\n".join(lines) + "\n"
        generated = changes and function is not base
        parts = self.parameters(base, resolve, without="out" if generated else "")
        result = self.annotation(inspect.signature(base).return_annotation, resolve)
        if changes and result == "Tensor":
            result = self.names.annotation("Self", from_tables)
        return self.define(name, parts, result, doc, "Tensor")

    def annotation(self, written: Any, resolve: Resolve) -> str:
        """An annotation of a Python function in the stub's names."""
        if written is inspect.Signature.empty:
            return self.names.annotation("Incomplete", from_tables)
        return self.names.annotation(str(written), resolve)

    def parameters(
        self, function: Any, resolve: Resolve, first: str | None = "self", without: str = ""
    ) -> list[str]:
        """The parameters of a Python function, the first one under another name."""
        parts: list[str] = []
        star = False
        listed = list(inspect.signature(function).parameters.values())
        for at, parameter in enumerate(listed):
            last_positional = parameter.kind is parameter.POSITIONAL_ONLY and (
                at + 1 == len(listed) or listed[at + 1].kind is not parameter.POSITIONAL_ONLY
            )
            if parameter.name != without:
                if parameter.kind is parameter.KEYWORD_ONLY and not star:
                    parts.append("*")
                star |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
                marks = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
                text = marks.get(parameter.kind, "") + parameter.name
                if at == 0 and first:
                    text = first
                else:
                    text += f": {self.annotation(parameter.annotation, resolve)}"
                if parameter.default is not parameter.empty:
                    plain = isinstance(parameter.default, int | float | str | None)
                    text += f" = {parameter.default!r}" if plain else " = ..."
                parts.append(text)
            if last_positional:
                parts.append("/")
        return parts

    def operator(self, name: str, value: Any) -> str | None:
        """The methods behind operators, which Python knows without signatures."""
        if inspect.isfunction(value):
            return None
        operand = self.names.annotation("Operand", from_tables)
        own = self.names.annotation("Self", from_tables)
        if name in COMPARISONS:
            note = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            return f"    def {name}(self, other: {operand} | None, /) -> Tensor: ...{note}\n"
        # A slot may also stand under another name.
        bare = getattr(value, "__name__", name).strip("_")
        if not name.startswith("__"):
            return None
        if bare in OPERATORS or bare.removeprefix("r") in OPERATORS:
            return f"    def {name}(self, other: {operand}, /) -> Tensor: ...\n"
        if bare.removeprefix("i") in OPERATORS:
            return f"    def {name}(self, other: {operand}, /) -> {own}: ...\n"
        return None

    def member(self, owner: str, name: str, value: Any) -> str | None:
        """One member of a class."""
        known = self.sources.members.get(owner, {})
        if f"{owner}.{name}" in ALWAYS:
            return self.precise(f"{owner}.{name}", value)
        if owner == "Tensor" and (text := self.operator(name, value)):
            return text
        if isinstance(value, classmethod | staticmethod):
            value = value.__func__
            decorator = type(vars(_core.Tensor)[name]).__name__
            first = {"classmethod": "cls"}.get(decorator)
            parts = self.parameters(value, from_module(value.__module__), first)
            result = inspect.signature(value).return_annotation
            text = self.annotation(result, from_module(value.__module__))
            return f"    @{decorator}\n" + self.define(
                name, parts, text, inspect.getdoc(value), owner
            )
        if isinstance(value, property):
            return self.property(name, value)
        if inspect.isfunction(inspect.unwrap(value)):
            return self.attached(name, value)
        if isinstance(value, int):
            return f"    {name}: {self.names.annotation('int', from_tables)}\n"
        rust = known.get(getattr(value, "__name__", name)) or known.get(name)
        if rust is None:
            return None
        if f"{owner}.{name}" in PRECISE:
            return self.precise(f"{owner}.{name}", value)
        if inspect.isgetsetdescriptor(value):
            kind = self.names.annotation(python_type(rust.result, RESULTS, "list[{}]"), from_tables)
            text = "    @property\n" + self.define(name, ["self"], kind, value.__doc__, owner)
            if rust.setter:
                given = python_type(rust.setter, ARGUMENTS, "Sequence[{}]")
                given = self.names.annotation(given, from_tables)
                text += f"    @{name}.setter\n    def {name}(self, value: {given}) -> None: ...\n"
            return text
        if name == "__new__":
            return self.native(rust, getattr(_core, owner), name, owner).replace("(", "(cls, ", 1)
        return self.native(rust, value, name, owner)

    def property(self, name: str, value: Any) -> str:
        """A property that Python code attached, over a Python or a native function."""
        getter = inspect.unwrap(value.fget)
        if inspect.isfunction(getter):
            resolve = from_module(getter.__module__)
            kind = self.annotation(inspect.signature(getter).return_annotation, resolve)
        else:
            rust = self.sources.functions[getter.__name__]
            kind = python_type(rust.result.removeprefix("table:"), RESULTS, "tuple[{}, ...]")
            kind = self.names.annotation(kind, from_tables)
        text = "    @property\n" + self.define(name, ["self"], kind, value.__doc__, "Tensor")
        if value.fset is not None:
            resolve = from_module(value.fset.__module__)
            (_, given) = inspect.signature(value.fset).parameters.values()
            given = self.annotation(given.annotation, resolve)
            text += f"    @{name}.setter\n    def {name}(self, value: {given}) -> None: ...\n"
        return text

    def class_(self, name: str) -> str:
        """A class of the native module."""
        kind = getattr(_core, name)
        bases = ", ".join(base.__name__ for base in kind.__bases__ if base is not object)
        lines = [f"class {name}({bases}):" if bases else f"class {name}:"]
        lines.append(f'    """{inspect.getdoc(kind)}"""')
        if bases:
            return "\n".join(lines) + "\n"
        mine: dict[str, Any] = dict(vars(kind))
        prefix = f"{name}."
        mine |= {each.removeprefix(prefix): None for each in ALWAYS if each.startswith(prefix)}
        if "__richcmp__" in self.sources.members.get(name, {}):
            mine.update(dict.fromkeys(COMPARISONS))
        for member in sorted(mine, key=lambda name: (not name.startswith("__"), name)):
            if member in LEFT_OUT:
                continue
            text = self.member(name, member, mine[member])
            if text is not None:
                lines.append(text)
            elif not member.startswith("__"):
                raise LookupError(f"{name}.{member}: not found in the Rust or Python sources")
        return "\n".join(lines) + "\n"

    def module(self) -> str:
        """The whole stub."""
        classes: list[str] = []
        functions: list[str] = []
        for name in sorted(name for name in dir(_core) if not name.startswith("__")):
            value = getattr(_core, name)
            if isinstance(value, type):
                classes.append(self.class_(name))
            elif inspect.isbuiltin(value):
                if name not in self.sources.functions:
                    raise LookupError(f"{name}: not found in the Rust sources")
                functions.append(self.native(self.sources.functions[name], value, name, ""))
            elif not isinstance(value, list | ModuleType):
                raise LookupError(f"{name}: neither class nor function nor list")
        aliases = [ast.unparse(self.alias(node)) for node in ast.parse(ALIASES).body]
        for name in ("dtype", "device"):
            aliases.append(f"_{name}: TypeAlias = {name}")
        constants = ["__version__: str", "UNARY: list[str]"]
        body = [*aliases, *constants, *classes, *functions]
        return "\n".join([HEADER, self.names.imports(), *body])

    def alias(self, node: ast.stmt) -> ast.stmt:
        """A type alias in the stub's names."""
        self.names.resolve = from_tables
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            node.annotation = self.names.visit(node.annotation)
            node.value = self.names.visit(node.value)
        return node


def overloads_of(function: Any) -> list[ast.FunctionDef]:
    """The overloads written above a function of the package."""

    def is_overload(mark: ast.expr) -> bool:
        return isinstance(mark, ast.Name) and mark.id == "overload"

    return [
        copy.deepcopy(node)  # it will be changed
        for node in syntax(function.__module__).body
        if isinstance(node, ast.FunctionDef)
        and node.name == function.__code__.co_name
        and any(map(is_overload, node.decorator_list))
    ]


def formatted(text: str) -> str:
    """The text as ``ruff format`` leaves it."""
    for command in (["check", "--select", "I", "--fix-only", "--quiet"], ["format"]):
        arguments = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(
            arguments, input=text, capture_output=True, text=True, check=True, cwd=STUB.parent
        ).stdout
    return text


def generate() -> str:
    """The stub's text."""
    return formatted(Writer(rust_signatures.scan()).module())


if __name__ == "__main__":
    STUB.write_text(generate(), encoding="utf-8")
    print(f"{STUB.relative_to(rust_signatures.ROOT)}: written")
