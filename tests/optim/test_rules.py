"""Every optimizer against its formula in NumPy, over twenty steps, with every option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyburn as pb
import pytest

from . import reference

STEPS = 20
SHAPES = [(3,), (2, 3), (), (5, 1, 4), (70,), (0,)]
ROOM = {"float32": 2e-5, "float64": 1e-12}

CASES: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.5},
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
        {"lr": 0.1, "weight_decay": 0.1, "maximize": True},
    ],
    "Adam": [
        {},
        {"lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-3},
        {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 0.1, "maximize": True},
    ],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True}, {"maximize": True}],
    "NAdam": [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 6e-3},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.1, "betas": (0.9, 0.9), "eps": 1e-6, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "Adamax": [{}, {"lr": 0.1, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.95, "weight_decay": 0.9}, {"maximize": True}],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 0.1},
        {"lr": 0.1, "maximize": True},
    ],
    "RMSprop": [
        {},
        {"weight_decay": 0.1, "centered": True},
        {"momentum": 0.9, "alpha": 0.9},
        {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "maximize": True},
    ],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (0.01, 0.3)}, {"maximize": True}],
    "ASGD": [
        {},
        {"lr": 0.1, "lambd": 0.01, "t0": 5, "weight_decay": 0.1},
        {"t0": 5, "maximize": True},
    ],
    "Lion": [{}, {"lr": 0.1, "betas": (0.5, 0.6), "weight_decay": 0.1}, {"maximize": True}],
    "Adan": [
        {},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "no_prox": True, "maximize": True},
    ],
    "Lamb": [{}, {"lr": 0.1, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True}],
    "Adafactor": [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "d": 1.5},
        {"beta2_decay": -1.0, "eps": (1e-3, 0.1), "maximize": True},
    ],
}
EACH = [
    pytest.param(name, options, id=f"{name}-{at}")
    for name, all_options in CASES.items()
    for at, options in enumerate(all_options)
]

# A mean of nothing is no number.
NO_EMPTY = {"Adafactor"}


def gradients(shapes: list[tuple[int, ...]], seed: int = 0) -> list[list[np.ndarray]]:
    """One gradient for each shape, for each step; signs change, and some are zero."""
    rng = np.random.default_rng(seed)
    steps = [[rng.normal(size=shape) for shape in shapes] for _ in range(STEPS)]
    for step in steps[3:6]:
        for grad in step:
            grad[grad > 0.5] = 0.0
    return steps


def expected(name: str, options: dict[str, Any], start: list[np.ndarray], dtype: str):
    """Weights and state after all steps, computed in float64 from values of the dtype."""
    rule = getattr(reference, name.lower())
    shapes = [w.shape for w in start]
    weights, states = list(start), [{} for _ in start]
    for t, grads in enumerate(gradients(shapes), 1):
        for at, grad in enumerate(grads):
            grad = grad.astype(dtype).astype("float64")
            weights[at] = rule(weights[at], grad, states[at], t, **options)
    return weights, states


def run(name: str, options: dict[str, Any], params: list[pb.Tensor], dtype: str) -> Any:
    optimizer = getattr(pb.optim, name)(params, **options)
    for grads in gradients([tuple(p.shape) for p in params]):
        for param, grad in zip(params, grads, strict=True):
            param.grad = pb.tensor(grad.astype(dtype))
        optimizer.step()
    return optimizer


def starts(name: str, dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = [s for s in SHAPES if 0 not in s or name not in NO_EMPTY]
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "options"), EACH)
def test_twenty_steps_follow_the_formula(name, options, dtype):
    if name == "Adafactor" and dtype == "float32":
        # The formula's smallest denominator is the dtype's own precision.
        options = {"eps": (float(np.finfo("float32").eps), 1e-3), **options}
    start = starts(name, dtype)
    weights, states = expected(name, options, [w.astype("float64") for w in start], dtype)
    params = [pb.tensor(w, requires_grad=True) for w in start]
    optimizer = run(name, options, params, dtype)
    room = ROOM[dtype]
    for param, weight, state in zip(params, weights, states, strict=True):
        np.testing.assert_allclose(param.detach().numpy(), weight, rtol=room, atol=room)
        kept = optimizer.state[param]
        assert set(kept) - {"step"} == set(state)
        for key, value in state.items():
            # Scalars are float32 as in PyTorch.
            limit = max(room, 2e-6) if np.ndim(value) == 0 else room
            np.testing.assert_allclose(kept[key].numpy(), value, rtol=limit, atol=limit)
        if "step" in kept:
            assert kept["step"].item() == STEPS
            assert (kept["step"].dtype, kept["step"].shape) == (pb.float32, ())


@pytest.mark.parametrize(("name", "options"), EACH)
def test_composed_of_tensor_operations_it_is_the_same(name, options):
    """The way that GPUs and `differentiable=True` take computes what the fused loop computes."""
    if name in ("Lamb", "Adafactor"):
        pytest.skip("it is composed of tensor operations in any case")
    start = starts(name, "float64")
    results = []
    for differentiable in (False, True):
        leaves = [pb.tensor(w, requires_grad=True) for w in start]
        params = [leaf.clone() if differentiable else leaf for leaf in leaves]
        chosen = {"differentiable": differentiable, **options}
        optimizer = run(name, chosen, params, "float64")
        results.append([(p.detach(), optimizer.state[p]) for p in params])
    for (one, state), (two, other) in zip(*results, strict=True):
        np.testing.assert_allclose(two.numpy(), one.numpy(), rtol=1e-12, atol=1e-13)
        assert state.keys() == other.keys()
        for key, value in state.items():
            found = other[key].detach().numpy()
            np.testing.assert_allclose(found, value.detach().numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "ASGD"])
@pytest.mark.parametrize("threads", [1, 2])
def test_large_parameters_are_updated_whole_whatever_the_threads(name, threads):
    before = pb.get_num_threads()
    pb.set_num_threads(threads)
    try:
        shapes = [(7,), (300, 301), (1,), (40_000,)]
        rng = np.random.default_rng(2)
        start = [rng.normal(size=shape) for shape in shapes]
        weights, _ = expected(name, {"lr": 0.05}, start, "float64")
        params = [pb.tensor(w, requires_grad=True) for w in start]
        run(name, {"lr": 0.05}, params, "float64")
        for param, weight in zip(params, weights, strict=True):
            np.testing.assert_allclose(param.detach().numpy(), weight, rtol=1e-12, atol=1e-12)
    finally:
        pb.set_num_threads(before)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad", "Rprop", "RMSprop", "Adan"])
def test_a_complex_parameter_is_two_real_ones(name):
    rng = np.random.default_rng(3)
    start = rng.normal(size=(4, 2))
    grads = rng.normal(size=(STEPS, 4, 2))
    z = pb.tensor(start[:, 0] + 1j * start[:, 1], requires_grad=True)
    w = pb.tensor(start, requires_grad=True)
    both = [getattr(pb.optim, name)([p], lr=0.05) for p in (z, w)]
    for grad in grads:
        z.grad = pb.tensor(grad[:, 0] + 1j * grad[:, 1])
        w.grad = pb.tensor(grad)
        for optimizer in both:
            optimizer.step()
    assert z.dtype == pb.complex128
    np.testing.assert_array_equal(pb.view_as_real(z.detach()).numpy(), w.detach().numpy())


@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad", "Lion", "Adafactor", "Lamb"])
def test_half_precision_is_computed_in_float32(name, dtype):
    """One step is that of float32, rounded once; the state has the parameter's dtype."""
    rng = np.random.default_rng(4)
    start, grad = (pb.tensor(rng.normal(size=(6, 5)).astype("float32")) for _ in range(2))
    start, grad = start.to(dtype), grad.to(dtype)
    options = {"lr": 0.1}
    if name == "Adafactor":
        options["eps"] = (pb.finfo(dtype).eps, 1e-3)
    half = start.clone().requires_grad_()
    full = start.float().requires_grad_()
    half.grad, full.grad = grad, grad.float()
    kept = {}
    for param in (half, full):
        optimizer = getattr(pb.optim, name)([param], **options)
        optimizer.step()
        kept[param.dtype] = optimizer.state[param]
    assert half.dtype == dtype
    if name in ("Adafactor", "Lamb"):
        # They are composed of operations, each of which rounds.
        assert pb.allclose(half.detach().float(), full.detach(), atol=2e-2)
    else:
        assert pb.equal(half.detach(), full.detach().to(dtype))
    for key, value in kept[dtype].items():
        assert value.dtype == (pb.float32 if key == "step" else dtype)
