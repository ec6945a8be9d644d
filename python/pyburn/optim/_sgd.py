"""Stochastic gradient descent, plain and averaged."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.optim._engine import (
    EngineOptimizer,
    check_implementation,
    check_lr,
    check_not_negative,
)
from pyburn.optim._optimizer import ParamsT

__all__ = ["ASGD", "SGD"]


class SGD(EngineOptimizer):
    """Stochastic gradient descent, with momentum if wanted.

    With gradient g, penalised by ``weight_decay`` · w: the direction is b = ``momentum`` · b +
    (1 - ``dampening``) · g, at first b = g, and w = w - ``lr`` · b. With ``nesterov`` the step is
    along g + ``momentum`` · b.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        momentum: How much of the direction is kept.
        dampening: How much of a new gradient is left out of the direction.
        weight_decay: The penalty on large weights.
        nesterov: Look ahead in the direction.
        maximize: Go up instead of down.
        foreach: Accepted; changes nothing.
        differentiable: Record the update, so that gradients flow through it.
        fused: Accepted; updates are always fused.

    Example:
        >>> w = pyburn.tensor([1.0, 2.0], requires_grad=True)
        >>> optimizer = pyburn.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> for _ in range(2):
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        >>> w
        tensor([0.4600, 0.9200], requires_grad=True)
    """

    _scalars = ()
    _since = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(momentum, "Invalid momentum value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "momentum_buffer", step=False)

    def _update(self, group: dict[str, Any]) -> None:
        states = ("momentum_buffer",) if group["momentum"] != 0 else ()
        _core.optim_sgd(
            self._slots(group, *states),
            lr=group["lr"],
            momentum=group["momentum"],
            dampening=group["dampening"],
            weight_decay=group["weight_decay"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
        )


class ASGD(EngineOptimizer):
    """Averaged stochastic gradient descent: steps shrink, and an average of weights is kept.

    ``state[w]["ax"]`` is the average, of the weights from step ``t0`` on.

    Args:
        params: Parameters, or groups of them.
        lr: The length of the first step.
        lambd: How fast weights and steps shrink.
        alpha: The power by which steps shrink.
        t0: The step from which on weights are averaged.
        weight_decay: The penalty on large weights.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.
        capturable: Accepted; steps are counted by the host in any case.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.ASGD([w], lr=0.1)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> optimizer.state[w]["ax"]
        tensor([0.9000])
    """

    _scalars = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(lambd, "Invalid lambd value")
        check_not_negative(alpha, "Invalid alpha value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        state = self._zeros(param, "ax")
        return state | {"eta": self._scalar(float(group["lr"])), "mu": self._scalar(1)}

    def _update(self, group: dict[str, Any]) -> None:
        _core.optim_asgd(
            self._slots(group, "ax"),
            lr=group["lr"],
            lambd=group["lambd"],
            alpha=group["alpha"],
            t0=group["t0"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
