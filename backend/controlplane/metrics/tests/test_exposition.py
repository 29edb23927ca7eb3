"""The control plane for Prometheus: its own numbers, and the fleet to scrape."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from controlplane.fleet.models import Instance
from controlplane.metrics.models import Latest
from controlplane.metrics.tests.fleet import instance_make
from controlplane.settings.models import Settings
from controlplane.settings.selectors import settings_get

pytestmark = pytest.mark.django_db


def test_numbers_are_in_prometheus_text_form(viewer: APIClient) -> None:
    sampled = instance_make()
    Latest.objects.create(instance=sampled, at=time.time() - 30, readings={}, growth={})
    instance_make(state="unreachable")
    instance_make(state="stopped")
    answer = viewer.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain")
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }
    assert (found[("fqc_instances", "running")], found[("fqc_instances", "stopped")]) == (1.0, 1.0)
    assert found[("fqc_instances", "failed")] == 0.0
    assert found[("fqc_silent_instances",)] == 1.0
    assert 30 <= found[("fqc_newest_sample_age_seconds",)] < 90


def test_who_is_polled_seldom_is_not_silent_in_between(viewer: APIClient) -> None:
    Latest.objects.create(instance=instance_make(), at=time.time() - 200, readings={}, growth={})
    assert "fqc_silent_instances 1.0" in viewer.get("/metrics").content.decode()
    Settings.objects.update_or_create(pk=settings_get().pk, defaults={"poll_interval_seconds": 100})
    answer = viewer.get("/metrics").content.decode()
    assert "fqc_silent_instances 0.0" in answer
    assert "fqc_poll_interval_seconds 100.0" in answer


@pytest.mark.parametrize(
    ("accept", "form", "families"),
    [
        ("text/plain", "text/plain", text_string_to_metric_families),
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text", openmetrics_families),
        ("application/x-anything", "text/plain", text_string_to_metric_families),
    ],
)
def test_a_scraper_is_answered_in_the_form_it_asks_for(
    viewer: APIClient, accept: str, form: str, families: Callable[[str], Iterable[Metric]]
) -> None:
    instance_make()
    answer = viewer.get("/metrics", HTTP_ACCEPT=accept)
    assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (200, form)
    assert "fqc_instances" in {family.name for family in families(answer.content.decode())}


def test_the_fleet_is_discovered(viewer: APIClient) -> None:
    instance = instance_make(name="shop-1", host="10.0.0.7", port=3307, tags={"stage": "live", "team-name": "shop"})
    Instance.objects.filter(pk=instance.pk).update(product="MariaDB", engine_version="10.11.14-MariaDB")
    instance_make(state="stopped")
    [target] = viewer.get("/api/v1/prometheus/targets").json()
    assert target["targets"] == ["10.0.0.7:3307"]
    assert target["labels"] == {
        "__meta_fqc_instance_id": instance.pk,
        "__meta_fqc_instance_name": "shop-1",
        "__meta_fqc_instance_class": "small",
        "__meta_fqc_product": "MariaDB",
        "__meta_fqc_engine_version": "10.11.14-MariaDB",
        "__meta_fqc_minor_version": "",
        "__meta_fqc_state": "running",
        "__meta_fqc_tag_stage": "live",
        "__meta_fqc_tag_team_name": "shop",
    }


def test_an_ipv6_address_is_bracketed(viewer: APIClient) -> None:
    instance_make(host="::1", port=3307)
    assert viewer.get("/api/v1/prometheus/targets").json()[0]["targets"] == ["[::1]:3307"]
