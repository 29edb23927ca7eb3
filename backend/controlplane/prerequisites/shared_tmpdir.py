"""Finds servers of one host that use the system's folder for temporary files.

When such a server starts, it deletes the temporary tables of the others there, and a server that opens a table that was
just deleted may crash (docs/guides/own-server.md). Local servers have folders of their own.
"""

from __future__ import annotations

from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.product import product_of
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import InstanceFinding
from controlplane.prerequisites.readings import Readings

OF_THE_SYSTEM = ("/tmp", "/var/tmp")  # noqa: S108 - nothing is written there


def tmpdir_shared(instance: Instance, readings: Readings) -> list[InstanceFinding]:
    folder = readings.variables.get("tmpdir", "").rstrip("/")
    product = product_of(readings.variables.get("version", ""))
    if not product.start_empties_tmpdir or folder not in OF_THE_SYSTEM:
        return []
    beside = Instance.objects.filter(host=instance.host, provider=Provider.EXTERNAL, product=product.name)
    other = beside.exclude(pk=instance.pk).order_by("name").first()
    if other is None:
        return []
    return [
        InstanceFinding(
            Severity.ADVICE,
            "tmpdir_shared",
            "tmpdir",
            seen=f"tmpdir is {folder}, the system's folder, and {other.name} is on the same host",
            needed="a folder of its own for each server",
            remedy="Set tmpdir in each one's option file and restart it: a start of one server may crash the others.",
            facts={"folder": folder, "other": other.name},
        )
    ]
