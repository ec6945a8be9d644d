"""Pickling and copying of tensors.

Values, dtype, device, ``requires_grad`` and the attributes of subclasses survive; which tensors
shared their memory does not.
"""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any, SupportsIndex

from pyburn import _core
from pyburn._core import Tensor

__all__: list[str] = []


def _of_class(cls: type[Tensor], tensor: Tensor) -> Tensor:
    """The same memory as a tensor of another class."""
    return tensor if cls is Tensor else Tensor.__new__(cls, tensor)


def _rebuild_tensor(
    cls: type[Tensor],
    data: Any,
    shape: tuple[int, ...],
    dtype: str,
    device: str,
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Tensor:
    """A tensor from the bytes of its elements; without bytes, zeros or a meta tensor."""
    kind = _core.dtype(dtype)
    if data is None:
        tensor = _core._full(shape, 0, kind, device)
    else:
        import numpy as np

        # NumPy has no bfloat16: its bits travel as int16.
        bits = kind == _core.dtype("bfloat16")
        array = np.frombuffer(data, dtype="int16" if bits else dtype).reshape(shape)
        tensor = _core._from_array(array)
        if bits:
            tensor = tensor.view(kind)
        tensor = tensor.to(device)
    tensor = _of_class(cls, tensor)
    if requires_grad:
        tensor.requires_grad_(True)
    if state:
        tensor.__dict__.update(state)
    return tensor


def _state(tensor: Tensor) -> dict[str, Any] | None:
    return {
        name: value for name, value in tensor.__dict__.items() if name != "_array_exports"
    } or None


def _reduce_ex(self: Tensor, protocol: SupportsIndex) -> tuple[Any, ...]:
    """What pickle needs to make the tensor again."""
    values = self.detach()
    data: Any = None
    if values.numel() and not values.is_meta:
        host = values.to("cpu").contiguous()
        if host.dtype == _core.dtype("bfloat16"):
            host = host.view(_core.dtype("int16"))
        array: Any = host.numpy()
        data = pickle.PickleBuffer(array) if operator.index(protocol) >= 5 else array.tobytes()
    dtype = repr(self.dtype).removeprefix("pyburn.")
    arguments = (
        type(self),
        data,
        tuple(self.shape),
        dtype,
        str(self.device),
        self.requires_grad,
        _state(self),
    )
    return _rebuild_tensor, arguments


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A tensor with memory of its own; only leaves can be copied so."""
    if not self.is_leaf:
        raise RuntimeError(
            "deepcopy: Only Tensors created explicitly by the user (graph leaves) support the "
            "deepcopy protocol at the moment; hint: .detach() the tensor first"
        )
    if id(self) in memo:
        return memo[id(self)]
    copied = _of_class(type(self), self.detach().clone())
    if self.requires_grad:
        copied.requires_grad_(True)
    memo[id(self)] = copied
    if self.grad is not None:
        copied.grad = copy.deepcopy(self.grad, memo)
    state = _state(self)
    if state:
        copied.__dict__.update(copy.deepcopy(state, memo))
    return copied


def _copy(self: Tensor) -> Tensor:
    """Another tensor over the same memory."""
    copied = _of_class(type(self), self.detach())
    if self.requires_grad:
        copied.requires_grad_(True)
    state = _state(self)
    if state:
        copied.__dict__.update(state)
    return copied


Tensor.__reduce_ex__ = _reduce_ex  # type: ignore[method-assign,assignment]
Tensor.__deepcopy__ = _deepcopy  # type: ignore[attr-defined]
Tensor.__copy__ = _copy  # type: ignore[attr-defined]
