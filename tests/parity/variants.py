"""The ways to call one operator: function, method, in-place method, Python operator, aliases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from .rebind import Rebinder, is_wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.testing._internal.opinfo.core import OpInfo

    from .library import Library

ALIAS_SAMPLES = 3
"""Samples that an alias runs on: it shares its kernel with the operator, only its name is new."""


@dataclass(frozen=True)
class Variant:
    """One way to call an operator, in torch and by name in any other library."""

    label: str
    reference: Callable[..., Any]
    path: str | None
    inplace: bool = False
    samples: int | None = None

    def of(self, library: Library) -> Callable[..., Any]:
        """The callable that plays this part in `library`."""
        if is_wrapper(self.reference):
            return Rebinder(library)(self.reference)
        return library.lookup(self.path) if self.path else self.reference


def function_variant(op: OpInfo) -> Variant:
    """The variant that defines what `op` means."""
    # `cfloat` is a method, though torch also has a dtype of that name.
    is_method = getattr(torch.Tensor, op.name, None) is op.op
    path = f"Tensor.{op.name}" if is_method else op.name
    return Variant(path, op.op, path)


def variants(op: OpInfo) -> list[Variant]:
    """Every way to call `op`, the defining one first, none twice."""
    found: dict[Any, Variant] = {}
    for variant in _all(op):
        if callable(variant.reference):
            found.setdefault(variant.reference, variant)
    return list(found.values())


def _all(op: OpInfo) -> Iterator[Variant]:
    yield function_variant(op)
    yield from _methods(op, op.name, samples=None)
    if op.operator_variant is not None:
        name = op.operator_variant.__name__
        yield Variant(f"operator.{name}", op.operator_variant, None)
    if op.inplace_operator_variant is not None:
        name = op.inplace_operator_variant.__name__
        yield Variant(f"operator.{name}", op.inplace_operator_variant, None, inplace=True)
    for alias in op.aliases:
        # `softmax` names its twin in nn.functional, which is out of scope here.
        if not alias.name.startswith("nn."):
            name = alias.name.removeprefix("torch.")
            yield Variant(name, alias.op, name, samples=ALIAS_SAMPLES)
            yield from _methods(alias, name, samples=ALIAS_SAMPLES)


def _methods(source: Any, name: str, samples: int | None) -> Iterator[Variant]:
    method, inplace = source.method_variant, source.inplace_variant
    if method is not None:
        yield Variant(f"Tensor.{name}", method, f"Tensor.{name}", samples=samples)
    if inplace is not None:
        path = f"Tensor.{name.removesuffix('_')}_"
        yield Variant(path, inplace, path, inplace=True, samples=samples)
