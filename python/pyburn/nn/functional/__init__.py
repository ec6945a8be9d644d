"""Layers as functions: what modules compute, with their weights as arguments."""

from __future__ import annotations

from pyburn.nn.functional._linear import *
