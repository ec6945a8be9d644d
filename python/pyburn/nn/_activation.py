"""Activation functions as layers."""

from __future__ import annotations

import warnings

from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Elementwise(Module):
    """A function of single elements that may write its result over its input."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


def _with_inplace(shown: str, inplace: bool) -> str:
    return f"{shown}, inplace=True" if inplace else shown


class ReLU(_Elementwise):
    """``max(x, 0)``.

    Example:
        >>> nn.ReLU()(pyburn.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The elements that are positive."""
        return F.relu(input, self.inplace)


class Hardtanh(_Elementwise):
    """``x`` held between ``min_val`` and ``max_val``.

    Example:
        >>> nn.Hardtanh(-2, 2)(pyburn.tensor([-3.0, 0.5]))
        tensor([-2.0000,  0.5000])
    """

    min_val: float
    max_val: float

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, new, value in (
            ("min_value", "min_val", min_value),
            ("max_value", "max_val", max_value),
        ):
            if value is not None:
                warnings.warn(
                    f"keyword argument `{old}` is deprecated and rename to `{new}`",
                    FutureWarning,
                    stacklevel=2,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise ValueError(
                f"Hardtanh: max_val must be larger than min_val, got {self.max_val} and "
                f"{self.min_val}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """The elements within bounds."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"min_val={self.min_val}, max_val={self.max_val}", self.inplace)


class ReLU6(Hardtanh):
    """``min(max(x, 0), 6)``.

    Example:
        >>> nn.ReLU6()(pyburn.tensor([-1.0, 8.0]))
        tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class RReLU(_Elementwise):
    """``x`` where positive, else times a slope drawn between ``lower`` and ``upper`` for each
    element in training, and from the middle in evaluation.

    Example:
        >>> nn.RReLU(0.25, 0.75).eval()(pyburn.tensor([-1.0, 2.0]))
        tensor([-0.5000,  2.0000])
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """The elements, the negative ones flattened."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"lower={self.lower}, upper={self.upper}", self.inplace)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``.

    Example:
        >>> nn.Sigmoid()(pyburn.zeros(1))
        tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The sigmoid of the elements."""
        return input.sigmoid()


class Hardsigmoid(_Elementwise):
    """``x / 6 + 1/2`` held between zero and one.

    Example:
        >>> nn.Hardsigmoid()(pyburn.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The hard sigmoid of the elements."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """The hyperbolic tangent.

    Example:
        >>> nn.Tanh()(pyburn.zeros(1))
        tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The hyperbolic tangent of the elements."""
        return input.tanh()


class SiLU(_Elementwise):
    """``x * sigmoid(x)``, also called swish.

    Example:
        >>> nn.SiLU()(pyburn.tensor([-1.0, 1.0]))
        tensor([-0.2689,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The elements times their sigmoid."""
        return F.silu(input, self.inplace)


class Mish(_Elementwise):
    """``x * tanh(softplus(x))``.

    Example:
        >>> nn.Mish()(pyburn.tensor([-1.0, 1.0]))
        tensor([-0.3034,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The mish of the elements."""
        return F.mish(input, self.inplace)


class Hardswish(_Elementwise):
    """``x`` times its :class:`Hardsigmoid`.

    Example:
        >>> nn.Hardswish()(pyburn.tensor([1.5, 3.0]))
        tensor([1.1250, 3.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The hard swish of the elements."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class ELU(_Elementwise):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``.

    Example:
        >>> nn.ELU()(pyburn.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """The elements, the negative ones bent."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"alpha={self.alpha}", self.inplace)


class CELU(_Elementwise):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``.

    Example:
        >>> nn.CELU(2.0)(pyburn.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """The elements, the negative ones bent."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"alpha={self.alpha}", self.inplace)


class SELU(_Elementwise):
    """The exponential linear unit scaled so that zero mean and unit variance stay.

    Example:
        >>> nn.SELU()(pyburn.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The scaled elements, the negative ones bent."""
        return F.selu(input, self.inplace)


class GLU(Module):
    """The first half along a dimension times the sigmoid of the second.

    Example:
        >>> nn.GLU()(pyburn.tensor([3.0, 0.0]))
        tensor([1.5000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """One half gated by the other."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """``x`` times the normal distribution function at ``x``, or with ``approximate="tanh"`` an
    approximation of it.

    Example:
        >>> nn.GELU()(pyburn.tensor([-1.0, 1.0]))
        tensor([-0.1587,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """The elements times their share of the normal distribution."""
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """``x`` outside of ``[-lambd, lambd]``, else zero.

    Example:
        >>> nn.Hardshrink()(pyburn.tensor([-2.0, 0.25]))
        tensor([-2.,  0.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """The elements that are not small."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class LeakyReLU(_Elementwise):
    """``x`` where positive, else ``negative_slope * x``.

    Example:
        >>> nn.LeakyReLU(0.1)(pyburn.tensor([-1.0, 2.0]))
        tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """The elements, the negative ones flattened."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"negative_slope={self.negative_slope}", self.inplace)


class LogSigmoid(Module):
    """The logarithm of the sigmoid.

    Example:
        >>> nn.LogSigmoid()(pyburn.zeros(1))
        tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The logarithm of the sigmoid of the elements."""
        return F.logsigmoid(input)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x`` exceeds the threshold.

    Example:
        >>> nn.Softplus()(pyburn.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """The elements, smoothly kept positive."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """``x`` moved by ``lambd`` towards zero, zero where it is nearer than that.

    Example:
        >>> nn.Softshrink()(pyburn.tensor([-2.0, 0.25]))
        tensor([-1.5000,  0.0000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """The elements, shrunk."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """``x`` where positive, else ``weight * x``, the weight being learned.

    Args:
        num_parameters: one weight, or one for each channel (the second dimension).
        init: what weights are at first.

    Example:
        >>> nn.PReLU()(pyburn.tensor([-1.0, 2.0])).detach()
        tensor([-0.2500,  2.0000])
    """

    num_parameters: int
    weight: Parameter

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = empty_parameter((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weights to what they were at first."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """The elements, the negative ones scaled."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """``x / (1 + |x|)``.

    Example:
        >>> nn.Softsign()(pyburn.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The elements, held between -1 and 1."""
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``.

    Example:
        >>> nn.Tanhshrink()(pyburn.tensor([1.0]))
        tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The elements less their hyperbolic tangent."""
        return F.tanhshrink(input)


class Threshold(_Elementwise):
    """``x`` where it exceeds the threshold, else ``value``.

    Example:
        >>> nn.Threshold(1.0, 20.0)(pyburn.tensor([0.5, 2.0]))
        tensor([20.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The elements above the threshold."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"threshold={self.threshold}, value={self.value}", self.inplace)


class _AlongDim(Module):
    """A function along one dimension."""

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_AlongDim):
    """:class:`Softmax` of the negative.

    Example:
        >>> nn.Softmin(dim=0)(pyburn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Shares that add up to one, the smallest elements having the largest."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_AlongDim):
    """``exp(x) / sum(exp(x))`` along a dimension.

    Example:
        >>> nn.Softmax(dim=0)(pyburn.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Shares that add up to one."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """:class:`Softmax` over the channels of images.

    Example:
        >>> nn.Softmax2d()(pyburn.zeros(2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Shares of channels that add up to one at each place."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """The logarithm of :class:`Softmax`, without overflow.

    Example:
        >>> nn.LogSoftmax(dim=0)(pyburn.zeros(2))
        tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Logarithms of shares that add up to one."""
        return F.log_softmax(input, self.dim, _stacklevel=5)
