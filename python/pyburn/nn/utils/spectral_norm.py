"""The older form of :func:`pyburn.nn.utils.parametrizations.spectral_norm`, by a hook."""

from __future__ import annotations

from typing import Any, TypeVar

from pyburn import linalg
from pyburn._core import Tensor
from pyburn._random import randn
from pyburn.autograd import no_grad
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter
from pyburn.nn.utils.parametrizations import default_dim

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """The hook that divides a weight by its largest singular value before each call."""

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got n_power_iterations="
                f"{n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight with one row per output."""
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def unit(self, vector: Tensor) -> Tensor:
        """A vector of norm one."""
        return vector / linalg.vector_norm(vector).clamp(min=self.eps)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by the estimate of its largest singular value."""
        weight: Tensor = getattr(module, self.name + "_orig")
        u: Tensor = getattr(module, self.name + "_u")
        v: Tensor = getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(self.unit(matrix.mT @ u))
                    u.copy_(self.unit(matrix @ v))
            # Copies: the next iteration must not change what this gradient reads.
            u, v = u.clone(), v.clone()
        return weight / (u * (matrix @ v)).sum()

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divides a weight by its largest singular value; ``weight_orig`` is what is learned.

    Example:
        >>> layer = nn.utils.spectral_norm(nn.Linear(20, 40))
        >>> layer.weight_u.shape
        pyburn.Size([40])
    """
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise RuntimeError(
                f"Cannot register two spectral_norm hooks on the same parameter {name}"
            )
    weight = getattr(module, name, None)
    if not isinstance(weight, Parameter):
        raise ValueError(f"spectral_norm: {module._get_name()} has no parameter named {name!r}")
    dim = default_dim(module) if dim is None else dim
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    with no_grad():
        matrix = hook.matrix(weight)
        rows, columns = matrix.shape
        u = hook.unit(randn(rows, dtype=weight.dtype, device=weight.device))
        v = hook.unit(randn(columns, dtype=weight.dtype, device=weight.device))
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    # Like PyTorch, a plain attribute until the first call: no gradient flows to it.
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Makes a weight an ordinary parameter again."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
