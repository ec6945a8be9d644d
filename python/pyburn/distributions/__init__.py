"""Probability distributions: samples, densities, moments, divergences.

``rsample`` draws samples that gradients flow through to the parameters; distributions that cannot
do so have ``has_rsample = False``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyburn._absent import getter
from pyburn.distributions import constraints
from pyburn.distributions._continuous import (
    Beta,
    Cauchy,
    Chi2,
    Exponential,
    Gamma,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    StudentT,
    Uniform,
)
from pyburn.distributions._discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    Poisson,
)
from pyburn.distributions._distribution import Distribution, ExponentialFamily
from pyburn.distributions._kl import kl_divergence, register_kl
from pyburn.distributions._multivariate import Dirichlet, Independent, MultivariateNormal

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Gamma",
    "Geometric",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "Poisson",
    "StudentT",
    "Uniform",
    "constraints",
    "kl_divergence",
    "register_kl",
]

if not TYPE_CHECKING:
    __getattr__ = getter(__name__)
