"""The process that runs the checks, entry by entry, and reports each sample as it goes.

It may be ended at any moment, by its own crash or by the watch: everything it knows has been sent
by then, and a new one goes on where it stopped.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from . import checks
from .cases import cases
from .compare import Mismatch
from .library import Library, Malformed, Missing
from .tally import STAGES
from .tolerance import tolerance
from .variants import Variant, function_variant, variants

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from torch.testing._internal.opinfo.core import OpInfo

PLAIN = (checks.NotApplicable, Mismatch, Missing, Malformed)
"""Findings of the harness itself: their message says it all without the name of the class."""

MESSAGE = 400
"""Most characters kept of one failure."""


@dataclass
class Task:
    """What a worker is asked to do."""

    backend: str
    names: list[str]
    cap: int
    log: str
    done: set[tuple[str, int]] = field(default_factory=set)
    """Stage and number of the samples of `names[0]` that an earlier worker has settled."""


def run(task: Task, pipe: Connection) -> None:
    """Run `task`, sending one tuple for each thing that happens."""
    # Panics and aborts write to the second descriptor, not to sys.stderr.
    os.dup2(os.open(task.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 2)
    warnings.simplefilter("ignore")
    # Samples are small: threads would only measure the scheduler.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    torch.set_num_threads(1)
    try:
        library = Library(task.backend)
    except Exception as reason:
        pipe.send(("unusable", f"{type(reason).__name__}: {reason}"))
        return
    entries = {op.full_name: op for op in op_db}
    for i, name in enumerate(task.names):
        _run_entry(entries[name], library, task.cap, task.done if i == 0 else set(), pipe)
    pipe.send(("finished",))


def _run_entry(
    op: OpInfo, library: Library, cap: int, done: set[tuple[str, int]], pipe: Connection
) -> None:
    pipe.send(("entry", op.full_name))
    found = cases(op, cap)
    subject = checks.Subject(
        name=op.name,
        library=library,
        tolerance=tolerance(op, found.dtype),
        compare_values=op.name not in checks.RANDOM and not op.has_nondeterministic_output,
    )
    ways = {
        "forward": variants(op),
        "backward": _differentiable(op),
        "error": [function_variant(op)],
    }
    plan = {stage: len(getattr(found, stage)) for stage in STAGES}
    missing = _missing(ways["forward"], library)
    pipe.send(("plan", str(found.dtype), found.available, missing, plan))
    for stage in STAGES:
        for number, case in enumerate(getattr(found, stage)):
            if (stage, number) not in done:
                pipe.send(("begin", stage, number))
                called = [way for way in ways[stage] if way.samples is None or number < way.samples]
                outcome = _judge(getattr(checks, stage), subject, called, case)
                pipe.send(("end", stage, number, *outcome))
    pipe.send(("done",))


def _judge(
    check: Any, subject: checks.Subject, called: list[Variant], case: Any
) -> tuple[str, str, str]:
    """Whether `case` passed, then the kind of failure and its message.

    A sample passes if every way of calling the operator passes on it. If torch has nothing to say
    about the first way, which defines the operator, the sample counts neither way.
    """
    for variant in called:
        try:
            check(subject, variant, case)
        except checks.NotApplicable:
            if variant is called[0]:
                return "none", "", ""
        except (KeyboardInterrupt, SystemExit):
            raise
        # A panic of the native module derives from BaseException alone.
        except BaseException as failure:
            kind = type(failure).__name__
            raised = "" if isinstance(failure, PLAIN) else f"{kind}: "
            return "failed", kind, f"{variant.label}: {raised}{failure}"[:MESSAGE]
    return "passed", "", ""


def _differentiable(op: OpInfo) -> list[Variant]:
    """The function, and the in-place method where torch can go backward through it."""
    references = [op.op] + [op.inplace_variant] * bool(op.supports_inplace_autograd)
    return [variant for variant in variants(op) if variant.reference in references]


def _missing(called: list[Variant], library: Library) -> list[str]:
    """Names of the entry that `library` does not have."""
    missing = []
    for variant in called:
        try:
            variant.of(library)
        except Missing:
            missing.append(variant.path)
    return missing
