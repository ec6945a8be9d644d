"""NumPy's formats: one array (``.npy``) and a zip archive of them by name (``.npz``)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import bfloat16
from pyburn._dtypes import bool as bool_

from ._elements import Placement, to_array, too_large
from ._files import Source, atomic, fill
from ._zip import Archive

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MAGIC", "load_npy", "load_npz", "save_npy", "save_npz"]

MAGIC = b"\x93NUMPY"
_HEADER_LIMIT = 65_536
_TYPES = frozenset(["b1", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])


def _header(read: Any, where: str) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    """Element type, column order, shape and the header's length; ``read`` gives the next bytes."""
    start = read(8)
    if len(start) < 8 or start[:6] != MAGIC:
        raise ValueError(f"{where}: expected a .npy header at byte 0; truncated or another format")
    major = start[6]
    if major not in (1, 2, 3):
        raise ValueError(f"{where}: unknown version {major}.{start[7]} of the .npy format")
    wide = 2 if major == 1 else 4
    length = read(wide)
    size = int.from_bytes(length, "little")
    if size > _HEADER_LIMIT:
        raise ValueError(f"{where}: a header of {size} bytes is over the limit {_HEADER_LIMIT}")
    raw = read(size)
    if len(length) < wide or len(raw) < size:
        raise ValueError(f"{where}: it ends within its header; truncated")
    import numpy as np

    try:
        text = raw.decode("utf-8" if major == 3 else "latin-1")
        # A header is a dictionary with one tuple in it: no more brackets, no deep parse.
        if sum(map(text.count, "([{")) > 2:
            raise ValueError("it describes a structure, not one array of numbers")
        header = ast.literal_eval(text.strip())
        if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
            raise ValueError("expected exactly descr, fortran_order and shape")
        code, order, shape = header["descr"], header["fortran_order"], header["shape"]
        if not isinstance(code, str) or not isinstance(order, bool):
            raise ValueError("descr must be a string and fortran_order a bool")
        if not (
            isinstance(shape, tuple)
            and all(type(size) is int and 0 <= size < 2**63 for size in shape)
        ):
            raise ValueError("shape must be a tuple of sizes")
        if too_large(shape):
            raise ValueError(f"shape {shape} has too many elements")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as fault:
        raise ValueError(f"{where}: the header is not valid: {fault}") from None
    if "O" in code:
        raise ValueError(f"{where}: it holds pickled Python objects, which are never loaded")
    if code[:1] not in ("<", ">", "|", "=") or code[1:] not in _TYPES:
        raise NotImplementedError(f"{where}: elements of type '{code}' do not exist in PyBurn")
    return np.dtype(code), order, shape, 8 + wide + size


def _tensor(
    data: np.ndarray[Any, Any],
    kind: np.dtype[Any],
    columns: bool,
    shape: tuple[int, ...],
    where: str,
) -> Tensor:
    if kind.kind == "b" and data.size and data.max() > 1:
        raise ValueError(f"{where}: it is bool and has bytes other than 0 and 1")
    values = data.view(kind)
    if not kind.isnative:
        values = values.astype(kind.newbyteorder("="))
    return _core._from_array(values.reshape(shape, order="F" if columns else "C"))


def _expected(kind: np.dtype[Any], shape: tuple[int, ...]) -> int:
    size = int(kind.itemsize)
    for extent in shape:
        size *= extent
    return size


def load_npy(source: Source, placement: Placement) -> Tensor:
    """The array of a file."""
    where = f"load: '{source.name}'"
    source.handle.seek(0)
    kind, columns, shape, start = _header(source.handle.read, where)
    size = _expected(kind, shape)
    if start + size != source.size:
        raise ValueError(
            f"{where}: an array of shape {list(shape)} should end at byte {start + size}, the file "
            f"has {source.size}"
        )
    data = source.array(start, size)
    return placement(_tensor(data, kind, columns, shape, where))


def load_npz(source: Source, archive: Archive, placement: Placement) -> dict[str, Tensor]:
    """The arrays of an archive by name."""
    loaded: dict[str, Tensor] = {}
    for record in archive.records.values():
        name = record.filename.removesuffix(".npy")
        where = f"load: '{source.name}', array {name!r}"
        if name == record.filename:
            raise ValueError(f"load: '{source.name}': the member {name!r} is not an array (.npy)")
        with archive.open(record) as stream:
            try:
                kind, columns, shape, start = _header(stream.read, where)
                size = _expected(kind, shape)
                if start + size != record.file_size:
                    raise ValueError(
                        f"{where}: an array of shape {list(shape)} should end at byte "
                        f"{start + size}, it has {record.file_size}"
                    )
                import numpy as np

                data = np.empty(size, dtype="u1")
                read = fill(stream, data)
                # Reading past the end makes zipfile compare the checksum.
                if read != size or stream.read(1):
                    raise ValueError(f"{where}: it ends after {read} of {size} bytes")
            except Exception as fault:
                raise archive.translated(fault, where) from None
        loaded[name] = placement(_tensor(data, kind, columns, shape, where))
    return loaded


def _array(tensor: Any, what: str) -> np.ndarray[Any, Any]:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"save: {what} must be a tensor in NumPy's formats, got {type(tensor).__name__}; hint: "
            "a .pt file holds nested values"
        )
    if tensor.is_meta:
        raise ValueError(f"save: {what} is a meta tensor, it has no elements to save")
    if tensor.dtype == bfloat16:
        raise NotImplementedError(
            f"save: NumPy's formats have no bfloat16, which {what} is; hint: .float() it, or write "
            ".safetensors or .pt"
        )
    array = to_array(tensor)
    return array.view("bool") if tensor.dtype == bool_ else array


def save_npy(tensor: Any, file: Any) -> None:
    """Writes one tensor."""
    import numpy as np

    array = _array(tensor, "the value")
    with atomic(file) as out:
        np.lib.format.write_array(out, array, allow_pickle=False)


def save_npz(tensors: Any, file: Any) -> None:
    """Writes tensors by name."""
    import numpy as np

    if not isinstance(tensors, Mapping):
        raise TypeError(
            f"save: the .npz format holds a dict of tensors, got {type(tensors).__name__}; hint: a "
            ".pt file holds nested values"
        )
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"save: a tensor's name must be a string, got {name!r}")
        _array(tensor, repr(name))
    from ._zip import Writer

    with atomic(file) as out, Writer(out) as archive:
        for name, tensor in tensors.items():
            with archive.record(f"{name}.npy", tensor.nbytes + 256) as record:
                np.lib.format.write_array(record, _array(tensor, repr(name)), allow_pickle=False)
