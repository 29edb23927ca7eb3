"""Live figures of a round of polls for readers of events: of the whole fleet, and of instances that they name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from controlplane.core.models import Event
from controlplane.metrics.definitions import METRICS, SECONDS
from controlplane.metrics.models import Sample

Values = dict[str, float | None]
COLUMNS = sorted({column for definition in METRICS.values() for column in definition.columns} | {SECONDS})


def fleet_values(at: int) -> Values:
    """Returns every metric by name, over all instances that answered in the round of polls at `at` (epoch seconds),
    computed as for the fleet's charts.
    """
    sums = ", ".join(f"{'MAX' if column == SECONDS else 'SUM'}({column})" for column in COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {sums} FROM {Sample._meta.db_table} WHERE at = %s", [at])  # noqa: S608 - own names
        return _values(cursor.fetchone())


def sample_facts(events: Sequence[Event], instances: Collection[str]) -> dict[int, dict[str, Any]]:
    """Returns, by the id of an event about a round of polls, the values of those of these instances that answered in
    it; empty if no instances are named.
    """
    if not instances:
        return {}
    times = {event.pk: int(event.facts["sampled_at"]) for event in events}
    samples = Sample.objects.filter(instance_id__in=instances, at__in=set(times.values()))
    found: dict[int, dict[str, Values]] = {}
    for at, instance_id, *sums in samples.values_list("at", "instance_id", *COLUMNS):
        found.setdefault(at, {})[instance_id] = _values(sums)
    return {pk: {"values": found.get(at, {})} for pk, at in times.items()}


def _values(sums: Sequence[Any]) -> Values:
    by_column = {column: None if each is None else float(each) for column, each in zip(COLUMNS, sums, strict=True)}
    return {name: definition.value(by_column) for name, definition in METRICS.items()}
