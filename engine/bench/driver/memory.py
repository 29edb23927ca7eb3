"""Measures the memory that a cached result takes, by the cache's own count and by the growth of the server's
process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driver import configuration, load
from driver.server import Server


def measure(name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> dict[str, Any]:
    statement = conditions["options"]["statement"]
    configuration.empty_cache(name, server, conditions["cache_mb"])
    before, resident = _held(server), server.resident_bytes()
    recipe = {"script": "sweep", "percent": 100, "statements": [statement]}
    load.warm(name, server, {**conditions, "warm": recipe}, certificates)
    after = _held(server)
    entries = after["entries"] - before["entries"]
    used = before["free"] - after["free"]
    # Each statement was sent once, and hardly anything else was sent.
    payload = (after["wire"] - before["wire"]) / (conditions["tables"] * conditions["rows"])
    return {
        "entries": entries,
        "bytes_per_entry": used / entries,
        "payload_bytes": payload,
        "overhead_bytes": used / entries - payload,
        "resident_bytes_per_entry": (server.resident_bytes() - resident) / entries,
    }


def _held(server: Server) -> dict[str, int]:
    status = server.status("Qcache%") | server.status("Bytes%")
    return {
        "entries": status["Qcache_queries_in_cache"],
        "free": status["Qcache_free_memory"],
        "wire": status["Bytes_sent"] + status["Bytes_received"],
    }
