"""The package under test: its names looked up, its tensors read back."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import torch

NO_NUMPY_FORM = {torch.bfloat16: torch.float32}
"""Element types that NumPy lacks, with the type that holds each of their values exactly."""


class Missing(Exception):
    """The package has no such name."""


class MissingConstant(Missing):
    """The package has no such dtype, layout or memory format."""


class Malformed(Exception):
    """A tensor contradicts itself: its shape or dtype is not that of its own data."""


class Library:
    """A package that speaks torch's names; `torch` itself is one."""

    def __init__(self, name: str) -> None:
        """Import the package called `name`."""
        self.name = name
        self.module = importlib.import_module(name)
        self.tensor_class = self.module.Tensor

    def lookup(self, path: str) -> Any:
        """The object at a dotted `path` such as `linalg.norm` or `Tensor.add_`."""
        found = self.module
        for step in path.split("."):
            try:
                found = getattr(found, step)
            except AttributeError:
                raise Missing(f"{self.name}.{path} is missing") from None
        return found

    def named(self, constant: Any) -> Any:
        """The counterpart of a torch dtype, layout or memory format, which print as their name."""
        try:
            return self.lookup(str(constant).removeprefix("torch."))
        except Missing as reason:
            raise MissingConstant(str(reason)) from None

    def tensor(self, array: np.ndarray, dtype: torch.dtype) -> Any:
        """A tensor over the memory of `array`, of the type named as `dtype`."""
        made = self.module.from_numpy(array)
        return made.to(self.named(dtype)) if dtype in NO_NUMPY_FORM else made

    def read(self, value: Any) -> Any:
        """A result of the package with every tensor in it as a torch tensor."""
        if isinstance(value, self.tensor_class):
            return self._read_tensor(value)
        if isinstance(value, (list, tuple)):
            return [self.read(item) for item in value]
        return value

    def _read_tensor(self, value: Any) -> torch.Tensor:
        dtype = getattr(torch, str(value.dtype).rpartition(".")[2])
        value = value.detach()
        carrier = NO_NUMPY_FORM.get(dtype, dtype)
        if carrier is not dtype:
            value = value.to(self.named(carrier))
        # Only torch keeps a conjugation, a sign or "all zero" as a note beside the data.
        array = value.numpy(force=True) if self.module is torch else value.numpy()
        # The copy keeps the reading from aliasing a tensor that is changed in place later.
        read = torch.from_numpy(np.array(array))
        if tuple(read.shape) != tuple(value.shape):
            raise Malformed(f"shape says {tuple(value.shape)}, numpy() gives {tuple(read.shape)}")
        if read.dtype != carrier:
            raise Malformed(f"dtype says {dtype}, numpy() gives {read.dtype}")
        return read.to(dtype)
