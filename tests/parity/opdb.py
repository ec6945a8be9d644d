"""Run PyBurn through PyTorch's database of operators.

    python -m tests.parity.opdb                      everything in scope
    python -m tests.parity.opdb --only '^linalg'     entries whose full name matches
    python -m tests.parity.opdb --list               what is in scope, and why the rest is not
    python -m tests.parity.opdb --json out.json      every failure of every sample
    python -m tests.parity.opdb --backend torch      the harness against torch itself: 100 %

The exit status is 0 if the outcome is the one that `exceptions.py` foresees.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torch.testing._internal.common_methods_invocations import op_db

from .exceptions import KNOWN_FAILURES
from .scope import out_of_scope
from .tally import Entry, Report
from .watch import Unusable, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

CAP = 60
LIMIT = 20.0
LINE = 180


def names_in_scope(only: str = "") -> list[str]:
    """Full names of the entries to run, in the order of the database."""
    pattern = re.compile(only)
    return [op.full_name for op in op_db if not out_of_scope(op) and pattern.search(op.full_name)]


def run(
    backend: str = "pyburn",
    *,
    only: str = "",
    cap: int = CAP,
    limit: float = LIMIT,
    show: Callable[[Entry], None] = lambda entry: None,
) -> Report:
    """Put `backend` through the entries whose name matches `only`.

    Args:
        backend: Any importable package that has torch's names.
        only: Regular expression, searched in the full name of each entry in scope.
        cap: Most samples to run of one entry and stage; 0 for all.
        limit: Seconds after which a sample counts as hanging.
        show: Called with each entry as it is done.
    """
    entries = Watch(backend, names_in_scope(only), cap, limit, show).run()
    return Report(backend, entries, len(op_db), len(names_in_scope()), cap)


def unknown_exceptions() -> list[str]:
    """Names in `exceptions.py` that are no entry in scope."""
    return sorted(set(KNOWN_FAILURES) - set(names_in_scope()))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.opdb",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="entries to run")
    parser.add_argument("--list", action="store_true", help="show the scope and run nothing")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the outcome here")
    parser.add_argument("--backend", default="pyburn", help="package to test (default pyburn)")
    parser.add_argument("--samples", type=int, default=CAP, help="cap per entry, 0 for all")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds per sample")
    options = parser.parse_args()
    if options.list:
        _list()
        return 0
    try:
        report = run(
            options.backend,
            only=options.only,
            cap=options.samples,
            limit=options.limit,
            show=_show,
        )
    except Unusable as reason:
        print(f"cannot import {options.backend}: {reason}", file=sys.stderr)
        return 2
    if options.json:
        options.json.write_text(json.dumps(report.to_json(), indent=1) + "\n")
    if report.missing():
        print(f"\n{len(report.missing())} names are missing: {' '.join(report.missing())}")
    for kind, count in report.kinds():
        print(f"{kind} in {count} entries")
    print("\n" + report.table() + "\n")
    new, mended = report.new_failures(KNOWN_FAILURES), report.mended(KNOWN_FAILURES)
    unknown = unknown_exceptions()
    if new:
        print(f"{len(new)} entries fail that tests/parity/exceptions.py does not list")
    if mended:
        print(f"listed there, but they pass: {' '.join(mended)}")
    if unknown:
        print(f"listed there, but not entries in scope: {' '.join(unknown)}")
    return int(bool(new or mended or unknown))


def _show(entry: Entry) -> None:
    if entry.failures:
        known = "known" if entry.name in KNOWN_FAILURES else "FAILED"
        line = f"{known} {entry.name} ({entry.failed()} samples) {entry.failures[0]}"
        print(line[:LINE], flush=True)


def _list() -> None:
    reasons = {op.full_name: out_of_scope(op) for op in op_db}
    for name, reason in reasons.items():
        print(f"{name:45} {reason or 'in scope'}")
    print(f"{sum(r is None for r in reasons.values())} of {len(reasons)} entries are in scope")


if __name__ == "__main__":
    sys.exit(main())
