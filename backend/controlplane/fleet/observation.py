"""Stores on the instance what its server reports about itself. Observing moves no version and alters no server.

A server's start time is computed by its own clock, as now less uptime: the result stays the same if another clock
jumps. Only code that reacts to a restart, by setting again what the server forgot, may store a new start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.catalogue.line import Line
from controlplane.catalogue.sameness import is_same
from controlplane.catalogue.selectors import described_engines, is_news
from controlplane.catalogue.server_variables import line_id
from controlplane.catalogue.services import engine_line_store
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.gateway.errors import NotAServer
from controlplane.gateway.numbers import whole
from controlplane.gateway.product import EDITIONS, edition_of, product_of
from controlplane.gateway.server import Server, printable
from controlplane.gateway.variables import variable_rows

STATUS_NAMES = ("Uptime", "Fqc_obstacle", "Fqc_untested_server")
START_SLACK = timedelta(seconds=10)  # clock and uptime are whole seconds and are read one after the other
MOST_MINOR_VERSION = 2**31 - 1
MOST_CLOCK = 2**32  # seconds since 1970; the year 2106
IDENTITY_NAMES = (
    "version", "fqc_version", "fqc_minor_version", "fqc_compatibility", "fqc_type", "fqc_size",
    *sorted({each.variable for each in EDITIONS} - {"version"}),
)  # fmt: skip


@dataclass(frozen=True)
class Identity:
    """The server's product and version, the state of its engine, and when it started."""

    product: str
    edition: str
    engine_version: str
    compatibility: str
    fqc_version: str
    minor_version: int | None
    cache_type: str
    cache_size_bytes: int | None
    engine_obstacle: str
    untested_server: str
    started_at: datetime

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "product": self.product,
            "edition": self.edition,
            "engine_version": self.engine_version,
            "compatibility": self.compatibility,
            "fqc_version": self.fqc_version,
            "minor_version": self.minor_version,
            "cache_type": self.cache_type,
            "cache_size_bytes": self.cache_size_bytes,
            "engine_obstacle": self.engine_obstacle,
            "untested_server": self.untested_server,
        }


def read_identity(server: Server) -> Identity:
    variables = server.name_values("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", [IDENTITY_NAMES])
    clock = server.value("SELECT UNIX_TIMESTAMP()")
    status = server.name_values("SHOW GLOBAL STATUS WHERE Variable_name IN %s", [STATUS_NAMES])
    return identity_of(variables, status, clock_of(str(clock)))


def identity_of(variables: Mapping[str, str], status: Mapping[str, str], clock: int) -> Identity:
    """Returns the identity that a server reports in its global variables and status variables.

    `clock` is its own clock in epoch seconds. Missing names leave empty texts or None.
    """
    version = variables.get("version", "")
    return Identity(
        product=product_of(version).name,
        edition=edition_of(variables),
        engine_version=_storable(version, "engine_version"),
        compatibility=_storable(variables.get("fqc_compatibility", ""), "compatibility"),
        fqc_version=_storable(variables.get("fqc_version", ""), "fqc_version"),
        minor_version=whole(variables.get("fqc_minor_version"), MOST_MINOR_VERSION),
        cache_type=_storable(variables.get("fqc_type", ""), "cache_type"),
        cache_size_bytes=whole(variables.get("fqc_size")),
        engine_obstacle=_storable(status.get("Fqc_obstacle", ""), "engine_obstacle"),
        untested_server=_storable(status.get("Fqc_untested_server", ""), "untested_server"),
        started_at=datetime.fromtimestamp(clock - (whole(status.get("Uptime", "0"), clock) or 0), UTC),
    )


def clock_of(text: str | None) -> int:
    """Parses epoch seconds, as a server's UNIX_TIMESTAMP() returns them. Raises NotAServer if `text` is not a time."""
    found = whole(text, MOST_CLOCK)
    if found is None:
        raise NotAServer("the server did not report its time: the response does not match the query.")
    return found


def _storable(text: str, column: str) -> str:
    """Returns a server's text, cut to the length of this column of Instance and without unprintable characters."""
    return printable(text)[: Instance._meta.get_field(column).max_length]


def has_restarted(instance: Instance, identity: Identity) -> bool:
    """Returns whether the server has restarted since the start that is stored on the instance.

    False if none is stored yet.
    """
    noted = instance.server_started_at
    return noted is not None and abs(identity.started_at - noted) > START_SLACK


def note_identity(instance: Instance, identity: Identity, *, is_new_start: bool = False) -> None:
    """Stores what changed of the server's identity, in the database and in `instance`.

    The server's start is only stored the first time and with `is_new_start`, which must be set by code that reacts to
    the restart.
    """
    facts = identity.facts
    if is_new_start or instance.server_started_at is None:
        facts["server_started_at"] = identity.started_at
    if all(getattr(instance, name) == value for name, value in facts.items()):
        return
    facts["last_seen_at"] = timezone.now()
    if (identity.minor_version is None) != (instance.minor_version is None):
        facts["engine_lost_at"] = facts["last_seen_at"] if identity.minor_version is None else None
    Instance.objects.filter(pk=instance.pk).update(**facts)
    for name, value in facts.items():
        setattr(instance, name, value)


def learn_line(instance: Instance, server: Server, version: str, minor_version: int | None) -> bool:
    """Stores the definitions of all variables of this server's line (its product and release) in the catalogue, if it
    is a trusted server and the line is not known yet, or only with an older engine, whose variables may be fewer.

    Returns whether they were stored.
    """
    line = line_id(version)[0]
    if not instance.describes_line or not is_news(line, minor_version, described_engines([line])):
        return False
    rows = variable_rows(server, product_of(version))
    if rows:
        engine_line_store(server_version=version, rows=rows, minor_version=minor_version, read_from=instance.name)
    return bool(rows)


def moved_parameters(
    instance: Instance, line: Line, running: Mapping[str, str], *, has_restarted: bool = False
) -> list[InstanceParameter]:
    """Compares the instance's configured parameters with `running`, the server's values by variable.

    Returns the rows whose running value or flags (drifted, waiting for a restart) changed; they are updated in memory
    only.
    """
    return moved_of(instance.parameters.all(), line, running, has_restarted=has_restarted)


def moved_of(
    rows: Iterable[InstanceParameter], line: Line, running: Mapping[str, str], *, has_restarted: bool
) -> list[InstanceParameter]:
    return [row for row in rows if _compare(row, line, running, has_restarted=has_restarted)]


def note_running(instance: Instance, line: Line, running: Mapping[str, str], *, has_restarted: bool = False) -> None:
    """Compares the instance's configured parameters with `running`, the server's values by variable, and stores the
    rows whose running value or flags (drifted, waiting for a restart) changed.
    """
    parameters_keep(moved_parameters(instance, line, running, has_restarted=has_restarted))


def parameters_store(configured: list[InstanceParameter]) -> None:
    """Inserts or overwrites all these rows with one statement. Of two writers the last one counts."""
    InstanceParameter.objects.bulk_create(
        configured,
        update_conflicts=True,
        unique_fields=["instance", "name"],
        update_fields=["submitted", "resolved", "running", "is_pending_restart", "is_drifted", "updated_at"],
    )


def parameters_keep(moved: list[InstanceParameter]) -> None:
    InstanceParameter.objects.bulk_update(moved, ["running", "is_drifted", "is_pending_restart"])


def _compare(row: InstanceParameter, line: Line, running: Mapping[str, str], *, has_restarted: bool) -> bool:
    """Updates running value, drift and pending restart of the row in memory, from the server's values.

    Returns whether the row changed.
    """
    before = (row.running, row.is_drifted, row.is_pending_restart)
    definition, value = line.get(row.name), running.get(row.name)
    same = definition is not None and value is not None and is_same(definition, row.resolved, value, running)
    row.running = value
    # A value that waits for a restart is expected to differ. After the restart a difference is drift.
    row.is_pending_restart = row.is_pending_restart and not same and not has_restarted
    row.is_drifted = not same and not row.is_pending_restart
    return before != (row.running, row.is_drifted, row.is_pending_restart)
