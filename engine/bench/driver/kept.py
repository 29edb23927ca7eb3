"""Reads a folder of stored measurements, and makes series from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver import raw
from driver.statistic import DifferentConditions, Series
from driver.workload import axis_value

BASE = "OFF"


@dataclass(frozen=True)
class Measured:
    """One workload with all its runs, and the profile that it was run with."""

    workload: Mapping[str, Any]
    profile: Mapping[str, Any]
    runs: tuple[Mapping[str, Any], ...]

    @property
    def axis_values(self) -> list[Any]:
        return list(dict.fromkeys(self._value(run) for run in self.runs))

    @property
    def configurations(self) -> list[str]:
        return list(dict.fromkeys(run["configuration"] for run in self.runs))

    def at(self, configuration: str, value: Any) -> list[Mapping[str, Any]]:
        return [run for run in self.runs if run["configuration"] == configuration and self._value(run) == value]

    def series(self, configuration: str, value: Any, measure: str) -> Series | None:
        runs = self.at(configuration, value)
        if not runs:
            return None
        conditions = runs[0]["conditions"]
        if any(run["conditions"] != conditions for run in runs):
            workload = self.workload["name"]
            raise DifferentConditions(f"{workload}: the rounds of {configuration} differ in their conditions")
        rounds = {run["round"]: run["results"][measure] for run in runs}
        return Series(configuration, conditions, rounds, self.profile["noisy_above"])

    def _value(self, run: Mapping[str, Any]) -> Any:
        return axis_value(run["conditions"], self.workload["axis"])


@dataclass(frozen=True)
class Kept:
    machine: Mapping[str, Any]
    measured: tuple[Measured, ...]


def read_folder(folder: Path) -> Kept:
    documents = [raw.read(path) for path in (folder / "raw").glob(f"*{raw.SUFFIX}")]
    measured = [Measured(one["workload"], one["profile"], tuple(one["runs"])) for one in documents]
    order = documents[0]["profile"]["workloads"] if documents else []
    measured.sort(key=lambda one: order.index(one.workload["name"]))
    return Kept(json.loads((folder / "machine.json").read_text()), tuple(measured))
