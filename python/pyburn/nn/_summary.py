"""A model as a table: its modules, the shapes of what they give, the numbers of parameters.

The shapes come from a run on tensors without elements. It happens on a copy of the model that
shares nothing with it but the code: the copy's parameters have no elements either.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from pyburn import _core, _pickle
from pyburn._core import Tensor
from pyburn._dtypes import DTypeLike, as_dtype
from pyburn._tree import is_leaf, tree_map
from pyburn.autograd import no_grad
from pyburn.nn._module import Module
from pyburn.nn.parameter import is_lazy

__all__ = ["Row", "Summary", "summarise"]


class Row:
    """One module of a :class:`Summary`."""

    __slots__ = ("depth", "kind", "name", "output", "own", "parameters", "path")

    def __init__(self, path: str, module: Module) -> None:
        self.path = path
        self.name = path.rpartition(".")[2]
        self.depth = path.count(".") + 1 if path else 0
        self.kind = module._get_name()
        self.parameters: int = sum(map(_size, module.parameters()))
        self.own: int = sum(map(_size, module.parameters(recurse=False)))
        self.output: Any = None
        """The shape of the output, or a container of shapes; ``None`` if it was not called."""

    @property
    def label(self) -> str:
        """Name and class, indented."""
        return "  " * self.depth + (f"{self.name} ({self.kind})" if self.name else self.kind)

    def __repr__(self) -> str:
        return f"{self.path or self.kind}: {_text(self.output)}, {self.parameters} parameters"


class Summary:
    """What :meth:`Module.summary` gives; printed, it is a table."""

    def __init__(self, rows: list[Row], module: Module) -> None:
        self.rows = rows
        parameters = list(module.parameters())
        self.total_params: int = sum(map(_size, parameters))
        self.trainable_params: int = sum(
            _size(parameter) for parameter in parameters if parameter.requires_grad
        )
        self.bytes: int = sum(_size(parameter) * parameter.itemsize for parameter in parameters)
        """The memory that parameters take."""

    def __str__(self) -> str:
        head = ("layer (type)", "output shape", "parameters")
        lines = [
            (row.label, _text(row.output), f"{row.parameters:,}" if row.parameters else "-")
            for row in self.rows
        ]
        first = max(len(line[0]) for line in (head, *lines))
        second = max(len(line[1]) for line in (head, *lines))
        third = max(len(line[2]) for line in (head, *lines))
        rule = "-" * (first + second + third + 8)
        shown = [
            f"{label:<{first}}    {shape:<{second}}    {count:>{third}}"
            for label, shape, count in (head, *lines)
        ]
        total = (
            f"parameters: {self.total_params:,} ({self.trainable_params:,} trainable), "
            f"{self.bytes:,} bytes"
        )
        return "\n".join([shown[0], rule, *shown[1:], rule, total])

    __repr__ = __str__


def _size(tensor: Tensor) -> int:
    return 0 if is_lazy(tensor) else tensor.numel()


def _text(output: Any) -> str:
    if output is None:
        return "-"
    return str(output)


def _shapes(output: Any) -> Any:
    """An output with its tensors replaced by their shapes."""
    if is_leaf(output):
        if isinstance(output, Tensor):
            return tuple(output.shape)
        return type(output).__name__
    return tree_map(_shapes, output)


def _wanted(
    given: Sequence[Any], input_size: Any, dtype: DTypeLike | Sequence[DTypeLike] | None
) -> list[Tensor]:
    """The inputs without elements that arguments of ``summary`` describe."""
    inputs: list[Any] = list(given)
    if input_size is not None:
        if inputs:
            raise TypeError("summary: expected shapes or input_size, got both")
        sizes: list[Any] = list(input_size)
        inputs = [sizes] if all(isinstance(size, int) for size in sizes) else sizes
    if dtype is None or isinstance(dtype, str) or not isinstance(dtype, Sequence):
        kinds: list[Any] = [dtype] * len(inputs)
    else:
        kinds = list(dtype)
        if len(kinds) != len(inputs):
            raise ValueError(f"summary: got {len(inputs)} inputs and {len(kinds)} dtypes")
    meta = _core.device("meta")
    made: list[Tensor] = []
    for each, kind in zip(inputs, kinds, strict=True):
        if isinstance(each, Tensor):
            shape, default = tuple(each.shape), each.dtype
        else:
            try:
                shape, default = tuple(int(size) for size in each), _core.get_default_dtype()
            except TypeError:
                raise TypeError(
                    "summary: expected each input as a shape, such as (8, 3, 32, 32), or as a "
                    f"tensor, got {each!r}"
                ) from None
        made.append(_core._full(shape, 0, default if kind is None else as_dtype(kind), meta))
    return made


def _without_elements(module: Module) -> Module:
    """A copy whose tensors have shapes and dtypes alone."""
    meta = _core.device("meta")
    memo: dict[int, Any] = {}
    for part in module.modules():
        attributes = (value for value in part.__dict__.values() if isinstance(value, Tensor))
        for tensor in (*part._parameters.values(), *part._buffers.values(), *attributes):
            if tensor is None or is_lazy(tensor) or id(tensor) in memo:
                continue
            bare: Any = _core._full(tuple(tensor.shape), 0, tensor.dtype, meta)
            # What a copy finds here it takes instead of making one.
            memo[id(tensor)] = _pickle._of_class(type(tensor), bare)
    # What has no shape yet was copied as it is.
    return copy.deepcopy(module, memo).to(meta)


def _observed(module: Module, inputs: list[Tensor]) -> dict[str, Any]:
    """The shapes of the outputs of all modules, by path."""
    bare = _without_elements(module).eval()
    outputs: dict[str, Any] = {}
    for path, part in bare.named_modules():
        # Those that look on must not see this; those before a call may compute weights.
        part._forward_hooks.clear()

        def note(_module: Module, _args: Any, output: Any, path: str = path) -> None:
            outputs.setdefault(path, _shapes(output))

        part.register_forward_hook(note)
    with no_grad():
        bare(*inputs)
    return outputs


def summarise(
    module: Module,
    given: Sequence[Any],
    *,
    input_size: Any = None,
    dtype: DTypeLike | Sequence[DTypeLike] | None = None,
    depth: int | None = None,
) -> Summary:
    """The summary of a module, see :meth:`Module.summary`."""
    inputs = _wanted(given, input_size, dtype)
    outputs: dict[str, Any] = {}
    if inputs:
        try:
            outputs = _observed(module, inputs)
        except Exception as fault:
            shapes = ", ".join(str(tuple(tensor.shape)) for tensor in inputs)
            raise RuntimeError(
                f"summary: {module._get_name()} does not take inputs of shapes {shapes}, or its "
                f"forward reads elements, which a summary has none of: {fault}"
            ) from fault
    rows: list[Row] = []
    for path, part in module.named_modules():
        row = Row(path, part)
        row.output = outputs.get(path)
        if depth is None or row.depth <= depth:
            rows.append(row)
    return Summary(rows, module)
