"""Modules that hold modules or parameters: in a row, in a list, by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar, cast, overload

from pyburn._core import Tensor
from pyburn.nn._module import Module
from pyburn.nn.parameter import Buffer, Parameter

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

T = TypeVar("T")


def _at(what: str, index: Any, length: int) -> int:
    """A position counted from the front."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"{what}: index {index} is out of range for {length} items")
    return index % length


class _Row(Module):
    """Modules under the names "0", "1", ..."""

    _modules: dict[str, Module | None]

    def _items(self) -> list[Any]:
        return list(self._modules.values())

    def _refill(self, modules: Iterable[Any]) -> None:
        """Numbers modules anew."""
        modules = list(modules)
        self._modules.clear()
        for at, module in enumerate(modules):
            self.add_module(str(at), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        return self._items()[_at(self._get_name(), index, len(self))]

    def __setitem__(self, index: Any, module: Module) -> None:
        at = _at(self._get_name(), index, len(self))
        setattr(self, list(self._modules)[at], module)

    def _part(self, index: slice) -> Any:
        return type(self)(self._items()[index])  # type: ignore[call-arg]

    def append(self, module: Module) -> Any:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Puts a module in front of another."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(
                f"{self._get_name()}.insert: index {index} is out of range for {size} items"
            )
        items = self._items()
        items.insert(index % (size + 1) if index >= 0 else index + size, module)
        self._refill(items)
        return self

    def pop(self, key: int | slice) -> Any:
        """Takes a module out and gives it back."""
        taken = self[key]
        del self[key]
        return taken

    def __delitem__(self, index: Any) -> None:
        items = self._items()
        if isinstance(index, slice):
            del items[index]
        else:
            del items[_at(self._get_name(), index, len(self))]
        self._refill(items)


class Sequential(_Row):
    """Modules called one after the other, each with what the one before gave.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 3), nn.Identity())
        >>> model(pyburn.ones(2, 4)).shape
        pyburn.Size([2, 3])
        >>> model[0]
        Linear(in_features=4, out_features=3, bias=True)
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: Mapping[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in cast("Mapping[str, Module]", args[0]).items():
                self.add_module(name, module)
        else:
            for at, module in enumerate(args):
                self.add_module(str(at), module)

    def forward(self, input: Any) -> Any:
        """The output of the last module."""
        for module in self._modules.values():
            input = cast(Module, module)(input)
        return input

    def _part(self, index: slice) -> Sequential:
        return type(self)(OrderedDict(list(self._modules.items())[index]))  # type: ignore[arg-type]

    def append(self, module: Module) -> Sequential:
        """Adds a module at the end."""
        return super().append(module)

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Adds modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self._repeated(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Sequential:
        self._refill(self._repeated(other))
        return self

    def _repeated(self, times: int) -> list[Any]:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return self._items() * times


class ModuleList(_Row):
    """A list of modules that belong to the module it is an attribute of.

    Example:
        >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), len(layers.parameters())
        (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def append(self, module: Module) -> ModuleList:
        """Adds a module at the end."""
        return super().append(module)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Adds modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        """Like any module, with neighbours that look alike on one line."""
        if not len(self):
            return f"{self._get_name()}()"
        groups: list[tuple[int, int, str]] = []
        for at, module in enumerate(self):
            text = repr(module)
            if groups and groups[-1][2] == text:
                groups[-1] = (groups[-1][0], at, text)
            else:
                groups.append((at, at, text))
        lines: list[str] = []
        for first, last, text in groups:
            if first == last:
                line = f"({first}): {text}"
            else:
                line = f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(line.replace("\n", "\n  "))
        inner = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inner}\n)"


class ModuleDict(Module):
    """Modules by name that belong to the module it is an attribute of.

    Example:
        >>> heads = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Identity()})
        >>> sorted(heads), heads["b"](pyburn.ones(1))
        (['a', 'b'], tensor([1.]))
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Takes all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Takes a module out and gives it back."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Takes modules in, in place of those of the same name."""
        for key, module in _pairs("ModuleDict.update", modules):
            self[key] = module


def _pairs(op: str, given: Any) -> Iterator[tuple[Any, Any]]:
    """Keys and values of a mapping or of an iterable of pairs."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{op}: expected an iterable of key/value pairs, got {type(given).__name__}"
        )
    if isinstance(given, Mapping) or hasattr(given, "keys"):
        mapping: Any = given
        yield from ((key, mapping[key]) for key in mapping)
        return
    for at, item in enumerate(given):
        pair: Any = item
        if not isinstance(pair, Iterable):
            raise TypeError(f"{op}: element #{at} should be Iterable; is {type(pair).__name__}")
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{op}: element #{at} has length {len(pair)}; 2 is required")
        yield pair[0], pair[1]


def _as_parameter(value: Any) -> Any:
    """A plain tensor as a parameter, anything else as it is."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter | Buffer):
        return Parameter(value)
    return value


def _line(name: str, value: Any) -> str:
    """A parameter in the ``repr`` of its container."""
    if not isinstance(value, Tensor):
        return f"({name}): Object of type: {type(value).__name__}"
    size = "x".join(str(size) for size in value.shape)
    place = "" if value.device.type == "cpu" else f" ({value.device})"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    dtype = repr(value.dtype).removeprefix("pyburn.")
    return f"({name}): {kind} containing: [pyburn.{dtype} of size {size}{place}]"


class ParameterList(Module):
    """A list of parameters that belong to the module it is an attribute of.

    Plain tensors become parameters; what is no tensor is kept as it is.

    Example:
        >>> weights = nn.ParameterList([pyburn.ones(2), pyburn.ones(3)])
        >>> len(weights), weights[1].requires_grad
        (2, True)
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = type(self)()
            for at in range(*index.indices(len(self))):
                part.append(self[at])
            return part
        return getattr(self, str(_at("ParameterList", index, len(self))))

    def __setitem__(self, index: int, param: Any) -> None:
        at = _at("ParameterList", index, len(self))
        setattr(self, str(at), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[at] for at in range(len(self)))

    def append(self, value: Any) -> ParameterList:
        """Adds a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds values at the end."""
        # A tensor is iterable too, but hardly meant.
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def extra_repr(self) -> str:
        return "\n".join(_line(str(at), value) for at, value in enumerate(self))

    def __repr__(self) -> str:
        inner = self.extra_repr().replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {inner}\n)" if inner else f"{self._get_name()}()"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name that belong to the module it is an attribute of.

    Plain tensors become parameters; what is no tensor is kept as it is.

    Example:
        >>> weights = nn.ParameterDict({"left": pyburn.ones(2)})
        >>> weights["left"].requires_grad
        True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _name(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        if self._name(key) not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if self._name(key) not in self._keys and hasattr(type(self), key):
            raise KeyError(f"attribute '{key}' already exists")
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[self._name(key)]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return type(self)(OrderedDict((key, self[key]) for key in self))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """A value; ``default``, which is put in, if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Takes all values out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Takes a value out and gives it back."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Takes the last key and its value out and gives them back."""
        if not self._keys:
            raise KeyError("popitem: ParameterDict is empty")
        key = next(reversed(list(self._keys)))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """A value, or ``default`` if there is none."""
        return getattr(self, key) if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dict with one value under every key."""
        return type(self)((key, default) for key in keys)

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The values."""
        return [self[key] for key in self]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and values."""
        return [(key, self[key]) for key in self]

    def update(self, parameters: Any) -> None:
        """Takes values in, in place of those of the same name."""
        for key, value in _pairs("ParameterDict.update", parameters):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value) for key, value in self.items())

    def __repr__(self) -> str:
        inner = self.extra_repr().replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {inner}\n)" if inner else f"{self._get_name()}()"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self
