"""Steps by the sign of the gradient: Rprop and Lion."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._creation import full_like
from pyburn.optim._engine import EngineOptimizer, check_betas, check_lr, check_not_negative
from pyburn.optim._optimizer import ParamsT

__all__ = ["Lion", "Rprop"]


class Rprop(EngineOptimizer):
    """Resilient backpropagation: every weight has a step length of its own.

    It is multiplied by ``etas[1]`` while the gradient's sign stays and by ``etas[0]`` when it
    changes; the weight then stays for one step. For whole batches only: noise changes signs.

    Args:
        params: Parameters, or groups of them.
        lr: The first step length.
        etas: What step lengths are multiplied by.
        step_sizes: The shortest and the longest step.
        capturable: Accepted; steps are counted by the host in any case.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Rprop([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        lr = float(group["lr"])
        # Real and imaginary parts are independent numbers.
        length = full_like(param, complex(lr, lr) if param.is_complex() else lr)
        return self._zeros(param, "prev") | {"step_size": length}

    def _update(self, group: dict[str, Any]) -> None:
        eta_minus, eta_plus = group["etas"]
        shortest, longest = group["step_sizes"]
        _core.optim_rprop(
            self._slots(group, "prev", "step_size"),
            eta_minus=eta_minus,
            eta_plus=eta_plus,
            shortest=shortest,
            longest=longest,
            maximize=group["maximize"],
        )


class Lion(EngineOptimizer):
    """Lion: steps of one length, along the signs of an average of gradients. Not in PyTorch.

    With gradient g and average m: w = w - ``lr`` · (sign(β₁ m + (1 - β₁) g) + λ w), where λ is
    ``weight_decay``, then m = β₂ m + (1 - β₂) g. See https://arxiv.org/abs/2302.06675: the learning
    rate should be 3 to 10 times smaller than Adam's, and the decay larger by as much.

    Args:
        params: Parameters, or groups of them.
        lr: The length of a step.
        betas: How much of the average counts in the step, and how much of it is kept.
        weight_decay: How fast weights shrink.
        maximize: Go up instead of down.
        differentiable: Record the update, so that gradients flow through it.

    Example:
        >>> w = pyburn.tensor([1.0, -3.0], requires_grad=True)
        >>> optimizer = pyburn.optim.Lion([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -2.9000], requires_grad=True)
    """

    _scalars = ()
    _since = {}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_betas(betas)
        check_not_negative(weight_decay, "Invalid weight_decay value")
        defaults = {
            "lr": lr,
            "betas": betas,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        return self._zeros(param, "exp_avg", step=False)

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        _core.optim_lion(
            self._slots(group, "exp_avg"),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )
