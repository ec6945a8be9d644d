"""A module called with other parameters than its own."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from pyburn._core import Tensor
from pyburn.nn._module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with the given tensors in place of its parameters and buffers of the same
    names; gradients flow to them. The module's own come back when the call is over.

    Args:
        parameters_and_buffers: tensors by name, or several such mappings.
        args: the arguments, a tuple or a single one.
        tie_weights: a tensor given for one name of a shared parameter counts for its other names.
        strict: refuse missing and unexpected names; otherwise the module's own tensors serve for
            the missing, and the unexpected are ignored.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> weight = pyburn.ones(1, 2, requires_grad=True)
        >>> pyburn.func.functional_call(layer, {"weight": weight}, pyburn.ones(2)).backward()
        >>> weight.grad, layer.weight.grad
        (tensor([[1., 1.]]), None)
    """
    if isinstance(parameters_and_buffers, Mapping):
        given: dict[str, Tensor] = dict(parameters_and_buffers)
    else:
        given = {}
        for mapping in parameters_and_buffers:
            for name, tensor in mapping.items():
                if name in given:
                    raise ValueError(
                        f"functional_call: {name} appears in several of the given mappings"
                    )
                given[name] = tensor
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _replaced(module, given, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def _replaced(
    module: Module, given: Mapping[str, Tensor], *, tie_weights: bool, strict: bool
) -> Generator[None]:
    """Other tensors in the module for the time of a ``with`` block."""
    # Where each name leads: the dictionary that holds the tensor, and its name there.
    places: dict[str, tuple[dict[str, Any], str]] = {}
    for path, part in module.named_modules(remove_duplicate=False):
        for store in (part._parameters, part._buffers):
            for name in store:
                places[f"{path}.{name}" if path else name] = (store, name)
    if strict:
        missing = [name for name, (store, key) in places.items() if store[key] is not None]
        missing = [name for name in missing if name not in given]
        unexpected = [name for name in given if name not in places]
        if missing or unexpected:
            raise RuntimeError(
                "functional_call: Error(s) in loading parameters: "
                + (f"Unexpected key(s): {', '.join(unexpected)}. " if unexpected else "")
                + (f"Missing key(s): {', '.join(missing)}." if missing else "")
            )
    wanted = dict(given)
    if tie_weights:
        _tie(places, wanted)
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, tensor in wanted.items():
            if name in places:
                store, key = places[name]
                before.append((store, key, store[key]))
                store[key] = tensor
        yield
    finally:
        for store, key, tensor in reversed(before):
            store[key] = tensor


def _tie(places: dict[str, tuple[dict[str, Any], str]], wanted: dict[str, Tensor]) -> None:
    """Adds the other names of shared tensors to the wanted ones."""
    groups: dict[int, list[str]] = {}
    for name, (store, key) in places.items():
        if store[key] is not None:
            groups.setdefault(id(store[key]), []).append(name)
    for names in groups.values():
        chosen = [name for name in names if name in wanted]
        if not chosen or len(names) == 1:
            continue
        tensor = wanted[chosen[0]]
        for name in chosen[1:]:
            if wanted[name] is not tensor:
                raise ValueError(
                    f"functional_call: {chosen[0]} and {name} are one tensor in the module, but "
                    "two different tensors were given; hint: tie_weights=False"
                )
        wanted.update(dict.fromkeys(names, tensor))
