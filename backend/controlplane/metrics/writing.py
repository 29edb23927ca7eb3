"""Writes the results of a round in bulk: the sample, and the newest reading with the figures computed from it.

Rows are tuples and bypass the ORM, whose preparation of thirty columns cost more than querying the server. On
PostgreSQL they are copied into a temporary table and from there inserted; elsewhere each statement is prepared once for
all rows. A slot with a sample keeps it, unless the clock has been set back since, which the server's uptime shows. The
newest reading is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from controlplane.metrics.columns import COUNTER_COLUMNS, GAUGE_COLUMNS
from controlplane.metrics.definitions import METRICS, SECONDS
from controlplane.metrics.intervals import Numbers, Reading
from controlplane.metrics.models import Latest, Sample

STAGING = "metrics_round"
SAMPLE_TYPES = {
    "instance_id": "text", "at": "bigint", SECONDS: "float8",
    **dict.fromkeys(COUNTER_COLUMNS, "bigint"), **dict.fromkeys(GAUGE_COLUMNS, "float8"),
}  # fmt: skip
LATEST_TYPES = {
    "instance_id": "text", "at": "float8", "readings": "jsonb", "growth": "jsonb", "hit_ratio": "float8",
    "lookups_per_second": "float8",
}  # fmt: skip
# In the staging table sample and reading have a time each.
STAGED_LATEST = {("latest_at" if name == "at" else name): kind for name, kind in LATEST_TYPES.items()}
SAME_TIME_SECONDS = 60  # two rounds for the same slot are no further apart


def _replaced(columns: Collection[str], key: Collection[str]) -> str:
    return ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)


@dataclass(frozen=True)
class Found:
    reading: Reading
    growth: Numbers


def round_write(at: int, found: Mapping[str, Found]) -> None:
    """Writes the sample of the round at `at` (epoch seconds) and the newest reading of each instance, by id.

    Must be called in a transaction.
    """
    if connection.vendor == "postgresql":
        _copy(at, found)
    else:
        _insert(at, found)


def _sample(instance_id: str, at: int, grown: Numbers) -> tuple[Any, ...]:
    return (instance_id, at, *(grown[name] for name in (SECONDS, *COUNTER_COLUMNS, *GAUGE_COLUMNS)))


def _latest(found: Found) -> tuple[Any, ...]:
    """Returns a row of `Latest`, all columns but the instance."""
    values = (METRICS[name].value(found.growth) for name in ("hit_ratio", "lookups_per_second"))
    return (found.reading.at, json.dumps(found.reading.numbers), json.dumps(found.growth), *values)


def _copy(at: int, found: Mapping[str, Found]) -> None:
    columns = {**SAMPLE_TYPES, **{name: kind for name, kind in STAGED_LATEST.items() if name != "instance_id"}}
    shape = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    samples, latest = _statements(*(_staged(columns) for columns in (SAMPLE_TYPES, STAGED_LATEST)))
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMP TABLE IF NOT EXISTS {STAGING} ({shape})")
        cursor.execute(f"TRUNCATE {STAGING}")
        with cursor.copy(f"COPY {STAGING} FROM STDIN") as copy:
            for instance_id, each in found.items():
                copy.write_row((*_sample(instance_id, at, each.growth), *_latest(each)))
        cursor.execute(samples)
        cursor.execute(latest)


def _insert(at: int, found: Mapping[str, Found]) -> None:
    samples, latest = _statements(*(_given(columns) for columns in (SAMPLE_TYPES, LATEST_TYPES)))
    with connection.cursor() as cursor:
        cursor.executemany(samples, [_sample(instance_id, at, each.growth) for instance_id, each in found.items()])
        cursor.executemany(latest, [(instance_id, *_latest(each)) for instance_id, each in found.items()])


def _staged(columns: Collection[str]) -> str:
    return f"SELECT {', '.join(columns)} FROM {STAGING}"  # noqa: S608 - names are those of the models


def _given(columns: Collection[str]) -> str:
    return f"VALUES ({', '.join(['%s'] * len(columns))})"


def _statements(samples: str, latest: str) -> tuple[str, str]:
    """Returns two SQL statements that insert samples and newest readings from these sources, each a SELECT or VALUES
    clause.

    Names are those of the models, never input.
    """
    return (
        f"INSERT INTO {Sample._meta.db_table} ({', '.join(SAMPLE_TYPES)}) {samples}"
        f" ON CONFLICT (instance_id, at) DO UPDATE SET {_replaced(SAMPLE_TYPES, ('instance_id', 'at'))}"
        f" WHERE abs(excluded.uptime_seconds - {Sample._meta.db_table}.uptime_seconds) > {SAME_TIME_SECONDS}",
        f"INSERT INTO {Latest._meta.db_table} ({', '.join(LATEST_TYPES)}) {latest}"
        f" ON CONFLICT (instance_id) DO UPDATE SET {_replaced(LATEST_TYPES, ('instance_id',))}",
    )
