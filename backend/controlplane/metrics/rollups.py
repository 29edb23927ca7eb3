"""Rolls samples up to minutes, hours, six hours and the whole fleet: counters are added up, gauges averaged.

Every statement replaces existing rows, so a rollup that runs twice or late does no harm. The mark says up to where
minutes are complete; a little before the mark is rolled up again for late samples.
"""

from __future__ import annotations

from django.db import connection, models, transaction

from controlplane.core.models import Clock
from controlplane.metrics.columns import COUNTER_COLUMNS, GAUGE_COLUMNS
from controlplane.metrics.definitions import SECONDS
from controlplane.metrics.models import FleetMinute, HourRollup, MinuteRollup, Sample, SixHourRollup
from controlplane.metrics.partitions import partitions_ensure, rows_expire
from controlplane.settings.selectors import settings_get

MARK = "rolled_until"
MINUTE, HOUR, SIX_HOURS, DAY = 60, 3600, 6 * 3600, 86400
LATE_SECONDS = 2 * MINUTE
HOURS_EVERY_SECONDS = 5 * MINUTE  # the present hour is refreshed this often


@transaction.atomic
def rollup(now: float) -> None:
    until = int(now // MINUTE * MINUTE)
    mark, _ = Clock.objects.select_for_update().get_or_create(name=MARK, defaults={"due_at": until - HOUR})
    since = int(min(mark.due_at, until)) - LATE_SECONDS
    since -= since % MINUTE
    partitions_ensure(MinuteRollup, since, until)
    _roll(Sample, MinuteRollup, MINUTE, since, until)
    _roll_fleet(since, until)
    if until // HOURS_EVERY_SECONDS != since // HOURS_EVERY_SECONDS:
        _roll(MinuteRollup, HourRollup, HOUR, since // HOUR * HOUR, until)
    if until // HOUR != since // HOUR:
        _roll(HourRollup, SixHourRollup, SIX_HOURS, since // SIX_HOURS * SIX_HOURS, until)
    Clock.objects.filter(name=MARK).update(due_at=until)


def expire(now: float) -> None:
    row = settings_get()
    rows_expire(Sample, int(now) - row.raw_retention_hours * HOUR)
    rows_expire(MinuteRollup, int(now) - row.minute_retention_days * DAY)
    for model in (HourRollup, SixHourRollup, FleetMinute):
        rows_expire(model, int(now) - row.hour_retention_days * DAY)


def _roll(source: type[models.Model], target: type[models.Model], bucket: int, since: int, until: int) -> None:
    sums = [f"SUM({column})" for column in (SECONDS, *COUNTER_COLUMNS)]
    averages = [f"AVG({column})" for column in GAUGE_COLUMNS]
    _replace(
        target,
        ("instance_id", "at"),
        f"SELECT instance_id, at / {bucket} * {bucket}, {', '.join(sums + averages)}"  # noqa: S608
        f" FROM {source._meta.db_table} WHERE at >= %s AND at < %s GROUP BY 1, 2",
        [since, until],
    )


def _roll_fleet(since: int, until: int) -> None:
    sums = [f"SUM({column})" for column in (*COUNTER_COLUMNS, *GAUGE_COLUMNS)]
    _replace(
        FleetMinute,
        ("at",),
        f"SELECT at, MAX({SECONDS}), {', '.join(sums)} FROM {MinuteRollup._meta.db_table}"  # noqa: S608
        " WHERE at >= %s AND at < %s GROUP BY at",
        [since, until],
    )


def _replace(target: type[models.Model], key: tuple[str, ...], select: str, arguments: list[int]) -> None:
    """Writes the rows that the statement `select` yields into `target`, replacing those with the same key.

    Column names come from the models, never from input.
    """
    columns = (SECONDS, *COUNTER_COLUMNS, *GAUGE_COLUMNS)
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {target._meta.db_table} ({', '.join((*key, *columns))}) {select}"
            f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}",
            arguments,
        )
