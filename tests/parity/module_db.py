"""Run PyBurn's layers through PyTorch's database of modules.

    python -m tests.parity.module_db                   every entry, in training and in evaluation
    python -m tests.parity.module_db --only 'Norm'     entries whose name matches
    python -m tests.parity.module_db --json out.json   every failure of every sample

A layer gets the weights of torch's. The names and shapes in its state dict, its result, and the
gradients of its inputs and parameters must be torch's; what torch refuses it must refuse. The exit
status is 0 if the outcome is the one that `exceptions.py` foresees.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleErrorEnum, ModuleInput, module_db

from .carry import Carrier
from .checks import FAMILIES, LACKING
from .compare import Judge, Mismatch
from .exceptions import KNOWN_MODULE_FAILURES
from .library import Library
from .tally import Entry, Failure, Report
from .tolerance import Tolerance

LINE = 180
TORCH = Library("torch")
DRAWS = re.compile("Dropout|RReLU|Fractional|Transformer|Attention|RNN|LSTM|GRU")
"""Modules whose results may be drawn."""

ROOM = Tolerance(rtol=1e-4, atol=1e-5)
"""A layer is many operators: its float32 results differ by more than one operator's."""


@contextlib.contextmanager
def recorded_constructors() -> Iterator[None]:
    """Meanwhile modules remember what they were made from, so that another library can make them.

    Some samples of the database are modules in modules.
    """
    originals = {}
    for name in ("TransformerEncoderLayer", "TransformerDecoderLayer"):
        module_class = getattr(torch.nn, name)
        originals[module_class] = module_class.__init__

        def init(self: Any, *args: Any, _init: Any = module_class.__init__, **kwargs: Any) -> None:
            _init(self, *args, **kwargs)
            self.made_from = args, kwargs

        module_class.__init__ = functools.wraps(module_class.__init__)(init)
    try:
        yield
    finally:
        for module_class, original in originals.items():
            module_class.__init__ = original


class ModuleCarrier(Carrier):
    """Brings modules and functions of torch over too, besides what operators take."""

    def __call__(self, value: Any) -> Any:
        """The counterpart of `value`."""
        if isinstance(value, torch.nn.Module):
            args, kwargs = value.made_from
            made = self.library.lookup(f"nn.{type(value).__name__}")(*self(args), **self(kwargs))
            load(self.library, value, made)
            return made
        if value is torch.nn.functional.gelu:
            return self.library.lookup("nn.functional.gelu")
        return super().__call__(value)


def load(library: Library, source: torch.nn.Module, target: Any) -> None:
    """Give `target` the weights of `source`; names and shapes must be the same."""
    theirs = source.state_dict()
    mine = target.state_dict()
    if list(mine) != list(theirs):
        raise Mismatch(f"state dict: expected {list(theirs)}, got {list(mine)}")
    for name, value in theirs.items():
        if isinstance(value, torch.Tensor) and tuple(mine[name].shape) != tuple(value.shape):
            raise Mismatch(f"{name}: expected shape {tuple(value.shape)}, got {mine[name].shape}")
    carry = Carrier(library)
    target.load_state_dict({name: carry(value) for name, value in theirs.items()})


@dataclass
class Layer:
    """A layer of one library on one sample."""

    library: Library
    entry: Any
    sample: ModuleInput
    training: bool

    def __post_init__(self) -> None:
        self.carry = ModuleCarrier(self.library, track=True)

    def make(self) -> Any:
        """The layer, as the sample wants it."""
        given = self.sample.constructor_input
        module_class = self.library.lookup(self.entry.name)
        made = module_class(*self.carry(given.args), **self.carry(given.kwargs))
        self.carry.leaves.clear()
        return made.train(self.training)

    def run(self, module: Any) -> Any:
        """The layer's result."""
        given = self.sample.forward_input
        return module(*self.carry(given.args), **self.carry(given.kwargs))

    def gradients(self, module: Any, result: Any) -> list[Any] | None:
        """Those of inputs and parameters, or `None` where there are none to be had."""
        outputs = [out for out in flat(result) if isinstance(out, self.library.tensor_class)]
        outputs = [out for out in outputs if out.requires_grad]
        wanted = [*self.carry.leaves, *(p for p in module.parameters() if p.requires_grad)]
        if not outputs or not wanted:
            return None
        # Weights that tell the elements apart: a plain sum hides what cancels out.
        grad = self.library.lookup("autograd.grad")
        seeds = [
            self.library.tensor(ramp(tuple(out.shape)).numpy(), torch.float32) for out in outputs
        ]
        return list(grad(outputs, wanted, seeds, allow_unused=True))


def ramp(shape: tuple[int, ...]) -> torch.Tensor:
    """Different numbers of the size of one."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float32) % 7 / 5 + 0.3).reshape(shape)


def flat(value: Any) -> list[Any]:
    """The leaves of a result."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def is_random(entry: Any, sample: ModuleInput, training: bool) -> bool:
    """Whether torch itself gives two results from two seeds."""
    if not DRAWS.search(entry.name):
        return False
    results = []
    for seed in (1, 2):
        torch.manual_seed(0)
        layer = Layer(TORCH, entry, sample, training)
        module = layer.make()
        torch.manual_seed(seed)
        results.append(flat(TORCH.read(layer.run(module))))
    return not all(
        torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
        for a, b in zip(*results, strict=True)
        if isinstance(a, torch.Tensor)
    )


def check(library: Library, entry: Any, sample: ModuleInput, training: bool, done: Entry) -> None:
    """One sample, forward and backward."""
    torch.manual_seed(0)
    reference = Layer(TORCH, entry, sample, training)
    # A lazy layer has its parameters after the first call.
    lazy = "Lazy" in entry.name
    try:
        theirs = reference.make()
        if lazy:
            reference.run(theirs)
        # Running statistics change with the first call.
        before = copy.deepcopy(theirs)
        reference.carry = ModuleCarrier(TORCH, track=True)
        expected = reference.run(theirs)
        values = not is_random(entry, sample, training)
    except FAMILIES:
        return  # Torch has no answer in this dtype.
    layer = Layer(library, entry, sample, training)
    judge = Judge(ROOM, values=values)

    def forward() -> tuple[Any, Any]:
        mine = layer.make()
        if lazy:
            layer.run(mine)
        load(library, before, mine)
        layer.carry = ModuleCarrier(library, track=True)
        return mine, layer.run(mine)

    with counted(done, "forward"):
        mine, actual = forward()
        judge(library.read(actual), TORCH.read(expected))
        for name, value in theirs.named_buffers():
            judge(library.read(dict(mine.named_buffers())[name]), value)
        grads = reference.gradients(theirs, expected)
        if grads is not None and values:
            with counted(done, "backward"):
                found = layer.gradients(mine, actual)
                if found is None:
                    raise Mismatch("no gradient flows")
                judge(
                    [None if g is None else library.read(g) for g in found],
                    [None if g is None else TORCH.read(g) for g in grads],
                )


def check_error(library: Library, entry: Any, bad: Any, done: Entry) -> None:
    """What torch refuses is refused, by an exception of the same family."""
    layer = Layer(library, entry, bad.module_error_input, True)
    with counted(done, "error"):
        try:
            module = layer.make()
            if bad.error_on == ModuleErrorEnum.FORWARD_ERROR:
                layer.run(module)
        except LACKING:
            raise
        except FAMILIES:
            # A bad argument is a TypeError to one library and a ValueError to the other.
            return
        raise Mismatch(f"accepted, though torch refuses: {bad.error_regex[:60]}")


@contextlib.contextmanager
def counted(done: Entry, stage: str) -> Iterator[None]:
    """Counts what happens as passed or failed."""
    try:
        yield
    except Exception as fault:
        text = " ".join(f"{type(fault).__name__}: {fault}".split())
        done.failures.append(Failure(stage, done.samples, type(fault).__name__, text))
    else:
        done.passed[stage] += 1


def entries(only: str) -> list[Any]:
    """The entries whose name matches."""
    return [entry for entry in module_db if re.search(only, entry.name)]


def run(backend: str, only: str, show: Callable[[Entry], None] = lambda entry: None) -> Report:
    """Puts a library through the entries."""
    library = Library(backend)
    report: list[Entry] = []
    for entry in entries(only):
        done = Entry(entry.name, "float32")
        for training in (True, False):
            given: dict[str, Any] = {
                "device": "cpu",
                "dtype": torch.float32,
                "requires_grad": True,
                "training": training,
            }
            torch.manual_seed(0)
            with recorded_constructors():
                samples = list(entry.module_inputs_func(entry, **given))
            for sample in samples:
                if sample.forward_input is None:
                    continue
                done.samples += 1
                check(library, entry, sample, training, done)
            if entry.module_error_inputs_func is not None:
                for bad in entry.module_error_inputs_func(entry, **given):
                    check_error(library, entry, bad, done)
        report.append(done)
        show(done)
    return Report(backend, report, len(module_db), len(report), 0)


def _show(entry: Entry) -> None:
    if entry.failures:
        known = "known" if entry.name in KNOWN_MODULE_FAILURES else "FAILED"
        line = f"{known} {entry.name} ({entry.failed()} samples) {entry.failures[0]}"
        print(line[:LINE], flush=True)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.module_db",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="entries to run")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the outcome here")
    parser.add_argument("--backend", default="pyburn", help="package to test (default pyburn)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report = run(options.backend, options.only, _show)
    if options.json:
        options.json.write_text(json.dumps(report.to_json(), indent=1) + "\n")
    print("\n" + report.table().replace("op_db", "module_db") + "\n")
    if options.backend == "torch":
        return int(any(entry.failures for entry in report.entries))
    new = report.new_failures(KNOWN_MODULE_FAILURES)
    mended = report.mended(KNOWN_MODULE_FAILURES)
    if new:
        print(f"{len(new)} entries fail that tests/parity/exceptions.py does not list")
    if mended:
        print(f"listed there, but they pass: {' '.join(mended)}")
    return int(bool(new or mended))


if __name__ == "__main__":
    sys.exit(main())
