"""The time that retention compares the age of rows with.

It follows the clock, but no purge moves it forward by more than twice the time between two purges. So a clock that was
set far ahead by mistake removes little before it is set right. A scheduler that was away for long catches up slowly.
"""

from __future__ import annotations

from datetime import UTC, datetime

from controlplane.core import clock
from controlplane.core.periodic import last_done_at, last_done_note

MOST_FORWARD_SECONDS = 2 * 3600.0  # purges run every hour


def retention_now(purge: str) -> datetime:
    """Returns the time with which a purge compares the age of rows: now, but at most MOST_FORWARD_SECONDS after its
    result for the previous purge of that name.

    It is stored, so call it once for each purge, which is named after its app.
    """
    name, now = f"retention {purge}", clock.shared_time()
    before = last_done_at(name)
    at = now if before is None else min(now, before + MOST_FORWARD_SECONDS)
    last_done_note(name, at)
    return datetime.fromtimestamp(at, UTC)
