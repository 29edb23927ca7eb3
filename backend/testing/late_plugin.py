"""A pytest plugin that skips the tests for which no time is left (`testing.late`)."""

from __future__ import annotations

import pytest

from testing import late


def pytest_runtest_setup() -> None:
    if late.is_past():
        pytest.skip(late.REASON)
