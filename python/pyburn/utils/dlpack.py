"""Memory shared with other libraries by DLPack."""

from __future__ import annotations

import enum
from typing import Any

from pyburn._core import Tensor
from pyburn._dlpack import from_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """Kinds of devices by their number in DLPack."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule over a tensor's memory, to be taken once.

    Example:
        >>> capsule = pyburn.utils.dlpack.to_dlpack(pyburn.ones(2))
        >>> pyburn.from_dlpack(capsule)
        tensor([1., 1.])
    """
    return tensor.__dlpack__()
