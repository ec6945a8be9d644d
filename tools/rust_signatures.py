"""Signatures of the native module, read from its Rust sources.

PyO3 tells Python the names of a function's arguments but not their types, and the tables of the
native module leave even the results to inference. Both are written down in Rust: an argument's type
in ``crates/pyburn``, a table's result in the engine's method that its line calls. This reads them,
as text: it knows the few shapes in which those crates write functions and refuses everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "crates" / "pyburn" / "src"
ENGINE = ROOT / "crates" / "wrap-burn" / "src"

# What the Python class of a Rust one is called, for the classes of the native module.
CLASS = re.compile(r"#\[pyclass\(([^]]*)\)\][^{;]*?struct\s+(\w+)")
FUNCTION = re.compile(
    r"(?P<attributes>(?:#\[[^]]*\]\s*)*)(?:pub(?:\(\w+\))?\s+)?fn\s+(?P<name>\w+)"
)

# Arguments that PyO3 fills in by itself.
OWN = re.compile(r"^(?:py|_py|&self|self|slf|class|cls)$")


@dataclass
class Signature:
    """One function: Rust types by argument, the Rust type of the result."""

    arguments: dict[str, str]
    result: str
    setter: str | None = None
    attributes: str = ""


@dataclass
class Sources:
    """Everything the sources say: functions of the module, members of each class."""

    functions: dict[str, Signature] = field(default_factory=dict[str, Signature])
    members: dict[str, dict[str, Signature]] = field(
        default_factory=dict[str, dict[str, Signature]]
    )


def read(path: Path) -> str:
    """A source file without comments and tests, its local macros expanded."""
    text = path.read_text(encoding="utf-8")
    # Brackets in literals would upset the counting of brackets.
    text = re.sub(
        r"""('[][(){}"]'|"(?:[^"\\]|\\.)*")|//[^\n]*""",
        lambda found: re.sub(r"""[][(){};]|'"'""", " ", found[1] or ""),
        text,
        flags=re.DOTALL,
    )
    return expand(text.split("#[cfg(test)]\nmod tests {")[0])


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` closes."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    raise ValueError(f"unbalanced brackets in {text[start : start + 60]!r}")


def expand(text: str) -> str:
    """The text with macros of the form ``$($a:ident $b:ident),*`` put in place of their calls."""
    rules = re.compile(r"macro_rules!\s+(\w+)\s*\{\s*\(\s*(\$\()")
    at = 0
    while found := rules.search(text, at):
        name, at = found[1], found.end()
        end = closing(text, found.start(2) + 1)
        row = text[found.start(2) + 2 : end]
        body_start = text.find("{", text.index("=>", end))
        body = text[body_start + 1 : closing(text, body_start)]
        if name.startswith("native") or "fn $" not in body:
            continue
        pattern, names = row_pattern(row)
        body = re.sub(r"\$\(#\[\$\w+\]\)\*", "", body)
        for call in reversed(list(re.finditer(rf"\b{name}!\s*\{{", text))):
            stop = closing(text, call.end() - 1)
            rows = [
                dict(zip(names, match.groups(), strict=True))
                for match in re.finditer(pattern, text[call.end() : stop])
            ]
            text = text[: call.start()] + repeat(body, rows) + text[stop + 1 :]
    return text


def row_pattern(row: str) -> tuple[str, list[str]]:
    """A regular expression for one row of a macro's call, and the names it captures."""
    kinds = {"ident": r"(\w+)", "literal": r'("[^"]*"|\d+)', "ty": r"([\w<>&]+)"}
    row = re.sub(r"\$\(#\[\$\w+:meta\]\)\*", "", row).strip().rstrip(",;")
    names: list[str] = []
    parts: list[str] = []
    for piece in re.findall(r"\$\w+:\w+|[^\s$]+", row):
        if piece.startswith("$"):
            name, kind = piece[1:].split(":")
            names.append(name)
            parts.append(kinds[kind])
        else:
            parts.append(re.escape(piece))
    return r"\s*".join(parts), names


def repeat(body: str, rows: list[dict[str, str]]) -> str:
    """A macro's body with its repeated part written out for every row."""
    start = body.find("$(")
    if start < 0:
        return body
    end = closing(body, start + 1)
    once = body[start + 2 : end]
    written = "".join(
        re.sub(r"\$(\w+)", lambda found, row=row: row.get(found[1], found[0]), once) for row in rows
    )
    rest = body[end + 1 :].lstrip(",").removeprefix("*")
    return body[:start] + written + repeat(rest, rows)


def split(text: str) -> list[str]:
    """Parts between commas that stand outside of brackets."""
    parts: list[str] = []
    depth, last = 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(text[last:at])
            last = at + 1
    return [part.strip() for part in [*parts, text[last:]] if part.strip()]


def functions(text: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Attributes, name, arguments, result and body of every function in a piece of source."""
    at = 0
    while found := FUNCTION.search(text, at):
        start = text.find("(", found.end())
        between = text[found.end() : start].strip()
        at = found.end()
        if between and not between.startswith("<"):
            continue
        end = closing(text, start)
        rest = text[end + 1 :]
        stop = re.search(r"=>|\{|;", rest)
        if stop is None:
            continue
        result = rest[: stop.start()].strip().removeprefix("->").split(" where ")[0].strip()
        body_start = end + 1 + stop.start()
        if stop[0] == "{":
            body_end = closing(text, body_start) + 1
        else:
            body_end = statement_end(text, body_start)
        body = text[body_start:body_end].removeprefix("=>").strip()
        yield found["attributes"], found["name"], text[start + 1 : end], result, body
        at = body_end


def statement_end(text: str, start: int) -> int:
    """Where a table's line ends: at the semicolon outside of brackets."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if text[at] == ";" and depth == 0:
            return at
    raise ValueError(f"a line of a table does not end: {text[start : start + 60]!r}")


def plain(rust: str) -> str:
    """A type without lifetimes, paths and references."""
    rust = re.sub(r"&?'\w+\s*,?\s*|&", "", rust)
    rust = re.sub(r"\b(?:\w+::)+", "", rust)
    return re.sub(r"\s+", "", rust).replace("<>", "")


def arguments_of(text: str, first: str | None = None) -> dict[str, str]:
    """Rust types by the name of the argument; ``first`` is the type of one without."""
    found: dict[str, str] = {}
    for part in split(text):
        name, _, kind = part.partition(":")
        name = name.replace("mut ", "").strip()
        if first is not None and not kind:
            found[name] = first
        elif not OWN.match(re.sub(r"'\w+\s*", "", name)):
            found[name] = plain(kind)
    return found


def engine_results() -> tuple[dict[str, str], dict[str, str]]:
    """What the public methods of the engine's tensor return, and its public functions."""
    methods: dict[str, str] = {}
    free: dict[str, str] = {}
    texts = [read(path) for path in sorted(ENGINE.rglob("*.rs"))]
    aliases = {
        found[1]: found[2]
        for text in texts
        for found in re.finditer(r"\btype (\w+) = ([^;]+);", text)
    }
    for text in texts:
        for block in re.finditer(r"\bimpl Tensor\s*\{", text):
            inside = text[block.end() : closing(text, block.end() - 1)]
            for _, name, _, result, _ in functions(inside):
                result = re.sub(r"\w+", lambda word: aliases.get(word[0], word[0]), result)
                methods[name] = plain(result)
        free.update(free_functions(text))
    return methods, free


def free_functions(text: str) -> dict[str, str]:
    """What the functions outside of any block return."""
    starts = re.finditer(r"^(?:pub(?:\(\w+\))? )?fn \w+\(", text, re.MULTILINE)
    found = (next(functions(text[start.start() :])) for start in starts)
    return {name: plain(result) for _, name, _, result, _ in found}


def table_result(name: str, body: str, methods: dict[str, str], free: dict[str, str]) -> str:
    """What a line of a table gives, from the method or function that it ends with."""
    last = body.strip()
    if last.startswith("{"):
        last = re.split(r"[;}]\s*\n", last.removeprefix("{").removesuffix("}").strip())[-1].strip()
    if re.match(r"Ok\(.*\.to_string\(\)\)$", last):
        return "String"
    call = re.match(r"(?:\w+\.|Tensor::)(\w+)\(", last)
    if call and call[1] in methods:
        return methods[call[1]]
    call = re.match(r"(?:\w+::)*(\w+)\(", last)
    if call and call[1] in free:
        return free[call[1]]
    raise LookupError(
        f"{name}: the type of its result cannot be read; hint: write it, "
        f"`fn {name}(...) -> Type => ...`"
    )


def python_name(attributes: str, name: str) -> str:
    """The name under which Python sees a function."""
    given = re.search(r'name\s*=\s*"(\w+)"', attributes)
    if given:
        return given[1]
    getter = re.search(r"#\[(?:getter|setter)(?:\((?:r#)?(\w+)\))?\]", attributes)
    if getter:
        return getter[1] or re.sub(r"^[gs]et_", "", name)
    return "__new__" if "#[new]" in attributes else name


def scan() -> Sources:
    """Reads all sources of the native module."""
    sources = Sources()
    methods, free = engine_results()
    texts = {path: read(path) for path in sorted(NATIVE.rglob("*.rs"))}
    classes: dict[str, str] = {}
    for text in texts.values():
        for found in CLASS.finditer(text):
            given = re.search(r'name\s*=\s*"(\w+)"', found[1])
            classes[found[2]] = given[1] if given else found[2]
    for path, text in texts.items():
        local = free | free_functions(text)
        for table in re.finditer(r"\b(native|native_free)!\s*\{", text):
            inside = text[table.end() : closing(text, table.end() - 1)]
            first = "T" if table[1] == "native" else None
            for attributes, name, arguments, result, body in functions(inside):
                public = python_name(attributes, name)
                kind = plain(result) or plain(table_result(public, body, methods, local))
                sources.functions[public] = Signature(
                    arguments_of(arguments, first), "table:" + kind, attributes=attributes
                )
        for block in re.finditer(r"#\[pymethods\]\s*impl (\w+)\s*\{", text):
            inside = text[block.end() : closing(text, block.end() - 1)]
            members = sources.members.setdefault(classes[block[1]], {})
            for attributes, name, arguments, result, _ in functions(inside):
                public = python_name(attributes, name)
                known = arguments_of(arguments)
                if "#[setter" in attributes:
                    members[public].setter = next(iter(known.values()))
                else:
                    members[public] = Signature(known, plain(result), attributes=attributes)
        if path.name != "native.rs":
            for found in re.finditer(r"#\[pyfunction\]", text):
                attributes, name, arguments, result, _ = next(functions(text[found.start() :]))
                public = python_name(attributes, name)
                sources.functions[public] = Signature(
                    arguments_of(arguments), plain(result), attributes=attributes
                )
    return sources
