"""What statements did in a span of time that ends now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from controlplane.core import clock
from controlplane.fleet.models import Instance
from controlplane.statements.counting import Row, grown
from controlplane.statements.models import StatementNote

HOUR = 3600


def statements_since(instance: Instance, rows: Sequence[Row], hours: int) -> tuple[datetime | None, list[Any]]:
    """From the note that is nearest to so long ago; None: nothing was noted yet, so the rows are as they are."""
    wanted = clock.shared_time() - hours * HOUR
    times = StatementNote.objects.filter(instance=instance).values_list("at", flat=True)
    first = min(times, key=lambda at: abs(at - wanted), default=None)
    if first is None:
        return None, list(rows)
    notes = StatementNote.objects.filter(instance=instance, at__gte=first).order_by("at")
    return datetime.fromtimestamp(first, UTC), list(grown(list(notes.values_list("counts", flat=True)), rows))
