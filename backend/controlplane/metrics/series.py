"""A chart's worth of points, downsampled in the database: one grouped query, however many metrics and instances."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from django.db import connection, models

from controlplane.metrics.definitions import SECONDS, MetricDefinition, aggregate_of
from controlplane.metrics.models import FleetMinute, HourRollup, MinuteRollup, Sample, SixHourRollup

LEAST_POINTS, MOST_POINTS = 2, 1000
MOST_SPARKLINES, MOST_SPARKLINE_POINTS = 200, 60
MINUTE, HOUR, DAY = 60, 3600, 86400
Tables = Sequence[tuple[str, float]]  # resolution, and the longest span that is read at it
CHART: Tables = (("raw", 6 * HOUR), ("minute", 4 * DAY), ("hour", inf))
# For many instances at most some hundred rows each, since rows are spread over the disk and each costs a page. Fewer
# points are better than waiting.
SPARKLINES: Tables = (("raw", HOUR / 6), ("minute", 2 * HOUR), ("hour", 5 * DAY), ("six_hours", inf))
UNITS = {"minute": MINUTE, "hour": HOUR, "six_hours": 6 * HOUR}  # for raw the unit is the polling interval
MODELS: dict[str, type[models.Model]] = {
    "raw": Sample, "minute": MinuteRollup, "hour": HourRollup, "six_hours": SixHourRollup
}  # fmt: skip


Sums = Mapping[str, float | None]


@dataclass(frozen=True)
class Span:
    first_at: int  # the start of the first bucket, in epoch seconds
    last_at: int  # the span ends before this second
    step_seconds: int
    resolution: str  # one of MODELS


@dataclass(frozen=True)
class Series:
    definition: MetricDefinition
    values: list[float | None]
    whole: float | None  # the value for the whole span: a quotient of sums, not the mean of `values`


def span_of(first_at: int, last_at: int, points: int, poll_seconds: int, tables: Tables = CHART) -> Span:
    """Returns the span to read for a chart: the finest table that may be read for this length, and a step that gives at
    most `points` buckets and is a multiple of the table's own.

    Times are in epoch seconds.
    """
    length = last_at - first_at
    resolution = next(name for name, longest in tables if length <= longest)
    unit = UNITS.get(resolution, poll_seconds)
    unit *= -(-poll_seconds // unit)  # if polls are less frequent than the unit, buckets in between would be empty
    # Buckets start on multiples of the step, so the span may touch one bucket more than its length requires.
    steps = max(1, -(-length // ((min(points, MOST_POINTS) - 1) * unit)))
    step = steps * unit
    first = first_at // step * step
    return Span(first, last_at, step, resolution)


def instance_series(instance_id: str, definitions: Sequence[MetricDefinition], span: Span) -> list[Series]:
    return instances_series([instance_id], definitions, span)[instance_id]


def instances_series(
    instance_ids: Sequence[str], definitions: Sequence[MetricDefinition], span: Span
) -> dict[str, list[Series]]:
    """Returns, by instance id, one series per metric over the span.

    An instance without samples has only None values.
    """
    if not instance_ids:
        return {}
    found = _instances_buckets(instance_ids, definitions, span)
    return {instance_id: _series(found.get(instance_id, {}), definitions, span) for instance_id in instance_ids}


def instance_sums(instance_id: str, definitions: Sequence[MetricDefinition], span: Span) -> Sums:
    """Returns the columns that these metrics need over the whole span: counters added up, gauges averaged; empty
    without samples.
    """
    found = _instances_buckets([instance_id], definitions, span)
    return added_up(found.get(instance_id, {}).values())


def fleet_series(definitions: Sequence[MetricDefinition], span: Span) -> list[Series]:
    return _series(_buckets(FleetMinute, "''", definitions, span).get("", {}), definitions, span)


def times_of(span: Span) -> list[int]:
    return list(range(span.first_at, span.last_at, span.step_seconds))


def _series(buckets: Mapping[int, Sums], definitions: Sequence[MetricDefinition], span: Span) -> list[Series]:
    times, whole = times_of(span), added_up(buckets.values())
    return [
        Series(
            definition,
            [definition.value(buckets[at]) if at in buckets else None for at in times],
            definition.value(whole),
        )
        for definition in definitions
    ]


def _instances_buckets(
    instance_ids: Sequence[str], definitions: Sequence[MetricDefinition], span: Span
) -> dict[str, dict[int, Sums]]:
    where = f"instance_id IN ({', '.join(['%s'] * len(instance_ids))}) AND "
    return _buckets(MODELS[span.resolution], "instance_id", definitions, span, where, instance_ids)


def added_up(buckets: Collection[Sums]) -> Sums:
    """Joins buckets that have the same columns into one: counters are added up, gauges averaged. None is ignored."""
    columns = next(iter(buckets), {})
    return {column: _joined(column, [each[column] for each in buckets]) for column in columns}


def _joined(column: str, numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    if not known:
        return None
    return sum(known) if aggregate_of(column) == "SUM" else sum(known) / len(known)


def _buckets(
    model: type[models.Model],
    whose: str,
    definitions: Sequence[MetricDefinition],
    span: Span,
    where: str = "",
    arguments: Sequence[Any] = (),
) -> dict[str, dict[int, Sums]]:
    """Returns the columns of these metrics, combined by the value of the SQL expression `whose`, then by the bucket's
    start.

    Column names come from the definitions, never from input.
    """
    columns = sorted({column for definition in definitions for column in definition.columns} | {SECONDS})
    aggregates = ", ".join(f"{aggregate_of(column)}({column})" for column in columns)
    statement = (
        f"SELECT {whose}, at / {span.step_seconds} * {span.step_seconds}, {aggregates}"  # noqa: S608
        f" FROM {model._meta.db_table} WHERE {where}at >= %s AND at < %s GROUP BY 1, 2"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*arguments, span.first_at, span.last_at])
        rows = cursor.fetchall()
    found: dict[str, dict[int, Sums]] = {}
    for key, at, *cells in rows:
        found.setdefault(key, {})[int(at)] = dict(zip(columns, map(_number, cells), strict=True))
    return found


def _number(cell: Any) -> float | None:
    return None if cell is None else float(cell)
