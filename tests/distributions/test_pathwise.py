"""Gradients of samples by the parameters they were drawn with."""

from __future__ import annotations

import numpy as np
import pyburn
import pytest
from pyburn import distributions as dist
from scipy import special


def slopes(alpha, value, dtype=pyburn.float64):
    pair = (pyburn.tensor(item, dtype=dtype) for item in (alpha, value))
    return pyburn._standard_gamma_grad(*pair).double().numpy()


def quantile_slope(alpha, value):
    """How the quantile of `value` moves with `alpha`, by central differences."""
    rank = special.gammainc(alpha, value)
    step = 1e-4 * alpha
    above, below = special.gammaincinv(alpha + step, rank), special.gammaincinv(alpha - step, rank)
    return (above - below) / (2 * step), rank


@pytest.mark.parametrize("span", [(-1, 0), (0, 1), (1, 2), (2, 3), (3, 5)])
def test_gamma_slopes_against_scipy(span):
    generator = np.random.default_rng(0)
    alpha = 10 ** generator.uniform(*span, 500)
    value = generator.gamma(alpha)
    wanted, rank = quantile_slope(alpha, value)
    usable = (rank > 1e-3) & (rank < 1 - 1e-3) & (value > 1e-30)
    assert usable.sum() > 400
    got = slopes(alpha, value)
    np.testing.assert_allclose(got[usable], wanted[usable], rtol=1e-5)
    single = slopes(alpha, value, pyburn.float32)
    np.testing.assert_allclose(single[usable], wanted[usable], rtol=1e-4)


# Shape, value and slope, found with 40 digits.
KNOWN = [
    (0.3, 5.0, 4.699824415679833),
    (3.0, 40.0, 2.9347629990088615),
    (50.0, 20.0, 0.6128432204439115),
    (50.0, 90.0, 1.3268891701812169),
    (200.0, 150.0, 0.8637637477907577),
    (200.0, 190.0, 0.9753850603205174),
    (200.0, 201.0, 1.0033316737828235),
    (5000.0, 4900.0, 0.9899656565179917),
    (100000.0, 99800.0, 0.9990009976661942),
]


def test_gamma_slopes_at_known_places():
    alpha, value, wanted = zip(*KNOWN, strict=True)
    np.testing.assert_allclose(slopes(alpha, value), wanted, rtol=1e-9)
    # For tiny values the distribution function is x^a / gamma(a + 1).
    alpha, value = 0.01, 1e-30
    wanted = value / alpha * (special.digamma(1 + alpha) - np.log(value))
    np.testing.assert_allclose(slopes([alpha], [value]), [wanted], rtol=1e-12)


def test_gamma_slopes_at_the_edges():
    got = slopes([0.0, -1.0, np.nan, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0, -1.0])
    assert got[0] == 0
    assert np.isnan(got[[1, 2, 4]]).all()
    assert got[3] == 0
    assert pyburn._standard_gamma(pyburn.zeros(0, requires_grad=True)).sum().backward() is None


def test_gamma_slopes_are_checked():
    one = pyburn.ones(2)
    for other in (pyburn.ones(3), pyburn.ones(2, dtype=pyburn.float64)):
        with pytest.raises(RuntimeError, match="_standard_gamma_grad"):
            pyburn._standard_gamma_grad(one, other)


def test_a_second_derivative_is_refused_by_name():
    alpha = pyburn.ones(2, requires_grad=True)
    (first,) = pyburn.autograd.grad(pyburn._standard_gamma(alpha).sum(), alpha, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivative of a gamma number"):
        first.sum().backward()


PATHS = {
    "Normal": ({"loc": [0.5], "scale": [2.0]}, dist.Normal),
    "LogNormal": ({"loc": [0.1], "scale": [0.3]}, dist.LogNormal),
    "Uniform": ({"low": [0.5], "high": [2.0]}, dist.Uniform),
    "Exponential": ({"rate": [2.0]}, dist.Exponential),
    "Laplace": ({"loc": [0.5], "scale": [2.0]}, dist.Laplace),
    "Gamma": ({"concentration": [0.7], "rate": [2.0]}, dist.Gamma),
    "Beta": ({"concentration1": [0.7], "concentration0": [2.0]}, dist.Beta),
    "Dirichlet": ({"concentration": [0.5, 2.0, 3.0]}, dist.Dirichlet),
}


@pytest.mark.parametrize("name", PATHS)
def test_gradients_of_samples_average_to_those_of_the_moments(name):
    pyburn.manual_seed(0)
    values, kind = PATHS[name]
    parameters = {
        key: pyburn.tensor(value, dtype=pyburn.float64, requires_grad=True)
        for key, value in values.items()
    }
    law = kind(**parameters)
    samples = law.rsample((100_000,))
    weights = pyburn.arange(1, samples.shape[-1] + 1, dtype=pyburn.float64)
    for power in (1, 2):
        moment = law.mean if power == 1 else law.variance + law.mean**2
        wanted = pyburn.autograd.grad(
            (moment * weights).sum(),
            list(parameters.values()),
            retain_graph=True,
            materialize_grads=True,
        )
        got = pyburn.autograd.grad(
            ((samples**power) * weights).sum(-1).mean(),
            list(parameters.values()),
            retain_graph=True,
            materialize_grads=True,
        )
        for ours, exact in zip(got, wanted, strict=True):
            np.testing.assert_allclose(ours.numpy(), exact.numpy(), rtol=0.05, atol=0.02)


def test_small_concentrations_do_not_underflow():
    pyburn.manual_seed(0)
    alpha = pyburn.full((1000, 3), 1e-3, requires_grad=True)
    shares = dist.Dirichlet(alpha).rsample()
    assert bool((shares > 0).all())
    np.testing.assert_allclose(shares.detach().sum(-1).numpy(), 1, rtol=1e-5)
    # Nearly all of it goes to one of three, each as often.
    np.testing.assert_allclose((shares > 0.5).double().mean(0).numpy(), 1 / 3, atol=0.06)
    shares[:, 0].sum().backward()
    assert bool(alpha.grad.isfinite().all())
