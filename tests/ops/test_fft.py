"""`pyburn.fft`, the windows and the spectra over time, against NumPy and SciPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyburn as pb
import pytest
from helpers import LAYOUTS, assert_close, name_of, to_numpy
from pyburn.autograd import gradcheck, gradgradcheck
from scipy import fft as sf
from scipy import signal

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO = tuple(name + "2" for name in ONE)
MANY = tuple(name + "n" for name in ONE)
REAL_INPUT = ("rfft", "ihfft")
NORMS = (None, "backward", "forward", "ortho")
SHAPES = ((1,), (2,), (5,), (8,), (3, 6), (2, 3, 4), (2, 1, 7), (0, 5))


def _array(name: str, shape: tuple[int, ...], dtype: str = "complex128", seed: int = 0) -> Any:
    random = np.random.default_rng([seed, *shape])
    x = random.standard_normal(shape)
    if name.rstrip("2n") not in REAL_INPUT and "complex" in dtype:
        x = x + 1j * random.standard_normal(shape)
    real = {"complex128": "float64", "complex64": "float32"}.get(dtype, dtype)
    return x.astype(dtype if np.iscomplexobj(x) else real)


def _check(name: str, x: np.ndarray, *args: Any, layout: str = "plain", **kwargs: Any) -> None:
    dtype = str(x.dtype)
    given = LAYOUTS[layout](x, dtype)
    axes = {
        {"dim": "axes" if name[-1] in "2n" else "axis"}.get(key, key): value
        for key, value in kwargs.items()
    }
    expected = getattr(sf, name)(x, *args, **axes)
    found = getattr(pb.fft, name)(given, *args, **kwargs)
    text = f"{name}({dtype}{list(x.shape)}, {args}, {kwargs})"
    assert name_of(found.dtype) == str(expected.dtype), text
    # Errors grow like the sums themselves: with the root of the number of elements.
    room = 20 * max(1.0, np.sqrt(x.shape[-1]) / 8)
    assert_close(to_numpy(found), expected, str(expected.dtype), room, text)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("layout", ["plain", "transposed", "stepped", "flipped"])
def test_along_one_dimension(name: str, layout: str) -> None:
    for shape, norm in itertools.product(SHAPES, NORMS):
        for dim in {0, -1}:
            size = shape[dim]
            if size == 0 or (size == 1 and name in ("irfft", "hfft")):
                continue
            x = _array(name, shape)
            _check(name, x, dim=dim, norm=norm, layout=layout)
            for n in (1, size, size + 3):
                _check(name, x, n, dim=dim, norm=norm, layout=layout)


@pytest.mark.parametrize("name", ONE)
def test_lengths_of_every_kind(name: str) -> None:
    # Powers of two, primes, products of small and of large primes.
    for n in (2, 3, 4, 6, 13, 16, 30, 64, 97, 100, 251, 1000, 1021, 1024, 4093):
        _check(name, _array(name, (n,)))
        _check(name, _array(name, (n,), "complex64"))


@pytest.mark.parametrize("name", MANY)
def test_over_several_dimensions(name: str) -> None:
    x = _array(name, (3, 4, 6))
    for norm in NORMS:
        _check(name, x, norm=norm)
        _check(name, x, None, dim=(0, 2), norm=norm)
        _check(name, x, (5, 2), dim=(2, 0), norm=norm)
        _check(name, x, (4, 4), dim=(-1, 1), norm=norm)
    _check(name, x, dim=(1,), layout="transposed")
    given = pb.tensor(x)
    found = getattr(pb.fft, name)(given, s=(4, 4))
    expected = getattr(sf, name)(x, s=(4, 4), axes=(1, 2))
    assert_close(to_numpy(found), expected, "complex128", 20)


@pytest.mark.parametrize("name", TWO)
def test_over_two_dimensions(name: str) -> None:
    x = _array(name, (2, 4, 6))
    for norm in NORMS:
        _check(name, x, norm=norm)
        _check(name, x, (3, 5), norm=norm)
        _check(name, x, dim=(0, 1), norm=norm)


@pytest.mark.parametrize("name", ONE + TWO + MANY)
def test_integers_count_as_floats(name: str) -> None:
    x = np.arange(1, 25).reshape(2, 3, 4)
    found = getattr(pb.fft, name)(pb.tensor(x))
    expected = getattr(sf, name)(x.astype(np.float32))
    assert name_of(found.dtype) == str(expected.dtype)
    assert_close(to_numpy(found), expected, "float32", 20)


@pytest.mark.parametrize("name", ONE + TWO + MANY)
def test_gradients(name: str) -> None:
    x = pb.tensor(_array(name, (2, 3, 4)), requires_grad=True)
    function = getattr(pb.fft, name)
    for norm in (None, "ortho"):
        assert gradcheck(lambda x, norm=norm: function(x, norm=norm), (x,))
    assert gradgradcheck(function, (x,))
    size = 5 if name in ONE else (2, 5)
    assert gradcheck(lambda x: function(x, size), (x,))


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_frequencies_and_shifts(n: int) -> None:
    if n:
        found = pb.fft.fftfreq(n, 0.5, dtype=pb.float64)
        assert_close(to_numpy(found), sf.fftfreq(n, 0.5), "float64")
        found = pb.fft.rfftfreq(n, 0.5, dtype=pb.float64)
        assert_close(to_numpy(found), sf.rfftfreq(n, 0.5), "float64")
    x = np.arange(n * 6).reshape(2, n, 3)
    for dim in (None, 0, (1,), (0, -1)):
        for name in ("fftshift", "ifftshift"):
            found = getattr(pb.fft, name)(pb.tensor(x), dim)
            np.testing.assert_array_equal(to_numpy(found), getattr(sf, name)(x, dim))
    assert pb.fft.fftfreq(3).dtype == pb.get_default_dtype()


def test_there_and_back() -> None:
    x = pb.randn(3, 7, dtype=pb.float64)
    assert pb.allclose(pb.fft.ifft(pb.fft.fft(x)).real, x)
    assert pb.allclose(pb.fft.irfft(pb.fft.rfft(x), n=7), x)
    assert pb.allclose(pb.fft.irfftn(pb.fft.rfftn(x), s=x.shape), x)
    out = pb.empty(0, dtype=pb.complex128)
    assert pb.fft.fft(x, out=out) is out
    assert out.shape == x.shape


def test_errors_of_transforms() -> None:
    x = pb.ones(3, 4)
    with pytest.raises(RuntimeError, match=r"fft\.fft: Invalid number of data points \(0\)"):
        pb.fft.fft(x, n=0)
    with pytest.raises(IndexError, match=r"fft\.fft"):
        pb.fft.fft(x, dim=2)
    with pytest.raises(IndexError, match="0-d"):
        pb.fft.rfft(pb.ones(()))
    with pytest.raises(RuntimeError, match=r"fft\.rfft: expects a real input tensor"):
        pb.fft.rfft(x.to(pb.complex64))
    with pytest.raises(RuntimeError, match="Invalid normalization mode"):
        pb.fft.ifft(x, norm="other")
    with pytest.raises(RuntimeError, match="unique"):
        pb.fft.fftn(x, dim=(0, 0))
    with pytest.raises(RuntimeError, match="same length"):
        pb.fft.fftn(x, s=(2, 2), dim=(0,))
    with pytest.raises(RuntimeError, match="Unsupported dtype"):
        pb.fft.fft(x.half())


WINDOWS = {
    "hann": (pb.hann_window, {}, "hann"),
    "hamming": (pb.hamming_window, {}, "hamming"),
    "blackman": (pb.blackman_window, {}, "blackman"),
    "bartlett": (pb.bartlett_window, {}, "bartlett"),
    "kaiser": (pb.kaiser_window, {"beta": 12.0}, ("kaiser", 12.0)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    function, options, kind = WINDOWS[name]
    for n, periodic in itertools.product((0, 1, 2, 7, 16), (True, False)):
        found = function(n, periodic, dtype=pb.float64, **options)
        expected = signal.get_window(kind, n, fftbins=periodic) if n else np.empty(0)
        assert_close(to_numpy(found), expected, "float64", text=f"{name}({n}, {periodic})")
    assert function(4).dtype == pb.get_default_dtype()
    assert function(4, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        function(4, dtype=pb.int64)


def test_hamming_takes_its_factors() -> None:
    found = pb.hamming_window(6, False, 0.7, 0.3, dtype=pb.float64)
    expected = 0.7 - 0.3 * np.cos(2 * np.pi * np.arange(6) / 5)
    assert_close(to_numpy(found), expected, "float64")


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("bartlett", {}, "bartlett"),
        ("blackman", {}, "blackman"),
        ("cosine", {}, "cosine"),
        ("exponential", {"tau": 2.0}, ("exponential", None, 2.0)),
        ("gaussian", {"std": 2.5}, ("gaussian", 2.5)),
        ("general_cosine", {"a": [0.5, 0.3, 0.2]}, ("general_cosine", [0.5, 0.3, 0.2])),
        ("general_hamming", {"alpha": 0.7}, ("general_hamming", 0.7)),
        ("hamming", {}, "hamming"),
        ("hann", {}, "hann"),
        ("kaiser", {"beta": 5.0}, ("kaiser", 5.0)),
        ("nuttall", {}, "nuttall"),
    ],
)
def test_signal_windows(name: str, options: dict[str, Any], kind: Any) -> None:
    function = getattr(pb.signal.windows, name)
    for n, sym in itertools.product((0, 1, 2, 7, 16), (True, False)):
        found = function(n, sym=sym, dtype=pb.float64, **options)
        expected = signal.get_window(kind, n, fftbins=not sym) if n else np.empty(0)
        assert_close(to_numpy(found), expected, "float64", text=f"{name}({n}, {sym})")
    with pytest.raises(ValueError, match="non-negative"):
        function(-1, **options)
    with pytest.raises(ValueError, match="float32 or float64"):
        function(4, dtype=pb.float16, **options)


def _pieces(x: np.ndarray, n: int, hop: int, window: np.ndarray) -> np.ndarray:
    starts = range(0, x.shape[-1] - n + 1, hop)
    return np.stack([x[..., at : at + n] * window for at in starts], -1)


@pytest.mark.parametrize("shape", [(40,), (3, 40)])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
def test_spectra_and_back(shape: tuple[int, ...], center: bool, onesided: bool) -> None:
    x = _array("rfft", shape, "float64")
    n, hop = 8, 3
    lengths = (8, 6) if center else (8,)
    for normalized, length in itertools.product((True, False), lengths):
        window = signal.get_window("hann", length, fftbins=True) + 0.1
        wide = np.pad(window, (n - length) // 2)
        options: dict[str, Any] = {
            "hop_length": hop,
            "win_length": length,
            "window": pb.tensor(window),
            "center": center,
            "normalized": normalized,
            "onesided": onesided,
        }
        found = pb.stft(pb.tensor(x), n, return_complex=True, **options)
        sides = [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)]
        padded = np.pad(x, sides, mode="reflect") if center else x
        pieces = _pieces(padded, n, hop, wide)
        transform = np.fft.rfft if onesided else np.fft.fft
        expected = transform(pieces, axis=-2, norm="ortho" if normalized else "backward")
        assert_close(to_numpy(found), expected, "complex128", 20)
        pairs = pb.stft(pb.tensor(x), n, return_complex=False, **options)
        assert pb.equal(pb.view_as_complex(pairs), found)
        back = pb.istft(found, n, **options)
        # Without centring the ends are seen by no piece, or by the window's ends only.
        size = back.shape[-1]
        assert_close(to_numpy(back), x[..., :size], "float64", 1000)
        cut = pb.istft(found, n, length=20, **options)
        assert_close(to_numpy(cut), x[..., :20], "float64", 1000)


@pytest.mark.parametrize("n", [8, 9])
def test_windows_from_end_to_end(n: int) -> None:
    """Pieces aligned to a window that is shorter than they are."""
    x, hop = _array("rfft", (2, 21), "float64"), 3
    window = pb.hann_window(4, dtype=pb.float64) + 0.1
    options = {"hop_length": hop, "win_length": 4, "window": window, "center": False}
    found = pb.stft(pb.tensor(x), n, align_to_window=True, return_complex=True, **options)
    before = (n - 4) // 2
    starts = range(0, x.shape[-1] - 4 + 1, hop)
    pieces = np.zeros((2, n, len(starts)))
    for at, start in enumerate(starts):
        pieces[:, before : before + 4, at] = x[:, start : start + 4] * to_numpy(window)
    assert_close(to_numpy(found), np.fft.rfft(pieces, axis=-2), "complex128", 20)
    plain = pb.stft(pb.tensor(x), n, align_to_window=False, return_complex=True, **options)
    assert plain.shape[-1] == (x.shape[-1] - n) // hop + 1
    whole = pb.stft(pb.tensor(x), 4, 2, center=False, align_to_window=True, return_complex=True)
    assert pb.equal(whole, pb.stft(pb.tensor(x), 4, 2, center=False, return_complex=True))


def test_spectra_of_complex_signals() -> None:
    x = pb.tensor(_array("fft", (2, 30)))
    spectra = pb.stft(x, 8)
    assert spectra.shape == (2, 8, 16)
    assert pb.allclose(pb.istft(spectra, 8, return_complex=True, length=30), x)


def test_gradients_of_spectra() -> None:
    x = pb.tensor(_array("rfft", (2, 12), "float64"), requires_grad=True)
    window = (pb.hann_window(4, dtype=pb.float64) + 0.1).requires_grad_()

    def spectra(x: pb.Tensor, window: pb.Tensor) -> pb.Tensor:
        return pb.stft(x, 4, window=window, return_complex=True)

    def back(x: pb.Tensor, window: pb.Tensor) -> pb.Tensor:
        return pb.istft(x, 4, window=window)

    assert gradcheck(spectra, (x, window))
    assert gradgradcheck(spectra, (x, window))
    found = spectra(x, window).detach().requires_grad_()
    assert gradcheck(back, (found, window))


def test_errors_of_spectra() -> None:
    x = pb.ones(20)
    with pytest.raises(RuntimeError, match="return_complex"):
        pb.stft(x, 8)
    with pytest.raises(RuntimeError, match="n_fft"):
        pb.stft(x, 30, center=False, return_complex=True)
    with pytest.raises(RuntimeError, match="hop_length"):
        pb.stft(x, 8, hop_length=0, return_complex=True)
    with pytest.raises(RuntimeError, match="win_length=9"):
        pb.stft(x, 8, win_length=9, return_complex=True)
    with pytest.raises(RuntimeError, match="window"):
        pb.stft(x, 8, window=pb.ones(5), return_complex=True)
    with pytest.raises(RuntimeError, match="onesided"):
        pb.stft(x.to(pb.complex64), 8, onesided=True)
    with pytest.raises(RuntimeError, match="align_to_window"):
        pb.stft(x, 8, align_to_window=True, return_complex=True)
    with pytest.raises(RuntimeError, match="complex"):
        pb.istft(x, 8)
    spectra, window = pb.ones(5, 6, dtype=pb.complex64), pb.zeros(8)
    with pytest.raises(RuntimeError, match="window overlap"):
        pb.istft(spectra, 8, window=window)
