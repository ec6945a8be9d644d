"""The base class of layers under the name it had in PyBurn 0.1: ``from pyburn.module import
Module``."""

from __future__ import annotations

from pyburn.nn import (
    Buffer,
    Module,
    ModuleDict,
    ModuleList,
    Parameter,
    ParameterDict,
    ParameterList,
    Sequential,
)

__all__ = [
    "Buffer",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
]
