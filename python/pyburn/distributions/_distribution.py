"""What all distributions have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import pyburn
from pyburn._core import Tensor
from pyburn._size import Size
from pyburn.distributions import constraints

__all__ = ["Distribution", "ExponentialFamily", "LOG_2_PI", "broadcast_all", "tiny"]


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape."""
    known = next((value for value in values if isinstance(value, Tensor)), None)
    tensors = []
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, int | float):
            kind = pyburn.get_default_dtype() if known is None else known.dtype
            place = None if known is None else known.device
            tensors.append(pyburn.tensor(float(value), dtype=kind, device=place))
        else:
            raise ValueError(
                f"distributions: parameters must be tensors or numbers, got {type(value).__name__}"
            )
    return pyburn.broadcast_tensors(*tensors)


def tiny(tensor: Tensor) -> float:
    """The smallest normal number of a tensor's dtype."""
    return pyburn.finfo(tensor.dtype).tiny


class Distribution:
    """A distribution over values of ``event_shape``, independent ones in ``batch_shape``.

    Example:
        >>> d = pyburn.distributions.Normal(pyburn.zeros(3), 1.0)
        >>> d.sample((2,)).shape, d.log_prob(pyburn.zeros(3)).shape
        (pyburn.Size([2, 3]), pyburn.Size([3]))
    """

    has_rsample: bool = False
    has_enumerate_support: bool = False
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    _validate_default: ClassVar[bool] = __debug__
    # Parameters beside those of `arg_constraints` that a copy needs, as they are.
    _kept: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked where ``validate_args`` is not given."""
        Distribution._validate_default = bool(value)

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._validate_args = self._validate_default if validate_args is None else validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name not in self.__dict__:
                    continue  # computed from another parameter when it is asked for
                value = self.__dict__[name]
                valid = constraint.check(value)
                if not bool(valid.all()):
                    raise ValueError(
                        f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of "
                        f"distribution {self!r} to satisfy the constraint {constraint!r}, but "
                        f"found invalid values:\n{value}"
                    )

    @property
    def batch_shape(self) -> Size:
        """The shape of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    @property
    def support(self) -> constraints.Constraint | None:
        """Where values lie."""
        return None

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise NotImplementedError(f"{type(self).__name__}.mean is not defined")

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self).__name__}.mode is not defined")

    @property
    def variance(self) -> Tensor:
        """The expected squared distance from the mean."""
        raise NotImplementedError(f"{type(self).__name__}.variance is not defined")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Distribution:
        """The same distribution, repeated to a batch shape."""
        batch = Size(batch_shape)
        new = type(self).__new__(type(self))
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                event = tuple(value.shape[value.ndim - constraint.event_dim :])
                new.__dict__[name] = value.expand(*batch, *event)
        for name in self._kept:
            new.__dict__[name] = self.__dict__[name]
        new._batch_shape, new._event_shape = batch, self._event_shape
        new._validate_args = False
        new._expanded(self, batch)
        new._validate_args = self._validate_args
        return new

    def _expanded(self, old: Any, batch: Size) -> None:
        """Fills in what a subclass keeps beside its parameters."""

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Values without gradients."""
        with pyburn.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Values that gradients flow through to the parameters."""
        raise NotImplementedError(
            f"{type(self).__name__}.rsample: its samples have no gradient; hint: sample() and "
            "log_prob() (score function)"
        )

    def sample_n(self, n: int) -> Tensor:
        """``n`` values."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability of a value."""
        raise NotImplementedError(f"{type(self).__name__}.log_prob is not defined")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to this one."""
        raise NotImplementedError(f"{type(self).__name__}.cdf is not defined")

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which the probability is this one."""
        raise NotImplementedError(f"{type(self).__name__}.icdf is not defined")

    def entropy(self) -> Tensor:
        """The expected negative logarithm of the density."""
        raise NotImplementedError(f"{type(self).__name__}.entropy is not defined")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values there are, along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__}.enumerate_support: it is not finite")

    def _listed(self, values: Tensor, expand: bool) -> Tensor:
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        """The shape of samples."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        """Fails for a value that is none of this distribution."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError(
                f"{type(self).__name__}: the value must be a Tensor, got {type(value).__name__}"
            )
        event = len(self._event_shape)
        if tuple(value.shape[value.ndim - event :]) != tuple(self._event_shape):
            raise ValueError(
                f"{type(self).__name__}: the right-most size of value must match event_shape: "
                f"{list(value.shape)} vs {list(self._event_shape)}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for got, want in zip(reversed(value.shape), reversed(expected), strict=False):
            if got != 1 and want != 1 and got != want:
                raise ValueError(
                    f"{type(self).__name__}: value is not broadcastable with batch_shape+"
                    f"event_shape: {list(value.shape)} vs {list(expected)}."
                )
        support = self.support
        if support is not None and not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n"
                f"{value}"
            )

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                small = value.numel() == 1
                shown.append(f"{name}: {value if small else tuple(value.shape)}")
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """A distribution of the exponential family."""


LOG_2_PI = math.log(2 * math.pi)
