"""Each row against its oracle: dtypes, ranks, layouts, edges; every form of a call agrees."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyburn as pb
import pytest
from helpers import (
    LAYOUTS,
    assert_close,
    dtype_of,
    leaves,
    map_arrays,
    name_of,
    plain,
    repeat_first,
    same,
    to_numpy,
)

from ops.row import CATEGORY, HALVES, Call, Row, expected, result_dtypes
from ops.runner import check, describe, find, tensors
from ops.specs import ROWS

CASES = [pytest.param(row, dtype, id=f"{row}-{dtype}") for row in ROWS for dtype in row.dtypes]


@pytest.mark.parametrize(("row", "dtype"), CASES)
def test_values(row: Row, dtype: str, ran: Counter[str]) -> None:
    """The values and the dtype are the oracle's, however the elements lie in memory."""
    function = find(row.name)
    count = 0
    for call in row.calls(dtype):
        for layout, lay in LAYOUTS.items():
            if layout != "plain" and (not row.layouts or dtype in HALVES):
                continue
            if layout == "expanded":
                if not row.expand or call.extreme:
                    continue
                changed = map_arrays([list(call.args), call.kwargs], repeat_first)
                call = Call(tuple(changed[0]), changed[1])
            with np.errstate(all="ignore"):
                wanted = expected(row, call, dtype)
            names = result_dtypes(row, call, dtype, len(wanted))
            args, kwargs = tensors([list(call.args), call.kwargs], dtype, lay)
            check(row, function(*args, **kwargs), wanted, names, describe(row, call, layout))
            count += 1
    assert count, f"{row}: no samples for {dtype}"
    ran["rows forward"] += dtype == row.dtypes[0]
    ran["calls forward"] += count


@pytest.mark.parametrize(("row", "dtype"), CASES)
def test_forms(row: Row, dtype: str) -> None:
    """The method, the in-place method and ``out=`` give what the function gives."""
    if dtype in HALVES:
        pytest.skip("forms do not depend on the width of a float")
    function = find(row.name)
    for call in row.calls(dtype):
        args, kwargs = tensors([list(call.args), call.kwargs], dtype)
        result = function(*args, **kwargs)
        text = describe(row, call)
        takes_self = bool(args) and isinstance(args[0], pb.Tensor)
        if row.method and row.function and takes_self:
            agree(getattr(args[0], row.public)(*args[1:], **kwargs), result, f"{text} method")
        if row.out:
            _check_out(function, args, kwargs, result, text)
        if row.inplace and takes_self:
            for layout in ("plain", "transposed", "stepped"):
                own = plain if not row.layouts else LAYOUTS[layout]
                args, kwargs = tensors([list(call.args), call.kwargs], dtype)
                args[0] = tensors(call.args[0], dtype, own)
                _check_inplace(row, args, kwargs, result, f"{text} in place, {layout}")


def agree(other: Any, result: Any, text: str) -> None:
    ours, theirs = leaves(other), leaves(result)
    assert len(ours) == len(theirs), text
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, pb.Tensor):
            assert a == b or (a != a and b != b), f"{text}: {a!r}, not {b!r}"
            continue
        assert a.dtype == b.dtype, f"{text}: {a.dtype}, not {b.dtype}"
        assert same(to_numpy(a), to_numpy(b)), f"{text}: {a}, not {b}"


def _check_out(function: Any, args: list[Any], kwargs: Any, result: Any, text: str) -> None:
    """Into a tensor of the right shape, into one to be resized, into strided memory."""
    parts = leaves(result)
    for kind in ("right", "resized", "strided"):
        outs = []
        for part in parts:
            if kind == "resized":
                out = pb.empty((0,), dtype=part.dtype)
            elif kind == "strided":
                out = pb.zeros((*part.shape, 2), dtype=part.dtype)[..., 1]
            else:
                out = pb.empty(tuple(part.shape), dtype=part.dtype)
            outs.append(out)
        given = tuple(outs) if isinstance(result, tuple | list) else outs[0]
        returned = function(*args, **kwargs, out=given)
        for part, out, back in zip(parts, outs, leaves(returned), strict=True):
            assert back is out, f"{text} out= ({kind}): another tensor is returned"
            assert same(to_numpy(out), to_numpy(part)), f"{text} out= ({kind}): {out}, not {part}"


def _check_inplace(row: Row, args: list[Any], kwargs: Any, result: Any, text: str) -> None:
    target = args[0]
    in_place = getattr(target, row.public + "_")
    order = [CATEGORY[name_of(kind)] for kind in (result.dtype, target.dtype)]
    # PyTorch does not take the absolute value of complex numbers in place.
    fits = order[0] <= order[1] and not (row.result == "real" and order[1] == 3)
    if row.strict:
        fits = order[0] == order[1] and result.dtype == target.dtype
    if result.shape != target.shape or not fits:
        with pytest.raises(RuntimeError):
            in_place(*args[1:], **kwargs)
        return
    assert in_place(*args[1:], **kwargs) is target, f"{text}: another tensor is returned"
    assert target.dtype == args[0].dtype
    wanted = to_numpy(result.to(dtype_of(name_of(target.dtype))))
    if row.exact:
        assert same(to_numpy(target), wanted), f"{text}: {target}, not {wanted}"
    else:
        assert_close(to_numpy(target), wanted, name_of(target.dtype), row.room, text)


META = [pytest.param(row, id=row.name) for row in ROWS if row.meta]


@pytest.mark.parametrize("row", META)
def test_without_data(row: Row) -> None:
    """On the meta device an op has the shapes and dtypes that it has with data."""
    function = find(row.name)
    dtype = row.dtypes[0]
    for call in row.calls(dtype):
        args, kwargs = tensors([list(call.args), call.kwargs], dtype)
        real = leaves(function(*args, **kwargs))
        args, kwargs = tensors([list(call.args), call.kwargs], dtype, _on_meta)
        for a, b in zip(leaves(function(*args, **kwargs)), real, strict=True):
            text = describe(row, call, "meta")
            assert a.device.type == "meta", f"{text}: result on {a.device}"
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{text}: {a.shape} {a.dtype}"


def _on_meta(array: np.ndarray, dtype: str) -> pb.Tensor:
    return pb.empty(array.shape, dtype=dtype_of(dtype), device="meta")


def _written(row: Row) -> tuple[list[Any], dict[str, Any], np.ndarray] | None:
    """A call that can be made in place on a tensor with two dimensions or more, and its result."""
    dtype = row.dtypes[0]
    for call in row.calls(dtype):
        first = call.args[0] if call.args else None
        if call.extreme or not isinstance(first, np.ndarray):
            continue
        args, kwargs = tensors([list(call.args), call.kwargs], dtype)
        result = find(row.name)(*args, **kwargs)
        fits = result.dtype == args[0].dtype and result.shape == args[0].shape
        if fits and first.ndim > 1 and first.size > 3:
            return args, kwargs, to_numpy(result)
    return None


INPLACE = [pytest.param(row, id=row.name) for row in ROWS if row.inplace]
NOT_WRITTEN = "no sample has a result of the shape and dtype of its first tensor"


@pytest.mark.parametrize("row", INPLACE)
def test_in_place_writes_nothing_else(row: Row) -> None:
    """Through a view the base changes where the view looks, and nowhere else."""
    found = _written(row)
    if found is None:
        pytest.skip(NOT_WRITTEN)
    args, kwargs, wanted = found
    first = args[0]
    base = pb.stack([first, first, first], -1)
    before = to_numpy(base)
    view = base[..., 1]
    getattr(view, row.public + "_")(*args[1:], **kwargs)
    after = to_numpy(base)
    np.testing.assert_allclose(after[..., 1], wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(after[..., [0, 2]], before[..., [0, 2]])


@pytest.mark.parametrize("row", INPLACE)
def test_in_place_refuses_shared_elements(row: Row) -> None:
    """Several elements of an expanded tensor are one in memory: they cannot be written."""
    found = _written(row)
    if found is None:
        pytest.skip(NOT_WRITTEN)
    args, kwargs, _ = found
    target = args[0][:1].clone().expand(args[0].shape)
    with pytest.raises(RuntimeError, match="single memory location|expanded|overlap"):
        getattr(target, row.public + "_")(*args[1:], **kwargs)


def test_the_rows_in_place_are_there() -> None:
    found = [row for row in ROWS if row.inplace and _written(row)]
    assert len(found) > 60
