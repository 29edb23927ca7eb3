"""Runs the workloads of a profile, and stores the measurements.

Invariant: the configurations take turns within each round, never block by block.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from driver import cold, configuration, ideal, load, memory, near, near_write, peer, raw, write_cost
from driver.stage import MySqlStage, Stage
from driver.workload import Profile, Workload, axis_value

STAGES: dict[str, Any] = {
    "mariadb": Stage,
    "mysql": MySqlStage,
    "near": near.NearStage,
    "in-process": near.InProcessStage,
    "away": near.AwayStage,
    "rules": near.RulesStage,
    "rules-away": near.RulesAwayStage,
    "postgres": peer.PeerStage,
}
# The measurements that are made on one server after the other, by kind of workload. A load is measured on all servers
# in short turns.
MEASURES: dict[str, Any] = {
    "write_cost": write_cost.measure,
    "near_write": near_write.measure,
    "memory": memory.measure,
    "peer": peer.measure,
}
Say = Callable[[str], None]


def run_all(profile: Profile, workloads: list[Workload], folder: Path, say: Say) -> None:
    begun = time.monotonic()
    say(f"loading {profile.tables} tables of {profile.rows} rows, once for all configurations")
    with STAGES[profile.stage](profile) as stage:
        for workload in workloads:
            say(f"{_clock(begun)} {workload.title}")
            workload = present(stage, workload)
            runs = list(measure_workload(stage, workload, profile, say))
            write_raw(folder / "raw" / f"{workload.name}{raw.SUFFIX}", workload, profile, runs)
        raw.write(folder / f"settings{raw.SUFFIX}", stage.settings)
    say(f"{_clock(begun)} measured")


def present(stage: Any, workload: Workload) -> Workload:
    """Returns a copy of the workload without the configurations that the stage (the running servers) cannot run."""
    names = tuple(name for name in workload.configurations if name not in stage.lacks)
    return dataclasses.replace(workload, configurations=names)


def measure_workload(stage: Any, workload: Workload, profile: Profile, say: Say) -> Iterator[dict[str, Any]]:
    for number, conditions in enumerate(workload.points(profile)):
        stage.serve(conditions["server"])
        # More connections read the same results, so only other axes need the caches to be filled again.
        if number == 0 or workload.axis != "threads":
            fill(stage, workload, conditions)
        for turn in range(workload.rounds or profile.rounds):
            for name, results in measure_round(stage, workload, conditions):
                place = f"{workload.axis}={axis_value(conditions, workload.axis)}"
                say(f"  {place} round {turn + 1} {_line(name, results)}")
                yield {"configuration": name, "conditions": conditions, "round": turn + 1, "results": results}


def fill(stage: Any, workload: Workload, conditions: dict[str, Any]) -> None:
    """Fills the caches of all servers, before a point of the workload is measured. Does nothing for kinds that do so
    as a part of their measurement."""
    if workload.kind == "peer":
        for server in stage.servers.values():
            peer.warm(server, conditions)
    if workload.kind != "load":
        return
    for name in workload.configurations:
        if name == ideal.NAME:
            continue
        configuration.empty_cache(name, stage.servers[name], conditions["cache_mb"])
        load.warm(name, stage.servers[name], conditions, stage.certificates)


def measure_round(stage: Any, workload: Workload, conditions: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    servers = {name: stage.servers[name] for name in workload.configurations}
    if workload.kind == "load":
        yield from load.measure(servers, conditions, stage.certificates).items()
        return
    if workload.kind == "cold":
        yield from ((name, cold.measure(name, stage, conditions)) for name in servers)
        return
    for name, server in servers.items():
        yield name, MEASURES[workload.kind](name, server, conditions, stage.certificates)


def write_raw(path: Path, workload: Workload, profile: Profile, runs: list[dict[str, Any]]) -> None:
    document = {"workload": vars(workload), "profile": vars(profile), "runs": raw.kept(workload.axis, runs)}
    raw.write(path, document)


def write_json(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def _clock(begun: float) -> str:
    minutes, seconds = divmod(int(time.monotonic() - begun), 60)
    return f"[{minutes:02}:{seconds:02}]"


def _line(name: str, results: dict[str, Any]) -> str:
    shown = ("qps", "p95_ms", "cpu_us_per_query", "hit_ratio", "is_dozing", "write_ms", "write_us", "bytes_per_entry")
    return f"{name}: " + ", ".join(f"{key} {results[key]:.3g}" for key in shown if key in results)
