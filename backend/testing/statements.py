"""Counts SQL statements. It replaces pytest-django's fixtures, which do not list the statements in a quiet run.

A count may depend on what ran before. Without the list it is impossible to see which statement was too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

# Makes a context that fails unless as many statements are sent in it.
Counted = Callable[[int], AbstractContextManager[Any]]


@pytest.fixture
def django_assert_num_queries() -> Counted:
    return _exactly


@pytest.fixture
def django_assert_max_num_queries() -> Counted:
    return _at_most


@contextmanager
def _exactly(count: int) -> Iterator[Any]:
    with sent() as found:
        yield found
    if len(found) != count:
        pytest.fail(f"{len(found)} statements instead of {count}:\n{listed(found)}")


@contextmanager
def _at_most(count: int) -> Iterator[Any]:
    with sent() as found:
        yield found
    if len(found) > count:
        pytest.fail(f"{len(found)} statements instead of {count} at most:\n{listed(found)}")


def sent() -> Any:
    """Returns a context manager that captures the statements that this thread's connection sends in it. `len` counts
    them."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    return CaptureQueriesContext(connection)


def listed(found: Any) -> str:
    return "\n".join(f"{number}. {each['sql'][:300]}" for number, each in enumerate(found.captured_queries, 1))
