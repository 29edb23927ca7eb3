"""The status and the advice of a cache that is on have the same figures of the past hour."""

from __future__ import annotations

import time
from typing import Any

import pytest
from rest_framework.test import APIClient

from controlplane.metrics.models import Sample
from controlplane.metrics.partitions import partitions_ensure
from testing.changes import changed

pytestmark = pytest.mark.django_db
MINUTES = 20


@pytest.fixture
def busy(instance: Any) -> Any:
    """Returns an instance with the cache on and samples of twenty minutes, in which the cache and near caches each
    answered a part of the reads.
    """
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    now = int(time.time()) // 60 * 60
    partitions_ensure(Sample, now - 3600, now)
    for position in range(1, MINUTES + 1):
        Sample.objects.create(
            instance_id=instance.pk, at=now - position * 60, seconds=60, hits=30, near_hits=20, inserts=20,
            not_cached=30, questions=70, saved_microseconds=3_000_000,
        )  # fmt: skip
    return instance


def test_every_place_has_the_same_figures(viewer: APIClient, busy: Any) -> None:
    path = f"/api/v1/instances/{busy.pk}"
    headlines = {each["name"]: each["whole"] for each in viewer.get(f"{path}/headlines").json()["series"]}
    assert headlines["select_hit_ratio"] == 50.0
    status = viewer.get(f"{path}/cache/status").json()
    assert {each["name"]: each["value"] for each in status["headlines"]} == headlines
    told = viewer.get(f"{path}/cache/advice").json()["recommendation"]
    assert told["hit_ratio"] * 100 == headlines["select_hit_ratio"]
    assert told["saved_cores"] * 1e6 == pytest.approx(headlines["saved_time"])
    assert (told["verdict"], told["requests"], told["seconds"]) == ("keep", 100 * MINUTES, 60 * MINUTES)
    assert "in the past hour 50 % of reads came from caches" in told["text"]


def test_few_reads_are_no_reason_to_judge_a_cache(viewer: APIClient, instance: Any) -> None:
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    told = viewer.get(f"/api/v1/instances/{instance.pk}/cache/advice").json()["recommendation"]
    assert (told["verdict"], told["size_bytes"], told["is_enough"]) == ("too_early", None, False)


def test_one_size_is_suggested_and_it_is_what_enabling_without_a_rule_takes(
    viewer: APIClient, operator: APIClient, instance: Any
) -> None:
    path = f"/api/v1/instances/{instance.pk}/cache"
    [suggested] = [size for size in viewer.get(f"{path}/advice").json()["sizes"] if size["is_suggested"]]
    assert suggested["rule"] == "buffer_pool"
    lines = operator.post(f"{path}/preview", {}).json()["lines"]
    assert [line["new_value"] for line in lines if line["name"] == "query_cache_size"] == [str(suggested["size_bytes"])]
