"""Errors that say in which module of a model they were raised.

An error on its way up passes the call of every module around it. Each of these knows the way to the
one below, so the message begins with the whole path, seen from the outermost module.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyburn.nn._module import Module

__all__ = ["name_path"]

_MARK = "_pyburn_path"


def name_path(fault: Exception, module: Module) -> None:
    """Puts the path from a module to where an error came from in front of the error's text."""
    # What KeyError carries is a key, not a text.
    text = fault.args[0] if len(fault.args) == 1 and not isinstance(fault, KeyError) else None
    known: tuple[Module, str, Any] | None = getattr(fault, _MARK, None)
    # Some exceptions cannot be written to; they stay as they are.
    with contextlib.suppress(AttributeError, TypeError):
        if known is None:
            if isinstance(text, str):
                setattr(fault, _MARK, (module, "", text))
            return
        below, path, text = known
        if below is module:
            return
        name = next((name for name, inner in module.named_modules() if inner is below), None)
        if name:
            path = f"{name}.{path}" if path else name
            fault.args = (f"{path}: {text}",)
        else:
            # Called without being a part of it: the path begins here.
            path = ""
        setattr(fault, _MARK, (module, path, text))
