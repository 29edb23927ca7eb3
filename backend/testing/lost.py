"""Fails a run on several workers that reports fewer tests than were collected, and names some of the lost ones.

A distribution of pytest-xdist may lose tests without a word, such as those that share their name with another one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

MOST_NAMES = 5
# A test reports its setup, or as "???" that its worker crashed.
ONCE = ("setup", "???")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Books(), "lost-tests")


class Books:
    """Registered where workers are started, and not in the workers. Without workers it stays empty."""

    def __init__(self) -> None:
        self.collected: Counter[str] = Counter()
        self.reported: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.collected = Counter(ids)  # all workers collect the same

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reported[report.nodeid] += report.when in ONCE

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A run that was stopped early has another exit status."""
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            self.lost = self.collected - self.reported
        if self.lost:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if number := self.lost.total():
            names = ", ".join(list(self.lost)[:MOST_NAMES])
            terminalreporter.write_line(f"{number} TESTS WERE COLLECTED AND DID NOT RUN, such as {names}", red=True)
