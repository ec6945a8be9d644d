"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyburn._core import Tensor
from pyburn._movement import stack
from pyburn.nn._module import Module
from pyburn.nn.utils.stateless import functional_call

__all__ = ["functional_call", "stack_module_state"]


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several models of one class, stacked by name: what
    :func:`pyburn.vmap` runs :func:`functional_call` over.

    Example:
        >>> models = [nn.Linear(3, 2) for _ in range(4)]
        >>> params, buffers = pyburn.func.stack_module_state(models)
        >>> call = lambda params, x: pyburn.func.functional_call(models[0], params, x)
        >>> pyburn.vmap(call, in_dims=(0, None))(params, pyburn.ones(3)).shape
        pyburn.Size([4, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(named: list[dict[str, Tensor]]) -> dict[str, Any]:
        return {
            name: stack([tensors[name] for tensors in named])
            .detach()
            .requires_grad_(tensor.requires_grad)
            for name, tensor in named[0].items()
        }

    return (
        stacked([dict(model.named_parameters()) for model in models]),
        stacked([dict(model.named_buffers()) for model in models]),
    )
