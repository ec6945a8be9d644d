"""What modules have beyond PyTorch's: counting, freezing, copying, saving, devices by name.

Users give such names to attributes of their own. An attribute, parameter, buffer or submodule of a
model hides the addition of the same name.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike

if TYPE_CHECKING:
    from typing_extensions import Self

    from pyburn.nn._module import Module
    from pyburn.nn._summary import Summary

__all__ = ["ADDED", "Additions"]

F = TypeVar("F", bound=Callable[..., Any])

ADDED: set[str] = set()
"""The names that users may take all the same."""


class _Addition:
    """A method whose name users may give to attributes, which then hide it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self.name = function.__name__
        ADDED.add(self.name)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.function if instance is None else MethodType(self.function, instance)


class _AddedProperty(_Addition):
    """A property whose name users may give to attributes, which then hide it."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self.function(instance)


class _AddedSetting(_AddedProperty):
    """A property that is assigned to; submodules and the like hide it, other values do not."""

    change: Callable[[Any, Any], None]

    def setter(self, change: Callable[[Any, Any], None]) -> _AddedSetting:
        self.change = change
        return self

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # What has a setter comes before the instance's own attributes.
        if instance is not None and self.name in instance.__dict__:
            return instance.__dict__[self.name]
        return super().__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        self.change(instance, value)


def _method(function: F) -> F:
    return cast(F, _Addition(function))


if TYPE_CHECKING:
    _shown = property
    _setting = property
else:
    _shown = _AddedProperty
    _setting = _AddedSetting


class Additions:
    """The part of a module that PyTorch's modules lack."""

    if TYPE_CHECKING:
        # What the additions are made of.
        parameters: Any
        buffers: Any
        modules: Any
        to: Any
        state_dict: Any
        load_state_dict: Any
        requires_grad_: Any

    def _tensors(self) -> Any:
        yield from self.parameters()
        yield from self.buffers()

    @_method
    def num_params(self, trainable_only: bool = False) -> int:
        """The number of elements of all parameters, or of those that require a gradient.

        Example:
            >>> nn.Linear(3, 2).num_params()
            8
        """
        return sum(
            parameter.numel()
            for parameter in self.parameters()
            if parameter.requires_grad or not trainable_only
        )

    @_method
    def summary(
        self,
        *input_shapes: Sequence[int] | Tensor,
        input_size: Sequence[int] | Sequence[Sequence[int]] | None = None,
        dtype: DTypeLike | Sequence[DTypeLike] | None = None,
        depth: int | None = None,
    ) -> Summary:
        """A table of the modules with the shapes of their outputs and the numbers of parameters.

        The shapes are inferred from those of the inputs, without elements: nothing is computed, and
        the module stays as it is. Without inputs the table shows parameters only.

        Args:
            input_shapes: the shape of each input of ``forward``, or a tensor like it.
            input_size: one shape or a sequence of shapes, in place of ``input_shapes``.
            dtype: the dtype of the inputs, or one for each.
            depth: how many levels of modules to show.

        Example:
            >>> model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1))
            >>> print(model.summary((8, 4)))
            layer (type)    output shape    parameters
            ------------------------------------------
            Sequential      (8, 1)                  19
              0 (Linear)    (8, 3)                  15
              1 (Linear)    (8, 1)                   4
            ------------------------------------------
            parameters: 19 (19 trainable), 76 bytes
        """
        from pyburn.nn import _summary

        return _summary.summarise(
            cast("Module", self), input_shapes, input_size=input_size, dtype=dtype, depth=depth
        )

    @_setting
    def autodiff(self) -> bool:
        """Whether gradients flow to the module's parameters, to any of them; settable for all.

        Example:
            >>> layer = nn.Linear(2, 2)
            >>> layer.autodiff = False
            >>> layer.weight.requires_grad
            False
        """
        parameters = list(self.parameters())
        return not parameters or any(parameter.requires_grad for parameter in parameters)

    @autodiff.setter
    def autodiff(self, value: bool) -> None:
        self.requires_grad_(bool(value))

    @_shown
    def fusion(self) -> bool:
        """Whether neighbouring operations run as one kernel where the module is.

        True on GPUs, where burn fuses what is recorded until a result is read. False on the CPU:
        operations run at once there, each as one kernel, and burn has no fusion for it.

        Example:
            >>> nn.Linear(2, 2).fusion
            False
        """
        return self.device.type in ("wgpu", "cuda")

    @_shown
    def device(self) -> _core.device:
        """Where the first parameter or buffer is; the default device for a module without any.

        Example:
            >>> nn.Linear(2, 2).device
            device(type='cpu')
        """
        tensor = next(self._tensors(), None)
        return _core.get_default_device() if tensor is None else tensor.device

    @_shown
    def dtype(self) -> _core.dtype:
        """The dtype of the first parameter or buffer of floats; the default dtype if there is none.

        Example:
            >>> nn.Linear(2, 2).half().dtype
            pyburn.float16
        """
        floats = (tensor.dtype for tensor in self._tensors() if tensor.is_floating_point())
        return next(floats, _core.get_default_dtype())

    @_setting
    def backend(self) -> str:
        """The name of the backend the module is on, ``ndarray`` for the CPU.

        Assigning one moves all parameters and buffers: the parameters stay the same objects, so an
        optimizer that has them goes on with them.

        Example:
            >>> layer = nn.Linear(2, 2)
            >>> layer.backend = "cpu"
            >>> layer.backend
            'ndarray'
        """
        kind = self.device.type
        return "ndarray" if kind == "cpu" else kind

    @backend.setter
    def backend(self, value: DeviceLike) -> None:
        try:
            place = _core.device(value)
        except (RuntimeError, TypeError, ValueError) as fault:
            raise type(fault)(
                f"{type(self).__name__}.backend: {fault}; hint: a class with an attribute of its "
                "own named backend says so by backend = None in its body"
            ) from None
        self.to(place)

    @_method
    def freeze(self) -> Self:
        """Stops gradients to all parameters.

        Example:
            >>> nn.Linear(2, 2).freeze().num_params(trainable_only=True)
            0
        """
        return self.requires_grad_(False)

    @_method
    def unfreeze(self) -> Self:
        """Lets gradients flow to all parameters."""
        return self.requires_grad_(True)

    @_method
    def visit(self, fn: Callable[[str, Any], object]) -> Self:
        """Calls ``fn(name, tensor)`` for every parameter and buffer.

        Example:
            >>> _ = nn.Linear(2, 3).visit(lambda name, tensor: print(name, tuple(tensor.shape)))
            weight (3, 2)
            bias (3,)
        """
        module = cast("Module", self)
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            fn(name, tensor)
        return self

    @_method
    def clone(self) -> Self:
        """A copy with parameters and buffers of its own.

        Example:
            >>> layer = nn.Linear(2, 2)
            >>> layer.clone().weight.equal(layer.weight)
            True
        """
        return copy.deepcopy(self)

    @_method
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the state dict to a file; the extension chooses the format, see
        :func:`pyburn.save`."""
        from pyburn import serialization

        serialization.save(self.state_dict(), path)

    @_method
    def load(self, path: str | os.PathLike[str], strict: bool = True) -> Self:
        """Reads a state dict from a file into the module; nothing is changed unless it fits.

        Example:
            >>> import tempfile, os
            >>> layer, other = nn.Linear(2, 2), nn.Linear(2, 2)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "layer.safetensors")
            ...     layer.save(path)
            ...     other.load(path).weight.equal(layer.weight)
            True
        """
        from pyburn import serialization

        self.load_state_dict(serialization.load(path), strict=strict)
        return self
