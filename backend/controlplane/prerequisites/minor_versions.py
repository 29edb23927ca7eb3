"""Minor versions of the engine: the installable one, those of instances, and whether they are recent enough."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Count

from controlplane.fleet.models import Instance
from controlplane.gateway.engine import library_minor_version
from controlplane.prerequisites.gate import LEAST_MINOR_VERSION


def minor_version_list() -> dict[str, Any]:
    installed = Instance.objects.exclude(minor_version=None).values_list("minor_version")
    counts: dict[int, int] = dict(installed.annotate(count=Count("id")).order_by())
    offered = library_minor_version(settings.ENGINE_LIBRARY)
    known = sorted(counts.keys() | ({offered} if offered else set()), reverse=True)
    return {
        "least_acceptable": LEAST_MINOR_VERSION,
        "offered": offered,
        "items": [
            {
                "minor_version": version,
                "is_acceptable": version >= LEAST_MINOR_VERSION,
                "is_offered": version == offered,
                "instance_count": counts.get(version, 0),
            }
            for version in known
        ],
    }
