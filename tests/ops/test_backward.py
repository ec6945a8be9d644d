"""Gradients, and gradients of gradients, beside differences of function values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyburn as pb
import pytest
from helpers import LAYOUTS, leaves, map_arrays, plain, to_numpy

from ops.row import Call, Row
from ops.runner import describe, find
from ops.specs import ROWS

CASES = [
    pytest.param(row, dtype, id=f"{row}-{dtype}")
    for row in ROWS
    if row.grad
    for dtype in row.grad_dtypes
]
LARGEST = 36
"""Elements of a sample: a difference is taken for each of them."""


def samples(row: Row, dtype: str) -> list[Call]:
    """The first few calls with something to differentiate, no edges."""
    kinds = "c" if dtype.startswith("complex") else "f"
    found = []
    for call in row.calls(dtype):
        floats = [array for array in call.arrays if array.dtype.kind == kinds]
        count = sum(array.size for array in floats)
        if not call.extreme and 0 < count <= LARGEST:
            found.append(call)
    # From the whole list, not from its start: later samples have rarer arguments.
    step = max(1, -(-len(found) // row.grad_samples))
    return found[::step]


def differentiable_arguments(call: Call, inputs: tuple[pb.Tensor, ...]) -> Any:
    """The arguments of a call with tensors in the places of its floating-point arrays."""
    rest = iter(inputs)

    def place(array: np.ndarray) -> pb.Tensor:
        return next(rest) if array.dtype.kind in "fc" else plain(array, str(array.dtype))

    return map_arrays([list(call.args), call.kwargs], place)


def differentiable(row: Row, call: Call) -> tuple[Callable[..., Any], list[pb.Tensor]]:
    """The call as a function of its floating-point tensors, and these."""
    floats = [array for array in call.arrays if array.dtype.kind in "fc"]
    inputs = [plain(array, str(array.dtype)).requires_grad_() for array in floats]
    function = find(row.name)

    def of(*tensors: pb.Tensor) -> Any:
        args, kwargs = differentiable_arguments(call, tensors)
        result = leaves(function(*args, **kwargs))
        return tuple(part for part in result if _is_differentiable(part))

    return of, inputs


def _is_differentiable(part: Any) -> bool:
    return isinstance(part, pb.Tensor) and (part.is_floating_point() or part.is_complex())


@pytest.mark.parametrize(("row", "dtype"), CASES)
def test_gradient(row: Row, dtype: str, ran: Counter[str]) -> None:
    chosen = samples(row, dtype)
    assert chosen, f"{row}: no sample has a gradient"
    for call in chosen:
        function, inputs = differentiable(row, call)
        try:
            assert pb.autograd.gradcheck(function, tuple(inputs))
        except Exception as error:
            raise AssertionError(f"{describe(row, call)}: {error}") from error
        ran["calls backward"] += 1
    ran["rows backward"] += dtype == row.grad_dtypes[0]


TWICE = [case for case in CASES if case.values[0].grad == 2]


@pytest.mark.parametrize(("row", "dtype"), TWICE)
def test_gradient_of_gradient(row: Row, dtype: str, ran: Counter[str]) -> None:
    for call in samples(row, dtype)[:2]:
        function, inputs = differentiable(row, call)
        try:
            assert pb.autograd.gradgradcheck(function, tuple(inputs))
        except Exception as error:
            raise AssertionError(f"{describe(row, call)}: {error}") from error
    ran["rows backward twice"] += dtype == row.grad_dtypes[0]


def _gradients(row: Row, call: Call, of: Callable[..., Any], inputs: list[pb.Tensor]) -> list[Any]:
    """The gradients of a weighted sum of what the call gives."""
    total: Any = 0
    for part in of(*inputs):
        if part.requires_grad:
            part = pb.view_as_real(part) if part.is_complex() else part
            weights = pb.linspace(0.5, 1.5, part.numel(), dtype=part.dtype)
            total = total + (part * weights.reshape(part.shape)).sum()
    return [
        to_numpy(grad) if grad is not None else None
        for grad in pb.autograd.grad(total, inputs, allow_unused=True)
    ]


def _same(ours: list[Any], theirs: list[Any], text: str) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert (a is None) == (b is None), text
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=text)


LAID_OUT = [case for case in CASES if case.values[0].layouts]


@pytest.mark.parametrize(("row", "dtype"), LAID_OUT)
def test_gradient_of_strided_inputs(row: Row, dtype: str) -> None:
    """However inputs lie in memory, the gradients are those of contiguous ones."""
    for call in samples(row, dtype):
        function, inputs = differentiable(row, call)
        wanted = _gradients(row, call, function, inputs)
        for layout in ("transposed", "stepped"):
            laid = [
                LAYOUTS[layout](to_numpy(tensor), dtype).detach().requires_grad_()
                for tensor in inputs
            ]
            got = _gradients(row, call, function, laid)
            _same(got, wanted, describe(row, call, layout))


# The result of abs is real, so that complex numbers are not replaced by it.
IN_PLACE = [case for case in CASES if case.values[0].inplace and case.id != "abs-complex128"]


@pytest.mark.parametrize(("row", "dtype"), IN_PLACE)
def test_gradient_in_place(row: Row, dtype: str, ran: Counter[str]) -> None:
    """Written over a copy, or over a view of one, gradients are those of the function."""
    count = 0
    for call in samples(row, dtype):
        function, inputs = differentiable(row, call)
        result = function(*inputs)[0]
        first = call.args[0]
        fits = isinstance(first, np.ndarray) and first.dtype.kind in "fc"
        if not fits or result.shape != inputs[0].shape or result.dtype != inputs[0].dtype:
            continue
        wanted = _gradients(row, call, function, inputs)

        def written(
            copy: Callable[[pb.Tensor], pb.Tensor], call: Call = call
        ) -> Callable[..., Any]:
            def of(*tensors: pb.Tensor) -> Any:
                args, kwargs = differentiable_arguments(call, tensors)
                target = copy(args[0])
                getattr(target, row.public + "_")(*args[1:], **kwargs)
                return (target,)

            return of

        for name, copy in (("copy", pb.clone), ("view", _view_of_copy)):
            got = _gradients(row, call, written(copy), inputs)
            _same(got, wanted, f"{describe(row, call)} in place over a {name}")
        count += 1
    assert count, f"{row}: no sample can be written in place"
    ran["rows backward in place"] += dtype == row.grad_dtypes[0]


def _view_of_copy(tensor: pb.Tensor) -> pb.Tensor:
    """A part of a larger tensor, with the tensor's values."""
    return pb.stack([tensor, tensor])[1]
