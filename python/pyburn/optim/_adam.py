"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.optim._engine import (
    EngineOptimizer,
    check_betas,
    check_implementation,
    check_lr,
    check_not_negative,
)
from pyburn.optim._optimizer import ParamsT

__all__ = ["Adam", "AdamW"]

Betas = tuple[float | Tensor, float | Tensor]


def _check_tensors(
    lr: float | Tensor, betas: Betas, foreach: bool | None, capturable: bool
) -> None:
    """Refuse tensors as options where PyTorch does."""
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    check_lr(lr)
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ValueError("betas must be either both floats or both Tensors")
    for at, beta in enumerate(betas):
        if isinstance(beta, Tensor):
            if foreach and not capturable:
                raise ValueError(
                    f"betas[{at}] as a Tensor is not supported for capturable=False and "
                    "foreach=True"
                )
            if beta.numel() != 1:
                raise ValueError(f"Tensor betas[{at}] must be 1-element")
        elif not isinstance(beta, float):
            raise ValueError("betas must be either both floats or both Tensors")


def _scalar(beta: float | Tensor) -> float | Tensor:
    """A tensor of one element without its dimensions."""
    return beta.reshape(()) if isinstance(beta, Tensor) else beta


class Adam(EngineOptimizer):
    """Adam: steps along an average of gradients, divided by the root of an average of squares.

    With gradient g, penalised by ``weight_decay`` · w, and step t: m = β₁ m + (1 - β₁) g,
    v = β₂ v + (1 - β₂) g², w = w - ``lr`` · m/(1 - β₁ᵗ) / (√(v/(1 - β₂ᵗ)) + ``eps``).
    See https://arxiv.org/abs/1412.6980.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: The penalty on large weights.
        amsgrad: Divide by the largest average so far.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        capturable: Accepted; steps are counted by the host in any case.
        differentiable: Record the update, so that gradients flow through it.
        fused: Accepted; updates are always fused.
        decoupled_weight_decay: Shrink weights instead of changing gradients, as AdamW does.

    Example:
        >>> w = pyburn.tensor([1.0, -1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Adam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -0.9000], requires_grad=True)
    """

    _since = {**EngineOptimizer._since, "amsgrad": False, "fused": None}
    _since["decoupled_weight_decay"] = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_not_negative(eps, "Invalid epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "Invalid weight_decay value")
        _check_tensors(lr, betas, foreach, capturable)
        betas = (_scalar(betas[0]), _scalar(betas[1]))
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        names = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        return self._zeros(param, "exp_avg", "exp_avg_sq", *names)

    def _update(self, group: dict[str, Any]) -> None:
        names = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        beta1, beta2 = group["betas"]
        _core.optim_adam(
            self._slots(group, "exp_avg", "exp_avg_sq", *names),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
            amsgrad=group["amsgrad"],
            maximize=group["maximize"],
        )


class AdamW(Adam):
    """Adam that shrinks weights by ``lr`` · ``weight_decay`` instead of changing gradients.

    See https://arxiv.org/abs/1711.05101. Everything else is as in :class:`Adam`.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the averages is kept.
        eps: Keeps the denominator from zero.
        weight_decay: How fast weights shrink.
        amsgrad: Divide by the largest average so far.
        maximize: Go up instead of down.
        foreach: Accepted; changes nothing.
        capturable: Accepted; steps are counted by the host in any case.
        differentiable: Record the update, so that gradients flow through it.
        fused: Accepted; updates are always fused.

    Example:
        >>> w = pyburn.tensor([1.0, -1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8500, -0.8500], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Whatever was loaded, this class decouples.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
