"""Whole objects in a checkpoint: read without their classes.

``torch.save(model)`` writes the names of classes and the attributes of their instances. Here every
such class is stood in for by a :class:`Stub`, which runs nothing and only keeps what it is given;
from the stubs of modules follows the state dict that the model had.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from pyburn._core import Tensor

from ._unpickle import Constructor

__all__ = ["Stub", "Stubs", "state_of"]


class Stub:
    """An instance of a class that only the file knows: its class's name, and its attributes."""

    __slots__ = ("attributes", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Stubs(Mapping[str, Any]):
    """A table of globals in which a name that is not known is a stub's class."""

    def __init__(self) -> None:
        self.known: Mapping[str, Any] = {}

    def over(self, known: Mapping[str, Any]) -> Stubs:
        """This table over the one of what is known."""
        self.known = known
        return self

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __getitem__(self, name: str) -> Any:
        if name in self.known:
            return self.known[name]
        return Constructor(name, lambda *_: Stub(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def state_of(module: Stub, prefix: str = "", depth: int = 0) -> OrderedDict[str, Tensor]:
    """The state dict of a stub of a module."""
    if depth > 200:
        raise ValueError("modules nest deeper than 200 levels")
    state: OrderedDict[str, Tensor] = OrderedDict()
    hidden = module.attributes.get("_non_persistent_buffers_set") or ()
    for kind in ("_parameters", "_buffers"):
        members = module.attributes.get(kind)
        if not isinstance(members, dict):
            raise ValueError(f"{module.name} has no {kind}: it is no module")
        for name, value in members.items():
            if isinstance(value, Tensor) and not (kind == "_buffers" and name in hidden):
                state[f"{prefix}{name}"] = value.detach()
    children = module.attributes.get("_modules")
    if not isinstance(children, dict):
        raise ValueError(f"{module.name} has no _modules: it is no module")
    for name, child in children.items():
        if isinstance(child, Stub):
            state.update(state_of(child, f"{prefix}{name}.", depth + 1))
    return state
