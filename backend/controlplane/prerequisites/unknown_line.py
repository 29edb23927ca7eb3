"""Finding about a server whose line no trusted server has described yet: most of its variables cannot be set."""

from __future__ import annotations

from controlplane.fleet.definitions import unknown_line
from controlplane.fleet.models import Instance
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import InstanceFinding


def line_unknown(instance: Instance) -> list[InstanceFinding]:
    line = unknown_line(instance)
    if not line:
        return []
    return [
        InstanceFinding(
            Severity.ADVICE,
            "line_unknown",
            "",
            seen=f"the variables of {line} are not known, so only those of the shipped line can be set",
            needed="a server of this line that an administrator lets describe its variables",
            remedy="Ask an administrator to make this instance a source of definitions, or start a local one like it.",
            facts={"line": line},
        )
    ]
