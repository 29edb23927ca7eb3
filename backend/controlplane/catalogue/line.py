"""An engine line: its name and all its definitions, immutable. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .definition import Definition, definition_from

CACHE_PREFIX = "query_cache_"
FOLDER = Path(__file__).with_name("lines")


@dataclass(frozen=True, eq=False)
class Line:
    """An engine line.

    Two lines are never equal, so that a line can be a dictionary key; a line is replaced as a whole, never altered.
    """

    id: str
    product: str
    version: str
    source: str  # shipped, or server if it was read from a running one
    definitions: Mapping[str, Definition]
    server_version: str = ""
    read_at: datetime | None = None
    read_from: str = ""
    server_name: str = ""  # the instance's name, if the line belongs to one instance

    @property
    def name(self) -> str:
        """Returns the name that users know the server by."""
        return self.server_name or f"{self.product} {self.version}"

    def get(self, name: str) -> Definition | None:
        return self.definitions.get(name.lower())

    def like(self, name: str) -> str | None:
        """Returns a similar name, which may have been meant; None if there is none."""
        return next(iter(get_close_matches(name.lower(), self.definitions, 1, 0.8)), None)


def line_from(raw: Mapping[str, Any], source: str, **facts: Any) -> Line:
    definitions = [definition_from(entry) for entry in raw["parameters"]]
    by_name = {definition.name: definition for definition in sorted(definitions, key=lambda each: each.name)}
    return Line(raw["id"], raw["product"], raw["version"], source, by_name, **facts)


def with_engine(line: Line) -> Line:
    """Returns the line for a server with the engine: none of the cache's parameters needs a restart there."""
    served = {
        name: replace(each, needs_restart=False) if name.startswith(CACHE_PREFIX) else each
        for name, each in line.definitions.items()
    }
    return replace(line, definitions=served)


@cache
def rounding_parts() -> frozenset[str]:
    """Returns the parameters whose values determine how another parameter is rounded.

    They are needed to compare its values.
    """
    definitions = (each for line in shipped_lines().values() for each in line.definitions.values())
    return frozenset(part for each in definitions for part in each.rounds_to if isinstance(part, str))


@cache
def shipped_lines() -> Mapping[str, Line]:
    raws = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml")))
    return {raw["id"]: line_from(raw, "shipped") for raw in raws}


@cache
def shipped_names() -> frozenset[str]:
    return frozenset(name for line in shipped_lines().values() for name in line.definitions)
