"""The control plane itself in Prometheus' text format. From the database, so that any web process may answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache

from django.db.models import Count
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controlplane.core.hooks import hooks
from controlplane.core.models import Clock
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_polled
from controlplane.metrics.models import Latest
from controlplane.metrics.rollups import MARK

SILENT_AFTER_SECONDS = 120


class FleetCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        states = GaugeMetricFamily("fqc_instances", "Instances by state.", labels=["state"])
        for state, count in Instance.objects.values_list("state").annotate(Count("pk")).order_by("state"):
            states.add_metric([state], count)
        yield states
        yield from self._sampling()

    def _sampling(self) -> Iterator[Metric]:
        newest = Latest.objects.order_by("-at").values_list("at", flat=True).first()
        if newest is not None:
            age = max(0.0, time.time() - newest)
            yield GaugeMetricFamily("fqc_newest_sample_age_seconds", "Time since any server answered a poll.", age)
        fresh = Latest.objects.filter(at__gte=time.time() - SILENT_AFTER_SECONDS).values("pk")
        silent = instance_polled().exclude(pk__in=fresh).count()
        yield GaugeMetricFamily("fqc_silent_instances", "Instances without a sample in the last two minutes.", silent)
        rolled = Clock.objects.filter(name=MARK).values_list("due_at", flat=True).first()
        if rolled is not None:
            yield GaugeMetricFamily("fqc_rolled_until_timestamp_seconds", "Up to where rollups are complete.", rolled)

    def describe(self) -> list[Metric]:
        """Nothing is collected while registering: there is no database yet."""
        return []


@cache
def registry() -> CollectorRegistry:
    """With the collectors of all apps."""
    made = CollectorRegistry()
    for collector in hooks("exposition").values():
        made.register(collector())
    return made
