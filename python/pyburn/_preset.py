"""``pyburn.wgpu.nn`` and its like: modules of the package with one backend as the default device.

They hold no code of their own. ``pyburn.wgpu.nn.Linear(3, 4)`` calls ``pyburn.nn.Linear`` with wgpu
as the default device, and what it returns is a plain ``pyburn.nn.Linear``. A class derived from
``pyburn.wgpu.nn.Module`` has that default device while its objects are made, not only while the
constructor of its base runs.
"""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from pyburn import _core

__all__ = ["BACKENDS", "MODULES", "PresetModule"]

BACKENDS = ("cuda", "ndarray", "wgpu")
"""The modules of the package that have such modules below them."""

MODULES = ("autograd", "lr_scheduler", "module", "nn", "optim", "tensor", "train")
"""The modules that can be had with a default device, and all below them."""

# What no object is made of that could lie on a device.
_LEFT_ALONE = (tuple, enum.Enum, BaseException)
_CAN_BE_A_BASE = 1 << 10  # Python's Py_TPFLAGS_BASETYPE.


def _function(original: Callable[..., Any], place: _core.device) -> Callable[..., Any]:
    """A function that runs with a default device."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        with place:
            return original(*args, **kwargs)

    return call


@functools.cache
def _metaclass(kind: Any, place: _core.device) -> Any:
    """The class of classes whose objects are made with a default device."""

    class Preset(kind):  # So `self` is a class.
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            original = vars(self).get("_preset_of")
            with place:
                return (original or super().__call__)(*args, **kwargs)

        def __instancecheck__(self, instance: Any) -> bool:
            original = vars(self).get("_preset_of")
            if original is None:
                return super().__instancecheck__(instance)
            return isinstance(instance, original)

        def __subclasscheck__(self, subclass: type) -> bool:
            original = vars(self).get("_preset_of")
            if original is None:
                return super().__subclasscheck__(subclass)
            return issubclass(subclass, original)

        @property
        def __signature__(self) -> inspect.Signature:
            # Of the constructor, in place of the one above.
            original = vars(self).get("_preset_of")
            if original is not None:
                return inspect.signature(original)
            maker = self.__new__ if self.__init__ is object.__init__ else self.__init__
            bound = inspect.signature(maker)
            return bound.replace(parameters=list(bound.parameters.values())[1:])

    return Preset


_classes: dict[tuple[type, _core.device], type] = {}


def _class(original: type, place: _core.device, module: str) -> type:
    """A class whose objects are made with a default device, and are the original's."""
    known = _classes.get((original, place))
    if known is not None:
        return known
    space: dict[str, Any] = {
        "__doc__": original.__doc__,
        "__module__": module,
        "__qualname__": original.__qualname__,
        "__slots__": (),
        "_preset_of": original,
    }
    for name in dir(original):
        value = inspect.getattr_static(original, name)
        if isinstance(value, staticmethod | classmethod) and not name.startswith("__"):
            space[name] = type(value)(_function(value.__func__, place))
    made = _metaclass(type(original), place)(original.__name__, (original,), space)
    return _classes.setdefault((original, place), made)


class PresetModule(ModuleType):
    """A module of the package with a default device."""

    def __init__(self, name: str, original: ModuleType, place: _core.device) -> None:
        super().__init__(name, original.__doc__)
        self._original = original
        self._place = place

    def __getattr__(self, name: str) -> Any:
        # What the import system writes on modules is each one's own: with the original's path it
        # would load its submodules a second time.
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = getattr(self._original, name)
        if isinstance(value, ModuleType):
            package, _, inner = value.__name__.partition(".")
            if package != "pyburn" or inner.partition(".")[0] not in MODULES:
                return value
            backend = self.__name__.split(".")[1]
            return importlib.import_module(f"pyburn.{backend}.{inner}")
        if isinstance(value, FunctionType | BuiltinFunctionType):
            value = _function(value, self._place)
        elif isinstance(value, type) and _is_made_here(value):
            value = _class(value, self._place, self.__name__)
        else:
            return value
        self.__dict__[name] = value
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the module does when it is called, which ``pyburn.tensor`` can be."""
        original: Any = self._original
        with self._place:
            return original(*args, **kwargs)

    def __dir__(self) -> list[str]:
        return dir(self._original)


def _is_made_here(kind: type) -> bool:
    """Whether objects of a class are made of tensors of ours, and others can derive from it."""
    ours = kind.__module__.partition(".")[0] == "pyburn" and not issubclass(kind, _LEFT_ALONE)
    return ours and bool(kind.__flags__ & _CAN_BE_A_BASE)


class _Loader:
    """Makes such modules, and is asked for them where nothing else has found one."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        backend, _, inner = rest.partition(".")
        if package == "pyburn" and backend in BACKENDS and inner.partition(".")[0] in MODULES:
            return ModuleSpec(name, cls(), is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _, backend, inner = spec.name.split(".", 2)
        original = importlib.import_module(f"pyburn.{inner}")
        return PresetModule(spec.name, original, _core.device(backend))

    def exec_module(self, module: ModuleType) -> None:
        pass


sys.meta_path.append(_Loader)  # type: ignore[arg-type]
