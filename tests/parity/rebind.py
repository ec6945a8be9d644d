"""Torch's own Python wrappers of an operator, run on another package.

Many entries do not hold an operator itself but a line of Python round it, such as
`lambda x, n: torch.polygamma(n, x)`. That line is the definition of what the entry means, so it
is kept word for word: only the name `torch` in it is made to mean the package under test.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .library import Library

SEED = 42
"""The seed that torch's `wrapper_set_seed` uses."""


def is_wrapper(function: Any) -> bool:
    """Whether `function` is Python written for the op database, not an operator of torch."""
    while isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, types.FunctionType) and module.startswith("torch.testing.")


class Rebinder:
    """Rewrites functions of the op database so that `torch` means another library in them."""

    def __init__(self, library: Library) -> None:
        """Rewrite for `library`."""
        self.library = library
        self._done: dict[types.FunctionType, types.FunctionType] = {}

    def __call__(self, value: Any) -> Any:
        """`value` for the other library; what does not come from the op database stays as is."""
        if value is torch:
            return self.library.module
        if isinstance(value, functools.partial):
            keywords = {key: self(item) for key, item in value.keywords.items()}
            return functools.partial(self(value.func), *map(self, value.args), **keywords)
        if not is_wrapper(value):
            return value
        if value.__name__ == "wrapper_set_seed":
            # The original saves and restores torch's random state, which is not at stake here.
            return self._seeded
        if value not in self._done:
            self._rewrite(value)
        return self._done[value]

    def _rewrite(self, function: types.FunctionType) -> None:
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        scope: dict[str, Any] = {"__builtins__": function.__globals__["__builtins__"]}
        rewritten = types.FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__, cells
        )
        rewritten.__kwdefaults__ = function.__kwdefaults__
        # Entered before its parts are visited: a function may refer to itself.
        self._done[function] = rewritten
        for name in _names(function.__code__):
            if name in function.__globals__:
                scope[name] = self(function.__globals__[name])
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self(original.cell_contents)

    def _seeded(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        self.library.module.manual_seed(SEED)
        return op(*args, **kwargs)


def _names(code: types.CodeType) -> Iterator[str]:
    """Every global name that `code` or a function written inside it may use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
