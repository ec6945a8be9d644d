"""Convolutions: the layers of :mod:`pyburn.nn` that convolve, by themselves."""

from __future__ import annotations

from pyburn.nn._conv import *  # noqa: F403
from pyburn.nn._conv import __all__ as __all__
