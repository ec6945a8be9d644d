"""Gradient clipping, sequences of different lengths, parameters computed from others."""

from __future__ import annotations

from pyburn.nn.utils import parametrizations as parametrizations
from pyburn.nn.utils import parametrize as parametrize
from pyburn.nn.utils import prune as prune
from pyburn.nn.utils import rnn as rnn
from pyburn.nn.utils import stateless as stateless
from pyburn.nn.utils.clip_grad import *
from pyburn.nn.utils.convert_parameters import *
from pyburn.nn.utils.fusion import *
from pyburn.nn.utils.init import *
from pyburn.nn.utils.memory_format import *
from pyburn.nn.utils.spectral_norm import *
from pyburn.nn.utils.weight_norm import *
