"""`pyburn.linalg` and its older names against NumPy and SciPy, with gradients and errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyburn as pb
import pytest
from helpers import LAYOUTS, assert_close, name_of, to_numpy
from pyburn import linalg
from pyburn.autograd import gradcheck, gradgradcheck
from scipy import linalg as sl

DTYPES = ("float32", "float64", "complex64", "complex128")
BATCHES = ((), (1,), (2,), (0,), (2, 3), (1, 2, 1))
SIZES = ((3, 3), (4, 2), (2, 4), (1, 1), (0, 0), (0, 3), (3, 0))
SQUARES = tuple((n, n) for n in (0, 1, 2, 5, 20))


def _random(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    random = np.random.default_rng([seed, *shape])
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape) if "complex" in dtype else x).astype(dtype)


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _solid(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    """Square matrices far from singular."""
    return _random(shape, dtype, seed) + 2 * np.sqrt(shape[-1]) * np.eye(shape[-1], dtype=dtype)


def _hermitian(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    x = _random(shape, dtype, seed)
    return (x + _adjoint(x)) / 2


def _positive(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    x = _random(shape, dtype, seed)
    return x @ _adjoint(x) + np.eye(shape[-1], dtype=dtype)


def _close(found: pb.Tensor, expected: Any, dtype: str, room: float = 200, text: str = "") -> None:
    expected = np.asarray(expected)
    assert_close(to_numpy(found), expected, dtype, room, text)


def _unitary(q: pb.Tensor, dtype: str) -> None:
    columns = q.shape[-1]
    product = q.mH @ q
    _close(product, np.broadcast_to(np.eye(columns), product.shape), dtype)


def _inputs(make: Callable[..., Any], sizes: Any = SQUARES, dtypes: Any = DTYPES) -> Any:
    """Matrices of every size, dtype, batch and layout, as arrays with their tensors."""
    for (rows, columns), dtype in itertools.product(sizes, dtypes):
        x = make((rows, columns), dtype)
        for layout in ("plain", "transposed", "flipped"):
            yield x, LAYOUTS[layout](x, dtype), dtype
    for batch, dtype in itertools.product(BATCHES[1:], ("float64", "complex64")):
        x = make((*batch, *sizes[2]), dtype)
        for layout in ("plain", "transposed", "stepped"):
            yield x, LAYOUTS[layout](x, dtype), dtype


def test_det() -> None:
    for x, given, dtype in _inputs(_random):
        _close(linalg.det(given), np.linalg.det(x), dtype, 1000)
        _close(given.det(), np.linalg.det(x), dtype, 1000)
        expected = np.linalg.slogdet(x)
        found = linalg.slogdet(given)
        _close(found.sign, expected[0], dtype)
        _close(found.logabsdet, expected[1], dtype)
        _close(pb.slogdet(given).logabsdet, expected[1], dtype)
    assert to_numpy(linalg.slogdet(pb.zeros(2, 2)).logabsdet) == -np.inf
    assert np.isnan(to_numpy(pb.logdet(-pb.eye(3))))


def test_inverses_and_solutions() -> None:
    for x, given, dtype in _inputs(_solid):
        inverse = np.linalg.inv(x)
        for found in (linalg.inv(given), given.inverse(), linalg.inv_ex(given).inverse):
            _close(found, inverse, dtype)
        _close(linalg.matrix_power(given, -2), inverse @ inverse, dtype)
        b = _random((*x.shape[:-1], 3), dtype)
        _close(linalg.solve(given, pb.tensor(b)), inverse @ b, dtype)
        right = np.swapaxes(b, -1, -2).copy()
        _close(linalg.solve(given, pb.tensor(right), left=False), right @ inverse, dtype)
        result, info = linalg.solve_ex(given, pb.tensor(b))
        _close(result, inverse @ b, dtype)
        assert info.shape == x.shape[:-2]
        assert not info.any()
        vector = _random(x.shape[:-1], dtype)
        expected = (inverse @ vector[..., None])[..., 0]
        _close(linalg.solve(given, pb.tensor(vector)), expected, dtype)


def test_solutions_broadcast() -> None:
    a, b = _solid((2, 1, 3, 3)), _random((4, 3, 2))
    _close(linalg.solve(pb.tensor(a), pb.tensor(b)), np.linalg.inv(a) @ b, "float64")
    low = np.tril(a)
    found = linalg.solve_triangular(pb.tensor(a), pb.tensor(b), upper=False)
    _close(found, np.linalg.inv(low) @ b, "float64")


def test_triangular_solutions() -> None:
    for x, given, dtype in _inputs(_solid):
        b = _random((*x.shape[:-1], 2), dtype)
        for upper, unit in itertools.product((True, False), (True, False)):
            a = np.triu(x) if upper else np.tril(x)
            if unit:
                n = x.shape[-1]
                a = (a * (1 - np.eye(n)) + np.eye(n)).astype(dtype)
                # Ones on a diagonal that is not the largest of its row grow errors quickly.
                a, given_ = a / 4 + 0.75 * np.eye(n), given / 4
            else:
                given_ = given
            inverse = np.linalg.inv(a)
            options = {"upper": upper, "unitriangular": unit}
            found = linalg.solve_triangular(given_, pb.tensor(b), **options)
            _close(found, inverse @ b, dtype, 1000)
            right = np.swapaxes(b, -1, -2).copy()
            found = linalg.solve_triangular(given_, pb.tensor(right), left=False, **options)
            _close(found, right @ inverse, dtype, 1000)
    a, b = _solid((3, 3)), _random((3, 2))
    found, copied = pb.triangular_solve(pb.tensor(b), pb.tensor(a), transpose=True)
    _close(found, np.linalg.inv(np.triu(a).T) @ b, "float64")
    _close(copied, a, "float64")


def test_cholesky() -> None:
    for x, given, dtype in _inputs(_positive):
        lower = np.linalg.cholesky(x) if x.size else x
        _close(linalg.cholesky(given), lower, dtype)
        _close(linalg.cholesky(given, upper=True), _adjoint(lower), dtype)
        found, info = linalg.cholesky_ex(given)
        _close(found, lower, dtype)
        assert not info.any()
        factor = pb.tensor(lower)
        b = _random((*x.shape[:-1], 2), dtype)
        inverse = np.linalg.inv(x)
        _close(pb.cholesky_solve(pb.tensor(b), factor), inverse @ b, dtype, 2000)
        _close(pb.cholesky_solve(pb.tensor(b), factor.mH, upper=True), inverse @ b, dtype, 2000)
        _close(pb.cholesky_inverse(factor), inverse, dtype, 2000)


def test_failures_of_cholesky() -> None:
    x = np.stack([np.eye(3), np.diag([1.0, -1.0, 1.0]), np.diag([-1.0, 1.0, 1.0])])
    _, info = linalg.cholesky_ex(pb.tensor(x))
    np.testing.assert_array_equal(to_numpy(info), [0, 2, 1])
    assert info.dtype == pb.int32
    with pytest.raises(linalg.LinAlgError, match=r"Batch element 1.*order 2"):
        linalg.cholesky(pb.tensor(x))
    with pytest.raises(linalg.LinAlgError, match="not positive-definite"):
        linalg.cholesky_ex(pb.tensor(x[1]), check_errors=True)


def test_lu() -> None:
    for x, given, dtype in _inputs(_random, SIZES):
        m, n = x.shape[-2:]
        p, lower, upper = linalg.lu(given)
        _close(p @ lower @ upper, x, dtype)
        assert lower.shape == (*x.shape[:-2], m, min(m, n))
        _close(lower, np.tril(to_numpy(lower)), dtype)
        _close(upper, np.triu(to_numpy(upper)), dtype)
        if x.ndim == 2 and x.size:
            _close(lower, sl.lu(x)[1], dtype)
        packed, pivots = linalg.lu_factor(given)
        assert pivots.dtype == pb.int32
        parts = pb.lu_unpack(packed, pivots)
        for part, expected in zip(parts, (p, lower, upper), strict=True):
            assert pb.equal(part, expected)
        assert [part.numel() for part in pb.lu_unpack(packed, pivots, unpack_data=False)[1:]] == [
            0,
            0,
        ]
        assert pb.lu(given, get_infos=True)[2].shape == x.shape[:-2]
    packed, pivots, info = linalg.lu_factor_ex(pb.ones(2, 2))
    assert info.item() == 2
    with pytest.raises(linalg.LinAlgError, match=r"U\[2,2\] is zero"):
        linalg.lu_factor_ex(pb.ones(2, 2), check_errors=True)
    with pytest.raises(RuntimeError, match="pivot=True"):
        linalg.lu(pb.ones(2, 2), pivot=False)


def test_solutions_by_factors() -> None:
    for x, given, dtype in _inputs(_solid):
        b = _random((*x.shape[:-1], 2), dtype)
        right = np.swapaxes(b, -1, -2).copy()
        packed, pivots = linalg.lu_factor(given)
        for adjoint in (False, True):
            inverse = np.linalg.inv(_adjoint(x) if adjoint else x)
            found = linalg.lu_solve(packed, pivots, pb.tensor(b), adjoint=adjoint)
            _close(found, inverse @ b, dtype)
            options = {"left": False, "adjoint": adjoint}
            found = linalg.lu_solve(packed, pivots, pb.tensor(right), **options)
            _close(found, right @ inverse, dtype)
    with pytest.raises(RuntimeError, match="pivots must lie between 1 and 2"):
        linalg.lu_solve(pb.eye(2), pb.tensor([1, 3], dtype=pb.int32), pb.ones(2, 1))


def test_ldl() -> None:
    for hermitian in (False, True):
        for x, _, dtype in _inputs(_random):
            a = x + (_adjoint(x) if hermitian else np.swapaxes(x, -1, -2))
            # Zeros on the diagonal ask for blocks of two.
            a[..., range(0, a.shape[-1], 2), range(0, a.shape[-1], 2)] = 0
            if a.shape[-1] == 1:
                a += 1
            noise = np.triu(np.ones(a.shape[-2:]), 1).astype(dtype)
            packed, pivots = linalg.ldl_factor(pb.tensor(a + noise), hermitian=hermitian)
            b = _random((*x.shape[:-1], 2), dtype)
            found = linalg.ldl_solve(packed, pivots, pb.tensor(b), hermitian=hermitian)
            _close(pb.tensor(a) @ found, b, dtype, 20000)
    result = linalg.ldl_factor_ex(pb.zeros(2, 2))
    assert result.info.item() == 1
    with pytest.raises(linalg.LinAlgError, match=r"D\[1,1\] is zero"):
        linalg.ldl_factor(pb.zeros(2, 2))
    with pytest.raises(RuntimeError, match="negative ones in pairs"):
        linalg.ldl_solve(pb.eye(2), pb.tensor([-1, 2], dtype=pb.int32), pb.ones(2, 1))


def test_qr() -> None:
    for x, given, dtype in _inputs(_random, SIZES):
        m, n = x.shape[-2:]
        for mode, columns in (("reduced", min(m, n)), ("complete", m)):
            q, r = linalg.qr(given, mode)
            assert q.shape == (*x.shape[:-2], m, columns)
            _unitary(q, dtype)
            _close(q @ r, x, dtype)
            _close(r, np.triu(to_numpy(r)), dtype)
        q, r = linalg.qr(given, "r")
        assert q.numel() == 0
        _close(r, to_numpy(linalg.qr(given).R), dtype)
        assert pb.qr(given, some=False).Q.shape[-1] == m
        packed, tau = pb.geqrf(given)
        reduced = linalg.qr(given).Q
        if m >= n:
            _close(linalg.householder_product(packed, tau), to_numpy(reduced), dtype)
            _close(pb.orgqr(packed, tau), to_numpy(reduced), dtype)
        other = pb.tensor(_random((*x.shape[:-2], m, 2), dtype))
        whole = linalg.qr(given, "complete").Q
        _close(pb.ormqr(packed, tau, other), to_numpy(whole @ other), dtype)
        found = pb.ormqr(packed, tau, other, transpose=True)
        _close(found, to_numpy(whole.mH @ other), dtype)
        found = pb.ormqr(packed, tau, other.mT, left=False)
        _close(found, to_numpy(other.mT @ whole), dtype)


def test_svd() -> None:
    for x, given, dtype in _inputs(_random, SIZES):
        k = min(x.shape[-2:])
        expected = np.linalg.svd(x, compute_uv=False)
        _close(linalg.svdvals(given), expected, dtype)
        for full in (False, True):
            u, s, vh = linalg.svd(given, full)
            _close(s, expected, dtype)
            _unitary(u, dtype)
            _unitary(vh.mH, dtype)
            _close((u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], x, dtype)
        u, s, v = given.svd()
        _close((u * s.unsqueeze(-2)) @ v.mH, x, dtype)
        u, _, v = pb.svd(given, compute_uv=False)
        assert u.shape == (*x.shape[:-1], x.shape[-2])
        assert not v.any()


def test_eigenvalues_of_hermitian_matrices() -> None:
    for x, _, dtype in _inputs(_hermitian):
        expected = np.linalg.eigvalsh(x)
        for triangle in ("L", "U"):
            read = pb.tensor(np.tril(x) if triangle == "L" else np.triu(x))
            values, vectors = linalg.eigh(read, triangle)
            _close(values, expected, dtype)
            _close(linalg.eigvalsh(read, triangle), expected, dtype)
            _unitary(vectors, dtype)
            _close((vectors * values.unsqueeze(-2)) @ vectors.mH, x, dtype)
    with pytest.raises(RuntimeError, match="UPLO"):
        linalg.eigh(pb.eye(2), UPLO="X")


def test_eigenvalues() -> None:
    for x, given, dtype in _inputs(_random):
        values, vectors = linalg.eig(given)
        _close(
            pb.tensor(x).to(vectors.dtype) @ vectors,
            to_numpy(vectors * values.unsqueeze(-2)),
            dtype,
            2000,
        )
        lengths = linalg.vector_norm(vectors, dim=-2)
        _close(lengths, np.ones(lengths.shape), dtype)
        for found in (values, linalg.eigvals(given)):
            ordered = np.sort_complex(np.round(to_numpy(found), 3))
            np.testing.assert_allclose(
                ordered, np.sort_complex(np.round(np.linalg.eigvals(x), 3)), atol=5e-3
            )


@pytest.mark.parametrize("hermitian", [False, True])
def test_pseudo_inverses_and_ranks(hermitian: bool) -> None:
    sizes = SQUARES if hermitian else SIZES
    make = _hermitian if hermitian else _random
    for x, given, dtype in _inputs(make, sizes):
        if 0 not in x.shape:
            options = {"hermitian": hermitian}
            # The default tolerances of NumPy and PyTorch differ.
            rtol = max(x.shape[-2:]) * np.finfo(dtype).eps
            expected = np.linalg.pinv(x, rtol, **options)
            _close(linalg.pinv(given, **options), expected, dtype, 5000)
            _close(given.pinverse(), expected, dtype, 5000)
            expected = np.linalg.matrix_rank(x, **options)
            found = linalg.matrix_rank(given, **options)
            assert found.dtype == pb.int64
            np.testing.assert_array_equal(to_numpy(found), expected)
            large = x * np.array(1000, dtype)
            found = linalg.matrix_rank(pb.tensor(large), atol=500.0, **options)
            expected = (np.linalg.svd(large, compute_uv=False) > 500).sum(-1)
            np.testing.assert_array_equal(to_numpy(found), expected)
        else:
            turned = (*x.shape[:-2], x.shape[-1], x.shape[-2])
            assert linalg.pinv(given, hermitian=hermitian).shape == turned
            assert not linalg.matrix_rank(given, hermitian=hermitian).any()
    low = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
    assert linalg.matrix_rank(pb.tensor(low)).item() == 1
    assert linalg.matrix_rank(pb.tensor(low), 100.0).item() == 0
    _close(linalg.pinv(pb.tensor(low), rtol=pb.tensor(1e-9)), np.linalg.pinv(low), "float64")


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices(order: Any) -> None:
    for x, given, dtype in _inputs(_random, ((3, 3), (4, 2), (2, 4)), ("float64", "complex64")):
        if x.size == 0:
            continue
        if order is not None:
            found = linalg.matrix_norm(given, order)
            expected = np.linalg.norm(x, order, axis=(-2, -1))
            _close(found, expected, dtype)
            kept = linalg.matrix_norm(given, order, keepdim=True)
            _close(kept, expected[..., None, None], dtype)
        if x.ndim == 2:
            _close(linalg.norm(given, order), np.linalg.norm(x, order), dtype)
        if x.ndim > 2:
            found = linalg.norm(given, order, dim=(0, -1))
            _close(found, np.linalg.norm(x, order, axis=(0, -1)), dtype)
        if x.shape[-1] == x.shape[-2]:
            _close(linalg.cond(given, order), np.linalg.cond(x, order), dtype, 2000)
    if order in ("fro", "nuc", 1, 2, np.inf):
        assert linalg.matrix_norm(pb.zeros(0, 3), order).item() == 0
    elif order is not None:
        with pytest.raises((IndexError, RuntimeError)):
            linalg.matrix_norm(pb.zeros(0, 0), order)
    if order is not None and order != "nuc":
        assert np.isinf(to_numpy(linalg.cond(pb.zeros(2, 2), order))) or order in (2, -2, "fro")


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3.5, np.inf, -np.inf, -1])
def test_norms_of_vectors(order: float) -> None:
    for dtype, shape in itertools.product(DTYPES, ((5,), (2, 3, 4))):
        x = _random(shape, dtype)
        for layout in ("plain", "transposed", "stepped", "flipped"):
            given = LAYOUTS[layout](x, dtype)
            _close(linalg.vector_norm(given, order), np.linalg.norm(x.ravel(), order), dtype)
            for dim in range(x.ndim):
                expected = np.linalg.norm(x, order, axis=dim)
                _close(linalg.vector_norm(given, order, dim), expected, dtype)
                _close(linalg.norm(given, order, dim=dim), expected, dtype)
    x = _random((2, 3, 4))
    flat = np.linalg.norm(x.transpose(1, 0, 2).reshape(3, 8), order, axis=1)
    found = linalg.vector_norm(pb.tensor(x), order, (0, 2), keepdim=True)
    _close(found, flat.reshape(1, 3, 1), "float64")
    narrow = linalg.vector_norm(pb.tensor(x).float(), order, dtype=pb.float64)
    assert narrow.dtype == pb.float64
    if order >= 0 and order != np.inf:
        assert linalg.vector_norm(pb.zeros(0), order).item() == 0
    else:
        with pytest.raises(RuntimeError, match="does not have an identity"):
            linalg.vector_norm(pb.zeros(0), order)


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
def test_least_squares(driver: str | None) -> None:
    sizes = ((5, 3), (3, 5), (4, 4))
    for x, given, dtype in _inputs(_random, sizes):
        b = _random((*x.shape[:-1], 2), dtype)
        found = linalg.lstsq(given, pb.tensor(b), driver=driver)
        solution = np.linalg.pinv(x) @ b
        _close(found.solution, solution, dtype, 2000)
        m, n = x.shape[-2:]
        if m > n and driver in ("gels", "gelsd", "gelss"):
            expected = (np.abs(x @ solution - b) ** 2).sum(-2)
            _close(found.residuals, expected, dtype, 2000)
        else:
            assert found.residuals.shape == (0,)
        if driver == "gels":
            assert found.rank.numel() == 0
        else:
            assert (found.rank == min(m, n)).all()
        if driver in ("gelsd", "gelss"):
            _close(found.singular_values, np.linalg.svd(x, compute_uv=False), dtype)
        else:
            assert found.singular_values.numel() == 0
    with pytest.raises(RuntimeError, match="driver"):
        linalg.lstsq(pb.eye(2), pb.eye(2), driver="other")


def test_functions_of_matrices() -> None:
    for x, given, dtype in _inputs(_random, tuple((n, n) for n in (0, 1, 2, 5, 9))):
        small = x / max(1, x.shape[-1])
        expected = (
            np.stack([sl.expm(one) for one in small.reshape(-1, *x.shape[-2:])]).reshape(x.shape)
            if x.size
            else x
        )
        found = linalg.matrix_exp(given / max(1, x.shape[-1]))
        _close(found, expected, dtype, 1000)
        for n in (0, 1, 2, 3, 5):
            _close(linalg.matrix_power(given, n), np.linalg.matrix_power(x, n), dtype, 20000)
    for x, given, dtype in _inputs(_positive):
        root = linalg.matrix_sqrth(given)
        _close(root @ root, x, dtype, 1000)
        _close(root, _adjoint(to_numpy(root)), dtype, 1000)
    big = _random((2, 2)) * 30
    _close(linalg.matrix_exp(pb.tensor(big)) / 1e20, sl.expm(big) / 1e20, "float64", 1e5)


def test_polar() -> None:
    for x, given, dtype in _inputs(_random, ((3, 3), (4, 2), (5, 5))):
        unitary, length = linalg.polar(given)
        _unitary(unitary, dtype)
        _close(unitary @ length, x, dtype)
        if x.ndim == 2:
            expected = sl.polar(x)
            _close(unitary, expected[0], dtype, 5000)
            _close(length, expected[1], dtype, 5000)
    with pytest.raises(RuntimeError, match="as many rows"):
        linalg.polar(pb.ones(2, 3))


def test_products() -> None:
    a, b = _random((2, 3), "complex128"), _random((2, 3), "complex128", 1)
    x, y = pb.tensor(a), pb.tensor(b)
    _close(linalg.cross(x, y), np.cross(a, b), "complex128")
    _close(linalg.cross(x.mT, y.mT, dim=0), np.cross(a, b).T, "complex128")
    _close(linalg.vecdot(x, y), (a.conj() * b).sum(-1), "complex128")
    _close(linalg.vecdot(x, y, dim=0), (a.conj() * b).sum(0), "complex128")
    _close(linalg.matmul(x, y.mT), a @ b.T, "complex128")
    _close(linalg.diagonal(pb.tensor(a), offset=1), np.diagonal(a, 1), "complex128")
    parts = [_random(shape) for shape in ((3,), (3, 5), (5, 2), (2, 4), (4,))]
    tensors = [pb.tensor(part) for part in parts]
    for first, last in itertools.product((0, 1), (4, 5)):
        expected = np.linalg.multi_dot(parts[first:last])
        _close(linalg.multi_dot(tensors[first:last]), expected, "float64")
    found = linalg.vander(pb.tensor([[1.0, 2.0], [3.0, 4.0]]), N=4)
    expected = np.stack([np.vander(row, 4, increasing=True) for row in ([1, 2], [3, 4])])
    _close(found, expected.astype("float32"), "float32")
    with pytest.raises(RuntimeError, match="floating point or complex"):
        linalg.vecdot(pb.ones(2, dtype=pb.int64), pb.ones(2, dtype=pb.int64))
    with pytest.raises(RuntimeError, match="length 3"):
        linalg.cross(pb.ones(2), pb.ones(2))


def test_systems_of_tensors() -> None:
    a = _solid((6, 6)).reshape(2, 3, 6)
    _close(linalg.tensorinv(pb.tensor(a)), np.linalg.tensorinv(a), "float64")
    b = _random((2, 3))
    _close(linalg.tensorsolve(pb.tensor(a), pb.tensor(b)), np.linalg.tensorsolve(a, b), "float64")
    turned = a.transpose(0, 2, 1)
    expected = np.linalg.tensorsolve(turned, b, axes=(1,))
    _close(linalg.tensorsolve(pb.tensor(turned), pb.tensor(b), dims=(1,)), expected, "float64")


def test_low_rank() -> None:
    pb.manual_seed(0)
    x = _random((2, 9, 3)) @ _random((2, 3, 7), seed=1)
    for given in (pb.tensor(x), pb.tensor(x).mT):
        u, s, v = pb.svd_lowrank(given, q=4)
        _close((u * s.unsqueeze(-2)) @ v.mT, to_numpy(given), "float64", 1000)
        centre = given - given.mean(-2, keepdim=True)
        u, s, v = pb.pca_lowrank(given, q=4)
        _close((u * s.unsqueeze(-2)) @ v.mT, to_numpy(centre), "float64", 1000)
    with pytest.raises(ValueError, match="pca_lowrank"):
        pb.pca_lowrank(pb.ones(3, 2), q=3)


GRADIENTS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...]]] = {
    "cholesky": (lambda x: linalg.cholesky(x @ x.mH + pb.eye(x.shape[-1])), _random, (2, 3, 3)),
    "cholesky_ex": (
        lambda x: linalg.cholesky_ex(x @ x.mH + pb.eye(x.shape[-1])).L,
        _random,
        (3, 3),
    ),
    "cholesky_inverse": (pb.cholesky_inverse, _solid, (2, 3, 3)),
    "cond": (lambda x: linalg.cond(x, 1), _solid, (3, 3)),
    "det": (linalg.det, _random, (2, 3, 3)),
    "eig": (lambda x: _phases(*linalg.eig(x)), _random, (3, 3)),
    "eigh": (lambda x: _phases(*linalg.eigh(x + x.mH)), _random, (2, 3, 3)),
    "eigvals": (linalg.eigvals, _random, (3, 3)),
    "eigvalsh": (lambda x: linalg.eigvalsh(x + x.mH), _random, (2, 3, 3)),
    "inv": (linalg.inv, _solid, (2, 3, 3)),
    "lstsq": (lambda x: linalg.lstsq(x, pb.ones(4, 1, dtype=x.dtype)).solution, _random, (4, 2)),
    "lu": (lambda x: linalg.lu(x)[1:], _random, (2, 3, 3)),
    "lu of wide ones": (lambda x: linalg.lu(x)[1:], _random, (2, 4)),
    "lu of tall ones": (lambda x: linalg.lu(x)[1:], _random, (4, 2)),
    "lu_factor": (lambda x: linalg.lu_factor(x)[0], _random, (3, 3)),
    "matrix_exp": (linalg.matrix_exp, _random, (2, 3, 3)),
    "matrix_norm": (lambda x: linalg.matrix_norm(x, "nuc"), _random, (2, 3, 2)),
    "matrix_power": (lambda x: linalg.matrix_power(x, 3), _random, (2, 2, 2)),
    "matrix_sqrth": (
        lambda x: linalg.matrix_sqrth(x @ x.mH + pb.eye(x.shape[-1])),
        _random,
        (3, 3),
    ),
    "pinv": (linalg.pinv, _random, (2, 4, 2)),
    "pinv of wide ones": (linalg.pinv, _random, (2, 4)),
    "polar": (linalg.polar, _random, (4, 2)),
    "qr": (linalg.qr, _random, (2, 4, 3)),
    "qr of wide ones": (linalg.qr, _random, (2, 4)),
    "slogdet": (lambda x: linalg.slogdet(x), _random, (2, 3, 3)),
    "svd": (lambda x: _products(*linalg.svd(x, False)), _random, (2, 3, 2)),
    "svdvals": (linalg.svdvals, _random, (2, 3, 4)),
    "tensorinv": (lambda x: linalg.tensorinv(x, 1), _solid, (3, 3)),
    "vector_norm": (lambda x: linalg.vector_norm(x, 3, -1), _random, (2, 3)),
}


def _phases(values: pb.Tensor, vectors: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
    """Vectors are defined up to a phase; their sizes are not."""
    return values, vectors.abs()


def _products(u: pb.Tensor, s: pb.Tensor, vh: pb.Tensor) -> tuple[pb.Tensor, ...]:
    return u.abs(), s, vh.abs(), u @ vh


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(name: str, dtype: str) -> None:
    function, make, shape = GRADIENTS[name]
    x = pb.tensor(make(shape, dtype, 3), requires_grad=True)
    assert gradcheck(function, (x,))
    if name not in ("cond", "matrix_norm"):
        assert gradgradcheck(function, (x,))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_solutions(dtype: str) -> None:
    def given(x: Any) -> pb.Tensor:
        return pb.tensor(x, requires_grad=True)

    a, b = given(_solid((2, 3, 3), dtype)), given(_random((2, 3, 2), dtype))
    for left in (True, False):
        right = b if left else given(_random((2, 2, 3), dtype))

        def solved(a: pb.Tensor, b: pb.Tensor, left: bool = left) -> pb.Tensor:
            return linalg.solve(a, b, left=left)

        def halves(a: pb.Tensor, b: pb.Tensor, left: bool = left) -> pb.Tensor:
            return linalg.solve_triangular(a, b, upper=True, left=left)

        for function in (solved, halves):
            assert gradcheck(function, (a, right))
            assert gradgradcheck(function, (a, right))

    def factored(a: pb.Tensor, b: pb.Tensor) -> pb.Tensor:
        return linalg.lu_solve(*linalg.lu_factor(a), b)

    assert gradcheck(factored, (a, b))
    assert gradgradcheck(factored, (a, b))
    lower = given(np.tril(_solid((2, 3, 3), dtype)))
    assert gradcheck(lambda b, x: pb.cholesky_solve(b, x.tril()), (b, lower))
    packed, tau = (given(to_numpy(part)) for part in pb.geqrf(pb.tensor(_random((4, 2), dtype))))
    assert gradcheck(linalg.householder_product, (packed, tau))
    assert gradgradcheck(linalg.householder_product, (packed, tau))


def test_gradients_at_singular_matrices() -> None:
    x = pb.ones(3, 3, dtype=pb.float64, requires_grad=True)
    linalg.det(x).backward()
    _close(x.grad, np.zeros((3, 3)), "float64")
    x = pb.diag(pb.tensor([1.0, 2.0, 0.0], dtype=pb.float64)).requires_grad_()
    linalg.det(x).backward()
    _close(x.grad, np.diag([0.0, 0.0, 2.0]), "float64")
    x = pb.zeros(2, 2, requires_grad=True)
    linalg.norm(x).backward()
    assert not x.grad.any()


def test_faults_are_told() -> None:
    singular = np.stack([np.eye(2), np.ones((2, 2))])
    with pytest.raises(linalg.LinAlgError, match=r"Batch element 1.*singular"):
        linalg.inv(pb.tensor(singular))
    with pytest.raises(linalg.LinAlgError, match="singular"):
        linalg.solve(pb.ones(2, 2), pb.ones(2))
    np.testing.assert_array_equal(to_numpy(linalg.inv_ex(pb.tensor(singular)).info), [0, 2])
    result, info = linalg.solve_ex(pb.tensor(singular), pb.ones(2, 2, dtype=pb.float64))
    np.testing.assert_array_equal(to_numpy(info), [0, 2])
    np.testing.assert_array_equal(to_numpy(result[0]), np.ones(2))
    assert issubclass(linalg.LinAlgError, RuntimeError)
    for name in ("det", "inv", "cholesky", "eigh", "eigvals", "ldl_factor"):
        with pytest.raises(RuntimeError, match=rf"linalg\.{name}.*square"):
            getattr(linalg, name)(pb.ones(2, 3))
        with pytest.raises(RuntimeError, match=rf"linalg\.{name}.*at least 2 dimensions"):
            getattr(linalg, name)(pb.ones(2))
        with pytest.raises(RuntimeError, match="floating point"):
            getattr(linalg, name)(pb.ones(2, 2, dtype=pb.int64))
        with pytest.raises(RuntimeError, match="Low precision"):
            getattr(linalg, name)(pb.ones(2, 2, dtype=pb.float16))
    with pytest.raises(RuntimeError, match="same dtype"):
        linalg.solve(pb.eye(2), pb.ones(2, dtype=pb.float64))
    with pytest.raises(RuntimeError, match="mode"):
        linalg.qr(pb.eye(2), "other")
    with pytest.raises(RuntimeError, match="driver"):
        linalg.svd(pb.eye(2), driver="gesvd")
    with pytest.raises(RuntimeError, match="Order 3"):
        linalg.matrix_norm(pb.eye(2), 3)
    with pytest.raises(RuntimeError, match="'other'"):
        linalg.norm(pb.eye(2), "other")
    with pytest.raises(RuntimeError, match="N must be greater than 1"):
        linalg.vander(pb.ones(3), N=1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none(value: float) -> None:
    x = pb.tensor(np.full((3, 3), value))
    for name in ("eigh", "eig", "svd", "svdvals", "eigvalsh"):
        with pytest.raises(linalg.LinAlgError, match=r"non-finite|converge"):
            getattr(linalg, name)(x)
    assert not np.isfinite(to_numpy(linalg.det(x)))


# How far the elements are from one, as powers of two, within what each dtype holds.
SCALES = {"float32": (120, 68, -71, -115), "float64": (1015, 516, -519, -1000)}


def _times(x: Any, exponent: int) -> Any:
    """``x * 2**exponent``, also where that factor is no number of the dtype."""
    if x.dtype.kind == "c":
        return np.ldexp(x.real, exponent) + 1j * np.ldexp(x.imag, exponent)
    return np.ldexp(x, exponent)


class Far:
    """A matrix near one and the same many powers of two away, to compare what comes of both."""

    def __init__(self, shape: tuple[int, ...], dtype: str, exponent: int) -> None:
        self.dtype, self.exponent = dtype, exponent
        wide = "complex128" if "complex" in dtype else "float64"
        near = (_random(shape, wide) / 16).astype(dtype)
        self.near, self.far = pb.tensor(near), pb.tensor(_times(near, exponent).astype(dtype))

    def back(self, result: pb.Tensor, power: int = 1) -> pb.Tensor:
        """A result that is proportional to a power of the matrix, as of the one near one."""
        wide = pb.complex128 if result.is_complex() else pb.float64
        return pb.tensor(_times(to_numpy(result.to(wide)), -power * self.exponent))

    def same(self, found: pb.Tensor, near: pb.Tensor) -> None:
        wide = found.to(pb.complex128 if found.is_complex() else pb.float64)
        _close(wide, to_numpy(near.to(wide.dtype)), self.dtype, 4000)


def _far(*shapes: tuple[int, int]) -> Any:
    cases = [
        Far(shape, dtype, exponent)
        for shape, dtype in itertools.product(shapes, DTYPES)
        for exponent in SCALES["float32" if dtype in ("float32", "complex64") else "float64"]
    ]
    names = [f"{case.dtype}-{list(case.near.shape)}-{case.exponent}" for case in cases]
    return pytest.mark.parametrize("case", cases, ids=names)


@_far((4, 4), (30, 30), (7, 3), (3, 7))
def test_factors_of_matrices_far_from_one(case: Far) -> None:
    near, far, back, same = case.near, case.far, case.back, case.same
    same(back(linalg.svdvals(far)), linalg.svdvals(near))
    u, s, vh = linalg.svd(far, full_matrices=False)
    wide = pb.complex128 if far.is_complex() else pb.float64
    same((u.to(wide) * back(s)) @ vh.to(wide), near)
    q, r = linalg.qr(far)
    _unitary(q, case.dtype)
    same(q.to(wide) @ back(r), near)
    p, lower, upper = linalg.lu(far)
    same(p.to(wide) @ lower.to(wide) @ back(upper), near)
    same(back(linalg.pinv(far), -1), linalg.pinv(near))
    same(linalg.cond(far), linalg.cond(near))
    assert linalg.matrix_rank(far).item() == min(far.shape)
    found, expected = (linalg.lstsq(x, x, driver="gelsd") for x in (far, near))
    same(found.solution, expected.solution)
    same(back(found.singular_values), expected.singular_values)
    b = near[:, :2]
    same(back(linalg.lstsq(far, b).solution, -1), linalg.lstsq(near, b).solution)


@_far((4, 4), (30, 30))
def test_square_matrices_far_from_one(case: Far) -> None:
    near, far, back, same = case.near, case.far, case.back, case.same
    hermitian, far_hermitian = near + near.mH, far + far.mH
    same(back(linalg.eigvalsh(far_hermitian)), linalg.eigvalsh(hermitian))
    w, v = linalg.eigh(far_hermitian)
    wide = pb.complex128 if far.is_complex() else pb.float64
    v = v.to(wide)
    same((v * back(w)) @ v.mH, hermitian)
    w, v = linalg.eig(far)
    v = v.to(pb.complex128)
    same(near.to(v.dtype) @ v, v * back(w))
    same(back(linalg.inv(far), -1), linalg.inv(near))
    same(linalg.solve(far, far), pb.eye(len(far)))
    # Solutions by large triangles of random numbers are too large themselves.
    corners = (x[:4, :4] for x in (far, near))
    same(*(linalg.solve_triangular(x, x[:, :1], upper=True) for x in corners))
    found, expected = linalg.slogdet(far), linalg.slogdet(near)
    same(found.sign, expected.sign)
    same(found.logabsdet - len(far) * case.exponent * np.log(2), expected.logabsdet)
    factors, pivots = linalg.ldl_factor(far_hermitian, hermitian=True)
    same(linalg.ldl_solve(factors, pivots, far_hermitian, hermitian=True), pb.eye(len(far)))


def test_what_no_number_holds_is_infinite() -> None:
    largest = np.finfo(np.float32).max
    x = pb.full((2, 2), float(largest))
    assert linalg.svdvals(x)[0].item() == np.inf
    assert linalg.matrix_rank(x).item() == 1
    assert linalg.cond(x).item() > 1e6
    _close(linalg.pinv(x) * 2**120, np.full((2, 2), 2.0**120 / largest / 4), "float32")


def test_elements_of_very_different_sizes() -> None:
    """Small ones are not lost beside large ones where a result depends on them."""
    x = pb.tensor(np.diag([1e200, 1e-200]))
    assert linalg.det(x).item() == pytest.approx(1)
    assert linalg.inv(x).diagonal().tolist() == pytest.approx([1e-200, 1e200])
    assert linalg.solve(x, x).tolist() == np.eye(2).tolist()
    assert linalg.qr(x).R.diagonal().abs().tolist() == pytest.approx([1e200, 1e-200])
    z = x.to(pb.complex128)
    assert linalg.solve(z, z).tolist() == np.eye(2).tolist()


def test_results_have_names_and_go_where_they_are_sent() -> None:
    x = pb.tensor(_positive((3, 3)))
    for name, fields in {
        "eigh": ("eigenvalues", "eigenvectors"),
        "eig": ("eigenvalues", "eigenvectors"),
        "svd": ("U", "S", "Vh"),
        "qr": ("Q", "R"),
        "lu": ("P", "L", "U"),
        "lu_factor": ("LU", "pivots"),
        "lu_factor_ex": ("LU", "pivots", "info"),
        "slogdet": ("sign", "logabsdet"),
        "cholesky_ex": ("L", "info"),
        "inv_ex": ("inverse", "info"),
        "ldl_factor": ("LD", "pivots"),
        "ldl_factor_ex": ("LD", "pivots", "info"),
        "polar": ("U", "H"),
    }.items():
        result = getattr(linalg, name)(x)
        assert result._fields == fields
        out = tuple(pb.empty(0, dtype=part.dtype) for part in result)
        again = getattr(linalg, name)(x, out=out)
        for part, target, kept in zip(result, out, again, strict=True):
            assert kept is target
            assert pb.equal(part, target)
            assert name_of(part.dtype) == name_of(target.dtype)
    out = pb.empty(0, dtype=pb.float64)
    assert linalg.inv(x, out=out) is out
    assert out.shape == (3, 3)
    with pytest.raises(RuntimeError, match="can't be cast"):
        linalg.inv(x, out=pb.empty(3, 3, dtype=pb.int64))
