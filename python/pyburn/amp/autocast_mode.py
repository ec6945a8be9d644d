"""Blocks of code whose operations choose their dtypes."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from pyburn import _core, backend
from pyburn._autocast import (
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
)
from pyburn._core import Tensor
from pyburn._dtypes import DTypeLike, as_dtype
from pyburn.autograd._modes import _Mode

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

F = TypeVar("F", bound=Callable[..., Any])

_HALVES = ("float16", "bfloat16")


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device, be there such a device or not.

    Example:
        >>> pyburn.amp.is_autocast_available("cpu"), pyburn.amp.is_autocast_available("meta")
        (True, False)
    """
    return _core.device(device_type).type != "meta"


class autocast(_Mode):
    """Operations choose the dtype they compute in, within a block of code or a function.

    Products of matrices, convolutions and attention compute in ``dtype``, losses and what loses too
    much in halves in float32; the guide on training has the list. Weights stay what they are: they
    are converted where they are used, once per block, and their gradients have their own dtype.
    Call ``backward`` after the block; within it, it computes the same.

    Args:
        device_type: The kind of device whose tensors are meant: ``"cpu"``, ``"cuda"``, ``"wgpu"``.
        dtype: ``float16`` or ``bfloat16``; without it bfloat16 on the CPU and float16 on GPUs.
        enabled: False turns it off within a block where it is on.
        cache_enabled: Whether a weight that several operations take is converted once.

    Example:
        >>> x = pyburn.ones(2, 2)
        >>> with pyburn.autocast("cpu", dtype=pyburn.bfloat16):
        ...     product = x @ x
        ...     with pyburn.autocast("cpu", enabled=False):
        ...         exact = product.float() @ x
        >>> product.dtype, exact.dtype, (x @ x).dtype
        (pyburn.bfloat16, pyburn.float32, pyburn.float32)
        >>> @pyburn.autocast("cpu")
        ... def square(x):
        ...     return x @ x
        >>> square(x).dtype
        pyburn.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: DTypeLike | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(
                f"autocast: expected `device_type` of type `str`, got: `{type(device_type)}`; "
                "hint: a device's is .type"
            )
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"autocast: unsupported device_type '{device_type}'; expected cpu, wgpu or cuda"
            )
        self.device = _core.device(device_type).type
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else as_dtype(dtype)
        self._cache_enabled = (
            is_autocast_cache_enabled() if cache_enabled is None else bool(cache_enabled)
        )
        self._enabled = enabled and _can_narrow(self.device, self.fast_dtype, dtype is not None)
        self._before: list[tuple[bool, _core.dtype, bool]] = []

    def __enter__(self) -> autocast:
        self._before.append(
            (
                _core._set_autocast_enabled(self.device, self._enabled),
                _core._set_autocast_dtype(self.device, self.fast_dtype),
                _core._set_autocast_caching(self._cache_enabled),
            )
        )
        _core._enter_autocast()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core._leave_autocast()
        enabled, dtype, caching = self._before.pop()
        _core._set_autocast_enabled(self.device, enabled)
        _core._set_autocast_dtype(self.device, dtype)
        _core._set_autocast_caching(caching)

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise TypeError(
                f"autocast: decorates functions, got {type(function).__name__}; hint: with "
                "pyburn.autocast(device_type): ..."
            )
        return super().__call__(function)

    def clone(self) -> autocast:
        fresh = copy.copy(self)
        fresh._before = []
        return fresh


def _can_narrow(device: str, dtype: _core.dtype, asked: bool) -> bool:
    """Whether there is such a device with such a dtype; PyTorch goes on without where it warns."""
    name = repr(dtype).rpartition(".")[2]
    if name not in _HALVES:
        why = f"{device} narrows to float16 and bfloat16 only, got {name}"
    elif not backend.is_available(device):
        why = f"{device} is not available"
    elif backend.supports(device, dtype):
        return True
    elif asked:
        other = next((half for half in _HALVES if backend.supports(device, half)), None)
        hint = f"; hint: dtype=pyburn.{other}" if other else "; hint: enabled=False"
        raise RuntimeError(f"autocast: {device} does not support {name}{hint}")
    else:
        why = f"{device} does not support {name}"
    warnings.warn(f"autocast: {why}. Disabling autocast", UserWarning, stacklevel=4)
    return False


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: DTypeLike | None = None,
) -> Any:
    """Decorate the forward of a :class:`pyburn.autograd.Function` that runs within autocast.

    Args:
        device_type: The kind of device whose autocast is meant.
        cast_inputs: If given, the floating-point tensors that forward takes are converted to this
            dtype, and its operations compute in what they are given; outside of autocast nothing
            happens. Otherwise forward's operations choose for themselves.

    Example:
        >>> class Cube(pyburn.autograd.Function):
        ...     @staticmethod
        ...     @pyburn.amp.custom_fwd(device_type="cpu", cast_inputs=pyburn.float32)
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x**3
        ...     @staticmethod
        ...     @pyburn.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, grad):
        ...         return grad * 3 * ctx.saved_tensors[0] ** 2
        >>> with pyburn.autocast("cpu"):
        ...     Cube.apply(pyburn.ones(2, dtype=pyburn.bfloat16)).dtype
        pyburn.float32
    """
    _check_kind("custom_fwd", device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    function = fwd

    @functools.wraps(function)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return function(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        wanted = as_dtype(cast_inputs)
        with autocast(device_type, enabled=False):
            return function(
                ctx,
                *_converted(args, device_type, wanted),
                **_converted(kwargs, device_type, wanted),
            )

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the backward that belongs to a forward with :func:`custom_fwd`.

    It runs with autocast as forward did.
    """
    _check_kind("custom_bwd", device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    function = bwd

    @functools.wraps(function)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, ctx._dtype, enabled=ctx._fwd_used_autocast):
            return function(ctx, *args, **kwargs)

    return backward


def _check_kind(op: str, device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"{op}: expected `device_type` of type `str`, got: `{type(device_type)}`")


def _converted(value: Any, device_type: str, dtype: _core.dtype) -> Any:
    """The floating-point tensors of a nest converted, but for doubles."""
    if isinstance(value, Tensor):
        concerned = (
            value.is_floating_point()
            and value.device.type == _core.device(device_type).type
            and value.dtype != _core.dtype("float64")
        )
        return value.to(dtype) if concerned else value
    if isinstance(value, Mapping):
        return {key: _converted(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_converted(item, device_type, dtype) for item in value]
        if isinstance(value, list):
            return items
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
