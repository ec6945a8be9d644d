"""Special functions: PyTorch's ``torch.special``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from pyburn import _core, _pointwise, _reduction
from pyburn._absent import getter
from pyburn._api import into
from pyburn._core import Tensor
from pyburn._dtypes import DTypeLike, Number, as_operand, category, numpy_names, result_type
from pyburn._pointwise._kinds import OfOne

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]


class Polynomial(Protocol):
    """A family of polynomials: values and orders."""

    def __call__(
        self, input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None
    ) -> Tensor: ...


digamma = psi = _pointwise.digamma
erf = _pointwise.erf
erfc = _pointwise.erfc
erfinv = _pointwise.erfinv
exp2 = _pointwise.exp2
expit = _pointwise.sigmoid
expm1 = _pointwise.expm1
gammainc = _pointwise.igamma
gammaincc = _pointwise.igammac
gammaln = _pointwise.lgamma
i0 = _pointwise.i0
log1p = _pointwise.log1p
logit = _pointwise.logit
multigammaln = _pointwise.mvlgamma
polygamma = _pointwise.polygamma
round = _pointwise.round
sinc = _pointwise.sinc
xlogy = _pointwise.xlogy


def _floats(value: Tensor) -> Tensor:
    return value if category(value.dtype) > 1 else value.to(_core.get_default_dtype())


def _unary(name: str, text: str) -> OfOne:
    """A function of one tensor that only this module has."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return into(_core.unary(input, name), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


erfcx: OfOne = _unary("erfcx", "``exp(x**2) * erfc(x)``, without overflow of its factors.")
ndtr: OfOne = _unary("ndtr", "The area under the normal distribution up to each element.")
log_ndtr: OfOne = _unary(
    "log_ndtr", "The logarithm of :func:`ndtr`, precise where that is near zero."
)
ndtri: OfOne = _unary("ndtri", "The inverse of :func:`ndtr`.")
i0e: OfOne = _unary("i0e", "``exp(-|x|)`` times the modified Bessel function of order zero.")
i1: OfOne = _unary("i1", "The modified Bessel function of order one.")
i1e: OfOne = _unary("i1e", "``exp(-|x|)`` times the modified Bessel function of order one.")
modified_bessel_i0 = i0
modified_bessel_i1 = i1
bessel_j0: OfOne = _unary("bessel_j0", "The Bessel function of the first kind of order zero.")
bessel_j1: OfOne = _unary("bessel_j1", "The Bessel function of the first kind of order one.")


def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``-x log(x)``: zero at zero, minus infinity below.

    Example:
        >>> pyburn.special.entr(pyburn.tensor([-1.0, 0.0, 0.5]))
        tensor([  -inf, 0.0000, 0.3466])
    """
    x = _floats(input)
    below = x < 0
    # The logarithm is not taken where it would put a NaN into the gradient of the other branch.
    inside = _pointwise.where(below, 1.0, x)
    return into(_pointwise.where(below, float("-inf"), _core.binary(-inside, "xlogy", inside)), out)


def _binary(name: str, input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """A function of two operands, one of which may be a number."""
    if isinstance(input, Tensor):
        return _core.binary(input, name, other)
    if isinstance(other, Tensor):
        return _core.scalar_binary(other, name, input)
    raise TypeError(f"special.{name}: expected at least one Tensor, got {input} and {other}")


def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log1p(other)``, zero where ``input`` is."""
    return into(_binary("xlog1py", input, other), out)


def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of ``(k + other) ** -input`` over ``k = 0, 1, ...``."""
    return into(_binary("zeta", input, other), out)


@numpy_names
def softmax(input: Tensor, dim: int, dtype: DTypeLike | None = None) -> Tensor:
    """Exponentials along a dimension, divided by their sum."""
    return _pointwise.softmax(input, dim, dtype)


@numpy_names
def log_softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without overflow."""
    return _pointwise.log_softmax(input, dim, dtype)


@numpy_names
def logsumexp(
    input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """``log(sum(exp(x)))`` over dimensions, without overflow."""
    return _reduction.logsumexp(input, dim, keepdim, out=out)


def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(x) / x``, the spherical Bessel function of the first kind of order zero."""
    x = _floats(input)
    if x.is_complex():
        raise RuntimeError(f"special.spherical_bessel_j0: expected real numbers, got {x.dtype}")
    finite = _pointwise.isfinite(x) | _pointwise.isnan(x)
    safe = _pointwise.where((x == 0) | ~finite, 1.0, x)
    waves = _pointwise.where(finite, safe.sin() / safe, 0.0)
    return into(_pointwise.where(x == 0, 1.0, waves), out)


Step = Callable[[int, Tensor, Tensor, Tensor], Tensor]
_HIGHEST_ORDER = 100_000


def _polynomial(
    name: str, text: str, first: Callable[[Tensor], Tensor], step: Step, shifted: bool = False
) -> Polynomial:
    """A family of polynomials: those of order zero are one, those of order one ``first(x)``, and
    ``step(k, x, before, last)`` is of order ``k + 1``. Orders below zero give zero."""

    def function(
        input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None
    ) -> Tensor:
        if not isinstance(input, Tensor) and not isinstance(n, Tensor):
            raise TypeError(f"special.{name}: expected at least one Tensor, got {input} and {n}")
        kind = result_type(input, n)
        if kind.is_complex:
            raise RuntimeError(f"special.{name}: not implemented for complex numbers, got {kind}")
        kind = kind if category(kind) > 1 else _core.get_default_dtype()
        x, order = as_operand(input, n).to(kind), as_operand(n, input)
        if order.is_floating_point():
            order = order.trunc()
        x = 2 * x - 1 if shifted else x
        before, last = x * 0 + 1, first(x)
        result = _pointwise.where(order == 0, before, 0.0)
        highest = int(_core.amax(order, None, False).item()) if order.numel() else 0
        if highest > _HIGHEST_ORDER:
            raise NotImplementedError(
                f"special.{name}: orders up to {_HIGHEST_ORDER} are computed, one after the other; "
                f"got {highest}"
            )
        for k in range(1, highest + 1):
            result = _pointwise.where(order == k, last, result)
            before, last = last, step(k, x, before, last)
        return into(result.to(kind), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def _double(k: int, x: Tensor, before: Tensor, last: Tensor) -> Tensor:
    return 2 * x * last - before


def _first_kind(x: Tensor) -> Tensor:
    return x


def _second_kind(x: Tensor) -> Tensor:
    return 2 * x


def _third_kind(x: Tensor) -> Tensor:
    return 2 * x - 1


def _fourth_kind(x: Tensor) -> Tensor:
    return 2 * x + 1


chebyshev_polynomial_t: Polynomial = _polynomial(
    "chebyshev_polynomial_t",
    """The Chebyshev polynomial of the first kind of order ``n``.

    Example:
        >>> pyburn.special.chebyshev_polynomial_t(pyburn.tensor([0.5, 1.0]), 2)
        tensor([-0.5000,  1.0000])
    """,
    _first_kind,
    _double,
)
chebyshev_polynomial_u: Polynomial = _polynomial(
    "chebyshev_polynomial_u",
    "The Chebyshev polynomial of the second kind of order ``n``.",
    _second_kind,
    _double,
)
chebyshev_polynomial_v: Polynomial = _polynomial(
    "chebyshev_polynomial_v",
    "The Chebyshev polynomial of the third kind of order ``n``.",
    _third_kind,
    _double,
)
chebyshev_polynomial_w: Polynomial = _polynomial(
    "chebyshev_polynomial_w",
    "The Chebyshev polynomial of the fourth kind of order ``n``.",
    _fourth_kind,
    _double,
)
shifted_chebyshev_polynomial_t: Polynomial = _polynomial(
    "shifted_chebyshev_polynomial_t",
    "The Chebyshev polynomial of the first kind at ``2 x - 1``.",
    _first_kind,
    _double,
    shifted=True,
)
shifted_chebyshev_polynomial_u: Polynomial = _polynomial(
    "shifted_chebyshev_polynomial_u",
    "The Chebyshev polynomial of the second kind at ``2 x - 1``.",
    _second_kind,
    _double,
    shifted=True,
)
shifted_chebyshev_polynomial_v: Polynomial = _polynomial(
    "shifted_chebyshev_polynomial_v",
    "The Chebyshev polynomial of the third kind at ``2 x - 1``.",
    _third_kind,
    _double,
    shifted=True,
)
shifted_chebyshev_polynomial_w: Polynomial = _polynomial(
    "shifted_chebyshev_polynomial_w",
    "The Chebyshev polynomial of the fourth kind at ``2 x - 1``.",
    _fourth_kind,
    _double,
    shifted=True,
)
hermite_polynomial_h: Polynomial = _polynomial(
    "hermite_polynomial_h",
    "The physicist's Hermite polynomial of order ``n``.",
    _second_kind,
    lambda k, x, before, last: 2 * x * last - 2 * k * before,
)
hermite_polynomial_he: Polynomial = _polynomial(
    "hermite_polynomial_he",
    "The probabilist's Hermite polynomial of order ``n``.",
    _first_kind,
    lambda k, x, before, last: x * last - k * before,
)
laguerre_polynomial_l: Polynomial = _polynomial(
    "laguerre_polynomial_l",
    "The Laguerre polynomial of order ``n``.",
    lambda x: 1 - x,
    lambda k, x, before, last: ((2 * k + 1 - x) * last - k * before) / (k + 1),
)
legendre_polynomial_p: Polynomial = _polynomial(
    "legendre_polynomial_p",
    "The Legendre polynomial of order ``n``.",
    _first_kind,
    lambda k, x, before, last: ((2 * k + 1) * x * last - k * before) / (k + 1),
)


if not TYPE_CHECKING:
    __getattr__ = getter(__name__)
