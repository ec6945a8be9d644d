"""Special functions: PyTorch's ``torch.special``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyburn import _core, _pointwise, _reduction
from pyburn._api import into
from pyburn._core import Tensor
from pyburn._dtypes import DTypeLike, Number, category, numpy_names

__all__ = [
    "bessel_j0",
    "bessel_j1",
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
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]

Function = Callable[..., Tensor]

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


def _unary(name: str, text: str) -> Function:
    """A function of one tensor that only this module has."""

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return into(_core.unary(input, name), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


erfcx = _unary("erfcx", "``exp(x**2) * erfc(x)``, without overflow of its factors.")
ndtr = _unary("ndtr", "The area under the normal distribution up to each element.")
log_ndtr = _unary("log_ndtr", "The logarithm of :func:`ndtr`, precise where that is near zero.")
ndtri = _unary("ndtri", "The inverse of :func:`ndtr`.")
i0e = _unary("i0e", "``exp(-|x|)`` times the modified Bessel function of order zero.")
i1 = _unary("i1", "The modified Bessel function of order one.")
i1e = _unary("i1e", "``exp(-|x|)`` times the modified Bessel function of order one.")
bessel_j0 = _unary("bessel_j0", "The Bessel function of the first kind of order zero.")
bessel_j1 = _unary("bessel_j1", "The Bessel function of the first kind of order one.")


def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``-x log(x)``: zero at zero, minus infinity below.

    Example:
        >>> pyburn.special.entr(pyburn.tensor([-1.0, 0.0, 1.0]))
        tensor([-inf, 0., 0.])
    """
    x = input if category(input.dtype) > 1 else input.to(_core.get_default_dtype())
    below = x < 0
    # The logarithm is not taken where it would put a NaN into the gradient of the other branch.
    inside = _pointwise.where(below, 1.0, x)
    return into(_pointwise.where(below, float("-inf"), -_core.binary(inside, "xlogy", inside)), out)


def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log1p(other)``, zero where ``input`` is."""
    return _pointwise._binary("xlog1py", input, other, out)


def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of ``(k + other) ** -input`` over ``k = 0, 1, ...``."""
    return _pointwise._binary("zeta", input, other, out)


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
