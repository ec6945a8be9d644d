"""The schedule that looks at a measurement."""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsFloat

from pyburn.lr_scheduler._base import LRScheduler, checked, read, warn_of_epoch, write_one
from pyburn.optim._optimizer import Optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """The rates shrink by ``factor`` when a measurement has not improved for a while.

    Args:
        mode: Whether lower (``"min"``) or higher (``"max"``) is better.
        factor: What the rates are multiplied by.
        patience: How many epochs may pass without an improvement.
        threshold: By how much a measurement must be better than the best to count.
        threshold_mode: ``"rel"``: by that part of the best; ``"abs"``: by that number.
        cooldown: Epochs after a reduction that do not count.
        min_lr: The lowest rate, or a list of one for each group.
        eps: A smaller change than this is left out.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in (0.5, 0.6, 0.7):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        name = type(self).__name__
        if factor >= 1.0:
            raise ValueError(f"{name}: factor should be < 1.0, got {factor}")
        if mode not in ("min", "max"):
            raise ValueError(f"{name}: mode {mode} is unknown! expected 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"{name}: threshold mode {threshold_mode} is unknown! expected 'rel' or 'abs'"
            )
        self.optimizer = checked(name, optimizer)
        groups = len(optimizer.param_groups)
        self.default_min_lr: float | None = None
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != groups:
                raise ValueError(f"{name}: expected {groups} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.factor = factor
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = read(optimizer, "lr")
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether a reduction was so short a time ago that epochs do not count."""
        return self.cooldown_counter > 0

    def step(  # type: ignore[override]
        self, metrics: SupportsFloat, epoch: int | None = None
    ) -> None:
        """Take note of a measurement, a number or a tensor with one element."""
        current = float(metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = read(self.optimizer, "lr")

    def _is_better(self, current: float, best: float) -> bool:
        sign = -1.0 if self.mode == "min" else 1.0
        if self.threshold_mode == "rel":
            bound = best * (1.0 + sign * self.threshold)
        else:
            bound = best + sign * self.threshold
        return current < bound if self.mode == "min" else current > bound

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"{type(self).__name__}: the number of param groups in the optimizer "
                    f"({len(groups)}) differs from when the schedule was made "
                    f"({len(self.min_lrs)}); hint: after add_param_group, add to min_lrs as well"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs, strict=True):
            rate = float(group["lr"])
            reduced = max(rate * self.factor, lowest)
            if rate - reduced > self.eps:
                write_one(group, "lr", reduced)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the schedule was whose :meth:`state_dict` this is."""
        super().load_state_dict(state_dict)
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
