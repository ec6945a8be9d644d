"""Threads: the interpreter runs while the engine computes, and tensors may be shared."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyburn
import pytest


def run(*functions):
    faults = []

    def guarded(function):
        try:
            function()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if faults:
        raise faults[0]


def test_a_large_product_does_not_hold_the_interpreter():
    """While two threads multiply, a third one counts; its longest wait is far below a product."""
    size = 1100
    a = pyburn.ones(size, size)
    start = time.perf_counter()
    a @ a
    alone = time.perf_counter() - start
    stop = threading.Event()
    ticks = []

    def multiply():
        try:
            for _ in range(3):
                a @ a
        finally:
            stop.set()

    def count():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    try:
        run(multiply, multiply, count)
    finally:
        sys.setswitchinterval(before)
    assert len(ticks) > 100
    # Were the interpreter held, there would be one tick between two products.
    assert len(ticks) > 20 * (ticks[-1] - ticks[0]) / max(alone, 0.01)


def test_many_threads_use_one_tensor():
    x = pyburn.arange(1000, dtype=pyburn.float32)
    expected = (x * 2 + 1).sum().item()

    def work():
        for _ in range(200):
            assert (x * 2 + 1).sum().item() == expected

    run(*[work] * 4)


def test_backward_in_several_threads_adds_up():
    w = pyburn.ones(100, requires_grad=True)
    others = [pyburn.ones(100, requires_grad=True) for _ in range(4)]

    def work(own):
        def body():
            for _ in range(50):
                (own * w.detach()).sum().backward()

        return body

    run(*map(work, others))
    for own in others:
        assert own.grad.tolist() == [50] * 100


@pytest.mark.parametrize("size", [4, 200])
def test_a_pool_differentiates_different_graphs(size):
    """Small graphs keep the interpreter, large ones release it; hooks take it back midway."""

    def work(seed):
        random = np.random.default_rng(seed)
        x = random.normal(size=(size, size))
        w = pyburn.tensor(random.normal(size=(size, size)), requires_grad=True)
        seen = []
        hidden = (pyburn.from_numpy(x) @ w).tanh()
        hidden.register_hook(lambda g: seen.append(tuple(g.shape)))
        (hidden * hidden).sum().backward()
        y = np.tanh(x @ w.detach().numpy())
        expected = x.T @ (2 * y * (1 - y * y))
        np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-9, atol=1e-9)
        assert seen == [(size, size)]
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(64), timeout=120)) == list(range(64))


def test_a_pool_adds_up_at_one_leaf():
    """No gradient is lost where walks of several threads meet."""
    w = pyburn.zeros(1000, requires_grad=True)

    def work(_):
        for _ in range(100):
            (w * 2).sum().backward()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8), timeout=120))
    assert w.grad.tolist() == [8 * 100 * 2] * 1000


def test_grad_of_shared_parameters():
    w = pyburn.ones(10, requires_grad=True)

    def work():
        for k in range(50):
            (g,) = pyburn.autograd.grad((w * k).sum(), [w])
            assert g.tolist() == [k] * 10

    run(*[work] * 4)


def test_custom_functions_and_hooks_in_several_threads():
    class Double(pyburn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def work():
        for _ in range(50):
            x = pyburn.ones(20_000, requires_grad=True)
            y = Double.apply(x)
            y.register_hook(lambda g: g * 3)
            y.sum().backward()
            assert x.grad[0].item() == 6

    run(*[work] * 4)


def test_generators_of_one_thread_are_not_disturbed():
    def draws(seed):
        own = pyburn.Generator()
        own.manual_seed(seed)
        return [pyburn.randn(50, generator=own).tolist() for _ in range(20)]

    expected = [draws(seed) for seed in range(4)]
    got = [None] * 4

    def work(seed):
        def body():
            got[seed] = draws(seed)

        return body

    run(*map(work, range(4)))
    assert got == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_results_do_not_depend_on_the_number_of_threads(threads):
    before = pyburn.get_num_threads()
    x = pyburn.from_numpy(np.random.default_rng(0).normal(size=(300, 200)).astype(np.float32))
    try:
        pyburn.set_num_threads(threads)
        got = [(x.exp().sum() / x.std()).item(), x.softmax(1)[7].tolist(), (x > 0).sum().item()]
    finally:
        pyburn.set_num_threads(before)
    assert got == [(x.exp().sum() / x.std()).item(), x.softmax(1)[7].tolist(), (x > 0).sum().item()]
