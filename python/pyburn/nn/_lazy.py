"""Modules that learn their shapes from their first input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyburn.autograd import no_grad
from pyburn.nn._hooks import RemovableHandle
from pyburn.nn._module import Module
from pyburn.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]

if TYPE_CHECKING:
    _Base = Module
else:
    _Base = object


class LazyModuleMixin(_Base):
    """Makes a module's parameters take their shapes from its first input.

    A class that uses it stands before the layer it makes lazy, names that layer as
    ``cls_to_become``, makes its parameters with ``UninitializedParameter`` and gives them their
    shapes in ``initialize_parameters``, which gets the arguments of the first call. From then on
    the module has the class ``cls_to_become``.
    """

    cls_to_become: type[Module] | None = None
    _first_call: RemovableHandle | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._first_call = self.register_forward_pre_hook(_initialize, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters their shapes, from the arguments of the first call."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or a buffer of this module still waits for its shape.

        Example:
            >>> nn.LazyLinear(2).has_uninitialized_params()
            True
        """
        own = (*self._parameters.values(), *self._buffers.values())
        return any(is_lazy(tensor) for tensor in own)


def _initialize(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The hook before the first call."""
    with no_grad():
        module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(
            f"module {module._get_name()} has not been fully initialized by its "
            "initialize_parameters"
        )
    module._first_call.remove()
    del module._first_call
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
