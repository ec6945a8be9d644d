"""The array API standard's names (2024.12) over PyBurn's functions.

``x.__array_namespace__()`` gives this module. Arrays are PyBurn's tensors; the unsigned integers
wider than a byte do not exist, and ``x.size`` is PyTorch's method.
"""

from __future__ import annotations

import pyburn
from pyburn._dtypes import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from pyburn.array_api import fft, linalg
from pyburn.array_api._creation import *
from pyburn.array_api._elementwise import *
from pyburn.array_api._info import (
    __array_namespace_info__,
    can_cast,
    finfo,
    iinfo,
    isdtype,
    result_type,
)
from pyburn.array_api._manipulation import *
from pyburn.array_api._reduction import *
from pyburn.array_api.linalg import matmul, matrix_transpose, tensordot, vecdot

__array_api_version__ = "2024.12"

e, inf, nan, newaxis, pi = pyburn.e, pyburn.inf, pyburn.nan, None, pyburn.pi

__all__ = [
    "__array_namespace_info__",
    "bool",
    "can_cast",
    "complex128",
    "complex64",
    "e",
    "fft",
    "finfo",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int16",
    "int32",
    "int64",
    "int8",
    "isdtype",
    "linalg",
    "matmul",
    "matrix_transpose",
    "nan",
    "newaxis",
    "pi",
    "result_type",
    "tensordot",
    "uint8",
    "vecdot",
]
