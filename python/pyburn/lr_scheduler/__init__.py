"""Schedules of learning rates, with PyTorch's names and numbers.

A schedule belongs to an optimizer and sets the rates of its groups; it steps after the optimizer.
:class:`NoamLR` and :class:`ComposedLR` are burn's, and have no counterpart in PyTorch.

Example:
    >>> model = pyburn.zeros(3, requires_grad=True)
    >>> optimizer = pyburn.optim.SGD([model], lr=0.1)
    >>> schedule = pyburn.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    >>> for epoch in range(10):
    ...     optimizer.zero_grad()
    ...     ((model - 1) ** 2).sum().backward()
    ...     optimizer.step()
    ...     schedule.step()
    >>> optimizer.param_groups[0]["lr"]
    0.0
"""

from __future__ import annotations

from pyburn.lr_scheduler._base import LRScheduler as LRScheduler
from pyburn.lr_scheduler._combined import ChainedScheduler as ChainedScheduler
from pyburn.lr_scheduler._combined import ComposedLR as ComposedLR
from pyburn.lr_scheduler._combined import SequentialLR as SequentialLR
from pyburn.lr_scheduler._cosine import CosineAnnealingLR as CosineAnnealingLR
from pyburn.lr_scheduler._cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from pyburn.lr_scheduler._cycles import CyclicLR as CyclicLR
from pyburn.lr_scheduler._cycles import OneCycleLR as OneCycleLR
from pyburn.lr_scheduler._factors import ConstantLR as ConstantLR
from pyburn.lr_scheduler._factors import ExponentialLR as ExponentialLR
from pyburn.lr_scheduler._factors import LambdaLR as LambdaLR
from pyburn.lr_scheduler._factors import LinearLR as LinearLR
from pyburn.lr_scheduler._factors import MultiplicativeLR as MultiplicativeLR
from pyburn.lr_scheduler._factors import MultiStepLR as MultiStepLR
from pyburn.lr_scheduler._factors import NoamLR as NoamLR
from pyburn.lr_scheduler._factors import PolynomialLR as PolynomialLR
from pyburn.lr_scheduler._factors import StepLR as StepLR
from pyburn.lr_scheduler._plateau import ReduceLROnPlateau as ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ComposedLR",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "NoamLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
