"""Measures the time that a write takes while near caches are attached: they hold results of the written row, or only
of another table."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from driver import configuration, near
from driver.server import SCHEMA, Server
from driver.write_cost import WRITE, write_seconds

READS = {
    near.HELD: f"SELECT k FROM {SCHEMA}.sbtest1 WHERE id = 1",
    near.NOT_HELD: f"SELECT k FROM {SCHEMA}.sbtest2 WHERE id = 1",
}
WRITES = 300


def measure(name: str, server: Server, conditions: Mapping[str, Any], _certificates: Path) -> dict[str, Any]:
    configuration.empty_cache("FQC", server, conditions["cache_mb"])
    near.make_feed(server)
    with ExitStack() as stack, server.connect() as connection, connection.cursor() as writer:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fqc-bench-")))
        count = conditions["options"]["near_caches"]
        nears = [stack.enter_context(_attached(number, folder, server)) for number in range(count)]
        readers = [stack.enter_context(one.connect()).cursor() for one in nears]
        # The first statement of a connection has additional costs.
        writer.execute(WRITE)
        seconds, waited = [], _waits(server)
        for _ in range(WRITES):
            for reader in readers:
                reader.execute(READS[name])
            seconds.append(write_seconds(writer))
        stored = sum(one.status("Qcache_inserts")["Qcache_inserts"] for one in nears)
        waited = _waits(server) - waited
    slow = quantiles(seconds, n=20)[-1]
    return {"write_us": median(seconds) * 1e6, "p95_us": slow * 1e6, "waits": waited, "stored": stored}


@contextmanager
def _attached(number: int, folder: Path, server: Server) -> Iterator[near.Near]:
    one = near.Near(str(number), folder, server, near.by_feed(folder))
    try:
        yield one
    finally:
        one.stop()


def _waits(server: Server) -> int:
    return server.status("Fqc_near_waits")["Fqc_near_waits"]
