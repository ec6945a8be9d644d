"""Joining, cutting, reordering, reshaping and converting tensors."""

from __future__ import annotations

from pyburn._movement import _conversion as _conversion
from pyburn._movement._joining import *
from pyburn._movement._parts import *
from pyburn._movement._repeating import *
from pyburn._movement._shapes import *
