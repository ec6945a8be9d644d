"""Borders, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F

NUMPY: dict[str, Any] = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}


def pairs(pads: tuple[int, ...], rank: int) -> list[tuple[int, int]]:
    """What NumPy calls it: a pair for each dimension, the first one first."""
    own = [(pads[at], pads[at + 1]) for at in range(0, len(pads), 2)]
    return [(0, 0)] * (rank - len(own)) + own[::-1]


@pytest.mark.parametrize("mode", NUMPY)
@pytest.mark.parametrize("pads", [(1, 2), (0, 3), (1, 1, 2, 0), (2, 1, 0, 1, 1, 1)], ids=str)
@pytest.mark.parametrize("batch", [True, False])
def test_pad(mode: str, pads: tuple[int, ...], batch: bool) -> None:
    rank = len(pads) // 2
    for dtype in (np.float32, np.float64, np.int64, np.complex128, np.bool_):
        shape = ((2,) if batch else ()) + (3, 5, 4, 6)[: rank + 1]
        x = np.random.default_rng(1).integers(0, 9, shape).astype(dtype)
        out = F.pad(pyburn.from_numpy(x), pads, mode)
        np.testing.assert_array_equal(out.numpy(), np.pad(x, pairs(pads, x.ndim), NUMPY[mode]))


def test_constants_of_any_value_in_any_dimension() -> None:
    x = pyburn.arange(6).view(2, 3)
    assert F.pad(x, (1, 0, 0, 1), value=7).tolist() == [[7, 0, 1, 2], [7, 3, 4, 5], [7] * 4]
    assert F.pad(pyburn.ones(2), (1, 1), value=0.5).tolist() == [0.5, 1, 1, 0.5]
    assert F.pad(x, (0, 0)).equal(x)
    assert F.pad(x, (0, 0)) is not x
    assert F.pad(pyburn.ones(0, 2), (1, 1)).shape == (0, 4)


def test_negative_numbers_cut_off() -> None:
    x = pyburn.arange(5.0).view(1, 5)
    assert F.pad(x, (-1, 2)).tolist() == [[1, 2, 3, 4, 0, 0]]
    assert F.pad(x, (-1, -1), "reflect").tolist() == [[1, 2, 3]]
    assert F.pad(x, (2, -1), "replicate").tolist() == [[0, 0, 0, 1, 2, 3]]
    # What is cut off does not come back at the other end.
    assert F.pad(x, (2, -1), "circular").tolist() == [[2, 3, 0, 1, 2, 3]]


@pytest.mark.parametrize("mode", NUMPY)
def test_gradients(mode: str) -> None:
    x = pyburn.randn(1, 2, 3, 4, dtype=pyburn.float64, requires_grad=True)
    for pads in ((1, 2), (2, 1, 1, 0), (-1, 2, 1, 1)):
        if mode != "constant" and len(pads) == 2:
            continue
        assert gradcheck(lambda x, pads=pads: F.pad(x, pads, mode), (x,))
        assert gradgradcheck(lambda x, pads=pads: F.pad(x, pads, mode), (x,))


x34 = pyburn.ones(3, 4)
WRONG: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("odd", lambda: F.pad(x34, (1,)), RuntimeError, ("divisible by 2",)),
    ("odd mode", lambda: F.pad(x34, (1,), "reflect"), RuntimeError, ("divisible by 2",)),
    ("many", lambda: F.pad(x34, (1,) * 6), RuntimeError, ("two times",)),
    ("too wide", lambda: F.pad(x34, (4, 1), "reflect"), RuntimeError, ("less than", "(4, 1)")),
    ("wrapping", lambda: F.pad(x34, (5, 1), "circular"), RuntimeError, ("more than once",)),
    ("mode", lambda: F.pad(x34, (1, 1), "mirror"), NotImplementedError, ("mirror", "reflect")),
    ("value", lambda: F.pad(x34, (1, 1), "reflect", 3), RuntimeError, ("value",)),
    ("rank", lambda: F.pad(x34, (1,) * 4, "reflect"), NotImplementedError, ("[3, 4]",)),
    ("vector", lambda: F.pad(x34[0], (1, 1), "reflect"), NotImplementedError, ("1D",)),
    ("cut", lambda: F.pad(x34, (-3, -2)), RuntimeError, ("negative",)),
    ("empty", lambda: F.pad(pyburn.ones(2, 0), (1, 1), "replicate"), RuntimeError, ("non-zero",)),
    ("list", lambda: F.pad([1.0], (1, 1)), TypeError, ("Tensor",)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("call", "kind", "words"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_wrong_calls(call: Any, kind: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


MODES = {
    "Zero": "constant",
    "Reflection": "reflect",
    "Replication": "replicate",
    "Circular": "circular",
}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", MODES)
def test_layers(rank: int, name: str) -> None:
    x = pyburn.randn(2, 2, *(3, 4, 5)[:rank])
    layer = getattr(nn, f"{name}Pad{rank}d")(1)
    assert layer(x).equal(F.pad(x, (1,) * (2 * rank), MODES[name]))
    assert layer(x[0]).equal(layer(x)[0])
    assert repr(layer) == f"{name}Pad{rank}d({(1,) * (2 * rank)})"
    pads = (1, 0, 2, 1, 0, 1)[: 2 * rank]
    assert getattr(nn, f"{name}Pad{rank}d")(pads)(x).equal(F.pad(x, pads, MODES[name]))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_constant_layers(rank: int) -> None:
    layer = getattr(nn, f"ConstantPad{rank}d")(1, 2.5)
    x = pyburn.randn(2, *(3, 4, 5)[:rank])
    assert layer(x).equal(F.pad(x, (1,) * (2 * rank), "constant", 2.5))
    assert repr(layer) == f"ConstantPad{rank}d(padding={(1,) * (2 * rank)}, value=2.5)"


def test_circular_layers_look_at_dimensions() -> None:
    with pytest.raises(ValueError, match="CircularPad2d"):
        nn.CircularPad2d(1)(pyburn.ones(3, 4))
