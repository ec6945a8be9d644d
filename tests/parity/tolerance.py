"""How closely the results of an entry must agree.

The default is that of `torch.testing.assert_close` for each dtype. An entry that PyTorch's own
suite gives more room, because its operator sums in another order or is badly conditioned, gets
the widest room it is given there on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.testing._comparison import default_tolerances
from torch.testing._internal.common_device_type import precisionOverride, toleranceOverride
from torch.testing._internal.opinfo.core import DecorateInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.testing._internal.opinfo.core import OpInfo

OTHER_SUBJECTS = ("TestDecomp", "TestDTensorOps", "TestEagerFusion", "TestInductor", "TestNNC")
"""Suites that test a compiler or a rewritten operator: their room says nothing of the operator."""


@dataclass(frozen=True)
class Tolerance:
    """The room an entry asks for on top of the default of each dtype."""

    rtol: float = 0.0
    atol: float = 0.0

    def bounds(self, dtype: torch.dtype) -> tuple[float, float]:
        """The relative and the absolute bound for results of `dtype`."""
        rtol, atol = default_tolerances(dtype)
        if dtype.is_floating_point or dtype.is_complex:
            return max(rtol, self.rtol), max(atol, self.atol)
        return rtol, atol


def tolerance(op: OpInfo, dtype: torch.dtype) -> Tolerance:
    """The room that PyTorch's suite gives `op` on CPU inputs of `dtype`."""
    rooms = list(_rooms(op, dtype))
    return Tolerance(
        rtol=max((room[0] for room in rooms), default=0.0),
        atol=max((room[1] for room in rooms), default=0.0),
    )


def _rooms(op: OpInfo, dtype: torch.dtype) -> Iterator[tuple[float, float]]:
    for decorator in _decorators(op):
        if isinstance(decorator, toleranceOverride) and dtype in decorator.d:
            yield decorator.d[dtype].rtol, decorator.d[dtype].atol
        elif isinstance(decorator, precisionOverride) and dtype in decorator.d:
            yield 0.0, decorator.d[dtype]


def _decorators(op: OpInfo) -> Iterator[object]:
    for decorator in op.decorators:
        if not isinstance(decorator, DecorateInfo):
            yield decorator
        elif decorator.device_type in (None, "cpu") and not (decorator.cls_name or "").startswith(
            OTHER_SUBJECTS
        ):
            yield from decorator.decorators
