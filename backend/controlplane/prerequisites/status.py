"""The present cache of a server: settings, counters, and the engine's own reports."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from controlplane.catalogue.normal import is_off
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import note_identity, read_identity
from controlplane.gateway import reports
from controlplane.gateway.errors import PrivilegeMissing, RefusedStatement
from controlplane.gateway.numbers import decimal, whole
from controlplane.gateway.privileges import grant_statements
from controlplane.gateway.server import Server
from controlplane.metrics.headlines import instance_headlines
from controlplane.prerequisites.digests import digests_of, estimate
from controlplane.prerequisites.readings import NOT_TABLES, SYSTEM_SCHEMAS
from controlplane.statements.selectors import statements_since

NO_REPORT = "The engine on this server does not offer this report: upgrade it."
NO_ENGINE = "This server does not run the engine, which makes this report."
OWN_CONNECTIONS = """
SELECT COUNT(*) FROM information_schema.PROCESSLIST p JOIN information_schema.PROCESSLIST own
ON own.ID = CONNECTION_ID() AND p.USER = own.USER
AND SUBSTRING_INDEX(p.HOST, ':', 1) = SUBSTRING_INDEX(own.HOST, ':', 1)
"""
SETTINGS = ("query_cache_type", "query_cache_size", "query_cache_limit")


def cache_status(instance: Instance) -> dict[str, Any]:
    with connected(instance) as server:
        note_identity(instance, read_identity(server))
        counters = server.status("Qcache%") | server.status("Fqc%")
        kind, size, limit = (server.variable(name) for name in SETTINGS)
        reasons = report(server, reports.REASONS).rows
        connections = served_connections(server, counters)
        version, rules = server.variable("fqc_version"), server.variable("fqc_rules")
    has_engine = instance.minor_version is not None
    return {
        "has_engine": has_engine,
        "is_enabled": has_engine and not is_off(kind) and size not in (None, "0"),
        "engine_obstacle": instance.engine_obstacle,
        "version": version,
        "minor_version": instance.minor_version,
        "type": kind,
        "size_bytes": whole(size),
        "limit_bytes": whole(limit),
        "headlines": _headlines(instance),
        "counters": counters,
        "connections": connections,
        "reasons": reasons,
        "rules": rules,
    }


def served_connections(server: Server, counters: dict[str, str]) -> dict[str, int] | None:
    """Returns how many connections there are without those of the control plane, and how many of them the cache serves.

    None if the engine does not count them.
    """
    served = whole(counters.get("Fqc_connections_served"))
    if served is None:
        return None
    every = whole(server.status("Threads_connected").get("Threads_connected"))
    own = whole(str(server.value(OWN_CONNECTIONS)))
    return None if every is None or own is None else {"served": served, "all": max(served, every - own)}


def _headlines(instance: Instance) -> list[dict[str, Any]]:
    return [
        {
            "name": series.definition.name,
            "title": series.definition.title,
            "unit": series.definition.unit,
            "formula": series.definition.formula,
            "value": series.whole,
        }
        for series in instance_headlines(instance.pk).series
    ]


@dataclass(frozen=True)
class Report:
    """A report of the engine, as rows by column name.

    `note` says in words why there is no report, and `reason` as a stable code; both are empty if there is one.
    """

    rows: list[dict[str, str | None]] = field(default_factory=list)
    note: str = ""
    reason: str = ""


def report(server: Server, name: str) -> Report:
    """Runs SHOW FQC <name>. If the server refuses it, returns a report without rows that says why.

    Raises GatewayError if the server does not answer.
    """
    try:
        return Report(server.named_rows(f"SHOW FQC {name}"))
    except PrivilegeMissing as error:
        [statement] = grant_statements([(error.privilege or "PROCESS", "*.*")], server.account)
        return Report(note=f"The account lacks a privilege. Run on the server: {statement}", reason=error.code)
    except RefusedStatement:
        if server.variable("fqc_minor_version") is None:
            return Report(note=NO_ENGINE, reason="no_engine")
        return Report(note=NO_REPORT, reason="no_report")


def cache_queries(instance: Instance, hours: int = 0) -> dict[str, Any]:
    """Reads the statements with their counts from the server: those of the last `hours`, or since the server began to
    count if `hours` is 0.

    Without the engine they come from its performance schema.
    """
    with connected(instance) as server:
        found = report(server, reports.QUERIES)
        if found.reason == "no_engine":
            return _digests(instance, server, hours)
    since, rows = statements_since(instance, found.rows, hours) if hours else (None, found.rows)
    return {**_reported(found, rows), "since": since, "source": "engine", "estimate": None}


def _digests(instance: Instance, server: Server, hours: int) -> dict[str, Any]:
    found = digests_of(server)
    since, rows = statements_since(instance, found.rows, hours) if hours else (None, found.rows)
    told = _reported(Report(note=found.note, reason=found.reason), rows)
    return {**told, "since": since, "source": "digests", "estimate": estimate(rows, found.texts)}


def cache_tables(instance: Instance) -> dict[str, Any]:
    with connected(instance) as server:
        found = report(server, reports.TABLES)
    return _reported(found, [_table(row) for row in found.rows if _is_table(row)])


def _reported(found: Report, items: list[Any]) -> dict[str, Any]:
    return {"is_available": not found.note, "note": found.note, "reason": found.reason, "items": items}


def _is_table(row: dict[str, str | None]) -> bool:
    is_no_table = re.search(NOT_TABLES, row.get(reports.TABLE_NAME) or "", re.IGNORECASE)
    return row.get(reports.TABLE_SCHEMA) not in SYSTEM_SCHEMAS and not is_no_table


def _table(row: dict[str, str | None]) -> dict[str, str | int | None]:
    return {
        "schema": row.get(reports.TABLE_SCHEMA) or "",
        "table": row.get(reports.TABLE_NAME) or "",
        **{field: whole(row.get(column)) for field, column in reports.TABLE_NUMBERS.items()},
    }


@dataclass(frozen=True)
class Curve:
    """The hit ratio that the engine predicts for each cache size, as pairs of bytes and ratio; `note` says why there is
    none.
    """

    points: list[tuple[int, float]]
    note: str = ""

    def ratio_at(self, size_bytes: int) -> float | None:
        """Returns the predicted ratio of the size in the curve that is nearest; None without a curve."""
        nearest = min(self.points, key=lambda point: abs(point[0] - size_bytes), default=None)
        return nearest and nearest[1]


def cache_curve(instance: Instance) -> Curve:
    with connected(instance) as server:
        found = report(server, reports.CURVE)
    points = [point for point in map(_point, found.rows) if point is not None]
    return Curve(points, found.note or ("" if points else "Not enough traffic yet to predict."))


def _point(row: dict[str, str | None]) -> tuple[int, float] | None:
    size, ratio = whole(row.get(reports.SIZE_BYTES)), decimal(row.get(reports.HIT_RATIO))
    return None if size is None or ratio is None else (size, ratio)
