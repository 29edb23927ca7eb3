"""Runs many callers at the same moment, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

from controlplane.core.errors import Problem

T = TypeVar("T")
WAIT_SECONDS = 120


def at_once(*works: Callable[[], T]) -> list[T | Problem]:
    """Runs these functions in threads that begin at the same moment, and returns their results in order.

    If a function raised a Problem, that is its result. Any other exception makes the test fail.
    """
    start = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T | Problem:
        try:
            connection.ensure_connection()
            start.wait(WAIT_SECONDS)
            return work()
        except Problem as problem:
            return problem
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def codes(outcomes: list[T | Problem]) -> list[str]:
    """Returns the codes of the Problems among the results of `at_once`."""
    return [outcome.code for outcome in outcomes if isinstance(outcome, Problem)]
