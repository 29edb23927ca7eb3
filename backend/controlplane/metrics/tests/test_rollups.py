"""Minutes, hours and the fleet: sums that stay right when rolled twice, late, or piece by piece."""

from __future__ import annotations

from typing import Any

import pytest

from controlplane.metrics import rollups
from controlplane.metrics.models import FleetMinute, HourRollup, MinuteRollup, Sample, SixHourRollup
from controlplane.metrics.partitions import partitions_ensure
from controlplane.settings.selectors import settings_get

pytestmark = pytest.mark.django_db
HOUR, DAY = 3600, 86400
T = 1_800_000_000 // DAY * DAY


def sample(instance: str, at: int, **numbers: Any) -> None:
    partitions_ensure(Sample, at, at)
    Sample.objects.create(instance_id=instance, at=at, **{"seconds": 15, **numbers})


def minute(instance: str, at: int) -> dict[str, Any]:
    return MinuteRollup.objects.filter(instance_id=instance, at=at).values("seconds", "hits", "connections").get()


def test_counters_add_up_and_gauges_are_averaged() -> None:
    for second, hits, connections in ((0, 10, 4), (15, 20, 6), (45, 30, None), (60, 1, 1)):
        sample("rm-a", T + second, hits=hits, connections=connections)
    rollups.rollup(T + 61)
    assert minute("rm-a", T) == {"seconds": 45, "hits": 60, "connections": 5.0}
    assert not MinuteRollup.objects.filter(at=T + 60).exists()  # not over yet


def test_rolling_twice_changes_nothing() -> None:
    sample("rm-a", T, hits=10)
    rollups.rollup(T + 61)
    before = list(MinuteRollup.objects.values())
    rollups.rollup(T + 61)
    rollups.rollup(T + 75)
    assert list(MinuteRollup.objects.values()) == before


def test_a_sample_that_came_late_is_counted() -> None:
    sample("rm-a", T, hits=10)
    rollups.rollup(T + 61)
    sample("rm-a", T + 30, hits=5)
    rollups.rollup(T + 121)
    assert minute("rm-a", T)["hits"] == 15


def test_what_was_missed_while_nothing_ran_is_caught_up() -> None:
    sample("rm-a", T, hits=1)
    rollups.rollup(T + 61)
    for n in range(2, 90):
        sample("rm-a", T + n * 60, hits=1)
    rollups.rollup(T + 90 * 60)
    assert MinuteRollup.objects.count() == 89


def test_hours_are_sums_of_their_minutes_and_grow_while_they_run() -> None:
    for n in range(90):
        sample("rm-a", T + n * 60, hits=1, seconds=60)
    rollups.rollup(T + 20 * 60)
    assert HourRollup.objects.get().hits == 20
    rollups.rollup(T + 90 * 60)
    assert list(HourRollup.objects.order_by("at").values_list("at", "hits", "seconds")) == [
        (T, 60, 3600.0),
        (T + HOUR, 30, 1800.0),
    ]


def test_six_hours_are_sums_of_their_hours_and_grow_with_each_that_ends() -> None:
    partitions_ensure(MinuteRollup, T - HOUR, T + 8 * HOUR)
    for hour in range(-1, 8):
        MinuteRollup.objects.create(instance_id="rm-a", at=T + hour * HOUR, seconds=60, hits=1, connections=hour)
    found = []
    for hour in range(8):
        rollups.rollup(T + hour * HOUR + 60)
        rollups.rollup(T + hour * HOUR + 1800)
        found.append(list(SixHourRollup.objects.order_by("at").values_list("at", "hits", "seconds")))
    before, first, second = T - 6 * HOUR, T, T + 6 * HOUR
    assert found[1] == [(before, 1, 60.0), (first, 2, 120.0)]
    assert found[5] == [(before, 1, 60.0), (first, 6, 360.0)]
    assert found[7] == [(before, 1, 60.0), (first, 6, 360.0), (second, 2, 120.0)]
    assert SixHourRollup.objects.get(at=first).connections == 2.5


def test_the_fleet_is_the_sum_of_its_instances() -> None:
    for instance, hits, connections in (("rm-a", 10, 4), ("rm-b", 30, 6), ("rm-c", 0, None)):
        sample(instance, T, hits=hits, connections=connections)
    rollups.rollup(T + 61)
    fleet = FleetMinute.objects.get(at=T)
    assert (fleet.hits, fleet.connections, fleet.seconds) == (40, 10.0, 15.0)


def test_each_table_forgets_after_its_own_time() -> None:
    row = settings_get()
    row.raw_retention_hours, row.minute_retention_days, row.hour_retention_days = 48, 30, 400
    row.save()
    now = T + 500 * DAY
    partitions_ensure(MinuteRollup, now - 40 * DAY, now)
    for days in (1, 5, 39, 399, 401):
        at = now - days * DAY
        sample("rm-a", at)
        if days <= 39:
            MinuteRollup.objects.create(instance_id="rm-a", at=at, seconds=60)
        HourRollup.objects.create(instance_id="rm-a", at=at, seconds=3600)
        SixHourRollup.objects.create(instance_id="rm-a", at=at, seconds=6 * 3600)
        FleetMinute.objects.create(at=at, seconds=60)
    rollups.expire(now)
    kept = {model: sorted((now - at) // DAY for at in model.objects.values_list("at", flat=True))
            for model in (Sample, MinuteRollup, HourRollup, SixHourRollup, FleetMinute)}  # fmt: skip
    long = {model: [1, 5, 39, 399] for model in (HourRollup, SixHourRollup, FleetMinute)}
    assert kept == {Sample: [1], MinuteRollup: [1, 5], **long}
