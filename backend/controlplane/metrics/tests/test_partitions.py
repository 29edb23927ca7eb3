"""How samples are stored: by day on PostgreSQL, and found by time without reading everything."""

from __future__ import annotations

import re

import pytest
from django.db import connection

from controlplane.metrics import partitions as partitioning
from controlplane.metrics.models import MinuteRollup, Sample
from controlplane.metrics.partitions import DAY, SPANS, partitions_ensure, rows_expire

pytestmark = pytest.mark.django_db
T = 1_800_000_000 // (7 * DAY) * (7 * DAY)
on_postgres = pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has partitions")


def partitions(table: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table])
        return sorted(name for (name,) in cursor.fetchall())


@on_postgres
@pytest.mark.parametrize("model", [Sample, MinuteRollup])
def test_partitions_are_made_ahead_once_and_dropped_whole(model: type[Sample]) -> None:
    span, table = SPANS[model], model._meta.db_table
    partitions_ensure(model, T, T)
    partitions_ensure(model, T, T)
    expected = [f"{table}_p{T + span * number}" for number in range(3)]
    assert [name for name in partitions(table) if name in expected] == expected
    for at in (T, T + span):
        model.objects.create(instance_id="rm-a", at=at, seconds=1)
    rows_expire(model, T + span + 1)
    assert list(model.objects.values_list("at", flat=True)) == [T + span]
    assert expected[0] not in partitions(table)


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_reader_that_stays_keeps_no_writer_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioning, "DROP_WAITS_SECONDS", 1)
    table = Sample._meta.db_table
    partitions_ensure(Sample, T - 90 * DAY, T - 90 * DAY)
    oldest = f"{table}_p{T - 90 * DAY}"
    dump = connection.copy()
    with connection.cursor() as writer:
        writer.execute("SET lock_timeout = '60s'")  # otherwise a blocked writer would wait for ever
    with dump.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        partitions_ensure(Sample, T + 90 * DAY, T + 90 * DAY)
        Sample.objects.create(instance_id="rm-a", at=T + 90 * DAY, seconds=1)
        rows_expire(Sample, T - 89 * DAY)
        assert oldest in partitions(table)
    dump.close()
    rows_expire(Sample, T - 89 * DAY)
    assert oldest not in partitions(table)
    with connection.cursor() as writer:
        writer.execute("RESET lock_timeout")


def test_the_last_minute_of_all_instances_is_found_by_an_index() -> None:
    partitions_ensure(Sample, T, T)
    Sample.objects.bulk_create(
        Sample(instance_id=f"rm-{number % 50}", at=T + number // 50 * 15, seconds=15) for number in range(20_000)
    )
    recent = Sample.objects.filter(at__gt=T + 5900)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Sample._meta.db_table}")
    assert re.search(r"metrics_sample(_p\d+)?_at", recent.explain())
    assert recent.count() == 50 * 6
