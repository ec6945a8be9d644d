"""The safetensors format: a JSON header, then the tensors' bytes without gaps.

Layout: 8 bytes of header length, the header, the data. The header maps each name to its dtype,
shape and range of bytes, and ``__metadata__`` to strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pyburn._core import Tensor, dtype
from pyburn._dtypes import (
    bfloat16,
    complex64,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from pyburn._dtypes import bool as bool_

from ._elements import Placement, from_bytes, to_array, too_large
from ._files import Source, atomic

__all__ = ["load", "metadata", "save"]

_NAMES = {
    "BOOL": bool_,
    "U8": uint8,
    "I8": int8,
    "I16": int16,
    "I32": int32,
    "I64": int64,
    "F16": float16,
    "BF16": bfloat16,
    "F32": float32,
    "F64": float64,
    "C64": complex64,
}
_CODES = {kind: name for name, kind in _NAMES.items()}
_FOREIGN = frozenset(
    [
        "F4",
        "F6_E2M3",
        "F6_E3M2",
        "F8_E5M2",
        "F8_E4M3",
        "F8_E8M0",
        "F8_E4M3FNUZ",
        "F8_E5M2FNUZ",
        "U16",
        "U32",
        "U64",
    ]
)
_HEADER_LIMIT = 100_000_000
# The header of this format is two levels deep; anything deeper is not one.
_DEPTH = 4


class _Entry:
    __slots__ = ("begin", "end", "kind", "name", "shape")

    def __init__(
        self, name: str, kind: dtype, shape: tuple[int, ...], begin: int, end: int
    ) -> None:
        self.name, self.kind, self.shape, self.begin, self.end = name, kind, shape, begin, end


def _pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) != len(items):
        seen: set[str] = set()
        for key, _ in items:
            if key in seen:
                raise ValueError(f"the key {key!r} stands twice in one object")
            seen.add(key)
    return found


def _depth(text: str) -> int:
    """How deep brackets nest outside strings."""
    deepest = depth = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _header(source: Source) -> tuple[dict[str, Any], int]:
    """The parsed header, and where the data begins."""
    where = f"load: '{source.name}' is not a valid safetensors file"
    start = source.read(0, 8)
    if len(start) < 8:
        raise ValueError(f"{where}: expected 8 bytes of header length, got {len(start)}")
    size = int.from_bytes(start, "little")
    if size > _HEADER_LIMIT:
        raise ValueError(f"{where}: a header of {size} bytes is over the limit {_HEADER_LIMIT}")
    if 8 + size > source.size:
        raise ValueError(
            f"{where}: the header should end at byte {8 + size}, the file has {source.size}; it is "
            "truncated or of another format"
        )
    try:
        text = source.read(8, size).decode("utf-8")
    except UnicodeDecodeError as fault:
        raise ValueError(f"{where}: the header is not UTF-8 at byte {8 + fault.start}") from None
    if not text.startswith("{"):
        raise ValueError(f"{where}: the header at byte 8 does not begin with '{{'")
    # Counting brackets first keeps Python's parser out of deep recursion.
    if _depth(text) > _DEPTH:
        raise ValueError(f"{where}: the header nests deeper than {_DEPTH} levels")
    try:
        header = json.loads(text, object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"{where}: the header is not valid: {fault}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{where}: the header is not a JSON object")
    return header, 8 + size


def _checked_metadata(header: dict[str, Any], source: Source) -> dict[str, str]:
    notes = header.pop("__metadata__", None)
    if notes is None:
        return {}
    if not isinstance(notes, dict) or not all(isinstance(value, str) for value in notes.values()):
        raise ValueError(
            f"load: '{source.name}' is not a valid safetensors file: __metadata__ must map strings "
            "to strings"
        )
    return notes


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _entries(header: dict[str, Any], source: Source, start: int) -> list[_Entry]:
    """The tensors in the order of the header, every field checked."""
    total = source.size - start
    entries = []
    for name, fields in header.items():
        where = f"load: '{source.name}', tensor {name!r}"
        if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"{where}: expected exactly dtype, shape and data_offsets")
        code, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
        if not isinstance(code, str) or code not in _NAMES:
            if isinstance(code, str) and code in _FOREIGN:
                raise NotImplementedError(f"{where}: dtype {code} does not exist in PyBurn")
            raise ValueError(f"{where}: unknown dtype {code!r}")
        if not isinstance(shape, list) or not all(map(_is_size, shape)):
            raise ValueError(f"{where}: shape must be a list of non-negative sizes, got {shape!r}")
        if not (isinstance(offsets, list) and len(offsets) == 2 and all(map(_is_size, offsets))):
            raise ValueError(f"{where}: data_offsets must be two byte positions, got {offsets!r}")
        begin, end = offsets
        if not begin <= end <= total:
            raise ValueError(
                f"{where}: data_offsets {begin} to {end} do not lie within the file's {total} "
                "bytes of data; it is truncated or damaged"
            )
        if too_large(tuple(shape)):
            raise ValueError(f"{where}: shape {shape} has too many elements")
        count = 1
        for size in shape:
            count *= size
        kind = _NAMES[code]
        if count * kind.itemsize != end - begin:
            raise ValueError(
                f"{where}: shape {shape} of {code} needs {count * kind.itemsize} bytes, "
                f"data_offsets give {end - begin}"
            )
        entries.append(_Entry(name, kind, tuple(shape), begin, end))
    at = 0
    for entry in sorted(entries, key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != at:
            fault = "overlaps another tensor" if entry.begin < at else "leaves a hole before it"
            raise ValueError(
                f"load: '{source.name}', tensor {entry.name!r}: its data at {entry.begin} {fault}, "
                f"which ends at {at}"
            )
        at = entry.end
    if at != total:
        raise ValueError(
            f"load: '{source.name}' has {total} bytes of data of which tensors name {at}"
        )
    return entries


def load(source: Source, placement: Placement) -> dict[str, Tensor]:
    """The tensors of a file by name."""
    header, start = _header(source)
    _checked_metadata(header, source)
    loaded = {}
    for entry in _entries(header, source, start):
        data = source.array(start + entry.begin, entry.end - entry.begin)
        if source.mapped and (start + entry.begin) % min(entry.kind.itemsize, 8):
            data = data.copy()
        what = f"'{source.name}', tensor {entry.name!r}"
        loaded[entry.name] = placement(from_bytes(data, entry.kind, what).reshape(entry.shape))
    return loaded


def metadata(source: Source) -> dict[str, str]:
    """The strings a file carries beside its tensors."""
    return _checked_metadata(_header(source)[0], source)


def save(tensors: Any, file: Any, notes: Mapping[str, str] | None) -> None:
    """Writes tensors by name. Views become tensors of their own."""
    if not isinstance(tensors, Mapping):
        raise TypeError(
            f"save: the safetensors format holds a dict of tensors, got {type(tensors).__name__}; "
            "hint: a .pt file holds nested values"
        )
    header: dict[str, Any] = {}
    if notes:
        for key, value in notes.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise TypeError(
                    f"save: metadata maps strings to strings, got {key!r}: {type(value).__name__}"
                )
        header["__metadata__"] = dict(notes)
    for name, tensor in tensors.items():
        if not isinstance(name, str) or name == "__metadata__":
            raise TypeError(f"save: a tensor's name must be a string, got {name!r}")
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"save: {name!r} must be a tensor in the safetensors format, got "
                f"{type(tensor).__name__}; hint: a .pt file holds nested values"
            )
        if tensor.is_meta:
            raise ValueError(f"save: {name!r} is a meta tensor, it has no elements to save")
        if tensor.dtype not in _CODES:
            raise NotImplementedError(
                f"save: the safetensors format has no {tensor.dtype}, which {name!r} is"
            )
    # Wide elements first: then all of them are aligned in the file.
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    at = 0
    for name in order:
        tensor = tensors[name]
        header[name] = {
            "dtype": _CODES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + tensor.nbytes],
        }
        at += tensor.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _HEADER_LIMIT:
        raise ValueError(f"save: a header of {len(text)} bytes is over the limit {_HEADER_LIMIT}")
    with atomic(file) as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            if tensors[name].numel():
                out.write(to_array(tensors[name]).reshape(-1).view("u1").data)
