"""Gradients through updates, with respect to weights, gradients, state and options."""

from __future__ import annotations

import pyburn as pb
import pytest
from pyburn import optim

CASES = [
    ("SGD", {"lr": 0.9}),
    ("SGD", {"lr": 0.9, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.9, "amsgrad": True}),
    ("AdamW", {"lr": 0.9, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.9}),
    ("RAdam", {"lr": 0.9, "betas": (0.9, 0.8)}),
    ("Adamax", {"lr": 0.9}),
    ("Adadelta", {"lr": 0.9}),
    ("Adagrad", {"lr": 0.9}),
    ("RMSprop", {"lr": 0.9, "momentum": 0.9, "centered": True}),
    ("ASGD", {"lr": 0.9, "t0": 1}),
    ("Adan", {"lr": 0.9, "weight_decay": 0.1}),
]


def tensor(*values):
    return pb.tensor(values, dtype=pb.float64, requires_grad=True)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_gradients_by_differences(name, options):
    def trained(start, first, second):
        param = start.clone()
        optimizer = getattr(optim, name)([param], differentiable=True, **options)
        for grad in (first, second, first * second):
            param.grad = grad
            optimizer.step()
        return param

    inputs = tensor(1.0, -0.7, 0.4), tensor(0.3, 0.8, -0.5), tensor(-0.6, 0.9, 1.1)
    assert pb.autograd.gradcheck(trained, inputs)


@pytest.mark.parametrize("option", ["lr", "weight_decay", "beta1", "beta2"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_gradients_of_options(name, option):
    if name == "SGD" and option.startswith("beta"):
        pytest.skip("SGD has no averages")
    grads = tensor(0.3, 0.8), tensor(-0.6, 0.9)

    def trained(value):
        param = tensor(1.0, -0.7).clone()
        beta = pb.tensor(0.8, dtype=pb.float64)
        options = {
            "lr": {"lr": value},
            "weight_decay": {"weight_decay": value, "lr": 0.1},
            "beta1": {"betas": (value, beta), "lr": 0.1},
            "beta2": {"betas": (beta, value), "lr": 0.1},
        }[option]
        optimizer = getattr(optim, name)([param], differentiable=True, **options)
        for grad in grads:
            param.grad = grad.detach()
            optimizer.step()
        return param

    assert pb.autograd.gradcheck(trained, (pb.tensor(0.5, dtype=pb.float64, requires_grad=True),))


def test_a_learning_rate_is_learned():
    """One step of descent on the loss after one step."""
    lr = pb.tensor(0.1, requires_grad=True)
    w = pb.tensor([2.0], requires_grad=True)
    (w * w).sum().backward(create_graph=True)
    param = w.clone()
    param.grad = w.grad
    optim.SGD([param], lr=lr, differentiable=True).step()
    (param * param).sum().backward()
    # d/dlr (2 - 4 lr)² = -8 (2 - 4 lr)
    assert lr.grad.item() == pytest.approx(-8 * (2 - 0.4))


def test_a_leaf_cannot_be_updated_so():
    a = tensor(1.0)
    a.grad = pb.ones(1, dtype=pb.float64)
    with pytest.raises(RuntimeError, match="leaf variable that requires grad"):
        optim.SGD([a], differentiable=True).step()


def test_without_the_flag_nothing_is_recorded():
    a, lr = tensor(1.0), tensor(0.5)
    a.grad = pb.ones(1, dtype=pb.float64)
    optim.SGD([a], lr=lr).step()
    assert a.grad_fn is None
    assert a.item() == 0.5


@pytest.mark.parametrize("name", ["Lamb", "Adafactor", "Muon"])
def test_updates_that_are_not_recorded_refuse_by_name(name):
    param = pb.ones(2, 2, requires_grad=True)
    param.grad = pb.ones(2, 2)
    optimizer = getattr(optim, name)([{"params": param, "differentiable": True}])
    with pytest.raises(NotImplementedError, match=f"{name}: differentiable=True is not available"):
        optimizer.step()
