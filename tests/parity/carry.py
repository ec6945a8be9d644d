"""Arguments taken from torch to the package under test.

Both sides get their arguments this way, torch too: each call then works on memory of its own, so
an operator that writes in place cannot spoil the sample for the next call.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np
import torch

from .library import NO_NUMPY_FORM, Library
from .rebind import Rebinder

WIDER = {torch.float32: torch.float64, torch.complex64: torch.complex128}


NUMPY_DIMS = 64
"""The highest rank NumPy has; some error inputs go beyond torch's own limit, which is the same."""


class NotCarried(Exception):
    """The value has no form in NumPy: sparse, quantised, elsewhere or of too high a rank."""


class Carrier:
    """One call's worth of arguments on their way to a library.

    A tensor that occurs twice in the call arrives as one tensor, because gradients add up and
    writes show through only then. `leaves` lists the tensors that want a gradient, in the order
    they were met, which is the same for every library.
    """

    def __init__(self, library: Library, *, track: bool = False, widen: bool = False) -> None:
        """Carry to `library`; with `track` tensors ask for gradients, with `widen` f32 is f64."""
        self.library = library
        self.track = track
        self.widen = widen
        self.leaves: list[Any] = []
        self._seen: dict[int, Any] = {}
        self._rebind = Rebinder(library)

    def __call__(self, value: Any) -> Any:
        """The counterpart of `value`."""
        if isinstance(value, torch.Tensor):
            if id(value) not in self._seen:
                self._seen[id(value)] = self._tensor(value)
            return self._seen[id(value)]
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return self.library.named(WIDER.get(value, value) if self.widen else value)
        if isinstance(value, torch.device):
            return self.library.lookup("device")(str(value))
        if isinstance(value, torch.Generator):
            generator = self.library.lookup("Generator")()
            generator.manual_seed(value.initial_seed())
            return generator
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self(item) for item in value]
        if isinstance(value, tuple):
            return tuple(self(item) for item in value)
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, (types.FunctionType, functools.partial)):
            return self._rebind(value)
        return value

    def _tensor(self, tensor: torch.Tensor) -> Any:
        wanted = WIDER.get(tensor.dtype, tensor.dtype) if self.widen else tensor.dtype
        made = self.library.tensor(strided_copy(tensor.to(wanted)), wanted)
        if self.track and tensor.requires_grad:
            made.requires_grad_(True)
            self.leaves.append(made)
        return made


def strided_copy(tensor: torch.Tensor) -> np.ndarray:
    """A NumPy array over new memory, of the same values and strides as `tensor`.

    A transposed, stepped or expanded tensor is worth testing only if it arrives as one.
    """
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        raise NotCarried(f"a {tensor.layout} tensor on {tensor.device} has no NumPy form")
    if tensor.dim() > NUMPY_DIMS:
        raise NotCarried(f"NumPy has no arrays of {tensor.dim()} dimensions")
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype in NO_NUMPY_FORM:
        tensor = tensor.to(NO_NUMPY_FORM[tensor.dtype])
    if tensor.numel() == 0:
        return np.empty(tuple(tensor.shape), tensor.numpy().dtype)
    span = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    memory = tensor.as_strided((span,), (1,)).numpy().copy()
    steps = [step * memory.itemsize for step in tensor.stride()]
    return np.lib.stride_tricks.as_strided(memory, tuple(tensor.shape), steps)
