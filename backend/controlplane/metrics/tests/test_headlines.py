"""The figures of the past hour: near caches count, and every place shows the same."""

from __future__ import annotations

import time

import pytest
from rest_framework.test import APIClient

from controlplane.fleet.models import Instance
from controlplane.metrics.definitions import HEADLINE_SECONDS, HEADLINES
from controlplane.metrics.models import FleetMinute, MinuteRollup, Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.tests.fleet import instance_make

pytestmark = pytest.mark.django_db
MINUTE = 60
# A server's cache and near caches answer more reads than reach the server at all.
BUSY = {
    "hits": 500, "near_hits": 400, "inserts": 60, "not_cached": 40, "questions": 300, "saved_microseconds": 6_000_000,
    "pool_read_requests": 1000, "pool_reads": 100,
}  # fmt: skip
IDLE = {"hits": 0, "near_hits": 0, "inserts": 0, "not_cached": 100, "questions": 100}


def sampled(instance: Instance, *minutes: dict[str, int]) -> None:
    """Stores a sample and a rollup per minute with these columns, oldest first; the last one is from a minute ago."""
    now = int(time.time()) // MINUTE * MINUTE
    for model in (Sample, MinuteRollup):
        partitions_ensure(model, now - HEADLINE_SECONDS, now)
        for position, columns in enumerate(reversed(minutes), start=1):
            model.objects.create(instance_id=instance.pk, at=now - position * MINUTE, seconds=MINUTE, **columns)


def headlines(client: APIClient, path: str) -> dict[str, float | None]:
    answer = client.get(f"/api/v1/{path}").json()
    assert answer["window_seconds"] == HEADLINE_SECONDS
    assert [each["name"] for each in answer["series"]] == list(HEADLINES)
    return {each["name"]: each["whole"] for each in answer["series"]}


def test_hits_of_near_caches_count_and_no_more_reads_are_served_than_statements_were_sent(viewer: APIClient) -> None:
    instance = instance_make()
    sampled(instance, BUSY)
    found = headlines(viewer, f"instances/{instance.pk}/headlines")
    assert found == {
        "select_hit_ratio": 90.0,
        "served_per_second": 15.0,
        "saved_time": 100_000.0,
        "statements_per_second": 20.0,
        "buffer_pool_hit_ratio": 90.0,
    }


def test_they_are_of_the_whole_hour_and_not_of_its_last_moment(viewer: APIClient) -> None:
    instance = instance_make()
    sampled(instance, BUSY, IDLE)
    found = headlines(viewer, f"instances/{instance.pk}/headlines")
    assert found["select_hit_ratio"] == pytest.approx(100 * 900 / 1100)
    assert found["served_per_second"] == 7.5


def test_without_a_sample_nothing_is_told(viewer: APIClient) -> None:
    found = headlines(viewer, f"instances/{instance_make().pk}/headlines")
    assert set(found.values()) == {None}


def test_of_one_instance_alone_the_fleet_has_the_same(viewer: APIClient) -> None:
    instance = instance_make()
    sampled(instance, BUSY)
    now = int(time.time()) // MINUTE * MINUTE
    FleetMinute.objects.create(at=now - MINUTE, seconds=MINUTE, **BUSY)
    assert headlines(viewer, "fleet/headlines") == headlines(viewer, f"instances/{instance.pk}/headlines")


def test_a_list_of_instances_has_the_same(viewer: APIClient) -> None:
    instance = instance_make()
    sampled(instance, BUSY, IDLE)
    [row] = viewer.get("/api/v1/metrics/sparklines", {"instances": instance.pk}).json()["items"]
    found = headlines(viewer, f"instances/{instance.pk}/headlines")
    assert {each["name"]: each["whole"] for each in row["series"]} == {
        name: found[name] for name in ("select_hit_ratio", "served_per_second")
    }
