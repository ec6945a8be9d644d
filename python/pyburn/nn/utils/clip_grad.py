"""Gradients kept below a bound."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

from pyburn import linalg
from pyburn._core import Tensor, tensor
from pyburn._movement import stack
from pyburn.autograd import no_grad

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _listed(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [grad for parameter in _listed(parameters) if (grad := parameter.grad) is not None]


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of several tensors as if they were one vector.

    Example:
        >>> nn.utils.get_total_norm([pyburn.tensor([3.0]), pyburn.tensor([4.0])])
        tensor(5.)
    """
    items = _listed(tensors)
    if not items:
        return tensor(0.0)
    norm_type = float(norm_type)
    place = items[0].device
    norms = [linalg.vector_norm(item, norm_type).to(place) for item in items]
    total = linalg.vector_norm(stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scales gradients by ``max_norm / (total_norm + 1e-6)`` where that is below one."""
    grads = _grads(parameters)
    if not grads:
        return
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    moved = {factor.device: factor}
    for grad in grads:
        if grad.device not in moved:
            moved[grad.device] = factor.to(grad.device)
        grad.mul_(moved[grad.device].to(grad.dtype))


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients of parameters so that their norm together is at most ``max_norm``, and
    gives the norm they had.

    Example:
        >>> weight = pyburn.ones(2, requires_grad=True)
        >>> weight.grad = pyburn.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_(weight, 1.0)
        tensor(5.)
        >>> weight.grad
        tensor([0.6000, 0.8000])
    """
    items = _listed(parameters)
    if not items:
        warnings.warn(
            "clip_grad_norm_: `parameters` is empty, no gradient clipping will occur; hint: an "
            "iterator gives its items once",
            stacklevel=2,
        )
    total = get_total_norm(_grads(items), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(items, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """PyTorch's older name of :func:`clip_grad_norm_`."""
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Cuts the elements of gradients off at ``±clip_value``.

    Example:
        >>> weight = pyburn.ones(2, requires_grad=True)
        >>> weight.grad = pyburn.tensor([3.0, -4.0])
        >>> nn.utils.clip_grad_value_([weight], 1.0)
        >>> weight.grad
        tensor([ 1., -1.])
    """
    bound = float(clip_value)
    for grad in _grads(parameters):
        grad.clamp_(-bound, bound)
