"""Where parameters and samples may lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyburn
from pyburn._core import Tensor

__all__ = [
    "Constraint",
    "boolean",
    "greater_than",
    "greater_than_eq",
    "integer_interval",
    "interval",
    "lower_cholesky",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "real",
    "real_vector",
    "simplex",
    "unit_interval",
]


class Constraint:
    """A region, checked value by value; ``event_dim`` dimensions at the end are one value.

    Example:
        >>> pyburn.distributions.constraints.positive.check(pyburn.tensor([-1.0, 1.0]))
        tensor([False,  True])
    """

    def __init__(
        self,
        name: str,
        check: Callable[[Tensor], Tensor],
        event_dim: int = 0,
        is_discrete: bool = False,
    ) -> None:
        self.name: str = name
        self._check = check
        self.event_dim: int = event_dim
        self.is_discrete: bool = is_discrete

    def check(self, value: Tensor) -> Tensor:
        """For each value, whether it lies in the region."""
        return self._check(value)

    def __repr__(self) -> str:
        return self.name


def greater_than(lower_bound: Any) -> Constraint:
    """Above a bound."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """At or above a bound."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda x: x >= lower_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Between bounds, which belong to it."""
    return Constraint(
        f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda x: (x >= lower_bound) & (x <= upper_bound),
    )


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Whole numbers between bounds, which belong to it."""
    return Constraint(
        f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda x: (x % 1 == 0) & (x >= lower_bound) & (x <= upper_bound),
        is_discrete=True,
    )


def multinomial(total: int) -> Constraint:
    """Counts that add up to a number of trials."""
    return Constraint(
        f"Multinomial(upper_bound={total})",
        lambda x: (x >= 0).all(-1) & (x.sum(-1) == total),
        1,
        True,
    )


def _definite(x: Tensor) -> Tensor:
    symmetric = pyburn.isclose(x, x.mT, atol=1e-6).all(-2).all(-1)
    return symmetric & (pyburn.linalg.cholesky_ex(x).info == 0)


real: Constraint = Constraint("Real()", lambda x: x == x)
positive: Constraint = greater_than(0.0)
nonnegative: Constraint = greater_than_eq(0.0)
unit_interval: Constraint = interval(0.0, 1.0)
boolean: Constraint = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
nonnegative_integer: Constraint = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda x: (x % 1 == 0) & (x >= 0), is_discrete=True
)
simplex: Constraint = Constraint(
    "Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1
)
real_vector: Constraint = Constraint(
    "IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1), 1
)
one_hot: Constraint = Constraint(
    "OneHot()", lambda x: ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1), 1, True
)
lower_cholesky: Constraint = Constraint(
    "LowerCholesky()",
    lambda x: (x.tril() == x).flatten(-2).all(-1) & (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1),
    2,
)
positive_definite: Constraint = Constraint("PositiveDefinite()", _definite, 2)
