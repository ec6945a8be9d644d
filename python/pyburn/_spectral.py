"""Spectra over time, and the windows that fade a piece's ends."""

from __future__ import annotations

from typing import Any

from pyburn import _core
from pyburn._api import method
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike, layout, strided
from pyburn._options import finish, kind_and_place

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "istft",
    "kaiser_window",
    "stft",
]


@method
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Spectra of the overlapping pieces of one signal or several: frequencies by pieces.

    Pieces of ``n_fft`` elements start ``hop_length`` apart, a quarter of a piece by default, and
    are multiplied by the window. With ``center`` each is centred on its place; ``pad_mode`` says
    what lies beyond the ends of the signal. Without it, ``align_to_window`` lets a window shorter
    than ``n_fft`` go from one end of the signal to the other, and not the pieces.

    Example:
        >>> x = pyburn.ones(2, 64)
        >>> pyburn.stft(x, 16, window=pyburn.hann_window(16), return_complex=True).shape
        pyburn.Size([2, 9, 17])
    """
    if align_to_window is not None and center:
        raise RuntimeError("stft: align_to_window should only be set when center = False")
    length = n_fft if win_length is None else win_length
    if align_to_window and 0 < length <= n_fft:
        # A shorter window lies in the middle of its piece: with zeros before the signal, the first
        # window begins where the signal does.
        before = (n_fft - length) // 2
        input = _core.pad(input, (before, n_fft - length - before), "constant", 0)
    return _core.stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
    )


@method
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose spectra :func:`stft` gave, ``length`` elements of it if that is given.

    Example:
        >>> x, window = pyburn.arange(64.0), pyburn.hann_window(16)
        >>> spectra = pyburn.stft(x, 16, window=window, return_complex=True)
        >>> pyburn.allclose(pyburn.istft(spectra, 16, window=window), x, atol=1e-4)
        True
    """
    return _core.istft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        normalized,
        onesided,
        length,
        return_complex,
    )


def _window(
    native: Any,
    args: tuple[Any, ...],
    dtype: DTypeLike | None,
    layout: layout | None,
    device: DeviceLike | None,
    backend: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    kind, place = kind_and_place(None, dtype, device, backend)
    return finish(native(*args, kind, place), None, requires_grad, layout)


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Hann window ``0.5 - 0.5 cos(2 pi n / N)``; without ``periodic`` its ends are alike.

    Example:
        >>> pyburn.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    args = (window_length, periodic)
    return _window(_core._hann_window, args, dtype, layout, device, backend, requires_grad)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Hamming window ``alpha - beta cos(2 pi n / N)``."""
    args = (window_length, periodic, alpha, beta)
    return _window(_core._hamming_window, args, dtype, layout, device, backend, requires_grad)


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Blackman window ``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``."""
    args = (window_length, periodic)
    return _window(_core._blackman_window, args, dtype, layout, device, backend, requires_grad)


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The triangular window."""
    args = (window_length, periodic)
    return _window(_core._bartlett_window, args, dtype, layout, device, backend, requires_grad)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window, the narrower the larger ``beta`` is."""
    args = (window_length, periodic, float(beta))
    return _window(_core._kaiser_window, args, dtype, layout, device, backend, requires_grad)
