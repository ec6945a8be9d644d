"""Long loops do not grow: ``memory_growth.py`` in a process that no other test has used."""

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("memory_growth.py")


def test_in_a_fresh_process():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
