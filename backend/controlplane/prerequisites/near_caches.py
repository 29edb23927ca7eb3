"""What near caches of an instance take, whether they have it, and whether they pay; with the remedies.

Checked against the live server. What it says of attached near caches is newer than what polls have noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from controlplane.catalogue.normal import is_off
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import note_identity, read_identity
from controlplane.fleet.states import Provider
from controlplane.gateway import reports
from controlplane.gateway.errors import GatewayError, PrivilegeMissing
from controlplane.gateway.local_accounts import Need
from controlplane.gateway.server import Server
from controlplane.near_caches.building import near_build
from controlplane.near_caches.commands import start_command
from controlplane.near_caches.reading import near_rows
from controlplane.near_caches.selectors import reporting_near_caches
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.check import unreachable
from controlplane.prerequisites.findings import InstanceFinding, percent
from controlplane.prerequisites.gate import OF_ENGINE, known_gate_findings
from controlplane.prerequisites.privileges import privileges_for
from controlplane.prerequisites.status import Report, report

FEED_USER = "fqc_near"
FEED_PRIVILEGE = "REPLICATION MASTER ADMIN"
FEED_LOGIN = f"--feed-user {FEED_USER} --feed-password-file /etc/fqc-near/password"
LEAST_READS = 1000  # before that a hit ratio says nothing
LEAST_HIT_RATIO = 0.1
LONG_WAIT_MS = 10.0  # of a writer, on average; a near cache on the same network answers within a millisecond


def near_caches_check(instance: Instance) -> dict[str, Any]:
    try:
        findings = _live_findings(instance)
    except GatewayError as error:
        findings = [unreachable(error)]
    findings = [*findings, *build_findings(instance)]
    return {
        "is_ready": not any(finding.is_blocking for finding in findings),
        "checked_at": timezone.now(),
        "findings": findings,
        "statements": feed_statements(),
        "command": start_command(instance.host, instance.port, FEED_LOGIN),
    }


def build_findings(instance: Instance) -> list[InstanceFinding]:
    """`make up` builds `fqc-near` and starts it before a local server. This finding says whether it is still built."""
    state = near_build(instance.name) if instance.provider == Provider.LOCAL else None
    if state == "building":
        return [
            InstanceFinding(
                Severity.ADVICE,
                "near_being_built",
                "",
                seen="fqc-near is being built on this machine",
                needed="fqc-near",
                remedy="Wait some minutes: it is started before this server as soon as it is built.",
            )
        ]
    if state == "failed":
        return [
            InstanceFinding(
                Severity.ADVICE,
                "near_build_failed",
                "",
                seen="fqc-near could not be built on this machine",
                needed="fqc-near",
                remedy="Read near-build.log beside the other logs (make status names them), then run make up again.",
            )
        ]
    return []


def feed_statements() -> tuple[str, ...]:
    account = f"'{FEED_USER}'@'%'"
    return (
        f"CREATE USER {account} IDENTIFIED BY 'choose a password';",
        f"GRANT {FEED_PRIVILEGE} ON *.* TO {account};",
    )


def _live_findings(instance: Instance) -> list[InstanceFinding]:
    with connected(instance) as server:
        note_identity(instance, read_identity(server))
        found = report(server, reports.NEAR)
        in_the_way = _unlisted(instance, server, found) if found.note else []
    engine = [each for each in known_gate_findings(instance) if each.code in OF_ENGINE]
    if any(each.is_blocking for each in engine):
        return engine
    if in_the_way:
        return [*engine, *in_the_way]
    return [
        *engine,
        cache_finding(instance.cache_type, instance.cache_size_bytes),
        *near_findings(near_rows(found.rows), reporting_near_caches(instance).count()),
    ]


def _unlisted(instance: Instance, server: Server, found: Report) -> list[InstanceFinding]:
    """Why near caches cannot be listed: what the account lacks, or else what the engine does."""
    is_refused = found.reason == PrivilegeMissing.code
    missing = privileges_for(Need.MONITOR, Severity.BLOCKING, instance, server) if is_refused else []
    return missing or [_no_report(found.note)]


def _no_report(note: str) -> InstanceFinding:
    return InstanceFinding(
        Severity.BLOCKING,
        "near_report",
        "",
        seen="near caches cannot be listed",
        needed=f"SHOW FQC {reports.NEAR}",
        remedy=note,
        facts={"report": f"SHOW FQC {reports.NEAR}"},
    )


def cache_finding(cache_type: str, size_bytes: int | None) -> InstanceFinding:
    is_on = not is_off(cache_type) and bool(size_bytes)
    return InstanceFinding(
        Severity.NOTICE if is_on else Severity.BLOCKING,
        "near_server_cache",
        "",
        seen="the cache of the server is " + ("on" if is_on else "off"),
        needed="the cache on: a near cache is told of what the server's own cache stores or serves",
        remedy="" if is_on else "Enable the cache of this instance.",
    )


def near_findings(nears: Sequence[dict[str, Any]], reporting: int = 0) -> list[InstanceFinding]:
    """Of those that are attached, and how many report here themselves."""
    found = [_present(len(nears), reporting)]
    found += [_hits(near) for near in nears if _rarely_hits(near)]
    return found + [_wait(near) for near in nears if _wait_ms(near) > LONG_WAIT_MS]


def _present(attached: int, reporting: int) -> InstanceFinding:
    is_any = attached + reporting > 0
    return InstanceFinding(
        Severity.NOTICE if is_any else Severity.ADVICE,
        "near_attached",
        "",
        seen=f"near caches attached: {attached}, reporting: {reporting}",
        needed=f"an account with {FEED_PRIVILEGE}, and fqc-near started with it beside the application",
        remedy="" if is_any else "Create the account on the server, then start fqc-near on each application host.",
        facts={"count": str(attached), "reporting": str(reporting), "privilege": FEED_PRIVILEGE},
    )


def _rarely_hits(near: dict[str, Any]) -> bool:
    reads = near["hits"] + near["misses"]
    return bool(reads >= LEAST_READS and near["hits"] < reads * LEAST_HIT_RATIO)


def _hits(near: dict[str, Any]) -> InstanceFinding:
    reads, least = near["hits"] + near["misses"], percent(LEAST_HIT_RATIO)
    return InstanceFinding(
        Severity.ADVICE,
        "near_rarely_hits",
        "",
        seen=f"{near['name']} answered {near['hits']} of {reads} reads",
        needed=f"at least {least}",
        remedy="Look at why statements are not cached on the server: those are not cached by a near cache, either. If "
        "many hosts share the reads, each of them has to see a read twice.",
        facts={"name": near["name"], "hits": str(near["hits"]), "reads": str(reads), "least": least},
    )


def _wait_ms(near: dict[str, Any]) -> float:
    return float(near["waited_ms"] / near["writers_waited"]) if near["writers_waited"] else 0.0


def _wait(near: dict[str, Any]) -> InstanceFinding:
    return InstanceFinding(
        Severity.ADVICE,
        "near_writers_wait",
        "",
        seen=f"writers waited {_wait_ms(near):.1f} ms for {near['name']} on average",
        needed=f"at most {LONG_WAIT_MS:.0f} ms",
        remedy="Look at the load of its host and at the network between: a write waits until each near cache that may "
        "hold its old rows has heard of it.",
        facts={"name": near["name"], "wait": f"{_wait_ms(near):.1f}", "longest": f"{LONG_WAIT_MS:.0f}"},
    )
