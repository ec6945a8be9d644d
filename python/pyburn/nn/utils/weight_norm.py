"""The older form of :func:`pyburn.nn.utils.parametrizations.weight_norm`, by a hook."""

from __future__ import annotations

from typing import Any, TypeVar

from pyburn._core import Tensor
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter
from pyburn.nn.utils.parametrizations import norm_except_dim

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class WeightNorm:
    """The hook that computes a weight from its magnitude and direction before each call."""

    name: str
    dim: int | None

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Module) -> Tensor:
        """``g v / |v|``."""
        direction: Tensor = getattr(module, self.name + "_v")
        magnitude: Tensor = getattr(module, self.name + "_g")
        return direction * (magnitude / norm_except_dim(direction, self.dim))

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module)
        for name in (self.name, self.name + "_g", self.name + "_v"):
            delattr(module, name)
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Learns the magnitude and the direction of a weight apart, as ``weight_g`` and ``weight_v``.

    :func:`pyburn.nn.utils.parametrizations.weight_norm` does the same and allows copies of the
    module while a gradient is pending.

    Example:
        >>> layer = nn.utils.weight_norm(nn.Linear(20, 40))
        >>> layer.weight_g.shape, layer.weight_v.shape
        (pyburn.Size([40, 1]), pyburn.Size([40, 20]))
    """
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm) and hook.name == name:
            raise RuntimeError(
                f"Cannot register two weight_norm hooks on the same parameter {name}"
            )
    weight = getattr(module, name, None)
    if not isinstance(weight, Parameter):
        raise ValueError(f"weight_norm: {module._get_name()} has no parameter named {name!r}")
    hook = WeightNorm(name, dim)
    del module._parameters[name]
    magnitude = norm_except_dim(weight.detach(), dim)
    module.register_parameter(name + "_g", Parameter(magnitude))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes a weight an ordinary parameter again."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
