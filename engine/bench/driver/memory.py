"""What an entry takes, by the cache's own count and by the growth of the process in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driver import configuration, load
from driver.server import SCHEMA, Server

SAMPLES = 100
RANGE_SIZE = 100
SPELLINGS = {
    "point_selects": "SELECT c FROM sbtest1 WHERE id={first}",
    "simple_ranges": "SELECT c FROM sbtest1 WHERE id BETWEEN {first} AND {last}",
}


def measure(name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> dict[str, Any]:
    statement = conditions["options"]["statement"]
    configuration.empty_cache(name, server, conditions["cache_mb"])
    payload = _payload_bytes(server, SPELLINGS[statement])
    before, resident = _held(server), server.resident_bytes()
    recipe = {"script": "sweep", "percent": 100, "statements": [statement]}
    load.warm(name, server, {**conditions, "warm": recipe}, certificates)
    after = _held(server)
    entries = after["entries"] - before["entries"]
    used = before["free"] - after["free"]
    return {
        "entries": entries,
        "bytes_per_entry": used / entries,
        "payload_bytes": payload,
        "overhead_bytes": used / entries - payload,
        "resident_bytes_per_entry": (server.resident_bytes() - resident) / entries,
    }


def _held(server: Server) -> dict[str, int]:
    status = server.status("Qcache%")
    return {"entries": status["Qcache_queries_in_cache"], "free": status["Qcache_free_memory"]}


def _payload_bytes(server: Server, spelling: str) -> float:
    """Bytes of one statement and its answer, by the server's count, less what asking for that count takes."""
    with server.connect() as connection, connection.cursor() as cursor:
        connection.select_db(SCHEMA)

        def counted() -> int:
            cursor.execute("SHOW SESSION STATUS WHERE Variable_name IN ('Bytes_sent', 'Bytes_received')")
            return sum(int(value) for _, value in cursor.fetchall())

        asking = -counted() + counted()
        begun = counted()
        for first in range(1, SAMPLES + 1):
            cursor.execute(spelling.format(first=first, last=first + RANGE_SIZE - 1))
            cursor.fetchall()
        return (counted() - begun - asking) / SAMPLES
