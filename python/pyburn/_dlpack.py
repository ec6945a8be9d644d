"""Memory shared with other libraries: DLPack, NumPy's array interface and the buffer protocol.

``memoryview(tensor)`` works on Python 3.12 and later, where a class may export a buffer through
``__buffer__``. The native module keeps to Python's limited API, which has no buffer protocol before
3.11: on older versions ``memoryview(tensor.numpy())`` is the way, and ``memoryview(tensor)`` raises
Python's ``TypeError``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from pyburn import _core
from pyburn._api import check_tensor
from pyburn._core import Tensor

__all__ = ["from_dlpack"]

# Device kinds whose memory the CPU reads: CPU, and host memory pinned for CUDA or ROCm.
_HOST = (1, 3, 11)


def _capsule(source: Any, device: Any, copy: bool | None) -> Any:
    """A capsule of the newest version the producer knows, in host memory."""
    kind = source.__dlpack_device__()[0]
    wanted: dict[str, Any] = {"max_version": (1, 1)}
    if int(kind) not in _HOST:
        if copy is False:
            raise BufferError(
                f"from_dlpack: the memory is on a device of kind {int(kind)}, which needs a copy, "
                "but copy=False was given"
            )
        wanted["dl_device"] = (1, 0)
    if copy is not None:
        wanted["copy"] = copy
    try:
        return source.__dlpack__(**wanted)
    except TypeError:
        # A producer from before version 1 takes the stream only.
        if "dl_device" in wanted:
            raise BufferError(
                f"from_dlpack: the memory is on a device of kind {int(kind)} and "
                f"{type(source).__name__} cannot copy it to the CPU; hint: do that first"
            ) from None
        return source.__dlpack__()


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array, by DLPack.

    The memory is shared where that is possible (``copy=None``), always (``copy=False``) or never
    (``copy=True``). Read-only memory is copied.

    Example:
        >>> import numpy as np
        >>> array = np.zeros(2, dtype="float32")
        >>> pyburn.from_dlpack(array).add_(1)
        tensor([1., 1.])
        >>> array
        array([1., 1.], dtype=float32)
    """
    if hasattr(ext_tensor, "__dlpack__"):
        tensor = _core._from_dlpack(_capsule(ext_tensor, device, copy), copy)
    else:
        tensor = _core._from_dlpack(ext_tensor, copy)
    if device is not None:
        target = _core.device(device)
        if target != tensor.device:
            if copy is False:
                raise ValueError(
                    f"from_dlpack: cannot move the tensor to {target} without a copy, but "
                    "copy=False was given"
                )
            tensor = tensor.to(target)
    return tensor


def _array_interface(self: Tensor) -> dict[str, Any]:
    """NumPy's description of the memory.

    Absent (``AttributeError``) for tensors that cannot be shared, so that NumPy goes on to
    ``__array__``, which says why.
    """
    if self.requires_grad or self.device.type != "cpu":
        raise AttributeError(
            f"__array_interface__: a tensor on {self.device} that requires grad or "
            "is not in host memory cannot be shared"
        )
    try:
        array = self.numpy()
    except TypeError as fault:
        raise AttributeError(str(fault)) from None
    interface: dict[str, Any] = array.__array_interface__
    # Readers keep the tensor, not its memory, alive: `tensor.data = other` must not free it.
    exports = self.__dict__.setdefault("_array_exports", [])
    if not exports or exports[-1].__array_interface__["data"] != interface["data"]:
        exports.append(array)
    return interface


def _buffer(self: Tensor, flags: int, /) -> memoryview:
    """The memory as a buffer (Python 3.12 and later)."""
    try:
        array: Any = self.numpy()
        return memoryview(array)
    except (RuntimeError, TypeError, ValueError) as fault:
        raise BufferError(str(fault)) from None


Tensor.__array_interface__ = property(_array_interface)  # type: ignore[attr-defined]
if sys.version_info >= (3, 12):
    Tensor.__buffer__ = _buffer  # type: ignore[attr-defined]


def _array_namespace(self: Tensor, *, api_version: str | None = None) -> ModuleType:
    """The module with the array API standard's names."""
    from pyburn import array_api

    if api_version is not None and api_version > array_api.__array_api_version__:
        raise ValueError(
            f"__array_namespace__: version {array_api.__array_api_version__} of the standard is "
            f"here, {api_version} was asked for"
        )
    return array_api


def _to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The array on another device."""
    check_tensor("to_device", self)
    if stream is not None:
        raise NotImplementedError("to_device: streams are chosen by the backend, got one")
    return self.to(device)


Tensor.__array_namespace__ = _array_namespace  # type: ignore[attr-defined]
Tensor.to_device = _to_device  # type: ignore[attr-defined]
