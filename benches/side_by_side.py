"""What the benches share: turns, and the table."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    title: str
    ours: str
    theirs: str
    ratio: float
    target: float | None = None

    @property
    def missed(self) -> bool:
        """Whether there is a target and the ratio is above it."""
        return self.target is not None and self.ratio > self.target

    def __str__(self) -> str:
        """Title, the two figures, their ratio, the target."""
        target = "" if self.target is None else f"{self.target:.2f}"
        mark = "  MISSED" if self.missed else ""
        return f"{self.title:52}{self.ours:>12}{self.theirs:>12}{self.ratio:8.2f}{target:>8}{mark}"


def print_table(rows: Sequence[Row], ours: str, theirs: str) -> None:
    """A heading, the rows."""
    print(f"{'':52}{ours:>12}{theirs:>12}{'ratio':>8}{'target':>8}")
    print("\n".join(map(str, rows)))


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean that ratios have."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def use_threads(count: int) -> None:
    """Bound both libraries' threads; thread pools read this once, when a library is loaded."""
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(count)


def alternate(calls: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """The least seconds of each call, the calls taking turns.

    Who goes first alternates too, so that a drift of the clock rate favours neither.
    """
    best = [math.inf] * len(calls)
    for turn in range(repeats):
        order = range(len(calls)) if turn % 2 else reversed(range(len(calls)))
        for i in order:
            start = time.perf_counter()
            calls[i]()
            best[i] = min(best[i], time.perf_counter() - start)
    return best
