"""Schedules along a half wave of the cosine."""

from __future__ import annotations

import math
from typing import Any

from pyburn.lr_scheduler._base import LRScheduler, Rate, read, write
from pyburn.optim._optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]


def _wave(epoch: float, period: float) -> float:
    """From 2 at epoch 0 down to 0 after a period, and up again."""
    return 1 + math.cos(math.pi * epoch / period)


class CosineAnnealingLR(LRScheduler):
    r"""The rates fall along a cosine to ``eta_min`` in ``T_max`` epochs, and rise again.

    .. math:: \eta_t = \eta_{\min} + \frac{1}{2} (\eta_0 - \eta_{\min})
        \left(1 + \cos\left(\pi \frac{t}{T_{\max}}\right)\right)

    Each step is computed from the rate in use, so that other schedules may change it as well.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> round(schedule.get_last_lr()[0], 6)
        0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self._is_initial:
            return self._unchanged()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # From the lowest point, where nothing is left to multiply.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(self._groups("lr"), self.base_lrs, strict=True)
            return [rate + (base - self.eta_min) * rise for rate, base in pairs]
        factor = _wave(self.last_epoch, self.T_max) / _wave(self.last_epoch - 1, self.T_max)
        return [factor * (rate - self.eta_min) + self.eta_min for rate in self._groups("lr")]

    def _get_closed_form_lr(self) -> list[Rate]:
        wave = _wave(self.last_epoch, self.T_max)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""The rates fall along a cosine to ``eta_min``, jump back and fall again, ever more slowly.

    .. math:: \eta_t = \eta_{\min} + \frac{1}{2} (\eta_0 - \eta_{\min})
        \left(1 + \cos\left(\pi \frac{T_{cur}}{T_i}\right)\right)

    Args:
        T_0: Epochs until the first restart.
        T_mult: How many times longer each round is than the one before it.
        eta_min: The lowest rate.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = schedule.get_last_lr()
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates += schedule.get_last_lr()
        >>> rates
        [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        name = type(self).__name__
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"{name}: expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"{name}: expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(
                f"{name}: expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        if last_epoch > 0:
            self._jump(last_epoch)
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next step.

        Args:
            epoch: Jump there; a fraction such as ``epoch + batch / batches`` is allowed.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._jump(epoch)
        self.last_epoch = math.floor(epoch)
        with self._within_step():
            rates = self.get_lr()
        write(self.optimizer, "lr", rates)
        self._last_lr = read(self.optimizer, "lr")

    def _jump(self, epoch: Any) -> None:
        """Find the round that an epoch lies in."""
        if epoch < 0:
            raise ValueError(
                f"{type(self).__name__}.step: expected non-negative epoch, but got {epoch}"
            )
        self.T_i = self.T_0
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        begun = 0
        while epoch >= begun + self.T_i:
            begun += self.T_i
            self.T_i *= self.T_mult
        self.T_cur = epoch - begun

    def _rates(self) -> list[Rate]:
        wave = _wave(self.T_cur, self.T_i)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]
