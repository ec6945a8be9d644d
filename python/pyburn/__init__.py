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

from pyburn import _absent, _core
from pyburn import _iteration as _iteration
from pyburn import _pickle as _pickle
from pyburn import autograd as autograd
from pyburn import backend as backend
from pyburn import return_types as return_types
from pyburn._core import DeviceError as DeviceError
from pyburn._core import LinAlgError as LinAlgError
from pyburn._core import OutOfMemoryError as OutOfMemoryError
from pyburn._core import Tensor as Tensor
from pyburn._core import is_anomaly_enabled as is_anomaly_enabled
from pyburn._attributes import *
from pyburn._autocast import *
from pyburn._creation import *
from pyburn._dlpack import from_dlpack as from_dlpack
from pyburn._dtypes import *
from pyburn._indexing import *
from pyburn._indexing import _segment_reduce as _segment_reduce
from pyburn._linear_algebra import *
from pyburn._lobpcg import lobpcg as lobpcg
from pyburn._movement import *
from pyburn._pointwise import *
from pyburn._random import *
from pyburn._reduction import *
from pyburn._repr import *
from pyburn._settings import *
from pyburn._size import Size as Size
from pyburn._spectral import *
from pyburn.autograd import enable_grad as enable_grad
from pyburn.autograd import inference_mode as inference_mode
from pyburn.autograd import is_grad_enabled as is_grad_enabled
from pyburn.autograd import is_inference_mode_enabled as is_inference_mode_enabled
from pyburn.autograd import no_grad as no_grad
from pyburn.autograd import set_grad_enabled as set_grad_enabled
from pyburn.backend import Backend as Backend
from pyburn.backend import backends as backends
from pyburn.backend import memory_stats as memory_stats
from pyburn.backend import synchronize as synchronize

if TYPE_CHECKING:
    from pyburn import amp as amp
    from pyburn import array_api as array_api
    from pyburn import collect_env as collect_env
    from pyburn import cuda as cuda
    from pyburn import distributions as distributions
    from pyburn import fft as fft
    from pyburn import func as func
    from pyburn import jit as jit
    from pyburn import linalg as linalg
    from pyburn import lr_scheduler as lr_scheduler
    from pyburn import module as module
    from pyburn import ndarray as ndarray
    from pyburn import optim as optim
    from pyburn import nn as nn
    from pyburn import serialization as serialization
    from pyburn import signal as signal
    from pyburn import special as special
    from pyburn import testing as testing
    from pyburn import utils as utils
    from pyburn import wgpu as wgpu
    from pyburn._core import tensor as tensor
    from pyburn.amp import GradScaler as GradScaler
    from pyburn.amp import autocast as autocast
    from pyburn.func import vmap as vmap
    from pyburn.nn.functional._names import *
    from pyburn.serialization import load as load
    from pyburn.serialization import save as save
else:
    from pyburn import tensor as tensor  # the module is callable: `pyburn.tensor([1, 2])`

__version__: str = _core.__version__

e = math.e
pi = math.pi
inf = math.inf
nan = math.nan
newaxis = None

_LAZY = (
    "amp",
    "array_api",
    "collect_env",
    "cuda",
    "distributions",
    "fft",
    "func",
    "jit",
    "linalg",
    "lr_scheduler",
    "module",
    "ndarray",
    "optim",
    "nn",
    "serialization",
    "signal",
    "special",
    "testing",
    "utils",
    "wgpu",
)
# Functions over images, which come with the layers.
_IMAGES = """
    adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d channel_shuffle conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d max_pool1d_with_indices max_pool2d
    max_pool3d native_channel_shuffle pixel_shuffle pixel_unshuffle"""
# Functions that live in a module of their own and are also names of this one.
_LAZY_NAMES = {
    **dict.fromkeys(_IMAGES.split(), "pyburn.nn.functional._names"),
    "GradScaler": "pyburn.amp",
    "autocast": "pyburn.amp",
    "load": "pyburn.serialization",
    "save": "pyburn.serialization",
    "vmap": "pyburn.func",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return importlib.import_module(f"pyburn.{name}")
        if name in _LAZY_NAMES:
            value = getattr(importlib.import_module(_LAZY_NAMES[name]), name)
            globals()[name] = value
            return value
        raise _absent.missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})
