"""The modes in which near caches can serve for an instance, what each lacks, and whether existing near caches are
useful.

All is checked against the live server, whose report of attached near caches is newer than the stored one of polls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from controlplane.gateway.product import is_managed, local_product
from controlplane.gateway.server import Server
from controlplane.near_caches.building import near_build
from controlplane.near_caches.commands import config_lines, docker_command, service_lines, start_command
from controlplane.near_caches.reading import near_rows
from controlplane.near_caches.selectors import near_modes, near_options, reporting_near_caches
from controlplane.near_caches.ways import (
    BOUNDED,
    EXACT,
    LogSetting,
    RepeatedStatement,
    file_lines,
    has_own_cache_on,
    is_cluster_node,
    is_group_member,
    makes_its_certificate,
    repeated_statements,
    settings_missing,
    statements,
)
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.check import unreachable
from controlplane.prerequisites.findings import Action, InstanceFinding, percent
from controlplane.prerequisites.gate import OF_ENGINE, known_gate_findings
from controlplane.prerequisites.privileges import privileges_for
from controlplane.prerequisites.readings import tables_of
from controlplane.prerequisites.rules import is_read_mostly
from controlplane.prerequisites.status import Report, report

LEAST_READS = 1000  # with fewer reads a hit ratio is not meaningful
LEAST_HIT_RATIO = 0.1
LONG_WAIT_MS = 10.0  # average delay of a writer; a near cache on the same network answers within a millisecond


@dataclass(frozen=True)
class Way:
    """A mode in which a near cache (a cache on an application's host) can serve for this server, with what must be run
    or written on the server and on that host.
    """

    mode: str
    statements: tuple[str, ...]
    file_lines: tuple[str, ...]
    command: str
    config_lines: tuple[str, ...]
    service_lines: tuple[str, ...]
    docker_command: str
    findings: list[InstanceFinding] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        return not any(finding.is_blocking for finding in self.findings)


def near_caches_check(instance: Instance) -> dict[str, Any]:
    found: list[InstanceFinding] = []
    try:
        ways, found = _live(instance)
    except GatewayError as error:
        ways = [_way(instance, mode, {}, [unreachable(error)], file_lines(mode)) for mode in near_modes(instance)]
    return {
        "is_ready": any(way.is_ready for way in ways),
        "checked_at": timezone.now(),
        "findings": [*found, *build_findings(instance)],
        "ways": ways,
    }


def build_findings(instance: Instance) -> list[InstanceFinding]:
    """Returns a finding while `make up` builds `fqc-near`, which it then starts in front of this local server, or if
    the build has failed; none otherwise.
    """
    state = near_build(instance.name) if instance.provider == Provider.LOCAL else None
    if state == "building":
        return [
            InstanceFinding(
                Severity.ADVICE,
                "near_being_built",
                "",
                seen="fqc-near is being built on this machine",
                needed="fqc-near",
                remedy="Wait a few minutes: it is started in front of this server as soon as it is built.",
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
                remedy="Read near-build.log next to the other logs (make status names them), then run make up again.",
            )
        ]
    return []


def _live(instance: Instance) -> tuple[list[Way], list[InstanceFinding]]:
    with connected(instance) as server:
        note_identity(instance, read_identity(server))
        variables = server.variables()
        modes = near_modes(instance, variables)
        listed = report(server, reports.NEAR) if EXACT in modes else Report()
        unlisted = _unlisted(instance, server, listed) if listed.note else []
        repeated, read_mostly = _worth_rules(instance, server, variables)
    findings = {EXACT: _exact(instance, unlisted), BOUNDED: log_findings(instance, variables)}
    ways = [
        _way(
            instance,
            mode,
            variables,
            [*findings.get(mode, []), *certificate_findings(instance, variables)],
            file_lines(mode, repeated, read_mostly),
        )
        for mode in modes
    ]
    found = near_findings(near_rows(listed.rows), reporting_near_caches(instance).count())
    return ways, [*group_findings(variables, modes_elsewhere=near_modes(instance)), *found]


def _worth_rules(
    instance: Instance, server: Server, variables: Mapping[str, str]
) -> tuple[list[RepeatedStatement], list[str]]:
    """Returns the statements that repeat most, by the engine's report, and the tables that are read often and written
    rarely. Without the engine no digest is known that a rule can name, so the tables count.
    """
    if instance.minor_version is not None:
        return repeated_statements(report(server, reports.QUERIES).rows), []
    tables = [each for each in tables_of(server, variables) if is_read_mostly(each)]
    return [], [f"{each.schema}.{each.table}" for each in sorted(tables, key=lambda each: -each.rows_read)]


def _way(
    instance: Instance,
    mode: str,
    variables: Mapping[str, str],
    findings: list[InstanceFinding],
    lines: tuple[str, ...],
) -> Way:
    host, port = instance.host, instance.port
    own = near_options(instance, mode, variables)
    return Way(
        mode,
        statements(mode, local_product(instance.product).name),
        lines,
        start_command(host, port, own),
        config_lines(host, port, own),
        service_lines(own),
        docker_command(host, port, own),
        findings,
    )


def certificate_findings(instance: Instance, variables: Mapping[str, str]) -> list[InstanceFinding]:
    """Returns a finding if the server makes a new certificate at each start: a near cache could not verify it.

    Without TLS to the server, a near cache passes clients that use TLS through unread.
    """
    if not makes_its_certificate(instance.engine_version, variables):
        return []
    return [
        InstanceFinding(
            Severity.ADVICE,
            "near_certificate",
            "ssl_cert",
            seen="the server makes a new certificate at each start, and clients use TLS",
            needed="a certificate that a near cache can verify",
            remedy="Set ssl_cert, ssl_key and ssl_ca in the server's option file and restart it. Or switch TLS off in "
            "the application's clients, and leave out the options server-tls and server-ca.",
        )
    ]


def group_findings(variables: Mapping[str, str], *, modes_elsewhere: Sequence[str]) -> list[InstanceFinding]:
    """Returns a finding if exact mode is not possible only because the server is a member of a replication group."""
    if not is_group_member(variables) or EXACT not in modes_elsewhere:
        return []
    return [
        InstanceFinding(
            Severity.NOTICE,
            "near_exact_of_group",
            "",
            seen="Group Replication is installed, so near caches cannot serve in exact mode",
            needed="a server outside of replication groups, for exact mode",
            remedy="Use one of the modes below.",
        )
    ]


def _exact(instance: Instance, unlisted: list[InstanceFinding]) -> list[InstanceFinding]:
    engine = [each for each in known_gate_findings(instance) if each.code in OF_ENGINE]
    if any(each.is_blocking for each in engine):
        return engine
    return [*engine, *(unlisted or [cache_finding(instance.cache_type, instance.cache_size_bytes)])]


def log_findings(instance: Instance, variables: Mapping[str, str]) -> list[InstanceFinding]:
    """Returns findings about the binary log, which must have every change if a near cache is to follow it, and about
    settings that let reads see an older state than the log.
    """
    if is_cluster_node(variables):
        return [_log_of_cluster()]
    missing = settings_missing(local_product(instance.product).name, variables)
    found = [_log(instance, missing, variables)]
    return [*found, _log_lags()] if has_own_cache_on(variables) else found


def _log(instance: Instance, missing: Sequence[LogSetting], variables: Mapping[str, str]) -> InstanceFinding:
    lines = tuple(dict.fromkeys(line for setting in missing for line in setting.lines))
    told = ", ".join(f"{setting.name(variables)} = {setting.value(variables) or 'OFF'}" for setting in missing)
    file = f"[{local_product(instance.product).section}]"
    remedy = "Add these lines to the server's option file, then restart it."
    if is_managed(instance.edition):
        remedy = "Set these in the service's parameter group, then reboot. Automated backups switch log_bin on."
    return InstanceFinding(
        Severity.BLOCKING if missing else Severity.NOTICE,
        "near_log",
        "",
        seen=told or "the binary log records every change",
        needed="a row-based binary log that records every change",
        remedy=remedy if missing else "",
        action=Action(statements=lines if is_managed(instance.edition) else (file, *lines)) if missing else None,
        facts={"settings": told},
    )


def _log_of_cluster() -> InstanceFinding:
    return InstanceFinding(
        Severity.BLOCKING,
        "near_log_of_cluster",
        "",
        seen="the server is a node of a Galera cluster",
        needed="a server whose own log records every change",
        remedy="Use rules here.",
    )


def _log_lags() -> InstanceFinding:
    return InstanceFinding(
        Severity.BLOCKING,
        "near_log_cache",
        "query_cache_type",
        seen="the server's own cache is on, and may lag behind the log",
        needed="query_cache_type = 0",
        remedy="Switch the server's cache off, or use rules here.",
        action=Action(route="changes", body={"parameters": {"query_cache_type": "0"}}),
    )


def _unlisted(instance: Instance, server: Server, found: Report) -> list[InstanceFinding]:
    """Returns why near caches cannot be listed: a privilege that the account lacks, or else the engine's reason."""
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
        needed="the cache on: a near cache is notified only of results that the server's own cache stores or serves",
        remedy="" if is_on else "Enable the cache of this instance.",
    )


def near_findings(nears: Sequence[dict[str, Any]], reporting: int = 0) -> list[InstanceFinding]:
    """Returns findings about the near caches of a server.

    `nears` has a row for each attached one; `reporting` is the number of those that report to the control plane
    themselves.
    """
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
        needed="fqc-near next to the application",
        remedy="" if is_any else "Start fqc-near on each application host, in one of the ways below.",
        facts={"count": str(attached), "reporting": str(reporting)},
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
        "many hosts share the reads, each of them has to run a read once before it hits.",
        facts={"name": near["name"], "hits": str(near["hits"]), "reads": str(reads), "least": least},
    )


def _wait_ms(near: dict[str, Any]) -> float:
    return float(near["waited_ms"] / near["writers_waited"]) if near["writers_waited"] else 0.0


def _wait(near: dict[str, Any]) -> InstanceFinding:
    return InstanceFinding(
        Severity.ADVICE,
        "near_writers_wait",
        "",
        seen=f"writes waited {_wait_ms(near):.1f} ms for {near['name']} on average",
        needed=f"at most {LONG_WAIT_MS:.0f} ms",
        remedy="Look at the load of its host and at the network between: a write waits until each near cache that may "
        "hold its old rows has been notified.",
        facts={"name": near["name"], "wait": f"{_wait_ms(near):.1f}", "longest": f"{LONG_WAIT_MS:.0f}"},
    )
