"""Run PyBurn's optimizers through PyTorch's own database of them.

    python -m tests.parity.optim_db                  every optimizer in scope
    python -m tests.parity.optim_db --only '^Adam'   those whose name matches
    python -m tests.parity.optim_db --list           what is in scope, and why the rest is not

PyTorch ships, inside `torch.testing`, a list named `optim_db`: for each optimizer the options worth
trying, and what must be refused. Each combination is run in both libraries with the same gradients:

    steps      the parameters agree after every step
    state      so does what is remembered of them, by name
    saved      a checkpoint of either library goes on in the other as it would have at home
    error      what PyTorch refuses, or warns of, is refused with the same class and words

The exit status is 0 if the outcome is the one that `KNOWN_FAILURES` foresees.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_optimizers import (
    OptimizerErrorEnum,
    _get_optim_inputs_including_global_cliquey_kwargs,
    optim_db,
)

from .carry import Carrier
from .library import Library

STEPS = 8
STEPS_OF_CLOSURES = 5
"""Each is several iterations; near the minimum only roundings are left to follow."""

SHAPES = [(3, 2), (4, 5), (7,), (), (2, 3, 4)]
MATRICES = [(3, 2), (4, 5), (6, 6)]
ROOM = {torch.float32: 1e-5, torch.float64: 1e-9, torch.complex64: 1e-5}
ROOM_OF_FLOAT32 = 1e-6
"""For float64 where PyTorch computes with options or step counts in float32."""
STAGES = ("steps", "state", "saved", "error")

OUT_OF_SCOPE = {"SparseAdam": "there are no sparse tensors"}
"""Name of an optimizer -> why it is not run."""

KNOWN_FAILURES: dict[str, str] = {}
"""`optimizer: stage: options` -> the reason it differs."""

SCRATCH = {"LBFGS": {"al"}}
"""State of PyTorch that is a buffer for one step, and so not state."""


@dataclass
class Case:
    """One way to make an optimizer, for each of the libraries."""

    name: str
    text: str
    torch_options: dict[str, Any]
    options: dict[str, Any]
    dtype: torch.dtype
    grouped: bool = False
    step_requires_closure: bool = False

    @property
    def room(self) -> float:
        """How far parameters may lie apart."""
        tensors = any(isinstance(v, torch.Tensor | tuple) for v in self.options.values())
        rough = tensors or self.options.get("differentiable") or self.name == "NAdam"
        return max(ROOM[self.dtype], ROOM_OF_FLOAT32 if rough else 0.0)

    @property
    def steps(self) -> int:
        return STEPS_OF_CLOSURES if self.step_requires_closure else STEPS

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return MATRICES if self.name == "Muon" else SHAPES


@dataclass
class Outcome:
    """What became of one optimizer."""

    name: str
    passed: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    """`optimizer: stage: options` -> what differs."""

    def note(self, stage: str, text: str, difference: str | None) -> None:
        if difference is None:
            self.passed[stage] += 1
        else:
            self.failures[f"{self.name}: {stage}: {text}"] = difference


def cases_of(info: Any) -> Iterator[Case]:
    """Every combination of options, in every dtype that the optimizer takes."""
    dtypes = [torch.float32, torch.float64]
    if info.supports_complex and info.name != "LBFGS":
        dtypes.append(torch.complex64)
    here = _get_optim_inputs_including_global_cliquey_kwargs("cpu", torch.float32, info)
    known = {entry.desc for entry in info.optim_inputs_func("cpu")}
    # Those for GPUs set `capturable`, which PyTorch refuses on the CPU and which changes no number.
    there = [entry for entry in info.optim_inputs_func("cuda") if entry.desc not in known]
    for dtype in dtypes:
        for entry in [*here, *there]:
            options = dict(entry.kwargs)
            if dtype == torch.complex64 and options.get("fused"):
                continue
            if info.step_requires_closure:
                # Near the minimum the last bits decide how many more iterations are taken.
                options["max_iter"] = 3
            of_torch = {k: v for k, v in options.items() if k != "capturable"}
            for grouped in (False, True):
                if grouped and not (info.supports_param_groups and dtype == torch.float32):
                    continue
                text = f"{entry.desc}, {dtype}{', in groups' if grouped else ''}"
                needs_closure = info.step_requires_closure
                yield Case(info.name, text, of_torch, options, dtype, grouped, needs_closure)


class Run:
    """One library's side of a case."""

    def __init__(self, library: Library, case: Case) -> None:
        self.library, self.case = library, case
        self.is_torch = library.name == "torch"
        self.options = case.torch_options if self.is_torch else case.options
        generator = torch.Generator().manual_seed(0)
        carry = Carrier(library)
        start = [torch.randn(s, dtype=case.dtype, generator=generator) for s in case.shapes]
        leaves = [carry(tensor).requires_grad_() for tensor in start]
        # An update can be recorded on tensors that are no leaves only.
        recorded = self.options.get("differentiable")
        self.params = [leaf.clone() for leaf in leaves] if recorded else leaves
        self.optimizer = self.made()

    def made(self) -> Any:
        carry = Carrier(self.library)
        groups: Any = self.params
        if self.case.grouped:
            lr = self.options.get("lr", 0.05)
            lr = carry(lr / 2 if isinstance(lr, torch.Tensor) else float(lr) / 2)
            groups = [{"params": self.params[:2]}, {"params": self.params[2:], "lr": lr}]
        options = {key: carry(value) for key, value in self.options.items()}
        cls = getattr(self.library.module.optim, self.case.name)
        return cls(groups, **options)

    def step(self, number: int) -> None:
        # A function that is minimised with memory of its curvature must stay the same.
        seed = 1 if self.case.step_requires_closure else number + 1
        generator = torch.Generator().manual_seed(seed)
        carry = Carrier(self.library)
        grads = [
            torch.randn(s, dtype=self.case.dtype, generator=generator) for s in self.case.shapes
        ]
        if self.case.step_requires_closure:
            self.optimizer.step(lambda: self.loss([carry(grad) for grad in grads]))
            return
        for at, (param, grad) in enumerate(zip(self.params, grads, strict=True)):
            # One parameter has no gradient now and then.
            param.grad = None if at == 1 and number % 3 == 2 else carry(grad)
        self.optimizer.step()

    def loss(self, targets: list[Any]) -> Any:
        self.optimizer.zero_grad()
        loss = sum(
            ((param - target).cosh() * (at + 1)).sum()
            for at, (param, target) in enumerate(zip(self.params, targets, strict=True))
        )
        if self.options.get("maximize"):
            loss = -loss
        loss.backward()
        return loss

    def numbers(self, value: Any) -> Any:
        """Tensors as arrays, wherever they are in it."""
        if isinstance(value, self.library.tensor_class):
            return value.detach().cpu().numpy()
        if isinstance(value, dict):
            dropped = SCRATCH.get(self.case.name, set())
            return {k: self.numbers(v) for k, v in value.items() if k not in dropped}
        if isinstance(value, list | tuple):
            return [self.numbers(item) for item in value]
        return value

    def kept(self) -> list[Any]:
        return [self.numbers(dict(self.optimizer.state.get(p, {}))) for p in self.params]

    def arrays(self) -> list[np.ndarray]:
        return [self.numbers(param) for param in self.params]


def difference(found: Any, expected: Any, room: float, where: str = "") -> str | None:
    """Where two nests of arrays and numbers differ."""
    if isinstance(expected, dict):
        if found.keys() != expected.keys():
            return f"{where}: keys {sorted(found)}, expected {sorted(expected)}"
        pairs = [(f"{where}[{key}]", found[key], value) for key, value in expected.items()]
    elif isinstance(expected, list):
        if len(found) != len(expected):
            return f"{where}: {len(found)} items, expected {len(expected)}"
        pairs = [(f"{where}[{at}]", found[at], value) for at, value in enumerate(expected)]
    elif expected is None or found is None:
        return None if found is expected else f"{where}: {found}, expected {expected}"
    else:
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape:
            return f"{where}: shape {found.shape}, expected {expected.shape}"
        if np.allclose(found, expected, rtol=room, atol=room, equal_nan=True):
            return None
        worst = float(np.max(np.abs(found - expected)))
        return f"{where}: differs by {worst:.2e}"
    return next((d for w, f, e in pairs if (d := difference(f, e, room, w))), None)


def carried_state(saved: Any, source: Run, target: Run) -> Any:
    """A state dict of one library with the tensors of the other."""
    if isinstance(saved, source.library.tensor_class):
        array = torch.from_numpy(np.array(source.numbers(saved)))
        return array if target.is_torch else Carrier(target.library)(array)
    if isinstance(saved, dict):
        return {key: carried_state(value, source, target) for key, value in saved.items()}
    if isinstance(saved, list):
        return [carried_state(value, source, target) for value in saved]
    if isinstance(saved, tuple):
        return tuple(carried_state(value, source, target) for value in saved)
    return saved


def check(case: Case, library: Library, outcome: Outcome) -> None:
    """Steps, state and checkpoints of one case."""
    ours, theirs = Run(library, case), Run(Library("torch"), case)
    room = case.room
    fault = None
    for number in range(case.steps):
        ours.step(number)
        theirs.step(number)
        fault = fault or difference(ours.arrays(), theirs.arrays(), room, f"step {number}")
    outcome.note("steps", case.text, fault)
    outcome.note("state", case.text, difference(ours.kept(), theirs.kept(), room, "state"))
    if case.options.get("differentiable"):
        return
    # Each optimizer is exchanged for a new one that goes on from the other library's state.
    saved = [copy.deepcopy(run.optimizer.state_dict()) for run in (ours, theirs)]
    for run, source, state in ((ours, theirs, saved[1]), (theirs, ours, saved[0])):
        state = carried_state(state, source, run)
        for group in state["param_groups"] if run.is_torch else ():
            group.update({key: False for key in group if key == "capturable"})
        run.optimizer = run.made()
        run.optimizer.load_state_dict(state)
        run.step(case.steps)
    outcome.note("saved", case.text, difference(ours.arrays(), theirs.arrays(), room, "param"))


def carried_params(value: Any, carry: Carrier) -> Any:
    """Parameters of an error input: sets occur there too."""
    if isinstance(value, set):
        return {carry(item) for item in value}
    if isinstance(value, torch.Tensor):
        made = carry(value)
        made.requires_grad_(value.requires_grad)
        if value.grad is not None:
            made.grad = carry(value.grad)
        return made
    if isinstance(value, dict):
        return {key: carried_params(item, carry) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(carried_params(item, carry) for item in value)
    return carry(value)


def check_error(info: Any, entry: Any, library: Library, outcome: Outcome) -> None:
    """An input that must be refused, or warned of."""
    given = entry.optimizer_error_input
    carry = Carrier(library)
    params = given.params
    if params is None:
        params = [torch.randn(2, 3, requires_grad=True)]
    params = carried_params(params, carry)
    options = {key: carry(value) for key, value in given.kwargs.items()}
    cls = getattr(library.module.optim, info.name)

    def provoke() -> None:
        optimizer = cls(params, **options)
        if entry.error_on == OptimizerErrorEnum.STEP_ERROR:
            optimizer.step()

    outcome.note("error", given.desc, refusal(provoke, entry.error_type, entry.error_regex))


def refusal(provoke: Callable[[], None], kind: type, pattern: str) -> str | None:
    """What is wrong with how something was refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            provoke()
        except Exception as error:
            if isinstance(error, kind) and re.search(pattern, str(error)):
                return None
            return f"{type(error).__name__}: {error}, expected {kind.__name__}: {pattern}"
    if any(issubclass(w.category, kind) and re.search(pattern, str(w.message)) for w in caught):
        return None
    return f"nothing was raised, expected {kind.__name__}: {pattern}"


def run(name: str, library: Library) -> Outcome:
    """Put one optimizer through everything."""
    info = next(info for info in optim_db if info.name == name)
    outcome = Outcome(name)
    for case in cases_of(info):
        with warnings.catch_warnings():
            # Of the gradients of tensors that are no leaves, which are meant here.
            warnings.simplefilter("ignore")
            try:
                check(case, library, outcome)
            except Exception as error:
                outcome.note("steps", case.text, f"{type(error).__name__}: {error}")
    for entry in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        check_error(info, entry, library, outcome)
    return outcome


def names_in_scope(only: str = "") -> list[str]:
    """The optimizers to run, in the order of the database."""
    names = [info.name for info in optim_db if info.name not in OUT_OF_SCOPE]
    return [name for name in names if re.search(only, name)]


def table(outcomes: list[Outcome]) -> str:
    """Samples passed of samples run, by optimizer and stage."""
    lines = [f"{'optimizer':12}" + "".join(f"{stage:>10}" for stage in STAGES)]
    total: Counter[str] = Counter()
    for outcome in outcomes:
        failed = Counter(key.split(": ")[1] for key in outcome.failures)
        cells = ""
        for stage in STAGES:
            ran = outcome.passed[stage] + failed[stage]
            total.update({stage: outcome.passed[stage], f"{stage} ran": ran})
            cells += f"{f'{outcome.passed[stage]}/{ran}':>10}"
        lines.append(f"{outcome.name:12}{cells}")
    sums = [f"{total[stage]}/{total[f'{stage} ran']}" for stage in STAGES]
    return "\n".join([*lines, f"{'all':12}" + "".join(f"{cell:>10}" for cell in sums)])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.optim_db",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="optimizers to run")
    parser.add_argument("--list", action="store_true", help="show the scope and run nothing")
    parser.add_argument("--backend", default="pyburn", help="package to test (default pyburn)")
    chosen = parser.parse_args()
    if chosen.list:
        for info in optim_db:
            print(f"{info.name:12} {OUT_OF_SCOPE.get(info.name, 'in scope')}")
        return 0
    library = Library(chosen.backend)
    outcomes = []
    for name in names_in_scope(chosen.only):
        outcome = run(name, library)
        for key, text in outcome.failures.items():
            print("known" if key in KNOWN_FAILURES else "FAILED", key, "--", text, flush=True)
        outcomes.append(outcome)
    print("\n" + table(outcomes) + "\n")
    failures = {key for outcome in outcomes for key in outcome.failures}
    new = failures - set(KNOWN_FAILURES)
    names = {outcome.name for outcome in outcomes}
    mended = {key for key in KNOWN_FAILURES if key.split(":")[0] in names} - failures
    if new:
        print(f"{len(new)} combinations differ that KNOWN_FAILURES does not list")
    if mended:
        print(f"listed there, but they agree: {sorted(mended)}")
    return int(bool(new or mended))


if __name__ == "__main__":
    sys.exit(main())
