"""Mixed precision: operations in the dtype that suits them, and gradients that do not underflow.

Example:
    >>> model, x = nn.Linear(3, 2), pyburn.ones(4, 3)
    >>> with pyburn.autocast("cpu"):
    ...     y = model(x)
    >>> y.dtype, model.weight.dtype
    (pyburn.bfloat16, pyburn.float32)
"""

from __future__ import annotations

from pyburn.amp.autocast_mode import autocast as autocast
from pyburn.amp.autocast_mode import custom_bwd as custom_bwd
from pyburn.amp.autocast_mode import custom_fwd as custom_fwd
from pyburn.amp.autocast_mode import is_autocast_available as is_autocast_available
from pyburn.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
