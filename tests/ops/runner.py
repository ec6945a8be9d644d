"""Calling a row: arguments made into tensors, the function found, results compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyburn as pb
from helpers import assert_close, leaves, map_arrays, name_of, plain, to_numpy

from ops.row import HALVES, Call, Row


def find(name: str) -> Callable[..., Any]:
    """The public function or method of a name."""
    if name.startswith("Tensor."):
        return getattr(pb.Tensor, name.removeprefix("Tensor."))
    found: Any = pb
    for part in name.split("."):
        found = getattr(found, part)
    return found


def tensors(value: Any, dtype: str, layout: Callable[[np.ndarray, str], pb.Tensor] = plain) -> Any:
    """A nest of arguments with tensors in place of arrays."""

    def make(array: np.ndarray) -> pb.Tensor:
        name = str(array.dtype)
        if dtype in HALVES and array.dtype.kind == "f":
            name = dtype
        return layout(array, name)

    return map_arrays(value, make)


def on_device(value: Any, device: Any) -> Any:
    """A nest of arguments with its tensors on a device."""
    if isinstance(value, pb.Tensor):
        return value.to(device)
    if isinstance(value, tuple | list):
        return type(value)(on_device(item, device) for item in value)
    if isinstance(value, dict):
        return {key: on_device(item, device) for key, item in value.items()}
    return value


def check(row: Row, result: Any, wanted: list[Any], names: list[str], text: str) -> None:
    """Fail when a result differs from what is expected in dtype, shape or values."""
    got = leaves(result)
    assert len(got) == len(wanted), f"{text}: {len(got)} results, not {len(wanted)}"
    for actual, value, name in zip(got, wanted, names, strict=True):
        if name == "value":
            assert actual == value, f"{text}: {actual!r}, not {value!r}"
            continue
        assert isinstance(actual, pb.Tensor), f"{text}: a {type(actual).__name__}, not a tensor"
        assert name_of(actual.dtype) == name, f"{text}: dtype {actual.dtype}, not {name}"
        assert_close(to_numpy(actual), value, name, row.room, text)


def describe(row: Row, call: Call, layout: str = "plain") -> str:
    return f"{row.name}({call!r}) [{layout}]"
