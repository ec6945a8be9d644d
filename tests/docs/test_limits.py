"""`docs/limits.md` is true and complete.

Each row of its table begins with Python expressions, and evaluating one raises what the second
column says, with a reason. What the package itself declares as missing stands in the table.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import pyburn
import pytest

ROOT = Path(__file__).parents[2]


def tool() -> object:
    """`tools/limits.py` as a module."""
    spec = importlib.util.spec_from_file_location("limits", ROOT / "tools" / "limits.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


limits = tool()
TEXT = limits.PAGE.read_text()


@dataclass(frozen=True)
class Limit:
    """An expression of the table, with the rest of its row."""

    expression: str
    happens: str
    instead: str


LIMITS = [
    Limit(expression, found.group(2), found.group(3))
    for found in limits.ROW.finditer(TEXT)
    for expression in limits.expressions(found.group(0))
]


def test_every_row_is_read() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("|")]
    assert len(rows) == len(limits.ROW.findall(TEXT)) + len(limits.HEAD.splitlines())
    assert len(LIMITS) > len(rows)


def test_nothing_stands_there_twice() -> None:
    assert len({limit.expression for limit in LIMITS}) == len(LIMITS)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.expression)
def test_it_is_refused_with_a_reason(limit: Limit) -> None:
    x, g = pyburn.ones(4), pyburn.ones(4, requires_grad=True)
    with pytest.raises(NotImplementedError) as caught:
        eval(limit.expression, {"pyburn": pyburn, "x": x, "g": g})
    assert limit.happens == "`NotImplementedError`"
    # A reason, and not just a name.
    assert len(str(caught.value).split()) >= 5
    assert len(limit.instead.split()) >= 3


def test_what_the_package_declares_stands_there() -> None:
    assert limits.updated(TEXT) == TEXT, "python tools/limits.py brings docs/limits.md up to date"
