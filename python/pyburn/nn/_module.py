"""The base class of layers and models."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, as_device, as_dtype
from pyburn.autograd import no_grad
from pyburn.nn import _hooks, _paths
from pyburn.nn._additions import ADDED, Additions
from pyburn.nn._hooks import (
    BackwardHook,
    BackwardPreHook,
    ForwardHook,
    ForwardPreHook,
    RemovableHandle,
    everywhere,
)
from pyburn.nn._listing import Listing, listing
from pyburn.nn._parts import STORES, Parts
from pyburn.nn._state import Stateful
from pyburn.nn.parameter import Buffer, Parameter, is_lazy

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Module"]


def _kind(value: object) -> str:
    """What errors call a value."""
    cls = type(value)
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


class Module(Stateful, Additions):
    """Base class of layers and models.

    Parameters, buffers and modules that are assigned as attributes belong to the module: they are
    found, moved, saved and loaded with it.

    Example:
        >>> class Scale(nn.Module):
        ...     def __init__(self, size):
        ...         super().__init__()
        ...         self.factor = nn.Parameter(pyburn.ones(size))
        ...     def forward(self, x):
        ...         return x * self.factor
        >>> scale = Scale(3)
        >>> scale(pyburn.tensor([1.0, 2.0, 3.0])).sum().item()
        6.0
        >>> len(scale.parameters())
        1
    """

    training: bool
    _forward_hooks: _hooks.Hooks
    _forward_pre_hooks: _hooks.Hooks
    _backward_hooks: _hooks.Hooks
    _backward_pre_hooks: _hooks.Hooks
    _with_kwargs: set[int]
    _always_called: set[int]

    dump_patches: bool = False
    call_super_init: bool = False
    """Whether ``__init__`` hands its arguments on, for classes that come after it in the order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            given = f"{len(args)} positional" if args else f"the keyword {next(iter(kwargs))!r}"
            raise TypeError(
                f"{type(self).__name__}.__init__: Module takes no arguments, got {given}; hint: "
                "call super().__init__()"
            )
        # Past this class's own __setattr__, which asks what is made here.
        attributes = self.__dict__
        attributes["training"] = True
        owner: weakref.ref[Module] = weakref.ref(self)
        for name in STORES:
            attributes[name] = parts = Parts()
            parts._owner = owner
        for name in _HOOKS:
            attributes[name] = OrderedDict()
        for name in _SETS:
            attributes[name] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output; every class with a call of its own overrides it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if (
                self._forward_hooks
                or self._forward_pre_hooks
                or self._backward_hooks
                or self._backward_pre_hooks
                or everywhere.calls
            ):
                return _hooks.run(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except Exception as fault:
            _paths.name_path(fault, self)
            raise

    # Attributes: parameters, buffers and modules lie in dictionaries of their own.

    def __getattr__(self, name: str) -> Any:
        # Reached by names that are no attributes; a plain dictionary of parts is not in step.
        for store in STORES:
            parts = self.__dict__.get(store, ())
            if name in parts:
                return parts[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        parts = self.__dict__
        parameters = parts.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, parameters)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_kind(value)}' as parameter '{name}' (pyburn.nn.Parameter or "
                    "None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            modules = parts.get("_modules")
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, modules)
            self._keep(modules, name, _hooks.registered(everywhere.new_module, self, name, value))
        elif (modules := parts.get("_modules")) is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_kind(value)}' as child module '{name}' (pyburn.nn.Module or "
                    "None expected)"
                )
            self._keep(modules, name, _hooks.registered(everywhere.new_module, self, name, value))
        elif isinstance(value, Buffer):
            buffers = parts.get("_buffers")
            if buffers is None:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            if name not in buffers:
                self._forget(name, buffers)
            self.register_buffer(name, value, value.persistent)
        elif (buffers := parts.get("_buffers")) is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_kind(value)}' as buffer '{name}' (pyburn.nn.Buffer, "
                    "pyburn.Tensor or None expected)"
                )
            self._keep(buffers, name, _hooks.registered(everywhere.new_buffer, self, name, value))
        elif name in STORES:
            for part in parts.get(name, ()):
                parts.pop(part, None)
            parts[name] = Parts.of(self, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        for store in STORES:
            parts = self.__dict__.get(store, ())
            if name in parts:
                del parts[name]
                self.__dict__.pop(name, None)
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        # Names of list items are no attributes one could type.
        return sorted(name for name in super().__dir__() if not name[0].isdigit())

    def _keep(self, store: dict[str, Any], name: str, value: Any) -> None:
        """Puts a part into its dictionary; it is an attribute too, whatever that dictionary is."""
        store[name] = value
        self.__dict__[name] = value

    def _forget(self, name: str, kept: dict[str, Any]) -> None:
        """Removes what an attribute was before, wherever but in the dictionary it is kept in."""
        for store in (self._parameters, self._buffers, self._modules):
            if store is not kept:
                store.pop(name, None)
        self.__dict__.pop(name, None)
        if kept is not self._buffers:
            self._non_persistent_buffers_set.discard(name)

    def _check_name(self, what: str, name: Any, own: dict[str, Any]) -> None:
        """Refuses names that state dicts could not hold or that mean something else already."""
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {_kind(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{what} name can\'t be empty string ""')
        if name not in own and (
            name in self.__dict__ or (name not in ADDED and hasattr(self, name))
        ):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, or with ``None`` the name of one that is missing on purpose."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{_kind(param)}' object to parameter '{name}' "
                    "(pyburn.nn.Parameter or None required)"
                )
            if not param.is_leaf:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
            if everywhere.new_parameter:
                param = _hooks.registered(everywhere.new_parameter, self, name, param)
        self._keep(self._parameters, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is kept but not learned; one that is not ``persistent`` is no part of
        the state dict.

        Example:
            >>> module = nn.Module()
            >>> module.register_buffer("mean", pyburn.zeros(2))
            >>> module.mean
            tensor([0., 0.])
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_kind(tensor)}' object to buffer '{name}' (pyburn Tensor or None "
                "required)"
            )
        self._keep(
            self._buffers, name, _hooks.registered(everywhere.new_buffer, self, name, tensor)
        )
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a child module, or with ``None`` the name of one that is missing on purpose."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_kind(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._keep(
            self._modules, name, _hooks.registered(everywhere.new_module, self, name, module)
        )

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name of :meth:`add_module`."""
        self.add_module(name, module)

    # Walking through the tree.

    def _walk(
        self, seen: set[Module], path: str, remove_duplicate: bool
    ) -> Iterator[tuple[str, Module]]:
        """This module and all in it, with their paths."""
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield path, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{path}.{name}" if path else name
                yield from module._walk(seen, below, remove_duplicate)

    def _each(self, store: str) -> Iterator[Any]:
        """The parts of one kind of all modules, each once."""
        seen: set[int] = set()
        for _, module in self._walk(set(), "", True):
            for part in getattr(module, store).values():
                if part is not None and id(part) not in seen:
                    seen.add(id(part))
                    yield part

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules: Any = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None:
                    continue
                if remove_duplicate:
                    if id(member) in seen:
                        continue
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def parameters(self, recurse: bool = True) -> Listing[Parameter]:
        """The parameters of the module and, unless ``recurse`` is false, of all modules in it.

        The iterator also has a length: ``len(layer.parameters())``.
        """
        if recurse and type(self).named_parameters is Module.named_parameters:
            # Without the names it takes half the time.
            return Listing(lambda: self._each("_parameters"))
        return Listing(lambda: (item for _, item in self.named_parameters(recurse=recurse)))

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Listing[tuple[str, Parameter]]:
        """The parameters with their names; one that has several is given once.

        Example:
            >>> [name for name, _ in nn.Sequential(nn.Linear(2, 2)).named_parameters()]
            ['0.weight', '0.bias']
        """
        return Listing(
            lambda: self._named_members(
                lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
            )
        )

    def buffers(self, recurse: bool = True) -> Listing[Tensor]:
        """The buffers of the module and, unless ``recurse`` is false, of all modules in it."""
        if recurse and type(self).named_buffers is Module.named_buffers:
            return Listing(lambda: self._each("_buffers"))
        return Listing(lambda: (item for _, item in self.named_buffers(recurse=recurse)))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Listing[tuple[str, Tensor]]:
        """The buffers with their names."""
        return Listing(
            lambda: self._named_members(
                lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
            )
        )

    def children(self) -> Listing[Module]:
        """The modules directly in this one."""
        return Listing(lambda: (module for _, module in self.named_children()))

    @listing
    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly in this one, with their names."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self) -> Listing[Module]:
        """This module and all modules in it."""
        return Listing(lambda: (module for _, module in self.named_modules()))

    def named_modules(
        self,
        memo: set[Module] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Listing[tuple[str, Module]]:
        """This module, named by ``prefix``, and all modules in it with their paths.

        Example:
            >>> model = nn.Sequential(nn.Sequential(nn.Identity()))
            >>> [name for name, _ in model.named_modules()]
            ['', '0', '0.0']
        """
        return Listing(
            lambda: self._walk(set() if memo is None else memo, prefix, remove_duplicate)
        )

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as ``encoder.3.conv``."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _member(self, target: str) -> tuple[Module, str, Any]:
        """The module a path leads into, the last name of the path, and what it names."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path."""
        _, name, value = self._member(target)
        if not isinstance(value, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return value

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path."""
        module, name, value = self._member(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return value

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module at a path, in place of another; only a module is replaced if ``strict``."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        there = hasattr(parent, name)
        if strict and not there:
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if there and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    # Moving and converting.

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the values of all tensors by those a function gives.

        Parameters stay the same objects, so that optimizers keep hold of them.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                changed = fn(parameter)
            if changed is parameter:
                continue
            grad = parameter.grad
            parameter.data = changed
            if grad is not None:
                with no_grad():
                    moved = fn(grad)
                parameter.grad = moved.detach().requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is None:
                continue
            if is_lazy(buffer):
                buffer.data = fn(buffer)
            else:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Calls a function with every module, children before their parents.

        Example:
            >>> def fill(module):
            ...     if isinstance(module, nn.Linear):
            ...         nn.init.ones_(module.weight)
            >>> nn.Sequential(nn.Linear(2, 1, bias=False)).apply(fill)[0].weight
            Parameter containing:
            tensor([[1., 1.]], requires_grad=True)
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Moves to a device, converts floating-point tensors to a dtype, or both.

        Called as ``to(device)``, ``to(dtype)``, ``to(device, dtype)`` or ``to(tensor)``; each may
        be named: ``device=``, ``backend=`` (the same), ``dtype=``. The module changes in place and
        its parameters stay the same objects. ``non_blocking`` and ``memory_format`` change nothing.

        Example:
            >>> nn.Linear(2, 2).to(pyburn.float64).weight.dtype
            pyburn.float64
        """
        place, kind = _destination(args, kwargs)

        def convert(tensor: Tensor) -> Tensor:
            wanted = kind if tensor.is_floating_point() or tensor.is_complex() else None
            return tensor.to(device=place, dtype=wanted)

        return self._apply(convert)

    def cpu(self) -> Self:
        """Moves to host memory."""
        return self.to("cpu")

    def cuda(self, device: DeviceLike | None = None) -> Self:
        """Moves to a CUDA device, the first one unless its number is given."""
        if device is None:
            return self.to("cuda")
        return self.to(f"cuda:{device}" if isinstance(device, int) else device)

    def type(self, dst_type: DTypeLike) -> Self:
        """Converts all parameters and buffers, also those of integers."""
        kind = as_dtype(dst_type)
        return self._apply(lambda tensor: tensor.to(kind))

    def _float_to(self, kind: _core.dtype) -> Self:
        return self._apply(lambda tensor: tensor.to(kind) if tensor.is_floating_point() else tensor)

    def float(self) -> Self:
        """Converts floating-point parameters and buffers to float32."""
        return self._float_to(_core.dtype("float32"))

    def double(self) -> Self:
        """Converts floating-point parameters and buffers to float64."""
        return self._float_to(_core.dtype("float64"))

    def half(self) -> Self:
        """Converts floating-point parameters and buffers to float16."""
        return self._float_to(_core.dtype("float16"))

    def bfloat16(self) -> Self:
        """Converts floating-point parameters and buffers to bfloat16."""
        return self._float_to(_core.dtype("bfloat16"))

    def to_empty(self, *, device: DeviceLike | None, recurse: bool = True) -> Self:
        """Moves to a device without the values, as one does with a module made on ``meta``.

        Example:
            >>> nn.Linear(2, 2, device="meta").to_empty(device="cpu").weight.is_meta
            False
        """
        place = as_device(device)
        return self._apply(
            lambda tensor: _core._full(tuple(tensor.shape), 0, tensor.dtype, place), recurse
        )

    def share_memory(self) -> NoReturn:
        """Refused: tensors are not shared between processes."""
        raise NotImplementedError(
            "Module.share_memory: tensors do not share memory between processes; hint: threads run "
            "without the lock"
        )

    def compile(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no compiler of Python functions yet."""
        raise NotImplementedError(
            "Module.compile: there is no compiler of Python functions yet; hint: call the module"
        )

    # Modes.

    def train(self, mode: bool = True) -> Self:
        """Puts the module and all in it into training mode, or out of it.

        Example:
            >>> nn.Identity().train(False).training
            False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self._modules.values():
            if module is not None:
                module.train(mode)
        return self

    def eval(self) -> Self:
        """Puts the module and all in it out of training mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets whether gradients flow to the parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of all parameters, or sets them to zero."""
        for parameter in self.parameters():
            grad = parameter.grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad = grad.detach().zero_()

    # Hooks.

    def register_forward_pre_hook(
        self, hook: ForwardPreHook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args)`` before ``forward``; what it returns replaces the arguments.

        Args:
            prepend: before the hooks that are there already.
            with_kwargs: call ``hook(module, args, kwargs)``, which returns both or ``None``.
        """
        marks = [self._with_kwargs] if with_kwargs else []
        return _hooks.add(self._forward_pre_hooks, hook, prepend=prepend, marks=marks)

    def register_forward_hook(
        self,
        hook: ForwardHook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Calls ``hook(module, args, output)`` after ``forward``; what it returns replaces the
        output.

        Args:
            prepend: before the hooks that are there already.
            with_kwargs: call ``hook(module, args, kwargs, output)``.
            always_call: call it when ``forward`` has raised as well.

        Example:
            >>> layer = nn.Identity()
            >>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
            >>> layer(pyburn.zeros(1))
            tensor([1.])
        """
        marks = [self._with_kwargs] if with_kwargs else []
        if always_call:
            marks.append(self._always_called)
        return _hooks.add(self._forward_hooks, hook, prepend=prepend, marks=marks)

    def register_full_backward_pre_hook(
        self, hook: BackwardPreHook, prepend: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, grad_output)`` when the gradients of the outputs are known; what it
        returns replaces them."""
        return _hooks.add(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(
        self, hook: BackwardHook, prepend: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are
        known; what it returns replaces ``grad_input``.

        Example:
            >>> layer = nn.Identity()
            >>> _ = layer.register_full_backward_hook(lambda module, gi, go: (gi[0] * 10,))
            >>> x = pyburn.ones(1, requires_grad=True)
            >>> layer(x).backward()
            >>> x.grad
            tensor([10.])
        """
        return _hooks.add(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: BackwardHook) -> RemovableHandle:
        """PyTorch's older name of :meth:`register_full_backward_hook`, here the same."""
        return self.register_full_backward_hook(hook)

    # Looks, copies.

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands in the parentheses of ``repr``; classes override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        for name, module in self._modules.items():
            lines.append(f"({name}): " + repr(module).replace("\n", "\n  "))
        if not self._modules and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        inner = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inner}\n)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in STORES:
            self.__dict__[name] = Parts.of(self, state.get(name, {}))
        # Pickles of classes that set less, and of earlier versions.
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        for name in _SETS:
            self.__dict__.setdefault(name, set())


_HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
# Names of buffers; the numbers of hooks that are called with more arguments, or more often.
_SETS = ("_non_persistent_buffers_set", "_with_kwargs", "_with_module", "_always_called")


def _destination(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[_core.device | None, _core.dtype | None]:
    """The device and the dtype that arguments of ``to`` name."""
    unknown = set(kwargs) - {
        "device",
        "backend",
        "dtype",
        "tensor",
        "other",
        "non_blocking",
        "memory_format",
    }
    if unknown:
        raise TypeError(f"to: got an unexpected keyword argument {sorted(unknown)[0]!r}")
    place: _core.device | None = None
    kind: _core.dtype | None = None
    for arg in (*args, kwargs.get("tensor"), kwargs.get("other")):
        if isinstance(arg, Tensor):
            place, kind = arg.device, arg.dtype
        elif isinstance(arg, _core.dtype):
            kind = arg
        elif arg is not None and not isinstance(arg, bool):
            place, kind = _device_or_dtype(arg, place, kind)
    named = kwargs.get("device", kwargs.get("backend"))
    if named is not None:
        place = as_device(named)
    if kwargs.get("dtype") is not None:
        kind = as_dtype(kwargs["dtype"])
    if kind is not None and not (kind.is_floating_point or kind.is_complex):
        raise TypeError(
            "to: nn.Module.to only accepts floating point or complex dtypes, but got desired "
            f"dtype={kind}"
        )
    return place, kind


def _device_or_dtype(
    arg: Any, place: _core.device | None, kind: _core.dtype | None
) -> tuple[_core.device | None, _core.dtype | None]:
    """A positional argument that is neither by its class."""
    try:
        return as_device(arg), kind
    except (RuntimeError, TypeError, ValueError) as fault:
        try:
            return place, as_dtype(arg)
        except (RuntimeError, TypeError, ValueError):
            raise fault from None
