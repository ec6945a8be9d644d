"""Distributions of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyburn
from pyburn._core import Tensor
from pyburn._size import Size
from pyburn.distributions import constraints
from pyburn.distributions._distribution import LOG_2_PI, Distribution, ExponentialFamily, tiny

__all__ = ["Dirichlet", "Independent", "MultivariateNormal", "shares"]


def shares(concentration: Tensor) -> Tensor:
    """What gamma numbers of the given shapes have of their sum along the last dimension.

    Numbers of small shapes are too small for their dtype: those are drawn for a shape higher by one
    and scaled in logarithms, so that the shares are still right.
    """
    shifted = pyburn._standard_gamma(concentration + 1)
    uniform = pyburn.rand_like(shifted).clamp(min=tiny(shifted))
    logs = shifted.clamp(min=tiny(shifted)).log() + uniform.log() / concentration
    return logs.softmax(-1).clamp(min=tiny(shifted))


class Dirichlet(ExponentialFamily):
    """Shares that add up to one.

    Example:
        >>> pyburn.distributions.Dirichlet(pyburn.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {
        "concentration": constraints.Constraint(
            "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)",
            lambda x: (x > 0).all(-1),
            1,
        )
    }
    has_rsample = True
    support = constraints.simplex  # type: ignore[assignment]

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError(
                "Dirichlet: concentration must be at least one-dimensional, got shape []"
            )
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, True)
        largest = self.concentration.argmax(-1, keepdim=True)
        corner = pyburn.zeros_like(mode).scatter(-1, largest, 1.0)
        return pyburn.where((self.concentration < 1).all(-1, True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return shares(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        c = self.concentration
        return (
            pyburn.xlogy(c - 1, value).sum(-1) + pyburn.lgamma(c.sum(-1)) - pyburn.lgamma(c).sum(-1)
        )

    def entropy(self) -> Tensor:
        c = self.concentration
        total, count = c.sum(-1), c.shape[-1]
        return (
            pyburn.lgamma(c).sum(-1)
            - pyburn.lgamma(total)
            - (count - total) * pyburn.digamma(total)
            - ((c - 1) * pyburn.digamma(c)).sum(-1)
        )


class MultivariateNormal(Distribution):
    """Normal vectors, by one of covariance, precision and the covariance's Cholesky factor."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    has_rsample = True
    support = constraints.real_vector  # type: ignore[assignment]
    loc: Tensor
    scale_tril: Tensor

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            name: matrix
            for name, matrix in (
                ("covariance_matrix", covariance_matrix),
                ("precision_matrix", precision_matrix),
                ("scale_tril", scale_tril),
            )
            if matrix is not None
        }
        if len(given) != 1:
            raise ValueError(
                "MultivariateNormal: exactly one of covariance_matrix or precision_matrix or "
                "scale_tril may be specified."
            )
        ((name, matrix),) = given.items()
        if loc.ndim < 1 or matrix.ndim < 2:
            raise ValueError(
                "MultivariateNormal: expected a vector and a matrix at least, got shapes "
                f"{list(loc.shape)} and {list(matrix.shape)}"
            )
        size = loc.shape[-1]
        if tuple(matrix.shape[-2:]) != (size, size):
            raise ValueError(
                f"MultivariateNormal: loc of shape {list(loc.shape)} needs a {name} of {size} by "
                f"{size}, got shape {list(matrix.shape)}"
            )
        batch = pyburn.broadcast_shapes(tuple(loc.shape[:-1]), tuple(matrix.shape[:-2]))
        self.loc = loc.expand(*batch, size)
        self.__dict__[name] = matrix.expand(*batch, size, size)
        super().__init__(batch, (size,), validate_args)
        if name == "covariance_matrix":
            self.scale_tril = pyburn.linalg.cholesky(self.__dict__[name])
        elif name == "precision_matrix":
            # The factor of the inverse from that of the matrix read backwards.
            flipped = pyburn.linalg.cholesky(self.__dict__[name].flip(-2, -1))
            upper = flipped.flip(-2, -1).mT
            eye = pyburn.eye(size, dtype=loc.dtype, device=loc.device)
            self.scale_tril = pyburn.linalg.solve_triangular(upper, eye, upper=False)

    def __getattr__(self, name: str) -> Any:
        if name == "covariance_matrix":
            return self.scale_tril @ self.scale_tril.mT
        if name == "precision_matrix":
            return pyburn.cholesky_inverse(self.scale_tril)
        raise AttributeError(f"'MultivariateNormal' object has no attribute '{name}'")

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return (self.scale_tril**2).sum(-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = pyburn.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = (value - self.loc).unsqueeze(-1)
        scale = self.scale_tril.expand(*distance.shape[:-2], *self.scale_tril.shape[-2:])
        white = pyburn.linalg.solve_triangular(scale, distance, upper=False).squeeze(-1)
        return -0.5 * (white**2).sum(-1) - self._half_log_det() - 0.5 * self._size() * LOG_2_PI

    def _size(self) -> int:
        return self._event_shape[0]

    def _half_log_det(self) -> Tensor:
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def entropy(self) -> Tensor:
        return 0.5 * self._size() * (1 + LOG_2_PI) + self._half_log_det()


class Independent(Distribution):
    """A distribution whose last batch dimensions are part of one value.

    Example:
        >>> rows = pyburn.distributions.Normal(pyburn.zeros(3), 1.0)
        >>> d = pyburn.distributions.Independent(rows, 1)
        >>> d.log_prob(pyburn.zeros(3)).shape
        pyburn.Size([])
    """

    _kept = ("reinterpreted_batch_ndims",)

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        count = reinterpreted_batch_ndims
        if count > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{count} vs {len(base_distribution.batch_shape)}"
            )
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        split = len(base_distribution.batch_shape) - count
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        super().__init__(shape[:split], shape[split:], validate_args)

    def _expanded(self, old: Any, batch: Size) -> None:
        inner = old.base_dist.batch_shape
        kept = inner[len(inner) - self.reinterpreted_batch_ndims :]
        self.base_dist = old.base_dist.expand((*batch, *kept))

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @property
    def support(self) -> constraints.Constraint | None:
        inner = self.base_dist.support
        if inner is None or not self.reinterpreted_batch_ndims:
            return inner
        count = self.reinterpreted_batch_ndims

        def check(value: Tensor) -> Tensor:
            valid = inner.check(value)
            return valid.reshape(*valid.shape[: valid.ndim - count], -1).all(-1)

        name = f"IndependentConstraint({inner!r}, {count})"
        return constraints.Constraint(name, check, inner.event_dim + count, inner.is_discrete)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def _summed(self, values: Tensor) -> Tensor:
        count = self.reinterpreted_batch_ndims
        return values.sum(tuple(range(-count, 0))) if count else values

    def log_prob(self, value: Tensor) -> Tensor:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self._summed(self.base_dist.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError(
                "Independent.enumerate_support: the values of several dimensions are not enumerated"
            )
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
