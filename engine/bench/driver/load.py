"""Starts sysbench against one server, and measures the server while it runs.

It runs in the folder of the certificates, because it looks for them where it runs.

Processor time is counted from the moment all threads are connected, because that is when sysbench begins to count.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver import configuration
from driver.machine import busy_seconds, process_seconds
from driver.report import read_report
from driver.server import SCHEMA, USER, Server
from driver.workload import FOLDER

# All threads are connected and begin now.
BEGIN = "Threads started!"
WARMING_THREADS = 8
PERCENTILES = {"p50_ms": 50, "p95_ms": 95, "p99_ms": 99, "p999_ms": 99.9}


class LoadFailed(RuntimeError):
    """sysbench ended with an error; the message carries its output."""


def measure(_name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> dict[str, Any]:
    """One run: what the client saw, what the server used, and how much of it the cache answered."""
    command = run_command(server.port, conditions)
    before = server.status("Qcache%")
    output, used = _run_timed(command, certificates, server)
    report = read_report(output)
    after = server.status("Qcache%")
    return {
        "qps": report.queries_per_second,
        **{name: report.percentile_ms(percent) for name, percent in PERCENTILES.items()},
        "cpu_us_per_query": used.server * 1e6 / report.queries,
        "hit_ratio": (after["Qcache_hits"] - before["Qcache_hits"]) / report.reads if report.reads else 0,
        "queries": report.queries,
        "reads": report.reads,
        "seconds": report.seconds,
        "cpu_seconds": vars(used),
        "ignored_errors": report.ignored_errors,
        "qcache": {name: after[name] - before[name] for name in after},
        "histogram": report.histogram,
    }


def warm(name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> None:
    """Fills the caches before the first run: by one pass over what may repeat, or by the load itself."""
    recipe = conditions.get("warm")
    if not recipe:
        return
    if "seconds" in recipe:
        _run(run_command(server.port, {**conditions, "seconds": recipe["seconds"]}), certificates)
        return
    with configuration.storing_all(name, server):
        _run(warm_command(server.port, conditions), certificates)


def prepare(server: Server, tables: int, rows: int, folder: Path) -> None:
    options = [f"--tables={tables}", f"--table-size={rows}", "--threads=4"]
    _run([*_base("oltp_read_only", server.port), *options, "prepare"], folder)


def run_command(port: int, conditions: Mapping[str, Any]) -> list[str]:
    options = [f"--{name}={value}" for name, value in conditions["options"].items()]
    own = [f"--time={conditions['seconds']}", "--histogram=on", f"--threads={conditions['threads']}"]
    return [*_base(conditions["script"], port), *_data(conditions), *own, *options, "run"]


def warm_command(port: int, conditions: Mapping[str, Any]) -> list[str]:
    recipe, rows = conditions["warm"], conditions["rows"]
    base = [*_base(recipe["script"], port), *_data(conditions), f"--threads={WARMING_THREADS}"]
    if recipe["script"] != "sweep":
        return [*base, *(f"--{name}={value}" for name, value in conditions["options"].items()), "warm"]
    first, last = centre(rows, recipe["percent"])
    statements = ",".join(recipe["statements"])
    return [*base, f"--first-id={first}", f"--last-id={last}", f"--statements={statements}", "warm"]


def centre(rows: int, percent: float) -> tuple[int, int]:
    """The keys in the middle, where sysbench's "special" distribution has its special values; one more at each end."""
    half = rows * percent / 200
    return max(1, int(rows / 2 - half) - 1), min(rows, int(rows / 2 + half) + 2)


def _base(script: str, port: int) -> list[str]:
    own = FOLDER / "lua" / f"{script}.lua"
    server = ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={port}", f"--mysql-user={USER}"]
    return ["sysbench", str(own) if own.exists() else script, *server, f"--mysql-db={SCHEMA}"]


def _data(conditions: Mapping[str, Any]) -> list[str]:
    return [
        f"--tables={conditions['tables']}",
        f"--table-size={conditions['rows']}",
        f"--db-ps-mode={conditions['ps_mode']}",
        f"--mysql-ssl={'on' if conditions['is_tls'] else 'off'}",
    ]


def _run(command: list[str], folder: Path) -> None:
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    _refuse_failure(command, result.returncode, result.stdout)


@dataclass(frozen=True)
class Used:
    """Processor time in seconds: of the server, of sysbench, and of the machine with everything on it."""

    server: float
    client: float
    machine: float

    @classmethod
    def until_now(cls, server: int, client: int) -> Used:
        return cls(process_seconds(server), process_seconds(client), busy_seconds())

    def __sub__(self, earlier: Used) -> Used:
        return Used(self.server - earlier.server, self.client - earlier.client, self.machine - earlier.machine)


def _run_timed(command: list[str], folder: Path, server: Server) -> tuple[str, Used]:
    """What sysbench printed, and the processor time that was used while it counted."""
    output = ""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        try:
            while (line := process.stdout.readline()) and not line.startswith(BEGIN):
                output += line
            begun = Used.until_now(server.pid, process.pid)
            output += process.stdout.read()
            used = Used.until_now(server.pid, process.pid) - begun
        except BaseException:
            process.terminate()
            raise
    _refuse_failure(command, process.returncode, output)
    return output, used


def _refuse_failure(command: list[str], code: int, output: str) -> None:
    if code:
        raise LoadFailed(f"`{' '.join(command)}` failed with exit code {code}:\n{output}")
