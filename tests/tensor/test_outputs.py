"""What `out=` tensors may not be."""

from __future__ import annotations

import numpy
import pyburn
import pytest


def test_outputs_that_overlap_are_refused() -> None:
    x = pyburn.arange(4.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        pyburn.index_select(x, 0, pyburn.tensor([0, 1]), out=pyburn.zeros(1).expand(2))
    with pytest.raises(RuntimeError, match="single memory location"):
        pyburn.gather(x, 0, pyburn.tensor([0, 1]), out=x[2:])
    with pytest.raises(RuntimeError, match="dtype|float32"):
        pyburn.gather(x, 0, pyburn.tensor([0, 1]), out=pyburn.zeros(2, dtype=pyburn.float64))


def test_numpy_memory_is_not_resized() -> None:
    out = pyburn.from_numpy(numpy.zeros(3, numpy.float32))
    with pytest.raises(RuntimeError, match="not resizable"):
        pyburn.add(pyburn.ones(2), 1, out=out)
    assert pyburn.add(pyburn.ones(2), 1, out=pyburn.empty(0)).tolist() == [2.0, 2.0]
