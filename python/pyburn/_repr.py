"""How tensors look as text: the format of PyTorch, character by character."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Generator
from typing import Any

from pyburn import _core
from pyburn._core import Tensor

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


class _Options:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    Example:
        >>> pyburn.set_printoptions(precision=2)
        >>> pyburn.tensor([1.12345])
        tensor([1.12])
    """
    wanted: dict[str, Any] = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    wanted.update((name, value) for name, value in given.items() if value is not None)
    for name, value in wanted.items():
        setattr(_options, name, value)
    # Like PyTorch, a call that does not name it goes back to the automatic choice.
    _options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, as keyword arguments of :func:`set_printoptions`."""
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return {name: getattr(_options, name) for name in names}


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Generator[None]:
    """Options for the time of a ``with`` block.

    Example:
        >>> with pyburn.printoptions(precision=2):
        ...     print(pyburn.tensor([1.12345]))
        tensor([1.12])
    """
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


class _Plain:
    """Integers and bools, padded to one width."""

    def __init__(self, values: list[Any]) -> None:
        self.width = max((len(str(value)) for value in values), default=1)

    def format(self, value: Any) -> str:
        return str(value).rjust(self.width)


class _Real:
    """Floats: as integers with a dot, with fixed digits or in scientific notation."""

    def __init__(self, values: list[float]) -> None:
        self.precision = _options.precision
        self.width = 1
        self.integral = True
        self.scientific = False
        finite = [value for value in values if value != 0 and math.isfinite(value)]
        if not finite:
            return
        smallest, largest = min(map(abs, finite)), max(map(abs, finite))
        self.integral = all(value == math.ceil(value) for value in finite)
        if _options.sci_mode is None:
            self.scientific = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4
        else:
            self.scientific = _options.sci_mode
        self.width = max(1, max(len(self._digits(value)) for value in finite))

    def _digits(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{self.precision}e}"
        if self.integral:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{self.precision}f}"

    def format(self, value: float) -> str:
        return self._digits(value).rjust(self.width)


class _Complex:
    """Pairs of floats."""

    def __init__(self, values: list[complex]) -> None:
        self.real = _Real([value.real for value in values])
        self.imag = _Real([value.imag for value in values])
        self.width = self.real.width + self.imag.width + 1

    def format(self, value: complex) -> str:
        real = self.real.format(value.real)
        imag = (self.imag.format(value.imag) + "j").lstrip()
        return real + imag if imag[0] in "+-" else f"{real}+{imag}"


def _flat(values: Any, depth: int) -> list[Any]:
    if depth == 0:
        return [values]
    for _ in range(depth - 1):
        values = [item for part in values for item in part]
    return values


def _edges(tensor: Tensor) -> Tensor:
    """Only the elements that a summary shows."""
    edge = _options.edgeitems
    for dim, size in enumerate(tensor.shape):
        if size > 2 * edge:
            parts = [
                _core.narrow(tensor, dim, 0, edge),
                _core.narrow(tensor, dim, size - edge, edge),
            ]
            tensor = _core._cat(parts, dim)
    return tensor


def _body(data: Any, shape: tuple[int, ...], indent: int, summarize: bool, formatter: Any) -> str:
    """Nested brackets; `data` lacks the elements that a summary leaves out."""
    if not shape:
        return formatter.format(data)
    edge = _options.edgeitems
    cut = summarize and shape[0] > 2 * edge
    if len(shape) == 1:
        if summarize and not edge:
            items = ["..."]
        else:
            items = [formatter.format(item) for item in data]
            if cut:
                items = [*items[:edge], " ...", *items[edge:]]
        per_line = max(1, (_options.linewidth - indent) // (formatter.width + 2))
        lines = [
            ", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)
        ]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = [_body(item, shape[1:], indent + 1, summarize, formatter) for item in data]
    if cut:
        parts = [*parts[:edge], "...", *parts[edge:]]
    separator = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
    return "[" + separator.join(parts) + "]"


def _elements(tensor: Tensor, indent: int) -> str:
    shape = tuple(tensor.shape)
    summarize = tensor.numel() > _options.threshold
    shown = _edges(tensor) if summarize else tensor
    data = shown.to("cpu").tolist()
    flat = _flat(data, len(shape)) if shown.numel() else []
    if tensor.dtype.is_complex:
        formatter: Any = _Complex(flat)
    elif tensor.dtype.is_floating_point:
        formatter = _Real(flat)
    else:
        formatter = _Plain(flat)
    return _body(data, shape, indent, summarize, formatter)


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    parts = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > _options.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            last += len(suffix) + 2
    parts.append(")")
    return "".join(parts)


def _parameter_class() -> type | None:
    return getattr(sys.modules.get("pyburn.nn"), "Parameter", None)


def tensor_text(tensor: Tensor) -> str:
    """A tensor as ``repr()`` shows it."""
    parameter = _parameter_class()
    plain = type(tensor) is Tensor or type(tensor) is parameter
    prefix = "tensor(" if plain else f"{type(tensor).__name__}("
    indent = len(prefix)
    suffixes: list[str] = []
    values = tensor.detach()
    device, dtype = values.device, values.dtype
    default = _core.get_default_dtype()
    familiar = (default, default.to_complex(), _core.dtype("int64"), _core.dtype("bool"))
    if device.type != "cpu":
        suffixes.append(f"device='{device}'")
    if values.is_meta:
        suffixes.append(f"size={tuple(values.shape)}")
        if dtype != default:
            suffixes.append(f"dtype={dtype!r}")
        text = "..."
    elif values.numel() == 0:
        if values.dim() != 1:
            suffixes.append(f"size={tuple(values.shape)}")
        # Nothing shows the dtype of no elements.
        if dtype != default:
            suffixes.append(f"dtype={dtype!r}")
        text = "[]"
    else:
        if not _options.edgeitems:
            suffixes.append(f"size={tuple(values.shape)}")
        if dtype not in familiar:
            suffixes.append(f"dtype={dtype!r}")
        text = _elements(values, indent)
    step = tensor.grad_fn
    if step is not None:
        suffixes.append(f"grad_fn=<{step.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    text = _with_suffixes(prefix + text, suffixes, indent)
    if parameter is not None and isinstance(tensor, parameter) and not plain:
        return f"Parameter({text})"
    return text


def _repr(self: Tensor) -> str:
    """The elements, and what is unusual about the tensor."""
    mode = _core._set_grad_enabled(False)
    try:
        return tensor_text(self)
    finally:
        _core._set_grad_enabled(mode)


def _format(self: Tensor, spec: str) -> str:
    """A 0-d tensor like its number, any other like ``str()``."""
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


Tensor.__repr__ = _repr  # type: ignore[method-assign]
Tensor.__str__ = _repr  # type: ignore[method-assign,assignment]
Tensor.__format__ = _format  # type: ignore[method-assign]
