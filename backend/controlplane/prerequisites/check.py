"""The check of an instance against its live server: the gate, then advice on memory, hit ratio and tables."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import note_identity, read_identity
from controlplane.gateway.errors import GatewayError
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import InstanceFinding
from controlplane.prerequisites.gate import gate_findings, known_gate_findings
from controlplane.prerequisites.privileges import privileges_for_cache
from controlplane.prerequisites.readings import Readings, read
from controlplane.prerequisites.rules import advice_findings
from controlplane.prerequisites.shared_tmpdir import tmpdir_shared
from controlplane.prerequisites.unknown_line import line_unknown
from controlplane.prerequisites.unset import no_longer_set


def instance_check(instance: Instance) -> dict[str, Any]:
    try:
        readings = observe(instance)
        findings = gate_findings(instance) + privileges_for_cache(instance)
        findings += advice_findings(readings) + tmpdir_shared(instance, readings)
        findings += no_longer_set(instance) + line_unknown(instance)
    except GatewayError as error:
        # Advice from the last time the server answered may no longer apply, so only blocking findings are kept.
        findings = [each for each in known_gate_findings(instance) if each.is_blocking] + [unreachable(error)]
    return {
        "is_ready": not any(finding.is_blocking for finding in findings),
        "checked_at": timezone.now(),
        "findings": findings,
    }


def observe(instance: Instance) -> Readings:
    with connected(instance) as server:
        note_identity(instance, read_identity(server))
        return read(server, instance.instance_class.variables["DBInstanceClassMemory"])


def unreachable(error: GatewayError) -> InstanceFinding:
    return InstanceFinding(
        Severity.BLOCKING,
        error.code,
        "",
        seen=error.detail,
        needed="The server must be reachable",
        remedy="Fix the error above, then check again." if error.is_permanent else "Try again.",
    )
