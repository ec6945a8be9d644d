"""Wrong calls over the whole surface: each is refused by an ordinary exception, and says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers import shapes_named

TESTS = Path(__file__).parent.parent
SEEDS = range(3)
COUNT = 1000


@pytest.fixture(scope="module", params=SEEDS)
def reports(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """What came of the calls, made in a process of their own, which must live to the end."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "python"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "ops.wrong_calls", str(request.param), str(COUNT)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        timeout=300,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"ended by {lines[-1]['call']}: {done.stderr[-2000:]}"
    return [line for line in lines if "raised" in line]


def test_every_call_is_refused_in_order(reports: list[dict[str, Any]], ran: Counter[str]) -> None:
    assert len(reports) == COUNT
    bad = [
        report
        for report in reports
        if not report["is_exception"]
        or not report["text"]
        or "internal error" in report["text"]
        or "panicked" in report["text"]
    ]
    assert not bad, "\n".join(f"{b['call']}: {b['raised']}: {b['text']}" for b in bad)
    ran["wrong calls refused"] += len(reports)


ORDINARY = {
    "DeviceError",
    "IndexError",
    "LinAlgError",
    "NotImplementedError",
    "OutOfMemoryError",
    "OverflowError",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
}


def test_the_exceptions_are_meant(reports: list[dict[str, Any]]) -> None:
    """No KeyError or AssertionError from inside: the argument was looked at."""
    bad = [report for report in reports if report["raised"] not in ORDINARY]
    assert not bad, "\n".join(f"{b['call']}: {b['raised']}: {b['text']}" for b in bad)


def test_what_is_no_tensor_is_a_type_error(reports: list[dict[str, Any]]) -> None:
    of_type = [report for report in reports if report["no_tensor"]]
    assert len(of_type) > 50
    words = ("expected", "descriptor")  # The second is what Python says for the engine's methods.
    bad = [
        report
        for report in of_type
        if report["raised"] != "TypeError" or not any(word in report["text"] for word in words)
    ]
    assert not bad, "\n".join(f"{b['call']}: {b['raised']}: {b['text']}" for b in bad)


def test_shapes_are_named_where_they_are_the_cause(
    reports: list[dict[str, Any]], ran: Counter[str]
) -> None:
    # A singular matrix is refused for its elements, whatever its shape.
    by_shape = [
        report for report in reports if report["shapes"] and report["raised"] != "LinAlgError"
    ]
    assert len(by_shape) > 100
    bad = [report for report in by_shape if not shapes_named(report["text"], report["shapes"])]
    assert not bad, "\n".join(f"{b['call']}: {b['text']}" for b in bad)
    ran["refusals that name the shapes"] += len(by_shape)
