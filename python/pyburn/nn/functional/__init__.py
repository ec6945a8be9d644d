"""Layers as functions: what modules compute, with their weights as arguments."""

from __future__ import annotations

from pyburn.nn.functional._activation import *
from pyburn.nn.functional._attention import *
from pyburn.nn.functional._conv import *
from pyburn.nn.functional._dropout import *
from pyburn.nn.functional._embedding import *
from pyburn.nn.functional._linear import *
from pyburn.nn.functional._loss import *
from pyburn.nn.functional._loss_margin import *
from pyburn.nn.functional._loss_region import *
from pyburn.nn.functional._loss_sequence import *
from pyburn.nn.functional._norm import *
from pyburn.nn.functional._padding import *
from pyburn.nn.functional._pool import *
from pyburn.nn.functional._vision import *
