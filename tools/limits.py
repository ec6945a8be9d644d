"""Bring the table of `docs/limits.md` up to date with what the package declares as missing.

    python tools/limits.py

Names that modules list with a reason (`pyburn._absent.ABSENT`, `_MISSING` elsewhere) get one row
per reason. Rows written by hand, for calls that are refused, are kept below them.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from pathlib import Path

import pyburn

PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
HEAD = "| name | what happens | why, and what to do instead |\n|---|---|---|\n"
ROW = re.compile(r"^\| (`[^`]+`(?:, `[^`]+`)*) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def expressions(row: str) -> list[str]:
    """The Python in the first column of a row."""
    found = ROW.fullmatch(row)
    return re.findall("`([^`]+)`", found.group(1)) if found else []


def declared() -> dict[str, str]:
    """Every name that a module of the package lists as missing, with its reason."""
    found: dict[str, str] = {}
    for info in pkgutil.walk_packages(pyburn.__path__, "pyburn."):
        module = importlib.import_module(info.name)
        owner = "pyburn" if info.name == "pyburn._absent" else info.name
        for table in ("ABSENT", "_MISSING"):
            for name, reason in vars(module).get(table, {}).items():
                found[f"{owner}.{name}"] = reason
    return found


def updated(text: str) -> str:
    """The page with the rows that belong in it."""
    known = declared()
    before, _, table = text.partition(HEAD)
    by_hand = [
        row for row in table.splitlines() if not all("(" not in name for name in expressions(row))
    ]
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, reason in known.items():
        by_reason[reason].append(f"`{name}`")
    rows = [
        f"| {', '.join(names)} | `NotImplementedError` | {reason} |"
        for reason, names in by_reason.items()
    ]
    return before + HEAD + "".join(f"{row}\n" for row in rows + by_hand)


def main() -> int:
    """The command line."""
    PAGE.write_text(updated(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
