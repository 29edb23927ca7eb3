"""Reading near caches."""

from __future__ import annotations

from django.db.models import QuerySet

from controlplane.fleet.models import Instance
from controlplane.near_caches.models import NearCache, Source


def near_cache_list(instance: Instance) -> QuerySet[NearCache]:
    return NearCache.objects.filter(instance=instance)


def reporting_near_caches(instance: Instance) -> QuerySet[NearCache]:
    """Those that go on reporting."""
    return NearCache.objects.filter(instance=instance, source=Source.REPORTING, is_attached=True)
