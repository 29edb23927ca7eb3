"""Leaves out the tests for which no time is left. Each run begins with another file, so none is left out for ever."""

from __future__ import annotations

import os

import pytest

from testing import late


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs before Django's plugin, which moves the tests that empty the database behind all others."""
    if late.NAME in os.environ:
        files = list(dict.fromkeys(item.path for item in items))
        first = int(float(os.environ[late.NAME])) % max(len(files), 1)
        place = {file: index for index, file in enumerate([*files[first:], *files[:first]])}
        items.sort(key=lambda item: place[item.path])


def pytest_runtest_setup() -> None:
    if late.is_past():
        pytest.skip(late.REASON)
