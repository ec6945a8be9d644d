"""Layers, containers and losses with PyTorch's names; :class:`Module` is the base of them all."""

from __future__ import annotations

from pyburn.nn import functional as functional
from pyburn.nn import init as init
from pyburn.nn import parameter as parameter
from pyburn.nn._containers import *
from pyburn.nn._lazy import *
from pyburn.nn._linear import *
from pyburn.nn._module import Module as Module
from pyburn.nn.parameter import Buffer as Buffer
from pyburn.nn.parameter import Parameter as Parameter
from pyburn.nn.parameter import UninitializedBuffer as UninitializedBuffer
from pyburn.nn.parameter import UninitializedParameter as UninitializedParameter

# Last: it shows what stands above under other names.
from pyburn.nn import modules as modules  # isort: skip
from pyburn.nn import utils as utils  # isort: skip
