"""Ctrl-C ends a loop of ops with KeyboardInterrupt; no panic of the engine reaches Python raw."""

import os
import signal
import subprocess
import sys
import threading
import time

import pyburn
import pytest

SCRIPT = """
import os, signal, threading, time
import pyburn
a = pyburn.ones(200, 200, requires_grad=True)
def press():
    time.sleep(0.4)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    start = time.monotonic()
    while time.monotonic() - start < 30:
        (a @ a).relu().sum().backward()
    print("not interrupted")
except KeyboardInterrupt:
    took = time.monotonic() - start
    x = pyburn.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert took < 10, took
    print("usable")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_loop_and_the_process_stays_usable():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout.strip()) == (0, "usable"), done.stderr


LONG_WALK = """
def prepared():
    y = x = pyburn.ones(300, 300, requires_grad=True)
    for _ in range(20_000):
        y = y * 1.0001
    return y.sum().backward
"""

LONG_STEP = """
def prepared():
    x = pyburn.randn(600, 600, dtype=pyburn.float64)
    return lambda: pyburn.linalg.svd(x)
"""

ONE_CALL = """
import os, signal, threading, time
import pyburn
{preparation}
call = prepared()
start = time.monotonic()
call()
whole = time.monotonic() - start
call = prepared()
def press():
    time.sleep(whole / 4)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
start = time.monotonic()
try:
    call()
    time.sleep(10 * whole)
    print("not interrupted")
except KeyboardInterrupt:
    share = (time.monotonic() - start) / whole
    assert (pyburn.ones(2) + 1).tolist() == [2, 2]
    print(share)
"""


def _share_until_interrupted(preparation):
    """The share of one call's time after which Ctrl-C, pressed at a quarter of it, has ended it."""
    done = subprocess.run(
        [sys.executable, "-c", ONE_CALL.format(preparation=preparation)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_long_walk_back():
    assert _share_until_interrupted(LONG_WALK) < 0.8


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_during_one_long_step_is_raised_after_it():
    assert _share_until_interrupted(LONG_STEP) < 5


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_without_a_handler_the_process_ends_as_python_does():
    script = "import pyburn, time\nprint('up', flush=True)\nwhile True: pyburn.ones(100) + 1\n"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "up"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors


def test_an_interrupt_in_a_hook_comes_out_as_itself():
    def interrupted(g):
        raise KeyboardInterrupt

    x = pyburn.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(interrupted)
    with pytest.raises(KeyboardInterrupt):
        y.sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


HUGE = 1 << 62


@pytest.mark.parametrize(
    "call",
    [
        lambda: pyburn.zeros(HUGE, HUGE),
        lambda: pyburn.zeros(1 << 45),
        lambda: pyburn.empty(1 << 60),
        lambda: pyburn.arange(0, 1e30),
        lambda: pyburn.eye(1 << 40),
        lambda: pyburn.ones(2).repeat(1 << 60),
        lambda: pyburn.ones(1).expand(1 << 60).contiguous(),
        lambda: pyburn.ones(2).as_strided((5,), (1,)),
        lambda: pyburn.ones(2).as_strided((1 << 40,), (1 << 40,)),
        lambda: pyburn.ones(3).narrow(0, 2, HUGE),
        lambda: pyburn.ones(3).narrow(0, 1, 2**63 - 1),
        lambda: pyburn.ones(3).tensor_split(HUGE),
        lambda: pyburn.ones(0).chunk(HUGE),
        lambda: pyburn.linspace(0, 1, HUGE),
        lambda: pyburn.hann_window(HUGE),
        lambda: pyburn.tril_indices(HUGE, 3),
        lambda: pyburn.ones(3).scatter(0, pyburn.tensor([0, 1]), pyburn.tensor(1.0)),
        lambda: pyburn.ones(3).unfold(0, 2, -1),
        lambda: pyburn.ones(3).view(HUGE, HUGE, HUGE),
        lambda: pyburn.ones(3).gather(0, pyburn.tensor([HUGE])),
        lambda: pyburn.ones(3)[pyburn.tensor([-HUGE])],
        lambda: pyburn.ones(3).roll(1, 5),
        lambda: pyburn.ones(3).permute(0, 0),
        lambda: pyburn.cat([]),
        lambda: pyburn.ones(2, 3) @ pyburn.ones(2, 3),
        lambda: pyburn.ones(3).split(0),
        lambda: pyburn.ones(3).chunk(0),
        lambda: pyburn.tensor([1, 2]) // 0,
        lambda: pyburn.linspace(0, 1, -1),
        lambda: pyburn.randint(5, 5, (2,)),
        lambda: pyburn.multinomial(pyburn.zeros(3), 2),
        lambda: pyburn.ones(3).diagonal(),
        lambda: pyburn.stack([pyburn.ones(1), pyburn.ones(2)]),
        lambda: pyburn.einsum("ij,jk", pyburn.ones(2, 3)),
        lambda: pyburn.ones(3).kthvalue(9),
        lambda: pyburn.ones(3).topk(9),
    ],
)
def test_what_cannot_be_is_an_ordinary_exception(call):
    with pytest.raises(Exception) as caught:
        call()
    assert isinstance(
        caught.value,
        (
            RuntimeError,
            ValueError,
            IndexError,
            TypeError,
            OverflowError,
            MemoryError,
            ZeroDivisionError,
        ),
    )
    assert "PanicException" not in type(caught.value).__name__
    assert "internal error" not in str(caught.value)
    assert (pyburn.ones(2) + 1).tolist() == [2, 2]


def test_an_exception_in_one_thread_leaves_the_others_alone():
    results = []

    def fail():
        try:
            pyburn.ones(2) @ pyburn.ones(3)
        except RuntimeError:
            results.append("raised")

    threads = [threading.Thread(target=fail) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["raised"] * 8
