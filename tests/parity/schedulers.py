"""Hold PyBurn's schedules of learning rates against PyTorch's, step by step.

    python -m tests.parity.schedulers                   everything
    python -m tests.parity.schedulers --only '^Cyclic'  schedules whose name matches

A case is an expression that both libraries evaluate, with `S` their schedules, `W` their averaging
and `o` an optimizer. Each is run for 100 steps, with several optimizers: what every group has as
rate and momentum must agree. Then the same after a jump, after a state was saved and loaded, by
PyBurn PyTorch's state too, and after resuming by `last_epoch`; and what PyTorch refuses must be
refused with the same class of exception. The exit status is 0 if nothing differs.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import math
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

STEPS = 100
ROOM = 1e-12
"""Relative difference that two float64 computations of the same formula may have."""

OPTIMIZERS = {
    "sgd": "O.SGD([p], lr=0.7, momentum=0.5)",
    "groups": "O.Adam([dict(params=[p], lr=0.3), dict(params=[q], lr=1e-3)], lr=0.1)",
    "tensor": "O.Adam([p], lr=L.tensor(0.3, dtype=L.float64))",
}

CASES = {
    "LambdaLR": "S.LambdaLR(o, lambda e: 0.95 ** e)",
    "LambdaLR each": "S.LambdaLR(o, [lambda e: 1 / (e + 1)] * len(o.param_groups))",
    "MultiplicativeLR": "S.MultiplicativeLR(o, lambda e: 1 - 1 / (e + 1))",
    "StepLR": "S.StepLR(o, 7)",
    "StepLR gamma": "S.StepLR(o, step_size=30, gamma=0.5)",
    "MultiStepLR": "S.MultiStepLR(o, [3, 20, 20, 71], gamma=0.3)",
    "ConstantLR": "S.ConstantLR(o)",
    "ConstantLR long": "S.ConstantLR(o, factor=0.2, total_iters=40)",
    "LinearLR": "S.LinearLR(o)",
    "LinearLR down": "S.LinearLR(o, start_factor=1.0, end_factor=0.01, total_iters=60)",
    "LinearLR to zero": "S.LinearLR(o, 0.5, 0.0, 33)",
    "ExponentialLR": "S.ExponentialLR(o, 0.97)",
    "PolynomialLR": "S.PolynomialLR(o)",
    "PolynomialLR power": "S.PolynomialLR(o, total_iters=80, power=2.5)",
    "CosineAnnealingLR": "S.CosineAnnealingLR(o, T_max=100)",
    "CosineAnnealingLR waves": "S.CosineAnnealingLR(o, T_max=13, eta_min=1e-4)",
    "CosineAnnealingLR 1": "S.CosineAnnealingLR(o, 1)",
    "CosineAnnealingWarmRestarts": "S.CosineAnnealingWarmRestarts(o, 9)",
    "CosineAnnealingWarmRestarts mult": "S.CosineAnnealingWarmRestarts(o, 5, 2, 1e-3)",
    "CyclicLR": "S.CyclicLR(o, 0.01, 0.1, step_size_up=10)",
    "CyclicLR uneven": "S.CyclicLR(o, 0.01, 0.1, 5, 11, mode='triangular2', base_momentum=0.7)",
    "CyclicLR exp": "S.CyclicLR(o, 0.01, 0.1, 8, mode='exp_range', gamma=0.99)",
    "CyclicLR own": "S.CyclicLR(o, 0.1, 1.0, 9, scale_fn=lambda x: 1 / x, cycle_momentum=False)",
    "CyclicLR own iterations": "S.CyclicLR(o, 0.1, 1.0, 9, scale_fn=lambda x: 0.9 ** x, "
    "scale_mode='iterations')",
    "CyclicLR each": "S.CyclicLR(o, [0.1] * len(o.param_groups), [1.0] * len(o.param_groups), 12)",
    "OneCycleLR": "S.OneCycleLR(o, 0.5, total_steps=101)",
    "OneCycleLR epochs": "S.OneCycleLR(o, 0.5, epochs=11, steps_per_epoch=10, pct_start=0.4)",
    "OneCycleLR linear": "S.OneCycleLR(o, 2.0, total_steps=120, anneal_strategy='linear', "
    "div_factor=10, final_div_factor=100)",
    "OneCycleLR three": "S.OneCycleLR(o, 1.0, total_steps=110, three_phase=True)",
    "OneCycleLR no momentum": "S.OneCycleLR(o, 1.0, total_steps=110, cycle_momentum=False)",
    "OneCycleLR each": "S.OneCycleLR(o, [1.0] * len(o.param_groups), 110, max_momentum=0.99)",
    "ChainedScheduler": "S.ChainedScheduler([S.ConstantLR(o, 0.1, 5), S.ExponentialLR(o, 0.9)])",
    "ChainedScheduler three": "S.ChainedScheduler([S.LinearLR(o, 0.1, total_iters=20), "
    "S.StepLR(o, 30), S.CosineAnnealingLR(o, 100)], optimizer=o)",
    "SequentialLR": "S.SequentialLR(o, [S.ConstantLR(o, 0.1, 9), S.ExponentialLR(o, 0.9)], [20])",
    "SequentialLR warmup": "S.SequentialLR(o, [S.LinearLR(o, 0.01, total_iters=10), "
    "S.CosineAnnealingLR(o, 90)], milestones=[10])",
    "SequentialLR three": "S.SequentialLR(o, [S.CosineAnnealingWarmRestarts(o, 7), "
    "S.PolynomialLR(o, 30), S.LambdaLR(o, lambda e: 0.9 ** e)], [30, 61])",
    "SequentialLR steps": "S.SequentialLR(o, [S.StepLR(o, 3), S.MultiStepLR(o, [4, 8]), "
    "S.MultiplicativeLR(o, lambda e: 0.99)], [10, 40])",
    "SequentialLR at once": "S.SequentialLR(o, [S.StepLR(o, 3), S.ExponentialLR(o, 0.9)], [0])",
    "ReduceLROnPlateau": "S.ReduceLROnPlateau(o, patience=3)",
    "ReduceLROnPlateau max": "S.ReduceLROnPlateau(o, 'max', 0.5, 2, cooldown=4, min_lr=1e-5)",
    "ReduceLROnPlateau abs": "S.ReduceLROnPlateau(o, threshold_mode='abs', threshold=0.2, "
    "patience=1, min_lr=[1e-3] * len(o.param_groups))",
    "ReduceLROnPlateau max abs": "S.ReduceLROnPlateau(o, 'max', threshold_mode='abs', patience=0)",
    "SWALR": "W.SWALR(o, 0.05)",
    "SWALR linear": "W.SWALR(o, [0.01] * len(o.param_groups), 30, 'linear')",
    "SWALR at once": "W.SWALR(o, 0.01, anneal_epochs=0)",
    "SWALR after": "S.SequentialLR(o, [S.ExponentialLR(o, 0.99), W.SWALR(o, 0.02, 7)], [50])",
}

RESUMABLE = re.compile(
    r"^(LambdaLR|MultiplicativeLR|StepLR|MultiStepLR|ConstantLR|LinearLR|ExponentialLR|PolynomialLR"
    r"|CosineAnnealingLR|CosineAnnealingWarmRestarts$|CyclicLR|OneCycleLR)"
)
"""Schedules that `last_epoch` resumes. With growing rounds PyTorch resumes in a wrong one."""

JUMPS = re.compile(
    r"^(LambdaLR|StepLR|MultiStepLR|ConstantLR|LinearLR|ExponentialLR|PolynomialLR|Cosine"
    r"|CyclicLR|OneCycleLR)"
)
"""Schedules whose `step(epoch)` means something: by a closed form, or since nothing else counts."""

REFUSED = (
    "S.StepLR('no optimizer', 3)",
    "S.LambdaLR(o, [lambda e: 1.0, lambda e: 1.0])",
    "S.MultiplicativeLR(o, [lambda e: 1.0, lambda e: 1.0])",
    "S.MultiplicativeLR(o, 0.5)",
    "S.StepLR(o, 3, last_epoch=4)",
    "S.ConstantLR(o, factor=1.5)",
    "S.ConstantLR(o, factor=-0.1)",
    "S.LinearLR(o, start_factor=0.0)",
    "S.LinearLR(o, end_factor=1.5)",
    "S.SequentialLR(o, [], [])",
    "S.SequentialLR(o, [S.StepLR(o, 3)], [3])",
    "S.SequentialLR(o, [S.StepLR(o, 3), 'other'], [3])",
    "S.SequentialLR(o, [S.StepLR(o, 3), S.ReduceLROnPlateau(o)], [3])",
    "S.SequentialLR(o, [S.StepLR(o, 3), S.StepLR(O.SGD([q], lr=1.0), 3)], [3])",
    "S.ChainedScheduler([])",
    "S.ChainedScheduler([S.StepLR(o, 3), S.ReduceLROnPlateau(o)])",
    "S.ChainedScheduler([S.StepLR(o, 3), S.StepLR(O.SGD([q], lr=1.0), 3)])",
    "S.ReduceLROnPlateau(o, factor=1.0)",
    "S.ReduceLROnPlateau(o, mode='other')",
    "S.ReduceLROnPlateau(o, threshold_mode='other')",
    "S.ReduceLROnPlateau(o, min_lr=[0.1, 0.2])",
    "S.ReduceLROnPlateau('no optimizer')",
    "S.CyclicLR(o, 0.1, 1.0, mode='other')",
    "S.CyclicLR(o, [0.1, 0.2], 1.0)",
    "S.CyclicLR(O.Rprop([q], lr=0.1), 0.1, 1.0)",
    "S.CyclicLR('no optimizer', 0.1, 1.0)",
    "S.CosineAnnealingWarmRestarts(o, 0)",
    "S.CosineAnnealingWarmRestarts(o, 1.5)",
    "S.CosineAnnealingWarmRestarts(o, 3, T_mult=0)",
    "S.CosineAnnealingWarmRestarts(o, 3, eta_min='0')",
    "S.CosineAnnealingWarmRestarts(o, 3).step(-1)",
    "S.OneCycleLR(o, 1.0)",
    "S.OneCycleLR(o, 1.0, total_steps=0)",
    "S.OneCycleLR(o, 1.0, total_steps=1.5)",
    "S.OneCycleLR(o, 1.0, epochs=2)",
    "S.OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=3)",
    "S.OneCycleLR(o, 1.0, epochs=3, steps_per_epoch=0)",
    "S.OneCycleLR(o, 1.0, total_steps=3, pct_start=1)",
    "S.OneCycleLR(o, 1.0, total_steps=3, pct_start=1.5)",
    "S.OneCycleLR(o, 1.0, total_steps=3, anneal_strategy='other')",
    "S.OneCycleLR(O.Rprop([q], lr=0.1), 1.0, total_steps=3)",
    "[s.step() for s in [S.OneCycleLR(o, 1.0, total_steps=3)] for _ in range(5)]",
    "W.SWALR(o, [0.1, 0.2])",
    "W.SWALR(o, 0.1, anneal_strategy='other')",
    "W.SWALR(o, 0.1, anneal_epochs=-1)",
    "W.SWALR(o, 0.1, anneal_epochs=1.5)",
    "S.LRScheduler(o)",
)

WARNED = (
    "[s.step() for s in [S.StepLR(o, 3)]]",
    "[s.step() for s in [S.StepLR(o, 3)] for _ in range(3)]",
    "[(o.step(), s.step()) for s in [S.StepLR(o, 3)]]",
    "[(setattr(o, 'step', lambda: None), s.step()) for s in [S.StepLR(o, 3)]]",
    "[(o.step(), s.step(4)) for s in [S.StepLR(o, 3)]]",
    "S.StepLR(o, 3).get_lr()",
    "[s.step(0.5, 3) for s in [S.ReduceLROnPlateau(o)]]",
    "[(o.step(), s.step()) for s in [S.ChainedScheduler([S.StepLR(o, 3), S.StepLR(o, 4)])]]",
    "[s.step() for s in [S.ChainedScheduler([S.StepLR(o, 3), S.StepLR(o, 4)])]]",
    "[s.step() for s in [S.SequentialLR(o, [S.StepLR(o, 3), S.StepLR(o, 4)], [3])]]",
    "[s.step() for s in [S.CosineAnnealingWarmRestarts(o, 3)]]",
)


class Library:
    """A library's names, an optimizer over two parameters, and what is read off it."""

    def __init__(self, package: str, optimizer: str = OPTIMIZERS["sgd"]) -> None:
        root = importlib.import_module(package)
        self.names: dict[str, Any] = {
            "L": root,
            "O": importlib.import_module(f"{package}.optim"),
            "S": importlib.import_module(f"{package}.optim.lr_scheduler"),
            "W": importlib.import_module(f"{package}.optim.swa_utils"),
            "p": root.zeros(2, requires_grad=True),
            "q": root.zeros(3, requires_grad=True),
        }
        self.optimizer = self.names["o"] = eval(optimizer, self.names)

    def make(self, expression: str) -> Any:
        return eval(expression, self.names)

    def read(self) -> list[float]:
        """Rates, then momenta, of all groups."""
        groups = self.optimizer.param_groups
        momenta = [group.get("momentum", group.get("betas", [0])[0]) for group in groups]
        return [float(value) for value in [group["lr"] for group in groups] + momenta]

    def step(self, schedule: Any, at: int, epoch: Any = None) -> list[float]:
        self.optimizer.step()
        if type(schedule).__name__ == "ReduceLROnPlateau":
            schedule.step(measured(at))
        elif epoch is None:
            schedule.step()
        else:
            schedule.step(epoch)
        last = [float(rate) for rate in schedule.get_last_lr()]
        values = self.read()
        if last != values[: len(last)]:
            raise AssertionError(f"get_last_lr says {last}, the groups have {values[: len(last)]}")
        return values


def measured(step: int) -> float:
    """A loss that falls, stays, rises and falls again."""
    return math.exp(-step / 20) + 0.3 * math.sin(step / 5) + (step % 7 == 0) * 0.1


@dataclass
class Outcome:
    """What was compared, and what differed."""

    counts: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def compare(self, kind: str, name: str, at: int, ours: Any, theirs: Any) -> None:
        self.counts[kind] += len(theirs)
        self.equal[kind] += sum(a == b for a, b in zip(ours, theirs, strict=True))
        for a, b in zip(ours, theirs, strict=True):
            if not math.isclose(a, b, rel_tol=ROOM, abs_tol=ROOM):
                self.failures.append(f"{kind} {name} step {at}: {a!r}, not {b!r}")
                return


def both(optimizer: str) -> tuple[Library, Library]:
    return Library("pyburn", optimizer), Library("torch", optimizer)


def run_steps(outcome: Outcome, name: str, kind: str) -> None:
    ours, theirs = both(OPTIMIZERS[kind])
    first, second = ours.make(CASES[name]), theirs.make(CASES[name])
    label = f"{name} ({kind})"
    outcome.compare("value", label, 0, ours.read(), theirs.read())
    for at in range(1, STEPS + 1):
        outcome.compare("value", label, at, ours.step(first, at), theirs.step(second, at))


def run_jumps(outcome: Outcome, name: str) -> None:
    ours, theirs = both(OPTIMIZERS["sgd"])
    first, second = ours.make(CASES[name]), theirs.make(CASES[name])
    for at, epoch in enumerate((3, 40, 41, 8, 0, None, 99)):
        outcome.compare(
            "jump", name, at, ours.step(first, at, epoch), theirs.step(second, at, epoch)
        )


def run_states(outcome: Outcome, name: str) -> None:
    """Load PyBurn's state into a fresh schedule of PyBurn, and PyTorch's as well."""
    ours, theirs = both(OPTIMIZERS["groups"])
    first, second = ours.make(CASES[name]), theirs.make(CASES[name])
    for at in range(1, 38):
        ours.step(first, at)
        theirs.step(second, at)
    own, foreign = first.state_dict(), second.state_dict()
    if keys_of(own) != keys_of(foreign):
        outcome.failures.append(f"state {name}: {keys_of(own)}, not {keys_of(foreign)}")
    loaded: list[tuple[Library, Any]] = []
    for state in (own, foreign):
        library = Library("pyburn", OPTIMIZERS["groups"])
        schedule = library.make(CASES[name])
        schedule.load_state_dict(copy.deepcopy(state))
        for group, source in zip(
            library.optimizer.param_groups, ours.optimizer.param_groups, strict=True
        ):
            group.update({key: value for key, value in source.items() if key != "params"})
        loaded.append((library, schedule))
    for at in range(38, STEPS + 1):
        expected = theirs.step(second, at)
        for library, schedule in loaded:
            outcome.compare("loaded", name, at, library.step(schedule, at), expected)


def keys_of(state: Any) -> Any:
    """The names in a state, at every depth."""
    if isinstance(state, dict):
        return {key: keys_of(value) for key, value in state.items() if isinstance(key, str)}
    return [keys_of(item) for item in state] if isinstance(state, list | tuple) else None


def run_resumed(outcome: Outcome, name: str) -> None:
    """A schedule made with `last_epoch` over an optimizer that has been stepped goes on."""
    expression = re.sub(r"\)$", ", last_epoch=24)", CASES[name])
    ours, theirs = both(OPTIMIZERS["groups"])
    for library in (ours, theirs):
        schedule = library.make(CASES[name])
        for at in range(1, 25):
            library.step(schedule, at)
    first, second = ours.make(expression), theirs.make(expression)
    outcome.compare("resumed", name, 24, ours.read(), theirs.read())
    for at in range(26, 76):
        outcome.compare("resumed", name, at, ours.step(first, at), theirs.step(second, at))


def raised(library: Library, expression: str) -> type[BaseException] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            library.make(expression)
        except Exception as fault:
            return type(fault)
    return None


def run_refused(outcome: Outcome, expression: str) -> None:
    ours, theirs = both(OPTIMIZERS["sgd"])
    got, expected = raised(ours, expression), raised(theirs, expression)
    outcome.counts["refusal"] += 1
    outcome.equal["refusal"] += got is expected
    if expected is None or got is None or not issubclass(got, expected):
        outcome.failures.append(f"refusal {expression}: {got}, not {expected}")


def run_warned(outcome: Outcome, expression: str) -> None:
    seen = []
    for library in both(OPTIMIZERS["sgd"]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            library.make(expression)
        seen.append([item.category for item in caught])
    outcome.counts["warning"] += 1
    outcome.equal["warning"] += seen[0] == seen[1]
    if seen[0] != seen[1]:
        outcome.failures.append(f"warning {expression}: {seen[0]}, not {seen[1]}")


def run(only: str = "") -> Outcome:
    """Everything, or the schedules whose name matches."""
    outcome = Outcome()
    for name in filter(re.compile(only).search, CASES):
        checks = [(run_steps, (name, kind)) for kind in OPTIMIZERS]
        checks += [(run_states, (name,))]
        checks += [(run_jumps, (name,))] if JUMPS.match(name) else []
        checks += [(run_resumed, (name,))] if RESUMABLE.match(name) else []
        for check, arguments in checks:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(outcome, *arguments)
                except Exception as fault:
                    outcome.failures.append(
                        f"{check.__name__} {arguments}: {type(fault).__name__}: {fault}"
                    )
    for expression in filter(re.compile(only).search, REFUSED):
        run_refused(outcome, expression)
    for expression in filter(re.compile(only).search, WARNED):
        run_warned(outcome, expression)
    return outcome


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.schedulers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="schedules to run")
    options = parser.parse_args()
    outcome = run(options.only)
    for failure in outcome.failures:
        print(failure)
    for kind, count in outcome.counts.items():
        print(f"{kind:8} {count:7} compared, {outcome.equal[kind]:7} of them equal to the last bit")
    print(f"{len(CASES)} schedules, {len(outcome.failures)} differences")
    return int(bool(outcome.failures))


if __name__ == "__main__":
    sys.exit(main())
