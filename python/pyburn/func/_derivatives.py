"""Derivatives of functions of tensors and nested containers of tensors."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._tree import flatten, rebuild, tree_map
from pyburn.autograd import grad as _tape_grad
from pyburn.autograd._modes import enable_grad

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"]


class _Nesting(threading.local):
    """How deep derivatives of derivatives are, and the leaves made on the way."""

    depth = 0

    def __init__(self) -> None:
        self.leaves: list[Tensor] = []


_nesting = _Nesting()


class _Level:
    """One derivative: inputs enter as tensors of their own, results leave.

    A result of the outermost derivative keeps a history only if it depends on tensors of the
    caller's that require gradients.
    """

    def __enter__(self) -> _Level:
        _nesting.depth += 1
        self._mode = enable_grad()
        self._mode.__enter__()
        return self

    def __exit__(self, *fault: Any) -> None:
        self._mode.__exit__(*fault)
        _nesting.depth -= 1
        if not _nesting.depth:
            _nesting.leaves = []

    def entered(self, tree: Any, op: str) -> Any:
        """The same values as tensors whose derivative is wanted."""

        def enter(value: Any) -> Tensor:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"{op}: expected tensors as the inputs to differentiate, got "
                    f"{type(value).__name__}"
                )
            if not (value.is_floating_point() or value.is_complex()):
                raise RuntimeError(
                    f"{op}: only tensors of floating point dtype can require gradients, got "
                    f"{value.dtype}"
                )
            if value.requires_grad:
                return value.view_as(value)
            leaf = value.detach().requires_grad_()
            _nesting.leaves.append(leaf)
            return leaf

        return tree_map(enter, tree)

    def left(self, tree: Any) -> Any:
        """Results as the caller gets them."""
        if _nesting.depth > 1:
            return tree

        def leave(value: Any) -> Any:
            if not isinstance(value, Tensor) or not value.requires_grad:
                return value
            own = _nesting.leaves
            node = value.grad_fn
            leaves = [value] if node is None else node._leaves()
            if all(any(leaf._is_same(mine) for mine in own) for leaf in leaves):
                return value.detach()
            return value

        return tree_map(leave, tree)


def _gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], seeds: Sequence[Tensor] | None
) -> list[Tensor]:
    """Gradients with a history; zeros where nothing depends."""
    each: Sequence[Tensor | None] = [None] * len(outputs) if seeds is None else seeds
    pairs = [(out, seed) for out, seed in zip(outputs, each, strict=True) if out.requires_grad]
    if not pairs:
        return [_zeros(item) for item in inputs]
    roots, given = zip(*pairs, strict=True)
    found = _tape_grad(list(roots), list(inputs), list(given), create_graph=True, allow_unused=True)
    return [
        _zeros(item) if grad is None else grad for grad, item in zip(found, inputs, strict=True)
    ]


def _zeros(like: Tensor) -> Tensor:
    return _core._full(tuple(like.shape), 0, like.dtype, like.device)


def _chosen(args: tuple[Any, ...], argnums: int | tuple[int, ...], op: str) -> tuple[int, ...]:
    """The positions of the arguments to differentiate by."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if not wanted:
        raise RuntimeError(f"{op}: argnums must not be empty")
    places = []
    for number in wanted:
        if not isinstance(number, int):
            raise RuntimeError(f"{op}: argnums must be int or tuple of ints, got {number!r}")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"{op}: got argnum={number}, but only {len(args)} positional inputs")
        places.append(number % len(args))
    if len(set(places)) != len(places):
        raise RuntimeError(f"{op}: argnums must be unique, got {argnums}")
    return tuple(places)


def _replaced(args: tuple[Any, ...], places: tuple[int, ...], values: Sequence[Any]) -> list[Any]:
    full = list(args)
    for place, value in zip(places, values, strict=True):
        full[place] = value
    return full


def _with_aux(result: Any, has_aux: bool, op: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{op}: with has_aux=True the function must return a tuple (output, aux), got "
            f"{type(result).__name__}"
        )
    return result


def _tensors(tree: Any, op: str) -> list[Tensor]:
    leaves = flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{op}: expected the function to return tensors, got {type(leaf).__name__}"
            )
    return leaves


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of ``func``, which gives one number, and that number.

    Example:
        >>> f = pyburn.func.grad_and_value(lambda x: (x * x).sum())
        >>> f(pyburn.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = _chosen(args, argnums, "grad")
        with _Level() as level:
            chosen = level.entered(tuple(args[place] for place in places), "grad")
            result = func(*_replaced(args, places, chosen), **kwargs)
            output, aux = _with_aux(result, has_aux, "grad")
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad: expected the function to return a tensor, got {type(output).__name__}"
                )
            if output.ndim:
                raise RuntimeError(
                    "grad: expected the function to return a scalar tensor, got one of shape "
                    f"{list(output.shape)}; hint: vjp and jacrev take any shape"
                )
            found = _gradients([output], flatten(chosen), None)
            grads = level.left(rebuild(chosen, iter(found)))
            value = level.left(output), level.left(aux)
        grads = grads if isinstance(argnums, tuple) else grads[0]
        return (grads, value) if has_aux else (grads, value[0])

    return wrapper


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of ``func``, which gives one number.

    Example:
        >>> slope = pyburn.func.grad(pyburn.func.grad(lambda x: x**3))
        >>> slope(pyburn.tensor(2.0))
        tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The output, and a function from its cotangents to those of the inputs.

    Example:
        >>> out, pull = pyburn.func.vjp(pyburn.exp, pyburn.zeros(2))
        >>> pull(pyburn.ones(2))
        (tensor([1., 1.]),)
    """
    level = _Level()
    with level:
        inputs = level.entered(primals, "vjp")
        output, aux = _with_aux(func(*inputs), has_aux, "vjp")
        outputs = _tensors(output, "vjp")
        own = list(_nesting.leaves)
        shown = level.left(output), level.left(aux)

    def pull(*cotangents: Any, retain_graph: bool = True, create_graph: bool = True) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        seeds = flatten(given)
        for seed, out in zip(seeds, outputs, strict=False):
            if not isinstance(seed, Tensor) or seed.shape != out.shape:
                what = list(seed.shape) if isinstance(seed, Tensor) else type(seed).__name__
                raise RuntimeError(
                    f"vjp: expected a cotangent of shape {list(out.shape)}, got {what}"
                )
        if len(seeds) != len(outputs):
            raise RuntimeError(f"vjp: expected {len(outputs)} cotangents, got {len(seeds)}")
        again = _Level()
        with again:
            _nesting.leaves += own
            found = _gradients(outputs, flatten(inputs), seeds)
            return again.left(rebuild(inputs, iter(found)))

    return (shown[0], pull, shown[1]) if has_aux else (shown[0], pull)


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The output, and its directional derivative along ``tangents``, by two backward passes.

    Example:
        >>> pyburn.func.jvp(pyburn.exp, (pyburn.zeros(1),), (pyburn.full((1,), 2.0),))
        (tensor([1.]), tensor([2.]))
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp: expected tuples of primals and tangents")
    with _Level() as level:
        inputs = level.entered(primals, "jvp")
        flat, directions = flatten(inputs), flatten(tangents)
        if len(flat) != len(directions) or any(
            a.shape != b.shape for a, b in zip(flat, directions, strict=True)
        ):
            raise RuntimeError(
                "jvp: expected primals and tangents of the same structure and shapes"
            )
        output, aux = _with_aux(func(*inputs), has_aux, "jvp")
        outputs = _tensors(output, "jvp")
        # The pullback is linear in its cotangents: its own gradient by them is the product wanted.
        seeds = level.entered([_zeros(out) for out in outputs], "jvp")
        pulled = _gradients(outputs, flat, seeds)
        if strict and not all(item.requires_grad for item in pulled):
            raise RuntimeError("jvp: the output does not depend on an input, with strict=True")
        pushed = level.left(rebuild(output, iter(_gradients(pulled, seeds, directions))))
        shown = level.left(output)
        return (shown, pushed, level.left(aux)) if has_aux else (shown, pushed)


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that gives the derivative of each output element by each input element.

    Rows are computed one after another; ``chunk_size`` is accepted and makes no difference.

    Example:
        >>> pyburn.func.jacrev(lambda x: x * x)(pyburn.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = _chosen(args, argnums, "jacrev")
        with _Level() as level:
            chosen = level.entered(tuple(args[place] for place in places), "jacrev")
            result = func(*_replaced(args, places, chosen), **kwargs)
            output, aux = _with_aux(result, has_aux, "jacrev")
            inputs = flatten(chosen)

            def matrices(out: Tensor) -> Iterator[Tensor]:
                flat = out.reshape(-1)
                rows = [_gradients([flat[i]], inputs, None) for i in range(flat.numel())]
                for at, item in enumerate(inputs):
                    shape = (*out.shape, *item.shape)
                    if rows:
                        yield _core._stack([row[at] for row in rows], 0).reshape(shape)
                    else:
                        yield _core._full(shape, 0, item.dtype, item.device)

            def of(out: Tensor) -> Any:
                tree = rebuild(chosen, matrices(out))
                return tree if isinstance(argnums, tuple) else tree[0]

            found = [level.left(of(out)) for out in _tensors(output, "jacrev")]
            aux = level.left(aux)
        matrix = rebuild(output, iter(found))
        return (matrix, aux) if has_aux else matrix

    return wrapper


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """What :func:`jacrev` gives, by the same backward passes: gradients go backward only here."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of ``func``.

    Example:
        >>> pyburn.func.hessian(lambda x: (x**3).sum())(pyburn.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
