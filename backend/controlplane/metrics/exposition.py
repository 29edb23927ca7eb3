"""Metrics of the control plane itself in Prometheus' text format.

They are read from the database, so that any web process may answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from django.db.models import Count, QuerySet, TextChoices
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controlplane.core.hooks import Hook
from controlplane.core.models import Clock
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_polled
from controlplane.fleet.states import State
from controlplane.metrics.alarms import silence_seconds
from controlplane.metrics.models import Latest
from controlplane.metrics.rollups import MARK
from controlplane.settings.selectors import settings_get

# Higher apps add their own collectors here.
COLLECTORS: Hook[Callable[[], Collector]] = Hook("metrics.exposition.COLLECTORS")


def counted(name: str, told: str, rows: QuerySet[Any], field: str, choices: type[TextChoices]) -> Metric:
    """Returns a Prometheus metric with the number of rows for each value of a field.

    `told` is its help text. Values without rows count 0, since Prometheus cannot see growth of a metric that did not
    exist.
    """
    found = dict(rows.order_by().values_list(field).annotate(Count("pk")))
    family = GaugeMetricFamily(name, told, labels=[field])
    for value in choices.values:
        family.add_metric([value], found.get(value, 0))
    return family


class FleetCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        yield counted("fqc_instances", "Instances by state.", Instance.objects.all(), "state", State)
        yield from self._sampling()

    def _sampling(self) -> Iterator[Metric]:
        newest = Latest.objects.order_by("-at").values_list("at", flat=True).first()
        if newest is not None:
            age = max(0.0, time.time() - newest)
            yield GaugeMetricFamily("fqc_newest_sample_age_seconds", "Time since any server answered a poll.", age)
        interval = settings_get().poll_interval_seconds
        yield GaugeMetricFamily(
            "fqc_poll_interval_seconds", "How often servers are polled, as the settings say.", interval
        )
        fresh = Latest.objects.filter(at__gte=time.time() - silence_seconds()).values("pk")
        silent = instance_polled().exclude(pk__in=fresh).count()
        told = "Instances without a sample for two minutes, or three polls if that is longer."
        yield GaugeMetricFamily("fqc_silent_instances", told, silent)
        rolled = Clock.objects.filter(name=MARK).values_list("due_at", flat=True).first()
        if rolled is not None:
            yield GaugeMetricFamily("fqc_rolled_until_timestamp_seconds", "Up to where rollups are complete.", rolled)

    def describe(self) -> list[Metric]:
        """Returns no metrics while registering, since there is no database yet."""
        return []


@cache
def registry() -> CollectorRegistry:
    """Returns the registry of this process, with the collectors of all apps."""
    made = CollectorRegistry()
    for collector in (FleetCollector, *COLLECTORS.parts.values()):
        made.register(collector())
    return made
