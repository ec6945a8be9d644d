"""Random numbers: generators, tensors drawn from distributions, and fills in place.

Numbers are drawn on the CPU whatever a tensor's device is, so one seed gives the same numbers
everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyburn import _core
from pyburn._api import attach, into, method
from pyburn._core import Tensor, device, tensor
from pyburn._dtypes import (
    DeviceLike,
    DTypeLike,
    Number,
    as_device,
    category,
    int64,
    layout,
    memory_format,
    preserve_format,
    sizes_of,
    strided,
    uint8,
)
from pyburn._dtypes import bool as bool_
from pyburn._options import finish, kind_and_place, kind_and_place_like

__all__ = [
    "Distribution",
    "Generator",
    "_standard_gamma",
    "_standard_gamma_grad",
    "bernoulli",
    "binomial",
    "default_generator",
    "dropout",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
]


class Generator:
    """A source of random numbers with a seed of its own.

    Example:
        >>> g = pyburn.Generator().manual_seed(0)
        >>> pyburn.rand(2, generator=g).shape
        pyburn.Size([2])
    """

    def __init__(self, device: DeviceLike = "cpu") -> None:
        self._source = _core.Generator(as_device(device))

    @classmethod
    def _of(cls, source: Any) -> Generator:
        generator = cls.__new__(cls)
        generator._source = source
        return generator

    @property
    def device(self) -> device:
        """The device it was made for."""
        return self._source.device

    def manual_seed(self, seed: int) -> Generator:
        """Moves to the start of a seed's sequence."""
        self._source.manual_seed(_checked(seed))
        return self

    def seed(self) -> int:
        """Seeds from the operating system and gives the new seed."""
        return self._source.seed()

    def initial_seed(self) -> int:
        """The seed of the sequence it is in."""
        return self._source.initial_seed()

    def get_state(self) -> Tensor:
        """Everything needed to continue from here, as a tensor of bytes."""
        return tensor(list(self._source.get_state()), dtype=uint8, device="cpu")

    def set_state(self, new_state: Tensor) -> Generator:
        """Continues from where a state was taken."""
        if not isinstance(new_state, Tensor) or new_state.dtype != uint8:
            raise TypeError("set_state: RNG state must be a pyburn.ByteTensor")
        self._source.set_state(bytes(new_state.tolist()))
        return self

    def clone_state(self) -> Generator:
        """Another generator that continues from here."""
        return Generator(self.device).set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self.device), self.get_state().tolist())

    def __repr__(self) -> str:
        return f"<pyburn.Generator device={self.device} initial_seed={self.initial_seed()}>"


def _restored(place: str, state: list[int]) -> Generator:
    return Generator(place).set_state(tensor(state, dtype=uint8, device="cpu"))


def _checked(seed: int) -> int:
    """A seed in the range of PyTorch's, negative ones counted from the other end."""
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise RuntimeError(f"manual_seed: overflow when unpacking long, got {seed}")
    return number if number >= 0 else number + 2**64


default_generator = Generator._of(_core.default_generator())
"""The generator that is drawn from where none is named."""


def _source(generator: Generator | None) -> Any:
    if generator is None:
        return None
    if not isinstance(generator, Generator):
        raise TypeError(f"generator: expected a pyburn.Generator, got {type(generator).__name__}")
    return generator._source


def manual_seed(seed: int) -> Generator:
    """Seeds the default generator, for every device.

    Example:
        >>> _ = pyburn.manual_seed(0)
        >>> pyburn.initial_seed()
        0
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seeds the default generator from the operating system and gives the new seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continues the default generator from where a state was taken."""
    default_generator.set_state(new_state)


class Distribution:
    """What :meth:`Tensor.random` draws from.

    Example:
        >>> pyburn.Tensor.random((2,), pyburn.Distribution.Normal(0, 1)).shape
        pyburn.Size([2])
    """

    __slots__ = ("name", "parameters")

    Default: Distribution
    """Numbers between zero and one; for integer types from 0 to 254, for bools a fair coin."""
    Uniform: Distribution
    """All numbers from the first bound up to the second with the same probability."""
    Normal: Distribution
    """The bell curve, by mean and standard deviation."""
    Bernoulli: Distribution
    """One with a probability, zero otherwise."""

    name: str
    parameters: tuple[float, ...]

    def __init__(self, name: str, *parameters: float) -> None:
        self.name = name
        self.parameters = parameters

    def __call__(self, *parameters: float) -> Distribution:
        """The same kind of distribution with other parameters."""
        if len(parameters) != len(self.parameters):
            raise TypeError(
                f"Distribution.{self.name}: takes {len(self.parameters)} parameters, got "
                f"{len(parameters)}"
            )
        return Distribution(self.name, *map(float, parameters))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Distribution) and (other.name, other.parameters) == (
            self.name,
            self.parameters,
        )

    def __hash__(self) -> int:
        return hash((self.name, self.parameters))

    def __repr__(self) -> str:
        shown = f"({', '.join(f'{value:g}' for value in self.parameters)})"
        return f"Distribution.{self.name}{shown if self.parameters else ''}"


Distribution.Default = Distribution("Default")
Distribution.Uniform = Distribution("Uniform", 0.0, 1.0)
Distribution.Normal = Distribution("Normal", 0.0, 1.0)
Distribution.Bernoulli = Distribution("Bernoulli", 0.5)


def _random(
    shape: Sequence[int],
    distribution: Distribution | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor drawn from a distribution."""
    law = Distribution.Default if distribution is None else distribution
    if not isinstance(law, Distribution):
        raise TypeError(f"random: expected a pyburn.Distribution, got {type(law).__name__}")
    size = sizes_of((shape,), "random")
    kind, place = kind_and_place(None, dtype, device, backend)
    whole = category(kind) <= 1
    if law.name == "Default" and kind == bool_:
        law = Distribution.Bernoulli(0.5)
    result = _core._full(size, 0, kind, place)
    if law.name == "Default" and whole:
        last = min(255, 128 if kind.itemsize == 1 and kind.is_signed else 255)
        _core.random_(result, 0, last, None)
    elif law.name in ("Default", "Uniform"):
        low, high = law.parameters or (0.0, 1.0)
        if whole:
            _core.random_(result, math.ceil(low), math.ceil(high), None)
        else:
            _core.uniform_(result, low, high, None)
    elif law.name == "Normal":
        mean, std = law.parameters
        wide = _core.get_default_dtype() if whole else kind
        result = _core.normal_with(mean, std, size, wide, place, None).to(kind)
    else:
        _core.bernoulli_(result, law.parameters[0], None)
    return result.requires_grad_() if requires_grad else result


attach("random", staticmethod(_random))


def rand(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers between zero and one, zero included.

    Example:
        >>> pyburn.rand(2, 3).shape
        pyburn.Size([2, 3])
    """
    shape = sizes_of(args if size is None else (size,), "rand")
    kind, place = kind_and_place(out, dtype, device, backend)
    return finish(_core.rand(shape, kind, place, _source(generator)), out, requires_grad, layout)


def randn(
    *args: int | Sequence[int],
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers from the normal distribution with mean zero and variance one."""
    shape = sizes_of(args if size is None else (size,), "randn")
    kind, place = kind_and_place(out, dtype, device, backend)
    return finish(_core.randn(shape, kind, place, _source(generator)), out, requires_grad, layout)


def _bounds(
    op: str, given: tuple[Any, ...], low: int | None, high: int | None, size: Any, sized: bool
) -> tuple[int, int, Any]:
    """The arguments of ``(high, size)`` and ``(low, high, size)``, by position or name."""
    rest = list(given)
    if sized and size is None and rest and not hasattr(rest[-1], "__index__"):
        size = rest.pop()
    if high is None and rest:
        high = rest.pop()
    if low is None and rest:
        low = rest.pop()
    if rest or high is None or (sized and size is None):
        raise TypeError(f"{op}: expected (high, size) or (low, high, size), got {given}")
    return int(low or 0), int(high), size


def randint(
    *args: int | Sequence[int],
    low: int | None = None,
    high: int | None = None,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers from ``low`` up to ``high``, which is excluded.

    Example:
        >>> pyburn.randint(1, 2, (2,))
        tensor([1, 1])
    """
    first, end, shape = _bounds("randint", args, low, high, size, True)
    kind, place = kind_and_place(out, dtype, device, backend, int64)
    sizes = sizes_of((shape,), "randint")
    result = _core.randint(first, end, sizes, kind, place, _source(generator))
    return finish(result, out, requires_grad, layout)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The integers below ``n`` in random order."""
    if n < 0:
        raise RuntimeError(f"randperm: n must be non-negative, got {n}")
    kind, place = kind_and_place(out, dtype, device, backend, int64)
    result = _core.randperm(n, kind, place, _source(generator))
    return finish(result, out, requires_grad, layout)


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Numbers between zero and one in another tensor's shape, dtype and device."""
    options = kind_and_place_like(input, dtype, device, backend)
    result = _core.rand(tuple(input.shape), *options, _source(generator))
    return finish(result, None, requires_grad, layout)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Standard normal numbers in another tensor's shape, dtype and device."""
    options = kind_and_place_like(input, dtype, device, backend)
    result = _core.randn(tuple(input.shape), *options, _source(generator))
    return finish(result, None, requires_grad, layout)


def randint_like(
    input: Tensor,
    *args: int | Sequence[int],
    low: int | None = None,
    high: int | None = None,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Integers from ``low`` up to ``high`` in another tensor's shape, dtype and device."""
    first, end, _ = _bounds("randint_like", args, low, high, None, False)
    options = kind_and_place_like(input, dtype, device, backend)
    result = _core.randint(first, end, tuple(input.shape), *options, _source(generator))
    return finish(result, None, requires_grad, layout)


def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    layout: layout = strided,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers by means and standard deviations, numbers or tensors."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is not None:
            raise TypeError("normal: takes a size only where mean and std are numbers")
        return into(_core.normal(mean, std, _source(generator)), out)
    if size is None:
        raise TypeError("normal: expects a size where mean and std are numbers")
    if std < 0:
        raise RuntimeError(f"normal: expects std >= 0.0, but found std {std}")
    kind, place = kind_and_place(out, dtype, device, backend)
    shape = sizes_of((size,), "normal")
    result = _core.normal_with(float(mean), float(std), shape, kind, place, _source(generator))
    return finish(result, out, requires_grad, layout)


@method
def bernoulli(
    input: Tensor,
    p: float | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Ones and zeros, one with the probability each element, or ``p``, says."""
    if p is None:
        return into(_core.bernoulli(input, _source(generator)), out)
    return into(_core.bernoulli_like(input, float(p), _source(generator)), out)


@method
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Places drawn from each row with the probabilities it holds."""
    if num_samples <= 0:
        raise RuntimeError(f"multinomial: cannot sample n_sample <= 0 samples, got {num_samples}")
    result = _core.multinomial(input, num_samples, replacement, _source(generator))
    return into(result, out, same_dtype=True)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of events that happen at the rates in a tensor."""
    return _core.poisson(input, _source(generator))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of successes in ``count`` trials of probability ``prob``."""
    return _core.binomial(count, prob, _source(generator))


def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers from gamma distributions of rate one with the given concentrations."""
    return _core.standard_gamma(input, _source(generator))


def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """The derivative of numbers drawn by :func:`_standard_gamma` by their concentrations."""
    return _core.standard_gamma_grad(input, output)


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training, elements zero with probability ``p``, the others divided by ``1 - p``."""
    return _core.dropout(input, float(p), train, None)


def _from(op: str, value: float, names: dict[str, float]) -> float:
    """PyTorch calls a lower bound ``from``, which is a keyword in Python."""
    value = names.pop("from", value)
    if names:
        raise TypeError(f"{op}: got an unexpected keyword argument '{next(iter(names))}'")
    return value


@method
def uniform_(
    self: Tensor,
    from_: float = 0,
    to: float = 1,
    *,
    generator: Generator | None = None,
    **names: float,
) -> Tensor:
    """Fills with numbers from the lower bound up to the upper one."""
    _core.uniform_(self, float(_from("uniform_", from_, names)), float(to), _source(generator))
    return self


@method
def normal_(
    self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fills with normal numbers.

    Example:
        >>> pyburn.empty(2).normal_(5, 0)
        tensor([5., 5.])
    """
    _core.normal_(self, float(mean), float(std), _source(generator))
    return self


@method
def random_(
    self: Tensor,
    *bounds: int,
    to: int | None = None,
    generator: Generator | None = None,
    **names: int,
) -> Tensor:
    """Fills with integers: ``random_()``, ``random_(to)`` or ``random_(from, to)``."""
    given = list(bounds)
    end = given.pop() if given and to is None else to
    low = int(_from("random_", given.pop() if given else 0, names))  # type: ignore[arg-type]
    if given:
        raise TypeError(f"random_: takes at most two bounds, got {bounds}")
    _core.random_(self, low, None if end is None else int(end), _source(generator))
    return self


@method
def bernoulli_(
    self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Fills with ones of probability ``p`` and zeros."""
    if isinstance(p, Tensor):
        _core.bernoulli_from_(self, p, _source(generator))
    else:
        _core.bernoulli_(self, float(p), _source(generator))
    return self


@method
def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fills with waiting times at the rate ``lambd``."""
    _core.exponential_(self, float(lambd), _source(generator))
    return self


@method
def geometric_(self: Tensor, p: Number, *, generator: Generator | None = None) -> Tensor:
    """Fills with numbers of trials until the first success of probability ``p``."""
    _core.geometric_(self, float(p), _source(generator))  # type: ignore[arg-type]
    return self


@method
def cauchy_(
    self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fills with numbers from the Cauchy distribution."""
    _core.cauchy_(self, float(median), float(sigma), _source(generator))
    return self


@method
def log_normal_(
    self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None
) -> Tensor:
    """Fills with numbers whose logarithm is normal."""
    _core.log_normal_(self, float(mean), float(std), _source(generator))
    return self
