"""What a module remembers, as a flat dictionary, and how it takes such a dictionary in.

Loading has two steps. The first compares every entry with the module and finds all that is missing,
unexpected or of another shape; the second, reached only if nothing is wrong, writes. A module that
could not be loaded is as it was before.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pyburn._core import Tensor
from pyburn.autograd import no_grad
from pyburn.nn import _hooks
from pyburn.nn._hooks import Hooks, RemovableHandle
from pyburn.nn.parameter import (
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)

if TYPE_CHECKING:
    from pyburn.nn._module import Module

__all__ = ["IncompatibleKeys", "Stateful"]

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What a state dict and a module do not share."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )

    __str__ = __repr__


class _Writes(threading.local):
    """What a running ``load_state_dict`` will write once all fits; ``None`` outside of one."""

    waiting: list[Callable[[], object]] | None = None


_writes = _Writes()


def _write(action: Callable[[], object]) -> None:
    """Writes when the loading that runs has found everything right; at once if none runs."""
    if _writes.waiting is None:
        action()
    else:
        _writes.waiting.append(action)


class Stateful:
    """The part of a module that turns it into a state dict and back."""

    _version: int = 1
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Module | None]
    _state_dict_hooks: Hooks
    _state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks
    _with_module: set[int]

    def get_extra_state(self) -> Any:
        """What a state dict keeps of this module besides its tensors; override it together with
        :meth:`set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state: Any) -> None:
        """Takes back what :meth:`get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    def register_state_dict_post_hook(
        self, hook: Callable[[Any, dict[str, Any], str, dict[str, Any]], object]
    ) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict`` has put
        the module in; it may change the dict."""
        return _hooks.add(self._state_dict_hooks, hook, marks=[self._with_module])

    def _register_state_dict_hook(self, hook: _hooks.Hook) -> RemovableHandle:
        """As the public form; what this one returns replaces the state dict."""
        return _hooks.add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[[Any, str, bool], object]
    ) -> RemovableHandle:
        """Calls ``hook(module, prefix, keep_vars)`` before ``state_dict`` reads the module."""
        return _hooks.add(self._state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: _hooks.Hook) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` before the module is compared with a state dict."""
        return _hooks.add(self._load_state_dict_pre_hooks, hook, marks=[self._with_module])

    def _register_load_state_dict_pre_hook(
        self, hook: _hooks.Hook, with_module: bool = False
    ) -> RemovableHandle:
        """As the public form, without the module as first argument unless it is asked for."""
        marks = [self._with_module] if with_module else []
        return _hooks.add(self._load_state_dict_pre_hooks, hook, marks=marks)

    def register_load_state_dict_post_hook(
        self, hook: Callable[[Any, IncompatibleKeys], object]
    ) -> RemovableHandle:
        """Calls ``hook(module, incompatible_keys)`` after loading; it may change the lists of
        missing and unexpected keys in place."""
        return _hooks.add(self._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        """Puts the module's own tensors, not those of its children, into a dict."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else _detached(parameter)
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else _detached(buffer)
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(
        self,
        *args: Any,
        destination: Any = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by name; they share the module's memory.

        Args:
            destination: a dict to put them into instead of a new one.
            prefix: what every name begins with.
            keep_vars: keep the parameters themselves, with their gradients.

        Example:
            >>> nn.Linear(2, 1, bias=False).state_dict().keys()
            odict_keys(['weight'])
        """
        if args:
            # PyTorch's older, positional form.
            names = ("destination", "prefix", "keep_vars")
            given = dict(zip(names, args, strict=False))
            destination = given.get("destination", destination)
            prefix = given.get("prefix", prefix)
            keep_vars = given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]
        local_metadata = {"version": self._version}
        metadata = getattr(destination, "_metadata", None)
        if metadata is not None:
            metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for number, hook in self._state_dict_hooks.items():
            changed = hook(self, destination, prefix, local_metadata)
            if number in self._with_module:
                if changed is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif changed is not None:
                destination = changed
        return destination

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Compares the module's own tensors with the entries below ``prefix``, adds to the lists
        what does not fit, and writes what does: at once, or when the ``load_state_dict`` that
        called this has found no fault anywhere."""
        for number, hook in self._load_state_dict_pre_hooks.items():
            with_module = (self,) if number in self._with_module else ()
            hook(
                *with_module,
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = bool(local_metadata.get("assign_to_params_buffers", False))
        local = self._persistent()
        for name, own in local.items():
            key = prefix + name
            if key in state_dict:
                fault = _fault(key, own, state_dict[key])
                if fault is None:
                    _write(_writing(self, key, name, own, state_dict[key], assign))
                else:
                    error_msgs.append(fault)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra_key in state_dict:
                extra = state_dict[extra_key]
                _write(lambda: self.set_extra_state(extra))
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    name, *rest = key[len(prefix) :].split(".", 1)
                    if name not in (self._modules if rest else local):
                        unexpected_keys.append(key)

    def _persistent(self) -> dict[str, Tensor]:
        """The module's own tensors that belong to a state dict."""
        named: dict[str, Tensor | None] = {**self._parameters}
        for name, buffer in self._buffers.items():
            if name not in self._non_persistent_buffers_set:
                named[name] = buffer
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Writes the entries of a state dict over the parameters and buffers of the same name.

        Nothing is written unless everything fits.

        Args:
            strict: refuse missing and unexpected names; otherwise they are only returned.
            assign: put the entries themselves in place, with their dtype and device, instead of
                copying their values.

        Example:
            >>> a, b = nn.Linear(2, 2), nn.Linear(2, 2)
            >>> a.load_state_dict(b.state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"load_state_dict: expected state_dict to be dict-like, got {type(state_dict)}."
            )
        metadata: Mapping[str, dict[str, Any]] = getattr(state_dict, "_metadata", None) or {}
        # A copy: hooks rename entries.
        state: Any = OrderedDict(state_dict)
        state._metadata = OrderedDict(metadata)
        missing: list[str] = []
        unexpected: list[str] = []
        faults: list[str] = []
        found = IncompatibleKeys(missing, unexpected)
        done: list[tuple[Stateful, tuple[_hooks.Hook, ...]]] = []

        def compare(module: Stateful, part: dict[str, Any], prefix: str) -> None:
            local_metadata = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(
                part, prefix, local_metadata, True, missing, unexpected, faults
            )
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    inner = OrderedDict(
                        (key, value) for key, value in part.items() if key.startswith(below)
                    )
                    compare(child, inner, below)
            if module._load_state_dict_post_hooks:
                done.append((module, tuple(module._load_state_dict_post_hooks.values())))

        def refused() -> list[str]:
            texts = list(faults)
            if strict and unexpected:
                texts.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if strict and missing:
                texts.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
            return texts

        before, _writes.waiting = _writes.waiting, []
        try:
            compare(self, state, "")
            waiting = _writes.waiting
        finally:
            _writes.waiting = before
        written = not refused()
        if written:
            _do(waiting)
        # They may still clear the lists: then what they have forgiven is not a fault.
        for module, hooks in done:
            for hook in hooks:
                if hook(module, found) is not None:
                    raise RuntimeError(
                        "load_state_dict post-hook must return None: it is expected to change "
                        "incompatible_keys in place"
                    )
        texts = refused()
        if texts:
            listed = "\n\t".join(texts)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"
            )
        if not written:
            _do(waiting)
        return found


def _do(waiting: list[Callable[[], object]]) -> None:
    for action in waiting:
        action()


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _detached(tensor: Tensor) -> Tensor:
    return tensor if is_lazy(tensor) else tensor.detach()


def _fault(key: str, own: Tensor, value: Any) -> str | None:
    """What keeps a value from being written over a tensor of the module."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected a Tensor from the state dict but '
            f"received {type(value)}"
        )
    if is_lazy(own):
        return None
    if is_lazy(value):
        return (
            f"{key}: the checkpoint's tensor is not initialized, the one in current model has the "
            f"shape {own.shape}."
        )
    if own.shape == value.shape or (own.dim() == 0 and value.shape == (1,)):
        return None
    return (
        f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the "
        f"shape in current model is {own.shape}."
    )


def _writing(
    module: Stateful, key: str, name: str, own: Tensor, value: Tensor, assign: bool
) -> Callable[[], object]:
    """The step that writes a value that fits."""
    if not is_lazy(own) and own.dim() == 0 and value.dim() == 1:
        value = value[0]
    if assign:
        return lambda: setattr(module, name, _as_kind(own, value))

    def copy() -> None:
        if is_lazy(value):
            return
        if isinstance(own, UninitializedParameter | UninitializedBuffer):
            own.materialize(value.shape)
        if own.is_meta and not value.is_meta:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op; hint: assign=True puts the "
                "checkpoint's own tensors in place",
                stacklevel=4,
            )
            return
        with no_grad():
            own.copy_(value)

    return copy


def _as_kind(own: Tensor, value: Tensor) -> Tensor:
    """A value as the tensor that takes the place of a module's own."""
    if isinstance(own, Parameter) and not isinstance(value, Parameter):
        return Parameter(value, requires_grad=own.requires_grad)
    if value.requires_grad != own.requires_grad:
        if not isinstance(value, Parameter):
            value = value.detach()
        value.requires_grad_(own.requires_grad)
    return value
