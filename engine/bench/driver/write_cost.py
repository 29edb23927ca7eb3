"""Measures how long one write takes when many cached results depend on its table.

Only the first write after filling shows what dropping the results costs: it may invalidate them all, and then there are
none left to invalidate. The median of many further ones shows a write's cost next to results that stay.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pymysql

from driver import configuration, load
from driver.server import SCHEMA, Server

WRITE = f"UPDATE {SCHEMA}.sbtest1 SET k = k + 1 WHERE id = 1"
STATEMENTS = ["point_selects"]
FURTHER = 1000


def measure(name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> dict[str, Any]:
    entries = conditions["options"]["entries"]
    configuration.empty_cache(name, server, conditions["cache_mb"])
    with server.connect() as connection, connection.cursor() as cursor:
        # The first statement of a connection has additional costs.
        cursor.execute(WRITE)
        if entries and name in configuration.HAS_CACHE:
            recipe = {"script": "sweep", "percent": 100, "statements": STATEMENTS}
            load.warm(name, server, {**conditions, "rows": entries, "warm": recipe}, certificates)
        held = _entries(server)
        first = write_seconds(cursor)
        left = _entries(server)
        further = median(write_seconds(cursor) for _ in range(FURTHER))
    return {"write_ms": first * 1e3, "further_us": further * 1e6, "entries_before": held, "entries_after": left}


def write_seconds(cursor: pymysql.cursors.Cursor) -> float:
    begun = time.perf_counter()
    cursor.execute(WRITE)
    return time.perf_counter() - begun


def _entries(server: Server) -> int:
    return server.status("Qcache_queries_in_cache").get("Qcache_queries_in_cache", 0)
