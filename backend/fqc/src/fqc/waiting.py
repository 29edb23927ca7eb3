"""The wait of `--wait`: polls until an operation has ended, with a progress bar on a terminal. Exit code 6 when time is
up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fqc.failure import Exit, Failure
from fqc.output import console, say

_POLL_SECONDS = 0.25
Progress = Callable[[str, int, int], None]


def until(
    look: Callable[[], Any],
    is_ended: Callable[[Any], bool],
    told: Callable[[Any], tuple[str, int, int]],
    *,
    timeout_seconds: float,
    what: str,
    hint: str,
) -> Any:
    """Calls `look` four times a second until `is_ended` accepts what it returns, and returns that. `told` gives the
    state, and how many of how many steps are done, for the progress bar. Raises a Failure when the time is up; `hint`
    says how to go on.
    """
    end = time.monotonic() + timeout_seconds
    with _bar() as advance, _left(hint):
        while True:
            found = look()
            advance(*told(found))
            if is_ended(found):
                return found
            if time.monotonic() >= end:
                raise Failure(f"{what} has not ended after {timeout_seconds:g} s.", Exit.TIMED_OUT, hint=hint)
            time.sleep(_POLL_SECONDS)


@contextmanager
def _left(hint: str) -> Iterator[None]:
    """Prints the hint on Ctrl-C, which only ends the waiting: the operation continues."""
    try:
        yield
    except KeyboardInterrupt:
        say(hint)
        raise


@contextmanager
def _bar() -> Iterator[Progress]:
    """Yields a function that updates the progress bar. It does nothing without a terminal."""
    err = console(is_stderr=True)
    if not err.is_terminal:
        yield lambda words, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("waiting", total=None)
        yield lambda words, done, total: bar.update(task, description=words, completed=done, total=total or None)
