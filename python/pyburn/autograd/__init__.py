"""Gradients: modes, :func:`backward`, :func:`grad`, functions with a gradient of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from pyburn import _core
from pyburn._core import Node, Tensor
from pyburn.autograd._modes import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from pyburn.autograd.function import Function

__all__ = [
    "Function",
    "GradcheckError",
    "Node",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

if TYPE_CHECKING:
    from pyburn.autograd import function as function
    from pyburn.autograd import functional as functional
    from pyburn.autograd._gradcheck import GradcheckError as GradcheckError
    from pyburn.autograd._gradcheck import gradcheck as gradcheck
    from pyburn.autograd._gradcheck import gradgradcheck as gradgradcheck


def _tensors(op: str, what: str, given: Any) -> list[Tensor]:
    items = [given] if isinstance(given, Tensor) else list(given)
    for item in items:
        if not isinstance(item, Tensor):
            raise TypeError(f"{op}: expected {what} to be Tensors, got {type(item).__name__}")
    return items


def _seeds(op: str, what: str, given: Any, count: int) -> list[Tensor | None]:
    if given is None:
        return [None] * count
    seeds: list[Tensor | None] = [given] if isinstance(given, Tensor) else list(given)
    if len(seeds) != count:
        raise RuntimeError(
            f"{op}: got {count} tensors and {len(seeds)} gradients; {what} must have one per tensor"
        )
    for seed in seeds:
        if seed is not None and not isinstance(seed, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(seed).__name__}"
            )
    return seeds


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of the sum of ``tensors`` to the ``grad`` of the leaves.

    Example:
        >>> x = pyburn.ones(2, requires_grad=True)
        >>> pyburn.autograd.backward([x.sum(), (2 * x).sum()])
        >>> x.grad
        tensor([3., 3.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "backward: `grad_tensors` and `grad_variables` (deprecated) arguments both passed "
                "to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    roots = _tensors("backward", "tensors", tensors)
    seeds = _seeds("backward", "grad_tensors", grad_tensors, len(roots))
    targets = None if inputs is None else _tensors("backward", "inputs", inputs)
    if targets is not None and not targets:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    retain = create_graph if retain_graph is None else retain_graph
    _core._backward(roots, seeds, retain, create_graph, targets)


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Literal[False] | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    *,
    allow_unused: bool | None,
    is_grads_batched: bool = False,
    materialize_grads: Literal[True],
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    *,
    allow_unused: bool | None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]: ...
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of ``outputs`` with respect to each of ``inputs``.

    Example:
        >>> x = pyburn.tensor(3.0, requires_grad=True)
        >>> pyburn.autograd.grad(x * x, x)
        (tensor(6.),)
    """
    if is_grads_batched:
        raise NotImplementedError(
            "grad: is_grads_batched=True is not available; hint: call grad once per grad_outputs"
        )
    if not only_inputs:
        raise NotImplementedError("grad: only_inputs=False is not available; hint: use backward")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    unused = materialize_grads if allow_unused is None else allow_unused
    roots = _tensors("grad", "outputs", outputs)
    targets = _tensors("grad", "inputs", inputs)
    if not targets:
        raise ValueError("grad requires non-empty inputs.")
    seeds = _seeds("grad", "grad_outputs", grad_outputs, len(roots))
    retain = create_graph if retain_graph is None else retain_graph
    found: list[Any] = list(_core._grad(roots, targets, seeds, retain, create_graph))
    for at, item in enumerate(found):
        if item is not None:
            continue
        if not unused:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
        if materialize_grads:
            target = targets[at]
            found[at] = _core._full(list(target.shape), 0, target.dtype, target.device)
    return tuple(found)


def Variable(data: Tensor, requires_grad: bool = False) -> Tensor:
    """A tensor, under the name it had before tensors had gradients themselves."""
    tensor = data.detach()
    return tensor.requires_grad_(True) if requires_grad else tensor


_MISSING = {
    "forward_ad": "forward-mode gradients are not available; hint: autograd.functional.jvp",
    "graph": "saved-tensor hooks are not available",
    "profiler": "use a sampling profiler",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in ("gradcheck", "gradgradcheck", "GradcheckError"):
            from pyburn.autograd import _gradcheck

            return getattr(_gradcheck, name)
        if name == "functional":
            import importlib

            return importlib.import_module("pyburn.autograd.functional")
        from pyburn import _absent

        raise _absent.missing(__name__, name, _MISSING.get(name))
