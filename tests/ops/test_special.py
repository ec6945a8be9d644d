"""`pyburn.special` against SciPy, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyburn as pb
import pytest
from helpers import LAYOUTS, assert_close, to_numpy
from pyburn.autograd import gradcheck, gradgradcheck
from scipy import special as ss

WHOLE = (-30.0, -8.5, -3.25, -1.5, -1e-3, 0.0, 1e-9, 0.4, 1.0, 2.75, 9.5, 40.0)
POSITIVE = (1e-6, 0.1, 0.5, 1.0, 1.4616, 3.5, 12.0, 150.0)
UNIT = (1e-9, 1e-3, 0.2, 0.5, 0.75, 0.999)
SPECIAL = (np.nan, np.inf, -np.inf)

UNARY: dict[str, tuple[Any, tuple[float, ...], float]] = {
    "bessel_j0": (ss.j0, WHOLE, 50),
    "bessel_j1": (ss.j1, WHOLE, 50),
    "digamma": (ss.digamma, (*POSITIVE, -0.5, -3.3), 100),
    "entr": (ss.entr, WHOLE, 1),
    "erf": (ss.erf, WHOLE, 1),
    "erfc": (ss.erfc, WHOLE, 20),
    "erfcx": (ss.erfcx, WHOLE, 20),
    "erfinv": (ss.erfinv, (*UNIT, -0.5), 20),
    "exp2": (ss.exp2, WHOLE, 20),
    "expit": (ss.expit, WHOLE, 20),
    "expm1": (ss.expm1, WHOLE, 20),
    "gammaln": (ss.gammaln, (*POSITIVE, -0.5, -3.3), 20),
    "i0": (ss.i0, WHOLE, 20),
    "i0e": (ss.i0e, WHOLE, 20),
    "i1": (ss.i1, WHOLE, 20),
    "i1e": (ss.i1e, WHOLE, 20),
    "log1p": (np.log1p, (*POSITIVE, -0.5), 1),
    "log_ndtr": (ss.log_ndtr, WHOLE, 50),
    "logit": (ss.logit, UNIT, 20),
    "modified_bessel_i0": (ss.i0, WHOLE, 20),
    "modified_bessel_i1": (ss.i1, WHOLE, 20),
    "ndtr": (ss.ndtr, WHOLE, 50),
    "ndtri": (ss.ndtri, UNIT, 50),
    "psi": (ss.psi, POSITIVE, 100),
    "sinc": (np.sinc, WHOLE, 20),
    "spherical_bessel_j0": (lambda x: ss.spherical_jn(0, x), WHOLE, 20),
}
NO_GRADIENT = ("bessel_j0", "bessel_j1")


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values(name: str, dtype: str) -> None:
    oracle, points, room = UNARY[name]
    x = np.array(points, dtype)
    expected = oracle(x.astype("float64")).astype(dtype)
    function = getattr(pb.special, name)
    assert_close(to_numpy(function(pb.tensor(x))), expected, dtype, room, name)
    for layout in ("stepped", "transposed"):
        wide, wanted = (np.stack([values, values, values]) for values in (x, expected))
        found = function(LAYOUTS[layout](wide, dtype))
        assert_close(to_numpy(found), wanted, dtype, room, f"{name} {layout}")
    assert function(pb.ones(2, 0)).shape == (2, 0)
    out = pb.empty(0, dtype=getattr(pb, dtype))
    assert function(pb.tensor(x), out=out) is out
    assert out.shape == x.shape
    whole = function(pb.tensor([1, 2]))
    assert whole.dtype == pb.float32


@pytest.mark.parametrize("name", [name for name in UNARY if name not in NO_GRADIENT])
def test_values_where_numbers_end(name: str) -> None:
    x = np.array(SPECIAL)
    with np.errstate(all="ignore"):
        expected = UNARY[name][0](x)
    found = to_numpy(getattr(pb.special, name)(pb.tensor(x)))
    # SciPy gives NaN at infinity for functions whose limit is infinite.
    limits = {"gammaln": (np.inf, np.inf), "i0": (np.inf, np.inf), "i1": (np.inf, -np.inf)}
    bare = name.removeprefix("modified_bessel_")
    if bare in limits:
        expected = np.array([np.nan, *limits[bare]])
    np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("name", [name for name in UNARY if name not in NO_GRADIENT])
def test_gradients(name: str) -> None:
    points = [x for x in UNARY[name][1] if 1e-3 < abs(x) < 9]
    if name == "entr":
        points = [x for x in points if x > 0]
    x = pb.tensor(points, dtype=pb.float64, requires_grad=True)
    assert gradcheck(getattr(pb.special, name), (x,))
    if name not in ("digamma", "psi"):
        assert gradgradcheck(getattr(pb.special, name), (x,))


PAIRS: dict[str, Any] = {
    "gammainc": ss.gammainc,
    "gammaincc": ss.gammaincc,
    "xlog1py": ss.xlog1py,
    "xlogy": ss.xlogy,
    "zeta": lambda x, q: ss.zeta(x + 1, q),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_two_operands(name: str, dtype: str) -> None:
    a = np.array([0.5, 1.0, 2.5, 7.0, 30.0], dtype)[:, None]
    b = np.array([0.25, 1.0, 3.0, 12.0], dtype)
    expected = PAIRS[name](a.astype("float64"), b.astype("float64")).astype(dtype)
    first = pb.tensor(a) + 1 if name == "zeta" else pb.tensor(a)
    function = getattr(pb.special, name)
    assert_close(to_numpy(function(first, pb.tensor(b))), expected, dtype, 100, name)
    if name.startswith("gamma"):
        return
    found = function(first, 3.0)
    assert_close(to_numpy(found), expected[:, 2:3], dtype, 100, name)
    found = function(8.0 if name == "zeta" else 7.0, pb.tensor(b))
    assert_close(to_numpy(found), expected[3], dtype, 100, name)


@pytest.mark.parametrize("name", ["xlog1py", "xlogy"])
def test_gradients_of_two_operands(name: str) -> None:
    a = pb.tensor([[0.5], [2.0]], dtype=pb.float64, requires_grad=True)
    b = pb.tensor([0.25, 1.5, 3.0], dtype=pb.float64, requires_grad=True)
    function = getattr(pb.special, name)
    assert gradcheck(function, (a, b))
    assert gradgradcheck(function, (a, b))
    assert to_numpy(function(pb.zeros(1), pb.tensor([float("nan")]))).item() != 0.0
    assert to_numpy(function(pb.zeros(1), pb.tensor([-1.0]))).item() == 0.0


def test_a_tensor_is_wanted() -> None:
    for name in ("xlog1py", "zeta", "legendre_polynomial_p"):
        with pytest.raises(TypeError, match=f"special.{name}: expected at least one Tensor"):
            getattr(pb.special, name)(1.0, 2.0)


@pytest.mark.parametrize("n", range(6))
def test_polygamma(n: int) -> None:
    x = np.array(POSITIVE[1:])
    found = pb.special.polygamma(n, pb.tensor(x))
    assert_close(to_numpy(found), ss.polygamma(n, x), "float64", 100)
    given = pb.tensor(x[:4], requires_grad=True)
    assert gradcheck(lambda x: pb.special.polygamma(n, x), (given,), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_multigammaln(p: int) -> None:
    x = np.array([2.5, 3.0, 10.25])
    expected = np.array([ss.multigammaln(value, p) for value in x])
    assert_close(to_numpy(pb.special.multigammaln(pb.tensor(x), p)), expected, "float64", 20)


def test_rounding_and_sums_of_exponentials() -> None:
    x = np.array([[0.5, -1.25, 1000.0], [2.5, 3.125, 999.0]])
    given = pb.tensor(x)
    np.testing.assert_array_equal(to_numpy(pb.special.round(given)), np.round(x))
    np.testing.assert_array_equal(to_numpy(pb.special.round(given, decimals=2)), np.round(x, 2))
    for name in ("softmax", "log_softmax"):
        found = getattr(pb.special, name)(given, dim=1)
        assert_close(to_numpy(found), getattr(ss, name)(x, axis=1), "float64", 10)
    assert pb.special.softmax(pb.ones(2), 0, dtype=pb.float64).dtype == pb.float64
    found = pb.special.logsumexp(given, (0, 1), keepdim=True)
    assert_close(to_numpy(found), ss.logsumexp(x, keepdims=True), "float64", 10)
    found = pb.special.logit(pb.tensor([0.0, 1.0]), eps=0.25)
    assert_close(to_numpy(found), ss.logit(np.array([0.25, 0.75], "float32")), "float32", 10)


POLYNOMIALS: dict[str, Any] = {
    "chebyshev_polynomial_t": ss.eval_chebyt,
    "chebyshev_polynomial_u": ss.eval_chebyu,
    "hermite_polynomial_h": ss.eval_hermite,
    "hermite_polynomial_he": ss.eval_hermitenorm,
    "laguerre_polynomial_l": ss.eval_laguerre,
    "legendre_polynomial_p": ss.eval_legendre,
    "shifted_chebyshev_polynomial_t": ss.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": ss.eval_sh_chebyu,
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    x, n = np.array([-1.0, -0.3, 0.0, 0.7, 1.0, 2.5]), np.arange(8)[:, None]
    function = getattr(pb.special, name)
    expected = POLYNOMIALS[name](n, x)
    found = function(pb.tensor(x), pb.tensor(n))
    assert_close(to_numpy(found), expected, "float64", 1000, name)
    assert_close(to_numpy(function(pb.tensor(x), 3)), expected[3], "float64", 1000, name)
    found = function(2.5, pb.tensor(n))
    assert_close(to_numpy(found), expected[:, 5:].astype("float32"), "float32", 1000, name)
    np.testing.assert_array_equal(to_numpy(function(pb.tensor(x), -1)), np.zeros(6))


@pytest.mark.parametrize("kind", ["v", "w"])
@pytest.mark.parametrize("shifted", [False, True])
def test_polynomials_of_half_angles(kind: str, shifted: bool) -> None:
    x, n = np.array([0.1, 0.3, 0.6, 0.9]), np.arange(6)[:, None]
    angle = np.arccos(2 * x - 1 if shifted else x)
    turn = np.cos if kind == "v" else np.sin
    expected = turn((n + 0.5) * angle) / turn(angle / 2)
    name = f"{'shifted_' if shifted else ''}chebyshev_polynomial_{kind}"
    found = getattr(pb.special, name)(pb.tensor(x), pb.tensor(n))
    assert_close(to_numpy(found), expected, "float64", 1000, name)


def test_what_is_missing_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"special\.airy_ai.*scipy"):
        _ = pb.special.airy_ai
    assert not hasattr(pb.special, "bessel_y0")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pb.special.nothing
