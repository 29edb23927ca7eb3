"""Reading near caches."""

from __future__ import annotations

from django.db.models import QuerySet

from controlplane.fleet.models import Instance
from controlplane.near_caches.models import NearCache


def near_cache_list(instance: Instance) -> QuerySet[NearCache]:
    return NearCache.objects.filter(instance=instance)
