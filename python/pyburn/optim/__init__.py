"""Optimizers with PyTorch's names and numbers.

:class:`Adan`, :class:`Lamb` and :class:`Lion` are not in PyTorch. What an optimizer remembers of a
parameter has PyTorch's names, so that checkpoints go both ways.

Example:
    >>> w = pyburn.zeros(3, requires_grad=True)
    >>> optimizer = pyburn.optim.AdamW([w], lr=0.1, weight_decay=0.0)
    >>> for _ in range(100):
    ...     optimizer.zero_grad()
    ...     loss = ((w - 1) ** 2).sum()
    ...     loss.backward()
    ...     optimizer.step()
    >>> round(loss.item(), 3)
    0.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyburn import _absent
from pyburn.optim._adafactor import Adafactor as Adafactor
from pyburn.optim._adam import Adam as Adam
from pyburn.optim._adam import AdamW as AdamW
from pyburn.optim._adaptive import Adadelta as Adadelta
from pyburn.optim._adaptive import Adagrad as Adagrad
from pyburn.optim._adaptive import RMSprop as RMSprop
from pyburn.optim._large_batch import Adan as Adan
from pyburn.optim._large_batch import Lamb as Lamb
from pyburn.optim._lbfgs import LBFGS as LBFGS
from pyburn.optim._muon import Muon as Muon
from pyburn.optim._optimizer import Optimizer as Optimizer
from pyburn.optim._optimizer import (
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
)
from pyburn.optim._optimizer import (
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)
from pyburn.optim._sgd import ASGD as ASGD
from pyburn.optim._sgd import SGD as SGD
from pyburn.optim._signs import Lion as Lion
from pyburn.optim._signs import Rprop as Rprop
from pyburn.optim._variants import Adamax as Adamax
from pyburn.optim._variants import NAdam as NAdam
from pyburn.optim._variants import RAdam as RAdam

if TYPE_CHECKING:
    from pyburn.optim import lr_scheduler as lr_scheduler

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Adan",
    "LBFGS",
    "Lamb",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "lr_scheduler",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

_LAZY = ("lr_scheduler", "optimizer", "swa_utils")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return importlib.import_module(f"{__name__}.{name}")
        raise _absent.missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
