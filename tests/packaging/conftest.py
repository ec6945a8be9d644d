"""The interpreter under test, and the wheel it was installed from.

`PYBURN_PYTHON` names the interpreter (this one by default) and `PYBURN_WHEEL` the wheel, so that
these tests can look at an environment that has PyBurn and nothing else, not even pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], str]:
    """Runs a program in a fresh interpreter, outside the checkout, and gives what it prints."""

    def run(program: str) -> str:
        command = [os.environ.get("PYBURN_PYTHON", sys.executable), "-W", "error", "-c", program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.strip()

    return run


@pytest.fixture
def wheel() -> Path:
    """The wheel that was installed."""
    if "PYBURN_WHEEL" not in os.environ:
        pytest.skip("PYBURN_WHEEL names no wheel; .ci/run tests the one it builds")
    return Path(os.environ["PYBURN_WHEEL"])
