"""Runs sysbench: the commands for a workload, and what one round of it shows of each server.

It runs in the folder of the certificates, because it looks for them in its working directory.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driver import configuration
from driver.generator import refuse_failure, run_in_turns
from driver.report import read_report
from driver.server import SCHEMA, USER, Server
from driver.workload import FOLDER

WARMING_THREADS = 8
PERCENTILES = {"p50_ms": 50, "p95_ms": 95, "p99_ms": 99, "p999_ms": 99.9}
Results = dict[str, dict[str, Any]]


def measure(servers: Mapping[str, Server], conditions: Mapping[str, Any], certificates: Path) -> Results:
    """Runs one round on all servers in turns. Returns the results of each by name.

    `qps` and the percentiles are speed and latency, `cpu_us_per_query` is the server's processor time, `hit_ratio` a
    share.
    """
    before = {name: server.status("Qcache%") for name, server in servers.items()}
    commands = {name: turns_command(server.place, conditions) for name, server in servers.items()}
    environments = {
        name: os.environ | {"TURNS_SCRIPT": conditions["script"]} | environment_of(server)
        for name, server in servers.items()
    }
    pids = {name: server.pid for name, server in servers.items()}
    runs = run_in_turns(commands, pids, environments, certificates, conditions["threads"], conditions["seconds"])
    results = {}
    for name, server in servers.items():
        report = read_report(runs[name].output)
        after = server.status("Qcache%")
        counted = {key: value - before[name].get(key, 0) for key, value in after.items()}
        # MySQL itself has no such counter.
        hits = counted.get("Qcache_hits", 0)
        results[name] = {
            "qps": report.queries / runs[name].seconds,
            **{measure: report.percentile_ms(percent) for measure, percent in PERCENTILES.items()},
            "cpu_us_per_query": runs[name].cpu.server * 1e6 / report.queries,
            "hit_ratio": hits / report.reads if report.reads else 0,
            "queries": report.queries,
            "reads": report.reads,
            "seconds": runs[name].seconds,
            "turn_seconds": runs[name].turn_seconds,
            "cpu_seconds": vars(runs[name].cpu),
            "ignored_errors": report.ignored_errors,
            "is_dozing": server.status("Fqc_dozing").get("Fqc_dozing", 0),
            "qcache": counted,
            "histogram": report.histogram,
        }
    return results


def warm(name: str, server: Server, conditions: Mapping[str, Any], certificates: Path) -> None:
    """Fills the cache of one server before its first run, as the workload's recipe says.

    That is one pass over the statements that may repeat, or the load itself. Does nothing without a recipe.
    """
    recipe = conditions.get("warm")
    if not recipe:
        return
    if "seconds" in recipe:
        _run(run_command(server.place, {**conditions, "seconds": recipe["seconds"]}), certificates)
        return
    # A near cache copies a result to the memory that others read when it is asked for again.
    passes = 2 if environment_of(server) else 1
    with configuration.storing_all(name, server):
        for _ in range(passes):
            _run(warm_command(server.place, conditions), certificates)


def environment_of(server: Any) -> dict[str, str]:
    """Returns what the clients of this server need in their environment. Only those of some near caches do."""
    environment: dict[str, str] = getattr(server, "environment", {})
    return environment


def prepare(server: Server, tables: int, rows: int, folder: Path) -> None:
    options = [f"--tables={tables}", f"--table-size={rows}", "--threads=4"]
    _run([*_base("oltp_read_only", server.place), *options, "prepare"], folder)


def step(
    place: Sequence[str], conditions: Mapping[str, Any], options: Mapping[str, int], command: str, folder: Path
) -> str:
    """Runs a script with one client until it ends by itself, and returns its output. `place`: the options to connect
    with."""
    own = [f"--{name}={value}" for name, value in options.items()]
    base = [*_base(conditions["script"], place), *_data(conditions), "--time=0", "--threads=1"]
    return _run([*base, *own, command], folder)


def run_command(place: Sequence[str], conditions: Mapping[str, Any]) -> list[str]:
    own = [f"--time={conditions['seconds']}", f"--threads={conditions['threads']}"]
    return [*_base(conditions["script"], place), *_data(conditions), *own, *_options(conditions), "run"]


def turns_command(place: Sequence[str], conditions: Mapping[str, Any]) -> list[str]:
    """Returns the command of a generator that works whenever it gets a turn, until it gets no more."""
    own = ["--time=0", "--histogram=on", f"--threads={conditions['threads']}"]
    return [*_base("turns", place), *_data(conditions), *own, *_options(conditions), "run"]


def warm_command(place: Sequence[str], conditions: Mapping[str, Any]) -> list[str]:
    recipe, rows = conditions["warm"], conditions["rows"]
    base = [*_base(recipe["script"], place), *_data(conditions), f"--threads={WARMING_THREADS}"]
    if recipe["script"] != "sweep":
        return [*base, *_options(conditions), "warm"]
    first, last = centre(rows, recipe["percent"])
    statements = ",".join(recipe["statements"])
    return [*base, f"--first-id={first}", f"--last-id={last}", f"--statements={statements}", "warm"]


def centre(rows: int, percent: float) -> tuple[int, int]:
    """Returns the first and the last of the keys in the middle that sysbench's "special" distribution prefers; one
    more at each end."""
    half = rows * percent / 200
    return max(1, int(rows / 2 - half) - 1), min(rows, int(rows / 2 + half) + 2)


def _base(script: str, place: Sequence[str]) -> list[str]:
    own = FOLDER / "lua" / f"{script}.lua"
    server = ["--db-driver=mysql", *place, f"--mysql-user={USER}"]
    return ["sysbench", str(own) if own.exists() else script, *server, f"--mysql-db={SCHEMA}"]


def _options(conditions: Mapping[str, Any]) -> list[str]:
    return [f"--{name}={value}" for name, value in conditions["options"].items()]


def _data(conditions: Mapping[str, Any]) -> list[str]:
    return [
        f"--tables={conditions['tables']}",
        f"--table-size={conditions['rows']}",
        f"--db-ps-mode={conditions['ps_mode']}",
        f"--mysql-ssl={'on' if conditions['is_tls'] else 'off'}",
    ]


def _run(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    refuse_failure(command, result.returncode, result.stdout)
    return result.stdout
