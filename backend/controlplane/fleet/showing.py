"""An instance's parameters as a list: what may be, what is configured, what runs."""

from __future__ import annotations

from typing import Any

from controlplane.catalogue.definition import Definition
from controlplane.fleet.connection import connected
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.gateway.errors import GatewayError
from controlplane.parameters.resolution import bounded


def running_values(instance: Instance) -> dict[str, str] | None:
    """None if the server does not answer."""
    try:
        with connected(instance) as server:
            return server.variables()
    except GatewayError:
        return None


def parameter_rows(instance: Instance) -> tuple[bool, list[dict[str, Any]]]:
    line, variables = instance_line(instance), instance.instance_class.variables
    configured = {row.name: row for row in instance.parameters.all()}
    running = running_values(instance)
    rows = [
        _row(bounded(definition, variables), configured.get(name), (running or {}).get(name))
        for name, definition in line.definitions.items()
    ]
    return running is not None, rows


def _row(definition: Definition, configured: InstanceParameter | None, running: str | None) -> dict[str, Any]:
    low, high = definition.allowed.minimum, definition.allowed.maximum
    return {
        "name": definition.name,
        "type": definition.type,
        "unit": definition.unit,
        "description": definition.description,
        "default": definition.default,
        "allowed": definition.allowed.notation if low is None else f"[{low}-{high}]",
        "divisor": definition.divisor,
        "is_modifiable": definition.is_modifiable,
        "access": definition.access.who,
        "access_code": definition.access.code,
        "access_reason": definition.access.reason,
        "needs_restart": definition.needs_restart,
        "configured": configured and configured.submitted,
        "resolved": configured and configured.resolved,
        "running": running,
        "is_pending_restart": bool(configured and configured.is_pending_restart),
        "is_drifted": bool(configured and configured.is_drifted),
        "updated_at": configured and configured.updated_at,
    }
