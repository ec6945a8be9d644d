"""Hooks around calls and around gradients."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import weakref
from typing import Any

import pyburn
import pytest
from pyburn import nn
from pyburn.nn.modules import module as everywhere


def layer() -> nn.Linear:
    """y = [x1, 2 x0 + 3 x1]."""
    made = nn.Linear(2, 2, bias=False)
    with pyburn.no_grad():
        made.weight.copy_(pyburn.tensor([[0.0, 1.0], [2.0, 3.0]]))
    return made


def test_before_and_after() -> None:
    module = layer()
    log: list[Any] = []
    module.register_forward_pre_hook(lambda m, args: log.append(("pre", m is module, len(args))))
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    module.register_forward_hook(lambda m, args, out: log.append(("post", args[0].tolist())))
    module.register_forward_hook(lambda m, args, out: out * 10)
    assert module(pyburn.zeros(2)).tolist() == [10.0, 50.0]
    assert log == [("pre", True, 1), ("post", [1.0, 1.0])]


def test_with_keywords() -> None:
    class Scaled(nn.Module):
        def forward(self, x: pyburn.Tensor, *, scale: float = 1.0) -> pyburn.Tensor:
            return x * scale

    module = Scaled()
    seen: list[Any] = []
    module.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"scale": kwargs["scale"] + 1}), with_kwargs=True
    )
    module.register_forward_hook(
        lambda m, args, kwargs, out: seen.append(dict(kwargs)), with_kwargs=True
    )
    assert module(pyburn.ones(1), scale=2.0).tolist() == [3.0]
    assert seen == [{"scale": 3.0}]
    module.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="None or a tuple of"):
        module(pyburn.ones(1), scale=2.0)


def test_order_and_removal() -> None:
    module = nn.Identity()
    log: list[str] = []
    first = module.register_forward_hook(lambda *args: log.append("first"))
    module.register_forward_hook(lambda *args: log.append("second"))
    module.register_forward_hook(lambda *args: log.append("front"), prepend=True)
    module(1)
    assert log == ["front", "first", "second"]
    first.remove()
    first.remove()
    log.clear()
    module(1)
    assert log == ["front", "second"]
    with module.register_forward_pre_hook(lambda *args: log.append("inside")):
        module(1)
    module(1)
    assert log.count("inside") == 1


def test_flags_go_with_their_hook() -> None:
    module = nn.Identity()
    handle = module.register_forward_hook(lambda *args: None, with_kwargs=True, always_call=True)
    assert module._with_kwargs == module._always_called == {handle.id}
    handle.remove()
    assert module._with_kwargs == module._always_called == set()


class Fails(nn.Module):
    def forward(self, x: Any) -> Any:
        raise ValueError("forward failed")


def test_hooks_that_are_always_called() -> None:
    module = Fails()
    log: list[Any] = []
    module.register_forward_hook(lambda m, args, out: log.append("plain"))
    module.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    with pytest.raises(ValueError, match="forward failed"):
        module(1)
    assert log == [None]

    def fails(*args: Any) -> None:
        raise RuntimeError("hook failed")

    module.register_forward_hook(fails, always_call=True)
    with pytest.warns(UserWarning, match="always_call=True.*hook failed"):
        with pytest.raises(ValueError, match="forward failed"):
            module(1)


def test_an_always_called_hook_is_called_once() -> None:
    module = nn.Identity()
    log: list[int] = []

    def fails(*args: Any) -> None:
        raise RuntimeError("hook failed")

    module.register_forward_hook(lambda *args: log.append(1), always_call=True)
    module.register_forward_hook(fails)
    with pytest.raises(RuntimeError, match="hook failed"):
        module(1)
    assert log == [1]


def test_gradients_pass_the_hooks() -> None:
    module = layer()
    log: list[Any] = []

    def before(m: Any, grad_output: Any) -> Any:
        log.append(("before", grad_output[0].tolist()))
        return (grad_output[0] * 2,)

    def after(m: Any, grad_input: Any, grad_output: Any) -> Any:
        log.append(("after", grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    module.register_full_backward_pre_hook(before)
    module.register_full_backward_hook(after)
    x = pyburn.ones(2, requires_grad=True)
    module(x).sum().backward()
    # dx = Wᵀ g with g = [1, 1] doubled.
    assert log == [("before", [1.0, 1.0]), ("after", [4.0, 8.0], [2.0, 2.0])]
    assert x.grad is not None
    assert x.grad.tolist() == [40.0, 80.0]
    # The weight's gradient comes from what the first hook gave.
    assert module.weight.grad is not None
    assert module.weight.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_order_of_gradient_hooks() -> None:
    module = layer()
    log: list[str] = []
    module.register_full_backward_hook(lambda *args: log.append("b"))
    module.register_full_backward_hook(lambda *args: log.append("a"), prepend=True)
    module.register_full_backward_pre_hook(lambda *args: log.append("y"))
    module.register_full_backward_pre_hook(lambda *args: log.append("x"), prepend=True)
    module(pyburn.ones(2, requires_grad=True)).sum().backward()
    assert log == ["x", "y", "a", "b"]


def test_without_a_gradient_for_the_input() -> None:
    module = layer()
    seen: list[Any] = []
    handle = module.register_full_backward_hook(
        lambda m, grad_input, grad_output: seen.append((grad_input, grad_output[0].tolist()))
    )
    module(pyburn.ones(2)).sum().backward()
    assert seen == [((None,), [1.0, 1.0])]
    handle.remove()
    module.register_full_backward_hook(lambda m, gi, go: (pyburn.ones(2),))
    with pytest.raises(RuntimeError, match="no input requires gradient"):
        module(pyburn.ones(2)).sum().backward()


def test_without_gradients_at_all() -> None:
    module = layer()
    module.register_full_backward_hook(lambda *args: pytest.fail("called"))
    with pyburn.no_grad():
        assert not module(pyburn.ones(2)).requires_grad


def test_several_inputs_and_outputs() -> None:
    class Two(nn.Module):
        def forward(self, a: Any, b: Any, c: Any) -> Any:
            return a * 2, b * 3, c

    module = Two()
    seen: list[Any] = []
    module.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    a = pyburn.ones(2, requires_grad=True)
    out = module(a, pyburn.ones(3), "text")
    assert out[2] == "text"
    out[0].sum().backward()
    ((grad_input, grad_output),) = seen
    assert grad_input[0].tolist() == [2.0, 2.0]
    # As in PyTorch: zeros for a tensor without a gradient, nothing for what is no tensor.
    assert grad_input[1].tolist() == [0.0] * 3
    assert grad_input[2] is None
    assert grad_output[0].tolist() == [1.0, 1.0]
    assert grad_output[1:] == (None, None)


def test_named_tuples_stay() -> None:
    class Top(nn.Module):
        def forward(self, x: pyburn.Tensor) -> Any:
            return x.max(0)

    module = Top()
    seen: list[Any] = []
    module.register_full_backward_hook(lambda m, gi, go: seen.append(gi[0].tolist()))
    out = module(pyburn.tensor([1.0, 3.0], requires_grad=True))
    out.values.backward()
    assert seen == [[0.0, 1.0]]


def test_an_output_that_is_no_tensor_warns() -> None:
    class Named(nn.Module):
        def forward(self, x: Any) -> Any:
            return {"x": x * 2}

    module = Named()
    module.register_full_backward_hook(lambda *args: None)
    with pytest.warns(UserWarning, match="should be a Tensor or a tuple of Tensors"):
        module(pyburn.ones(1, requires_grad=True))


@pytest.mark.parametrize(
    ("register", "text"),
    [
        ("register_full_backward_hook", "invalid number of grad_input, got 2, but expected 1"),
        ("register_full_backward_pre_hook", "invalid number of grad_output, got 2, but expected 1"),
    ],
)
def test_a_wrong_number_of_gradients(register: str, text: str) -> None:
    module = layer()
    getattr(module, register)(lambda *args: (pyburn.ones(2), pyburn.ones(2)))
    with pytest.raises(RuntimeError, match=text):
        module(pyburn.ones(2, requires_grad=True)).sum().backward()


def test_writing_over_a_watched_input_is_refused() -> None:
    class InPlace(nn.Module):
        def forward(self, x: pyburn.Tensor) -> pyburn.Tensor:
            return x.mul_(2)

    module = InPlace()
    module.register_full_backward_hook(lambda *args: None)
    x = pyburn.ones(2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="InPlace: forward writes over its input in place"):
        module(x)


def test_gradients_of_gradients_pass_too() -> None:
    module = layer()
    module.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    x = pyburn.tensor([1.0, 2.0], requires_grad=True)
    (grad,) = pyburn.autograd.grad((module(x) ** 2).sum(), x, create_graph=True)
    # y = [x1, 2 x0 + 3 x1]: the gradient is 2 Wᵀ y, and the hook doubles it.
    assert grad.tolist() == [2 * 4 * 8.0, 2 * (2 * 2.0 + 6 * 8.0)]
    # 4 Wᵀ W 1, doubled once more on the second way through the module; PyTorch gives the same.
    (second,) = pyburn.autograd.grad(grad.sum(), x)
    assert second.tolist() == [2 * 4 * 10.0, 2 * 4 * 16.0]


def test_each_call_is_watched_by_itself() -> None:
    module = layer()
    seen: list[Any] = []
    module.register_full_backward_hook(lambda m, gi, go: seen.append(go[0].sum().item()))
    a, b = (pyburn.ones(2, requires_grad=True) for _ in range(2))
    (module(a).sum() + 5 * module(b).sum()).backward()
    assert sorted(seen) == [2.0, 10.0]


def test_watched_calls_are_freed() -> None:
    """The tape and what watches it do not keep each other alive."""
    made: list[weakref.ref[Any]] = []
    passes: list[Any] = [
        lambda out, x: None,
        lambda out, x: out.backward(),
        lambda out, x: pyburn.autograd.grad(out, x, create_graph=True),
    ]
    for backward in passes:
        module = layer()
        module.register_full_backward_hook(lambda *args: None)
        x = pyburn.ones(2, requires_grad=True)
        out = module(x).sum()
        backward(out, x)
        made.append(weakref.ref(module))
        del module, out
    failing = Fails()
    failing.register_full_backward_hook(lambda *args: None)
    with contextlib.suppress(ValueError):
        failing(pyburn.ones(2, requires_grad=True))
    made.append(weakref.ref(failing))
    del failing
    gc.collect()
    assert [module() for module in made] == [None] * 4


def test_hooks_of_all_modules() -> None:
    log: list[Any] = []
    model = nn.Sequential(nn.Identity())
    handles = [
        everywhere.register_module_forward_pre_hook(lambda m, args: log.append("pre")),
        everywhere.register_module_forward_hook(lambda m, args, out: log.append("post")),
        everywhere.register_module_full_backward_pre_hook(lambda m, go: log.append("bpre")),
        everywhere.register_module_full_backward_hook(lambda m, gi, go: log.append("b")),
        everywhere.register_module_forward_hook(
            lambda m, args, kwargs, out: log.append(sorted(kwargs)), with_kwargs=True
        ),
    ]
    try:
        x = pyburn.ones(1, requires_grad=True)
        model(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    assert log == ["pre", "pre", "post", [], "post", [], "bpre", "bpre", "b", "b"]
    model(x)
    assert len(log) == 10


def test_hooks_on_registration() -> None:
    log: list[str] = []
    replaced = nn.Parameter(pyburn.zeros(1))

    def parameter(module: Any, name: str, value: Any) -> Any:
        log.append(f"p {name}")
        return replaced if name == "weight" else None

    handles = [
        everywhere.register_module_parameter_registration_hook(parameter),
        everywhere.register_module_buffer_registration_hook(lambda m, n, v: log.append(f"b {n}")),
        everywhere.register_module_module_registration_hook(lambda m, n, v: log.append(f"m {n}")),
    ]
    try:
        module = nn.Module()
        module.weight = nn.Parameter(pyburn.ones(1))
        module.bias = nn.Parameter(pyburn.ones(1))
        module.register_buffer("mean", pyburn.ones(1))
        module.mean = pyburn.zeros(1)
        module.child = nn.Identity()
        module.add_module("other", nn.Identity())
    finally:
        for handle in handles:
            handle.remove()
    assert module.weight is replaced
    assert log == ["p weight", "p bias", "b mean", "b mean", "m child", "m other"]


def _picklable(module: Any, args: Any, output: Any) -> Any:
    return output * 2


def test_copies_keep_hooks() -> None:
    module = layer()
    module.register_forward_hook(_picklable)
    for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert made(pyburn.ones(2)).tolist() == [2.0, 10.0]
        made._forward_hooks.clear()
        assert made(pyburn.ones(2)).tolist() == [1.0, 5.0]
    assert len(module._forward_hooks) == 1


def test_the_older_form() -> None:
    module = layer()
    seen: list[Any] = []
    module.register_backward_hook(lambda m, gi, go: seen.append(gi[0].tolist()))
    module(pyburn.ones(2, requires_grad=True)).sum().backward()
    assert seen == [[2.0, 4.0]]
