"""What a tensor says of itself, and functions of Python applied to its elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyburn import _core
from pyburn._api import attach, method, refuse_overlap
from pyburn._core import Tensor
from pyburn._dtypes import Number, layout, sizes_of, strided

__all__ = ["get_device", "is_inference"]


@method
def get_device(input: Tensor) -> int:
    """The number of the GPU the tensor lies on, -1 for host memory.

    Example:
        >>> pyburn.ones(1).get_device()
        -1
    """
    place = input.device
    return -1 if place.type in ("cpu", "meta") else place.index or 0


@method
def is_inference(input: Tensor) -> bool:
    """Whether the tensor may never take part in autograd: never, inference mode only records
    nothing."""
    return False


def _is_cpu(self: Tensor) -> bool:
    return self.device.type == "cpu"


def _layout(self: Tensor) -> layout:
    return strided


def _nameless(self: Tensor) -> None:
    return None


def _never(self: Tensor) -> bool:
    return False


attach("is_cpu", property(_is_cpu, doc="In host memory."))
attach("layout", property(_layout, doc="How elements lie in memory: by strides."))
attach("name", property(_nameless, doc="A name nobody can give; kept for PyTorch's sake."))

for _name, _text in {
    "is_sparse": "Stored as indices and values: never.",
    "is_sparse_csr": "Stored as compressed rows: never.",
    "is_quantized": "Stored as scaled integers: never.",
    "is_nested": "A list of tensors of different shapes: never.",
    "is_mkldnn": "In an opaque layout: never.",
    "is_mps": "On a device that PyTorch calls mps; here it is wgpu.",
    "is_xla": "On a device that PyTorch calls xla: never.",
    "is_xpu": "On a device that PyTorch calls xpu: never.",
}.items():
    attach(_name, property(_never, doc=_text))


@method(name="is_shared")
def _is_shared(self: Tensor) -> bool:
    """Whether other processes see the memory: never."""
    return False


@method(name="is_pinned")
def _is_pinned(self: Tensor) -> bool:
    """Whether the memory is locked for copies to a GPU: never."""
    return False


@method(name="is_set_to")
def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both show the very same memory in the same way."""
    return (
        self._shares_storage(tensor)
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


@method(name="to_dense")
def _to_dense(self: Tensor) -> Tensor:
    """The tensor itself: none is sparse."""
    return self


@method(name="dim_order")
def _dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions in the order in which they lie in memory, the outermost first."""
    steps = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda dim: -steps[dim]))


@method(name="new")
def _new(self: Tensor, *args: Any) -> Tensor:
    """A tensor of the given sizes, or of the given data, with this one's dtype and device."""
    if len(args) == 1 and isinstance(args[0], list | tuple | Tensor):
        return _core.tensor(args[0], dtype=self.dtype, device=self.device)
    return _core._full(sizes_of(args, "new"), 0, self.dtype, self.device)


def _fill(op: str, target: Tensor, values: list[Any]) -> Tensor:
    if target.device.type != "cpu":
        raise TypeError(f"{op}: is only implemented on CPU tensors, got one on {target.device}")
    made = _core.tensor(values, dtype=target.dtype, device=target.device)
    return target.copy_(made.reshape(tuple(target.shape)))


@method(name="apply_")
def _apply_(self: Tensor, callable: Callable[[Any], Number]) -> Tensor:
    """Replaces each element by what a function of Python makes of it; slow, on the CPU only.

    Example:
        >>> pyburn.tensor([1, 2]).apply_(lambda x: x * 10)
        tensor([10, 20])
    """
    if self.requires_grad:
        raise RuntimeError("apply_: can't call apply_() on a tensor that requires grad")
    refuse_overlap(self)
    return _fill("apply_", self, [callable(value) for value in self.reshape(-1).tolist()])


@method(name="map_")
def _map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Number]) -> Tensor:
    """Replaces each element by what a function of Python makes of it and of another's; slow, on the
    CPU only."""
    if self.requires_grad or tensor.requires_grad:
        raise RuntimeError("map_: can't call map_() on a tensor that requires grad")
    refuse_overlap(self)
    pairs = zip(
        self.reshape(-1).tolist(), tensor.expand(self.shape).reshape(-1).tolist(), strict=True
    )
    return _fill("map_", self, [callable(one, two) for one, two in pairs])
