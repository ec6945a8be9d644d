"""The layers under the paths they have in PyTorch: ``from pyburn.nn.modules.linear import Linear``.

Code that subclasses layers imports base classes from there. Everything public is in
:mod:`pyburn.nn` itself.
"""

from __future__ import annotations

import importlib
import sys

from pyburn.nn.modules import module as module
from pyburn.nn.modules import utils as utils

_HOME = {
    "container": "_containers",
    "flatten": "_linear",
    "lazy": "_lazy",
    "linear": "_linear",
}

for _name, _home in _HOME.items():
    _module = importlib.import_module(f"pyburn.nn.{_home}")
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module
