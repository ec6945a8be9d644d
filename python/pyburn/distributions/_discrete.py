"""Distributions of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyburn
from pyburn._core import Tensor
from pyburn._size import Size
from pyburn.distributions import constraints
from pyburn.distributions._distribution import Distribution, ExponentialFamily, broadcast_all

__all__ = [
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Geometric",
    "Multinomial",
    "OneHotCategorical",
    "Poisson",
]

Param = Tensor | float


def _one_of(op: str, probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError(f"{op}: Either `probs` or `logits` must be specified, but not both.")


def _inside(probs: Tensor) -> Tensor:
    """Probabilities whose logarithms are finite."""
    eps = pyburn.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class _Coin(Distribution):
    """A distribution by ``probs`` or ``logits``, either of which gives the other."""

    def _take(self, probs: Param | None, logits: Param | None) -> Tensor:
        _one_of(type(self).__name__, probs, logits)
        if probs is not None:
            (self.__dict__["probs"],) = broadcast_all(probs)
            return self.__dict__["probs"]
        (self.__dict__["logits"],) = broadcast_all(logits)
        return self.__dict__["logits"]

    def __getattr__(self, name: str) -> Any:
        if name == "probs" and "logits" in self.__dict__:
            return self.__dict__["logits"].sigmoid()
        if name == "logits" and "probs" in self.__dict__:
            inside = _inside(self.__dict__["probs"])
            return inside.log() - (-inside).log1p()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self.probs.shape


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """``-log`` of the probability of a truth value, without overflow."""
    return logits.clamp(min=0) - logits * target + (-logits.abs()).exp().log1p()


class Bernoulli(_Coin, ExponentialFamily):
    """One with a probability, zero otherwise.

    Example:
        >>> pyburn.distributions.Bernoulli(0.25).variance
        tensor(0.1875)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean  # type: ignore[assignment]
    has_enumerate_support = True

    def __init__(
        self,
        probs: Param | None = None,
        logits: Param | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._take(probs, logits).shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return pyburn.where(self.probs == 0.5, math.nan, mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with pyburn.no_grad():
            return pyburn.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -_cross_entropy(self.logits, value)

    def entropy(self) -> Tensor:
        return _cross_entropy(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = pyburn.arange(2, dtype=self.probs.dtype, device=self.probs.device)
        return self._listed(values, expand)


class Geometric(_Coin):
    """How many trials fail before one succeeds."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer  # type: ignore[assignment]

    def __init__(
        self,
        probs: Param | None = None,
        logits: Param | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = self._take(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((given > 0).all()):
            raise ValueError(f"Geometric: expected probs above zero, got\n{given}")

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return pyburn.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with pyburn.no_grad():
            unit = pyburn.rand(shape, dtype=self.probs.dtype, device=self.probs.device)
            unit = unit.clamp(min=pyburn.finfo(unit.dtype).tiny)
            return (unit.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        failures = pyburn.special.xlog1py(value, -self.probs)
        return failures + self.probs.log()

    def entropy(self) -> Tensor:
        return _cross_entropy(self.logits, self.probs) / self.probs


class Binomial(_Coin):
    """Successes in ``total_count`` trials."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Param = 1,
        probs: Param | None = None,
        logits: Param | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name = "probs" if logits is None else "logits"
        given = self._take(probs, logits)
        counts, given = broadcast_all(total_count, given)
        self.total_count = counts.to(given.dtype)
        self.__dict__[name] = given
        super().__init__(given.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with pyburn.no_grad():
            return pyburn.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        ways = (
            pyburn.lgamma(self.total_count + 1)
            - pyburn.lgamma(value + 1)
            - pyburn.lgamma(self.total_count - value + 1)
        )
        size = self.logits.clamp(min=0) + (-self.logits.abs()).exp().log1p()
        return ways + value * self.logits - self.total_count * size

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = int(self.total_count.max())
        if not bool((self.total_count == count).all()):
            raise NotImplementedError(
                "Binomial.enumerate_support: the total counts differ within the batch"
            )
        values = pyburn.arange(count + 1, dtype=self.probs.dtype, device=self.probs.device)
        return self._listed(values, expand)

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)


class Poisson(ExponentialFamily):
    """Counts of events that happen at a rate."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer  # type: ignore[assignment]

    def __init__(self, rate: Param, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with pyburn.no_grad():
            return pyburn.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return pyburn.xlogy(value, self.rate) - self.rate - pyburn.lgamma(value + 1)


class _Choice(Distribution):
    """A distribution over categories by ``probs``, which are normalised, or ``logits``."""

    def _take(self, probs: Tensor | None, logits: Tensor | None) -> Tensor:
        op = type(self).__name__
        _one_of(op, probs, logits)
        given = logits if probs is None else probs
        assert given is not None
        if given.ndim < 1:
            raise ValueError(
                f"{op}: `{'logits' if probs is None else 'probs'}` must be at least one-dimensional"
            )
        if probs is not None:
            self.__dict__["probs"] = probs / probs.sum(-1, True)
        else:
            self.__dict__["logits"] = given - given.logsumexp(-1, True)
        return given

    def __getattr__(self, name: str) -> Any:
        if name == "probs" and "logits" in self.__dict__:
            return self.__dict__["logits"].softmax(-1)
        if name == "logits" and "probs" in self.__dict__:
            return _inside(self.__dict__["probs"]).log()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def _num_events(self) -> int:
        return self.probs.shape[-1]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self.probs.shape

    def _draw(self, sample_shape: Sequence[int], each: int) -> Tensor:
        """The numbers of categories: ``each`` per distribution and sample, along a last
        dimension.
        """
        outer = (*sample_shape, *self._batch_shape)
        count = math.prod(outer)
        with pyburn.no_grad():
            rows = self.probs.expand(*outer, self._num_events).reshape(count, self._num_events)
            if not count or not each:
                return pyburn.zeros(*outer, each, dtype=pyburn.int64, device=rows.device)
            return pyburn.multinomial(rows, each, True).reshape(*outer, each)


class Categorical(_Choice):
    """One of the numbers ``0 .. K - 1``.

    Example:
        >>> d = pyburn.distributions.Categorical(pyburn.tensor([1.0, 3.0]))
        >>> d.log_prob(pyburn.tensor(1)).exp()
        tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._take(probs, logits).shape[:-1], validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return pyburn.full(self._batch_shape, math.nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return pyburn.full(self._batch_shape, math.nan, dtype=self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._draw(sample_shape, 1).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        shape = pyburn.broadcast_shapes(tuple(value.shape), tuple(self._batch_shape))
        index = value.to(pyburn.int64).expand(shape).unsqueeze(-1)
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, index).squeeze(-1)

    def entropy(self) -> Tensor:
        floor = pyburn.finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=floor) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._listed(pyburn.arange(self._num_events, device=self.probs.device), expand)


class OneHotCategorical(_Choice):
    """One of ``K`` unit vectors."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot  # type: ignore[assignment]
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        shape = self._take(probs, logits).shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        best = self.probs.argmax(-1, keepdim=True)
        return pyburn.zeros_like(self.probs).scatter(-1, best, 1.0)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        index = self._draw(sample_shape, 1)
        shape = self._extended_shape(sample_shape)
        zeros = pyburn.zeros(shape, dtype=self.probs.dtype, device=self.probs.device)
        return zeros.scatter(-1, index, 1.0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        index = value.argmax(-1)
        return Categorical(logits=self.logits, validate_args=False).log_prob(index)

    def entropy(self) -> Tensor:
        return Categorical(logits=self.logits, validate_args=False).entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._num_events
        values = pyburn.eye(count, dtype=self.probs.dtype, device=self.probs.device)
        values = values.reshape((count,) + (1,) * len(self._batch_shape) + (count,))
        return values.expand(count, *self._batch_shape, count) if expand else values


class Multinomial(_Choice):
    """How often each of ``K`` categories comes in ``total_count`` trials."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _kept = ("total_count",)

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(
                "Multinomial: one total_count for the whole batch is supported, got "
                f"{type(total_count).__name__}"
            )
        self.total_count = total_count
        shape = self._take(probs, logits).shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        index = self._draw(sample_shape, self.total_count)
        shape = self._extended_shape(sample_shape)
        counts = pyburn.zeros(shape, dtype=self.probs.dtype, device=self.probs.device)
        return counts.scatter_add(-1, index, pyburn.ones(index.shape, dtype=counts.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        ways = pyburn.lgamma(value.sum(-1) + 1) - pyburn.lgamma(value + 1).sum(-1)
        seen = pyburn.where(value == 0, 0.0, value * self.logits)
        return ways + seen.sum(-1)

    def entropy(self) -> Tensor:
        # Each count by itself is binomial; the rest is what the categories say about each other.
        n = self.total_count
        counts = pyburn.arange(1, n + 1, dtype=self.probs.dtype, device=self.probs.device)
        counts = counts.reshape((-1,) + (1,) * self.probs.ndim)
        shares = Binomial(n, probs=self.probs, validate_args=False).log_prob(counts).exp()
        inner = (shares * pyburn.lgamma(counts + 1)).sum(0).sum(-1)
        single = Categorical(logits=self.logits, validate_args=False).entropy()
        return n * single - math.lgamma(n + 1) + inner
