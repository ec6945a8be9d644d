"""Densities, moments and samples of the distributions, against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pyburn
import pytest
from pyburn import distributions as dist
from scipy import stats


def t(*values):
    return pyburn.tensor(values, dtype=pyburn.float64)


PROBS = [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]
A, B = np.array([0.5, 3.0]), np.array([2.0, 1.5])
COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])

# Ours, and SciPy's for each element of the batch.
LAWS = {
    "Normal": (lambda: dist.Normal(t(*A), t(*B)), lambda i: stats.norm(A[i], B[i])),
    "LogNormal": (
        lambda: dist.LogNormal(t(*A), t(0.5, 0.7)),
        lambda i: stats.lognorm([0.5, 0.7][i], scale=math.exp(A[i])),
    ),
    "HalfNormal": (lambda: dist.HalfNormal(t(*B)), lambda i: stats.halfnorm(scale=B[i])),
    "Uniform": (lambda: dist.Uniform(t(*A), t(*(A + B))), lambda i: stats.uniform(A[i], B[i])),
    "Exponential": (lambda: dist.Exponential(t(*B)), lambda i: stats.expon(scale=1 / B[i])),
    "Laplace": (lambda: dist.Laplace(t(*A), t(*B)), lambda i: stats.laplace(A[i], B[i])),
    "Cauchy": (lambda: dist.Cauchy(t(*A), t(*B)), lambda i: stats.cauchy(A[i], B[i])),
    "Gamma": (lambda: dist.Gamma(t(*A), t(*B)), lambda i: stats.gamma(A[i], scale=1 / B[i])),
    "Chi2": (lambda: dist.Chi2(t(1.0, 5.0)), lambda i: stats.chi2([1.0, 5.0][i])),
    "StudentT": (
        lambda: dist.StudentT(t(3.0, 8.0), t(*A), t(*B)),
        lambda i: stats.t([3.0, 8.0][i], A[i], B[i]),
    ),
    "Beta": (lambda: dist.Beta(t(*A), t(*B)), lambda i: stats.beta(A[i], B[i])),
    "Bernoulli": (lambda: dist.Bernoulli(t(0.2, 0.9)), lambda i: stats.bernoulli([0.2, 0.9][i])),
    "Geometric": (lambda: dist.Geometric(t(0.2, 0.9)), lambda i: stats.geom([0.2, 0.9][i], loc=-1)),
    "Binomial": (lambda: dist.Binomial(5, t(0.2, 0.9)), lambda i: stats.binom(5, [0.2, 0.9][i])),
    "Poisson": (lambda: dist.Poisson(t(0.5, 7.0)), lambda i: stats.poisson([0.5, 7.0][i])),
}
VECTORS = {
    "Dirichlet": (
        lambda: dist.Dirichlet(t(0.5, 2.0, 3.0)),
        lambda: stats.dirichlet([0.5, 2.0, 3.0]),
    ),
    "Multinomial": (
        lambda: dist.Multinomial(4, t(*PROBS[0])),
        lambda: stats.multinomial(4, PROBS[0]),
    ),
    "MultivariateNormal": (
        lambda: dist.MultivariateNormal(t(1.0, 2.0), pyburn.from_numpy(COVARIANCE)),
        lambda: stats.multivariate_normal([1.0, 2.0], COVARIANCE),
    ),
}
COUNT = 4000


def frozen(name):
    ours, theirs = LAWS[name]
    return ours(), [theirs(0), theirs(1)]


@pytest.mark.parametrize("name", LAWS)
def test_densities(name):
    ours, theirs = frozen(name)
    pyburn.manual_seed(1)
    values = ours.sample((20,))
    got = ours.log_prob(values).numpy()
    for i, law in enumerate(theirs):
        density = law.logpmf if hasattr(law.dist, "pmf") else law.logpdf
        np.testing.assert_allclose(got[:, i], density(values[:, i].numpy()), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_moments_and_entropy(name):
    ours, theirs = frozen(name)
    np.testing.assert_allclose(ours.mean.numpy(), [law.mean() for law in theirs], rtol=1e-9)
    if name == "Cauchy":
        assert ours.variance.tolist() == [math.inf] * 2  # SciPy calls it undefined
    else:
        np.testing.assert_allclose(ours.variance.numpy(), [law.var() for law in theirs], rtol=1e-9)
        np.testing.assert_allclose(ours.stddev.numpy(), [law.std() for law in theirs], rtol=1e-9)
    if name != "Poisson":
        np.testing.assert_allclose(
            ours.entropy().numpy(), [law.entropy() for law in theirs], rtol=1e-7
        )


@pytest.mark.parametrize("name", LAWS)
def test_distribution_functions(name):
    ours, theirs = frozen(name)
    values = ours.sample((20,))
    if name in ("StudentT", "Beta", "Chi2", "Bernoulli", "Geometric", "Binomial", "Poisson"):
        if name != "Chi2":
            with pytest.raises(NotImplementedError, match=name):
                ours.cdf(values)
        return
    got = ours.cdf(values).numpy()
    for i, law in enumerate(theirs):
        np.testing.assert_allclose(got[:, i], law.cdf(values[:, i].numpy()), rtol=1e-8)
    if name == "Gamma":
        with pytest.raises(NotImplementedError, match=name):
            ours.icdf(values)
    else:
        back = ours.icdf(ours.cdf(values))
        np.testing.assert_allclose(back.numpy(), values.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_samples_follow_the_law(name):
    ours, theirs = frozen(name)
    pyburn.manual_seed(2)
    values = ours.sample((COUNT,)).numpy()
    for i, law in enumerate(theirs):
        if hasattr(law.dist, "pmf"):
            kinds = np.arange(0, 30)
            expected = law.pmf(kinds) * COUNT
            seen = np.array([(values[:, i] == kind).sum() for kind in kinds])
            keep = expected > 5
            score = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
            assert stats.chi2(keep.sum()).sf(score) > 1e-4
        else:
            assert stats.kstest(values[:, i], law.cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    make, theirs = VECTORS[name]
    ours, law = make(), theirs()
    pyburn.manual_seed(3)
    values = ours.sample((COUNT,))
    assert values.shape == (COUNT, *ours.event_shape)
    density = law.logpmf if name == "Multinomial" else law.logpdf
    few = values[:20].numpy()
    wanted = [density(row / row.sum() if name == "Dirichlet" else row) for row in few]
    np.testing.assert_allclose(ours.log_prob(values[:20]).numpy(), wanted, rtol=1e-8)
    np.testing.assert_allclose(ours.entropy().item(), law.entropy(), rtol=1e-9)
    mean = np.asarray(law.mean() if callable(law.mean) else law.mean)
    np.testing.assert_allclose(ours.mean.numpy(), mean, rtol=1e-9)
    variance = ours.variance.numpy()
    if name == "Dirichlet":
        np.testing.assert_allclose(variance, law.var(), rtol=1e-9)
    gap = np.abs(values.numpy().mean(0) - mean) / np.sqrt(variance / COUNT)
    assert gap.max() < 4
    np.testing.assert_allclose(values.numpy().var(0), variance, rtol=0.2)


@pytest.mark.parametrize("kind", [dist.Categorical, dist.OneHotCategorical])
def test_categories(kind):
    pyburn.manual_seed(4)
    for options in ({"probs": t(*PROBS)}, {"logits": t(*PROBS).log() + 3}):
        law = kind(**options)
        values = law.sample((COUNT,))
        hot = (
            values
            if kind is dist.OneHotCategorical
            else pyburn.stack([(values == k).double() for k in range(3)], -1)
        )
        assert hot.shape == (COUNT, 2, 3)
        np.testing.assert_allclose(hot.numpy().mean(0), PROBS, atol=0.03)
        wanted = (hot * t(*PROBS).log()).sum(-1)
        np.testing.assert_allclose(law.log_prob(values).numpy(), wanted.numpy(), rtol=1e-12)
        np.testing.assert_allclose(
            law.entropy().numpy(), [stats.entropy(row) for row in PROBS], rtol=1e-12
        )
        every = law.enumerate_support()
        np.testing.assert_allclose(law.log_prob(every).exp().sum(0).numpy(), 1, rtol=1e-12)


def test_logits_give_probs_and_back():
    for kind in (dist.Bernoulli, dist.Geometric):
        law = kind(logits=t(-1.0, 2.0))
        np.testing.assert_allclose(kind(probs=law.probs).logits.numpy(), [-1, 2], rtol=1e-12)
    with pytest.raises(AttributeError):
        law.nothing  # noqa: B018


def test_precision_and_factor_give_the_same_law():
    value = t(0.3, -0.7)
    mean, matrix = t(1.0, 2.0), pyburn.from_numpy(COVARIANCE)
    first = dist.MultivariateNormal(mean, matrix)
    for other in (
        dist.MultivariateNormal(mean, precision_matrix=pyburn.linalg.inv(matrix)),
        dist.MultivariateNormal(mean, scale_tril=pyburn.linalg.cholesky(matrix)),
    ):
        assert pyburn.allclose(other.log_prob(value), first.log_prob(value))
        assert pyburn.allclose(other.covariance_matrix, matrix)
        assert pyburn.allclose(other.precision_matrix, pyburn.linalg.inv(matrix))


ALL = {
    **{name: make for name, (make, _) in LAWS.items()},
    **{name: make for name, (make, _) in VECTORS.items()},
    "Categorical": lambda: dist.Categorical(t(*PROBS)),
    "Independent": lambda: dist.Independent(dist.Normal(t(0.0, 1.0), 1.0), 1),
}


@pytest.mark.parametrize("name", ALL)
def test_expanding_repeats(name):
    law = ALL[name]()
    wide = law.expand((3, *law.batch_shape))
    assert wide.batch_shape == (3, *law.batch_shape)
    assert wide.event_shape == law.event_shape
    assert wide.sample((4,)).shape == (4, 3, *law.batch_shape, *law.event_shape)
    value = law.sample()
    shape = (3, *law.log_prob(value).shape)
    assert pyburn.allclose(wide.log_prob(value), law.log_prob(value).expand(shape))
    assert name in repr(law)


@pytest.mark.parametrize("name", ALL)
def test_a_law_does_not_differ_from_itself(name):
    law = ALL[name]()
    if name in ("StudentT", "Multinomial"):
        with pytest.raises(NotImplementedError, match=name):
            dist.kl_divergence(law, law)
        return
    found = dist.kl_divergence(law, law)
    assert found.shape == law.batch_shape
    np.testing.assert_allclose(found.numpy(), 0, atol=1e-12)


OTHERS = {
    "Normal": lambda: dist.Normal(t(0.0, 1.0), t(1.0, 2.0)),
    "LogNormal": lambda: dist.LogNormal(t(0.0, 1.0), t(1.0, 2.0)),
    "HalfNormal": lambda: dist.HalfNormal(t(1.0, 3.0)),
    "Uniform": lambda: dist.Uniform(t(-1.0, 0.0), t(5.0, 9.0)),
    "Exponential": lambda: dist.Exponential(t(1.0, 3.0)),
    "Laplace": lambda: dist.Laplace(t(0.0, 1.0), t(1.0, 2.0)),
    "Gamma": lambda: dist.Gamma(t(2.0, 1.0), t(1.0, 3.0)),
    "Beta": lambda: dist.Beta(t(2.0, 1.0), t(1.0, 3.0)),
    "Bernoulli": lambda: dist.Bernoulli(t(0.5, 0.7)),
    "Geometric": lambda: dist.Geometric(t(0.5, 0.7)),
    "Binomial": lambda: dist.Binomial(5, t(0.5, 0.7)),
    "Poisson": lambda: dist.Poisson(t(1.0, 6.0)),
    "Categorical": lambda: dist.Categorical(t([0.3, 0.3, 0.4], [0.6, 0.2, 0.2])),
    "Dirichlet": lambda: dist.Dirichlet(t(1.0, 1.0, 4.0)),
    "MultivariateNormal": lambda: dist.MultivariateNormal(
        t(0.0, 1.0), pyburn.eye(2, dtype=pyburn.float64) * 2
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_divergences_are_mean_differences_of_log_densities(name):
    pyburn.manual_seed(5)
    p, q = ALL[name](), OTHERS[name]()
    values = p.sample((20_000,))
    gaps = (p.log_prob(values) - q.log_prob(values)).numpy()
    error = gaps.std(0) / math.sqrt(len(gaps)) + 1e-12
    assert (np.abs(gaps.mean(0) - dist.kl_divergence(p, q).numpy()) / error).max() < 4.5


def test_divergences_of_unlike_laws():
    assert dist.kl_divergence(dist.Uniform(0.0, 2.0), dist.Uniform(0.0, 1.0)).item() == math.inf
    with pytest.raises(NotImplementedError, match=r"Normal \|\| Poisson"):
        dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Poisson(1.0))

    class Mine(dist.Normal):
        pass

    @dist.register_kl(Mine, dist.Normal)
    def _(p, q):
        return pyburn.tensor(42.0)

    assert dist.kl_divergence(Mine(0.0, 1.0), dist.Normal(0.0, 1.0)).item() == 42.0
    with pytest.raises(TypeError):
        dist.register_kl(int, Mine)


WRONG = {
    "scale": (lambda: dist.Normal(0.0, -1.0), "parameter scale.*GreaterThan"),
    "nan": (lambda: dist.Normal(math.nan, 1.0), "parameter loc"),
    "probs": (lambda: dist.Bernoulli(1.5), "parameter probs"),
    "both": (lambda: dist.Bernoulli(0.5, 0.5), "not both"),
    "neither": (lambda: dist.Categorical(), "not both"),
    "rank": (lambda: dist.Categorical(t(1.0)[0]), "at least one-dimensional"),
    "bounds": (lambda: dist.Uniform(1.0, 1.0), "low>= high"),
    "matrix": (lambda: dist.MultivariateNormal(t(0.0, 0.0), t([1.0, 2.0], [2.0, 1.0])), "covar"),
    "matrices": (lambda: dist.MultivariateNormal(t(0.0)), "exactly one"),
    "shape": (lambda: dist.MultivariateNormal(t(0.0), pyburn.eye(2)), "1 by 1"),
    "value": (lambda: dist.Exponential(1.0).log_prob(t(-1.0)), "within the support"),
    "text": (lambda: dist.Normal("0", 1.0), "tensors or numbers"),
    "value shape": (lambda: dist.Dirichlet(t(1.0, 1.0)).log_prob(t(0.2, 0.3, 0.5)), "event_shape"),
    "broadcast": (lambda: dist.Normal(t(0.0, 0.0), 1.0).log_prob(t(1.0, 2.0, 3.0)), "broadcast"),
    "simplex": (lambda: dist.Dirichlet(t(1.0, 1.0)).log_prob(t(0.5, 0.6)), "Simplex"),
    "independent": (lambda: dist.Independent(dist.Normal(0.0, 1.0), 1), "batch_ndims"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_and_values(name):
    make, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        make()


def test_checks_can_be_turned_off():
    assert dist.Normal(0.0, -1.0, validate_args=False).loc.item() == 0


def test_samples_without_gradients_say_so():
    with pytest.raises(NotImplementedError, match=r"Poisson\.rsample"):
        dist.Poisson(1.0).rsample()
    scale = pyburn.ones((), requires_grad=True)
    assert not dist.Normal(0.0, scale).sample().requires_grad
    assert dist.Normal(0.0, scale).rsample().requires_grad
