"""Variants of Adam: NAdam, RAdam, Adamax."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.optim._engine import EngineOptimizer, check_betas, check_lr, check_not_negative
from pyburn.optim._optimizer import ParamsT

__all__ = ["Adamax", "NAdam", "RAdam"]


class NAdam(EngineOptimizer):
    """Adam with Nesterov's momentum: steps look ahead.

    With μₜ = β₁ (1 - ½ · 0.96^(t · ``momentum_decay``)) and the averages m and v of :class:`Adam`:
    w = w - ``lr`` · ((1 - μₜ) g / (1 - ∏ᵗμ) + μₜ₊₁ m / (1 - ∏ᵗ⁺¹μ)) / (√(v/(1 - β₂ᵗ)) + ``eps``).
    See https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: The penalty on large weights.
        momentum_decay: How fast the momentum rises.
        decoupled_weight_decay: Shrink weights instead of changing gradients.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        capturable: Accepted; steps are counted by the host in any case.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.NAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.8944], requires_grad=True)
    """

    _scalars = ("step", "mu_product")
    _since = {**EngineOptimizer._since, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps, "Invalid epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "Invalid weight_decay value")
        check_not_negative(momentum_decay, "Invalid momentum_decay value")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "exp_avg", "exp_avg_sq") | {"mu_product": self._scalar(1)}

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        _core.optim_nadam(
            self._slots(group, "exp_avg", "exp_avg_sq"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum_decay=group["momentum_decay"],
            decoupled=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )


class RAdam(EngineOptimizer):
    """Adam that leaves out the denominator while it is known from too few steps.

    With ρ = 2/(1 - β₂) - 1 and ρₜ = ρ - 2t β₂ᵗ/(1 - β₂ᵗ): the step is ``lr`` · m/(1 - β₁ᵗ), and as
    soon as ρₜ > 5 times √((ρₜ-4)(ρₜ-2)ρ / ((ρ-4)(ρ-2)ρₜ)) · √(1 - β₂ᵗ) / (√v + ``eps``).
    See https://arxiv.org/abs/1908.03265.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: The penalty on large weights.
        decoupled_weight_decay: Shrink weights instead of changing gradients.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        capturable: Accepted; steps are counted by the host in any case.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.RAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.8000], requires_grad=True)
    """

    _since = {**EngineOptimizer._since, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps, "Invalid epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "exp_avg", "exp_avg_sq")

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        _core.optim_radam(
            self._slots(group, "exp_avg", "exp_avg_sq"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )


class Adamax(EngineOptimizer):
    """Adam whose denominator is a fading maximum: u = max(β₂ u, |g| + ``eps``).

    The step is ``lr`` · m / ((1 - β₁ᵗ) u). See https://arxiv.org/abs/1412.6980.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the average and of the maximum is kept.
        eps: Keeps the denominator from zero.
        weight_decay: The penalty on large weights.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.
        capturable: Accepted; steps are counted by the host in any case.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Adamax([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps, "Invalid epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "exp_avg", "exp_inf")

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        _core.optim_adamax(
            self._slots(group, "exp_avg", "exp_inf"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
