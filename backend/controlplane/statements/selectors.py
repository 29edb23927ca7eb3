"""Figures of statements for a period that ends now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from controlplane.core import clock
from controlplane.fleet.models import Instance
from controlplane.gateway.reports import EXECUTIONS, HITS, SERVER_TIME
from controlplane.statements.counting import Row, grown, grown_between
from controlplane.statements.models import StatementNote

HOUR = 3600
DAY = 24 * HOUR
_HOURLY = {"executions": EXECUTIONS, "hits": HITS, "server_time_us": SERVER_TIME}


def statements_since(instance: Instance, rows: Sequence[Row], hours: int) -> tuple[datetime | None, list[Any]]:
    """Returns the rows with the growth since the stored counts nearest to `hours` ago, and the time of those.

    The time is None if there are no stored counts; the rows are then unchanged.
    """
    wanted = clock.shared_time() - hours * HOUR
    times = StatementNote.objects.filter(instance=instance).values_list("at", flat=True)
    first = min(times, key=lambda at: abs(at - wanted), default=None)
    if first is None:
        return None, list(rows)
    notes = StatementNote.objects.filter(instance=instance, at__gte=first).order_by("at")
    return datetime.fromtimestamp(first, UTC), list(grown(list(notes.values_list("counts", flat=True)), rows))


def statement_hours(instance: Instance, digest: str) -> list[dict[str, Any]]:
    """Returns how much one statement's counts grew in each hour of the last day, oldest first.

    Values are None where that is unknown.
    """
    found = StatementNote.objects.filter(instance=instance, at__gte=clock.shared_time() - DAY - HOUR).order_by("at")
    notes = list(found.values_list("at", "counts"))
    growths = grown_between([counts for _, counts in notes], digest)
    return [
        {
            "since": datetime.fromtimestamp(since, UTC),
            "until": datetime.fromtimestamp(until, UTC),
            **{name: None if growth is None else growth.get(column, 0) for name, column in _HOURLY.items()},
        }
        for (since, _), (until, _), growth in zip(notes, notes[1:], growths, strict=False)
    ]
