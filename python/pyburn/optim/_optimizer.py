"""What every optimizer shares: groups of parameters, their state, saving, hooks."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar, overload

from pyburn._core import Tensor
from pyburn.nn._hooks import RemovableHandle, add

__all__ = [
    "Optimizer",
    "ParamsT",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

R = TypeVar("R")

ParamsT: TypeAlias = (
    Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]] | Tensor
)
"""Parameters, with names or without, or groups of them with options of their own."""

StateDict: TypeAlias = dict[str, Any]
Hook: TypeAlias = Callable[..., Any]
Hooks: TypeAlias = "OrderedDict[int, Hook]"

_before_steps: Hooks = OrderedDict()
_after_steps: Hooks = OrderedDict()


class _Required:
    """Stands as the default of an option that every group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every step of every optimizer.

    Like :meth:`Optimizer.register_step_pre_hook`, which is for one optimizer.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)])
        >>> handle = pyburn.optim.register_optimizer_step_pre_hook(
        ...     lambda optimizer, args, kwargs: print("step of", type(optimizer).__name__)
        ... )
        >>> with handle:
        ...     optimizer.step()
        step of SGD
    """
    return add(_before_steps, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every step of every optimizer.

    Example:
        >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1)])
        >>> handle = pyburn.optim.register_optimizer_step_post_hook(
        ...     lambda optimizer, args, kwargs: print("done")
        ... )
        >>> with handle:
        ...     optimizer.step()
        done
    """
    return add(_after_steps, hook)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A class's ``step`` with the hooks around it."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        # Where a class calls the step of its base, the hooks have run already.
        outermost = type(self).step is hooked
        if not (outermost and (_before_steps or _after_steps or self._has_step_hooks())):
            return step(self, *args, **kwargs)
        call: Any = ((self, *args), kwargs)
        for hook in (*_before_steps.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, *call)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                    f"{changed}."
                )
            call = changed
        args, kwargs = call
        result = step(*args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_after_steps.values()):
            hook(self, args, kwargs)
        return result

    return hooked


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


class Optimizer:
    """The base of all optimizers.

    A subclass passes its options on as ``defaults`` and defines ``step``. Each of ``param_groups``
    is a dictionary with ``params`` and a value for every option; ``state`` holds what is remembered
    of each parameter.

    Args:
        params: Tensors, pairs of a name and a tensor, or dictionaries, which are groups with
            options of their own.
        defaults: Options of groups that do not give them.

    Example:
        >>> class Descent(pyburn.optim.Optimizer):
        ...     def __init__(self, params, lr=0.1):
        ...         super().__init__(params, {"lr": lr})
        ...
        ...     @pyburn.no_grad()
        ...     def step(self, closure=None):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p.sub_(group["lr"] * p.grad)
        >>> w = pyburn.tensor([1.0], requires_grad=True)
        >>> (w * w).sum().backward()
        >>> Descent([w]).step()
        >>> w
        tensor([0.8000], requires_grad=True)
    """

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[dict[str, Any]]

    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    # Scalars of the state: they keep their dtype when state is loaded.
    _scalars: tuple[str, ...] = ("step",)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _with_hooks(vars(cls)["step"])

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {_type_name(params)}"
            )
        if isinstance(params, set):
            warnings.warn(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead. "
                "This will be an error in a future release.",
                FutureWarning,
                stacklevel=3,
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hooks(self) -> None:
        """An empty dictionary for every kind of hook that has none."""
        for name in (
            "_optimizer_step_pre_hooks",
            "_optimizer_step_post_hooks",
            "_optimizer_state_dict_pre_hooks",
            "_optimizer_state_dict_post_hooks",
            "_optimizer_load_state_dict_pre_hooks",
            "_optimizer_load_state_dict_post_hooks",
        ):
            self.__dict__.setdefault(name, OrderedDict())

    def _has_step_hooks(self) -> bool:
        return bool(self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for at, group in enumerate(self.param_groups):
            text += f"\nParameter Group {at}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    def _all_params(self) -> Iterator[Tensor]:
        for group in self.param_groups:
            yield from group["params"]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group; options it does not give are the optimizer's defaults.

        Example:
            >>> base, head = pyburn.zeros(2), pyburn.zeros(3)
            >>> optimizer = pyburn.optim.SGD([base], lr=0.1)
            >>> optimizer.add_param_group({"params": head, "lr": 1.0})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 1.0]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params: Any = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        given: list[Any] = list(params)
        names = [entry[0] for entry in given if isinstance(entry, tuple)]
        params = [entry[1] if isinstance(entry, tuple) else entry for entry in given]
        param_group["params"] = params
        if names:
            if len(names) != len(params):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are "
                    "missing"
                )
            param_group["param_names"] = names
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{_type_name(param)}"
                )
            is_computed = not (param.is_leaf or param.retains_grad)
            if is_computed and not self.defaults.get("differentiable"):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        self._check_unique(param_group)
        self.param_groups.append(param_group)

    def _check_unique(self, param_group: dict[str, Any]) -> None:
        """Refuse parameters that are in a group already, and groups with names beside others."""
        own = {id(param) for param in param_group["params"]}
        if len(own) != len(param_group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; each is updated once per mention",
                stacklevel=4,
            )
        named = "param_names" in param_group
        for group in self.param_groups:
            if named != ("param_names" in group):
                kind = "with names" if named else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {kind} to the optimizer"
                )
        if own & {id(param) for param in self._all_params()}:
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero.

        Example:
            >>> w = pyburn.ones(2, requires_grad=True)
            >>> optimizer = pyburn.optim.SGD([w])
            >>> w.sum().backward()
            >>> optimizer.zero_grad()
            >>> w.grad is None
            True
        """
        for param in self._all_params():
            if set_to_none:
                param.grad = None
                continue
            grad = param.grad
            if grad is not None:
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], R]) -> R: ...
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient.

        Args:
            closure: Called first, with gradients recorded; it computes the loss and its gradients
                anew, and what it returns is returned.
        """
        raise NotImplementedError(f"{type(self).__name__}: expected a method step; none is defined")

    def state_dict(self) -> StateDict:
        """What is needed to go on from here: ``state`` and ``param_groups``.

        Parameters are numbered through all groups in their order. The tensors are the optimizer's
        own, not copies.

        Example:
            >>> optimizer = pyburn.optim.SGD([pyburn.zeros(1), pyburn.zeros(1)], lr=0.1)
            >>> optimizer.state_dict()["param_groups"][0]["params"]
            [0, 1]
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups: list[dict[str, Any]] = []
        start = 0
        for group in self.param_groups:
            for at, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), at)
            start += len(group["params"])
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        result: StateDict = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            if changed is not None:
                result = changed
        return result

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Go on from where a :meth:`state_dict` was taken, also of an optimizer of PyTorch.

        The groups must be as many and as large as here; parameters are matched by their order.
        State is copied, to each parameter's device and dtype.

        Example:
            >>> w = pyburn.zeros(1)
            >>> saved = pyburn.optim.SGD([w], lr=0.5).state_dict()
            >>> optimizer = pyburn.optim.SGD([w], lr=0.1)
            >>> optimizer.load_state_dict(saved)
            >>> optimizer.param_groups[0]["lr"]
            0.5
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(self.param_groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        params: dict[Any, Tensor] = {}
        for group, other in zip(self.param_groups, saved, strict=True):
            if len(group["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
            params.update(zip(other["params"], group["params"], strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = self._adapted(params[key], value)
            else:
                state[key] = value
        for group, other in zip(self.param_groups, saved, strict=True):
            other["params"] = group["params"]
            if "param_names" in group:
                other.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _adapted(self, param: Tensor, value: Any, key: Any = None) -> Any:
        """A copy of loaded state as it belongs to a parameter."""
        if isinstance(value, Tensor):
            if key in self._scalars:
                # They are read by the host.
                return value.to("cpu", copy=True)
            dtype = param.dtype if param.is_floating_point() else value.dtype
            return value.to(dtype=dtype, device=param.device, copy=True)
        if isinstance(value, dict):
            return {name: self._adapted(param, item, name) for name, item in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            kind: Any = type(value)
            return kind(self._adapted(param, item) for item in value)
        return value

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        ``args`` begins with the optimizer. If the hook returns a pair, these are the new ``args``
        and ``kwargs``.
        """
        return add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before the state is collected."""
        return add(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on collected state; what it returns replaces it."""
        return add(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; what it returns is loaded."""
        return add(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after state was loaded."""
        return add(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)
