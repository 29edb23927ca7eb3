"""Measures a cold start: steps of a thousand point selects by one client. A given share of them was asked once before.

No statement occurs in two steps, so a step begins with none of its results cached. Each repeat must be found exactly
where it is looked for: in a near cache's own memory, or in memcached, where another near cache has put it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from driver import load, near
from driver.machine import exact_seconds
from driver.report import read_client_seconds, read_report

QUERIES = 1000
# The distance between the numbers in the statements of two steps, so that no number occurs in both.
APART = 2 * QUERIES
# At most this many repeats may be answered elsewhere than expected.
STRAY = QUERIES // 100


class FoundElsewhere(RuntimeError):
    """The repeats of a step were not answered from the cache that is measured."""


def measure(name: str, stage: Any, conditions: Mapping[str, Any]) -> dict[str, Any]:
    server, repeats = stage.servers[name], round(QUERIES * conditions["options"]["hit-percent"] / 100)
    options = {"first-text": time.time_ns() // 10**6 * APART, "repeats": repeats, "events": QUERIES}
    if name in near.BY_RULES:
        filling = stage.servers[near.OTHER] if name == near.SHARED else server
        load.step(filling.place, conditions, options, "fill", stage.certificates)
    pids = [stage.servers[one].pid for one in ("OFF", near.MEMORY, near.SHARED)] + [stage.store_pid]
    hits, used = _hits(name, server), sum(map(exact_seconds, pids))
    output = load.step(server.place, conditions, options, "run", stage.certificates)
    used = sum(map(exact_seconds, pids)) - used + read_client_seconds(output)
    hits = _hits(name, server) - hits
    if name in near.BY_RULES and abs(hits - repeats) > STRAY:
        raise FoundElsewhere(f"{name} has answered {hits} of {repeats} statements that repeat")
    speed = QUERIES / read_report(output).seconds
    return {"qps": speed, "cpu_us_per_query": used * 1e6 / QUERIES, "hit_ratio": hits / QUERIES}


def _hits(name: str, server: Any) -> int:
    if name not in near.BY_RULES:
        return 0
    return server.hits("Store" if name == near.SHARED else "Memory")
