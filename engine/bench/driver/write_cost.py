"""How long one write takes when so many cached results depend on its table.

Only the first write after filling tells: it may outdate them all, and then there are none left to outdate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driver import configuration, load
from driver.server import SCHEMA, Server

WRITE = f"UPDATE {SCHEMA}.sbtest1 SET k = k + 1 WHERE id = 1"
STATEMENTS = ["point_selects"]


def measure(name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> dict[str, Any]:
    entries = conditions["options"]["entries"]
    configuration.empty_cache(name, server, conditions["cache_mb"])
    with server.connect() as connection, connection.cursor() as cursor:
        # The first statement of a connection pays for more than itself.
        cursor.execute(WRITE)
        if entries:
            recipe = {"script": "sweep", "percent": 100, "statements": STATEMENTS}
            load.warm(server, {**conditions, "rows": entries, "warm": recipe}, certificates)
        held = server.status("Qcache_queries_in_cache")["Qcache_queries_in_cache"]
        begun = time.perf_counter()
        cursor.execute(WRITE)
        took = time.perf_counter() - begun
    left = server.status("Qcache_queries_in_cache")["Qcache_queries_in_cache"]
    return {"write_ms": took * 1e3, "entries_before": held, "entries_after": left}
