"""Layers, containers and losses with PyTorch's names; :class:`Module` is the base of them all."""

from __future__ import annotations

from pyburn.nn import attention as attention
from pyburn.nn import functional as functional
from pyburn.nn import gru as gru
from pyburn.nn import init as init
from pyburn.nn import parameter as parameter
from pyburn.nn import transformer as transformer
from pyburn.nn._activation import *
from pyburn.nn._attention import *
from pyburn.nn._containers import *
from pyburn.nn._conv import *
from pyburn.nn._dropout import *
from pyburn.nn._embedding import *
from pyburn.nn._extras import *
from pyburn.nn._gdn import *
from pyburn.nn._lazy import *
from pyburn.nn._linear import *
from pyburn.nn._loss import *
from pyburn.nn._loss_region import *
from pyburn.nn._loss_sequence import *
from pyburn.nn._module import Module as Module
from pyburn.nn._norm import *
from pyburn.nn._norm_batch import *
from pyburn.nn._padding import *
from pyburn.nn._pool import *
from pyburn.nn._recurrent import *
from pyburn.nn._transformer import *
from pyburn.nn._vision import *
from pyburn.nn.parameter import Buffer as Buffer
from pyburn.nn.parameter import Parameter as Parameter
from pyburn.nn.parameter import UninitializedBuffer as UninitializedBuffer
from pyburn.nn.parameter import UninitializedParameter as UninitializedParameter

# Last: it shows what stands above under other names.
from pyburn.nn import modules as modules  # isort: skip
from pyburn.nn import utils as utils  # isort: skip
