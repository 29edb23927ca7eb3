"""Times of charts and lists over HTTP, without a network: 30 days of rollups, every instance of the fleet.

Rows are inserted in the order of time, as in production, so the rows of one instance are spread over all pages.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from rest_framework.test import APIClient

from bench.client import client_as
from bench.spread import timed
from controlplane.fleet.models import Instance
from controlplane.metrics.columns import COUNTER_COLUMNS, GAUGE_COLUMNS
from controlplane.metrics.models import FleetMinute, HourRollup, MinuteRollup, SixHourRollup
from controlplane.metrics.partitions import partitions_ensure

HOUR, DAY = 3600, 86400
REPEATS = 30
NAMES = "hit_ratio,lookups_per_second,memory_used_ratio"
# The longest span that is read from each table, and a month.
SPANS = {"the last hour": 1 / 24, "2 hours": 1 / 12, "5 days": 5, "30 days": 30}
SPARKLINES, SPARKS = "/api/v1/metrics/sparklines", {"names": "hit_ratio,questions_per_second"}


def fill(now: int, minute_instances: int) -> dict[str, int]:
    """Fills the rollups: for all instances 30 days of hours and six hours, and two hours of minutes; for some instances
    and the fleet 30 days of minutes.
    """
    every = "SELECT id FROM fleet_instance"
    some = f"{every} ORDER BY id LIMIT {int(minute_instances)}"
    partitions_ensure(MinuteRollup, now - 30 * DAY, now)
    _generate(MinuteRollup._meta.db_table, every, now - 2 * HOUR, now, 60)
    _generate(HourRollup._meta.db_table, every, now - 30 * DAY, now, HOUR)
    _generate(SixHourRollup._meta.db_table, every, now - 30 * DAY, now, 6 * HOUR)
    _generate(MinuteRollup._meta.db_table, some, now - 30 * DAY, now, 60)
    _generate(FleetMinute._meta.db_table, None, now - 30 * DAY, now, 60)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    tables = {"minute": MinuteRollup, "hour": HourRollup, "six_hour": SixHourRollup}
    return {f"{name}_rows": model._default_manager.count() for name, model in tables.items()}


def _generate(table: str, instances: str | None, first: int, last: int, step: int) -> None:
    """Inserts rows of random numbers, one each `step` seconds from `first` to before `last` (epoch seconds), for each
    instance that the query `instances` returns, or for the whole fleet if it is None.

    The arguments are constants of this module, never input.
    """
    columns = (*COUNTER_COLUMNS, *GAUGE_COLUMNS)
    key, own = ("instance_id, ", "id, ") if instances else ("", "")
    series = f"generate_series({first - first % step}, {last - 1}, {step}) AS at"
    ordered = f"(SELECT id, at FROM ({instances}) AS i, {series} ORDER BY at OFFSET 0) AS s"  # noqa: S608
    source = ordered if instances else series
    numbers = ", ".join(f"(random() * 1000000)::bigint + {position}" for position, _ in enumerate(columns))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({key}at, seconds, {', '.join(columns)})"  # noqa: S608
            f" SELECT {own}at, {step}, {numbers} FROM {source} ON CONFLICT DO NOTHING"
        )


def _milliseconds(client: APIClient, path: str, query: dict[str, Any]) -> dict[str, float]:
    def ask() -> None:
        response = client.get(path, query)
        assert response.status_code == 200, response.content  # noqa: S101 - else nothing is measured

    return timed(ask, REPEATS)


def measure(minute_instances: int) -> dict[str, Any]:
    now = int(time.time())
    rows, client = fill(now, minute_instances), client_as("viewer")
    ids = list(Instance.objects.order_by("id").values_list("id", flat=True)[:200])
    instance, page = ids[0], {"instances": ",".join(ids)}

    def chart(days: float, points: int) -> dict[str, Any]:
        since = datetime.fromtimestamp(now - days * DAY, UTC).isoformat()
        return {"names": NAMES, "from": since, "to": datetime.fromtimestamp(now, UTC).isoformat(), "points": points}

    one, fleet = f"/api/v1/instances/{instance}/metrics", "/api/v1/metrics/fleet"
    return {
        **rows,
        "chart of an instance, 30 days, 1000 points": _milliseconds(client, one, chart(30, 1000)),
        "chart of an instance, 4 days by the minute, 1000 points": _milliseconds(client, one, chart(4, 1000)),
        "chart of the fleet, 30 days, 1000 points": _milliseconds(client, fleet, chart(30, 1000)),
        **{
            f"sparklines of a page of 200, {text}": _milliseconds(
                client, SPARKLINES, {**chart(days, 30), **SPARKS, **page}
            )
            for text, days in SPANS.items()
        },
        "newest values, a page of 200": _milliseconds(client, "/api/v1/metrics/latest", {"limit": 200}),
        "instances, a page of 200": _milliseconds(client, "/api/v1/instances", {"limit": 200}),
    }
