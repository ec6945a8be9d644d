"""Schedules made of other schedules."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Literal

from pyburn.lr_scheduler._base import LRScheduler, Rate, checked, copied, read, write
from pyburn.lr_scheduler._plateau import ReduceLROnPlateau
from pyburn.optim._optimizer import Optimizer

__all__ = ["ChainedScheduler", "ComposedLR", "SequentialLR"]


class _Combined(LRScheduler):
    """A schedule of schedules that belong to one optimizer."""

    _schedulers: list[LRScheduler]

    def _take(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> None:
        """Check the parts and keep them."""
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name}: expects at least one scheduler, but got no scheduler")
        for at, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{name}: scheduler at index {at} should have `optimizer` as its attribute, "
                    f"got {type(scheduler).__name__}"
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name}: does not support `ReduceLROnPlateau`, whose step needs a "
                    f"measurement, but got one at index {at}"
                )
            optimizer = optimizer or scheduler.optimizer
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name}: expects all schedulers to belong to the same optimizer, but the "
                    f"{type(scheduler).__name__} at index {at} belongs to another "
                    f"{type(scheduler.optimizer).__name__}"
                )
        self.optimizer = checked(name, optimizer)
        self._schedulers = list(schedulers)

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step; to be called after ``optimizer.step()``."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The states of the parts, and everything else but the optimizer."""
        state = super().state_dict()
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the schedule was whose :meth:`state_dict` this is."""
        states = state_dict["_schedulers"]
        if len(states) != len(self._schedulers):
            raise ValueError(
                f"{type(self).__name__}.load_state_dict: expected the states of "
                f"{len(self._schedulers)} schedulers, got {len(states)}"
            )
        for scheduler, state in zip(self._schedulers, states, strict=True):
            scheduler.load_state_dict(state)
        super().load_state_dict(
            {key: value for key, value in state_dict.items() if key != "_schedulers"}
        )

    def _restore_initial_rates(self) -> None:
        write(self.optimizer, "lr", read(self.optimizer, "initial_lr"))


class SequentialLR(_Combined):
    """One schedule after the other; each begins at its milestone, at its own epoch 0.

    Args:
        schedulers: The schedules, made for the same optimizer.
        milestones: The epochs at which the second, the third ... begins.

    Example:
        >>> from pyburn.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> warmup = ConstantLR(optimizer, factor=0.1, total_iters=2)
        >>> decay = ExponentialLR(optimizer, gamma=0.5)
        >>> schedule = SequentialLR(optimizer, [warmup, decay], milestones=[2])
        >>> rates = schedule.get_last_lr()
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates = rates + schedule.get_last_lr()
        >>> rates
        [0.1, 0.1, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"{type(self).__name__}: expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        # Each part has taken its first step when it was made; only the first of them should have.
        self._restore_initial_rates()
        for scheduler in self._schedulers:
            scheduler._undo_initial_step()
        self._current()._initial_step()
        self._last_lr = self._current().get_last_lr()

    def _current(self) -> LRScheduler:
        return self._schedulers[bisect_right(self._milestones, self.last_epoch)]

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step; to be called after ``optimizer.step()``."""
        self.last_epoch += 1
        scheduler = self._current()
        if self.last_epoch in self._milestones:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _undo_initial_step(self) -> None:
        self._current()._undo_initial_step()
        self.last_epoch = -1

    def _initial_step(self) -> None:
        self.last_epoch = 0
        self._current()._initial_step()
        self._last_lr = self._current().get_last_lr()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begin: what a schedule of schedules asks of its parts at a milestone."""
        self.last_epoch = 0
        self._current()._update_lr(0)
        self._last_lr = self._current().get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules at once, each changing the rates that the one before it has set.

    Example:
        >>> from pyburn.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> warmup = ConstantLR(optimizer, factor=0.1, total_iters=2)
        >>> schedule = ChainedScheduler([warmup, ExponentialLR(optimizer, gamma=0.5)])
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._take(optimizer, schedulers)
        self._last_lr = self._unchanged()

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step; to be called after ``optimizer.step()``."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._unchanged()

    def _undo_initial_step(self) -> None:
        for scheduler in self._schedulers:
            scheduler._undo_initial_step()

    def _initial_step(self) -> None:
        for scheduler in self._schedulers:
            scheduler._initial_step()
        self._last_lr = self._unchanged()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begin: what a schedule of schedules asks of its parts at a milestone."""
        # Not by closed forms, which would each undo what the one before has set.
        self._restore_initial_rates()
        self._initial_step()


class ComposedLR(_Combined):
    r"""Several schedules side by side, their factors multiplied, added or averaged.

    Each runs as if it were alone; with :math:`f_i(t)` what it multiplies the initial rate by,

    .. math:: \eta_t = \eta_0 \prod_i f_i(t), \quad \eta_0 \sum_i f_i(t), \quad
        \frac{\eta_0}{n} \sum_{i=1}^n f_i(t)

    PyTorch has no such schedule. It is burn's where the optimizer's rate is 1, so that what the
    schedules give is what they multiply by.

    Args:
        schedulers: The schedules, made for the same optimizer.
        reduction: ``"prod"``, ``"sum"`` or ``"avg"``.

    Example:
        >>> from pyburn.lr_scheduler import ComposedLR, ConstantLR, ExponentialLR
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> parts = [ConstantLR(optimizer, 0.5, total_iters=9), ExponentialLR(optimizer, 0.5)]
        >>> schedule = ComposedLR(optimizer, parts, reduction="avg")
        >>> optimizer.step()
        >>> schedule.step()
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()  # (0.5 + 0.5**2) / 2
        [0.375]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        reduction: Literal["prod", "sum", "avg"] = "prod",
    ) -> None:
        self._take(optimizer, schedulers)
        if reduction not in ("prod", "sum", "avg"):
            raise ValueError(
                f"{type(self).__name__}: expected reduction 'prod', 'sum' or 'avg', got "
                f"{reduction!r}"
            )
        self.reduction = reduction
        self.last_epoch = 0
        self.base_lrs = read(optimizer, "initial_lr")
        # Each part was made on top of the ones before it; here it begins on its own.
        for scheduler in self._schedulers:
            scheduler._undo_initial_step()
        self._initial_step()

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step; to be called after ``optimizer.step()``."""
        self.last_epoch += 1
        self._apart(again=False)

    def _undo_initial_step(self) -> None:
        for scheduler in self._schedulers:
            scheduler._undo_initial_step()
        self.last_epoch = -1

    def _initial_step(self) -> None:
        self.last_epoch = 0
        self._apart(again=True)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begin: what a schedule of schedules asks of its parts at a milestone."""
        self._initial_step()

    def _apart(self, again: bool) -> None:
        """Take a step of each part, from the rates it has set itself, and put them together."""
        alone: list[list[Rate]] = []
        for scheduler in self._schedulers:
            write(self.optimizer, "lr", self.base_lrs if again else scheduler.get_last_lr())
            if again:
                scheduler._initial_step()
            else:
                scheduler.step()
            alone.append(scheduler.get_last_lr())
        together = [
            self._reduced(base, list(rates))
            for base, rates in zip(self.base_lrs, zip(*alone, strict=True), strict=True)
        ]
        write(self.optimizer, "lr", map(copied, together))
        self._last_lr = self._unchanged()

    def _reduced(self, base: Any, rates: list[Any]) -> Any:
        if self.reduction == "prod":
            # Once the base, and a factor for each part; where the base is zero so are the rates.
            return math.prod(rates) / base ** (len(rates) - 1) if base else base
        total = sum(rates)
        return total / len(rates) if self.reduction == "avg" else total
