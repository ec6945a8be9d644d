"""Optimizers for large batches that PyTorch does not have: Adan and LAMB."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.optim._engine import EngineOptimizer, check_betas, check_lr, check_not_negative
from pyburn.optim._optimizer import ParamsT

__all__ = ["Adan", "Lamb"]


class Adan(EngineOptimizer):
    """Adan: Nesterov's momentum by the change of gradients. Not in PyTorch.

    With d = g - the gradient before (0 at first), m = β₁ m + (1 - β₁) g, v = β₂ v + (1 - β₂) d and
    n = β₃ n + (1 - β₃)(g + β₂ d)², each divided by 1 - βᵗ where it is used:
    w = (w - ``lr`` · (m + β₂ v) / (√n + ``eps``)) / (1 + ``lr`` · ``weight_decay``).
    See https://arxiv.org/abs/2208.06677, whose β are one minus those here, as in its authors' code.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the averages of gradients, changes and squares is kept.
        eps: Keeps the denominator from zero.
        weight_decay: How fast weights shrink.
        no_prox: Multiply weights by 1 - ``lr`` · ``weight_decay`` before the step, as AdamW does,
            instead of dividing after it.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0, -3.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Adan([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -2.9000], requires_grad=True)
    """

    _since = {}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float, float] = (0.98, 0.92, 0.99),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        no_prox: bool = False,
        *,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_betas(betas)
        check_not_negative(eps, "Invalid epsilon value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "no_prox": no_prox,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "exp_avg", "exp_avg_sq", "exp_avg_diff", "previous_grad")

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2, beta3 = group["betas"]
        _core.optim_adan(
            self._slots(group, "exp_avg", "exp_avg_sq", "exp_avg_diff", "previous_grad"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            beta3=beta3,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            shrinks_first=group["no_prox"],
            maximize=group["maximize"],
        )


class Lamb(EngineOptimizer):
    """LAMB: Adam's direction, as long as a share of the weights it changes. Not in PyTorch.

    With the averages m and v of :class:`Adam`, each divided by 1 - βᵗ, the direction is
    u = m / (√v + ``eps``) + ``weight_decay`` · w, and w = w - ``lr`` · ‖w‖/‖u‖ · u, the norms being
    those of the whole parameter; where one is zero their ratio is 1.
    See https://arxiv.org/abs/1904.00962.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step, relative to the weights' size.
        betas: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: How fast weights shrink.
        maximize: Go up instead of down.

    Example:
        >>> w = pyburn.tensor([3.0, 4.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Lamb([w], lr=0.1)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([2.6464, 3.6464], requires_grad=True)
    """

    _since = {}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        check_betas(betas)
        check_not_negative(eps, "Invalid epsilon value")
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "exp_avg", "exp_avg_sq")

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        _core.optim_lamb(
            self._slots(group, "exp_avg", "exp_avg_sq"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
