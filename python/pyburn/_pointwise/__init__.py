"""Functions of one element at a time, of one tensor or several broadcast together."""

from __future__ import annotations

from pyburn._pointwise._activation import *
from pyburn._pointwise._binary import *
from pyburn._pointwise._choice import *
from pyburn._pointwise._complex import *
from pyburn._pointwise._unary import *
