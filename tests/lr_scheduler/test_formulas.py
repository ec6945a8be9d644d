"""Each schedule sets, in 100 steps, the rates that its formula gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyburn
import pytest
from pyburn import lr_scheduler as schedules
from pyburn.optim.swa_utils import SWALR

STEPS = 100
BASES = (0.7, 1e-3)


def optimizer_of(*bases: float, **options: Any) -> pyburn.optim.Optimizer:
    """An optimizer with a group for each rate."""
    groups = [{"params": [pyburn.zeros(1)], "lr": base} for base in bases or BASES]
    return pyburn.optim.SGD(groups, lr=1.0, **options)


def rates_of(optimizer: pyburn.optim.Optimizer, schedule: Any, steps: int = STEPS) -> list[Any]:
    """The rates of all groups, before each of the steps and after the last."""
    seen = [[group["lr"] for group in optimizer.param_groups]]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        assert schedule.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
        seen.append(schedule.get_last_lr())
    return seen


def cosine(t: float, period: float) -> float:
    return (1 + math.cos(math.pi * t / period)) / 2


def triangle(t: int, up: int, down: int) -> float:
    within = t % (up + down)
    return within / up if within <= up else (up + down - within) / down


FACTORS: dict[str, tuple[Callable[..., Any], Callable[[int], float]]] = {
    "lambda": (lambda o: schedules.LambdaLR(o, lambda e: 0.95**e), lambda t: 0.95**t),
    "multiplicative": (
        lambda o: schedules.MultiplicativeLR(o, lambda e: 1 / e),
        lambda t: 1 / math.factorial(t),
    ),
    "step": (lambda o: schedules.StepLR(o, 7, 0.5), lambda t: 0.5 ** (t // 7)),
    "multistep": (
        lambda o: schedules.MultiStepLR(o, [3, 20, 20], 0.5),
        lambda t: 0.5 ** ((t >= 3) + 2 * (t >= 20)),
    ),
    "constant": (
        lambda o: schedules.ConstantLR(o, 0.25, 10),
        lambda t: 0.25 if t < 10 else 1.0,
    ),
    "constant of zero": (
        lambda o: schedules.ConstantLR(o, 0.0, 10),
        lambda t: 0.0 if t < 10 else 1.0,
    ),
    "constant for good": (lambda o: schedules.ConstantLR(o, 1.0), lambda t: 1.0),
    "linear up": (
        lambda o: schedules.LinearLR(o, 0.1, 1.0, 40),
        lambda t: 0.1 + 0.9 * min(t, 40) / 40,
    ),
    "linear down": (
        lambda o: schedules.LinearLR(o, 1.0, 0.0, 60),
        lambda t: 1 - min(t, 60) / 60,
    ),
    "exponential": (lambda o: schedules.ExponentialLR(o, 0.97), lambda t: 0.97**t),
    "polynomial": (
        lambda o: schedules.PolynomialLR(o, 80, 2.5),
        lambda t: (1 - min(t, 80) / 80) ** 2.5,
    ),
    "cosine": (lambda o: schedules.CosineAnnealingLR(o, 100), lambda t: cosine(t, 100)),
    "cosine waves": (lambda o: schedules.CosineAnnealingLR(o, 13), lambda t: cosine(t, 13)),
    "warm restarts": (
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 9),
        lambda t: cosine(t % 9, 9),
    ),
    "warm restarts, longer": (
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 5, 2),
        # Rounds of 5, 10, 20, 40 ... epochs begin at 0, 5, 15, 35, 75.
        lambda t: next(
            cosine(t - 5 * (2**n - 1), 5 * 2**n) for n in range(6) if t < 5 * (2 ** (n + 1) - 1)
        ),
    ),
    "noam": (
        lambda o: schedules.NoamLR(o, model_size=64, warmup_steps=30),
        lambda t: 64**-0.5 * min((t + 1) ** -0.5, (t + 1) * 30**-1.5),
    ),
    "chained": (
        lambda o: schedules.ChainedScheduler(
            [schedules.ConstantLR(o, 0.1, 5), schedules.ExponentialLR(o, 0.9)]
        ),
        lambda t: (0.1 if t < 5 else 1.0) * 0.9**t,
    ),
    "sequential": (
        lambda o: schedules.SequentialLR(
            o,
            [
                schedules.LinearLR(o, 0.1, total_iters=10),
                schedules.CosineAnnealingLR(o, 40),
                schedules.ConstantLR(o, 0.5, 100),
            ],
            milestones=[10, 50],
        ),
        lambda t: 0.1 + 0.9 * t / 10 if t < 10 else cosine(t - 10, 40) if t < 50 else 0.5,
    ),
    "composed, product": (
        lambda o: schedules.ComposedLR(
            o, [schedules.StepLR(o, 3, 0.9), schedules.LinearLR(o, 0.5, total_iters=9)]
        ),
        lambda t: 0.9 ** (t // 3) * (0.5 + 0.5 * min(t, 9) / 9),
    ),
    "composed, sum": (
        lambda o: schedules.ComposedLR(
            o,
            [schedules.StepLR(o, 3, 0.9), schedules.NoamLR(o, 16, 10)],
            reduction="sum",
        ),
        lambda t: 0.9 ** (t // 3) + min((t + 1) ** -0.5, (t + 1) * 10**-1.5) / 4,
    ),
    "composed, average": (
        lambda o: schedules.ComposedLR(
            o,
            [
                schedules.ExponentialLR(o, 0.9),
                schedules.ConstantLR(o, 0.2, 50),
                schedules.CosineAnnealingLR(o, 20),
            ],
            reduction="avg",
        ),
        lambda t: (0.9**t + (0.2 if t < 50 else 1.0) + cosine(t, 20)) / 3,
    ),
}


@pytest.mark.parametrize("name", FACTORS)
def test_factor_of_the_first_rate(name):
    make, factor = FACTORS[name]
    optimizer = optimizer_of()
    seen = rates_of(optimizer, make(optimizer))
    for t, rates in enumerate(seen):
        expected = [base * factor(t) for base in BASES]
        assert rates == pytest.approx(expected, rel=1e-9, abs=1e-12), t


@pytest.mark.parametrize("low", [0.0, 0.1])
def test_cosines_end_at_their_lowest_rate(low):
    for make, t in (
        (lambda o: schedules.CosineAnnealingLR(o, 20, eta_min=low), 20),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 21, eta_min=low), None),
    ):
        optimizer = optimizer_of(0.9)
        rates = [rate for (rate,) in rates_of(optimizer, make(optimizer), 20)]
        assert rates[0] == 0.9
        expected = low if t else low + (0.9 - low) * cosine(20, 21)
        assert rates[-1] == pytest.approx(expected, abs=1e-12)
        assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    ("mode", "scale"),
    [
        ("triangular", lambda t, cycle: 1.0),
        ("triangular2", lambda t, cycle: 0.5 ** (cycle - 1)),
        ("exp_range", lambda t, cycle: 0.99**t),
    ],
)
@pytest.mark.parametrize(("up", "down"), [(10, None), (5, 11)])
def test_cycles(mode, scale, up, down):
    optimizer = optimizer_of(momentum=0.5)
    schedule = schedules.CyclicLR(
        optimizer, [0.1, 0.2], [1.0, 0.5], up, down, mode, 0.99, base_momentum=0.7
    )
    down = down or up
    for t in range(STEPS):
        height = triangle(t, up, down) * scale(t, 1 + t // (up + down))
        assert schedule.get_last_lr() == pytest.approx([0.1 + 0.9 * height, 0.2 + 0.3 * height])
        for group in optimizer.param_groups:
            assert group["momentum"] == pytest.approx(0.9 - 0.2 * height)
        optimizer.step()
        schedule.step()


def test_cycles_of_a_scale_of_ones_own():
    optimizer = optimizer_of(1.0)
    schedule = schedules.CyclicLR(
        optimizer, 0.0, 1.0, 4, scale_fn=lambda x: 1 / x, cycle_momentum=False
    )
    rates = [rate for (rate,) in rates_of(optimizer, schedule)]
    expected = [triangle(t, 4, 4) / (1 + t // 8) for t in range(STEPS + 1)]
    assert rates == pytest.approx(expected, abs=1e-12)
    assert optimizer.param_groups[0]["momentum"] == 0


def between(start: float, end: float, part: float, strategy: str) -> float:
    if strategy == "linear":
        return start + (end - start) * part
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("three_phase", [False, True])
def test_one_cycle(strategy, three_phase):
    optimizer = optimizer_of(momentum=0.5)
    schedule = schedules.OneCycleLR(
        optimizer,
        [1.0, 0.1],
        total_steps=101,
        pct_start=0.25,
        anneal_strategy=strategy,
        div_factor=10,
        final_div_factor=100,
        three_phase=three_phase,
    )
    top = 0.25 * 101 - 1
    back = 2 * 0.25 * 101 - 2
    for t in range(101):
        # In units of the highest rate: 0.1 at first, 1 at the top, 0.001 at last.
        if t <= top:
            part, ends, heavy = t / top, (0.1, 1.0), (0.95, 0.85)
        elif three_phase and t <= back:
            part, ends, heavy = (t - top) / (back - top), (1.0, 0.1), (0.85, 0.95)
        elif three_phase:
            part, ends, heavy = (t - back) / (100 - back), (0.1, 0.001), (0.95, 0.95)
        else:
            part, ends, heavy = (t - top) / (100 - top), (1.0, 0.001), (0.85, 0.95)
        height = between(*ends, part, strategy)
        assert schedule.get_last_lr() == pytest.approx([height, height / 10]), t
        assert optimizer.param_groups[1]["momentum"] == pytest.approx(
            between(*heavy, part, strategy)
        )
        if t < 100:
            optimizer.step()
            schedule.step()


def test_one_cycle_without_a_rise_begins_at_the_top():
    for part in (0.0, 0.1):
        optimizer = optimizer_of(1.0)
        schedule = schedules.OneCycleLR(
            optimizer, 2.0, total_steps=10, pct_start=part, cycle_momentum=False
        )
        rates = [rate for (rate,) in rates_of(optimizer, schedule, 9)]
        assert rates == sorted(rates, reverse=True)
        assert max(rates) == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("schedule", ["CyclicLR", "OneCycleLR"])
def test_momentum_is_the_first_beta_where_there_are_betas(schedule):
    optimizer = pyburn.optim.Adam([pyburn.zeros(1)], lr=1.0, betas=(0.5, 0.999))
    if schedule == "CyclicLR":
        made = schedules.CyclicLR(optimizer, 0.1, 1.0, 10, base_momentum=0.8, max_momentum=0.9)
        high, low = 0.9, 0.8
    else:
        made = schedules.OneCycleLR(optimizer, 1.0, total_steps=40, pct_start=0.275)
        high, low = 0.95, 0.85
    assert optimizer.param_groups[0]["betas"] == (pytest.approx(high), 0.999)
    for _ in range(10):
        optimizer.step()
        made.step()
    assert optimizer.param_groups[0]["betas"] == (pytest.approx(low), 0.999)


@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_swa_goes_to_its_rate_and_stays(strategy):
    optimizer = optimizer_of()
    schedule = SWALR(optimizer, [0.05, 0.01], anneal_epochs=20, anneal_strategy=strategy)
    pairs = list(zip(BASES, (0.05, 0.01), strict=True))
    for t, rates in enumerate(rates_of(optimizer, schedule)):
        part = min(t / 20, 1.0)
        part = part if strategy == "linear" else 1 - cosine(part, 1)
        expected = [part * end + (1 - part) * base for base, end in pairs]
        assert rates == pytest.approx(expected), t


def test_plateau():
    """The rate falls when the loss has not improved for more epochs than the patience."""
    optimizer = optimizer_of(1.0)
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=2, cooldown=1)
    losses = [1.0, 0.9, 0.95, 0.9, 0.92, 0.8, 0.8, 0.8, 0.8, 0.7, 0.8, 0.8, 0.8]
    #          best best  bad  bad  bad> best bad  bad  bad> cool bad  bad  bad>
    expected = [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125]
    seen = []
    for loss in losses:
        schedule.step(pyburn.tensor(loss))
        seen += schedule.get_last_lr()
    assert seen == expected
    assert not schedule.in_cooldown or schedule.cooldown_counter == 1


@pytest.mark.parametrize(
    ("mode", "threshold_mode", "improves", "stays"),
    [
        ("min", "rel", 0.89, 0.91),
        ("min", "abs", 0.89, 0.91),
        ("max", "rel", 1.11, 1.09),
        ("max", "abs", 1.11, 1.09),
    ],
)
def test_plateau_counts_what_is_better_by_the_threshold(mode, threshold_mode, improves, stays):
    for value, reduced in ((improves, False), (stays, True), (math.nan, True)):
        optimizer = optimizer_of(1.0)
        schedule = schedules.ReduceLROnPlateau(
            optimizer, mode, patience=0, threshold=0.1, threshold_mode=threshold_mode
        )
        schedule.step(1.0)
        schedule.step(value)
        assert (schedule.get_last_lr() == [0.1]) is reduced


def test_plateau_stops_at_the_lowest_rate_and_at_small_changes():
    optimizer = optimizer_of()
    schedule = schedules.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.5, 0.0], eps=9.5e-4)
    for _ in range(4):
        schedule.step(1.0)
    assert schedule.get_last_lr() == [0.5, 1e-3]
