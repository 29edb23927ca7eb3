"""Skips tests for which no time is left, on a machine that is too slow for all of them.

FQC_TEST_END is a time in seconds since 1970, after which no further test of the large suites starts. Unset means that
every test runs. This module is pytest's plugin for the backend; the runners in `.ci` import it too, so it only uses the
standard library.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

NAME = "FQC_TEST_END"
# The summary counts skipped tests with this reason.
REASON = "no time was left"


def is_past() -> bool:
    return time.time() > float(os.environ.get(NAME, "inf"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the tests: each run starts with another file, so that no file is always skipped."""
    if NAME in os.environ:
        files = list(dict.fromkeys(item.path for item in items))
        first = int(float(os.environ[NAME])) % max(len(files), 1)
        place = {file: index for index, file in enumerate([*files[first:], *files[:first]])}
        items.sort(key=lambda item: place[item.path])


def pytest_runtest_setup() -> None:
    import pytest  # the runners in `.ci` import this module without it

    if is_past():
        pytest.skip(REASON)
