"""A chart's worth of points, downsampled in the database: one grouped query, at most 1000 rows come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, models

from controlplane.metrics.definitions import SECONDS, MetricDefinition, aggregate_of
from controlplane.metrics.models import FleetMinute, HourRollup, MinuteRollup, Sample

LEAST_POINTS, MOST_POINTS = 2, 1000
MINUTE, HOUR = 60, 3600
RAW_UP_TO = 6 * HOUR
MINUTE_UP_TO = 4 * 24 * HOUR


@dataclass(frozen=True)
class Span:
    first_at: int
    last_at: int  # exclusive
    step_seconds: int
    resolution: str  # raw, minute, hour


@dataclass(frozen=True)
class Series:
    definition: MetricDefinition
    values: list[float | None]


def span_of(first_at: int, last_at: int, points: int, poll_seconds: int) -> Span:
    """The coarsest table that still fills the plot, and a step that is a multiple of its own."""
    length = last_at - first_at
    if length <= RAW_UP_TO:
        resolution, unit = "raw", poll_seconds
    else:
        resolution, unit = ("minute", MINUTE) if length <= MINUTE_UP_TO else ("hour", HOUR)
        unit *= -(-poll_seconds // unit)  # polled less often than that: buckets in between would be empty
    # Buckets start on multiples of the step, so the span may touch one more than its length says.
    steps = max(1, -(-length // ((min(points, MOST_POINTS) - 1) * unit)))
    step = steps * unit
    first = first_at // step * step
    return Span(first, last_at, step, resolution)


def instance_series(instance_id: str, definitions: Sequence[MetricDefinition], span: Span) -> list[Series]:
    model = {"raw": Sample, "minute": MinuteRollup, "hour": HourRollup}[span.resolution]
    return _series(model, definitions, span, "instance_id = %s AND ", [instance_id])


def fleet_series(definitions: Sequence[MetricDefinition], span: Span) -> list[Series]:
    return _series(FleetMinute, definitions, span, "", [])


def times_of(span: Span) -> list[int]:
    return list(range(span.first_at, span.last_at, span.step_seconds))


def _series(
    model: type[models.Model], definitions: Sequence[MetricDefinition], span: Span, where: str, arguments: list[Any]
) -> list[Series]:
    columns = sorted({column for definition in definitions for column in definition.columns} | {SECONDS})
    buckets = _buckets(model, columns, span, where, arguments)
    times = times_of(span)
    return [
        Series(definition, [definition.value(buckets[at]) if at in buckets else None for at in times])
        for definition in definitions
    ]


def _buckets(
    model: type[models.Model], columns: list[str], span: Span, where: str, arguments: list[Any]
) -> dict[int, dict[str, float | None]]:
    aggregates = ", ".join(f"{aggregate_of(column)}({column})" for column in columns)
    statement = (
        f"SELECT at / {span.step_seconds} * {span.step_seconds}, {aggregates} FROM {model._meta.db_table}"  # noqa: S608
        f" WHERE {where}at >= %s AND at < %s GROUP BY 1"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*arguments, span.first_at, span.last_at])
        rows = cursor.fetchall()
    return {int(at): {name: _number(cell) for name, cell in zip(columns, cells, strict=True)} for at, *cells in rows}


def _number(cell: Any) -> float | None:
    return None if cell is None else float(cell)
