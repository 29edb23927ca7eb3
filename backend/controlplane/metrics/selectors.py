"""Reading metrics."""

from __future__ import annotations

from django.db.models import F, QuerySet

from controlplane.core.errors import Invalid
from controlplane.metrics.definitions import METRICS, MetricDefinition
from controlplane.metrics.models import Latest


def metrics_named(names: str) -> list[MetricDefinition]:
    """A comma-separated list, in its order and without repeats."""
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in METRICS]
    if unknown or not wanted:
        raise Invalid.field(
            "names", f"unknown: {', '.join(unknown)}; see GET /api/v1/metric-definitions", "unknown_metric"
        )
    return [METRICS[name] for name in wanted]


def latest_list() -> QuerySet[Latest]:
    return Latest.objects.annotate(instance_name=F("instance__name"))
