"""Activation functions, and the measures of likeness between vectors."""

from __future__ import annotations

import warnings

from pyburn import _core, _linear_algebra, _pointwise, linalg
from pyburn._api import inplace_of, into
from pyburn._core import Tensor
from pyburn._dtypes import DTypeLike, Number, as_dtype
from pyburn._dtypes import bool as bool_
from pyburn._random import exponential_, uniform_

__all__ = [
    "celu",
    "celu_",
    "cosine_similarity",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "normalize",
    "pairwise_distance",
    "pdist",
    "prelu",
    "quiet_softmax",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "shrink",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "thresholded_relu",
]

cosine_similarity = _linear_algebra.cosine_similarity
pairwise_distance = _linear_algebra.pairwise_distance
pdist = _linear_algebra.pdist
prelu = _pointwise.prelu
hardshrink = _pointwise.hardshrink

# What makes the mean and the variance of activations stay at zero and one.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(x, 0)``.

    Example:
        >>> F.relu(pyburn.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else input.relu()


def relu_(input: Tensor) -> Tensor:
    """In-place version of :func:`relu`."""
    return input.relu_()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(x, 0), 6)``.

    Example:
        >>> F.relu6(pyburn.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """``x`` held between ``min_val`` and ``max_val``.

    Example:
        >>> F.hardtanh(pyburn.tensor([-2.0, 0.5, 2.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError(
            f"hardtanh: min_val cannot be greater than max_val, got {min_val} and {max_val}"
        )
    if not input.is_floating_point():
        if input.dtype == bool_:
            raise NotImplementedError("hardtanh: not implemented for bool; hint: .float() first")
        if inplace:
            return input.clamp_(min_val, max_val)
        return _pointwise.clamp(input, min_val, max_val).to(input.dtype)
    if not inplace:
        return _core.hardtanh(input, min_val, max_val)
    _core.hardtanh_(input, min_val, max_val)
    return input


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place version of :func:`hardtanh`."""
    return hardtanh(input, min_val, max_val, inplace=True)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``x / 6 + 1/2`` held between zero and one.

    Example:
        >>> F.hardsigmoid(pyburn.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])
    """
    if not inplace:
        return _core.hardsigmoid(input)
    _core.hardsigmoid_(input)
    return input


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x`` times its :func:`hardsigmoid`.

    Example:
        >>> F.hardswish(pyburn.tensor([-4.0, 0.0, 3.0]))
        tensor([-0., 0., 3.])
    """
    if not inplace:
        return _core.hardswish(input)
    _core.hardswish_(input)
    return input


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``x`` where positive, else ``negative_slope * x``.

    Example:
        >>> F.leaky_relu(pyburn.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])
    """
    if not inplace:
        return _core.leaky_relu(input, negative_slope)
    _core.leaky_relu_(input, negative_slope)
    return input


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place version of :func:`leaky_relu`."""
    return leaky_relu(input, negative_slope, inplace=True)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """:func:`leaky_relu` whose slope is drawn for each element in training, between ``lower`` and
    ``upper``, and else lies in the middle.

    Example:
        >>> F.rrelu(pyburn.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    if lower > upper:
        raise ValueError(
            f"rrelu: lower bound should be less than or equal to the upper bound, got {lower} and "
            f"{upper}"
        )
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = uniform_(_core._full(tuple(input.shape), 0, input.dtype, input.device), lower, upper)
    factors = _pointwise.masked_fill(slopes, input.detach() > 0, 1.0)
    return input.mul_(factors) if inplace else input * factors


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Tensor:
    """In-place version of :func:`rrelu`."""
    return rrelu(input, lower, upper, training, inplace=True)


def _elu(input: Tensor, alpha: float, scale: float, rate: float, inplace: bool) -> Tensor:
    if not inplace:
        return _core.elu(input, alpha, scale, rate)
    _core.elu_(input, alpha, scale, rate)
    return input


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x`` where positive, else ``alpha * (exp(x) - 1)``.

    Example:
        >>> F.elu(pyburn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return _elu(input, alpha, 1.0, 1.0, inplace)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place version of :func:`elu`."""
    return elu(input, alpha, inplace=True)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``.

    Example:
        >>> F.celu(pyburn.tensor([-1.0, 2.0]), 2.0)
        tensor([-0.7869,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("celu: ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(input, alpha, 1.0, 1.0 / alpha, inplace)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place version of :func:`celu`."""
    return celu(input, alpha, inplace=True)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The exponential linear unit scaled so that zero mean and unit variance stay.

    Example:
        >>> F.selu(pyburn.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """
    return _elu(input, SELU_ALPHA, SELU_SCALE, 1.0, inplace)


def selu_(input: Tensor) -> Tensor:
    """In-place version of :func:`selu`."""
    return selu(input, inplace=True)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second.

    Example:
        >>> F.glu(pyburn.tensor([3.0, 0.0]))
        tensor([1.5000])
    """
    if input.ndim == 0:
        raise RuntimeError("glu: does not support 0-dimensional tensors")
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(
            f"glu: halving dimension must be even, but dimension {dim} is size {size}"
        )
    half = size // 2
    return input.narrow(dim, 0, half) * input.narrow(dim, half, half).sigmoid()


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution function at ``x``.

    Args:
        approximate: ``"tanh"`` for ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``.

    Example:
        >>> F.gelu(pyburn.tensor([-1.0, 1.0]))
        tensor([-0.1587,  0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(
            f"gelu: approximate argument must be either none or tanh, got {approximate!r}"
        )
    return _core.unary(input, "gelu" if approximate == "none" else "gelu_tanh")


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the sigmoid.

    Example:
        >>> F.logsigmoid(pyburn.zeros(1))
        tensor([-0.6931])
    """
    return _core.unary(input, "logsigmoid")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * sigmoid(x)``, also called swish.

    Example:
        >>> F.silu(pyburn.tensor([-1.0, 1.0]))
        tensor([-0.2689,  0.7311])
    """
    return _silu_(input) if inplace else _silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * tanh(softplus(x))``.

    Example:
        >>> F.mish(pyburn.tensor([-1.0, 1.0]))
        tensor([-0.3034,  0.8651])
    """
    return _mish_(input) if inplace else _mish(input)


def _silu(input: Tensor) -> Tensor:
    return _core.unary(input, "silu")


def _mish(input: Tensor) -> Tensor:
    return _core.unary(input, "mish")


_silu_ = inplace_of(_silu, "silu")
_mish_ = inplace_of(_mish, "mish")


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-x))``."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return input.tanh()


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x`` exceeds the threshold.

    Example:
        >>> F.softplus(pyburn.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """
    return _core.softplus(input, beta, threshold)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``x`` moved by ``lambd`` towards zero, zero where it is nearer than that.

    Example:
        >>> F.softshrink(pyburn.tensor([-2.0, 0.25, 2.0]))
        tensor([-1.5000,  0.0000,  1.5000])
    """
    if not lambd >= 0:
        raise RuntimeError(f"softshrink: lambda must be greater or equal to 0, but found {lambd}")
    return _core.softshrink(input, lambd, lambd)


def shrink(input: Tensor, lambd: float = 0.5, bias: float = 0.5) -> Tensor:
    """``x`` moved by ``bias`` towards zero outside of ``[-lambd, lambd]``, else zero, as in ONNX.

    Example:
        >>> F.shrink(pyburn.tensor([-2.0, 0.25, 2.0]), bias=0.0)
        tensor([-2.,  0.,  2.])
    """
    if not lambd >= 0:
        raise RuntimeError(f"shrink: lambda must be greater or equal to 0, but found {lambd}")
    return _core.softshrink(input, lambd, bias)


def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``.

    Example:
        >>> F.tanhshrink(pyburn.tensor([1.0]))
        tensor([0.2384])
    """
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``.

    Example:
        >>> F.softsign(pyburn.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    if not input.is_floating_point():
        return input / (input.abs() + 1)
    return _core.unary(input, "softsign")


def threshold(input: Tensor, threshold: Number, value: Number, inplace: bool = False) -> Tensor:
    """``x`` where it exceeds the threshold, else ``value``.

    Example:
        >>> F.threshold(pyburn.tensor([0.5, 2.0]), 1.0, 20.0)
        tensor([20.,  2.])
    """
    if inplace:
        return threshold_(input, threshold, value)
    return _pointwise.threshold(input, threshold, value)


def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """In-place version of :func:`threshold`."""
    if not input.is_floating_point():
        return input.masked_fill_(input <= threshold, value)
    _core.threshold_(input, threshold, value)  # type: ignore[arg-type]
    return input


def thresholded_relu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it exceeds ``alpha``, else zero, as in ONNX.

    Example:
        >>> F.thresholded_relu(pyburn.tensor([0.5, 2.0]))
        tensor([0., 2.])
    """
    return threshold(input, alpha, 0.0)


def _softmax_dim(op: str, rank: int) -> int:
    warnings.warn(
        f"{op}: the implicit choice of a dimension has been deprecated; hint: give dim=",
        UserWarning,
        stacklevel=3,
    )
    return 0 if rank in (0, 1, 3) else 1


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike | None = None
) -> Tensor:
    """``exp(x) / sum(exp(x))`` along a dimension.

    Args:
        dim: which; PyTorch's deprecated choice if it is missing.
        dtype: what to convert to before.

    Example:
        >>> F.softmax(pyburn.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = _softmax_dim("softmax", input.ndim)
    return _core.softmax(input, dim, None if dtype is None else as_dtype(dtype))


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike | None = None
) -> Tensor:
    """The logarithm of :func:`softmax`, without overflow.

    Example:
        >>> F.log_softmax(pyburn.zeros(2), dim=0)
        tensor([-0.6931, -0.6931])
    """
    if dim is None:
        dim = _softmax_dim("log_softmax", input.ndim)
    return _core.log_softmax(input, dim, None if dtype is None else as_dtype(dtype))


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike | None = None
) -> Tensor:
    """:func:`softmax` of the negative.

    Example:
        >>> F.softmin(pyburn.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = _softmax_dim("softmin", input.ndim)
    return _core.softmax(-input, dim, None if dtype is None else as_dtype(dtype))


def quiet_softmax(input: Tensor, dim: int) -> Tensor:
    """``exp(x) / (1 + sum(exp(x)))`` along a dimension: all may stay silent.

    Example:
        >>> F.quiet_softmax(pyburn.zeros(3), dim=0)
        tensor([0.2500, 0.2500, 0.2500])
    """
    # A further place at zero takes its share.
    top = input.detach().amax(dim, keepdim=True).clamp(min=0)
    grown = (input - top).exp()
    return grown / ((-top).exp() + grown.sum(dim, keepdim=True))


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample from the Gumbel-softmax distribution.

    Args:
        logits: logarithms of probabilities, up to a constant.
        tau: the temperature.
        hard: one-hot samples, with the gradients of the soft ones.
        eps: ignored, as in PyTorch.
        dim: which dimension adds up to one.

    Example:
        >>> F.gumbel_softmax(pyburn.zeros(2, 3), hard=True).sum(-1)
        tensor([1., 1.])
    """
    if eps != 1e-10:
        warnings.warn(
            "gumbel_softmax: `eps` parameter is deprecated and has no effect.", stacklevel=2
        )
    drawn = exponential_(_core._full(tuple(logits.shape), 0, logits.dtype, logits.device))
    soft = ((logits - drawn.log()) / tau).softmax(dim)
    if not hard:
        return soft
    at = soft.argmax(dim, keepdim=True)
    zeros = _core._full(tuple(soft.shape), 0, soft.dtype, soft.device)
    return zeros.scatter_(dim, at, 1.0) - soft.detach() + soft


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | tuple[int, ...] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Vectors along a dimension, divided by their ``p``-norm or by ``eps``, whichever is larger.

    Example:
        >>> F.normalize(pyburn.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    size = linalg.vector_norm(input, p, dim, keepdim=True)
    return into(input / size.clamp(min=eps), out)
