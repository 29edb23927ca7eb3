"""An instance's parameters as a list: allowed, configured and running values."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from controlplane.catalogue.definition import Definition
from controlplane.fleet.connection import connected
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.fleet.observation import note_identity, read_identity
from controlplane.fleet.selectors import instance_get
from controlplane.fleet.states import Provider
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.product import is_managed, product_of
from controlplane.parameters.evaluation import EvaluationContext
from controlplane.parameters.resolution import bounded


def running_values(instance: Instance) -> dict[str, str] | None:
    """Reads the values of all global variables, by name, from the instance's server; None if it does not answer."""
    try:
        with connected(instance) as server:
            return server.variables()
    except GatewayError:
        return None


def obstacle_look_again(instance: Instance) -> None:
    """If the engine last reported an obstacle, a reason why it serves nothing, reads the present state from the server
    and stores it.

    Its self-test, for example, takes a moment after the load.
    """
    if not instance.engine_obstacle:
        return
    with suppress(GatewayError), connected(instance) as server:
        note_identity(instance, read_identity(server))


def kept_by_server(instance: Instance, running: Mapping[str, str]) -> tuple[bool, bool]:
    """Returns two facts: whether the server keeps dynamic variables over a restart once they are set, and whether it
    keeps static ones.

    False for local servers, which use their option file instead, for managed ones, and for a server that does not
    answer.
    """
    switch = product_of(running.get("version", "")).keeping_switch
    is_own = instance.provider == Provider.EXTERNAL and not is_managed(instance.edition)
    if not is_own or running.get(switch) != "ON":
        return False, False
    try:
        with connected(instance) as server:
            return server.may_keep()
    except GatewayError:
        return False, False


def evaluation_context(instance_id: str) -> EvaluationContext:
    """Returns what a value for this instance is checked against, the same as in a preview: definitions, class,
    configured and running values.

    The running values are the stored ones if the server does not answer.
    """
    instance = instance_get(instance_id)
    rows = list(instance.parameters.all())
    known = {row.name: row.running for row in rows if row.running is not None}
    return EvaluationContext(
        line=instance_line(instance),
        variables=instance.instance_class.variables,
        configured={row.name: row.submitted for row in rows},
        running=running_values(instance) or known,
    )


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
