"""Reductions, order statistics, running totals, sorting and counting."""

from __future__ import annotations

from pyburn._reduction._counts import *
from pyburn._reduction._folds import *
from pyburn._reduction._order import *
from pyburn._reduction._scans import *
