"""Wrong shapes, dtypes, devices and dimensions: which exception comes, and what it says."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pyburn as pb
import pytest
from helpers import shapes_named

from ops.row import Row
from ops.runner import find, tensors
from ops.specs import BY_NAME, ROWS

A, B = (2, 3), (4,)
BROADCASTING = [row for row in ROWS if row.broadcasts and "float32" in row.dtypes]
TWO = {
    "lerp": lambda f, a, b: f(a, b, 0.5),
    "addcmul": lambda f, a, b: f(a, a, b),
    "addcdiv": lambda f, a, b: f(a, a, b),
    "where": lambda f, a, b: f(pb.ones(1, dtype=pb.bool), a, b),
}


def _two(row: Row, a: pb.Tensor, b: pb.Tensor) -> Any:
    function = find(row.name)
    return TWO.get(row.name, lambda f, a, b: f(a, b))(function, a, b)


@pytest.mark.parametrize("row", BROADCASTING, ids=repr)
def test_shapes_that_do_not_broadcast(row: Row) -> None:
    with pytest.raises(RuntimeError) as caught:
        _two(row, pb.ones(A), pb.ones(B))
    assert shapes_named(str(caught.value), [A, B]), str(caught.value)


@pytest.mark.parametrize("row", BROADCASTING, ids=repr)
def test_devices_that_differ(row: Row) -> None:
    with pytest.raises(RuntimeError) as caught:
        _two(row, pb.ones(A), pb.ones(A, device="meta"))
    assert "cpu" in str(caught.value)
    assert "meta" in str(caught.value)


@pytest.mark.parametrize("row", [row for row in ROWS if row.inplace and row.broadcasts], ids=repr)
def test_in_place_does_not_grow(row: Row) -> None:
    if row.name in TWO or row.strict or "float32" not in row.dtypes:
        pytest.skip("takes more tensors, or not these dtypes")
    with pytest.raises(RuntimeError) as caught:
        getattr(pb.ones(3), row.name + "_")(pb.ones(A))
    assert shapes_named(str(caught.value), [(3,), A]), str(caught.value)


# Each entry: what is called, the class, and words that the message must have.
x, square = pb.ones(A), pb.ones(3, 3)
index = pb.tensor([0, 1])
Kinds = type[Exception] | tuple[type[Exception], ...]
WRONG: dict[str, tuple[Callable[[], Any], Kinds, tuple[str, ...]]] = {
    # Reductions.
    "sum dim": (lambda: x.sum(2), IndexError, ("sum", "[-2, 1]", "2")),
    "mean dim": (lambda: x.mean(-3), IndexError, ("mean", "[-2, 1]")),
    "mean of ints": (lambda: pb.tensor([1, 2]).mean(), RuntimeError, ("mean", "int64")),
    "amax of nothing": (lambda: pb.ones(0).amax(), (RuntimeError, IndexError), ("amax",)),
    "max of nothing": (lambda: pb.ones(0).max(), RuntimeError, ("max",)),
    "argmax of nothing": (lambda: pb.ones(0, 2).argmax(0), IndexError, ("argmax",)),
    "dim twice": (lambda: x.sum((0, 0)), RuntimeError, ("dim",)),
    "var dim": (lambda: x.var(5), IndexError, ("[-2, 1]",)),
    "quantile bounds": (lambda: x.quantile(1.5), RuntimeError, ("quantile",)),
    "cumsum dim": (lambda: x.cumsum(2), IndexError, ("[-2, 1]",)),
    "softmax dim": (lambda: x.softmax(4), IndexError, ("[-2, 1]",)),
    "logsumexp dim": (lambda: x.logsumexp(2), IndexError, ("[-2, 1]",)),
    # Movement.
    "reshape": (lambda: x.reshape(4, 2), RuntimeError, ("[2, 3]", "[4, 2]")),
    "reshape -1": (lambda: x.reshape(-1, 4), RuntimeError, ("[2, 3]", "[-1, 4]")),
    "two -1": (lambda: x.reshape(-1, -1), RuntimeError, ("-1",)),
    "view": (lambda: x.view(5), RuntimeError, ("[2, 3]", "[5]")),
    "view of strides": (lambda: x.t().view(6), RuntimeError, ("view", "reshape")),
    "permute": (lambda: x.permute(0, 0), RuntimeError, ("permute",)),
    "permute rank": (lambda: x.permute(0, 1, 2), RuntimeError, ("permute",)),
    "transpose": (lambda: x.transpose(0, 2), IndexError, ("[-2, 1]",)),
    "t of three": (lambda: pb.ones(2, 2, 2).t(), RuntimeError, ("t",)),
    "expand": (lambda: x.expand(4, 3), RuntimeError, ("[2, 3]", "[4, 3]")),
    "broadcast_to": (lambda: pb.broadcast_to(x, (5, 4)), RuntimeError, ("[2, 3]", "[5, 4]")),
    "squeeze": (lambda: x.squeeze(3), IndexError, ("[-2, 1]",)),
    "unsqueeze": (lambda: x.unsqueeze(4), IndexError, ("[-3, 2]",)),
    "flatten": (lambda: x.flatten(1, 0), RuntimeError, ("flatten",)),
    "unflatten": (lambda: x.unflatten(1, (2, 2)), RuntimeError, ("unflatten",)),
    "narrow": (lambda: x.narrow(0, 1, 5), RuntimeError, ("narrow",)),
    "select": (lambda: x.select(0, 2), IndexError, ("select", "2")),
    "cat shapes": (lambda: pb.cat([x, pb.ones(2, 2)]), RuntimeError, ("cat", "[2, 3]", "[2, 2]")),
    "cat ranks": (lambda: pb.cat([x, pb.ones(2)]), RuntimeError, ("cat",)),
    "cat of nothing": (lambda: pb.cat([]), (RuntimeError, ValueError), ("cat",)),
    "stack": (lambda: pb.stack([x, square]), RuntimeError, ("stack", "[2, 3]", "[3, 3]")),
    "chunk": (lambda: x.chunk(0), RuntimeError, ("chunk",)),
    "split": (lambda: x.split([1, 5], 1), RuntimeError, ("split",)),
    "flip": (lambda: x.flip(2), IndexError, ("[-2, 1]",)),
    "roll": (lambda: x.roll((1, 2), (0,)), RuntimeError, ("roll",)),
    "diagonal": (lambda: pb.ones(2).diagonal(), (RuntimeError, IndexError), ()),
    "movedim": (lambda: x.movedim((0, 1), (0,)), RuntimeError, ("movedim",)),
    # Indexing.
    "index": (lambda: x[2], IndexError, ("2",)),
    "too many": (lambda: x[0, 0, 0], IndexError, ("too many",)),
    "index list": (lambda: x[[0, 5]], IndexError, ("5",)),
    "mask shape": (lambda: x[pb.ones(3, dtype=pb.bool)], IndexError, ("[3]", "[2, 3]")),
    "float index": (lambda: x[pb.ones(2)], IndexError, ("indices", "float32")),
    "set shape": (lambda: x.clone().__setitem__(0, pb.ones(2)), RuntimeError, ("[2]", "[3]")),
    "gather rank": (lambda: x.gather(0, index), RuntimeError, ("gather",)),
    "gather bounds": (
        lambda: x.gather(0, pb.tensor([[7, 0, 0]])),
        (RuntimeError, IndexError),
        ("7",),
    ),
    "gather dtype": (lambda: x.gather(0, pb.ones(1, 3)), RuntimeError, ("gather", "int64")),
    "index_select": (lambda: x.index_select(0, pb.tensor([3])), IndexError, ("3",)),
    "index_add": (lambda: x.index_add(0, index, pb.ones(3, 3)), (RuntimeError, IndexError), ()),
    "scatter": (
        lambda: x.scatter(0, pb.tensor([[9, 0, 0]]), 1.0),
        (RuntimeError, IndexError),
        ("9",),
    ),
    "take": (lambda: x.take(pb.tensor([6])), IndexError, ("6",)),
    "masked_select": (lambda: x.masked_select(pb.ones(2, 3)), RuntimeError, ("bool",)),
    "masked_fill shape": (
        lambda: x.masked_fill(pb.ones(4, dtype=pb.bool), 1),
        RuntimeError,
        ("[2, 3]", "[4]"),
    ),
    # Order.
    "sort dim": (lambda: x.sort(2), IndexError, ("[-2, 1]",)),
    "topk k": (lambda: x.topk(4), RuntimeError, ("topk",)),
    "kthvalue k": (lambda: x.kthvalue(4), RuntimeError, ("kthvalue",)),
    "bincount": (lambda: pb.tensor([-1]).bincount(), RuntimeError, ("bincount",)),
    "searchsorted": (
        lambda: pb.searchsorted(pb.ones(2, 3), pb.ones(3, 1)),
        RuntimeError,
        ("[2, 3]", "[3, 1]"),
    ),
    # Products.
    "matmul": (lambda: x @ x, RuntimeError, ("matmul", "[2, 3]")),
    "matmul batch": (
        lambda: pb.ones(2, 2, 3) @ pb.ones(3, 3, 2),
        RuntimeError,
        ("[2, 2, 3]", "[3, 3, 2]"),
    ),
    "mm rank": (lambda: pb.mm(x, pb.ones(3)), RuntimeError, ("mm",)),
    "mm": (lambda: pb.mm(x, pb.ones(4, 2)), RuntimeError, ("2x3", "4x2")),
    "bmm": (lambda: pb.bmm(pb.ones(2, 2, 3), pb.ones(2, 2, 3)), RuntimeError, ("[2, 2, 3]",)),
    "mv": (lambda: pb.mv(x, pb.ones(2)), RuntimeError, ("2x3", "[2]")),
    "dot": (lambda: pb.dot(pb.ones(2), pb.ones(3)), RuntimeError, ("[2]", "[3]")),
    "dtypes": (lambda: x @ pb.ones(3, 2, dtype=pb.float64), RuntimeError, ("float32", "float64")),
    "addmm": (lambda: pb.addmm(pb.ones(5, 5), x, square), RuntimeError, ("[5, 5]", "[2, 3]")),
    "einsum": (lambda: pb.einsum("ij,jk->ik", x, x), RuntimeError, ("[2, 3]",)),
    "inverse": (lambda: pb.inverse(x), RuntimeError, ("2 by 3",)),
    "singular": (lambda: pb.inverse(pb.zeros(2, 2)), pb.LinAlgError, ("singular",)),
    "cholesky": (lambda: pb.cholesky(-pb.eye(2)), pb.LinAlgError, ("positive",)),
    # Dtypes.
    "bits of floats": (lambda: x & x, RuntimeError, ("float32",)),
    "ints from floats in place": (
        lambda: pb.ones(2, dtype=pb.int64).add_(0.5),
        RuntimeError,
        ("float32", "int64"),
    ),
    "neg of bools": (lambda: -pb.ones(2, dtype=pb.bool), RuntimeError, ("bool",)),
    "sub of bools": (
        lambda: pb.ones(2, dtype=pb.bool) - pb.ones(2, dtype=pb.bool),
        RuntimeError,
        ("bool",),
    ),
    "gcd of floats": (lambda: pb.gcd(x, x), RuntimeError, ("gcd", "float32")),
    "order of complex": (lambda: pb.ones(2, dtype=pb.complex64) < 1, RuntimeError, ("complex64",)),
    "gradient of ints": (lambda: pb.ones(2, dtype=pb.int64).requires_grad_(), RuntimeError, ()),
    "division by zero": (lambda: pb.tensor([1]) // 0, (RuntimeError, ZeroDivisionError), ()),
    # Creation.
    "negative size": (lambda: pb.zeros(-1), RuntimeError, ("-1",)),
    "ragged": (lambda: pb.tensor([[1, 2], [3]]), ValueError, ()),
    "unknown dtype": (lambda: pb.zeros(2, dtype="float31"), (TypeError, ValueError), ("float31",)),
    "unknown device": (lambda: pb.zeros(2, device="tpu"), RuntimeError, ("tpu",)),
    "step 0": (lambda: pb.arange(0, 3, 0), RuntimeError, ("step",)),
    "linspace steps": (lambda: pb.linspace(0, 1, -1), RuntimeError, ("steps",)),
    "full of text": (lambda: pb.full((2,), "a"), TypeError, ()),
    "tensor of text": (lambda: pb.tensor("abc"), (TypeError, ValueError), ()),
    # Random.
    "multinomial": (
        lambda: pb.multinomial(pb.ones(3), 4),
        RuntimeError,
        ("multinomial", "n_sample", "replacement"),
    ),
    "bernoulli": (lambda: pb.bernoulli(pb.full((2,), 2.0)), RuntimeError, ()),
    "randint": (lambda: pb.randint(5, 2, (3,)), RuntimeError, ()),
    "normal": (lambda: pb.normal(0.0, -1.0, (3,)), RuntimeError, ()),
    # out=.
    "out dtype": (
        lambda: pb.add(x, x, out=pb.empty(2, 3, dtype=pb.int64)),
        RuntimeError,
        ("float32", "int64"),
    ),
    "out gradient": (
        lambda: pb.add(x.requires_grad_(False), x, out=pb.ones(A, requires_grad=True)),
        RuntimeError,
        ("out",),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_call(name: str) -> None:
    call, kind, words = WRONG[name]
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert text, "the message is empty"
    assert "internal error" not in text
    flat = text.replace("(", "[").replace(")", "]")
    missing = [word for word in words if word not in flat]
    assert not missing, f"{missing} not in: {text}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.inplace], ids=repr)
def test_a_leaf_that_wants_a_gradient_is_not_written(row: Row) -> None:
    if not row.grad or row.strict or "float32" not in row.dtypes:
        pytest.skip("has no gradient, or not in float32")
    call = next(
        call
        for call in row.calls("float32")
        if call.args and isinstance(call.args[0], np.ndarray) and call.args[0].dtype.kind == "f"
    )
    args, kwargs = tensors([list(call.args), call.kwargs], "float32")
    args[0].requires_grad_()
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(args[0], row.public + "_")(*args[1:], **kwargs)


def _with_dim(row: Row) -> tuple[Callable[..., Any], dict[str, Any]] | None:
    """A call of a row that names a dimension, by the names of its parameters."""
    function = find(row.name)
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    if "dim" not in signature.parameters or row.result == "value":
        return None
    dtype = row.dtypes[0]
    for call in row.calls(dtype):
        bound = signature.bind(*tensors(list(call.args), dtype), **tensors(call.kwargs, dtype))
        if isinstance(bound.arguments.get("dim"), int):
            return function, bound.arguments
    return None


@pytest.mark.parametrize("row", ROWS, ids=repr)
@pytest.mark.parametrize("dim", [77, -78])
def test_a_dimension_that_is_not_there(row: Row, dim: int) -> None:
    found = _with_dim(row)
    if found is None:
        pytest.skip("names no dimension")
    function, arguments = found
    with pytest.raises(IndexError) as caught:
        function(**(arguments | {"dim": dim}))
    assert str(dim) in str(caught.value), str(caught.value)


def test_the_families_are_there() -> None:
    assert len(BROADCASTING) > 30
    assert sum(_with_dim(row) is not None for row in ROWS) > 50
    assert set(TWO) <= set(BY_NAME)
