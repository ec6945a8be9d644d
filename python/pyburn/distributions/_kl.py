"""Kullback-Leibler divergences between pairs of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import pyburn
from pyburn._core import Tensor
from pyburn.distributions._continuous import (
    Beta,
    Cauchy,
    Exponential,
    Gamma,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from pyburn.distributions._discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from pyburn.distributions._distribution import Distribution
from pyburn.distributions._multivariate import Dirichlet, Independent, MultivariateNormal

__all__ = ["kl_divergence", "register_kl"]

F = TypeVar("F", bound=Callable[..., Tensor])
_FORMULAS: dict[tuple[type, type], Callable[..., Tensor]] = {}


def register_kl(type_p: type[Distribution], type_q: type[Distribution]) -> Callable[[F], F]:
    """A decorator that makes a function the divergence of two classes of distributions."""
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"register_kl: expected a class of distributions, got {kind!r}")

    def register(function: F) -> F:
        _FORMULAS[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """How much longer messages about ``p`` are in a code made for ``q``, in nats.

    Example:
        >>> n = pyburn.distributions.Normal
        >>> pyburn.distributions.kl_divergence(n(0.0, 1.0), n(1.0, 1.0))
        tensor(0.5000)
    """
    # The most special registered pair, by the order of base classes.
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            formula = _FORMULAS.get((kind_p, kind_q))
            if formula is not None:
                return formula(p, q)
    raise NotImplementedError(
        "kl_divergence: no formula is registered for "
        f"{type(p).__name__} || {type(q).__name__}; hint: register_kl adds one"
    )


def _log_beta(*values: Tensor) -> Tensor:
    total = pyburn.lgamma(values[0])
    for value in values[1:]:
        total = total + pyburn.lgamma(value)
    return total - pyburn.lgamma(sum(values[1:], values[0]))


@register_kl(Normal, Normal)
def _normals(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normals(p: LogNormal, q: LogNormal) -> Tensor:
    return _normals(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normals(p: HalfNormal, q: HalfNormal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniforms(p: Uniform, q: Uniform) -> Tensor:
    outside = (q.low > p.low) | (q.high < p.high)
    return pyburn.where(outside, math.inf, ((q.high - q.low) / (p.high - p.low)).log())


@register_kl(Uniform, Normal)
def _uniform_normal(p: Uniform, q: Normal) -> Tensor:
    width = p.high - p.low
    middle = (p.high + p.low) / 2
    spread = (width**2 / 12 + (middle - q.loc) ** 2) / q.scale**2
    return 0.5 * spread + q.scale.log() + 0.5 * math.log(2 * math.pi) - width.log()


@register_kl(Laplace, Laplace)
def _laplaces(p: Laplace, q: Laplace) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Cauchy, q: Cauchy) -> Tensor:
    apart = (p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(Exponential, Exponential)
def _exponentials(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gammas(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + pyburn.lgamma(q.concentration)
        - pyburn.lgamma(p.concentration)
        + (p.concentration - q.concentration) * pyburn.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    return _gammas(Gamma(pyburn.ones_like(p.rate), p.rate, validate_args=False), q)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Gamma, q: Exponential) -> Tensor:
    return _gammas(p, Gamma(pyburn.ones_like(q.rate), q.rate, validate_args=False))


@register_kl(Exponential, Normal)
def _exponential_normal(p: Exponential, q: Normal) -> Tensor:
    mean = 1 / p.rate
    square = mean**2 + (mean - q.loc) ** 2
    code = 0.5 * square / q.scale**2 + q.scale.log() + 0.5 * math.log(2 * math.pi)
    return code - p.entropy()


@register_kl(Beta, Beta)
def _betas(p: Beta, q: Beta) -> Tensor:
    a, b = p.concentration1, p.concentration0
    da, db = a - q.concentration1, b - q.concentration0
    return (
        _log_beta(q.concentration1, q.concentration0)
        - _log_beta(a, b)
        + da * pyburn.digamma(a)
        + db * pyburn.digamma(b)
        - (da + db) * pyburn.digamma(a + b)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    sizes = pyburn.lgamma(total) - pyburn.lgamma(b.sum(-1))
    shapes = (pyburn.lgamma(b) - pyburn.lgamma(a)).sum(-1)
    slope = pyburn.digamma(a) - pyburn.digamma(total).unsqueeze(-1)
    return sizes + shapes + ((a - b) * slope).sum(-1)


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Bernoulli, q: Bernoulli) -> Tensor:
    def part(mine: Tensor, theirs: Tensor) -> Tensor:
        value = mine * (mine / theirs).log()
        value = pyburn.where(theirs == 0, math.inf, value)
        return pyburn.where(mine == 0, 0.0, value)

    return part(p.probs, q.probs) + part(1 - p.probs, 1 - q.probs)


@register_kl(Binomial, Binomial)
def _binomials(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "kl_divergence: KL between Binomials where q.total_count > p.total_count is not "
            "implemented"
        )
    pulled = p.total_count * (
        p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    )
    return pyburn.where(p.total_count > q.total_count, math.inf, pulled)


@register_kl(Geometric, Geometric)
def _geometrics(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poissons(p: Poisson, q: Poisson) -> Tensor:
    return pyburn.xlogy(p.rate, p.rate / q.rate) - (p.rate - q.rate)


def _choices(p: Any, q: Any) -> Tensor:
    gap = p.probs * (p.logits - q.logits)
    gap = pyburn.where(q.probs == 0, math.inf, gap)
    return pyburn.where(p.probs == 0, 0.0, gap).sum(-1)


register_kl(Categorical, Categorical)(_choices)
register_kl(OneHotCategorical, OneHotCategorical)(_choices)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "kl_divergence: KL-divergence between two Multivariate Normals with different event "
            f"shapes cannot be computed, got {list(p.event_shape)} and {list(q.event_shape)}"
        )
    size = p._event_shape[0]
    batch = pyburn.broadcast_shapes(tuple(p.batch_shape), tuple(q.batch_shape))
    theirs = q.scale_tril.expand(*batch, size, size)
    mine = p.scale_tril.expand(*batch, size, size)
    apart = (q.loc - p.loc).expand(*batch, size).unsqueeze(-1)
    solve = pyburn.linalg.solve_triangular
    spread = (solve(theirs, mine, upper=False) ** 2).sum(-1).sum(-1)
    distance = (solve(theirs, apart, upper=False) ** 2).sum(-1).sum(-1)
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + distance - size)


@register_kl(Independent, Independent)
def _independents(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "kl_divergence: two Independent distributions that take up different numbers of "
            "dimensions"
        )
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
