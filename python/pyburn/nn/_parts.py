"""The dictionaries of a module's parameters, buffers and children.

What lies in one of them is an attribute of the module as well, so that looking it up is as fast as
looking up any attribute: models do that several times in every call of every layer. The dictionary
keeps both in step, also for code that writes ``module._parameters[...]`` itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyburn.nn._module import Module

__all__ = ["STORES", "Parts"]

STORES = ("_parameters", "_buffers", "_modules")
"""Under which names a module has them."""

_NONE: Any = object()


class Parts(dict[str, Any]):
    """Names and values that are attributes of a module too."""

    # Not the module itself: a cycle would keep the memory of models until the next collection.
    __slots__ = ("_owner",)

    _owner: weakref.ref[Module]

    @classmethod
    def of(cls, owner: Module, items: Mapping[str, Any]) -> Parts:
        """A dictionary of a module, with the attributes that belong to it."""
        parts = cls(items)
        parts._owner = weakref.ref(owner)
        owner.__dict__.update(items)
        return parts

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        owner = self._owner()
        if owner is not None:
            owner.__dict__[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        owner = self._owner()
        if owner is not None:
            owner.__dict__.pop(name, None)

    def pop(self, name: str, default: Any = _NONE) -> Any:
        if name not in self and default is not _NONE:
            return default
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name, value = super().popitem()
        super().__setitem__(name, value)
        del self[name]
        return name, value

    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, items: Any = (), /, **named: Any) -> None:
        for name, value in dict(items, **named).items():
            self[name] = value

    def __ior__(self, items: Any) -> Parts:  # type: ignore[override,misc]
        self.update(items)
        return self

    def copy(self) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # A plain dictionary: the module binds it to itself when it is put together again.
        return dict, (dict(self),)
