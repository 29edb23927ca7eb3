"""pgpool-II's query cache, measured with pgbench: PostgreSQL alone, behind the pooler, and behind its cache.

Takes the place of stage.py for the profile `pgpool`. Deliberately absent: processor time, because both servers are
many processes that come and go.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from driver import postgres
from driver.postgres import Daemon, PostgresFailed
from driver.workload import Profile

STATEMENT = "\\set aid random(1, {rows})\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
# The number of rows per unit of pgbench's scale.
ROWS_PER_SCALE = 100_000
PORTS = {"OFF": 6432, "CACHED": 6442}


class PeerStage:
    lacks: Sequence[str] = ()

    def __init__(self, profile: Profile) -> None:
        self._parent = Path(tempfile.mkdtemp(prefix="fqc-bench-"))
        self._folder = self._parent / "peer"
        self._profile = profile
        # The other stage's certificates are not needed.
        self.certificates = self._folder
        self.servers: dict[str, Daemon] = {}
        self.settings: dict[str, Any] = {}

    @staticmethod
    def programs() -> list[str]:
        return [postgres.binary("postgres"), postgres.pgpool(), postgres.binary("pgbench")]

    def __enter__(self) -> PeerStage:
        try:
            self._make()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def serve(self, arguments: Sequence[str]) -> None:
        """Does nothing: all servers run from the beginning."""

    def _make(self) -> None:
        # The account of the servers must be able to reach its own folder inside.
        self._parent.chmod(0o711)
        postgres.own_folder(self._folder)
        server = self.servers["DIRECT"] = postgres.start_server(self._folder)
        scale = -(-self._profile.rows // ROWS_PER_SCALE)
        _pgbench(server, "-i", "-q", "-s", str(scale))
        (self._folder / "select.sql").write_text(STATEMENT.format(rows=self._profile.rows))
        for name, port in PORTS.items():
            self.servers[name] = postgres.start_pgpool(self._folder, port, name == "CACHED", cache_mb=512)
        self.settings = {"server_arguments": postgres.SERVER_SETTINGS}

    def _end(self) -> None:
        # PostgreSQL is stopped last: the poolers would otherwise look for it.
        for server in reversed(self.servers.values()):
            server.stop()
        shutil.rmtree(self._parent, ignore_errors=True)


def measure(name: str, server: Daemon, conditions: Mapping[str, Any], _certificates: Path) -> dict[str, Any]:
    before = _cache(name, server)
    threads = conditions["threads"]
    output = _load(server, threads, conditions["seconds"])
    found = re.search(r"^tps = ([\d.]+)", output, re.MULTILINE)
    latency = re.search(r"^latency average = ([\d.]+) ms", output, re.MULTILINE)
    if not found or not latency:
        raise PostgresFailed(f"pgbench printed no speed:\n{output}")
    hits, selects = (after - earlier for after, earlier in zip(_cache(name, server), before, strict=True))
    return {
        "qps": float(found[1]),
        "average_ms": float(latency[1]),
        "hit_ratio": hits / (hits + selects) if hits else 0,
    }


def warm(server: Daemon, conditions: Mapping[str, Any]) -> None:
    _load(server, 8, conditions["warm"]["seconds"])


def _load(server: Daemon, threads: int, seconds: int) -> str:
    load = ("-f", "select.sql", "-n", "-c", str(threads), "-j", str(min(threads, 2)), "-T", str(seconds))
    return _pgbench(server, *load)


def _cache(name: str, server: Daemon) -> tuple[int, int]:
    """Returns the number of hits, and of reads that pgpool's cache did not answer; zeros without that cache."""
    if name != "CACHED":
        return 0, 0
    hits, selects = server.ask("SHOW POOL_CACHE")[0][:2]
    return int(hits), int(selects)


def _pgbench(server: Daemon, *arguments: str) -> str:
    place = ("-h", str(server.folder), "-p", str(server.port), "-U", postgres.ACCOUNT)
    return postgres.say(server.folder, postgres.binary("pgbench"), *place, *arguments, postgres.ACCOUNT)
