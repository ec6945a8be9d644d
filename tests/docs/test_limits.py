"""`docs/limits.md` is true and complete.

Each row of its table begins with Python expressions, and evaluating one raises the exception of the
second column, with a reason. Everything the package itself lists as missing stands in a row.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import pyburn

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
ROW = re.compile(r"^\| (`[^`]+`(?:, `[^`]+`)*) \| (.+?) \| (.+?) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Limit:
    """An expression of the table, with the rest of its row."""

    expression: str
    happens: str
    instead: str


LIMITS = [
    Limit(expression, happens, instead)
    for expressions, happens, instead in ROW.findall(PAGE.read_text())
    for expression in re.findall("`([^`]+)`", expressions)
]


def test_the_table_is_read() -> None:
    text = PAGE.read_text()
    header, rule, *rows = [line for line in text.splitlines() if line.startswith("|")]
    assert header == "| name | what happens | why, and what to do instead |"
    assert set(rule) == {"|", "-"}
    assert len(rows) == len(ROW.findall(text)) > 0
    assert len({limit.expression for limit in LIMITS}) == len(LIMITS)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.expression)
def test_it_is_refused_with_a_reason(limit: Limit) -> None:
    x, g = pyburn.ones(4), pyburn.ones(4, requires_grad=True)
    with pytest.raises(NotImplementedError) as caught:
        eval(limit.expression, {"pyburn": pyburn, "x": x, "g": g})
    assert "`NotImplementedError`" in limit.happens
    # A reason, and not just a name.
    assert len(str(caught.value).split()) >= 5
    assert len(limit.instead.split()) >= 3


def declared() -> list[str]:
    """The names that modules of the package list as missing."""
    names: list[str] = []
    for info in pkgutil.walk_packages(pyburn.__path__, "pyburn."):
        module = importlib.import_module(info.name)
        owner = "pyburn" if info.name == "pyburn._absent" else info.name
        for table in ("ABSENT", "_MISSING"):
            names += [f"{owner}.{name}" for name in vars(module).get(table, {})]
    return sorted(set(names))


@pytest.mark.parametrize("name", declared())
def test_what_the_package_declares_stands_in_a_row(name: str) -> None:
    assert any(re.match(rf"{re.escape(name)}\b", limit.expression) for limit in LIMITS)
