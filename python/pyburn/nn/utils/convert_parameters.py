"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from pyburn._core import Tensor, device
from pyburn._movement import cat

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _same_device(op: str, tensors: Iterable[Tensor]) -> None:
    first: device | None = None
    for tensor in tensors:
        first = tensor.device if first is None else first
        if tensor.device != first:
            raise TypeError(
                f"{op}: found two parameters on different devices, {first} and {tensor.device}, "
                "this is currently not supported"
            )


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters in one vector, through which gradients flow.

    Example:
        >>> nn.utils.parameters_to_vector(nn.Linear(3, 2).parameters()).shape
        pyburn.Size([8])
    """
    items = list(parameters)
    _same_device("parameters_to_vector", items)
    return cat([item.reshape(-1) for item in items])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes parameters show the elements of a vector.

    Example:
        >>> layer = nn.Linear(1, 2, bias=False)
        >>> nn.utils.vector_to_parameters(pyburn.tensor([1.0, 2.0]), layer.parameters())
        >>> layer.weight.data
        tensor([[1.],
                [2.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: expected a Tensor, but got: {type(vec)}")
    items = list(parameters)
    _same_device("vector_to_parameters", items)
    needed = sum(item.numel() for item in items)
    if vec.numel() < needed:
        raise RuntimeError(
            f"vector_to_parameters: expected {needed} elements, got a vector of {vec.numel()}"
        )
    start = 0
    for item in items:
        size = item.numel()
        item.data = vec[start : start + size].reshape(item.shape).detach()
        start += size
