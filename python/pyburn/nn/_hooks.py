"""Hooks of modules: functions called around ``forward`` and around its gradient.

A hook is kept in the dictionary of its kind under a number of its own. What a module without hooks
pays for them is the question whether those dictionaries are empty.
"""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, MutableMapping, MutableSet, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from pyburn import _core
from pyburn._core import Tensor
from pyburn.autograd import Function

if TYPE_CHECKING:
    from pyburn.nn._module import Module

__all__ = [
    "RemovableHandle",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hook: TypeAlias = Callable[..., Any]
Args: TypeAlias = "tuple[Any, ...]"
ForwardPreHook: TypeAlias = (
    "Callable[[Any, Args], Any] | Callable[[Any, Args, dict[str, Any]], Any]"
)
ForwardHook: TypeAlias = (
    "Callable[[Any, Args, Any], Any] | Callable[[Any, Args, dict[str, Any], Any], Any]"
)
BackwardPreHook: TypeAlias = "Callable[[Any, Args], Any]"
BackwardHook: TypeAlias = "Callable[[Any, Args, Args], Any]"
RegistrationHook: TypeAlias = "Callable[[Any, str, Any], Any]"
Hooks: TypeAlias = "OrderedDict[int, Hook]"

_numbers = itertools.count()


class RemovableHandle:
    """A registered hook; ``remove()``, or the end of a ``with`` block, takes it away again.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> with layer.register_forward_hook(lambda module, args, output: output * 0):
        ...     print(layer(pyburn.ones(2)).sum().item())
        0.0
    """

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.id: int = next(_numbers)
        self._hooks = hooks_dict
        # Where the number stands as well: how the hook wants to be called.
        if extra_dict is None:
            self._marks: tuple[Any, ...] = ()
        else:
            self._marks = extra_dict if isinstance(extra_dict, tuple) else (extra_dict,)

    def remove(self) -> None:
        """Takes the hook away; once more does nothing."""
        self._hooks.pop(self.id, None)
        for mark in self._marks:
            if isinstance(mark, MutableSet):
                mark.discard(self.id)
            else:
                mark.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def add(
    hooks: Hooks, hook: Hook, *, prepend: bool = False, marks: Iterable[MutableSet[int]] = ()
) -> RemovableHandle:
    """Puts a hook into a dictionary, and its number into sets that say how it is called."""
    marks = tuple(marks)
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for mark in marks:
        mark.add(handle.id)
    return handle


class Everywhere:
    """The hooks of all modules."""

    def __init__(self) -> None:
        self.forward: Hooks = OrderedDict()
        self.forward_pre: Hooks = OrderedDict()
        self.backward: Hooks = OrderedDict()
        self.backward_pre: Hooks = OrderedDict()
        self.new_parameter: Hooks = OrderedDict()
        self.new_buffer: Hooks = OrderedDict()
        self.new_module: Hooks = OrderedDict()
        self.with_kwargs: set[int] = set()
        self.always_called: set[int] = set()
        # The numbers of those that a call has to look at.
        self.calls: set[int] = set()


everywhere = Everywhere()


def registered(hooks: Hooks, module: Module, name: str, value: Any) -> Any:
    """What the hooks make of a value that is about to be registered."""
    for hook in tuple(hooks.values()):
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def run(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a module that has hooks, or all of which have."""
    called: set[int] = set()
    result: Any = None
    watch: _Watch | None = None
    try:
        args, kwargs = _before(module, args, kwargs)
        watch = _Watch.of(module)
        if watch is not None:
            args = watch.inputs(args)
        result = module.forward(*args, **kwargs)
        for number, hook in (*everywhere.forward.items(), *module._forward_hooks.items()):
            called.add(number)
            replaced = _after(module, number, hook, args, kwargs, result)
            if replaced is not None:
                result = replaced
        return result if watch is None else watch.outputs(result)
    except Exception:
        for number, hook in (*everywhere.forward.items(), *module._forward_hooks.items()):
            always = number in everywhere.always_called or number in module._always_called
            if not always or number in called:
                continue
            try:
                replaced = _after(module, number, hook, args, kwargs, result)
                if replaced is not None:
                    result = replaced
            except Exception as fault:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {fault}",
                    stacklevel=3,
                )
        raise
    finally:
        if watch is not None:
            # The tape holds the watch: what holds the tape in turn would never be freed.
            watch.entered.clear()


def _before(
    module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as the hooks before ``forward`` change them."""
    for number, hook in (*everywhere.forward_pre.items(), *module._forward_pre_hooks.items()):
        if number in module._with_kwargs or number in everywhere.with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but "
                    f"got {changed}."
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _after(
    module: Module,
    number: int,
    hook: Hook,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
) -> Any:
    if number in module._with_kwargs or number in everywhere.with_kwargs:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


class _Boundary(Function):
    """The identity, whose gradient passes through a function."""

    @staticmethod
    def forward(ctx: Any, change: Callable[[tuple[Any, ...]], Any], *tensors: Tensor) -> Any:
        ctx.change = change
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx: Any, /, *grad_outputs: Any, **kwargs: Any) -> Any:
        return (None, *ctx.change(grad_outputs))


class _Watch:
    """One call of a module with hooks for its gradient.

    Identities around ``forward`` see the gradients pass: first those of the outputs, then those of
    the inputs.
    """

    def __init__(self, module: Module, pre_hooks: list[Hook], hooks: list[Hook]) -> None:
        self.module = module
        self.pre_hooks = pre_hooks
        self.hooks = hooks
        # What a gradient of each argument looks like, which of them have one, and the identities'
        # results with the version they had.
        self.inputs_like: list[Any] = []
        self.input_places: list[int] = []
        self.entered: list[tuple[Tensor, int]] = []
        self.grad_output: tuple[Any, ...] = ()

    @classmethod
    def of(cls, module: Module) -> _Watch | None:
        """A watch, if there are hooks for the gradient."""
        pre = [*everywhere.backward_pre.values(), *module._backward_pre_hooks.values()]
        hooks = [*everywhere.backward.values(), *module._backward_hooks.values()]
        return cls(module, pre, hooks) if pre or hooks else None

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, seen by the identity in front of ``forward``."""
        if not self.hooks:
            return args
        self.inputs_like = [_like(value) for value in args]
        changed, self.input_places = _through(args, self.entering)
        self.entered = [(changed[at], changed[at]._version) for at in self.input_places]
        return changed

    def outputs(self, result: Any) -> Any:
        """The result, seen by the identity behind ``forward``."""
        if any(tensor._version != version for tensor, version in self.entered):
            raise RuntimeError(
                f"{type(self.module).__name__}: forward writes over its input in place, which a "
                "module with full backward hooks must not; hint: inplace=False"
            )
        single = isinstance(result, Tensor)
        values: Any = (result,) if single else result
        if not isinstance(values, tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
            return result
        changed, places = _through(values, lambda grads: self.leaving(grads, places, len(values)))
        if single:
            return changed[0]
        fields = getattr(result, "_fields", None)
        return changed if fields is None else type(result)(*changed)

    def leaving(self, grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
        """The gradients of the outputs have come."""
        grad_output = _spread(grads, places, count)
        for hook in self.pre_hooks:
            changed = hook(self.module, grad_output)
            if changed is None:
                continue
            grad_output = _same_number("Backward pre hook", "grad_output", changed, grad_output)
        if self.input_places:
            self.grad_output = grad_output
        elif self.hooks:
            # No gradient will come through the inputs: the hooks learn of the outputs' alone.
            nothing = (None,) * len(self.inputs_like)
            for hook in self.hooks:
                changed = hook(self.module, nothing, grad_output)
                if changed is not None and any(grad is not None for grad in _as_tuple(changed)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always "
                        "return None or None for all gradients."
                    )
        return tuple(grad_output[at] for at in places)

    def entering(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the inputs have come."""
        found = _spread(grads, self.input_places, len(self.inputs_like))
        # Tensors without a gradient have one of zeros, as PyTorch's hooks see it.
        grad_input = tuple(
            _core._full(*like) if grad is None and like is not None else grad
            for grad, like in zip(found, self.inputs_like, strict=True)
        )
        for hook in self.hooks:
            changed = hook(self.module, grad_input, self.grad_output)
            if changed is not None:
                grad_input = _same_number("Backward hook", "grad_input", changed, grad_input)
        self.grad_output = ()
        return tuple(grad_input[at] for at in self.input_places)


def _through(
    values: tuple[Any, ...], change: Callable[[tuple[Any, ...]], Any]
) -> tuple[tuple[Any, ...], list[int]]:
    """Values with those that have a gradient sent through one identity, and where these stand."""
    places = [
        at for at, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad
    ]
    if not places or not _core.is_grad_enabled():
        return values, []
    passed = _Boundary.apply(change, *(values[at] for at in places))
    changed = list(values)
    for at, tensor in zip(places, passed, strict=True):
        changed[at] = tensor
    return tuple(changed), places


def _like(value: Any) -> Any:
    """How to make the gradient of zeros of an argument; ``None`` for one that cannot have any."""
    if isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()):
        return tuple(value.shape), 0, value.dtype, value.device
    return None


def _spread(grads: Sequence[Any], places: Sequence[int], count: int) -> tuple[Any, ...]:
    """Gradients in the places of their values, ``None`` elsewhere."""
    found: list[Any] = [None] * count
    for at, grad in zip(places, grads, strict=True):
        found[at] = grad
    return tuple(found)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _same_number(kind: str, what: str, changed: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    changed = _as_tuple(changed)
    if len(changed) != len(before):
        raise RuntimeError(
            f"{kind} returned an invalid number of {what}, got {len(changed)}, but expected "
            f"{len(before)}"
        )
    return changed


def _add_everywhere(
    hooks: Hooks, hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    marks = [everywhere.calls]
    if with_kwargs:
        marks.append(everywhere.with_kwargs)
    if always_call:
        marks.append(everywhere.always_called)
    return add(hooks, hook, marks=marks)


def register_module_forward_pre_hook(hook: ForwardPreHook) -> RemovableHandle:
    """Calls ``hook(module, args)`` before ``forward`` of every module; what it returns replaces the
    arguments."""
    return _add_everywhere(everywhere.forward_pre, hook)


def register_module_forward_hook(
    hook: ForwardHook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls ``hook(module, args, output)`` after ``forward`` of every module; what it returns
    replaces the output.

    Example:
        >>> seen = []
        >>> hook = lambda module, args, output: seen.append(type(module).__name__)
        >>> with nn.modules.module.register_module_forward_hook(hook):
        ...     _ = nn.Sequential(nn.Identity(), nn.Flatten())(pyburn.ones(1, 2))
        >>> seen
        ['Identity', 'Flatten', 'Sequential']
    """
    return _add_everywhere(
        everywhere.forward, hook, with_kwargs=with_kwargs, always_call=always_call
    )


def register_module_full_backward_pre_hook(hook: BackwardPreHook) -> RemovableHandle:
    """Calls ``hook(module, grad_output)`` for every module before its gradient is computed."""
    return _add_everywhere(everywhere.backward_pre, hook)


def register_module_full_backward_hook(hook: BackwardHook) -> RemovableHandle:
    """Calls ``hook(module, grad_input, grad_output)`` for every module once the gradients of its
    inputs are there."""
    return _add_everywhere(everywhere.backward, hook)


def register_module_backward_hook(hook: BackwardHook) -> RemovableHandle:
    """PyTorch's older name of :func:`register_module_full_backward_hook`, here the same."""
    return register_module_full_backward_hook(hook)


def register_module_parameter_registration_hook(hook: RegistrationHook) -> RemovableHandle:
    """Calls ``hook(module, name, parameter)`` whenever a parameter is registered; what it returns
    takes its place."""
    return add(everywhere.new_parameter, hook)


def register_module_buffer_registration_hook(hook: RegistrationHook) -> RemovableHandle:
    """Calls ``hook(module, name, buffer)`` whenever a buffer is registered; what it returns
    takes its place."""
    return add(everywhere.new_buffer, hook)


def register_module_module_registration_hook(hook: RegistrationHook) -> RemovableHandle:
    """Calls ``hook(module, name, submodule)`` whenever a submodule is registered; what it returns
    takes its place."""
    return add(everywhere.new_module, hook)
