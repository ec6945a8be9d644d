"""The process that starts the worker, times each sample, and starts it again when it dies."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .tally import Entry, Failure
from .worker import Task, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

PATIENCE = 4
"""Deaths within one entry after which the rest of it counts as failed."""

LOADING = 120.0
"""Seconds a worker may take to import torch, and an entry to make its samples."""

DEATH = "death"
"""The kind of failure that ended the worker."""


class Unusable(Exception):
    """The package under test cannot be imported."""


class Watch:
    """A run through the entries called `names`; `entries` grows as they are done."""

    def __init__(
        self, backend: str, names: list[str], cap: int, limit: float, show: Callable[[Entry], None]
    ) -> None:
        """Give each sample `limit` seconds, each entry `cap` samples, and `show` each entry."""
        self.backend = backend
        self.names = names
        self.cap = cap
        self.limit = limit
        self.show = show
        self.entries: list[Entry] = []
        self._open_next()

    def run(self) -> list[Entry]:
        """Run every entry, however often the worker dies."""
        # A server that has torch loaded forks each worker in a moment, before any thread exists.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["torch.testing._internal.common_methods_invocations"])
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "stderr"
            while len(self.entries) < len(self.names):
                remaining = self.names[len(self.entries) :]
                task = Task(self.backend, remaining, self.cap, str(log), self._done)
                pipe, other_end = context.Pipe(duplex=False)
                worker = context.Process(target=run, args=(task, other_end), daemon=True)
                worker.start()
                other_end.close()
                try:
                    reason = self._follow(pipe)
                finally:
                    worker.kill()
                    worker.join()
                if len(self.entries) < len(self.names):
                    self._bury(reason or _cause(worker.exitcode, log))
        return self.entries

    def _open_next(self) -> None:
        self._entry: Entry | None = None
        self._plan: dict[str, int] = {}
        self._done: set[tuple[str, int]] = set()
        self._current: tuple[str, int] | None = None
        self._deaths = 0

    def _close(self) -> None:
        self.entries.append(self._entry)
        self.show(self._entry)
        self._open_next()

    def _follow(self, pipe: Connection) -> str | None:
        """Take in what the worker sends until it ends, or return why it must be killed."""
        while pipe.poll(self.limit if self._current else LOADING):
            try:
                event, *what = pipe.recv()
            except EOFError:
                return None
            if event == "entry":
                self._entry = self._entry or Entry(*what)
            elif event == "plan":
                entry = self._entry
                entry.dtype, entry.samples, entry.missing, self._plan = what
            elif event == "begin":
                self._current = tuple(what)
            elif event == "end":
                self._settle(*what)
            elif event == "done":
                self._close()
            elif event == "unusable":
                raise Unusable(*what)
        return f"no answer within {self.limit if self._current else LOADING:g} s"

    def _settle(self, stage: str, sample: int, outcome: str, kind: str, message: str) -> None:
        self._current = None
        self._done.add((stage, sample))
        if outcome == "passed":
            self._entry.passed[stage] += 1
        elif outcome == "failed":
            self._entry.failures.append(Failure(stage, sample, kind, message))

    def _bury(self, reason: str) -> None:
        """Put the worker's death down to the sample it happened in, which is not run again."""
        self._deaths += 1
        if self._current is not None:
            self._settle(*self._current, "failed", DEATH, reason)
            if self._deaths < PATIENCE:
                return
        else:
            # It died while the samples were made, so none of them can be run.
            self._entry = self._entry or Entry(self.names[len(self.entries)])
            self._entry.failures.append(Failure("forward", 0, DEATH, reason))
        for stage, count in self._plan.items():
            for sample in range(count):
                if (stage, sample) not in self._done:
                    self._settle(stage, sample, "failed", DEATH, "not run: the entry kept dying")
        self._close()


def _cause(exitcode: int, log: Path) -> str:
    if exitcode < 0:
        ended = f"the process died of {signal.Signals(-exitcode).name}"
    else:
        ended = f"the process ended with code {exitcode}"
    last_words = log.read_text(errors="replace").strip()[-200:] if log.exists() else ""
    return f"{ended}: {last_words}" if last_words else ended
