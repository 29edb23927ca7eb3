"""An engine line: the definitions of all parameters of one product and release, immutable. Pure."""

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
    """An engine line: the definitions, by name, of all parameters of one product and release, such as mariadb-10.11.

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
    server_name: str = ""  # such as MariaDB 10.11, if the line was made for an instance of that; else empty

    @property
    def name(self) -> str:
        """The name that users know such a server by, for example MariaDB 10.11."""
        return self.server_name or f"{self.product} {self.version}"

    def get(self, name: str) -> Definition | None:
        return self.definitions.get(name.lower())

    def like(self, name: str) -> str | None:
        """Returns the most similar name of a parameter, which may have been meant; None if there is none."""
        return next(iter(get_close_matches(name.lower(), self.definitions, 1, 0.8)), None)


def line_from(raw: Mapping[str, Any], source: str, **facts: Any) -> Line:
    definitions = [definition_from(entry) for entry in raw["parameters"]]
    by_name = {definition.name: definition for definition in sorted(definitions, key=lambda each: each.name)}
    return Line(raw["id"], raw["product"], raw["version"], source, by_name, **facts)


def with_engine(line: Line) -> Line:
    """Returns a copy of the line for a server with the engine: no parameter of the cache needs a restart there."""
    served = {
        name: replace(each, needs_restart=False) if name.startswith(CACHE_PREFIX) else each
        for name, each in line.definitions.items()
    }
    return replace(line, definitions=served)


@cache
def rounding_parts() -> frozenset[str]:
    """Returns the names of the parameters whose values determine how a server rounds another parameter.

    To compare configured with running values, they must be read too.
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
