"""Saving and loading: tensors and nested containers of them, in four file formats.

=================  ================================================================================
``.pt`` and other  PyTorch's checkpoint: tensors, numbers, strings, bytes, dicts, lists, tuples,
                   sets; shared memory and views stay shared. PyTorch reads it with
                   ``torch.load(weights_only=True)``. The format from before PyTorch 1.6
                   is read too.
``.safetensors``   a dict of tensors and strings of metadata
``.npz``           a dict of tensors that NumPy reads; no bfloat16
``.npy``           one tensor that NumPy reads; no bfloat16
=================  ================================================================================

No code of a file is ever run: what is neither a tensor nor a plain value is refused by name;
:func:`load_state_dict` finds the weights in a whole model that was saved. A file is written whole
or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._files import Source, is_path
from ._legacy import MAGIC
from ._stubs import Stubs
from ._weights import load_state_dict as load_state_dict

__all__ = ["load", "load_state_dict", "read_metadata", "save"]

_FORMATS = ("pt", "safetensors", "npz", "npy")


def _named(file: Any, format: str | None, op: str) -> str | None:
    """The format an argument or the file's extension names."""
    if format is not None:
        name = format.removeprefix(".").lower()
        name = "pt" if name in ("pth", "ckpt", "bin") else name
        if name not in _FORMATS:
            raise ValueError(f"{op}: format must be one of {list(_FORMATS)}, got {format!r}")
        return name
    if is_path(file):
        extension = os.path.splitext(os.fsdecode(os.fspath(file)))[1][1:].lower()
        if extension in _FORMATS:
            return extension
    return None


def _only_pickle(pickle_module: Any, op: str) -> None:
    if pickle_module is not None:
        raise NotImplementedError(
            f"{op}: pickle_module is not supported: the file is read and written without running "
            "code"
        )


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes tensors and plain values to a path or an open binary file.

    The extension chooses the format (``format=`` overrides it), PyTorch's checkpoint if it is none
    of ``.safetensors``, ``.npz`` and ``.npy``. A path's old content stays until the new one is
    complete.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> pyburn.save({"weight": pyburn.ones(2), "epoch": 3}, file)
        >>> pyburn.load(io.BytesIO(file.getvalue()))
        {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    _only_pickle(pickle_module, "save")
    if pickle_protocol != 2:
        raise NotImplementedError(
            f"save: checkpoints are written with pickle protocol 2, got {pickle_protocol}"
        )
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("save: PyTorch's format from before 1.6 is not written")
    name = _named(f, format, "save") or "pt"
    if metadata and name != "safetensors":
        raise ValueError(f"save: only the safetensors format has metadata, got format {name!r}")
    if name == "safetensors":
        from . import _safetensors

        _safetensors.save(obj, f, metadata)
    elif name == "npz":
        from . import _npz

        _npz.save_npz(obj, f)
    elif name == "npy":
        from . import _npz

        _npz.save_npy(obj, f)
    else:
        from . import _checkpoint

        _checkpoint.save(obj, f)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    format: str | None = None,
) -> Any:
    """Reads what :func:`save`, PyTorch, safetensors or NumPy have written.

    ``map_location`` is the device tensors go to, a dict from saved to wanted devices, or a
    function of a CPU tensor and the saved device's name. No code of the file is run, whatever
    ``weights_only`` says. With ``mmap=True`` tensors look at the file, which then must not be
    changed by others, and checksums are not compared.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> pyburn.save({"a": pyburn.zeros(1)}, file, format="safetensors")
        >>> pyburn.load(io.BytesIO(file.getvalue()))
        {'a': tensor([0.])}
    """
    _only_pickle(pickle_module, "load")
    return _load(f, map_location, bool(mmap), format, None)


def _load(f: Any, map_location: Any, mmap: bool, format: str | None, stubs: Stubs | None) -> Any:
    """:func:`load`; with ``stubs`` classes that a checkpoint names are stood in for."""
    from ._elements import Placement

    name = _named(f, format, "load")
    placement = Placement(map_location)
    with Source(f, mmap) as source:
        start = source.read(0, 16)
        if name is None or name == "pt" or (format is None and start[:2] == b"PK"):
            name = _recognised(start, source, name)
        if name == "safetensors":
            from . import _safetensors

            return _safetensors.load(source, placement)
        if name == "npy":
            from . import _npz

            return _npz.load_npy(source, placement)
        if name == "old":
            from . import _legacy

            return _legacy.load(source, placement, stubs)
        from . import _checkpoint, _npz
        from ._zip import Archive

        archive = Archive(source)
        if name != "npz" and _checkpoint.is_checkpoint(archive):
            return _checkpoint.load(source, archive, placement, stubs)
        if name == "pt":
            raise ValueError(f"load: '{source.name}' has no record data.pkl: it is no checkpoint")
        return _npz.load_npz(source, archive, placement)


def _recognised(start: bytes, source: Source, name: str | None) -> str:
    """The format by the file's first bytes."""
    if start[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return name or "zip"
    if start[:6] == b"\x93NUMPY":
        return "npy"
    if start[8:9] == b"{":
        return "safetensors"
    where = f"load: '{source.name}'"
    if start.startswith(MAGIC):
        return "old"
    if start[:1] == b"\x80":
        raise ValueError(f"{where} is a bare pickle, which is never loaded")
    if not source.size:
        raise ValueError(f"{where} is empty")
    raise ValueError(
        f"{where} is of no known format (it begins with {start[:8]!r}); truncated, or not one of "
        f"{list(_FORMATS)}"
    )


def read_metadata(f: Any) -> dict[str, str]:
    """The strings a safetensors file carries beside its tensors.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> pyburn.save({}, file, format="safetensors", metadata={"by": "me"})
        >>> pyburn.serialization.read_metadata(io.BytesIO(file.getvalue()))
        {'by': 'me'}
    """
    from . import _safetensors

    with Source(f) as source:
        return _safetensors.metadata(source)
