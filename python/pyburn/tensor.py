"""``pyburn.tensor``: the factory, and the module that older code imports the class from.

Both ``pyburn.tensor([1, 2])`` and ``from pyburn.tensor import Tensor`` work: the module is
callable.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._random import Distribution

__all__ = ["Distribution", "Tensor", "TensorPy"]

TensorPy = Tensor
"""The tensor class under the name it had in PyBurn 0.1."""


class _Factory(types.ModuleType):
    """A module that makes tensors when it is called."""

    def __call__(
        self,
        data: Any,
        *,
        dtype: Any = None,
        device: Any = None,
        backend: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        """A tensor of the given data: nested lists, numbers, arrays or another tensor; always a
        copy.

        Example:
            >>> pyburn.tensor([[1, 2], [3, 4]])
            tensor([[1, 2],
                    [3, 4]])
        """
        return _core.tensor(
            data,
            dtype=dtype,
            device=device,
            backend=backend,
            requires_grad=requires_grad,
            pin_memory=pin_memory,
        )


sys.modules[__name__].__class__ = _Factory
