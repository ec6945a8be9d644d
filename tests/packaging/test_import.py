"""`import pyburn` is quick, small and touches nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

MAX_SECONDS = 0.1
MAX_MEGABYTES = 60
# Noise only ever adds to time and memory: one import within the bound shows that it is possible.
REPEATS = 15

# The processor's time: what a clock shows on a quiet machine with the files in its cache, and busy
# neighbours do not add to it.
IMPORT = """
import time
start = time.process_time()
import pyburn
seconds = time.process_time() - start
"""


def least(measure: Callable[[], float], bound: float) -> float:
    """The smallest of several measurements, or the first within the bound."""
    values: list[float] = []
    while len(values) < REPEATS and min(values, default=bound + 1) > bound:
        values.append(measure())
    return min(values)


def test_time(python: Callable[[str], str]) -> None:
    assert least(lambda: float(python(IMPORT + "print(seconds)")), MAX_SECONDS) <= MAX_SECONDS


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory(python: Callable[[str], str]) -> None:
    program = IMPORT + (
        "with open('/proc/self/status') as status:\n"
        "    print(next(line for line in status if line.startswith('VmHWM')))"
    )
    assert least(lambda: int(python(program).split()[1]) / 1024, MAX_MEGABYTES) <= MAX_MEGABYTES


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_starts_no_thread_and_opens_no_device(python: Callable[[str], str]) -> None:
    program = IMPORT + (
        "import json, os\n"
        "with open('/proc/self/maps') as maps:\n"
        "    mapped = {line.split()[-1] for line in maps if '/' in line}\n"
        "print(json.dumps([len(os.listdir('/proc/self/task')), sorted(mapped)]))"
    )
    threads, mapped = json.loads(python(program))
    assert threads == 1
    assert [name for name in mapped if "vulkan" in name or "libcuda" in name] == []


def test_loads_nothing_heavy(python: Callable[[str], str]) -> None:
    program = (
        "import sys, json\nbefore = set(sys.modules)\nimport pyburn\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    loaded = set(json.loads(python(program)))
    # NumPy is the only dependency; what else is loaded comes with Python.
    assert loaded - {"pyburn", "numpy"} <= sys.stdlib_module_names
    heavy = {"asyncio", "ctypes", "http", "logging", "multiprocessing", "unittest", "xml"}
    assert loaded & heavy == set()


def test_every_backend_answers(python: Callable[[str], str]) -> None:
    """A machine without a GPU gets a reason, not an abort."""
    program = (
        "import json, pyburn\n"
        "print(json.dumps([[b.name, b.available, b.reason] for b in pyburn.backends()]))"
    )
    answers = json.loads(python(program))
    assert [name for name, _, _ in answers] == ["cpu", "wgpu", "cuda"]
    assert all(available != bool(reason) for _, available, reason in answers)


def test_a_missing_device_is_an_exception(python: Callable[[str], str]) -> None:
    program = """
import pyburn
for name in ("wgpu:99", "cuda:99"):
    try:
        pyburn.zeros(2, device=name)
    except pyburn.DeviceError as fault:
        assert isinstance(fault, RuntimeError)
        assert name in str(fault), fault
    else:
        raise AssertionError(name)
print(pyburn.zeros(2).sum().item())
"""
    assert python(program) == "0.0"
