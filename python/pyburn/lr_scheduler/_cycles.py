"""Schedules that go up and down between two rates, the momentum against them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from pyburn.lr_scheduler._base import (
    LRScheduler,
    Rate,
    checked,
    kept,
    per_group,
    write,
)
from pyburn.optim._optimizer import Optimizer

__all__ = ["CyclicLR", "OneCycleLR"]

PerGroup = float | list[float]


def _uses_beta1(name: str, optimizer: Optimizer) -> bool:
    """Whether an optimizer calls its momentum the first of ``betas``."""
    if "betas" in optimizer.defaults:
        return True
    if "momentum" in optimizer.defaults:
        return False
    raise ValueError(
        f"{name}: optimizer must support momentum or beta1 with `cycle_momentum` option enabled; "
        "hint: cycle_momentum=False"
    )


def _set_momentum(group: dict[str, Any], beta1: bool, value: Any) -> None:
    if beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    r"""The rates go from ``base_lr`` to ``max_lr`` and back, cycle after cycle, evenly.

    With :math:`c = \lfloor 1 + t / (u + d) \rfloor` the number of the cycle, of ``step_size_up``
    :math:`u` and ``step_size_down`` :math:`d` steps, and :math:`h` the height reached in it,
    between 0 and 1:

    .. math:: \eta_t = \eta_{base} + (\eta_{max} - \eta_{base}) \, h \, s

    where :math:`s` is 1 for the mode ``"triangular"``, :math:`2^{1-c}` for ``"triangular2"`` and
    :math:`\gamma^t` for ``"exp_range"``.

    Args:
        base_lr: The lowest rate, or a list of one for each group.
        max_lr: The highest rate, or a list of one for each group.
        step_size_up: Steps that a rise takes.
        step_size_down: Steps that a fall takes; as many where it is not given.
        mode: How later cycles shrink.
        gamma: What ``"exp_range"`` multiplies with at each step.
        scale_fn: A function for :math:`s`, in place of a mode.
        scale_mode: What it is a function of: the ``"cycle"`` or the ``"iterations"``.
        cycle_momentum: Whether the momentum goes the other way, between the two that follow.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0, momentum=0.9)
        >>> schedule = pyburn.lr_scheduler.CyclicLR(optimizer, 1.0, 3.0, step_size_up=2)
        >>> rates = schedule.get_last_lr()
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates += schedule.get_last_lr()
        >>> rates
        [1.0, 2.0, 3.0, 2.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: PerGroup,
        max_lr: PerGroup,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: PerGroup = 0.8,
        max_momentum: PerGroup = 0.9,
        last_epoch: int = -1,
    ) -> None:
        name = type(self).__name__
        checked(name, optimizer)
        base_lrs = per_group("base_lr", optimizer, base_lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(
                f"{name}: mode is invalid and scale_fn is None: expected 'triangular', "
                f"'triangular2' or 'exp_range', got {mode!r}"
            )
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(name, optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            write(optimizer, "lr", base_lrs)
            for at, group in enumerate(optimizer.param_groups if cycle_momentum else ()):
                group["max_momentum"] = self.max_momentums[at]
                group["base_momentum"] = self.base_momentums[at]
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """How high a cycle goes, given its number or the number of steps: see ``scale_mode``."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / 2.0 ** (x - 1)
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def _rates(self) -> list[Rate]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        part = 1.0 + self.last_epoch / self.total_size - cycle
        rising = part <= self.step_ratio
        height = part / self.step_ratio if rising else (part - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, ends, strict=True):
                _set_momentum(group, self.use_beta1, high - (high - low) * height * scale)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height * scale for low, high in pairs]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of a ``scale_fn`` that is an object its attributes, of a
        function nothing."""
        state = super().state_dict()
        if self._scale_fn_custom is not None:
            state["_scale_fn_custom"] = kept(self._scale_fn_custom)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the schedule was whose :meth:`state_dict` this is."""
        rest = {key: value for key, value in state_dict.items() if key != "_scale_fn_custom"}
        attributes = state_dict["_scale_fn_custom"]
        if attributes is not None and self._scale_fn_custom is not None:
            vars(self._scale_fn_custom).update(attributes)
        super().load_state_dict(rest)


class OneCycleLR(LRScheduler):
    r"""One cycle: up from ``max_lr / div_factor`` to ``max_lr``, then down to nearly nothing.

    The rates end at ``max_lr / div_factor / final_div_factor``; the momentum goes the other way.

    Args:
        max_lr: The highest rate, or a list of one for each group.
        total_steps: Steps of the cycle, or else ``epochs`` times ``steps_per_epoch``.
        pct_start: The part of the cycle in which the rates rise.
        anneal_strategy: The form of the way: ``"cos"`` or ``"linear"``.
        cycle_momentum: Whether the momentum is changed, between the two that follow.
        div_factor: The highest rate over the first.
        final_div_factor: The first rate over the last.
        three_phase: Whether the way down goes back to the first rate in as many steps as the way up
            took, and to the last rate from there.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0, momentum=0.9)
        >>> schedule = pyburn.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> rates = schedule.get_last_lr()
        >>> for _ in range(9):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates += schedule.get_last_lr()
        >>> round(rates[0], 4), rates[2], f"{rates[-1]:.0e}"
        (0.04, 1.0, '4e-06')
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: PerGroup,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: PerGroup = 0.85,
        max_momentum: PerGroup = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        name = type(self).__name__
        checked(name, optimizer)
        self.total_steps = _total_steps(name, total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(
                f"{name}: expected float between 0 and 1 pct_start, but got {pct_start}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"{name}: anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(name, optimizer)
            base_momentums = per_group("base_momentum", optimizer, base_momentum)
            max_momentums = per_group("max_momentum", optimizer, max_momentum)
        else:
            base_momentums = max_momentums = None
        if last_epoch == -1:
            for at, group in enumerate(optimizer.param_groups):
                group["initial_lr"] = max_lrs[at] / div_factor
                group["max_lr"] = max_lrs[at]
                group["min_lr"] = group["initial_lr"] / final_div_factor
                if base_momentums is not None and max_momentums is not None:
                    group["max_momentum"] = max_momentums[at]
                    group["base_momentum"] = base_momentums[at]
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"{type(self).__name__}: tried to step {self.last_epoch} times. The specified "
                f"number of total steps is {self.total_steps}"
            )
        begin, phase = 0.0, self._schedule_phases[0]
        for later in self._schedule_phases[1:]:
            if self.last_epoch <= phase["end_step"]:
                break
            begin, phase = phase["end_step"], later
        length = phase["end_step"] - begin
        # A rise of no steps begins at its end.
        part = (self.last_epoch - begin) / length if length else 1.0
        rates: list[Rate] = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _set_momentum(group, self.use_beta1, self._between(*ends, part))
        return rates

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start


def _total_steps(
    name: str, total_steps: int | None, epochs: int | None, steps_per_epoch: int | None
) -> int:
    def positive(label: str, value: Any) -> int:
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"{name}: expected positive integer {label}, but got {value}")
        return value

    if total_steps is not None:
        return positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError(
            f"{name}: you must define either total_steps OR (epochs AND steps_per_epoch)"
        )
    return positive("epochs", epochs) * positive("steps_per_epoch", steps_per_epoch)


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    """Where each part of the way ends, and between which of a group's numbers it goes."""

    def phase(end_step: float, start: str, end: str, heavy: str, light: str) -> dict[str, Any]:
        return {
            "end_step": end_step,
            "start_lr": start,
            "end_lr": end,
            "start_momentum": heavy,
            "end_momentum": light,
        }

    rise = float(pct_start * total_steps) - 1
    up = phase(rise, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    last = total_steps - 1
    if not three_phase:
        return [up, phase(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    back = float(2 * pct_start * total_steps) - 2
    return [
        up,
        phase(back, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
        phase(last, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
    ]
