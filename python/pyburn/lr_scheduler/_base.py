"""What every schedule shares: reading and writing the groups, counting steps, saving."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeAlias

from pyburn._core import Tensor
from pyburn.optim._optimizer import Optimizer

__all__ = ["LRScheduler"]

Rate: TypeAlias = float | Tensor
"""A learning rate, or another number of a group: optimizers take both forms."""


class LRScheduler:
    """Sets the learning rates of an optimizer, step by step; the base of every schedule.

    A schedule of your own overrides :meth:`get_lr`, which gives the rates at ``last_epoch``, one
    for each of the optimizer's groups. ``base_lrs`` are the rates that the groups began with.

    Args:
        optimizer: Whose rates are set.
        last_epoch: How many steps have been taken; -1 begins. With another number the groups must
            have an ``initial_lr``, as a loaded optimizer has.

    Example:
        >>> class Halving(pyburn.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [base / 2**self.last_epoch for base in self.base_lrs]
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)], lr=1.0)
        >>> schedule = Halving(optimizer)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        >>> optimizer.param_groups[0]["lr"]
        0.125
    """

    optimizer: Optimizer
    base_lrs: list[Rate]
    last_epoch: int
    _last_lr: list[Rate]
    _step_count: int
    _is_initial: bool = False
    _get_lr_called_within_step: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(type(self).__name__, optimizer)
        for at, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{type(self).__name__}: param 'initial_lr' is not specified in "
                    f"param_groups[{at}] when resuming with last_epoch={last_epoch}; hint: load "
                    "the optimizer's state first, or begin with last_epoch=-1"
                )
        self.base_lrs = read(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def step(self, epoch: int | None = None) -> None:
        """Set the rates of the next step; to be called after ``optimizer.step()``.

        Args:
            epoch: Jump there instead; PyTorch has deprecated it.
        """
        if self._step_count == 1:
            self._warn_of_wrong_order()
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def get_last_lr(self) -> list[Rate]:
        """The rates that the last step has set, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """The rates at ``last_epoch``, while a step is being taken.

        Outside a step it warns: see :meth:`get_last_lr` for the rates in use.
        """
        if not self._get_lr_called_within_step:
            warnings.warn(
                f"{type(self).__name__}.get_lr: to get the last learning rate computed by the "
                "scheduler, please use get_last_lr()",
                UserWarning,
                stacklevel=2,
            )
        return self._rates()

    def _rates(self) -> list[Rate]:
        """What the schedules of this package give in place of :meth:`get_lr`."""
        raise NotImplementedError(
            f"{type(self).__name__}: expected a method get_lr that gives one rate for each group"
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, which has a state of its own."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the schedule was whose :meth:`state_dict` this is."""
        vars(self).update(state_dict)

    def _initial_step(self) -> None:
        """The step that construction takes: to epoch 0, or again to the one that is resumed."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _undo_initial_step(self) -> None:
        """Before the first epoch again; a schedule of schedules does this to the ones it is of."""
        self.last_epoch -= 1

    def _update_lr(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to the one given, by the closed form where there is one."""
        closed: Callable[[], list[Rate]] | None = None
        if epoch is None:
            self.last_epoch += 1
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
        with self._within_step():
            rates = self.get_lr() if closed is None else closed()
        write(self.optimizer, "lr", rates)
        self._last_lr = read(self.optimizer, "lr")

    @contextmanager
    def _within_step(self) -> Generator[None, None, None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _groups(self, key: str) -> list[Any]:
        return [group[key] for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[Rate]:
        """The rates in use times a factor."""
        return [rate * factor for rate in self._groups("lr")]

    def _unchanged(self) -> list[Rate]:
        return read(self.optimizer, "lr")

    def _warn_of_wrong_order(self) -> None:
        """The first rate is skipped where the schedule steps before the optimizer has."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            text = (
                "it seems that optimizer.step() has been overridden after the scheduler was made, "
                "so it cannot be seen whether it is called; call optimizer.step() before "
                "scheduler.step()"
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            text = (
                "detected call of scheduler.step() before optimizer.step(), which skips the first "
                "value of the schedule; call optimizer.step() before scheduler.step()"
            )
        else:
            return
        warnings.warn(f"{type(self).__name__}.step: {text}", UserWarning, stacklevel=3)


def checked(name: str, optimizer: Any) -> Optimizer:
    """The optimizer, if it is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"{name}: {type(optimizer).__name__} is not an Optimizer; expected one of pyburn.optim"
        )
    return optimizer


def copied(value: Any) -> Any:
    """A value that does not change with the group it came from."""
    return value.clone() if isinstance(value, Tensor) else value


def read(optimizer: Optimizer, key: str) -> list[Any]:
    """What each group has there, as copies."""
    return [copied(group[key]) for group in optimizer.param_groups]


def write(optimizer: Optimizer, key: str, values: Iterable[Any]) -> None:
    """Give each group its value; a tensor stays the same tensor and gets new contents."""
    for group, value in zip(optimizer.param_groups, values, strict=True):
        write_one(group, key, value)


def write_one(group: dict[str, Any], key: str, value: Any) -> None:
    """Give one group a value, as :func:`write` does."""
    if isinstance(group[key], Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """One value for each group, from a list of as many or from one for all."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [copied(value) for _ in range(groups)]
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: {name} has {len(value)} "
            f"values, param_groups has {groups}"
        )
    return [copied(item) for item in value]


def warn_of_epoch() -> None:
    """PyTorch warns so; the argument works where a schedule has a closed form."""
    warnings.warn(
        "the epoch parameter in scheduler.step() is deprecated: it jumps by the closed form where "
        "there is one; please use scheduler.step() to step the scheduler",
        UserWarning,
        stacklevel=3,
    )


def kept(function: Any) -> dict[str, Any] | None:
    """What a state keeps of a callable: an object's attributes, of a function nothing."""
    if isinstance(function, types.FunctionType):
        return None
    return dict(getattr(function, "__dict__", {}))


def _note_steps(optimizer: Optimizer) -> None:
    """Let the optimizer note that it has stepped, for the warning of the wrong order."""
    step: Any = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    # Bound again at each call: a method that the optimizer itself holds would keep it alive.
    bound = isinstance(step, types.MethodType)
    function = step.__func__ if bound else step
    owner = weakref.ref(optimizer)

    @functools.wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        stepping: Any = owner()
        stepping._opt_called = True
        return function(stepping, *args, **kwargs) if bound else function(*args, **kwargs)

    noting._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = noting  # type: ignore[method-assign]
