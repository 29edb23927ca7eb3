"""Workloads and profiles, as their TOML files describe them.

A workload varies one condition, its axis, and holds all others. A profile (`quick`, `full`) may override any of its
keys by a table of its name. Unknown keys are errors: a mistyped condition must not silently measure something else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1]
# Conditions of a workload that names no others. `options` go to sysbench, `server` to the command lines of all servers.
USUAL = {
    "script": "",
    "threads": 8,
    "cache_mb": 512,
    "ps_mode": "disable",
    "is_tls": False,
    "options": {},
    "server": [],
}
CONDITIONS = {*USUAL, "tables", "rows", "warm"}


class BadWorkload(ValueError):
    """A workload or profile does not exist, or its file says something that cannot be measured; the message says
    what."""


@dataclass(frozen=True)
class Profile:
    name: str
    workloads: tuple[str, ...]
    # The tables and rows that are loaded into the servers once. A workload's `tables` and `rows` say which of them it
    # uses.
    tables: int
    rows: int
    seconds: int
    rounds: int
    noisy_above: float
    # The stage with the servers: that of stage.py, or another one such as that of peer.py.
    stage: str
    # Whether the results are stored in a folder below runs/, for the repository, or only in one below the run
    # directory.
    is_kept: bool
    # The name of another profile, whose overrides apply where a workload has none for this one.
    like: str = ""


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    about: str
    configurations: tuple[str, ...]
    axis: str
    values: tuple[Any, ...]
    conditions: Mapping[str, Any]
    kind: str = "load"
    published: str | None = None
    # How many times larger the published measurement's axis is.
    scale: int = 1
    targets: tuple[Mapping[str, Any], ...] = field(default=())
    # The number of runs of each point, instead of the profile's, if that would take too long.
    rounds: int | None = None

    def points(self, profile: Profile) -> list[dict[str, Any]]:
        return [self._point(value, profile) for value in self.values]

    def _point(self, value: Any, profile: Profile) -> dict[str, Any]:
        limits = {"tables": profile.tables, "rows": profile.rows}
        point = {**USUAL, **limits, "seconds": profile.seconds, **self.conditions}
        for name, most in limits.items():
            point[name] = min(point[name], most)
        if self.axis in point:
            return {**point, self.axis: value}
        return {**point, "options": {**point["options"], self.axis: value}}


def axis_value(conditions: Mapping[str, Any], axis: str) -> Any:
    return conditions[axis] if axis in conditions else conditions["options"][axis]


def read_profile(name: str) -> Profile:
    tables = tomllib.loads((FOLDER / "profiles.toml").read_text())
    if name not in tables:
        raise BadWorkload(f"there is no profile `{name}`; profiles.toml has {', '.join(tables)}")
    fields = tables[name]
    return Profile(**{**fields, "name": name, "workloads": tuple(fields["workloads"])})


def read_workload(name: str, *profiles: str) -> Workload:
    """Reads a workload with the overrides of these profiles. If several set the same key, the last one wins. Raises
    BadWorkload."""
    path = FOLDER / "workloads" / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(other.stem for other in path.parent.glob("*.toml")))
        raise BadWorkload(f"there is no workload `{name}`; there are {known}")
    return make_workload(name, tomllib.loads(path.read_text()), *profiles)


def make_workload(name: str, document: Mapping[str, Any], *profiles: str) -> Workload:
    merged = {key: value for key, value in document.items() if key != "profiles"}
    for own in (document.get("profiles", {}).get(profile, {}) for profile in profiles):
        merged |= {**own, "conditions": {**merged.get("conditions", {}), **own.get("conditions", {})}}
    if unknown := set(merged["conditions"]) - CONDITIONS:
        raise BadWorkload(f"workload `{name}` has unknown conditions: {', '.join(sorted(unknown))}")
    sequences = {key: tuple(merged.get(key, ())) for key in ("configurations", "values", "targets")}
    try:
        return Workload(**{**merged, **sequences, "name": name})
    except TypeError as error:
        raise BadWorkload(f"workload `{name}` cannot be read: {error}") from error
