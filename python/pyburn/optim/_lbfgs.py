"""L-BFGS: Newton's method with curvature estimated from the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pyburn._core import Tensor
from pyburn._creation import zeros_like
from pyburn._movement import cat
from pyburn._pointwise import view_as_real
from pyburn.autograd import enable_grad, no_grad
from pyburn.optim._engine import check_lr
from pyburn.optim._line_search import Point, strong_wolfe
from pyburn.optim._optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]

R = TypeVar("R")


def _largest(vector: Tensor) -> float:
    return float(vector.abs().max())


class LBFGS(Optimizer):
    """L-BFGS: for functions without noise and few parameters; each step calls a closure often.

    The closure clears the gradients, computes the loss and its gradients, and returns the loss.
    There is one group of parameters, all on one device. The memory needed is that of
    ``history_size`` times the parameters, twice.

    Args:
        params: Parameters.
        lr: The step length, or with a line search the first one to try.
        max_iter: Iterations per step.
        max_eval: Calls of the closure per step, by default 5/4 of the iterations.
        tolerance_grad: The largest gradient at which a step ends.
        tolerance_change: The change of loss or parameters at which a step ends.
        history_size: How many steps are remembered.
        line_search_fn: ``"strong_wolfe"``, or None for steps of one length.
        maximize: Go up instead of down.

    Example:
        >>> x = pyburn.tensor([-1.2, 1.0], requires_grad=True)
        >>> optimizer = pyburn.optim.LBFGS([x], max_iter=50, line_search_fn="strong_wolfe")
        >>> def rosenbrock():
        ...     optimizer.zero_grad()
        ...     loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        ...     loss.backward()
        ...     return loss
        >>> start = optimizer.step(rosenbrock)
        >>> pyburn.allclose(x, pyburn.ones(2), atol=1e-3)
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], R]) -> R:  # type: ignore[override]
        """Take up to ``max_iter`` iterations; gives what the first call of the closure returned.

        Args:
            closure: Clears the gradients, computes the loss and its gradients, returns the loss.
        """
        group = self.param_groups[0]
        search = group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        sign = -1.0 if group.get("maximize", False) else 1.0

        def evaluated() -> Any:
            with enable_grad():
                return closure()

        first = evaluated()
        if not self._params:
            return first
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        state["func_evals"] += 1
        loss, grad = sign * float(first), self._gradient(sign)
        if _largest(grad) <= group["tolerance_grad"]:
            return first

        lr, calls, iterations = float(group["lr"]), 1, 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = grad.clone(), loss
            t = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
            state["d"], state["t"] = direction, t
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break

            before, tries = loss, 0
            if search is not None:
                origin = [param.clone() for param in self._params]

                def point_at(
                    t: float, origin: list[Tensor] = origin, direction: Tensor = direction
                ) -> Point:
                    self._move(t, direction)
                    value = sign * float(evaluated())
                    grad = self._gradient(sign)
                    for param, old in zip(self._params, origin, strict=True):
                        param.copy_(old)
                    return Point(t, value, grad, float(grad.dot(direction)))

                found, tries = strong_wolfe(
                    point_at,
                    Point(0.0, loss, grad, slope),
                    t,
                    _largest(direction),
                    group["tolerance_change"],
                    group["max_eval"] - calls,
                )
                loss, grad, t = found.value, found.grad, found.t
                state["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                # After the last iteration nobody looks at the loss any more.
                if iterations != group["max_iter"]:
                    loss, tries = sign * float(evaluated()), 1
                    grad = self._gradient(sign)
            calls += tries
            state["func_evals"] += tries

            if (
                iterations == group["max_iter"]
                or calls >= group["max_eval"]
                or _largest(grad) <= group["tolerance_grad"]
                or _largest(direction) * abs(t) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first

    def _direction(self, state: dict[str, Any], grad: Tensor, history: int) -> Tensor:
        """Against the gradient, turned by what is known of the curvature."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return grad.neg()
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change = grad - state["prev_flat_grad"]
        step = state["d"] * float(state["t"])
        curvature = float(change.dot(step))
        if curvature > 1e-10:
            if len(changes) == history:
                for memory in (changes, steps, inverses):
                    memory.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))
        # The product of the inverse curvature and the gradient, one remembered step at a time.
        direction = grad.neg()
        known = list(zip(changes, steps, map(float, inverses), strict=True))
        shares: list[float] = []
        for change, step, inverse in reversed(known):
            share = float(step.dot(direction)) * inverse
            direction.sub_(change, alpha=share)
            shares.append(share)
        direction.mul_(float(state["H_diag"]))
        for (change, step, inverse), share in zip(known, reversed(shares), strict=True):
            back = float(change.dot(direction)) * inverse
            direction.add_(step, alpha=share - back)
        return direction

    def _gradient(self, sign: float) -> Tensor:
        """The gradients of all parameters in one vector."""
        grads: list[Tensor] = []
        for param in self._params:
            grad = param.grad
            grad = zeros_like(param) if grad is None else grad.detach()
            grads.append((view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
        return cat(grads) * sign

    def _move(self, t: float, direction: Tensor) -> None:
        """Moves the parameters along a vector of all of them."""
        start = 0
        for param in self._params:
            real = view_as_real(param) if param.is_complex() else param
            part = direction[start : start + real.numel()]
            real.add_(part.view(*real.shape), alpha=t)
            start += real.numel()
