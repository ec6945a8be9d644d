"""Windows that fade a signal's ends: PyTorch's ``torch.signal.windows``.

Symmetric ones (``sym``, the default) have equal ends; the others are the beginnings of symmetric
ones that are longer by one, as transforms want them.

Example:
    >>> pyburn.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    as_device,
    float32,
    float64,
    layout,
    strided,
)
from pyburn._options import finish, kind_and_place

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


class Window(Protocol):
    """A window that has no parameters but its length."""

    def __call__(
        self,
        M: int,
        *,
        sym: bool = True,
        dtype: DTypeLike | None = None,
        layout: layout = strided,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: bool = False,
    ) -> Tensor: ...


def _window(
    op: str,
    M: int,
    sym: bool,
    formula: Callable[[Tensor, int], Tensor],
    dtype: DTypeLike | None,
    layout: layout,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """``M`` values of a function of their numbers and of the number of the last one, computed in 64
    bits on the CPU."""
    kind, place = kind_and_place(None, dtype, device, backend)
    if M < 0:
        raise ValueError(f"{op}: requires non-negative window length, got M={M}")
    if kind not in (float32, float64):
        raise ValueError(f"{op}: expects float32 or float64 dtypes, got: {kind}")
    host = as_device("cpu")
    if M < 2:
        values = _core._full((M,), 1, float64, host)
    else:
        values = formula(_core._arange(0, M, 1, float64, host), M - 1 if sym else M)
    return finish(values.to(kind).to(place), None, requires_grad, layout)


def _plain(name: str, text: str, formula: Callable[[Tensor, int], Tensor]) -> Window:
    """A window that has no parameters."""

    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: DTypeLike | None = None,
        layout: layout = strided,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: bool = False,
    ) -> Tensor:
        return _window(name, M, sym, formula, dtype, layout, device, backend, requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = text
    return window


def _cosines(*factors: float) -> Callable[[Tensor, int], Tensor]:
    """The sum of cosines with the given factors, of alternating sign."""

    def formula(k: Tensor, last: int) -> Tensor:
        return sum(
            (
                factor * (-1) ** i * (k * (2 * math.pi * i / last)).cos()
                for i, factor in enumerate(factors)
            ),
            start=0 * k,
        )

    return formula


bartlett: Window = _plain(
    "bartlett", "The triangular window.", lambda k, last: 1 - (2 * k / last - 1).abs()
)
cosine: Window = _plain(
    "cosine",
    "Half a period of the sine.",
    lambda k, last: ((k + 0.5) * (math.pi / (last + 1))).sin(),
)
hamming: Window = _plain("hamming", "The Hamming window.", _cosines(0.54, 0.46))
hann: Window = _plain("hann", "The Hann window.", _cosines(0.5, 0.5))
blackman: Window = _plain("blackman", "The Blackman window.", _cosines(0.42, 0.5, 0.08))
nuttall: Window = _plain(
    "nuttall",
    "The Nuttall window of least side lobes.",
    _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
)


def _positive(op: str, name: str, value: float) -> None:
    if value <= 0:
        raise ValueError(f"{op}: {name} must be positive, got: {value} instead.")


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``exp(-|n - center| / tau)``; symmetric ones are centred in the middle."""
    _positive("exponential", "Tau", tau)
    if sym and center is not None:
        raise ValueError("exponential: Center must be None for symmetric windows")

    def formula(k: Tensor, last: int) -> Tensor:
        return (-(k - (last / 2 if center is None else center)).abs() / tau).exp()

    return _window("exponential", M, sym, formula, dtype, layout, device, backend, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The normal distribution's bell of width ``std``.

    Example:
        >>> pyburn.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])
    """
    _positive("gaussian", "Standard deviation", std)

    def formula(k: Tensor, last: int) -> Tensor:
        return (-0.5 * ((k - last / 2) / std).square()).exp()

    return _window("gaussian", M, sym, formula, dtype, layout, device, backend, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window, the narrower the larger ``beta`` is."""
    if beta < 0:
        raise ValueError(f"kaiser: beta must be non-negative, got: {beta} instead.")

    def formula(k: Tensor, last: int) -> Tensor:
        return (beta * (1 - (2 * k / last - 1).square()).clamp(min=0).sqrt()).i0() / _i0(beta)

    return _window("kaiser", M, sym, formula, dtype, layout, device, backend, requires_grad)


def _i0(x: float) -> float:
    return _core._full((), x, float64, as_device("cpu")).i0().item()


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The sum of cosines ``a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N) - ...``."""
    factors = tuple(a)
    if not factors:
        raise ValueError("general_cosine: Coefficients cannot be empty")
    formula = _cosines(*factors)
    return _window("general_cosine", M, sym, formula, dtype, layout, device, backend, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``alpha - (1 - alpha) cos(2 pi n / N)``."""
    formula = _cosines(alpha, 1 - alpha)
    return _window(
        "general_hamming", M, sym, formula, dtype, layout, device, backend, requires_grad
    )
