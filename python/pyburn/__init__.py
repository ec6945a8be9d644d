"""PyBurn: deep learning with PyTorch's names on Rust's burn, on any device from one wheel.

Example:
    >>> import pyburn
    >>> x = pyburn.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4., 6.])
"""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

from pyburn import _core, autograd, backend, return_types
from pyburn._core import DeviceError, LinAlgError, OutOfMemoryError, Tensor
from pyburn._dtypes import *
from pyburn._size import Size
from pyburn._creation import *
from pyburn._movement import *
from pyburn._pointwise import *
from pyburn._reduction import *
from pyburn._indexing import *
from pyburn._random import *
from pyburn._repr import *
from pyburn._settings import *
from pyburn._dlpack import from_dlpack
from pyburn._indexing import _segment_reduce
from pyburn import _iteration, _pickle
from pyburn import tensor  # the module is callable: `pyburn.tensor([1, 2])`
from pyburn.autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from pyburn.backend import Backend, backends

if TYPE_CHECKING:
    from pyburn import cuda, fft, linalg, ndarray, special, utils, wgpu

__version__: str = _core.__version__

e = math.e
pi = math.pi
inf = math.inf
nan = math.nan
newaxis = None

_LAZY = ("cuda", "fft", "linalg", "ndarray", "special", "utils", "wgpu")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"pyburn.{name}")
    from pyburn._absent import ABSENT

    raise backend._missing(__name__, name, ABSENT.get(name))


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
