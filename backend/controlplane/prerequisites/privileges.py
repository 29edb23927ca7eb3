"""What the account of an instance may not do there, with the statements that grant it."""

from __future__ import annotations

from collections.abc import Iterable

from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.local_accounts import NEEDS, Grants, Need, Use
from controlplane.gateway.privileges import grant_statements, lacking, missing_to_set
from controlplane.gateway.product import local_product
from controlplane.gateway.server import Server
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding
from controlplane.prerequisites.gate import engine_obstacle

CACHE_PARAMETERS = ("query_cache_type", "query_cache_size", "innodb_buffer_pool_size")
REMEDY = "Run this statement on the server, then check again."


def privileges_to_set(instance: Instance, names: Iterable[str]) -> list[InstanceFinding]:
    """One blocking finding for each parameter that may not be set. Who cannot be asked now fails at the change."""
    try:
        with connected(instance, Use.CHANGE) as server:
            missing, account = missing_to_set(server, names), server.account
    except GatewayError:
        return []
    return [
        _missing(Severity.BLOCKING, name, account, [(privilege, "*.*")], f"setting {name}")
        for name, privilege in missing.items()
    ]


def privileges_for_cache(instance: Instance) -> list[InstanceFinding]:
    """For each use of the account, what it lacks. A local server's accounts are made with what they need."""
    if instance.provider == Provider.LOCAL:
        return []
    with connected(instance, Use.CHANGE) as server:
        account = server.account
        found = [
            finding
            for need, severity in _uses(instance).items()
            for finding in privileges_for(need, severity, instance, server)
        ]
    return found or [_met(account)]


def privileges_for(need: Need, severity: Severity, instance: Instance, server: Server) -> list[InstanceFinding]:
    """One finding if the account lacks any of what this takes."""
    needed = NEEDS[local_product(instance.product).name][need]
    grants = _to_change(server) if need is Need.CHANGE else lacking(server, needed)
    return [_missing(severity, "", server.account, grants, need.value)] if grants else []


def _uses(instance: Instance) -> dict[Need, Severity]:
    uses = {Need.MONITOR: Severity.ADVICE, Need.CHANGE: Severity.BLOCKING}
    if instance.minor_version is None and not engine_obstacle(instance):
        uses[Need.INSTALL] = Severity.ADVICE
    return uses


def _to_change(server: Server) -> Grants:
    """The server itself knows best what its cache and its buffer pool take."""
    return [(privilege, "*.*") for privilege in sorted(set(missing_to_set(server, CACHE_PARAMETERS).values()))]


def _missing(severity: Severity, name: str, account: str, grants: Grants, use: str) -> InstanceFinding:
    rights = ", ".join(f"{right} on {place}" for right, place in grants)
    return InstanceFinding(
        severity,
        "privilege_missing",
        name,
        seen=f"the account {account} lacks a privilege",
        needed=f"{rights}, for {use}",
        remedy=REMEDY,
        action=Action(statements=grant_statements(grants, account)),
        facts={"account": account, "rights": rights, "use": "setting" if name else use},
    )


def _met(account: str) -> InstanceFinding:
    return InstanceFinding(
        Severity.NOTICE,
        "privileges",
        "",
        seen=f"the account {account} has the privileges for monitoring and for changing parameters",
        needed="",
        remedy="",
        facts={"account": account},
    )
