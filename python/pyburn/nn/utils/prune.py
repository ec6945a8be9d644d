"""Pruning: parts of a tensor set to zero by a mask.

The tensor is computed as ``name_orig * name_mask`` before every call; ``name_orig`` is what is
learned. :func:`remove` makes the zeros permanent.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from pyburn import linalg
from pyburn._core import Tensor
from pyburn._creation import ones, ones_like
from pyburn._random import rand, randperm
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter
from pyburn.nn.utils.convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

M = TypeVar("M", bound=Module)


class BasePruningMethod(ABC):
    """A way to choose what to prune, and the hook that does it.

    Subclasses write :meth:`compute_mask` and say as ``PRUNING_TYPE`` what a mask that is there
    already leaves to choose from: single elements (``"unstructured"``), slices
    (``"structured"``), or all of the tensor (``"global"``).
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask like ``default_mask`` with more zeros, chosen by the values of ``t``."""

    def apply_mask(self, module: Module) -> Tensor:
        """The pruned tensor."""
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        original: Tensor = getattr(module, self._tensor_name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prunes a tensor of a module, in addition to what has been pruned."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        old = _hook_of(module, name)
        original: Tensor = getattr(module, name + "_orig") if old else getattr(module, name)
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        scores = original if importance_scores is None else importance_scores
        default = getattr(module, name + "_mask") if old else ones_like(original)
        default = default.detach().clone()
        if old is not None:
            number, before = old
            del module._forward_pre_hooks[number]
            method = PruningContainer._joined(before, method)
        mask = method.compute_mask(scores, default)
        if old is None:
            module.register_parameter(name + "_orig", _as_parameter(original))
            del module._parameters[name]
            module.register_buffer(name + "_mask", mask)
        else:
            setattr(module, name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """A pruned copy of a tensor."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Makes the pruned tensor an ordinary parameter."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        original: Parameter = getattr(module, name + "_orig")
        original.data = weight.detach()
        for each in (name, name + "_orig", name + "_mask"):
            delattr(module, each)
        setattr(module, name, original)


def _as_parameter(tensor: Tensor) -> Parameter:
    return tensor if isinstance(tensor, Parameter) else Parameter(tensor)


def _hook_of(module: Module, name: str) -> tuple[int, BasePruningMethod] | None:
    """The hook that prunes a tensor, and its number."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return number, hook
    return None


class PruningContainer(BasePruningMethod):
    """Several prunings of one tensor; each chooses from what those before have left."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods: Any = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        first = next(iter(methods), None)
        if isinstance(first, BasePruningMethod):
            self._tensor_name = first._tensor_name
        for method in methods:
            self.add_pruning_method(method)

    @classmethod
    def _joined(cls, before: BasePruningMethod, method: BasePruningMethod) -> PruningContainer:
        if isinstance(before, PruningContainer):
            before.add_pruning_method(method)
            return before
        return cls(before, method)

    def add_pruning_method(self, method: Any) -> None:
        """Adds a pruning of the same tensor."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with what the last pruning takes away."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "global":
            left: Any = (slice(None),) * t.ndim
        elif method.PRUNING_TYPE == "unstructured":
            left = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = cast(int, getattr(method, "dim", 0)) % t.ndim
            others = [each for each in range(t.ndim) if each != dim]
            kept = (mask.sum(others) if others else mask) != 0
            left = (slice(None),) * dim + (kept,)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        chosen = method.compute_mask(t[left], default_mask=mask[left])
        result = mask.clone()
        result[left] = chosen.to(mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


def _check_amount(amount: float) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and not 0 <= float(amount) <= 1
    ):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount: float, size: int) -> int:
    """How many of ``size`` to prune: a number of them, or a fraction."""
    wanted = amount if isinstance(amount, int) else round(amount * size)
    if wanted > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return int(wanted)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: ``amount`` of them, or that fraction."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.numel())
        mask = default_mask.clone().reshape(-1)
        if count:
            mask[randperm(t.numel(), device=t.device)[:count]] = 0
        return mask.reshape(default_mask.shape)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of smallest magnitude."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.numel())
        mask = default_mask.clone().reshape(-1)
        if count:
            mask[t.detach().abs().reshape(-1).topk(count, largest=False).indices] = 0
        return mask.reshape(default_mask.shape)


class _Slices(BasePruningMethod):
    """Prunes whole slices along a dimension."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    @abstractmethod
    def scores(self, t: Tensor) -> Tensor:
        """How important each slice is."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.ndim < 2:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {list(t.shape)} with {t.ndim} dims"
            )
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {list(t.shape)}")
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        kept = ones(size, dtype=default_mask.dtype, device=t.device)
        kept[self.scores(t.detach()).topk(count, largest=False).indices] = 0
        along = [1] * t.ndim
        along[self.dim] = size
        return default_mask * kept.reshape(along)


class RandomStructured(_Slices):
    """Prunes slices along a dimension at random."""

    def scores(self, t: Tensor) -> Tensor:
        return rand(t.shape[self.dim], device=t.device)


class LnStructured(_Slices):
    """Prunes the slices of smallest norm along a dimension."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def scores(self, t: Tensor) -> Tensor:
        return linalg.vector_norm(t.movedim(self.dim, 0).flatten(1), float(self.n), 1)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: M, name: str) -> M:
    """Prepares a tensor for pruning without pruning any of it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: float) -> M:
    """Prunes elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: M, name: str, amount: float, importance_scores: Tensor | None = None
) -> M:
    """Prunes the elements of smallest magnitude, or of smallest importance.

    Example:
        >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=3)
        >>> int((layer.weight == 0).sum())
        3
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: float, dim: int) -> M:
    """Prunes slices along a dimension at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: M,
    name: str,
    amount: float,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> M:
    """Prunes the slices of smallest ``n``-norm along a dimension."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prunes what a mask says."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes several tensors as if they were one.

    Example:
        >>> a, b = nn.Linear(2, 2), nn.Linear(3, 3)
        >>> pairs = [(a, "weight"), (b, "weight")]
        >>> nn.utils.prune.global_unstructured(pairs, nn.utils.prune.L1Unstructured, amount=4)
        >>> int((a.weight == 0).sum() + (b.weight == 0).sum())
        4
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = importance_scores or {}
    wanted: list[Tensor] = [scores[pair] if pair in scores else getattr(*pair) for pair in pairs]
    masks = [
        getattr(module, name + "_mask", ones_like(getattr(module, name))) for module, name in pairs
    ]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    final = container.compute_mask(
        parameters_to_vector([tensor.detach() for tensor in wanted]), parameters_to_vector(masks)
    )
    start = 0
    for (module, name), mask in zip(pairs, masks, strict=True):
        size = mask.numel()
        custom_from_mask(module, name, final[start : start + size].reshape(mask.shape))
        start += size


def remove(module: M, name: str) -> M:
    """Makes a pruned tensor an ordinary parameter, with its zeros."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    number, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a module, or any in it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )
