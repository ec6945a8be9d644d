"""What a call costs before any arithmetic: PyBurn against PyTorch on tensors of a few elements.

    python benches/overhead.py             the table
    python benches/overhead.py --check     the same; exit status 1 if a ratio misses its target

Both libraries run in one process and take turns. See `README.md` beside this file for how the
numbers are made and how to read them.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from side_by_side import Row, print_table, use_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LOOP_SECONDS = 0.02
"""How long one timed loop should take: long against the clock, short against a time slice."""

IMPORT_REPEATS = 5

IMPORT_SCRIPT = """
import resource, sys, time
start = time.perf_counter()
import {package}
seconds = time.perf_counter() - start
unit = 1 if sys.platform == "darwin" else 1024
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


def binary(library: ModuleType) -> Callable[[], Any]:
    """One untracked operator on 4 elements."""
    a, b = library.ones(4), library.ones(4)
    return lambda: a + b


def backward(library: ModuleType) -> Callable[[], Any]:
    """Ten tracked multiplications on 4 elements, and the way back."""
    x = library.ones(4, requires_grad=True)
    factor = library.ones(4)

    def step() -> Any:
        x.grad = None
        y = x
        for _ in range(10):
            y = y * factor
        y.sum().backward()
        return x.grad

    return step


def row(library: ModuleType) -> Callable[[], Any]:
    """One row of a (10, 4) tensor by a Python integer."""
    x = library.ones(10, 4)
    return lambda: x[3]


def written_out(library: ModuleType) -> Callable[[], Any]:
    """A linear layer written out, on (1, 64), with parameters that want gradients."""
    weight = library.ones(64, 64, requires_grad=True)
    bias = library.ones(64, requires_grad=True)
    x = library.ones(1, 64)
    return lambda: x @ weight.t() + bias


def layer(library: ModuleType) -> Callable[[], Any]:
    """A call of a linear layer on (1, 64)."""
    module = library.nn.Linear(64, 64)
    x = library.ones(1, 64)
    return lambda: module(x)


@dataclass(frozen=True)
class Case:
    """Something to time, and the ratio to stay under."""

    title: str
    make: Callable[[ModuleType], Callable[[], Any]]
    target: float


CASES = (
    Case("a + b, 4 elements", binary, 0.5),
    Case("10 tracked multiplications + backward, 4 elements", backward, 0.4),
    Case("x[i] of (10, 4)", row, 0.7),
    Case("nn.Linear(64, 64) on (1, 64)", layer, 0.5),
    Case("x @ w.t() + b, (1, 64)", written_out, 0.5),
)


def time_loop(call: Callable[[], Any], count: int, *, fresh: bool) -> float:
    """Seconds that `count` results take: made and read, or with `fresh` off one result re-read.

    A result is read because a library may put work off until then, or for ever.
    """
    result = call()
    result.tolist()
    turns = range(count)
    start = time.perf_counter()
    if fresh:
        for _ in turns:
            call().tolist()
    else:
        for _ in turns:
            result.tolist()
    return time.perf_counter() - start


def per_call(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Seconds per result of each of `calls`, without the cost of reading a finished one."""
    count = _loop_length(calls[0])
    best: dict[tuple[int, bool], float] = {}
    for turn in range(repeats):
        # Who goes first alternates, so that a drift of the clock rate favours neither.
        order = range(len(calls)) if turn % 2 else reversed(range(len(calls)))
        for i in order:
            for fresh in (True, False):
                seconds = time_loop(calls[i], count, fresh=fresh)
                best[i, fresh] = min(seconds, best.get((i, fresh), seconds))
    return [(best[i, True] - best[i, False]) / count for i in range(len(calls))]


def _loop_length(call: Callable[[], Any]) -> int:
    count = 16
    while (seconds := time_loop(call, count, fresh=True)) < LOOP_SECONDS / 4:
        count *= 2
    return max(1, round(count * LOOP_SECONDS / seconds))


def import_cost(package: str) -> tuple[float, float]:
    """Seconds to import `package` in a fresh interpreter, and the bytes then resident."""
    script = IMPORT_SCRIPT.format(package=package)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    seconds, resident = map(float, done.stdout.split())
    return seconds, resident


def call_rows(ours: ModuleType, theirs: ModuleType, repeats: int) -> list[Row]:
    """One row for each case."""
    rows = []
    for case in CASES:
        calls = [case.make(ours), case.make(theirs)]
        mine, other = per_call(calls, repeats)
        figures = f"{mine * 1e9:.0f} ns", f"{other * 1e9:.0f} ns"
        rows.append(Row(case.title, *figures, mine / other, case.target))
    return rows


def import_rows(ours: str, theirs: str) -> list[Row]:
    """Time and memory of the import, the least of several fresh interpreters."""
    costs = [(import_cost(ours), import_cost(theirs)) for _ in range(IMPORT_REPEATS)]
    (mine_s, mine_b), (other_s, other_b) = (
        tuple(map(min, zip(*side, strict=True))) for side in zip(*costs, strict=True)
    )
    return [
        Row("import: time", f"{mine_s:.3f} s", f"{other_s:.3f} s", mine_s / other_s),
        Row(
            "import: resident memory",
            f"{mine_b / 2**20:.0f} MiB",
            f"{other_b / 2**20:.0f} MiB",
            mine_b / other_b,
        ),
    ]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if a ratio misses its target")
    parser.add_argument("--package", default="pyburn", help="what to compare (default pyburn)")
    parser.add_argument("--repeats", type=int, default=30, help="loops per figure, the least wins")
    parser.add_argument("--threads", type=int, default=1, help="threads for both libraries")
    options = parser.parse_args()

    use_threads(options.threads)
    imports = import_rows(options.package, "torch")
    theirs = importlib.import_module("torch")
    theirs.set_num_threads(options.threads)
    ours = importlib.import_module(options.package)
    gc.disable()
    rows = call_rows(ours, theirs, options.repeats) + imports

    print_table(rows, options.package, "torch")
    return int(options.check and any(row.missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
