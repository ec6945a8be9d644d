"""Operations with a gradient written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pyburn import _core
from pyburn._core import Tensor
from pyburn.autograd._modes import no_grad

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class FunctionCtx:
    """What a function's forward leaves for its backward; any attribute may be set on it."""

    needs_input_grad: tuple[bool, ...] = ()
    """Which arguments of forward want a gradient."""
    materialize_grads: bool = True
    _to_save: tuple[Tensor | None, ...] = ()
    _restored: tuple[Tensor | None, ...] | None = None
    _dirty: tuple[Tensor, ...] = ()
    _fixed: tuple[Tensor, ...] = ()
    # Per argument of forward: is it a tensor? Per result: shape, dtype and device, or None.
    _arguments: tuple[bool, ...] = ()
    _results: tuple[tuple[tuple[int, ...], Any, Any] | None, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward, safe against later in-place writes; at most one call "
        "counts."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type "
                    f"{type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Accepted for code that also runs under PyTorch; forward-mode gradients do not exist."""

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to :meth:`save_for_backward`."""
        return self._to_save if self._restored is None else self._restored

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which arguments forward has written in place; they must be returned too."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say through which results no gradient flows."""
        self._fixed = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or ``None`` for results without a gradient."""
        self.materialize_grads = value


def _same(tensor: Tensor, group: Sequence[Any]) -> int | None:
    """Where a tensor stands in a list."""
    for at, other in enumerate(group):
        if isinstance(other, Tensor) and (other is tensor or other._is_same(tensor)):
            return at
    return None


class Function:
    """Base class of operations whose gradient is written in Python.

    Example:
        >>> class Exp(pyburn.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         y = x.exp()
        ...         ctx.save_for_backward(y)
        ...         return y
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (y,) = ctx.saved_tensors
        ...         return grad * y
        >>> x = pyburn.zeros(2, requires_grad=True)
        >>> Exp.apply(x).sum().backward()
        >>> x.grad
        tensor([1., 1.])
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self).__name__}: a Function is not instantiated; hint: call "
            f"{type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results; the context comes first unless ``setup_context`` is written."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, apart from forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, /, *grad_outputs: Any, **kwargs: Any) -> Any:
        """The gradients of the arguments from those of the results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> NoReturn:
        """Forward-mode gradients, which the engine does not have."""
        raise NotImplementedError("Function.jvp: forward-mode gradients are not available")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> NoReturn:
        """A rule for ``vmap``, which the engine does not need."""
        raise NotImplementedError("Function.vmap: functions are not batched by a rule of their own")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record the step."""
        ctx = FunctionCtx()
        ctx._forward_cls = cls  # type: ignore[attr-defined]
        separate = cls.setup_context is not Function.setup_context
        if separate:
            args = _bound(cls.forward, args, kwargs)
        elif kwargs:
            raise TypeError(f"{cls.__name__}.apply() takes no keyword arguments")
        ctx._arguments = tuple(isinstance(arg, Tensor) for arg in args)
        ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        with no_grad():
            if separate:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        results = output if isinstance(output, tuple) else (output,)
        if not any(isinstance(result, Tensor) for result in results):
            raise TypeError(
                f"{cls.__name__}.forward: expected to return a Tensor or a tuple with Tensors, got "
                f"{type(output).__name__}"
            )
        results = cls._record(ctx, args, results)
        return results if isinstance(output, tuple) else results[0]

    @classmethod
    def _record(cls, ctx: FunctionCtx, args: Sequence[Any], results: tuple[Any, ...]) -> Any:
        """Put the step on the tape; gives the results with their history."""
        inputs = [arg for arg in args if isinstance(arg, Tensor)]
        recording = _core.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs)
        for tensor in ctx._dirty:
            if _same(tensor, results) is None:
                raise RuntimeError(
                    f"{cls.__name__}: some elements marked as dirty during the forward method were "
                    "not returned as output; the inputs that are modified in-place must all be "
                    "outputs of the Function"
                )
            if recording and tensor.is_leaf and tensor.requires_grad:
                raise RuntimeError(
                    f"{cls.__name__}: a leaf Variable that requires grad is being used in an "
                    "in-place operation"
                )
        # What the tape records must not have a history or be a view of another tensor.
        fresh: list[Any] = []
        for result in results:
            if not isinstance(result, Tensor):
                fresh.append(result)
                continue
            dirty = _same(result, ctx._dirty) is not None
            known = _same(result, inputs) is not None
            if (dirty and (result._is_view() or not recording)) or (
                not dirty and (known or result._is_view() or not result.is_leaf)
            ):
                fresh.append(result.detach())
            else:
                fresh.append(result)
        if not recording:
            ctx._to_save = ()
            return tuple(
                old if isinstance(old, Tensor) and _same(old, ctx._dirty) is not None else new
                for old, new in zip(results, fresh, strict=True)
            )
        ctx._results = tuple(
            (tuple(item.shape), item.dtype, item.device) if isinstance(item, Tensor) else None
            for item in fresh
        )
        saved = [cls._kept(ctx, tensor, results, fresh) for tensor in ctx._to_save]
        outputs = [item for item in fresh if isinstance(item, Tensor)]
        differentiable = [
            _same(old, ctx._fixed) is None for old in results if isinstance(old, Tensor)
        ]
        ctx._to_save = ctx._fixed = ()
        dirty_inputs, ctx._dirty = ctx._dirty, ()
        _core._record_function(
            cls, ctx, f"{cls.__name__}Backward", inputs, outputs, differentiable, saved
        )
        final = []
        for old, new in zip(results, fresh, strict=True):
            if isinstance(old, Tensor) and old is not new and _same(old, dirty_inputs) is not None:
                # A view: its base has to learn of the new history too.
                _core.assign_(old, new)
                final.append(old)
            else:
                final.append(new)
        return tuple(final)

    @classmethod
    def _kept(
        cls, ctx: FunctionCtx, tensor: Tensor | None, results: Sequence[Any], fresh: Sequence[Any]
    ) -> Tensor | None:
        """A saved tensor, where it is a result as the tape knows it."""
        if tensor is None:
            return None
        at = _same(tensor, results)
        if at is None:
            return tensor
        if fresh[at] is not tensor and _same(tensor, ctx._dirty) is not None:
            raise RuntimeError(
                f"{cls.__name__}: saving a view that was written in place is not supported; hint: "
                "save a clone of it"
            )
        known_input = fresh[at] is not tensor and tensor.requires_grad
        return tensor if known_input else fresh[at]

    @classmethod
    def _run_backward(
        cls,
        ctx: FunctionCtx,
        restored: tuple[Tensor | None, ...],
        grads: tuple[Tensor | None, ...],
        needs: Sequence[bool],
    ) -> list[Tensor | None]:
        """Called by the engine: the gradients of the tensor arguments."""
        given = iter(grads)
        received: list[Tensor | None] = []
        for meta in ctx._results:
            grad = None if meta is None else next(given)
            if grad is None and meta is not None and ctx.materialize_grads:
                grad = _core._full(list(meta[0]), 0, meta[1], meta[2])
            received.append(grad)
        rule = cls.backward if cls.backward is not Function.backward else cls.vjp
        ctx._restored = restored
        try:
            answer = rule(ctx, *received)
        finally:
            ctx._restored = None
        if not isinstance(answer, (tuple, list)):
            answer = (answer,)
        wanted = len(ctx._arguments)
        if len(answer) != wanted and (
            len(answer) < wanted or any(extra is not None for extra in answer[wanted:])
        ):
            raise RuntimeError(
                f"function {cls.__name__}Backward returned an incorrect number of gradients "
                f"(expected {wanted}, got {len(answer)})"
            )
        out: list[Tensor | None] = []
        for at, (is_tensor, grad) in enumerate(zip(ctx._arguments, answer, strict=False)):
            if not is_tensor:
                if grad is not None:
                    raise RuntimeError(
                        f"function {cls.__name__}Backward returned a gradient different from None "
                        f"at position {at + 1}, but the corresponding forward input was not a "
                        "Variable"
                    )
                continue
            if grad is not None and not isinstance(grad, Tensor):
                raise TypeError(
                    f"function {cls.__name__}Backward: expected Variable or None at position "
                    f"{at + 1} (got {type(grad).__name__})"
                )
            out.append(grad)
        return out


def _bound(forward: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments with forward's defaults put in."""
    import inspect

    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


class _Once(Function):
    """Gives its arguments on and refuses to be differentiated."""

    @staticmethod
    def forward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> NoReturn:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a backward that cannot be differentiated itself.

    It runs without recording; a second differentiation raises an error.
    """

    @functools.wraps(function)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = function(ctx, *args)
        tracked = any(isinstance(arg, Tensor) and arg.requires_grad for arg in args) or any(
            isinstance(saved, Tensor) and saved.requires_grad for saved in ctx.saved_tensors
        )
        if not _core.is_grad_enabled() or not tracked:
            return outputs
        single = not isinstance(outputs, tuple)
        items = (outputs,) if single else outputs
        at = [
            index
            for index, item in enumerate(items)
            if isinstance(item, Tensor) and (item.is_floating_point() or item.is_complex())
        ]
        if not at:
            return outputs
        marked = _Once.apply(*(items[index].detach().requires_grad_(True) for index in at))
        renewed = list(items)
        for index, item in zip(at, marked, strict=True):
            renewed[index] = item
        return renewed[0] if single else tuple(renewed)

    return wrapper
