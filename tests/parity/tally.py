"""What is counted, and the table that shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

STAGES = ("forward", "backward", "error")


@dataclass(frozen=True)
class Failure:
    """One sample that did not pass."""

    stage: str
    sample: int
    kind: str
    """`Mismatch`, `Missing`, `death`, or the class of what was raised."""
    message: str

    def __str__(self) -> str:
        """Stage, number of the sample and message."""
        return f"{self.stage}[{self.sample}] {self.message}"


@dataclass
class Entry:
    """What became of one entry of the database."""

    name: str
    dtype: str = ""
    samples: int = 0
    missing: list[str] = field(default_factory=list)
    """Names of the entry that the package does not have."""
    passed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    failures: list[Failure] = field(default_factory=list)

    def failed(self, stage: str | None = None) -> int:
        """How many samples failed, in one stage or in all."""
        return sum(stage in (None, failure.stage) for failure in self.failures)

    def ran(self, stage: str) -> int:
        """How many samples torch had an answer for."""
        return self.passed[stage] + self.failed(stage)


@dataclass
class Report:
    """The outcome of a run."""

    library: str
    entries: list[Entry]
    in_database: int
    in_scope: int
    cap: int

    def rate(self, stage: str) -> float:
        """The share of samples that passed `stage`, between 0 and 1."""
        ran = sum(entry.ran(stage) for entry in self.entries)
        return sum(entry.passed[stage] for entry in self.entries) / ran if ran else 1.0

    def new_failures(self, known: dict[str, str]) -> list[str]:
        """Entries that fail without being `known` to, one line each."""
        return [
            f"{entry.name}: {entry.failed()} samples failed, the first with {entry.failures[0]}"
            for entry in self.entries
            if entry.failures and entry.name not in known
        ]

    def mended(self, known: dict[str, str]) -> list[str]:
        """Entries that pass though they are `known` to fail."""
        return [entry.name for entry in self.entries if entry.name in known and not entry.failures]

    def table(self) -> str:
        """`entries passed forward / backward / errors`, with the percentages."""
        taken = sum(entry.samples for entry in self.entries)
        run = sum(entry.ran("forward") for entry in self.entries)
        lines = [
            f"{self.library}: {self.in_scope} of {self.in_database} entries of op_db are in scope",
            f"{len(self.entries)} entries run, with {taken} samples, {run} of them run"
            + (f" (at most {self.cap} an entry)" if self.cap else ""),
            f"{'':10}{'entries passed':>24}{'samples passed':>26}",
        ]
        for stage in STAGES:
            concerned = [entry for entry in self.entries if entry.ran(stage)]
            whole = sum(not entry.failed(stage) for entry in concerned)
            passed = sum(entry.passed[stage] for entry in concerned)
            ran = sum(entry.ran(stage) for entry in concerned)
            lines.append(f"{stage:10}{_share(whole, len(concerned)):>24}{_share(passed, ran):>26}")
        return "\n".join(lines)

    def missing(self) -> list[str]:
        """Every name the package lacks, once."""
        return sorted({name for entry in self.entries for name in entry.missing})

    def kinds(self) -> list[tuple[str, int]]:
        """What went wrong, with the number of entries it happened in, most frequent first."""
        per_entry = ({failure.kind for failure in entry.failures} for entry in self.entries)
        return Counter(kind for kinds in per_entry for kind in kinds).most_common()

    def to_json(self) -> dict[str, Any]:
        """The whole outcome as plain values."""
        rates = {stage: self.rate(stage) for stage in STAGES}
        return {**vars(self), "entries": list(map(asdict, self.entries)), "rates": rates}


def _share(part: int, whole: int) -> str:
    percent = 100.0 * part / whole if whole else 100.0
    return f"{part} / {whole}  {percent:5.1f} %"
