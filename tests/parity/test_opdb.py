"""PyBurn agrees with PyTorch on PyTorch's own database of operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="pip install -r tests/parity/requirements.txt")

from .exceptions import KNOWN_FAILURES
from .opdb import run, unknown_exceptions

if TYPE_CHECKING:
    from .tally import Report

REQUIRED = 0.95


@pytest.fixture(scope="module")
def report() -> Report:
    """The outcome of the one run that all tests here look at."""
    return run()


def test_table(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + report.table())


@pytest.mark.parametrize("stage", ["forward", "backward"])
def test_rate(report: Report, stage: str) -> None:
    assert report.rate(stage) >= REQUIRED


def test_no_failure_is_new(report: Report) -> None:
    assert report.new_failures(KNOWN_FAILURES) == []


def test_no_known_failure_passes(report: Report) -> None:
    assert report.mended(KNOWN_FAILURES) == []


def test_known_failures_are_entries_in_scope() -> None:
    assert unknown_exceptions() == []
