"""The rows of the op suite on another device, beside the CPU.

The device is named by PYBURN_TEST_DEVICE. Each row runs its first samples only: the first call of
a kernel is compiled on the device, which takes seconds on a software adapter.
"""

from __future__ import annotations

import inspect
import math
import os
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pyburn as pb
import pytest
from device_exclusions import EXCLUDED, NEEDS
from helpers import DEVICE, leaves, name_of, to_numpy
from ops.row import COMPLEX, Call, Row
from ops.runner import find, on_device, tensors
from ops.specs import ROWS
from ops.specs.random import LAWS, Law

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        "PYBURN_TEST_DEVICE" not in os.environ, reason="PYBURN_TEST_DEVICE names no device"
    ),
]

SAMPLES = 2
ORDER = ("float32", "int32", "bool", "int64", "complex64")
"""The dtype of a row's samples: the first of these that it takes."""
ROOM = 1e-4
"""Kernels of a device may order sums and round functions in their own way."""
NARROW = {"float64": "float32", "int64": "int32", "complex128": "complex64"}


def _dtype(row: Row) -> str:
    return next(dtype for dtype in (*ORDER, *row.dtypes) if dtype in row.dtypes)


def _samples(row: Row) -> list[Call]:
    """The first calls that do something."""
    found = (
        call
        for call in row.calls(_dtype(row))
        if not call.extreme and all(array.size for array in call.arrays)
    )
    return list(islice(found, SAMPLES))


CASES = [pytest.param(row, id=row.name) for row in ROWS if row.name not in EXCLUDED]


def _arguments(row: Row, call: Call, there: bool) -> tuple[list[Any], dict[str, Any]]:
    args, kwargs = tensors([list(call.args), call.kwargs], _dtype(row))
    if there:
        args, kwargs = on_device(args, DEVICE), on_device(kwargs, DEVICE)
        if not call.arrays and "device" in inspect.signature(find(row.name)).parameters:
            kwargs = kwargs | {"device": DEVICE}
    return args, kwargs


def _refused(row: Row, ran: Counter[str]) -> bool:
    """Whether the device lacks the row's dtype; then every call must be refused by that name."""
    needed = NEEDS.get(row.name)
    if needed is None or pb.backend.supports(DEVICE, needed):
        return False
    for call in _samples(row):
        with pytest.raises((TypeError, RuntimeError), match=needed) as refusal:
            args, kwargs = _arguments(row, call, there=True)
            find(row.name)(*args, **kwargs)
        assert pb.device(DEVICE).type in str(refusal.value)
    ran["calls refused for a dtype the device lacks"] += len(_samples(row))
    return True


def _compare(actual: pb.Tensor, wanted: pb.Tensor, room: float, text: str) -> None:
    assert actual.device.type == pb.device(DEVICE).type, f"{text}: result on {actual.device}"
    ours, theirs = name_of(actual.dtype), name_of(wanted.dtype)
    assert ours in (theirs, NARROW.get(theirs)), f"{text}: dtype {ours}, not {theirs}"
    a, b = to_numpy(actual), to_numpy(wanted)
    assert a.shape == b.shape, f"{text}: shape {a.shape}, not {b.shape}"
    if b.dtype.kind in "fc":
        np.testing.assert_allclose(a, b, rtol=ROOM * room, atol=ROOM * room, err_msg=text)
    else:
        np.testing.assert_array_equal(a, b, err_msg=text)


@pytest.mark.parametrize("row", CASES)
def test_forward(row: Row, ran: Counter[str]) -> None:
    function, calls = find(row.name), _samples(row)
    assert calls, f"{row}: no samples"
    if _refused(row, ran):
        return
    for call in calls:
        args, kwargs = _arguments(row, call, there=False)
        wanted = leaves(function(*args, **kwargs))
        args, kwargs = _arguments(row, call, there=True)
        got = leaves(function(*args, **kwargs))
        assert len(got) == len(wanted)
        for actual, value in zip(got, wanted, strict=True):
            _compare(actual, value, max(1.0, row.room / 8), f"{row.name}({call!r})")
    ran["rows forward on the device"] += 1


DIFFERENTIABLE = [
    case
    for case in CASES
    if case.values[0].grad and _dtype(case.values[0]) in ("float32", *COMPLEX)
]


@pytest.mark.parametrize("row", DIFFERENTIABLE)
def test_backward(row: Row, ran: Counter[str]) -> None:
    """The gradients of a weighted sum of everything that a call gives."""
    if _refused(row, ran):
        return
    for call in _samples(row)[:1]:
        wanted, got = _gradients(row, call, there=False), _gradients(row, call, there=True)
        assert wanted, f"{row}: nothing to differentiate"
        for actual, value in zip(got, wanted, strict=True):
            _compare(actual, value, max(1.0, row.room / 4), f"gradient of {row.name}({call!r})")
    ran["rows backward on the device"] += 1


def _gradients(row: Row, call: Call, there: bool) -> list[pb.Tensor]:
    args, kwargs = _arguments(row, call, there)
    inputs = [
        tensor.detach().requires_grad_()
        for tensor in _tensors_in([args, kwargs])
        if tensor.is_floating_point() or tensor.is_complex()
    ]
    fresh = iter(inputs)
    args, kwargs = _replaced([args, kwargs], fresh)
    total: Any = 0
    for part in leaves(find(row.name)(*args, **kwargs)):
        if isinstance(part, pb.Tensor) and part.requires_grad:
            part = pb.view_as_real(part) if part.is_complex() else part
            size = part.numel()
            weights = pb.linspace(0.5, 1.5, size).reshape(part.shape).to(part.device)
            total = total + (part * weights).sum()
    total.backward()
    return [tensor.grad for tensor in inputs if tensor.grad is not None]


def _tensors_in(value: Any) -> list[pb.Tensor]:
    if isinstance(value, pb.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [tensor for item in value for tensor in _tensors_in(item)]
    return []


def _replaced(value: Any, fresh: Any) -> Any:
    if isinstance(value, pb.Tensor):
        return next(fresh) if value.is_floating_point() or value.is_complex() else value
    if isinstance(value, tuple | list):
        return type(value)(_replaced(item, fresh) for item in value)
    if isinstance(value, dict):
        return {key: _replaced(item, fresh) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=f"{law.name}-{at}")
        for at, law in enumerate(LAWS)
        if law.dtype != "float64"
    ],
)
def test_draws(law: Law, ran: Counter[str]) -> None:
    """What is drawn on the device has the mean that it has elsewhere."""
    before = pb.get_default_device()
    pb.set_default_device(DEVICE)
    try:
        pb.manual_seed(0)
        drawn = law.draw()
    finally:
        pb.set_default_device(before)
    assert drawn.device.type == pb.device(DEVICE).type
    values = to_numpy(drawn).astype(np.float64)
    assert values.shape == law.shape
    assert values.min() >= law.low
    assert values.max() <= law.high
    if not law.heavy:
        assert abs(values.mean() - law.mean) < 5 * law.std / math.sqrt(values.size)
    ran["rows random on the device"] += 1


def test_exclusions_name_rows() -> None:
    names = {row.name for row in ROWS}
    lost = [name for name in EXCLUDED if name not in names]
    assert not lost, f"reasons for nothing: {lost}"
