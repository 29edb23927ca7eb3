"""What the server says about itself, noted on the instance. Observing moves no version and alters no server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.catalogue.line import Line
from controlplane.catalogue.sameness import is_same
from controlplane.catalogue.selectors import line_list
from controlplane.catalogue.server_variables import QUERY, line_id
from controlplane.catalogue.services import engine_line_store
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.gateway.server import Server

START_SLACK = timedelta(seconds=5)  # uptime is in whole seconds and clocks drift


@dataclass(frozen=True)
class Identity:
    """What the server is, and since when it runs."""

    engine_version: str
    compatibility: str
    minor_version: int | None
    started_at: datetime


def read_identity(server: Server) -> Identity:
    names = ("version", "fqc_minor_version", "fqc_compatibility")
    rows = server.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN (%s, %s, %s)", names)
    return identity_of(dict(rows), int(server.status("Uptime").get("Uptime", "0")))


def identity_of(variables: Mapping[str, str], uptime_seconds: int) -> Identity:
    minor_version = variables.get("fqc_minor_version", "")
    return Identity(
        engine_version=variables.get("version", "")[:100],
        compatibility=variables.get("fqc_compatibility", ""),
        minor_version=int(minor_version) if minor_version.isdigit() else None,
        started_at=datetime.now(UTC) - timedelta(seconds=uptime_seconds),
    )


def note_identity(instance: Instance, identity: Identity) -> bool:
    """Keep what was read, if it is new; True if the server has been restarted since it was last seen."""
    before = instance.server_started_at
    has_restarted = before is not None and identity.started_at - before > START_SLACK
    facts: dict[str, Any] = {
        "engine_version": identity.engine_version,
        "compatibility": identity.compatibility,
        "minor_version": identity.minor_version,
    }
    if before is None or has_restarted:
        facts["server_started_at"] = identity.started_at
    if any(getattr(instance, name) != value for name, value in facts.items()):
        facts["last_seen_at"] = timezone.now()
        Instance.objects.filter(pk=instance.pk).update(**facts)
        for name, value in facts.items():
            setattr(instance, name, value)
    return has_restarted


def learn_line(server: Server, version: str) -> None:
    """The first server of a line teaches the catalogue all of its variables."""
    known = {line.id for line in line_list()}
    if "mariadb" in version.lower() and line_id(version)[0] not in known:
        engine_line_store(server_version=version, rows=server.rows(QUERY))


def note_running(instance: Instance, running: Mapping[str, str], *, has_restarted: bool = False) -> list[str]:
    """Keep the running values of what is configured, where they moved; the names of what drifted."""
    rows = list(instance.parameters.all())
    if not rows:
        return []
    line = instance_line(instance)
    moved = [row for row in rows if _compare(row, line, running, has_restarted=has_restarted)]
    InstanceParameter.objects.bulk_update(moved, ["running", "is_drifted", "is_pending_restart"])
    return [row.name for row in rows if row.is_drifted]


def _compare(row: InstanceParameter, line: Line, running: Mapping[str, str], *, has_restarted: bool) -> bool:
    """Whether the row moved."""
    before = (row.running, row.is_drifted, row.is_pending_restart)
    definition, value = line.get(row.name), running.get(row.name)
    same = definition is not None and value is not None and is_same(definition, row.resolved, value, running)
    row.running = value
    # What waits for a restart differs as it should; after one, it drifted like anything else.
    row.is_pending_restart = row.is_pending_restart and not same and not has_restarted
    row.is_drifted = not same and not row.is_pending_restart
    return before != (row.running, row.is_drifted, row.is_pending_restart)
