"""Step lengths by the size of past gradients: Adadelta, Adagrad, RMSprop."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._creation import full_like
from pyburn.optim._engine import (
    EngineOptimizer,
    check_implementation,
    check_lr,
    check_not_negative,
)
from pyburn.optim._optimizer import ParamsT

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class Adadelta(EngineOptimizer):
    """Steps in the units of past steps: no learning rate is needed.

    With averages v of g² and u of squared steps, of which ``rho`` is kept: the step is
    d = √(u + ``eps``) / √(v + ``eps``) · g, and w = w - ``lr`` · d.
    See https://arxiv.org/abs/1212.5701.

    Args:
        params: Parameters, or groups of them.
        lr: What steps are multiplied by.
        rho: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: The penalty on large weights.
        foreach: Accepted; changes nothing.
        capturable: Accepted; steps are counted by the host in any case.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Adadelta([w], lr=100.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.6838], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps, "Invalid epsilon value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "square_avg", "acc_delta")

    def _update(self, group: dict[str, Any]) -> None:
        _core.optim_adadelta(
            self._slots(group, "square_avg", "acc_delta"),
            lr=group["lr"],
            rho=group["rho"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )


class Adagrad(EngineOptimizer):
    """Steps divided by the root of the sum s of all squared gradients.

    w = w - ``lr`` / (1 + (t - 1) · ``lr_decay``) · g / (√s + ``eps``).
    See https://jmlr.org/papers/v12/duchi11a.html.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        lr_decay: How fast that length shrinks.
        weight_decay: The penalty on large weights.
        initial_accumulator_value: What the sum begins with.
        eps: Keeps the denominator from zero.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.
        fused: Accepted; updates are always fused.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Adagrad([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    _since = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(lr_decay, "Invalid lr_decay value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        check_not_negative(initial_accumulator_value, "Invalid initial_accumulator_value value")
        check_not_negative(eps, "Invalid epsilon value")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self._new_state(group, param)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        value = self.defaults["initial_accumulator_value"]
        start = complex(value, value) if param.is_complex() else value
        return {"step": self._scalar(0), "sum": full_like(param, start)}

    def _update(self, group: dict[str, Any]) -> None:
        _core.optim_adagrad(
            self._slots(group, "sum"),
            lr=group["lr"],
            lr_decay=group["lr_decay"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )


class RMSprop(EngineOptimizer):
    """Steps divided by the root of an average v of squared gradients.

    v = ``alpha`` · v + (1 - ``alpha``) g² and d = g / (√v + ``eps``); ``centered``, the square of
    the average gradient is taken off v. With ``momentum`` the direction is
    b = ``momentum`` · b + d, else b = d; w = w - ``lr`` · b.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        alpha: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: The penalty on large weights.
        momentum: How much of the direction is kept.
        centered: Divide by the deviation instead of the size.
        capturable: Accepted; steps are counted by the host in any case.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.RMSprop([w], lr=0.01)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    _since = {**EngineOptimizer._since, "momentum": 0, "centered": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps, "Invalid epsilon value")
        check_not_negative(momentum, "Invalid momentum value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        check_not_negative(alpha, "Invalid alpha value")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    @staticmethod
    def _names(group: dict[str, Any]) -> list[str]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return names

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, *self._names(group))

    def _update(self, group: dict[str, Any]) -> None:
        _core.optim_rmsprop(
            self._slots(group, *self._names(group)),
            lr=group["lr"],
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            centered=group["centered"],
            maximize=group["maximize"],
        )
