"""Products with Jacobians and Hessians, and the matrices themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn.autograd import grad as _grad
from pyburn.autograd._modes import enable_grad, set_grad_enabled

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]


def _as_tuple(given: Any, what: str, op: str) -> tuple[bool, tuple[Tensor, ...]]:
    """The tensors, and whether they came as a tuple."""
    many = isinstance(given, tuple)
    items = given if many else (given,)
    for index, item in enumerate(items):
        if not isinstance(item, Tensor):
            place = f"value at index {index}" if many else f"given {what}"
            raise TypeError(
                f"The {what} given to {op} must be either a Tensor or a tuple of Tensors but the "
                f"{place} has type {type(item)}."
            )
    return many, items


def _prepared(tensors: Sequence[Tensor], create_graph: bool, tracked: bool) -> tuple[Tensor, ...]:
    """Fresh tensors: what the function captures by itself stays apart from its arguments."""
    return tuple(
        tensor.view(tuple(tensor.shape))
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(tracked)
        for tensor in tensors
    )


def _finished(result: Any, create_graph: bool) -> Any:
    """Results without a history, unless one was asked for."""
    if create_graph:
        return result
    if isinstance(result, Tensor):
        return result.detach()
    return tuple(_finished(item, create_graph) for item in result)


def _unpacked(result: tuple[Any, ...], many: bool) -> Any:
    return result if many else result[0]


def _zeros(like: Tensor) -> Tensor:
    return _core._full(list(like.shape), 0, like.dtype, like.device)


def _grads(
    outputs: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    seeds: Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """Gradients of those outputs that have any."""
    seeds = [None] * len(outputs) if seeds is None else seeds
    pairs = [
        (out, seed)
        for out, seed in zip(outputs, seeds, strict=True)
        if out is not None and out.requires_grad
    ]
    if not pairs or not all(item.requires_grad for item in inputs):
        return (None,) * len(inputs)
    roots, given = zip(*pairs, strict=True)
    return _grad(
        roots,
        list(inputs),
        list(given),
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
    )


_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {0}. This is not "
    "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {0} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {0}. This "
    "is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {0} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
}


def _filled(
    grads: Sequence[Tensor | None],
    like: Sequence[Tensor],
    strict: bool,
    create_graph: bool,
    stage: str,
) -> tuple[Tensor, ...]:
    """Zeros where nothing depends; an error in strict mode."""
    out = []
    for index, (grad, reference) in enumerate(zip(grads, like, strict=True)):
        if grad is None:
            if strict:
                raise RuntimeError(_INDEPENDENT[stage].format(index))
            grad = _zeros(reference)
        elif strict and create_graph and not grad.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {index}. This "
                "is not allowed in strict mode when create_graph=True."
            )
        out.append(grad)
    return tuple(out)


def _check_tracked(tensors: Sequence[Tensor | None], what: str, strict: bool) -> None:
    if not strict:
        return
    for index, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {index}. This "
                "is not allowed in strict mode."
            )
        if tensor.requires_grad:
            continue
        if what == "jacobian":
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided "
                f"function with respect to input {index} is independent of the input. This is not "
                "allowed in strict mode. You should ensure that your function is twice "
                "differentiable and that the jacobian depends on the inputs (this would be "
                "violated by a linear function for example)."
            )
        if what == "grad_inputs":
            raise RuntimeError(
                f"The gradient with respect to input {index} is independent of the inputs of the "
                "user-provided function. This is not allowed in strict mode."
            )
        raise RuntimeError(
            f"Output {index} of the user-provided function does not require gradients. The outputs "
            "must be computed in a differentiable manner from the input when running in strict "
            "mode."
        )


def _check_vector(v: Sequence[Tensor], like: Sequence[Tensor], many: bool) -> None:
    if len(v) != len(like):
        if many:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (vector, reference) in enumerate(zip(v, like, strict=True)):
        if vector.shape != reference.shape:
            entry = f"Entry {index} in " if many else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {reference.shape} but got {vector.shape}."
            )


def _vector(
    v: Tensors | None,
    like: Sequence[Tensor],
    many: bool,
    create_graph: bool,
    op: str,
    whose: str,
) -> tuple[Tensor, ...] | None:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {whose}.")
        return None
    _, vectors = _as_tuple(v, "v", op)
    vectors = _prepared(vectors, create_graph, False)
    _check_vector(vectors, like, many)
    return vectors


def _call(
    func: Callable[..., Any], inputs: Tensors, op: str, create_graph: bool, strict: bool
) -> tuple[bool, tuple[Tensor, ...], bool, tuple[Tensor, ...]]:
    many_in, items = _as_tuple(inputs, "inputs", op)
    items = _prepared(items, create_graph, True)
    many_out, outputs = _as_tuple(func(*items), "outputs of the user-provided function", op)
    _check_tracked(outputs, "outputs", strict)
    return many_in, items, many_out, outputs


def _recording(create_graph: bool) -> set_grad_enabled:
    return set_grad_enabled(create_graph or _core.is_grad_enabled())


def vjp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs, and ``v`` times the Jacobian.

    Example:
        >>> pyburn.autograd.functional.vjp(lambda x: x * x, pyburn.tensor([3.0]), pyburn.ones(1))
        (tensor([9.]), tensor([6.]))
    """
    with enable_grad():
        many_in, items, many_out, outputs = _call(func, inputs, "vjp", create_graph, strict)
        whose = "the user-provided function returns a single Tensor with a single element"
        vectors = _vector(v, outputs, many_out, create_graph, "vjp", whose)
    with _recording(create_graph):
        found = _grads(outputs, items, vectors, create_graph=create_graph)
        product = _filled(found, items, strict, create_graph, "back")
    return (
        _unpacked(_finished(outputs, create_graph), many_out),
        _unpacked(_finished(product, create_graph), many_in),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs, and the Jacobian times ``v``, by differentiating a gradient.

    Example:
        >>> pyburn.autograd.functional.jvp(lambda x: x * x, pyburn.tensor([3.0]), pyburn.ones(1))
        (tensor([9.]), tensor([6.]))
    """
    with enable_grad():
        many_in, items = _as_tuple(inputs, "inputs", "jvp")
        items = _prepared(items, create_graph, True)
        whose = "the input to the user-provided function is a single Tensor with a single element"
        vectors = _vector(v, items, many_in, create_graph, "jvp", whose)
        many_out, outputs = _as_tuple(func(*items), "outputs of the user-provided function", "jvp")
        _check_tracked(outputs, "outputs", strict)
        # The gradient is linear in these, so their values do not matter.
        duals = tuple(_zeros(out).requires_grad_(True) for out in outputs)
        inner = _grads(outputs, items, duals, create_graph=True)
        _check_tracked(inner, "grad_inputs", strict)
    with _recording(create_graph):
        found = _grads(inner, duals, vectors, create_graph=create_graph)
        product = _filled(found, outputs, strict, create_graph, "back_trick")
    return (
        _unpacked(_finished(outputs, create_graph), many_out),
        _unpacked(_finished(product, create_graph), many_out),
    )


def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each output element by each input element.

    ``vectorize`` is accepted and makes no difference: rows are computed one after another.

    Example:
        >>> pyburn.autograd.functional.jacobian(lambda x: x * x, pyburn.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant.'
        )
    if strategy == "forward-mode":
        raise NotImplementedError(
            "jacobian: strategy='forward-mode' is not available; hint: strategy='reverse-mode' "
            "gives the same matrix"
        )
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together."
        )
    with enable_grad():
        many_in, items, many_out, outputs = _call(func, inputs, "jacobian", create_graph, strict)
        rows_of_all: list[tuple[Tensor, ...]] = []
        for index, out in enumerate(outputs):
            columns: list[list[Tensor]] = [[] for _ in items]
            flat = out.reshape(-1)
            for element in range(flat.numel()):
                found = _grads(
                    (_core.select(flat, 0, element),),
                    items,
                    retain_graph=True,
                    create_graph=create_graph,
                )
                for at, (grad, item) in enumerate(zip(found, items, strict=True)):
                    if grad is None:
                        if strict:
                            raise RuntimeError(
                                f"Output {index} of the user-provided function is independent of "
                                f"input {at}. This is not allowed in strict mode."
                            )
                        grad = _zeros(item)
                    elif strict and create_graph and not grad.requires_grad:
                        raise RuntimeError(
                            "The jacobian of the user-provided function is independent of input "
                            f"{at}. This is not allowed in strict mode when create_graph=True."
                        )
                    columns[at].append(grad)
            rows_of_all.append(
                tuple(
                    _assembled(rows, tuple(out.shape), item)
                    for rows, item in zip(columns, items, strict=True)
                )
            )
    result = _finished(tuple(rows_of_all), create_graph)
    if not many_in:
        result = tuple(row[0] for row in result)
    return result if many_out else result[0]


def _assembled(rows: list[Tensor], shape: tuple[int, ...], item: Tensor) -> Tensor:
    full = (*shape, *item.shape)
    if not rows:
        return _core._full(list(full), 0, item.dtype, item.device)
    return _core._stack(rows, 0).reshape(full)


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one number as its result.

    Example:
        >>> pyburn.autograd.functional.hessian(lambda x: (x * x).sum(), pyburn.ones(2))
        tensor([[2., 0.],
                [0., 2.]])
    """
    many_in, items = _as_tuple(inputs, "inputs", "hessian")

    def checked(*args: Tensor) -> Tensor:
        out = func(*args)
        many, outs = _as_tuple(out, "outputs of the user-provided function", "hessian")
        if many or outs[0].numel() != 1:
            raise RuntimeError(
                "The function given to hessian should return a single Tensor"
                if many
                else "The Tensor returned by the function given to hessian should contain a single "
                "element"
            )
        return outs[0].reshape(())

    def gradient(*args: Tensor) -> tuple[Tensor, ...]:
        rows = jacobian(checked, args, create_graph=True)
        _check_tracked(rows, "jacobian", strict)
        return rows

    result = jacobian(
        gradient,
        items,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return result if many_in else result[0][0]


def _first_gradient(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None,
    create_graph: bool,
    strict: bool,
    op: str,
) -> tuple[bool, tuple[Tensor, ...], Tensor, Any, Any]:
    many_in, items = _as_tuple(inputs, "inputs", op)
    items = _prepared(items, create_graph, True)
    whose = "the input to the user-provided function is a single Tensor with a single element"
    vectors = _vector(v, items, many_in, create_graph, op, whose)
    many_out, outputs = _as_tuple(func(*items), "outputs of the user-provided function", op)
    _check_tracked(outputs, "outputs", strict)
    if many_out or outputs[0].numel() != 1:
        raise RuntimeError(
            f"The function given to {op} should return a single Tensor with a single element"
        )
    inner = _grads(outputs, items, create_graph=True)
    _check_tracked(inner, "jacobian", strict)
    return many_in, items, outputs[0], inner, vectors


def vhp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output, and ``v`` times the Hessian."""
    with enable_grad():
        many, items, output, inner, vectors = _first_gradient(
            func, inputs, v, create_graph, strict, "vhp"
        )
    with _recording(create_graph):
        found = _grads(inner, items, vectors, create_graph=create_graph)
        product = _filled(found, items, strict, create_graph, "double_back")
    return _finished(output, create_graph), _unpacked(_finished(product, create_graph), many)


def hvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output, and the Hessian times ``v``; :func:`vhp` is cheaper and equal for real "
    "numbers."""
    with enable_grad():
        many, items, output, inner, vectors = _first_gradient(
            func, inputs, v, create_graph, strict, "hvp"
        )
        duals = tuple(_zeros(item).requires_grad_(True) for item in items)
        double = _grads(inner, items, duals, create_graph=True)
        _check_tracked(double, "grad_inputs", strict)
    with _recording(create_graph):
        found = _grads(double, duals, vectors, create_graph=create_graph)
        product = _filled(found, items, strict, create_graph, "double_back_trick")
    return _finished(output, create_graph), _unpacked(_finished(product, create_graph), many)
