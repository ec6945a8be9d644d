"""Making tensors: of one value, from data, in steps, by patterns."""

from __future__ import annotations

from pyburn._creation._filled import *
from pyburn._creation._from_data import *
from pyburn._creation._patterns import *
from pyburn._creation._sequences import *
