"""Tensors that belong to a module: parameters, buffers, and those whose shape comes later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from pyburn import _core, _repr
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, as_device, as_dtype, sizes_of

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


def _shown(data: Any, what: str) -> Tensor:
    """The tensor a parameter or a buffer is made of; nothing stands for no elements."""
    if data is None:
        return _core._full((0,), 0, _core.get_default_dtype(), _core.get_default_device())
    if not isinstance(data, Tensor):
        raise TypeError(
            f"{what}: expected a Tensor, got {type(data).__name__}; hint: pyburn.tensor(...)"
        )
    return data


class Parameter(Tensor):
    """A tensor that a module learns: as an attribute of a module it is found by ``parameters()``.

    It looks at the memory of ``data``, has no history and requires a gradient unless
    ``requires_grad`` is false.

    Example:
        >>> nn.Parameter(pyburn.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        made = Tensor.__new__(cls, _shown(data, cls.__name__))
        if requires_grad:
            made.requires_grad_(True)
        return made

    def __repr__(self) -> str:
        # As PyTorch shows it: what it contains is written like any tensor.
        mode = _core._set_grad_enabled(False)
        try:
            return "Parameter containing:\n" + _repr.tensor_text(self)
        finally:
            _core._set_grad_enabled(mode)

    __str__ = __repr__


class Buffer(Tensor):
    """A tensor that a module keeps without learning it, such as a running mean.

    As an attribute of a module it is found by ``buffers()``, moves with the module and, if
    ``persistent``, is part of its ``state_dict``.

    Example:
        >>> module = nn.Module()
        >>> module.count = nn.Buffer(pyburn.zeros(1))
        >>> list(module.state_dict())
        ['count']
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = _shown(data, cls.__name__)
        made = Tensor.__new__(cls, data)
        if data.requires_grad:
            made.requires_grad_(True)
        made.persistent = persistent
        return made

    def __repr__(self) -> str:
        # Like any tensor: that it belongs to a module changes nothing about its values.
        return repr(self.detach().requires_grad_(self.requires_grad))

    __str__ = __repr__


# What may be asked of a tensor that has no shape yet; anything else would compute with nothing.
_ANSWERED = frozenset(
    """
    bfloat16 bool cpu cuda data detach device double dtype float get_device grad half
    is_complex is_contiguous is_cpu is_cuda is_floating_point is_leaf is_meta itemsize materialize
    persistent requires_grad requires_grad_ to type cls_to_become _is_same _kept
    """.split()
)


def _refuse(self: Tensor, name: str) -> Any:
    raise ValueError(
        f"{name}: attempted to use an uninitialized parameter, a tensor whose shape is not known "
        "yet; hint: call the lazy module once with an input, or materialize(shape) it"
    )


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: Tensor, *args: Any) -> Any:
        return _refuse(self, name)

    return refuse


class _Uninitialized(Tensor):
    """A tensor that learns its shape from the first input of its module."""

    cls_to_become: type[Tensor]

    def materialize(
        self,
        shape: Sequence[int],
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        """Gives it elements, whose values are not set, and makes it an ordinary tensor of its
        kind."""
        data = self.data
        place = data.device if device is None else as_device(device)
        kind = data.dtype if dtype is None else as_dtype(dtype)
        self.data = _core._full(sizes_of((shape,), "materialize"), 0, kind, place)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name in _ANSWERED:
            return super().__getattribute__(name)
        if name in ("shape", "size"):
            raise RuntimeError(
                "shape: can't access the shape of an uninitialized parameter or buffer; hint: call "
                "the lazy module once with an input, or materialize(shape) it"
            )
        return _refuse(self, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            memo[id(self)] = type(self)(*self._kept())
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuilt, (type(self), *self._kept())

    def _kept(self) -> tuple[Any, ...]:
        """What it was made with."""
        return self.requires_grad, self.device, self.dtype


def _rebuilt(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Tensor:
    return cls(requires_grad, device, dtype)


for _name in """
    add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv matmul rmatmul pow rpow mod
    floordiv neg abs eq ne lt le gt ge getitem setitem len iter bool float int index array
    """.split():
    setattr(_Uninitialized, f"__{_name}__", _refused(_name))
# Comparing by elements is refused, being found in a set is not.
_Uninitialized.__hash__ = Tensor.__hash__  # type: ignore[method-assign]


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet; lazy modules have such.

    Example:
        >>> weight = nn.UninitializedParameter()
        >>> weight.materialize((2, 3))
        >>> type(weight).__name__, weight.shape
        ('Parameter', pyburn.Size([2, 3]))
    """

    cls_to_become: type[Tensor] = Parameter

    def __new__(  # pyright: ignore[reportInconsistentConstructor]
        cls,
        requires_grad: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> UninitializedParameter:
        made = Parameter.__new__(cls, _nothing(device, dtype), requires_grad)
        return cast(UninitializedParameter, made)


class UninitializedBuffer(_Uninitialized, Buffer):
    """A buffer whose shape is not known yet."""

    cls_to_become: type[Tensor] = Tensor

    def __new__(  # pyright: ignore[reportInconsistentConstructor]
        cls,
        requires_grad: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        made = Buffer.__new__(cls, _nothing(device, dtype), persistent=persistent)
        if requires_grad:
            made.requires_grad_(True)
        return cast(UninitializedBuffer, made)


def _nothing(device: DeviceLike | None, dtype: DTypeLike | None) -> Tensor:
    place = as_device(device)
    kind = _core._narrow(place, _core.get_default_dtype()) if dtype is None else as_dtype(dtype)
    return _core._full((0,), 0, kind, place)


def is_lazy(param: object) -> bool:
    """Whether a parameter or buffer still waits for its shape.

    Example:
        >>> nn.parameter.is_lazy(nn.UninitializedParameter())
        True
    """
    return isinstance(param, _Uninitialized)
