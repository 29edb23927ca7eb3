"""The cache as the server has it now: settings, counters, the engine's own reports."""

from __future__ import annotations

import re
from typing import Any

from controlplane.catalogue.normal import is_off
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import note_identity, read_identity
from controlplane.gateway import reports
from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.server import Server
from controlplane.prerequisites.readings import NOT_TABLES, SYSTEM_SCHEMAS

NO_REPORT = "The engine on this server does not offer this report: upgrade its minor version."
SETTINGS = ("query_cache_type", "query_cache_size", "query_cache_limit")


def cache_status(instance: Instance) -> dict[str, Any]:
    with connected(instance) as server:
        note_identity(instance, read_identity(server))
        counters = server.status("Qcache%") | server.status("Fqc%")
        kind, size, limit = (server.variable(name) for name in SETTINGS)
        reasons = report(server, reports.REASONS) or []
        version, rules = server.variable("fqc_version"), server.variable("fqc_rules")
    has_engine = instance.minor_version is not None
    return {
        "has_engine": has_engine,
        "is_enabled": has_engine and not is_off(kind) and size not in (None, "0"),
        "version": version,
        "minor_version": instance.minor_version,
        "type": kind,
        "size_bytes": size and int(size),
        "limit_bytes": limit and int(limit),
        "hit_ratio": hit_ratio(counters),
        "counters": counters,
        "reasons": reasons,
        "rules": rules,
    }


def hit_ratio(counters: dict[str, str]) -> float | None:
    hits, inserts, others = (int(counters.get(f"Qcache_{name}", "0")) for name in ("hits", "inserts", "not_cached"))
    lookups = hits + inserts + others
    return hits / lookups if lookups else None


def report(server: Server, name: str) -> list[dict[str, str | None]] | None:
    """SHOW FQC <name> as rows by column name; None if the server has no such report."""
    try:
        return server.named_rows(f"SHOW FQC {name}")
    except RefusedStatement:
        return None


def cache_queries(instance: Instance) -> dict[str, Any]:
    with connected(instance) as server:
        items = report(server, reports.QUERIES)
    return _reported(items, items or [])


def cache_tables(instance: Instance) -> dict[str, Any]:
    with connected(instance) as server:
        rows = report(server, reports.TABLES)
    return _reported(rows, [_table(row) for row in rows or [] if _is_table(row)])


def _reported(rows: list[dict[str, str | None]] | None, items: list[Any]) -> dict[str, Any]:
    return {"is_available": rows is not None, "note": "" if rows is not None else NO_REPORT, "items": items}


def _is_table(row: dict[str, str | None]) -> bool:
    is_no_table = re.search(NOT_TABLES, row.get(reports.TABLE_NAME) or "", re.IGNORECASE)
    return row.get(reports.TABLE_SCHEMA) not in SYSTEM_SCHEMAS and not is_no_table


def _table(row: dict[str, str | None]) -> dict[str, str | int | None]:
    def number(name: str) -> int | None:
        return None if row.get(name) is None else int(row[name] or 0)

    return {
        "schema": row.get(reports.TABLE_SCHEMA) or "",
        "table": row.get(reports.TABLE_NAME) or "",
        **{field: number(column) for field, column in reports.TABLE_NUMBERS.items()},
    }


def cache_curve(instance: Instance) -> list[tuple[int, float]]:
    """Predicted hit ratio by size, from the engine's sketch; empty if it has none."""
    with connected(instance) as server:
        rows = report(server, reports.CURVE) or []
    return [point for point in map(_point, rows) if point is not None]


def _point(row: dict[str, str | None]) -> tuple[int, float] | None:
    size, ratio = row.get(reports.SIZE_BYTES), row.get(reports.HIT_RATIO)
    return (int(size), float(ratio)) if size and ratio else None
