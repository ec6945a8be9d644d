"""`vmap`: a function of one example run over a batch."""

from __future__ import annotations

import pyburn
import pytest
from pyburn import vmap

M = pyburn.arange(6.0).reshape(2, 3)


def same(a, b):
    assert a.shape == b.shape
    assert pyburn.equal(a, b)


def test_dimensions():
    same(vmap(pyburn.sum)(M), M.sum(1))
    same(vmap(pyburn.sum, in_dims=1)(M), M.sum(0))
    same(vmap(pyburn.sum, in_dims=-1)(M), M.sum(0))
    same(vmap(lambda r: r * 2, out_dims=1)(M), (M * 2).t())
    same(vmap(lambda r: r * 2, out_dims=-1)(M), (M * 2).t())
    same(vmap(lambda a, b: a * b, in_dims=(0, None))(M, M[0]), M * M[0])
    same(vmap(lambda a, b: a @ b, in_dims=(0, 1))(M, M.t()), (M * M).sum(1))
    same(vmap(vmap(lambda v: v * v))(M), M * M)
    same(vmap(vmap(lambda a, b: a * b, (0, None)), (None, 0))(M[0], M[1]), M[1][:, None] * M[0])


def test_containers():
    value = {"a": M, "b": [M[:, 0], 3]}
    out = vmap(
        lambda v: (v["a"].sum() * v["b"][1], {"x": v["b"][0]}), in_dims=({"a": 0, "b": [0, None]},)
    )(value)
    same(out[0], M.sum(1) * 3)
    same(out[1]["x"], M[:, 0])
    out = vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(M)
    same(out[0], M.t())
    same(out[1], M.sum(1))
    same(vmap(lambda a, k: a * k, in_dims=(0, None))(M, 2), M * 2)
    same(vmap(lambda a, *, k: a * k)(M, k=3), M * 3)
    same(vmap(lambda a: M[0], out_dims=None)(M), M[0])


def test_empty_batches_and_chunks():
    assert vmap(lambda r: r.sum())(M[:0]).shape == (0,)
    assert vmap(lambda r: r * 2, out_dims=1)(M[:0]).shape == (3, 0)
    same(vmap(pyburn.sum, chunk_size=1)(M), M.sum(1))


def test_gradients_flow():
    x = M.clone().requires_grad_()
    vmap(lambda r: (r**2).sum())(x).sum().backward()
    same(x.grad, 2 * M)


def test_writes_reach_the_batch():
    x = M.clone()
    vmap(lambda r: r.add_(1))(x)
    same(x, M + 1)


def test_randomness():
    pyburn.manual_seed(0)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda r: r + pyburn.rand(3))(M)
    same_rows = vmap(lambda r: pyburn.rand(3), randomness="same")(M)
    same(same_rows[0], same_rows[1])
    rows = vmap(lambda r: pyburn.rand(3), randomness="different")(M)
    assert not pyburn.equal(rows[0], rows[1])
    with pytest.raises(RuntimeError, match="must be 'error', 'different' or 'same'"):
        vmap(pyburn.sum, randomness="none")


WRONG = {
    "no arguments": (lambda: vmap(lambda: M)(), ValueError, "at least one positional"),
    "sizes": (lambda: vmap(lambda a, b: a)(M, M[0]), ValueError, "2 and 3"),
    "dimension": (lambda: vmap(pyburn.sum, in_dims=2)(M), ValueError, "has 2 dimensions"),
    "number": (lambda: vmap(lambda a, b: a)(M, 3), ValueError, "None for what is no tensor"),
    "nothing mapped": (lambda: vmap(pyburn.sum, in_dims=None)(M), ValueError, "at least one input"),
    "structure": (lambda: vmap(lambda a, b: a, in_dims=(0,))(M, M), ValueError, "in_dims must be"),
    "text": (lambda: vmap(pyburn.sum, in_dims="a")(M), ValueError, "in_dims must be"),
    "output": (lambda: vmap(lambda a: a.sum().item())(M), ValueError, "only return tensors"),
    "out_dims": (lambda: vmap(pyburn.sum, out_dims=1)(M), IndexError, "out_dims"),
    "out structure": (lambda: vmap(pyburn.sum, out_dims=(0, 0))(M), ValueError, "out_dims must"),
    "out None": (lambda: vmap(pyburn.sum, out_dims=None)(M), ValueError, "differs"),
    "chunk": (lambda: vmap(pyburn.sum, chunk_size=0), ValueError, "chunk_size"),
    "shapes": (lambda: vmap(lambda a: a[: int(a[0]) + 1])(M), RuntimeError, "stack"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name):
    call, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        call()
