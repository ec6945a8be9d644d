"""The samples of an entry: how many, of which dtype, for which stage."""

from __future__ import annotations

import unittest
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import torch

if TYPE_CHECKING:
    from torch.testing._internal.opinfo.core import ErrorInput, OpInfo, SampleInput

Case = TypeVar("Case")

DTYPES = (torch.float32, torch.int64, torch.complex64, torch.bool)
"""An entry is measured in the first of these that it takes on the CPU."""


@dataclass
class Cases:
    """What one entry is run on."""

    dtype: torch.dtype
    available: int
    """Forward samples in the database, of which `forward` may be a part."""
    forward: list[SampleInput] = field(default_factory=list)
    backward: list[SampleInput] = field(default_factory=list)
    error: list[ErrorInput] = field(default_factory=list)


def first_dtype(op: OpInfo) -> torch.dtype:
    """The dtype that `op` is measured in."""
    supported = op.supported_dtypes("cpu")
    return next(dtype for dtype in DTYPES if dtype in supported)


def cases(op: OpInfo, cap: int) -> Cases:
    """At most `cap` samples of `op` for each stage, the same in every process; 0 for all."""
    dtype = first_dtype(op)
    every = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    found = Cases(dtype, len(every), forward=_spread(every, cap))
    if op.supports_autograd and dtype in op.supported_backward_dtypes("cpu"):
        found.backward = _spread(list(op.sample_inputs("cpu", dtype, requires_grad=True)), cap)
    if op.error_inputs_func is not None and not _disclaimed(op, "TestCommon", "test_errors", dtype):
        found.error = _spread(list(op.error_inputs("cpu")), cap)
    return found


def _spread(found: list[Case], cap: int) -> list[Case]:
    """At most `cap` of `found`, evenly taken: neighbours in the list resemble each other."""
    if not cap or len(found) <= cap:
        return found
    return [found[i * len(found) // cap] for i in range(cap)]


def _disclaimed(op: OpInfo, suite: str, test: str, dtype: torch.dtype) -> bool:
    """Whether PyTorch's own suite skips `test` for this entry or expects it to fail."""
    skip = unittest.skip("").__qualname__
    found = op.get_decorators(suite, test, "cpu", dtype, {})
    return any(
        decorator is unittest.expectedFailure or getattr(decorator, "__qualname__", "") == skip
        for decorator in found
    )
