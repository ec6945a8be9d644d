"""Adafactor: averages of squares kept by rows and columns only."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._creation import zeros
from pyburn.optim._engine import EngineOptimizer, check_lr, check_not_negative
from pyburn.optim._optimizer import ParamsT

__all__ = ["Adafactor"]


class Adafactor(EngineOptimizer):
    """Adafactor: Adam without momentum, whose average of squares takes little memory.

    Of a matrix of gradients, the averages of squares by row and by column stand for all of them.
    With share t^``beta2_decay`` of new squares in the averages, and V their product divided by the
    mean over rows: u = g / √max(V, ``eps[0]``²) and
    w = w - min(``lr``, 1/√t) · max(``eps[1]``, RMS(w)) · u / max(1, RMS(u)/``d``).
    See https://arxiv.org/abs/1804.04235; how it differs in detail is as in PyTorch.

    Args:
        params: Parameters, or groups of them.
        lr: The longest step, relative to the weights' size.
        beta2_decay: The power by which the share of new squares falls.
        eps: The smallest denominator, by default the dtype's precision, and the smallest size that
            weights are taken to have.
        d: The largest size of a step, relative to its length.
        weight_decay: How fast weights shrink.
        foreach: Accepted; changes nothing.
        maximize: Go up instead of down.

    Example:
        >>> w = pyburn.ones(4, 3, requires_grad=True)
        >>> optimizer = pyburn.optim.Adafactor([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> optimizer.state[w]["row_var"].shape, optimizer.state[w]["col_var"].shape
        (pyburn.Size([4, 1]), pyburn.Size([1, 3]))
    """

    _since = {"foreach": None}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            check_not_negative(eps[0], "epsilon1 should be >= 0 but is")
        check_not_negative(eps[1], "epsilon2 should be >= 0 but is")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        check_not_negative(weight_decay, "weight_decay should be >= 0 but is")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _new_state(self, group: dict[str, Any], param: Tensor) -> dict[str, Tensor]:
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if param.dim() < 2:
            return self._zeros(param, "variance")
        rows, columns = list(param.shape), list(param.shape)
        rows[-1] = columns[-2] = 1
        return {
            "step": self._scalar(0),
            "row_var": zeros(rows, dtype=param.dtype, device=param.device),
            "col_var": zeros(columns, dtype=param.dtype, device=param.device),
        }

    def _update(self, group: dict[str, Any]) -> None:
        eps1, eps2 = group["eps"]
        # Vectors and matrices have different state, so they are two groups to the engine.
        vectors = [param for param in group["params"] if param.dim() < 2]
        matrices = [param for param in group["params"] if param.dim() >= 2]
        for params, names in ((vectors, ["variance"]), (matrices, ["row_var", "col_var"])):
            if not params:
                continue
            _core.optim_adafactor(
                self._slots({**group, "params": params}, *names),
                lr=group["lr"],
                beta2_decay=group["beta2_decay"],
                eps1=eps1,
                eps2=eps2,
                d=group["d"],
                weight_decay=group["weight_decay"],
                maximize=group["maximize"],
            )
