"""Muon against its definition, with bfloat16's rounding written out."""

from __future__ import annotations

import numpy as np
import pyburn as pb
import pytest
from pyburn.optim import Muon

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def narrow(x):
    """The nearest numbers of bfloat16."""
    bits = np.asarray(x, dtype="float32").view("uint32").astype("uint64")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return rounded.astype("uint32").view("float32")


def orthogonal(g, steps=5, eps=1e-7):
    a, b, c = COEFFICIENTS
    x = narrow(g.T if g.shape[0] > g.shape[1] else g)
    x = narrow(x / max(narrow(np.linalg.norm(x)), eps))
    for _ in range(steps):
        gram = narrow(x @ x.T)
        x = narrow(a * x + narrow(b * gram + c * gram @ gram) @ x)
    return x.T if g.shape[0] > g.shape[1] else x


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5)])
@pytest.mark.parametrize("nesterov", [True, False])
def test_twenty_steps_follow_the_definition(shape, nesterov):
    rng = np.random.default_rng(0)
    w = rng.normal(size=shape).astype("float32")
    param = pb.tensor(w, requires_grad=True)
    optimizer = Muon([param], lr=0.02, momentum=0.9, nesterov=nesterov)
    m = np.zeros_like(w)
    for _ in range(20):
        g = rng.normal(size=shape).astype("float32")
        param.grad = pb.tensor(g)
        optimizer.step()
        m = m + np.float32(0.1) * (g - m)
        direction = g + np.float32(0.9) * (m - g) if nesterov else m
        rate = 0.02 * max(1, shape[0] / shape[1]) ** 0.5
        w = w * (1 - 0.02 * 0.1) - rate * orthogonal(direction)
    np.testing.assert_allclose(optimizer.state[param]["momentum_buffer"].numpy(), m, atol=1e-6)
    # A rounding to bfloat16 may fall to the other side: one unit in the last place of a step.
    np.testing.assert_allclose(param.detach().numpy(), w, atol=20 * 0.03 * 2**-8)


def test_steps_are_nearly_orthogonal():
    param = pb.zeros(8, 5, requires_grad=True)
    param.grad = pb.tensor(np.random.default_rng(1).normal(size=(8, 5)).astype("float32"))
    Muon([param], lr=1.0, weight_decay=0.0, adjust_lr_fn="spectral_unclamped").step()
    singular = np.linalg.svd(param.detach().numpy(), compute_uv=False) / (8 / 5) ** 0.5
    assert singular.min() > 0.5
    assert singular.max() < 1.5


@pytest.mark.parametrize(
    ("name", "tall", "wide"),
    [
        (None, (9 / 4) ** 0.5, 1.0),
        ("original", (9 / 4) ** 0.5, 1.0),
        ("match_rms_adamw", 0.2 * 3.0, 0.2 * 3.0),
        ("spectral_unclamped", (9 / 4) ** 0.5, (4 / 9) ** 0.5),
    ],
)
def test_the_learning_rate_follows_the_shape(name, tall, wide):
    grad = pb.tensor(np.random.default_rng(2).normal(size=(9, 4)).astype("float32"))
    for g, ratio in ((grad, tall), (grad.T.contiguous(), wide)):
        steps = []
        for options in ({"adjust_lr_fn": name}, {"adjust_lr_fn": "original"}):
            param = pb.zeros_like(g).requires_grad_()
            param.grad = g
            Muon([param], lr=0.1, weight_decay=0.0, **options).step()
            steps.append(param.detach())
        original = (9 / 4) ** 0.5 if g.shape[0] == 9 else 1.0
        assert pb.allclose(steps[0], steps[1] * (ratio / original), rtol=1e-5)


def test_what_it_refuses():
    with pytest.raises(ValueError, match=r"only supports 2D parameters .*\[3\]"):
        Muon([pb.zeros(3)])
    param = pb.zeros(2, 2, requires_grad=True)
    param.grad = pb.ones(2, 2)
    with pytest.raises(ValueError, match="Number of steps must be less than 100"):
        Muon([param], ns_steps=100).step()
    with pytest.raises(ValueError, match="Coefficients must be a tuple of exactly 3 values"):
        Muon([param], ns_coefficients=(1.0, 2.0)).step()
    z = pb.zeros(2, 2, dtype=pb.complex64, requires_grad=True)
    z.grad = pb.zeros(2, 2, dtype=pb.complex64)
    for name in ("Muon", "Adafactor"):
        with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
            getattr(pb.optim, name)([z]).step()
