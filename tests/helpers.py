"""What the tests share: the device under test, layouts, and comparing tensors with arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyburn as pb

DEVICE = os.environ.get("PYBURN_TEST_DEVICE", "cpu")
"""The device that the op suite runs on: ``make test-gpu`` names another one."""

ROOM = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-12}
"""The relative difference that results of a dtype may have; a row may ask for a multiple of it."""

NARROW = {"float64": "float32", "complex128": "complex64"}


def name_of(dtype: Any) -> str:
    """The name of a dtype of PyBurn without the package."""
    return repr(dtype).rpartition(".")[2]


def dtype_of(name: str) -> Any:
    return getattr(pb, name)


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype that holds values of a dtype; NumPy has no bfloat16."""
    return np.dtype("float32" if name == "bfloat16" else name)


def real_of(name: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(name, name)


def to_numpy(tensor: pb.Tensor) -> np.ndarray:
    tensor = tensor.detach().cpu()
    if tensor.dtype == pb.bfloat16:
        tensor = tensor.to(pb.float32)
    return np.array(tensor.numpy())


def assert_close(
    actual: np.ndarray, expected: np.ndarray, dtype: str, room: float = 1.0, text: str = ""
) -> None:
    """Fail when arrays differ by more than results of ``dtype`` may; NaNs are equal."""
    assert actual.shape == expected.shape, f"{text}: shape {actual.shape}, not {expected.shape}"
    rtol = ROOM.get(real_of(dtype), 0.0) * room
    if rtol == 0.0:
        np.testing.assert_array_equal(actual, expected, err_msg=text)
        return
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol, err_msg=text)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays are equal in shape and every bit that matters (all NaNs are one)."""
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    )


# Layouts: the same elements, lying differently in memory.


def plain(array: np.ndarray, dtype: str) -> pb.Tensor:
    return pb.tensor(np.ascontiguousarray(array).reshape(array.shape), dtype=dtype_of(dtype))


def transposed(array: np.ndarray, dtype: str) -> pb.Tensor:
    """Strides in the opposite order."""
    back = tuple(reversed(range(array.ndim)))
    return plain(array.transpose(back), dtype).permute(back)


def stepped(array: np.ndarray, dtype: str) -> pb.Tensor:
    """Every second element of a larger tensor, not from its start."""
    if array.ndim == 0:
        return plain(np.stack([array, array]), dtype)[1]
    wide = np.repeat(array, 2, axis=-1)
    return (
        plain(np.concatenate([wide[:1], wide]), dtype)[1:, ..., ::2]
        if (array.ndim > 1)
        else plain(wide, dtype)[1::2]
    )


def flipped(array: np.ndarray, dtype: str) -> pb.Tensor:
    """Read from an array that NumPy walks backwards, then turned round."""
    if array.ndim == 0:
        return plain(array, dtype)
    return pb.tensor(array[::-1], dtype=dtype_of(dtype)).flip(0)


def expanded(array: np.ndarray, dtype: str) -> pb.Tensor:
    """A first row repeated without being copied: see :func:`repeat_first`."""
    if array.ndim == 0 or array.shape[0] < 2:
        return plain(array, dtype)
    return plain(array[:1], dtype).expand(array.shape)


def repeat_first(array: np.ndarray) -> np.ndarray:
    """The values that the ``expanded`` layout of an array has."""
    if array.ndim == 0 or array.shape[0] < 2:
        return array
    return np.broadcast_to(array[:1], array.shape)


LAYOUTS: dict[str, Callable[[np.ndarray, str], pb.Tensor]] = {
    "plain": plain,
    "transposed": transposed,
    "stepped": stepped,
    "flipped": flipped,
    "expanded": expanded,
}


def map_arrays(value: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """A nest of arguments with each array in it changed."""
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, tuple):
        return tuple(map_arrays(item, change) for item in value)
    if isinstance(value, list):
        return [map_arrays(item, change) for item in value]
    if isinstance(value, dict):
        return {key: map_arrays(item, change) for key, item in value.items()}
    return value


def arrays_in(value: Any) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    map_arrays(value, found.append)
    return found


def leaves(result: Any) -> list[Any]:
    """The tensors and values of a result, in order."""
    if isinstance(result, tuple | list):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def shapes_named(text: str, shapes: Sequence[Sequence[int]]) -> bool:
    """Whether each of the shapes is written in a message: [2, 3], (2, 3) or 2x3."""
    flat = text.replace("(", "[").replace(",)", "]").replace(")", "]")
    return all(
        str(list(shape)) in flat or (len(shape) > 1 and "x".join(map(str, shape)) in flat)
        for shape in shapes
    )
