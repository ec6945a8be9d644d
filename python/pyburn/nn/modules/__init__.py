"""The layers under the paths they have in PyTorch: ``from pyburn.nn.modules.linear import Linear``.

Code that subclasses layers imports base classes from there. Everything public is in
:mod:`pyburn.nn` itself.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from pyburn.nn.modules import module as module
from pyburn.nn.modules import utils as utils

# PyTorch's module -> how the names begin of those that have its private classes here.
_HOME = {
    "activation": ("_activation", "_attention"),
    "adaptive": (),
    "batchnorm": ("_norm",),
    "channelshuffle": (),
    "container": ("_containers",),
    "conv": ("_conv",),
    "distance": (),
    "dropout": ("_dropout",),
    "flatten": (),
    "fold": (),
    "instancenorm": ("_norm",),
    "lazy": (),
    "linear": ("_linear",),
    "loss": ("_loss",),
    "normalization": ("_norm",),
    "padding": ("_padding",),
    "pixelshuffle": (),
    "pooling": ("_pool",),
    "rnn": ("_recurrent",),
    "sparse": ("_embedding",),
    "transformer": ("_transformer",),
    "upsampling": (),
}


class _Path(types.ModuleType):
    """A module that has the names of others."""

    def __init__(self, name: str, homes: tuple[str, ...]) -> None:
        super().__init__(f"{__name__}.{name}", f"See :mod:`pyburn.nn`: PyTorch's ``{name}``.")
        self._homes = tuple(f"pyburn.nn.{home}" for home in homes)

    def __getattr__(self, name: str) -> Any:
        public = sys.modules["pyburn.nn"]
        if not name.startswith("_"):
            if hasattr(public, name):
                return getattr(public, name)
        elif not name.startswith("__"):
            for path, module in list(sys.modules.items()):
                if path.startswith(self._homes) and hasattr(module, name):
                    return getattr(module, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


for _name, _homes in _HOME.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _Path(_name, _homes)
