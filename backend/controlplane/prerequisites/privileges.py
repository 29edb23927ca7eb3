"""The privileges that an instance's account lacks, with the statements that grant them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta

from django.utils import timezone

from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance, PrivilegeLook
from controlplane.fleet.states import Provider
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.local_accounts import NEEDS, Grants, Need, Use
from controlplane.gateway.privileges import grant_statements, lacking, missing_to_set
from controlplane.gateway.product import local_product
from controlplane.gateway.server import Server
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding
from controlplane.prerequisites.gate import engine_obstacle
from controlplane.prerequisites.privilege_looks import CACHE_PARAMETERS, look

STALE = timedelta(days=1)  # grants that were made since the last look are unknown here
REMEDY = "Run this statement on the server, then check again."


def privileges_to_set(instance: Instance, names: Iterable[str]) -> list[InstanceFinding]:
    """Asks the server which of these parameters the account may not set.

    Returns a blocking finding for each; none if the server does not answer, since the change then fails anyway.
    """
    try:
        with connected(instance, Use.CHANGE) as server:
            if instance.provider == Provider.LOCAL:
                return _to_set(missing_to_set(server, names), server.account)
            found = look(instance, server, names)
    except GatewayError:
        return []
    return _to_set(_of(found.missing, names), found.account)


def known_privileges_to_set(found: PrivilegeLook | None, names: Collection[str]) -> list[InstanceFinding]:
    """Returns a blocking finding for each of these parameters that the account may not set, as `found`, an earlier look
    at its privileges, tells. Does not ask the server.

    If `found` is None or too old, a finding says that this is unknown.
    """
    if not names:
        return []
    if found is None or found.at is None:
        return [_unknown(names)]
    missing = _of(found.missing, names)
    age = timezone.now() - found.at
    if age > STALE:
        return [_old(missing, names, age)]
    unasked = [name for name in names if name not in found.asked]
    return _to_set(missing, found.account) + ([_unknown(unasked)] if unasked else [])


def _of(missing: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: missing[name] for name in names if name in missing}


def _to_set(missing: Mapping[str, str], account: str) -> list[InstanceFinding]:
    return [
        _missing(Severity.BLOCKING, name, account, [(privilege, "*.*")], f"setting {name}")
        for name, privilege in missing.items()
    ]


def privileges_for_cache(instance: Instance) -> list[InstanceFinding]:
    """Returns a finding for each use of the server, such as monitoring, for which the account lacks privileges, or one
    that says that it has all.

    A local server's accounts are made with all they need, so there is none.
    """
    if instance.provider == Provider.LOCAL:
        return []
    with connected(instance, Use.CHANGE) as server:
        account = server.account
        found = [
            finding
            for need, severity in _uses(instance, server).items()
            for finding in privileges_for(need, severity, instance, server)
        ]
    return found or [_met(account)]


def privileges_for(need: Need, severity: Severity, instance: Instance, server: Server) -> list[InstanceFinding]:
    """Returns one finding of this severity if the account lacks any privilege of this use, else none."""
    needed = NEEDS[local_product(instance.product).name][need]
    grants = _to_change(instance, server) if need is Need.CHANGE else lacking(server, needed)
    return [_missing(severity, "", server.account, grants, need.value)] if grants else []


def _uses(instance: Instance, server: Server) -> dict[Need, Severity]:
    """Returns the uses of this instance's server, and how grave a missing privilege is for each.

    If no engine can be loaded, missing privileges are not what blocks the cache. Replicas are nearly always read-only.
    """
    takes_engine = not engine_obstacle(instance)
    uses = {Need.MONITOR: Severity.ADVICE, Need.CHANGE: Severity.BLOCKING if takes_engine else Severity.ADVICE}
    if instance.minor_version is None and takes_engine:
        uses[Need.INSTALL] = Severity.ADVICE
    if server.variable("read_only") == "1":
        uses[Need.REPLICATION] = Severity.ADVICE
    return uses


def _to_change(instance: Instance, server: Server) -> Grants:
    """Returns the missing grants for setting the cache and the buffer pool, as the server itself reports them."""
    missing = _of(look(instance, server, CACHE_PARAMETERS).missing, CACHE_PARAMETERS)
    return [(privilege, "*.*") for privilege in sorted(set(missing.values()))]


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


def _unknown(names: Iterable[str]) -> InstanceFinding:
    told = ", ".join(names)
    seen = f"whether the account may set {told} has not been checked yet"
    return _not_known("privileges_unknown", seen, {"names": told})


def _old(missing: Mapping[str, str], names: Iterable[str], age: timedelta) -> InstanceFinding:
    lacked = ", ".join(sorted(set(missing.values())))
    days, told = str(age.days), ", ".join(names)
    found = f"it lacked {lacked}" if lacked else "no privilege was missing"
    seen = f"the last check of what the account may set was {days} d ago; {found}"
    return _not_known("privileges_old", seen, {"days": days, "lacked": lacked or "none", "names": told})


def _not_known(code: str, seen: str, facts: dict[str, str]) -> InstanceFinding:
    remedy = "Check the prerequisites of this instance, or apply: it is checked before anything is changed."
    return InstanceFinding(Severity.ADVICE, code, "", seen=seen, needed="", remedy=remedy, facts=facts)
