"""Discrete Fourier transforms: PyTorch's ``torch.fft``.

``norm`` says which of a pair of transforms is divided by the number of elements: the inverse one
(``"backward"``, the default), the forward one (``"forward"``), or both by its root (``"ortho"``).
Complex tensors exist on the CPU only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from pyburn import _core
from pyburn._api import into
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, layout, numpy_names, strided
from pyburn._options import finish, kind_and_place

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Dims = int | Sequence[int] | None
F = TypeVar("F", bound=Callable[..., Tensor])


class OverOne(Protocol):
    """A transform along one dimension."""

    def __call__(
        self,
        input: Tensor,
        n: int | None = None,
        dim: int = -1,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor: ...


class OverTwo(Protocol):
    """A transform over two dimensions."""

    def __call__(
        self,
        input: Tensor,
        s: Dims = None,
        dim: int | Sequence[int] = (-2, -1),
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor: ...


class OverMany(Protocol):
    """A transform over several dimensions."""

    def __call__(
        self,
        input: Tensor,
        s: Dims = None,
        dim: Dims = None,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor: ...


def _named(function: F, name: str, text: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return numpy_names(function)


def _one(name: str, text: str) -> OverOne:
    """A transform along one dimension."""
    native = getattr(_core, name)

    def function(
        input: Tensor,
        n: int | None = None,
        dim: int = -1,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        return into(native(input, n, dim, norm), out)

    return _named(function, name, text)


def _two(name: str, text: str) -> OverTwo:
    """A transform over two dimensions."""
    native = getattr(_core, name)

    def function(
        input: Tensor,
        s: Dims = None,
        dim: int | Sequence[int] = (-2, -1),
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        return into(native(input, s, dim, norm), out)

    return _named(function, name, text)


def _many(name: str, text: str) -> OverMany:
    """A transform over several dimensions, all of them if none is named."""
    native = getattr(_core, name)

    def function(
        input: Tensor,
        s: Dims = None,
        dim: Dims = None,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        return into(native(input, s, dim, norm), out)

    return _named(function, name, text)


fft: OverOne = _one(
    "fft",
    """The transform along one dimension, cut or padded with zeros to ``n`` elements.

    Example:
        >>> pyburn.fft.fft(pyburn.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """,
)
ifft: OverOne = _one("ifft", "The inverse of :func:`fft`.")
rfft: OverOne = _one(
    "rfft",
    """The transform of real numbers: the half of their spectrum that says all.

    Example:
        >>> pyburn.fft.rfft(pyburn.ones(4)).abs()
        tensor([4., 0., 0.])
    """,
)
irfft: OverOne = _one(
    "irfft",
    """The inverse of :func:`rfft`: ``n`` real numbers, an even number of them by default.

    Example:
        >>> x = pyburn.tensor([1.0, 2.0, 4.0])
        >>> pyburn.fft.irfft(pyburn.fft.rfft(x), n=3)
        tensor([1., 2., 4.])
    """,
)
hfft: OverOne = _one("hfft", "The transform of the half of a signal whose spectrum is real.")
ihfft: OverOne = _one("ihfft", "The inverse of :func:`hfft`.")
fft2: OverTwo = _two("fft2", "The transform over two dimensions, cut or padded to the sizes ``s``.")
ifft2: OverTwo = _two("ifft2", "The inverse of :func:`fft2`.")
rfft2: OverTwo = _two(
    "rfft2", "The transform of real numbers over two dimensions; the last one is halved."
)
irfft2: OverTwo = _two("irfft2", "The inverse of :func:`rfft2`.")
hfft2: OverTwo = _two(
    "hfft2", "The transform over two dimensions of half a signal with a real spectrum."
)
ihfft2: OverTwo = _two("ihfft2", "The inverse of :func:`hfft2`.")
fftn: OverMany = _many("fftn", "The transform over dimensions, cut or padded to the sizes ``s``.")
ifftn: OverMany = _many("ifftn", "The inverse of :func:`fftn`.")
rfftn: OverMany = _many(
    "rfftn", "The transform of real numbers over dimensions; the last one is halved."
)
irfftn: OverMany = _many("irfftn", "The inverse of :func:`rfftn`.")
hfftn: OverMany = _many(
    "hfftn", "The transform over dimensions of half a signal with a real spectrum."
)
ihfftn: OverMany = _many("ihfftn", "The inverse of :func:`hfftn`.")


@numpy_names
def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The zero frequency moved to the middle.

    Example:
        >>> pyburn.fft.fftshift(pyburn.tensor([0, 1, 2, -2, -1]))
        tensor([-2, -1,  0,  1,  2])
    """
    return _core.fftshift(input, dim)


@numpy_names
def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of :func:`fftshift`."""
    return _core.ifftshift(input, dim)


def _frequencies(
    native: Callable[..., Tensor],
    n: int,
    d: float,
    out: Tensor | None,
    dtype: DTypeLike | None,
    layout: layout | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    kind, place = kind_and_place(out, dtype, device, backend)
    return finish(native(n, d, kind, place), out, requires_grad, layout)


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of :func:`fft` of ``n`` samples that are ``d`` apart.

    Example:
        >>> pyburn.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies(_core._fftfreq, n, d, out, dtype, layout, device, backend, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of :func:`rfft` of ``n`` samples that are ``d`` apart."""
    return _frequencies(_core._rfftfreq, n, d, out, dtype, layout, device, backend, requires_grad)
