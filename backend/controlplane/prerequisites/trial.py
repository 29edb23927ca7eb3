"""A trial in one session: the same statement without the cache, then with it, before anything global changes.

The sessions are read-only and are closed afterwards. Each half has its own, since an engine that nobody wanted follows
only sessions that begin by wanting it. Counters are the server's, so traffic of others shows in them.
"""

from __future__ import annotations

import re
from statistics import median
from time import monotonic, perf_counter_ns, sleep
from typing import Any

from controlplane.core.errors import Conflict, Invalid
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.gateway.server import Server

READS = re.compile(r"\s*\(*\s*(select|with)\b", re.IGNORECASE)
COUNTED = ("hits", "inserts", "not_cached")
# An engine that wakes first waits for what it did not see begin, and then looks the tables up.
WAKING_SECONDS = 2.0
PAUSE_SECONDS = 0.02


def trial_run(instance: Instance, *, statement: str, repetitions: int, database: str | None = None) -> dict[str, Any]:
    if not READS.match(statement):
        raise Invalid.field("statement", "write one SELECT")
    with connected(instance) as server:
        if server.variable("fqc_minor_version") is None:
            raise Conflict(f"{instance.name} has no engine: upgrade its minor version first.", code="minor_version")
        _prepare(server, database, cache_type=0)
        uncached = _timed(server, statement, repetitions)
    with connected(instance) as server:
        _prepare(server, database, cache_type=1)
        before = _awake(server, statement)
        cached = _timed(server, statement, repetitions)
        delta = {name: value - before[name] for name, value in _counters(server).items()}
        size = int(server.variable("query_cache_size") or 0)
    return {
        "repetitions": repetitions,
        **delta,
        "uncached": uncached,
        "cached": cached,
        "is_counting_shared": True,
        "detail": _verdict(delta, repetitions, size),
    }


def _prepare(server: Server, database: str | None, *, cache_type: int) -> None:
    server.set_session("query_cache_type", cache_type)
    if database:
        server.run(f"USE `{database}`")
    server.run("SET SESSION TRANSACTION READ ONLY")
    # A statement that takes too long ends on the server, and not just here. Servers of either kind know one name.
    milliseconds = int(server.statement_seconds * 900)
    if server.variable("max_statement_time") is not None:
        server.set_session("max_statement_time", f"{milliseconds / 1000:.3f}")
    elif server.variable("max_execution_time") is not None:
        server.set_session("max_execution_time", milliseconds)


def _awake(server: Server, statement: str) -> dict[str, int]:
    """The counters once the statement is served, or is not going to be."""
    until = monotonic() + WAKING_SECONDS
    counters = _counters(server)
    while monotonic() < until and server.variable("query_cache_size") != "0":
        server.rows(statement)
        before, counters = counters, _counters(server)
        if counters["hits"] > before["hits"]:
            break
        sleep(PAUSE_SECONDS)
    return counters


def _timed(server: Server, statement: str, repetitions: int) -> dict[str, int]:
    taken = []
    for _ in range(repetitions):
        start = perf_counter_ns()
        server.rows(statement)
        taken.append((perf_counter_ns() - start) // 1000)
    taken.sort()
    return {"median_microseconds": int(median(taken)), "p95_microseconds": taken[(len(taken) * 95 - 1) // 100]}


def _counters(server: Server) -> dict[str, int]:
    status = server.status("Qcache%")
    return {name: int(status.get(f"Qcache_{name}", "0")) for name in COUNTED}


def _verdict(delta: dict[str, int], repetitions: int, size_bytes: int) -> str:
    if size_bytes == 0:
        return (
            "query_cache_size is 0, so nothing could be kept. Set it and leave query_cache_type at 0: "
            "nothing is served to anybody yet, and the trial can show hits."
        )
    if delta["hits"] >= repetitions:
        return "Every repetition was served from the cache."
    if delta["not_cached"] >= repetitions:
        return "The engine does not cache this statement: see the reasons in the cache's status."
    return f"{delta['hits']} of {repetitions} repetitions were served from the cache."
