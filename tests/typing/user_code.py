"""User code whose types pyright checks; ``test_typing.py`` also runs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyburn
from numpy.typing import NDArray
from pyburn import Tensor, nn, return_types
from pyburn.autograd import Function
from pyburn.nn import functional as F
from pyburn.tensor import Tensor as FromOldModule

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        """Means something to the type checker only."""
        return value


def creating() -> None:
    x = pyburn.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=pyburn.float32, requires_grad=True)
    assert_type(x, Tensor)
    assert_type(pyburn.zeros(2, 3), Tensor)
    assert_type(pyburn.zeros((2, 3), device="cpu"), Tensor)
    assert_type(pyburn.arange(4), Tensor)
    assert_type(pyburn.randn(2, 2, dtype="float64"), Tensor)
    assert_type(pyburn.zeros(2, dtype=np.dtype("f4")), Tensor)
    assert_type(pyburn.zeros(2, dtype=float), Tensor)
    assert_type(pyburn.zeros(2, device=pyburn.Backend.CPU), Tensor)
    assert_type(pyburn.from_numpy(np.zeros(3)), Tensor)
    assert_type(pyburn.zeros_like(x), Tensor)
    assert_type(x.new_zeros(2, 2), Tensor)
    assert_type(Tensor([1.0, 2.0]), Tensor)
    assert FromOldModule is Tensor


def attributes() -> None:
    x = pyburn.ones(2, 3)
    assert_type(x.shape, pyburn.Size)
    assert_type(x.shape[0], int)
    assert_type(x.shape.numel(), int)
    assert_type(x.size(), pyburn.Size)
    assert_type(x.size(1), int)
    assert_type(x.stride(), tuple[int, ...])
    assert_type(x.dtype, pyburn.dtype)
    assert_type(x.device, pyburn.device)
    assert_type(x.device.type, str)
    assert_type(x.ndim, int)
    assert_type(x.numel(), int)
    assert_type(x.grad, Tensor | None)
    assert_type(x.requires_grad, bool)
    assert_type(x.T, Tensor)
    assert_type(pyburn.float32, pyburn.dtype)
    assert_type(pyburn.finfo(pyburn.float32).eps, float)
    x.requires_grad = True
    x.grad = None


def indexing() -> None:
    x = pyburn.arange(12).reshape(3, 4)
    assert_type(x[0], Tensor)
    assert_type(x[0, 1], Tensor)
    assert_type(x[:, 1:3], Tensor)
    assert_type(x[..., None], Tensor)
    assert_type(x[x > 3], Tensor)
    assert_type(x[pyburn.tensor([0, 2])], Tensor)
    assert_type(x[[0, 2]], Tensor)
    x[0] = 1
    x[:, 0] = pyburn.zeros(3, dtype=pyburn.int64)
    x[1] = [1, 2, 3, 4]
    rows: Iterator[Tensor] = iter(x)
    assert_type(next(rows), Tensor)
    assert_type(len(x), int)


def operators() -> None:
    x = pyburn.ones(3)
    assert_type(x + 1, Tensor)
    assert_type(1 - x, Tensor)
    assert_type(2.0**x, Tensor)
    assert_type(x / x, Tensor)
    assert_type(x @ x, Tensor)
    assert_type(-x, Tensor)
    assert_type(abs(x), Tensor)
    assert_type(x > 0, Tensor)
    assert_type(x == 1, Tensor)
    assert_type((x > 0) & (x < 2), Tensor)
    assert_type(~(x > 0), Tensor)
    x += 1
    assert_type(x, Tensor)
    assert_type(float(x.sum()), float)
    assert_type(int(x[0]), int)
    assert_type(bool(x[0] > 0), bool)


def methods() -> None:
    x = pyburn.rand(2, 3)
    assert_type(x.softmax(dim=1), Tensor)
    assert_type(x.sum(), Tensor)
    assert_type(x.mean(1, keepdim=True), Tensor)
    assert_type(x.view(3, 2), Tensor)
    assert_type(x.reshape((3, 2)), Tensor)
    assert_type(x.permute(1, 0), Tensor)
    assert_type(x.to("cpu"), Tensor)
    assert_type(x.to(pyburn.float64), Tensor)
    assert_type(x.to("cpu", pyburn.float64), Tensor)
    assert_type(x.type(), str)
    assert_type(x.type(pyburn.float64), Tensor)
    assert_type(x.add_(1), Tensor)
    assert_type(x.clamp_(min=0).relu_(), Tensor)
    assert_type(x.exp().log(), Tensor)
    assert_type(x.float(), Tensor)
    assert_type(x.split(1), tuple[Tensor, ...])
    assert_type(x.numpy(), NDArray[Any])
    assert_type(x.item() if x.numel() == 1 else 0, int | float)
    assert_type(x.equal(x), bool)
    assert_type(x.nonzero(), Tensor)
    assert_type(x.nonzero(as_tuple=True), tuple[Tensor, ...])


def functions() -> None:
    x = pyburn.rand(4)
    assert_type(pyburn.exp(x), Tensor)
    assert_type(pyburn.maximum(x, x), Tensor)
    assert_type(pyburn.eq(x, 1), Tensor)
    assert_type(pyburn.isnan(x), Tensor)
    assert_type(pyburn.logical_and(x > 0, x < 1), Tensor)
    assert_type(pyburn.where(x > 0), tuple[Tensor, ...])
    assert_type(pyburn.where(x > 0, x, 0.0), Tensor)
    assert_type(pyburn.cat([x, x]), Tensor)
    assert_type(pyburn.allclose(x, x), bool)
    assert_type(pyburn.einsum("i,i->", x, x), Tensor)
    assert_type(pyburn.fft.fft(x), Tensor)
    assert_type(pyburn.is_tensor(x), bool)


def named_results() -> None:
    x = pyburn.tensor([[3.0, 1.0], [2.0, 4.0]])
    found = x.max(dim=1)
    assert_type(found, return_types.max)
    assert_type(found.values, Tensor)
    assert_type(found.indices, Tensor)
    assert_type(x.max(), Tensor)
    assert_type(x.min(0).values, Tensor)
    assert_type(x.median(), Tensor)
    assert_type(pyburn.median(x, 0), return_types.median)
    assert_type(x.sort(), return_types.sort)
    values, places = x.topk(1)
    assert_type(values, Tensor)
    assert_type(places, Tensor)
    assert_type(x.unique(), Tensor)
    assert_type(x.unique(return_counts=True), tuple[Tensor, Tensor])
    assert_type(pyburn.linalg.svd(x).S, Tensor)


class Scaled(Function):
    """A function with a gradient of its own."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad * ctx.factor, None


def gradients() -> None:
    x = pyburn.ones(2, requires_grad=True)
    y: Tensor = Scaled.apply(x, 3.0)
    y.sum().backward()
    assert x.grad is not None
    assert_type(x.grad.tolist(), Any)
    with pyburn.no_grad():
        assert_type(x * 2, Tensor)
    (grad,) = pyburn.autograd.grad((x * x).sum(), x)
    assert_type(grad, Tensor)

    @pyburn.no_grad()
    def frozen(value: Tensor, times: int) -> Tensor:
        return value * times

    assert_type(frozen(x, times=2), Tensor)
    handle = x.register_hook(lambda grad: grad * 2)
    handle.remove()


class Weight(Tensor):
    """A subclass keeps its type through what changes it in place."""


def subclasses() -> None:
    weight = Weight([1.0, 2.0])
    assert_type(weight, Weight)
    assert_type(weight.mul_(2), Weight)
    assert_type(weight * 2, Tensor)


class Scale(nn.Module):
    """A layer of a user's own."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.factor = nn.Parameter(pyburn.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor


def layers() -> None:
    layer = nn.Linear(2, 3)
    assert_type(layer.weight, nn.Parameter)
    assert_type(layer.bias, nn.Parameter | None)
    assert_type(F.linear(pyburn.ones(2), layer.weight, layer.bias), Tensor)
    model = nn.Sequential(layer, Scale(3))
    assert_type(model.to("cpu", pyburn.float64).float().eval(), nn.Sequential)
    assert_type(Scale(3).freeze().clone().factor, nn.Parameter)
    assert_type(model.num_params(), int)
    assert_type(model.backend, str)
    model.backend = "cpu"
    assert_type(len(model.parameters()), int)
    for name, parameter in model.named_parameters():
        assert_type(name, str)
        assert_type(parameter, nn.Parameter)
    for module in model.modules():
        assert_type(module, nn.Module)
    handle = model.register_forward_hook(lambda module, args, output: None)
    handle.remove()
    model.load_state_dict(model.state_dict())
    assert_type(nn.utils.clip_grad_norm_(model.parameters(), 1.0), Tensor)
    assert_type(nn.init.zeros_(layer.weight), Tensor)
    packed = nn.utils.rnn.pack_sequence([pyburn.ones(2)])
    assert_type(packed.data, Tensor)
