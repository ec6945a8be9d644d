"""Functions of functions: gradients, products with Jacobians, Jacobians, Hessians, batches.

They are built on the tape, so they nest: ``grad(grad(f))`` is the second derivative. :func:`vmap`
runs the function once per example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyburn._absent import getter
from pyburn.func._derivatives import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
)
from pyburn.func._vmap import vmap

if TYPE_CHECKING:
    from pyburn.func._modules import functional_call as functional_call
    from pyburn.func._modules import stack_module_state as stack_module_state

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]

if not TYPE_CHECKING:
    _missing = getter(__name__)

    def __getattr__(name: str) -> Any:
        # Loaded on demand, as the layers are.
        if name in ("functional_call", "stack_module_state"):
            from pyburn.func import _modules

            return getattr(_modules, name)
        return _missing(name)
