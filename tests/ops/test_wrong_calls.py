"""A thousand wrong calls over the whole surface: each is refused by an ordinary exception."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers import shapes_named

TESTS = Path(__file__).parent.parent
COUNT = 1000


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    """What came of the calls, made in a process of their own, which must live to the end."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "python"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "ops.wrong_calls", "0", str(COUNT)],
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


NOT_A_TENSOR = re.compile(r"'(?!Tensor|Number)\w+' object has no attribute '\w+'")
"""What Python says of an argument that is no tensor where one is wanted; it names the type."""


def test_the_exceptions_are_meant(reports: list[dict[str, Any]]) -> None:
    """No KeyError or AssertionError from inside: the argument was looked at."""
    bad = [
        report
        for report in reports
        if report["raised"] not in ORDINARY
        and not (report["raised"] == "AttributeError" and NOT_A_TENSOR.search(report["text"]))
    ]
    assert not bad, "\n".join(f"{b['call']}: {b['raised']}: {b['text']}" for b in bad)


def test_shapes_that_disagree_are_named(reports: list[dict[str, Any]]) -> None:
    by_shape = [report for report in reports if report["shapes"] and "broadcast" in report["text"]]
    assert len(by_shape) > 20
    bad = [
        report
        for report in by_shape
        if sum(shapes_named(report["text"], [shape]) for shape in report["shapes"]) < 2
        and len({tuple(shape) for shape in report["shapes"]}) > 1
    ]
    assert not bad, "\n".join(f"{b['call']}: {b['text']}" for b in bad)
