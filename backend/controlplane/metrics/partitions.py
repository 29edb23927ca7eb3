"""Tables partitioned by time on PostgreSQL; on other databases plain tables with the same columns.

The database refuses a row outside all partitions. So partitions are made in advance, and also before rows of another
time (a clock that jumped, history that is loaded) are written.

A long reader of a table, such as a dump, must not block writers. So a partition is made as a separate table and
attached, which takes no lock that conflicts with readers; a partition that cannot be dropped quickly stays until the
next time.
"""

from __future__ import annotations

from typing import Any

import structlog
from django.db import OperationalError, connection, migrations, models, transaction

from controlplane.metrics.models import MinuteRollup, Sample

DAY = 86400
SPANS: dict[type[models.Model], int] = {Sample: DAY, MinuteRollup: 7 * DAY}
AHEAD = 2  # partitions beyond the newest row
DROP_WAITS_SECONDS = 2  # for readers; writers wait during that time

log = structlog.get_logger(__name__)


class CreatePartitionedModel(migrations.CreateModel):
    """CreateModel with a table that is partitioned by range of `at` if the database supports it."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.name)
        statement, parameters = schema_editor.table_sql(model)
        schema_editor.execute(f"{statement} PARTITION BY RANGE (at)", parameters or None)


def partitions_ensure(model: type[models.Model], first_at: int, last_at: int) -> None:
    """Makes partitions for every row of the model from `first_at` to `last_at`, in epoch seconds, and for some time
    after.

    Must be called before such rows are written. Does nothing on databases without partitions.
    """
    if connection.vendor != "postgresql":
        return
    span, table = SPANS[model], model._meta.db_table
    with connection.cursor() as cursor:
        wanted = range(first_at // span * span, last_at + (AHEAD + 1) * span, span)
        for start in sorted({*wanted} - {start for _, start in _partitions(cursor, table)}):
            # The numbers are computed here: DDL takes no parameters.
            name, values = f'"{table}_p{start}"', f"FROM ({start}) TO ({start + span})"
            cursor.execute(f'CREATE TABLE IF NOT EXISTS {name} (LIKE "{table}" INCLUDING ALL)')
            cursor.execute(f'ALTER TABLE "{table}" ATTACH PARTITION {name} FOR VALUES {values}')


def rows_expire(model: type[models.Model], before_at: int) -> None:
    """Deletes the rows of the model before `before_at`, in epoch seconds.

    Where there are partitions, they are dropped as a whole, so that rows may stay until their partition is old enough.
    """
    if connection.vendor != "postgresql" or model not in SPANS:
        model._default_manager.filter(at__lt=before_at).delete()
        return
    table = model._meta.db_table
    with connection.cursor() as cursor:
        for name, start in _partitions(cursor, table):
            if start + SPANS[model] <= before_at:
                _drop(cursor, name)


def _drop(cursor: Any, name: str) -> None:
    try:
        with transaction.atomic():
            cursor.execute(f"SET LOCAL lock_timeout = '{DROP_WAITS_SECONDS}s'")
            cursor.execute(f'DROP TABLE "{name}"')
    except OperationalError as error:
        log.warning("partition_not_dropped", partition=name, detail=str(error))


def _partitions(cursor: Any, table: str) -> list[tuple[str, int]]:
    cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table])
    names = [name.strip('"') for (name,) in cursor.fetchall()]
    return [(name, int(name.rpartition("_p")[2])) for name in names]
