"""Layouts of weights, accepted where PyTorch accepts them."""

from __future__ import annotations

from typing import Any, TypeVar

from pyburn._dtypes import memory_format as Format
from pyburn.nn._module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def _checked(op: str, memory_format: Any) -> None:
    if not isinstance(memory_format, Format):
        raise TypeError(f"{op}: expected a memory_format, got {type(memory_format).__name__}")


def convert_conv2d_weight_memory_format(module: M, memory_format: Format) -> M:
    """The module as it is: the layout of weights is chosen by the engine."""
    _checked("convert_conv2d_weight_memory_format", memory_format)
    return module


def convert_conv3d_weight_memory_format(module: M, memory_format: Format) -> M:
    """The module as it is: the layout of weights is chosen by the engine."""
    _checked("convert_conv3d_weight_memory_format", memory_format)
    return module
