"""A function of one example as a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pyburn import _core
from pyburn._core import Tensor
from pyburn._random import default_generator
from pyburn._tree import flatten, is_leaf, rebuild

__all__ = ["vmap"]


def _spread(dims: Any, tree: Any, what: str) -> list[Any]:
    """One dimension per leaf of a tree, from a number, ``None`` or a tree of them."""
    if dims is None or type(dims) is int:
        return [dims] * len(flatten(tree))
    matching = (
        not is_leaf(tree)
        and len(dims) == len(tree)
        and (not isinstance(tree, dict) or set(dims) == set(tree))
        if isinstance(dims, list | tuple | dict)
        and isinstance(dims, dict) == isinstance(tree, dict)
        else False
    )
    if not matching:
        raise ValueError(
            f"vmap: {what} must be an int, None, or a container of them that is built like the "
            f"values, got {dims!r}"
        )
    keys = tree if isinstance(tree, dict) else range(len(tree))
    return [found for key in keys for found in _spread(dims[key], tree[key], what)]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``func``, which takes one example, as a function of a batch of them.

    ``in_dims`` and ``out_dims`` say which dimension counts examples, for all values or each;
    ``None`` is a value that all examples share. The function runs once per example, one after
    another, so this is as slow as a loop; ``chunk_size`` is accepted and makes no difference.
    ``randomness`` says what random numbers in ``func`` do: ``"error"``, ``"same"`` for all
    examples or ``"different"``; those drawn from a generator of one's own are always different.

    Example:
        >>> dot = pyburn.vmap(pyburn.dot, in_dims=(0, None))
        >>> dot(pyburn.tensor([[1.0, 2.0], [3.0, 4.0]]), pyburn.tensor([1.0, 1.0]))
        tensor([3., 7.])
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            f"vmap: randomness must be 'error', 'different' or 'same', got {randomness!r}"
        )
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size must be at least 1, got {chunk_size}")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _run(func, in_dims, out_dims, randomness, args, kwargs)

    return wrapper


def _run(
    func: Callable[..., Any],
    in_dims: Any,
    out_dims: Any,
    randomness: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if not args:
        raise ValueError("vmap: expected at least one positional argument")
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    leaves = flatten(args)
    dims = _spread(in_dims, args, "in_dims")
    size: int | None = None
    for at, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap: in_dims gives dimension {dim} to input {at}, a {type(leaf).__name__}; "
                "hint: None for what is no tensor"
            )
        if not -leaf.ndim <= dim < leaf.ndim:
            raise ValueError(
                f"vmap: in_dims gives dimension {dim} to input {at}, which has {leaf.ndim} "
                "dimensions"
            )
        extent = leaf.shape[dim]
        if size is not None and extent != size:
            raise ValueError(
                "vmap: expected all tensors to have the same size in the mapped dimension, got "
                f"{size} and {extent} for input {at}"
            )
        size = extent
    if size is None:
        raise ValueError("vmap: at least one input must be mapped, in_dims is None for all")

    def example(index: int) -> Any:
        picked = (
            leaf if dim is None else _core.select(leaf, dim, index)
            for leaf, dim in zip(leaves, dims, strict=True)
        )
        return func(*rebuild(args, picked), **kwargs)

    results: list[Any] = []
    if size:
        source = default_generator._source
        start = source.get_state() if randomness != "different" else b""
        for index in range(size):
            if randomness == "same" and index:
                source.set_state(start)
            results.append(example(index))
            if randomness == "error" and not index and source.get_state() != start:
                raise RuntimeError(
                    "vmap: called random operation while in randomness error mode. Please either "
                    "use the 'same' or 'different' randomness flags on vmap or perform the "
                    "randomness operation out of vmap"
                )
    else:
        # No example to run: one of zeros tells the shapes.
        empty = (
            leaf
            if dim is None
            else _core._full(
                [n for i, n in enumerate(leaf.shape) if i != dim % leaf.ndim],
                0,
                leaf.dtype,
                leaf.device,
            )
            for leaf, dim in zip(leaves, dims, strict=True)
        )
        results.append(func(*rebuild(args, empty), **kwargs))
    first = results[0]
    columns = list(zip(*(_checked(result, first) for result in results), strict=True))
    targets = _spread(out_dims, first, "out_dims")
    joined = [_joined(column, dim, size) for column, dim in zip(columns, targets, strict=True)]
    return rebuild(first, iter(joined))


def _checked(result: Any, first: Any) -> list[Tensor]:
    leaves = flatten(result)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap: the function must only return tensors, got {type(leaf).__name__}"
            )
    if len(leaves) != len(flatten(first)):
        raise ValueError("vmap: the function gave different structures for different examples")
    return leaves


def _joined(column: tuple[Tensor, ...], dim: int | None, size: int) -> Tensor:
    if dim is None:
        if not all(_core.equal(column[0], other) for other in column[1:]):
            raise ValueError("vmap: out_dims is None for an output that differs between examples")
        return column[0]
    rank = column[0].ndim + 1
    if not -rank <= dim < rank:
        raise IndexError(f"vmap: out_dims gives dimension {dim} to an output of {rank} dimensions")
    stacked = _core._stack(list(column), dim % rank)
    return stacked if size else stacked.narrow(dim % rank, 0, 0)
