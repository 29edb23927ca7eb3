"""Reading metrics."""

from __future__ import annotations

from django.db.models import F, QuerySet

from controlplane.core.errors import Invalid
from controlplane.fleet.models import Instance
from controlplane.metrics.definitions import METRICS, MetricDefinition
from controlplane.metrics.models import Latest, StorageLook
from controlplane.metrics.series import MOST_SPARKLINES


def metrics_named(names: str) -> list[MetricDefinition]:
    """Returns the metrics of a comma-separated list, in its order and without repeats.

    Raises Invalid if one is unknown or the list is empty.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in METRICS]
    if unknown or not wanted:
        raise Invalid.field(
            "names", f"unknown: {', '.join(unknown)}; the definitions of metrics list them", "unknown_metric"
        )
    return [METRICS[name] for name in wanted]


def instances_named(ids: str) -> list[str]:
    """Returns the ids of a comma-separated list, in its order and without repeats.

    Ids of deleted instances are left out. Raises Invalid if there are none or too many.
    """
    wanted = list(dict.fromkeys(each.strip() for each in ids.split(",") if each.strip()))
    if not 1 <= len(wanted) <= MOST_SPARKLINES:
        raise Invalid.field("instances", f"write 1 to {MOST_SPARKLINES} ids, separated by commas")
    known = set(Instance.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    return [each for each in wanted if each in known]


def latest_list() -> QuerySet[Latest]:
    return Latest.objects.annotate(instance_name=F("instance__name"))


def storage_get(instance: Instance) -> StorageLook:
    """Returns the storage of the instance's server as last read; of one that was never read, without any figure."""
    return StorageLook.objects.filter(pk=instance.pk).first() or StorageLook(instance=instance)
