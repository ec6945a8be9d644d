"""Optimizers whose step is one call into the engine per group, and checks of their options."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, overload

from pyburn import _core
from pyburn._core import Tensor
from pyburn._creation import zeros_like
from pyburn.autograd import enable_grad
from pyburn.optim._optimizer import Optimizer

__all__ = ["EngineOptimizer"]

R = TypeVar("R")


class EngineOptimizer(Optimizer):
    """An optimizer whose arithmetic is in the engine.

    On the CPU the engine updates a group in one pass over memory, on a GPU by operations there.
    A subclass says what state a parameter has and which function of the engine updates it.
    """

    # Options that checkpoints of earlier versions of PyTorch lack, and what they meant then.
    _since: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._since.items():
                group.setdefault(name, value)
            for param in group["params"]:
                known = self.state.get(param, {})
                for name in self._scalars:
                    # They were numbers in earlier versions.
                    if name in known and not isinstance(known[name], Tensor):
                        known[name] = self._scalar(known[name])

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], R]) -> R: ...
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient.

        Args:
            closure: Called first, with gradients recorded; it computes the loss and its gradients
                anew, and what it returns is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        """Updates the parameters of a group."""
        raise NotImplementedError

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        """The state of a parameter that is updated for the first time."""
        raise NotImplementedError

    def _slots(self, group: dict[str, Any], *states: str) -> _core.Slots:
        """The group as the engine wants it: parameters, gradients, scalars and ``states``."""
        return _core.optim_slots(
            type(self).__name__,
            group["params"],
            self.state,
            self._scalars,
            states,
            functools.partial(self._new_state, group),
            group.get("differentiable", False),
        )

    @staticmethod
    def _scalar(value: float) -> Tensor:
        """A number of the state. It stays on the host, where steps are counted."""
        double = _core.dtype("float64")
        dtype = double if _core.get_default_dtype() == double else _core.dtype("float32")
        return _core._full((), float(value), dtype, "cpu")

    def _zeros(self, param: Tensor, *names: str, step: bool = True) -> dict[str, Tensor]:
        """State that begins with zeros: the count of steps, and tensors like the parameter."""
        state = {"step": self._scalar(0)} if step else {}
        return state | {name: zeros_like(param) for name in names}


def check_lr(lr: float | Tensor, text: str = "Invalid learning rate") -> None:
    """Refuse a learning rate that is negative or more than one number."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_not_negative(lr, text)


def check_not_negative(value: float | Tensor, text: str) -> None:
    """Refuse a negative number, and NaN."""
    if not value >= 0.0:
        raise ValueError(f"{text}: {value}")


def check_betas(betas: tuple[Any, ...]) -> None:
    """Refuse shares outside the interval from 0 to 1, the end left out."""
    for at, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {at}: {beta}")


def check_implementation(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Refuse flags that contradict each other. By themselves they change nothing here."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
