"""The weights in a file, whatever stands round them, under the names that a model wants."""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pyburn._core import Tensor

from ._files import is_path
from ._stubs import Stub, Stubs, state_of

__all__ = ["load_state_dict"]

Rules: TypeAlias = (
    Callable[[str], "str | None"] | Mapping[str, "str | None"] | Sequence[tuple[str, str]]
)

_USUAL = ("state_dict", "model_state_dict", "model_state", "model", "net", "network", "weights")
"""Where training programs keep a model's state dict in a checkpoint."""

_INDEX_LIMIT = 1 << 28


def load_state_dict(
    f: Any,
    map_location: Any = None,
    *,
    mmap: bool = False,
    format: str | None = None,
    key: str | None = None,
    rename: Rules | None = None,
    prefix: str = "",
) -> OrderedDict[str, Tensor]:
    """The tensors of a file by name, as a model's ``load_state_dict`` wants them.

    Reads every format of :func:`load`; a checkpoint with the state dict under a usual name
    (``"state_dict"``, ``"model"`` ...) or under ``key``; a whole model that was saved, without its
    classes and without running code; and a sharded model by its ``*.index.json``.

    Args:
        prefix: What every wanted name begins with; it is taken off, other names are left out.
        rename: New names: a dict, a function, or pairs ``(pattern, replacement)`` of regular
            expressions that are applied one after the other. A name that becomes ``None`` or empty
            is left out.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> pyburn.save({"epoch": 3, "state_dict": {"net.weight": pyburn.ones(1)}}, file)
        >>> file = io.BytesIO(file.getvalue())
        >>> rules = [("weight", "gain")]
        >>> dict(pyburn.serialization.load_state_dict(file, prefix="net.", rename=rules))
        {'gain': tensor([1.])}
    """
    if is_path(f) and os.fsdecode(os.fspath(f)).endswith(".index.json"):
        found: Any = _sharded(os.fsdecode(os.fspath(f)), map_location, mmap)
    else:
        from pyburn import serialization

        found = serialization._load(f, map_location, mmap, format, Stubs())
    state = _tensors(found, key)
    changed: OrderedDict[str, Tensor] = OrderedDict()
    change = _renamer(rename)
    for name, tensor in state.items():
        if not name.startswith(prefix):
            continue
        wanted = change(name[len(prefix) :])
        if not wanted:
            continue
        if wanted in changed:
            raise ValueError(f"load_state_dict: two tensors are to be called {wanted!r}")
        changed[wanted] = tensor
    if state and not changed:
        raise ValueError(
            f"load_state_dict: no tensor is left of {list(state)[:5]}...; hint: look at prefix="
            f"{prefix!r} and rename="
        )
    return changed


def _tensors(found: Any, key: str | None) -> OrderedDict[str, Tensor]:
    """The state dict in what a file holds."""
    if key is not None:
        for step in key.split("."):
            if not isinstance(found, dict) or step not in found:
                names = list(found)[:10] if isinstance(found, dict) else type(found).__name__
                raise KeyError(f"load_state_dict: there is no {step!r} (of {key!r}) in {names}")
            found = found[step]
    elif isinstance(found, dict) and not any(isinstance(item, Tensor) for item in found.values()):
        for name in _USUAL:
            if isinstance(found.get(name), dict | Stub):
                found = found[name]
                break
    if isinstance(found, Stub):
        return state_of(found)
    if isinstance(found, Tensor) or not isinstance(found, dict):
        raise TypeError(
            f"load_state_dict: expected tensors by name, got {type(found).__name__}; hint: "
            "pyburn.load reads other values"
        )
    state: OrderedDict[str, Tensor] = OrderedDict()
    others = []
    for name, value in found.items():
        if isinstance(name, str) and isinstance(value, Tensor):
            state[name] = value
        else:
            others.append(name)
    if not state and others:
        raise ValueError(
            f"load_state_dict: found no tensors by name, but {[str(name) for name in others[:10]]};"
            " hint: name the part with key="
        )
    return state


def _renamer(rules: Rules | None) -> Callable[[str], str | None]:
    """The change of names that rules describe."""
    if rules is None:
        return lambda name: name
    if callable(rules):
        return rules
    if isinstance(rules, Mapping):
        names = dict(rules)
        return lambda name: names.get(name, name)
    pairs = [(re.compile(pattern), replacement) for pattern, replacement in rules]

    def change(name: str) -> str:
        for pattern, replacement in pairs:
            name = pattern.sub(replacement, name)
        return name

    return change


def _sharded(path: str, map_location: Any, mmap: bool) -> OrderedDict[str, Tensor]:
    """The tensors of the files that an index names."""
    from pyburn import serialization

    where = f"load_state_dict: '{path}'"
    if os.path.getsize(path) > _INDEX_LIMIT:
        raise ValueError(f"{where} is longer than an index can be")
    with open(path, "rb") as file:
        try:
            places = json.loads(file.read())["weight_map"]
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            raise ValueError(f"{where} is no index of a sharded model: {fault!r}") from None
    if not isinstance(places, dict) or not all(isinstance(file, str) for file in places.values()):
        raise ValueError(f"{where}: weight_map must map names to files")
    folder = os.path.dirname(path)
    state: OrderedDict[str, Tensor] = OrderedDict()
    for shard in sorted(set(places.values())):
        # A shard lies beside its index; a path that leads elsewhere is not followed.
        if os.path.basename(shard) != shard or shard in ("", ".", ".."):
            raise ValueError(f"{where}: the shard {shard!r} is no file beside the index")
        part = serialization.load(os.path.join(folder, shard), map_location, mmap=mmap)
        missing = [name for name, file in places.items() if file == shard and name not in part]
        if missing:
            raise ValueError(f"{where}: {shard!r} lacks {missing[:5]}")
        state.update((name, part[name]) for name, file in places.items() if file == shard)
    return OrderedDict((name, state[name]) for name in places)
