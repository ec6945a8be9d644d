"""Run PyBurn and PyTorch over every combination of dtypes: do they promote and refuse alike?

    PYTHONPATH=python python -m tests.parity.dtype_sweep                    everything in scope
    PYTHONPATH=python python -m tests.parity.dtype_sweep --only '^bitwise'  entries that match

An elementwise function of one tensor is called with each dtype, one of two with each pair, also as
a 0-d tensor and with Python's numbers, functions that reduce with each dtype over a dimension and
over all, and everything else on samples of the database turned into each dtype. Where torch gives
dtypes, PyBurn must give the same ones; where torch refuses, PyBurn must.

The exit status is 0 if the outcome is the one that `exceptions.py` foresees.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import (
    BinaryUfuncInfo,
    ReductionOpInfo,
    SampleInput,
    UnaryUfuncInfo,
)

from .carry import Carrier, NotCarried
from .cases import first_dtype
from .exceptions import DTYPE_DIFFERENCES
from .library import Library, Missing
from .scope import out_of_scope
from .variants import Variant, function_variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.testing._internal.opinfo.core import OpInfo

DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
)
NUMBERS = (True, 2, 1.5, 1j)
SAMPLES = 2
"""Samples of an entry that is neither elementwise nor a reduction."""

TORCH = Library("torch")
REFUSED = "refused"


@dataclass(frozen=True)
class Trial:
    """One call, the same in both libraries."""

    variant: Variant
    sample: SampleInput

    def __str__(self) -> str:
        """The call with its tensors as dtypes and shapes."""
        sample = self.sample
        arguments = [_text(value) for value in (sample.input, *sample.args)]
        arguments += [f"{name}={_text(value)}" for name, value in sample.kwargs.items()]
        return f"{self.variant.label}({', '.join(arguments)})"

    def outcome(self, library: Library) -> str:
        """The dtypes of the results, or that there are none."""
        carry = Carrier(library)
        sample = self.sample
        first, rest, named = carry(sample.input), carry(sample.args), carry(sample.kwargs)
        call = self.variant.of(library)
        try:
            return _kinds(call(first, *rest, **named), library)
        except (Missing, NotCarried):
            raise
        except Exception:
            return REFUSED


@dataclass
class Sweep:
    """What came of all trials."""

    trials: int = 0
    refused: int = 0
    """Trials that torch refuses."""
    differences: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Full name of an entry -> its calls that differ."""

    def add(self, op: OpInfo, trial: Trial, library: Library) -> None:
        """Make one trial."""
        try:
            expected, found = trial.outcome(TORCH), trial.outcome(library)
        except (Missing, NotCarried):
            return
        self.trials += 1
        self.refused += expected == REFUSED
        if expected != found:
            self.differences[op.full_name].append(f"{trial}: {found}, torch: {expected}")


def sweep(library: Library, only: str = "") -> Sweep:
    """Put `library` through the entries whose full name matches `only`."""
    found = Sweep()
    for op in op_db:
        if not out_of_scope(op) and re.search(only, op.full_name):
            for trial in trials(op):
                found.add(op, trial, library)
    return found


def trials(op: OpInfo) -> Iterator[Trial]:
    """The calls an entry is put through."""
    own = function_variant(op)
    if isinstance(op, UnaryUfuncInfo):
        for dtype in DTYPES:
            yield Trial(own, SampleInput(_ones(dtype)))
            yield from _in_place(op, SampleInput(_ones(dtype)))
    elif isinstance(op, BinaryUfuncInfo):
        for sample in _pairs():
            yield Trial(own, sample)
            yield from _in_place(op, sample)
    elif isinstance(op, ReductionOpInfo):
        for dtype in DTYPES:
            yield Trial(own, SampleInput(_ones(dtype)))
            yield Trial(own, SampleInput(_ones(dtype), kwargs={"dim": 0}))
    else:
        yield from _turned(op, own)


def _pairs() -> Iterator[SampleInput]:
    for one in DTYPES:
        # Torch gives these in complex32, which has no NumPy form, or has no type for them at all.
        half = one in (torch.float16, torch.bfloat16)
        for other in DTYPES:
            yield SampleInput(_ones(one), args=(_ones(other),))
            if not (half and other.is_complex):
                yield SampleInput(_ones(one), args=(torch.ones((), dtype=other),))
        for number in NUMBERS:
            if not (half and isinstance(number, complex)):
                yield SampleInput(_ones(one), args=(number,))


def _in_place(op: OpInfo, sample: SampleInput) -> Iterator[Trial]:
    if op.inplace_variant is not None:
        path = f"Tensor.{op.name.removesuffix('_')}_"
        own = SampleInput(sample.input.clone(), args=sample.args)
        yield Trial(Variant(path, op.inplace_variant, path, inplace=True), own)


def _turned(op: OpInfo, own: Variant) -> Iterator[Trial]:
    """Samples of the database in other dtypes than they were made for."""
    measured = first_dtype(op)
    samples = list(op.sample_inputs("cpu", measured, requires_grad=False))[:SAMPLES]
    for sample in samples:
        for dtype in DTYPES:

            def turn(value: Any, dtype: torch.dtype = dtype) -> Any:
                fits = isinstance(value, torch.Tensor) and value.dtype == measured
                return value.to(dtype) if fits else value

            yield Trial(own, sample.transform(turn))


def _ones(dtype: torch.dtype) -> torch.Tensor:
    return torch.ones(2, dtype=dtype)


def _kinds(result: Any, library: Library) -> str:
    if isinstance(result, library.tensor_class):
        return str(result.dtype).rpartition(".")[2]
    if isinstance(result, (list, tuple)):
        return "(" + ", ".join(_kinds(item, library) for item in result) + ")"
    return type(result).__name__


def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.dtype_sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="entries to run")
    parser.add_argument("--backend", default="pyburn", help="package to test (default pyburn)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = sweep(Library(options.backend), options.only)
    unforeseen: dict[str, list[str]] = defaultdict(list)
    used: set[int] = set()
    for name, calls in found.differences.items():
        for call in calls:
            rules = _foreseen(name, call)
            used |= rules
            if not rules:
                unforeseen[name].append(call)
    idle = (
        [] if options.only else [rule for rule in range(len(DTYPE_DIFFERENCES)) if rule not in used]
    )
    for name, calls in unforeseen.items():
        print(f"{name}: {len(calls)} calls differ")
        for call in calls:
            print(f"    {call}")
    print(
        f"{found.trials} calls, {found.refused} of them refused by torch; "
        f"{sum(map(len, found.differences.values()))} differ, "
        f"{sum(map(len, unforeseen.values()))} of them unforeseen"
    )
    for rule in idle:
        print(f"listed in exceptions.py, but these agree: {DTYPE_DIFFERENCES[rule]}")
    return int(bool(unforeseen or idle))


def _foreseen(name: str, call: str) -> set[int]:
    """The rules in `exceptions.py` that say why a call of an entry differs."""
    return {
        at
        for at, (names, part, _) in enumerate(DTYPE_DIFFERENCES)
        if re.fullmatch(names, name) and re.search(part, call)
    }


if __name__ == "__main__":
    sys.exit(main())
