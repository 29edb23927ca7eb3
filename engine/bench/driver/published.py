"""The figures that others published, as ratios to their own server without a cache."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from driver.workload import FOLDER


def changes(table: str | None, scale: int = 1) -> dict[str, dict[float, float]]:
    """Returns the published figures as ratios to the one without a cache (OFF), by configuration and by value of the
    condition that our own workload varies. Empty if `table` is None."""
    if table is None:
        return {}
    rows: Mapping[str, Any] = tomllib.loads((FOLDER / "published.toml").read_text())[table]
    found: dict[str, dict[float, float]] = {}
    for key, figures in rows.items():
        for configuration, figure in figures.items():
            if configuration != "OFF":
                found.setdefault(configuration, {})[int(key) / scale] = figure / figures["OFF"]
    return found
