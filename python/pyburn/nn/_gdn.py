"""Generalised divisive normalisation, the layer between convolutions of learned image codecs."""

from __future__ import annotations

from typing import Literal

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn.autograd import no_grad
from pyburn.nn import functional as F
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

__all__ = ["GDN", "GDN1", "LowerBound", "NonNegativeParametrizer"]


class LowerBound(Module):
    """``max(x, bound)`` with a gradient that lets elements below the bound come back.

    The gradient passes where ``x >= bound``, and elsewhere where it is negative: there a step
    against it raises ``x``. That of the maximum would be zero, and what has once fallen below the
    bound would stay.

    Example:
        >>> x = pyburn.tensor([-1.0, -1.0, 2.0], requires_grad=True)
        >>> (nn.LowerBound(0.5)(x) * pyburn.tensor([1.0, -1.0, 1.0])).sum().backward()
        >>> x.grad
        tensor([ 0., -1.,  1.])
    """

    bound: Tensor

    def __init__(
        self, bound: float, device: DeviceLike | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("bound", empty_parameter((1,), device, dtype).detach().fill_(bound))

    def forward(self, x: Tensor) -> Tensor:
        """The elements, none of them below the bound."""
        return _core.lower_bound(x, self.bound)


class NonNegativeParametrizer(Module):
    """Keeps values at or above a minimum while they are learned: what is stored is the root of the
    value plus a pedestal, and the value is ``max(stored, bound)**2 - pedestal``.

    Args:
        minimum: the least value.
        reparam_offset: the root of the pedestal, which keeps gradients at zero from vanishing.

    Example:
        >>> parametrizer = nn.NonNegativeParametrizer(minimum=0.5)
        >>> stored = parametrizer.init(pyburn.tensor([0.25, 1.0]))
        >>> parametrizer(stored)
        tensor([0.5000, 1.0000])
    """

    pedestal: Tensor
    lower_bound: LowerBound

    def __init__(
        self,
        minimum: float = 0.0,
        reparam_offset: float = 2**-18,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.minimum = float(minimum)
        self.reparam_offset = float(reparam_offset)
        pedestal = self.reparam_offset**2
        filled = empty_parameter((1,), device, dtype).detach().fill_(pedestal)
        self.register_buffer("pedestal", filled)
        self.lower_bound = LowerBound((self.minimum + pedestal) ** 0.5, device, dtype)

    def init(self, x: Tensor) -> Tensor:
        """What to store for values."""
        return (x + self.pedestal).maximum(self.pedestal).sqrt()

    def forward(self, x: Tensor) -> Tensor:
        """The values of what is stored."""
        bounded = self.lower_bound(x)
        return bounded * bounded - self.pedestal


class GDN(Module):
    """``x[i] / sqrt(beta[i] + sum(gamma[i, j] * x[j]**2))`` over the channels ``j`` at each place,
    or with ``inverse`` times that root.

    ``beta`` and ``gamma`` are stored as :class:`NonNegativeParametrizer` has it, so that they stay
    positive; the state dict has six entries, the names and values of which are CompressAI's.

    Args:
        channels: how many channels there are.
        inverse: multiply instead of dividing, as decoders do.
        beta_min: the least value of ``beta``.
        gamma_init: what the diagonal of ``gamma`` is at first; the rest is zero.
        parametrization: ``"simplified"`` for ``beta[i] + sum(gamma[i, j] * |x[j]|)`` without a
            root, as :class:`GDN1`.

    Shapes: ``(N, C, *)`` to the same.

    Example:
        >>> x = pyburn.tensor([[1.0, -2.0], [2.0, 0.5]]).reshape(1, 2, 1, 2)
        >>> nn.GDN(2)(x).detach().flatten()
        tensor([ 0.9535, -1.6903,  1.6903,  0.4939])
        >>> list(nn.GDN(2).state_dict())[:3]
        ['beta', 'gamma', 'beta_reparam.pedestal']
    """

    channels: int
    inverse: bool
    parametrization: str
    beta: Parameter
    gamma: Parameter
    beta_reparam: NonNegativeParametrizer
    gamma_reparam: NonNegativeParametrizer

    def __init__(
        self,
        channels: int,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        parametrization: Literal["normal", "simplified"] = "normal",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if parametrization not in ("normal", "simplified"):
            raise ValueError(
                f"{type(self).__name__}: expected parametrization to be 'normal' or 'simplified', "
                f"got {parametrization!r}"
            )
        self.channels = channels
        self.inverse = bool(inverse)
        self.parametrization = parametrization
        self.gamma_init = float(gamma_init)
        self.beta_reparam = NonNegativeParametrizer(beta_min, device=device, dtype=dtype)
        self.gamma_reparam = NonNegativeParametrizer(device=device, dtype=dtype)
        self.beta = empty_parameter((channels,), device, dtype)
        self.gamma = empty_parameter((channels, channels), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets ``beta`` to one and ``gamma`` to a multiple of the identity."""
        with no_grad():
            self.beta.copy_(self.beta_reparam.init(self.beta.new_ones(self.channels)))
            diagonal = self.gamma.new_full((self.channels,), self.gamma_init).diag()
            self.gamma.copy_(self.gamma_reparam.init(diagonal))

    def forward(self, x: Tensor) -> Tensor:
        """The input, each channel over what the others are at its place."""
        beta, gamma = self.effective_weights()
        return F.gdn(x, beta, gamma, self.inverse, self.parametrization)

    def effective_weights(self) -> tuple[Tensor, Tensor]:
        """``beta`` and ``gamma`` as the formula has them.

        Example:
            >>> nn.GDN(1).effective_weights()[0].detach()
            tensor([1.])
        """
        return self.beta_reparam(self.beta), self.gamma_reparam(self.gamma)

    def load_weights(
        self, beta: Tensor, gamma: Tensor, *, reparametrized: bool, transposed: bool = False
    ) -> None:
        """Takes over weights from elsewhere.

        Args:
            beta: ``(C,)``.
            gamma: ``(C, C)``, the channel that is divided first.
            reparametrized: whether they are as they are stored, or else as the formula has them.
                It cannot be seen from the numbers.
            transposed: whether ``gamma`` has the channel that is divided last, as TensorFlow
                Compression keeps it.

        Example:
            >>> layer = nn.GDN(2)
            >>> gamma = pyburn.tensor([[0.25, 0.0], [0.04, 0.49]])
            >>> layer.load_weights(pyburn.tensor([1.0, 2.25]), gamma, reparametrized=False)
            >>> layer.effective_weights()[1].detach().allclose(gamma)
            True
        """
        gamma = gamma.transpose(0, 1) if transposed else gamma
        for name, own, given in (("beta", self.beta, beta), ("gamma", self.gamma, gamma)):
            if given.shape != own.shape:
                raise ValueError(
                    f"{type(self).__name__}.load_weights: expected {name} of shape "
                    f"{list(own.shape)}, got {list(given.shape)}"
                )
            if not reparametrized and not given.is_meta and (given < 0).any():
                raise ValueError(
                    f"{type(self).__name__}.load_weights: expected {name} without negative values; "
                    "hint: weights as they are stored need reparametrized=True"
                )
        with no_grad():
            if reparametrized:
                self.beta.copy_(beta)
                self.gamma.copy_(gamma)
            else:
                self.beta.copy_(self.beta_reparam.init(beta.to(self.beta)))
                self.gamma.copy_(self.gamma_reparam.init(gamma.to(self.gamma)))

    def extra_repr(self) -> str:
        shown = f"{self.channels}, inverse={self.inverse}"
        if self.parametrization != "normal":
            shown += f", parametrization={self.parametrization!r}"
        return shown


class GDN1(GDN):
    """:class:`GDN` without powers: ``x[i] / (beta[i] + sum(gamma[i, j] * |x[j]|))``, or times that
    with ``inverse``.

    Example:
        >>> x = pyburn.tensor([[1.0, -2.0], [2.0, 0.5]]).reshape(1, 2, 1, 2)
        >>> nn.GDN1(2)(x).detach().flatten()
        tensor([ 0.9091, -1.6667,  1.6667,  0.4762])
    """

    def __init__(
        self,
        channels: int,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(channels, inverse, beta_min, gamma_init, "simplified", device, dtype)

    def extra_repr(self) -> str:
        return f"{self.channels}, inverse={self.inverse}"
