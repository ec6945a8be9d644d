"""Long loops do not grow."""

import gc
import os
from pathlib import Path

import pyburn
import pytest

STATM = Path("/proc/self/statm")
pytestmark = pytest.mark.skipif(not STATM.exists(), reason="reads /proc")


def resident():
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(step, warm, count):
    for _ in range(warm):
        step()
    before = resident()
    for _ in range(count):
        step()
    return resident() - before


MB = 1 << 20


def test_ten_thousand_training_steps():
    pyburn.manual_seed(0)
    x, target = pyburn.randn(16, 8), pyburn.randn(16, 1)
    weights = [pyburn.randn(8, 16) * 0.3, pyburn.randn(16, 1) * 0.3]
    for weight in weights:
        weight.requires_grad_()
    losses = []

    def step():
        loss = (((x @ weights[0]).relu() @ weights[1] - target) ** 2).sum()
        loss.backward()
        with pyburn.no_grad():
            for weight in weights:
                weight -= 0.001 * weight.grad
                weight.grad = None
        losses[:] = [*losses[:1], loss.item()]

    assert growth(step, 500, 10_000) < 5 * MB
    assert losses[-1] < losses[0] / 2


def test_evaluation_that_forgets_no_grad():
    """Graphs over a leaf are dropped with their results, although the leaf lives on."""
    w = pyburn.ones(64, 64, requires_grad=True)
    x = pyburn.ones(16, 64)
    total = [0.0]

    def step():
        total[0] += (x @ w).relu().sum().item()

    assert growth(step, 200, 3000) < 5 * MB


def test_views_and_writes():
    def step():
        x = pyburn.zeros(100, requires_grad=True)
        y = x * 1
        for k in range(5):
            y[k:].add_(1)
        y.view(10, 10).t()[2:].sum().backward()

    assert growth(step, 100, 1500) < 5 * MB


def test_functions_and_hooks():
    class Double(pyburn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * 2 + 0 * (x + y)

    w = pyburn.ones(1000, requires_grad=True)

    def step():
        y = Double.apply(w)
        y.register_hook(lambda g: g * 1)
        (g,) = pyburn.autograd.grad(y.sum(), [w], create_graph=True)
        del g

    assert growth(step, 200, 2000) < 5 * MB


def test_exceptions():
    a, b = pyburn.ones(10, 10), pyburn.ones(3)

    def step():
        with pytest.raises(RuntimeError):
            a + b

    assert growth(step, 200, 3000) < 5 * MB


def test_numpy_and_dlpack_round_trips():
    import numpy as np

    a = np.zeros(20_000, dtype=np.float32)

    def step():
        x = pyburn.from_numpy(a)
        np.from_dlpack(pyburn.from_dlpack(x * 2)).sum()
        x.__dlpack__()
        x.tolist()

    assert growth(step, 20, 200) < 5 * MB
