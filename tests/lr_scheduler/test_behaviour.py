"""What schedules share: order of steps, jumps, states, resuming, tensors as rates, errors."""

from __future__ import annotations

import copy
import gc
import importlib
import math
import pickle
import warnings
import weakref

import pyburn
import pytest
from pyburn import lr_scheduler as schedules
from pyburn.optim.swa_utils import SWALR


def sgd(lr=1.0, **options):
    return pyburn.optim.SGD([pyburn.zeros(1)], lr=lr, **options)


def run(optimizer, schedule, steps):
    seen = []
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        seen += schedule.get_last_lr()
    return seen


SINGLE = {
    "lambda": (schedules.LambdaLR, (lambda e: 0.9**e,)),
    "multiplicative": (schedules.MultiplicativeLR, (lambda e: 0.9,)),
    "step": (schedules.StepLR, (3,)),
    "multistep": (schedules.MultiStepLR, ([2, 5],)),
    "constant": (schedules.ConstantLR, ()),
    "linear": (schedules.LinearLR, (1 / 3, 1.0, 8)),
    "exponential": (schedules.ExponentialLR, (0.9,)),
    "polynomial": (schedules.PolynomialLR, (9,)),
    "cosine": (schedules.CosineAnnealingLR, (6,)),
    "restarts": (schedules.CosineAnnealingWarmRestarts, (2, 2)),
    "cyclic": (schedules.CyclicLR, (0.1, 1.0, 3)),
    "one cycle": (schedules.OneCycleLR, (1.0, 30)),
    "noam": (schedules.NoamLR, (4, 5)),
}
COMBINED = {
    "swa": lambda o: SWALR(o, 0.1),
    "chained": lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o), schedules.ExponentialLR(o, 0.9)]
    ),
    "sequential": lambda o: schedules.SequentialLR(
        o, [schedules.ConstantLR(o), schedules.ExponentialLR(o, 0.9)], [4]
    ),
    "composed": lambda o: schedules.ComposedLR(
        o, [schedules.ConstantLR(o), schedules.ExponentialLR(o, 0.9)], "sum"
    ),
}
ALL = [*SINGLE, *COMBINED]


def make(name, optimizer, **options):
    if name in COMBINED:
        return COMBINED[name](optimizer)
    kind, arguments = SINGLE[name]
    return kind(optimizer, *arguments, **options)


def take_over(optimizer, other):
    """Everything that a loaded optimizer would have but its parameters."""
    for group, saved in zip(optimizer.param_groups, other.param_groups, strict=True):
        kept = {key: value for key, value in saved.items() if key != "params"}
        group.update(copy.deepcopy(kept))


def test_every_schedule_is_public():
    assert set(schedules.__all__) == {
        name for name in vars(schedules) if name[0].isupper() and name != "TYPE_CHECKING"
    }
    for name in schedules.__all__:
        assert getattr(schedules, name).__doc__


def test_one_module_under_both_names():
    assert importlib.import_module("pyburn.optim.lr_scheduler") is schedules
    assert pyburn.optim.lr_scheduler is schedules
    from pyburn.optim.lr_scheduler import StepLR

    assert StepLR is schedules.StepLR


@pytest.mark.parametrize("name", ALL)
def test_a_state_goes_on(name):
    """Saved to bytes after 5 steps, loaded into a fresh schedule: the same 10 steps follow."""
    optimizer = sgd(momentum=0.5)
    schedule = make(name, optimizer)
    run(optimizer, schedule, 5)
    state = pickle.loads(pickle.dumps(schedule.state_dict()))
    before = copy.deepcopy(state)

    other = sgd(momentum=0.5)
    loaded = make(name, other)
    loaded.load_state_dict(state)
    assert state == before
    take_over(other, optimizer)
    assert run(other, loaded, 10) == run(optimizer, schedule, 10)


@pytest.mark.parametrize("name", ALL)
def test_a_state_can_be_saved_to_a_file(name, tmp_path):
    optimizer = sgd(momentum=0.5)
    schedule = make(name, optimizer)
    run(optimizer, schedule, 3)
    pyburn.save(schedule.state_dict(), tmp_path / "schedule.pt")
    assert pyburn.load(tmp_path / "schedule.pt") == schedule.state_dict()


def test_a_plateau_goes_on_from_its_state():
    first, second = sgd(), sgd()
    schedule = schedules.ReduceLROnPlateau(first, "max", patience=1)
    for value in (1.0, 0.5):
        schedule.step(value)
    loaded = schedules.ReduceLROnPlateau(second)
    loaded.load_state_dict(pickle.loads(pickle.dumps(schedule.state_dict())))
    for value in (0.9, 0.9):
        schedule.step(value)
        loaded.step(value)
        assert loaded.get_last_lr() == schedule.get_last_lr()
    assert second.param_groups[0]["lr"] == 0.1


class Decay:
    """A function with attributes, which states keep."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, x):
        return self.rate**x


def test_attributes_of_objects_are_part_of_a_state():
    for made in (
        lambda o, f: schedules.LambdaLR(o, f),
        lambda o, f: schedules.MultiplicativeLR(o, [f]),
        lambda o, f: schedules.CyclicLR(o, 0.1, 1.0, scale_fn=f, cycle_momentum=False),
    ):
        saved, decay = made(sgd(), Decay(0.5)).state_dict(), Decay(0.9)
        made(sgd(), decay).load_state_dict(saved)
        assert decay.rate == 0.5


def test_functions_are_no_part_of_a_state():
    assert schedules.LambdaLR(sgd(), lambda e: 1.0).state_dict()["lr_lambdas"] == [None]
    cyclic = schedules.CyclicLR(sgd(), 0.1, 1.0, scale_fn=lambda x: 1.0, cycle_momentum=False)
    assert cyclic.state_dict()["_scale_fn_custom"] is None
    assert "optimizer" not in cyclic.state_dict()


@pytest.mark.parametrize("name", SINGLE)
def test_resuming_by_last_epoch(name):
    """What is made with `last_epoch` over a stepped optimizer goes on from there."""
    optimizer, other = sgd(momentum=0.5), sgd(momentum=0.5)
    schedule = make(name, optimizer)
    run(optimizer, schedule, 7)
    take_over(other, optimizer)
    # Making it takes the step to the epoch that the optimizer has already reached.
    resumed = make(name, other, last_epoch=6)
    assert resumed.last_epoch == schedule.last_epoch
    assert resumed.get_last_lr() == pytest.approx(schedule.get_last_lr())
    assert run(other, resumed, 10) == pytest.approx(run(optimizer, schedule, 10))


def test_resuming_needs_the_first_rates():
    with pytest.raises(KeyError, match=r"'initial_lr' is not specified in param_groups\[0\]"):
        schedules.StepLR(sgd(), 3, last_epoch=4)


def test_the_first_rate_is_remembered_once():
    optimizer = sgd(0.5)
    schedules.ConstantLR(optimizer, 0.1)
    second = schedules.ExponentialLR(optimizer, 0.5)
    assert optimizer.param_groups[0]["initial_lr"] == 0.5
    assert second.base_lrs == [0.5]
    assert second.get_last_lr() == [0.05]


@pytest.mark.parametrize("name", ["step", "multistep", "linear", "exponential", "cosine"])
def test_jumping_gives_what_stepping_gives(name):
    optimizer = sgd()
    stepped = run(optimizer, make(name, optimizer), 7)
    other = sgd()
    schedule = make(name, other)
    other.step()
    for epoch in (6, 2, 7, 0):
        with pytest.warns(UserWarning, match="epoch parameter"):
            schedule.step(epoch)
        expected = (
            stepped[epoch - 1] if epoch else schedule.base_lrs[0] / (3 if name == "linear" else 1)
        )
        assert schedule.get_last_lr() == pytest.approx([expected])


def test_restarts_take_fractions_of_epochs():
    schedule = schedules.CosineAnnealingWarmRestarts(sgd(), 4, 2)
    for epoch, part in ((0.5, 0.5 / 4), (4, 0.0), (8, 4 / 8), (12, 0.0), (20, 8 / 16), (3, 3 / 4)):
        schedule.step(epoch)
        expected = (1 + math.cos(math.pi * part)) / 2
        assert schedule.get_last_lr() == pytest.approx([expected]), epoch
    with pytest.raises(ValueError, match="non-negative epoch, but got -1"):
        schedule.step(-1)


def test_stepping_in_the_wrong_order_warns_once():
    schedule = schedules.StepLR(sgd(), 3)
    with pytest.warns(UserWarning, match=r"scheduler.step\(\) before optimizer.step\(\)"):
        schedule.step()
    schedule.step()


def test_an_overridden_step_warns():
    optimizer = sgd()
    schedule = schedules.StepLR(optimizer, 3)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden"):
        schedule.step()


def test_the_right_order_does_not_warn():
    optimizer = sgd()
    for name in ALL:
        schedule = make(name, optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step()
            schedule.step()
        assert optimizer.step.__name__ == "step", name


def test_watching_steps_does_not_keep_the_optimizer_alive():
    optimizer = sgd()
    schedule = schedules.StepLR(optimizer, 3)
    alive = weakref.ref(optimizer)
    gc.disable()
    try:
        del optimizer, schedule
        assert alive() is None
    finally:
        gc.enable()


def test_the_watched_step_passes_everything_on():
    weight = pyburn.ones(1, requires_grad=True)
    optimizer = pyburn.optim.SGD([weight], lr=0.5)
    schedules.StepLR(optimizer, 3)

    def closure():
        optimizer.zero_grad()
        loss = (weight * weight).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0
    assert optimizer.step(closure=closure).item() == 0.0


def test_get_lr_outside_a_step_warns():
    with pytest.warns(UserWarning, match=r"please use get_last_lr\(\)"):
        assert schedules.LambdaLR(sgd(), lambda e: 0.5).get_lr() == [0.5]


def test_a_schedule_of_ones_own():
    class Alternating(schedules.LRScheduler):
        def get_lr(self):
            return [base * (1 + self.last_epoch % 2) for base in self.base_lrs]

    optimizer = sgd(0.5)
    assert run(optimizer, Alternating(optimizer), 4) == [1.0, 0.5, 1.0, 0.5]

    class WithClosedForm(Alternating):
        def _get_closed_form_lr(self):
            return [42.0 for _ in self.base_lrs]

    schedule = WithClosedForm(optimizer)
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(9)
    assert schedule.get_last_lr() == [42.0]
    with pytest.raises(NotImplementedError, match="expected a method get_lr"):
        schedules.LRScheduler(optimizer)


def test_rates_that_are_tensors_stay_the_same_tensor():
    for name in ALL:
        rate = pyburn.tensor(1.0, dtype=pyburn.float64)
        optimizer = pyburn.optim.Adam([pyburn.zeros(1)], lr=rate)
        group = optimizer.param_groups[0]
        group["lr"] = rate
        schedule = make(name, optimizer)
        expected = sgd(momentum=0.5)
        others = run(expected, make(name, expected), 6)
        seen = []
        for _ in range(6):
            optimizer.step()
            schedule.step()
            (last,) = schedule.get_last_lr()
            assert last is not rate
            seen.append(last.item())
        assert group["lr"] is rate
        assert seen == pytest.approx(others), name


def test_restart_within_combined_schedules():
    """Schedules of schedules nest: at a milestone the inner one begins at its own epoch 0."""
    optimizer = sgd()
    inner = schedules.SequentialLR(
        optimizer,
        [schedules.ConstantLR(optimizer, 0.5, 9), schedules.ExponentialLR(optimizer, 0.5)],
        [2],
    )
    outer = schedules.SequentialLR(optimizer, [schedules.ConstantLR(optimizer, 0.1, 9), inner], [3])
    assert optimizer.param_groups[0]["lr"] == 0.1
    assert run(optimizer, outer, 7) == pytest.approx([0.1, 0.1, 0.5, 0.5, 1.0, 0.5, 0.25])

    optimizer = sgd()
    chained = schedules.ChainedScheduler(
        [schedules.ConstantLR(optimizer, 0.5, 2), schedules.ExponentialLR(optimizer, 0.5)]
    )
    outer = schedules.SequentialLR(optimizer, [schedules.ConstantLR(optimizer, 0.1), chained], [2])
    assert run(optimizer, outer, 5) == pytest.approx([0.1, 0.5, 0.25, 0.25, 0.125])

    optimizer = sgd()
    parts = [
        schedules.SequentialLR(
            optimizer,
            [schedules.ConstantLR(optimizer, 0.5, 9), schedules.ConstantLR(optimizer, 0.25, 9)],
            [2],
        ),
        schedules.ExponentialLR(optimizer, 0.5),
    ]
    composed = schedules.ComposedLR(optimizer, parts, "sum")
    assert optimizer.param_groups[0]["lr"] == 1.5
    assert run(optimizer, composed, 3) == pytest.approx([1.0, 0.5, 0.375])

    optimizer = sgd()
    first = schedules.SequentialLR(
        optimizer,
        [schedules.ConstantLR(optimizer, 0.5, 9), schedules.ExponentialLR(optimizer, 0.5)],
        [2],
    )
    outer = schedules.SequentialLR(optimizer, [first, schedules.ConstantLR(optimizer, 0.1, 9)], [4])
    assert run(optimizer, outer, 5) == pytest.approx([0.5, 1.0, 0.5, 0.1, 0.1])


def test_composed_rates_of_zero():
    optimizer = sgd(0.0)
    parts = [schedules.ConstantLR(optimizer), schedules.ExponentialLR(optimizer, 0.5)]
    assert run(optimizer, schedules.ComposedLR(optimizer, parts), 3) == [0.0] * 3


def test_a_schedule_drives_the_steps():
    weight = pyburn.zeros(1, requires_grad=True)
    optimizer = pyburn.optim.SGD([weight], lr=1.0)
    schedule = schedules.ExponentialLR(optimizer, 0.5)
    for _ in range(4):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
        schedule.step()
    assert weight.item() == -(1 + 0.5 + 0.25 + 0.125)


def test_combined_states_of_another_length_are_refused():
    def chain(count):
        optimizer = sgd()
        return schedules.ChainedScheduler([schedules.StepLR(optimizer, 3) for _ in range(count)])

    with pytest.raises(ValueError, match="expected the states of 2 schedulers, got 3"):
        chain(2).load_state_dict(chain(3).state_dict())


def test_new_groups_need_lowest_rates():
    for lowest, fine in ((0.0, True), ([0.0], False)):
        optimizer = sgd()
        schedule = schedules.ReduceLROnPlateau(optimizer, patience=0, min_lr=lowest)
        optimizer.add_param_group({"params": [pyburn.zeros(2)]})
        schedule.step(1.0)
        if fine:
            schedule.step(1.0)
            assert schedule.get_last_lr() == [0.1, 0.1]
        else:
            with pytest.raises(RuntimeError, match="number of param groups"):
                schedule.step(1.0)


ERRORS = [
    (lambda o: schedules.StepLR("x", 3), TypeError, "StepLR: str is not an Optimizer"),
    (lambda o: schedules.ReduceLROnPlateau(3), TypeError, "int is not an Optimizer"),
    (lambda o: schedules.LambdaLR(o, [abs, abs]), ValueError, "expected 1 lr_lambdas, but got 2"),
    (
        lambda o: schedules.MultiplicativeLR(o, 0.5),
        TypeError,
        "should be a function, but got float",
    ),
    (lambda o: schedules.ConstantLR(o, 1.5), ValueError, "expected to be between 0 and 1, got 1.5"),
    (lambda o: schedules.LinearLR(o, 0.0), ValueError, "greater than 0 and less or equal to 1"),
    (lambda o: schedules.LinearLR(o, 1.0, 2.0), ValueError, "between 0 and 1, got 2.0"),
    (lambda o: schedules.NoamLR(o, 0), ValueError, "model_size to be greater than 0, got 0"),
    (lambda o: schedules.NoamLR(o, 1, -1), ValueError, "warmup_steps to be greater than 0, got -1"),
    (lambda o: schedules.SequentialLR(o, [], []), ValueError, "expects at least one scheduler"),
    (
        lambda o: schedules.SequentialLR(o, [schedules.StepLR(o, 3)], [3]),
        ValueError,
        "number of schedulers 1 and the number of milestones to be equal to 1",
    ),
    (
        lambda o: schedules.ChainedScheduler([schedules.ReduceLROnPlateau(o)]),
        ValueError,
        "does not support `ReduceLROnPlateau`.*index 0",
    ),
    (
        lambda o: schedules.ChainedScheduler([schedules.StepLR(o, 3), "x"]),
        TypeError,
        "scheduler at index 1 should have `optimizer` as its attribute, got str",
    ),
    (
        lambda o: schedules.ChainedScheduler([schedules.StepLR(o, 3), schedules.StepLR(sgd(), 3)]),
        ValueError,
        "all schedulers to belong to the same optimizer, but the StepLR at index 1",
    ),
    (
        lambda o: schedules.ComposedLR(o, [schedules.StepLR(o, 3)], "max"),
        ValueError,
        "expected reduction 'prod', 'sum' or 'avg', got 'max'",
    ),
    (lambda o: schedules.ReduceLROnPlateau(o, "low"), ValueError, "mode low is unknown!"),
    (lambda o: schedules.ReduceLROnPlateau(o, factor=1.0), ValueError, "should be < 1.0, got 1.0"),
    (
        lambda o: schedules.ReduceLROnPlateau(o, threshold_mode="x"),
        ValueError,
        "threshold mode x is unknown!",
    ),
    (
        lambda o: schedules.ReduceLROnPlateau(o, min_lr=[0, 0]),
        ValueError,
        "expected 1 min_lrs, got 2",
    ),
    (lambda o: schedules.CyclicLR(o, 0.1, 1.0, mode="x"), ValueError, "mode is invalid.*got 'x'"),
    (
        lambda o: schedules.CyclicLR(o, [0.1, 0.2], 1.0),
        ValueError,
        "base_lr has 2 values, param_groups has 1",
    ),
    (
        lambda o: schedules.CyclicLR(pyburn.optim.Adagrad([pyburn.zeros(1)]), 0.1, 1.0),
        ValueError,
        "must support momentum or beta1",
    ),
    (lambda o: schedules.OneCycleLR(o, 1.0), ValueError, "either total_steps OR"),
    (
        lambda o: schedules.OneCycleLR(o, 1.0, total_steps=1.5),
        ValueError,
        "positive integer total_steps, but got 1.5",
    ),
    (
        lambda o: schedules.OneCycleLR(o, 1.0, 9, pct_start=2.0),
        ValueError,
        "between 0 and 1 pct_start, but got 2.0",
    ),
    (
        lambda o: schedules.OneCycleLR(o, 1.0, 9, anneal_strategy="x"),
        ValueError,
        "must be one of 'cos' or 'linear', instead got x",
    ),
    (
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 0),
        ValueError,
        "positive integer T_0, but got 0",
    ),
    (
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 0.5),
        ValueError,
        "integer T_mult >= 1, but got 0.5",
    ),
    (
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, eta_min="0"),
        ValueError,
        "float or int eta_min, but got 0",
    ),
    (lambda o: SWALR(o, [0.1, 0.2]), ValueError, "swa_lr has 2 values"),
    (lambda o: SWALR(o, 0.1, 5, "x"), ValueError, "must be one of 'cos' or 'linear'"),
    (lambda o: SWALR(o, 0.1, -1), ValueError, "equal or greater than 0, got -1"),
]


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS, ids=[text for _, _, text in ERRORS])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call(sgd())


def test_one_cycle_ends():
    optimizer = sgd(momentum=0.9)
    schedule = schedules.OneCycleLR(optimizer, 1.0, total_steps=3)
    run(optimizer, schedule, 3)
    with pytest.raises(ValueError, match="tried to step 4 times.*total steps is 3"):
        run(optimizer, schedule, 1)
