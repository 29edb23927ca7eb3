"""Advice on the cache of one instance: sizes by each rule side by side, the curve, and tables worth an SQL_CACHE."""

from __future__ import annotations

from typing import Any

from controlplane.fleet.models import Instance
from controlplane.prerequisites.check import observe
from controlplane.prerequisites.readings import Readings, TableUse, statistics_of
from controlplane.prerequisites.rules import advice_findings, is_read_mostly, is_write_heavy
from controlplane.prerequisites.sizing import cache_size_bytes, knee, rounded
from controlplane.prerequisites.status import Curve, cache_curve


def cache_advice(instance: Instance) -> dict[str, Any]:
    readings = observe(instance)
    curve = cache_curve(instance)
    return {
        "findings": advice_findings(readings),
        "sizes": _sizes(readings, curve),
        "curve": [{"size_bytes": size, "hit_ratio": ratio} for size, ratio in curve.points],
        "tables": [_table(table) for table in readings.tables],
        "tables_note": "" if readings.has_table_statistics else _no_statistics(readings),
    }


def _no_statistics(readings: Readings) -> str:
    switch = statistics_of(readings.variables).switch
    return f"The server keeps no table statistics: set {switch} = ON and come back after some traffic."


def _sizes(readings: Readings, curve: Curve) -> list[dict[str, Any]]:
    pool = readings.number("innodb_buffer_pool_size")
    return [
        {
            "rule": "buffer_pool",
            "size_bytes": cache_size_bytes("buffer_pool", pool_bytes=pool),
            "explanation": f"10 % of the buffer pool of {pool} bytes.",
        },
        {
            "rule": "result_set",
            "size_bytes": None,
            "explanation": "20 % of the total size of the results that are read repeatedly: enter that size.",
        },
        {
            "rule": "curve",
            "size_bytes": rounded(knee(curve.points)) if curve.points else None,
            "explanation": curve.note or "Where the predicted hit ratio stops rising.",
        },
    ]


def _table(table: TableUse) -> dict[str, Any]:
    advice, explanation = "neutral", "Neither read-heavy nor write-heavy."
    if is_read_mostly(table):
        advice, explanation = (
            "sql_cache",
            "Read often and written rarely: a good candidate for SQL_CACHE with query_cache_type 2.",
        )
    elif is_write_heavy(table):
        advice, explanation = "leave_out", "Written so often that results become outdated before they are read again."
    return {
        "schema": table.schema,
        "table": table.table,
        "rows_read": table.rows_read,
        "rows_changed": table.rows_changed,
        "advice": advice,
        "explanation": explanation,
    }
