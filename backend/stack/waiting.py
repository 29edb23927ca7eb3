"""Waits for conditions with a time limit."""

import time
from collections.abc import Callable

_POLL_SECONDS = 0.05


def wait_until(condition: Callable[[], bool], limit_seconds: float) -> bool:
    """Returns True as soon as the condition holds, False if the limit passes first."""
    end = time.monotonic() + limit_seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_SECONDS)
    return True
