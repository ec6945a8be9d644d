"""The base of all optimizers, under the name that it has in PyTorch too."""

from __future__ import annotations

from pyburn.optim._optimizer import Optimizer as Optimizer
from pyburn.optim._optimizer import ParamsT as ParamsT
from pyburn.optim._optimizer import (
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
)
from pyburn.optim._optimizer import (
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)
from pyburn.optim._optimizer import required as required

__all__ = [
    "Optimizer",
    "ParamsT",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]
