"""Modules made without first values."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from pyburn.nn._module import Module

__all__ = ["skip_init"]

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """Makes a module without drawing first values, for one whose values are loaded.

    The class must hand its argument ``device`` on to its parameters and buffers.

    Example:
        >>> nn.utils.skip_init(nn.Linear, 3, 2).weight.shape
        pyburn.Size([2, 3])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(f"skip_init: {module_cls.__name__} must support a 'device' arg")
    place = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=place)
