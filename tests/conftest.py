"""Settings of the whole suite."""

from __future__ import annotations

from collections import Counter

import pytest

RAN: pytest.StashKey[Counter[str]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RAN] = Counter()


@pytest.fixture
def ran(request: pytest.FixtureRequest) -> Counter[str]:
    """What the tests did, by name; printed when they are over."""
    return request.config.stash[RAN]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = terminalreporter.config.stash[RAN]
    if counts:
        from helpers import DEVICE

        terminalreporter.write_line(f"ops on {DEVICE}:")
        for name, count in sorted(counts.items()):
            terminalreporter.write_line(f"  {name}: {count}")
