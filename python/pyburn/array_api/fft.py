"""The standard's Fourier transform extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyburn
from pyburn._core import Tensor
from pyburn._core import dtype as dtype_
from pyburn._dtypes import DeviceLike

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


def _one(name: str) -> Callable[..., Tensor]:
    inner = getattr(pyburn.fft, name)

    def transform(
        x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Tensor:
        return inner(x, n, axis, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = inner.__doc__
    return transform


def _many(name: str) -> Callable[..., Tensor]:
    inner = getattr(pyburn.fft, name)

    def transform(
        x: Tensor,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Tensor:
        return inner(x, s, axes, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = inner.__doc__
    return transform


fft, ifft, rfft, irfft, hfft, ihfft = map(_one, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_many, ("fftn", "ifftn", "rfftn", "irfftn"))


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: dtype_ | None = None, device: DeviceLike | None = None
) -> Tensor:
    """The frequencies of a transform's elements."""
    return pyburn.fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: dtype_ | None = None, device: DeviceLike | None = None
) -> Tensor:
    """The frequencies of a real transform's elements."""
    return pyburn.fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """Frequency zero in the middle."""
    return pyburn.fft.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """Frequency zero back at the start."""
    return pyburn.fft.ifftshift(x, axes)
