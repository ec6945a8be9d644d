"""Parameters computed from others: a weight that is always symmetric, of unit norm, orthogonal.

A parametrization is a module. Registered on a parameter, it stands between what is learned,
``module.parametrizations.weight.original``, and what the layer reads, ``module.weight``, which is
computed anew whenever it is read (once in a :func:`cached` block).
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import Any, cast

from pyburn._core import Tensor
from pyburn.autograd import no_grad
from pyburn.nn._containers import ModuleDict, ModuleList
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_computed: dict[tuple[Module, str], Tensor] = {}
_caching = 0


@contextlib.contextmanager
def cached() -> Generator[None]:
    """Computes every parametrized tensor at most once in a ``with`` block.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> with nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _computed.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    """Makes a tensor a parameter or a buffer, whatever it is."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_like(what: str, tensor: Any, like: Tensor, hint: str = "") -> None:
    """Refuses what cannot take a parametrized tensor's place."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"{what} must be a Tensor, got {type(tensor).__name__}")
    if tensor.dtype != like.dtype:
        raise ValueError(
            f"{what} must have the dtype of the tensor, {like.dtype}, got {tensor.dtype}{hint}"
        )
    if tensor.shape != like.shape:
        raise ValueError(
            f"{what} must have the shape of the tensor, {list(like.shape)}, got "
            f"{list(tensor.shape)}{hint}"
        )


_UNSAFE = "; hint: register_parametrization(..., unsafe=True) allows it"


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what it is computed from: ``original``, or
    ``original0``, ``original1``, ... if the first one takes several tensors."""

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        like = original.detach()
        given = self._originals_of(original)
        self.is_tensor: bool = isinstance(given, Tensor)
        self.ntensors: int = 1 if isinstance(given, Tensor) else len(given)
        if isinstance(given, Tensor):
            _check_one(given, like)
            # The parameter stays the object it is: optimizers have it.
            with no_grad():
                original.data = given
            _register(self, "original", original)
        else:
            for at, tensor in enumerate(given):
                if isinstance(original, Parameter):
                    tensor = Parameter(tensor, original.requires_grad)
                tensor.requires_grad_(original.requires_grad)
                _register(self, f"original{at}", tensor)
        if not unsafe:
            _check_like("register_parametrization: the parametrized tensor", self(), like, _UNSAFE)

    def _originals_of(self, value: Tensor) -> Tensor | list[Tensor]:
        """What a value is computed from; parametrizations without an inverse take it as it is."""
        given: Any = value
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        given = module.right_inverse(given)
        if isinstance(given, Tensor):
            return given
        if not isinstance(given, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(given).__name__}"
            )
        for at, tensor in enumerate(given):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "When `right_inverse` outputs a sequence it must be of tensors, got element "
                    f"{at} of type {type(tensor).__name__}."
                )
        return list(given)

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals to what a value is computed from."""
        with no_grad():
            given: Any = value
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                given = module.right_inverse(given)
            if self.is_tensor:
                if not isinstance(given, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(given).__name__}"
                    )
                _check_one(given, self.original)
                self.original.data = _apart(given, value)
                return
            if not isinstance(given, Sequence) or len(given) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of {self.ntensors} tensors."
                )
            for at, tensor in enumerate(given):
                original = getattr(self, f"original{at}")
                if not isinstance(tensor, Tensor) or tensor.dtype != original.dtype:
                    raise ValueError(
                        f"Tensor {at} returned by `right_inverse` must be a Tensor of dtype "
                        f"{original.dtype}."
                    )
                original.data = _apart(tensor, value)

    def forward(self) -> Tensor:
        """The tensor as the layer reads it."""
        if self.is_tensor:
            value = self[0](self.original)
        else:
            value = self[0](*(getattr(self, f"original{at}") for at in range(self.ntensors)))
        for module in self._items()[1:]:
            value = module(value)
        return value


def _apart(given: Tensor, value: Tensor) -> Tensor:
    """A tensor in memory of its own: training must not write over what the user has assigned."""
    return given.clone() if given._shares_storage(value) else given


def _check_one(given: Tensor, original: Tensor) -> None:
    if given.dtype != original.dtype:
        raise ValueError(
            "When `right_inverse` outputs one tensor, it may not change the dtype: it gave "
            f"{given.dtype} for {original.dtype}."
        )
    if given.device != original.device:
        raise ValueError(
            "When `right_inverse` outputs one tensor, it may not change the device: it gave "
            f"{given.device} for {original.device}."
        )


class _Parametrized:
    """What the class of a module with parametrized tensors adds to the class it had."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # The class is made for one module, so that it is made again for a copy.
        module = cast(Module, self)
        names = tuple(module.parametrizations)
        return _again, (type_before_parametrizations(module), names), dict(module.__dict__)


def _again(base: type[Module], names: Sequence[str]) -> Module:
    module = base.__new__(base)
    _own_class(module)
    for name in names:
        _add_property(module, name)
    return module


def _own_class(module: Module) -> None:
    """Gives a module a class that no other module has, to put properties on."""
    base = type(module)
    module.__class__ = type(f"Parametrized{base.__name__}", (_Parametrized, base), {})


def _add_property(module: Module, name: str) -> None:
    """Makes an attribute computed by the parametrizations of that name."""

    def read(self: Module) -> Tensor:
        chain = self.parametrizations[name]
        if not _caching:
            return chain()
        key = (self, name)
        if key not in _computed:
            _computed[key] = chain()
        return _computed[key]

    def write(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes a parameter or buffer of a module the output of another module.

    If the parametrization has a method ``right_inverse``, the tensor keeps its value as far as it
    can be expressed, and may be assigned to. Further ones are applied after those that are there.

    Args:
        unsafe: allow the dtype and the shape of the tensor to change.

    Example:
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).T
        >>> layer = nn.Linear(2, 2)
        >>> _ = nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> layer.weight.equal(layer.weight.T)
        True
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            before = getattr(module, tensor_name)
            value = parametrization(before)
            _check_like("register_parametrization: the output", value, before, _UNSAFE)
            inverse = getattr(parametrization, "right_inverse", None)
            if inverse is not None:
                with contextlib.suppress(NotImplementedError):
                    _check_like(
                        "register_parametrization: what right_inverse gives",
                        inverse(value),
                        before,
                        _UNSAFE,
                    )
        chain = module.parametrizations[tensor_name]
        chain.append(parametrization)
        chain.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        chain = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _own_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = chain
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of a module, or any of its own, is parametrized.

    Example:
        >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 2))
        False
    """
    chains = module._modules.get("parametrizations")
    if not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Makes a tensor an ordinary one again, with the value it has.

    Args:
        leave_parametrized: keep the computed value; otherwise the original one.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> layer = nn.utils.parametrize.remove_parametrizations(layer, "weight")
        >>> type(layer).__name__, type(layer.weight).__name__
        ('Linear', 'Parameter')
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        tensor: Tensor = chain.original
        if leave_parametrized:
            with no_grad():
                tensor.data = getattr(module, tensor_name)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        learned = isinstance(chain.original0, Parameter)
        tensor = Parameter(value, value.requires_grad) if learned else value.detach()
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    cls = type(module)
    delattr(cls, tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    _register(module, tensor_name, tensor)
    return module


def type_before_parametrizations(module: Module) -> type[Module]:
    """The class a module had before its tensors were parametrized."""
    cls = type(module)
    return cls.__bases__[1] if issubclass(cls, _Parametrized) else cls


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives a module the parametrizations of another, the very same modules, and copies of what
    they compute from."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        chain = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            value = getattr(from_module, name).detach().clone()
            learned = any(isinstance(item, Parameter) for item in chain._parameters.values())
            _register(to_module, name, Parameter(value) if learned else value)
        for parametrization in chain:
            register_parametrization(to_module, name, parametrization, unsafe=chain.unsafe)
        copies = to_module.parametrizations[name]
        with no_grad():
            for store in ("_parameters", "_buffers"):
                for key, tensor in getattr(chain, store).items():
                    getattr(copies, key).data = tensor.clone()
    return to_module
