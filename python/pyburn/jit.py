"""TorchScript's annotations, which do nothing in eager mode: PyBurn has no other one.

:func:`script` and the decorators give back what they are given, so that code written for PyTorch's
compiler runs. What would need that compiler (``trace``, ``load``, ``save``) is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyburn._absent import getter

__all__ = [
    "Attribute",
    "Final",
    "annotate",
    "export",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "script",
    "script_if_tracing",
    "script_method",
    "strict_fusion",
    "unused",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

if not TYPE_CHECKING:
    __getattr__ = getter(__name__)
_isinstance = isinstance


def script(
    obj: T,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> T:
    """The object itself: it runs in Python.

    Example:
        >>> @pyburn.jit.script
        ... def double(x):
        ...     return x + x
        >>> double(pyburn.ones(1))
        tensor([2.])
    """
    return obj


def script_method(fn: F) -> F:
    """The function itself."""
    return fn


def script_if_tracing(fn: F) -> F:
    """The function itself: nothing is traced."""
    return fn


def interface(obj: T) -> T:
    """The class itself."""
    return obj


def export(fn: F) -> F:
    """The function itself."""
    return fn


def unused(fn: F) -> F:
    """The function itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator that gives back the function, used with or without arguments."""
    if callable(drop):
        return drop
    return lambda fn: fn


def is_scripting() -> bool:
    """Whether code runs in a compiler: never."""
    return False


def is_tracing() -> bool:
    """Whether code is being traced: never."""
    return False


def annotate(the_type: Any, the_value: T) -> T:
    """The value itself."""
    return the_value


def Attribute(value: T, type: Any) -> T:
    """The value itself."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's own, for plain classes and tuples of them."""
    return _isinstance(obj, target_type)


class strict_fusion:
    """A block in which nothing changes."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None
