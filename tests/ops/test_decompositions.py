"""Ops whose results are not unique: what they give is put together again."""

from __future__ import annotations

import numpy as np
import pyburn as pb
import pytest
from helpers import numpy_dtype, plain, to_numpy

from ops.row import Maker

DTYPES = ("float32", "float64", "complex64", "complex128")
ROOM = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}


def matrix(dtype: str, *shape: int) -> tuple[np.ndarray, pb.Tensor]:
    array = Maker(f"matrix{shape}", dtype)(*shape, low=-1, high=1)
    return array, plain(array, dtype)


def close(actual: pb.Tensor, expected: np.ndarray, dtype: str) -> None:
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=ROOM[dtype], atol=ROOM[dtype] * 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (2, 4, 3)])
def test_qr(dtype: str, shape: tuple[int, ...]) -> None:
    array, x = matrix(dtype, *shape)
    for some in (True, False):
        q, r = pb.qr(x, some)
        close(q @ r, array, dtype)
        close(
            q.mH @ q, np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *q.shape[-1:] * 2)), dtype
        )
        assert (np.tril(to_numpy(r), -1) == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3)])
def test_svd(dtype: str, shape: tuple[int, ...]) -> None:
    array, x = matrix(dtype, *shape)
    u, s, v = pb.svd(x)
    close((u * s[..., None, :]) @ v.mH, array, dtype)
    np.testing.assert_allclose(
        to_numpy(s), np.linalg.svd(array, compute_uv=False), rtol=ROOM[dtype], atol=ROOM[dtype]
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 3, 3)])
def test_lu(dtype: str, shape: tuple[int, ...]) -> None:
    array, x = matrix(dtype, *shape)
    packed, pivots = pb.lu(x)
    p, lower, upper = pb.lu_unpack(packed, pivots)
    close(p @ lower @ upper, array, dtype)
    assert (np.triu(to_numpy(lower), 1) == 0).all()
    assert (np.tril(to_numpy(upper), -1) == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu_solve(dtype: str) -> None:
    array, x = matrix(dtype, 4, 4)
    right, b = matrix(dtype, 4, 2)
    packed, pivots = pb.lu(x)
    close(x @ pb.lu_solve(b, packed, pivots), right, dtype)
    close(b.lu_solve(packed, pivots), np.linalg.solve(array, right), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reflectors(dtype: str) -> None:
    """geqrf packs a QR decomposition, orgqr unpacks its Q, ormqr multiplies by it."""
    array, x = matrix(dtype, 4, 3)
    packed, tau = pb.geqrf(x)
    q = pb.orgqr(packed, tau)
    close(q @ packed[:3].triu(), array, dtype)
    right, b = matrix(dtype, 4, 2)
    full = pb.ormqr(packed, tau, pb.eye(4, dtype=x.dtype))
    close(full[:, :3], to_numpy(q), dtype)
    close(pb.ormqr(packed, tau, b), to_numpy(full) @ right, dtype)
    close(pb.ormqr(packed, tau, b, transpose=True), to_numpy(full).conj().T @ right, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_triangular_solve(dtype: str, upper: bool, transpose: bool) -> None:
    array = Maker("triangle", dtype)(3, 3, low=-1, high=1) + 3 * np.eye(3)
    array = array.astype(numpy_dtype(dtype))
    right, b = matrix(dtype, 3, 2)
    found, _ = pb.triangular_solve(b, plain(array, dtype), upper=upper, transpose=transpose)
    used = np.triu(array) if upper else np.tril(array)
    close(found, np.linalg.solve(used.T if transpose else used, right), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_low_rank(dtype: str) -> None:
    left, right = matrix(dtype, 8, 2)[0], matrix(dtype, 2, 6)[0]
    x = plain(left @ right, dtype)
    pb.manual_seed(0)
    u, s, v = pb.svd_lowrank(x, q=3)
    close((u * s) @ v.mT, left @ right, dtype)
    centred = left @ right - (left @ right).mean(0)
    u, s, v = pb.pca_lowrank(x, q=3)
    close((u * s) @ v.mT, centred, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_short_time_transform(dtype: str) -> None:
    """stft has the spectra of the pieces, istft the signal again."""
    signal = Maker("signal", dtype)(64)
    window = pb.hann_window(16, dtype=getattr(pb, dtype))
    spectra = pb.stft(plain(signal, dtype), 16, 4, window=window, return_complex=True)
    padded = np.pad(signal, 8, mode="reflect").astype(np.float64)
    hann = to_numpy(window).astype(np.float64)
    pieces = [padded[at : at + 16] * hann for at in range(0, len(padded) - 15, 4)]
    expected = np.fft.rfft(np.stack(pieces), axis=-1).T
    np.testing.assert_allclose(to_numpy(spectra), expected, atol=ROOM[dtype] * 10)
    close(pb.istft(spectra, 16, 4, window=window, length=64), signal, dtype)
