"""Memory saved by computing parts of a model again in backward."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pyburn import _core
from pyburn._autocast import Captured
from pyburn._core import Tensor
from pyburn.autograd._modes import enable_grad
from pyburn.autograd.function import Function

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn"]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function differs from the first."""


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Contexts that do nothing, for the first run and for the second."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _RandomState:
    """The random generators' state before the first run."""

    def __init__(self, preserve: bool) -> None:
        self.state: Any = _random().get_rng_state() if preserve else None

    @contextlib.contextmanager
    def again(self) -> Generator[None]:
        """The same random numbers once more; what came after them goes on afterwards."""
        if self.state is None:
            yield
            return
        random = _random()
        now = random.get_rng_state()
        random.set_rng_state(self.state)
        try:
            yield
        finally:
            random.set_rng_state(now)


def _random() -> Any:
    import pyburn

    return pyburn


def _tensors(results: Any) -> list[Tensor]:
    items = results if isinstance(results, tuple) else (results,)
    return [item for item in items if isinstance(item, Tensor)]


def _metas(tensors: Sequence[Tensor]) -> list[tuple[Any, ...]]:
    return [(tuple(tensor.shape), tensor.dtype, tensor.device) for tensor in tensors]


class _Reentrant(Function):
    """Backward runs a backward of its own, which reaches captured parameters by itself."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.random = _RandomState(preserve)
        ctx.autocast = Captured()
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.save_for_backward(*(arg if isinstance(arg, Tensor) else None for arg in args))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if _core.is_grad_enabled():
            raise RuntimeError(
                "checkpoint: when use_reentrant=True, gradients of gradients are not available; "
                "hint: use_reentrant=False"
            )
        inputs = [
            other if tensor is None else tensor.detach().requires_grad_(tensor.requires_grad)
            for tensor, other in zip(ctx.saved_tensors, ctx.others, strict=True)
        ]
        with ctx.random.again(), ctx.autocast.again(), enable_grad():
            outputs = ctx.function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (out, grad)
            for out, grad in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        _core._backward(
            [pair[0] for pair in pairs], [pair[1] for pair in pairs], False, False, None
        )
        return (
            None,
            None,
            *(item.grad if isinstance(item, Tensor) else None for item in inputs),
        )


def _leaves(results: Sequence[Tensor], own: Sequence[Tensor]) -> list[Tensor]:
    """The leaves a graph ends in, other than the ones given."""
    stack = [result.grad_fn for result in results if result.grad_fn is not None]
    seen: set[str] = set()
    found: list[Tensor] = []
    while stack:
        node = stack.pop()
        name = repr(node)  # carries the step's address
        if name in seen:
            continue
        seen.add(name)
        leaf = node.variable
        if leaf is not None and not any(leaf._is_same(tensor) for tensor in own):
            found.append(leaf)
        stack.extend(following for following, _ in node.next_functions if following is not None)
    return found


class _Again(Function):
    """A step whose backward runs the function again and differentiates that run.

    Its inputs are the tensor arguments and the parameters which the function captured, so that
    gradients of all of them flow through the outer graph.
    """

    @staticmethod
    def forward(ctx: Any, plan: _Plan, results: tuple[Tensor, ...], *tensors: Tensor) -> Any:
        ctx.plan = plan
        ctx.save_for_backward(*tensors)
        return tuple(result.detach() for result in results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        plan: _Plan = ctx.plan
        create_graph = _core.is_grad_enabled()
        tensors: Sequence[Tensor] = ctx.saved_tensors
        arguments, leaves = tensors[: plan.count], tensors[plan.count :]
        fresh = [
            tensor.view(tuple(tensor.shape))
            if create_graph and tensor.requires_grad
            else tensor.detach().requires_grad_(tensor.requires_grad)
            for tensor in arguments
        ]
        with plan.random.again(), plan.autocast.again(), enable_grad(), plan.second:
            outputs = _tensors(plan.call(fresh))
        if plan.compare and _metas(outputs) != plan.metas:
            raise CheckpointError(
                "checkpoint: recomputed values have different metadata than during the forward "
                f"pass: expected {plan.metas}, got {_metas(outputs)}"
            )
        targets = [item for item in (*fresh, *leaves) if item.requires_grad]
        pairs = [
            (out, grad)
            for out, grad in zip(outputs, grads, strict=True)
            if out.requires_grad and grad is not None
        ]
        # The graph is kept: steps outside the function, which it captured, are needed again.
        found = iter(
            _core._grad(
                [pair[0] for pair in pairs],
                targets,
                [pair[1] for pair in pairs],
                True,
                create_graph,
            )
            if pairs and targets
            else [None] * len(targets)
        )
        answers = [next(found) if item.requires_grad else None for item in (*fresh, *leaves)]
        return (None, None, *answers)


class _Plan:
    """A function with the places of its tensor arguments."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        random: _RandomState,
        second: AbstractContextManager[Any],
        compare: bool,
    ) -> None:
        self.function = function
        self.args = [None if isinstance(arg, Tensor) else arg for arg in args]
        self.kwargs = {
            name: None if isinstance(arg, Tensor) else arg for name, arg in kwargs.items()
        }
        self.places = [at for at, arg in enumerate(args) if isinstance(arg, Tensor)]
        self.names = [name for name, arg in kwargs.items() if isinstance(arg, Tensor)]
        self.count = len(self.places) + len(self.names)
        self.random = random
        self.autocast = Captured()
        self.second = second
        self.compare = compare
        self.metas: list[tuple[Any, ...]] = []

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """The function with these tensors as its arguments."""
        args, kwargs = list(self.args), dict(self.kwargs)
        for at, tensor in zip(self.places, tensors, strict=False):
            args[at] = tensor
        for name, tensor in zip(self.names, tensors[len(self.places) :], strict=True):
            kwargs[name] = tensor
        return self.function(*args, **kwargs)


def _without_reentry(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve: bool,
    context_fn: Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]],
    compare: bool,
) -> Any:
    first, second = context_fn()
    if not _core.is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    plan = _Plan(function, args, kwargs, _RandomState(preserve), second, compare)
    arguments = [args[at] for at in plan.places] + [kwargs[name] for name in plan.names]
    # The graph of this run tells which parameters the function captured, and is dropped.
    apart = [tensor.detach().requires_grad_(tensor.requires_grad) for tensor in arguments]
    with first:
        results = plan.call(apart)
    outputs = _tensors(results)
    if not any(out.requires_grad for out in outputs):
        return results
    leaves = _leaves(outputs, apart)
    plan.metas = _metas(outputs)
    flowing = [out.requires_grad for out in outputs]
    recorded = iter(
        out if flows else out.detach()
        for out, flows in zip(
            _Again.apply(plan, tuple(outputs), *arguments, *leaves), flowing, strict=True
        )
    )
    if not isinstance(results, tuple):
        return next(recorded)
    return tuple(next(recorded) if isinstance(item, Tensor) else item for item in results)


def _explicit(op: str, use_reentrant: bool | None) -> bool:
    if use_reentrant is None:
        warnings.warn(
            f"pyburn.utils.checkpoint.{op}: the use_reentrant parameter should be passed "
            "explicitly. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True.",
            stacklevel=3,
        )
        return True
    return use_reentrant


def checkpoint(
    function: Callable[..., Any] | None = None,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[
        [], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
    ] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    respect_saved_tensors_hooks: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run a function without keeping what its gradient needs: backward runs it again.

    With ``use_reentrant=False`` gradients of everything the function touches flow as they would
    without a checkpoint, and gradients of gradients work. Without a function, a decorator.

    Example:
        >>> x = pyburn.ones(2, requires_grad=True)
        >>> y = pyburn.utils.checkpoint.checkpoint(lambda x: x.exp(), x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad
        tensor([2.7183, 2.7183])
    """
    if function is None:

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            import functools

            @functools.wraps(function)
            def decorated(*args: Any, **kwargs: Any) -> Any:
                def call(*args: Any) -> Any:
                    return function(*args, **kwargs)

                return checkpoint(
                    call,
                    *args,
                    use_reentrant=use_reentrant,
                    preserve_rng_state=preserve_rng_state,
                    context_fn=context_fn,
                    determinism_check=determinism_check,
                    debug=debug,
                    early_stop=early_stop,
                )

            return decorated

        return decorate
    reentrant = _explicit("checkpoint", use_reentrant)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    if debug:
        raise NotImplementedError(
            "checkpoint: debug=True is not available: operations are not traced in Python"
        )
    if respect_saved_tensors_hooks:
        raise NotImplementedError(
            "checkpoint: respect_saved_tensors_hooks=True is not available: there are no "
            "saved-tensor hooks"
        )
    if not reentrant:
        return _without_reentry(
            function, args, kwargs, preserve_rng_state, context_fn, determinism_check == "default"
        )
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    if _core.is_grad_enabled() and not any(
        isinstance(arg, Tensor) and arg.requires_grad for arg in args
    ):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )
    return _Reentrant.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run functions one after another, checkpointing all but the last of some equal segments.

    Example:
        >>> double = lambda x: 2 * x
        >>> x = pyburn.ones(1, requires_grad=True)
        >>> checkpoint_sequential([double] * 4, 2, x, use_reentrant=False)
        tensor([16.], grad_fn=<MulBackward0>)
    """
    reentrant = _explicit("checkpoint_sequential", use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    # Modules are iterated over by their children.
    steps: list[Any] = list(functions.children() if hasattr(functions, "children") else functions)

    def segment(start: int, end: int) -> Callable[[Any], Any]:
        def run(input: Any) -> Any:
            for step in steps[start:end]:
                input = step(input)
            return input

        return run

    size = len(steps) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(
            segment(start, end), input, use_reentrant=reentrant, preserve_rng_state=preserve
        )
    return segment(end, len(steps))(input)
