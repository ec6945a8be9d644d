"""Schedules of learning rates under PyTorch's name: this is :mod:`pyburn.lr_scheduler` itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyburn import lr_scheduler

if TYPE_CHECKING:
    from pyburn.lr_scheduler import *  # noqa: F403

# What is imported is what stands here once the import is over.
sys.modules[__name__] = lr_scheduler
