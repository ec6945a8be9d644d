"""Distributions of real numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyburn
from pyburn._core import Tensor
from pyburn.distributions import constraints
from pyburn.distributions._distribution import (
    LOG_2_PI,
    Distribution,
    ExponentialFamily,
    broadcast_all,
    tiny,
)

__all__ = [
    "Beta",
    "Cauchy",
    "Chi2",
    "Exponential",
    "Gamma",
    "HalfNormal",
    "Laplace",
    "LogNormal",
    "Normal",
    "StudentT",
    "Uniform",
]

Param = Tensor | float


class Normal(ExponentialFamily):
    """The bell curve with mean ``loc`` and standard deviation ``scale``.

    Example:
        >>> d = pyburn.distributions.Normal(0.0, 1.0)
        >>> d.log_prob(pyburn.tensor(0.0))
        tensor(-0.9189)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    has_rsample = True

    def __init__(self, loc: Param, scale: Param, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    support = constraints.real  # type: ignore[assignment]

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = pyburn.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = (value - self.loc) / self.scale
        return -0.5 * distance**2 - self.scale.log() - 0.5 * LOG_2_PI

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return pyburn.special.ndtr((value - self.loc) / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * pyburn.special.ndtri(value)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * LOG_2_PI + self.scale.log()


class LogNormal(Distribution):
    """Numbers whose logarithm is normal."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    has_rsample = True
    support = constraints.positive  # type: ignore[assignment]

    def __init__(self, loc: Param, scale: Param, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def base_dist(self) -> Normal:
        """The distribution of the logarithm."""
        return Normal(self.loc, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale**2
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        log = value.log()
        return self.base_dist.log_prob(log) - log

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.base_dist.cdf(value.log())

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class HalfNormal(Distribution):
    """The size of normal numbers of mean zero."""

    arg_constraints = {"scale": constraints.positive}
    has_rsample = True
    support = constraints.nonnegative  # type: ignore[assignment]

    def __init__(self, scale: Param, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return pyburn.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = pyburn.randn(shape, dtype=self.scale.dtype, device=self.scale.device)
        return noise.abs() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        whole = Normal(0.0, self.scale, validate_args=False).log_prob(value) + math.log(2)
        return pyburn.where(value >= 0, whole, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 2 * pyburn.special.ndtr(value / self.scale) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * pyburn.special.ndtri((value + 1) / 2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * LOG_2_PI - math.log(2) + self.scale.log()


class Uniform(Distribution):
    """Numbers from ``low`` to ``high``, all with the same density."""

    has_rsample = True

    def __init__(self, low: Param, high: Param, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    arg_constraints = {"low": constraints.real, "high": constraints.real}

    @property
    def support(self) -> constraints.Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Tensor:
        return self.low + (self.high - self.low) * math.nan

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        unit = pyburn.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + unit * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = (value >= self.low) & (value < self.high)
        return pyburn.where(inside, -(self.high - self.low).log(), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Waiting times for events that happen at a rate."""

    arg_constraints = {"rate": constraints.positive}
    has_rsample = True
    support = constraints.nonnegative  # type: ignore[assignment]

    def __init__(self, rate: Param, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return pyburn.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate**-2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        times = pyburn.empty(shape, dtype=self.rate.dtype, device=self.rate.device)
        return times.exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -(-self.rate * value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()


class Laplace(Distribution):
    """Two exponentials back to back."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    has_rsample = True
    support = constraints.real  # type: ignore[assignment]

    def __init__(self, loc: Param, scale: Param, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        size = pyburn.empty(shape, dtype=self.loc.dtype, device=self.loc.device).exponential_()
        side = pyburn.randint(0, 2, shape, device=self.loc.device).to(size.dtype) * 2 - 1
        return self.loc + self.scale * size * side

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * (-distance.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(Distribution):
    """The ratio of two normal numbers; it has no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    has_rsample = True
    support = constraints.real  # type: ignore[assignment]

    def __init__(self, loc: Param, scale: Param, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return pyburn.full_like(self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return pyburn.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = pyburn.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (distance**2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gamma(ExponentialFamily):
    """Sums of ``concentration`` waiting times for events at ``rate``.

    Example:
        >>> c = pyburn.tensor(2.0, requires_grad=True)
        >>> pyburn.distributions.Gamma(c, 1.0).rsample().backward()
        >>> bool(c.grad > 0)
        True
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    has_rsample = True
    support = constraints.nonnegative  # type: ignore[assignment]

    def __init__(
        self, concentration: Param, rate: Param, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = pyburn._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return drawn.clamp(min=tiny(drawn))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return (
            pyburn.xlogy(self.concentration, self.rate)
            + pyburn.xlogy(self.concentration - 1, value)
            - self.rate * value
            - pyburn.lgamma(self.concentration)
        )

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return pyburn.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c - self.rate.log() + pyburn.lgamma(c) + (1 - c) * pyburn.digamma(c)


class Chi2(Gamma):
    """Sums of ``df`` squared normal numbers."""

    arg_constraints = {
        "df": constraints.positive,
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }

    def __init__(self, df: Param, validate_args: bool | None = None) -> None:
        (self.df,) = broadcast_all(df)
        super().__init__(0.5 * self.df, 0.5, validate_args=validate_args)


class StudentT(Distribution):
    """A normal number over the root of its estimated variance, from ``df`` others."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    has_rsample = True
    support = constraints.real  # type: ignore[assignment]

    def __init__(
        self, df: Param, loc: Param = 0.0, scale: Param = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return pyburn.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale**2 * self.df / (self.df - 2)
        heavy = pyburn.where(self.df > 1, math.inf, math.nan).to(finite.dtype)
        return pyburn.where(self.df > 2, finite, heavy)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = pyburn.randn(shape, dtype=self.df.dtype, device=self.df.device)
        square = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * noise * pyburn.rsqrt(square / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = (value - self.loc) / self.scale
        scale = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + pyburn.lgamma(0.5 * self.df)
            - pyburn.lgamma(0.5 * (self.df + 1))
        )
        return -0.5 * (self.df + 1) * (distance**2 / self.df).log1p() - scale

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = pyburn.lgamma(half) + math.lgamma(0.5) - pyburn.lgamma(more)
        slope = pyburn.digamma(more) - pyburn.digamma(half)
        return self.scale.log() + more * slope + 0.5 * self.df.log() + beta


class Beta(ExponentialFamily):
    """The share of one gamma number in the sum of two.

    Example:
        >>> pyburn.distributions.Beta(2.0, 3.0).mean
        tensor(0.4000)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    has_rsample = True
    support = constraints.unit_interval  # type: ignore[assignment]

    def __init__(
        self, concentration1: Param, concentration0: Param, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    @property
    def _total(self) -> Tensor:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        inner = (a - 1) / (a + b - 2)
        edge = pyburn.where(a > b, 1.0, pyburn.where(a < b, 0.0, math.nan)).to(inner.dtype)
        return pyburn.where((a > 1) & (b > 1), inner, edge)

    @property
    def variance(self) -> Tensor:
        total = self._total
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        from pyburn.distributions._multivariate import shares

        shape = self._extended_shape(sample_shape)
        both = pyburn.stack([self.concentration1, self.concentration0], -1)
        return shares(both.expand(*shape, 2))[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return (
            pyburn.xlogy(a - 1, value)
            + pyburn.special.xlog1py(b - 1, -value)
            + pyburn.lgamma(a + b)
            - pyburn.lgamma(a)
            - pyburn.lgamma(b)
        )

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (
            pyburn.lgamma(a)
            + pyburn.lgamma(b)
            - pyburn.lgamma(a + b)
            - (a - 1) * pyburn.digamma(a)
            - (b - 1) * pyburn.digamma(b)
            + (a + b - 2) * pyburn.digamma(a + b)
        )
