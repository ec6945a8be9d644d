"""Schedules that multiply the rates by a factor of the step's number."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyburn.lr_scheduler._base import LRScheduler, Rate, kept
from pyburn.optim._optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "NoamLR",
    "PolynomialLR",
    "StepLR",
]


class _FunctionLR(LRScheduler):
    """A schedule made of a function for each group."""

    lr_lambdas: list[Callable[[int], float]]

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, list | tuple):
            if len(lr_lambda) != groups:
                raise ValueError(
                    f"{type(self).__name__}: expected {groups} lr_lambdas, but got {len(lr_lambda)}"
                )
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups  # type: ignore[list-item]
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(
                    f"{type(self).__name__}: lr_lambda should be a function, but got "
                    f"{type(function).__name__}"
                )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of objects that are called their attributes, of functions
        nothing."""
        state = super().state_dict()
        state["lr_lambdas"] = [kept(function) for function in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the schedule was whose :meth:`state_dict` this is."""
        rest = {key: value for key, value in state_dict.items() if key != "lr_lambdas"}
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                vars(function).update(attributes)
        super().load_state_dict(rest)


class LambdaLR(_FunctionLR):
    r"""A rate is its first one times a function of the epoch.

    .. math:: \eta_t = \eta_0 \lambda(t)

    Args:
        lr_lambda: A function of the epoch, or a list of one for each group.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def _rates(self) -> list[Rate]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(_FunctionLR):
    r"""Each step multiplies a rate by a function of the epoch.

    .. math:: \eta_t = \eta_{t-1} \lambda(t)

    Args:
        lr_lambda: A function of the epoch, or a list of one for each group.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 1 / epoch)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        >>> round(schedule.get_last_lr()[0], 4)  # 1/1 * 1/2 * 1/3
        0.1667
    """

    def _rates(self) -> list[Rate]:
        if self._is_initial:
            return self._unchanged()
        pairs = zip(self._groups("lr"), self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in pairs]


class StepLR(LRScheduler):
    r"""The rates shrink by ``gamma`` every ``step_size`` epochs.

    .. math:: \eta_t = \eta_0 \gamma^{\lfloor t / s \rfloor}

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._unchanged()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    r"""The rates shrink by ``gamma`` at each of the epochs in ``milestones``.

    .. math:: \eta_t = \eta_0 \gamma^{\#\{m \le t\}}

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        # A milestone that is given twice counts twice.
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self.last_epoch not in self.milestones:
            return self._unchanged()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Rate]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    r"""The rates are times ``factor`` until the epoch ``total_iters``, and their own from then on.

    .. math:: \eta_t = \eta_0 f \text{ for } t < T, \quad \eta_t = \eta_0 \text{ for } t \ge T

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=1)
        >>> before = schedule.get_last_lr()
        >>> optimizer.step()
        >>> schedule.step()
        >>> before, schedule.get_last_lr()
        ([0.5], [1.0])
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(
                "ConstantLR: constant multiplicative factor expected to be between 0 and 1, got "
                f"{factor}"
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._unchanged()
        # What was multiplied by zero cannot be divided back.
        return self._scaled(1.0 / self.factor) if self.factor else self._get_closed_form_lr()

    def _get_closed_form_lr(self) -> list[Rate]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    r"""The factor of the rates goes evenly from ``start_factor`` to ``end_factor`` in
    ``total_iters`` epochs.

    .. math:: \eta_t = \eta_0 \left(s + (e - s) \frac{\min(t, T)}{T}\right)

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> warmup = pyburn.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> rates = warmup.get_last_lr()
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     warmup.step()
        ...     rates += warmup.get_last_lr()
        >>> rates
        [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "LinearLR: starting multiplicative factor expected to be greater than 0 and less "
                f"or equal to 1, got {start_factor}"
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(
                f"LinearLR: ending multiplicative factor expected to be between 0 and 1, got "
                f"{end_factor}"
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list[Rate]:
        rise = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + rise * done) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    r"""The rates shrink by ``gamma`` in each epoch.

    .. math:: \eta_t = \eta_0 \gamma^t

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        return self._unchanged() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    r"""The rates fall to zero in ``total_iters`` epochs, as a power of what is left.

    .. math:: \eta_t = \eta_0 \left(1 - \frac{\min(t, T)}{T}\right)^p

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2.0)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / before) ** self.power)

    def _get_closed_form_lr(self) -> list[Rate]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class NoamLR(LRScheduler):
    r"""The schedule that Transformers were first trained with: up evenly, down with the root.

    .. math:: \eta_t = \eta_0 \frac{1}{\sqrt d}
        \min\left(\frac{1}{\sqrt{t + 1}}, \frac{t + 1}{w \sqrt w}\right)

    The optimizer's rate :math:`\eta_0` is the factor; 1 is the paper's. The schedule has no
    counterpart in PyTorch; burn's is the same, with :math:`\eta_0` called ``factor``.

    Args:
        model_size: :math:`d`, the width of the model.
        warmup_steps: :math:`w`, how many steps the rates rise.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = pyburn.lr_scheduler.NoamLR(optimizer, model_size=4, warmup_steps=4)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()  # the peak, 1 / sqrt(4 * 4)
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        model_size: int = 512,
        warmup_steps: int = 4000,
        last_epoch: int = -1,
    ) -> None:
        for name, value in (("model_size", model_size), ("warmup_steps", warmup_steps)):
            if value <= 0:
                raise ValueError(f"NoamLR: expected {name} to be greater than 0, got {value}")
        self.model_size = model_size
        self.warmup_steps = warmup_steps
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        return self._get_closed_form_lr()

    def _get_closed_form_lr(self) -> list[Rate]:
        step = self.last_epoch + 1
        falling, rising = step**-0.5, step * self.warmup_steps**-1.5
        factor = self.model_size**-0.5 * min(falling, rising)
        return [base * factor for base in self.base_lrs]
