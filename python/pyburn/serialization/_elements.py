"""Tensors from bytes and bytes from tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyburn import _core
from pyburn._core import Tensor, dtype
from pyburn._dtypes import bfloat16, int16, name_of
from pyburn._dtypes import bool as bool_

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Placement", "from_bytes", "to_array", "too_large"]

_LARGEST = 2**62


def too_large(sizes: tuple[int, ...]) -> bool:
    """Whether a shape has more elements than can be counted."""
    count = 1
    for size in sizes:
        count *= size
        if count > _LARGEST:
            return True
    return False


def from_bytes(data: np.ndarray[Any, Any], kind: dtype, what: str, swapped: bool = False) -> Tensor:
    """A 1-d CPU tensor over bytes, which become the tensor's own where they are writable."""
    numpy_name = "int16" if kind == bfloat16 else name_of(kind)
    if kind == bool_:
        if data.size and data.max() > 1:
            raise ValueError(f"load: {what} is bool and has bytes other than 0 and 1")
        values = data.view("bool")
    else:
        values = data.view(numpy_name)
    if swapped:
        values = values.byteswap()
    tensor = _core._from_array(values)
    return tensor.view(bfloat16) if kind == bfloat16 else tensor


def to_array(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The elements in row-major order as a NumPy array; bfloat16 as its bits."""
    values = tensor.detach().to("cpu").contiguous()
    return (values.view(int16) if values.dtype == bfloat16 else values).numpy()


class Placement:
    """``map_location=``: on which device a tensor goes that came from another one."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted
        if wanted is not None and not isinstance(wanted, dict) and not callable(wanted):
            # A wrong or missing device is reported before anything is read.
            self.wanted = _core.device(getattr(wanted, "value", wanted))
            _core._require(self.wanted)

    def __call__(self, tensor: Tensor, location: str = "cpu") -> Tensor:
        """A CPU tensor, moved."""
        wanted = self.wanted
        if callable(wanted):
            moved = wanted(tensor, location)
            if moved is None:
                wanted = None
            elif isinstance(moved, Tensor):
                return moved
            else:
                raise TypeError(
                    f"load: map_location must give a tensor or None, got {type(moved).__name__}"
                )
        elif isinstance(wanted, dict):
            found = wanted.get(location)
            wanted = None if found is None else _core.device(getattr(found, "value", found))
        if wanted is not None:
            return tensor.to(wanted)
        if location == "cpu":
            return tensor
        try:
            return tensor.to(location)
        except (RuntimeError, ValueError) as fault:
            raise RuntimeError(
                f"load: the tensor was saved from device '{location}', which cannot be used here "
                f"({fault}); hint: map_location='cpu'"
            ) from None
