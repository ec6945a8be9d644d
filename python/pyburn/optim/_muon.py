"""Muon: momentum made orthogonal."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.optim._engine import EngineOptimizer, check_lr, check_not_negative
from pyburn.optim._optimizer import ParamsT

__all__ = ["Muon"]

_ADJUSTMENTS = (None, "original", "match_rms_adamw", "spectral_unclamped")


class Muon(EngineOptimizer):
    """Muon: steps along the nearest orthogonal matrix to the momentum. For matrices only.

    With momentum m = ``momentum`` · m + (1 - ``momentum``) g, its orthogonal part O is found by
    ``ns_steps`` iterations x = a x + (b x xᵀ + c (x xᵀ)²) x, in bfloat16's accuracy, and
    w = w - ``lr`` · ``weight_decay`` · w - ``lr`` · r · O, where r depends on the shape.
    See https://kellerjordan.github.io/posts/muon/. Vectors and embeddings take another optimizer.

    Args:
        params: Matrices, or groups of them.
        lr: The length of a step.
        weight_decay: How fast weights shrink.
        momentum: How much of the average of gradients is kept.
        nesterov: Look ahead in the direction of the momentum.
        ns_coefficients: The iteration's a, b and c.
        eps: Keeps the denominator from zero.
        ns_steps: How many iterations to take.
        adjust_lr_fn: How r follows the shape: ``"original"``, ``"match_rms_adamw"`` or
            ``"spectral_unclamped"``.

    Example:
        >>> w = pyburn.eye(3, requires_grad=True)
        >>> optimizer = pyburn.optim.Muon([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> bool(w.diag().max() < 1)
        True
    """

    _scalars = ()
    _since = {}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is")
        check_not_negative(momentum, "momentum should be >= 0 but is")
        check_not_negative(weight_decay, "weight decay should be >= 0 but is")
        if adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.shape}"
                    )

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        return self._zeros(param, "momentum_buffer", step=False)

    def _update(self, group: dict[str, Any]) -> None:
        coefficients: tuple[float, ...] = tuple(group["ns_coefficients"])
        if len(coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        _core.optim_muon(
            self._slots(group, "momentum_buffer"),
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            nesterov=group["nesterov"],
            coefficients=coefficients,
            eps=group["eps"],
            steps=group["ns_steps"],
            adjust_lr_fn=group["adjust_lr_fn"],
        )
