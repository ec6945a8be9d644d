"""The layers under the paths they have in PyTorch: ``from pyburn.nn.modules.linear import Linear``.

Code that subclasses layers imports base classes from there. Everything public is in
:mod:`pyburn.nn` itself.
"""

from __future__ import annotations

import sys

from pyburn.nn.modules import module as module
from pyburn.nn.modules import utils as utils

# PyTorch's module -> the one here that has its classes, with the private ones among them.
_HOME = {
    "activation": "_activation",
    "adaptive": "",
    "batchnorm": "_norm",
    "channelshuffle": "",
    "container": "_containers",
    "conv": "_conv",
    "distance": "",
    "dropout": "_dropout",
    "flatten": "_linear",
    "fold": "",
    "instancenorm": "_norm",
    "lazy": "_lazy",
    "linear": "_linear",
    "loss": "_loss",
    "normalization": "_norm",
    "padding": "_padding",
    "pixelshuffle": "",
    "pooling": "_pool",
    "rnn": "_recurrent",
    "sparse": "_embedding",
    "transformer": "_transformer",
    "upsampling": "",
}

for _name, _home in _HOME.items():
    # All of them are loaded: this package is the last thing that `pyburn.nn` imports.
    _module = sys.modules.get(f"pyburn.nn.{_home}".rstrip("."))
    if _module is not None:
        globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module
