"""Pooling: the layers of :mod:`pyburn.nn` that pool, by themselves."""

from __future__ import annotations

from pyburn.nn._pool import *  # noqa: F403
from pyburn.nn._pool import __all__ as __all__
