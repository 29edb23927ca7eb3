"""Parameters that were configured when more was allowed: they are still shown, but no longer sent to the server."""

from __future__ import annotations

from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding


def no_longer_set(instance: Instance) -> list[InstanceFinding]:
    line = instance_line(instance)
    names = instance.parameters.order_by("name").values_list("name", flat=True)
    refused = [found for name in names if (found := line.get(name)) and not found.is_modifiable]
    return [
        InstanceFinding(
            Severity.ADVICE,
            "no_longer_set",
            each.name,
            seen=f"{each.name} is configured, but no longer set. {each.access.reason}",
            needed="only parameters that may be changed",
            remedy=f"Reset {each.name}; if the server needs it, set it there.",
            action=Action(route="changes", body={"parameters": {each.name: None}}),
            facts={"reason": each.access.code},
        )
        for each in refused
    ]
