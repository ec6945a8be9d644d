"""Functions of functions: gradients, products with Jacobians, Jacobians, Hessians, batches.

They are built on the tape, so they nest: ``grad(grad(f))`` is the second derivative. :func:`vmap`
runs the function once per example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap"]

if not TYPE_CHECKING:
    __getattr__ = getter(__name__)
